/* Waiting and timers: runs the loop until something came, for the order to
 * take. */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>
#include <time.h>

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
	string_set(&g->why, in->why);
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
