/*
 * The multi handles, driven by their socket and timer callbacks.
 *
 * Transfers start in the first of the multi handles only; each of the others
 * runs a transfer, or is freed by the next connections_work.
 */
#include "config.h"

#include "io/connections.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

/* One descriptor of libcurl. When a transfer ends, libcurl no longer asks for
 * its connection to be watched. It is watched on as idle, because the next
 * transfer wants the same. */
struct watch {
	struct connections *c;
	struct multi *m;    /* NULL: libcurl has not asked for it yet */
	struct loop_fd *fd; /* NULL: it is not watched */
	int what;
	bool is_connection; /* connections_closed will tell its end */
	bool idle;          /* libcurl does not ask for it */
};

/* A multi handle: transfers and the connections they share. */
struct multi {
	struct connections *c;
	struct multi *next; /* the multi handle before this one */
	CURLM *curl;
	struct loop_timer *timer; /* the timer that libcurl asks for */
	long timer_ms;            /* what libcurl asked for last; -1: none */
	bool timer_changed;
	struct loop_timer *next_address; /* after an attempt was given up */
	unsigned running;                /* number of transfers */
};

struct connections {
	struct loop *l;
	struct multi *multis; /* new transfers start in the first one */
	long max;
	bool http2;
	connections_ended *ended;
	connections_spoke *spoke;
	void *spoke_arg;
	struct watch **watches; /* by descriptor; NULL: there is none */
	size_t descriptors;     /* number of elements */
};

/* Only notes the time: libcurl changes it several times per request. */
static int
on_timer_wanted(CURLM *curl, long ms, void *arg)
{
	struct multi *m = arg;

	(void)curl;
	m->timer_ms = ms;
	m->timer_changed = true;
	return 0;
}

/* Called after each call of libcurl that may have changed something. Removing
 * a transfer frees its message. */
static void
settle(struct multi *m)
{
	CURLMsg *message;
	char *private;
	int left;

	while ((message = curl_multi_info_read(m->curl, &left)) != NULL) {
		if (message->msg != CURLMSG_DONE)
			continue;
		private = NULL;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
		    &private);
		m->c->ended((struct transfer *)(void *)private,
		    message->data.result);
	}
	if (m->timer_changed) {
		m->timer_changed = false;
		loop_timer_set(m->timer, m->timer_ms);
	}
}

static void
drive(struct multi *m, curl_socket_t fd, int what)
{
	int running;

	curl_multi_socket_action(m->curl, fd, what, &running);
	settle(m);
}

static void
on_timer(void *arg)
{
	drive(arg, CURL_SOCKET_TIMEOUT, 0);
}

/* Libraries before 8.2 go on to a server's next address only when their timer
 * fires, which is the one for all addresses together. This makes them look. */
static void
on_next_address(void *arg)
{
	struct multi *m = arg;
	int running;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	curl_multi_socket_all(m->curl, &running);
#pragma GCC diagnostic pop
	settle(m);
}

static struct watch *
watch_find(const struct connections *c, int fd)
{
	return (size_t)fd < c->descriptors ? c->watches[fd] : NULL;
}

static struct watch *
watch_new(struct connections *c, int fd)
{
	size_t n = c->descriptors, more = (size_t)fd + 16;

	if ((size_t)fd >= n) {
		c->watches = xrealloc(c->watches, more * sizeof *c->watches);
		memset(c->watches + n, 0, (more - n) * sizeof *c->watches);
		c->descriptors = more;
	}
	c->watches[fd] = xcalloc(1, sizeof **c->watches);
	c->watches[fd]->c = c;
	return c->watches[fd];
}

static void
watch_free(struct connections *c, int fd)
{
	struct watch *w = watch_find(c, fd);

	if (w == NULL)
		return;
	loop_fd_free(w->fd);
	free(w);
	c->watches[fd] = NULL;
}

/* The loop collects what is ready before it calls anybody, and libcurl may read
 * an answer while it works for another descriptor or for its timer. */
static bool
is_ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static void
on_ready(int fd, int what, void *arg)
{
	struct watch *w = arg;
	int bits;

	if (w->idle) {
		if (!is_ready(fd))
			return;
		loop_fd_free(w->fd);
		w->fd = NULL;
		w->c->spoke(fd, w->c->spoke_arg);
		return;
	}
	bits = 0;
	if (what & LOOP_READ)
		bits |= CURL_CSELECT_IN;
	if (what & LOOP_WRITE)
		bits |= CURL_CSELECT_OUT;
	drive(w->m, fd, bits);
}

/* libcurl no longer asks for it. A connection is open until connections_closed
 * tells its end, so it is watched on. Any other descriptor may be another file
 * from now on. So may that of a connection attempt, which is only ever watched
 * for writing: libcurl 7.88 to 8.1 closes it without a word. */
static void
put_aside(struct multi *m, int fd)
{
	struct watch *w = watch_find(m->c, fd);

	if (w == NULL)
		return;
	if (w->is_connection && w->what == LOOP_READ) {
		w->idle = true;
		return;
	}
	if (w->is_connection)
		loop_timer_set(m->next_address, 0);
	watch_free(m->c, fd);
}

