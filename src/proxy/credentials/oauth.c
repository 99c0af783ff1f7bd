/*
 * The token of the store, and the questions that wait for a better one.
 *
 * A question, or a refusal, that cannot be answered at once waits for the store
 * to be read or for the login process. After either of them, every waiting
 * question is decided again, so that each kind is decided in one
 * place: settle_ask and settle_refusal.
 *
 * Brakes keep mcpsplice from asking without end: a new token that was never
 * accepted stops further tries (the next comes after 15 s, doubling to 10 min),
 * and so does a login process that failed. But a renewal that met nobody is tried
 * again for each request, and at once after a 401, which shows that somebody is
 * there.
 * However it goes, only so many login processes start in a given time.
 */
#include "config.h"

#include "proxy/credentials/oauth.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "auth/challenge.h"
#include "auth/claims.h"
#include "auth/dpop.h"
#include "auth/login_process.h"
#include "auth/pkce.h"
#include "base/bounds.h"
#include "base/log.h"
#include "os/place.h"

enum {
	BRAKE_MS = 15 * 1000, /* the first wait after a failure */
	LATER_MS = 1000,      /* the first wait if it may work soon */
	CHANGED_MS = 5 * 1000 /* a token this young may not fit an old
			       * session */
};

struct waiter {
	struct waiter *next;
	uint64_t ticket;
	bool waited; /* INPUT_SIGN_IN may have been told of it */
	bool last;   /* a DELETE, not worth a new token */
	bool tried;  /* it has waited for a renewal */
	/* Its session is what may have been refused instead of the token; NULL:
	 * the request is not sent yet. */
	struct kept_facts *refusal;
};

struct oauth {
	struct loop *loop;
	struct oauth_config config;
	struct given *given;
	struct credentials *credentials;
	struct oauth_ops ops;
	void *arg;
	char name[STORE_NAME_BYTES];

	struct record record;
	uint64_t stamp;    /* of the token of record; 0: there is none */
	uint64_t stamps;   /* the latest stamp given out */
	uint64_t accepted; /* the latest stamp that the server accepted */
	uint64_t fetched;  /* the latest stamp that came from a login process */
	int64_t changed_at;
	uint64_t doubted; /* stamp of a token whose 401 or 403 was blamed on a
			   * session */
	char *doubted_in;
	uint64_t blamed; /* stamp of a token whose 401 was blamed on its
			  * issuer */
	bool attended;   /* only the user can bring the next token */
	struct headers headers;
	struct dpop *dpop; /* the key of record, and the server's nonce */
	bool bound;        /* the token at hand is bound to it */

	bool hinted;     /* the warning that the record is not kept was
			  * logged */
	bool unkept;     /* the store does not have this record */
	bool read;       /* the store was read at least once */
	bool expects;    /* a login process has put a new token into the
			  * store */
	uint64_t before; /* the stamp at the start of the login process */
	uint64_t seen;
	int64_t looked_at;
	struct store_op *get;

	struct login_process *login_process;
	enum login_reason reason; /* why the login process was started */
	bool interactive;         /* the login process may ask the user */
	bool unreached;           /* the renewal that the brake is for did not
				   * get to its server */
	char *where;              /* what it asked the user to do, in words */
	int64_t asked[3];         /* times when it asked, the latest first */
	int64_t brake_until, brake_ms;
	char *brake_why;
	/* Each login process adds BOUND_STEP_MS to it. */
	int64_t started_until;
	/* The tickets for which the latest tokens with more scopes were asked
	 * for, a ring. */
	uint64_t scoped[BOUND_IN_A_ROW];
	size_t n_scoped;

	struct waiter *waiters;
	struct waiter *walk; /* waiters that a walk has not reached yet */
	bool settling;
};

static bool settle(struct oauth *o, struct waiter *w);
static void brake(struct oauth *, const char *, int64_t, int64_t);
static void end_waiting(struct oauth *, const char *, bool);
static void on_login_process_where(const char *, const char *, void *);
static void on_login_process_done(enum login_end, const char *, int64_t,
    const struct record *, void *);

