/* The session's orders at a modern server, from their begin to their end. */
#ifndef MCPSPLICE_CORE_SERVER_MODERN_H
#define MCPSPLICE_CORE_SERVER_MODERN_H

#include "core/server/state.h"

/* The session begins anew: ends what cannot go on. */
void server_modern_leave(struct server *e);
/* Takes an order of the session; initialize is detect.c's. */
void server_modern_send(struct server *e, struct server_order *o);
/* The session aborted the order. The caller ends it. */
void server_modern_abort(struct server *e, struct server_order *o);
/* Takes the head of an attempt FOR_CALL. */
void server_modern_head(struct server *e, struct server_attempt *i,
    const struct facts *f);
/* Takes the end of an attempt FOR_CALL or FOR_TOOLS. */
void server_modern_done(struct server *e, struct server_attempt *i,
    const struct facts *f);
/* Sends and ends what is due. */
void server_modern_tick(struct server *e);

#endif
