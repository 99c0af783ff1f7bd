/*
 * The small server that a browser comes back to: 127.0.0.1 only, a handful
 * of connections, each with its time and its bound. What the bytes mean is
 * the caller's.
 */
#ifndef MCPSPLICE_IO_LISTENER_H
#define MCPSPLICE_IO_LISTENER_H

#include "base/mem.h"
#include "io/loop.h"

struct listener;

struct listener_config {
	unsigned port; /* 0: any that is free */
	/* One more takes the place of the one that is silent for longest. */
	unsigned max_conns;
	size_t max_request; /* bytes; a longer one is cut off */
	int64_t conn_ms;    /* of one connection, whatever comes */
};

/* What has come on one connection so far. Returns true when reply is what is
 * to be written before it is closed (it may stay empty), false: more is
 * needed. Not called again for that connection after true. */
typedef bool listener_cb(struct span so_far, struct buf *reply, void *arg);

/* Binds at once and keeps the socket: nobody else can have the port. Without
 * SO_REUSEADDR and SO_REUSEPORT. NULL with errno. */
struct listener *listener_new(struct loop *l,
    const struct listener_config *config, listener_cb *cb, void *arg);
unsigned listener_port(const struct listener *l);
/* Takes no more connections; replies under way are still written, for a
 * second at most, when linger is true. May be called from cb. */
void listener_free(struct listener *l, bool linger);

#endif
