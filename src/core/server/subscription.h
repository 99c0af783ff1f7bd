/*
 * One subscription at the server, through all the streams that it takes: one
 * stream is open, or none.
 */
#ifndef MCPSPLICE_CORE_SERVER_SUBSCRIPTION_H
#define MCPSPLICE_CORE_SERVER_SUBSCRIPTION_H

#include "core/server/listen_state.h"

/* o: a modern client's listen, or NULL. The caller frees it. */
struct subscription *server_subscription_new(struct server_order *o);
/* Ends its stream too. NULL is allowed. */
void server_subscription_free(struct server *e, struct subscription *fd);
/* Ends its stream only. */
void server_subscription_end(struct server *e, struct subscription *fd);
/* Opens a stream by this request (a reference is taken), whose id is fd->id;
 * there is none. */
void server_subscription_open(struct server *e, struct subscription *fd,
    struct frame *request);
/* The same for asked, under a new id. */
void server_subscription_ask(struct server *e, struct subscription *fd);
/* Its stream is no more, the next one waits. f may be NULL. */
void server_subscription_lost(struct server *e, struct subscription *fd,
    const struct facts *f);
/* Takes an acknowledgement; false: the stream had one already. */
bool server_subscription_acknowledged(struct server *e, struct subscription *fd,
    struct frame *m);
/* Is it the first one behind a gap? Then all is told as changed. */
bool server_subscription_take_gap(struct subscription *fd);
/* Is this error one of the moment (or else the server's no)? */
bool server_subscription_is_passing(const struct facts *f,
    const struct frame *error);
/* Is its next stream due? */
bool server_subscription_is_due(const struct server *e,
    const struct subscription *fd);

#endif
