/* Hashes the identity, and makes a file name of host and hash; and reads the
 * number of a format. */
#include "config.h"

#include "proxy/cache/profile.h"

#include <openssl/evp.h>
#include <stdio.h>

#include "io/private_file.h"
#include "io/url.h"

/* --- the number of a format --- */

#define HEAD_BYTES 64

/* Does text begin with title and a number over known? */
static bool
is_over(struct span text, const char *title, unsigned known)
{
	size_t n = strlen(title);
	unsigned number = 0;

	if (text.n < n || memcmp(text.p, title, n) != 0)
		return false;
	for (; n < text.n && text.p[n] >= '0' && text.p[n] <= '9' &&
	     number <= known;
	     n++)
		number = number * 10 + (unsigned)(text.p[n] - '0');
	return number > known;
}

bool
format_is_newer(int fd, const char *title, unsigned known)
{
	char head[HEAD_BYTES];
	size_t n = file_head(fd, head, sizeof head);

	return is_over((struct span){ head, n }, title, known);
}

/* --- profiles --- */

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
