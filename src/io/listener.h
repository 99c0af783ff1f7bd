/*
 * The small server to which the browser is redirected: only on 127.0.0.1 and
 * [::1], unless the user chooses otherwise, with a few connections that are
 * limited in time and size. The caller interprets the bytes.
 */
#ifndef MCPSPLICE_IO_LISTENER_H
#define MCPSPLICE_IO_LISTENER_H

#include "base/mem.h"
#include "io/loop.h"

struct listener;

struct listener_config {
	unsigned port; /* 0: any free port */
	/* "localhost" has to lead here: nobody else may have the port at
	 * [::1]. */
	bool named;
	bool everywhere; /* at all addresses of the machine */
	/* A further connection replaces the one that is silent for longest. */
	unsigned max_conns;
	size_t max_request; /* bytes; a longer request is reset */
	int64_t conn_ms;    /* ms for one connection, whatever arrives */
};

/* Gets the bytes of one connection so far. Returns true if reply is to be
 * written before the connection is closed (reply may stay empty), false if more
 * bytes are needed. Not called again for that connection after true. */
typedef bool listener_cb(struct span so_far, struct buf *reply, void *arg);

/* Binds at once and keeps the socket, so that nobody else can have the port.
 * Uses neither SO_REUSEADDR nor SO_REUSEPORT. Where the system has IPv6 the
 * port is bound at [::1], too, unless another program has it there. Returns
 * NULL with errno. */
struct listener *listener_new(struct loop *l,
    const struct listener_config *config, listener_cb *cb, void *arg);
/* Returns the port that was bound. */
unsigned listener_port(const struct listener *l);
/* Does "localhost" with this port lead here, whichever address a browser takes
 * it for? Always true with named. */
bool listener_is_named(const struct listener *l);
/* Closes the port. With linger, replies that have begun are still written, for
 * a second at most. May be called from cb. */
void listener_free(struct listener *l, bool linger);

#endif
