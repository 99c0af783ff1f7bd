/*
 * Requests of a modern client on their way to the session.
 */
#ifndef MCPSPLICE_CORE_CLIENT_SEND_H
#define MCPSPLICE_CORE_CLIENT_SEND_H

#include "core/client/state.h"

/* The log level that a request wants; -1: none. */
int client_wanted_level(const struct frame *f);
/* Sets the most verbose level that is wanted, if it is not. */
void client_level_sync(struct client *e);
/* logging/setLevel was answered, or took too long. */
void client_level_settled(struct client *e);
/* A request for a legacy server, whatever the server of now is. */
void client_bridge(struct client *e, struct frame *f);
/* A request for a modern server. */
void client_send_native(struct client *e, struct frame *f);

#endif
