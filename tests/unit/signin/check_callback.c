/*
 * What a browser brings back: heads that are cut, wrong or hostile, the
 * parameters in all their combinations, and the pages.
 */
#include "config.h"

#include "base/bounds.h"
#include "signin/callback.h"

#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#include "unit/unit.h"

#define STATE "s-t_a.t~e0123456789"
#define ISSUER "https://as.test/tenant"
#define HOST "Host: 127.0.0.1:4242\r\n"

static const struct callback_expected usual = { .port = 4242,
	.path = "/callback",
	.state = STATE,
	.issuer = ISSUER };

static struct callback got;
static struct buf reply;

static void
setup(void)
{
	memset(&got, 0, sizeof got);
	buf_init(&reply, 0);
}

static void
teardown(void)
{
	callback_free(&got);
	buf_free(&reply);
}

static enum callback_result
read_bytes(struct span text, const struct callback_expected *e)
{
	enum callback_result result;
	char *exact = xmalloc(text.n + 1);

	callback_free(&got);
	buf_free(&reply);
	memcpy(exact, text.p, text.n);
	result = callback_read((struct span){ exact, text.n }, e, &got, &reply);
	free(exact);
	return result;
}

static enum callback_result
read_text(const char *text)
{
	return read_bytes(span_of(text), &usual);
}

static enum callback_result
read_query(const char *query, const struct callback_expected *e)
{
	char *text = xasprintf("GET /callback?%s HTTP/1.1\r\n" HOST "\r\n",
	    query);
	enum callback_result result = read_bytes(span_of(text), e);

	free(text);
	return result;
}

static void
expect_status(const char *status)
{
	ck_assert_uint_gt(reply.n, strlen(status) + 11);
	ck_assert_int_eq(strncmp(buf_str(&reply), "HTTP/1.1 ", 9), 0);
	ck_assert_int_eq(strncmp(reply.p + 9, status, strlen(status)), 0);
}

static void
expect_nothing(void)
{
	ck_assert_ptr_null(got.code);
	ck_assert_ptr_null(got.error);
	ck_assert_ptr_null(got.description);
}

struct head_case {
	const char *text;
	const char *status; /* of the reply; NULL: it is the one */
};

#define GOOD "GET /callback?code=c&state=" STATE " HTTP/1.1\r\n"
#define REST "?code=c&state=" STATE " HTTP/1.1\r\n" HOST "\r\n"

