/*
 * An entry as a user may show it to others. Its text goes through token by
 * token, once, whatever its format is. What of a value is shown follows from
 * the names that lead to it: of one with a name that is not known, and of a
 * comment, nothing.
 */
#include "config.h"

#include "base/bounds.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/codec.h"
#include "core/wire/json.h"
#include "core/wire/redact.h"
#include "options/table.h"
#include "tools/wrap.h"

#define SET "(set)"
#define DEEP (BOUND_WRAP_DEPTH + 2)

enum view {           /* the first three: as many names are known */
	VIEW_FILE,    /* the name of all servers, in TOML */
	VIEW_SERVERS, /* the names of entries */
	VIEW_ENTRY,
	VIEW_SHOWN,   /* but for secrets in URLs, and tokens */
	VIEW_WORDS,   /* of a command line */
	VIEW_UNKNOWN, /* only numbers are shown */
	VIEW_SECRET,
	VIEW_HEADERS /* lines "Name: value" */
};

struct mask {
	struct buf *out;
	bool toml;
	bool is_value;         /* a value is next, not a name */
	enum view view;        /* of that value */
	enum view views[DEEP]; /* of the brackets around */
	bool lists[DEEP];
	size_t depth;
	char *before[2]; /* the words in front, the nearest first */
};

bool
wrap_among(const char *names, struct span name)
{
	struct span rest = span_of(names);

	while (rest.n > 0)
		if (span_eq(span_take(&rest, ' '), name))
			return true;
	return false;
}

static enum view
view_of(enum view view, const char *name)
{
	static const char shown[] =
	    "type transport transportType name url httpUrl serverUrl baseUrl "
	    "cwd tools alwaysAllow env_vars env_http_headers "
	    "bearer_token_env_var";

	if (view == VIEW_FILE)
		return strcmp(name, "mcp_servers") == 0 ? VIEW_SERVERS :
							  VIEW_SECRET;
	if (view == VIEW_SERVERS)
		return VIEW_ENTRY;
	if (view == VIEW_SECRET && strcmp(name, "MCPSPLICE_HEADER") == 0)
		return VIEW_HEADERS;
	if (view == VIEW_SECRET && strcmp(name, "WSLENV") == 0)
		return VIEW_SHOWN;
	if (view != VIEW_ENTRY)
		return view;
	if (wrap_among("command args path", span_of(name)))
		return VIEW_WORDS;
	if (wrap_among("env environment headers http_headers", span_of(name)))
		return VIEW_SECRET;
	return wrap_among(shown, span_of(name)) ? VIEW_SHOWN : VIEW_UNKNOWN;
}

/* --- strings --- */

size_t
wrap_line_end(struct span text, size_t at)
{
	while (at < text.n && text.p[at] != '\n')
		at++;
	return at;
}

size_t
wrap_string_end(struct span text, size_t at)
{
	char quote = text.p[at];
	bool three = at + 2 < text.n && text.p[at + 1] == quote &&
	    text.p[at + 2] == quote;

	for (at += three ? 3 : 1; at < text.n; at++) {
		if (text.p[at] == '\\' && quote == '"')
			at++;
		else if (text.p[at] == '\n' && !three)
			return 0;
		else if (text.p[at] == quote && !three)
			return at + 1;
		else if (text.p[at] == quote && at + 2 < text.n &&
		    text.p[at + 1] == quote && text.p[at + 2] == quote) {
			for (at += 3; at < text.n && text.p[at] == quote;)
				at++;
			return at;
		}
	}
	return 0;
}

size_t
wrap_comment_end(struct span text, size_t at)
{
	struct span line;
	size_t i = at + 2;

	if (at + 1 >= text.n || text.p[at] != '/')
		return at;
	if (text.p[at + 1] == '/') {
		i = wrap_line_end(text, i);
		/* some hosts end it at these, and read what follows */
		line = span_trim((struct span){ text.p + at, i - at }, "\r");
		return memchr(line.p, '\r', line.n) != NULL ||
			span_find(line, "\xE2\x80\xA8") != NULL ||
			span_find(line, "\xE2\x80\xA9") != NULL ?
		    at :
		    i;
	}
	if (text.p[at + 1] == '*')
		for (; i + 1 < text.n; i++)
			if (text.p[i] == '*' && text.p[i + 1] == '/')
				return i + 2;
	return at;
}

