/* A session is lost and renewed. */
#ifndef MCPSPLICE_CORE_SESSION_RENEW_H
#define MCPSPLICE_CORE_SESSION_RENEW_H

#include "core/session/state.h"

/* Begins a new generation. The current one becomes the former one if it was
 * opened. */
void session_next_generation(struct session *s);
/* Enters this phase and sends an initialize (borrowed) of the new generation. c
 * is the client's call, or NULL. timeout is in ms; 0: none. */
void session_open_begin(struct session *s, struct frame *body, struct call *c,
    enum phase phase, int64_t timeout);
/* How long a renewal may take, in ms: BOUND_RENEW_MS without a retry
 * window. */
int64_t session_renew_window(const struct session *s);
/* When this call stops waiting for the renewal. */
int64_t session_wait_end(const struct session *s, const struct call *c);
/* The soonest and the latest session_wait_end of the calls that wait;
 * ALARM_NEVER: none waits. */
int64_t session_wait_soonest(const struct session *s);
int64_t session_wait_latest(const struct session *s);
/* Sends a second initialize of the same renewal if this one is silent while a
 * call waits, because its connection may be dead. If this one had
 * BOUND_RENEW_MS, it is aborted, and another one takes its place. */
void session_hedge(struct session *s, struct attempt *l);
/* When session_hedge has something to do. */
int64_t session_hedge_due(const struct session *s, const struct attempt *l);
/* Renews the session, if the phase permits that. why is the rule by which the
 * session is lost; static, here and in the functions below. */
void session_renew(struct session *s, const char *why);
/* Charges the renewal that made the current session to the budget, once, as one
 * that did not help. */
void session_count_failed_renewal(struct session *s);
/* Renews a session that was lost before a call was sent in it, but not twice in
 * a row, and not without a renewal left. Returns false if that is not
 * allowed. */
bool session_renew_again(struct session *s, const char *why);
/* May a refused call begin a renewal now? Charges the renewal before, if its
 * session has answered no call. */
bool session_may_renew(struct session *s);
/* Appends in a few words why there is no session. error is the server's own, or
 * NULL. */
void session_setback_text(const struct facts *f, const struct frame *error,
    struct buf *out);
/* Appends what came of the try before the one that was too late, if it
 * failed. */
void session_try_before(const struct session *s, struct buf *out);
/* Returns what to do after these facts, or after those of the try before if
 * they only say that it was too late. Borrows from both. */
struct span session_remedy(const struct session *s, const struct facts *f);
/* Makes the error for a request for which there is no session, because
 * initialize ended with these facts, and with the server's error unless that is
 * NULL. The error of the request itself, refusal, may be NULL; it waited for
 * waited_ms; maybe: it may have run. The caller owns the frame. */
struct frame *session_unopened(const struct session *s,
    const struct frame *request, const struct facts *f,
    const struct frame *error, const struct frame *refusal, int64_t waited_ms,
    bool maybe);
/* A request, which may have run before, needs a session in PHASE_DEAD. Returns
 * NULL if a renewal began, or the error for the request (owned by the caller):
 * why the one before failed. */
struct frame *session_revive(struct session *s, const struct frame *request,
    bool maybe);

/* --- renewals that no call waits for --- */

/* The session is gone and no call waits for it: renews it, within a budget of
 * its own, so that a server cannot keep mcpsplice busy. */
void session_renew_unasked(struct session *s, const char *why);
/* The same if the client has sent nothing: renews the session after a random
 * wait, or when the client sends something. */
void session_renew_later(struct session *s, const char *why);
/* A one-way message was refused because the session is lost. */
void session_one_way_lost(struct session *s, const struct attempt *l);
/* The server may be there again: the renewal after a start from the cache
 * begins now, if none is under way. */
void session_renew_now(struct session *s);
/* Begins the renewal that ALARM_RENEW is for. */
void session_renew_tick(struct session *s);
/* Takes the answer to ACTION_CHECK_PEERS. */
void session_peer_state(struct session *s, bool newer_peer);

#endif