static const struct head_case heads[] = {
	{ GOOD HOST "\r\n", NULL },
	{ GOOD "hOST:localhost:4242\r\n\r\n", NULL },
	{ GOOD "Accept: a:b\r\nX:\r\nHost: \t LocalHost:4242 \t\r\n\r\n",
	    NULL },
	{ GOOD HOST "X: \xc3\xa4\t\r\n\r\n", NULL },
	{ GOOD HOST "\r\nmore", NULL },
	{ GOOD HOST "\r\n\x01\x02\n\n", NULL },
	{ "GET /callback?code=c&state=" STATE " HTTP/1.0\r\n" HOST "\r\n",
	    NULL },
	/* the host */
	{ GOOD "\r\n", "400" },
	{ GOOD "Host:\r\n\r\n", "400" },
	{ GOOD "Host: 127.0.0.1\r\n\r\n", "400" },
	{ GOOD "Host: 127.0.0.1:\r\n\r\n", "400" },
	{ GOOD "Host: 127.0.0.1:4243\r\n\r\n", "400" },
	{ GOOD "Host: 127.0.0.1:42420\r\n\r\n", "400" },
	{ GOOD "Host: 127.0.0.1:424\r\n\r\n", "400" },
	{ GOOD "Host: evil.test:4242\r\n\r\n", "400" },
	{ GOOD "Host: localhost.evil.test:4242\r\n\r\n", "400" },
	{ GOOD "Host: x.localhost:4242\r\n\r\n", "400" },
	{ GOOD "Host: localhost.:4242\r\n\r\n", "400" },
	{ GOOD "Host: [::1]:4242\r\n\r\n", "400" },
	{ GOOD "Host: a@localhost:4242\r\n\r\n", "400" },
	{ GOOD "Host: localhost:4242, evil.test\r\n\r\n", "400" },
	{ GOOD HOST HOST "\r\n", "400" },
	{ GOOD HOST "Host: evil.test\r\n\r\n", "400" },
	{ GOOD "Host: evil.test\r\n" HOST "\r\n", "400" },
	{ GOOD "X-Host: localhost:4242\r\n\r\n", "400" },
	/* the fields */
	{ GOOD HOST "X\r\n\r\n", "400" },
	{ GOOD HOST ": x\r\n\r\n", "400" },
	{ GOOD HOST " folded: x\r\n\r\n", "400" },
	{ GOOD HOST "X : y\r\n\r\n", "400" },
	{ GOOD "Host : localhost:4242\r\n\r\n", "400" },
	{ GOOD HOST "X\xc3\xa4: y\r\n\r\n", "400" },
	{ GOOD " " HOST "\r\n", "400" },
	/* the request line */
	{ "HEAD /callback" REST, "400" },
	{ "POST /callback" REST, "400" },
	{ "get /callback" REST, "400" },
	{ "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "400" },
	{ " GET /callback" REST, "400" },
	{ "GET  /callback" REST, "400" },
	{ "GET /callback?code=c&state=" STATE "  HTTP/1.1\r\n" HOST "\r\n",
	    "400" },
	{ "GET /callback?code=c&state=" STATE " HTTP/1.1 \r\n" HOST "\r\n",
	    "400" },
	{ "GET /callback?code=c&state=" STATE " HTTP/2.0\r\n" HOST "\r\n",
	    "400" },
	{ "GET /callback?code=c&state=" STATE " http/1.1\r\n" HOST "\r\n",
	    "400" },
	{ "GET /callback?code=c&state=" STATE "\r\n" HOST "\r\n", "400" },
	{ "GET /callback\r\n" HOST "\r\n", "400" },
	{ "GET\r\n" HOST "\r\n", "400" },
	{ "GET \xc3\xa4 HTTP/1.1\r\n" HOST "\r\n", "400" },
	{ "\r\n" GOOD HOST "\r\n", "400" },
	{ "\r\n\r\n", "400" },
	/* the path */
	{ "GET / HTTP/1.1\r\n" HOST "\r\n", "404" },
	{ "GET /favicon.ico HTTP/1.1\r\n" HOST "\r\n", "404" },
	{ "GET /callback/" REST, "404" },
	{ "GET /callbac" REST, "404" },
	{ "GET /callback2" REST, "404" },
	{ "GET //callback" REST, "404" },
	{ "GET /x/../callback" REST, "404" },
	{ "GET /%63allback" REST, "404" },
	{ "GET /Callback" REST, "404" },
	{ "GET ?callback" REST, "404" },
	{ "GET http://127.0.0.1:4242/callback" REST, "404" },
	/* who asks under another name is told no path */
	{ "GET /x HTTP/1.1\r\nHost: evil.test\r\n\r\n", "400" },
	/* no HTTP at all: known before there is an end */
	{ "\x16\x03\x01\x02", "400" },
	{ "GET / HTTP/1.1\n\n", "400" },
	{ "GET /callback HTTP/1.1\r\nA: b\n", "400" },
	{ "GET /callback HTTP/1.1\rX", "400" },
	{ "GET /callback\x7f", "400" },
	{ "GET /callback\x1b[0m", "400" },
	{ "\n", "400" },
};

START_TEST(heads_are_judged)
{
	const struct head_case *c = &heads[_i];
	enum callback_result result = read_text(c->text);

	if (c->status == NULL) {
		ck_assert_int_eq(result, CALLBACK_CODE);
		ck_assert_str_eq(got.code, "c");
		expect_status("200");
	} else {
		ck_assert_int_eq(result, CALLBACK_OTHER);
		expect_status(c->status);
		expect_nothing();
	}
}
END_TEST

START_TEST(a_head_comes_in_pieces)
{
	static const char text[] = GOOD "Accept: */*\r\n" HOST "\r\n";
	size_t n;

	for (n = 0; n < sizeof text - 1; n++) {
		ck_assert_int_eq(read_bytes((struct span){ text, n }, &usual),
		    CALLBACK_MORE);
		ck_assert_uint_eq(reply.n, 0);
		expect_nothing();
	}
	ck_assert_int_eq(read_text(text), CALLBACK_CODE);
}
END_TEST

START_TEST(a_nul_in_a_head)
{
	static const char text[] = GOOD HOST "X: \0\r\n\r\n";

	ck_assert_int_eq(read_bytes((struct span){ text, sizeof text - 1 },
			     &usual),
	    CALLBACK_OTHER);
	expect_status("400");
}
END_TEST

/* A head of exactly the bound, and one byte more. */
START_TEST(a_head_has_a_bound)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, GOOD HOST "X: ");
	while (b.n < BOUND_HEADER_BYTES - 4 + (size_t)_i)
		buf_addc(&b, 'x');
	ck_assert_int_eq(read_bytes((struct span){ b.p,
					BOUND_HEADER_BYTES - 5 },
			     &usual),
	    CALLBACK_MORE);
	buf_adds(&b, "\r\n\r\n");
	ck_assert_uint_eq(b.n, BOUND_HEADER_BYTES + (size_t)_i);
	ck_assert_int_eq(read_bytes((struct span){ b.p,
					BOUND_HEADER_BYTES - 1 },
			     &usual),
	    CALLBACK_MORE);
	ck_assert_int_eq(read_bytes(buf_span(&b), &usual),
	    _i == 0 ? CALLBACK_CODE : CALLBACK_OTHER);
	ck_assert_int_eq(read_bytes((struct span){ b.p, BOUND_HEADER_BYTES },
			     &usual),
	    _i == 0 ? CALLBACK_CODE : CALLBACK_OTHER);
	buf_free(&b);
}
END_TEST

