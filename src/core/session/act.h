/* The primitives that every part uses: actions for the caller of session_next,
 * the phase, the deadline, and one attempt that is started, made again or
 * aborted. */
#ifndef MCPSPLICE_CORE_SESSION_ACT_H
#define MCPSPLICE_CORE_SESSION_ACT_H

#include "core/session/state.h"

/* --- actions --- */

/* Logs a decision for people to read. The text is cut after 511 bytes. */
void session_log(struct session *s, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns false before *say_at. Otherwise the caller may give its warning now,
 * and *say_at moves to pause ms from now. */
bool session_may_say(const struct session *s, int64_t *say_at, int64_t pause);
/* Writes a frame (borrowed) to the client, unless nobody reads stdout. */
void session_write(struct session *s, struct frame *f);
/* Writes a frame of the server (borrowed) that came on this attempt. Of
 * list_changed that are equal and come in a burst only the last is written, a
 * moment later, but before whatever else is. */
void session_pass(struct session *s, struct frame *f, const struct attempt *l);
/* Writes the list_changed that were kept for a moment. */
void session_end_burst(struct session *s);
/* Has the session of g noted on disk, so that a later process can end it if
 * this one is killed. NULL: there is no session any more. */
void session_save(struct session *s, struct generation *g);
/* Queues an event that needs nothing but its kind. */
void session_ask(struct session *s, enum event_kind kind);
/* Asks the startup cache for a start of this client, and puts this one into
 * it. */
void session_ask_start(struct session *s);
void session_keep_start(struct session *s);
/* Pauses or resumes reading stdin, depending on how much is held. */
void session_want_read(struct session *s);
/* Ends the program when stdout is flushed. */
void session_exit(struct session *s);

/* --- attempts --- */

/* Sends an attempt now. */
void session_start(struct session *s, struct attempt *l);
/* Aborts the exchange of an attempt; drops an attempt that is not live. */
void session_abort(struct session *s, struct attempt *l);
/* May this initialize, which is under way, still make a session? Then that must
 * be deleted if nobody wants it. The stream of one that was answered may be
 * open for ever. */
bool session_may_open(const struct attempt *l);
/* Have both the same id? A server may give one to all its sessions. */
bool session_same_id(const struct generation *a, const struct generation *b);
/* Is this perhaps a session of the SDK for Python from 1.8.0 to 1.9.4? A DELETE
 * ends these servers for everybody, and any request before initialized, a ping
 * too, ends a session of 1.8.0. They know no revision after 2025-03-26, and
 * their session ids are 32 hexadecimal digits, which those of most others are
 * not. Later releases look the same to a client that asks for such a revision. */
bool session_is_fragile(const struct session *s, const struct generation *g);
/* Sends a DELETE for the session of g, and gives it BOUND_DELETE_MS. Returns
 * false, and sends none, if that would end the current session, too, or the
 * whole server. */
bool session_delete(struct session *s, struct generation *g);
/* Replaces an attempt by a copy that goes out in wait ms, and returns the copy.
 * The old attempt is dropped. */
struct attempt *session_again(struct session *s, struct attempt *l,
    int64_t wait);
/* Makes a request that mcpsplice itself sends, with a new id. Owned by the
 * caller. */
struct frame *session_own_request(struct session *s, const char *method,
    struct span params);
/* Makes an attempt of such a request, not live yet. */
struct attempt *session_own_attempt(struct session *s, enum attempt_kind kind,
    const char *method, struct span params, struct generation *g);
/* Copies a request under a new id that mcpsplice made. Owned by the caller. */
struct frame *session_with_own_id(struct session *s, struct frame *request);

/* --- phases and time --- */

/* Sends an attempt in ms milliseconds. */
void session_start_in(struct session *s, struct attempt *l, int64_t ms);
/* Aborts the exchange of an attempt in ms milliseconds, if it still runs. */
void session_abort_in(struct session *s, struct attempt *l, int64_t ms);
/* Nothing more is expected of this attempt, which is live: its exchange has
 * BOUND_LINGER_MS to end by itself. A server may leave each stream open, so of
 * more than BOUND_LINGERING that linger the oldest is aborted. */
void session_linger(struct session *s, struct attempt *l);
/* Does the current phase permit any of these (enum phase_bit)? */
bool phase_permits(const struct session *s, unsigned bits);
/* May requests and notifications go out? */
bool gate_is_open(const struct session *s);
/* What it means that the current phase has reached its deadline. */
enum lateness session_lateness(const struct session *s);
/* The name of the current phase for people to read; static. */
const char *session_phase_name(const struct session *s);
/* Enters a phase whose deadline is this time, or ALARM_NEVER. No other function
 * changes the phase. */
void session_phase(struct session *s, enum phase phase, int64_t deadline);

#endif
