/* What the answer to a call means. */
#ifndef MCPSPLICE_CORE_SESSION_JUDGE_H
#define MCPSPLICE_CORE_SESSION_JUDGE_H

#include "core/session/state.h"

/* Judges what a call got: by the facts of the exchange (l) and the message that
 * answers the call. m is NULL if the exchange ended without one; then the
 * function returns false, and has done nothing, if the facts are not about the
 * session. */
bool session_judge(struct session *s, struct call *c, struct attempt *l,
    const struct facts *f, struct frame *m);
/* Returns the error that a call keeps until its session is renewed: the message
 * as it came, or only its code and text if the message is too large. Owned by
 * the caller. */
struct frame *session_refusal_to_keep(struct frame *m);
/* The error that the client gets if the refusal stands and the server sent none
 * of its own, or refused no more than to resume a stream. */
struct frame *session_own_error(const struct session *s, const struct call *c,
    const struct attempt *l, const struct facts *f);
/* The ruling for a call whose exchange ended without an answer. */
struct ruling session_judge_end(const struct session *s,
    const struct attempt *l, const struct facts *f);

#endif
