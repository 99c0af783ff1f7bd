/*
 * The line framer.
 *
 * A line that lies inside one chunk goes straight into its frame; only a line
 * that spans chunks is collected. Each byte is read once. The cap applies to
 * the collected bytes: when a line passes it, these bytes and the rest of the
 * line go through the id scan.
 */
#include "config.h"

#include "core/wire/lines.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/wire/json.h"

/* --- the id of a line that is too long --- */

/*
 * Finds the top-level "id" and "method" of a JSON object that is fed piece by
 * piece, wherever they are, in flat memory. It counts brackets and steps over
 * strings; only the keys and scalars of the outermost object are kept for a
 * moment, as tokens. The text is not checked: a text that is not JSON gives no
 * id, or one that is a valid id in itself.
 */

enum id_scan_member { ID_SCAN_OTHER, ID_SCAN_ID, ID_SCAN_METHOD };

struct id_scan {
	uint64_t depth;
	bool object;                /* the outermost value is an object */
	bool over;                  /* the outermost value has ended */
	bool string;                /* inside a string */
	bool escaped;               /* the next byte is escaped */
	bool value;                 /* after the colon of a top-level member */
	enum id_scan_member member; /* the member that it belongs to */
	bool method;                /* a top-level method was seen */
	bool token_over;
	size_t token_n; /* length of the top-level key or value being read */
	char token[BOUND_ID_BYTES];
	size_t id_n; /* 0: none found */
	char id[BOUND_ID_BYTES];
};

/* Prepares s for the next object. */
static void
id_scan_start(struct id_scan *s)
{
	s->depth = 0;
	s->object = s->over = s->string = s->escaped = s->value = false;
	s->member = ID_SCAN_OTHER;
	s->method = s->token_over = false;
	s->token_n = s->id_n = 0;
}

static void
token_add(struct id_scan *s, char c)
{
	if (s->token_n < sizeof s->token)
		s->token[s->token_n++] = c;
	else
		s->token_over = true;
}

/* Can the token be echoed as an id? */
static bool
token_is_id(const struct id_scan *s)
{
	struct span token = { s->token, s->token_n };
	char c = json_kind(token);

	return !s->token_over &&
	    (c == '"' || c == '-' || (c >= '0' && c <= '9')) &&
	    json_check(token, 0, NULL, NULL, NULL) == JSON_OK;
}

static void
take_key(struct id_scan *s)
{
	struct span key = { s->token + 1, s->token_n - 2 };

	s->member = ID_SCAN_OTHER;
	if (s->token_over || s->token_n < 2 || s->token[0] != '"')
		return;
	if (json_key_is(key, "id"))
		s->member = ID_SCAN_ID;
	else if (json_key_is(key, "method"))
		s->member = ID_SCAN_METHOD;
}

/* Takes a value; the last member of a name counts. */
static void
take_value(struct id_scan *s)
{
	if (s->member == ID_SCAN_METHOD)
		s->method = s->token[0] == '"';
	if (s->member != ID_SCAN_ID)
		return;
	s->id_n = 0;
	if (token_is_id(s)) {
		memcpy(s->id, s->token, s->token_n);
		s->id_n = s->token_n;
	}
}

static void
end_token(struct id_scan *s)
{
	if (s->token_n == 0)
		return;
	if (s->value)
		take_value(s);
	else
		take_key(s);
	s->token_n = 0;
	s->token_over = false;
}

static void
open_container(struct id_scan *s, char c)
{
	if (s->depth == 0)
		s->object = c == '{';
	if (s->depth == 1 && s->value) {
		s->token_n = 0;
		token_add(s, c); /* such a value is neither an id nor a
				  * method */
		end_token(s);
	}
	s->depth++;
}

static void
close_container(struct id_scan *s)
{
	if (s->depth == 1)
		end_token(s);
	if (s->depth != 0)
		s->depth--;
	s->over = s->depth == 0;
}

/* Takes one byte outside of strings. */
static void
structure(struct id_scan *s, char c)
{
	bool top = s->depth == 1 && s->object;

	switch (c) {
	case '{':
	case '[':
		open_container(s, c);
		break;
	case '}':
	case ']':
		close_container(s);
		break;
	case ',':
	case ':':
		if (top) {
			end_token(s);
			s->value = c == ':';
		}
		break;
	case ' ':
	case '\t':
	case '\r':
		break;
	default:
		s->string = c == '"';
		if (top)
			token_add(s, c);
		break;
	}
}

/* Takes one byte inside a string. */
static void
inside(struct id_scan *s, char c)
{
	if (s->depth == 1 && s->object)
		token_add(s, c);
	if (s->escaped)
		s->escaped = false;
	else if (c == '\\')
		s->escaped = true;
	else if (c == '"')
		s->string = false;
}

/* Takes the next n bytes of the object. */
static void
id_scan_feed(struct id_scan *s, const char *p, size_t n)
{
	const char *end = p + n;

	for (; p < end && !s->over; p++) {
		if (!s->string) {
			structure(s, *p);
			continue;
		}
		if (s->depth != 1 || s->token_over) {
			while (!s->escaped && p < end - 1 && *p != '"' &&
			    *p != '\\')
				p++;
		}
		inside(s, *p);
	}
}