/* --- the token at hand --- */

static void
take_token(struct oauth *o)
{
	const struct record *r = &o->record;
	const char *token = r->token.access;
	struct buf value = { 0 };

	if (o->config.use_id_token && r->token.id_token != NULL)
		token = r->token.id_token;
	headers_free(&o->headers);
	o->stamp = 0;
	o->attended = false;
	o->bound = token == r->token.access && dpop_is_bound(r);
	if (token == NULL)
		return;
	dpop_set_key(o->dpop, o->bound ? r->dpop_key : NULL);
	buf_adds(&value, o->bound ? "DPoP " : "Bearer ");
	buf_adds(&value, token);
	if (headers_add(&o->headers, span_of("Authorization"), buf_span(&value),
		true) == 0)
		o->stamp = ++o->stamps;
	buf_wipe(&value);
}

/* Takes over the record of the store; r may be NULL. Returns whether the token
 * changed. */
static bool
adopt(struct oauth *o, const struct record *r)
{
	const char *now = o->record.token.access;
	const char *then = r == NULL ? NULL : r->token.access;
	bool same = now == then ||
	    (now != NULL && then != NULL && strcmp(now, then) == 0);

	record_free(&o->record);
	if (r != NULL)
		record_copy(&o->record, r);
	if (same)
		return false;
	take_token(o);
	/* The first token is not a change: the session began with it. */
	if (o->read || o->config.store == NULL)
		o->changed_at = loop_now(o->loop);
	return true;
}

static bool
can_refresh(const struct oauth *o)
{
	return (o->config.alone && !o->attended) ||
	    o->record.token.refresh != NULL;
}

/* Will the token have expired in so many seconds, and can a better one be
 * had? */
static bool
is_over(const struct oauth *o, int64_t in_s)
{
	return o->stamp != 0 &&
	    !record_usable(&o->record, (int64_t)time(NULL) + in_s) &&
	    can_refresh(o);
}

/* Without the peer's address a login process would take the MCP server for one
 * on the internet, and refuse an authorization server in the same private
 * network. If the MCP server was public when the token was issued, that is
 * right. */
static bool
is_too_early(const struct oauth *o)
{
	return o->config.needs_peer && !o->record.server_public &&
	    o->ops.peer(o->arg) == NULL;
}

/* Requests need not ask until the next look at the store, but not while the
 * store is read, nor when the token is about to expire. */
static void
fill(struct oauth *o)
{
	int64_t now = loop_now(o->loop), until = 0;

	if (o->get == NULL && !is_over(o, LAST_S))
		until = LOOK_MS +
		    (o->config.store == NULL ? now : o->looked_at);
	given_fill(o->given, o->credentials, now, &o->headers, o->stamp, until);
	o->credentials->bound = o->bound;
	o->credentials->early = is_over(o, 0) && is_too_early(o);
}

/* --- waiting --- */

/* where NULL: the user is not waited for any more. */
static void
tell_where(struct oauth *o, const struct waiter *w, const char *where)
{
	struct event e = { .kind = INPUT_SIGN_IN, .ticket = w->ticket };

	e.text = where;
	o->ops.event(&e, o->arg);
}

static void
tell_changed(struct oauth *o)
{
	struct event e = { .kind = INPUT_SIGNED_IN };

	if (o->stamp != 0)
		o->ops.event(&e, o->arg);
}

static void
credentials_ready(struct oauth *o, const struct waiter *w)
{
	if (w->waited)
		tell_where(o, w, NULL);
	fill(o);
	o->ops.credentials_ready(w->ticket, o->arg);
}

/* why NULL: the server's own text is the answer. Returns true. */
static bool
refusal_final(struct oauth *o, const struct waiter *w, const char *why,
    bool credentials_known_good)
{
	o->ops.refusal_final(w->ticket, why == NULL ? "" : why,
	    credentials_known_good, o->arg);
	return true;
}

