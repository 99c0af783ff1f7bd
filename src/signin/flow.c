/*
 * The order of a login, from the first look into the store to the token in it;
 * it reads from bottom to top. A login has nothing else to do, so it waits where
 * it waits. A function that returns bool returns false when the login has ended,
 * and how is in g->result then. What is read under a lock counts; what was read
 * before may be old.
 */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/mem.h"

#define HOST_DOCUMENT                                                          \
	"Host client-metadata.json, which comes with mcpsplice, and pass its " \
	"URL with --client-metadata-url"
#define PKCE_UNTOLD                                                            \
	" does not say that it supports PKCE "                                 \
	"(code_challenge_methods_supported)"

enum {
	JITTER_MS = 64,
	/* before an authorization server in trouble is asked again; doubles */
	PAUSE_MS = 250,
	LONGEST_PAUSE_MS = 1000,
	/* The client that waits for its first initialize gets the reason, and
	 * not a time-out. */
	START_MS = 15 * 1000,
	/* a refusal without a reason */
	REASONS = 3,
	REASON_MS = 500,
	HELPER_POLL_MS = 3 * 1000,
	/* of a device code */
	INTERVAL_MS = 5 * 1000
};

/* --- what comes --- */

/* Replaces what an end says. */
static void
explain(struct login *g, char *why)
{
	free(g->told);
	g->told = why;
}

/* Returns what came of what was begun, or what came instead. */
static enum login_outcome
outcome(struct login *g)
{
	login_wait(g);
	while (g->in.came == CAME_BROWSER_FAILED) {
		login_unlock_tab(g);
		login_say(g, LEVEL_WARN,
		    "the browser cannot be started: open the URL yourself");
		login_wait(g);
	}
	if (g->in.why != NULL)
		explain(g, xstrdup(g->in.why));
	return g->in.came;
}

/* Does it, and returns what came of it. */
static enum login_outcome
await(struct login *g, login_part *part)
{
	part(g);
	return outcome(g);
}

static enum login_outcome
wait_ms(struct login *g, int64_t ms)
{
	login_set_timer(g, ms);
	return outcome(g);
}

/* --- an authorization server in trouble --- */

/* Waits before it is asked again; false: not any more, or something else came.
 * A token that is about to expire does meanwhile. Where a renewal met nobody,
 * the server's 401 to the old token comes first, because its authorization
 * server is then looked for anew. */
static bool
wait_out(struct login *g)
{
	int64_t ms = g->pause_ms == 0 ? PAUSE_MS : g->pause_ms;
	int64_t window = g->config.retry_ms;

	if (!g->in.soon ||
	    (g->config.reason == LOGIN_EXPIRED &&
		(g->in.came == CAME_UNREACHED ||
		    g->record.token.expires_at > g->in.wall)))
		return false;
	if (g->trouble_until == 0)
		g->trouble_until = g->in.now +
		    (g->config.reason == LOGIN_NONE && window > START_MS ?
			    START_MS :
			    window);
	if (g->in.again_ms > ms)
		ms = g->in.again_ms;
	if (ms > BOUND_RETRY_MS || g->in.now + ms > g->trouble_until)
		return false;
	login_say(g, LEVEL_INFO, "%s: asking again", g->told);
	g->pause_ms = ms * 2 > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS : ms * 2;
	return wait_ms(g, ms) == CAME_TIME;
}

/* Does it, and again while the server is in trouble. */
static enum login_outcome
await_ready(struct login *g, login_part *part)
{
	await(g, part);
	while (wait_out(g))
		await(g, part);
	return g->in.came;
}

/* --- ends --- */

/* text NULL: there is nothing to say. */
static bool
end(struct login *g, enum login_end how, const char *text)
{
	g->result = (struct login_result){ how, text, -1 };
	return false;
}

/* What came said why. */
static bool
end_why(struct login *g, enum login_end how)
{
	g->result = (struct login_result){ how, g->told, g->in.again_ms };
	return false;
}

/* Only the copy that asks the user notes anything for those that wait. */
static void
note(struct login *g, login_part *part)
{
	if (g->holds_login)
		part(g);
}

static bool
end_noted(struct login *g, enum login_end how, const char *text)
{
	note(g, login_note_failure);
	return text != NULL ? end(g, how, text) : end_why(g, how);
}

