/* The life of a login. */
#include "config.h"

#include "signin/login.h"

#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "signin/state.h"

#define WHY_MAX_BYTES ((size_t)1023)

static void
on_timer(void *arg)
{
	login_report(arg, CAME_TIME);
}

static void
on_timeout(void *arg)
{
	login_report(arg, CAME_TIMEOUT);
}

static void
on_look(void *arg)
{
	login_look_for_end(arg);
}

struct login *
login_new(struct loop *l, struct fetcher *f, struct store *store,
    const struct login_config *config, login_where_cb *where, void *arg)
{
	struct login *g = xcalloc(1, sizeof *g);

	g->loop = l;
	g->fetcher = f;
	g->store = store;
	g->config = *config;
	g->where = where;
	g->arg = arg;
	g->token_lock = g->login_lock = g->tab_lock = -1;
	if (config->identity != NULL)
		memcpy(g->name, config->identity, strlen(config->identity) + 1);
	else
		store_name(g->name, config->server->text, config->profile);
	record_init(&g->identity);
	g->dpop = dpop_new();
	record_init(&g->record);
	if (config->record != NULL)
		record_copy(&g->record, config->record);
	g->timer = loop_timer_new(l, on_timer, g);
	g->timeout = loop_timer_new(l, on_timeout, g);
	g->look = loop_timer_new(l, on_look, g);
	return g;
}

void
login_run(struct login *g, struct login_done *d)
{
	struct login_result r = login_order(g);
	struct record *record = r.end == LOGIN_IDENTITY ? &g->identity :
							  &g->record;
	struct span text = span_of(r.why);
	struct buf why; /* names of others may be in it */

	buf_init(&why, 0);
	if (text.n > WHY_MAX_BYTES)
		text.n = WHY_MAX_BYTES;
	codec_visible(&why, text, WHY_MAX_BYTES + 1);
	d->end = r.end;
	d->why = r.why == NULL ? NULL : xstrdup(buf_str(&why));
	d->again_ms = r.again_ms;
	d->record = *record;
	d->has_record = true;
	record_init(record);
	buf_free(&why);
}

void
login_done_free(struct login_done *d)
{
	free(d->why);
	record_free(&d->record);
}

void
login_free(struct login *g)
{
	if (g == NULL)
		return;
	store_cancel(g->op);
	given_token_cancel(g->given);
	listener_free(g->listener, true);
	browser_free(g->browser);
	loop_timer_free(g->timer);
	loop_timer_free(g->timeout);
	loop_timer_free(g->look);
	login_unlock(&g->tab_lock);
	login_unlock(&g->token_lock);
	login_unlock(&g->login_lock);
	if (g->discovered)
		discovered_free(&g->found);
	record_free(&g->record);
	record_free(&g->identity);
	pending_free(&g->pending);
	callback_free(&g->arrived);
	free(g->why);
	free(g->told);
	free(g->shown);
	free(g->shown_code);
	free(g->redirect_uri);
	free(g->scope);
	free(g->url);
	free(g->device_code);
	string_wipe(&g->assertion);
	dpop_free(g->dpop);
	mem_wipe(g->verifier, sizeof g->verifier);
	mem_wipe(g->state, sizeof g->state);
	free(g);
}
