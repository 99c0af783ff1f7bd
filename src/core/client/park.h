/*
 * Requests whose client is asked something first, and their answers.
 */
#ifndef MCPSPLICE_CORE_CLIENT_PARK_H
#define MCPSPLICE_CORE_CLIENT_PARK_H

#include "core/client/state.h"

/* The answer to a bridged request that the client waits for. */
void client_answered(struct client *e, struct request *r, struct frame *answer);
/* The retry of a parked request? Then it is handled. */
bool client_retry(struct client *e, struct frame *f);
/* The answer to a parked request. */
void client_park_final(struct client *e, struct request *r,
    struct frame *answer);
/* Asks by what was collected, and gives up what waited for too long. */
void client_park_tick(struct client *e);

#endif
