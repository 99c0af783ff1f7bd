/* The life of a call. */
#ifndef MCPSPLICE_CORE_SESSION_CALL_H
#define MCPSPLICE_CORE_SESSION_CALL_H

#include "core/exchange/fault.h"
#include "core/session/state.h"

/* Changes the state of a call, and keeps up to date what is in flight. */
void session_call_state(struct session *s, struct call *c,
    enum call_state state);
/* May a call with the frame f be in flight as well? */
bool session_has_place(const struct session *s, const struct frame *f);
/* Returns false only if the request was certainly not sent, or was refused
 * before it ran. */
bool session_may_have_run(const struct call *c);
/* Sends the call now, in a new attempt. */
void session_send_call(struct session *s, struct call *c);
/* Sends the call in ms milliseconds, in a new attempt. */
void session_send_call_in(struct session *s, struct call *c, int64_t ms);
/* Separates a call from its attempt. The exchange of the attempt may linger. */
void session_detach(struct session *s, struct call *c);
/* A request of this call had a result in this generation. */
void session_note_worked(const struct call *c, struct generation *g);
/* Notes whether this result of the call came with the session's id. Returns true
 * if it did not, and all others of its kind in this generation did. */
bool session_lacks_id(struct generation *g, const struct call *c,
    const struct attempt *l, const struct facts *f);
/* Sets in f what the generation knows of requests like this one. */
void session_add_history(const struct session *s, const struct call *c,
    const struct generation *g, struct facts *f);
/* What the end of an exchange means, for any attempt but ATTEMPT_CALL. */
struct ruling session_ruling(const struct session *s, const struct attempt *l,
    const struct facts *f);

/* --- its end --- */

/* The call waits for a witness no longer. */
void session_end_doubt(struct call *c);
/* Returns the server's answer to this request as the client may see it: a list
 * of tools is filtered. Owned by the caller. */
struct frame *session_show(struct session *s, const struct frame *request,
    struct frame *answer);
/* Ends the call with this answer (borrowed), which gets the client's id. A call
 * that was cancelled gets none. */
void session_answer(struct session *s, struct call *c, struct frame *answer);
/* Is this the progress token of one of the latest calls that are over? */
bool session_is_token_over(const struct session *s, struct span token);
/* Was a call with this id among the last BOUND_ANSWERED that were answered? */
bool session_was_answered(const struct session *s, struct span id);
/* Ends the call with an error that mcpsplice made, which is taken. NULL: the
 * client gets no error. */
void session_fail(struct session *s, struct call *c, struct frame *error);
/* Returns the error for a call that runs, or ran, and whose exchange or stream
 * broke off. Owned by the caller. */
struct frame *session_cut_off(const struct session *s, const struct call *c,
    const struct facts *f);
/* Ends each call with the error id, which has the host's name only. */
void session_fail_all(struct session *s, enum fault_id id);
/* Ends an accepted call to which no answer will come. */
void session_fail_unanswered(struct session *s, struct call *c);
/* Ends every call that was accepted with 202, because the listen stream that
 * was to bring its answer, or with lost the session, is gone. */
void session_fail_accepted(struct session *s, bool lost);

#endif
