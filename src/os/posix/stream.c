/*
 * The host decides what stdin and stdout are, and may share them with others,
 * so their flags are left alone: stdin is read once per readiness, which cannot
 * block; stdout is written through a description of our own, or with a flag per
 * call, if the system has that.
 */
#include "config.h"

#include "os/stream.h"

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/memory.h"
#include "os/posix/ends.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* the loop ignores SIGPIPE */
#endif

/* A write of this size does not block if poll reports that a pipe or terminal
 * is writable. */
#define OUT_CAREFUL_BYTES _POSIX_PIPE_BUF

enum out_way {
	OUT_DIRECT, /* regular files, /dev/null: a write may block, briefly */
	OUT_SEND,   /* sockets: non-blocking by a flag of each call */
	OUT_OWN,    /* non-blocking, in a description of our own */
	OUT_FLAG,   /* O_NONBLOCK is set, and taken back at the end */
	OUT_CAREFUL /* blocking: each write is small enough after a poll */
};

struct os_input {
	int fd;
	bool watchable;
	bool own;
};

struct os_output {
	int fd;
	enum out_way way;
	int flags;     /* of fd before O_NONBLOCK was set, for OUT_FLAG */
	bool for_user; /* it is a file or a terminal */
	bool tells_end;
};

/* Every system takes this many. */
enum { PARTS = 64 };

const size_t os_output_parts = PARTS;
const int os_output_event = OS_TO_WRITE;

/* Returns the state of one descriptor as poll reports it now. */
static int
poll_now(int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	return poll(&pfd, 1, 0) == 1 ? pfd.revents : 0;
}

/* --- input --- */

/* Can the event backend watch this descriptor? Some backends refuse regular
 * files and /dev/null at once, some only when they wait, and kqueue does not
 * report the end of a file. All of these are always ready. */
static bool
is_watchable(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	    (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || isatty(fd));
}

struct os_input *
os_input_open(int fd)
{
	struct os_input *in = os_sure(calloc(1, sizeof *in));

	in->fd = fd;
	in->watchable = is_watchable(fd);
	return in;
}

struct os_input *
os_input_of(int fd)
{
	struct os_input *in = os_sure(calloc(1, sizeof *in));

	*in = (struct os_input){ fd, true, true };
	return in;
}

int
os_input_stream(const struct os_input *in)
{
	return in->watchable ? in->fd : -1;
}

/* For a closed descriptor, read has to report the error. */
bool
os_input_ready(const struct os_input *in)
{
	return in->fd < 0 || poll_now(in->fd, POLLIN) != 0;
}

/* One read after readiness does not block, even on a blocking descriptor. */
int64_t
os_input_read(struct os_input *in, void *p, size_t n)
{
	ssize_t got = read(in->fd, p, n);

	if (got == -1 && (errno == EINTR || errno == EWOULDBLOCK))
		errno = EAGAIN;
	return got;
}

void
os_input_close(struct os_input *in)
{
	if (in != NULL && in->own)
		close(in->fd);
	free(in);
}

/* --- output --- */

