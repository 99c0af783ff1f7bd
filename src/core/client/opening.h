/*
 * The opening of the session for a modern client.
 */
#ifndef MCPSPLICE_CORE_CLIENT_OPENING_H
#define MCPSPLICE_CORE_CLIENT_OPENING_H

#include "core/client/state.h"

/* Opens the session for a modern client as this request of it says. */
void client_open(struct client *e, struct frame *f);
/* Keeps a request until the session is open. */
void client_hold(struct client *e, struct frame *f);
/* Must the session be opened anew, as this request allows more questions? */
bool client_outgrown(const struct client *e, const struct frame *f);
/* The server's answer to initialize, the first one or a later one. */
void client_learn(struct client *e, struct frame *answer);
/* The answer to a server/discover under this id, the caller's. */
struct frame *client_discover_answer(struct frame *discovered, struct span id);

#endif
