/* The user is asked to sign in. */
#ifndef MCPSPLICE_CORE_SESSION_SIGN_IN_H
#define MCPSPLICE_CORE_SESSION_SIGN_IN_H

#include "core/session/state.h"

/* This attempt waits for the user, and text tells how to sign in; n 0: it does
 * not wait any more. */
void session_sign_in(struct session *s, struct attempt *l, struct span text);
/* There are new credentials: goes on with whatever waited for them. */
void session_signed_in(struct session *s);
/* Does the current initialize wait for the user? */
bool session_opening_waits(const struct session *s);
/* Does a renewal wait for the user, and with it all calls that are held? */
bool session_renewal_waits(const struct session *s);
/* When this call gets the error that the user has to sign in, or ALARM_NEVER.
 * Begins the wait if the call has to wait, and ends it if not. renewal_waits is
 * what session_renewal_waits says. */
int64_t session_sign_in_due(struct session *s, struct call *c,
    bool renewal_waits);
/* The facts of an exchange that ended because the user did not sign in. They
 * borrow from s. */
struct facts session_sign_in_facts(const struct session *s);
/* The error for a call that waited too long for the user. Owned by the
 * caller. */
struct frame *session_sign_in_error(const struct session *s,
    const struct call *c);

#endif
