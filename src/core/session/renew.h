/* A session is lost, and renewed within the budget. */
#ifndef MCPSPLICE_CORE_SESSION_RENEW_H
#define MCPSPLICE_CORE_SESSION_RENEW_H

#include "core/session/state.h"

/* A new generation takes the place of the one of now, which is the former one
 * if it came to be. */
void session_next_generation(struct session *s);
/* Enters the phase and sends an initialize (borrowed) of the new generation; c
 * is the client's, or NULL. timeout is in ms, 0: none. */
void session_open_begin(struct session *s, struct frame *body, struct call *c,
    enum phase phase, int64_t timeout);
/* The time of a renewal: its part of the retry window, ms. */
int64_t session_renew_window(const struct session *s);
/* Renews the session, where the phase has one. why is the rule by which it is
 * lost; static, as in the functions below. */
void session_renew(struct session *s, const char *why);
/* The renewal that made the session of now counts as one that did not help,
 * once. */
void session_count_failed_renewal(struct session *s);
/* May a call that was refused begin a renewal now? The one before counts
 * when its session served nobody. */
bool session_may_renew(struct session *s);
/* A call needs the session that is known dead: NULL when it is renewed now,
 * else the error for the call with this id (owned by the caller). */
struct frame *session_revive(struct session *s, struct span id);

/* --- renewals that no call waits for --- */

/* The session is gone and no call of the client waits for it: it is renewed
 * within the budget, so that a server cannot make us spin. */
void session_renew_unasked(struct session *s, const char *why);
/* The same where the client did not even speak: after a while, or when it
 * does. */
void session_renew_later(struct session *s, const char *why);
/* A one-way message was refused as lost. */
void session_one_way_lost(struct session *s, const struct attempt *l);
/* Begins the renewal that is due. */
void session_renew_tick(struct session *s);
/* The answer to ACTION_CHECK_PEERS. */
void session_peer_state(struct session *s, bool newer_peer);

#endif
