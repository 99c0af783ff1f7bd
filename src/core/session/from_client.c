/*
 * What the client sends: requests, notifications and answers. Requests and
 * notifications pass through the gate and are held while it is shut. Answers do
 * not wait for the gate.
 */
#include "config.h"

#include "core/session/parts.h"

#include "core/era/era.h"

static bool
is_method(const struct frame *f, const char *method)
{
	return json_key_is(f->method, method);
}

/* --- answers to the client --- */

void
session_reject(struct session *s, struct frame *error)
{
	s->ending.own_errors = true;
	session_write(s, error);
	frame_unref(error);
}

/* --- requests --- */

static void
request_full(struct session *s, struct frame *f)
{
	session_reject(s,
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
		    "the client sent initialize again: opening a new session");
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
		session_reject(s,
		    fault_make(FAULT_LATE,
			&(struct fault_args){ .request = f }));
		return;
	}
	if (is_duplicate(s, f->id)) {
		session_reject(s,
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
		session_reject(s,
		    fault_make(FAULT_TOOL_FORBIDDEN,
			&(struct fault_args){
			    .request = f, .why = span_of(option) }));
		return;
	}
	renew_lost(s);
	if (phase_permits(s, PHASE_STARTS)) {
		if (!s->config.handshake) {
			session_reject(s,
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
		session_cancel(s, f);
		return;
	}
	if (s->generation->lost && gate_is_open(s))
		session_renew_unasked(s, "it was lost");
	if (gate_is_open(s) && s->calls.n_notifications < BOUND_FEW) {
		session_send_one_way(s, f);
	} else if (!phase_permits(s, PHASE_HOLDS)) {
		session_log(s, LEVEL_INFO,
		    "no session for a notification: dropped");
	} else if (session_is_full(s, f, false)) {
		if (session_may_say(s, &s->say.dropped_at, BOUND_MINUTE_MS))
			session_log(s, LEVEL_WARN,
			    "too many messages are waiting for %s: dropping "
			    "notifications",
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
