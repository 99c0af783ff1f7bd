/* Time, lines for people, and what came, for the order to take. */
#include "config.h"

#include "signin/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/place.h"
#include "os/random.h"

int64_t
login_now(void)
{
	return (int64_t)time(NULL);
}

/* Lets whoever waits see it. */
static void
wake(struct login *g)
{
	if (g->waits || g->acts)
		loop_stop(g->loop, 0);
}

void
login_report_all(struct login *g, struct login_input *in)
{
	free(g->why);
	g->why = string_copy(in->why);
	g->in = *in;
	g->came = true;
	wake(g);
}

void
login_report_browser(struct login *g)
{
	g->browser_failed = true;
	if (g->waits)
		wake(g);
}

void
login_set_done(struct login *g)
{
	g->done = true;
	wake(g);
}

bool
login_await(struct login *g)
{
	g->acts = true;
	while (!g->done && !g->came && !g->stopped) {
		loop_run(g->loop);
		g->stopped = !g->done && !g->came;
	}
	g->acts = false;
	return g->done;
}

bool
login_fetch(struct login *g, struct fetcher *f, const struct fetch_request *r,
    struct fetch_answer *a)
{
	bool whole;

	g->acts = true;
	whole = fetch_wait(f, r, &g->came, a);
	g->acts = false;
	g->stopped = !whole && !g->came;
	return whole;
}

bool
login_find(struct login *g, struct fetcher *f, const struct discovery_config *c,
    struct discovered *d)
{
	struct login_input in = { 0 };
	char *why;
	bool found, transient;

	g->acts = true;
	found = discovery_run(f, c, &g->came, d, &why, &transient);
	g->acts = false;
	in.came = transient ? CAME_NOT_NOW : CAME_BROKEN;
	in.why = why;
	in.soon = d->soon;
	in.again_ms = d->again_ms;
	if (why != NULL)
		login_report_all(g, &in);
	g->stopped = !found && !g->came;
	free(why);
	return found;
}

void
login_wait(struct login *g)
{
	g->waits = true;
	while (!g->came && !g->browser_failed && !g->stopped) {
		loop_run(g->loop);
		g->stopped = !g->came && !g->browser_failed;
	}
	g->waits = false;
	if (g->came) {
		g->in.why = g->why;
	} else {
		g->in = (struct login_input){ .again_ms = -1 };
		g->in.came = g->browser_failed ? CAME_BROWSER_FAILED :
						 CAME_STOPPED;
		g->browser_failed = false;
	}
	/* What a wait or a part had to be done in is over with it. */
	if (g->came)
		loop_timer_set(g->timer, -1);
	g->came = false;
	g->in.now = loop_now(g->loop);
	g->in.wall = login_now();
}

void
login_report_why(struct login *g, enum login_outcome came, const char *why)
{
	struct login_input in = { .came = came, .why = why, .again_ms = -1 };

	login_report_all(g, &in);
}

void
login_report(struct login *g, enum login_outcome came)
{
	login_report_why(g, came, NULL);
}

void
login_set_timer(struct login *g, int64_t ms)
{
	loop_timer_set(g->timer, ms);
}

void
login_set_timeout(struct login *g, int64_t ms)
{
	loop_timer_set(g->timeout, ms);
}

void
login_say(struct login *g, enum log_level level, const char *fmt, ...)
{
	va_list ap;
	char *text;

	(void)g;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	log_put(level, "%s", text);
	free(text);
}

void
login_unlock(int *fd)
{
	store_unlock(*fd);
	*fd = -1;
}

static void
report_busy(struct login *g)
{
	struct login_input in = { .came = CAME_BUSY, .again_ms = -1 };

	if (os_random(&in.random, sizeof in.random) != 0)
		in.random = 0;
	login_report_all(g, &in);
}

static void
report_broken(struct login *g, int error)
{
	char *why = xasprintf("cannot use the token store %s: %s",
	    os_place_shown(STORE_BELOW), strerror(error));

	login_report_why(g, CAME_BROKEN, why);
	free(why);
}

/* Returns false when it was not had, which is reported then. */
static bool
lock(struct login *g, int *fd, enum store_lock what, const char *name)
{
	if (g->store == NULL)
		return true;
	*fd = store_lock(g->store, what, name);
	if (*fd >= 0)
		return true;
	if (errno == EWOULDBLOCK)
		report_busy(g);
	else
		report_broken(g, errno);
	return false;
}

void
login_lock_token(struct login *g)
{
	if (lock(g, &g->token_lock, STORE_TOKEN, g->name))
		login_report(g, CAME_LOCKED);
}

/* What the copy noted that had it before comes with the lock. */
void
login_lock_login(struct login *g)
{
	if (!lock(g, &g->login_lock, STORE_LOGIN, g->name))
		return;
	store_pending(g->store, g->name, &g->pending);
	login_report(g, CAME_LOCKED);
}

void
login_lock_tab(struct login *g)
{
	if (lock(g, &g->tab_lock, STORE_TAB, NULL))
		login_report(g, CAME_LOCKED);
}

void
login_unlock_token(struct login *g)
{
	login_unlock(&g->token_lock);
}

void
login_unlock_tab(struct login *g)
{
	login_unlock(&g->tab_lock);
}

struct discovery_config
login_place(const struct login_config *c, const char *bound, bool interactive)
{
	return (struct discovery_config){
		.server = c->server,
		.resource_metadata = c->challenge == NULL ?
		    NULL :
		    c->challenge->resource_metadata,
		.issuer = c->issuer,
		.bound = bound,
		.policy = c->policy,
		.direct = c->identity != NULL,
		.interactive = interactive,
		.given = c->gives_secret || c->client_key != NULL ||
		    c->assertion != NULL || c->provider != NULL,
		.registers = c->client_id == NULL && c->mode == LOGIN_BROWSER,
		.document = c->client_document != NULL,
	};
}

void
login_discover(struct login *g, int64_t ms, bool interactive)
{
	struct discovery_config d = login_place(&g->config, g->record.issuer,
	    interactive);
	struct discovered found;

	login_set_timer(g, ms);
	if (!login_find(g, g->fetcher, &d, &found))
		return;
	if (g->discovered)
		discovered_free(&g->found);
	g->found = found;
	g->discovered = true;
	login_report(g, CAME_FOUND);
}
