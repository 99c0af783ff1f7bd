/* What a challenge denies, for users and for programs. */
#include "config.h"

#include "proxy/credentials/denial.h"

#include <string.h>

#include "base/codec.h"

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
	buf_adds(why, "the token is good, and not enough for this (");
	add_shown(why, "", challenge_error(c, false));
	add_shown(why, ": ", c->error_description);
	buf_addc(why, ')');
	if (c->acr_values == NULL && c->max_age == NULL &&
	    c->authorization_details == NULL) {
		buf_adds(why, ". Ask whoever grants the rights");
		return;
	}
	buf_adds(why, ". It wants another sign-in, with");
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
