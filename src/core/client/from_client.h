/*
 * Takes the frames of the client.
 */
#ifndef MCPSPLICE_CORE_CLIENT_FROM_CLIENT_H
#define MCPSPLICE_CORE_CLIENT_FROM_CLIENT_H

#include "core/client/state.h"

/* Handles a frame of the client, whose parts are located. */
void client_from_client(struct client *e, struct frame *f);

#endif