char *
wrap_string(struct span value)
{
	struct buf b = { 0 };

	if (value.n < 2 || (value.n >= 3 && memcmp(value.p, "\"\"\"", 3) == 0))
		return NULL;
	if (value.p[0] == '\'' && value.p[value.n - 1] == '\'' &&
	    value.p[1] != '\'')
		return xstrndup(value.p + 1, value.n - 2);
	if (value.p[0] == '"' &&
	    json_check(value, 1, NULL, NULL, NULL) == JSON_OK &&
	    json_string(value, &b) == 0 && strlen(buf_str(&b)) == b.n)
		return buf_take(&b);
	buf_wipe(&b);
	return NULL;
}

/* --- texts --- */

/* Does it look like a token, which somebody may have given where the name of its
 * variable belongs? */
static bool
is_token(struct span text)
{
	char *shown = redact_tokens(xstrndup(text.p, text.n));
	bool is = !span_is(text, shown);

	string_wipe(&shown);
	return is;
}

/* Is it ${NAME}, or ${{ NAME }} as Continue writes it, maybe behind the name of
 * a scheme? */
static bool
names_variable(struct span text)
{
	static const char *const schemes[] = { "Bearer ", "Basic ", "Token " };
	size_t i, n, from;

	for (i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		n = strlen(schemes[i]);
		if (text.n > n &&
		    span_is_nocase((struct span){ text.p, n }, schemes[i]))
			text = (struct span){ text.p + n, text.n - n };
	}
	from = text.n > 6 && text.p[2] == '{' ? 3 : 2;
	if (text.n < 2 * from || memcmp(text.p, "${{", from) != 0 ||
	    memcmp(text.p + text.n + 1 - from, "}}", from - 1) != 0)
		return false;
	for (i = from; i + from - 1 < text.n; i++)
		if (!isalnum((unsigned char)text.p[i]) && text.p[i] != '_' &&
		    (from == 2 || strchr(". ", text.p[i]) == NULL))
			return false;
	return !is_token((struct span){ text.p + from, text.n - 2 * from + 1 });
}

static void
mask_text(struct buf *out, struct span text)
{
	struct span value = span_trim(text, " \t");

	if (value.n == 0 || names_variable(value))
		buf_addspan(out, text);
	else
		buf_adds(out, SET);
}

/* Appends a line "Name: value" without its value, unless that is the name of a
 * variable. */
static void
mask_header(struct buf *out, struct span line)
{
	struct span value = line, name = span_take(&value, ':');

	if (line.n > 0 && line.p[0] == '@') {
		buf_addspan(out, line);
		return;
	}
	if (value.p == NULL || name.n == line.n) {
		mask_text(out, line);
		return;
	}
	buf_addspan(out, name);
	buf_addc(out, ':');
	for (; value.n > 0 && is_space(value.p[0]); value.p++, value.n--)
		buf_addc(out, value.p[0]);
	mask_text(out, value);
}

static void
mask_headers(struct buf *out, struct span text)
{
	while (text.n > 0) {
		mask_header(out, span_take(&text, '\n'));
		buf_adds(out, text.n > 0 ? "\n" : "");
	}
}

/* Returns the option that a word is, without its value; NULL: none. */
static const struct option_row *
option_of(struct span word)
{
	bool off;

	if (span_is(word, "-H") || span_is(word, "--headers"))
		return option_table_named("header");
	if (span_is(word, "--bearer-token"))
		return option_table_named("oauth2Bearer");
	if (word.n < 3 || memcmp(word.p, "--", 2) != 0)
		return NULL;
	word = (struct span){ word.p + 2, word.n - 2 };
	return option_table_find(span_take(&word, '='), &off);
}

/* Appends the value of an option; row is NULL for a word that is none. */
static void
mask_value(struct buf *out, const struct option_row *row, const char *value)
{
	struct span secret;

	if (row != NULL && row->kind == OPTION_HEADER) {
		mask_header(out, span_of(value));
	} else if (row != NULL && (row->flags & OPTION_SECRET) != 0 &&
	    value[0] != '@') {
		mask_text(out, span_of(value));
	} else if (row != NULL && option_table_secret(row, value, &secret)) {
		buf_add(out, value, (size_t)(secret.p - value));
		buf_adds(out, SET);
		buf_adds(out, secret.p + secret.n);
	} else if (row == NULL && strstr(value, "://") != NULL &&
	    strpbrk(value, " \t") != NULL) { /* a whole command line */
		buf_add(out, value, strcspn(value, " \t"));
		buf_adds(out, " " SET);
	} else if (strstr(value, "://") == NULL && is_token(span_of(value))) {
		buf_adds(out, SET);
	} else {
		redact_path(out, span_of(value), SET);
	}
}

