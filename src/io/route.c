/*
 * The events of a routing socket are only a hint; their content is not used.
 * After the first event the socket is left alone until the change has settled,
 * so that a storm of events costs two wake-ups a second; then the source
 * addresses before and after are compared. A UDP socket that is connected and
 * never written to gives the source address without sending a packet.
 *
 * Invariants: the socket is watched unless the timer runs; "source" is the
 * local address towards "peer" at the time when connections were last known to
 * be good.
 */
#include "config.h"

#include "io/route.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef HAVE_LINUX_RTNETLINK_H
#include <linux/rtnetlink.h>
#elif defined(HAVE_NET_ROUTE_H)
#include <net/if.h>
#include <net/route.h>
#endif

#include "base/mem.h"

enum {
	ROUTE_SETTLE_MS = 1000,
	ROUTE_READS = 1000, /* per call; the rest is read later */
	ROUTE_PORT = 443    /* any port: nothing is sent there */
};

/* A local address; n 0: there is no route. */
struct source {
	unsigned char bytes[sizeof(struct in6_addr)];
	size_t n;
};

struct route {
	struct loop *l;
	loop_cb *cb;
	void *arg;
	int fd;
	struct loop_fd *watch;
	struct loop_timer *timer;
	char *peer; /* NULL: none */
	struct source source;
	bool changed; /* a change was seen; cb is called when the timer fires */
};

static void route_on_event(int fd, int what, void *arg);

/* Opens the socket that reports changes, or returns -1. */
static int
events_open(void)
{
#if defined(HAVE_LINUX_RTNETLINK_H)
	struct sockaddr_nl a;
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (fd == -1)
		return -1;
	memset(&a, 0, sizeof a);
	a.nl_family = AF_NETLINK;
	/* A link that goes down takes its routes along without a message of
	 * their own. A VPN may come as a rule. */
	a.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
	    RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_RULE |
	    1U << (RTNLGRP_IPV6_RULE - 1);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	close(fd);
	return -1;
#elif defined(RTM_MISS)
	return socket(PF_ROUTE, SOCK_RAW, AF_UNSPEC);
#else
	return -1;
#endif
}

/* Does the message report a change, and not just a failed lookup of a route?
 * Our own lookup fails when there is no route, and must not cause the next
 * lookup. */
static bool
is_change(const unsigned char *message, size_t n)
{
#if defined(HAVE_LINUX_RTNETLINK_H) || !defined(RTM_MISS)
	(void)message;
	return n > 0;
#else
	struct rt_msghdr head;

	if (n < offsetof(struct rt_msghdr, rtm_type) + sizeof head.rtm_type)
		return false;
	memset(&head, 0, sizeof head);
	memcpy(&head, message, n < sizeof head ? n : sizeof head);
	return head.rtm_type != RTM_MISS && head.rtm_type != RTM_GET &&
	    head.rtm_type != RTM_LOSING;
#endif
}

/* Empties the socket. Lost events (ENOBUFS) count as a change. */
static bool
events_take(int fd)
{
	unsigned char part[256];
	bool changed = false;
	ssize_t n;
	int i;

	for (i = 0; i < ROUTE_READS; i++) {
		n = recv(fd, part, sizeof part, 0);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno != ENOBUFS)
			break;
		if (n == -1 || is_change(part, (size_t)n))
			changed = true;
	}
	return changed;
}

static struct source
source_of(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const void *)a;
	const struct sockaddr_in6 *v6 = (const void *)a;
	struct source s;

	memset(&s, 0, sizeof s);
	if (a->ss_family == AF_INET) {
		s.n = sizeof v4->sin_addr;
		memcpy(s.bytes, &v4->sin_addr, s.n);
	} else if (a->ss_family == AF_INET6) {
		s.n = sizeof v6->sin6_addr;
		memcpy(s.bytes, &v6->sin6_addr, s.n);
	}
	return s;
}

/* Returns the length of the socket address, or 0 if text is not an address. */
static socklen_t
address_parse(struct sockaddr_storage *a, const char *text)
{
	struct sockaddr_in *v4 = (void *)a;
	struct sockaddr_in6 *v6 = (void *)a;

	memset(a, 0, sizeof *a);
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(ROUTE_PORT);
		return sizeof *v4;
	}
	memset(a, 0, sizeof *a);
	if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(ROUTE_PORT);
		return sizeof *v6;
	}
	return 0;
}

