/*
 * The folder of the store: names, locks, stamps, lists. NAME.json is a record,
 * pending-NAME a sign-in under way, lock-* are locks. Locks are empty files
 * that only their holder removes, because a lock on a file that lost its name
 * would exclude nobody; and only when there is no record for long. A NAME ends in 16 hex digits, so these cannot be confused.
 */
#include "config.h"

#include "base/bounds.h"
#include "store/store.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "io/file.h"
#include "io/url.h"
#include "store/state.h"

#define HOST_BYTES 64 /* with its NUL */
#define HASH_DIGITS 16
#define LOCK_TRIES 3
#define RECORD_END ".json"
#define TOKEN_LOCK "lock-token-"
#define LOGIN_LOCK "lock-login-"

int
store_folder(struct store *s, bool make)
{
	char *why;

	if (s->dir >= 0 && file_linked(s->dir))
		return s->dir;
	if (s->dir >= 0)
		file_close(s->dir);
	s->dir = file_dir(s->home, STORE_BELOW, make, &why);
	if (s->dir < 0)
		free(why);
	return s->dir;
}

void
store_file(char file[STORE_FILE_BYTES], const char *before, const char *name,
    const char *behind)
{
	snprintf(file, STORE_FILE_BYTES, "%s%s%s", before, name, behind);
}

static bool
is_safe(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
	    c == '-' || c == '_';
}

/* Adds the hash of URL and profile. Different pairs give different texts: each
 * part has its length in front, and no profile differs from an empty one. */
static void
add_hash(char *to, const char *url, const char *profile)
{
	unsigned char sum[EVP_MAX_MD_SIZE] = { 0 };
	struct buf b;
	size_t i;

	buf_init(&b, 0);
	buf_addf(&b, "%zu:%s,", strlen(url), url);
	if (profile != NULL)
		buf_addf(&b, "%zu:%s,", strlen(profile), profile);
	if (EVP_Digest(b.p, b.n, sum, NULL, EVP_sha256(), NULL) != 1)
		abort(); /* there is no SHA-256 */
	buf_free(&b);
	for (i = 0; i < HASH_DIGITS / 2; i++)
		snprintf(to + 2 * i, 3, "%02x", sum[i]);
}

void
store_name(char name[STORE_NAME_BYTES], const char *url, const char *profile)
{
	struct url parts;
	size_t n;

	n = url_host_name(name, HOST_BYTES,
	    url_parse(&parts, url) == URL_OK ? parts.host : "_");
	url_free(&parts);
	name[n++] = '-';
	add_hash(name + n, url, profile);
}

/* Is text, of n bytes, a NAME? */
static bool
is_name(const char *text, size_t n)
{
	size_t i;

	if (n < HASH_DIGITS + 2 || n >= STORE_NAME_BYTES ||
	    text[n - HASH_DIGITS - 1] != '-')
		return false;
	for (i = 0; i < n; i++)
		if (!is_safe(text[i]))
			return false;
	return strspn(text + n - HASH_DIGITS, "0123456789abcdef") >=
	    HASH_DIGITS;
}

struct listing {
	bool helper;
	store_list_cb *each;
	void *arg;
};

static bool
list_one(const char *file, void *arg)
{
	const struct listing *l = arg;
	char name[STORE_NAME_BYTES];
	size_t n = strlen(file), skip = 0, end = strlen(RECORD_END);

	if (strncmp(file, PENDING_FILE, strlen(PENDING_FILE)) == 0) {
		skip = strlen(PENDING_FILE);
		end = 0;
	} else if (l->helper) {
		skip = strlen(TOKEN_LOCK);
		if (strncmp(file, TOKEN_LOCK, skip) != 0)
			return true;
		end = 0;
	} else if (n < end || strcmp(file + n - end, RECORD_END) != 0) {
		return true;
	}
	n -= skip + end;
	if (!is_name(file + skip, n))
		return true;
	memcpy(name, file + skip, n);
	name[n] = '\0';
	return l->each(name, l->arg);
}

void
store_list(struct store *s, store_list_cb *each, void *arg)
{
	struct listing l = { s->helper != NULL, each, arg };
	int dir = store_folder(s, false);

	if (dir >= 0)
		file_list(dir, BOUND_STORE_ENTRIES, list_one, &l);
}