#define S "&state=" STATE

struct query_case {
	const char *query;
	enum callback_result result;
	/* the code; or error and description with a "|" between, "-" NULL */
	const char *want;
};

static const struct query_case queries[] = {
	{ "code=abc" S, CALLBACK_CODE, "abc" },
	{ "state=" STATE "&code=abc", CALLBACK_CODE, "abc" },
	{ "&&code=abc&" S "&", CALLBACK_CODE, "abc" },
	{ "code=a+b%2b%2B%26%3d=%25c" S, CALLBACK_CODE, "a b++&==%c" },
	{ "code=a%252Bb" S, CALLBACK_CODE, "a%2Bb" },
	{ "c%6Fde=abc" S, CALLBACK_CODE, "abc" },
	{ "code=a&st%61te=s-t_a.t%7Ee0123456789", CALLBACK_CODE, "a" },
	{ "code=a;b?/" S, CALLBACK_CODE, "a;b?/" },
	{ "code=a" S "&session_state=x&scope=a&scope=b&x&=&==", CALLBACK_CODE,
	    "a" },
	{ "code=a&error=" S, CALLBACK_CODE, "a" },
	/* the state */
	{ "", CALLBACK_OTHER, NULL },
	{ "code=abc", CALLBACK_OTHER, NULL },
	{ "code=abc&state", CALLBACK_OTHER, NULL },
	{ "code=abc&state=", CALLBACK_OTHER, NULL },
	{ "code=abc&State=" STATE, CALLBACK_OTHER, NULL },
	{ "code=abc" S "x", CALLBACK_OTHER, NULL },
	{ "code=abc&state=s-t_a.t~e012345678", CALLBACK_OTHER, NULL },
	{ "code=abc&state=S-t_a.t~e0123456789", CALLBACK_OTHER, NULL },
	{ "code=abc&state=s-t_a.t~e012345678X", CALLBACK_OTHER, NULL },
	{ "error=access_denied", CALLBACK_OTHER, NULL },
	{ "error=access_denied&state=x", CALLBACK_OTHER, NULL },
	{ "code=abc&state=x&iss=https://evil.test", CALLBACK_OTHER, NULL },
	{ "#code=abc" S, CALLBACK_OTHER, NULL },
	/* the code */
	{ "state=" STATE, CALLBACK_OTHER, NULL },
	{ "code" S, CALLBACK_OTHER, NULL },
	{ "code=" S, CALLBACK_OTHER, NULL },
	{ "code=a%0Ab" S, CALLBACK_OTHER, NULL },
	{ "code=a%7f" S, CALLBACK_OTHER, NULL },
	{ "code=%C3%A4" S, CALLBACK_OTHER, NULL },
	/* twice */
	{ "code=a&code=b" S, CALLBACK_OTHER, NULL },
	{ "code=a&code=a" S, CALLBACK_OTHER, NULL },
	{ "code=a&c%6fde=a" S, CALLBACK_OTHER, NULL },
	{ "code=&code=a" S, CALLBACK_OTHER, NULL },
	{ "code=a" S S, CALLBACK_OTHER, NULL },
	{ "code=a&state=x" S, CALLBACK_OTHER, NULL },
	{ "code=a&iss=&iss=" ISSUER S, CALLBACK_OTHER, NULL },
	{ "error=a&error=a" S, CALLBACK_OTHER, NULL },
	{ "error=a&error_description=&error_description=x" S, CALLBACK_OTHER,
	    NULL },
	/* decoding */
	{ "code=a%" S, CALLBACK_OTHER, NULL },
	{ "code=a%4" S, CALLBACK_OTHER, NULL },
	{ "code=a" S "&x=%", CALLBACK_OTHER, NULL },
	{ "code=a" S "&x=%4", CALLBACK_OTHER, NULL },
	{ "code=a" S "&x=%41", CALLBACK_CODE, "a" },
	{ "code=a%4g" S, CALLBACK_OTHER, NULL },
	{ "code=a%-1" S, CALLBACK_OTHER, NULL },
	{ "code=a%u0041" S, CALLBACK_OTHER, NULL },
	{ "code=a%00b" S, CALLBACK_OTHER, NULL },
	{ "code=a&%zz=x" S, CALLBACK_OTHER, NULL },
	{ "code=a&state=" STATE "%00", CALLBACK_OTHER, NULL },
	/* errors */
	{ "error=access_denied" S, CALLBACK_ERROR, "access_denied|-" },
	{ "error=access_denied&error_description=No+way%21%0a%C3%A4" S,
	    CALLBACK_ERROR, "access_denied|No way!\n\xc3\xa4" },
	{ "error=a&error_description=" S, CALLBACK_ERROR, "a|-" },
	{ "code=abc&error=a" S, CALLBACK_ERROR, "a|-" },
	{ "error=a+b~" S, CALLBACK_ERROR, "a b~|-" },
	{ "error=a%22b&error_description=x" S, CALLBACK_ERROR, "-|x" },
	{ "error=a%5Cb" S, CALLBACK_ERROR, "-|-" },
	{ "error=a%1bb" S, CALLBACK_ERROR, "-|-" },
	{ "error=a%7Fb" S, CALLBACK_ERROR, "-|-" },
	{ "error=%C3%A4" S, CALLBACK_ERROR, "-|-" },
	{ "error_description=x" S, CALLBACK_OTHER, NULL },
};

