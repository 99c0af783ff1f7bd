/*
 * Parked requests, their retries, and the answers to bridged requests.
 */
#ifndef MCPSPLICE_CORE_CLIENT_INPUT_REQUIRED_H
#define MCPSPLICE_CORE_CLIENT_INPUT_REQUIRED_H

#include "core/client/state.h"

/* Takes the answer to the bridged request r, which the client waits for. Writes
 * it to the client and drops r, or parks r if the client must open URLs
 * first. */
void client_answered(struct client *e, struct request *r, struct frame *answer);
/* Handles f if it is a retry of a parked request, or claims to be one. Returns
 * false if it is an ordinary request. */
bool client_retry(struct client *e, struct frame *f);
/* Takes the answer to the parked request r, and keeps it for the retry. */
void client_park_final(struct client *e, struct request *r,
    struct frame *answer);
/* Parks the first request in `collecting` if its time is over, and gives up
 * each parked request whose time is over. */
void client_park_tick(struct client *e);

#endif