/* Watches a descriptor as libcurl asks for. On a change it is watched anew; an
 * idle one is often watched as is wanted already. */
static int
on_interest(CURL *easy, curl_socket_t fd, int poll, void *arg, void *socketp)
{
	struct multi *m = arg;
	struct watch *w;
	int what;

	(void)easy;
	(void)socketp;
	if (fd < 0)
		return 0;
	if (poll == CURL_POLL_REMOVE) {
		put_aside(m, fd);
		return 0;
	}
	what = 0;
	if (poll & CURL_POLL_IN)
		what |= LOOP_READ;
	if (poll & CURL_POLL_OUT)
		what |= LOOP_WRITE;
	w = watch_find(m->c, fd);
	if (w == NULL)
		w = watch_new(m->c, fd);
	w->m = m;
	w->idle = false;
	if (w->fd != NULL && w->what == what)
		return 0;
	loop_fd_free(w->fd);
	w->what = what;
	w->fd = loop_fd_new(m->c->l, fd, what, on_ready, w);
	if (w->fd == NULL)
		log_error(
		    "the system cannot watch a connection (descriptor %d)", fd);
	return 0;
}

void
connections_opened(struct connections *c, int fd)
{
	watch_free(c, fd);
	watch_new(c, fd)->is_connection = true;
}

void
connections_closed(struct connections *c, int fd)
{
	watch_free(c, fd);
}

static void
multi_setup(struct multi *m)
{
	curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, on_interest);
	curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
	curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION, on_timer_wanted);
	curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
	/* A smaller cache would make each call open a new connection. */
	curl_multi_setopt(m->curl, CURLMOPT_MAXCONNECTS, m->c->max);
	if (m->c->http2)
		curl_multi_setopt(m->curl, CURLMOPT_MAX_CONCURRENT_STREAMS,
		    m->c->max);
	else
		curl_multi_setopt(m->curl, CURLMOPT_PIPELINING,
		    (long)CURLPIPE_NOTHING);
}

/* Adds a multi handle as the first one. Returns -1 if libcurl cannot make
 * one. */
static int
multi_add(struct connections *c)
{
	struct multi *m;
	CURLM *curl;

	curl = curl_multi_init();
	if (curl == NULL)
		return -1;
	m = xcalloc(1, sizeof *m);
	m->c = c;
	m->curl = curl;
	m->timer = loop_timer_new(c->l, on_timer, m);
	m->next_address = loop_timer_new(c->l, on_next_address, m);
	multi_setup(m);
	m->next = c->multis;
	c->multis = m;
	return 0;
}

/* Frees a multi handle without transfers. The order matters: libcurl still
 * calls on_interest while it closes its connections. */
static void
multi_free(struct multi *m)
{
	struct connections *c = m->c;
	size_t fd;

	curl_multi_cleanup(m->curl);
	for (fd = 0; fd < c->descriptors; fd++)
		if (c->watches[fd] != NULL && c->watches[fd]->m == m)
			watch_free(c, (int)fd);
	loop_timer_free(m->timer);
	loop_timer_free(m->next_address);
	free(m);
}

struct connections *
connections_new(struct loop *l, long max, bool http2, connections_ended *ended,
    connections_spoke *spoke, void *arg)
{
	struct connections *c;

	c = xcalloc(1, sizeof *c);
	*c = (struct connections){
		.l = l,
		.max = max,
		.http2 = http2,
		.ended = ended,
		.spoke = spoke,
		.spoke_arg = arg,
	};
	if (multi_add(c) == 0)
		return c;
	free(c);
	return NULL;
}

struct multi *
connections_add(struct connections *c, CURL *easy)
{
	struct multi *m = c->multis;

	if (curl_multi_add_handle(m->curl, easy) != CURLM_OK)
		return NULL;
	m->running++;
	return m;
}

bool
connections_is_latest(const struct multi *m)
{
	return m != NULL && m == m->c->multis;
}

bool
connections_remove(struct multi *m, CURL *easy)
{
	curl_multi_remove_handle(m->curl, easy);
	m->running--;
	return m->running == 0 && m != m->c->multis;
}

void
connections_work(struct connections *c)
{
	struct multi **at, *m;

	for (m = c->multis; m != NULL; m = m->next)
		drive(m, CURL_SOCKET_TIMEOUT, 0);
	for (at = &c->multis->next; (m = *at) != NULL;) {
		if (m->running > 0) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		multi_free(m);
	}
}

void
connections_settle(struct connections *c)
{
	struct multi *m;

	for (m = c->multis; m != NULL; m = m->next)
		settle(m);
}

bool
connections_forget(struct connections *c)
{
	if (multi_add(c) == 0)
		return true;
	log_warn("cannot make new connections: libcurl is out of memory");
	return false;
}

void
connections_free(struct connections *c)
{
	struct multi *m;

	if (c == NULL)
		return;
	while ((m = c->multis) != NULL) {
		c->multis = m->next;
		multi_free(m);
	}
	free(c->watches);
	free(c);
}
