/*
 * When two refusals are the same. The message is read word by word: a word that
 * is new each time, or that repeats the request, becomes "#". What is left is
 * hashed.
 */
#include "config.h"

#include "core/exchange/same_refusal.h"

#include <ctype.h>
#include <string.h>

#include "base/bounds.h"
#include "base/hash.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

/* Which words repeat the request. */
struct echoed {
	struct span session, method;
	struct buf tool, id;
};

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The value at p, if it stands there as a word by itself: its length, else 0.
 * Shorter values are too likely to be words of the text. */
static size_t
match(const char *p, const char *end, struct span value)
{
	enum { SHORTEST = 3 };

	if (value.n < SHORTEST || (size_t)(end - p) < value.n ||
	    memcmp(p, value.p, value.n) != 0)
		return 0;
	return p + value.n == end || !is_word(p[value.n]) ? value.n : 0;
}

static size_t
match_any(const char *p, const char *end, const struct echoed *e)
{
	const struct span values[] = { e->session, e->method,
		buf_span(&e->tool), buf_span(&e->id) };
	size_t i, n = 0;

	for (i = 0; n == 0 && i < sizeof values / sizeof *values; i++)
		n = match(p, end, values[i]);
	return n;
}

/* Is this word new each time? A number is, and a word with a digit that is long
 * enough to be random. */
static bool
is_new_each_time(const char *p, size_t n)
{
	enum { RANDOM = 8 };
	size_t i;

	if (isdigit((unsigned char)p[0]))
		return true;
	for (i = 0; i < n && n >= RANDOM; i++)
		if (isdigit((unsigned char)p[i]))
			return true;
	return false;
}

/* Appends "#". The parts of a time or of a version are one: their number may
 * differ. */
static void
add_blank(struct buf *out)
{
	if (out->n >= 2 && out->p[out->n - 2] == '#' &&
	    strchr(".:", out->p[out->n - 1]) != NULL)
		out->n--;
	else
		buf_addc(out, '#');
}

static void
normalize(struct buf *out, struct span text, const struct echoed *e)
{
	const char *p, *end, *stop;
	size_t n;

	if (text.n == 0)
		return;
	text = span_trim(text, " \t\r\n");
	if (text.n > BOUND_LOSS_TEXT_BYTES)
		text.n = BOUND_LOSS_TEXT_BYTES;
	end = text.p + text.n;
	for (p = text.p; p < end; p = stop) {
		stop = p + 1;
		if ((n = match_any(p, end, e)) > 0) {
			add_blank(out);
			stop = p + n;
			continue;
		}
		if (!is_word(*p)) {
			buf_addc(out, *p);
			continue;
		}
		while (stop < end && is_word(*stop))
			stop++;
		if (is_new_each_time(p, (size_t)(stop - p)))
			add_blank(out);
		else
			buf_add(out, p, (size_t)(stop - p));
	}
}

/* Appends the message of a body that is JSON: the first text that is found
 * under one of the names by which servers and frameworks call it. */
static bool
add_message(struct buf *out, struct span json)
{
	static const char *const names[] = { "error", "jsonRpcError", "message",
		"detail", "error_description", "title" };
	struct span value;
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		value = json_get(json, names[i]);
		if (json_kind(value) == '{')
			value = json_get(value, "message");
		if (json_kind(value) == '"' && value.n > 2)
			return json_string(value, out) == 0;
	}
	return false;
}

/* Appends what a body without a JSON-RPC error says, and returns its kind. */
static char
add_body(struct buf *out, const struct facts *f)
{
	struct span body = span_trim(f->body, " \t\r\n");

	if (body.n == 0)
		return 'n';
	if (json_kind(body) == '{' &&
	    json_check(body, BOUND_SOME, NULL, NULL, NULL) == JSON_OK) {
		if (!add_message(out, body))
			buf_addspan(out, body);
		return 'j';
	}
	buf_addspan(out, body);
	return json_kind(body) == '<' ? 'p' : 't';
}

bool
refusal_has_id(const struct frame *error, const struct frame *request)
{
	return error != NULL && error->id.p != NULL &&
	    msg_id_same(error->id, request->id);
}

static char
whose_id(const struct frame *error, const struct frame *request)
{
	if (error->id.p == NULL)
		return '-';
	if (span_is(error->id, "null"))
		return '0';
	return refusal_has_id(error, request) ? 'r' : 'o';
}

static void
note_echoed(struct echoed *e, const struct frame *request, const char *session)
{
	e->session = span_of(session);
	e->method = request->method;
	buf_init(&e->tool, 0);
	buf_init(&e->id, 0);
	(void)json_string(json_get(request->params, "name"), &e->tool);
	(void)json_string(request->id, &e->id);
}

uint64_t
refusal_mark(const struct facts *f, const struct frame *error,
    const struct frame *request, const char *session)
{
	struct echoed e;
	struct buf said, out;
	uint64_t mark;

	note_echoed(&e, request, session);
	buf_init(&said, 0);
	buf_init(&out, 0);
	buf_addf(&out, "%d ", f->status);
	if (error != NULL) {
		buf_addf(&out, "e%c %ld ", whose_id(error, request),
		    msg_error_code(error));
		msg_error_text(error, &said);
	} else {
		buf_addf(&out, "%c ", add_body(&said, f));
	}
	normalize(&out, buf_span(&said), &e);
	mark = hash_bytes(HASH_START, out.p, out.n);
	buf_free(&said);
	buf_free(&out);
	buf_free(&e.tool);
	buf_free(&e.id);
	return mark == 0 ? 1 : mark;
}