/* Is it "-H NAME", which mcp-proxy follows with the value? */
static bool
names_header(const char *option, const char *name)
{
	return option != NULL && name != NULL && strchr(name, ':') == NULL &&
	    (strcmp(option, "-H") == 0 || strcmp(option, "--headers") == 0);
}

static void
mask_word(const struct mask *m, struct buf *out, const char *word)
{
	const struct option_row *row = NULL;
	const char *value = strchr(word, '=');

	if (m->before[0] != NULL && strchr(m->before[0], '=') == NULL)
		row = option_of(span_of(m->before[0]));
	if (names_header(m->before[1], m->before[0])) {
		mask_text(out, span_of(word));
	} else if (names_header(m->before[0], word)) {
		buf_adds(out, word);
	} else if (row != NULL && row->arg != NULL) {
		mask_value(out, row, word);
	} else if (value == NULL ||
	    (word[0] != '-' && strstr(word, "://") != NULL)) {
		mask_value(out, NULL, word);
	} else {
		value++;
		buf_add(out, word, (size_t)(value - word));
		row = option_of(span_of(word));
		if (row != NULL)
			mask_value(out, row, value);
		else
			mask_text(out, span_of(value));
	}
}

/* --- tokens --- */

/* Decodes a string, or copies a token that is none; NULL: it is not
 * understood. */
static char *
decoded(struct span token)
{
	return strchr("\"'", token.p[0]) != NULL ? wrap_string(token) :
						   xstrndup(token.p, token.n);
}

static void
add_name(struct mask *m, struct span token)
{
	char *name = decoded(token);

	m->view = view_of(m->view, name == NULL ? "" : name);
	buf_addspan(m->out, token);
	free(name);
}

static void
add_string(struct mask *m, struct span token)
{
	char *text = decoded(token);
	struct buf shown = { 0 };

	if (text == NULL)
		buf_adds(&shown, SET);
	else if (m->view == VIEW_WORDS)
		mask_word(m, &shown, text);
	else if (m->view == VIEW_SHOWN)
		mask_value(&shown, NULL, text);
	else if (m->view == VIEW_HEADERS)
		mask_headers(&shown, span_of(text));
	else
		mask_text(&shown, span_of(text));
	if (text != NULL && span_is(buf_span(&shown), text))
		buf_addspan(m->out, token);
	else
		codec_json_string(m->out, buf_span(&shown));
	string_wipe(&m->before[1]);
	m->before[1] = m->before[0];
	m->before[0] = text;
	buf_free(&shown);
}

static void
add_value(struct mask *m, struct span token)
{
	if (strchr("\"'", token.p[0]) != NULL)
		add_string(m, token);
	else if (span_is(token, "true") || span_is(token, "false") ||
	    span_is(token, "null") ||
	    (m->view < VIEW_SECRET &&
		json_check(token, 1, NULL, NULL, NULL) == JSON_OK))
		buf_addspan(m->out, token);
	else
		buf_adds(m->out, SET);
}

/* In TOML a bracket that is no value begins the name of a table. */
static void
open_bracket(struct mask *m, char c)
{
	string_wipe(&m->before[0]);
	string_wipe(&m->before[1]);
	if (m->toml && m->depth == 0 && !m->is_value) {
		m->view = VIEW_FILE;
		return;
	}
	if (c == '{' && m->view == VIEW_WORDS) /* Zed's older form */
		m->view = VIEW_ENTRY;
	if (++m->depth < DEEP - 1) {
		m->views[m->depth] = m->view;
		m->lists[m->depth] = c == '[';
	}
	m->is_value = c == '[';
}

static void
add_mark(struct mask *m, char c)
{
	size_t level;

	if (strchr("[{", c) != NULL)
		open_bracket(m, c);
	else if (strchr("]}", c) != NULL && m->depth > 0)
		m->depth--;
	else if (c == ']')
		m->views[0] = m->view; /* the name of a table ends */
	else if (c == ':' || c == '=')
		m->is_value = true;
	level = m->depth < DEEP - 1 ? m->depth : DEEP - 1;
	if (strchr("]},", c) != NULL ||
	    (c == '\n' && m->toml && m->depth == 0)) {
		m->view = m->views[level];
		m->is_value = m->lists[level];
	}
	buf_addc(m->out, c);
}

