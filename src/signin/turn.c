/*
 * How the copies that share a login take turns: one of them has the token lock
 * for a request, and one asks the user while the others wait and watch the store.
 */
#include "config.h"

#include "signin/state.h"

#include "base/bounds.h"

enum { JITTER_MS = 64, HELPER_POLL_MS = 3 * 1000 };

/* --- locks --- */

enum login_outcome
step_lock(struct login *g, login_part *part, int64_t again_ms, int64_t limit_ms)
{
	int64_t until = g->in.now + limit_ms;
	enum login_outcome came;

	while ((came = step_await(g, part)) == CAME_BUSY) {
		if (limit_ms > 0 && g->in.now >= until)
			return CAME_BUSY;
		came = step_wait_ms(g,
		    again_ms +
			(part == login_lock_token ? g->in.random % JITTER_MS :
						    0));
		if (came != CAME_TIME)
			break;
	}
	return came;
}

enum login_outcome
step_lock_token(struct login *g)
{
	enum login_outcome came = step_lock(g, login_lock_token, 100,
	    BOUND_TOKEN_LOCK_MS);

	g->holds_token = came == CAME_LOCKED;
	return came;
}

bool
step_is_locked(struct login *g, enum login_outcome came)
{
	if (came == CAME_BUSY)
		return step_end(g, LOGIN_LATER,
		    "another mcpsplice is taking too long to get a token");
	return came == CAME_LOCKED || step_fail(g);
}

void
step_unlock_token(struct login *g)
{
	if (g->holds_token)
		login_unlock_token(g);
	g->holds_token = false;
}

bool
step_keep(struct login *g)
{
	step_stop_clock(g);
	step_note(g, login_note_success);
	if (!g->holds_token && !step_is_locked(g, step_lock_token(g)))
		return false;
	if (!step_save(g, FORGET_NOTHING))
		return false;
	return g->in.came == CAME_UNKEPT ? step_end_why(g, LOGIN_DONE) :
					   step_end(g, LOGIN_DONE, NULL);
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

	while ((came = step_await(g, login_lock_login)) == CAME_BUSY) {
		if (step_await(g, login_watch) != CAME_LOOKED)
			return step_fail(g);
		open_for_other(g);
		if (is_changed(g, &seen, &helped_at)) {
			if (!step_load(g))
				return false;
			if (step_is_good(g))
				return step_end(g, LOGIN_DONE, NULL);
		}
		if (step_wait_ms(g, 200) != CAME_TIME)
			return step_fail(g);
	}
	if (came != CAME_LOCKED)
		return step_fail(g);
	g->holds_login = true;
	login_unlock_tab(g);
	login_close_browser(g);
	return step_load(g);
}

bool
step_take_turn(struct login *g)
{
	int64_t left;

	if (g->store != NULL && !wait_for_turn(g))
		return false;
	left = g->pending.failed_at + BOUND_MINUTE_MS / 1000 - g->in.wall;
	if (step_is_good(g))
		return step_end(g, LOGIN_DONE, NULL);
	if (g->config.force || left <= 0 || left > BOUND_MINUTE_MS / 1000)
		return true;
	step_explain(g,
	    xasprintf("the last sign-in failed; try again in %lld s, or now "
		      "with: mcpsplice login URL",
		(long long)left));
	return step_end_why(g, LOGIN_FAILED);
}