static ssize_t
write_once(const struct os_output *o, const struct os_part *parts, size_t n)
{
	size_t limit = o->way == OUT_CAREFUL ? OUT_CAREFUL_BYTES : SIZE_MAX;
	struct iovec v[PARTS];
	struct msghdr m;
	unsigned short i; /* msg_iovlen is an int, or a size_t with glibc */

	for (i = 0; i < n && i < PARTS && limit > 0; i++) {
		/* iov_base lacks const only because readv uses it too. */
		v[i].iov_base = (void *)(uintptr_t)parts[i].p;
		v[i].iov_len = parts[i].n < limit ? parts[i].n : limit;
		limit -= v[i].iov_len;
	}
	if (o->way != OUT_SEND)
		return writev(o->fd, v, i);
	memset(&m, 0, sizeof m);
	m.msg_iov = v;
	m.msg_iovlen = i;
	return sendmsg(o->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int64_t
os_output_write(struct os_output *o, const struct os_part *parts, size_t n)
{
	ssize_t done;

	if (o->way == OUT_CAREFUL && poll_now(o->fd, POLLOUT) == 0)
		return 0;
	do
		done = write_once(o, parts, n);
	while (done == -1 && errno == EINTR);
	return done == -1 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 :
									 done;
}

int
os_output_stream(const struct os_output *o)
{
	return o->way == OUT_DIRECT ? -1 : o->fd;
}

bool
os_output_is_for_user(const struct os_output *o)
{
	return o->for_user;
}

/* The end of the reader is reported as if there were something to read. Any
 * other event here is not for us: bytes that nobody reads, half of a socket
 * that is shut down, or an error of the system. */
int
os_output_end_stream(const struct os_output *o)
{
	return o->tells_end ? o->fd : -1;
}

bool
os_output_has_no_reader(const struct os_output *o)
{
	return (poll_now(o->fd, POLLOUT) & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

/* Opens the file of fd again, non-blocking. Returns -1 unless that gives the
 * same file in a new description: some systems only duplicate the
 * descriptor. */
static int
out_reopen(int fd, const char *path)
{
	struct stat was, is;
	int own, flags;

	own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own == -1)
		return -1;
	flags = fcntl(own, F_GETFL);
	if (flags != -1 && (flags & O_NONBLOCK) && fstat(fd, &was) == 0 &&
	    fstat(own, &is) == 0 && was.st_dev == is.st_dev &&
	    was.st_ino == is.st_ino && was.st_rdev == is.st_rdev)
		return own;
	close(own);
	return -1;
}

static bool
is_same(const struct stat *st, int fd)
{
	struct stat other;

	return fstat(fd, &other) == 0 && st->st_dev == other.st_dev &&
	    st->st_ino == other.st_ino;
}

/* The last resort for a pipe: O_NONBLOCK, which all holders of the pipe share.
 * It is not used if stderr is the same pipe, because other writers to stderr
 * would lose lines. */
static void
out_set_flag(struct os_output *o, const struct stat *st)
{
	o->way = OUT_CAREFUL;
	if (is_same(st, STDERR_FILENO))
		return;
	o->flags = fcntl(o->fd, F_GETFL);
	if (o->flags == -1 ||
	    fcntl(o->fd, F_SETFL, o->flags | O_NONBLOCK) == -1)
		return;
	o->way = OUT_FLAG;
}

/* Decides how to write to fd. */
static void
choose_way(struct os_output *o, int fd)
{
	struct stat st;
	char path[256];
	int own = -1;
	bool tty;

	o->fd = fd;
	o->way = OUT_DIRECT;
	if (fstat(fd, &st) == -1)
		return;
	tty = isatty(fd);
	o->for_user = tty || S_ISREG(st.st_mode);
	if (S_ISSOCK(st.st_mode))
		o->way = OUT_SEND;
	if (!tty && !S_ISFIFO(st.st_mode))
		return;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!tty || ttyname_r(fd, path, sizeof path) == 0)
		own = out_reopen(fd, path);
	if (own != -1) {
		o->fd = own;
		o->way = OUT_OWN;
	} else if (tty) {
		o->way = OUT_CAREFUL;
	} else {
		out_set_flag(o, &st);
	}
}

/* A pipe that is open only for writing, and a socket: what Node gives to its
 * children. If it is also the input, its bytes belong to the input. */
static bool
tells_end(int fd, int in)
{
	struct stat st;

	if (fstat(fd, &st) == -1 || is_same(&st, in))
		return false;
	return S_ISSOCK(st.st_mode) ||
	    (S_ISFIFO(st.st_mode) &&
		(fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY);
}

struct os_output *
os_output_open(int fd, int in)
{
	struct os_output *o = os_sure(calloc(1, sizeof *o));

	choose_way(o, fd);
	o->tells_end = tells_end(o->fd, in);
	return o;
}

struct os_output *
os_output_of(int fd)
{
	struct os_output *o = os_sure(calloc(1, sizeof *o));

	o->fd = fd;
	o->way = OUT_OWN;
	return o;
}

void
os_output_close(struct os_output *o)
{
	if (o == NULL)
		return;
	if (o->way == OUT_FLAG)
		fcntl(o->fd, F_SETFL, o->flags);
	if (o->way == OUT_OWN)
		close(o->fd);
	free(o);
}
