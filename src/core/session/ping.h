/* A ping finds out whether the session is gone. */
#ifndef MCPSPLICE_CORE_SESSION_PING_H
#define MCPSPLICE_CORE_SESSION_PING_H

#include "core/session/state.h"

/* Sends a ping, unless one is under way. why is for the log. Returns the first
 * ticket of a ping that can decide about a doubt of now: a ping that is under
 * way cannot, because the session may have been lost since. */
uint64_t session_ping(struct session *s, const char *why);
/* The answer to the ping came. */
void session_ping_message(struct session *s, struct attempt *l,
    const struct facts *f, struct frame *m);
/* The exchange of the ping is over. */
void session_ping_done(struct session *s, struct attempt *l,
    const struct facts *f);
/* The exchange of a ping under an unknown session id is over. */
void session_stranger_done(struct session *s, struct attempt *l,
    const struct facts *f);
/* Sends a ping if a call has been silent for long, and at --ping-interval. */
void session_ping_tick(struct session *s);
/* Sets ALARM_PING by --ping-interval. */
void session_ping_due(struct session *s);

#endif
