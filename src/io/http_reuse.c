/*
 * One record for each TCP socket of libcurl.
 *
 * Invariants:
 *  - a record with users is never judged by its idle time;
 *  - a record that libcurl has closed is on no list, and goes with its last
 *    user.
 */
#include "config.h"

#include "io/http_reuse.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/mem.h"
#include "io/address.h"

enum {
	LEARNED = 4, /* servers that are remembered */
	/* The first libcurl that may not look whether a connection was closed if
	 * it did so less than a second ago: 8.14 does, 8.23 does not, and the
	 * change is of June 2026. */
	NO_LOOK_WITHIN_A_SECOND = 0x081500
};

struct connection {
	struct reuse *u;
	struct connection *next, **prev;
	int fd;                      /* -1: libcurl has closed it */
	bool *reached;               /* NULL: nobody asks any more */
	char peer[INET6_ADDRSTRLEN]; /* empty until the first request */
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
	char peer[INET6_ADDRSTRLEN];
	int port;
	int64_t ms;
};

struct reuse {
	struct loop *l;
	struct connection *connections;
	struct learned learned[LEARNED];
	unsigned latest; /* the newest of them */
	int64_t doubt;   /* what is idle since before may be dead */
	bool looks; /* before a connection is used again: libcurl may not */
};

static struct learned *
learned_find(struct connection *c)
{
	struct learned *k;

	for (k = c->u->learned; k < c->u->learned + LEARNED; k++)
		if (k->port == c->peer_port && strcmp(k->peer, c->peer) == 0)
			return k;
	return NULL;
}

static void
learn(struct connection *c, int64_t ms)
{
	struct reuse *u = c->u;
	struct learned *k = learned_find(c);

	if (k == NULL) {
		u->latest = (u->latest + 1) % LEARNED;
		k = &u->learned[u->latest];
		memcpy(k->peer, c->peer, sizeof k->peer);
		k->port = c->peer_port;
	}
	k->ms = ms;
}

static struct connection *
find_fd(const struct reuse *u, int fd)
{
	struct connection *c = u->connections;

	while (c != NULL && c->fd != fd)
		c = c->next;
	return c;
}

/* In HTTP/1.1 a server says something only when it closes the connection: by an
 * end, by an alert of TLS, by a status of 408. How long it waits before that is
 * learned, but not from an error, which is no decision of the server's, nor from
 * a connection that it closes right after an answer. */
void
reuse_spoke(struct reuse *u, int fd)
{
	struct connection *c = find_fd(u, fd);
	int64_t idle_ms;
	char byte;

	if (c == NULL || c->users > 0 || c->two)
		return;
	c->ends = true;
	idle_ms = loop_now(u->l) - c->since;
	if (idle_ms >= HTTP_ALIVE_SURE_MS &&
	    recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
		learn(c, idle_ms);
}

struct reuse *
reuse_new(struct loop *l)
{
	struct reuse *u = xcalloc(1, sizeof *u);

	u->l = l;
	u->looks = curl_version_info(CURLVERSION_NOW)->version_num >=
	    NO_LOOK_WITHIN_A_SECOND;
	return u;
}

void
reuse_opened(struct reuse *u, int fd, bool *reached)
{
	struct connection *c;

	reuse_closed(u, fd);
	c = xcalloc(1, sizeof *c);
	c->u = u;
	c->fd = fd;
	c->reached = reached;
	c->next = u->connections;
	c->prev = &u->connections;
	if (c->next != NULL)
		c->next->prev = &c->next;
	u->connections = c;
}

static bool
is_connected(int fd)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof a;

	return getpeername(fd, (struct sockaddr *)&a, &n) == 0;
}

void
reuse_closed(struct reuse *u, int fd)
{
	struct connection *c = find_fd(u, fd);

	if (c == NULL)
		return;
	if (c->reached != NULL && is_connected(fd))
		*c->reached = true;
	*c->prev = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	c->fd = -1;
	if (c->users == 0)
		free(c);
}

void
reuse_disown(struct reuse *u, const bool *reached)
{
	struct connection *c;

	for (c = u->connections; c != NULL; c = c->next)
		if (c->reached == reached)
			c->reached = NULL;
}

static int
port_of(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const void *)a;
	const struct sockaddr_in6 *v6 = (const void *)a;

	return ntohs(a->ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port);
}

/* Is this a socket that no request has used yet, with these ends? */
static bool
is_new_with(const struct connection *c, int peer_port, int local_port)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof a;

	if (c->peer[0] != '\0' ||
	    getsockname(c->fd, (struct sockaddr *)&a, &n) != 0 ||
	    port_of(&a) != local_port)
		return false;
	n = sizeof a;
	return getpeername(c->fd, (struct sockaddr *)&a, &n) == 0 &&
	    port_of(&a) == peer_port;
}

