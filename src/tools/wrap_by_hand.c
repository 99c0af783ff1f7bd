/* Looks for words, line by line. Of YAML it knows which lines are one entry, and
 * the few members that have to stay. */
#include "config.h"

#include "tools/wrap.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/codec.h"
#include "core/wire/redact.h"

/* The URL of an entry stands at most so many bytes behind its program. */
#define NEAR 600

/* Does this line speak of a server that mcpsplice could serve? */
static bool
speaks(struct span line)
{
	static const char *const programs[] = { "mcp-remote", "supergateway",
		"mcp-proxy" };
	struct span start = span_trim(line, " \t-\"");
	size_t i;

	if (start.n > 0 && start.p[0] == '#')
		return false;
	for (i = 0; i < sizeof programs / sizeof programs[0]; i++)
		if (span_find(line, programs[i]) != NULL)
			return true;
	return start.n > 4 &&
	    (memcmp(start.p, "url", 3) == 0 ||
		memcmp(start.p, "uri", 3) == 0) &&
	    span_find(line, "http") != NULL;
}

/* Returns the first URL of the text. */
static struct span
url_in(struct span text)
{
	const char *at = span_find(text, "http"), *end;

	if (at == NULL)
		return no_span;
	for (end = at; end < text.p + text.n && (unsigned char)*end > ' ' &&
	     strchr("\"',]<&", *end) == NULL;)
		end++;
	return (struct span){ at, (size_t)(end - at) };
}

struct entry {
	size_t number; /* of the line that speaks of a server; 0: none */
	bool list;     /* it is an item of a list, not a member */
	struct span key, name, url, timeout;
	struct buf headers; /* lines, without secrets */
	size_t below;       /* the column of "headers:", or SIZE_MAX */
	bool header;        /* the next word is one */
};

/* --- what an entry has --- */

static struct span
unquoted(struct span text)
{
	const char *comment;

	text = span_trim(text, " \t\r");
	if (text.n >= 2 && strchr("\"'", text.p[0]) != NULL &&
	    text.p[text.n - 1] == text.p[0])
		return (struct span){ text.p + 1, text.n - 2 };
	comment = span_find(text, " #");
	if (comment != NULL)
		text.n = (size_t)(comment - text.p);
	return text;
}

/* Takes the next of several words with commas between them. */
static struct span
next_word(struct span *rest)
{
	struct span all = *rest;
	size_t end, at = 0;

	while (at < all.n && all.p[at] != ',') {
		end = strchr("\"'", all.p[at]) == NULL ?
		    0 :
		    wrap_string_end(all, at);
		at = end > 0 ? end : at + 1;
	}
	end = at + (at < all.n);
	*rest = (struct span){ all.p + end, all.n - end };
	return unquoted(span_trim((struct span){ all.p, at }, " \t\r[]{}"));
}

static void
add_header(struct entry *e, struct span line)
{
	struct span name = unquoted(span_take(&line, ':'));
	struct buf text;

	buf_init(&text, 0);
	codec_visible(&text, name, SIZE_MAX);
	buf_adds(&text, ": ");
	codec_visible(&text, unquoted(line), SIZE_MAX);
	buf_adds(&e->headers, e->headers.n > 0 ? "\n" : "");
	wrap_mask_header(&e->headers, buf_span(&text));
	buf_wipe(&text);
}

static void
take_word(struct entry *e, struct span word)
{
	if (e->header)
		add_header(e, word);
	else if (e->url.n == 0)
		e->url = url_in(word);
	e->header = !e->header && span_is(word, "--header");
}

/* Takes what stands at this column of a line. */
static void
take_text(struct entry *e, struct span text, size_t column)
{
	bool item = text.p[0] == '-';
	struct span value, key;

	text = span_trim((struct span){ text.p + item, text.n - item },
	    " \t\r");
	value = text;
	key = unquoted(span_take(&value, ':'));
	value = span_trim(value, " \t\r");
	if (column > e->below) {
		add_header(e, text);
		return;
	}
	e->below = span_is(key, "headers") && value.n == 0 ? column : SIZE_MAX;
	if (span_is(key, "name"))
		e->name = unquoted(value);
	else if (span_is(key, "timeout"))
		e->timeout = unquoted(value);
	else if (span_is(key, "url") || span_is(key, "uri"))
		e->url = url_in(value);
	else if (span_is(key, "headers"))
		while (value.n > 0)
			add_header(e, next_word(&value));
	else if (span_is(key, "args"))
		while (value.n > 0)
			take_word(e, next_word(&value));
	else if (item)
		take_word(e, unquoted(text));
}

/* --- what is printed --- */

struct by_hand {
	struct buf *out;
	const char *path, *self;
	bool windows, yaml, goose;
};

/* Adds a name or a number of the file, if it needs no quotes. */
static void
add_plain(struct buf *out, struct span text, const char *preset)
{
	size_t i;

	for (i = 0; i < text.n; i++)
		if (!isalnum((unsigned char)text.p[i]) &&
		    strchr("_-. ", text.p[i]) == NULL)
			text.n = 0;
	buf_addspan(out, text.n > 0 ? text : span_of(preset));
}

