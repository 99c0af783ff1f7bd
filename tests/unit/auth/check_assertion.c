/*
 * auth/assertion: keys that are taken and refused, and each signature verified with the public half of its key.
 */
#include "config.h"

#include "auth/assertion.h"
#include "auth/pkce.h"

#include <stdlib.h>

#include <json-c/json.h>
#include <openssl/bio.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "base/codec.h"
#include "unit/unit.h"

#define NOW ((int64_t)1700000000)

static char *why;

static void
teardown(void)
{
	ck_assert_uint_eq(ERR_peek_error(), 0);
	free(why);
	why = NULL;
}

/* The private half as PEM, owned by the caller; encrypted with a password. */
static char *
pem_of(EVP_PKEY *pkey, bool encrypted)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *p, *text;
	long n;

	ck_assert_int_eq(PEM_write_bio_PKCS8PrivateKey(bio, pkey,
			     encrypted ? EVP_aes_128_cbc() : NULL,
			     encrypted ? "pw" : NULL, encrypted ? 2 : 0, NULL,
			     NULL),
	    1);
	n = BIO_get_mem_data(bio, &p);
	text = xstrndup(p, (size_t)n);
	BIO_free(bio);
	return text;
}

static EVP_PKEY *
make_key(const char *type, size_t bits)
{
	if (strcmp(type, "RSA") == 0)
		return EVP_RSA_gen(bits);
	if (strncmp(type, "P-", 2) == 0)
		return EVP_EC_gen(type);
	return EVP_PKEY_Q_keygen(NULL, NULL, type);
}

/* One part of a token, decoded. */
static void
part(struct buf *out, const char *token, unsigned index)
{
	const char *end;

	while (index-- > 0)
		token = strchr(token, '.') + 1;
	end = strchr(token, '.');
	buf_init(out, 0);
	ck_assert_int_eq(codec_base64url_read(out,
			     (struct span){ token,
				 end == NULL ? strlen(token) :
					       (size_t)(end - token) }),
	    0);
}

static const char *
text(struct json_object *o, const char *name)
{
	return json_object_get_string(json_object_object_get(o, name));
}

static void
check_header(const char *token, const char *alg)
{
	struct json_object *o;
	struct buf b;

	part(&b, token, 0);
	o = json_tokener_parse(buf_str(&b));
	ck_assert_str_eq(text(o, "alg"), alg);
	ck_assert_str_eq(text(o, "typ"), "JWT");
	json_object_put(o);
	buf_free(&b);
}

/* Copies its jti. */
static void
check_claims(const char *token, char jti[PKCE_BYTES])
{
	struct json_object *o;
	struct buf b;

	part(&b, token, 1);
	o = json_tokener_parse(buf_str(&b));
	ck_assert_int_eq(json_object_object_length(o), 6);
	ck_assert_str_eq(text(o, "iss"), "me \"&\" you");
	ck_assert_str_eq(text(o, "sub"), "me \"&\" you");
	ck_assert_str_eq(text(o, "aud"), "https://as.example/t");
	ck_assert_int_eq(json_object_get_int64(json_object_object_get(o,
			     "iat")),
	    NOW);
	ck_assert_int_eq(json_object_get_int64(json_object_object_get(o,
			     "exp")),
	    NOW + 60);
	ck_assert_uint_eq(strlen(text(o, "jti")), 43);
	memcpy(jti, text(o, "jti"), PKCE_BYTES);
	json_object_put(o);
	buf_free(&b);
}

/* R and S as they are in a JWT, in DER again. */
static unsigned char *
der_of(const struct buf *raw, size_t *n)
{
	const unsigned char *p = (const unsigned char *)raw->p;
	ECDSA_SIG *sig = ECDSA_SIG_new();
	unsigned char *der = NULL;

	ck_assert_uint_eq(raw->n, 64);
	ck_assert_int_eq(ECDSA_SIG_set0(sig, BN_bin2bn(p, 32, NULL),
			     BN_bin2bn(p + 32, 32, NULL)),
	    1);
	*n = (size_t)i2d_ECDSA_SIG(sig, &der);
	ECDSA_SIG_free(sig);
	return der;
}

