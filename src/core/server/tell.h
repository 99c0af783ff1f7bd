/* What subscriptions tell the session, or a modern client's listen. */
#ifndef MCPSPLICE_CORE_SERVER_TELL_H
#define MCPSPLICE_CORE_SERVER_TELL_H

#include "core/server/listen_state.h"

/* e->listens, made if there is none. */
struct listens *server_tell_listens(struct server *e);
/* Is value (raw JSON) true? */
bool server_tell_is_true(struct span value);
/* Tells the session, at once or when its GET is there. */
void server_tell_session(struct server *e, struct frame *m);
/* After a gap anything may have changed. Tells so of each list that this
 * acknowledgement honours: the session (o NULL) or a client's listen. */
void server_tell_lists(struct server *e, struct server_order *o,
    const struct frame *honours);
/* The same of one resource, uri in raw JSON. */
void server_tell_resource(struct server *e, struct server_order *o,
    struct span uri);
/* It does: told under o, which is no more. */
void server_tell_gone(struct server *e, struct server_order *o);

#endif