/* Returns the raw id (p NULL: none; valid until the next start). *method tells
 * whether there was a method. */
static struct span
id_scan_end(struct id_scan *s, bool *method)
{
	*method = s->method;
	if (s->id_n == 0)
		return (struct span){ NULL, 0 };
	return (struct span){ s->id, s->id_n };
}

/* --- lines --- */

struct lines {
	size_t max;
	struct lines_ops ops;
	void *arg;
	struct buf part; /* beginning of a line */
	size_t bom;      /* see lines_pass_bom */
	bool skipping;   /* the line is too long */
	uint64_t skipped;
	bool cr; /* the last skipped byte was a CR */
	struct id_scan id_scan;
};

static const char bom_bytes[] = "\xEF\xBB\xBF";

struct lines *
lines_new(size_t max, const struct lines_ops *ops, void *arg)
{
	struct lines *l;

	l = xcalloc(1, sizeof *l);
	l->max = max;
	l->ops = *ops;
	l->arg = arg;
	buf_init(&l->part, 0);
	return l;
}

/* Skips bytes of a line that is too long. */
static void
skip(struct lines *l, const char *p, size_t n)
{
	if (n == 0)
		return;
	id_scan_feed(&l->id_scan, p, n);
	l->skipped += n;
	l->cr = p[n - 1] == '\r';
}

static void
start_skipping(struct lines *l)
{
	id_scan_start(&l->id_scan);
	l->skipping = true;
	l->skipped = 0;
	skip(l, l->part.p, l->part.n);
	buf_free(&l->part);
}

static void
stop_skipping(struct lines *l)
{
	struct span id;
	bool request;

	l->skipping = false;
	id = id_scan_end(&l->id_scan, &request);
	if (l->cr)
		l->skipped--;
	if (l->ops.too_long != NULL)
		l->ops.too_long(l->skipped, id, request, l->arg);
}

static struct span
drop_cr(struct span line)
{
	if (line.n != 0 && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

static bool
is_blank(struct span line)
{
	return span_trim(line, " \t\r").n == 0;
}

/* Would the line be over the cap with this end? */
static bool
is_over(const struct lines *l, struct span rest)
{
	size_t n = l->part.n + rest.n;

	if (n <= l->max)
		return false;
	if (rest.n == 0)
		rest = buf_span(&l->part);
	return n - 1 > l->max || rest.p[rest.n - 1] != '\r';
}

/* Ends a line that consists of the held bytes and rest. */
static void
finish(struct lines *l, struct span rest)
{
	struct span line;

	if (!l->skipping && is_over(l, rest))
		start_skipping(l);
	if (l->skipping) {
		skip(l, rest.p, rest.n);
		stop_skipping(l);
		return;
	}
	if (l->part.n == 0) {
		line = drop_cr(rest);
		if (!is_blank(line))
			l->ops.line(frame_copy(line), l->arg);
		return;
	}
	buf_addspan(&l->part, rest);
	line = drop_cr(buf_span(&l->part));
	l->part.n = line.n;
	if (is_blank(line))
		buf_reset(&l->part);
	else
		l->ops.line(frame_take(&l->part), l->arg);
}

/* Holds the beginning of a line. */
static void
hold(struct lines *l, const char *p, size_t n)
{
	/* One byte over the cap may turn out to be the CR of the line end. */
	if (!l->skipping && n != 0 && l->part.n + n - 1 > l->max)
		start_skipping(l);
	if (l->skipping)
		skip(l, p, n);
	else
		buf_add(&l->part, p, n);
}

size_t
lines_pass_bom(size_t *bom, const char *p, size_t n, struct span *text)
{
	size_t used = 0;

	*text = no_span;
	while (used < n && *bom < BOM_BYTES) {
		if (p[used] != bom_bytes[*bom]) {
			*text = (struct span){ bom_bytes, *bom };
			*bom = BOM_BYTES;
			break;
		}
		used++;
		++*bom;
	}
	return used;
}

void
lines_feed(struct lines *l, const char *p, size_t n)
{
	const char *end = p + n, *lf;
	struct span text;

	p += lines_pass_bom(&l->bom, p, n, &text);
	if (text.n > 0)
		hold(l, text.p, text.n);
	while (p < end) {
		lf = memchr(p, '\n', (size_t)(end - p));
		if (lf == NULL) {
			hold(l, p, (size_t)(end - p));
			return;
		}
		finish(l, (struct span){ p, (size_t)(lf - p) });
		p = lf + 1;
	}
}

void
lines_end(struct lines *l)
{
	if (l->bom < BOM_BYTES) {
		hold(l, bom_bytes, l->bom);
		l->bom = BOM_BYTES;
	}
	if (l->skipping || l->part.n != 0)
		finish(l, (struct span){ "", 0 });
}

size_t
lines_held(const struct lines *l)
{
	return l->part.n;
}

void
lines_free(struct lines *l)
{
	if (l == NULL)
		return;
	buf_free(&l->part);
	free(l);
}
