/*
 * This file makes calls to a modern server out of the session's orders, and
 * takes the ends of their exchanges; answer.c takes the answers. The requests
 * of a modern client pass byte for byte, those of a legacy client are
 * translated (core/era/era).
 *
 * An order has at most one attempt at a time. An attempt that has nothing more
 * to say while its order goes on is let go: it ends by itself, or is ended
 * soon.
 */
#include "config.h"

#include "core/server/modern.h"

#include "core/era/era.h"
#include "core/server/act.h"
#include "core/server/belief.h"
#include "core/server/call.h"
#include "core/server/input_required.h"
#include "core/server/listen.h"
#include "core/server/native_listen.h"
#include "core/server/order.h"
#include "core/server/set.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

/* The session begins anew. Calls under way may end by themselves, but a call
 * that waits for the client or for tools/list would go on in a session that is
 * gone. */
void
server_modern_leave(struct server *e)
{
	struct server_order *o;

	server_listen_leave(e);
	for (o = e->orders; o != NULL; o = o->next) {
		if (o->dropped || o->mode != MODE_MODERN)
			continue;
		o->former = true;
		if (o->inputs != NULL || o->again_at != ALARM_NEVER)
			server_order_tell_gone(e, o, true);
		else if (server_attempt_of(e, FOR_TOOLS, o) != NULL)
			server_order_tell_gone(e, o, o->rounds > 0);
	}
}

/* --- the way down --- */

/* Tells whether listen.c, set.c or native_listen.c keeps this order. */
static bool
is_listens(const struct server_order *o)
{
	return o->verb == VERB_GET ||
	    server_order_is(o, "subscriptions/listen") ||
	    server_order_is(o, "resources/subscribe") ||
	    server_order_is(o, "resources/unsubscribe");
}

void
server_modern_abort(struct server *e, struct server_order *o)
{
	if (is_listens(o))
		server_listen_close(e, o);
}

static void
answer_ping(struct server *e, struct server_order *o)
{
	server_order_tell_answer(e, o, msg_result(o->body->id, "{}"));
}

static void
set_level(struct server *e, struct server_order *o)
{
	struct span level = json_get(o->body->params, "level");

	if (era_level(level) < 0) {
		server_order_fail(e, o, FAULT_BAD_LEVEL, NULL);
		return;
	}
	buf_reset(&e->level);
	buf_addspan(&e->level, level);
	answer_ping(e, o);
}

/* The answer would be a stream, which no legacy client knows. */
static void
answer_listen(struct server *e, struct server_order *o)
{
	server_order_fail(e, o, FAULT_LISTEN_IS_MODERN, NULL);
}

static void
send_native(struct server *e, struct server_order *o)
{
	o->native = true;
	o->sent = frame_ref(o->body);
	if (server_order_is(o, "subscriptions/listen"))
		server_native_open(e, o);
	else
		server_call_send(e, o);
}

static void
send_request(struct server *e, struct server_order *o)
{
	static const struct {
		const char *method;
		void (*answer)(struct server *, struct server_order *);
	} here[] = {
		{ "ping", answer_ping },
		{ "logging/setLevel", set_level },
		{ "resources/subscribe", server_set_subscribe },
		{ "resources/unsubscribe", server_set_subscribe },
		{ "subscriptions/listen", answer_listen },
	};
	size_t i;

	if (era_request_version(o->body).p != NULL) {
		send_native(e, o);
		return;
	}
	for (i = 0; i < sizeof here / sizeof *here; i++)
		if (server_order_is(o, here[i].method)) {
			here[i].answer(e, o);
			return;
		}
	if (era_to_modern(o->body) != ERA_BOTH) {
		server_order_fail(e, o, FAULT_NOT_IN_MODERN, NULL);
		return;
	}
	o->sent = era_request_to_modern(o->body, buf_span(&e->meta),
	    buf_span(&e->level));
	server_call_send(e, o);
}

