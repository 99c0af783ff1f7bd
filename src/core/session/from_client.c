/*
 * What the client sends: requests, notifications, answers, and lines that are
 * no message. Requests and notifications pass through the gate and are held
 * while it is shut. Answers and cancels do not wait for the gate.
 */
#include "config.h"

#include "core/session/parts.h"

#include <limits.h>
#include <string.h>

#include "core/era/era.h"
#include "core/wire/protocol.h"

static bool
is_method(const struct frame *f, const char *method)
{
	return json_key_is(f->method, method);
}

/* --- answers to the client --- */

/* Writes an error (taken) for a frame that does not become a call. */
static void
reject(struct session *s, struct frame *error)
{
	s->ending.own_errors = true;
	session_write(s, error);
	frame_unref(error);
}

/* --- requests --- */

static void
request_full(struct session *s, struct frame *f)
{
	reject(s,
	    fault_make(FAULT_FULL,
		&(struct fault_args){ .request = f,
		    .host = s->config.host,
		    .count = s->in_flight,
		    .size = session_held_bytes(s) }));
}

static void
answer_ping(struct session *s, struct frame *f)
{
	struct frame *pong = msg_result(f->id, "{}");

	session_write(s, pong);
	frame_unref(pong);
}

/* The client sent initialize again: ends everything of the session before. */
static void
end_former(struct session *s)
{
	struct attempt *a;

	session_listen_close(s);
	session_fail_all(s, FAULT_BEGUN_AGAIN);
	session_drop_one_way(s);
	session_drop_answers(s);
	kept_clear(&s->early);
	for (a = s->calls.attempts; a != NULL; a = calls_attempt_next(a)) {
		if (a->kind == ATTEMPT_DELETE)
			continue;
		/* An initialize that is under way may make a session, which
		 * must be deleted. */
		if (session_may_open(a))
			session_abort_in(s, a, BOUND_SHORT_MS);
		else
			session_abort(s, a);
	}
	questions_free(&s->questions);
	session_forget_lists(s);
	s->ping.ticket = 0;
	s->balancer.flapping_until = 0;
	session_spare_end(s);
	if (s->generation->session != NULL)
		session_delete(s, s->generation);
}

static void
request_initialize(struct session *s, struct frame *f)
{
	if (!phase_permits(s, PHASE_STARTS)) {
		session_log(s, LEVEL_INFO,
		    "the client sent initialize again: a new session replaces "
		    "the old one");
		end_former(s);
	}
	session_open(s, f, calls_add(&s->calls, f));
}

static bool
is_duplicate(const struct session *s, struct span id)
{
	const struct call *c = calls_find(&s->calls, id);

	return c != NULL && msg_id_again(c->frame->id, id);
}

/* Renews a session that was lost while no call waited, because now one does. */
static void
renew_lost(struct session *s)
{
	if (s->generation->lost && gate_is_open(s) && session_may_renew(s))
		session_renew(s,
		    s->renewal.why != NULL ? s->renewal.why : "it was lost");
}

static void
take_request(struct session *s, struct frame *f)
{
	struct call *c;
	struct frame *error, *answer, *shown;
	const char *option;

	if (!phase_permits(s, PHASE_SERVES)) {
		reject(s,
		    fault_make(FAULT_LATE,
			&(struct fault_args){ .request = f }));
		return;
	}
	if (is_duplicate(s, f->id)) {
		reject(s,
		    fault_make(FAULT_DUPLICATE,
			&(struct fault_args){ .request = f }));
		return;
	}
	if (is_method(f, "initialize")) {
		request_initialize(s, f);
		return;
	}
	if (is_method(f, "ping") && !gate_is_open(s) && !s->config.handshake) {
		answer_ping(s, f);
		return;
	}
	answer = session_early_answer(s, f);
	if (answer != NULL) {
		shown = session_show(s, f, answer);
		session_write(s, shown);
		frame_unref(shown);
		frame_unref(answer);
		return;
	}
	option = tool_filter_forbids(&s->config.filter, s->shown, f);
	if (option != NULL) {
		reject(s,
		    fault_make(FAULT_TOOL_FORBIDDEN,
			&(struct fault_args){
			    .request = f, .why = span_of(option) }));
		return;
	}
	renew_lost(s);
	if (phase_permits(s, PHASE_STARTS)) {
		if (!s->config.handshake) {
			reject(s,
			    fault_make(FAULT_NO_INITIALIZE,
				&(struct fault_args){ .request = f }));
			return;
		}
		session_open_own(s);
	} else if (phase_permits(s, PHASE_REVIVES) &&
	    (error = session_revive(s, f, false)) != NULL) {
		session_write(s, error);
		frame_unref(error);
		return;
	}
	if (session_held_bytes(s) > 0 && s->questions.n > 0 &&
	    session_is_full(s, f, true)) {
		request_full(s, f);
		return;
	}
	c = calls_add(&s->calls, f);
	c->waits_since = s->now;
	if (gate_is_open(s) && s->held.first == NULL &&
	    session_has_place(s, f) && !session_awaits_stream(s, f, s->now))
		session_send_call(s, c);
	else
		session_hold(s, f, c);
}

