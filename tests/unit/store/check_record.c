/*
 * store/record: what is read is what was written, what is refused, what others
 * wrote survives, and what time and scopes mean.
 */
#include "config.h"

#include "store/record.h"

#include <stdio.h>

#include "unit/unit.h"

#define LONG (INT64_C(1) << 40)

/* The least there is. */
#define TOP "\"version\":1,\"url\":\"https://a.example/mcp\""

static const char full[] =
    "{\"version\":1,\"generation\":7,\"url\":\"https://a.example/mcp\","
    "\"profile\":\"work\",\"issuer\":\"https://as.example\","
    "\"resource\":\"https://a.example/mcp\","
    "\"token_endpoint\":\"https://as.example/token\","
    "\"revocation_endpoint\":\"https://as.example/revoke\","
    "\"dpop_key\":\"k\",\"later\":{\"a\":[1,null,\"x\"]},"
    "\"client\":{\"source\":\"registered\",\"method\":\"client_secret_post\","
    "\"id\":\"the-id\",\"secret\":\"s3\",\"secret_expires_at\":99,"
    "\"redirect_uri\":\"http://127.0.0.1:1/callback\",\"jwks\":{\"k\":2}},"
    "\"token\":{\"access_token\":\"at\",\"refresh_token\":\"rt\","
    "\"id_token\":\"it\",\"dpop_ath\":\"ha\",\"scope_requested\":\"a b\","
    "\"scope_granted\":\"a\",\"obtained_at\":1000,\"expires_at\":4600,"
    "\"dpop\":true},\"client_failures\":2,\"server_public\":1}";

static struct record r;

static void
setup(void)
{
	record_init(&r);
}

static void
teardown(void)
{
	record_free(&r);
}

static bool
parses(const char *text)
{
	const char *why = "untouched";

	record_free(&r);
	if (record_parse(&r, span_of(text), &why) == 0) {
		ck_assert_ptr_null(why);
		return true;
	}
	ck_assert_ptr_nonnull(why);
	ck_assert_str_ne(why, "untouched");
	ck_assert_ptr_null(r.json);
	ck_assert_ptr_null(r.url);
	ck_assert_ptr_null(r.client.id);
	ck_assert_ptr_null(r.token.access);
	return false;
}

static const char *
why_not(const char *text)
{
	const char *why = NULL;

	record_free(&r);
	ck_assert_int_eq(record_parse(&r, span_of(text), &why), -1);
	return why;
}

/* Printed and read again. */
static void
around(void)
{
	struct record again;
	const char *why;
	struct buf b;

	buf_init(&b, 0);
	record_print(&r, &b);
	ck_assert_int_eq(record_parse(&again, buf_span(&b), &why), 0);
	buf_free(&b);
	record_free(&r);
	r = again;
}

static bool
printed_has(const char *what)
{
	struct buf b;
	bool has;

	buf_init(&b, 0);
	record_print(&r, &b);
	has = strstr(buf_str(&b), what) != NULL;
	buf_free(&b);
	return has;
}

static void
expect_full(const struct record *x)
{
	ck_assert_int_eq(x->generation, 7);
	ck_assert_str_eq(x->url, "https://a.example/mcp");
	ck_assert_str_eq(x->profile, "work");
	ck_assert_str_eq(x->issuer, "https://as.example");
	ck_assert_str_eq(x->resource, "https://a.example/mcp");
	ck_assert_str_eq(x->token_endpoint, "https://as.example/token");
	ck_assert_str_eq(x->revocation_endpoint, "https://as.example/revoke");
	ck_assert_int_eq(x->client.source, CLIENT_REGISTERED);
	ck_assert_int_eq(x->client.method, CLIENT_POST);
	ck_assert_str_eq(x->client.id, "the-id");
	ck_assert_str_eq(x->client.secret, "s3");
	ck_assert_int_eq(x->client.secret_expires_at, 99);
	ck_assert_str_eq(x->dpop_key, "k");
	ck_assert_str_eq(x->token.dpop_ath, "ha");
	ck_assert_str_eq(x->client.redirect_uri, "http://127.0.0.1:1/callback");
	ck_assert_str_eq(x->token.access, "at");
	ck_assert_str_eq(x->token.refresh, "rt");
	ck_assert_str_eq(x->token.id_token, "it");
	ck_assert_str_eq(x->token.scope_requested, "a b");
	ck_assert_str_eq(x->token.scope_granted, "a");
	ck_assert_int_eq(x->token.obtained_at, 1000);
	ck_assert_int_eq(x->token.expires_at, 4600);
	ck_assert_int_eq(x->client_failures, 2);
	ck_assert(x->server_public);
}

