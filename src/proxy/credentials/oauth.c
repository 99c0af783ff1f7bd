/*
 * The token of the store, and the questions that wait for a better one.
 *
 * A question, or a refusal, that cannot be answered at once waits for the store
 * to be read or for the login process. After either of them, every waiting
 * question is decided again, so that each kind is decided in one place:
 * settle_ask, and oauth_settle_refusal.
 */
#include "config.h"

#include "proxy/credentials/state.h"

#include <stdlib.h>
#include <time.h>

#include "auth/claims.h"
#include "auth/dpop.h"

enum { LATER_MS = 1000 }; /* the first wait if it may work soon */

static bool settle(struct oauth *o, struct waiter *w);
static void end_waiting(struct oauth *, const char *, bool);

/* --- waiting --- */

static void
tell_changed(struct oauth *o)
{
	struct event e = { .kind = INPUT_SIGNED_IN };

	if (o->stamp != 0)
		o->ops.event(&e, o->arg);
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
		oauth_tell_where(o, w, o->where);
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
		return oauth_adopt(o, NULL);
	}
	log_info("signed in with the token of mcp-remote from %s", from);
	free(from);
	changed = oauth_adopt(o, &r);
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
		changed = r == NULL ? adopt_import(o) : oauth_adopt(o, r);
	o->get = NULL;
	o->read = true;
	o->expects = o->unkept = false;
	if (why != NULL)
		log_warn("%s", why);
	if (changed)
		tell_changed(o);
	if (expected && o->stamp == o->before) {
		oauth_brake(o,
		    why != NULL ? why : "the login left no token in the store",
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

static void
on_kept(const char *why, void *arg)
{
	struct oauth *o = arg;

	o->put = NULL;
	if (why != NULL)
		return;
	o->hinted = false;
	log_warn("the new token is in the store now; there is no need to sign "
		 "in again");
}

/* A disk that was full may have room again. What another process has written
 * meanwhile stays. A helper may ask the user, so it is not run again for this. */
static void
keep_again(struct oauth *o)
{
	struct store *s = o->config.store;
	int lock = !o->unkept || o->put != NULL || store_has_helper(s) ?
	    -1 :
	    store_lock(s, STORE_TOKEN, o->name);

	if (lock >= 0 && store_stamp(s, o->name) == o->seen)
		o->put = store_put(s, o->name, &o->record, on_kept, o);
	store_unlock(lock);
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
	keep_again(o);
	if (o->read && store_stamp(o->config.store, o->name) == o->seen)
		return true;
	read_store(o);
	return false;
}

/* --- the login process --- */

void
oauth_on_where(const char *url, const char *code, void *arg)
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
		    oauth_may_ask_user(o, &w->refusal->facts)) {
			wait_add(o, w);
			continue;
		}
		if (w->refusal != NULL)
			oauth_final(o, w,
			    oauth_is_denied(&w->refusal->facts) ? why : NULL,
			    false);
		else
			oauth_ready(o, w);
		waiter_free(w);
	}
	o->settling = false;
}

void
oauth_on_done(enum login_end end, const char *why, int64_t again_ms,
    const struct record *record, void *arg)
{
	struct oauth *o = arg;

	o->login_process = NULL;
	string_set(&o->where, NULL);
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
		if (oauth_adopt(o, record))
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
		oauth_brake(o, why, LATER_MS, BOUND_MINUTE_MS);
		if (again_ms > BOUND_TAB_MS)
			again_ms = BOUND_TAB_MS;
		if (again_ms > o->brake_ms)
			o->brake_until = loop_now(o->loop) + again_ms;
		break;
	case LOGIN_UNREACHED:
		oauth_brake(o, why, LATER_MS, BOUND_MINUTE_MS);
		if (o->reason != LOGIN_EXPIRED)
			break;
		o->unreached = true;
		settle_all(o); /* there may be a 401 already */
		return;
	case LOGIN_UNASKED:  /* of the command "login" only */
	case LOGIN_IDENTITY: /* signin/two_logins takes it */
	case LOGIN_STOPPED:  /* the login process says nothing, then */
		break;
	case LOGIN_FAILED:
		log_warn("cannot sign in to %s: %s", o->config.host, why);
		oauth_brake(o, why, BRAKE_MS, BOUND_PARKED_MS);
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
	if (w->last)
		return oauth_ready(o, w);
	/* Without a token the request is sent without one, even during a login:
	 * requests that need none work meanwhile. The same holds for the first
	 * request to a server whose address is not known yet: its refusal tells
	 * the address. Where a renewal met nobody, each request tries once more:
	 * some servers that are back forget the refresh token when they see the
	 * expired one. */
	if (o->unreached && !w->tried)
		o->brake_until = 0;
	if (oauth_is_over(o, 0) && !oauth_is_braked(o) &&
	    !oauth_is_too_early(o)) {
		w->tried = true;
		if (o->login_process == NULL)
			oauth_start_login(o, LOGIN_EXPIRED, false, NULL);
		return false;
	}
	return oauth_ready(o, w);
}

static bool
settle(struct oauth *o, struct waiter *w)
{
	return w->refusal != NULL ?
	    is_read(o, true) && oauth_settle_refusal(o, w) :
	    settle_ask(o, w);
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
	if (o->config.store != NULL)
		keep_again(o);
	store_cancel(o->put);
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