static void
waiter_free(struct waiter *w)
{
	facts_free(w->refusal);
	free(w);
}

static void
wait_add(struct oauth *o, struct waiter *w)
{
	struct waiter **at = &o->waiters;

	while (*at != NULL)
		at = &(*at)->next;
	w->next = NULL;
	w->waited = true;
	*at = w;
	if (o->login_process != NULL && o->where != NULL)
		tell_where(o, w, o->where);
}

/* A walk visits each waiter once and takes it out of the lists first, so that a
 * callback may drop other waiters or ask again. */
static void
walk_begin(struct oauth *o)
{
	o->walk = o->waiters;
	o->waiters = NULL;
}

static struct waiter *
walk_next(struct oauth *o)
{
	struct waiter *w = o->walk;

	if (w != NULL)
		o->walk = w->next;
	return w;
}

/* Decides every waiting question again. Those that still have to wait, and new
 * ones, are in o->waiters after it. */
static void
settle_all(struct oauth *o)
{
	struct waiter *w;

	if (o->settling)
		return;
	o->settling = true;
	walk_begin(o);
	while ((w = walk_next(o)) != NULL) {
		if (settle(o, w))
			waiter_free(w);
		else
			wait_add(o, w);
	}
	o->settling = false;
}

/* Drops the waiter with this ticket. Returns false if it is not in this
 * list. */
static bool
drop_from(struct waiter **at, uint64_t ticket)
{
	struct waiter *w;

	for (; (w = *at) != NULL; at = &w->next)
		if (w->ticket == ticket) {
			*at = w->next;
			waiter_free(w);
			return true;
		}
	return false;
}

void
oauth_drop(struct oauth *o, uint64_t ticket)
{
	if (!drop_from(&o->waiters, ticket))
		drop_from(&o->walk, ticket);
}

/* --- the store --- */

/* A user of mcp-remote is signed in already. Its token is only used here: the
 * login process writes a record as soon as it has a new token. */
static bool
adopt_import(struct oauth *o)
{
	char *from = NULL, *why = NULL;
	struct record r = { 0 };
	bool changed;

	if (o->config.import == NULL ||
	    !import_tokens(&r, o->config.import, &from, &why)) {
		if (why != NULL)
			log_info("%s", why);
		free(why);
		return adopt(o, NULL);
	}
	log_info("signed in with the token of mcp-remote from %s", from);
	free(from);
	changed = adopt(o, &r);
	record_free(&r);
	return changed;
}

static void
on_record(const struct record *r, const char *why, void *arg)
{
	struct oauth *o = arg;
	bool expected = o->expects, changed = false;

	/* If the store cannot be read, keep the current record. */
	if (why == NULL)
		changed = r == NULL ? adopt_import(o) : adopt(o, r);
	o->get = NULL;
	o->read = true;
	o->expects = o->unkept = false;
	if (why != NULL)
		log_warn("%s", why);
	if (changed)
		tell_changed(o);
	if (expected && o->stamp == o->before) {
		brake(o,
		    "the login succeeded, but the token store has no new token",
		    LATER_MS, BOUND_MINUTE_MS);
		end_waiting(o, o->brake_why, false);
		return;
	}
	if (expected)
		o->fetched = o->stamp;
	settle_all(o);
}

static void
read_store(struct oauth *o)
{
	o->credentials->until = 0;
	o->seen = store_stamp(o->config.store, o->name);
	o->looked_at = loop_now(o->loop);
	o->get = store_get(o->config.store, o->name, on_record, o);
}

/* Is the record the same as in the store? The store is checked at most once a
 * second, or at once with now. Returns false while the store is being read. */
static bool
is_read(struct oauth *o, bool now)
{
	int64_t ms = loop_now(o->loop);

	if (o->get != NULL)
		return false;
	if (o->config.store == NULL)
		return true;
	if (o->read && !now && ms - o->looked_at < LOOK_MS)
		return true;
	o->looked_at = ms;
	if (o->read && store_stamp(o->config.store, o->name) == o->seen)
		return true;
	read_store(o);
	return false;
}

