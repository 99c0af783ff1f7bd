/* Output of --show-config, which never shows a secret. */
#include "config.h"

#include "options/options.h"

#include <inttypes.h>

#include "base/codec.h"
#include "core/wire/redact.h"
#include "options/set.h"
#include "options/table.h"

/* Adds the text without its secret part. */
static void
add_masked(struct buf *out, const struct option_row *row, const char *value)
{
	struct span secret = { NULL, 0 };
	struct span text = span_of(value), rest;
	struct buf url;

	if (row->kind == OPTION_HEADER && value[0] != '@') {
		secret.p = strchr(value, ':') + 1;
		secret.n = strlen(secret.p);
	} else if (row->kind == OPTION_STRING &&
	    row->offset != offsetof(struct options, proxy) &&
	    strstr(value, "://") != NULL && (row->flags & OPTION_SECRET) == 0) {
		buf_init(&url, 0);
		redact_path(&url, text, "(set)");
		codec_visible(out, buf_span(&url), SIZE_MAX);
		buf_free(&url);
		return;
	} else if (!option_table_secret(row, value, &secret)) {
		codec_visible(out, text, SIZE_MAX);
		return;
	}
	text.n = (size_t)(secret.p - value);
	rest = span_of(secret.p + secret.n);
	codec_visible(out, text, SIZE_MAX);
	buf_adds(out, row->kind == OPTION_HEADER ? " (set)" : "(set)");
	codec_visible(out, rest, SIZE_MAX);
}

static void
add_seconds(struct buf *out, int64_t ms)
{
	int rest = (int)(ms % 1000), digits = 3;

	buf_addf(out, "%" PRId64, ms / 1000);
	while (rest != 0 && rest % 10 == 0) {
		rest /= 10;
		digits--;
	}
	if (rest != 0)
		buf_addf(out, ".%0*d", digits, rest);
}

static void
add_size(struct buf *out, size_t n)
{
	static const char units[] = "\0KMG";
	size_t i = 0;

	while (n > 0 && n % 1024 == 0 && i < 3) {
		n /= 1024;
		i++;
	}
	buf_addf(out, "%zu", n);
	if (i > 0)
		buf_addc(out, units[i]);
}

/* Adds the i-th word of "a|b|c". */
static void
add_word(struct buf *out, const char *words, unsigned i)
{
	buf_addspan(out, option_parse_word(words, i));
}

static void
add_value(struct buf *out, const struct option_row *row, const void *field)
{
	enum era_transport transport;
	const char *text;

	switch (row->kind) {
	case OPTION_STRING:
		text = *(char *const *)field;
		if (text == NULL)
			buf_adds(out, "(none)");
		else if (text[0] == '\0')
			buf_adds(out, "\"\"");
		else
			add_masked(out, row, text);
		break;
	case OPTION_SECONDS:
		add_seconds(out, *(const int64_t *)field);
		break;
	case OPTION_SIZE:
		add_size(out, *(const size_t *)field);
		break;
	case OPTION_UINT:
		buf_addf(out, "%u", *(const unsigned *)field);
		break;
	case OPTION_COUNT:
		buf_addf(out, "%d", *(const int *)field);
		break;
	case OPTION_FAIL:
		add_word(out, "no|yes|any", *(const enum fail *)field);
		break;
	case OPTION_REPLAY:
		add_word(out, row->arg, *(const enum replay *)field);
		break;
	case OPTION_START:
		add_word(out, row->arg, *(const enum session_start *)field);
		break;
	case OPTION_PROTOCOL:
		add_word(out, row->arg, *(const enum era_protocol *)field);
		break;
	case OPTION_TRANSPORT:
		transport = *(const enum era_transport *)field;
		add_word(out,
		    transport == TRANSPORT_SSE_FIRST ? option_transport_words :
						       row->arg,
		    transport);
		break;
	case OPTION_AUTH:
		add_word(out, row->arg, *(const enum auth_mode *)field);
		break;
	case OPTION_LOG_FORMAT:
		add_word(out, row->arg, *(const bool *)field);
		break;
	default:
		buf_adds(out, *(const bool *)field ? "yes" : "no");
	}
}

static void
show_line(struct buf *out, const struct options *o,
    const struct option_row *row, size_t item)
{
	const struct option_origin *origin = &o->origins[row - option_table];
	const char *field = (const char *)o + row->offset;
	const struct strings *list;
	size_t line = out->n;

	buf_adds(out, row->name);
	buf_pad(out, line, 25);
	if (row->kind != OPTION_HEADER && row->kind != OPTION_LIST) {
		add_value(out, row, field);
	} else {
		list = (const struct strings *)(const void *)field;
		if (item < list->n)
			add_masked(out, row, list->list[item]);
		else
			buf_adds(out, "(none)");
	}
	buf_pad(out, line, 50);
	if (item < origin->n)
		codec_visible(out, span_of(origin->from[item].text), SIZE_MAX);
	else
		buf_adds(out, "default");
	buf_addc(out, '\n');
}

/* Does --show-config show this row? It shows rows with a value of their own,
 * also those that only a variable can set; of other programs' options those
 * that have an effect. */
static bool
shown(const struct option_row *row)
{
	return row->as == NULL && row->kind != OPTION_CONFIG &&
	    row->kind != OPTION_NOTED && row->kind != OPTION_NOTED_SWITCH &&
	    (row->flags & (OPTION_ARGV_ONLY | OPTION_NO_ARGV)) !=
	    OPTION_ARGV_ONLY;
}

char *
options_show(const struct options *o)
{
	const struct option_row *row;
	struct buf out;
	size_t i, j;

	buf_init(&out, 0);
	for (i = 0; i < option_table_rows; i++) {
		row = &option_table[i];
		if (!shown(row))
			continue;
		j = 0;
		do
			show_line(&out, o, row, j);
		while (++j < o->origins[i].n);
	}
	return buf_take(&out);
}

void
options_origins(const struct options *o,
    void (*each)(const char *name, const char *from, void *arg), void *arg)
{
	const struct option_origin *origin;
	size_t i, j;

	for (i = 0; i < option_table_rows; i++) {
		origin = &o->origins[i];
		if (!shown(&option_table[i]) ||
		    option_table[i].offset == offsetof(struct options, url))
			continue;
		for (j = 0; j < origin->n; j++)
			if (origin->from[j].weight > WEIGHT_DEFAULT)
				each(option_table[i].name, origin->from[j].text,
				    arg);
	}
}
