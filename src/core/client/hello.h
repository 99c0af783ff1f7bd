/*
 * The session opens for a modern client, or the client begins another.
 */
#ifndef MCPSPLICE_CORE_CLIENT_HELLO_H
#define MCPSPLICE_CORE_CLIENT_HELLO_H

#include "core/client/state.h"

/* The answer to our initialize. */
void client_opened(struct client *e, struct request *r, struct frame *answer);
/* Answers each server/discover that waited for too long. */
void client_probes_tick(struct client *e);
/* The client initializes by this frame, perhaps after it was a modern one. */
void client_become_legacy(struct client *e, struct frame *f);

#endif
