/*
 * The program's own files. Each is opened relative to a folder that was
 * checked, never through a link, and its owner and mode are checked before it
 * is used. New content is written to a temporary file, which then replaces the
 * old one; the temporary name is random and exclusive, so that processes do not
 * disturb one another.
 */
#include "config.h"

#include "io/private_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/bounds.h"
#include "base/log.h"
#include "os/place.h"
#include "os/random.h"

#define PART_BYTES ((size_t)64 * 1024)
#define TEMP_PREFIX ".new-"
#define TEMP_BYTES (sizeof TEMP_PREFIX + 16)
#define SWEEP_SECONDS 3600
#define SWEEP_ENTRIES 4096

void
file_close(int fd)
{
	int saved = errno;

	if (fd >= 0)
		os_file_close(fd);
	errno = saved;
}

/* Makes the missing folders of path after its first n bytes. Systems differ in
 * how mkdir fails for a path that exists, so the path is checked. */
static int
make_below(char *path, size_t n)
{
	struct os_file f;
	char *end = path + n;
	int rc, saved;
	char c;

	do {
		end += 1 + strcspn(end + 1, os_path_separators);
		c = *end;
		*end = '\0';
		rc = os_folder_make(path);
		saved = errno;
		if (rc < 0 && os_file_look_at(OS_HERE, path, true, &f) == 0 &&
		    f.kind == OS_FOLDER)
			rc = 0;
		*end = c;
	} while (rc == 0 && c != '\0');
	errno = saved;
	return rc;
}

static bool
is_private_dir(int fd)
{
	struct os_file f;

	if (os_file_look(fd, &f) < 0)
		return false;
	if (f.owner == OS_OWN && !f.others_write)
		return true;
	errno = EPERM;
	return false;
}

/* Takes all rights from group and others: file names tell which servers
 * somebody uses. */
static void
hide(int fd)
{
	struct os_file f;

	if (os_file_look(fd, &f) == 0 && f.open && os_file_hide(fd, true) < 0)
		errno = 0; /* the folder can be used anyway */
}

/* May somebody else put another folder in place of what is in this one? root
 * could in any case; what is open to a group is often the user's own. HOME is
 * the user's choice, and in some containers it has another owner. But sudo can
 * leave it unchanged: what root makes there its owner could not use. */
static bool
is_of_others(const char *path, bool is_home)
{
	struct os_file link, f;

	if (os_file_look_at(OS_HERE, path, false, &link) < 0 ||
	    os_file_look_at(OS_HERE, path, true, &f) < 0)
		return false;
	if (is_home)
		return os_user_is_root() && f.owner != OS_OWN;
	if (link.owner == OS_FOREIGN)
		return true;
	if (f.owner != OS_OWN)
		return f.owner == OS_FOREIGN;
	return f.all_replace;
}

/* Returns how many bytes of path name the first folder, from the one of n bytes
 * on and without the last, that is not the user's; 0: none. */
