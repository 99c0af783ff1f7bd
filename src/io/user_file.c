/*
 * New content goes to a temporary file in the folder of the old one, which it
 * replaces by its name. No lock exists that all programs would take, so the old
 * content is read once more just before that, and just after it.
 */
#include "config.h"

#include "io/user_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/codec.h"
#include "io/private_file.h"
#include "os/random.h"

#define BACKUP ".mcpsplice-backup"

static int
failed(char **why)
{
	*why = xstrdup(strerror(errno));
	return -1;
}

/* Reads the file at target, which is not a link. */
static int
read_content(const char *target, size_t max, struct os_file *is,
    struct buf *out, char **why)
{
	int fd = os_file_open(OS_HERE, target,
	    OS_READ | OS_NO_LINK | OS_NO_WAIT);
	int rc;

	if (fd < 0)
		return failed(why);
	if (os_file_look(fd, is) < 0)
		rc = failed(why);
	else if (is->kind != OS_REGULAR)
		rc = fail_why(why, "it is not a regular file");
	else if (file_get(fd, max, out) < 0)
		rc = failed(why);
	else
		rc = 0;
	file_close(fd);
	return rc;
}

int
user_file_read(struct user_file *f, const char *path, size_t max, char **why)
{
	*f = (struct user_file){ .path = xstrdup(path) };
	codec_visible(&f->text, span_of(path), SIZE_MAX);
	if (!span_is(buf_span(&f->text), path))
		return fail_why(why, "its name is not safe to show");
	buf_reset(&f->text);
	f->target = os_file_real(path);
	if (f->target == NULL)
		return failed(why);
	return read_content(f->target, max, &f->is, &f->text, why);
}

void
user_file_free(struct user_file *f)
{
	free(f->path);
	free(f->target);
	buf_wipe(&f->text);
}

/* Is it a file with one name, of this user? */
static int
check_kind(const struct os_file *is, char **why)
{
	if (is->kind == OS_LINK)
		return fail_why(why, "it is a symbolic link");
	if (is->kind != OS_REGULAR)
		return fail_why(why, "it is not a regular file");
	if (is->owner != OS_OWN)
		return fail_why(why, "it belongs to another user");
	if (is->links > 1)
		return fail_why(why,
		    "it has a second name (a hard link), which "
		    "would keep the old content");
	return 0;
}

/* May it be replaced by another file of this user? */
static int
check_owner(const struct user_file *f, char **why)
{
	if (check_kind(&f->is, why) < 0)
		return -1;
	if (!os_file_may(f->target, OS_MAY_WRITE))
		return failed(why);
	return 0;
}

/* Has the file of this name this content? */
static bool
has_content(const char *name, struct span text)
{
	struct buf now = { 0 };
	struct os_file is;
	char *why = NULL;
	bool same = read_content(name, text.n, &is, &now, &why) == 0 &&
	    span_eq(buf_span(&now), text);

	buf_wipe(&now);
	free(why);
	return same;
}

static int
check_unchanged(const struct user_file *f, const char *name, char **why)
{
	if (has_content(name, buf_span(&f->text)))
		return 0;
	return fail_why(why, "another program has just changed it; try again");
}

/* Makes a file with this content, and the rights of another one. name is not
 * there yet. */
static int
make_file(const char *name, struct span text, const char *like)
{
	int fd = os_file_open(OS_HERE, name, OS_NEW);

	if (fd < 0)
		return -1;
	if (os_file_like(fd, like) < 0 || file_put(fd, text) < 0 ||
	    os_file_sync(fd) < 0)
		file_close(fd);
	else if (os_file_close(fd) == 0)
		return 0;
	os_file_remove(OS_HERE, name);
	return -1;
}

/* Another program may write after the last look at the file. So the two are
 * exchanged where the file system can do that, and what was in the place is
 * looked at once more, and put back if it is not what was read. */
static int
put_in_place(const struct user_file *f, const char *temp, char **why)
{
	if (check_unchanged(f, f->target, why) < 0)
		return -1;
	if (os_file_exchange(OS_HERE, temp, f->target) < 0)
		return os_file_rename(OS_HERE, temp, f->target) == 0 ?
		    0 :
		    failed(why);
	if (check_unchanged(f, temp, why) == 0) {
		os_file_remove(OS_HERE, temp);
		return 0;
	}
	(void)os_file_exchange(OS_HERE, temp, f->target);
	return -1;
}

static int
replace(const struct user_file *f, const char *temp, struct span text,
    char **why)
{
	if (make_file(temp, text, f->target) < 0)
		return failed(why);
	if (put_in_place(f, temp, why) == 0)
		return 0;
	if (has_content(temp, text)) /* and not that of another program */
		os_file_remove(OS_HERE, temp);
	return -1;
}

int
user_file_write(const struct user_file *f, struct span text, char **why)
{
	uint64_t r;
	char *temp;
	int rc;

	if (check_owner(f, why) < 0)
		return -1;
	if (os_random(&r, sizeof r) < 0)
		return fail_why(why, "the system has no random bytes");
	temp = xasprintf("%s.new-%016" PRIx64, f->target, r);
	rc = replace(f, temp, text, why);
	free(temp);
	return rc;
}

int
user_file_new(const char *path, struct span text, char **why)
{
	return make_file(path, text, NULL) < 0 ? failed(why) : 0;
}

/* --- backups --- */

static char *
backup_name(const char *path, unsigned i)
{
	return i == 1 ? xasprintf("%s" BACKUP, path) :
			xasprintf("%s" BACKUP ".%u", path, i);
}