static bool
is_loopback(const char *address)
{
	enum address_class class;

	return address_literal(address, &class) == 0 &&
	    class == ADDRESS_LOOPBACK;
}

struct connection *
reuse_find(struct reuse *u, const char *peer, int peer_port, int local_port)
{
	struct connection *c;

	if (local_port <= 0)
		return NULL;
	for (c = u->connections; c != NULL; c = c->next)
		if (c->local_port == local_port && c->peer_port == peer_port &&
		    strcmp(c->peer, peer) == 0)
			return c;
	for (c = u->connections; c != NULL; c = c->next) {
		if (!is_new_with(c, peer_port, local_port))
			continue;
		snprintf(c->peer, sizeof c->peer, "%s", peer);
		c->peer_port = peer_port;
		c->loopback = is_loopback(peer);
		c->local_port = local_port;
		c->since = loop_now(u->l);
		return c;
	}
	return NULL;
}

/* Has the server closed it? TLS says goodbye in bytes before that, so it is not
 * enough to look for the end behind them. */
static bool
is_closed(int fd)
{
#ifdef POLLRDHUP
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0;
#else
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return n == 0 ||
	    (n == -1 && errno != EAGAIN && errno != EWOULDBLOCK &&
		errno != EINTR);
#endif
}

void
reuse_unanswered(struct connection *c)
{
	int64_t at;

	if (c == NULL || !c->waits)
		return;
	at = c->since + HTTP_SILENT_MS;
	if (at > loop_now(c->u->l))
		at = loop_now(c->u->l);
	if (at > c->u->doubt)
		c->u->doubt = at;
}

/* Is it idle, and was it when another one failed, or had waited for so long
 * that it may be dead? Then it is as old, and nothing came on it since. */
static bool
is_doubtful(const struct connection *c)
{
	struct connection *d;

	if (c->users > 0)
		return false;
	for (d = c->u->connections; d != NULL; d = d->next)
		if (reuse_silence(d) >= HTTP_SILENT_MS)
			reuse_unanswered(d);
	return c->since < c->u->doubt;
}

bool
reuse_may(struct connection *c, int64_t max_idle_ms, bool proof)
{
	struct alive_facts f = { .idle_ms = loop_now(c->u->l) - c->since,
		.max_idle_ms = max_idle_ms,
		.closes_ms = c->closes,
		.proof = proof && !c->loopback };
	struct learned *k;

	if (c->ends)
		return false;
	if (is_doubtful(c) ||
	    (c->u->looks && c->users == 0 && c->fd != -1 && is_closed(c->fd))) {
		c->ends = true;
		return false;
	}
	if (f.idle_ms < HTTP_ALIVE_SURE_MS &&
	    (c->closes == 0 || f.idle_ms < c->closes / 2))
		return true;
	k = learned_find(c);
	f.closed_ms = k == NULL ? 0 : k->ms;
	http_alive_ask(c->fd, &f);
	if (!http_alive(&f)) {
		/* It ends on our account now. */
		c->ends = true;
		return false;
	}
	if (k != NULL && f.idle_ms > k->ms)
		k->ms = 0;
	return true;
}

void
reuse_take(struct connection *c)
{
	if (c == NULL)
		return;
	c->users++;
	c->waits = true;
	c->gave_error = false;
	c->since = loop_now(c->u->l);
}

void
reuse_heard(struct connection *c, bool two)
{
	if (c == NULL)
		return;
	c->since = loop_now(c->u->l);
	c->waits = false;
	c->two = two;
}

int64_t
reuse_silence(const struct connection *c)
{
	return c == NULL ? 0 : loop_now(c->u->l) - c->since;
}

void
reuse_give_back(struct connection *c)
{
	if (c == NULL || --c->users > 0)
		return;
	if (c->fd == -1) {
		free(c);
		return;
	}
	c->since = loop_now(c->u->l);
	c->waits = false;
}

/* In HTTP/2 it is shared, and its last answer tells nothing. */
void
reuse_note_error(struct connection *c)
{
	if (c != NULL)
		c->gave_error = !c->two;
}

bool
reuse_gave_error(const struct connection *c)
{
	return c->gave_error;
}

void
reuse_announced(struct connection *c, int64_t ms)
{
	if (c != NULL)
		c->closes = ms;
}

void
reuse_free(struct reuse *u)
{
	if (u == NULL)
		return;
	while (u->connections != NULL)
		reuse_closed(u, u->connections->fd);
	free(u);
}