static void
expect(enum callback_result result, enum callback_result want, const char *text)
{
	char *told;

	ck_assert_int_eq(result, want);
	if (want == CALLBACK_CODE) {
		ck_assert_str_eq(got.code, text);
		ck_assert_ptr_null(got.error);
		ck_assert_ptr_null(got.description);
	} else if (want == CALLBACK_ERROR) {
		told = xasprintf("%s|%s", got.error == NULL ? "-" : got.error,
		    got.description == NULL ? "-" : got.description);
		ck_assert_str_eq(told, text);
		ck_assert_ptr_null(got.code);
		free(told);
	} else {
		expect_nothing();
	}
}

START_TEST(queries_are_read)
{
	const struct query_case *c = &queries[_i];

	expect(read_query(c->query, &usual), c->result, c->want);
	expect_status(c->result == CALLBACK_OTHER ? "400" : "200");
}
END_TEST

struct iss_case {
	const char *issuer; /* expected */
	bool promised;
	const char *iss; /* as it is in the query; NULL: left out */
	bool right;
};

static const struct iss_case iss_cases[] = {
	{ ISSUER, true, ISSUER, true },
	{ ISSUER, true, "https%3A%2F%2Fas.test%2Ftenant", true },
	{ ISSUER, true, NULL, false },
	{ ISSUER, true, "", false },
	{ ISSUER, true, "https://evil.test", false },
	{ ISSUER, true, ISSUER "/", false },
	{ ISSUER, true, "https://as.test", false },
	{ ISSUER, true, "https://as.test:443/tenant", false },
	{ ISSUER, true, "HTTPS://as.test/tenant", false },
	{ ISSUER, true, "https://AS.test/tenant", false },
	{ ISSUER, true, "https%253A%252F%252Fas.test%252Ftenant", false },
	{ ISSUER, true, "https://as.test/%2574enant", false },
	{ ISSUER, false, ISSUER, true },
	{ ISSUER, false, NULL, true },
	{ ISSUER, false, "", true },
	{ ISSUER, false, "https://evil.test", false },
	{ ISSUER, false, ISSUER "/", false },
};