/* Returns the end of the token at this place. */
static size_t
token_end(struct span text, size_t at)
{
	size_t end;

	if (strchr("\"'", text.p[at]) != NULL) {
		end = wrap_string_end(text, at);
		return end > 0 ? end : text.n;
	}
	for (end = at + 1; end < text.n && !is_space(text.p[end]) &&
	     strchr("[]{}:=,.\"'#/", text.p[end]) == NULL;)
		end++;
	return end;
}

void
wrap_mask(struct buf *out, struct span text, bool toml, unsigned known)
{
	struct mask m = { .out = out, .toml = toml, .view = (enum view)known };
	struct span token;
	size_t at, end;

	m.views[0] = m.view;
	m.views[DEEP - 1] = VIEW_SECRET;
	m.lists[DEEP - 1] = true;
	for (at = 0; at < text.n; at = end) {
		if (!toml)
			end = wrap_comment_end(text, at);
		else
			end = text.p[at] == '#' ? wrap_line_end(text, at) : at;
		token = (struct span){ text.p + at, end - at };
		if (token.n > 0) { /* no more than a sign of a comment */
			buf_add(out, token.p, token.p[0] == '#' ? 1 : 2);
			buf_adds(out, token.p[1] == '*' ? " ... */" : " ...");
		} else if (is_space(text.p[at]) ||
		    strchr("[]{}:=,.", text.p[at]) != NULL) {
			end = at + 1;
			add_mark(&m, text.p[at]);
		} else {
			end = token_end(text, at);
			token.n = end - at;
			if (m.is_value)
				add_value(&m, token);
			else
				add_name(&m, token);
		}
	}
	string_wipe(&m.before[0]);
	string_wipe(&m.before[1]);
}

/* The edits of one file, and how they are shown. */

void
wrap_plan_edit(struct wrap_plan *p, size_t from, size_t to, char *text)
{
	p->edits = xgrow(p->edits, p->n_edits, sizeof *p->edits);
	p->edits[p->n_edits++] = (struct wrap_edit){ from, to, 0, text };
}

void
wrap_plan_replace(struct wrap_plan *p, const char *start, struct span old,
    char *text)
{
	size_t from = (size_t)(old.p - start);

	wrap_plan_edit(p, from, from + old.n, text);
}

static char *
visible(struct span name, size_t max)
{
	struct buf b = { 0 };

	codec_visible(&b, name, max);
	return buf_take(&b);
}

void
wrap_plan_place(struct wrap_plan *p, struct span name, size_t from, size_t to,
    unsigned known)
{
	p->places = xgrow(p->places, p->n_places, sizeof *p->places);
	p->places[p->n_places++] = (struct wrap_place){ visible(name, 200),
		from, to, known };
}

int
wrap_plan_count(const struct wrap_plan *p, char **why)
{
	if (p->entries <= BOUND_WRAP_ENTRIES)
		return 0;
	return fail_why(why, "it has more than %d servers", BOUND_WRAP_ENTRIES);
}

void
wrap_plan_leave(struct wrap_plan *p, struct span name, char *why)
{
	char *shown = visible(name, 200);
	char *reason = redact_tokens(visible(span_of(why), 500));

	strings_add(&p->notes, xasprintf("skipped \"%s\": %s", shown, reason));
	free(shown);
	free(reason);
	free(why);
}

/* --- the new text --- */

