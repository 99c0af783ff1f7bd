/*
 * The order of a login, from the first look into the store to the token in it;
 * it reads from bottom to top. A function that returns bool returns false when
 * the login has ended, and how is in f then. What is read under a lock counts;
 * what was read before may be old.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/mem.h"
#include "core/login/login.h"

#define LOGIN_PROOF_BYTES 44

enum {
	JITTER_MS = 64,
	HELPER_POLL_MS = 3 * 1000,
	/* of a device code */
	INTERVAL_MS = 5 * 1000
};

struct login_flow {
	struct login_flow_config config;
	const struct login_hands *hands;
	void *arg;
	struct login_input in; /* what came last */
	bool holds_token, holds_login;
	bool awaits_redirect;
	bool timed;         /* DO_TIMEOUT runs */
	bool anew;          /* a client was registered anew: once a login */
	int64_t port_until; /* a port that is busy is tried until then; 0: it
			     * was never busy */
	char refused[LOGIN_PROOF_BYTES]; /* of the token that does not do */
	char *why;                       /* what was told last, for people */
	struct login_result result;
};

/* --- doing --- */

/* Replaces what an end says. */
static void
explain(struct login_flow *f, char *why)
{
	free(f->why);
	f->why = why;
}

/* Does what nothing comes of. */
static void
act(struct login_flow *f, enum login_action_kind kind)
{
	const struct login_action a = { .kind = kind };

	f->hands->act(&a, f->arg);
}

static void __attribute__((format(printf, 3, 4)))
say(struct login_flow *f, enum log_level level, const char *fmt, ...)
{
	struct login_action a = { .kind = DO_LOG, .level = level };
	va_list ap;

	va_start(ap, fmt);
	a.text = xvasprintf(fmt, ap);
	va_end(ap);
	f->hands->act(&a, f->arg);
	free(a.text);
}

/* Does it, and returns what came of it, or what came instead. */
static enum login_outcome
await_action(struct login_flow *f, const struct login_action *a)
{
	f->hands->act(a, f->arg);
	f->hands->wait(&f->in, f->arg);
	while (f->in.came == CAME_BROWSER_FAILED) {
		act(f, DO_UNLOCK_TAB);
		say(f, LEVEL_WARN,
		    "the browser cannot be started: open the URL yourself");
		f->hands->wait(&f->in, f->arg);
	}
	if (f->in.why != NULL)
		explain(f, xstrdup(f->in.why));
	return f->in.came;
}

static enum login_outcome
await(struct login_flow *f, enum login_action_kind kind)
{
	const struct login_action a = { .kind = kind };

	return await_action(f, &a);
}

/* The same of an action that changes what the record has. */
static enum login_outcome
await_change(struct login_flow *f, enum login_action_kind kind,
    enum login_forget forget)
{
	const struct login_action a = { .kind = kind, .forget = forget };

	return await_action(f, &a);
}

static enum login_outcome
wait_ms(struct login_flow *f, int64_t ms)
{
	const struct login_action a = { .kind = DO_WAIT, .ms = ms };

	return await_action(f, &a);
}

/* --- ends --- */

/* text NULL: there is nothing to say. */
static bool
end(struct login_flow *f, enum login_end how, const char *text)
{
	f->result = (struct login_result){ how, text, -1 };
	return false;
}

/* What came said why. */
static bool
end_why(struct login_flow *f, enum login_end how)
{
	f->result = (struct login_result){ how, f->why, f->in.again_ms };
	return false;
}

/* Only the copy that asks the user notes anything for those that wait. */
static void
note(struct login_flow *f, enum login_action_kind kind)
{
	if (f->holds_login)
		act(f, kind);
}

static bool
end_noted(struct login_flow *f, enum login_end how, const char *text)
{
	note(f, DO_NOTE_FAILURE);
	return text != NULL ? end(f, how, text) : end_why(f, how);
}

