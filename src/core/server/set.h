/*
 * The session's subscriptions to resources, as one subscription at the server.
 */
#ifndef MCPSPLICE_CORE_SERVER_SET_H
#define MCPSPLICE_CORE_SERVER_SET_H

#include "core/server/listen_state.h"

/* Has the server subscriptions to resources? */
bool server_set_is_offered(const struct server *e);
/* resources/subscribe and unsubscribe of the session. */
void server_set_subscribe(struct server *e, struct server_order *o);
/* The subscription that has the set, or the one that is to take its place, was
 * acknowledged. */
void server_set_acknowledged(struct server *e, struct subscription *fd);
/* The successor was refused in these words. */
void server_set_refused(struct server *e, struct frame *error);
/* Is this notification on the subscription for the session? */
bool server_set_wants(const struct server *e, const struct subscription *fd,
    const struct frame *m);
/* What is open may be dead: it is replaced. */
void server_set_stale(struct server *e);
/* A resources/subscribe that waits, or NULL. */
struct server_order *server_set_waiting(const struct server *e);
/* The session gave up this subscribe. */
void server_set_abort(struct server *e, const struct server_order *o);
/* All who wait learn that the server is gone. */
void server_set_leave(struct server *e);
/* Does what is due. */
void server_set_tick(struct server *e);
/* When the next change, or a stream of the set, is due (monotonic ms, or
 * ALARM_NEVER). e->listens is there. */
int64_t server_set_due(const struct server *e);

#endif
