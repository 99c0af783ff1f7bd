/* Hashes the identity, and makes a file name of host and hash. */
#include "config.h"

#include "proxy/cache/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/log.h"
#include "io/file.h"
#include "io/url.h"
#include "os/file.h"
#include "os/random.h"

/* Own files. Invariant: a file with a name of this format is locked before it
 * gets that name, and until its process ends. */

int
own_file_folder(const struct own_file *f, bool make)
{
	char *why = NULL;
	int dir = file_dir(f->home, f->folder, make, &why);

	if (dir < 0 && (make || errno != ENOENT))
		log_debug("%s: %s", f->lack, why);
	free(why);
	return dir;
}

int
own_file_hold(struct own_file *f)
{
	uint64_t r[2];
	int dir;

	if (f->fd >= 0 && file_linked(f->fd))
		return 0;
	own_file_end(f, false);
	dir = own_file_folder(f, true);
	if (dir < 0)
		return -1;
	file_sweep(dir);
	file_trim(dir, BOUND_LISTED - 1, BOUND_LISTED * f->max_bytes, f->old_s);
	errno = EIO;
	if (os_random(r, sizeof r) == 0) {
		snprintf(f->name, sizeof f->name, "%016" PRIx64 "%016" PRIx64,
		    r[0], r[1]);
		f->fd = file_new_locked(dir, f->name);
	}
	if (f->fd < 0)
		log_debug("%s: %s", f->lack, strerror(errno));
	file_close(dir);
	return f->fd < 0 ? -1 : 0;
}

void
own_file_end(struct own_file *f, bool remove)
{
	int dir;

	if (f->fd < 0)
		return;
	if (remove && file_linked(f->fd) &&
	    (dir = own_file_folder(f, false)) >= 0) {
		os_file_remove(dir, f->name);
		file_close(dir);
	}
	file_close(f->fd);
	f->fd = -1;
}

bool
own_file_is_name(const char *name)
{
	return strlen(name) == OWN_FILE_NAME_BYTES - 1 &&
	    strspn(name, "0123456789abcdef") == OWN_FILE_NAME_BYTES - 1;
}

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
