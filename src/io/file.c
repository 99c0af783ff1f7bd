/*
 * The program's own files. Each is opened relative to a folder that was
 * checked, never through a link, and its owner and mode are checked before it
 * is used. New content is written to a temporary file, which then replaces the
 * old one; the temporary name is random and exclusive, so that processes do not
 * disturb one another.
 */
#include "config.h"

#include "io/file.h"

#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/log.h"
#include "os/random.h"

#define PART_BYTES ((size_t)64 * 1024)
#define TEMP_PREFIX ".new-"
#define TEMP_BYTES (sizeof TEMP_PREFIX + 16)
#define SWEEP_SECONDS 3600
#define SWEEP_ENTRIES 4096
#define BACKUP ".mcpsplice-backup"

void
file_close(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
}

static int
open_dir(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Makes the missing folders of path after its first n bytes. Systems differ in
 * how mkdir fails for a path that exists, so the path is checked. */
static int
make_below(char *path, size_t n)
{
	struct stat st;
	char *end = path + n;
	int rc, saved;
	char c;

	do {
		end += 1 + strcspn(end + 1, "/");
		c = *end;
		*end = '\0';
		rc = mkdir(path, S_IRWXU);
		saved = errno;
		if (rc < 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			rc = 0;
		*end = c;
	} while (rc == 0 && c != '\0');
	errno = saved;
	return rc;
}

static bool
is_private_dir(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if (st.st_uid == geteuid() && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return true;
	errno = EPERM;
	return false;
}

/* Takes all rights from group and others: file names tell which servers
 * somebody uses. */
static void
hide(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0 &&
	    fchmod(fd, S_IRWXU) < 0)
		errno = 0; /* the folder can be used anyway */
}

/* May somebody else put another folder in place of what is in this one? root
 * could in any case; what is open to a group is often the user's own. HOME is
 * the user's choice, and in some containers it has another owner. But sudo can
 * leave it unchanged: what root makes there its owner could not use. */
static bool
is_of_others(const char *path, bool is_home)
{
	struct stat link, st;

	if (lstat(path, &link) < 0 || stat(path, &st) < 0)
		return false;
	if (is_home)
		return geteuid() == 0 && st.st_uid != 0;
	if (link.st_uid != geteuid() && link.st_uid != 0)
		return true;
	if (st.st_uid != geteuid())
		return st.st_uid != 0;
	return (st.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH;
}

/* Returns how many bytes of path name the first folder, from the one of n bytes
 * on and without the last, that is not the user's; 0: none. */
static size_t
find_other(char *path, size_t n)
{
	char *end;
	bool found;

	for (end = path + n; end != NULL; end = strchr(end + 1, '/')) {
		*end = '\0';
		found = is_of_others(path, end == path + n);
		*end = '/';
		if (found)
			return (size_t)(end - path);
	}
	return 0;
}

int
file_dir(const char *base, const char *below, bool make, char **why)
{
	const char *reason;
	char *path;
	int fd, saved;
	size_t other;

	if (base == NULL || base[0] != '/') {
		*why = xstrdup("HOME is not set: set it to a folder of your "
			       "own");
		errno = EINVAL;
		return -1;
	}
	path = xasprintf("%s/%s", base, below);
	other = find_other(path, strlen(base));
	errno = EPERM;
	fd = other > 0 ? -1 : open_dir(path);
	if (fd < 0 && errno == ENOENT && make &&
	    make_below(path, strlen(base)) == 0)
		fd = open_dir(path);
	if (fd >= 0 && !is_private_dir(fd)) {
		file_close(fd);
		fd = -1;
	}
	if (fd >= 0 && make)
		hide(fd);
	if (fd < 0) {
		saved = errno;
		reason = saved == EPERM ?
		    "it belongs to another user, or others can write in it" :
		    strerror(saved);
		*why = xasprintf("%.*s cannot be used: %s%s",
		    (int)(other > 0 ? other : strlen(path)), path, reason,
		    saved == ENOSPC || saved == EMFILE || saved == EIO ?
			"" :
			"; set HOME to a folder of your own");
		errno = saved;
	}
	free(path);
	return fd;
}

/* Makes errno ELOOP for a link that open does not follow, whatever the system
 * says. */
static int
no_link(int fd)
{
	if (fd < 0 && errno == EMLINK)
		errno = ELOOP;
#ifdef EFTYPE
	if (fd < 0 && errno == EFTYPE)
		errno = ELOOP;
#endif
	return fd;
}

static int
check_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	if (st.st_uid != geteuid() || st.st_nlink > 1 ||
	    (st.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
		errno = EPERM;
		return -1;
	}
	return 0;
}

/* O_NONBLOCK: the name may belong to a pipe. */
int
file_open(int dir, const char *name, bool write)
{
	int fd;

	fd = no_link(openat(dir, name,
	    (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
		O_CLOEXEC));
	if (fd >= 0 && check_file(fd) < 0) {
		file_close(fd);
		fd = -1;
	}
	return fd;
}

int
file_get(int fd, size_t max, struct buf *out)
{
	size_t from = out->n;
	ssize_t n;

	for (;;) {
		buf_reserve(out, PART_BYTES);
		n = pread(fd, out->p + out->n, PART_BYTES,
		    (off_t)(out->n - from));
		if (n == 0)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		out->n += (size_t)n;
		if (out->n - from > max) {
			errno = EFBIG;
			break;
		}
	}
	out->n = from;
	return -1;
}

int
file_get_all(int fd, struct buf *out)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof part)) > 0 ||
	    (n < 0 && errno == EINTR))
		if (n > 0 && buf_add(out, part, (size_t)n) != 0) {
			errno = EFBIG;
			n = -1;
			break;
		}
	mem_wipe(part, sizeof part); /* it may be a secret */
	return n < 0 ? -1 : 0;
}

