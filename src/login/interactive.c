/*
 * A person who signs in by a browser. One copy of us asks, with the login
 * lock; the others show where, and wait for what comes into the store.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/log.h"
#include "login/state.h"
#include "store/credential.h"

enum {
	POLL_MS = 200,
	HELPER_POLL_MS = 3 * 1000,
	FRUITLESS_S = 60, /* after a login that came to nothing */
	TABS_S = 15 * 60, /* three tabs within it (B1.16) */
	WORDS_MAX = 200
};

static void ask(struct login *g);

/* --- where, for all who wait --- */

/* false with errno: it cannot be written. */
static bool
save_pending(struct login *g)
{
	return g->store == NULL ||
	    store_set_pending(g->store, g->name, &g->pending) == 0;
}

static void
forget_url(struct pending *p)
{
	free(p->url);
	free(p->user_code);
	p->url = p->user_code = NULL;
}

static bool
is_shown(struct login *g, const char *url, const char *code)
{
	if (code == NULL)
		code = "";
	if (g->shown != NULL && strcmp(g->shown, url) == 0 &&
	    strcmp(g->shown_code, code) == 0)
		return true;
	free(g->shown);
	free(g->shown_code);
	g->shown = xstrdup(url);
	g->shown_code = xstrdup(code);
	return false;
}

void
login_show(struct login *g, const char *url, const char *code)
{
	struct pending *p = &g->pending;

	forget_url(p);
	p->url = xstrdup(url);
	p->user_code = code == NULL ? NULL : xstrdup(code);
	save_pending(g);
	if (!is_shown(g, url, code))
		g->ops.where(url, code, g->arg);
}

/* The copies that wait do not ask the person again. */
static void
note_failure(struct login *g)
{
	forget_url(&g->pending);
	g->pending.failed_at = login_now();
	save_pending(g);
}

void
login_failed(struct login *g, enum login_end end, const char *why)
{
	if (g->login_lock >= 0)
		note_failure(g);
	login_end(g, end, "%s", why);
}

/* --- the callback --- */

static void
on_code(const struct fetch_answer *a, void *arg)
{
	struct login *g = arg;
	char *why = NULL;

	g->fetch = NULL;
	if (a->status == 0 || a->transient) {
		note_failure(g);
		login_unready(g, a);
		return;
	}
	/* Nothing of the login before is kept: this one is another. */
	record_drop_token(&g->record);
	switch (client_token(&g->record, a->status, a->json, g->scope,
	    login_now(), &why)) {
	case TOKEN_OK:
		login_have_token(g);
		break;
	case TOKEN_CLIENT:
		login_dead_client(g, why);
		break;
	case TOKEN_TRANSIENT:
		login_failed(g, LOGIN_LATER, why);
		break;
	default:
		login_failed(g, LOGIN_FAILED, a->why != NULL ? a->why : why);
		break;
	}
	free(why);
}

static void
exchange(struct login *g, const char *code)
{
	struct client_request r = { 0 };
	char *assertion;

	if (!login_assertion(g, &assertion))
		return;
	client_code(&r, &g->record, code, g->verifier, assertion);
	free(assertion);
	login_post(g, g->record.token_endpoint, &r, on_code);
}

/* What a browser brought, or a person pasted. */
static void
on_redirect(struct login *g, enum callback_result result,
    const struct callback *c)
{
	struct buf words;
	char *why;

	login_expect_person(g, false);
	listener_free(g->listener, true);
	g->listener = NULL;
	login_unlock(&g->tab_lock);
	if (result == CALLBACK_CODE) {
		exchange(g, c->code);
		return;
	}
	if (result == CALLBACK_ISSUER) {
		login_failed(g, LOGIN_FAILED,
		    "what came back is not from the authorization server that "
		    "was asked (iss): nothing of it was used");
		return;
	}
	buf_init(&words, 0);
	codec_visible(&words, span_of(c->description), WORDS_MAX);
	why =
	    xasprintf("the authorization server refused the sign-in: %s%s%s%s",
		c->error != NULL ? c->error : "unknown error",
		words.n > 0 ? ", it says \"" : "", buf_str(&words),
		words.n > 0 ? "\"" : "");
	buf_free(&words);
	login_failed(g, LOGIN_FAILED, why);
	free(why);
}