/* Ends with what came, which is not what was wanted, whatever that was. */
static bool
fail(struct login_flow *f)
{
	switch (f->in.came) {
	case CAME_TIMEOUT:
		return end_noted(f, LOGIN_FAILED,
		    "nobody signed in within --login-timeout");
	case CAME_CANCELLED:
		return end_noted(f, LOGIN_FAILED,
		    "\"mcpsplice logout\" ended this sign-in");
	case CAME_STOPPED:
		return end(f, LOGIN_STOPPED, NULL);
	case CAME_UNREADY:
	case CAME_NOT_NOW:
		return end_why(f, LOGIN_LATER);
	default:
		return end_why(f, LOGIN_FAILED);
	}
}

/* Did an authorization server say no for good? */
static bool
is_refusal(enum login_outcome came)
{
	return came == CAME_REFUSED || came == CAME_DEAD_GRANT ||
	    came == CAME_DEAD_CLIENT || came == CAME_PENDING ||
	    came == CAME_SLOW_DOWN;
}

/* Ends with what came of what was asked for the user. */
static bool
fail_user(struct login_flow *f)
{
	return is_refusal(f->in.came) ? end_noted(f, LOGIN_FAILED, NULL) :
					fail(f);
}

/* --- what there is --- */

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
is_good(const struct login_flow *f)
{
	const struct login_facts *x = f->in.facts;

	if (!x->usable)
		return false;
	if (f->refused[0] != '\0' &&
	    (x->token == NULL || strcmp(f->refused, x->token) == 0))
		return false;
	return f->config.reason != LOGIN_SCOPE || x->has_scopes;
}

static bool
is_ours(enum login_client client)
{
	return client == LOGIN_CLIENT_REGISTERED ||
	    client == LOGIN_CLIENT_IMPORTED;
}

/* Is the client of the record one that was registered before, at this issuer,
 * and seems alive? */
static bool
client_lives(const struct login_flow *f)
{
	const struct login_facts *x = f->in.facts;

	return x->client == LOGIN_CLIENT_REGISTERED &&
	    x->client_failures == 0 &&
	    (x->client_expires == 0 || x->client_expires > f->in.wall);
}

static bool
load(struct login_flow *f)
{
	return await(f, DO_LOAD) == CAME_LOADED || fail(f);
}

/* Must the issuer that was found not see what the record has? An issuer that
 * was never noted counts as another one. Only the refresh token and the client
 * are kept from it: an access token alone goes to no authorization server but
 * to be revoked. */
static bool
is_for_another(const struct login_facts *x)
{
	if (x->issuer == NULL && !x->endpoint)
		return x->refresh || x->client != LOGIN_CLIENT_NONE;
	return !same(x->issuer, x->found_issuer);
}

/* Takes over what was found. What was for another issuer is forgotten, but a
 * secret of the user's is for the one it was given for. */
static bool
adopt(struct login_flow *f)
{
	const struct login_flow_config *c = &f->config;
	const struct login_facts *x = f->in.facts;
	bool moved = is_for_another(x);

	if (moved && !c->issuer_given &&
	    (c->assertion ||
		(x->client == LOGIN_CLIENT_GIVEN && x->client_as_given))) {
		explain(f,
		    xasprintf("its authorization server was %s and is %s now. "
			      "If %s is for the new one, say so with --issuer",
			x->issuer != NULL ? x->issuer : "(none)",
			x->found_issuer != NULL ? x->found_issuer : "(none)",
			c->assertion ? "the assertion" : "--client-id"));
		return end_why(f, LOGIN_FAILED);
	}
	if (moved)
		say(f, LEVEL_INFO,
		    "%s now has a different authorization server", c->host);
	return await_change(f, DO_ADOPT,
		   moved ? FORGET_CLIENT : FORGET_NOTHING) == CAME_DONE ||
	    fail(f);
}

/* Finds out where to sign in, and takes it over. */
static bool
find_place(struct login_flow *f, bool interactive)
{
	const struct login_action a = { .kind = DO_DISCOVER,
		.ms = BOUND_DISCOVERY_MS,
		.interactive = interactive };

	switch (await_action(f, &a)) {
	case CAME_FOUND:
		return adopt(f);
	case CAME_TIME:
		return end(f, LOGIN_LATER,
		    "finding out where to sign in took too long");
	default:
		return fail(f);
	}
}