static bool
forget_one(const char *file, void *arg)
{
	static const char *const kinds[] = { PENDING_FILE, TOKEN_LOCK,
		LOGIN_LOCK, NULL };
	const char *const *kind = kinds;
	struct store *s = arg;
	int fd;

	while (*kind != NULL && strncmp(file, *kind, strlen(*kind)) != 0)
		kind++;
	if (*kind == NULL || store_stamp(s, file + strlen(*kind)) != 0 ||
	    (fd = file_open(s->dir, file, true)) < 0)
		return true;
	if (file_age(fd) > BOUND_STORE_LEFT_MS / 1000 && file_lock(fd) == 0)
		file_remove(s->dir, file);
	file_close(fd);
	return true;
}

void
store_forget_old(struct store *s)
{
	file_list(s->dir, SIZE_MAX, forget_one, s);
}

static uint64_t
mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ (h >> 32);
}

uint64_t
store_stamp(struct store *s, const char *name)
{
	char file[STORE_FILE_BYTES];
	struct stat st;
	uint64_t h;
	int dir;

	if (s->helper != NULL || (dir = store_folder(s, false)) < 0)
		return 0;
	store_file(file, "", name, RECORD_END);
	if (fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	h = mix(0, (uint64_t)st.st_ino);
	h = mix(h, (uint64_t)st.st_size);
	h = mix(h, (uint64_t)st.st_mtime);
#if defined HAVE_STRUCT_STAT_ST_MTIM_TV_NSEC
	h = mix(h, (uint64_t)st.st_mtim.tv_nsec);
#elif defined HAVE_STRUCT_STAT_ST_MTIMESPEC_TV_NSEC
	h = mix(h, (uint64_t)st.st_mtimespec.tv_nsec);
#endif
	return h == 0 ? 1 : h;
}

/* Makes an empty file. io/file makes a file by moving it into place, which
 * would take the name from a lock that another process has just made and holds.
 * So only the process that holds a lock on the folder makes one. If a folder
 * cannot be locked (NFS), this gap remains for the first use of a lock. */
static int
make_lock_file(struct store *s, const char *file)
{
	char *why;
	int mutex, fd, rc = 0;

	mutex = file_dir(s->home, STORE_BELOW, false, &why);
	if (mutex < 0) {
		free(why);
		return -1;
	}
	if (file_lock(mutex) < 0 && errno == EWOULDBLOCK) {
		file_close(mutex);
		return -1;
	}
	fd = file_open(mutex, file, true);
	if (fd >= 0)
		file_close(fd);
	else if (errno == ENOENT)
		rc = file_write(mutex, file, (struct span){ NULL, 0 }, false);
	else
		rc = -1;
	file_close(mutex);
	return rc;
}

/* Does the name still belong to the open file? */
static bool
is_same(int dir, const char *file, int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 &&
	    fstatat(dir, file, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int
try_lock(struct store *s, const char *file)
{
	int dir, fd;

	dir = store_folder(s, true);
	if (dir < 0)
		return -1;
	fd = file_open(dir, file, true);
	if (fd < 0)
		return -1;
	if (file_lock(fd) == 0) {
		if (is_same(dir, file, fd))
			return fd;
		errno = ENOENT;
	}
	file_close(fd);
	return -1;
}

int
store_lock(struct store *s, enum store_lock what, const char *name)
{
	char file[STORE_FILE_BYTES];
	int i, fd;

	if (what == STORE_TAB)
		store_file(file, "lock-tab", "", "");
	else
		store_file(file, what == STORE_TOKEN ? TOKEN_LOCK : LOGIN_LOCK,
		    name, "");
	for (i = 0; i < LOCK_TRIES; i++) {
		fd = try_lock(s, file);
		if (fd >= 0 || errno != ENOENT)
			return fd;
		if (make_lock_file(s, file) < 0)
			return -1;
	}
	errno = EWOULDBLOCK;
	return -1;
}

void
store_unlock(int fd)
{
	if (fd >= 0)
		file_close(fd);
}