static struct callback_expected
expected(const struct login *g)
{
	struct callback_expected e = {
		.port = g->listener == NULL ? 0 : listener_port(g->listener),
		.path = g->config.callback_path,
		.state = g->state,
		.issuer = g->found.server.issuer,
		.iss = g->found.server.iss,
	};

	return e;
}

static void
on_arrival(struct login *g)
{
	struct callback c = g->arrived;

	memset(&g->arrived, 0, sizeof g->arrived);
	on_redirect(g, g->arrived_as, &c);
	callback_free(&c);
}

/* Returns false when it is not what is waited for; c is taken. The rest
 * happens with an empty stack, after the page was handed over. */
static bool
take_redirect(struct login *g, enum callback_result result, struct callback *c)
{
	if (g->on_redirect || result == CALLBACK_OTHER ||
	    result == CALLBACK_MORE) {
		callback_free(c);
		return false;
	}
	g->on_redirect = true;
	g->arrived = *c;
	g->arrived_as = result;
	login_later(g, 0, on_arrival);
	return true;
}

bool
login_callback(struct span so_far, struct buf *reply, void *arg)
{
	struct login *g = arg;
	struct callback_expected e = expected(g);
	struct callback c = { 0 };
	enum callback_result result = callback_read(so_far, &e, &c, reply);

	if (result == CALLBACK_MORE)
		return false;
	take_redirect(g, result, &c);
	return true;
}

bool
login_paste(struct login *g, const char *url)
{
	struct callback_expected e = expected(g);
	struct callback c = { 0 };

	return g->listener != NULL &&
	    take_redirect(g, callback_url(url, &e, &c), &c);
}

/* --- the browser --- */

static void
on_browser(bool ok, void *arg)
{
	struct login *g = arg;

	browser_free(g->browser);
	g->browser = NULL;
	if (ok)
		return;
	login_unlock(&g->tab_lock);
	log_warn("the browser could not be started: open the URL yourself");
}

/* Three tabs, then one each five minutes: a server that asks without end has
 * its URL shown, and no more. */
static bool
may_open(struct login *g)
{
	int64_t *opened = g->pending.opened, now = login_now();

	if (!g->config.force && opened[2] != 0 && now >= opened[2] &&
	    now - opened[2] < TABS_S) {
		log_warn("too many browser tabs lately: open the URL yourself");
		return false;
	}
	opened[2] = opened[1];
	opened[1] = opened[0];
	opened[0] = now;
	save_pending(g);
	return true;
}

static void
open_browser(struct login *g)
{
	if (g->store != NULL) {
		g->tab_lock = store_lock(g->store, STORE_TAB, NULL);
		if (g->tab_lock < 0) { /* one tab at a time */
			if (login_lock_is_busy(g))
				login_later(g, POLL_MS, open_browser);
			return;
		}
	}
	if (!may_open(g)) {
		login_unlock(&g->tab_lock);
		return;
	}
	browser_free(g->browser); /* of a client that was dead */
	g->browser = browser_open(g->loop, g->config.browser, g->url,
	    g->config.unset, on_browser, g);
}

/* --- the request --- */

char *
login_wanted_scope(const struct login *g)
{
	const struct login_config *c = &g->config;
	const char *base = c->scope;
	char *scope, *more;

	if (base == NULL && c->challenge != NULL)
		base = c->challenge->scope;
	if (base == NULL)
		base = g->found.scopes;
	scope = scope_union(c->reason == LOGIN_SCOPE ?
		g->record.token.scope_requested :
		NULL,
	    base);
	/* A step-up widens what the user chose. */
	if (c->reason == LOGIN_SCOPE && c->challenge != NULL) {
		more = scope_union(scope, c->challenge->scope);
		free(scope);
		scope = more;
	}
	if (scope == NULL || c->mode == LOGIN_CREDENTIALS ||
	    !g->found.server.offline_access)
		return scope;
	more = scope_union(scope, "offline_access");
	free(scope);
	return more;
}

