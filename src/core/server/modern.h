/* What the session's orders become at a modern server, and how they end. */
#ifndef MCPSPLICE_CORE_SERVER_MODERN_H
#define MCPSPLICE_CORE_SERVER_MODERN_H

#include "core/server/state.h"

/* The server is modern: e->discovered, e->initialize, e->meta are set. */
void server_modern_enter(struct server *e);
/* The session begins anew. */
void server_modern_leave(struct server *e);
/* Any order of the session but initialize. */
void server_modern_send(struct server *e, struct server_order *o);
/* The session gave it up; the order itself is the caller's to end. */
void server_modern_abort(struct server *e, struct server_order *o);
/* What comes of attempts FOR_CALL and FOR_TOOLS. */
void server_modern_head(struct server *e, struct server_attempt *i,
    const struct facts *f);
void server_modern_done(struct server *e, struct server_attempt *i,
    const struct facts *f);
/* Does what is due. */
void server_modern_tick(struct server *e);

#endif
