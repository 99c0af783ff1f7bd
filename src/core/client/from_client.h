/*
 * Takes the frames of the client.
 */
#ifndef MCPSPLICE_CORE_CLIENT_FROM_CLIENT_H
#define MCPSPLICE_CORE_CLIENT_FROM_CLIENT_H

#include "core/client/state.h"

/* Does this frame go to the session unchanged? True for a legacy client once it
 * has sent initialize, unless the frame is a modern request. */
bool client_passes(const struct client *e, const struct frame *f);
/* Handles a frame of the client, whose parts are located. */
void client_from_client(struct client *e, struct frame *f);

#endif