/* --- locks --- */

/* Tries a lock until it is had, or for limit_ms; 0: without end. Copies that
 * began together do not stay together. */
static enum login_outcome
lock(struct login_flow *f, enum login_action_kind kind, int64_t again_ms,
    int64_t limit_ms)
{
	int64_t until = f->in.now + limit_ms;
	enum login_outcome came;

	while ((came = await(f, kind)) == CAME_BUSY) {
		if (limit_ms > 0 && f->in.now >= until)
			return CAME_BUSY;
		came = wait_ms(f,
		    again_ms +
			(kind == DO_LOCK_TOKEN ? f->in.random % JITTER_MS : 0));
		if (came != CAME_TIME)
			break;
	}
	return came;
}

/* Others have it for one request, and no longer. */
static enum login_outcome
lock_token(struct login_flow *f)
{
	enum login_outcome came = lock(f, DO_LOCK_TOKEN, 100,
	    BOUND_TOKEN_LOCK_MS);

	f->holds_token = came == CAME_LOCKED;
	return came;
}

static bool
is_locked(struct login_flow *f, enum login_outcome came)
{
	if (came == CAME_BUSY)
		return end(f, LOGIN_LATER,
		    "another mcpsplice has been asking for a token for too "
		    "long");
	return came == CAME_LOCKED || fail(f);
}

static void
unlock_token(struct login_flow *f)
{
	if (f->holds_token)
		act(f, DO_UNLOCK_TOKEN);
	f->holds_token = false;
}

/* Writes the record, under the token lock. What cannot be kept works until we
 * end. */
static bool
save(struct login_flow *f, enum login_forget forget)
{
	enum login_outcome came = await_change(f, DO_SAVE, forget);

	return came == CAME_SAVED || came == CAME_UNKEPT || fail(f);
}

/* --- the time of the user --- */

static void
start_clock(struct login_flow *f)
{
	const struct login_action a = { .kind = DO_TIMEOUT,
		.ms = f->config.timeout_ms };

	if (a.ms <= 0)
		return;
	f->hands->act(&a, f->arg);
	f->timed = true;
}

static void
stop_clock(struct login_flow *f)
{
	if (f->timed)
		act(f, DO_TIMEOUT_OFF);
	f->timed = false;
}

/* --- one copy asks the user, the others watch it --- */

/* Did the copy that asks open a tab for this URL, or does it now, as far as is
 * known? It may have no display. */
static bool
has_tab(const struct login_input *in)
{
	return in->wall >= in->tab_at &&
	    in->wall - in->tab_at < BOUND_OTHER_TAB_MS / 1000;
}

/* May the store have something new? A helper cannot tell without being run, and
 * may take its time. */
static bool
is_changed(const struct login_flow *f, uint64_t *seen, int64_t *helped_at)
{
	const struct login_input *in = &f->in;

	if (!f->config.helper) {
		if (in->stamp == *seen)
			return false;
		*seen = in->stamp;
		return true;
	}
	if (in->now < *helped_at + HELPER_POLL_MS)
		return false;
	*helped_at = in->now;
	return true;
}

/* A user at our terminal has a display. */
static void
open_for_other(struct login_flow *f)
{
	if (f->in.shown && f->config.has_browser &&
	    (f->config.force || !has_tab(&f->in)))
		act(f, DO_OPEN_FOR_OTHER);
}

/* Waits until it is our turn, or another copy has got a token that does. */
static bool
wait_for_turn(struct login_flow *f)
{
	enum login_outcome came;
	int64_t helped_at = 0;
	uint64_t seen = 0;

	while ((came = await(f, DO_LOCK_LOGIN)) == CAME_BUSY) {
		if (await(f, DO_WATCH) != CAME_LOOKED)
			return fail(f);
		open_for_other(f);
		if (is_changed(f, &seen, &helped_at)) {
			if (!load(f))
				return false;
			if (is_good(f))
				return end(f, LOGIN_DONE, NULL);
		}
		if (wait_ms(f, 200) != CAME_TIME)
			return fail(f);
	}
	if (came != CAME_LOCKED)
		return fail(f);
	f->holds_login = true;
	act(f, DO_UNLOCK_TAB);
	act(f, DO_CLOSE_BROWSER);
	return load(f);
}

