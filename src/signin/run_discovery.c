/* Where to sign in: g->found. */
#include "config.h"

#include "signin/run_discovery.h"

#include "signin/report.h"

void
login_discover(struct login *g, int64_t ms, bool interactive)
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
		.interactive = interactive,
		.given = c->gives_secret || c->client_key != NULL ||
		    c->assertion != NULL || c->provider != NULL,
	};
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
