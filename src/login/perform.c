/*
 * The hands of the order in core/login. What came of an action is reported by
 * the part that did it; what follows is for the order to know.
 */
#include "config.h"

#include "login/login.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "base/codec.h"
#include "login/client.h"
#include "login/device.h"
#include "login/grant.h"
#include "login/locks.h"
#include "login/records.h"
#include "login/redirect.h"
#include "login/report.h"
#include "login/run_discovery.h"
#include "login/token.h"
#include "login/waiting.h"

#define WHY_MAX_BYTES ((size_t)1023)

/* All but DO_NOTHING. */
static login_performer *const performers[DO_ACTIONS] = {
	[DO_WAIT] = login_do_wait,
	[DO_LOAD] = login_do_load,
	[DO_DISCOVER] = login_do_discover,
	[DO_ADOPT] = login_do_adopt,
	[DO_SAVE] = login_do_save,
	[DO_FORGET] = login_do_forget,
	[DO_LOCK_TOKEN] = login_do_lock_token,
	[DO_LOCK_LOGIN] = login_do_lock_login,
	[DO_LOCK_TAB] = login_do_lock_tab,
	[DO_WATCH] = login_do_watch,
	[DO_CLEAR] = login_do_clear,
	[DO_COUNT_FAILURE] = login_do_count_failure,
	[DO_LISTEN] = login_do_listen,
	[DO_TAKE_GIVEN] = login_do_take_given,
	[DO_TAKE_DOCUMENT] = login_do_take_document,
	[DO_REGISTER] = login_do_register,
	[DO_REGISTER_BY_NAME] = login_do_register_by_name,
	[DO_REFRESH] = login_do_refresh,
	[DO_CREDENTIALS] = login_do_grant,
	[DO_AUTHORIZE] = login_do_authorize,
	[DO_OPEN] = login_do_open,
	[DO_EXCHANGE] = login_do_exchange,
	[DO_DEVICE] = login_do_device,
	[DO_POLL] = login_do_poll,
	[DO_TIMEOUT] = login_do_timeout,
	[DO_TIMEOUT_OFF] = login_do_timeout_off,
	[DO_UNLOCK_TOKEN] = login_do_unlock_token,
	[DO_UNLOCK_TAB] = login_do_unlock_tab,
	[DO_OPEN_FOR_OTHER] = login_do_open_for_other,
	[DO_CLOSE_BROWSER] = login_do_close_browser,
	[DO_CLOSE_LISTENER] = login_do_close_listener,
	[DO_NOTE_SUCCESS] = login_do_note_success,
	[DO_NOTE_FAILURE] = login_do_note_failure,
	[DO_LOG] = login_do_log,
};

static void
act(const struct login_action *a, void *arg)
{
	struct login *g = arg;

	g->action = *a;
	/* What was waited for is over. */
	if (login_is_awaited(a->kind))
		loop_timer_set(g->timer, -1);
	performers[a->kind](g);
}

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

static struct login_flow *
flow_new(struct login *g)
{
	static const struct login_hands hands = { act, login_wait };
	const struct login_config *c = &g->config;
	const struct login_flow_config config = {
		.mode = c->mode,
		.reason = c->reason,
		.may_ask = c->interactive,
		.unasked = c->unasked,
		.force = c->force,
		.shared = g->store != NULL,
		.helper = g->store != NULL && store_has_helper(g->store),
		.client_given = c->client_id != NULL,
		.client_document = c->client_document != NULL,
		.issuer_given = c->issuer != NULL,
		.assertion = c->assertion != NULL,
		.device_first = c->device_first,
		.has_browser = c->browser != NULL,
		.timeout_ms = c->timeout_ms,
		.rejected = c->rejected,
		.host = c->server->host,
	};

	return login_flow_new(&config, &hands, g);
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
	g->flow = flow_new(g);
	return g;
}

void
login_run(struct login *g, struct login_done *d)
{
	struct login_result r = login_flow_run(g->flow);
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

bool
login_orphan(struct login *g)
{
	return login_flow_orphan(g->flow);
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
	login_flow_free(g->flow);
	if (g->discovered)
		discovered_free(&g->found);
	record_free(&g->record);
	record_free(&g->identity);
	pending_free(&g->pending);
	callback_free(&g->arrived);
	free(g->why);
	free(g->shown);
	free(g->shown_code);
	free(g->redirect_uri);
	free(g->scope);
	free(g->url);
	free(g->device_code);
	string_wipe(&g->assertion);
	dpop_free(g->dpop);
	OPENSSL_cleanse(g->verifier, sizeof g->verifier);
	OPENSSL_cleanse(g->state, sizeof g->state);
	free(g);
}