/* Is the third part the signature of the first two? */
static bool
verifies(const char *token, EVP_PKEY *pkey, const char *alg)
{
	const EVP_MD *hash = strcmp(alg, "EdDSA") == 0 ? NULL : EVP_sha256();
	size_t signed_n = (size_t)(strrchr(token, '.') - token), n;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned char *sig;
	EVP_PKEY_CTX *ctx;
	struct buf raw;
	int rc;

	part(&raw, token, 2);
	sig = (unsigned char *)raw.p;
	n = raw.n;
	if (strcmp(alg, "ES256") == 0)
		sig = der_of(&raw, &n);
	ck_assert_int_eq(EVP_DigestVerifyInit(md, &ctx, hash, NULL, pkey), 1);
	if (strcmp(alg, "PS256") == 0) {
		EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING);
		/* RFC 7518 3.5: the salt is as long as the hash */
		EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, 32);
	}
	rc = EVP_DigestVerify(md, sig, n, (const unsigned char *)token,
	    signed_n);
	if (sig != (unsigned char *)raw.p)
		OPENSSL_free(sig);
	EVP_MD_CTX_free(md);
	buf_free(&raw);
	ERR_clear_error();
	return rc == 1;
}

static const struct {
	const char *type, *algs, *alg;
} keys[] = {
	{ "P-256", NULL, "ES256" },
	{ "P-256", "RS256 ES256", "ES256" },
	{ "RSA", NULL, "RS256" },
	{ "RSA", "PS256 RS256", "RS256" },
	{ "RSA", "ES256 PS256", "PS256" },
	{ "ED25519", NULL, "EdDSA" },
	{ "ED25519", "EdDSA", "EdDSA" },
};

START_TEST(signatures)
{
	EVP_PKEY *pkey = make_key(keys[_i].type, 2048);
	char *pem = pem_of(pkey, false), *a, *b;
	char first[PKCE_BYTES], second[PKCE_BYTES];
	struct assertion_key *k = assertion_key(span_of(pem), &why);

	ck_assert_msg(k != NULL, "%s", why);
	a = assertion_make(k, "me \"&\" you", "https://as.example/t",
	    keys[_i].algs, NOW, &why);
	b = assertion_make(k, "me \"&\" you", "https://as.example/t",
	    keys[_i].algs, NOW, &why);
	ck_assert_ptr_null(why);
	check_header(a, keys[_i].alg);
	check_claims(a, first);
	check_claims(b, second);
	ck_assert_str_ne(first, second);
	ck_assert(verifies(a, pkey, keys[_i].alg));
	ck_assert(verifies(b, pkey, keys[_i].alg));
	/* one changed byte is noticed: the check is none that says yes to
	 * all */
	a[4] = a[4] == 'A' ? 'B' : 'A';
	ck_assert(!verifies(a, pkey, keys[_i].alg));
	free(a);
	free(b);
	free(pem);
	assertion_key_free(k);
	EVP_PKEY_free(pkey);
}
END_TEST

/* R or S that begins with a zero byte is as long as any: about one in 128 of
 * all signatures has one. */
START_TEST(short_halves)
{
	EVP_PKEY *pkey = make_key("P-256", 0);
	char *pem = pem_of(pkey, false), *token;
	struct assertion_key *k = assertion_key(span_of(pem), &why);
	bool seen = false;
	struct buf raw;
	unsigned i;

	for (i = 0; i < 5000 && !seen; i++) {
		token = assertion_make(k, "c", "a", NULL, NOW, &why);
		part(&raw, token, 2);
		ck_assert_uint_eq(raw.n, 64);
		seen = raw.p[0] == 0 || raw.p[32] == 0;
		ck_assert(!seen || verifies(token, pkey, "ES256"));
		buf_free(&raw);
		free(token);
	}
	ck_assert(seen);
	free(pem);
	assertion_key_free(k);
	EVP_PKEY_free(pkey);
}
END_TEST

/* The key of RFC 8037 A.1 and A.2: both halves as they are published. */
START_TEST(key_of_the_rfc)
{
	static const char d[] = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
	static const char x[] = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
	EVP_PKEY *private, *public;
	struct assertion_key *k;
	char *pem, *token;
	struct buf raw;

	buf_init(&raw, 0);
	ck_assert_int_eq(codec_base64url_read(&raw, span_of(d)), 0);
	private = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL,
	    (const unsigned char *)raw.p, raw.n);
	buf_reset(&raw);
	ck_assert_int_eq(codec_base64url_read(&raw, span_of(x)), 0);
	public = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL,
	    (const unsigned char *)raw.p, raw.n);
	buf_free(&raw);
	pem = pem_of(private, false);
	k = assertion_key(span_of(pem), &why);
	token = assertion_make(k, "c", "a", "EdDSA", NOW, &why);
	ck_assert(verifies(token, public, "EdDSA"));
	free(token);
	free(pem);
	assertion_key_free(k);
	EVP_PKEY_free(private);
	EVP_PKEY_free(public);
}
END_TEST

