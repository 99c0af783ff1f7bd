/*
 * The resources that the session subscribes to, as one subscription at the
 * server.
 */
#ifndef MCPSPLICE_CORE_SERVER_SET_H
#define MCPSPLICE_CORE_SERVER_SET_H

#include "core/server/listen_state.h"

/* Tells whether the server declares subscriptions to resources. */
bool server_set_is_offered(const struct server *e);
/* Takes a resources/subscribe or resources/unsubscribe of the session. */
void server_set_subscribe(struct server *e, struct server_order *o);
/* The server acknowledged fd, which is l->resources or l->successor. */
void server_set_acknowledged(struct server *e, struct subscription *fd);
/* Gives up the successor, for this error. */
void server_set_give_up(struct server *e, struct frame *error);
/* Tells whether the session wants this notification, which came on fd. */
bool server_set_wants(const struct server *e, const struct subscription *fd,
    const struct frame *m);
/* The open stream may be dead: it will be replaced. */
void server_set_stale(struct server *e);
/* Returns a resources/subscribe that waits, or NULL. */
struct server_order *server_set_waiting(const struct server *e);
/* The session aborted this resources/subscribe. */
void server_set_abort(struct server *e, const struct server_order *o);
/* Tells all orders that wait that the server is gone, and empties the set. */
void server_set_leave(struct server *e);
/* Makes the change that is due, or opens the stream that is. */
void server_set_tick(struct server *e);
/* Returns when the next change or the next stream of the set is due (monotonic
 * ms, or ALARM_NEVER). e->listens must be there. */
int64_t server_set_due(const struct server *e);

#endif
