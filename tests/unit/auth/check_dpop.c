/*
 * auth/dpop: each proof verified with the key that is in it, claim by claim;
 * which nonces are taken, which tokens count as bound, and what is said of the
 * clock.
 */
#include "config.h"

#include <stdlib.h>

#include <json-c/json.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "auth/assertion.h"
#include "auth/dpop.h"
#include "auth/pkce.h"
#include "base/bounds.h"
#include "base/codec.h"
#include "unit/unit.h"

#define NOW ((int64_t)1700000000)
#define ATH "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"

static struct dpop *d;
static char *pem;
static struct headers to;
/* the latest proof */
static struct json_object *header, *claims;

static void
setup(void)
{
	d = dpop_new();
	pem = assertion_make_key();
	ck_assert_ptr_nonnull(pem);
	headers_init(&to);
	header = claims = NULL;
}

static void
teardown(void)
{
	ck_assert_uint_eq(ERR_peek_error(), 0);
	dpop_free(d);
	string_wipe(&pem);
	headers_free(&to);
	json_object_put(header);
	json_object_put(claims);
}

static const char *
text(struct json_object *o, const char *name)
{
	return json_object_get_string(json_object_object_get(o, name));
}

static struct span
part(const char *token, unsigned index)
{
	while (index-- > 0)
		token = strchr(token, '.') + 1;
	return (struct span){ token, strcspn(token, ".") };
}

static struct json_object *
read_part(const char *token, unsigned index)
{
	struct json_object *o;
	struct buf b;

	buf_init(&b, 0);
	ck_assert_int_eq(codec_base64url_read(&b, part(token, index)), 0);
	o = json_tokener_parse(buf_str(&b));
	ck_assert_ptr_nonnull(o);
	buf_free(&b);
	return o;
}

/* The key of a header, made of its two coordinates alone. */
static EVP_PKEY *
public_key(struct json_object *jwk)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
	OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
	EVP_PKEY *pkey = NULL;
	OSSL_PARAM *params;
	struct buf point;

	buf_init(&point, 0);
	buf_addc(&point, 4); /* uncompressed */
	ck_assert_int_eq(codec_base64url_read(&point, span_of(text(jwk, "x"))),
	    0);
	ck_assert_uint_eq(point.n, 33);
	ck_assert_int_eq(codec_base64url_read(&point, span_of(text(jwk, "y"))),
	    0);
	ck_assert_uint_eq(point.n, 65);
	OSSL_PARAM_BLD_push_utf8_string(bld, OSSL_PKEY_PARAM_GROUP_NAME,
	    "prime256v1", 0);
	OSSL_PARAM_BLD_push_octet_string(bld, OSSL_PKEY_PARAM_PUB_KEY, point.p,
	    point.n);
	params = OSSL_PARAM_BLD_to_param(bld);
	ck_assert_int_eq(EVP_PKEY_fromdata_init(ctx), 1);
	ck_assert_int_eq(EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY,
			     params),
	    1);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(bld);
	EVP_PKEY_CTX_free(ctx);
	buf_free(&point);
	return pkey;
}

static bool
verifies(const char *token, EVP_PKEY *pkey)
{
	size_t n = (size_t)(strrchr(token, '.') - token);
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	ECDSA_SIG *sig = ECDSA_SIG_new();
	unsigned char *der = NULL;
	struct buf raw;
	int der_n, rc;

	buf_init(&raw, 0);
	ck_assert_int_eq(codec_base64url_read(&raw, part(token, 2)), 0);
	ck_assert_uint_eq(raw.n, 64);
	ECDSA_SIG_set0(sig, BN_bin2bn((unsigned char *)raw.p, 32, NULL),
	    BN_bin2bn((unsigned char *)raw.p + 32, 32, NULL));
	der_n = i2d_ECDSA_SIG(sig, &der);
	EVP_DigestVerifyInit(md, NULL, EVP_sha256(), NULL, pkey);
	rc = EVP_DigestVerify(md, der, (size_t)der_n,
	    (const unsigned char *)token, n);
	OPENSSL_free(der);
	ECDSA_SIG_free(sig);
	EVP_MD_CTX_free(md);
	buf_free(&raw);
	ERR_clear_error();
	return rc == 1;
}

/* Makes a proof and reads it. Returns its text, which lasts until the next. */
static const char *
prove(const char *method, const char *url, const char *ath)
{
	headers_free(&to);
	json_object_put(header);
	json_object_put(claims);
	header = claims = NULL;
	ck_assert_int_eq(dpop_prove(d, method, url, ath, NOW, &to), 0);
	ck_assert_uint_eq(to.n, 1);
	ck_assert_str_eq(to.list[0].name, "DPoP");
	ck_assert(to.list[0].secret);
	header = read_part(to.list[0].value, 0);
	claims = read_part(to.list[0].value, 1);
	return to.list[0].value;
}

