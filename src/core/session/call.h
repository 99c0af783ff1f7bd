/* The life of a call. */
#ifndef MCPSPLICE_CORE_SESSION_CALL_H
#define MCPSPLICE_CORE_SESSION_CALL_H

#include "core/session/state.h"

/* Changes its state, and counts the calls in flight. */
void session_call_state(struct session *s, struct call *c,
    enum call_state state);
/* false only when its request was certainly not sent, or refused. */
bool session_may_have_run(const struct call *c);
/* A new attempt of the call, not live: under an id of ours where the server may
 * still know the client's as one that runs in this session. */
struct attempt *session_call_attempt(struct session *s, struct call *c);
/* The call runs: a new attempt goes out now. */
void session_send_call(struct session *s, struct call *c);
/* Its attempt is over for the call, which has no attempt then. */
void session_detach(struct session *s, struct call *c);
/* What the end of an exchange means that is not a call's. */
struct ruling session_ruling(const struct session *s, const struct attempt *l,
    const struct facts *f);

/* --- its end --- */

/* This call is the scout, for the time of its flaps; NULL: none is. */
void session_scout(struct session *s, struct call *c);
/* This call is no scout any more, if it was the one. */
void session_forget_scout(struct session *s, const struct call *c);
/* Forgets what the call waits with for a ping. */
void session_end_doubt(struct call *c);
/* Writes the answer (id put right) or nothing when the call was cancelled,
 * and forgets the call. answer is borrowed. */
void session_answer(struct session *s, struct call *c, struct frame *answer);
/* Was a call with this id answered lately? */
bool session_was_answered(const struct session *s, struct span id);
/* The same as session_answer with an error of our own, which is taken. NULL:
 * the client gets none. */
void session_fail(struct session *s, struct call *c, struct frame *error);
/* Calls that were answered 202 will have no answer: the listen stream, or
 * (lost) the session, is gone. */
void session_fail_accepted(struct session *s, bool lost);

#endif