static size_t
find_other(char *path, size_t n)
{
	char *end, c;
	bool found;

	for (end = path + n; end != NULL;
	     end = strpbrk(end + 1, os_path_separators)) {
		c = *end;
		*end = '\0';
		found = is_of_others(path, end == path + n);
		*end = c;
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
	bool advise;

	if (!os_path_absolute(base)) {
		*why = xasprintf("%s is not set; set it to a folder of your "
				 "own",
		    os_place_variable(OS_PLACE_DATA));
		errno = EINVAL;
		return -1;
	}
	path = os_path_join(base, os_place_below(below));
	other = find_other(path, strlen(base));
	errno = EPERM;
	fd = other > 0 ? -1 : os_folder_open(path, OS_NO_LINK);
	if (fd < 0 && errno == ENOENT && make &&
	    make_below(path, strlen(base)) == 0)
		fd = os_folder_open(path, OS_NO_LINK);
	if (fd >= 0 && !is_private_dir(fd)) {
		file_close(fd);
		fd = -1;
	}
	if (fd >= 0 && make)
		hide(fd);
	if (fd < 0) {
		saved = errno;
		reason = saved == EPERM ?
		    "it belongs to another user, or others can write to it" :
		    strerror(saved);
		advise = saved != ENOSPC && saved != EMFILE && saved != EIO;
		*why = xasprintf("%.*s cannot be used: %s%s%s%s",
		    (int)(other > 0 ? other : strlen(path)), path, reason,
		    advise ? "; set " : "",
		    advise ? os_place_variable(OS_PLACE_DATA) : "",
		    advise ? " to a folder of your own" : "");
		errno = saved;
	}
	free(path);
	return fd;
}

static int
check_file(int fd)
{
	struct os_file f;

	if (os_file_look(fd, &f) < 0)
		return -1;
	if (f.kind != OS_REGULAR) {
		errno = EINVAL;
		return -1;
	}
	if (f.owner != OS_OWN || f.links > 1 || f.open) {
		errno = EPERM;
		return -1;
	}
	return 0;
}

int
file_open(int dir, const char *name, bool write)
{
	int fd;

	fd = os_file_open(dir, name,
	    (write ? OS_WRITE : OS_READ) | OS_NO_LINK | OS_NO_WAIT);
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
	int64_t n;

	for (;;) {
		buf_reserve(out, PART_BYTES);
		n = os_file_read_at(fd, out->p + out->n, PART_BYTES,
		    (int64_t)(out->n - from));
		if (n == 0)
			return 0;
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
	int64_t n;

	while ((n = os_file_read(fd, part, sizeof part)) > 0)
		if (buf_add(out, part, (size_t)n) != 0) {
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
	int64_t part;

	while (n < max) {
		part = os_file_read_at(fd, to + n, max - n, (int64_t)n);
		if (part <= 0)
			break;
		n += (size_t)part;
	}
	return n;
}

int
file_put(int fd, struct span text)
{
	size_t at = 0;
	int64_t n;

	if (!os_file_allowed(text.n))
		return -1;
	while (at < text.n) {
		n = os_file_write_at(fd, text.p + at, text.n - at, (int64_t)at);
		if (n < 0)
			return -1;
		at += (size_t)n;
	}
	return os_file_cut(fd, (int64_t)text.n);
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

static int
temp_open(int dir, char name[TEMP_BYTES])
{
	uint64_t r;

	if (os_random(&r, sizeof r) < 0) {
		errno = EIO;
		return -1;
	}
	snprintf(name, TEMP_BYTES, TEMP_PREFIX "%016" PRIx64, r);
	return os_file_open(dir, name, OS_NEW);
}

static void
temp_remove(int dir, const char *name)
{
	int saved = errno;

	os_file_remove(dir, name);
	errno = saved;
}

/* Network file systems report a full disk at close. */
static int
temp_fill(int fd, struct span text, bool sync)
{
	if (file_put(fd, text) < 0 || (sync && os_file_sync(fd) < 0)) {
		file_close(fd);
		return -1;
	}
	return os_file_close(fd);
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
	    os_file_rename(dir, temp, name) < 0) {
		temp_remove(dir, temp);
		return -1;
	}
	if (sync)
		os_file_sync(dir);
	return 0;
}

int
file_new_locked(int dir, const char *name)
{
	char temp[TEMP_BYTES];
	int fd;

	fd = temp_open(dir, temp);
	if (fd < 0)
		return -1;
	if (os_file_lock(fd) == 0 && os_file_rename(dir, temp, name) == 0)
		return fd;
	temp_remove(dir, temp);
	file_close(fd);
	return -1;
}

bool
file_linked(int fd)
{
	struct os_file f;

	return os_file_look(fd, &f) == 0 && f.links > 0;
}

int64_t
file_age(int fd)
{
	struct os_file f;

	return os_file_look(fd, &f) < 0 ? 0 : (int64_t)time(NULL) - f.changed_s;
}

static bool
sweep_one(const char *name, void *arg)
{
	const int *dir = arg;
	struct os_file f;

	if (strncmp(name, TEMP_PREFIX, strlen(TEMP_PREFIX)) == 0 &&
	    os_file_look_at(*dir, name, false, &f) == 0 &&
	    (int64_t)time(NULL) - f.changed_s > SWEEP_SECONDS)
		os_file_remove(*dir, name);
	return true;
}

void
file_sweep(int dir)
{
	os_folder_list(dir, SWEEP_ENTRIES, sweep_one, &dir);
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
	struct os_file f;
	uint64_t h;

	if (name == NULL || os_file_look_at(dir, name, dir < 0, &f) < 0)
		return 0;
	h = mix(0, f.id);
	h = mix(h, (uint64_t)f.size);
	h = mix(h, (uint64_t)f.changed_s);
	h = mix(h, (uint64_t)f.changed_ns);
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
	size_t n;
};

/* Removes an old file, and notes any other one. One from the future, as after a
 * clock was set back, comes behind those that are nearer, or it would stay the
 * youngest for too long. */
static bool
trim_add(const char *name, void *arg)
{
	struct trim *t = arg;
	struct os_file f;
	int64_t age;

	if (os_file_look_at(t->dir, name, false, &f) < 0 || f.kind == OS_FOLDER)
		return true;
	age = (int64_t)time(NULL) - f.changed_s;
	if (age > t->old_s) {
		os_file_remove(t->dir, name);
		return true;
	}
	t->kept = xgrow(t->kept, t->n, sizeof *t->kept);
	t->kept[t->n++] = (struct kept){ age < 0 ? -age : age, (uint64_t)f.size,
		xstrdup(name) };
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

	os_folder_list(dir, SIZE_MAX, trim_add, &t);
	if (t.n > 0)
		qsort(t.kept, t.n, sizeof *t.kept, younger_first);
	for (i = 0; i < t.n; i++) {
		over = over || i == files || t.kept[i].size > bytes;
		if (over)
			os_file_remove(dir, t.kept[i].name);
		else
			bytes -= t.kept[i].size;
		free(t.kept[i].name);
	}
	free(t.kept);
}

void
file_warn_if_open(const char *path, const struct os_file *f)
{
	if (f->kind != OS_REGULAR)
		return;
	if (f->owner == OS_FOREIGN)
		log_warn("%s belongs to another user", path);
	else if (f->open)
		log_warn("%s holds a credential and other users can read it; "
			 "%s",
		    path, os_how_private);
}
