/* subscriptions/listen: the session's GET stream, and what comes on any. */
#ifndef MCPSPLICE_CORE_SERVER_LISTEN_H
#define MCPSPLICE_CORE_SERVER_LISTEN_H

#include "core/server/state.h"

/* The session's GET stream. */
void server_listen_open(struct server *e, struct server_order *o);
/* The session gave up the GET stream, a subscribe, or a listen of a modern
 * client. */
void server_listen_close(struct server *e, struct server_order *o);
/* All of it ends: the server is no modern one any more. */
void server_listen_leave(struct server *e);
/* What comes of attempts FOR_LISTEN. */
void server_listen_head(struct server *e, struct server_attempt *i,
    const struct facts *f);
void server_listen_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);
void server_listen_done(struct server *e, struct server_attempt *i,
    const struct facts *f);
/* Does what is due. */
void server_listen_tick(struct server *e);

#endif