/* --- notifications and answers --- */

static void
take_initialized(struct session *s, struct frame *f)
{
	if (phase_permits(s, PHASE_FIRST)) {
		session_hold(s, f, NULL);
	} else if (phase_permits(s, PHASE_INITIALIZED)) {
		s->handshake.ready = frame_ref(f);
		session_begin_ready(s);
	} else if (s->handshake.ready == NULL &&
	    !phase_permits(s, PHASE_STARTS)) {
		/* A renewal that began before the client sent initialized will
		 * need it. */
		s->handshake.ready = frame_ref(f);
	}
}

/* Does the call run in the current session, so that the cancel can be sent? */
static bool
runs_in_current(const struct session *s, const struct call *c)
{
	return phase_permits(s, PHASE_CANCELS) &&
	    (c->attempt == NULL || c->attempt->generation == s->generation);
}

/* Sends the cancel with the id that the server knows the call by. A call that
 * has an id of ours was repeated in this session, where its first run may still
 * go on under the client's id: that one is cancelled, too. */
static void
forward_cancel(struct session *s, struct call *c, struct frame *f)
{
	struct frame *ours;

	if (s->calls.n_notifications >= BOUND_SOME) {
		session_log(s, LEVEL_INFO,
		    "%s does not acknowledge notifications: a cancel is "
		    "dropped",
		    s->config.host);
		return;
	}
	/* Under the client's id the first page was answered. */
	if (c->sent == NULL || c->pages == NULL)
		session_send_one_way(s, f);
	if (c->sent == NULL)
		return;
	ours = msg_cancel(c->sent->id, json_get(f->params, "reason"));
	session_send_one_way(s, ours);
	frame_unref(ours);
}

static void
take_cancel(struct session *s, struct frame *f)
{
	struct call *c = calls_find(&s->calls,
	    json_get(f->params, "requestId"));

	if (c == NULL || c->cancelled) {
		session_log(s, LEVEL_DEBUG,
		    "the client cancelled a request that is not open: ignored");
		return;
	}
	if (is_method(c->frame, "initialize")) {
		session_log(s, LEVEL_INFO,
		    "the client cancelled initialize, which cannot be "
		    "cancelled: ignored");
		return;
	}
	c->cancelled = true;
	if (c->state == CALL_HELD || c->state == CALL_REFUSED ||
	    c->state == CALL_SUSPECT ||
	    (c->attempt != NULL &&
		(!c->attempt->live || c->attempt->waits_for_user) &&
		c->attempt->last_event_id.n == 0)) {
		session_log(s, LEVEL_INFO,
		    "the client cancelled a request before it was sent");
		session_fail(s, c, NULL);
		return;
	}
	if (runs_in_current(s, c))
		forward_cancel(s, c, f);
	if (c->state == CALL_ACCEPTED || !c->attempt->live ||
	    c->attempt->waits_for_user) {
		session_fail(s, c, NULL);
		return;
	}
	/* The server need not answer now; the stream has BOUND_SHORT_MS to
	 * end. */
	session_abort_in(s, c->attempt, BOUND_SHORT_MS);
}

static void
take_notification(struct session *s, struct frame *f)
{
	if (!phase_permits(s, PHASE_SERVES))
		return;
	if (is_method(f, "notifications/initialized")) {
		take_initialized(s, f);
		return;
	}
	if (is_method(f, "notifications/cancelled")) {
		take_cancel(s, f);
		return;
	}
	if (s->generation->lost && gate_is_open(s))
		session_renew_unasked(s, "it was lost");
	if (gate_is_open(s) && s->calls.n_notifications < BOUND_FEW) {
		session_send_one_way(s, f);
	} else if (!phase_permits(s, PHASE_HOLDS)) {
		session_log(s, LEVEL_INFO,
		    "there is no session for a notification: dropped");
	} else if (session_is_full(s, f, false)) {
		if (session_may_say(s, &s->say.dropped_at, BOUND_MINUTE_MS))
			session_log(s, LEVEL_WARN,
			    "too many messages wait for %s: notifications are "
			    "dropped",
			    s->config.host);
	} else {
		session_hold(s, f, NULL);
	}
}

