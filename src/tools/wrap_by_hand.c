/*
 * What has to be changed by hand. YAML becomes JSON, line by line, so that its
 * entries are found and changed as those of JSON, and each is printed whole. Of
 * YAML it knows maps and lists, by indent or in brackets, and texts of one line;
 * of others only that they are there. In other formats it looks for words.
 */
#include "config.h"

#include "tools/wrap.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "core/wire/json.h"

struct yaml {
	struct span text;
	size_t at, line; /* the place, and the start of its line */
	struct buf *out;
	unsigned depth;
	bool goose;
};

/* What Goose has another name for; the first holds its servers. */
static const char *const names_of_goose[][2] = {
	{ "extensions", "mcpServers" },
	{ "cmd", "command" },
	{ "envs", "env" },
	{ "uri", "url" },
};
#define NAMES (sizeof names_of_goose / sizeof names_of_goose[0])

/* --- YAML to JSON --- */

static size_t
line_end(const struct yaml *y)
{
	const char *end = memchr(y->text.p + y->at, '\n', y->text.n - y->at);

	return end == NULL ? y->text.n : (size_t)(end - y->text.p);
}

/* Goes on to what comes next, maybe in another line: those stay the same lines.
 * Returns its column, from 1; 0 at the end. */
static size_t
next_column(struct yaml *y)
{
	const char *p = y->text.p;

	while (y->at < y->text.n) {
		if (p[y->at] == '\n') {
			buf_addc(y->out, '\n');
			y->line = ++y->at;
		} else if ((p[y->at] == '#' &&
			       (y->at == 0 || is_space(p[y->at - 1]))) ||
		    (y->at == y->line && y->text.n - y->at > 2 &&
			(p[y->at] == '%' || memcmp(p + y->at, "---", 3) == 0 ||
			    memcmp(p + y->at, "...", 3) == 0))) {
			y->at = line_end(y);
		} else if (is_space(p[y->at])) {
			y->at++;
		} else {
			return y->at - y->line + 1;
		}
	}
	return 0;
}

/* Returns the end of the text here: behind its quotes, or before one of these
 * bytes, a comment, or the end of the line. A colon has a blank behind it. */
static size_t
text_end(const struct yaml *y, const char *until)
{
	struct span t = y->text;
	size_t i = y->at, end = 0;

	if (i < t.n && t.p[i] == '"')
		end = wrap_string_end(t, i);
	if (end > 0)
		return end;
	for (end = i + 1; end < t.n && t.p[i] == '\'' && t.p[end] != '\n';
	     end++)
		if (t.p[end] == '\'' && (++end == t.n || t.p[end] != '\''))
			return end;
	for (; i < t.n && t.p[i] != '\n'; i++)
		if ((strchr(until, t.p[i]) != NULL &&
			(t.p[i] != ':' || i + 1 == t.n ||
			    is_space(t.p[i + 1]))) ||
		    (is_space(t.p[i]) && i + 1 < t.n && t.p[i + 1] == '#'))
			break;
	return i;
}

/* Returns the end of the key that begins here; 0: there is none. */
static size_t
key_end(const struct yaml *y)
{
	size_t end = text_end(y, ":");

	return end < y->text.n && y->text.p[end] == ':' ? end : 0;
}

static bool
is_item(const struct yaml *y)
{
	return y->text.p[y->at] == '-' &&
	    (y->at + 1 == y->text.n || is_space(y->text.p[y->at + 1]));
}

/* Is it something else than a text, at least to some readers of YAML? */
static bool
is_other(struct span raw)
{
	return (raw.n > 0 && strchr("+.0123456789", raw.p[0]) != NULL) ||
	    wrap_among("no No NO on On ON off Off OFF yes Yes YES null "
		       "Null NULL true True TRUE false False FALSE",
		raw);
}

/* Puts the text up to this place; a key is always a string. In the place of a
 * value that is not understood stands what asks for that of the file. */
static void
put_text(struct yaml *y, size_t end, bool key)
{
	struct span raw = { y->text.p + y->at, end - y->at };
	char *text = NULL;
	size_t i;

	raw = span_trim(raw, " \t\r");
	y->at = end;
	for (i = 0; key && i < NAMES; i++)
		if ((i == 0 ? y->depth == 1 : y->goose) &&
		    span_is(raw, names_of_goose[i][0])) {
			raw = span_of(names_of_goose[i][1]);
			y->goose = true;
		}
	if (raw.n > 0 && (raw.p[0] == '"' || span_find(raw, "''") == NULL))
		text = wrap_string(raw);
	if (!key && text == NULL &&
	    json_check(raw, 1, NULL, NULL, NULL) == JSON_OK)
		buf_addspan(y->out, raw);
	else if (!key && text == NULL && raw.n > 0 &&
	    (strchr("\"'*&!|>@`%", raw.p[0]) != NULL || is_other(raw)))
		buf_adds(y->out, "\"(set)\"");
	else
		codec_json_string(y->out, text != NULL ? span_of(text) : raw);
	buf_adds(y->out, key ? ": " : "");
	string_wipe(&text);
}

