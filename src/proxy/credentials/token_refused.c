/*
 * The judge of refusals: whether another token would help, and a login process is
 * started for it, or the refusal is final.
 *
 * Brakes keep mcpsplice from asking without end: a new token that was never
 * accepted stops further tries (the next comes after 15 s, doubling to 10 min),
 * and so does a login process that failed. But a renewal that met nobody is tried
 * again for each request, and at once after a 401, which shows that somebody is
 * there. However it goes, only so many login processes start in a given time.
 */
#include "config.h"

#include "proxy/credentials/state.h"

#include <stdlib.h>

#include "auth/challenge.h"
#include "auth/dpop.h"
#include "auth/pkce.h"
#include "os/place.h"

enum {
	CHANGED_MS = 5 * 1000 /* a token this young may not fit an old
			       * session */
};

bool
oauth_final(struct oauth *o, const struct waiter *w, const char *why,
    bool credentials_known_good)
{
	o->ops.refusal_final(w->ticket, why == NULL ? "" : why,
	    credentials_known_good, o->arg);
	return true;
}

/* The same with a text that it takes over. */
static bool
final(struct oauth *o, const struct waiter *w, char *why)
{
	oauth_final(o, w, why, false);
	free(why);
	return true;
}

bool
oauth_is_braked(struct oauth *o)
{
	int64_t full_until = o->started_until -
	    (BOUND_IN_A_ROW - 1) * BOUND_STEP_MS;

	if (o->brake_until < full_until && loop_now(o->loop) < full_until) {
		o->brake_until = full_until;
		string_set(&o->brake_why, "it rejects new tokens too soon");
	}
	return loop_now(o->loop) < o->brake_until;
}

void
oauth_brake(struct oauth *o, const char *why, int64_t first, int64_t most)
{
	o->brake_ms = o->brake_ms == 0 ? first : o->brake_ms * 2;
	if (o->brake_ms < first)
		o->brake_ms = first;
	if (o->brake_ms > most)
		o->brake_ms = most;
	o->brake_until = loop_now(o->loop) + o->brake_ms;
	string_set(&o->brake_why, why);
}

void
oauth_start_login(struct oauth *o, enum login_reason reason, bool interactive,
    const char *challenge)
{
	static const struct login_process_ops ops = { oauth_on_where,
		oauth_on_done };
	struct login_process_request r = {
		.argv = o->config.argv,
		.reason = reason,
		.interactive = interactive,
		.challenge = challenge,
		.peer = o->ops.peer(o->arg),
	};
	char hash[PKCE_BYTES];

	if (o->record.token.access != NULL &&
	    pkce_challenge(hash, o->record.token.access) == 0)
		r.rejected = hash;
	if (o->config.store == NULL || o->unkept)
		r.record = &o->record;
	if (o->started_until < loop_now(o->loop))
		o->started_until = loop_now(o->loop);
	o->started_until += BOUND_STEP_MS;
	string_set(&o->where, NULL);
	o->reason = reason;
	o->interactive = interactive;
	o->unreached = false;
	o->before = o->stamp;
	o->login_process = login_process_start(o->loop, o->config.program,
	    o->config.login_process, &r, &ops, o);
}

bool
oauth_may_ask_user(const struct oauth *o, const struct facts *f)
{
	return f->interactive && !o->config.asks_nobody;
}

bool
oauth_is_denied(const struct facts *f)
{
	return f->status == 401 || f->status == 403;
}

/* The store counts the browser tabs of all copies. Without a store they are
 * counted here, or a server that always wants another scope would open one tab
 * after the other. */
static bool
asked_too_often(const struct oauth *o)
{
	return o->config.store == NULL && o->asked[2] != 0 &&
	    loop_now(o->loop) - o->asked[2] < BOUND_TABS_MS;
}

static bool
refuse_another(struct oauth *o, const struct waiter *w)
{
	return final(o, w,
	    xasprintf("it has asked for too many sign-ins, and there is no "
		      "folder to note the next one in; set %s to a folder of "
		      "your own",
		os_place_variable(OS_PLACE_DATA)));
}

/* Waits for a login process, and starts one if there is none. A question joins
 * a process that asks the user, and waits for one that may not. */
static bool
want_login_process(struct oauth *o, const struct waiter *w,
    enum login_reason reason)
{
	const struct facts *f = &w->refusal->facts;
	bool interactive = oauth_may_ask_user(o, f);
	char *challenge;

