/* What subscriptions tell the session or a modern client's listen. */
#ifndef MCPSPLICE_CORE_SERVER_TELL_H
#define MCPSPLICE_CORE_SERVER_TELL_H

#include "core/server/listen_state.h"

/* Returns e->listens. Makes it if there is none. */
struct listens *server_tell_listens(struct server *e);
/* Tells the session, or keeps the message until the session's GET is there. */
void server_tell_session(struct server *e, struct frame *m);
/* Tells that each list may have changed that this acknowledgement honours: a
 * client's listen, or the session if o is NULL. */
void server_tell_lists(struct server *e, struct server_order *o,
    const struct frame *honours);
/* Tells the same of one resource; uri is raw JSON. */
void server_tell_resource(struct server *e, struct server_order *o,
    struct span uri);
/* Makes the session renew, because an answer to a listen contradicts a modern
 * server. Drops o. */
void server_tell_gone(struct server *e, struct server_order *o);

#endif
