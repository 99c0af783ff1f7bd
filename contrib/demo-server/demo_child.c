/* The programs that demo_talk starts. */
#include "config.h"

#include "demo_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

pid_t
child_start(char *const *argv, int in, int out, int err)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if ((in != -1 && dup2(in, 0) == -1) ||
	    (out != -1 && dup2(out, 1) == -1) ||
	    (err != -1 && dup2(err, 2) == -1))
		_exit(126);
	execvp(argv[0], argv);
	fprintf(stderr, "demo: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int
child_pipe(int fd[2])
{
	if (pipe(fd) == -1 || fcntl(fd[0], F_SETFD, FD_CLOEXEC) == -1)
		return -1;
	return fcntl(fd[1], F_SETFD, FD_CLOEXEC);
}

void
reader_init(struct reader *r, int fd)
{
	r->fd = fd;
	r->ended = false;
	buf_init(&r->held, 0);
}

bool
reader_fill(struct reader *r, int64_t ms)
{
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	char chunk[8192];
	ssize_t n;

	if (r->ended || poll(&p, 1, ms < 0 ? 0 : (int)ms) <= 0)
		return false;
	n = read(r->fd, chunk, sizeof chunk);
	if (n <= 0)
		r->ended = true;
	else
		buf_add(&r->held, chunk, (size_t)n);
	return n > 0;
}

char *
reader_line(struct reader *r)
{
	char *lf, *line;
	size_t n;

	lf = r->held.n == 0 ? NULL : memchr(r->held.p, '\n', r->held.n);
	if (lf == NULL)
		return NULL;
	n = (size_t)(lf - r->held.p);
	line = xstrndup(r->held.p, n);
	r->held.n -= n + 1;
	memmove(r->held.p, lf + 1, r->held.n);
	return line;
}
