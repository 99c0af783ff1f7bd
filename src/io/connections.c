/*
 * The multi handles, driven by their socket and timer callbacks, and one record
 * for each TCP socket of libcurl.
 *
 * Invariants:
 *  - transfers start in the first of the multi handles only; each of the others
 *    runs a transfer, or is freed by the next connections_work;
 *  - a record with users is never judged by its idle time;
 *  - a record that libcurl has closed is on no list, and is freed with its last
 *    user.
 */
#include "config.h"

#include "io/connections.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/queue.h"
#include "io/address.h"
#include "io/network_change.h"

enum {
	LEARNED = 4, /* servers that are remembered */
	/* The first libcurl that may not look whether a connection was closed if
	 * it did so less than a second ago: 8.14 does, 8.23 does not, and the
	 * change is of June 2026. */
	NO_LOOK_WITHIN_A_SECOND = 0x081500
};

/* A TCP socket of libcurl. */
struct connection {
	struct connections *all;
	struct connection *next, *prev;
	int fd;                     /* -1: libcurl has closed it */
	bool *reached;              /* NULL: nobody asks any more */
	char peer[OS_ADDRESS_TEXT]; /* empty until the first request */
	int peer_port, local_port;
	bool loopback;
	unsigned users;  /* transfers */
	int64_t since;   /* when it became idle; in use: when anything came or
			 * a request was written */
	int64_t closes;  /* see struct alive_facts */
	bool two;        /* its server speaks unasked, in HTTP/2 */
	bool waits;      /* nothing came since a request was written */
	bool ends;       /* the server is closing it, or libcurl */
	bool gave_error; /* its last answer had an error status */
};

/* When a server closed an idle connection. */
struct learned {
	char peer[OS_ADDRESS_TEXT];
	int port;
	int64_t ms;
};

/* One descriptor of libcurl. When a transfer ends, libcurl no longer asks for
 * its connection to be watched. It stays watched, as idle, because the next
 * transfer needs the same. */
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
	struct watch **watches; /* by descriptor; NULL: there is none */
	size_t descriptors;     /* number of elements */
	struct connection *first, *last; /* the records */
	struct learned learned[LEARNED];
	unsigned latest; /* the newest of them */
	int64_t doubt;   /* what is idle since before may be dead */
	bool looks; /* before a connection is used again: libcurl may not */
};

/* --- what the kernel knows of a connection, and what follows --- */

enum {
	SPARE_MS = 1000, /* how late a timer or a server may be */
	/* A peer that answers keepalives was heard within this time. */
	HEARD_MS = HTTP_KEEPALIVE_IDLE_S * 1000 + SPARE_MS,
	HEARD_MOST_MS = HEARD_MS + 2 * SPARE_MS /* however long a round trip */
};

/* A system that does not fill it says that the peer is heard at this moment,
 * which an idle one is not. */
static void
ask_system(int fd, struct alive_facts *f)
{
	f->told = os_socket_facts(fd, &f->known) && f->known.heard_ms > 0;
	f->same_way = f->told && route_is_same(fd);
}

/* Is the server about to close the connection? After the time that was learned
 * it has not closed this one, so that time is another one now. */
static bool
closes_soon(const struct alive_facts *f)
{
	int64_t spare = SPARE_MS + f->known.rtt_ms;
	int64_t least = f->closes_ms / 2;

	if (f->closes_ms > 0 &&
	    f->idle_ms >=
		(f->closes_ms - spare > least ? f->closes_ms - spare : least))
		return true;
	return f->closed_ms > 0 && f->idle_ms >= f->closed_ms - spare &&
	    f->idle_ms <= f->closed_ms + spare;
}

static bool
proven(const struct alive_facts *f)
{
	int64_t most = HEARD_MS + 2 * f->known.rtt_ms;

	if (most > HEARD_MOST_MS)
		most = HEARD_MOST_MS;
	return f->known.established && !f->known.unacked && f->same_way &&
	    f->known.heard_ms <= most;
}

bool
connection_lives(const struct alive_facts *f)
{
	if (closes_soon(f) || (f->told && !proven(f)))
		return false;
	return f->max_idle_ms == 0 || f->idle_ms < f->max_idle_ms ||
	    (f->proof && f->told);
}

/* --- one record for each TCP socket --- */

static struct learned *
learned_find(struct connection *c)
{
	struct learned *k;

	for (k = c->all->learned; k < c->all->learned + LEARNED; k++)
		if (k->port == c->peer_port && strcmp(k->peer, c->peer) == 0)
			return k;
	return NULL;
}