START_TEST(all_of_it)
{
	ck_assert(parses(full));
	expect_full(&r);
	around();
	expect_full(&r);
	ck_assert(printed_has("\"later\":{\"a\":[1,null,\"x\"]}"));
	ck_assert(printed_has("\"jwks\":{\"k\":2}"));
	ck_assert(printed_has("\"dpop\":true"));
	ck_assert(printed_has("\"version\":1"));
}
END_TEST

START_TEST(least_of_it)
{
	ck_assert(parses("{" TOP "}"));
	ck_assert_int_eq(r.generation, 0);
	ck_assert_ptr_null(r.profile);
	ck_assert_ptr_null(r.issuer);
	ck_assert_ptr_null(r.client.id);
	ck_assert_ptr_null(r.token.access);
	around();
	ck_assert_str_eq(r.url, "https://a.example/mcp");
	ck_assert(!printed_has("\"client\":"));
	ck_assert(!printed_has("\"token\":"));
	ck_assert(!printed_has("issuer"));
}
END_TEST

START_TEST(from_nothing)
{
	r.url = xstrdup("https://b.example/");
	r.token.access = xstrdup("at");
	r.token.expires_at = LONG;
	r.client.id = xstrdup("\"quoted\" \xc3\xa9/");
	r.client.source = CLIENT_IMPORTED;
	r.client.method = CLIENT_JWT;
	r.generation = LONG;
	around();
	ck_assert_str_eq(r.client.id, "\"quoted\" \xc3\xa9/");
	ck_assert_int_eq(r.client.source, CLIENT_IMPORTED);
	ck_assert_int_eq(r.client.method, CLIENT_JWT);
	ck_assert_int_eq(r.token.expires_at, LONG);
	ck_assert_int_eq(r.generation, LONG);
}
END_TEST

static const char *const bad[] = {
	"",
	"{}",
	"[]",
	"null",
	"{" TOP,
	"{" TOP "} x",
	"{\"version\":1}",
	"{\"url\":\"https://a.example/mcp\"}",
	"{\"version\":0,\"url\":\"u\"}",
	"{\"version\":-1,\"url\":\"u\"}",
	"{\"version\":true,\"url\":\"u\"}",
	"{\"version\":[1],\"url\":\"u\"}",
	"{\"version\":1,\"url\":5}",
	"{\"version\":1,\"url\":null}",
	"{\"version\":1,\"url\":\"a\\u0000b\"}",
	"{" TOP ",\"url\":\"https://b.example/\"}",
	"{" TOP ",\"client\":\"id\"}",
	"{" TOP ",\"client\":[]}",
	"{" TOP ",\"client\":{}}",
	"{" TOP ",\"client\":{\"id\":\"i\"}}",
	"{" TOP ",\"client\":{\"id\":\"i\",\"source\":\"given\"}}",
	"{" TOP ",\"client\":{\"id\":\"i\",\"method\":\"none\"}}",
	"{" TOP ",\"client\":{\"source\":\"given\",\"method\":\"none\"}}",
	"{" TOP ",\"client\":{\"id\":1,\"source\":\"given\","
	"\"method\":\"none\"}}",
	"{" TOP ",\"client\":{\"id\":\"i\",\"source\":\"found\","
	"\"method\":\"none\"}}",
	"{" TOP ",\"client\":{\"id\":\"i\",\"source\":\"given\","
	"\"method\":\"None\"}}",
	"{" TOP ",\"token\":7}",
	"{" TOP ",\"token\":{}}",
	"{" TOP ",\"token\":{\"refresh_token\":\"r\"}}",
	"{" TOP ",\"token\":{\"access_token\":{}}}",
	"{" TOP ",\"token\":{\"access_token\":\"\"}}",
	"{" TOP ",\"token\":{\"access_token\":\"a b\"}}",
	"{" TOP ",\"token\":{\"access_token\":\"a\\r\\nX: y\"}}",
	"{" TOP ",\"token\":{\"access_token\":\"\xc3\xa9\"}}",
};

START_TEST(refused)
{
	ck_assert_msg(!parses(bad[_i]), "%s", bad[_i]);
}
END_TEST

START_TEST(words_of_refusal)
{
	const char *why;

	why = why_not("{" TOP ",\"token\":{\"access_token\":\"CANARY 1\"}}");
	ck_assert_ptr_null(strstr(why, "CANARY"));
}
END_TEST