/* --- the login process --- */

/* A server that accepts each new token once would have one login process after
 * the other, so their number in a given time is limited here. */
static bool
is_braked(struct oauth *o)
{
	int64_t full_until = o->started_until -
	    (BOUND_IN_A_ROW - 1) * BOUND_STEP_MS;

	if (o->brake_until < full_until && loop_now(o->loop) < full_until) {
		o->brake_until = full_until;
		free(o->brake_why);
		o->brake_why = xstrdup("it rejects new tokens too soon");
	}
	return loop_now(o->loop) < o->brake_until;
}

static void
brake(struct oauth *o, const char *why, int64_t first, int64_t most)
{
	o->brake_ms = o->brake_ms == 0 ? first : o->brake_ms * 2;
	if (o->brake_ms < first)
		o->brake_ms = first;
	if (o->brake_ms > most)
		o->brake_ms = most;
	o->brake_until = loop_now(o->loop) + o->brake_ms;
	free(o->brake_why);
	o->brake_why = xstrdup(why);
}

static void
start_login_process(struct oauth *o, enum login_reason reason, bool interactive,
    const char *challenge)
{
	static const struct login_process_ops ops = { on_login_process_where,
		on_login_process_done };
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
	free(o->where);
	o->where = NULL;
	o->reason = reason;
	o->interactive = interactive;
	o->unreached = false;
	o->before = o->stamp;
	o->login_process = login_process_start(o->loop, o->config.program,
	    o->config.login_process, &r, &ops, o);
}

static void
on_login_process_where(const char *url, const char *code, void *arg)
{
	struct oauth *o = arg;
	struct waiter *w;

	if (o->where == NULL) {
		o->asked[2] = o->asked[1];
		o->asked[1] = o->asked[0];
		o->asked[0] = loop_now(o->loop);
	}
	free(o->where);
	o->where = code == NULL ?
	    xasprintf("open %s in a browser", url) :
	    xasprintf("open %s in a browser and enter the code %s", url, code);
	log_warn("sign in to %s: %s", o->config.host, o->where);
	walk_begin(o);
	while ((w = walk_next(o)) != NULL)
		wait_add(o, w);
}

static bool
may_ask_user(const struct oauth *o, const struct facts *f)
{
	return f->interactive && !o->config.asks_nobody;
}

static bool
is_denied(const struct facts *f)
{
	return f->status == 401 || f->status == 403;
}

/* Answers the waiting questions for which another login process could do no
 * more. not_asked: the login process was not allowed to ask the user; questions
 * that may ask the user wait for the next one. */
static void
end_waiting(struct oauth *o, const char *why, bool not_asked)
{
	struct waiter *w;

	o->settling = true;
	walk_begin(o);
	while ((w = walk_next(o)) != NULL) {
		if (w->refusal != NULL && not_asked &&
		    may_ask_user(o, &w->refusal->facts)) {
			wait_add(o, w);
			continue;
		}
		if (w->refusal != NULL)
			refusal_final(o, w,
			    is_denied(&w->refusal->facts) ? why : NULL, false);
		else
			credentials_ready(o, w);
		waiter_free(w);
	}
	o->settling = false;
}

