/*
 * The queue of actions. Those that send or write take over the frame.
 */
#ifndef MCPSPLICE_CORE_CLIENT_ACT_H
#define MCPSPLICE_CORE_CLIENT_ACT_H

#include "core/client/state.h"

/* A frame to the session, as if from the client. */
void client_send(struct client *e, struct frame *f);
/* A frame to the client; an error in place of a result that is too large. */
void client_write(struct client *e, struct frame *f);
/* The server/discover that detection is to ask first; NULL: the client is a
 * legacy one. */
void client_probe(struct client *e, struct frame *f);
/* A decision, for people. */
void client_log(struct client *e, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Drops the actions that nobody took. */
void client_actions_free(struct client *e);

#endif
