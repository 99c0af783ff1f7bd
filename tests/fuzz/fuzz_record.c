/*
 * A record of any bytes: what is taken is printed and read again as the same,
 * holds a token that can stand in a header or none, and can lose its parts.
 */
#include "config.h"

#include "base/bounds.h"
#include "store/record.h"

#include "fuzz/fuzz.h"

static void
print(const struct record *r, struct buf *out)
{
	buf_init(out, 0);
	record_print(r, out);
}

static bool
is_empty(const struct record *r)
{
	return r->json == NULL && r->url == NULL && r->client.id == NULL &&
	    r->token.access == NULL;
}

static void
check_token(const struct record *r)
{
	const char *p = r->token.access;

	FUZZ_CHECK(p != NULL || r->token.refresh == NULL);
	if (p == NULL)
		return;
	FUZZ_CHECK(*p != '\0');
	for (; *p != '\0'; p++)
		FUZZ_CHECK(*p > ' ' && *p < 0x7f);
	FUZZ_CHECK(record_usable(r, 0) || r->token.obtained_at == 0);
	FUZZ_CHECK(!record_expired(r, 0) || r->token.expires_at == 0);
}

/* A print can be longer than the text was: what is too long is refused. */
static void
check_round(const struct record *r)
{
	struct record again;
	struct buf one, two;
	const char *why;

	print(r, &one);
	if (one.n <= BOUND_PART_BYTES) {
		FUZZ_CHECK(record_parse(&again, buf_span(&one), &why) == 0);
		print(&again, &two);
		FUZZ_CHECK(span_eq(buf_span(&one), buf_span(&two)));
		buf_free(&two);
		record_free(&again);
	}
	buf_free(&one);
}

static void
check_parts(const struct record *r)
{
	struct record copy;
	char *all;

	record_copy(&copy, r);
	all = scope_union(r->token.scope_granted, r->token.scope_requested);
	record_has_scopes(r, all);
	free(all);
	FUZZ_CHECK(record_has_scopes(r,
	    r->token.scope_granted != NULL ? r->token.scope_granted :
					     r->token.scope_requested));
	record_drop_token(&copy);
	check_round(&copy);
	record_drop_client(&copy);
	FUZZ_CHECK(copy.client.id == NULL && copy.url != NULL);
	check_round(&copy);
	record_free(&copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };
	const char *why = NULL;
	struct record r;

	if (record_parse(&r, text, &why) < 0) {
		FUZZ_CHECK(why != NULL && is_empty(&r));
		return 0;
	}
	FUZZ_CHECK(r.url != NULL && r.generation >= 0);
	check_token(&r);
	check_round(&r);
	check_parts(&r);
	record_free(&r);
	FUZZ_CHECK(is_empty(&r));
	return 0;
}