static void
learn(struct connection *c, int64_t ms)
{
	struct connections *all = c->all;
	struct learned *k = learned_find(c);

	if (k == NULL) {
		all->latest = (all->latest + 1) % LEARNED;
		k = &all->learned[all->latest];
		memcpy(k->peer, c->peer, sizeof k->peer);
		k->port = c->peer_port;
	}
	k->ms = ms;
}

static struct connection *
find_fd(const struct connections *all, int fd)
{
	struct connection *c = all->first;

	while (c != NULL && c->fd != fd)
		c = c->next;
	return c;
}

/* In HTTP/1.1 a server says something only when it closes the connection: by an
 * end, by an alert of TLS, by a status of 408. How long it waits before that is
 * learned, but not from an error, which the server did not choose, nor from
 * a connection that it closes right after an answer. */
static void
spoke(struct connections *all, int fd)
{
	struct connection *c = find_fd(all, fd);
	int64_t idle_ms;

	if (c == NULL || c->users > 0 || c->two)
		return;
	c->ends = true;
	idle_ms = loop_now(all->l) - c->since;
	if (idle_ms >= HTTP_ALIVE_SURE_MS && os_socket_has_end(fd))
		learn(c, idle_ms);
}

static bool
is_connected(int fd)
{
	struct os_address peer;

	return os_socket_peer(fd, &peer);
}

/* libcurl is about to close this socket. */
static void
record_drop(struct connections *all, int fd)
{
	struct connection *c = find_fd(all, fd);

	if (c == NULL)
		return;
	if (c->reached != NULL && is_connected(fd))
		*c->reached = true;
	QUEUE_REMOVE(all, c);
	c->fd = -1;
	if (c->users == 0)
		free(c);
}

static void
record_add(struct connections *all, int fd, bool *reached)
{
	struct connection *c;

	record_drop(all, fd);
	c = xcalloc(1, sizeof *c);
	c->all = all;
	c->fd = fd;
	c->reached = reached;
	QUEUE_ADD_FIRST(all, c);
}

void
connections_disown(struct connections *all, const bool *reached)
{
	struct connection *c;

	for (c = all->first; c != NULL; c = c->next)
		if (c->reached == reached)
			c->reached = NULL;
}

/* Is this a socket that no request has used yet, with these ends? */
static bool
is_new_with(const struct connection *c, int peer_port, int local_port)
{
	struct os_address own, peer;

	return c->peer[0] == '\0' && os_socket_own(c->fd, &own) &&
	    own.port == (unsigned)local_port && os_socket_peer(c->fd, &peer) &&
	    peer.port == (unsigned)peer_port;
}

static bool
is_loopback(const char *address)
{
	enum address_class class;

	return address_literal(address, &class) == 0 &&
	    class == ADDRESS_LOOPBACK;
}

/* Returns the connection with these ends, or NULL. */
static struct connection *
find_ends(struct connections *all, const char *peer, int peer_port,
    int local_port)
{
	struct connection *c;

	if (local_port <= 0)
		return NULL;
	for (c = all->first; c != NULL; c = c->next)
		if (c->local_port == local_port && c->peer_port == peer_port &&
		    strcmp(c->peer, peer) == 0)
			return c;
	for (c = all->first; c != NULL; c = c->next) {
		if (!is_new_with(c, peer_port, local_port))
			continue;
		snprintf(c->peer, sizeof c->peer, "%s", peer);
		c->peer_port = peer_port;
		c->loopback = is_loopback(peer);
		c->local_port = local_port;
		c->since = loop_now(all->l);
		return c;
	}
	return NULL;
}

void
connection_unanswered(struct connection *c)
{
	int64_t at;

	if (c == NULL || !c->waits)
		return;
	at = c->since + HTTP_SILENT_MS;
	if (at > loop_now(c->all->l))
		at = loop_now(c->all->l);
	if (at > c->all->doubt)
		c->all->doubt = at;
}

/* Is it idle, and was it when another one failed, or had waited for so long
 * that it may be dead? Then it is as old, and nothing came on it since. */
static bool
is_doubtful(const struct connection *c)
{
	struct connection *d;

	if (c->users > 0)
		return false;
	for (d = c->all->first; d != NULL; d = d->next)
		if (connection_silence(d) >= HTTP_SILENT_MS)
			connection_unanswered(d);
	return c->since < c->all->doubt;
}

