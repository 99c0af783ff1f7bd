/*
 * Who asks the user: one copy of us, with the login lock; the others show
 * where, and wait for what comes into the store.
 */
#include "config.h"

#include "login/interactive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "login/client.h"
#include "login/redirect.h"
#include "login/steps.h"
#include "login/waiting.h"
#include "store/credential.h"

enum {
	POLL_MS = 200,
	HELPER_POLL_MS = 3 * 1000,
	FRUITLESS_S = 60 /* after a login that came to nothing */
};

static void ask(struct login *g);

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
	login_forget_url(&g->pending);
	if (login_save_pending(g))
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
		    g->config.unset, login_on_browser, g);
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
	if (p.url != NULL && !login_is_shown(g, p.url, p.user_code)) {
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
