/* What is sent again, and why. */
#ifndef MCPSPLICE_CORE_SESSION_REPLAY_H
#define MCPSPLICE_CORE_SESSION_REPLAY_H

#include "core/session/state.h"

/* May it be sent again although it may have run? */
bool session_is_safe(const struct session *s, const struct call *c);
/* What a ruling for an answer to this call on this attempt means at this
 * moment: words of a lost session that come late, or after other messages,
 * leave open whether the call ran. */
struct ruling session_weigh(const struct session *s, const struct call *c,
    const struct attempt *l, const struct facts *f, struct ruling r);
/* The call was refused by this generation as lost (it did not run). refusal
 * is the server's error, or NULL. */
void session_refused(struct session *s, struct call *c, struct generation *g,
    int status, struct frame *refusal, const char *rule);
/* The session ended while the call was executing. */
void session_interrupted(struct session *s, struct call *c,
    struct generation *g, struct frame *refusal, const char *rule);
/* The new session does not know yet that it is one. */
void session_unready(struct session *s, struct call *c, struct frame *refusal,
    const char *rule);
/* The call got an answer in this generation. */
void session_served(struct session *s, struct call *c, struct generation *g);
/* Sends what waits for the new session, in the client's order. */
void session_replay(struct session *s);
/* The call may have run and will have no answer: sends it again if that is
 * safe, after wait ms. Returns false when it is not; nothing changed then. */
bool session_repeat(struct session *s, struct call *c, int64_t wait);

/* --- one id, accepted and refused --- */

/* Was it seen lately that one id is accepted and refused? */
bool session_flaps(const struct session *s);
/* The n-th wait between two tries on the same session, ms. */
int64_t session_flap_wait(unsigned n);
/* Gives up a scout that takes too long. */
void session_scout_tick(struct session *s);

#endif
