/*
 * DPoP proofs. A proof is a JWT whose header, with the public key, is the same
 * each time, so it is kept encoded; the claims are made anew for each request.
 */
#include "config.h"

#include "auth/dpop.h"

#include <inttypes.h>
#include <stdlib.h>

#include "auth/assertion.h"
#include "auth/pkce.h"
#include "base/bounds.h"
#include "base/codec.h"

#define ALG "ES256"

enum { CLOCK_OFF_S = 60 }; /* some servers allow no more */

struct dpop {
	char *pem; /* of the key, to tell it from the next; NULL: none */
	struct assertion_key *key;
	struct buf header; /* encoded */
	char *nonce;       /* NULL: none */
};

struct dpop *
dpop_new(void)
{
	return xcalloc(1, sizeof(struct dpop));
}

static void
forget_key(struct dpop *d)
{
	assertion_key_free(d->key);
	d->key = NULL;
	string_wipe(&d->pem);
	buf_free(&d->header);
}

/* Encodes the header. Returns 0, or -1 if it is no key for ES256. */
static int
make_header(struct dpop *d)
{
	struct buf json = { 0 };
	int rc;

	buf_adds(&json, "{\"typ\":\"dpop+jwt\",\"alg\":\"" ALG "\",\"jwk\":");
	rc = assertion_jwk(d->key, &json);
	buf_addc(&json, '}');
	if (rc == 0)
		codec_base64url(&d->header, buf_span(&json));
	buf_free(&json);
	return rc;
}

bool
dpop_set_key(struct dpop *d, const char *pem)
{
	char *why = NULL;

	if (d->pem != NULL && pem != NULL && strcmp(d->pem, pem) == 0)
		return true;
	forget_key(d);
	if (pem == NULL)
		return false;
	d->key = assertion_key(span_of(pem), &why);
	free(why);
	if (d->key == NULL || make_header(d) < 0) {
		forget_key(d);
		return false;
	}
	d->pem = xstrdup(pem);
	return true;
}

/* RFC 9449 8.1: NQCHAR, and at least one. */
static bool
is_nonce(const char *s)
{
	struct span text = span_of(s);

	return text.n > 0 && text.n <= BOUND_ID_BYTES &&
	    span_is_printable(text, '!') && strpbrk(s, "\"\\") == NULL;
}

void
dpop_hear(struct dpop *d, const char *nonce)
{
	if (nonce == NULL || !is_nonce(nonce) || string_eq(d->nonce, nonce))
		return;
	string_set(&d->nonce, nonce);
}

bool
dpop_has_nonce(const struct dpop *d)
{
	return d->nonce != NULL;
}

/* Appends ,"name":"value" to the claims, or nothing for NULL. */
static void
claim(struct buf *json, const char *name, struct span value)
{
	if (value.p == NULL)
		return;
	buf_addf(json, ",\"%s\":", name);
	codec_json_string(json, value);
}

int
dpop_prove(const struct dpop *d, const char *method, const char *url,
    const char *ath, int64_t now, struct headers *to)
{
	char jti[PKCE_BYTES];
	struct buf json = { 0 }, token = { 0 };
	int rc = -1;

	if (d->key == NULL || pkce_random(jti) < 0)
		return -1;
	buf_addf(&json, "{\"jti\":\"%s\",\"iat\":%" PRId64, jti, now);
	claim(&json, "htm", span_of(method));
	/* RFC 9449 4.2: without query and fragment */
	claim(&json, "htu", (struct span){ url, strcspn(url, "?#") });
	claim(&json, "ath", span_of(ath));
	claim(&json, "nonce", span_of(d->nonce));
	buf_addc(&json, '}');
	buf_addspan(&token, buf_span(&d->header));
	buf_addc(&token, '.');
	codec_base64url(&token, buf_span(&json));
	if (assertion_sign(d->key, ALG, &token) == 0)
		rc = headers_add(to, span_of("DPoP"), buf_span(&token), true);
	buf_free(&json);
	buf_free(&token);
	return rc;
}

void
dpop_free(struct dpop *d)
{
	if (d == NULL)
		return;
	forget_key(d);
	free(d->nonce);
	free(d);
}

bool
dpop_is_bound(const struct record *r)
{
	char hash[PKCE_BYTES];

	return r->token.access != NULL && r->token.dpop_ath != NULL &&
	    pkce_challenge(hash, r->token.access) == 0 &&
	    strcmp(hash, r->token.dpop_ath) == 0;
}

char *
dpop_clock(int64_t ahead_s, const char *host)
{
	static const struct {
		int64_t s, most_s; /* of one; up to so many s it is used */
		const char *name;
	} units[] = { { 60, 2 * 3600, "minute" }, { 3600, 2 * 86400, "hour" },
		{ 86400, INT64_MAX, "day" } };
	int64_t off = ahead_s < 0 ? -ahead_s : ahead_s, n;
	size_t i = 0;

	if (off < CLOCK_OFF_S)
		return NULL;
	while (off > units[i].most_s)
		i++;
	n = (off + units[i].s / 2) / units[i].s;
	return xasprintf("this machine's clock is %lld %s%s %s %s's; set it",
	    (long long)n, units[i].name, n == 1 ? "" : "s",
	    ahead_s < 0 ? "behind" : "ahead of", host);
}