/* Adds the command and its arguments, with these words in front of each and
 * behind them. */
static void
add_command(const struct by_hand *b, const struct entry *e, const char *command,
    const char *args, const char *end)
{
	struct buf url, visible;

	buf_init(&url, 0);
	buf_init(&visible, 0);
	redact_path(&url, e->url.n > 0 ? e->url : span_of("URL"), "(set)");
	codec_visible(&visible, buf_span(&url), SIZE_MAX);
	buf_adds(b->out, command);
	codec_json_string(b->out, span_of(b->windows ? "wsl.exe" : b->self));
	buf_addf(b->out, "%s[", args);
	if (b->windows) {
		buf_adds(b->out, "\"--exec\", ");
		codec_json_string(b->out, span_of(b->self));
		buf_adds(b->out, ", ");
	}
	codec_json_string(b->out, buf_span(&visible));
	buf_addf(b->out, "]%s", end);
	buf_free(&url);
	buf_free(&visible);
}

static void
add_entry(const struct by_hand *b, const struct entry *e)
{
	struct buf *out = b->out;
	struct span name = e->name.n > 0 ? e->name : e->key;

	buf_addf(out, "%s: line %zu has to be changed by hand, into:\n",
	    b->path, e->number);
	buf_adds(out, !b->yaml ? "  \"" : e->list ? "  - name: " : "  ");
	add_plain(out, e->list ? name : e->key, "NAME");
	if (!b->yaml) {
		add_command(b, e,
		    "\": { \"command\": ", ", \"args\": ", " }\n");
		return;
	}
	if (b->goose) {
		buf_adds(out, ":\n    type: stdio\n    name: ");
		add_plain(out, name, "NAME");
		buf_adds(out, "\n    enabled: true");
	}
	add_command(b, e,
	    b->goose    ? "\n    cmd: " :
		e->list ? "\n    command: " :
			  ":\n    command: ",
	    "\n    args: ", "\n");
	if (e->headers.n > 0) {
		buf_addf(out,
		    "    %s: { MCPSPLICE_HEADER: ", b->goose ? "envs" : "env");
		codec_json_string(out, buf_span(&e->headers));
		buf_addf(out, "%s }\n",
		    b->windows ? ", WSLENV: MCPSPLICE_HEADER" : "");
	}
	if (b->goose || e->timeout.n > 0) {
		buf_adds(out, "    timeout: ");
		add_plain(out, e->timeout, "300");
		buf_adds(out, "\n");
	}
}

/* Prints the entry, if it is one of a server, and begins another one. */
static void
next_entry(const struct by_hand *b, struct entry *e, bool list, struct span key)
{
	if (e->number > 0)
		add_entry(b, e);
	buf_wipe(&e->headers);
	*e = (struct entry){ .list = list, .key = key, .below = SIZE_MAX };
	buf_init(&e->headers, 0);
}

/* Does the line begin the servers of a file? */
static bool
begins_servers(struct span line)
{
	struct span key = span_take(&line, ':');

	return span_trim(line, " \t\r").n == 0 &&
	    (span_is(key, "extensions") || span_is(key, "mcpServers") ||
		span_is(key, "servers"));
}

void
wrap_by_hand(struct buf *out, const char *path, struct span text,
    const char *self, bool windows)
{
	const char *dot = strrchr(path, '.');
	struct by_hand b = { out, path, self, windows,
		.yaml = dot != NULL && dot[1] == 'y' };
	struct entry e = { .number = 0 };
	struct span rest = text, line, near, from;
	size_t number, column, top = 0, level = 0;
	bool inside = false, item;

	b.goose = b.yaml && span_find(text, "extensions:") != NULL;
	next_entry(&b, &e, true, no_span);
	for (number = 1; rest.n > 0; number++) {
		near = (struct span){ rest.p, rest.n < NEAR ? rest.n : NEAR };
		line = span_take(&rest, '\n');
		from = span_trim(line, " \t\r");
		column = from.n > 0 ? (size_t)(from.p - line.p) : 0;
		item = from.n > 0 && from.p[0] == '-';
		if (from.n == 0 || from.p[0] == '#')
			continue;
		if (b.yaml && begins_servers(from)) {
			inside = true;
			top = column;
			level = SIZE_MAX;
			continue;
		}
		inside = inside && (column > top || (column == top && item));
		if (!inside || column <= level) {
			level = column;
			next_entry(&b, &e, item || !inside,
			    item || !inside ? no_span : span_take(&from, ':'));
		}
		if (e.number == 0 && speaks(line))
			e.number = number;
		if (inside && from.n > 0)
			take_text(&e, from, column);
		else if (!inside)
			e.url = url_in(near);
	}
	next_entry(&b, &e, true, no_span);
	if (span_find(buf_span(out), "(set)") != NULL)
		buf_adds(out,
		    "Where it says (set), write what the file has.\n");
	buf_free(&e.headers);
}