static bool
may_carry(struct connection *c, int64_t max_idle_ms, bool proof)
{
	struct alive_facts f = { .idle_ms = loop_now(c->all->l) - c->since,
		.max_idle_ms = max_idle_ms,
		.closes_ms = c->closes,
		.proof = proof && !c->loopback };
	struct learned *k;

	if (c->ends)
		return false;
	if (is_doubtful(c) ||
	    (c->all->looks && c->users == 0 && c->fd != -1 &&
		os_socket_is_closed(c->fd))) {
		c->ends = true;
		return false;
	}
	if (f.idle_ms < HTTP_ALIVE_SURE_MS &&
	    (c->closes == 0 || f.idle_ms < c->closes / 2))
		return true;
	k = learned_find(c);
	f.closed_ms = k == NULL ? 0 : k->ms;
	ask_system(c->fd, &f);
	if (!connection_lives(&f)) {
		/* It ends on our account now. */
		c->ends = true;
		return false;
	}
	if (k != NULL && f.idle_ms > k->ms)
		k->ms = 0;
	return true;
}

bool
connections_take(struct connections *all, struct connection **c,
    const char *peer, int peer_port, int local_port, bool wary,
    int64_t max_idle_ms, bool proof)
{
	struct connection *found = find_ends(all, peer, peer_port, local_port);

	*c = NULL;
	if (found == NULL)
		return true;
	if ((wary && found->gave_error) ||
	    !may_carry(found, max_idle_ms, proof))
		return false;
	found->users++;
	found->waits = true;
	found->gave_error = false;
	found->since = loop_now(all->l);
	*c = found;
	return true;
}

void
connection_heard(struct connection *c, bool two)
{
	if (c == NULL)
		return;
	c->since = loop_now(c->all->l);
	c->waits = false;
	c->two = two;
}

int64_t
connection_silence(const struct connection *c)
{
	return c == NULL ? 0 : loop_now(c->all->l) - c->since;
}

void
connection_give_back(struct connection *c)
{
	if (c == NULL || --c->users > 0)
		return;
	if (c->fd == -1) {
		free(c);
		return;
	}
	c->since = loop_now(c->all->l);
	c->waits = false;
}

/* In HTTP/2 it is shared, and its last answer says nothing. */
void
connection_note_error(struct connection *c)
{
	if (c != NULL)
		c->gave_error = !c->two;
}

void
connection_announced(struct connection *c, int64_t ms)
{
	if (c != NULL)
		c->closes = ms;
}

/* --- the multi handles --- */

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

static void
on_ready(int fd, int what, void *arg)
{
	struct watch *w = arg;
	int bits;

	if (w->idle) {
		/* The loop collects what is ready before it calls anybody, and
		 * libcurl may read an answer while it works for another
		 * descriptor or for its timer. */
		if (!os_socket_is_ready(fd))
			return;
		loop_fd_free(w->fd);
		w->fd = NULL;
		spoke(w->c, fd);
		return;
	}
	bits = 0;
	if (what & LOOP_READ)
		bits |= CURL_CSELECT_IN;
	if (what & LOOP_WRITE)
		bits |= CURL_CSELECT_OUT;
	drive(w->m, (curl_socket_t)fd, bits);
}

/* libcurl no longer asks for it. A connection is open until connections_closed
 * reports its end, so it stays watched. Any other descriptor may be a new file
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

/* Watches a descriptor as libcurl asks for. On a change the watch is replaced;
 * an idle one often has the right watch already. */
static int
on_interest(CURL *easy, curl_socket_t s, int poll, void *arg, void *socketp)
{
	struct multi *m = arg;
	int what, fd = (int)s;
	struct watch *w;

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
		    "the system cannot watch the connection (descriptor %d)",
		    fd);
	return 0;
}

void
connections_opened(struct connections *c, int fd, bool *reached)
{
	watch_free(c, fd);
	watch_new(c, fd)->is_connection = true;
	if (reached != NULL)
		record_add(c, fd, reached);
}

void
connections_closed(struct connections *c, int fd)
{
	watch_free(c, fd);
	record_drop(c, fd);
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
connections_new(struct loop *l, long max, bool http2, connections_ended *ended)
{
	struct connections *c;

	c = xcalloc(1, sizeof *c);
	*c = (struct connections){
		.l = l,
		.max = max,
		.http2 = http2,
		.ended = ended,
		.looks = curl_version_info(CURLVERSION_NOW)->version_num >=
		    NO_LOOK_WITHIN_A_SECOND,
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
	while (c->first != NULL)
		record_drop(c, c->first->fd);
	free(c->watches);
	free(c);
}
