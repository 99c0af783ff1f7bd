/*
 * subscriptions/listen on a legacy server.
 */
#ifndef MCPSPLICE_CORE_CLIENT_LISTEN_H
#define MCPSPLICE_CORE_CLIENT_LISTEN_H

#include "core/client/state.h"

/* Begins the listen that this request asks for, or answers it. */
void client_listen(struct client *e, struct request *r);
/* The client ends it. */
void client_unlisten(struct client *e, struct request *r);
/* We do, in order: its only answer, the caller's. */
struct frame *client_listen_result(struct span id);
/* All of them are lost: the client is told, and listens again if it likes. */
void client_listens_lost(struct client *e);
/* It is lost: the notification after which a client listens again, the
 * caller's. */
struct frame *client_listen_cancel(const struct frame *listen);
/* The answer to a resources/subscribe or unsubscribe of ours. */
void client_subscribed(struct client *e, struct request *r,
    const struct frame *answer);
/* A legacy server: the session has a stream for them now, or has none. */
void client_listening_changed(struct client *e);
/* Is this one for listens? Then it went to all that want it. */
bool client_fan_out(struct client *e, struct frame *f);
/* Listens whose time is over are acknowledged with what the server agreed
 * to. */
void client_listen_tick(struct client *e);
/* When client_listen_tick is due, monotonic ms, or ALARM_NEVER. */
int64_t client_listen_due(const struct client *e);
/* Drops all listens and resources, without a word to anybody. */
void client_listen_free(struct client *e);

#endif