/* Puts what stands between brackets. Returns false if they are not closed. */
static bool
put_brackets(struct yaml *y)
{
	const char *p = y->text.p;
	bool list = p[y->at] == '[', first = true, ok = true, comma = true;

	if (++y->depth > BOUND_WRAP_DEPTH)
		return false;
	buf_addc(y->out, p[y->at++]);
	while (ok && next_column(y) > 0 && strchr("]}", p[y->at]) == NULL) {
		if (p[y->at] == ',') {
			comma = y->at++ > 0;
			continue;
		}
		buf_adds(y->out, first ? "" : ", ");
		ok = comma; /* else a text goes on in another line */
		first = comma = false;
		if (ok && !list) {
			put_text(y, text_end(y, ":,}"), true);
			ok = next_column(y) > 0;
			y->at += ok && p[y->at] == ':';
			ok = next_column(y) > 0;
		}
		if (ok && strchr("[{", p[y->at]) != NULL)
			ok = put_brackets(y);
		else if (ok)
			put_text(y, text_end(y, ",]}"), false);
	}
	buf_addc(y->out, list ? ']' : '}');
	y->depth--;
	return ok && y->at++ < y->text.n;
}

static bool put_value(struct yaml *y, size_t parent, bool of_key);

/* Puts the members or the items that stand at this column. */
static bool
put_block(struct yaml *y, size_t column, bool list)
{
	size_t now = column, end = 0;
	bool ok = ++y->depth <= BOUND_WRAP_DEPTH, first = true;

	buf_addc(y->out, list ? '[' : '{');
	for (; ok && now == column && is_item(y) == list &&
	     (list || (end = key_end(y)) > 0);
	     now = next_column(y)) {
		buf_adds(y->out, first ? "" : ", ");
		first = false;
		if (!list)
			put_text(y, end, true);
		y->at++;
		ok = put_value(y, column, !list);
	}
	buf_addc(y->out, list ? ']' : '}');
	y->depth--;
	return ok;
}

/* Puts what belongs to the key or the item at this column. */
static bool
put_value(struct yaml *y, size_t parent, bool of_key)
{
	size_t column = next_column(y), from, to, lines;

	while (column > parent && strchr("&!", y->text.p[y->at]) != NULL) {
		while (y->at < y->text.n && !is_space(y->text.p[y->at]))
			y->at++; /* behind an anchor, or a tag */
		column = next_column(y);
	}
	if (column == 0 ||
	    (column <= parent && !(of_key && column == parent && is_item(y)))) {
		buf_adds(y->out, "null");
		return true;
	}
	if (strchr("[{", y->text.p[y->at]) != NULL)
		return put_brackets(y);
	if (is_item(y) || key_end(y) > 0)
		return put_block(y, column, is_item(y));
	from = y->out->n;
	put_text(y, text_end(y, ""), false);
	to = y->out->n;
	if (next_column(y) <= parent)
		return true;
	while (next_column(y) > parent) /* a text goes on */
		y->at = line_end(y);
	lines = y->out->n - to;
	y->out->n = from;
	buf_adds(y->out, "\"(set)\"");
	for (; lines > 0; lines--)
		buf_addc(y->out, '\n');
	return true;
}

/* --- what is printed --- */

/* Does it need no quotes in YAML? */
static bool
is_plain(struct span text)
{
	size_t i = 0;

	while (i < text.n &&
	    (isalnum((unsigned char)text.p[i]) ||
		(i > 0 && strchr("_-. ", text.p[i]) != NULL)))
		i++;
	return i > 0 && i == text.n && text.p[i - 1] != ' ' &&
	    !is_other(text) && !wrap_among("n N y Y", text);
}

/* Adds a string of JSON, maybe without its quotes, or another value. */
static void
add_plain(struct buf *out, struct span value)
{
	struct span part;

	if (value.n > 2 && value.p[0] == '"' &&
	    is_plain((struct span){ value.p + 1, value.n - 2 }))
		value = (struct span){ value.p + 1, value.n - 2 };
	while (value.n > 0) {
		part = span_take(&value, '\n');
		buf_adds(out, out->p[out->n - 1] == ',' ? " " : "");
		codec_visible(out, part, SIZE_MAX);
	}
}