size_t
file_head(int fd, char *to, size_t max)
{
	size_t n = 0;
	ssize_t part;

	while (n < max) {
		part = pread(fd, to + n, max - n, (off_t)n);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			break;
		n += (size_t)part;
	}
	return n;
}

/* Checks ulimit -f: a write past that limit raises a signal that ends the
 * process. */
static bool
is_allowed(size_t n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 ||
	    limit.rlim_cur == RLIM_INFINITY || (rlim_t)n <= limit.rlim_cur)
		return true;
	errno = EFBIG;
	return false;
}

int
file_put(int fd, struct span text)
{
	size_t at = 0;
	ssize_t n;

	if (!is_allowed(text.n))
		return -1;
	while (at < text.n) {
		n = pwrite(fd, text.p + at, text.n - at, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		at += (size_t)n;
	}
	return ftruncate(fd, (off_t)text.n);
}

bool
file_line(struct span *text, struct span *line)
{
	struct span rest = *text;

	*line = span_take(&rest, '\n');
	if (line->n == text->n)
		return false;
	*text = rest;
	return true;
}

int
file_read(int dir, const char *name, size_t max, struct buf *out)
{
	int fd, rc;

	fd = file_open(dir, name, false);
	if (fd < 0)
		return -1;
	rc = file_get(fd, max, out);
	file_close(fd);
	return rc;
}

/* fchmod follows because the umask may have removed bits of the mode. */
static int
temp_open(int dir, char name[TEMP_BYTES])
{
	uint64_t r;
	int fd;

	if (os_random(&r, sizeof r) < 0) {
		errno = EIO;
		return -1;
	}
	snprintf(name, TEMP_BYTES, TEMP_PREFIX "%016" PRIx64, r);
	fd = openat(dir, name,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    S_IRUSR | S_IWUSR);
	if (fd >= 0)
		fchmod(fd, S_IRUSR | S_IWUSR);
	return fd;
}

static void
temp_remove(int dir, const char *name)
{
	int saved = errno;

	unlinkat(dir, name, 0);
	errno = saved;
}

/* EINVAL means that the file system has nothing to sync. */
static int
sync_to_disk(int fd)
{
	return fsync(fd) < 0 && errno != EINVAL ? -1 : 0;
}

/* Network file systems report a full disk at close. */
static int
temp_fill(int fd, struct span text, bool sync)
{
	if (file_put(fd, text) < 0 || (sync && sync_to_disk(fd) < 0)) {
		file_close(fd);
		return -1;
	}
	return close(fd) < 0 && errno != EINTR ? -1 : 0;
}

int
file_write(int dir, const char *name, struct span text, bool sync)
{
	char temp[TEMP_BYTES];
	int fd;

	fd = temp_open(dir, temp);
	if (fd < 0)
		return -1;
	if (temp_fill(fd, text, sync) < 0 ||
	    renameat(dir, temp, dir, name) < 0) {
		temp_remove(dir, temp);
		return -1;
	}
	if (sync)
		sync_to_disk(dir);
	return 0;
}

int
file_remove(int dir, const char *name)
{
	return unlinkat(dir, name, 0);
}

/* Systems without flock have fcntl locks, which belong to the process. */
int
file_lock(int fd)
{
#ifdef HAVE_FLOCK
	return flock(fd, LOCK_EX | LOCK_NB);
#else
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int rc = fcntl(fd, F_SETLK, &lock);

	if (rc < 0 && errno == EACCES)
		errno = EWOULDBLOCK;
	return rc;
#endif
}

int
file_new_locked(int dir, const char *name)
{
	char temp[TEMP_BYTES];
	int fd;

	fd = temp_open(dir, temp);
	if (fd < 0)
		return -1;
	if (file_lock(fd) == 0 && renameat(dir, temp, dir, name) == 0)
		return fd;
	temp_remove(dir, temp);
	file_close(fd);
	return -1;
}

bool
file_linked(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

int64_t
file_age(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : (int64_t)time(NULL) - st.st_mtime;
}

int
file_list(int dir, size_t max, file_list_cb *each, void *arg)
{
	struct dirent *e;
	DIR *d;
	int fd;

	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	d = fdopendir(fd);
	if (d == NULL) {
		file_close(fd);
		return -1;
	}
	while (max > 0 && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		max--;
		if (!each(e->d_name, arg))
			break;
	}
	closedir(d);
	return 0;
}

static bool
sweep_one(const char *name, void *arg)
{
	const int *dir = arg;
	struct stat st;

	if (strncmp(name, TEMP_PREFIX, strlen(TEMP_PREFIX)) == 0 &&
	    fstatat(*dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    time(NULL) - st.st_mtime > SWEEP_SECONDS)
		unlinkat(*dir, name, 0);
	return true;
}

void
file_sweep(int dir)
{
	file_list(dir, SWEEP_ENTRIES, sweep_one, &dir);
}

static uint64_t
mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ (h >> 32);
}

uint64_t
file_stamp(int dir, const char *name)
{
	struct stat st;
	uint64_t h;

	if (name == NULL ||
	    fstatat(dir < 0 ? AT_FDCWD : dir, name, &st,
		dir < 0 ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
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

/* --- the bounds of a folder --- */

struct kept {
	int64_t age;
	uint64_t size;
	char *name;
};

struct trim {
	int dir;
	int64_t old_s;
	struct kept *kept;
	size_t n, room;
};

/* Removes an old file, and notes any other one. One from the future, as after a
 * clock was set back, comes behind those that are nearer, or it would stay the
 * youngest for too long. */
static bool
trim_add(const char *name, void *arg)
{
	struct trim *t = arg;
	struct stat st;
	int64_t age;

	if (fstatat(t->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    S_ISDIR(st.st_mode))
		return true;
	age = (int64_t)time(NULL) - st.st_mtime;
	if (age > t->old_s) {
		unlinkat(t->dir, name, 0);
		return true;
	}
	if (t->n == t->room) {
		t->room = t->room * 2 + 64;
		t->kept = xrealloc(t->kept, t->room * sizeof *t->kept);
	}
	t->kept[t->n++] = (struct kept){ age < 0 ? -age : age,
		(uint64_t)st.st_size, xstrdup(name) };
	return true;
}

static int
younger_first(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return (x->age > y->age) - (x->age < y->age);
}

void
file_trim(int dir, size_t files, uint64_t bytes, int64_t old_s)
{
	struct trim t = { .dir = dir, .old_s = old_s };
	bool over = false;
	size_t i;

	file_list(dir, SIZE_MAX, trim_add, &t);
	if (t.n > 0)
		qsort(t.kept, t.n, sizeof *t.kept, younger_first);
	for (i = 0; i < t.n; i++) {
		over = over || i == files || t.kept[i].size > bytes;
		if (over)
			unlinkat(dir, t.kept[i].name, 0);
		else
			bytes -= t.kept[i].size;
		free(t.kept[i].name);
	}
	free(t.kept);
}

void
file_warn_if_open(const char *path, const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return;
	if (st->st_uid != geteuid() && st->st_uid != 0)
		log_warn("%s belongs to another user", path);
	else if ((st->st_mode & (S_IRWXG | S_IRWXO)) != 0)
		log_warn("%s holds a credential and is open to other users; "
			 "\"chmod 600\" it",
		    path);
}