static const char *const newer[] = {
	"{\"version\":2}",
	"{\"version\":99,\"url\":\"u\",\"token\":7}",
	"{" TOP ",\"client\":{\"id\":\"c\",\"source\":\"given\","
	"\"method\":\"tls_client_auth\"}}",
	"{" TOP ",\"client\":{\"id\":\"c\",\"source\":\"keyring\","
	"\"method\":\"none\"}}",
	"{" TOP ",\"client\":{\"source\":\"keyring\"}}",
};

/* It is told from a broken one, which may be removed. */
START_TEST(newer_record)
{
	const char *why = "untouched";

	record_free(&r);
	ck_assert_int_eq(record_parse(&r, span_of(newer[_i]), &why),
	    RECORD_NEWER);
	ck_assert_str_eq(why, "a newer mcpsplice wrote it");
	ck_assert_ptr_null(r.json);
	ck_assert_ptr_null(r.client.id);
	why = NULL;
	ck_assert_int_eq(record_parse(&r,
			     span_of("{" TOP ",\"client\":{\"id\":\"c\","
				     "\"source\":\"given\","
				     "\"method\":7}}"),
			     &why),
	    -1);
	ck_assert_ptr_nonnull(strstr(why, "malformed"));
}
END_TEST

/* What is not needed and has a wrong type is as if absent. */
START_TEST(wrong_types)
{
	ck_assert(parses("{" TOP
			 ",\"generation\":\"x\",\"issuer\":4,\"profile\":{},"
			 "\"client\":null,\"token\":{\"access_token\":\"a\","
			 "\"refresh_token\":[],\"scope_granted\":1,"
			 "\"id_token\":\"a b\",\"expires_at\":-4,"
			 "\"obtained_at\":{}},\"client_failures\":-2}"));
	ck_assert_int_eq(r.generation, 0);
	ck_assert_ptr_null(r.issuer);
	ck_assert_ptr_null(r.profile);
	ck_assert_ptr_null(r.client.id);
	ck_assert_str_eq(r.token.access, "a");
	ck_assert_ptr_null(r.token.refresh);
	ck_assert_ptr_null(r.token.id_token);
	ck_assert_ptr_null(r.token.scope_granted);
	ck_assert_int_eq(r.token.expires_at, 0);
	ck_assert_int_eq(r.token.obtained_at, 0);
	ck_assert_int_eq(r.client_failures, 0);
	r.client.id = xstrdup("i");
	around();
	ck_assert_str_eq(r.client.id, "i");
}
END_TEST

START_TEST(copies_are_apart)
{
	struct record copy;

	ck_assert(parses(full));
	record_copy(&copy, &r);
	record_drop_client(&r);
	record_free(&r);
	expect_full(&copy);
	r = copy;
	ck_assert(printed_has("\"jwks\":{\"k\":2}"));
	record_free(&r);
	r.url = xstrdup("u");
	record_copy(&copy, &r);
	ck_assert_ptr_null(copy.json);
	ck_assert_str_eq(copy.url, "u");
	record_free(&copy);
}
END_TEST

START_TEST(drops)
{
	ck_assert(parses(full));
	record_drop_token(&r);
	ck_assert_ptr_null(r.token.access);
	ck_assert_ptr_null(r.token.refresh);
	ck_assert_int_eq(r.token.expires_at, 0);
	ck_assert_str_eq(r.client.id, "the-id");
	ck_assert_int_eq(r.client_failures, 2);
	/* what belonged to the old one does not go to the next */
	r.token.access = xstrdup("new");
	ck_assert(!printed_has("\"dpop\""));
	ck_assert(!printed_has("dpop_ath"));
	ck_assert(printed_has("jwks"));
	record_drop_client(&r);
	ck_assert_ptr_null(r.client.id);
	ck_assert_ptr_null(r.client.secret);
	ck_assert_ptr_null(r.token.access);
	ck_assert_int_eq(r.client_failures, 0);
	around();
	ck_assert(!printed_has("jwks"));
	ck_assert(printed_has("\"dpop_key\":\"k\""));
	ck_assert(printed_has("\"later\""));
	ck_assert_str_eq(r.issuer, "https://as.example");
	record_free(&r);
	record_drop_client(&r);
}
END_TEST

/* A member that is taken away is not printed from the tree. */
START_TEST(members_go)
{
	ck_assert(parses(full));
	free(r.resource);
	r.resource = NULL;
	free(r.token.refresh);
	r.token.refresh = NULL;
	ck_assert(!printed_has("\"resource\""));
	ck_assert(!printed_has("refresh_token"));
	ck_assert(printed_has("\"dpop\""));
}
END_TEST

