/*
 * Handles requests and notifications of a modern client once the session is
 * open.
 */
#ifndef MCPSPLICE_CORE_CLIENT_REQUEST_H
#define MCPSPLICE_CORE_CLIENT_REQUEST_H

#include "core/client/state.h"

/* Sends, parks or answers the request f, which was checked. */
void client_request(struct client *e, struct frame *f);
/* Drops r, which was held back, and handles its frame by client_request. */
void client_dispatch(struct client *e, struct request *r);
/* The server is a modern one now. Listens that are not acknowledged are sent to
 * it as requests; the client is told that the others are lost. */
void client_hand_over(struct client *e);
/* Handles the notification f of a modern client. */
void client_notification(struct client *e, struct frame *f);
/* The client closed stdin: ends the requests that would never end by
 * themselves. */
void client_eof(struct client *e);

/* Translates f, which is about to go out to the server, if the server (modern
 * or not) is of another era than the one f was made for. request is the request
 * of the session's client that f is sent for, NULL: none; the id of f may be
 * another one. Returns the frame to send instead, owned by the caller; NULL: f
 * fits as it is. */
struct frame *client_fit(struct client *e, const struct frame *request,
    struct frame *f, bool modern);

#endif