/* The issuer is looked at before a code and before an error. */
START_TEST(issuers_are_compared)
{
	const struct iss_case *c = &iss_cases[_i];
	struct callback_expected e = usual;
	char *iss, *query;

	e.issuer = c->issuer;
	e.iss = c->promised;
	iss = c->iss == NULL ? xstrdup("") : xasprintf("&iss=%s", c->iss);
	query = xasprintf("code=abc" S "%s", iss);
	expect(read_query(query, &e),
	    c->right ? CALLBACK_CODE : CALLBACK_ISSUER, "abc");
	expect_status("200");
	free(query);
	query = xasprintf("error=e&error_description=d" S "%s", iss);
	expect(read_query(query, &e),
	    c->right ? CALLBACK_ERROR : CALLBACK_ISSUER, "e|d");
	expect_status("200");
	free(query);
	/* without the state nothing ends */
	query = xasprintf("code=abc&state=x%s", iss);
	expect(read_query(query, &e), CALLBACK_OTHER, NULL);
	expect_status("400");
	free(query);
	free(iss);
}
END_TEST

/* Browsers leave the scheme's default port out of Host. */
START_TEST(port_80)
{
	static const char *const hosts[] = { "localhost", "127.0.0.1:80" };
	struct callback_expected e = usual;
	char *text;
	int i;

	e.port = 80;
	for (i = 0; i < COUNT(hosts); i++) {
		text = xasprintf(GOOD "Host: %s\r\n\r\n", hosts[i]);
		ck_assert_int_eq(read_bytes(span_of(text), &e), CALLBACK_CODE);
		free(text);
	}
	ck_assert_int_eq(read_text(GOOD "Host: localhost:80\r\n\r\n"),
	    CALLBACK_OTHER);
}
END_TEST

/* A login that has no state yet accepts no redirect. */
START_TEST(no_state_is_expected)
{
	static const char *const states[] = { NULL, "" };
	struct callback_expected e = usual;
	int i;

	for (i = 0; i < COUNT(states); i++) {
		e.state = states[i];
		ck_assert_int_eq(read_query("code=a&state=", &e),
		    CALLBACK_OTHER);
		ck_assert_int_eq(read_query("code=a", &e), CALLBACK_OTHER);
	}
}
END_TEST

static const char *
part_of(const char *begin, const char *end, struct span *part)
{
	const char *at = strstr(buf_str(&reply), begin), *to;

	ck_assert_msg(at != NULL, "no %s", begin);
	at += strlen(begin);
	to = strstr(at, end);
	ck_assert_ptr_nonnull(to);
	*part = (struct span){ at, (size_t)(to - at) };
	return at;
}

static void
expect_header(const char *line)
{
	char *whole = xasprintf("\r\n%s\r\n", line);

	ck_assert_msg(strstr(buf_str(&reply), whole) != NULL, "no %s", line);
	free(whole);
}

static const struct query_case pages[] = {
	{ "code=CANARY" S, CALLBACK_CODE, "You are signed in." },
	{ "error=CANARY&error_description=CANARY" S, CALLBACK_ERROR,
	    "Sign-in failed." },
	{ "code=CANARY&iss=CANARY" S, CALLBACK_ISSUER, "Sign-in failed." },
	{ "code=CANARY&state=CANARY", CALLBACK_OTHER, "does not belong" },
};

/* The head says all it must, the length is right, the policy names the style
 * that is there, and nothing of the request is in it. */
START_TEST(pages_are_safe)
{
	unsigned char digest[EVP_MAX_MD_SIZE], text[EVP_MAX_MD_SIZE * 2];
	const struct query_case *c = &pages[_i];
	struct span part;
	const char *body;
	char *line;

	ck_assert_int_eq(read_query(c->query, &usual), c->result);
	expect_header("Connection: close");
	expect_header("Cache-Control: no-store");
	expect_header("Referrer-Policy: no-referrer");
	expect_header("X-Content-Type-Options: nosniff");
	expect_header("Content-Type: text/html; charset=utf-8");
	body = part_of("\r\n\r\n", "<", &part);
	line = xasprintf("Content-Length: %zu", strlen(body));
	expect_header(line);
	free(line);
	part_of("<style>", "</style>", &part);
	ck_assert_int_eq(EVP_Digest(part.p, part.n, digest, NULL, EVP_sha256(),
			     NULL),
	    1);
	EVP_EncodeBlock(text, digest, 32);
	line = xasprintf("Content-Security-Policy: default-src 'none'; "
			 "style-src 'sha256-%s'; base-uri 'none'; form-action "
			 "'none'; frame-ancestors 'none'",
	    (char *)text);
	expect_header(line);
	free(line);
	ck_assert_ptr_nonnull(strstr(body, c->want));
	ck_assert_ptr_null(strstr(reply.p, "CANARY"));
	ck_assert_ptr_null(strstr(reply.p, STATE));
	ck_assert_ptr_null(strstr(reply.p, "Access-Control"));
	ck_assert_ptr_null(strstr(reply.p, "<script"));
}
END_TEST