void
login_authorize(struct login *g)
{
	char challenge[PROOF_BYTES], *url = NULL, *why = NULL;

	free(g->scope);
	g->scope = login_wanted_scope(g);
	free(g->url);
	g->url = NULL;
	if (proof_random(g->verifier) == 0 && proof_random(g->state) == 0 &&
	    proof_challenge(challenge, g->verifier) == 0)
		url = client_authorize_url(&g->found.server, &g->record,
		    g->scope, g->state, challenge, g->config.params);
	/* A person pastes it into a shell, perhaps: what is shown is as safe as
	 * what is opened. */
	if (url != NULL)
		g->url = browser_url(url, g->config.policy.allow_http, &why);
	free(url);
	if (g->url == NULL) {
		login_end(g, LOGIN_FAILED, "%s",
		    why != NULL ? why : "no URL for the sign-in could be made");
		free(why);
		return;
	}
	login_show(g, g->url, NULL);
	if (g->config.browser != NULL)
		open_browser(g);
}

/* --- who asks --- */

static void
has_lock(struct login *g)
{
	int64_t left;

	if (login_is_good(g)) {
		login_end(g, LOGIN_DONE, NULL);
		return;
	}
	left = g->pending.failed_at + FRUITLESS_S - login_now();
	if (!g->config.force && left > 0 && left <= FRUITLESS_S) {
		login_end(g, LOGIN_FAILED,
		    "the last sign-in came to nothing; the next is possible in "
		    "%lld s, or now with: mcpsplice login URL",
		    (long long)left);
		return;
	}
	/* What the copy before us showed is over. And a store that cannot be
	 * written is told before a person has gone to any trouble. */
	forget_url(&g->pending);
	if (save_pending(g))
		login_discover(g, g->config.mode != LOGIN_DEVICE,
		    login_find_client);
	else
		login_end(g, LOGIN_FAILED,
		    "the token store ~/" STORE_BELOW " cannot be written: %s",
		    strerror(errno));
}

static void
poll_again(struct login *g)
{
	if (login_is_good(g))
		login_end(g, LOGIN_DONE, NULL);
	else
		login_later(g, POLL_MS, ask);
}

/* The copy that asks may have no display, a person at our terminal has. When
 * no tab is open, it is ours to open one. */
static void
open_for_other(struct login *g, const char *url)
{
	char *safe, *why;

	if (!g->config.force || g->config.browser == NULL || g->browser != NULL)
		return;
	safe = browser_url(url, g->config.policy.allow_http, &why);
	login_unlock(&g->tab_lock);
	g->tab_lock = store_lock(g->store, STORE_TAB, NULL);
	if (g->tab_lock >= 0 && safe != NULL)
		g->browser = browser_open(g->loop, g->config.browser, safe,
		    g->config.unset, on_browser, g);
	free(safe);
	free(why);
}

/* Another copy asks: what it shows is shown, what it gets is looked at. */
static void
watch(struct login *g)
{
	struct pending p;
	uint64_t stamp = store_stamp(g->store, g->name);

	store_pending(g->store, g->name, &p);
	if (p.url != NULL && !is_shown(g, p.url, p.user_code)) {
		g->ops.where(p.url, p.user_code, g->arg);
		if (p.user_code == NULL)
			open_for_other(g, p.url);
	}
	pending_free(&p);
	/* A helper cannot tell without being run, and may take its time. */
	if (store_has_helper(g->store)) {
		if (loop_now(g->loop) < g->helped_at + HELPER_POLL_MS) {
			login_later(g, POLL_MS, ask);
			return;
		}
		g->helped_at = loop_now(g->loop);
		login_read(g, poll_again);
	} else if (stamp != g->seen) {
		g->seen = stamp;
		login_read(g, poll_again);
	} else {
		login_later(g, POLL_MS, ask);
	}
}

static void
ask(struct login *g)
{
	g->login_lock = store_lock(g->store, STORE_LOGIN, g->name);
	if (g->login_lock < 0) {
		if (login_lock_is_busy(g))
			watch(g);
		return;
	}
	login_unlock(&g->tab_lock); /* what it was for is over */
	browser_free(g->browser);
	g->browser = NULL;
	store_pending(g->store, g->name, &g->pending);
	login_read(g, has_lock);
}

void
login_person(struct login *g)
{
	if (!g->config.person) {
		login_end(g, LOGIN_INTERACTIVE, "a person has to sign in");
		return;
	}
	login_expect_person(g, true);
	if (g->store == NULL)
		has_lock(g);
	else
		ask(g);
}
