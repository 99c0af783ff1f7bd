/* The user is asked to sign in. */
#ifndef MCPSPLICE_CORE_SESSION_SIGN_IN_H
#define MCPSPLICE_CORE_SESSION_SIGN_IN_H

#include "core/session/state.h"

/* This attempt waits for the user (text) or does no more (n 0). */
void session_sign_in(struct session *s, struct attempt *l, struct span text);
/* There are new credentials: what waited for them goes on. */
void session_signed_in(struct session *s);
/* Does an initialize wait for the user? */
bool session_opening_waits(const struct session *s);
/* When this call is told that the user has to sign in, or ALARM_NEVER. Begins
 * the wait, or forgets it. */
int64_t session_sign_in_due(struct session *s, struct call *c);
/* The facts of an exchange that the user did not make possible. They borrow
 * from s. */
struct facts session_sign_in_facts(const struct session *s);
/* What a call is told that waited too long for the user. Owned by the
 * caller. */
struct frame *session_sign_in_error(const struct session *s,
    const struct call *c);

#endif
