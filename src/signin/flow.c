/*
 * The order of a login, from the first look into the store to the token in it;
 * it reads from bottom to top. A login has nothing else to do, so it waits where
 * it waits. What is read under a lock counts; what was read before may be old.
 */
#include "config.h"

#include "signin/state.h"

#include "base/bounds.h"

#define HOST_DOCUMENT                                                          \
	"Host client-metadata.json, which comes with mcpsplice, and pass its " \
	"URL with --client-metadata-url"
#define PKCE_UNTOLD                                                            \
	" does not say that it supports PKCE "                                 \
	"(code_challenge_methods_supported)"

/* of a device code */
enum { INTERVAL_MS = 5 * 1000 };

/* --- ends --- */

/* Ends with what came of what was asked for the user. */
static bool
fail_user(struct login *g)
{
	return step_is_refusal(g->in.came) ?
	    step_end_noted(g, LOGIN_FAILED, NULL) :
	    step_fail(g);
}

/* --- what there is --- */

/* Is the client of the record one that was registered before, at this issuer,
 * and seems alive? */
static bool
client_lives(const struct login *g)
{
	const struct record *r = &g->record;

	return step_has_client(g, CLIENT_REGISTERED) &&
	    r->client_failures == 0 &&
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

/* --- who we are --- */

/* The listener of the login before may still be closing the port. */
static bool
open_port(struct login *g)
{
	bool again = client_lives(g);

	for (;;) {
		login_listen(g, again);
		if (step_outcome(g) != CAME_BUSY)
			break;
		if (g->port_until == 0)
			g->port_until = g->in.now + BOUND_KNOWN_START_MS;
		if (g->in.now >= g->port_until ||
		    step_wait_ms(g, 200) != CAME_TIME)
			break;
	}
	return g->in.came == CAME_DONE || step_fail(g);
}

/* That no browser ever came back may be because the server has forgotten our
 * client, which only the page in the browser says: the next login registers
 * anew (doc/protocol.md 8.6). */
static bool
fail_silent(struct login *g)
{
	if (g->in.came != CAME_TIMEOUT ||
	    !step_has_client(g, CLIENT_REGISTERED))
		return step_fail(g);
	if (step_await(g, login_count_failure) != CAME_DONE)
		return step_fail(g);
	if (!step_is_locked(g, step_lock_token(g)) ||
	    !step_save(g, FORGET_NOTHING))
		return false;
	return step_end_noted(g, LOGIN_FAILED,
	    "nobody signed in within --login-timeout");
}

static bool
keep_client(struct login *g)
{
	enum login_outcome came = step_lock_token(g);

	if (came == CAME_TIMEOUT)
		return fail_silent(g);
	return step_is_locked(g, came) && step_save(g, FORGET_NOTHING);
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
		return step_end(g, LOGIN_FAILED,
		    "its authorization server" PKCE_UNTOLD
		    "; if you know that it does with S256, give --assume-pkce");
	came = step_await_ready(g, login_register);
	if (came == CAME_BAD_REDIRECT)
		came = step_await_ready(g, login_register_by_name);
	if (came == CAME_REGISTERED)
		return keep_client(g);
	if (came != CAME_NO_DOCUMENT && came != CAME_REFUSED)
		return step_fail(g);
	guessed = g->found.legacy && m->issuer == NULL;
	if (guessed && g->config.unasked)
		return step_end(g, LOGIN_UNASKED, NULL);
	if (guessed && came == CAME_NO_DOCUMENT)
		return step_end(g, LOGIN_FAILED,
		    "the server requires credentials but offers no sign-in. Pass a "
		    "token with --bearer-env NAME or --bearer-file FILE, or "
		    "a header with -H");
	step_explain(g,
	    xasprintf("the authorization server did not register a client: "
		      "%s. %s",
		g->told,
		g->found.server.client_document ?
		    HOST_DOCUMENT :
		    "Register one by hand and pass --client-id"));
	return step_end_noted(g, LOGIN_FAILED, NULL);
}

static bool
find_client(struct login *g)
{
	const char *redirect = g->record.client.redirect_uri;

	if (g->config.client_id != NULL)
		return step_await(g, login_take_given) == CAME_DONE ||
		    step_fail(g);
	if (g->found.server.client_document &&
	    g->config.client_document != NULL)
		return step_await(g, login_take_document) == CAME_DONE ||
		    step_fail(g);
	if (client_lives(g) &&
	    (g->redirect_uri == NULL ||
		(redirect != NULL && string_eq(g->redirect_uri, redirect))))
		return true;
	if (registers(g))
		return register_client(g);
	if (g->found.server.client_document)
		return step_end(g, LOGIN_FAILED,
		    "its authorization server accepts a document in place of a registered client. " HOST_DOCUMENT);
	step_explain(g,
	    xasprintf("its authorization server does not register clients "
		      "automatically (according to its %sdocument at %s). "
		      "Register one there and pass --client-id (and "
		      "--client-secret-file)",
		g->found.listed ? "" : "own ", g->found.place));
	return step_end_why(g, LOGIN_FAILED);
}

/* --- the user, by a browser --- */

/* Three tabs, then one each five minutes: a server that asks without end has
 * its URL shown, and no more. CAME_DONE: the redirect is to be waited for. */
static enum login_outcome
open_tab(struct login *g)
{
	enum login_outcome came = step_lock(g, login_lock_tab, 200, 0);
	int64_t third = g->pending.opened[2], wall = g->in.wall;

	if (came != CAME_LOCKED)
		return came;
	if (g->config.force || wall < third ||
	    wall - third >= BOUND_TABS_MS / 1000)
		return step_await(g, login_open);
	log_put(LEVEL_WARN,
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

	if (step_await(g, login_authorize) != CAME_DONE)
		return step_fail(g);
	g->awaits_redirect = true;
	if (g->config.browser != NULL)
		came = open_tab(g);
	if (came == CAME_DONE)
		came = step_wait_ms(g, -1);
	g->awaits_redirect = false;
	if (came != CAME_CODE && came != CAME_DENIED &&
	    came != CAME_BAD_SCOPE && came != CAME_FOREIGN)
		return fail_silent(g);
	*arrived = came;
	/* The page is handed over first. */
	if (step_wait_ms(g, 0) != CAME_TIME)
		return step_fail(g);
	step_stop_clock(g);
	login_close_listener(g);
	login_unlock_tab(g);
	return true;
}

/* A client of ours that is dead is registered anew, once. */
static bool
exchange_code(struct login *g, bool *again)
{
	enum login_outcome came = step_await_ready(g, login_exchange);

	if (came == CAME_TOKEN)
		return true;
	if (came == CAME_DEAD_CLIENT && step_is_ours(g) && !g->anew &&
	    registers(g)) {
		log_put(LEVEL_INFO,
		    "the authorization server no longer knows the client: "
		    "registering a new one");
		*again = g->anew = true;
		return true;
	}
	if (came == CAME_TRANSIENT || came == CAME_UNREADY)
		return step_end_noted(g, LOGIN_LATER, NULL);
	if (came == CAME_IMPOSSIBLE)
		return step_end_noted(g, LOGIN_FAILED, NULL);
	return fail_user(g);
}

/* Whom it is from may be another name of the one that was asked: the user has to
 * tell. */
static void
explain_foreign(struct login *g)
{
	const char *iss = g->config.issuer == NULL ? g->arrived.iss : NULL;

	step_explain(g,
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
		return step_end_noted(g, LOGIN_FAILED, NULL);
	if (arrived == CAME_BAD_SCOPE) {
		*again = true;
	} else {
		if (!exchange_code(g, again))
			return false;
		forget = FORGET_CLIENT;
	}
	if (!*again)
		return true;
	step_start_clock(g);
	login_forget(g, forget);
	return step_outcome(g) == CAME_DONE || step_fail(g);
}

/* --- the user, by a device code --- */

/* Whatever is of the moment is waited for as long as the code is good. A server
 * that is in trouble is asked more and more seldom (RFC 8628 3.5). */
static bool
poll_device(struct login *g, int64_t until, int64_t ms)
{
	for (;; ms = ms > BOUND_MINUTE_MS ? BOUND_MINUTE_MS : ms) {
		if (step_wait_ms(g, ms) != CAME_TIME)
			return step_fail(g);
		switch (step_await(g, login_poll)) {
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
			return step_end_noted(g, LOGIN_FAILED,
			    "nobody entered the code before it expired");
	}
}

static bool
ask_by_device(struct login *g)
{
	int64_t life, interval;

	if (!gives_device_codes(g))
		return step_end(g, LOGIN_FAILED,
		    "its authorization server offers no device codes: remove "
		    "--auth device");
	if (step_await_ready(g, login_device) != CAME_CODE_SHOWN)
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
		step_unlock_token(g);
		if (g->config.mode == LOGIN_DEVICE)
			return ask_by_device(g);
		/* A server that does not know PKCE ignores what is sent. */
		if (g->found.server.pkce_untold && !warned)
			log_put(LEVEL_WARN,
			    "the authorization server of %s" PKCE_UNTOLD
			    ": using it anyway (--assume-pkce silences this)",
			    g->config.server->host);
		warned = true;
		if (!ask_by_browser(g, &again))
			return false;
	}
	return true;
}

static bool
with_user(struct login *g)
{
	step_unlock_token(g);
	if (!g->config.interactive)
		return step_end(g, LOGIN_INTERACTIVE,
		    "the user has to sign in");
	step_start_clock(g);
	if (!step_take_turn(g))
		return false;
	/* A store that cannot be written is told before the user has gone to
	 * any trouble. */
	if (step_await(g, login_clear) != CAME_DONE)
		return step_fail(g);
	return step_find_place(g, g->config.mode != LOGIN_DEVICE) && ask(g) &&
	    step_keep(g);
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

	if (!step_load(g))
		return false;
	refuse_present(g);
	if (step_is_good(g))
		return step_end(g, LOGIN_DONE, NULL);
	if (!alone &&
	    (c->force || c->reason == LOGIN_SCOPE || r->token.refresh == NULL))
		return with_user(g);
	/* A server that has moved to another issuer must not see what was for
	 * the one before: it is asked before any refresh (doc/protocol.md
	 * 8.3). */
	if ((alone || c->reason != LOGIN_EXPIRED || r->token_endpoint == NULL ||
		!step_is_settled(g)) &&
	    !step_find_place(g, false))
		return false;
	return ((!alone && r->token.refresh == NULL) || step_renew(g)) &&
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
