/* A person with another machine (RFC 8628): a code and where to enter it. */
#include "config.h"

#include "login/device.h"

#include <stdlib.h>
#include <string.h>

#include "io/url.h"
#include "login/steps.h"
#include "login/waiting.h"
#include "store/credential.h"

enum {
	INTERVAL_MS = 5 * 1000,
	INTERVAL_MAX_MS = 60 * 1000,
	LIFE_MAX_S = 1800,
	CODE_MAX = 64
};

static void poll(struct login *g);

static void
poll_again(struct login *g)
{
	if (login_now() < g->until)
		login_later(g, g->interval_ms, poll);
	else
		login_failed(g, LOGIN_FAILED,
		    "nobody entered the code while it was good");
}

static void
on_polled(const struct fetch_answer *a, void *arg)
{
	struct login *g = arg;
	enum token_verdict verdict;
	char *why = NULL;

	g->fetch = NULL;
	if (a->status == 0 || a->transient) {
		poll_again(g);
		return;
	}
	record_drop_token(&g->record); /* of the login before */
	verdict = client_token(&g->record, a->status, a->json, g->scope,
	    login_now(), &why);
	switch (verdict) {
	case TOKEN_OK:
		login_have_token(g);
		break;
	case TOKEN_SLOW_DOWN:
		if (g->interval_ms < INTERVAL_MAX_MS)
			g->interval_ms += INTERVAL_MS;
		/* FALLTHROUGH */
	case TOKEN_PENDING:
	case TOKEN_TRANSIENT:
		poll_again(g);
		break;
	default:
		login_failed(g, LOGIN_FAILED, a->why != NULL ? a->why : why);
		break;
	}
	free(why);
}

static void
poll(struct login *g)
{
	struct client_request r = { 0 };
	char *assertion;

	if (!login_assertion(g, &assertion))
		return;
	client_device_poll(&r, &g->record, g->device_code, assertion);
	free(assertion);
	login_post(g, g->record.token_endpoint, &r, on_polled);
}

/* Only a page that a person may be sent to, as it may be shown; owned by the
 * caller. */
static char *
page_of(const struct login *g, struct json_object *doc)
{
	static const char *const names[] = { "verification_uri_complete",
		"verification_uri", "verification_url" };
	char *safe = NULL, *why;
	const char *page;
	size_t i;

	for (i = 0; i < 3 && safe == NULL; i++) {
		page = document_text(doc, names[i]);
		why = NULL;
		if (page != NULL)
			safe = browser_url(page, g->config.policy.allow_http,
			    &why);
		free(why);
	}
	return safe;
}

/* The code that a person is to type. It goes to terminals and into messages:
 * only what a keyboard has, and little of it. */
static const char *
code_of(struct json_object *doc)
{
	const char *code = document_text(doc, "user_code"), *c;

	if (code == NULL || *code == '\0' || strlen(code) > CODE_MAX)
		return NULL;
	for (c = code; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			return NULL;
	return code;
}

static void
on_device(const struct fetch_answer *a, void *arg)
{
	struct login *g = arg;
	struct json_object *doc = a->json;
	char *page, *why = NULL;
	const char *code, *user;
	int64_t life, interval;

	g->fetch = NULL;
	if (a->status == 0 || a->transient) {
		login_unready(g, a);
		return;
	}
	code = doc == NULL ? NULL : document_text(doc, "device_code");
	user = doc == NULL ? NULL : code_of(doc);
	page = doc == NULL ? NULL : page_of(g, doc);
	if (a->status >= 300 || code == NULL || user == NULL || page == NULL) {
		if (doc != NULL && document_has(doc, "error"))
			client_token(&g->record, a->status, doc, NULL,
			    login_now(), &why);
		login_failed(g, LOGIN_FAILED,
		    why != NULL        ? why :
			a->why != NULL ? a->why :
					 "the authorization server gave no "
					 "usable device code");
		free(page);
		free(why);
		return;
	}
	life = document_number(doc, "expires_in");
	g->until = login_now() +
	    (life > 0 && life < LIFE_MAX_S ? life : LIFE_MAX_S);
	interval = document_number(doc, "interval");
	g->interval_ms = interval <= 0 ? INTERVAL_MS : interval * 1000;
	if (interval > INTERVAL_MAX_MS / 1000)
		g->interval_ms = INTERVAL_MAX_MS;
	g->device_code = xstrdup(code);
	login_show(g, page, user);
	free(page);
	login_later(g, g->interval_ms, poll);
}

void
login_device(struct login *g)
{
	const char *endpoint = g->found.server.device_authorization_endpoint;
	struct client_request r = { 0 };
	char *assertion;

	if (endpoint == NULL) {
		login_end(g, LOGIN_FAILED,
		    "its authorization server offers no device codes: leave "
		    "out --auth device");
		return;
	}
	if (!login_assertion(g, &assertion))
		return;
	free(g->scope);
	g->scope = login_wanted_scope(g);
	client_device(&r, &g->record, g->scope, assertion);
	free(assertion);
	login_post(g, endpoint, &r, on_device);
}
