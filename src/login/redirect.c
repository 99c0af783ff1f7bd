/*
 * A user who signs in by a browser: the URL of the authorization server, the
 * browser, and what the redirect brings back.
 */
#include "config.h"

#include "login/redirect.h"

#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "base/log.h"
#include "login/steps.h"
#include "login/waiting.h"

enum {
	POLL_MS = 200,
	TABS_S = 15 * 60, /* three tabs within it (B1.16) */
	WORDS_MAX = 200
};

/* --- the callback --- */

static void
on_code(const struct fetch_answer *a, void *arg)
{
	struct login *g = arg;
	char *why = NULL;

	g->fetch = NULL;
	if (a->status == 0 || a->transient) {
		login_note_failure(g);
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
		g->dead_client(g, why);
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

void
login_on_browser(bool ok, void *arg)
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
	login_save_pending(g);
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
	    g->config.unset, login_on_browser, g);
}

/* --- the request --- */

void
login_authorize(struct login *g, login_dead_cb *dead)
{
	char challenge[PROOF_BYTES], *url = NULL, *why = NULL;

	g->dead_client = dead;
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
