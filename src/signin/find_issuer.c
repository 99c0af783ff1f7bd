/* What a login asks signin/discovery for: where to sign in. */
#include "config.h"

#include "signin/state.h"

#include <stdlib.h>

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
