/* What the client sends. */
#ifndef MCPSPLICE_CORE_SESSION_FROM_CLIENT_H
#define MCPSPLICE_CORE_SESSION_FROM_CLIENT_H

#include "core/session/state.h"

/* Handles a message of the client (borrowed). */
void session_client(struct session *s, struct frame *f);
/* Handles a line of the client that is no message or too long: INPUT_INVALID
 * and INPUT_TOO_LONG. */
void session_invalid(struct session *s, const struct event *in);

#endif
