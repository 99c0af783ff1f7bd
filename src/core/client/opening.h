/*
 * Opens the session for a modern client.
 */
#ifndef MCPSPLICE_CORE_CLIENT_OPENING_H
#define MCPSPLICE_CORE_CLIENT_OPENING_H

#include "core/client/state.h"

/* Begins to open the session, with the client info and capabilities of the
 * request f. */
void client_open(struct client *e, struct frame *f);
/* Keeps the request f until the session has opened, or answers it with an error
 * if too much is held back. */
void client_hold(struct client *e, struct frame *f);
/* Does the request f allow more kinds of questions than the session, and can
 * the session be opened anew because no call is open? */
bool client_outgrown(const struct client *e, const struct frame *f);
/* Notes what this answer to initialize, the first one or a later one, says of
 * the server. */
void client_learn(struct client *e, struct frame *answer);
/* Returns the answer to a server/discover with this id, made from the server's:
 * only versions that mcpsplice speaks are left in it. Owned by the caller. */
struct frame *client_discover_answer(struct frame *discovered, struct span id);

#endif