static void
on_login_process_done(enum login_end end, const char *why, int64_t again_ms,
    const struct record *record, void *arg)
{
	struct oauth *o = arg;

	o->login_process = NULL;
	free(o->where);
	o->where = NULL;
	o->looked_at = INT64_MIN / 2; /* check the store at once */
	o->credentials->until = 0;
	if (end == LOGIN_DONE && why != NULL && !o->hinted) {
		o->hinted = true;
		log_warn("you will have to sign in again at the next start: %s",
		    why);
	}
	if (record != NULL) {
		/* The record is newer than the one in the store. */
		store_cancel(o->get);
		o->get = NULL;
		o->read = true;
		o->unkept = true;
		if (o->config.store != NULL)
			o->seen = store_stamp(o->config.store, o->name);
		if (adopt(o, record))
			tell_changed(o);
	}
	switch (end) {
	case LOGIN_DONE:
		o->brake_until = 0;
		if (record != NULL || o->config.store == NULL) {
			o->fetched = o->stamp;
			settle_all(o);
			return;
		}
		store_cancel(o->get);
		o->expects = true;
		read_store(o);
		return;
	case LOGIN_INTERACTIVE:
		if (o->reason != LOGIN_SCOPE)
			o->attended = true;
		end_waiting(o, why, !o->interactive);
		settle_all(o);
		return;
	case LOGIN_LATER:
		brake(o, why, LATER_MS, BOUND_MINUTE_MS);
		if (again_ms > BOUND_TAB_MS)
			again_ms = BOUND_TAB_MS;
		if (again_ms > o->brake_ms)
			o->brake_until = loop_now(o->loop) + again_ms;
		break;
	case LOGIN_UNREACHED:
		brake(o, why, LATER_MS, BOUND_MINUTE_MS);
		if (o->reason != LOGIN_EXPIRED)
			break;
		o->unreached = true;
		settle_all(o); /* there may be a 401 already */
		return;
	case LOGIN_UNASKED:  /* of the command "login" only */
	case LOGIN_IDENTITY: /* signin/managed takes it */
	case LOGIN_STOPPED:  /* the login process says nothing, then */
		break;
	case LOGIN_FAILED:
		log_warn("cannot sign in to %s: %s", o->config.host, why);
		brake(o, why, BRAKE_MS, BOUND_PARKED_MS);
		break;
	}
	end_waiting(o, why, false);
}

/* --- questions --- */

/* Each settle function returns true if the question was answered, false if it
 * has to wait. */

static bool
settle_ask(struct oauth *o, struct waiter *w)
{
	if (!is_read(o, false))
		return false;
	if (w->last) {
		credentials_ready(o, w);
		return true;
	}
	/* Without a token the request is sent without one, even during a login:
	 * requests that need none work meanwhile. The same holds for the first
	 * request to a server whose address is not known yet: its refusal tells
	 * the address. Where a renewal met nobody, each request tries once more:
	 * some servers that are back forget the refresh token when they see the
	 * expired one. */
	if (o->unreached && !w->tried)
		o->brake_until = 0;
	if (is_over(o, 0) && !is_braked(o) && !is_too_early(o)) {
		w->tried = true;
		if (o->login_process == NULL)
			start_login_process(o, LOGIN_EXPIRED, false, NULL);
		return false;
	}
	credentials_ready(o, w);
	return true;
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
	char *why = xasprintf("it has asked for too many sign-ins, and there "
			      "is no folder to note the next one in; set %s to "
			      "a folder of your own",
	    os_place_variable(OS_PLACE_DATA));

	refusal_final(o, w, why, false);
	free(why);
	return true;
}

/* Waits for a login process, and starts one if there is none. A question joins
 * a process that asks the user, and waits for one that may not. */
static bool
want_login_process(struct oauth *o, const struct waiter *w,
    enum login_reason reason)
{
	const struct facts *f = &w->refusal->facts;
	bool interactive = may_ask_user(o, f);
	char *challenge;

	if (o->login_process != NULL)
		return false;
	if (o->attended && !interactive)
		return refusal_final(o, w, NULL, false);
	if (interactive && asked_too_often(o))
		return refuse_another(o, w);
	challenge = xstrndup(f->challenge.n == 0 ? "" : f->challenge.p,
	    f->challenge.n);
	start_login_process(o, reason, interactive, challenge);
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
	char *why;

