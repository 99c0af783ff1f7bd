/* What every part does: actions for the caller of session_next, deadlines, the
 * phase, and one attempt that is started, made again or aborted. */
#ifndef MCPSPLICE_CORE_SESSION_ACT_H
#define MCPSPLICE_CORE_SESSION_ACT_H

#include "core/session/state.h"

/* --- actions --- */

/* Frees the actions that nobody took, and the queue. */
void session_drop_actions(struct session *s);
/* A decision, for people. The text is cut after 511 bytes. */
void session_log(struct session *s, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* May a warning be said that may not be said before *say_at? Then it may be
 * said again after pause ms. */
bool session_may_say(const struct session *s, int64_t *say_at, int64_t pause);
/* Writes a frame (borrowed) to the client, unless nobody reads stdout. */
void session_write(struct session *s, struct frame *f);
/* The same for what the server said on this attempt. */
void session_pass(struct session *s, struct frame *f, const struct attempt *l);
/* Saves for somebody: the session to end when we are killed. NULL: there is
 * none any more. */
void session_save(struct session *s, struct generation *g);
/* An action with what the start needs: the initialize, and its answer. */
void session_ask(struct session *s, enum session_action_kind kind);
/* Reads stdin, or stops to, by what is held now. */
void session_want_read(struct session *s);
/* Ends the program when stdout is flushed. */
void session_exit(struct session *s);

/* --- attempts --- */

/* Sends an attempt now. */
void session_start(struct session *s, struct attempt *l);
/* Ends its exchange; an attempt that has none is dropped. */
void session_abort(struct session *s, struct attempt *l);
/* A copy of this attempt that goes out in wait ms; the old one is dropped. */
struct attempt *session_again(struct session *s, struct attempt *l,
    int64_t wait);
/* A request of ours with an id of ours. Owned by the caller. */
struct frame *session_own_request(struct session *s, const char *method,
    struct span params);
/* The request under an id of ours. Owned by the caller. */
struct frame *session_with_own_id(struct session *s, struct frame *request);

/* --- phases and time --- */

/* Sends an attempt in ms. */
void session_start_in(struct session *s, struct attempt *l, int64_t ms);
/* Ends the exchange of an attempt in ms, if it has not ended by then. */
void session_abort_in(struct session *s, struct attempt *l, int64_t ms);
/* Does the phase of now permit any of these (enum phase_bit)? */
bool phase_permits(const struct session *s, unsigned bits);
/* May requests and notifications go out? */
bool gate_is_open(const struct session *s);
/* What it means that the phase of now has come to its deadline. */
enum lateness session_lateness(const struct session *s);
/* The name of the phase of now, for people; static. */
const char *session_phase_name(const struct session *s);
/* Enters a phase that ends at the deadline, or ALARM_NEVER. Nothing else
 * changes the phase. */
void session_phase(struct session *s, enum phase phase, int64_t deadline);

#endif
