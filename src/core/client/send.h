/*
 * Sends the requests of a modern client to the session.
 */
#ifndef MCPSPLICE_CORE_CLIENT_SEND_H
#define MCPSPLICE_CORE_CLIENT_SEND_H

#include "core/client/state.h"

/* Returns the log level that the request f wants; -1: none. */
int client_wanted_level(const struct frame *f);
/* Sends logging/setLevel for the most verbose level that any request wants,
 * unless the server has it or another setLevel is under way. */
void client_level_sync(struct client *e);
/* logging/setLevel was answered, or took too long: sends the requests that
 * waited for it, after another setLevel if they need one. */
void client_level_settled(struct client *e);
/* Sends f to a legacy server, or answers it here. The server may be a modern
 * one by now: client_fit changes the request when it goes out. */
void client_bridge(struct client *e, struct frame *f);
/* Sends f to a modern server unchanged, or answers it with an error if there
 * are too many of its kind. */
void client_send_native(struct client *e, struct frame *f);

#endif
