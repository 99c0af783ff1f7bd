/* Files that lines are appended to, and their rotation. */
#include "config.h"

#include "base/append.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/file.h"

/* Is the open file one of this user that only this user can read? */
static int
make_own(int fd)
{
	struct os_file f;

	if (os_file_look(fd, &f) != 0)
		return -1;
	if (f.kind != OS_REGULAR) {
		errno = EINVAL;
		return -1;
	}
	if (f.owner != OS_OWN || f.links != 1) {
		errno = EPERM;
		return -1;
	}
	return f.open ? os_file_hide(fd, false) : 0;
}

static int
open_file(struct append *a)
{
	int saved;

	/* a FIFO that nobody reads must not block the process */
	a->fd = os_file_open(OS_HERE, a->path,
	    OS_APPEND | OS_NO_WAIT | (a->own ? OS_NO_LINK : 0));
	if (a->fd < 0)
		return -1;
	if (!a->own || make_own(a->fd) == 0)
		return 0;
	saved = errno;
	os_file_close(a->fd);
	a->fd = -1;
	errno = saved;
	return -1;
}

static void
reopen_file(struct append *a)
{
	os_file_close(a->fd);
	open_file(a);
}

/* Does the path still name the open file? Another process may have renamed
 * it. */
static bool
still_there(const struct append *a, const struct os_file *ours)
{
	struct os_file there;

	return os_file_look_at(OS_HERE, a->path, true, &there) == 0 &&
	    there.id == ours->id && there.device == ours->device;
}

/* Renames a full file. When several processes see it full, the one that gets
 * the lock renames it. The lock is on the renamed file, so the next process
 * finds that the path names another file and only reopens it. */
static void
rotate(struct append *a)
{
	struct os_file f;

	if (os_file_look(a->fd, &f) != 0 || f.kind != OS_REGULAR)
		return;
	if (!still_there(a, &f)) {
		reopen_file(a);
		return;
	}
	if (f.size < a->max)
		return;
	if (os_file_lock(a->fd) != 0)
		return;
	if (!still_there(a, &f) ||
	    os_file_rename(OS_HERE, a->path, a->old_path) == 0)
		reopen_file(a); /* closing the file releases the lock */
	else
		os_file_unlock(a->fd);
}

int
append_open(struct append *a, const char *path, int64_t max, bool own)
{
	a->path = xstrdup(path);
	a->old_path = xasprintf("%s.1", path);
	a->max = max;
	a->own = own;
	return open_file(a);
}

int
append_line(struct append *a, struct buf *line)
{
	int64_t n;

	if (a->fd >= 0)
		rotate(a);
	if (a->fd < 0)
		return -1;
	buf_addc(line, '\n');
	n = os_file_write(a->fd, line->p, line->n);
	if (n >= 0 && (size_t)n < line->n)
		errno = ENOSPC;
	line->n--;
	return n < 0 || (size_t)n <= line->n ? -1 : 0;
}

void
append_close(struct append *a)
{
	if (a->fd >= 0)
		os_file_close(a->fd);
	free(a->path);
	free(a->old_path);
	*a = (struct append){ .fd = -1 };
}
