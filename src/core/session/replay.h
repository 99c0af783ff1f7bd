/* What is sent again, and why. */
#ifndef MCPSPLICE_CORE_SESSION_REPLAY_H
#define MCPSPLICE_CORE_SESSION_REPLAY_H

#include "core/session/state.h"

/* May this call be sent again although it may have run? */
bool session_is_safe(const struct session *s, const struct call *c);
/* Adjusts a ruling (r) for an answer to this call on this attempt: words of a
 * lost session that come late, or after other messages, leave open whether the
 * call ran. */
struct ruling session_weigh(const struct session *s, const struct call *c,
    const struct attempt *l, const struct facts *f, struct ruling r);
/* This generation is lost and refused the call, which did not run. refusal is
 * the server's error, or NULL. */
void session_refused(struct session *s, struct call *c, struct generation *g,
    int status, struct frame *refusal, const char *rule);
/* The session ended while the call was running. */
void session_interrupted(struct session *s, struct call *c,
    struct generation *g, struct frame *refusal, const char *rule);
/* The server refused the call because its new session is not ready yet. */
void session_unready(struct session *s, struct call *c, struct frame *refusal,
    const char *rule);
/* The call was answered in this generation. */
void session_served(struct session *s, struct call *c, struct generation *g);
/* Sends the calls that were refused and wait for the new session, in the
 * client's order. */
void session_replay(struct session *s);
/* The call may have run and will get no answer: sends it again after wait ms if
 * that is safe. Otherwise returns false and changes nothing. */
bool session_repeat(struct session *s, struct call *c, int64_t wait);

/* --- one id, accepted and refused --- */

/* The session lives, and the call was refused without a word: sends it again if
 * another replica may know the session. Otherwise returns false. */
bool session_try_elsewhere(struct session *s, struct call *c);
/* The wait before the n-th further try with the same session id, in ms. */
int64_t session_flap_wait(unsigned n);
/* Stops waiting for a scout that was not refused but takes too long: the other
 * calls are sent. */
void session_scout_tick(struct session *s);

#endif