static bool
take_turn(struct login_flow *f)
{
	int64_t left;

	if (f->config.shared && !wait_for_turn(f))
		return false;
	left = f->in.facts->failed_at + BOUND_FRUITLESS_MS / 1000 - f->in.wall;
	if (is_good(f))
		return end(f, LOGIN_DONE, NULL);
	if (f->config.force || left <= 0 || left > BOUND_FRUITLESS_MS / 1000)
		return true;
	explain(f,
	    xasprintf("the last sign-in came to nothing; the next is possible "
		      "in %lld s, or now with: mcpsplice login URL",
		(long long)left));
	return end_why(f, LOGIN_FAILED);
}

/* --- who we are --- */

/* The listener of the login before may still be closing the port. */
static bool
open_port(struct login_flow *f)
{
	const struct login_action a = { .kind = DO_LISTEN,
		.again = client_lives(f) };

	while (await_action(f, &a) == CAME_BUSY) {
		if (f->port_until == 0)
			f->port_until = f->in.now + BOUND_PORT_MS;
		if (f->in.now >= f->port_until || wait_ms(f, 200) != CAME_TIME)
			break;
	}
	return f->in.came == CAME_DONE || fail(f);
}

/* That no browser ever came back may be because the server has forgotten our
 * client, which only the page in the browser says: the next login registers
 * anew (doc/protocol.md 8.6). */
static bool
fail_silent(struct login_flow *f)
{
	if (f->in.came != CAME_TIMEOUT ||
	    f->in.facts->client != LOGIN_CLIENT_REGISTERED)
		return fail(f);
	if (await(f, DO_COUNT_FAILURE) != CAME_DONE)
		return fail(f);
	if (!is_locked(f, lock_token(f)) || !save(f, FORGET_NOTHING))
		return false;
	return end_noted(f, LOGIN_FAILED,
	    "nobody signed in within --login-timeout");
}

static bool
keep_client(struct login_flow *f)
{
	enum login_outcome came = lock_token(f);

	if (came == CAME_TIMEOUT)
		return fail_silent(f);
	return is_locked(f, came) && save(f, FORGET_NOTHING);
}

/* The server published nothing, and what was guessed may be wrong. */
static bool
register_client(struct login_flow *f)
{
	enum login_outcome came = await(f, DO_REGISTER);
	bool guessed;

	if (came == CAME_BAD_REDIRECT)
		came = await(f, DO_REGISTER_BY_NAME);
	if (came == CAME_REGISTERED)
		return keep_client(f);
	if (came != CAME_NO_DOCUMENT && came != CAME_REFUSED)
		return fail(f);
	guessed = f->in.facts->guessed;
	if (guessed && f->config.unasked)
		return end(f, LOGIN_UNASKED, NULL);
	if (guessed && came == CAME_NO_DOCUMENT)
		return end(f, LOGIN_FAILED,
		    "it wants credentials, and shows no way to sign in. Pass a "
		    "token with --bearer-env NAME or --bearer-file FILE, or a "
		    "header with -H");
	explain(f,
	    xasprintf("the authorization server did not register a client: "
		      "%s. Register one by hand and pass --client-id",
		f->why));
	return end_noted(f, LOGIN_FAILED, NULL);
}

static bool
find_client(struct login_flow *f)
{
	const struct login_facts *x = f->in.facts;

	if (f->config.client_given)
		return await(f, DO_TAKE_GIVEN) == CAME_DONE || fail(f);
	if (x->documents && f->config.client_document)
		return await(f, DO_TAKE_DOCUMENT) == CAME_DONE || fail(f);
	if (client_lives(f) && x->client_redirect)
		return true;
	if (x->registers)
		return register_client(f);
	return end(f, LOGIN_FAILED,
	    "its authorization server registers no clients by itself. Register "
	    "one there and pass --client-id (and --client-secret-file)");
}