/* RFC 9449 4.2 */
START_TEST(a_proof)
{
	struct json_object *jwk;
	EVP_PKEY *pkey;
	const char *proof;

	ck_assert(dpop_set_key(d, pem));
	proof = prove("POST", "https://h.example/mcp", ATH);
	ck_assert_int_eq(json_object_object_length(header), 3);
	ck_assert_str_eq(text(header, "typ"), "dpop+jwt");
	ck_assert_str_eq(text(header, "alg"), "ES256");
	jwk = json_object_object_get(header, "jwk");
	/* and no "d", which is the private half */
	ck_assert_int_eq(json_object_object_length(jwk), 4);
	ck_assert_str_eq(text(jwk, "kty"), "EC");
	ck_assert_str_eq(text(jwk, "crv"), "P-256");
	ck_assert_int_eq(json_object_object_length(claims), 5);
	ck_assert_str_eq(text(claims, "htm"), "POST");
	ck_assert_str_eq(text(claims, "htu"), "https://h.example/mcp");
	ck_assert_str_eq(text(claims, "ath"), ATH);
	ck_assert_int_eq(json_object_get_int64(json_object_object_get(claims,
			     "iat")),
	    NOW);
	ck_assert_uint_eq(strlen(text(claims, "jti")), 43);
	pkey = public_key(jwk);
	ck_assert(verifies(proof, pkey));
	/* the test's own check refuses a changed proof */
	to.list[0].value[4] ^= 1;
	ck_assert(!verifies(proof, pkey));
	EVP_PKEY_free(pkey);
}
END_TEST

START_TEST(each_is_another)
{
	char *first, *jti;

	ck_assert(dpop_set_key(d, pem));
	first = xstrdup(prove("GET", "https://h.example/", NULL));
	jti = xstrdup(text(claims, "jti"));
	ck_assert_str_ne(prove("GET", "https://h.example/", NULL), first);
	ck_assert_str_ne(text(claims, "jti"), jti);
	free(first);
	free(jti);
}
END_TEST

/* What is to be in htu: no query, no fragment. */
static const struct {
	const char *url, *htu;
} urls[] = {
	{ "https://h.example/mcp?a=b", "https://h.example/mcp" },
	{ "https://h.example/mcp#f", "https://h.example/mcp" },
	{ "https://h.example/mcp#f?a", "https://h.example/mcp" },
	{ "https://h.example?a=b", "https://h.example" },
	{ "http://h.example:8080/a/", "http://h.example:8080/a/" },
};

START_TEST(urls_without_query)
{
	ck_assert(dpop_set_key(d, pem));
	prove("DELETE", urls[_i].url, NULL);
	ck_assert_str_eq(text(claims, "htu"), urls[_i].htu);
	ck_assert_str_eq(text(claims, "htm"), "DELETE");
	ck_assert_ptr_null(json_object_object_get(claims, "ath"));
	ck_assert_ptr_null(json_object_object_get(claims, "nonce"));
}
END_TEST

START_TEST(no_key)
{
	static const char *const texts[] = { NULL, "", "CANARY" };
	size_t i;

	for (i = 0; i < COUNT(texts); i++) {
		ck_assert(!dpop_set_key(d, texts[i]));
		ck_assert_int_eq(dpop_prove(d, "GET", "http://h/", NULL, NOW,
				     &to),
		    -1);
		ck_assert_uint_eq(to.n, 0);
	}
	/* the one before does not stay */
	ck_assert(dpop_set_key(d, pem));
	ck_assert(!dpop_set_key(d, "CANARY"));
	ck_assert_int_eq(dpop_prove(d, "GET", "http://h/", NULL, NOW, &to), -1);
}
END_TEST

/* Another key signs; the nonce, which is the server's, stays. */
START_TEST(another_key)
{
	char *second = assertion_make_key(), *x;

	ck_assert_str_ne(pem, second);
	ck_assert(dpop_set_key(d, pem));
	dpop_hear(d, "n1");
	prove("GET", "http://h/", NULL);
	x = xstrdup(text(json_object_object_get(header, "jwk"), "x"));
	ck_assert(dpop_set_key(d, pem));
	prove("GET", "http://h/", NULL);
	ck_assert_str_eq(text(json_object_object_get(header, "jwk"), "x"), x);
	ck_assert(dpop_set_key(d, second));
	prove("GET", "http://h/", NULL);
	ck_assert_str_ne(text(json_object_object_get(header, "jwk"), "x"), x);
	ck_assert_str_eq(text(claims, "nonce"), "n1");
	string_wipe(&second);
	free(x);
}
END_TEST

