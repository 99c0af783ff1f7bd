/*
 * The session's GET stream at a modern server, and what comes on subscriptions.
 */
#ifndef MCPSPLICE_CORE_SERVER_LISTEN_H
#define MCPSPLICE_CORE_SERVER_LISTEN_H

#include "core/server/state.h"

/* Takes the session's GET. */
void server_listen_open(struct server *e, struct server_order *o);
/* The session aborted its GET, a resources/subscribe, or a modern client's
 * listen. The caller ends the order. */
void server_listen_close(struct server *e, struct server_order *o);
/* Ends all subscriptions, because the session begins anew. */
void server_listen_leave(struct server *e);
/* Take what comes of attempts FOR_LISTEN. */
void server_listen_head(struct server *e, struct server_attempt *i,
    const struct facts *f);
void server_listen_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);
void server_listen_done(struct server *e, struct server_attempt *i,
    const struct facts *f);
/* Opens the streams that are due. */
void server_listen_tick(struct server *e);

#endif
