/*
 * The grammar of W3C trace context. Each take_ function steps over one part of
 * a value, and returns false if it is not there.
 */
#include "config.h"

#include "core/era/trace_context.h"

#include <ctype.h>

#include "base/bounds.h"
#include "base/headers.h"
#include "core/wire/json.h"

enum {
	PARENT_BYTES = 55,  /* of a traceparent of version 00 */
	STATE_MEMBERS = 32, /* of a tracestate, at most */
	STATE_BYTES = 256,  /* of a key, and of a value, of it */
	BAGGAGE_MEMBERS = 180
};

struct reader {
	const char *p, *end;
};

static bool
take_char(struct reader *r, char c)
{
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static void
skip_blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t'))
		r->p++;
}

/* Steps over the bytes for which is() is true, and returns how many. */
static size_t
take_run(struct reader *r, bool (*is)(unsigned char c))
{
	const char *start = r->p;

	while (r->p < r->end && is((unsigned char)*r->p))
		r->p++;
	return (size_t)(r->p - start);
}

/* --- traceparent --- */

static bool
is_hex(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Takes n digits; with nonzero, one of them has to be another one than 0. */
static bool
take_hex(struct reader *r, size_t n, bool nonzero)
{
	size_t i;

	if ((size_t)(r->end - r->p) < n)
		return false;
	for (i = 0; i < n; i++, r->p++) {
		if (!is_hex((unsigned char)*r->p))
			return false;
		nonzero = nonzero && *r->p == '0';
	}
	return !nonzero;
}

/* A later version may say more behind another dash. */
static bool
is_traceparent(struct span s)
{
	struct reader r = { s.p, s.p + s.n };

	return s.n >= PARENT_BYTES && memcmp(s.p, "ff", 2) != 0 &&
	    take_hex(&r, 2, false) && take_char(&r, '-') &&
	    take_hex(&r, 32, true) && take_char(&r, '-') &&
	    take_hex(&r, 16, true) && take_char(&r, '-') &&
	    take_hex(&r, 2, false) &&
	    (r.p == r.end ||
		(memcmp(s.p, "00", 2) != 0 && take_char(&r, '-') &&
		    span_is_printable(s, '!')));
}

/* --- tracestate --- */

static bool
is_state_key(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || isdigit(c) ||
	    (c != '\0' && strchr("_-*/@", c) != NULL);
}

static bool
is_state_value(unsigned char c)
{
	return c >= ' ' && c <= '~' && c != ',' && c != '=';
}

static bool
take_state_member(struct reader *r)
{
	bool begins = r->p < r->end && isalnum((unsigned char)*r->p);
	size_t n = take_run(r, is_state_key);

	if (!begins || n > STATE_BYTES || !take_char(r, '='))
		return false;
	n = take_run(r, is_state_value);
	/* Blanks at the end belong to what follows. */
	while (n > 0 && r->p[-1] == ' ') {
		r->p--;
		n--;
	}
	return n > 0 && n <= STATE_BYTES;
}

static bool
is_tracestate(struct span s)
{
	struct reader r = { s.p, s.p + s.n };
	size_t members = 0;

	do {
		skip_blanks(&r);
		if (r.p == r.end || *r.p == ',')
			continue; /* an empty member */
		if (++members > STATE_MEMBERS || !take_state_member(&r))
			return false;
		skip_blanks(&r);
	} while (take_char(&r, ','));
	return members > 0 && r.p == r.end;
}

/* --- baggage --- */

static bool
is_baggage(unsigned char c)
{
	return c > ' ' && c <= '~' && strchr("\",;\\", c) == NULL;
}

/* Takes "key = value", or a property, of which the value may be missing. */
static bool
take_pair(struct reader *r, bool property)
{
	skip_blanks(r);
	if (take_run(r, headers_is_token) == 0)
		return false;
	skip_blanks(r);
	if (!take_char(r, '='))
		return property;
	skip_blanks(r);
	take_run(r, is_baggage);
	skip_blanks(r);
	return true;
}

static bool
is_baggage_list(struct span s)
{
	struct reader r = { s.p, s.p + s.n };
	size_t members = 0;

	do {
		if (++members > BAGGAGE_MEMBERS || !take_pair(&r, false))
			return false;
		while (take_char(&r, ';'))
			if (!take_pair(&r, true))
				return false;
	} while (take_char(&r, ','));
	return r.p == r.end;
}

/* Adds the header if raw is a string and valid. */
static bool
mirror(struct headers *out, const char *name, struct span raw,
    bool (*is_valid)(struct span))
{
	struct buf text;
	bool valid;

	buf_init(&text, BOUND_HEADER_BYTES);
	valid = json_string(raw, &text) == 0 && text.n > 0 &&
	    is_valid(buf_span(&text));
	if (valid)
		headers_add(out, span_of(name), buf_span(&text), false);
	buf_free(&text);
	return valid;
}

void
trace_context_headers(const struct frame *message, struct headers *out)
{
	static const char *const names[] = { "traceparent", "tracestate",
		"baggage" };
	struct span found[3];

	json_get_some(message->meta, names, found, 3);
	if (mirror(out, names[0], found[0], is_traceparent))
		mirror(out, names[1], found[1], is_tracestate);
	mirror(out, names[2], found[2], is_baggage_list);
}