START_TEST(the_newest_nonce)
{
	ck_assert(dpop_set_key(d, pem));
	ck_assert(!dpop_has_nonce(d));
	dpop_hear(d, "one");
	ck_assert(dpop_has_nonce(d));
	prove("GET", "http://h/", NULL);
	ck_assert_str_eq(text(claims, "nonce"), "one");
	dpop_hear(d, "two");
	dpop_hear(d, NULL);
	prove("GET", "http://h/", NULL);
	ck_assert_str_eq(text(claims, "nonce"), "two");
}
END_TEST

/* RFC 9449 8.1: NQCHAR, that is visible ASCII but for '"' and '\'. */
START_TEST(bytes_of_a_nonce)
{
	char nonce[] = "a?b";
	int c;

	for (c = 1; c < 256; c++) {
		struct dpop *one = dpop_new();
		bool good = c > ' ' && c < 0x7f && c != '"' && c != '\\';

		nonce[1] = (char)c;
		dpop_hear(one, nonce);
		ck_assert_msg(dpop_has_nonce(one) == good, "byte %d", c);
		dpop_free(one);
	}
	dpop_hear(d, "");
	ck_assert(!dpop_has_nonce(d));
}
END_TEST

START_TEST(nonce_bytes)
{
	struct buf b;

	ck_assert(dpop_set_key(d, pem));
	buf_init(&b, 0);
	while (b.n < BOUND_ID_BYTES)
		buf_addc(&b, 'n');
	dpop_hear(d, buf_str(&b));
	prove("GET", "http://h/", NULL);
	ck_assert_str_eq(text(claims, "nonce"), buf_str(&b));
	buf_addc(&b, 'n');
	dpop_hear(d, buf_str(&b));
	prove("GET", "http://h/", NULL);
	ck_assert_uint_eq(strlen(text(claims, "nonce")), BOUND_ID_BYTES);
	buf_free(&b);
}
END_TEST

/* A program that knows nothing of DPoP puts another token into the record, and
 * keeps our member. */
START_TEST(whether_bound)
{
	char ath[PKCE_BYTES];
	struct record r;

	record_init(&r);
	ck_assert(!dpop_is_bound(&r));
	string_set(&r.token.access, "the token");
	ck_assert(!dpop_is_bound(&r));
	ck_assert_int_eq(pkce_challenge(ath, "the token"), 0);
	string_set(&r.token.dpop_ath, ath);
	ck_assert(dpop_is_bound(&r));
	string_set(&r.token.access, "the next token");
	ck_assert(!dpop_is_bound(&r));
	record_free(&r);
}
END_TEST

static const struct {
	int64_t ahead_s;
	const char *off; /* NULL: not enough to be said */
} clocks[] = {
	{ 0, NULL },
	{ 59, NULL },
	{ -59, NULL },
	{ 60, "1 minute ahead of" },
	{ -60, "1 minute behind" },
	{ 89, "1 minute ahead of" },
	{ 90, "2 minutes ahead of" },
	{ 420, "7 minutes ahead of" },
	{ -7200, "120 minutes behind" },
	{ 7201, "2 hours ahead of" },
	{ 172800, "48 hours ahead of" },
	{ -172801, "2 days behind" },
	{ INT64_C(86400) * 3650, "3650 days ahead of" },
};

START_TEST(clock_words)
{
	char *got = dpop_clock(clocks[_i].ahead_s, "h.example"), *want;

	if (clocks[_i].off == NULL) {
		ck_assert_ptr_null(got);
		return;
	}
	want = xasprintf("this machine's clock is %s h.example's; set it",
	    clocks[_i].off);
	ck_assert_str_eq(got, want);
	free(got);
	free(want);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("dpop");
	TCase *t = tcase_create("dpop");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_proof);
	tcase_add_test(t, each_is_another);
	tcase_add_loop_test(t, urls_without_query, 0, COUNT(urls));
	tcase_add_test(t, no_key);
	tcase_add_test(t, another_key);
	tcase_add_test(t, the_newest_nonce);
	tcase_add_test(t, bytes_of_a_nonce);
	tcase_add_test(t, nonce_bytes);
	tcase_add_test(t, whether_bound);
	tcase_add_loop_test(t, clock_words, 0, COUNT(clocks));
	suite_add_tcase(s, t);
	return unit_run(s);
}