/* Ends with what came, which is not what was wanted, whatever that was. */
static bool
fail(struct login *g)
{
	switch (g->in.came) {
	case CAME_TIMEOUT:
		return end_noted(g, LOGIN_FAILED,
		    "nobody signed in within --login-timeout");
	case CAME_CANCELLED:
		return end_noted(g, LOGIN_FAILED,
		    "\"mcpsplice logout\" ended this sign-in");
	case CAME_STOPPED:
		return end(g, LOGIN_STOPPED, NULL);
	case CAME_UNREADY:
	case CAME_NOT_NOW:
		return end_why(g, LOGIN_LATER);
	default:
		return end_why(g, LOGIN_FAILED);
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
fail_user(struct login *g)
{
	return is_refusal(g->in.came) ? end_noted(g, LOGIN_FAILED, NULL) :
					fail(g);
}

/* --- what there is --- */

static bool
is_good(const struct login *g)
{
	char proof[PKCE_BYTES];

	if (!login_is_usable(g))
		return false;
	if (g->refused[0] != '\0' &&
	    (!login_prove_token(g, proof) || strcmp(g->refused, proof) == 0))
		return false;
	return g->config.reason != LOGIN_SCOPE || login_has_scopes(g);
}

static bool
has_client(const struct login *g, enum client_source source)
{
	return g->record.client.id != NULL && g->record.client.source == source;
}

static bool
is_ours(const struct login *g)
{
	return has_client(g, CLIENT_REGISTERED) ||
	    has_client(g, CLIENT_IMPORTED);
}

/* Is the client of the record one that was registered before, at this issuer,
 * and seems alive? */
static bool
client_lives(const struct login *g)
{
	const struct record *r = &g->record;

	return has_client(g, CLIENT_REGISTERED) && r->client_failures == 0 &&
	    (r->client.secret_expires_at == 0 ||
		r->client.secret_expires_at > g->in.wall);
}

static bool
registers(const struct login *g)
{
	return g->found.server.registration_endpoint != NULL;
}

static bool
gives_device_codes(const struct login *g)
{
	return g->found.server.device_authorization_endpoint != NULL;
}

static bool
load(struct login *g)
{
	return await(g, login_load) == CAME_LOADED || fail(g);
}

/* Must the issuer that was found not see what the record has? An issuer that
 * was never noted counts as another one, and so does the same one with other
 * endpoints, if these are only the word of another. Only the refresh token and
 * the client are kept from it: an access token alone goes to no authorization
 * server but to be revoked. */
static bool
is_for_another(const struct login *g)
{
	const struct record *r = &g->record;
	const struct server_metadata *m = &g->found.server;

	if (r->issuer == NULL && r->token_endpoint == NULL)
		return r->token.refresh != NULL || r->client.id != NULL;
	if (g->found.listed &&
	    ((g->config.token_endpoint == NULL &&
		 !string_eq(r->token_endpoint, m->token_endpoint)) ||
		!string_eq(r->revocation_endpoint, m->revocation_endpoint)))
		return true;
	return !string_eq(r->issuer, m->issuer);
}

/* Is something of the record's a secret of the user's? */
static bool
is_given(const struct login *g)
{
	return g->config.assertion != NULL ||
	    (has_client(g, CLIENT_GIVEN) &&
		string_eq(g->record.client.id, g->config.client_id));
}

/* Is a secret of the user's for this issuer? The one of --issuer, else one at
 * the server's own origin, where also those are that have no name. */
static bool
is_meant(const struct login *g, const char *issuer)
{
	const struct login_config *c = &g->config;

	if (c->issuer != NULL)
		return issuer != NULL &&
		    metadata_same_issuer(issuer, c->issuer);
	return !c->elsewhere &&
	    (issuer == NULL || metadata_is_at(issuer, c->server->origin));
}

/* May the record be renewed without a look at where to sign in? Not with a
 * secret of the user's that is not meant for its issuer, or has come since: its
 * endpoints, also the one for the end, may be only the word of another, who
 * claimed the issuer's name. */
static bool
is_settled(const struct login *g)
{
	const struct login_config *c = &g->config;
	const struct record *r = &g->record;
	const char *at = c->issuer != NULL ? c->issuer : c->server->origin;

	return !c->gives_secret ||
	    (is_meant(g, r->issuer) && r->token_endpoint != NULL &&
		metadata_is_at(r->token_endpoint, at) &&
		(r->revocation_endpoint == NULL ||
		    metadata_is_at(r->revocation_endpoint, at)));
}

/* Takes over what was found. What was for another issuer is forgotten, but a
 * secret of the user's is for the one it was given for. */
static bool
adopt(struct login *g)
{
	const struct login_config *c = &g->config;
	const char *was = g->record.issuer, *is = g->found.server.issuer;
	bool moved = is_for_another(g);

	if ((moved && c->issuer == NULL && is_given(g)) ||
	    (c->gives_secret && !is_meant(g, is))) {
		explain(g,
		    xasprintf("its authorization server is %s%s%s: your "
			      "secret or client is sent there only if you "
			      "name it: add --issuer %s",
			is != NULL ? is : "(none)",
			moved && was != NULL ? " now; it was " : "",
			moved && was != NULL ? was : "", browser_word(is)));
		return end_why(g, LOGIN_FAILED);
	}
	if (moved)
		login_say(g, LEVEL_INFO,
		    "%s now has a different authorization server",
		    c->server->host);
	login_adopt(g, moved ? FORGET_CLIENT : FORGET_NOTHING);
	return outcome(g) == CAME_DONE || fail(g);
}

/* Finds out where to sign in, and takes it over. */
static bool
find_place(struct login *g, bool interactive)
{
	do {
		login_discover(g, BOUND_DISCOVERY_MS, interactive);
		outcome(g);
	} while (wait_out(g));
	switch (g->in.came) {
	case CAME_FOUND:
		return adopt(g);
	case CAME_TIME:
		return end(g, LOGIN_LATER,
		    "finding out where to sign in took too long");
	default:
		return fail(g);
	}
}

/* --- locks --- */

/* Tries a lock until it is had, or for limit_ms; 0: without end. Copies that
 * began together do not stay together. */
static enum login_outcome
lock(struct login *g, login_part *part, int64_t again_ms, int64_t limit_ms)
{
	int64_t until = g->in.now + limit_ms;
	enum login_outcome came;

	while ((came = await(g, part)) == CAME_BUSY) {
		if (limit_ms > 0 && g->in.now >= until)
			return CAME_BUSY;
		came = wait_ms(g,
		    again_ms +
			(part == login_lock_token ? g->in.random % JITTER_MS :
						    0));
		if (came != CAME_TIME)
			break;
	}
	return came;
}

/* Others have it for one request, and no longer. */
static enum login_outcome
lock_token(struct login *g)
{
	enum login_outcome came = lock(g, login_lock_token, 100,
	    BOUND_TOKEN_LOCK_MS);

	g->holds_token = came == CAME_LOCKED;
	return came;
}

static bool
is_locked(struct login *g, enum login_outcome came)
{
	if (came == CAME_BUSY)
		return end(g, LOGIN_LATER,
		    "another mcpsplice is taking too long to get a token");
	return came == CAME_LOCKED || fail(g);
}

static void
unlock_token(struct login *g)
{
	if (g->holds_token)
		login_unlock_token(g);
	g->holds_token = false;
}

/* Writes the record, under the token lock. What cannot be kept works until we
 * end. */
static bool
save(struct login *g, enum login_forget forget)
{
	enum login_outcome came;

	login_save(g, forget);
	came = outcome(g);
	return came == CAME_SAVED || came == CAME_UNKEPT || fail(g);
}

/* --- the time of the user --- */

static void
start_clock(struct login *g)
{
	if (g->config.timeout_ms <= 0)
		return;
	login_set_timeout(g, g->config.timeout_ms);
	g->timed = true;
}

static void
stop_clock(struct login *g)
{
	if (g->timed)
		login_set_timeout(g, -1);
	g->timed = false;
}

/* --- one copy asks the user, the others watch it --- */

/* Did the copy that asks open a tab for this URL, or does it now, as far as is
 * known? It may have no display. */
static bool
has_tab(const struct login_input *in)
{
	return in->wall >= in->tab_at &&
	    in->wall - in->tab_at < BOUND_TAB_MS / 1000;
}

/* May the store have something new? A helper cannot tell without being run, and
 * may take its time. */
static bool
is_changed(const struct login *g, uint64_t *seen, int64_t *helped_at)
{
	const struct login_input *in = &g->in;

	if (!in->helper) {
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
open_for_other(struct login *g)
{
	if (g->in.shown && g->config.browser != NULL &&
	    (g->config.force || !has_tab(&g->in)))
		login_open_for_other(g);
}

/* Waits until it is our turn, or another copy has got a token that does. */
static bool
wait_for_turn(struct login *g)
{
	enum login_outcome came;
	int64_t helped_at = 0;
	uint64_t seen = 0;

	while ((came = await(g, login_lock_login)) == CAME_BUSY) {
		if (await(g, login_watch) != CAME_LOOKED)
			return fail(g);
		open_for_other(g);
		if (is_changed(g, &seen, &helped_at)) {
			if (!load(g))
				return false;
			if (is_good(g))
				return end(g, LOGIN_DONE, NULL);
		}
		if (wait_ms(g, 200) != CAME_TIME)
			return fail(g);
	}
	if (came != CAME_LOCKED)
		return fail(g);
	g->holds_login = true;
	login_unlock_tab(g);
	login_close_browser(g);
	return load(g);
}

static bool
take_turn(struct login *g)
{
	int64_t left;

	if (g->store != NULL && !wait_for_turn(g))
		return false;
	left = g->pending.failed_at + BOUND_MINUTE_MS / 1000 - g->in.wall;
	if (is_good(g))
		return end(g, LOGIN_DONE, NULL);
	if (g->config.force || left <= 0 || left > BOUND_MINUTE_MS / 1000)
		return true;
	explain(g,
	    xasprintf("the last sign-in failed; try again in %lld s, or now "
		      "with: mcpsplice login URL",
		(long long)left));
	return end_why(g, LOGIN_FAILED);
}

/* --- who we are --- */

/* The listener of the login before may still be closing the port. */
static bool
open_port(struct login *g)
{
	bool again = client_lives(g);

	for (;;) {
		login_listen(g, again);
		if (outcome(g) != CAME_BUSY)
			break;
		if (g->port_until == 0)
			g->port_until = g->in.now + BOUND_KNOWN_START_MS;
		if (g->in.now >= g->port_until || wait_ms(g, 200) != CAME_TIME)
			break;
	}
	return g->in.came == CAME_DONE || fail(g);
}

/* That no browser ever came back may be because the server has forgotten our
 * client, which only the page in the browser says: the next login registers
 * anew (doc/protocol.md 8.6). */
static bool
fail_silent(struct login *g)
{
	if (g->in.came != CAME_TIMEOUT || !has_client(g, CLIENT_REGISTERED))
		return fail(g);
	if (await(g, login_count_failure) != CAME_DONE)
		return fail(g);
	if (!is_locked(g, lock_token(g)) || !save(g, FORGET_NOTHING))
		return false;
	return end_noted(g, LOGIN_FAILED,
	    "nobody signed in within --login-timeout");
}

static bool
keep_client(struct login *g)
{
	enum login_outcome came = lock_token(g);

	if (came == CAME_TIMEOUT)
		return fail_silent(g);
	return is_locked(g, came) && save(g, FORGET_NOTHING);
}

/* The server published nothing, and what was guessed may be wrong. */
static bool
register_client(struct login *g)
{
	const struct server_metadata *m = &g->found.server;
	enum login_outcome came;
	bool guessed;

	/* By RFC 8414 a server without the list does not know PKCE, so no
	 * client is made for it; OpenID Connect does not define the list. */
	if (m->pkce_untold && !m->openid && g->config.mode != LOGIN_DEVICE)
		return end(g, LOGIN_FAILED,
		    "its authorization server" PKCE_UNTOLD
		    "; if you know that it does with S256, give --assume-pkce");
	came = await_ready(g, login_register);
	if (came == CAME_BAD_REDIRECT)
		came = await_ready(g, login_register_by_name);
	if (came == CAME_REGISTERED)
		return keep_client(g);
	if (came != CAME_NO_DOCUMENT && came != CAME_REFUSED)
		return fail(g);
	guessed = g->found.legacy && m->issuer == NULL;
	if (guessed && g->config.unasked)
		return end(g, LOGIN_UNASKED, NULL);
	if (guessed && came == CAME_NO_DOCUMENT)
		return end(g, LOGIN_FAILED,
		    "it requires credentials but offers no sign-in. Pass a "
		    "token with --bearer-env NAME or --bearer-file FILE, or "
		    "a header with -H");
	explain(g,
	    xasprintf("the authorization server did not register a client: "
		      "%s. %s",
		g->told,
		g->found.server.client_document ?
		    HOST_DOCUMENT :
		    "Register one by hand and pass --client-id"));
	return end_noted(g, LOGIN_FAILED, NULL);
}

static bool
find_client(struct login *g)
{
	const char *redirect = g->record.client.redirect_uri;

	if (g->config.client_id != NULL)
		return await(g, login_take_given) == CAME_DONE || fail(g);
	if (g->found.server.client_document &&
	    g->config.client_document != NULL)
		return await(g, login_take_document) == CAME_DONE || fail(g);
	if (client_lives(g) &&
	    (g->redirect_uri == NULL ||
		(redirect != NULL && string_eq(g->redirect_uri, redirect))))
		return true;
	if (registers(g))
		return register_client(g);
	if (g->found.server.client_document)
		return end(g, LOGIN_FAILED,
		    "its authorization server accepts a document in place of a registered client. " HOST_DOCUMENT);
	explain(g,
	    xasprintf("its authorization server does not register clients "
		      "automatically (according to its %sdocument at %s). "
		      "Register one there and pass --client-id (and "
		      "--client-secret-file)",
		g->found.listed ? "" : "own ", g->found.place));
	return end_why(g, LOGIN_FAILED);
}

/* --- the user, by a browser --- */

/* Three tabs, then one each five minutes: a server that asks without end has
 * its URL shown, and no more. CAME_DONE: the redirect is to be waited for. */
static enum login_outcome
open_tab(struct login *g)
{
	enum login_outcome came = lock(g, login_lock_tab, 200, 0);
	int64_t third = g->pending.opened[2], wall = g->in.wall;

	if (came != CAME_LOCKED)
		return came;
	if (g->config.force || wall < third ||
	    wall - third >= BOUND_TABS_MS / 1000)
		return await(g, login_open);
	login_say(g, LEVEL_WARN,
	    "too many browser tabs were opened recently: open the URL "
	    "yourself");
	login_unlock_tab(g);
	return CAME_DONE;
}

/* Sends the user to the authorization server, and waits for the redirect; the
 * user may come back before a tab could be opened. */
static bool
send_user(struct login *g, enum login_outcome *arrived)
{
	enum login_outcome came = CAME_DONE;

	if (await(g, login_authorize) != CAME_DONE)
		return fail(g);
	g->awaits_redirect = true;
	if (g->config.browser != NULL)
		came = open_tab(g);
	if (came == CAME_DONE)
		came = wait_ms(g, -1);
	g->awaits_redirect = false;
	if (came != CAME_CODE && came != CAME_DENIED &&
	    came != CAME_BAD_SCOPE && came != CAME_FOREIGN)
		return fail_silent(g);
	*arrived = came;
	/* The page is handed over first. */
	if (wait_ms(g, 0) != CAME_TIME)
		return fail(g);
	stop_clock(g);
	login_close_listener(g);
	login_unlock_tab(g);
	return true;
}

/* A client of ours that is dead is registered anew, once. */
static bool
exchange_code(struct login *g, bool *again)
{
	enum login_outcome came = await_ready(g, login_exchange);

	if (came == CAME_TOKEN)
		return true;
	if (came == CAME_DEAD_CLIENT && is_ours(g) && !g->anew &&
	    registers(g)) {
		login_say(g, LEVEL_INFO,
		    "the authorization server no longer knows the client: "
		    "registering a new one");
		*again = g->anew = true;
		return true;
	}
	if (came == CAME_TRANSIENT || came == CAME_UNREADY)
		return end_noted(g, LOGIN_LATER, NULL);
	if (came == CAME_IMPOSSIBLE)
		return end_noted(g, LOGIN_FAILED, NULL);
	return fail_user(g);
}

/* Whom it is from may be another name of the one that was asked: the user has to
 * tell. */
static void
explain_foreign(struct login *g)
{
	const char *iss = g->config.issuer == NULL ? g->arrived.iss : NULL;

	explain(g,
	    xasprintf("the answer is not from the authorization server that "
		      "was asked (iss); rejected%s%s",
		iss == NULL ? "" : "; if one operator runs both, add --issuer ",
		iss == NULL ? "" : browser_word(iss)));
}

/* *again: there is no token yet, and it has to begin anew. */
static bool
ask_by_browser(struct login *g, bool *again)
{
	enum login_forget forget = FORGET_NOTHING;
	enum login_outcome arrived = CAME_CODE;

	*again = false;
	if (!send_user(g, &arrived))
		return false;
	if (arrived == CAME_FOREIGN)
		explain_foreign(g);
	if (arrived == CAME_DENIED || arrived == CAME_FOREIGN)
		return end_noted(g, LOGIN_FAILED, NULL);
	if (arrived == CAME_BAD_SCOPE) {
		*again = true;
	} else {
		if (!exchange_code(g, again))
			return false;
		forget = FORGET_CLIENT;
	}
	if (!*again)
		return true;
	start_clock(g);
	login_forget(g, forget);
	return outcome(g) == CAME_DONE || fail(g);
}

/* --- the user, by a device code --- */

/* Whatever is of the moment is waited for as long as the code is good. A server
 * that is in trouble is asked more and more seldom (RFC 8628 3.5). */
static bool
poll_device(struct login *g, int64_t until, int64_t ms)
{
	for (;; ms = ms > BOUND_MINUTE_MS ? BOUND_MINUTE_MS : ms) {
		if (wait_ms(g, ms) != CAME_TIME)
			return fail(g);
		switch (await(g, login_poll)) {
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
			return fail_user(g);
		}
		if (g->in.wall >= until)
			return end_noted(g, LOGIN_FAILED,
			    "nobody entered the code before it expired");
	}
}

static bool
ask_by_device(struct login *g)
{
	int64_t life, interval;

	if (!gives_device_codes(g))
		return end(g, LOGIN_FAILED,
		    "its authorization server offers no device codes: remove "
		    "--auth device");
	if (await_ready(g, login_device) != CAME_CODE_SHOWN)
		return fail_user(g);
	life = g->in.life_s;
	if (life <= 0 || life > BOUND_DEVICE_LIFE_MS / 1000)
		life = BOUND_DEVICE_LIFE_MS / 1000;
	interval = g->in.interval_s;
	if (interval > BOUND_MINUTE_MS / 1000)
		interval = BOUND_MINUTE_MS / 1000;
	return poll_device(g, g->in.wall + life,
	    interval <= 0 ? INTERVAL_MS : interval * 1000);
}

/* --- a token --- */

static bool
ask(struct login *g)
{
	bool again = true, warned = false;

	if (g->config.device_first && gives_device_codes(g))
		g->config.mode = LOGIN_DEVICE;
	while (again) {
		/* The port of the redirect is bound before anything names
		 * it. */
		if ((g->config.mode != LOGIN_DEVICE && !open_port(g)) ||
		    !find_client(g))
			return false;
		unlock_token(g);
		if (g->config.mode == LOGIN_DEVICE)
			return ask_by_device(g);
		/* A server that does not know PKCE ignores what is sent. */
		if (g->found.server.pkce_untold && !warned)
			login_say(g, LEVEL_WARN,
			    "the authorization server of %s" PKCE_UNTOLD
			    ": using it anyway (--assume-pkce silences this)",
			    g->config.server->host);
		warned = true;
		if (!ask_by_browser(g, &again))
			return false;
	}
	return true;
}

/* Stores the token that was had. */
static bool
keep(struct login *g)
{
	stop_clock(g);
	note(g, login_note_success);
	if (!g->holds_token && !is_locked(g, lock_token(g)))
		return false;
	if (!save(g, FORGET_NOTHING))
		return false;
	return g->in.came == CAME_UNKEPT ? end_why(g, LOGIN_DONE) :
					   end(g, LOGIN_DONE, NULL);
}

static bool
with_user(struct login *g)
{
	unlock_token(g);
	if (!g->config.interactive)
		return end(g, LOGIN_INTERACTIVE, "the user has to sign in");
	start_clock(g);
	if (!take_turn(g))
		return false;
	/* A store that cannot be written is told before the user has gone to
	 * any trouble. */
	if (await(g, login_clear) != CAME_DONE)
		return fail(g);
	return find_place(g, g->config.mode != LOGIN_DEVICE) && ask(g) &&
	    keep(g);
}

static bool
by_credentials(struct login *g)
{
	do {
		login_grant(g, BOUND_LONG_MS);
		outcome(g);
	} while (wait_out(g));
	switch (g->in.came) {
	case CAME_TOKEN:
		return keep(g);
	case CAME_TRANSIENT:
		return end_why(g, LOGIN_LATER);
	case CAME_NO_IDENTITY:
		return end_why(g, LOGIN_IDENTITY);
	case CAME_TIME:
		return end(g, LOGIN_LATER, "getting a token took too long");
	default:
		return fail(g);
	}
}

/* The old refresh token may be spent when the answer was lost. Many servers take
 * it once more for a few seconds, and not later. */
static enum login_outcome
refresh(struct login *g)
{
	int n;

	await_ready(g, login_refresh);
	for (n = 1; g->in.came == CAME_NO_DOCUMENT && n < REASONS; n++)
		if (wait_ms(g, REASON_MS) == CAME_TIME)
			await_ready(g, login_refresh);
	if (g->in.came != CAME_LOST)
		return g->in.came;
	login_say(g, LEVEL_INFO,
	    "the answer to the refresh was lost: asking once more");
	return wait_ms(g, 200) == CAME_TIME ? await(g, login_refresh) :
					      g->in.came;
}

static bool
by_refresh(struct login *g)
{
	enum login_outcome came = refresh(g);
	bool dead = came == CAME_DEAD_GRANT || came == CAME_DEAD_CLIENT;
	bool ours = is_ours(g), saved;
	char *why;

	switch (came) {
	case CAME_TOKEN:
		return keep(g);
	case CAME_UNREACHED:
		return end_why(g, LOGIN_UNREACHED);
	case CAME_LOST:
	case CAME_TRANSIENT:
		return end_why(g, LOGIN_LATER);
	default:
		break;
	}
	if (!is_refusal(came) && came != CAME_NO_DOCUMENT)
		return fail(g);
	login_say(g, dead ? LEVEL_INFO : LEVEL_WARN,
	    "the authorization server did not renew the token: %s", g->told);
	why = xasprintf("the authorization server did not renew the token: %s. "
			"Sign in again: mcpsplice login URL",
	    g->told);
	/* Under the lock nobody else can have spent it: it is dead. */
	saved = !dead ||
	    save(g,
		came == CAME_DEAD_CLIENT && ours ? FORGET_CLIENT :
						   FORGET_TOKEN);
	if (!saved || g->config.interactive) {
		free(why);
		return saved && with_user(g);
	}
	explain(g, why);
	return end_why(g, LOGIN_INTERACTIVE);
}

/* Another copy may have had a token while we waited for the lock, and of another
 * issuer. What is read anew knows nothing of what was found before. */
static bool
without_user(struct login *g)
{
	if (!is_locked(g, lock_token(g)) || !load(g) ||
	    (g->discovered && !adopt(g)))
		return false;
	if (is_good(g))
		return end(g, LOGIN_DONE, NULL);
	if (!g->discovered && !is_settled(g) && !find_place(g, false))
		return false;
	if (g->config.mode == LOGIN_CREDENTIALS)
		return by_credentials(g);
	return g->record.token.refresh != NULL &&
		g->record.token_endpoint != NULL ?
	    by_refresh(g) :
	    with_user(g);
}

/* A token that is there and does not do for a user who wants a new one. */
static void
refuse_present(struct login *g)
{
	char proof[PKCE_BYTES];

	if (g->config.force && g->refused[0] == '\0' &&
	    login_prove_token(g, proof))
		memcpy(g->refused, proof, sizeof proof);
}

static bool
run(struct login *g)
{
	const struct login_config *c = &g->config;
	bool alone = c->mode == LOGIN_CREDENTIALS;
	const struct record *r = &g->record;

	if (!load(g))
		return false;
	refuse_present(g);
	if (is_good(g))
		return end(g, LOGIN_DONE, NULL);
	if (!alone &&
	    (c->force || c->reason == LOGIN_SCOPE || r->token.refresh == NULL))
		return with_user(g);
	/* A server that has moved to another issuer must not see what was for
	 * the one before: it is asked before any refresh (doc/protocol.md
	 * 8.3). */
	if ((alone || c->reason != LOGIN_EXPIRED || r->token_endpoint == NULL ||
		!is_settled(g)) &&
	    !find_place(g, false))
		return false;
	return alone || r->token.refresh != NULL ? without_user(g) :
						   with_user(g);
}

struct login_result
login_flow(struct login *g)
{
	const char *rejected = g->config.rejected;

	if (rejected != NULL && strlen(rejected) < sizeof g->refused)
		memcpy(g->refused, rejected, strlen(rejected) + 1);
	run(g);
	return g->result;
}

bool
login_orphan(struct login *g)
{
	/* Nobody is asked who was not asked yet. */
	if (!g->holds_login)
		g->config.interactive = false;
	return g->store != NULL && (g->holds_token || g->holds_login);
}