	if (o->login_process != NULL)
		return false;
	if (o->attended && !interactive)
		return oauth_final(o, w, NULL, false);
	if (interactive && asked_too_often(o))
		return refuse_another(o, w);
	challenge = xstrndup(f->challenge.n == 0 ? "" : f->challenge.p,
	    f->challenge.n);
	oauth_start_login(o, reason, interactive, challenge);
	free(challenge);
	return false;
}

/* Was this scope requested before, granted or not? Another request would only
 * get the same (doc/protocol.md 8.10). */
static bool
was_asked(const struct oauth *o, const char *scope)
{
	struct record asked = { 0 };

	asked.token.scope_requested = o->record.token.scope_requested;
	return record_has_scopes(&asked, scope);
}

/* Did this request have its share of tokens with more scopes? */
static bool
has_enough_scopes(const struct oauth *o, const struct waiter *w)
{
	size_t i, n = 0;

	for (i = 0; i < BOUND_IN_A_ROW; i++)
		n += o->scoped[i] == w->ticket;
	return n >= (o->config.alone ? BOUND_MORE_SCOPES_ALONE : BOUND_AGAIN);
}

static bool
settle_scope(struct oauth *o, const struct waiter *w, const char *scope)
{
	bool busy = o->login_process != NULL, done;

	if (w->refusal->facts.stamp != o->stamp)
		return oauth_ready(o, w);
	if (scope == NULL || record_has_scopes(&o->record, scope) ||
	    was_asked(o, scope))
		return final(o, w,
		    xasprintf("the token lacks a permission that this "
			      "needs%s%s%s. Ask whoever grants it, or sign in "
			      "again: mcpsplice login URL",
			scope == NULL ? "" : " (the scope \"",
			scope == NULL ? "" : scope,
			scope == NULL ? "" : "\")"));
	if (has_enough_scopes(o, w))
		return oauth_final(o, w,
		    "it keeps asking for more scopes for the same request",
		    false);
	if (oauth_is_braked(o))
		return oauth_final(o, w, o->brake_why, false);
	done = want_login_process(o, w, LOGIN_SCOPE);
	if (!done && !busy)
		o->scoped[o->n_scoped++ % BOUND_IN_A_ROW] = w->ticket;
	return done;
}

/* Did the token come from a login process, and has no request with it been
 * accepted yet? */
static bool
is_new(const struct oauth *o)
{
	return o->stamp != 0 && o->fetched == o->stamp &&
	    o->accepted != o->stamp;
}

/* May the server have refused the session, and not the token? That is assumed
 * once for each token, but for all requests of that session, and only if the
 * server accepted tokens before. */
static bool
doubt_session(struct oauth *o, struct span session, bool may)
{
	if (session.n == 0 || o->stamp == 0 || o->accepted == 0)
		return false;
	if (o->doubted == o->stamp)
		return span_is(session, o->doubted_in);
	/* A login process that began with this token may bring a better one. */
	if (!may || (o->login_process != NULL && o->before == o->stamp))
		return false;
	o->doubted = o->stamp;
	free(o->doubted_in);
	o->doubted_in = xstrndup(session.p, session.n);
	return true;
}

/* The server takes only tokens that are bound to a key, and this one is not. */
static bool
wants_other_scheme(const struct oauth *o, const struct challenge *c)
{
	return challenge_offers_dpop(c) && !c->bearer && o->stamp != 0 &&
	    !o->bound;
}

static bool
settle_401(struct oauth *o, const struct waiter *w, const struct challenge *c)
{
	const struct facts *f = &w->refusal->facts;
	char *clock;

	if (o->unreached)
		o->brake_until = 0;
	if (oauth_is_braked(o))
		return oauth_final(o, w, o->brake_why, false);
	if (f->challenge.n == 0 &&
	    doubt_session(o, f->session, is_new(o) || !oauth_can_refresh(o)))
		return oauth_final(o, w, NULL, true);
	if (is_new(o) && o->blamed != o->stamp && !wants_other_scheme(o, c)) {
		o->blamed = o->stamp;
		clock = o->bound ?
		    dpop_clock(f->clock_ahead_s, o->config.host) :
		    NULL;
		oauth_brake(o,
		    clock != NULL ?
			clock :
			"it rejects a token that its own authorization server "
			"has just issued. The token may be for another "
			"audience or scope: see --resource, --no-resource, "
			"--scope",
		    BRAKE_MS, BOUND_PARKED_MS);
		free(clock);
		return oauth_final(o, w, o->brake_why, false);
	}
	return want_login_process(o, w,
	    o->stamp == 0 ? LOGIN_NONE : LOGIN_REJECTED);
}

