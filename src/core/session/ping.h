/* A ping finds out whether the session is gone. */
#ifndef MCPSPLICE_CORE_SESSION_PING_H
#define MCPSPLICE_CORE_SESSION_PING_H

#include "core/session/state.h"

/* The answer of this call's attempt is ambiguous: it waits for a ping. refusal
 * is the server's error, or NULL: then error is ours, and taken. ran tells
 * that the call may have run if the session is gone. */
void session_suspect(struct session *s, struct call *c, struct generation *g,
    int status, struct frame *refusal, struct frame *error, const char *rule,
    bool ran);
/* Asks now, if nothing asks already. why is for people. */
void session_ping(struct session *s, const char *why);
/* Its answer came. */
void session_ping_message(struct session *s, struct attempt *l,
    const struct facts *f, struct frame *m);
/* Its exchange is over. */
void session_ping_done(struct session *s, struct attempt *l,
    const struct facts *f);
/* Asks where a call is silent for long, and at the user's interval. */
void session_ping_tick(struct session *s);
/* When the user's interval wants the next one. */
void session_ping_due(struct session *s);

#endif
