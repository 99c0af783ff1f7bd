/* Files that lines are appended to, and their rotation. */
#include "config.h"

#include "base/append.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Is the open file one of this user that only this user can read? */
static int
make_own(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	if (st.st_uid != geteuid() || st.st_nlink != 1) {
		errno = EPERM;
		return -1;
	}
	return (st.st_mode & 077) == 0 ? 0 : fchmod(fd, 0600);
}

static int
open_file(struct append *a)
{
	int flags = a->own ? O_NOFOLLOW : 0, saved;

	/* O_NONBLOCK: a FIFO that nobody reads must not block the process. */
	a->fd = open(a->path,
	    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
		flags,
	    0600);
	if (a->fd < 0)
		return -1;
	if (!a->own || make_own(a->fd) == 0)
		return 0;
	saved = errno;
	close(a->fd);
	a->fd = -1;
	errno = saved;
	return -1;
}

static void
reopen_file(struct append *a)
{
	close(a->fd);
	open_file(a);
}

/* Does the path still name the open file? Another process may have renamed
 * it. */
static bool
still_there(const struct append *a, const struct stat *ours)
{
	struct stat there;

	return stat(a->path, &there) == 0 && there.st_ino == ours->st_ino &&
	    there.st_dev == ours->st_dev;
}

/* Renames a full file. When several processes see it full, the one that gets
 * the lock renames it. The lock is on the renamed file, so the next process
 * finds that the path names another file and only reopens it. */
static void
rotate(struct append *a)
{
	struct stat st;

	if (fstat(a->fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	if (!still_there(a, &st)) {
		reopen_file(a);
		return;
	}
	if (st.st_size < a->max)
		return;
	if (flock(a->fd, LOCK_EX | LOCK_NB) != 0)
		return;
	if (!still_there(a, &st) || rename(a->path, a->old_path) == 0)
		reopen_file(a); /* closing the file releases the lock */
	else
		flock(a->fd, LOCK_UN);
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
	ssize_t n;

	if (a->fd >= 0)
		rotate(a);
	if (a->fd < 0)
		return -1;
	buf_addc(line, '\n');
	do
		n = write(a->fd, line->p, line->n);
	while (n < 0 && errno == EINTR);
	if (n >= 0 && (size_t)n < line->n)
		errno = ENOSPC;
	line->n--;
	return n < 0 || (size_t)n <= line->n ? -1 : 0;
}

void
append_close(struct append *a)
{
	if (a->fd >= 0)
		close(a->fd);
	free(a->path);
	free(a->old_path);
	*a = (struct append){ .fd = -1 };
}
