/*
 * The end of the wait for a session: the session has opened for a modern
 * client, or the client begins another session.
 */
#ifndef MCPSPLICE_CORE_CLIENT_HELLO_H
#define MCPSPLICE_CORE_CLIENT_HELLO_H

#include "core/client/state.h"

/* Takes the answer to REQUEST_OPEN r, and dispatches or answers the requests
 * that waited for it. */
void client_opened(struct client *e, struct request *r, struct frame *answer);
/* Answers each server/discover whose time is over. */
void client_probes_tick(struct client *e);
/* The client sent initialize, f. Ends what the client asked as a modern one, if
 * it was one, and sends f to the session. */
void client_become_legacy(struct client *e, struct frame *f);

#endif
