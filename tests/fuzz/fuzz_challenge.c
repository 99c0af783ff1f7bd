/*
 * WWW-Authenticate, any bytes: without a challenge of ours there are no
 * parameters, those that are there are clean, one more challenge behind changes
 * nothing in the first, and what is told of it is JSON.
 */
#include "config.h"

#include "auth/challenge.h"
#include "base/bounds.h"
#include "core/wire/json.h"

#include "fuzz/fuzz.h"

static void
clean(const char *s)
{
	if (s == NULL)
		return;
	FUZZ_CHECK(*s != '\0');
	for (; *s != '\0'; s++)
		FUZZ_CHECK((*s >= ' ' && *s <= '~') || *s == '\t');
}

static void
same(const char *a, const char *b)
{
	FUZZ_CHECK((a == NULL) == (b == NULL));
	FUZZ_CHECK(a == NULL || strcmp(a, b) == 0);
}

/* The value with another line behind it. */
static void
joined(const struct challenge *c, struct span value)
{
	struct challenge more;
	struct buf b;

	buf_init(&b, 0);
	buf_addspan(&b, value);
	buf_adds(&b, ", Basic scope=\"x\"");
	challenge_parse(&more, buf_span(&b));
	if (b.n <= BOUND_HEADER_BYTES) {
		FUZZ_CHECK(more.bearer == c->bearer && more.dpop == c->dpop);
		same(c->resource_metadata, more.resource_metadata);
		same(c->scope, more.scope);
		same(c->error, more.error);
		same(c->dpop_error, more.dpop_error);
		same(c->algs, more.algs);
		same(c->error_description, more.error_description);
	} else {
		FUZZ_CHECK(!more.bearer && !more.dpop && more.schemes == NULL);
	}
	challenge_free(&more);
	buf_free(&b);
}

/* What is told of it is one JSON object, and printable. */
static void
said(const struct challenge *c, struct span value)
{
	struct buf b;
	size_t i;

	buf_init(&b, 0);
	denial_json(value, &b);
	FUZZ_CHECK(b.n == 0 ||
	    json_check(buf_span(&b), 2, NULL, NULL, NULL) == JSON_OK);
	FUZZ_CHECK(b.n == 0 || ((c->bearer || c->dpop) && b.p[0] == '{'));
	FUZZ_CHECK(challenge_error(c, false) == NULL || b.n > 0);
	buf_reset(&b);
	if (challenge_error(c, false) != NULL)
		denial_say(c, &b);
	for (i = 0; i < b.n; i++)
		FUZZ_CHECK(b.p[i] >= ' ' && b.p[i] <= '~');
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span value = { (const char *)data, size };
	struct challenge c;

	challenge_parse(&c, value);
	if (c.bearer || c.dpop)
		joined(&c, value);
	else
		FUZZ_CHECK(c.resource_metadata == NULL && c.scope == NULL &&
		    c.error_description == NULL);
	FUZZ_CHECK(c.bearer || c.error == NULL);
	FUZZ_CHECK(c.dpop || (c.dpop_error == NULL && c.algs == NULL));
	FUZZ_CHECK(size <= BOUND_HEADER_BYTES || !(c.bearer || c.dpop));
	clean(c.resource_metadata);
	clean(c.scope);
	clean(c.error);
	clean(c.dpop_error);
	clean(c.algs);
	clean(c.error_description);
	clean(c.schemes);
	clean(c.error_uri);
	clean(c.acr_values);
	clean(c.max_age);
	clean(c.authorization_details);
	clean(c.claims);
	said(&c, value);
	challenge_free(&c);
	return 0;
}
