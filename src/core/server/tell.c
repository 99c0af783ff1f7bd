/*
 * This file tells the session, or a modern client's listen, what subscriptions
 * bring: that something changed, and that the server is no modern one any more.
 */
#include "config.h"

#include "core/server/tell.h"

#include "core/era/era.h"
#include "core/server/act.h"
#include "core/server/belief.h"
#include "core/server/order.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "core/wire/protocol.h"

struct listens *
server_tell_listens(struct server *e)
{
	if (e->listens == NULL) {
		e->listens = xcalloc(1, sizeof *e->listens);
		e->listens->change_at = ALARM_NEVER;
	}
	return e->listens;
}

void
server_tell_session(struct server *e, struct frame *m)
{
	struct listens *l = e->listens;

	if (l->get != NULL)
		server_order_tell_message(e, l->get, &server_facts_stream, m);
	else if (!server_order_keep(&l->kept, m))
		server_log(e, LEVEL_DEBUG,
		    "too many notifications came before the session listens: "
		    "one is dropped");
}

/* Tells that something may have changed, a resource (uri raw JSON) or a list
 * (uri absent): to a client's listen under its id, or to the session if o is
 * NULL. */
static void
tell_change(struct server *e, struct server_order *o, const char *method,
    struct span uri)
{
	struct frame *m;
	struct buf params;

	buf_init(&params, 0);
	if (uri.p != NULL) {
		buf_adds(&params, "{\"uri\":");
		buf_addspan(&params, uri);
	}
	if (o != NULL) {
		buf_adds(&params, params.n > 0 ? "," : "{");
		buf_adds(&params,
		    "\"_meta\":{\"" META_PREFIX "subscriptionId\":");
		buf_addspan(&params, o->body->id);
		buf_addc(&params, '}');
	}
	if (params.n > 0)
		buf_addc(&params, '}');
	m = msg_call(no_span, method, buf_span(&params));
	if (o != NULL)
		server_order_tell_message(e, o, &server_facts_stream, m);
	else
		server_tell_session(e, m);
	frame_unref(m);
	buf_free(&params);
}

void
server_tell_lists(struct server *e, struct server_order *o,
    const struct frame *honours)
{
	struct span honoured = json_get(honours->params, "notifications");
	size_t i;

	for (i = 0; i < ERA_FAMILIES; i++)
		if (span_is(json_get(honoured, era_families[i].wish), "true"))
			tell_change(e, o, era_families[i].changed, no_span);
}

void
server_tell_resource(struct server *e, struct server_order *o, struct span uri)
{
	tell_change(e, o, "notifications/resources/updated", uri);
}

/* --- a server of another era --- */

void
server_tell_gone(struct server *e, struct server_order *o)
{
	server_belief_listen_doubt(e);
	server_order_tell_gone(e, o, false);
}
