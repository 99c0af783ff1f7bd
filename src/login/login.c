/*
 * A login, from what is in the store to a good token in it. Every step is a
 * function that ends by starting one thing (an op of the store, a fetch, a
 * timer) and naming the step after it.
 */
#include "config.h"

#include "login/login.h"

#include <string.h>

#include "login/interactive.h"
#include "login/steps.h"
#include "login/token.h"
#include "login/waiting.h"

/* --- time --- */

static void
on_timer(void *arg)
{
	struct login *g = arg;

	g->step(g);
}

static void
timed_out(struct login *g)
{
	login_failed(g, LOGIN_FAILED,
	    "nobody signed in within --login-timeout");
}

static void
save_failure(struct login *g)
{
	login_save(g, timed_out);
}

/* That no browser ever came back may be because the server has forgotten our
 * client, which only the page in the browser says: the next login registers
 * anew (doc/protocol.md 8.6). */
static void
on_timeout(void *arg)
{
	struct login *g = arg;

	if (g->listener == NULL || g->on_redirect || g->op != NULL ||
	    g->fetch != NULL || g->token_lock >= 0 ||
	    g->record.client.source != CLIENT_REGISTERED) {
		timed_out(g);
		return;
	}
	g->on_redirect = true;
	g->record.client_failures++;
	login_lock_token(g, save_failure);
}

/* --- the order of things --- */

static void
under_lock(struct login *g)
{
	/* What was read anew knows nothing of it. */
	if (g->discovered && !login_take_found(g))
		return;
	if (login_is_good(g))
		login_done(g);
	else if (g->config.mode == LOGIN_CREDENTIALS)
		login_credentials(g);
	else
		login_refresh(g);
}

static void
read_again(struct login *g)
{
	login_read(g, under_lock);
}

/* A server that has moved to another issuer must not see what was for the one
 * before: it is read anew before any refresh (doc/protocol.md 8.3). */
static void
moved(struct login *g)
{
	if (!login_take_found(g))
		return;
	if (g->config.mode == LOGIN_CREDENTIALS ||
	    g->record.token.refresh != NULL)
		login_lock_token(g, read_again);
	else
		login_person(g);
}

static void
decide(struct login *g)
{
	const struct record *r = &g->record;
	bool alone = g->config.mode == LOGIN_CREDENTIALS;

	if (g->config.force && r->token.access != NULL && g->hash[0] == '\0' &&
	    proof_challenge(g->hash, r->token.access) != 0)
		g->hash[0] = '\0';
	if (login_is_good(g))
		login_done(g);
	else if (alone)
		login_discover(g, false, moved);
	else if (g->config.force || g->config.reason == LOGIN_SCOPE ||
	    r->token.refresh == NULL)
		login_person(g);
	else if (g->config.reason == LOGIN_EXPIRED && r->token_endpoint != NULL)
		login_lock_token(g, read_again);
	else
		login_discover(g, false, moved);
}

static void
begin(struct login *g)
{
	login_read(g, decide);
}

struct login *
login_start(struct loop *l, struct fetcher *f, struct store *store,
    const struct login_config *config, const struct login_ops *ops, void *arg)
{
	struct login *g = xcalloc(1, sizeof *g);

	g->loop = l;
	g->fetcher = f;
	g->store = store;
	g->config = *config;
	g->ops = *ops;
	g->arg = arg;
	g->token_lock = g->login_lock = g->tab_lock = -1;
	g->again_ms = -1;
	store_name(g->name, config->server->text, config->profile);
	record_init(&g->record);
	if (config->record != NULL)
		record_copy(&g->record, config->record);
	if (config->rejected != NULL && strlen(config->rejected) < PROOF_BYTES)
		memcpy(g->hash, config->rejected, strlen(config->rejected) + 1);
	g->timer = loop_timer_new(l, on_timer, g);
	g->timeout = loop_timer_new(l, on_timeout, g);
	login_later(g, 0, begin);
	return g;
}

bool
login_orphan(struct login *g)
{
	if (g->login_lock < 0)
		g->config.person = false;
	return g->store != NULL &&
	    (g->login_lock >= 0 || g->token_lock >= 0 || g->fetch != NULL);
}