/* Returns the number of the newest backup; 0: there is none. Numbers below it
 * may be free: another run of the program has removed its own. */
static unsigned
newest(const char *path)
{
	unsigned i = BOUND_WRAP_BACKUPS;
	struct os_file is;
	char *name;
	bool there = false;

	for (; i > 0 && !there; i -= !there) {
		name = backup_name(path, i);
		there = os_file_look_at(OS_HERE, name, false, &is) == 0;
		free(name);
	}
	return i;
}

char *
user_file_backup(const char *path)
{
	unsigned n = newest(path);

	return n == 0 ? NULL : backup_name(path, n);
}

/* Like user_file_read. Anybody who can write to the folder, or who wrote the
 * archive or the repository that it came from, could have put a link or a pipe
 * there, so what it is counts before it is opened. 1: there is none. */
static int
read_backup(struct user_file *f, const char *name, size_t max, char **why)
{
	bool is_there;

	*f = (struct user_file){ .path = xstrdup(name),
		.target = xstrdup(name) };
	if (os_file_look_at(OS_HERE, name, false, &f->is) < 0) {
		is_there = errno != ENOENT;
		(void)failed(why);
		return is_there ? -1 : 1;
	}
	if (check_kind(&f->is, why) < 0 ||
	    read_content(name, max, &f->is, &f->text, why) < 0)
		return -1;
	return check_kind(&f->is, why);
}

/* Has the backup of this name the same content? */
static bool
is_same(const char *name, const struct user_file *f)
{
	struct user_file other;
	char *why = NULL;
	bool same = read_backup(&other, name, f->text.n, &why) == 0 &&
	    span_eq(buf_span(&other.text), buf_span(&f->text));

	user_file_free(&other);
	free(why);
	return same;
}

/* Makes a backup that is the newest. Returns its path, or NULL with *why. */
static char *
add_backup(const struct user_file *f, char **why)
{
	unsigned n = newest(f->path);
	char *name = backup_name(f->path, n + 1);

	if (n == BOUND_WRAP_BACKUPS)
		*why = xstrdup("it has too many backups; remove some");
	else if (make_file(name, buf_span(&f->text), f->target) == 0)
		return name;
	else
		*why = xasprintf("its backup %s cannot be written: %s", name,
		    strerror(errno));
	free(name);
	return NULL;
}

char *
user_file_keep(const struct user_file *f, char **why)
{
	unsigned n = newest(f->path);
	char *name;

	if (check_owner(f, why) < 0)
		return NULL;
	name = backup_name(f->path, n);
	if (n > 0 && is_same(name, f))
		return name;
	free(name);
	return add_backup(f, why);
}

/* Reads the newest backup that can be put back, from number n on. */
static int
find_usable(struct user_file *old, unsigned n, size_t max,
    const struct user_file *now, user_file_check *check, void *arg, char **why)
{
	char *reason = NULL, *name = NULL;
	int rc = 1;

	for (; rc > 0 && n > 0; n--) {
		free(name);
		free(reason);
		reason = NULL;
		user_file_free(old);
		name = backup_name(now->path, n);
		rc = read_backup(old, name, max, &reason);
		if (rc == 0)
			rc = check(now->path, buf_span(&old->text),
			    buf_span(&now->text), arg, &reason);
	}
	if (rc != 0)
		*why = name == NULL ?
		    xstrdup("it has no backup") :
		    xasprintf("its backup %s cannot be used: %s", name, reason);
	free(reason);
	free(name);
	return rc == 0 ? 0 : -1;
}

/* A link may lead anywhere: what it leads to is replaced only if it is such a
 * configuration. */
static int
check_link(const struct user_file *f, user_file_check *check, void *arg,
    char **why)
{
	struct os_file is;
	char *reason = NULL;

	if (os_file_look_at(OS_HERE, f->path, false, &is) < 0)
		return failed(why);
	if (is.kind != OS_LINK ||
	    check(f->path, buf_span(&f->text), no_span, arg, &reason) == 0)
		return 0;
	*why = xasprintf("it leads to %s, which is not replaced: %s", f->target,
	    reason);
	free(reason);
	return -1;
}

/* Exchanges the contents. Each is in a file at each moment: what is there now
 * becomes one more backup, which at last takes the place of the old one, if that
 * is the last. Else, or if that fails, it stays what it is, the newest. */
static int
exchange(const struct user_file *now, const struct user_file *old,
    const char *last, char **why)
{
	char *kept = add_backup(now, why), *changed = NULL;
	int rc;

	if (kept == NULL)
		return -1;
	rc = user_file_write(now, buf_span(&old->text), why);
	if (rc == 0 && is_same(last, old))
		(void)os_file_rename(OS_HERE, kept, last);
	/* else a run that has changed it may count on this backup */
	if (rc < 0 && check_unchanged(now, now->target, &changed) == 0)
		os_file_remove(OS_HERE, kept);
	free(changed);
	free(kept);
	return rc;
}

int
user_file_restore(const char *path, size_t max, user_file_check *check,
    void *arg, char **why)
{
	struct user_file now, old = { 0 };
	unsigned n = newest(path);
	char *last = backup_name(path, n);
	int rc = -1;

	if (user_file_read(&now, path, max, why) == 0 &&
	    check_owner(&now, why) == 0 &&
	    check_link(&now, check, arg, why) == 0 &&
	    find_usable(&old, n, max, &now, check, arg, why) == 0)
		rc = exchange(&now, &old, last, why);
	user_file_free(&now);
	user_file_free(&old);
	free(last);
	return rc;
}