/* At a modern server, closing the stream is the cancel. */
static void
cancel(struct server *e, struct span id)
{
	struct server_order *o = server_order_asking(e, id, MODE_MODERN);

	if (o == NULL)
		return;
	server_modern_abort(e, o);
	server_inputs_end(e, o, true);
	server_order_tell_done(e, o, &server_facts_aborted);
}

static void
send_note(struct server *e, struct server_order *o)
{
	if (server_order_is(o, "notifications/cancelled")) {
		cancel(e, json_get(o->body->params, "requestId"));
	} else if (era_to_modern(o->body) == ERA_BOTH) {
		o->native = e->client_discover != NULL;
		o->sent = o->native ?
		    frame_ref(o->body) :
		    era_request_to_modern(o->body, buf_span(&e->meta), no_span);
		server_call_send(e, o);
		return;
	}
	server_order_tell_done(e, o, &server_facts_accepted);
}

void
server_modern_send(struct server *e, struct server_order *o)
{
	if (o->verb == VERB_GET && e->client_discover != NULL) {
		/* A modern client opens its own listen. */
		server_order_tell_head(e, o, &server_facts_stream);
	} else if (o->verb == VERB_GET) {
		server_listen_open(e, o);
	} else if (o->verb == VERB_POST && o->body->kind == FRAME_REQUEST) {
		send_request(e, o);
	} else if (o->verb == VERB_POST &&
	    o->body->kind == FRAME_NOTIFICATION) {
		send_note(e, o);
	} else {
		if (o->verb == VERB_POST && !server_inputs_answer(e, o->body))
			server_log(e, LEVEL_DEBUG,
			    "an answer matches no open question: dropped");
		server_order_tell_done(e, o, &server_facts_accepted);
	}
}

/* --- the ends of exchanges --- */

void
server_modern_head(struct server *e, struct server_attempt *i,
    const struct facts *f)
{
	if (i->order != NULL)
		server_order_tell_head(e, i->order, f);
}

/* A notification that the server does not want counts as delivered. */
static void
note_done(struct server *e, struct server_order *o, const struct facts *f)
{
	bool refused = f->status >= 400 && f->status < 500 &&
	    f->status != 401 && f->status != 403 && f->status != 429;
	bool taken = f->ending == ENDING_COMPLETE &&
	    ((f->status >= 200 && f->status < 300) || refused);

	server_order_tell_done(e, o, taken ? &server_facts_accepted : f);
}

void
server_modern_done(struct server *e, struct server_attempt *i,
    const struct facts *f)
{
	struct server_order *o = i->order;
	struct facts told = *f;

	if (o == NULL)
		return;
	/* A stream of a modern server is not resumed, and the session must not
	 * send a call again that had rounds. */
	told.last_event_id = no_span;
	told.retry_ms = -1;
	if (o->rounds > 0 && server_call_is_refused_for_now(f))
		told.retry_after_ms = -1;
	if (i->purpose == FOR_TOOLS)
		server_call_again(e, o);
	else if (o->body->kind != FRAME_REQUEST)
		note_done(e, o, &told);
	else if (o->answered)
		server_order_tell_done(e, o, &told);
	else if (server_belief_may_doubt(e, i) &&
	    server_belief_contradicts(f, NULL))
		server_call_renew(e, o, i, f, true);
	else if (server_call_retry(e, o, f))
		return;
	else if (o->rounds > 0 && server_call_is_unsent(f))
		server_order_fail(e, o, FAULT_UNDELIVERED_INPUTS,
		    &(struct fault_args){ .why = f->why });
	else
		server_order_tell_done(e, o, &told);
}

/* --- time --- */

void
server_modern_tick(struct server *e)
{
	struct server_order *o;
	struct server_attempt *i;

	for (i = e->attempts; i != NULL; i = i->next) {
		if (i->dropped || i->end_at > e->now)
			continue;
		o = i->order;
		server_attempt_end(e, i);
		if (o != NULL)
			server_call_again(e, o);
	}
	for (o = e->orders; o != NULL; o = o->next) {
		if (o->dropped)
			continue;
		if (o->again_at <= e->now)
			server_call_send(e, o);
		else if (o->inputs_end <= e->now)
			server_inputs_expire(e, o);
	}
}
