/*
 * The system's events are only a hint. After the first one the stream is not
 * read until the change has settled, so that a storm of events costs only two
 * wake-ups a second; then the source addresses before and after are compared.
 *
 * Invariants: the stream is watched unless the timer runs; "source" is the
 * local address towards "peer" at the time when connections were last known to
 * be good.
 */
#include "config.h"

#include "io/network_change.h"

#include <stdlib.h>

#include "base/mem.h"
#include "os/network.h"

enum {
	ROUTE_SETTLE_MS = 1000,
	ROUTE_PORT = 443 /* any port: nothing is sent there */
};

struct route {
	struct loop *l;
	loop_cb *cb;
	void *arg;
	int fd;
	struct loop_fd *watch;
	struct loop_timer *timer;
	char *peer;               /* NULL: none */
	struct os_address source; /* n 0: there is no route */
	bool changed; /* a change was seen; cb is called when the timer fires */
};

static void route_on_event(int fd, int what, void *arg);

static struct os_address
find_source(const char *peer)
{
	struct os_address a = os_address_read(peer);

	a.port = ROUTE_PORT;
	return os_address_towards(&a);
}

static bool
is_same_source(const struct os_address *a, const struct os_address *b)
{
	return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

bool
route_is_same(int fd)
{
	struct os_address peer, made, now;

	if (!os_socket_peer(fd, &peer) || !os_socket_own(fd, &made))
		return false;
	now = os_address_towards(&peer);
	return is_same_source(&made, &now);
}

/* Looks up the source address again. A missing route is only noted: until there
 * is one, waiting is the best that can be done. */
static void
look(struct route *r)
{
	struct os_address s;

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
	if (os_route_take(fd))
		settle(r);
}

/* Events that arrive after os_route_take wake the loop again, so none is
 * missed. */
static void
route_on_settled(void *arg)
{
	struct route *r = arg;

	os_route_take(r->fd);
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
	os_socket_close(r->fd);
	free(r->peer);
	free(r);
}

struct route *
route_new(struct loop *l, loop_cb *cb, void *arg)
{
	struct route *r;
	int fd = os_route_open();

	if (fd == -1)
		return NULL;
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
