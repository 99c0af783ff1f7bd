/*
 * The table as users see it: --help, with a line for each option that has a
 * help text and the names of the others of its group below, and --show-config,
 * which never shows a secret.
 */
#include "config.h"

#include "options/options.h"

#include <inttypes.h>

#include "base/codec.h"
#include "options/parse.h"
#include "options/set.h"
#include "options/table.h"

#define HELP_COLUMNS 79
#define HELP_TEXT_AT 30

static const char *const group_titles[OPTION_GROUPS] = { "Request", "Sign-in",
	"Network", "Times and limits", "Behaviour", "Output" };

static void
pad(struct buf *out, size_t line, size_t column)
{
	buf_addc(out, ' ');
	do
		buf_addc(out, ' ');
	while (out->n - line < column);
}

/* Adds "-H, --header LINE|@FILE". */
static void
add_name(struct buf *out, const struct option_row *row)
{
	if (row->letter != '\0')
		buf_addf(out, "-%c, ", row->letter);
	buf_addf(out, "--%s", row->name);
	if (row->arg != NULL)
		buf_addf(out, " %s", row->arg);
}

static void
add_preset(struct buf *out, const struct option_row *row)
{
	if (row->preset != NULL)
		buf_addf(out, " (%s)", row->preset);
}

static void
help_line(struct buf *out, const struct option_row *row)
{
	size_t line = out->n;

	buf_adds(out, row->letter == '\0' ? "      " : "  ");
	add_name(out, row);
	pad(out, line, HELP_TEXT_AT);
	buf_adds(out, row->help);
	add_preset(out, row);
	buf_addc(out, '\n');
}

/* Adds the options of a group that have no help text, as many as fit on a
 * line. */
static void
help_run(struct buf *out, enum option_group group)
{
	const struct option_row *row;
	struct buf item;
	size_t i, line = out->n, start = out->n;

	buf_init(&item, 0);
	for (i = 0; i < option_table_rows; i++) {
		row = &option_table[i];
		if (row->group != group || row->help != NULL ||
		    (row->flags &
			(OPTION_HIDDEN | OPTION_NO_ARGV | OPTION_UNLISTED)) !=
			0)
			continue;
		buf_reset(&item);
		add_name(&item, row);
		add_preset(&item, row);
		if (out->n > start &&
		    out->n - line + 2 + item.n > HELP_COLUMNS) {
			buf_addc(out, '\n');
			line = out->n;
		}
		buf_adds(out, "  ");
		buf_addspan(out, buf_span(&item));
	}
	if (out->n > start)
		buf_addc(out, '\n');
	buf_free(&item);
}

char *
options_help(void)
{
	const struct option_row *row;
	struct buf out;
	unsigned group;
	size_t i;

	buf_init(&out, 0);
	buf_adds(&out,
	    "usage: mcpsplice [options] URL\n"
	    "       mcpsplice login|logout|status [options] [URL]\n"
	    "Carries MCP between stdin, stdout and the server at URL, of any "
	    "revision.\n");
	for (group = 0; group < OPTION_GROUPS; group++) {
		buf_addf(&out, "%s:\n", group_titles[group]);
		for (i = 0; i < option_table_rows; i++) {
			row = &option_table[i];
			if (row->group == group && row->help != NULL &&
			    (row->flags & OPTION_HIDDEN) == 0)
				help_line(&out, row);
		}
		help_run(&out, group);
	}
	buf_adds(&out,
	    "SEC may have a fraction, SIZE a K, M or G; --no-NAME "
	    "turns a switch off.\nmcpsplice(1) has more options, and the files and "
	    "variables they can stand in.\n");
	return buf_take(&out);
}

/* Adds the text without its secret part. */
static void
add_masked(struct buf *out, const struct option_row *row, const char *value)
{
	struct span secret = { NULL, 0 };
	struct span text = span_of(value), rest;
	const char *query;

	if (row->kind == OPTION_HEADER && value[0] != '@') {
		secret.p = strchr(value, ':') + 1;
		secret.n = strlen(secret.p);
	} else if (row->offset == offsetof(struct options, url) &&
	    (query = strchr(value, '?')) != NULL) {
		secret = span_of(query + 1);
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
	case OPTION_REPLAY:
		add_word(out, row->arg, *(const enum replay *)field);
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
	pad(out, line, 25);
	if (row->kind != OPTION_HEADER && row->kind != OPTION_LIST) {
		add_value(out, row, field);
	} else {
		list = (const struct strings *)(const void *)field;
		if (item < list->n)
			add_masked(out, row, list->list[item]);
		else
			buf_adds(out, "(none)");
	}
	pad(out, line, 50);
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
	    row->kind != OPTION_REFUSED &&
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
