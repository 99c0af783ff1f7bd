/* The subscriptions/listen of a modern client at a modern server. */
#ifndef MCPSPLICE_CORE_SERVER_NATIVE_LISTEN_H
#define MCPSPLICE_CORE_SERVER_NATIVE_LISTEN_H

#include "core/server/listen_state.h"

/* Sends the client's listen. */
void server_native_open(struct server *e, struct server_order *o);
/* Take what comes on the stream of one. */
void server_native_head(struct server *e, struct subscription *fd,
    const struct facts *f);
void server_native_message(struct server *e, struct subscription *fd,
    const struct facts *f, struct frame *m);
void server_native_done(struct server *e, struct subscription *fd,
    const struct facts *f);
/* Opens the next stream. */
void server_native_again(struct server *e, struct subscription *fd);
/* Takes the subscription out of the list and frees it. */
void server_native_drop(struct server *e, struct subscription *fd);

#endif
