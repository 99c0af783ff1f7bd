/*
 * Takes the frames that the session writes.
 */
#ifndef MCPSPLICE_CORE_CLIENT_FROM_SESSION_H
#define MCPSPLICE_CORE_CLIENT_FROM_SESSION_H

#include "core/client/state.h"

/* Handles the frame in an input of kind CLIENT_SESSION. */
void client_from_session(struct client *e, const struct event *in);

#endif