static const struct {
	const char *type, *algs;
} misfits[] = {
	{ "P-256", "RS256 PS256 ES256K ES384" },
	{ "P-256", "" },
	{ "ED25519", "eddsa EdDS" },
	{ "RSA", "RS512 ES256 S256 xRS256" },
};

START_TEST(no_algorithm_fits)
{
	EVP_PKEY *pkey = make_key(misfits[_i].type, 2048);
	char *pem = pem_of(pkey, false), *want;
	struct assertion_key *k = assertion_key(span_of(pem), &why);

	ck_assert_ptr_nonnull(k);
	ck_assert_ptr_null(assertion_make(k, "c", "a", misfits[_i].algs, NOW,
	    &why));
	want = xasprintf(
	    "the server accepts no signature that this key can make; it lists: %s",
	    misfits[_i].algs);
	ck_assert_str_eq(why, want);
	free(want);
	free(pem);
	assertion_key_free(k);
	EVP_PKEY_free(pkey);
}
END_TEST

static const struct {
	const char *type;
	size_t bits;
	bool encrypted;
	const char *why;
} bad_keys[] = {
	{ "P-384", 0, false, "the key is not on the curve P-256" },
	{ "RSA", 1024, false, "the RSA key has fewer than 2048 bits" },
	{ "X25519", 0, false, "the key is not EC P-256, RSA or Ed25519" },
	{ "P-256", 0, true, "the key is encrypted; use an unencrypted one" },
};

START_TEST(keys_that_are_refused)
{
	EVP_PKEY *pkey = make_key(bad_keys[_i].type, bad_keys[_i].bits);
	char *pem = pem_of(pkey, bad_keys[_i].encrypted);

	ck_assert_ptr_null(assertion_key(span_of(pem), &why));
	ck_assert_str_eq(why, bad_keys[_i].why);
	free(pem);
	EVP_PKEY_free(pkey);
}
END_TEST

static const char *const no_keys[] = { "", "CANARY",
	"-----BEGIN PRIVATE KEY-----\nCANARY\n-----END PRIVATE KEY-----\n",
	"-----BEGIN PRIVATE KEY-----\n", "-----BEGIN CERTIFICATE-----\n" };

START_TEST(texts_that_are_no_key)
{
	ck_assert_ptr_null(assertion_key(span_of(no_keys[_i]), &why));
	ck_assert_str_eq(why, "it contains no readable private key (PEM)");
}
END_TEST

/* SEC1 and PKCS#1, as older tools write them, and text around the key. */
static const char *const old_types[] = { "P-256", "RSA" };

START_TEST(older_forms)
{
	EVP_PKEY *pkey = make_key(old_types[_i], 2048);
	BIO *bio = BIO_new(BIO_s_mem());
	struct assertion_key *k;
	char *p, *token;
	long n;

	BIO_puts(bio, "a line of text\n");
	if (_i == 0)
		BIO_puts(bio,
		    "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n"
		    "-----END EC PARAMETERS-----\n");
	ck_assert_int_eq(PEM_write_bio_PrivateKey_traditional(bio, pkey, NULL,
			     NULL, 0, NULL, NULL),
	    1);
	n = BIO_get_mem_data(bio, &p);
	k = assertion_key((struct span){ p, (size_t)n }, &why);
	ck_assert_msg(k != NULL, "%s", why);
	token = assertion_make(k, "c", "a", NULL, NOW, &why);
	ck_assert(verifies(token, pkey, _i == 0 ? "ES256" : "RS256"));
	free(token);
	assertion_key_free(k);
	BIO_free(bio);
	EVP_PKEY_free(pkey);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("assertion");
	TCase *t = tcase_create("assertion");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, signatures, 0, COUNT(keys));
	tcase_add_test(t, short_halves);
	tcase_add_test(t, key_of_the_rfc);
	tcase_add_loop_test(t, no_algorithm_fits, 0, COUNT(misfits));
	tcase_add_loop_test(t, keys_that_are_refused, 0, COUNT(bad_keys));
	tcase_add_loop_test(t, texts_that_are_no_key, 0, COUNT(no_keys));
	tcase_add_loop_test(t, older_forms, 0, COUNT(old_types));
	suite_add_tcase(s, t);
	return unit_run(s);
}