static const struct query_case urls[] = {
	{ "http://127.0.0.1:4242/callback?code=abc" S, CALLBACK_CODE, "abc" },
	{ "http://localhost:4242/callback?code=a%2Bb+c" S, CALLBACK_CODE,
	    "a+b c" },
	{ "HTTP://LOCALHOST:4242/callback?code=abc" S, CALLBACK_CODE, "abc" },
	{ "http://127.0.0.1:4242/callback?code=abc" S "#_=_", CALLBACK_CODE,
	    "abc" },
	{ "http://127.0.0.1:4242/callback?error=e" S, CALLBACK_ERROR, "e|-" },
	{ "http://127.0.0.1:4242/callback?code=a&iss=x" S, CALLBACK_ISSUER,
	    NULL },
	{ "http://127.0.0.1:4242/callback?code=abc", CALLBACK_OTHER, NULL },
	{ "http://127.0.0.1:4242/callback", CALLBACK_OTHER, NULL },
	{ "http://127.0.0.1:4242/callback#code=abc" S, CALLBACK_OTHER, NULL },
	{ "http://127.0.0.1:4242/?code=abc" S, CALLBACK_OTHER, NULL },
	{ "http://127.0.0.1:4242?code=abc" S, CALLBACK_OTHER, NULL },
	{ "http://127.0.0.1:4243/callback?code=abc" S, CALLBACK_OTHER, NULL },
	{ "http://127.0.0.1/callback?code=abc" S, CALLBACK_OTHER, NULL },
	{ "https://127.0.0.1:4242/callback?code=abc" S, CALLBACK_OTHER, NULL },
	{ "http://evil.test:4242/callback?code=abc" S, CALLBACK_OTHER, NULL },
	{ "http://a@127.0.0.1:4242/callback?code=abc" S, CALLBACK_OTHER, NULL },
	{ "http://127.0.0.1:4242/callback?code=a b" S, CALLBACK_OTHER, NULL },
	{ "file:///callback?code=abc" S, CALLBACK_OTHER, NULL },
	{ "abc", CALLBACK_OTHER, NULL },
	{ "", CALLBACK_OTHER, NULL },
};

START_TEST(pasted_urls)
{
	const struct query_case *c = &urls[_i];

	expect(callback_url(c->query, &usual, &got), c->result, c->want);
}
END_TEST

START_TEST(a_pasted_url_has_a_bound)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "http://127.0.0.1:4242/callback?code=abc" S "&x=");
	while (b.n < BOUND_HEADER_BYTES)
		buf_addc(&b, 'x');
	ck_assert_int_eq(callback_url(buf_str(&b), &usual, &got),
	    CALLBACK_CODE);
	callback_free(&got);
	buf_addc(&b, 'x');
	ck_assert_int_eq(callback_url(buf_str(&b), &usual, &got),
	    CALLBACK_OTHER);
	buf_free(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("callback");
	TCase *t = tcase_create("callback");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, heads_are_judged, 0, COUNT(heads));
	tcase_add_test(t, a_head_comes_in_pieces);
	tcase_add_test(t, a_nul_in_a_head);
	tcase_add_loop_test(t, a_head_has_a_bound, 0, 2);
	tcase_add_loop_test(t, queries_are_read, 0, COUNT(queries));
	tcase_add_loop_test(t, issuers_are_compared, 0, COUNT(iss_cases));
	tcase_add_test(t, port_80);
	tcase_add_test(t, no_state_is_expected);
	tcase_add_loop_test(t, pages_are_safe, 0, COUNT(pages));
	tcase_add_loop_test(t, pasted_urls, 0, COUNT(urls));
	tcase_add_test(t, a_pasted_url_has_a_bound);
	suite_add_tcase(s, t);
	return unit_run(s);
}
