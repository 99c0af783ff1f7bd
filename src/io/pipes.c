/*
 * stdin and stdout. The host decides what they are, and may share them with
 * others, so their flags are left alone: stdin is read once per readiness,
 * which cannot block; stdout is written through a description of our own, or
 * with a flag per call, if the system has that.
 *
 * Invariants: no callback runs inside a function of pipes.h, all come from the
 * loop or from deferred work; the queue holds a reference to each frame that is
 * not wholly written; once stdout is broken the queue stays empty.
 */
#include "config.h"

#include "io/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* the loop ignores SIGPIPE */
#endif

#define IN_CHUNK 65536
#define OUT_FRAMES 64 /* per system call; every system takes this many */
/* After this many bytes the other descriptors are served. */
#define OUT_TURN 1048576
/* The memory of a frame in the queue without its text: the struct, two slots of
 * the ring, and the allocator's overhead. */
#define FRAME_BYTES                                                            \
	(sizeof(struct frame) + 2 * sizeof(struct frame *) + MEM_OVERHEAD)
/* An emptied queue keeps this many slots. */
#define RING_KEPT 4096
/* A write of this size does not block if poll reports that a pipe or terminal
 * is writable. */
#define OUT_CAREFUL_BYTES _POSIX_PIPE_BUF
/* How often a descriptor is polled that the event backend refuses to watch. */
#define RETRY_MS 20

enum out_way {
	OUT_DIRECT, /* regular files, /dev/null: a write may block, briefly */
	OUT_SEND,   /* sockets: non-blocking by a flag of each call */
	OUT_OWN,    /* non-blocking, in a description of our own */
	OUT_FLAG,   /* O_NONBLOCK is set, and taken back at the end */
	OUT_CAREFUL /* blocking: each write is small enough after a poll */
};

struct pipes {
	struct loop *l;
	struct pipes_ops ops;
	void *arg;

	int in;
	bool in_by_turns; /* in_timer polls it, because the backend cannot watch
			   * it */
	bool paused;
	bool ended;
	struct loop_fd *in_watch;
	struct loop_timer *in_timer;

	int out;
	enum out_way way;
	int flags;     /* of out before O_NONBLOCK was set, for OUT_FLAG */
	bool for_user; /* stdout is a file or a terminal */
	bool broken;
	bool above;   /* high was called, low was not yet */
	bool put_off; /* pipes_on_turn_end is deferred */
	bool waiting; /* stdout takes no more for now */
	struct loop_fd *out_watch;
	struct loop_fd *gone_watch;
	struct loop_timer *out_timer;

	struct frame **ring; /* cap is a power of two */
	size_t head, n, cap;
	size_t written; /* bytes written of the first frame */
	size_t queued;  /* bytes still to write */
	size_t high, low;

	struct loop_timer *flush_timer;
	bool flushing;
	int64_t flush_ms;
	loop_cb *flush_done;
	void *flush_arg;

	char chunk[IN_CHUNK];
};

/* Returns the state of one descriptor as poll reports it now. */
static int
poll_now(int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	return poll(&pfd, 1, 0) == 1 ? pfd.revents : 0;
}

/*
 * stdin
 */

static void
in_unwatch(struct pipes *p)
{
	loop_fd_free(p->in_watch);
	p->in_watch = NULL;
	loop_timer_set(p->in_timer, -1);
}

/* Reads once: one read after readiness does not block, even on a blocking
 * descriptor. */
