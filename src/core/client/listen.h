/*
 * subscriptions/listen, played for a legacy server.
 */
#ifndef MCPSPLICE_CORE_CLIENT_LISTEN_H
#define MCPSPLICE_CORE_CLIENT_LISTEN_H

#include "core/client/state.h"

/* Begins the listen that r asks for. On failure r is answered with an error and
 * dropped. */
void client_listen(struct client *e, struct request *r);
/* Drops the listen of r, and r, without an answer. */
void client_unlisten(struct client *e, struct request *r);
/* Returns the answer to the listen with this id when mcpsplice ends it in
 * order; owned by the caller. */
struct frame *client_listen_result(struct span id);
/* Drops all listens and tells the client that they are lost. It may listen
 * again. */
void client_listens_lost(struct client *e);
/* Takes the answer to REQUEST_SUBSCRIBE or REQUEST_UNSUBSCRIBE r, and drops
 * r. */
void client_subscribed(struct client *e, struct request *r,
    const struct frame *answer);
/* Acts on a new value of e->listening, with a legacy server. */
void client_listening_changed(struct client *e);
/* Returns true if f is a notification for listens; then each listen that wants
 * it was told, or it was dropped. */
bool client_fan_out(struct client *e, struct frame *f);
/* Acknowledges each listen whose time is over with the resources that the
 * server agreed to. */
void client_listen_tick(struct client *e);
/* When client_listen_tick is due, monotonic ms, or ALARM_NEVER. */
int64_t client_listen_due(const struct client *e);
/* Drops all listens and resources and tells neither side. */
void client_listen_free(struct client *e);

#endif