static struct source
source_of_socket(int fd)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof a;

	memset(&a, 0, sizeof a);
	if (getsockname(fd, (struct sockaddr *)&a, &n) != 0)
		a.ss_family = AF_UNSPEC;
	return source_of(&a);
}

/* Returns the source address that the system would use towards peer now. */
static struct source
source_towards(const struct sockaddr_storage *peer, socklen_t n)
{
	struct source s;
	int fd;

	memset(&s, 0, sizeof s);
	fd = socket(peer->ss_family, SOCK_DGRAM, 0);
	if (fd == -1)
		return s;
	if (connect(fd, (const struct sockaddr *)peer, n) == 0)
		s = source_of_socket(fd);
	close(fd);
	return s;
}

static struct source
find_source(const char *peer)
{
	struct sockaddr_storage a;
	socklen_t n = address_parse(&a, peer);

	if (n > 0)
		return source_towards(&a, n);
	return (struct source){ .n = 0 };
}

static bool
is_same_source(const struct source *a, const struct source *b)
{
	return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

bool
route_is_same(int fd)
{
	struct sockaddr_storage peer;
	socklen_t n = sizeof peer;
	struct source made, now;

	if (getpeername(fd, (struct sockaddr *)&peer, &n) != 0)
		return false;
	made = source_of_socket(fd);
	now = source_towards(&peer, n);
	return is_same_source(&made, &now);
}

/* Looks up the source address again. A missing route is only noted: until there
 * is one, waiting is the best that can be done. */
static void
look(struct route *r)
{
	struct source s;

	if (r->peer == NULL)
		return;
	s = find_source(r->peer);
	if (s.n > 0 && !is_same_source(&s, &r->source))
		r->changed = true;
	r->source = s;
}

static void
watch(struct route *r)
{
	r->watch = loop_fd_new(r->l, r->fd, LOOP_READ, route_on_event, r);
}

/* Stops watching for ROUTE_SETTLE_MS, the time that a change needs to
 * settle. */
static void
settle(struct route *r)
{
	if (r->watch == NULL)
		return;
	loop_fd_free(r->watch);
	r->watch = NULL;
	loop_timer_set(r->timer, ROUTE_SETTLE_MS);
}

static void
route_on_event(int fd, int what, void *arg)
{
	struct route *r = arg;

	(void)what;
	if (events_take(fd))
		settle(r);
}

/* Events that arrive after events_take wake the loop again, so none is
 * missed. */
static void
route_on_settled(void *arg)
{
	struct route *r = arg;

	events_take(r->fd);
	watch(r);
	look(r);
	if (!r->changed)
		return;
	r->changed = false;
	r->cb(r->arg);
}

void
route_free(struct route *r)
{
	if (r == NULL)
		return;
	loop_fd_free(r->watch);
	loop_timer_free(r->timer);
	close(r->fd);
	free(r->peer);
	free(r);
}

struct route *
route_new(struct loop *l, loop_cb *cb, void *arg)
{
	struct route *r;
	int fd, flags;

	fd = events_open();
	if (fd == -1)
		return NULL;
	flags = fcntl(fd, F_GETFL);
	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == -1) {
		close(fd);
		return NULL;
	}
	r = xcalloc(1, sizeof *r);
	r->l = l;
	r->cb = cb;
	r->arg = arg;
	r->fd = fd;
	r->timer = loop_timer_new(l, route_on_settled, r);
	watch(r);
	if (r->watch == NULL) {
		route_free(r);
		return NULL;
	}
	return r;
}

/* Checks the old peer first: setting a new one would hide that the route to the
 * old one changed. */
void
route_peer(struct route *r, const char *ip_address)
{
	if (r == NULL)
		return;
	if (ip_address != NULL && r->peer != NULL &&
	    strcmp(ip_address, r->peer) == 0)
		return;
	look(r);
	if (r->changed)
		settle(r);
	free(r->peer);
	r->peer = ip_address == NULL ? NULL : xstrdup(ip_address);
	if (r->peer != NULL)
		r->source = find_source(r->peer);
}