static const struct {
	int64_t obtained, expires, now;
	bool usable, expired;
} times[] = {
	/* an hour: a minute early */
	{ 1000, 4600, 1000, true, false },
	{ 1000, 4600, 4539, true, false },
	{ 1000, 4600, 4540, false, false },
	{ 1000, 4600, 4599, false, false },
	{ 1000, 4600, 4600, false, true },
	/* 100 s: a tenth */
	{ 1000, 1100, 1089, true, false },
	{ 1000, 1100, 1090, false, false },
	/* 5 s: no time to be early */
	{ 1000, 1005, 1004, true, false },
	{ 1000, 1005, 1005, false, true },
	/* unknown */
	{ 1000, 0, LONG, true, false },
	{ 0, 0, 5, true, false },
	{ 0, 4600, 4539, true, false },
	{ 0, 4600, 4540, false, false },
	/* over when it began */
	{ 1000, 1000, 1000, false, true },
	{ 1000, 500, 1000, false, true },
	/* the clock was set back */
	{ 1000, 4600, 999, true, false },
	{ 1000, 500, 600, true, false },
};

START_TEST(time_passes)
{
	r.token.obtained_at = times[_i].obtained;
	r.token.expires_at = times[_i].expires;
	ck_assert(!record_usable(&r, times[_i].now));
	ck_assert(record_expired(&r, times[_i].now));
	r.token.access = xstrdup("a");
	ck_assert_int_eq(record_usable(&r, times[_i].now), times[_i].usable);
	ck_assert_int_eq(record_expired(&r, times[_i].now), times[_i].expired);
}
END_TEST

static const struct {
	const char *requested, *granted, *wanted;
	bool has;
} scopes[] = {
	{ "a b", NULL, "b", true },
	{ "a b", NULL, "b a", true },
	{ "a b", "a", "b", false },
	{ "a", "a b", "b", true },
	{ "a b", "", "b", false },
	{ NULL, NULL, "", true },
	{ NULL, NULL, NULL, true },
	{ NULL, NULL, "a", false },
	{ "read", NULL, "rea", false },
	{ "read", NULL, "reads", false },
	{ "  a   b ", NULL, " b  a  ", true },
	{ "a", NULL, "A", false },
};

START_TEST(scopes_had)
{
	if (scopes[_i].requested != NULL)
		r.token.scope_requested = xstrdup(scopes[_i].requested);
	if (scopes[_i].granted != NULL)
		r.token.scope_granted = xstrdup(scopes[_i].granted);
	ck_assert_int_eq(record_has_scopes(&r, scopes[_i].wanted),
	    scopes[_i].has);
}
END_TEST

static const struct {
	const char *a, *b, *sum;
} unions[] = {
	{ NULL, NULL, NULL },
	{ "", NULL, NULL },
	{ "  ", " ", NULL },
	{ "a", NULL, "a" },
	{ NULL, "a", "a" },
	{ "b a", "c a", "b a c" },
	{ "a a  a", "a", "a" },
	{ "ab", "a b", "ab a b" },
	{ " x ", " y ", "x y" },
};

START_TEST(scopes_joined)
{
	char *sum = scope_union(unions[_i].a, unions[_i].b);

	if (unions[_i].sum == NULL)
		ck_assert_ptr_null(sum);
	else
		ck_assert_str_eq(sum, unions[_i].sum);
	free(sum);
}
END_TEST

START_TEST(scopes_without_end)
{
	struct buf b;
	char *sum;
	int i;

	buf_init(&b, 0);
	for (i = 0; i < 50000; i++)
		buf_addf(&b, "%x ", i);
	sum = scope_union(buf_str(&b), "z");
	ck_assert_uint_le(strlen(sum), 16 * 1024);
	ck_assert_uint_gt(strlen(sum), 16 * 1024 - 8);
	ck_assert_int_ne(sum[strlen(sum) - 1], ' ');
	free(sum);
	buf_free(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("record");
	TCase *tc = tcase_create("record");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, all_of_it);
	tcase_add_test(tc, least_of_it);
	tcase_add_test(tc, from_nothing);
	tcase_add_loop_test(tc, refused, 0, COUNT(bad));
	tcase_add_test(tc, words_of_refusal);
	tcase_add_loop_test(tc, newer_record, 0, COUNT(newer));
	tcase_add_test(tc, wrong_types);
	tcase_add_test(tc, copies_are_apart);
	tcase_add_test(tc, drops);
	tcase_add_test(tc, members_go);
	tcase_add_loop_test(tc, time_passes, 0, COUNT(times));
	tcase_add_loop_test(tc, scopes_had, 0, COUNT(scopes));
	tcase_add_loop_test(tc, scopes_joined, 0, COUNT(unions));
	tcase_add_test(tc, scopes_without_end);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
