/*
 * Decides what becomes of the requests and notifications of a modern client
 * once the session is open, also when the server changes its era and when the
 * client closes stdin. (doc/protocol.md 7.3)
 */
#include "config.h"

#include "core/modern_client/parts.h"

#include "core/wire/edit.h"

/* Returns the request of r as the client wrote it, under the id of f; NULL: f
 * goes out as it is. A request that a legacy server has asked a question for is
 * not changed, because a modern server does not know its requestState. */
static struct frame *
fit_modern(struct client *c, struct request *r, struct frame *f)
{
	if (r == NULL || r->frame == NULL || r->asked > r->own ||
	    (r->in != &c->asking && r->in != &c->running &&
		r->in != &c->parked) ||
	    (r->kind != REQUEST_BRIDGED && r->kind != REQUEST_NATIVE) ||
	    (r->sent != r->frame &&
		json_get(r->frame->params, "requestState").p != NULL))
		return NULL;
	if (r->in != &c->parked) {
		client_set_kind(c, r, REQUEST_NATIVE);
		client_want_level(c, r, -1);
		client_move(c, r, &c->running);
	}
	return r->sent == r->frame ? NULL : msg_with_id(r->frame, f->id);
}

static struct frame *
fit_legacy(struct client *c, struct request *r, struct frame *f)
{
	if (r != NULL && r->kind == REQUEST_NATIVE && r->in == &c->running &&
	    !client_is_listen(r->frame) &&
	    era_to_legacy(r->frame) == ERA_BOTH) {
		client_set_kind(c, r, REQUEST_BRIDGED);
		client_want_level(c, r, client_wanted_level(r->frame));
		if (era_may_ask(r->frame->method))
			client_move(c, r, &c->asking);
	}
	return era_request_version(f).p == NULL ? NULL :
						  era_request_to_legacy(f);
}

struct frame *
client_fit(struct client *c, const struct frame *request, struct frame *f,
    bool modern)
{
	struct request *r = NULL;

	if (!c->modern)
		return NULL;
	if (request != NULL)
		r = client_find_sent(c, request->id);
	return modern ? fit_modern(c, r, f) : fit_legacy(c, r, f);
}

/* --- requests --- */

/* Returns the answer to the listen with this id when mcpsplice ends it in
 * order; owned by the caller. */
static struct frame *
listen_result(struct span id)
{
	struct frame *f;
	struct buf result;

	buf_init(&result, 0);
	buf_adds(&result,
	    "{\"resultType\":\"complete\",\"_meta\":{\"" META_PREFIX
	    "subscriptionId\":");
	buf_addspan(&result, id);
	buf_adds(&result, "}}");
	f = msg_result(id, buf_str(&result));
	buf_free(&result);
	return f;
}

void
client_request(struct client *c, struct frame *f)
{
	bool native = c->discovered != NULL;

	if (c->ended && client_is_listen(f))
		client_write(c, listen_result(f->id));
	else if (!native && era_meta(f, META_LEVEL).p != NULL &&
	    client_wanted_level(f) < 0)
		client_fail(c, f, FAULT_BAD_META_LEVEL);
	else if (client_retry(c, f))
		return;
	else if (native)
		client_send_native(c, f);
	else
		client_bridge(c, f);
}

void
client_dispatch(struct client *c, struct request *r)
{
	struct frame *f = frame_ref(r->frame);

	client_drop(c, r);
	if (c->discovered != NULL && client_is_discover(f))
		client_write(c, client_discover_answer(c->discovered, f->id));
	else
		client_request(c, f);
	frame_unref(f);
}

void
client_hand_over(struct client *c)
{
	struct listen *l;
	struct frame *f;
	bool acked;

	while ((l = c->listens) != NULL) {
		f = frame_ref(l->request->frame);
		acked = l->acked;
		client_unlisten(c, l->request);
		if (acked)
			client_write(c, msg_cancel(f->id, no_span));
		else
			client_request(c, f);
		frame_unref(f);
	}
}

/* --- notifications --- */

/* Sends the cancel f of the client to the session, with the id that the session
 * knows r by. */
static void
forward_cancel(struct client *c, const struct request *r, struct frame *f)
{
	struct edit edit = { "requestId", r->sent->id };

	client_send(c, edit_part(f, "params", f->params, &edit, 1));
}

static void
cancelled(struct client *c, struct frame *f)
{
	struct span id = json_get(f->params, "requestId");
	struct request *r = client_find(c, id);

	if (r == NULL && (r = client_parked(c, id)) != NULL) {
		client_abandon(c, r, "cancelled by the client");
		return;
	}
	if (r == NULL) {
		/* The id may be that of a request sent before the era of the
		 * client was known. The session decides. If it has a request of
		 * this id that goes on as a retry, the one that the client means
		 * was answered. */
		if (client_find_sent(c, id) == NULL)
			client_send(c, frame_ref(f));
		return;
	}
	if (r->kind == REQUEST_LISTEN) {
		client_unlisten(c, r);
		return;
	}
	client_refuse_questions(c, r);
	if (r->sent != NULL)
		forward_cancel(c, r, f);
	client_drop(c, r);
}

void
client_notification(struct client *c, struct frame *f)
{
	if (client_is(f, "notifications/cancelled"))
		cancelled(c, f);
	else if (client_is(f, "notifications/initialized"))
		client_log(c, LEVEL_DEBUG,
		    "the client sent notifications/initialized without "
		    "initialize: dropped");
	else
		client_send(c, frame_ref(f));
}

/* --- the end --- */

static void
give_up(struct client *c, struct request *r)
{
	client_cancel(c, r, "the client ended");
	client_drop(c, r);
}

static void
end_listen(struct client *c, struct request *r)
{
	client_write(c, listen_result(r->frame->id));
	if (r->kind == REQUEST_NATIVE)
		give_up(c, r);
	else
		client_unlisten(c, r);
}

/* Is this a request of the reducer's own for which nobody waits? */
static bool
is_idle(const struct client *c, const struct request *r)
{
	return r->kind == REQUEST_SUBSCRIBE || r->kind == REQUEST_UNSUBSCRIBE ||
	    (r->kind == REQUEST_LEVEL && c->waiting.n == 0);
}

/* After EOF the client can neither answer nor cancel. Listens and parked
 * requests would never end, so they end now. What nobody waits for ends,
 * too. */
void
client_eof(struct client *c)
{
	struct request *r, *next;

	c->ended = true;
	for (r = c->running.first; r != NULL; r = next) {
		next = r->next;
		if (is_idle(c, r)) {
			if (r == c->setting)
				client_level_settled(c);
			give_up(c, r);
		} else if (r->frame != NULL && client_is_listen(r->frame)) {
			end_listen(c, r);
		}
	}
	while ((r = c->collecting.first) != NULL) {
		client_refuse_questions(c, r);
		client_move(c, r, &c->asking);
	}
	while (c->parked.first != NULL)
		client_abandon(c, c->parked.first, "the client ended");
}
