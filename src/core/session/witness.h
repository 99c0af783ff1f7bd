/* A witness tells whether the door of the server refused a call. */
#ifndef MCPSPLICE_CORE_SESSION_WITNESS_H
#define MCPSPLICE_CORE_SESSION_WITNESS_H

#include "core/session/state.h"

/* The answer to this call on this attempt may be a refusal of a session that is
 * gone: the call waits for a witness. m is the server's error, or NULL; then
 * error (taken) is the one that mcpsplice made. */
extern const char session_failure[];
void session_doubt(struct session *s, struct call *c, struct attempt *l,
    const struct facts *f, struct frame *m, struct frame *error,
    struct ruling r);
/* Does an answer of this status to a witness tell something, because a call that
 * waits for it got the same status? */
bool session_witness_tells(const struct session *s, int status);
/* The answer to an ATTEMPT_WITNESS came. */
void session_witness_message(struct session *s, struct attempt *l,
    const struct facts *f, const struct frame *m);
/* The exchange of an ATTEMPT_WITNESS is over. */
void session_witness_done(struct session *s, struct attempt *l,
    const struct facts *f);
/* A witness that is silent for long is joined by others. */
void session_witness_tick(struct session *s, struct attempt *l);
/* Sends the witness of the doubt, to which the new session must answer before a
 * call is sent again: one that is refused there, too, proves nothing. A fragile
 * session gets it when the server has taken initialized. */
void session_witness_again(struct session *s);
/* Does the new session have to answer the witness still? */
bool session_awaits_witness(const struct session *s);
/* Does the new session get its witness when it has taken initialized? */
bool session_witness_is_due(const struct session *s);
/* The calls that wait for the new session wait no longer for its answer to the
 * witness: without it no unsafe call is sent again. */
void session_witness_too_late(struct session *s);

#endif
