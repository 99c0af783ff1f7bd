/* Hashes the identity, and makes a file name of host and hash. */
#include "config.h"

#include "cache/profile.h"

#include <stdio.h>

#include <openssl/evp.h>

#include "io/url.h"

int
profile_digest(char hex[PROFILE_HEX_BYTES], const struct span *parts, size_t n)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned i, size = 0;
	bool ok;

	ok = ctx != NULL && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1;
	for (; ok && n > 0; n--, parts++)
		ok = EVP_DigestUpdate(ctx, parts->p, parts->n) == 1;
	ok = ok && EVP_DigestFinal_ex(ctx, sum, &size) == 1 &&
	    size * 2 + 1 == PROFILE_HEX_BYTES;
	EVP_MD_CTX_free(ctx);
	if (!ok)
		return -1;
	for (i = 0; i < size; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", sum[i]);
	return 0;
}

int
profile_make(struct profile *p, const char *host, struct span identity)
{
	size_t n;

	if (profile_digest(p->hash, &identity, 1) != 0)
		return -1;
	n = url_host_name(p->name, PROFILE_HOST_BYTES, host);
	snprintf(p->name + n, sizeof p->name - n, "-%.16s", p->hash);
	return 0;
}