static int
by_place(const void *a, const void *b)
{
	const struct wrap_edit *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

void
wrap_plan_apply(struct wrap_plan *p, struct span text, struct buf *out)
{
	size_t i, at = 0;

	if (p->n_edits > 0)
		qsort(p->edits, p->n_edits, sizeof *p->edits, by_place);
	for (i = 0; i < p->n_edits; i++) {
		buf_add(out, text.p + at, p->edits[i].from - at);
		buf_adds(out, p->edits[i].text);
		p->edits[i].end = out->n;
		at = p->edits[i].to;
	}
	buf_add(out, text.p + at, text.n - at);
}

size_t
wrap_plan_moved(const struct wrap_plan *p, size_t at)
{
	size_t low = 0, high = p->n_edits, middle;

	while (low < high) { /* the edits before low are before the place */
		middle = low + (high - low) / 2;
		if (p->edits[middle].to <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? at :
			  p->edits[low - 1].end + at - p->edits[low - 1].to;
}

int
wrap_plan_broken(struct span text, size_t at, const char *what, char **why)
{
	size_t i, line = 1, column = 1;

	for (i = 0; i < at && i < text.n; i++) {
		column++;
		if (text.p[i] == '\n') {
			line++;
			column = 1;
		}
	}
	return fail_why(why, "%s at line %zu, column %zu", what, line, column);
}

/* --- the diff --- */

/* Appends text that is safe on a terminal; a tab stays a tab. */
static void
add_visible(struct buf *out, struct span line)
{
	size_t i, from = 0;

	for (i = 0; i <= line.n; i++) {
		if (i < line.n && line.p[i] != '\t')
			continue;
		codec_visible(out, (struct span){ line.p + from, i - from },
		    SIZE_MAX);
		if (i < line.n)
			buf_addc(out, '\t');
		from = i + 1;
	}
}

static void
add_lines(struct buf *out, char mark, struct span text)
{
	struct span line;

	while (text.n > 0) {
		line = span_trim(span_take(&text, '\n'), "\r");
		buf_addc(out, mark);
		add_visible(out, line);
		buf_addc(out, '\n');
	}
}

/* Returns how many bytes of whole lines both texts begin with. */
static size_t
same_start(struct span a, struct span b)
{
	size_t i, n = 0;

	for (i = 0; i < a.n && i < b.n && a.p[i] == b.p[i]; i++)
		if (a.p[i] == '\n')
			n = i + 1;
	return n;
}

/* The same for the ends. */
static size_t
same_end(struct span a, struct span b)
{
	size_t i, n = 0;

	for (i = 1; i <= a.n && i <= b.n && a.p[a.n - i] == b.p[b.n - i]; i++)
		if ((i < a.n && a.p[a.n - i - 1] == '\n') &&
		    (i < b.n && b.p[b.n - i - 1] == '\n'))
			n = i;
	return n;
}

static void
add_difference(struct buf *out, struct span a, struct span b)
{
	size_t start = same_start(a, b), end;
	struct span tail;

	add_lines(out, ' ', (struct span){ a.p, start });
	a = (struct span){ a.p + start, a.n - start };
	b = (struct span){ b.p + start, b.n - start };
	end = same_end(a, b);
	tail = (struct span){ a.p + a.n - end, end };
	add_lines(out, '-', (struct span){ a.p, a.n - end });
	add_lines(out, '+', (struct span){ b.p, b.n - end });
	add_lines(out, ' ', tail);
}

/* Moves from back to the begin of its line, if only blanks stand between. */
static size_t
line_start(struct span text, size_t from)
{
	size_t at = from;

	while (at > 0 && (text.p[at - 1] == ' ' || text.p[at - 1] == '\t'))
		at--;
	return at == 0 || text.p[at - 1] == '\n' ? at : from;
}

static int
by_begin(const void *a, const void *b)
{
	const struct wrap_place *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

void
wrap_plan_diff(struct wrap_plan *p, const char *path, struct span text,
    struct span changed, struct buf *out)
{
	size_t i, from, begin, line = 1, counted = 0;
	const struct wrap_place *place;
	struct buf old = { 0 }, new = { 0 };

	buf_addf(out, "--- %s\n+++ %s\n", path, path);
	if (p->n_places > 0)
		qsort(p->places, p->n_places, sizeof *p->places, by_begin);
	for (i = 0; i < p->n_places; i++) {
		place = &p->places[i];
		from = line_start(text, place->from);
		for (; counted < from; counted++)
			line += text.p[counted] == '\n';
		buf_addf(out, "@@ line %zu: %s @@\n", line, place->name);
		buf_reset(&old);
		buf_reset(&new);
		wrap_mask(&old,
		    (struct span){ text.p + from, place->to - from }, p->toml,
		    place->known);
		begin = wrap_plan_moved(p, from);
		wrap_mask(&new,
		    (struct span){ changed.p + begin,
			wrap_plan_moved(p, place->to) - begin },
		    p->toml, place->known);
		add_difference(out, buf_span(&old), buf_span(&new));
	}
	buf_wipe(&old);
	buf_wipe(&new);
}

void
wrap_plan_free(struct wrap_plan *p)
{
	size_t i;

	for (i = 0; i < p->n_edits; i++)
		string_wipe(&p->edits[i].text);
	for (i = 0; i < p->n_places; i++)
		free(p->places[i].name);
	free(p->edits);
	free(p->places);
	strings_free(&p->notes);
	*p = (struct wrap_plan){ 0 };
}
