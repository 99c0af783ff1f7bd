/*
 * One subscription at the server. It has one open stream at a time, or none.
 */
#ifndef MCPSPLICE_CORE_SERVER_SUBSCRIPTION_H
#define MCPSPLICE_CORE_SERVER_SUBSCRIPTION_H

#include "core/server/listen_state.h"

/* Returns a new subscription, which the caller frees. o is the order of a
 * modern client's listen, or NULL. */
struct subscription *server_subscription_new(struct server_order *o);
/* Ends its stream, too. fd may be NULL. */
void server_subscription_free(struct server *e, struct subscription *fd);
/* Ends its stream only. No next one is due. */
void server_subscription_end(struct server *e, struct subscription *fd);
/* Opens a stream by this request, whose id is fd->id. Takes a reference to the
 * request. No stream may be open. */
void server_subscription_open(struct server *e, struct subscription *fd,
    struct frame *request);
/* Opens a stream for fd->asked, under a new id. */
void server_subscription_ask(struct server *e, struct subscription *fd);
/* Its stream is lost: the next one opens later. f may be NULL. */
void server_subscription_lost(struct server *e, struct subscription *fd,
    const struct facts *f);
/* Takes an acknowledgement. Returns false if the stream had one before. */
bool server_subscription_acknowledged(struct server *e, struct subscription *fd,
    struct frame *m);
/* Tells whether there was a gap, once. Everything is then told as changed. */
bool server_subscription_take_gap(struct subscription *fd);
/* Tells whether this error may pass. Any other one is final. */
bool server_subscription_is_passing(const struct facts *f,
    const struct frame *error);
/* Tells whether its next stream is due. fd may be NULL. */
bool server_subscription_is_due(const struct server *e,
    const struct subscription *fd);

#endif
