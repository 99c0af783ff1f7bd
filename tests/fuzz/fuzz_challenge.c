/*
 * WWW-Authenticate, any bytes: without a challenge of ours there are no
 * parameters, those that are there are clean, and one more challenge behind
 * changes nothing in the first.
 */
#include "config.h"

#include "base/bounds.h"
#include "login/challenge.h"

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
	if (b.n <= BOUND_CHALLENGE_BYTES) {
		FUZZ_CHECK(more.bearer);
		same(c->resource_metadata, more.resource_metadata);
		same(c->scope, more.scope);
		same(c->error, more.error);
		same(c->error_description, more.error_description);
	} else {
		FUZZ_CHECK(!more.bearer && more.schemes == NULL);
	}
	challenge_free(&more);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span value = { (const char *)data, size };
	struct challenge c;

	challenge_parse(&c, value);
	if (c.bearer)
		joined(&c, value);
	else
		FUZZ_CHECK(c.resource_metadata == NULL && c.scope == NULL &&
		    c.error == NULL && c.error_description == NULL);
	FUZZ_CHECK(size <= BOUND_CHALLENGE_BYTES || !c.bearer);
	clean(c.resource_metadata);
	clean(c.scope);
	clean(c.error);
	clean(c.error_description);
	clean(c.schemes);
	challenge_free(&c);
	return 0;
}
