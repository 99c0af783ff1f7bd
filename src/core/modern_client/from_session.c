/*
 * Takes the frames that the session writes for a modern client. A frame that
 * belongs to a native request passes unchanged. Every other frame is from a
 * legacy server and is translated. (doc/protocol.md 7.4)
 */
#include "config.h"

#include "core/modern_client/parts.h"

#include "core/wire/edit.h"

static bool
is_native(const struct request *r)
{
	return r != NULL && r->kind == REQUEST_NATIVE;
}

/* --- answers --- */

/* Was r sent to a modern server and answered by a legacy one that took the
 * place of the first and does not know the method? Then r is played here. */
static bool
outlived(const struct client *c, const struct request *r,
    const struct frame *answer)
{
	return c->discovered == NULL && c->opening == OPENING_DONE &&
	    answer->kind == FRAME_ERROR &&
	    msg_error_code(answer) == FAULT_METHOD &&
	    (client_is_discover(r->frame) ||
		(client_is_listen(r->frame) && !r->acked));
}

static void
native_answered(struct client *c, struct request *r, struct frame *answer)
{
	struct frame *f;

	if (outlived(c, r, answer)) {
		client_dispatch(c, r);
		return;
	}
	if (answer->kind == FRAME_ERROR && r->acked)
		f = msg_cancel(r->frame->id, no_span);
	else if (answer->kind == FRAME_RESULT && client_is_discover(r->frame))
		f = client_discover_answer(answer, r->frame->id);
	else if (r->sent != r->frame)
		f = fault_pass_on(answer, r->frame);
	else
		f = frame_ref(answer);
	client_write(c, f);
	client_drop(c, r);
}

static void
answered(struct client *c, struct frame *m)
{
	struct request *r = client_find_sent(c, m->id);
	bool setting = r != NULL && r == c->setting;

	if (r == NULL) {
		/* A request of the reducer with an id that is not in the table
		 * was dropped before its answer came. An error without a known
		 * id may be for a line that was not a request: the client sees
		 * it too. */
		if (!own_id_is(&c->ids, m->id))
			client_write(c, frame_ref(m));
		return;
	}
	switch (r->kind) {
	case REQUEST_OPEN:
		client_opened(c, r, m);
		break;
	case REQUEST_NATIVE:
		native_answered(c, r, m);
		break;
	case REQUEST_BRIDGED:
		if (r->in == &c->parked)
			client_park_final(c, r, m);
		else
			client_answered(c, r, m);
		break;
	case REQUEST_SUBSCRIBE:
	case REQUEST_UNSUBSCRIBE:
		client_subscribed(c, r, m);
		break;
	default:
		client_drop(c, r);
		break;
	}
	if (setting)
		client_level_settled(c);
}

/* --- questions --- */

/* mcpsplice itself asks something before it sends r. Until then it may be one
 * for a server of either era. */
static void
be_asked_first(struct client *c, struct request *r)
{
	if (r->kind != REQUEST_NATIVE || !era_may_ask(r->frame->method))
		return;
	client_set_kind(c, r, REQUEST_BRIDGED);
	client_move(c, r, &c->asking);
}

static void
question(struct client *c, const struct event *in)
{
	struct frame *m = in->frame;
	struct request *r;

	if (client_is(m, "ping")) {
		client_send(c, msg_result(m->id, "{}"));
		return;
	}
	if (in->related != NULL)
		r = client_find_sent(c, in->related->id);
	else
		r = client_likely_owner(c);
	if (in->ok && r != NULL)
		be_asked_first(c, r);
	if (r != NULL && r->kind == REQUEST_BRIDGED && r->in != &c->running)
		client_question(c, r, m, in->related == NULL, in->ok);
	else
		client_send(c, client_fault(c, m, FAULT_ASKED_OUTSIDE));
}

/* --- notifications --- */

/* Returns the request with this progress token, r if it has it; NULL: the
 * client waits for no such request. */
