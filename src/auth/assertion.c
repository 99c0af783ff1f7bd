/*
 * Signed client assertions. libcrypto does the work; what is ours is only the JSON of a JWT and its base64url.
 *
 * A key is read from memory, and only a key that was made here is written.
 * libcrypto's error queue is emptied after a failure: libcurl reads the same
 * one.
 */
#include "config.h"

#include "auth/assertion.h"

#include <inttypes.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdlib.h>

#include "auth/pkce.h"
#include "base/codec.h"
#include "store/record.h"

enum {
	HALF_BYTES = 32, /* of an ES256 signature: R, and S */
	RSA_MIN_BITS = 2048,
	LIFE_S = 60,
	SHOWN_MAX = 200
};

static void *
take(size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	return n == 0 ? NULL : xmalloc(n);
}

/* CRYPTO_realloc: 0 bytes free it. */
static void *
change(void *p, size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	if (n > 0)
		return xrealloc(p, n);
	free(p);
	return NULL;
}

static void
give(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	free(p);
}

void
memory_of_crypto(void)
{
	(void)CRYPTO_set_mem_functions(take, change, give);
}

struct assertion_key {
	EVP_PKEY *pkey;
};

/* Called when the key is encrypted. Without it libcrypto would ask on the
 * terminal. */
static int
no_password(char *p, int size, int rwflag, void *arg)
{
	bool *asked = arg;

	(void)p;
	(void)size;
	(void)rwflag;
	*asked = true;
	return -1;
}

static bool
is_p256(const EVP_PKEY *pkey)
{
	char group[32];

	return EVP_PKEY_get_utf8_string_param(pkey, OSSL_PKEY_PARAM_GROUP_NAME,
		   group, sizeof group, NULL) == 1 &&
	    strcmp(group, SN_X9_62_prime256v1) == 0;
}

/* Why we do not sign with this key; NULL: we do. */
static const char *
key_fault(const EVP_PKEY *pkey)
{
	switch (EVP_PKEY_get_base_id(pkey)) {
	case EVP_PKEY_EC:
		return is_p256(pkey) ? NULL :
				       "the key is not on the curve P-256";
	case EVP_PKEY_RSA:
		return EVP_PKEY_get_bits(pkey) >= RSA_MIN_BITS ?
		    NULL :
		    "the RSA key has fewer than 2048 bits";
	case EVP_PKEY_ED25519:
		return NULL;
	default:
		return "the key is not EC P-256, RSA or Ed25519";
	}
}

struct assertion_key *
assertion_key(struct span pem, char **why)
{
	const char *fault = NULL;
	struct assertion_key *k;
	EVP_PKEY *pkey = NULL;
	bool asked = false;
	BIO *bio = NULL;

	if (pem.n > 0 && pem.n <= INT_MAX)
		bio = BIO_new_mem_buf(pem.p, (int)pem.n);
	if (bio != NULL)
		pkey = PEM_read_bio_PrivateKey(bio, NULL, no_password, &asked);
	BIO_free(bio);
	if (pkey != NULL)
		fault = key_fault(pkey);
	else if (asked)
		fault = "the key is encrypted; use an unencrypted one";
	else
		fault = "it contains no readable private key (PEM)";
	ERR_clear_error();
	if (fault != NULL) {
		EVP_PKEY_free(pkey);
		*why = xstrdup(fault);
		return NULL;
	}
	k = xmalloc(sizeof *k);
	k->pkey = pkey;
	return k;
}

void
assertion_key_free(struct assertion_key *k)
{
	if (k == NULL)
		return;
	EVP_PKEY_free(k->pkey);
	free(k);
}

/* The algorithm for this key; NULL: the server takes none that we can do. */
static const char *
choose(const EVP_PKEY *pkey, const char *algs)
{
	const char *first, *second = NULL;

	switch (EVP_PKEY_get_base_id(pkey)) {
	case EVP_PKEY_EC:
		first = "ES256";
		break;
	case EVP_PKEY_RSA:
		first = "RS256";
		second = "PS256";
		break;
	default:
		first = "EdDSA";
		break;
	}
	if (algs == NULL || scope_listed(algs, first))
		return first;
	return second != NULL && scope_listed(algs, second) ? second : NULL;
}

/* Appends R and S as they are in a JWT (RFC 7518 3.4), from DER. Returns 0, or
 * -1. */
static int
raw_ecdsa(struct buf *out, const unsigned char *der, size_t n)
{
	unsigned char raw[2 * HALF_BYTES];
	ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
	int rc = -1;

	if (sig != NULL &&
	    BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, HALF_BYTES) > 0 &&
	    BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + HALF_BYTES, HALF_BYTES) >
		0)
		rc = buf_add(out, raw, sizeof raw);
	ECDSA_SIG_free(sig);
	return rc;
}

/* Appends one coordinate of the public point, base64url. Returns 0, or -1. */
static int
add_coordinate(struct buf *json, const EVP_PKEY *pkey, const char *name)
{
	unsigned char raw[HALF_BYTES];
	BIGNUM *n = NULL;
	int rc = -1;

	if (EVP_PKEY_get_bn_param(pkey, name, &n) == 1 &&
	    BN_bn2binpad(n, raw, HALF_BYTES) > 0) {
		codec_base64url(json,
		    (struct span){ (const char *)raw, sizeof raw });
		rc = 0;
	}
	BN_free(n);
	return rc;
}

