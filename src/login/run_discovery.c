/* Where to sign in: g->found. */
#include "config.h"

#include "login/run_discovery.h"

#include <string.h>

#include "login/report.h"

static void
on_discovered(struct discovered *d, const char *why, bool transient, void *arg)
{
	struct login *g = arg;

	g->discovery = NULL;
	if (d == NULL) {
		login_report_why(g, transient ? CAME_NOT_NOW : CAME_BROKEN,
		    why);
		return;
	}
	if (g->discovered)
		discovered_free(&g->found);
	g->found = *d;
	memset(d, 0, sizeof *d);
	g->discovered = true;
	login_report(g, CAME_FOUND);
}

void
login_do_discover(struct login *g)
{
	const struct login_config *c = &g->config;
	struct discovery_config d = {
		.server = c->server,
		.resource_metadata = c->challenge == NULL ?
		    NULL :
		    c->challenge->resource_metadata,
		.issuer = c->issuer,
		.bound = g->record.issuer,
		.policy = c->policy,
		.direct = c->identity != NULL,
		.interactive = g->action.interactive,
	};

	loop_timer_set(g->timer, g->action.ms);
	/* It may fail from inside; what follows is done after this. */
	g->discovery = discovery_start(g->fetcher, &d, on_discovered, g);
}
