/*
 * What the client sends.
 */
#ifndef MCPSPLICE_CORE_CLIENT_FROM_CLIENT_H
#define MCPSPLICE_CORE_CLIENT_FROM_CLIENT_H

#include "core/client/state.h"

/* A frame of the client, located. */
void client_from_client(struct client *e, struct frame *f);

#endif
