/*
 * A connection reads until the caller has a reply, writes it, and waits for the
 * peer to close first: the side that closes first keeps the port busy for a
 * minute, and without SO_REUSEADDR the next login could not use it. For the
 * same reason a connection without a reply is reset, not closed.
 *
 * A new connection replaces the one that has been silent for the longest time:
 * browsers open connections ahead of need, and an attacker may open many and
 * stay silent; these must not keep out the connection that brings the answer.
 *
 * Invariants: the port is watched while it is open and a connection is free or
 * silent; a connection makes no further callback once it has a reply; a
 * listener that was freed lives until its last connection is gone.
 */
#include "config.h"

#include "io/listener.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/queue.h"
#include "os/network.h"

enum {
	CHUNK = 4096,
	BACKLOG = 16,
	SHORT_BYTES = 16 * 1024,
	/* The wait if no descriptor is left. */
	PAUSE_MS = 100,
	/* Ports that are tried until one is free at both addresses. */
	TRIES = 8
};

/* The addresses that a browser may take "localhost" for. */
enum { IPV4, IPV6, ADDRESSES };

struct conn {
	struct conn *next, *prev;
	struct listener *listener;
	int fd;
	struct loop_fd *watch;
	struct loop_timer *timer;
	int64_t deadline;
	struct buf request, reply;
	size_t written; /* bytes of reply */
	bool called;    /* the callback is running */
	bool replying;
	bool waiting; /* the socket takes no more for now */
	bool replied; /* all of reply was written */
};

struct listener {
	struct listener *next; /* next freed listener */
	struct loop *l;
	struct listener_config config;
	listener_cb *cb;
	void *arg;
	int fds[ADDRESSES]; /* -1: closed; IPV6 may be -1 from the start */
	unsigned port;
	bool named; /* nobody else has the port at one of the addresses */
	struct loop_fd *watches[ADDRESSES];
	struct loop_timer *pause;
	struct conn *first, *last;
	unsigned n;
	bool ended, linger;
};

/* Freed listeners that still write; the process may end before they do. */
static struct listener *ended;

static void on_port(int fd, int what, void *arg);

/* Returns the oldest connection that is silent or has its reply; NULL: all are
 * busy. */
static struct conn *
oldest_idle(const struct listener *s)
{
	struct conn *c, *oldest = NULL;

	for (c = s->first; c != NULL; c = c->next)
		if (!c->called && (!c->replying || c->replied))
			oldest = c;
	return oldest;
}

static void
unwatch_port(struct listener *s)
{
	size_t i;

	for (i = 0; i < ADDRESSES; i++) {
		loop_fd_free(s->watches[i]);
		s->watches[i] = NULL;
	}
}

/* Watches the port while a connection is free or can be replaced. If a watch
 * fails, a timer tries again. */
static void
watch_port(struct listener *s)
{
	size_t i;

	if (s->n >= s->config.max_conns && oldest_idle(s) == NULL) {
		unwatch_port(s);
		return;
	}
	for (i = 0; i < ADDRESSES; i++) {
		if (s->fds[i] == -1 || s->watches[i] != NULL)
			continue;
		s->watches[i] = loop_fd_new(s->l, s->fds[i], LOOP_READ, on_port,
		    s);
		if (s->watches[i] == NULL)
			loop_timer_set(s->pause, PAUSE_MS);
	}
}

static void
on_pause(void *arg)
{
	watch_port(arg);
}

