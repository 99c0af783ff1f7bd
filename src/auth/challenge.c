/*
 * The reader of WWW-Authenticate. A comma may end a parameter or a challenge;
 * which one it was is told by what follows: a word with "=" is a parameter of
 * the challenge before it, any other word begins a challenge.
 *
 * More is taken than the grammar has, where servers are known to write it and
 * it can mean one thing only: URLs without quotes, empty parameters. All else
 * that does not fit makes the whole value count as absent.
 */
#include "config.h"

#include "auth/challenge.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "base/headers.h"
#include "store/record.h"

enum { SCHEMES_MAX_BYTES = 200 };

struct cursor {
	const char *p, *end;
};

/* What a parameter belongs to. */
enum owner { OWNER_NONE, OWNER_OTHER, OWNER_BEARER, OWNER_DPOP };

static bool
is_token68(char c)
{
	return c != '\0' && strchr(ALNUM "-._~+/", c) != NULL;
}

/* Returns whether there were any. */
static bool
skip_blanks(struct cursor *in)
{
	const char *start = in->p;

	while (in->p < in->end && (*in->p == ' ' || *in->p == '\t'))
		in->p++;
	return in->p > start;
}

static bool
at(const struct cursor *in, char c)
{
	return in->p < in->end && *in->p == c;
}

/* Is here the end of an element of the list? */
static bool
at_border(const struct cursor *in)
{
	return in->p == in->end || *in->p == ',';
}

/* Empty when there is none. */
static struct span
take_token(struct cursor *in)
{
	const char *start = in->p;

	while (in->p < in->end && headers_is_token((unsigned char)*in->p))
		in->p++;
	return (struct span){ start, (size_t)(in->p - start) };
}

/* Steps over a token68 that is all of its element; else stays. */
static bool
take_token68(struct cursor *in)
{
	struct cursor ahead = *in;

	while (ahead.p < ahead.end && is_token68(*ahead.p))
		ahead.p++;
	if (ahead.p == in->p)
		return false;
	while (at(&ahead, '='))
		ahead.p++;
	skip_blanks(&ahead);
	if (!at_border(&ahead))
		return false;
	*in = ahead;
	return true;
}

static bool
is_control(char c)
{
	return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f;
}

/* The content of a quoted string whose first quote is behind us. */
static int
take_quoted(struct cursor *in, struct buf *out)
{
	while (in->p < in->end && *in->p != '"') {
		if (*in->p == '\\' && ++in->p == in->end)
			return -1;
		if (is_control(*in->p))
			return -1;
		buf_addc(out, *in->p++);
	}
	if (in->p == in->end)
		return -1;
	in->p++;
	return 0;
}

/* A value without quotes: up to a blank or comma, so that URLs fit too. */
static int
take_bare(struct cursor *in, struct buf *out)
{
	while (!at_border(in) && !at(in, ' ') && !at(in, '\t')) {
		if (is_control(*in->p) || *in->p == '"')
			return -1;
		buf_addc(out, *in->p++);
	}
	return 0;
}

/* The member for a parameter, or NULL for one that is not looked at. */
static char **
member(struct challenge *c, enum owner owner, struct span name)
{
	bool dpop = owner == OWNER_DPOP;
	const struct {
		const char *name;
		char **to;
	} members[] = {
		{ "resource_metadata", &c->resource_metadata },
		{ "scope", &c->scope },
		{ "error", dpop ? &c->dpop_error : &c->error },
		{ "error_description", &c->error_description },
		{ "algs", dpop ? &c->algs : NULL },
		{ "error_uri", &c->error_uri },
		{ "acr_values", &c->acr_values },
		{ "max_age", &c->max_age },
		{ "authorization_details", &c->authorization_details },
		{ "claims", &c->claims },
	};
	size_t i;

	if (owner != OWNER_BEARER && !dpop)
		return NULL;
	for (i = 0; i < sizeof members / sizeof members[0]; i++)
		if (span_is_nocase(name, members[i].name))
			return members[i].to;
	return NULL;
}

/* Only ASCII is kept: what these values are for has no other bytes. An empty
 * value says no more than none. */
static bool
worth_keeping(struct span value)
{
	size_t i;

	for (i = 0; i < value.n; i++)
		if ((unsigned char)value.p[i] >= 0x7f)
			return false;
	return value.n > 0;
}

/* A parameter of a challenge, from its "=" on. The first of a name counts. */
static int
take_parameter(struct cursor *in, struct challenge *c, enum owner owner,
    struct span name)
{
	char **to = member(c, owner, name);
	struct buf value = { 0 };
	int rc;

	in->p++;
	skip_blanks(in);
	if (at(in, '"')) {
		in->p++;
		rc = take_quoted(in, &value);
	} else {
		rc = take_bare(in, &value);
	}
	skip_blanks(in);
	if (!at_border(in))
		rc = -1;
	if (rc == 0 && to != NULL && *to == NULL &&
	    worth_keeping(buf_span(&value)))
		*to = xstrndup(value.p, value.n);
	buf_free(&value);
	return rc;
}

/* Notes a challenge by its scheme; says whose the parameters are that
 * follow. */