/* --- the user, by a browser --- */

/* Three tabs, then one each five minutes: a server that asks without end has
 * its URL shown, and no more. CAME_DONE: the redirect is to be waited for. */
static enum login_outcome
open_tab(struct login_flow *f)
{
	enum login_outcome came = lock(f, DO_LOCK_TAB, 200, 0);
	int64_t third = f->in.facts->third_tab, wall = f->in.wall;

	if (came != CAME_LOCKED)
		return came;
	if (f->config.force || wall < third ||
	    wall - third >= BOUND_TABS_MS / 1000)
		return await(f, DO_OPEN);
	say(f, LEVEL_WARN,
	    "too many browser tabs were opened recently: open the URL "
	    "yourself");
	act(f, DO_UNLOCK_TAB);
	return CAME_DONE;
}

/* Sends the user to the authorization server, and waits for the redirect; the
 * user may come back before a tab could be opened. */
static bool
send_user(struct login_flow *f, enum login_outcome *arrived)
{
	enum login_outcome came = CAME_DONE;

	if (await(f, DO_AUTHORIZE) != CAME_DONE)
		return fail(f);
	f->awaits_redirect = true;
	if (f->config.has_browser)
		came = open_tab(f);
	if (came == CAME_DONE)
		came = wait_ms(f, -1);
	f->awaits_redirect = false;
	if (came != CAME_CODE && came != CAME_DENIED &&
	    came != CAME_BAD_SCOPE && came != CAME_FOREIGN)
		return fail_silent(f);
	*arrived = came;
	/* The page is handed over first. */
	if (wait_ms(f, 0) != CAME_TIME)
		return fail(f);
	stop_clock(f);
	act(f, DO_CLOSE_LISTENER);
	act(f, DO_UNLOCK_TAB);
	return true;
}

/* A client of ours that is dead is registered anew, once. */
static bool
exchange_code(struct login_flow *f, bool *again)
{
	const struct login_facts *x;
	enum login_outcome came = await(f, DO_EXCHANGE);

	if (came == CAME_TOKEN)
		return true;
	x = f->in.facts;
	if (came == CAME_DEAD_CLIENT && is_ours(x->client) && !f->anew &&
	    x->registers) {
		say(f, LEVEL_INFO,
		    "the authorization server no longer knows the client: "
		    "registering a new one");
		*again = f->anew = true;
		return true;
	}
	if (came == CAME_TRANSIENT || came == CAME_UNREADY)
		return end_noted(f, LOGIN_LATER, NULL);
	if (came == CAME_IMPOSSIBLE)
		return end_noted(f, LOGIN_FAILED, NULL);
	return fail_user(f);
}

/* *again: there is no token yet, and it has to begin anew. */
static bool
ask_by_browser(struct login_flow *f, bool *again)
{
	enum login_forget forget = FORGET_NOTHING;
	enum login_outcome arrived = CAME_CODE;

	*again = false;
	if (!send_user(f, &arrived))
		return false;
	if (arrived == CAME_DENIED)
		return end_noted(f, LOGIN_FAILED, NULL);
	if (arrived == CAME_FOREIGN)
		return end_noted(f, LOGIN_FAILED,
		    "what came back is not from the authorization server that "
		    "was asked (iss): nothing of it was used");
	if (arrived == CAME_BAD_SCOPE) {
		*again = true;
	} else {
		if (!exchange_code(f, again))
			return false;
		forget = FORGET_CLIENT;
	}
	if (!*again)
		return true;
	start_clock(f);
	return await_change(f, DO_FORGET, forget) == CAME_DONE || fail(f);
}

/* --- the user, by a device code --- */

/* Whatever is of the moment is waited for as long as the code is good. A server
 * that is in trouble is asked more and more seldom (RFC 8628 3.5). */