static void
listener_destroy(struct listener *s)
{
	struct listener **at;

	for (at = &ended; *at != NULL; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
	loop_timer_free(s->pause);
	free(s);
}

/* Frees a connection. It may free the listener too. */
static void
conn_free(struct conn *c)
{
	struct listener *s = c->listener;

	QUEUE_REMOVE(s, c);
	s->n--;
	os_socket_reset(c->fd, !c->replied);
	loop_fd_free(c->watch);
	loop_timer_free(c->timer);
	os_socket_close(c->fd);
	buf_wipe(&c->request);
	buf_wipe(&c->reply);
	free(c);
	if (s->ended && s->n == 0)
		listener_destroy(s);
	else
		watch_port(s);
}

static void
on_late(void *arg)
{
	conn_free(arg);
}

/* Limits the rest of the connection's time to ms; never extends it. */
static void
limit(struct conn *c, int64_t ms)
{
	int64_t now = loop_now(c->listener->l);

	if (now + ms >= c->deadline)
		return;
	c->deadline = now + ms;
	loop_timer_set(c->timer, ms);
}

static void on_conn(int fd, int what, void *arg);

static void
watch_conn(struct conn *c, int what)
{
	loop_fd_free(c->watch);
	c->watch = loop_fd_new(c->listener->l, c->fd, what, on_conn, c);
	if (c->watch == NULL)
		conn_free(c);
}

/* If this process ended before a slow browser closes, the kernel would close
 * for it and leave the port in TIME_WAIT. A reset avoids that. Linux still
 * gives the reader the bytes that arrived before the reset, and on one machine
 * a short reply has arrived by now. */
static void
spare_port(struct conn *c)
{
	if (os_reset_keeps_bytes && c->reply.n <= SHORT_BYTES)
		os_socket_reset(c->fd, true);
}

/* Writes as much as the socket takes. After the last byte the peer has to
 * close. */
static void
write_reply(struct conn *c)
{
	int64_t n;

	while (c->written < c->reply.n) {
		n = os_socket_write(c->fd, c->reply.p + c->written,
		    c->reply.n - c->written);
		if (n == -1 && errno == EAGAIN) {
			if (!c->waiting) {
				c->waiting = true;
				watch_conn(c, LOOP_WRITE);
			}
			return;
		}
		if (n == -1) {
			conn_free(c);
			return;
		}
		c->written += (size_t)n;
	}
	c->replied = true;
	spare_port(c);
	limit(c, BOUND_END_MS);
	watch_conn(c, LOOP_READ);
}

/* Passes the bytes so far to the caller, which may free the listener. A reply
 * is written at once, because the process may be about to end. */
static void
call(struct conn *c)
{
	struct listener *s = c->listener;

	c->called = true;
	c->replying = s->cb(buf_span(&c->request), &c->reply, s->arg);
	c->called = false;
	if (!c->replying && !s->ended)
		return;
	if (c->reply.n == 0 || !c->replying || (s->ended && !s->linger)) {
		conn_free(c);
		return;
	}
	if (s->ended)
		limit(c, BOUND_END_MS);
	write_reply(c);
}

/* Reads once. After the reply, reading only empties the socket: closing a
 * socket with unread bytes would reset the connection, and the reply could be
 * lost. */
static void
read_request(struct conn *c)
{
	char part[CHUNK];
	int64_t n;

	n = os_socket_read(c->fd, part, sizeof part);
	if (n == -1 && errno == EAGAIN)
		return;
	if (n <= 0) {
		conn_free(c);
		return;
	}
	if (c->replying)
		return;
	if (buf_add(&c->request, part, (size_t)n) == -1) {
		conn_free(c);
		return;
	}
	call(c);
}

static void
on_conn(int fd, int what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	(void)what;
	if (c->replying && !c->replied)
		write_reply(c);
	else
		read_request(c);
}

static void
conn_new(struct listener *s, int fd)
{
	struct conn *c = xcalloc(1, sizeof *c);

	c->listener = s;
	c->fd = fd;
	buf_init(&c->request, s->config.max_request);
	buf_init(&c->reply, 0);
	c->timer = loop_timer_new(s->l, on_late, c);
	c->deadline = loop_now(s->l) + s->config.conn_ms;
	loop_timer_set(c->timer, s->config.conn_ms);
	QUEUE_ADD_FIRST(s, c);
	s->n++;
	watch_conn(c, LOOP_READ);
}

/* Accepts a connection. A port that stays readable but gives none must not
 * spin. */
static void
on_port(int fd, int what, void *arg)
{
	struct listener *s = arg;
	struct conn *old;
	int got;

	(void)what;
	if (s->n == s->config.max_conns) {
		old = oldest_idle(s);
		if (old == NULL) {
			watch_port(s);
			return;
		}
		conn_free(old);
	}
	got = os_accept(fd);
	if (got != -1) {
		conn_new(s, got);
		watch_port(s);
	} else if (errno != EAGAIN) {
		unwatch_port(s);
		loop_timer_set(s->pause, PAUSE_MS);
	}
}

/* Returns 0 if the system does not tell. */
static unsigned
port_of(int fd)
{
	struct os_address a;

	return os_socket_own(fd, &a) ? a.port : 0;
}

static void
close_port(struct listener *s)
{
	int error = errno;
	size_t i;

	unwatch_port(s);
	for (i = 0; i < ADDRESSES; i++) {
		if (s->fds[i] != -1)
			os_socket_close(s->fds[i]);
		s->fds[i] = -1;
	}
	errno = error;
}

/* Takes the port at both addresses; a machine without IPv6 has one of them.
 * Returns 0, or -1 with errno. */
static int
open_port(struct listener *s, unsigned port)
{
	s->fds[IPV6] = -1;
	s->fds[IPV4] = os_listen(false, s->config.everywhere, port, BACKLOG);
	if (s->fds[IPV4] == -1)
		return -1;
	s->port = port_of(s->fds[IPV4]);
	if (s->port == 0) {
		close_port(s);
		return -1;
	}
	s->fds[IPV6] = os_listen(true, s->config.everywhere, s->port, BACKLOG);
	s->named = s->fds[IPV6] != -1 || errno != EADDRINUSE;
	return 0;
}

/* Returns 0, or -1 with errno. */
static int
take_port(struct listener *s)
{
	unsigned tries = s->config.port == 0 ? TRIES : 1;

	if (s->config.port > UINT16_MAX) {
		errno = EINVAL;
		return -1;
	}
	for (;;) {
		if (open_port(s, s->config.port) == -1)
			return -1;
		if (s->named || (--tries == 0 && !s->config.named))
			return 0;
		close_port(s);
		if (tries == 0) {
			errno = EADDRINUSE;
			return -1;
		}
	}
}

struct listener *
listener_new(struct loop *l, const struct listener_config *config,
    listener_cb *cb, void *arg)
{
	struct listener *s = xcalloc(1, sizeof *s);

	s->l = l;
	s->config = *config;
	s->cb = cb;
	s->arg = arg;
	if (take_port(s) == -1) {
		free(s);
		return NULL;
	}
	s->pause = loop_timer_new(l, on_pause, s);
	watch_port(s);
	return s;
}

unsigned
listener_port(const struct listener *s)
{
	return s->port;
}

bool
listener_is_named(const struct listener *s)
{
	return s->named;
}

void
listener_free(struct listener *s, bool linger)
{
	struct conn *c, *next;

	if (s == NULL)
		return;
	close_port(s);
	loop_timer_set(s->pause, -1);
	s->linger = linger;
	s->ended = true;
	s->next = ended;
	ended = s;
	/* Keeps conn_free of the last one from freeing s. */
	s->n++;
	for (c = s->first; c != NULL; c = next) {
		next = c->next;
		if (c->called)
			continue;
		if (linger && c->replying)
			limit(c, BOUND_END_MS);
		else
			conn_free(c);
	}
	s->n--;
	if (s->n == 0)
		listener_destroy(s);
}