	if (w->refusal->facts.stamp != o->stamp) {
		credentials_ready(o, w);
		return true;
	}
	if (scope == NULL || record_has_scopes(&o->record, scope) ||
	    was_asked(o, scope)) {
		why = xasprintf("the token lacks a permission that this "
				"needs%s%s%s. Ask whoever grants it, or sign "
				"in again: mcpsplice login URL",
		    scope == NULL ? "" : " (the scope \"",
		    scope == NULL ? "" : scope, scope == NULL ? "" : "\")");
		refusal_final(o, w, why, false);
		free(why);
		return true;
	}
	if (has_enough_scopes(o, w))
		return refusal_final(o, w,
		    "it keeps asking for more scopes for the same request",
		    false);
	if (is_braked(o))
		return refusal_final(o, w, o->brake_why, false);
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
	if (is_braked(o))
		return refusal_final(o, w, o->brake_why, false);
	if (f->challenge.n == 0 &&
	    doubt_session(o, f->session, is_new(o) || !can_refresh(o)))
		return refusal_final(o, w, NULL, true);
	if (is_new(o) && o->blamed != o->stamp && !wants_other_scheme(o, c)) {
		o->blamed = o->stamp;
		clock = o->bound ?
		    dpop_clock(f->clock_ahead_s, o->config.host) :
		    NULL;
		brake(o,
		    clock != NULL ?
			clock :
			"it rejects a token that its own authorization server "
			"has just issued. The token may be for another "
			"audience or scope: see --resource, --no-resource, "
			"--scope",
		    BRAKE_MS, BOUND_PARKED_MS);
		free(clock);
		return refusal_final(o, w, o->brake_why, false);
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

	return refusal_final(o, w, NULL,
	    doubt_session(o, w->refusal->facts.session, changed));
}

/* Another status, which may be about the token because that has expired. The
 * user is not asked for it. If the refresh token is no good either, the record
 * has no token any more: the request goes out without one, and a 401 to that is
 * for the user. */
static bool
settle_expired(struct oauth *o, const struct waiter *w)
{
	if (w->refusal->facts.stamp != o->stamp) {
		credentials_ready(o, w);
		return true;
	}
	if (!is_over(o, 0) || is_braked(o) || o->attended)
		return refusal_final(o, w, NULL, false);
	if (o->login_process == NULL)
		start_login_process(o, LOGIN_EXPIRED, false, NULL);
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
		return refusal_final(o, w,
		    "it requires a nonce (DPoP) but gives no usable one; its "
		    "operator has to fix that",
		    false);
	if (w->refusal->facts.again >= BOUND_TRIES)
		return refusal_final(o, w,
		    "it rejects every nonce (DPoP) that it gives; its "
		    "operator has to fix that",
		    false);
	credentials_ready(o, w);
	return true;
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
	*done = refusal_final(o, w, clock, false);
	free(clock);
	return true;
}

/* The token is not the reason, so another one does not help. */
static bool
settle_denial(struct oauth *o, const struct waiter *w,
    const struct challenge *c)
{
	struct buf why = { 0 };

	denial_say(c, &why);
	refusal_final(o, w, buf_str(&why), false);
	buf_free(&why);
	return true;
}

/* The token is what is refused, or its scopes. */
static bool
settle_token(struct oauth *o, const struct waiter *w, const struct challenge *c)
{
	const struct facts *f = &w->refusal->facts;

	if (is_denied(f) && is_error(o, c, "insufficient_scope") &&
	    f->stamp != 0)
		return settle_scope(o, w, c->scope);
	if (o->stamp != 0 && f->stamp != o->stamp) {
		credentials_ready(o, w);
		return true;
	}
	if (is_denied(f) && f->stamp != 0 && denial_stands(c))
		return settle_denial(o, w, c);
	if (!is_denied(f) && !is_error(o, c, "invalid_token"))
		return settle_expired(o, w);
	/* Some servers answer an expired token with 403. */
	if (f->status == 403 && !is_over(o, 0))
		return settle_403(o, w);
	return settle_401(o, w, c);
}

static bool
settle_refusal(struct oauth *o, const struct waiter *w)
{
	const struct facts *f = &w->refusal->facts;
	struct challenge c;
	bool done;

	if (!is_read(o, true))
		return false;
	if (f->refusals + (f->stamp != 0) >= BOUND_FLAPS)
		return refusal_final(o, w, "it rejected every token", false);
	challenge_parse(&c, f->challenge);
	if (!settle_proof(o, w, &c, &done))
		done = settle_token(o, w, &c);
	challenge_free(&c);
	return done;
}

static bool
settle(struct oauth *o, struct waiter *w)
{
	return w->refusal != NULL ? settle_refusal(o, w) : settle_ask(o, w);
}

/* --- calls from outside --- */

bool
oauth_whose(const struct oauth *o, struct buf *out)
{
	const struct record *r = &o->record;

	if (!o->read && o->config.store != NULL)
		return false;
	/* "mcpsplice logout" took it away. */
	if ((o->get != NULL || o->seen != 0) &&
	    store_stamp(o->config.store, o->name) == 0)
		return false;
	if (r->token.access == NULL)
		return !o->config.alone && o->stamps == 0;
	if (r->token.account != NULL)
		buf_addf(out, "%s\n%s\n%s", r->issuer == NULL ? "" : r->issuer,
		    r->client.id == NULL ? "" : r->client.id, r->token.account);
	else if (r->client.source == CLIENT_IMPORTED)
		claims_whose(r->token.access, out);
	return true;
}

static void
question(struct oauth *o, uint64_t ticket, bool last,
    struct kept_facts *refusal)
{
	struct waiter *w = xcalloc(1, sizeof *w);