static void
in_read(struct pipes *p)
{
	ssize_t got;

	got = read(p->in, p->chunk, sizeof p->chunk);
	if (got > 0) {
		p->ops.chunk(p->chunk, (size_t)got, p->arg);
		return;
	}
	if (got == -1 &&
	    (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	if (got == -1)
		log_warn("cannot read stdin: %s", strerror(errno));
	p->ended = true;
	in_unwatch(p);
	p->ops.eof(p->arg);
}

static void
pipes_on_in(int fd, int what, void *arg)
{
	(void)fd;
	(void)what;
	in_read(arg);
}

static void
pipes_on_in_turn(void *arg)
{
	struct pipes *p = arg;

	/* For a closed descriptor, read has to report the error. */
	if (p->in >= 0 && poll_now(p->in, POLLIN) == 0) {
		loop_timer_set(p->in_timer, RETRY_MS);
		return;
	}
	/* Set before reading: the callbacks may pause or end it. */
	loop_timer_set(p->in_timer, 0);
	in_read(p);
}

/* Can the event backend watch this descriptor? Some backends refuse regular
 * files and /dev/null at once, some only when they wait, and kqueue does not
 * report the end of a file. All of these are always ready. */
static bool
in_watchable(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	    (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || isatty(fd));
}

static void
in_start(struct pipes *p)
{
	if (!p->in_by_turns)
		p->in_watch = loop_fd_new(p->l, p->in, LOOP_READ, pipes_on_in,
		    p);
	if (p->in_watch == NULL) {
		p->in_by_turns = true;
		loop_timer_set(p->in_timer, 0);
	}
}

void
pipes_pause(struct pipes *p, bool paused)
{
	if (p->ended || p->paused == paused)
		return;
	p->paused = paused;
	if (paused)
		in_unwatch(p);
	else
		in_start(p);
}

/*
 * The queue
 */

static void
queue_push(struct pipes *p, struct frame *f)
{
	struct frame **ring;
	size_t cap, i;

	if (p->n == p->cap) {
		cap = p->cap == 0 ? 64 : p->cap * 2;
		ring = xcalloc(cap, sizeof *ring);
		for (i = 0; i < p->n; i++)
			ring[i] = p->ring[(p->head + i) & (p->cap - 1)];
		free(p->ring);
		p->ring = ring;
		p->head = 0;
		p->cap = cap;
	}
	p->ring[(p->head + p->n) & (p->cap - 1)] = frame_ref(f);
	p->n++;
	p->queued += f->text.n + 1;
}

static void
queue_pop(struct pipes *p)
{
	frame_unref(p->ring[p->head]);
	p->head = (p->head + 1) & (p->cap - 1);
	p->n--;
}

/* Frees the slots of a long queue that is empty now. */
static void
queue_shrink(struct pipes *p)
{
	if (p->cap <= RING_KEPT)
		return;
	free(p->ring);
	p->ring = NULL;
	p->head = p->cap = 0;
}

/* Removes n written bytes from the queue. */
static void
queue_written(struct pipes *p, size_t n)
{
	size_t size;

	p->queued -= n;
	n += p->written;
	while (p->n > 0 && n >= (size = p->ring[p->head]->text.n + 1)) {
		n -= size;
		queue_pop(p);
	}
	p->written = n;
}

static void
queue_drop(struct pipes *p)
{
	while (p->n > 0)
		queue_pop(p);
	p->written = 0;
	p->queued = 0;
}

/* Collects the next bytes of the queue, at most limit. A frame and its LF lie
 * side by side. */
static size_t
queue_gather(const struct pipes *p, struct iovec *v, size_t limit)
{
	const struct frame *f;
	size_t i, skip = p->written, part;

	for (i = 0; i < p->n && i < OUT_FRAMES && limit > 0; i++) {
		f = p->ring[(p->head + i) & (p->cap - 1)];
		part = f->text.n + 1 - skip;
		if (part > limit)
			part = limit;
		/* iov_base lacks const only because readv uses it too. */
		v[i].iov_base = (void *)(uintptr_t)(f->text.p + skip);
		v[i].iov_len = part;
		limit -= part;
		skip = 0;
	}
	return i;
}

/*
 * stdout
 */

static ssize_t
out_write_some(const struct pipes *p, size_t limit)
{
	struct iovec v[OUT_FRAMES];
	struct msghdr m;
	unsigned short n; /* msg_iovlen is an int, or a size_t with glibc */

	if (p->way == OUT_CAREFUL && limit > OUT_CAREFUL_BYTES)
		limit = OUT_CAREFUL_BYTES;
	n = (unsigned short)queue_gather(p, v, limit);
	if (p->way != OUT_SEND)
		return writev(p->out, v, n);
	memset(&m, 0, sizeof m);
	m.msg_iov = v;
	m.msg_iovlen = n;
	return sendmsg(p->out, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Writes until the queue is empty, stdout takes no more, or this turn's share
 * is used up. OUT_DIRECT has no share, because nothing can watch it. Returns -1
 * with errno if stdout is broken. */
static int
out_write(struct pipes *p)
{
	size_t share = OUT_TURN;
	ssize_t n;

	while (p->n > 0 && share > 0) {
		if (p->way == OUT_CAREFUL && poll_now(p->out, POLLOUT) == 0)
			break;
		n = out_write_some(p, share);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno != EAGAIN && errno != EWOULDBLOCK)
			return -1;
		if (n <= 0)
			break;
		queue_written(p, (size_t)n);
		if (p->way != OUT_DIRECT)
			share -= (size_t)n;
	}
	return 0;
}

static void
out_unwait(struct pipes *p)
{
	loop_fd_free(p->out_watch);
	p->out_watch = NULL;
	loop_timer_set(p->out_timer, -1);
	p->waiting = false;
}

static void
pipes_on_flushed(void *arg)
{
	struct pipes *p = arg;

	p->flush_done(p->flush_arg);
}

/* Calls the done of pipes_flush at the end of the turn. */
static void
flush_end(struct pipes *p)
{
	if (!p->flushing)
		return;
	p->flushing = false;
	loop_timer_set(p->flush_timer, -1);
	loop_defer(p->l, pipes_on_flushed, p);
}

static void
out_break(struct pipes *p, int error)
{
	p->broken = true;
	if (error == EPIPE)
		log_debug("stdout was closed by its reader");
	else
		log_error("cannot write to stdout: %s", strerror(error));
	queue_drop(p);
	out_unwait(p);
	loop_fd_free(p->gone_watch);
	p->gone_watch = NULL;
	flush_end(p);
	p->ops.broken(error, p->arg);
}

/* Compares the queue with high and low when a turn is over, so that frames
 * written in the same turn do not count. */
static void
out_marks(struct pipes *p)
{
	if (p->n == 0) {
		queue_shrink(p);
		flush_end(p);
	}
	if (!p->above && pipes_memory(p) > p->high) {
		p->above = true;
		p->ops.high(p->arg);
	} else if ((p->above || p->paused) && pipes_memory(p) <= p->low) {
		p->above = false;
		p->ops.low(p->arg);
	}
}

static void out_pump(struct pipes *p);

static void
pipes_on_out(int fd, int what, void *arg)
{
	(void)fd;
	(void)what;
	out_pump(arg);
}

static void
pipes_on_out_retry(void *arg)
{
	struct pipes *p = arg;

	p->waiting = false;
	out_pump(p);
}

/* Has out_pump called again when stdout takes more. */
static void
out_wait(struct pipes *p)
{
	if (p->waiting)
		return;
	p->waiting = true;
	if (p->way != OUT_DIRECT)
		p->out_watch = loop_fd_new(p->l, p->out, LOOP_WRITE,
		    pipes_on_out, p);
	if (p->out_watch == NULL)
		loop_timer_set(p->out_timer, RETRY_MS);
}

/* Writes as much as possible, and waits for stdout if frames are left. */
static void
out_pump(struct pipes *p)
{
	size_t before = p->queued;

	if (out_write(p) == -1) {
		out_break(p, errno);
		return;
	}
	if (p->flushing && p->queued < before)
		loop_timer_set(p->flush_timer, p->flush_ms);
	if (p->n > 0)
		out_wait(p);
	else
		out_unwait(p);
	out_marks(p);
}

static void
pipes_on_turn_end(void *arg)
{
	struct pipes *p = arg;

	p->put_off = false;
	if (p->broken)
		return;
	if (p->waiting)
		out_marks(p);
	else
		out_pump(p);
}

void
pipes_write(struct pipes *p, struct frame *f)
{
	if (p->broken)
		return;
	queue_push(p, f);
	if (p->put_off)
		return;
	p->put_off = true;
	loop_defer(p->l, pipes_on_turn_end, p);
}

size_t
pipes_queued(const struct pipes *p)
{
	return p->queued;
}

size_t
pipes_memory(const struct pipes *p)
{
	return p->queued + p->n * FRAME_BYTES;
}

static void
pipes_on_flush_timer(void *arg)
{
	flush_end(arg);
}

/* A second call replaces the first, whose done is not called. */
void
pipes_flush(struct pipes *p, int64_t ms, loop_cb *done, void *arg)
{
	loop_undefer(p->l, pipes_on_flushed, p);
	p->flushing = true;
	p->flush_done = done;
	p->flush_arg = arg;
	p->flush_ms = ms < 0 ? 0 : ms;
	if (p->n == 0)
		flush_end(p);
	else
		loop_timer_set(p->flush_timer, p->flush_ms);
}

/*
 * Which way to write
 */

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
out_set_flag(struct pipes *p, const struct stat *st)
{
	p->way = OUT_CAREFUL;
	if (is_same(st, STDERR_FILENO))
		return;
	p->flags = fcntl(p->out, F_GETFL);
	if (p->flags == -1 ||
	    fcntl(p->out, F_SETFL, p->flags | O_NONBLOCK) == -1)
		return;
	p->way = OUT_FLAG;
}

/* Decides how to write to fd. */
static void
out_open(struct pipes *p, int fd)
{
	struct stat st;
	char path[256];
	int own = -1;
	bool tty;

	p->out = fd;
	p->way = OUT_DIRECT;
	if (fstat(fd, &st) == -1)
		return;
	tty = isatty(fd);
	p->for_user = tty || S_ISREG(st.st_mode);
	if (S_ISSOCK(st.st_mode))
		p->way = OUT_SEND;
	if (!tty && !S_ISFIFO(st.st_mode))
		return;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!tty || ttyname_r(fd, path, sizeof path) == 0)
		own = out_reopen(fd, path);
	if (own != -1) {
		p->out = own;
		p->way = OUT_OWN;
	} else if (tty) {
		p->way = OUT_CAREFUL;
	} else {
		out_set_flag(p, &st);
	}
}

/* The end of the reader is reported as if there were something to read. Any
 * other event here is not for us: bytes that nobody reads, half of a socket
 * that is shut down, or an error of the system. The watch is removed then, so
 * that it cannot spin. */
static void
pipes_on_gone(int fd, int what, void *arg)
{
	struct pipes *p = arg;

	(void)what;
	if (poll_now(fd, POLLOUT) & (POLLERR | POLLHUP | POLLNVAL)) {
		out_break(p, EPIPE);
		return;
	}
	loop_fd_free(p->gone_watch);
	p->gone_watch = NULL;
}

/* Watches a pipe that is open for writing alone, and a socket: what Node gives
 * to its children. What stdin is, too, has bytes that belong to stdin. */
static void
out_watch_gone(struct pipes *p)
{
	struct stat st;

	if (fstat(p->out, &st) == -1 || is_same(&st, p->in))
		return;
	if (S_ISSOCK(st.st_mode) ||
	    (S_ISFIFO(st.st_mode) &&
		(fcntl(p->out, F_GETFL) & O_ACCMODE) == O_WRONLY))
		p->gone_watch = loop_fd_new(p->l, p->out, LOOP_READ,
		    pipes_on_gone, p);
}

struct pipes *
pipes_new(struct loop *l, int in, int out, size_t high, size_t low,
    const struct pipes_ops *ops, void *arg)
{
	struct pipes *p;

	p = xcalloc(1, sizeof *p);
	p->l = l;
	p->ops = *ops;
	p->arg = arg;
	p->high = high;
	p->low = low;
	p->in = in;
	p->in_by_turns = !in_watchable(in);
	p->in_timer = loop_timer_new(l, pipes_on_in_turn, p);
	p->out_timer = loop_timer_new(l, pipes_on_out_retry, p);
	p->flush_timer = loop_timer_new(l, pipes_on_flush_timer, p);
	out_open(p, out);
	out_watch_gone(p);
	in_start(p);
	return p;
}

bool
pipes_out_is_for_user(const struct pipes *p)
{
	return p->for_user;
}

void
pipes_free(struct pipes *p)
{
	if (p == NULL)
		return;
	loop_undefer(p->l, pipes_on_turn_end, p);
	loop_undefer(p->l, pipes_on_flushed, p);
	loop_fd_free(p->in_watch);
	loop_fd_free(p->out_watch);
	loop_fd_free(p->gone_watch);
	loop_timer_free(p->in_timer);
	loop_timer_free(p->out_timer);
	loop_timer_free(p->flush_timer);
	queue_drop(p);
	free(p->ring);
	if (p->way == OUT_FLAG)
		fcntl(p->out, F_SETFL, p->flags);
	if (p->way == OUT_OWN)
		close(p->out);
	free(p);
}
