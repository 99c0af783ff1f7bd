/* What is sent again, and why. */
#ifndef MCPSPLICE_CORE_SESSION_REPLAY_H
#define MCPSPLICE_CORE_SESSION_REPLAY_H

#include "core/session/state.h"

/* May this call be sent again although it may have run? */
bool session_is_safe(const struct session *s, const struct call *c);
/* Is the client waiting for a list of tools, which may say that this call is
 * safe? */
bool session_awaits_tools(const struct session *s, const struct call *c);
/* May this attempt, which was refused for now, not go out again, because its
 * call is not known to be safe? Then it waits for the list of tools, or the call
 * ends. */
bool session_is_unsure(struct session *s, struct attempt *l);
/* The door of this generation refused the call, which did not run: the call
 * waits for the next session, or gets its refusal. */
void session_refused(struct session *s, struct call *c, struct generation *g);
/* Ends the call with its refusal. If the server said nothing that the client can
 * be told, what is the end of our own sentence, and maybe tells that the call
 * may have run. */
void session_refusal_stands(struct session *s, struct call *c, const char *what,
    bool maybe);
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

/* Replicas do not share their sessions: sends the call in doubt again with the
 * same session id, if another replica may know it. Otherwise returns false. */
bool session_try_elsewhere(struct session *s, struct call *c);
/* One session id was accepted and refused, with this mark: this is remembered
 * for a while, and the user is warned. */
void session_flapping(struct session *s, uint64_t mark);
/* The wait before the n-th further try with the same session id, in ms. */
int64_t session_flap_wait(unsigned n);

#endif