	w->ticket = ticket;
	w->last = last;
	w->refusal = refusal;
	if (settle(o, w))
		waiter_free(w);
	else
		wait_add(o, w);
}

void
oauth_ask(struct oauth *o, uint64_t ticket, bool last)
{
	question(o, ticket, last, NULL);
}

void
oauth_refused(struct oauth *o, uint64_t ticket, const struct facts *f,
    struct span session)
{
	struct facts refusal = *f;

	refusal.session = session;
	refusal.body = span_of(NULL);
	question(o, ticket, false, facts_keep(&refusal));
}

struct oauth *
oauth_new(struct loop *l, const struct oauth_config *config,
    struct given *given, struct credentials *credentials,
    const struct oauth_ops *ops, void *arg)
{
	struct oauth *o = xcalloc(1, sizeof *o);

	o->loop = l;
	o->config = *config;
	o->given = given;
	o->dpop = dpop_new();
	o->credentials = credentials;
	o->ops = *ops;
	o->arg = arg;
	store_name(o->name, config->url, config->profile);
	return o;
}

void
oauth_prove(struct oauth *o, const char *method, const char *url,
    struct headers *to)
{
	if (o->bound)
		dpop_prove(o->dpop, method, url, o->record.token.dpop_ath,
		    (int64_t)time(NULL), to);
}

void
oauth_heard(struct oauth *o, const char *nonce)
{
	dpop_hear(o->dpop, nonce);
}

void
oauth_accepted(struct oauth *o, uint64_t stamp)
{
	/* A late answer to an older token tells nothing about this one. */
	if (stamp > o->accepted)
		o->accepted = stamp;
	if (stamp != 0 && stamp == o->stamp)
		o->brake_ms = 0;
}

void
oauth_free(struct oauth *o)
{
	struct waiter *w;

	if (o == NULL)
		return;
	while ((w = o->waiters) != NULL) {
		o->waiters = w->next;
		waiter_free(w);
	}
	while ((w = walk_next(o)) != NULL)
		waiter_free(w);
	store_cancel(o->get);
	login_process_free(o->login_process);
	record_free(&o->record);
	headers_free(&o->headers);
	dpop_free(o->dpop);
	free(o->where);
	free(o->brake_why);
	free(o->doubted_in);
	free(o);
}