char *
assertion_make_key(void)
{
	EVP_PKEY *pkey = EVP_EC_gen(SN_X9_62_prime256v1);
	BIO *bio = BIO_new(BIO_s_mem());
	char *pem = NULL, *p;
	long n;

	if (pkey != NULL && bio != NULL &&
	    PEM_write_bio_PKCS8PrivateKey(bio, pkey, NULL, NULL, 0, NULL,
		NULL) == 1 &&
	    (n = BIO_get_mem_data(bio, &p)) > 0)
		pem = xstrndup(p, (size_t)n);
	BIO_free(bio); /* wipes it */
	EVP_PKEY_free(pkey);
	ERR_clear_error();
	return pem;
}

int
assertion_jwk(const struct assertion_key *k, struct buf *json)
{
	const EVP_PKEY *pkey = k->pkey;
	int rc = -1;

	if (EVP_PKEY_get_base_id(pkey) != EVP_PKEY_EC)
		return -1;
	buf_adds(json, "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"");
	if (add_coordinate(json, pkey, OSSL_PKEY_PARAM_EC_PUB_X) == 0) {
		buf_adds(json, "\",\"y\":\"");
		rc = add_coordinate(json, pkey, OSSL_PKEY_PARAM_EC_PUB_Y);
		buf_adds(json, "\"}");
	}
	ERR_clear_error();
	return rc;
}

/* Makes md ready to sign. Returns 1 when it is, as libcrypto does. */
static int
sign_init(EVP_MD_CTX *md, EVP_PKEY *pkey, const char *alg)
{
	const EVP_MD *hash = strcmp(alg, "EdDSA") == 0 ? NULL : EVP_sha256();
	EVP_PKEY_CTX *ctx;

	if (EVP_DigestSignInit(md, &ctx, hash, NULL, pkey) != 1)
		return 0;
	if (strcmp(alg, "PS256") != 0)
		return 1;
	return EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING) == 1 &&
	    EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, RSA_PSS_SALTLEN_DIGEST) == 1;
}

/* Appends the signature's bytes. Returns 0, or -1. */
static int
sign(struct buf *out, EVP_PKEY *pkey, const char *alg, struct span text)
{
	const unsigned char *p = (const unsigned char *)text.p;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned char *sig = NULL;
	size_t n = 0;
	int rc = -1;

	if (md == NULL || sign_init(md, pkey, alg) != 1 ||
	    EVP_DigestSign(md, NULL, &n, p, text.n) != 1)
		goto out;
	sig = xmalloc(n);
	if (EVP_DigestSign(md, sig, &n, p, text.n) != 1)
		goto out;
	if (strcmp(alg, "ES256") == 0)
		rc = raw_ecdsa(out, sig, n);
	else
		rc = buf_add(out, sig, n);
out:
	free(sig);
	EVP_MD_CTX_free(md);
	ERR_clear_error();
	return rc;
}

int
assertion_sign(const struct assertion_key *k, const char *alg,
    struct buf *token)
{
	struct buf sig = { 0 };
	int rc;

	rc = sign(&sig, k->pkey, alg, buf_span(token));
	if (rc == 0) {
		buf_addc(token, '.');
		codec_base64url(token, buf_span(&sig));
	}
	buf_free(&sig);
	return rc;
}

/* Appends header and claims, encoded, with a dot between. */
static void
add_claims(struct buf *out, const char *alg, const char *client,
    const char *audience, const char *jti, int64_t now)
{
	struct buf json = { 0 };

	buf_addf(&json, "{\"alg\":\"%s\",\"typ\":\"JWT\"}", alg);
	codec_base64url(out, buf_span(&json));
	buf_addc(out, '.');
	buf_reset(&json);
	buf_adds(&json, "{\"iss\":");
	codec_json_string(&json, span_of(client));
	buf_adds(&json, ",\"sub\":");
	codec_json_string(&json, span_of(client));
	buf_adds(&json, ",\"aud\":");
	codec_json_string(&json, span_of(audience));
	buf_addf(&json, ",\"jti\":\"%s\",\"iat\":%" PRId64 ",\"exp\":%" PRId64,
	    jti, now, now + LIFE_S);
	buf_addc(&json, '}');
	codec_base64url(out, buf_span(&json));
	buf_free(&json);
}

/* No algorithm fits. Returns NULL, for the caller to return. */
static char *
no_algorithm(const char *algs, char **why)
{
	struct buf b = { 0 };

	codec_visible(&b, span_of(algs), SHOWN_MAX);
	*why = xasprintf("the server accepts no signature that this key can "
			 "make; it lists: %s",
	    buf_str(&b));
	buf_free(&b);
	return NULL;
}

char *
assertion_make(const struct assertion_key *k, const char *client,
    const char *audience, const char *algs, int64_t now, char **why)
{
	const char *alg = choose(k->pkey, algs);
	struct buf token = { 0 };
	char jti[PKCE_BYTES];

	if (alg == NULL)
		return no_algorithm(algs, why);
	if (pkce_random(jti) == 0)
		add_claims(&token, alg, client, audience, jti, now);
	if (token.n > 0 && assertion_sign(k, alg, &token) == 0)
		return buf_take(&token);
	*why = xstrdup("cannot sign the assertion");
	buf_free(&token);
	return NULL;
}
