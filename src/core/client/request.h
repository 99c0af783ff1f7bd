/*
 * What a modern client sends once the session is open.
 */
#ifndef MCPSPLICE_CORE_CLIENT_REQUEST_H
#define MCPSPLICE_CORE_CLIENT_REQUEST_H

#include "core/client/state.h"

/* A request that was checked; the session is open. */
void client_request(struct client *e, struct frame *f);
/* One that was held. */
void client_dispatch(struct client *e, struct request *r);
/* The server is a modern one: what no listen was promised yet goes to it. */
void client_hand_over(struct client *e);
/* A notification of a modern client. */
void client_notification(struct client *e, struct frame *f);
/* The client closed stdin: ends what would never end. */
void client_eof(struct client *e);

#endif
