/*
 * Decides what becomes of the requests and notifications of a modern client
 * once the session is open, also when the server changes its era and when the
 * client closes stdin. (doc/protocol.md 7.3)
 */
#include "config.h"

#include "core/client/parts.h"

#include "core/wire/edit.h"

/* Returns the request of r as the client wrote it, under the id of f; NULL: f
 * goes out as it is. A request that a legacy server has asked a question for is
 * not changed, because a modern server does not know its requestState. */
static struct frame *
fit_modern(struct client *e, struct request *r, struct frame *f)
{
	if (r == NULL || r->frame == NULL || r->asked > 0 ||
	    (r->in != &e->asking && r->in != &e->running) ||
	    (r->kind != REQUEST_BRIDGED && r->kind != REQUEST_NATIVE) ||
	    (r->sent != r->frame &&
		json_get(r->frame->params, "requestState").p != NULL))
		return NULL;
	client_set_kind(e, r, REQUEST_NATIVE);
	client_want_level(e, r, -1);
	client_move(e, r, &e->running);
	return r->sent == r->frame ? NULL : msg_with_id(r->frame, f->id);
}

static struct frame *
fit_legacy(struct client *e, struct request *r, struct frame *f)
{
	if (r != NULL && r->kind == REQUEST_NATIVE && r->in == &e->running &&
	    !client_is_listen(r->frame) &&
	    era_to_legacy(r->frame) == ERA_BOTH) {
		client_set_kind(e, r, REQUEST_BRIDGED);
		client_want_level(e, r, client_wanted_level(r->frame));
		if (era_may_ask(r->frame->method))
			client_move(e, r, &e->asking);
	}
	return era_request_version(f).p == NULL ? NULL :
						  era_request_to_legacy(f);
}

struct frame *
client_fit(struct client *e, const struct frame *request, struct frame *f,
    bool modern)
{
	struct request *r = NULL;

	if (!e->modern)
		return NULL;
	if (request != NULL)
		r = client_find_sent(e, request->id);
	return modern ? fit_modern(e, r, f) : fit_legacy(e, r, f);
}

/* --- requests --- */

void
client_request(struct client *e, struct frame *f)
{
	bool native = e->discovered != NULL;

	if (e->ended && client_is_listen(f))
		client_write(e, client_listen_result(f->id));
	else if (!native && era_meta(f, META_LEVEL).p != NULL &&
	    client_wanted_level(f) < 0)
		client_fail(e, f, FAULT_BAD_META_LEVEL);
	else if (client_retry(e, f))
		return;
	else if (native)
		client_send_native(e, f);
	else
		client_bridge(e, f);
}

void
client_dispatch(struct client *e, struct request *r)
{
	struct frame *f = frame_ref(r->frame);

	client_drop(e, r);
	if (e->discovered != NULL && client_is_discover(f))
		client_write(e, client_discover_answer(e->discovered, f->id));
	else
		client_request(e, f);
	frame_unref(f);
}

void
client_hand_over(struct client *e)
{
	struct listen *l;
	struct frame *f;
	bool acked;

	while ((l = e->listens) != NULL) {
		f = frame_ref(l->request->frame);
		acked = l->acked;
		client_unlisten(e, l->request);
		if (acked)
			client_write(e, msg_cancel(f->id, no_span));
		else
			client_request(e, f);
		frame_unref(f);
	}
}

/* --- notifications --- */

/* Sends the cancel f of the client to the session, with the id that the session
 * knows r by. */
static void
forward_cancel(struct client *e, const struct request *r, struct frame *f)
{
	struct edit edit = { "requestId", r->sent->id };

	client_send(e, edit_part(f, "params", f->params, &edit, 1));
}

static void
cancelled(struct client *e, struct frame *f)
{
	struct span id = json_get(f->params, "requestId");
	struct request *r = client_find(e, id);

	if (r == NULL && (r = client_parked(e, id)) != NULL) {
		client_abandon(e, r, "cancelled by the client");
		return;
	}
	if (r == NULL) {
		/* The id may be that of a request sent before the era of the
		 * client was known. The session decides. */
		client_send(e, frame_ref(f));
		return;
	}
	if (r->kind == REQUEST_LISTEN) {
		client_unlisten(e, r);
		return;
	}
	client_refuse_questions(e, r);
	if (r->sent != NULL)
		forward_cancel(e, r, f);
	client_drop(e, r);
}

void
client_notification(struct client *e, struct frame *f)
{
	if (client_is(f, "notifications/cancelled"))
		cancelled(e, f);
	else if (client_is(f, "notifications/initialized"))
		client_log(e, LEVEL_DEBUG,
		    "the client sent notifications/initialized without "
		    "initialize: dropped");
	else
		client_send(e, frame_ref(f));
}

/* --- the end --- */

static void
give_up(struct client *e, struct request *r)
{
	client_cancel(e, r, "the client ended");
	client_drop(e, r);
}

static void
end_listen(struct client *e, struct request *r)
{
	client_write(e, client_listen_result(r->frame->id));
	if (r->kind == REQUEST_NATIVE)
		give_up(e, r);
	else
		client_unlisten(e, r);
}

/* After EOF the client can neither answer nor cancel. Listens and parked
 * requests would never end, so they end now. Subscriptions are not waited
 * for. */
void
client_eof(struct client *e)
{
	struct request *r, *next;

	e->ended = true;
	for (r = e->running.first; r != NULL; r = next) {
		next = r->next;
		if (r->kind == REQUEST_SUBSCRIBE ||
		    r->kind == REQUEST_UNSUBSCRIBE)
			give_up(e, r);
		else if (r->frame != NULL && client_is_listen(r->frame))
			end_listen(e, r);
	}
	while ((r = e->collecting.first) != NULL) {
		client_refuse_questions(e, r);
		client_move(e, r, &e->asking);
	}
	while (e->parked.first != NULL)
		client_abandon(e, e->parked.first, "the client ended");
}
