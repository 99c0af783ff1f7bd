/*
 * Takes the frames that the session writes for a modern client. A frame that
 * belongs to a native request passes unchanged. Every other frame is from a
 * legacy server and is translated. (doc/protocol.md 7.4)
 */
#include "config.h"

#include "core/client/parts.h"

#include <string.h>

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
outlived(const struct client *e, const struct request *r,
    const struct frame *answer)
{
	return e->discovered == NULL && e->opening == OPENING_DONE &&
	    answer->kind == FRAME_ERROR &&
	    msg_error_code(answer) == FAULT_METHOD &&
	    (client_is_discover(r->frame) ||
		(client_is_listen(r->frame) && !r->acked));
}

static void
native_answered(struct client *e, struct request *r, struct frame *answer)
{
	struct frame *f;

	if (outlived(e, r, answer)) {
		client_dispatch(e, r);
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
	client_write(e, f);
	client_drop(e, r);
}

/* Does client_id make such ids? A request of the reducer with an id that is not
 * in the table was dropped before its answer came. */
static bool
is_ours(const struct client *e, struct span id)
{
	size_t n = strlen(e->config.prefix);

	return id.n > n + 3 && id.p[0] == '"' &&
	    memcmp(id.p + 1, e->config.prefix, n) == 0 &&
	    memcmp(id.p + 1 + n, "-c", 2) == 0;
}

static void
answered(struct client *e, struct frame *m)
{
	struct request *r = client_find_sent(e, m->id);
	bool setting = r != NULL && r == e->setting;

	if (r == NULL) {
		/* An error without a known id may be for a line that was not a
		 * request: the client sees it too. */
		if (!is_ours(e, m->id))
			client_write(e, frame_ref(m));
		return;
	}
	switch (r->kind) {
	case REQUEST_OPEN:
		client_opened(e, r, m);
		break;
	case REQUEST_NATIVE:
		native_answered(e, r, m);
		break;
	case REQUEST_BRIDGED:
		if (r->in == &e->parked)
			client_park_final(e, r, m);
		else
			client_answered(e, r, m);
		break;
	case REQUEST_SUBSCRIBE:
	case REQUEST_UNSUBSCRIBE:
		client_subscribed(e, r, m);
		break;
	default:
		client_drop(e, r);
		break;
	}
	if (setting)
		client_level_settled(e);
}

/* --- questions --- */

static void
question(struct client *e, const struct event *in)
{
	struct frame *m = in->frame;
	struct request *r;

	if (client_is(m, "ping")) {
		client_send(e, msg_result(m->id, "{}"));
		return;
	}
	if (in->related != NULL)
		r = client_find_sent(e, in->related->id);
	else
		r = client_likely_owner(e);
	if (r != NULL && r->kind == REQUEST_BRIDGED && r->in != &e->running)
		client_question(e, r, m, in->related == NULL);
	else
		client_send(e, client_fault(e, m, FAULT_ASKED_OUTSIDE));
}

/* --- notifications --- */

/* Returns the request with this progress token, r if it has it; NULL: the
 * client waits for no such request. */
static struct request *
progressing(struct client *e, struct request *r, struct span token)
{
	if (token.p == NULL)
		return NULL;
	if (r == NULL || r->frame == NULL ||
	    !msg_id_same(r->sent->token, token))
		r = client_find_token(e, token);
	return r != NULL && r->in == &e->parked ? NULL : r;
}

/* Passes m on, with the token of the retry if a retry of r has another one. */
static void
progress(struct client *e, struct request *r, struct frame *m)
{
	struct edit edit = { "progressToken",
		json_get(m->params, "progressToken") };

	r = progressing(e, r, edit.value);
	if (r == NULL)
		return;
	if (span_eq(r->frame->token, r->sent->token)) {
		client_write(e, frame_ref(m));
		return;
	}
	edit.value = r->frame->token;
	if (edit.value.p != NULL)
		client_write(e, edit_part(m, "params", m->params, &edit, 1));
}

/* Does the client want this log message? One on the stream of a request must be
 * wanted by that request. One on no request's stream may be wanted by any
 * request, as HTTP+SSE has no other stream. */
static bool
is_wanted(const struct client *e, const struct request *r, bool related,
    const struct frame *m)
{
	int level = era_level(json_get(m->params, "level")), i;

	if (related)
		return r != NULL && r->level >= 0 && level >= r->level;
	if (!e->shared)
		return false;
	for (i = 0; i <= level; i++)
		if (e->levels[i] > 0)
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
notified(struct client *e, struct request *r, bool related, struct frame *m)
{
	if (client_is(m, "notifications/cancelled"))
		client_question_over(e, json_get(m->params, "requestId"));
	else if (client_fan_out(e, m) || is_legacy_only(m))
		return;
	else if (client_is(m, "notifications/progress"))
		progress(e, r, m);
	else if (client_is(m, "notifications/message")) {
		if (is_wanted(e, r, related, m))
			client_write(e, frame_ref(m));
	} else if (!related || (r != NULL && r->in != &e->parked)) {
		client_write(e, frame_ref(m));
	}
}

static void
notification(struct client *e, const struct event *in)
{
	struct frame *m = in->frame;
	struct request *r = NULL, *listen;

	if (in->related != NULL)
		r = client_find_sent(e, in->related->id);
	listen = client_find(e, era_meta(m, META_SUBSCRIPTION));
	if (is_native(listen))
		r = listen;
	if (!is_native(r)) {
		notified(e, r, in->related != NULL, m);
		return;
	}
	if (client_is(m, "notifications/subscriptions/acknowledged") &&
	    client_is_listen(r->frame))
		r->acked = true;
	client_write(e, frame_ref(m));
}

/* --- frames of all kinds --- */

/* The client began as a modern one and then sent initialize. Answers to its
 * earlier requests go out under the ids that it knows; answers to requests of
 * the reducer are dropped. */
static void
for_legacy(struct client *e, struct frame *m)
{
	struct request *r = NULL;

	if (m->kind == FRAME_RESULT || m->kind == FRAME_ERROR)
		r = client_find_sent(e, m->id);
	if (r == NULL) {
		client_write(e, frame_ref(m));
		return;
	}
	if (r->kind == REQUEST_BRIDGED)
		client_write(e, fault_pass_on(m, r->frame));
	client_drop(e, r);
}

void
client_from_session(struct client *e, const struct event *in)
{
	struct frame *m = in->frame;

	if (!e->modern)
		for_legacy(e, m);
	else if (m->kind == FRAME_REQUEST)
		question(e, in);
	else if (m->kind == FRAME_NOTIFICATION)
		notification(e, in);
	else
		answered(e, m);
}