/* Prints the member as a user may show it to others. */
static void
add_member(struct buf *out, bool goose, struct span key, struct span value)
{
	struct span whole = { key.p - 1, (size_t)(value.p - key.p) + 1 };
	const char *name = NULL;
	struct buf shown;
	size_t i;

	buf_init(&shown, 0);
	for (i = 0; goose && i < NAMES; i++)
		if (json_key_is(key, names_of_goose[i][1]))
			name = names_of_goose[i][0];
	wrap_mask(&shown, (struct span){ whole.p, whole.n + value.n }, false,
	    2);
	if (name != NULL)
		buf_adds(out, name);
	else
		add_plain(out, (struct span){ key.p - 1, key.n + 2 });
	buf_adds(out, ": ");
	add_plain(out, (struct span){ shown.p + whole.n, shown.n - whole.n });
	buf_addc(out, '\n');
	buf_wipe(&shown);
}

/* Prints an entry in its new form: a member of a map, or an item of a list. */
static void
add_entry(struct buf *out, bool goose, struct span entry)
{
	const char *lead = "  - ";
	struct span key, value;
	size_t at = 0, end;

	if (entry.p[0] != '{') {
		end = wrap_string_end(entry, 0);
		buf_adds(out, "  ");
		add_plain(out, (struct span){ entry.p, end });
		buf_adds(out, ":\n");
		entry = (struct span){ entry.p + end + 1, entry.n - end - 1 };
		entry = span_trim(entry, " \n");
		lead = "    ";
	}
	while (json_next(entry, &at, &key, &value)) {
		buf_adds(out, lead);
		add_member(out, goose, key, value);
		lead = "    ";
	}
}

/* Prints the entries of this YAML. Returns false if it has none. */
static bool
read_yaml(struct buf *out, const char *path, struct wrap_plan *p,
    struct span text, const char *self)
{
	struct buf json, changed;
	struct yaml y = { .text = text, .out = &json };
	size_t i, line = 1, from;
	struct span entry;
	const char *at, *word;
	char *why = NULL;

	buf_init(&json, 0);
	buf_init(&changed, 0);
	if (memchr(text.p, '\0', text.n) == NULL && put_value(&y, 0, false) &&
	    next_column(&y) == 0 &&
	    wrap_json(p, buf_span(&json), self, &why) == 0)
		wrap_plan_apply(p, buf_span(&json), &changed);
	for (i = 0, at = json.p; changed.n > 0 && i < p->n_places; i++) {
		from = p->places[i].from;
		entry = (struct span){ json.p + from, p->places[i].to - from };
		word = wrap_program_in(entry);
		if (word == NULL)
			word = span_find(entry, "://");
		if (word < at) {
			at = json.p;
			line = 1;
		}
		for (; at < word; at++)
			line += *at == '\n';
		buf_addf(out, "%s: line %zu has to be changed by hand, into:\n",
		    path, line);
		from = wrap_plan_moved(p, from);
		add_entry(out, y.goose,
		    (struct span){ changed.p + from,
			wrap_plan_moved(p, p->places[i].to) - from });
	}
	for (i = 0; i < p->notes.n; i++)
		buf_addf(out, "%s: %s\n", path, p->notes.list[i]);
	free(why);
	buf_wipe(&json);
	buf_wipe(&changed);
	return p->n_places + p->notes.n > 0;
}

/* --- other formats --- */

/* Tells each line that speaks of a server what to do. */
static bool
read_lines(struct buf *out, const char *path, struct span text,
    const char *self, bool windows)
{
	struct wrap_start s = { .first = 0 };
	struct span rest = text, line, start;
	bool found = false;
	size_t number;

	wrap_start_url(&s, "URL", self, windows);
	for (number = 1; rest.n > 0; number++) {
		line = span_take(&rest, '\n');
		start = span_trim(line, " \t-\"");
		if (start.n < 4 || start.p[0] == '#' ||
		    (wrap_program_in(line) == NULL &&
			(memcmp(start.p, "ur", 2) != 0 ||
			    span_find(line, "http") == NULL)))
			continue;
		found = true;
		buf_addf(out,
		    "%s: line %zu has to be changed by hand, into:\n"
		    "  \"command\": ",
		    path, number);
		codec_json_string(out, span_of(s.words.list[0]));
		buf_adds(out, ", \"args\": ");
		wrap_list(out, no_span, &s.words, 1);
		buf_addc(out, '\n');
	}
	wrap_start_free(&s);
	return found;
}

bool
wrap_by_hand(struct buf *out, const char *path, struct span text,
    const char *self, bool windows)
{
	const char *dot = strrchr(path, '.');
	struct wrap_plan plan = { .yaml = true, .windows = windows };
	bool found = dot != NULL && dot[1] == 'y' &&
	    read_yaml(out, path, &plan, text, self);

	wrap_plan_free(&plan);
	if (!found)
		found = read_lines(out, path, text, self, windows);
	if (span_find(buf_span(out), "(set)") != NULL)
		buf_adds(out,
		    "Where it says (set), write what the file has.\n");
	return found;
}
