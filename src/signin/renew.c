/*
 * A new token without the user: by the refresh token, client credentials or an
 * assertion. Copies that share the record do it one after the other, under the
 * token lock, and look first what another one has got.
 */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>

#include "base/bounds.h"

enum {
	/* a refusal without a reason */
	REASONS = 3,
	REASON_MS = 500
};

static bool
by_credentials(struct login *g)
{
	do {
		login_grant(g, BOUND_LONG_MS);
		step_outcome(g);
	} while (step_wait_out(g));
	switch (g->in.came) {
	case CAME_TOKEN:
		return step_keep(g);
	case CAME_TRANSIENT:
		return step_end_why(g, LOGIN_LATER);
	case CAME_NO_IDENTITY:
		return step_end_why(g, LOGIN_IDENTITY);
	case CAME_TIME:
		return step_end(g, LOGIN_LATER,
		    "getting a token took too long");
	default:
		return step_fail(g);
	}
}

/* The old refresh token may be spent when the answer was lost. Many servers take
 * it once more for a few seconds, and not later. */
static enum login_outcome
refresh(struct login *g)
{
	int n;

	step_await_ready(g, login_refresh);
	for (n = 1; g->in.came == CAME_NO_DOCUMENT && n < REASONS; n++)
		if (step_wait_ms(g, REASON_MS) == CAME_TIME)
			step_await_ready(g, login_refresh);
	if (g->in.came != CAME_LOST)
		return g->in.came;
	log_put(LEVEL_INFO,
	    "the answer to the refresh was lost: asking once more");
	return step_wait_ms(g, 200) == CAME_TIME ?
	    step_await(g, login_refresh) :
	    g->in.came;
}

/* true: the user has to sign in. */
static bool
by_refresh(struct login *g)
{
	enum login_outcome came = refresh(g);
	bool dead = came == CAME_DEAD_GRANT || came == CAME_DEAD_CLIENT;
	bool ours = step_is_ours(g), saved;
	char *why;

	switch (came) {
	case CAME_TOKEN:
		return step_keep(g);
	case CAME_UNREACHED:
		return step_end_why(g, LOGIN_UNREACHED);
	case CAME_LOST:
	case CAME_TRANSIENT:
		return step_end_why(g, LOGIN_LATER);
	default:
		break;
	}
	if (!step_is_refusal(came) && came != CAME_NO_DOCUMENT)
		return step_fail(g);
	log_put(dead ? LEVEL_INFO : LEVEL_WARN,
	    "the authorization server did not renew the token: %s", g->told);
	why = xasprintf("the authorization server did not renew the token: %s. "
			"Sign in again: mcpsplice login URL",
	    g->told);
	/* Under the lock nobody else can have spent it: it is dead. */
	saved = !dead ||
	    step_save(g,
		came == CAME_DEAD_CLIENT && ours ? FORGET_CLIENT :
						   FORGET_TOKEN);
	if (!saved || g->config.interactive) {
		free(why);
		return saved;
	}
	step_explain(g, why);
	return step_end_why(g, LOGIN_INTERACTIVE);
}

bool
step_renew(struct login *g)
{
	if (!step_is_locked(g, step_lock_token(g)) || !step_load(g) ||
	    (g->discovered && !step_adopt(g)))
		return false;
	if (step_is_good(g))
		return step_end(g, LOGIN_DONE, NULL);
	if (!g->discovered && !step_is_settled(g) && !step_find_place(g, false))
		return false;
	if (g->config.mode == LOGIN_CREDENTIALS)
		return by_credentials(g);
	return g->record.token.refresh == NULL ||
	    g->record.token_endpoint == NULL || by_refresh(g);
}