static bool
poll_device(struct login_flow *f, int64_t until, int64_t ms)
{
	for (;; ms = ms > BOUND_DEVICE_POLL_MS ? BOUND_DEVICE_POLL_MS : ms) {
		if (wait_ms(f, ms) != CAME_TIME)
			return fail(f);
		switch (await(f, DO_POLL)) {
		case CAME_TOKEN:
			return true;
		case CAME_PENDING:
			break;
		case CAME_SLOW_DOWN:
			ms += INTERVAL_MS;
			break;
		case CAME_TRANSIENT:
		case CAME_UNREADY:
		case CAME_IMPOSSIBLE:
			ms *= 2;
			break;
		default:
			return fail_user(f);
		}
		if (f->in.wall >= until)
			return end_noted(f, LOGIN_FAILED,
			    "nobody entered the code while it was good");
	}
}

static bool
ask_by_device(struct login_flow *f)
{
	int64_t life, interval;

	if (!f->in.facts->devices)
		return end(f, LOGIN_FAILED,
		    "its authorization server offers no device codes: leave "
		    "out --auth device");
	if (await(f, DO_DEVICE) != CAME_CODE_SHOWN)
		return fail_user(f);
	life = f->in.life_s;
	if (life <= 0 || life > BOUND_DEVICE_LIFE_MS / 1000)
		life = BOUND_DEVICE_LIFE_MS / 1000;
	interval = f->in.interval_s;
	if (interval > BOUND_DEVICE_POLL_MS / 1000)
		interval = BOUND_DEVICE_POLL_MS / 1000;
	return poll_device(f, f->in.wall + life,
	    interval <= 0 ? INTERVAL_MS : interval * 1000);
}

/* --- a token --- */

static bool
ask(struct login_flow *f)
{
	bool again = true;

	if (f->config.device_first && f->in.facts->devices)
		f->config.mode = LOGIN_DEVICE;
	while (again) {
		/* The port of the redirect is bound before anything names
		 * it. */
		if ((f->config.mode != LOGIN_DEVICE && !open_port(f)) ||
		    !find_client(f))
			return false;
		unlock_token(f);
		if (f->config.mode == LOGIN_DEVICE)
			return ask_by_device(f);
		if (!ask_by_browser(f, &again))
			return false;
	}
	return true;
}

/* Stores the token that was had. */
static bool
keep(struct login_flow *f)
{
	stop_clock(f);
	note(f, DO_NOTE_SUCCESS);
	if (!f->holds_token && !is_locked(f, lock_token(f)))
		return false;
	if (!save(f, FORGET_NOTHING))
		return false;
	return f->in.came == CAME_UNKEPT ? end_why(f, LOGIN_DONE) :
					   end(f, LOGIN_DONE, NULL);
}

static bool
with_user(struct login_flow *f)
{
	unlock_token(f);
	if (!f->config.may_ask)
		return end(f, LOGIN_INTERACTIVE, "the user has to sign in");
	start_clock(f);
	if (!take_turn(f))
		return false;
	/* A store that cannot be written is told before the user has gone to
	 * any trouble. */
	if (await(f, DO_CLEAR) != CAME_DONE)
		return fail(f);
	return find_place(f, f->config.mode != LOGIN_DEVICE) && ask(f) &&
	    keep(f);
}

static bool
by_credentials(struct login_flow *f)
{
	const struct login_action a = { .kind = DO_CREDENTIALS,
		.ms = BOUND_GRANT_MS };
	enum login_outcome came = await_action(f, &a);

	switch (came) {
	case CAME_TOKEN:
		return keep(f);
	case CAME_TRANSIENT:
		return end_why(f, LOGIN_LATER);
	case CAME_NO_IDENTITY:
		return end_why(f, LOGIN_IDENTITY);
	case CAME_TIME:
		return end(f, LOGIN_LATER, "getting a token took too long");
	default:
		return fail(f);
	}
}

/* The old refresh token may be spent when the answer was lost. Many servers take
 * it once more for a few seconds, and not later. */