static enum owner
begin(struct challenge *c, struct span scheme, struct buf *others)
{
	bool bearer = span_is_nocase(scheme, "bearer");
	bool dpop = span_is_nocase(scheme, "dpop");

	if (bearer && !c->bearer) {
		c->bearer = true;
		return OWNER_BEARER;
	}
	if (dpop && !c->dpop) {
		c->dpop = true;
		return OWNER_DPOP;
	}
	if (!bearer && !dpop && others->n + scheme.n + 2 <= SCHEMES_MAX_BYTES) {
		if (others->n > 0)
			buf_adds(others, ", ");
		buf_addspan(others, scheme);
	}
	return OWNER_OTHER;
}

static int
take_all(struct cursor *in, struct challenge *c, struct buf *others)
{
	enum owner owner = OWNER_NONE;
	struct span word;
	bool blanks;

	for (;;) {
		while (skip_blanks(in) || at(in, ','))
			in->p += at(in, ',');
		if (in->p == in->end)
			return 0;
		word = take_token(in);
		if (word.n == 0)
			return -1;
		blanks = skip_blanks(in);
		if (!at(in, '=')) {
			owner = begin(c, word, others);
			if (at_border(in))
				continue;
			if (!blanks)
				return -1;
			if (take_token68(in))
				continue;
			word = take_token(in);
			skip_blanks(in);
		}
		if (word.n == 0 || !at(in, '=') || owner == OWNER_NONE)
			return -1;
		if (take_parameter(in, c, owner, word) < 0)
			return -1;
	}
}

void
challenge_parse(struct challenge *c, struct span value)
{
	struct cursor in;
	struct buf others = { 0 };

	memset(c, 0, sizeof *c);
	if (value.n == 0 || value.n > BOUND_HEADER_BYTES)
		return;
	in = (struct cursor){ value.p, value.p + value.n };
	if (take_all(&in, c, &others) < 0)
		challenge_free(c);
	else if (others.n > 0)
		c->schemes = xstrndup(others.p, others.n);
	buf_free(&others);
}

/* A server that has NTLM alone is told by its name, too: Negotiate is what most
 * of them have beside it. */
bool
challenge_wants_ticket(const struct challenge *c)
{
	return !c->bearer && !c->dpop && c->schemes != NULL &&
	    (strcasestr(c->schemes, "negotiate") != NULL ||
		strcasestr(c->schemes, "ntlm") != NULL);
}

const char *
challenge_error(const struct challenge *c, bool dpop)
{
	const char *own = dpop ? c->dpop_error : c->error;
	const char *other = dpop ? c->error : c->dpop_error;

	return own != NULL ? own : other;
}

bool
challenge_offers_dpop(const struct challenge *c)
{
	return c->dpop && (c->algs == NULL || scope_listed(c->algs, "ES256"));
}

void
challenge_free(struct challenge *c)
{
	free(c->resource_metadata);
	free(c->scope);
	free(c->error);
	free(c->error_description);
	free(c->dpop_error);
	free(c->algs);
	free(c->error_uri);
	free(c->acr_values);
	free(c->max_age);
	free(c->authorization_details);
	free(c->claims);
	free(c->schemes);
	memset(c, 0, sizeof *c);
}

/* --- a challenge that denies --- */

enum { DENIAL_TEXT_MAX = 200 };

bool
denial_stands(const struct challenge *c)
{
	static const char insufficient[] = "insufficient_";
	const char *error = challenge_error(c, false);

	if (error == NULL || strcmp(error, "insufficient_scope") == 0)
		return false;
	return strcmp(error, "access_denied") == 0 ||
	    strncmp(error, insufficient, sizeof insufficient - 1) == 0;
}

static void
add_shown(struct buf *out, const char *before, const char *text)
{
	if (text == NULL)
		return;
	buf_adds(out, before);
	codec_visible(out, span_of(text), DENIAL_TEXT_MAX);
}

void
denial_say(const struct challenge *c, struct buf *why)
{
	buf_adds(why, "the token is valid but lacks a permission this needs (");
	add_shown(why, "", challenge_error(c, false));
	add_shown(why, ": ", c->error_description);
	buf_addc(why, ')');
	if (c->acr_values == NULL && c->max_age == NULL &&
	    c->authorization_details == NULL) {
		buf_adds(why, ". Ask whoever grants permissions");
		return;
	}
	buf_adds(why, ". It requires another sign-in, with");
	add_shown(why, " acr_values=", c->acr_values);
	add_shown(why, " max_age=", c->max_age);
	add_shown(why, " authorization_details=", c->authorization_details);
	buf_adds(why,
	    ": run \"mcpsplice login URL\" with --authorize-param for each");
}

static void
add_member(struct buf *out, const char *name, const char *text)
{
	if (text == NULL)
		return;
	buf_addf(out, "%c\"%s\":", out->n == 0 ? '{' : ',', name);
	codec_json_string(out, span_of(text));
}

void
denial_json(struct span value, struct buf *out)
{
	struct challenge c;

	challenge_parse(&c, value);
	add_member(out, "error", challenge_error(&c, false));
	add_member(out, "error_description", c.error_description);
	add_member(out, "error_uri", c.error_uri);
	add_member(out, "acr_values", c.acr_values);
	add_member(out, "max_age", c.max_age);
	add_member(out, "authorization_details", c.authorization_details);
	add_member(out, "claims", c.claims);
	/* A scope alone says no more than that a token is wanted. */
	if (out->n > 0) {
		add_member(out, "scope", c.scope);
		buf_addc(out, '}');
	}
	challenge_free(&c);
}
