/*
 * The scan counts brackets and steps over strings. Only the keys and scalars of
 * the outermost object are kept for a moment, as tokens.
 */
#include "config.h"

#include "core/wire/id_scan.h"

#include "core/wire/json.h"

void
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

void
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

struct span
id_scan_end(struct id_scan *s, bool *method)
{
	*method = s->method;
	if (s->id_n == 0)
		return (struct span){ NULL, 0 };
	return (struct span){ s->id, s->id_n };
}