/* A 403 that is not about scopes: the session may be bound to the bytes of the
 * previous token. */
static bool
settle_403(struct oauth *o, const struct waiter *w)
{
	bool changed = o->changed_at > 0 &&
	    loop_now(o->loop) - o->changed_at < CHANGED_MS;

	return oauth_final(o, w, NULL,
	    doubt_session(o, w->refusal->facts.session, changed));
}

/* Another status, which may be about the token because that has expired. The
 * user is not asked for it. If the refresh token is no good either, the record
 * has no token any more: the request goes out without one, and a 401 to that is
 * for the user. */
static bool
settle_expired(struct oauth *o, const struct waiter *w)
{
	if (w->refusal->facts.stamp != o->stamp)
		return oauth_ready(o, w);
	if (!oauth_is_over(o, 0) || oauth_is_braked(o) || o->attended)
		return oauth_final(o, w, NULL, false);
	if (o->login_process == NULL)
		oauth_start_login(o, LOGIN_EXPIRED, false, NULL);
	return false;
}

static bool
is_error(const struct oauth *o, const struct challenge *c, const char *name)
{
	const char *error = challenge_error(c, o->bound);

	return string_eq(error, name);
}

/* The token is good, but its proof needs the server's nonce, which may change
 * at any moment (RFC 9449 9): no other token would help. */
static bool
settle_nonce(struct oauth *o, const struct waiter *w)
{
	if (!dpop_has_nonce(o->dpop))
		return oauth_final(o, w,
		    "it requires a nonce (DPoP) but gives no usable one; its "
		    "operator has to fix that",
		    false);
	if (w->refusal->facts.again >= BOUND_TRIES)
		return oauth_final(o, w,
		    "it rejects every nonce (DPoP) that it gives; its "
		    "operator has to fix that",
		    false);
	return oauth_ready(o, w);
}

/* Is the refusal about the proof of this token, and not about the token? Sets
 * *done as settle does. */
static bool
settle_proof(struct oauth *o, const struct waiter *w, const struct challenge *c,
    bool *done)
{
	const struct facts *f = &w->refusal->facts;
	char *clock = NULL;

	if (!o->bound || f->stamp != o->stamp)
		return false;
	if (is_error(o, c, "use_dpop_nonce")) {
		*done = settle_nonce(o, w);
		return true;
	}
	if (is_error(o, c, "invalid_dpop_proof"))
		clock = dpop_clock(f->clock_ahead_s, o->config.host);
	if (clock == NULL)
		return false;
	*done = final(o, w, clock);
	return true;
}

/* The token is not the reason, so another one does not help. */
static bool
settle_denial(struct oauth *o, const struct waiter *w,
    const struct challenge *c)
{
	struct buf why = { 0 };

	denial_say(c, &why);
	return final(o, w, buf_take(&why));
}

/* The token is what is refused, or its scopes. */
static bool
settle_token(struct oauth *o, const struct waiter *w, const struct challenge *c)
{
	const struct facts *f = &w->refusal->facts;

	if (oauth_is_denied(f) && is_error(o, c, "insufficient_scope") &&
	    f->stamp != 0)
		return settle_scope(o, w, c->scope);
	if (o->stamp != 0 && f->stamp != o->stamp)
		return oauth_ready(o, w);
	if (oauth_is_denied(f) && f->stamp != 0 && denial_stands(c))
		return settle_denial(o, w, c);
	if (!oauth_is_denied(f) && !is_error(o, c, "invalid_token"))
		return settle_expired(o, w);
	/* Some servers answer an expired token with 403. */
	if (f->status == 403 && !oauth_is_over(o, 0))
		return settle_403(o, w);
	return settle_401(o, w, c);
}

bool
oauth_settle_refusal(struct oauth *o, const struct waiter *w)
{
	const struct facts *f = &w->refusal->facts;
	struct challenge c;
	bool done;

	if (f->refusals + (f->stamp != 0) >= BOUND_FLAPS)
		return oauth_final(o, w, "it rejected every token", false);
	challenge_parse(&c, f->challenge);
	if (!settle_proof(o, w, &c, &done))
		done = settle_token(o, w, &c);
	challenge_free(&c);
	return done;
}