static struct request *
progressing(struct client *c, struct request *r, struct span token)
{
	if (token.p == NULL)
		return NULL;
	if (r == NULL || r->frame == NULL ||
	    !msg_id_same(r->sent->token, token))
		r = client_find_token(c, token);
	return r != NULL && r->in == &c->parked ? NULL : r;
}

/* Passes m on, with the token of the retry if a retry of r has another one. */
static void
progress(struct client *c, struct request *r, struct frame *m)
{
	struct edit edit = { "progressToken",
		json_get(m->params, "progressToken") };

	r = progressing(c, r, edit.value);
	if (r == NULL)
		return;
	if (span_eq(r->frame->token, r->sent->token)) {
		client_write(c, frame_ref(m));
		return;
	}
	edit.value = r->frame->token;
	if (edit.value.p != NULL)
		client_write(c, edit_part(m, "params", m->params, &edit, 1));
}

/* Does the client want this log message? One on the stream of a request must be
 * wanted by that request. One on no request's stream may be wanted by any
 * request, as HTTP+SSE has no other stream. */
static bool
is_wanted(const struct client *c, const struct request *r, bool related,
    const struct frame *m)
{
	int level = era_level(json_get(m->params, "level")), i;

	if (related)
		return r != NULL && r->level >= 0 && level >= r->level;
	if (!c->shared)
		return false;
	for (i = 0; i <= level; i++)
		if (c->levels[i] > 0)
			return true;
	return false;
}

/* Is m a notification that the modern era does not have, or that a legacy
 * server must not send? */
static bool
is_legacy_only(const struct frame *m)
{
	return client_is(m, "notifications/elicitation/complete") ||
	    client_is(m, "notifications/tasks/status") ||
	    client_is(m, "notifications/subscriptions/acknowledged");
}

static void
notified(struct client *c, struct request *r, bool related, struct frame *m)
{
	if (client_is(m, "notifications/cancelled"))
		client_question_over(c, json_get(m->params, "requestId"));
	else if (client_fan_out(c, m) || is_legacy_only(m))
		return;
	else if (client_is(m, "notifications/progress"))
		progress(c, r, m);
	else if (client_is(m, "notifications/message")) {
		if (is_wanted(c, r, related, m))
			client_write(c, frame_ref(m));
	} else if (!related || (r != NULL && r->in != &c->parked)) {
		client_write(c, frame_ref(m));
	}
}

static void
notification(struct client *c, const struct event *in)
{
	struct frame *m = in->frame;
	struct request *r = NULL, *listen;

	if (in->related != NULL)
		r = client_find_sent(c, in->related->id);
	listen = client_find(c, era_meta(m, META_SUBSCRIPTION));
	if (is_native(listen))
		r = listen;
	if (!is_native(r)) {
		notified(c, r, in->related != NULL, m);
		return;
	}
	if (client_is(m, "notifications/subscriptions/acknowledged") &&
	    client_is_listen(r->frame))
		r->acked = true;
	client_write(c, frame_ref(m));
}

/* --- frames of all kinds --- */

/* The client began as a modern one and then sent initialize. Answers to its
 * earlier requests go out under the ids that it knows; answers to requests of
 * the reducer are dropped. */
static void
for_legacy(struct client *c, struct frame *m)
{
	struct request *r = NULL;

	if (m->kind == FRAME_RESULT || m->kind == FRAME_ERROR)
		r = client_find_sent(c, m->id);
	if (r == NULL) {
		client_write(c, frame_ref(m));
		return;
	}
	if (r->kind == REQUEST_BRIDGED)
		client_write(c, fault_pass_on(m, r->frame));
	client_drop(c, r);
}

void
client_from_session(struct client *c, const struct event *in)
{
	struct frame *m = in->frame;

	if (!c->modern)
		for_legacy(c, m);
	else if (m->kind == FRAME_REQUEST)
		question(c, in);
	else if (m->kind == FRAME_NOTIFICATION)
		notification(c, in);
	else
		answered(c, m);
}