static enum login_outcome
refresh(struct login_flow *f)
{
	enum login_outcome came = await(f, DO_REFRESH);

	if (came != CAME_LOST)
		return came;
	say(f, LEVEL_INFO,
	    "the answer to the refresh was lost: it is asked for once more");
	return wait_ms(f, 200) == CAME_TIME ? await(f, DO_REFRESH) : f->in.came;
}

static bool
by_refresh(struct login_flow *f)
{
	enum login_outcome came = refresh(f);
	bool dead = came == CAME_DEAD_GRANT || came == CAME_DEAD_CLIENT;
	bool ours = is_ours(f->in.facts->client);

	switch (came) {
	case CAME_TOKEN:
		return keep(f);
	case CAME_UNREACHED:
		return end_why(f, LOGIN_UNREACHED);
	case CAME_LOST:
	case CAME_TRANSIENT:
		return end_why(f, LOGIN_LATER);
	default:
		break;
	}
	if (!is_refusal(came))
		return fail(f);
	say(f, dead ? LEVEL_INFO : LEVEL_WARN,
	    "the authorization server did not renew the token: %s", f->why);
	/* Under the lock nobody else can have spent it: it is dead. */
	if (dead &&
	    !save(f,
		came == CAME_DEAD_CLIENT && ours ? FORGET_CLIENT :
						   FORGET_TOKEN))
		return false;
	return with_user(f);
}

/* Another copy may have had a token while we waited for the lock. What is read
 * anew knows nothing of what was found before. */
static bool
without_user(struct login_flow *f)
{
	if (!is_locked(f, lock_token(f)) || !load(f) ||
	    (f->in.facts->found && !adopt(f)))
		return false;
	if (is_good(f))
		return end(f, LOGIN_DONE, NULL);
	if (f->config.mode == LOGIN_CREDENTIALS)
		return by_credentials(f);
	return f->in.facts->refresh && f->in.facts->endpoint ? by_refresh(f) :
							       with_user(f);
}

/* A token that is there and does not do for a user who wants a new one. */
static void
refuse_present(struct login_flow *f)
{
	const char *token = f->in.facts->token;

	if (f->config.force && f->refused[0] == '\0' && token != NULL &&
	    strlen(token) < sizeof f->refused)
		memcpy(f->refused, token, strlen(token) + 1);
}

static bool
run(struct login_flow *f)
{
	const struct login_flow_config *c = &f->config;
	bool alone = c->mode == LOGIN_CREDENTIALS;
	const struct login_facts *x;

	if (!load(f))
		return false;
	refuse_present(f);
	if (is_good(f))
		return end(f, LOGIN_DONE, NULL);
	x = f->in.facts;
	if (!alone && (c->force || c->reason == LOGIN_SCOPE || !x->refresh))
		return with_user(f);
	/* A server that has moved to another issuer must not see what was for
	 * the one before: it is asked before any refresh (doc/protocol.md
	 * 8.3). */
	if ((alone || c->reason != LOGIN_EXPIRED || !x->endpoint) &&
	    !find_place(f, false))
		return false;
	return alone || f->in.facts->refresh ? without_user(f) : with_user(f);
}

struct login_result
login_flow_run(struct login_flow *f)
{
	run(f);
	return f->result;
}

bool
login_flow_awaits_redirect(const struct login_flow *f)
{
	return f->awaits_redirect;
}

bool
login_flow_orphan(struct login_flow *f)
{
	/* Nobody is asked who was not asked yet. */
	if (!f->holds_login)
		f->config.may_ask = false;
	return f->config.shared && (f->holds_token || f->holds_login);
}

struct login_flow *
login_flow_new(const struct login_flow_config *config,
    const struct login_hands *hands, void *arg)
{
	struct login_flow *f = xcalloc(1, sizeof *f);

	f->config = *config;
	f->hands = hands;
	f->arg = arg;
	if (config->rejected != NULL &&
	    strlen(config->rejected) < sizeof f->refused)
		memcpy(f->refused, config->rejected,
		    strlen(config->rejected) + 1);
	return f;
}

void
login_flow_free(struct login_flow *f)
{
	if (f == NULL)
		return;
	free(f->why);
	free(f);
}