void
session_client(struct session *s, struct frame *f)
{
	switch (f->kind) {
	case FRAME_REQUEST:
		take_request(s, f);
		break;
	case FRAME_NOTIFICATION:
		take_notification(s, f);
		break;
	default:
		session_answer_question(s, f);
		break;
	}
}

/* --- frames that are none --- */

/* Some servers run a request without an id, and another parser may find another
 * tool in an ambiguous message. */
bool
session_admits(const struct session *s, const struct frame *f,
    enum invalid_line *why)
{
	bool ambiguous = f->ambiguous && tool_filter_is_on(&s->config.filter);

	*why = ambiguous ? INVALID_TWO_WAYS : INVALID_NO_ID;
	return !ambiguous &&
	    (f->kind != FRAME_NOTIFICATION || !era_is_request(f->method));
}

/* May an error be sent without an id? Schemas before 2025-11-25 require one. */
static bool
may_omit_id(const struct session *s)
{
	static const char newest[] = "\"" REVISION_LEGACY;
	const struct frame *answer = s->handshake.answer;
	struct span version = answer == NULL ?
	    no_span :
	    json_get(answer->result, "protocolVersion");

	return version.n < sizeof newest ||
	    memcmp(version.p, newest, sizeof newest - 1) >= 0;
}

/* Answers the question with this id by an error, because the client's own
 * answer cannot be passed on and the server waits for one. */
static void
answer_unusable(struct session *s, struct span id, const char *why)
{
	struct frame *f;

	if (id.p == NULL)
		return;
	f = fault_make(FAULT_BAD_ANSWER,
	    &(struct fault_args){ .id = id, .why = span_of(why) });
	session_answer_question(s, f);
	frame_unref(f);
}

/* Answers each message of a batch by its id: a request with an error, and for
 * an answer the question of the server, which waits for it. Returns false if
 * the batch is empty or too long, or if something in it has no id and is no
 * notification. */
static bool
answer_batch(struct session *s, struct span array)
{
	struct span key, value;
	size_t at = 0, n;
	bool all = true;
	struct frame *f;

	while (array.p[0] != '[') {
		array.p++;
		array.n--;
	}
	for (n = 0; json_next(array, &at, &key, &value); n++) {
		if (n == BOUND_MANY)
			return false;
		f = frame_copy(value);
		msg_parse(f, UINT_MAX);
		if (f->result.p != NULL || f->error.p != NULL)
			answer_unusable(s, f->id, "is in a batch");
		else if (f->id.p != NULL)
			reject(s,
			    fault_make(FAULT_BATCH,
				&(struct fault_args){ .request = f }));
		else if (f->kind != FRAME_NOTIFICATION)
			all = false;
		frame_unref(f);
	}
	return n > 0 && all;
}

void
session_invalid(struct session *s, const struct event *in)
{
	static const char *const what[] = { "not JSON (see jq -c)", "a batch",
		"not a JSON-RPC message", "a request without an id",
		"a message with two readings" };
	static const enum fault_id faults[] = { FAULT_NO_JSON, FAULT_BATCH,
		FAULT_NO_MESSAGE, FAULT_NONE, FAULT_TWO_WAYS };

	struct span id = in->kind == INPUT_TOO_LONG ? in->id :
	    in->frame != NULL                       ? in->frame->id :
						      no_span;
	struct frame *f;

	/* An answer gets no answer, not even a bad one. */
	if (in->frame != NULL &&
	    (in->frame->result.p != NULL || in->frame->error.p != NULL)) {
		session_log(s, LEVEL_WARN,
		    "an answer from the client is not a JSON-RPC message: "
		    "dropped");
		answer_unusable(s, id, "is not a JSON-RPC message");
		return;
	}
	session_log(s, LEVEL_WARN,
	    "a line from the client is not forwarded: %s",
	    in->kind == INPUT_TOO_LONG ? "too long" : what[in->invalid]);
	/* A notification gets no answer. */
	if (in->kind == INPUT_INVALID && in->invalid == INVALID_NO_ID)
		return;
	f = fault_make(in->kind == INPUT_TOO_LONG ? FAULT_MESSAGE_HUGE :
						    faults[in->invalid],
	    &(struct fault_args){ .id = id, .size = in->size });
	/* What has no id in a batch gets one error together. */
	if (in->frame != NULL && in->invalid == INVALID_BATCH &&
	    answer_batch(s, in->frame->text)) {
		frame_unref(f);
		return;
	}
	/* The client gets no error for a notification or an answer that is too
	 * long. */
	if (in->kind == INPUT_TOO_LONG && id.p != NULL && !in->request) {
		frame_unref(f);
		answer_unusable(s, id, "is too large");
	} else if (id.p == NULL && !may_omit_id(s)) {
		frame_unref(f);
	} else {
		reject(s, f);
	}
}
