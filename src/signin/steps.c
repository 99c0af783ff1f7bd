/*
 * What each step of a login is made of: it waits for what comes, asks a server in
 * trouble again, reads and writes the record, and ends.
 */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>

#include "base/bounds.h"

enum {
	/* before an authorization server in trouble is asked again; doubles */
	PAUSE_MS = 250,
	LONGEST_PAUSE_MS = 1000,
	/* The client that waits for its first initialize gets the reason, and
	 * not a time-out. */
	START_MS = 15 * 1000
};

/* --- what comes --- */

void
step_explain(struct login *g, char *why)
{
	free(g->told);
	g->told = why;
}

enum login_outcome
step_outcome(struct login *g)
{
	login_wait(g);
	while (g->in.came == CAME_BROWSER_FAILED) {
		login_unlock_tab(g);
		log_put(LEVEL_WARN,
		    "the browser cannot be started: open the URL yourself");
		login_wait(g);
	}
	if (g->in.why != NULL)
		step_explain(g, xstrdup(g->in.why));
	return g->in.came;
}

enum login_outcome
step_await(struct login *g, login_part *part)
{
	part(g);
	return step_outcome(g);
}

enum login_outcome
step_wait_ms(struct login *g, int64_t ms)
{
	login_set_timer(g, ms);
	return step_outcome(g);
}

/* --- an authorization server in trouble --- */

bool
step_wait_out(struct login *g)
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
	log_put(LEVEL_INFO, "%s: asking again", g->told);
	g->pause_ms = ms * 2 > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS : ms * 2;
	return step_wait_ms(g, ms) == CAME_TIME;
}

enum login_outcome
step_await_ready(struct login *g, login_part *part)
{
	step_await(g, part);
	while (step_wait_out(g))
		step_await(g, part);
	return g->in.came;
}

/* --- ends --- */

bool
step_end(struct login *g, enum login_end how, const char *text)
{
	g->result = (struct login_result){ how, text, -1 };
	return false;
}

bool
step_end_why(struct login *g, enum login_end how)
{
	g->result = (struct login_result){ how, g->told, g->in.again_ms };
	return false;
}

void
step_note(struct login *g, login_part *part)
{
	if (g->holds_login)
		part(g);
}

bool
step_end_noted(struct login *g, enum login_end how, const char *text)
{
	step_note(g, login_note_failure);
	return text != NULL ? step_end(g, how, text) : step_end_why(g, how);
}

bool
step_fail(struct login *g)
{
	switch (g->in.came) {
	case CAME_TIMEOUT:
		return step_end_noted(g, LOGIN_FAILED,
		    "nobody signed in within --login-timeout");
	case CAME_CANCELLED:
		return step_end_noted(g, LOGIN_FAILED,
		    "\"mcpsplice logout\" ended this sign-in");
	case CAME_STOPPED:
		return step_end(g, LOGIN_STOPPED, NULL);
	case CAME_UNREADY:
	case CAME_NOT_NOW:
		return step_end_why(g, LOGIN_LATER);
	default:
		return step_end_why(g, LOGIN_FAILED);
	}
}

bool
step_is_refusal(enum login_outcome came)
{
	return came == CAME_REFUSED || came == CAME_DEAD_GRANT ||
	    came == CAME_DEAD_CLIENT || came == CAME_PENDING ||
	    came == CAME_SLOW_DOWN;
}

/* --- what there is --- */

bool
step_load(struct login *g)
{
	return step_await(g, login_load) == CAME_LOADED || step_fail(g);
}

bool
step_save(struct login *g, enum login_forget forget)
{
	enum login_outcome came;

	login_save(g, forget);
	came = step_outcome(g);
	return came == CAME_SAVED || came == CAME_UNKEPT || step_fail(g);
}

bool
step_is_good(const struct login *g)
{
	char proof[PKCE_BYTES];

	if (!login_is_usable(g))
		return false;
	if (g->refused[0] != '\0' &&
	    (!login_prove_token(g, proof) || strcmp(g->refused, proof) == 0))
		return false;
	return g->config.reason != LOGIN_SCOPE || login_has_scopes(g);
}

bool
step_has_client(const struct login *g, enum client_source source)
{
	return g->record.client.id != NULL && g->record.client.source == source;
}

bool
step_is_ours(const struct login *g)
{
	return step_has_client(g, CLIENT_REGISTERED) ||
	    step_has_client(g, CLIENT_IMPORTED);
}

/* --- the time of the user --- */

void
step_start_clock(struct login *g)
{
	if (g->config.timeout_ms <= 0)
		return;
	login_set_timeout(g, g->config.timeout_ms);
	g->timed = true;
}

void
step_stop_clock(struct login *g)
{
	if (g->timed)
		login_set_timeout(g, -1);
	g->timed = false;
}
