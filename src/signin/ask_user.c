/* The user is asked by a browser: the request, the tab, and what the redirect or
 * the terminal brings back. */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>

#include "base/codec.h"

enum { WORDS_MAX = 200 };

/* --- what comes back --- */

static struct callback_expected
expected(const struct login *g)
{
	const struct server_metadata *m = &g->found.server;
	const char *named = g->config.issuer;
	/* A server that publishes no issuer must not gain by that: it is its
	 * own. */
	const char *own = m->issuer != NULL ? m->issuer :
					      g->config.server->origin;
	/* The listed one's own document is used only for redirects of that of
	 * --issuer. */
	bool other = named != NULL && !metadata_same_issuer(own, named);

	return (struct callback_expected){
		.port = g->listener == NULL ? 0 : listener_port(g->listener),
		.path = g->config.callback_path,
		.state = g->state,
		.issuer = other ? named : own,
		.iss = other || m->iss,
	};
}

static void
report_denied(struct login *g, const struct callback *c)
{
	const char *error = c->error != NULL ? c->error : "unknown error";
	struct buf words = { 0 };
	char *why;

	codec_visible(&words, span_of(c->description), WORDS_MAX);
	why = xasprintf("the authorization server refused the sign-in: "
			"%s%s%s%s%s",
	    error, words.n > 0 ? ", it says \"" : "", buf_str(&words),
	    words.n > 0 ? "\"" : "",
	    client_advice(error, c->description, NULL));
	buf_free(&words);
	login_report_why(g, CAME_DENIED, why);
	free(why);
}

/* Are these scopes refused that nobody named? mcp gives a client none that it did
 * not register, and yet lists them. They are forgotten. */
static bool
forget_scopes(struct login *g, const struct callback *c)
{
	char *named = login_named_scope(g);
	bool refused = named == NULL && g->scope != NULL &&
	    string_eq(c->error, "invalid_scope");

	free(named);
	if (refused) {
		string_set(&g->record.client.scope, NULL);
		string_set(&g->found.server.scopes, NULL);
	}
	return refused;
}

/* Returns false when it is not what is waited for; c is taken. The order goes on
 * when the page was handed over, since it waits first. */
static bool
take_redirect(struct login *g, enum callback_result result, struct callback *c)
{
	if (!g->awaits_redirect || result == CALLBACK_OTHER ||
	    result == CALLBACK_MORE) {
		callback_free(c);
		return false;
	}
	callback_free(&g->arrived);
	g->arrived = *c;
	if (result == CALLBACK_CODE)
		login_report(g, CAME_CODE);
	else if (result == CALLBACK_ISSUER)
		login_report(g, CAME_FOREIGN);
	else if (forget_scopes(g, &g->arrived))
		login_report(g, CAME_BAD_SCOPE);
	else
		report_denied(g, &g->arrived);
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

void
login_close_listener(struct login *g)
{
	listener_free(g->listener, true);
	g->listener = NULL;
}

/* --- the browser --- */

void
login_close_browser(struct login *g)
{
	child_free(g->browser, false);
	g->browser = NULL;
}

static void
on_browser(enum child_end end, int value, void *arg)
{
	struct login *g = arg;

	g->browser = NULL;
	if (!browser_opened(end, value))
		login_report_browser(g);
}

static void
open_browser(struct login *g, const char *url)
{
	static const struct child_ops ops = { .done = on_browser };

	g->browser = browser_open(g->loop, g->config.browser, url,
	    &g->config.desktop, &ops, g);
}

void
login_open(struct login *g)
{
	int64_t *opened = g->pending.opened;

	if (login_was_ended(g)) {
		login_report(g, CAME_CANCELLED);
		return;
	}
	opened[2] = opened[1];
	opened[1] = opened[0];
	opened[0] = login_now();
	login_save_pending(g);
	login_close_browser(g); /* of a client that was dead */
	open_browser(g, g->url);
	login_report(g, CAME_DONE);
}

/* The URL that was shown last is another copy's. When no tab is open, it is
 * ours to open one. */
void
login_open_for_other(struct login *g)
{
	char *safe, *why;

	if (g->browser != NULL)
		return;
	safe = browser_url(g->shown, g->config.policy.allow_http, &why);
	login_unlock(&g->tab_lock);
	g->tab_lock = store_lock(g->store, STORE_TAB, NULL);
	if (g->tab_lock >= 0 && safe != NULL)
		open_browser(g, safe);
	free(safe);
	free(why);
}

/* --- the request --- */

void
login_authorize(struct login *g)
{
	char challenge[PKCE_BYTES], *url = NULL, *why = NULL;

	free(g->scope);
	g->scope = login_wanted_scope(g);
	free(g->url);
	g->url = NULL;
	if (pkce_random(g->verifier) == 0 && pkce_random(g->state) == 0 &&
	    pkce_challenge(challenge, g->verifier) == 0)
		url = client_authorize_url(&g->found.server, &g->record,
		    g->scope, g->state, challenge, g->config.params);
	/* A user pastes it into a shell, perhaps: what is shown is as safe as
	 * what is opened. */
	if (url != NULL)
		g->url = browser_url(url, g->config.policy.allow_http, &why);
	free(url);
	if (g->url == NULL) {
		login_report_why(g, CAME_UNABLE,
		    why != NULL ? why : "cannot build the sign-in URL");
		free(why);
		return;
	}
	login_show(g, g->url, NULL);
	login_report(g, CAME_DONE);
}
