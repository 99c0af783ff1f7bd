/*
 * What the server answers: messages, routed by what they are and not by the
 * stream they came on, and the ends of exchanges.
 */
#include "config.h"

#include "wire/session_state.h"

#include <stdlib.h>

#include "wire/json.h"
#include "wire/msg.h"

static bool
is_2xx(const struct facts *f)
{
	return f->status >= 200 && f->status < 300;
}

void
session_head(struct session *s, struct leg *l, const struct facts *f)
{
	if (l->kind == LEG_LISTEN) {
		session_listen_head(s, f);
	} else if (l->kind == LEG_NOTE && is_2xx(f)) {
		/* It was taken; what else comes is of no use. */
		l->abort_at = s->now + LINGER_MS;
		session_due(s, l->abort_at);
	} else if (is_2xx(f)) {
		l->tries = 0; /* it connected: a long job may poll for ever */
	}
}

/* --- messages --- */

/* A question, or a notification, from before initialize was answered: the
 * client must not see it yet. */
static void
keep_early(struct session *s, struct frame *m)
{
	struct held *h;

	if (s->early_bytes + m->text.n > MAX_EARLY) {
		session_note(s, LEVEL_DEBUG,
		    "too much before the answer to initialize: dropped");
		return;
	}
	h = xcalloc(1, sizeof *h);
	h->frame = frame_ref(m);
	if (s->early == NULL)
		s->early = h;
	else
		s->early_last->next = h;
	s->early_last = h;
	s->early_bytes += m->text.n + sizeof *h;
}

struct frame *
session_take_early(struct session *s)
{
	struct held *h = s->early;
	struct frame *f;

	if (h == NULL)
		return NULL;
	f = h->frame;
	s->early = h->next;
	s->early_bytes -= f->text.n + sizeof *h;
	free(h);
	return f;
}

/* A shell user answers no questions: we do, with "no". */
static void
answer_for_shell(struct session *s, struct frame *m)
{
	struct fault fault = { .code = FAULT_METHOD };
	struct frame *f;

	if (s->calls.n_notes >= MAX_NOTES)
		return;
	if (span_is(m->method, "ping"))
		f = msg_result(m->id, "{}");
	else
		f = fault_frame(m->id, &fault, "Nobody is there to answer.");
	session_send_note(s, f);
	frame_unref(f);
}

/* A question from no call in particular: any call that runs may be the one
 * that asked, and is not repeated then. */
static void
may_have_asked(struct session *s, const struct leg *l)
{
	struct leg *other;

	for (other = s->calls.legs; other != NULL && l->call == NULL;
	     other = other->next)
		if (other->kind == LEG_CALL && other->live &&
		    other->generation == l->generation)
			other->asked = true;
}

static void
server_request(struct session *s, struct leg *l, struct frame *m)
{
	struct fault fault = { .reason = "too_large" };
	struct frame *f;

	if (l->generation != s->generation) {
		session_note(s, LEVEL_INFO,
		    "a question of a session that is gone: dropped");
		return;
	}
	if (s->own_handshake) {
		answer_for_shell(s, m);
		return;
	}
	if (s->config.max_result > 0 && m->text.n > s->config.max_result) {
		f = fault_frame(m->id, &fault,
		    "Too large for the client: %zu bytes.", m->text.n);
		session_send_note(s, f);
		frame_unref(f);
		return;
	}
	if (s->questions.n >= MAX_QUESTIONS) {
		session_note(s, LEVEL_WARN,
		    "%s asks too much at once: a question is dropped",
		    s->config.host);
		return;
	}
	if (!span_is(m->method, "ping"))
		may_have_asked(s, l);
	f = questions_ask(&s->questions, m, s->generation->number, l->ticket,
	    s->config.prefix);
	session_write(s, f);
	frame_unref(f);
	session_want_read(s);
}

static void
server_notification(struct session *s, struct leg *l, struct frame *m)
{
	struct frame *f;

	if (s->config.max_result > 0 && m->text.n > s->config.max_result) {
		session_note(s, LEVEL_WARN,
		    "a notification of %zu bytes is too large for the client: "
		    "dropped",
		    m->text.n);
		return;
	}
	if (span_is(m->method, "notifications/cancelled")) {
		f = questions_cancel(&s->questions, m, l->generation->number);
		session_write(s, f);
		frame_unref(f);
		return;
	}
	session_write(s, m);
}

/*
 * Whose answer is it? An error status belongs to the POST it came on,
 * whatever its id says. Else the id decides, on whichever stream it came;
 * what matches no open call belongs to the POST it came on.
 */
static struct call *
answered_call(struct session *s, struct leg *l, const struct facts *f,
    const struct frame *m)
{
	struct call *c;

	if (f->status >= 400 && l->call != NULL)
		return l->call;
	c = calls_find(&s->calls, m->id);
	if (c != NULL && c->state != CALL_HELD)
		return c;
	/* On a stream it may be the second answer to another call. */
	if (f->media == MEDIA_SSE && session_was_answered(s, m->id))
		return NULL;
	return l->call;
}

/* The verdict for an answer of the call: its own leg tells whether it
 * carried a session. */
static enum verdict
judge(const struct call *c, const struct leg *l, const struct facts *f,
    const struct frame *m)
{
	struct facts of_call = *f;
	const struct leg *own = c->leg != NULL ? c->leg : l;
	enum verdict verdict;

	if (m->kind != FRAME_ERROR)
		return VERDICT_ANSWER;
	of_call.had_session = own->generation->session != NULL;
	verdict = verdict_error(&of_call, m, c->frame->id);
	/* A call that was accepted, or began to speak, was not refused before
	 * it ran; nor, but by its status, one that may have asked. */
	if (verdict == VERDICT_LOST &&
	    (c->state == CALL_ACCEPTED || own->spoke ||
		own->last_event_id.n > 0 || (own->asked && f->status < 400)))
		return VERDICT_LOST_MAYBE;
	return verdict;
}

/* The session ended while the call was executing: new session, no replay. */
static void
interrupted(struct session *s, struct call *c, struct leg *l,
    struct frame *refusal)
{
	struct fault fault = { .reason = "session_lost", .maybe = true };
	struct buf label;

	if (c->cancelled) {
		session_fail(s, c, NULL);
		return;
	}
	if (refusal != NULL)
		fault.server = refusal->error;
	buf_init(&label, 0);
	fault_label(c->frame, &label);
	/* No longer one of the accepted calls, which end with the session. */
	session_call_state(s, c, CALL_REFUSED);
	if (l->generation == s->generation)
		session_renew(s, "the session ended while a call ran");
	session_fail(s, c,
	    fault_frame(c->frame->id, &fault,
		"%s ended the session while %s was running. It may have run: "
		"check before calling it again. mcpsplice did not repeat it.",
		s->config.host, buf_str(&label)));
	buf_free(&label);
}

static void
call_worked(struct session *s, struct call *c)
{
	if (c->replayed)
		backoff_budget_helped(&s->budget);
}

static void
server_answer(struct session *s, struct leg *l, const struct facts *f,
    struct frame *m)
{
	struct call *c = answered_call(s, l, f, m);
	enum verdict verdict;

	if (c == NULL) {
		session_note(s, LEVEL_DEBUG,
		    "an answer to no open request: dropped");
		return;
	}
	if (c->leg != NULL && c->leg->kind == LEG_OPEN) {
		session_opened(s, c->leg, f, m);
		return;
	}
	verdict = judge(c, l, f, m);
	if (c->state == CALL_REFUSED && verdict == VERDICT_LOST)
		return; /* said already */
	if (f->status == 401 && verdict == VERDICT_ANSWER) {
		/* done makes it auth_required, with these words inside. */
		frame_unref(c->refusal);
		c->refusal = frame_ref(m);
		return;
	}
	switch (verdict) {
	case VERDICT_LOST:
		session_refused(s, c, c->leg != NULL ? c->leg : l, f, m);
		break;
	case VERDICT_LOST_MAYBE:
		interrupted(s, c, c->leg != NULL ? c->leg : l, m);
		break;
	case VERDICT_RETRY:
		/* When the exchange ends it is known how long to wait; these
		 * words are the answer if it is not tried again. */
		frame_unref(c->refusal);
		c->refusal = frame_ref(m);
		break;
	default:
		call_worked(s, c);
		session_answer(s, c, m);
		break;
	}
}

void
session_message(struct session *s, struct leg *l, const struct facts *f,
    struct frame *m)
{
	bool answer = m->kind == FRAME_RESULT || m->kind == FRAME_ERROR;

	if (l->kind == LEG_LISTEN)
		session_listen_event(s);
	if (!answer)
		l->spoke = true;
	if (!answer && s->phase == PHASE_OPENING && !s->own_handshake) {
		keep_early(s, m);
	} else if (m->kind == FRAME_REQUEST) {
		server_request(s, l, m);
	} else if (m->kind == FRAME_NOTIFICATION) {
		server_notification(s, l, m);
	} else if (l->kind == LEG_OPEN) {
		session_opened(s, l, f, m);
	} else if (l->kind == LEG_CALL || l->kind == LEG_LISTEN) {
		server_answer(s, l, f, m);
	}
	/* Of the others, done tells the status. */
}

/* --- ends --- */

/* Tries the leg again as long as the window is open. Returns false when it
 * is not. */
static bool
retry_unsent(struct session *s, struct leg *l, const struct facts *f)
{
	int64_t wait = backoff_retry(l->tries, s->random);

	if (l->window_end == 0)
		l->window_end = s->now + s->config.retry_window_ms;
	if (s->now + wait > l->window_end)
		return false;
	session_note(s, LEVEL_INFO, "nothing was sent (%.*s): again in %lld ms",
	    (int)f->why.n, f->why.n == 0 ? "" : f->why.p, (long long)wait);
	session_again(s, l, wait);
	return true;
}

/* 429 and 503 say when to come back. */
static bool
retry_refused(struct session *s, struct leg *l, const struct facts *f)
{
	bool may = f->status == 429 ||
	    (f->status == 503 && calls_safe(l->call->frame));

	if (!may || f->retry_after_ms < 0 ||
	    f->retry_after_ms > RETRY_AFTER_MAX_MS)
		return false;
	if (l->window_end == 0)
		l->window_end = s->now + s->config.retry_window_ms;
	if (s->now + f->retry_after_ms > l->window_end)
		return false;
	session_note(s, LEVEL_INFO, "%s answered %d: again in %lld ms",
	    s->config.host, f->status, (long long)f->retry_after_ms);
	session_again(s, l, f->retry_after_ms);
	return true;
}

/* The stream broke after an event id: the answer is fetched by GET. */
static bool
resume(struct session *s, struct leg *l, const struct facts *f)
{
	struct leg *again;
	int64_t wait;
	bool was_get = l->last_event_id.n > 0;

	if (f->last_event_id.n > 0) {
		buf_reset(&l->last_event_id);
		buf_addspan(&l->last_event_id, f->last_event_id);
	}
	if (l->last_event_id.n == 0 || f->ending == ENDING_ABORTED ||
	    f->too_large)
		return false;
	if (was_get && f->ending == ENDING_COMPLETE &&
	    (is_2xx(f) ? f->media != MEDIA_SSE :
			 f->status != 429 && f->status < 500))
		return false;
	if (f->retry_ms >= 0)
		l->retry_ms = f->retry_ms;
	wait = backoff_stream(l->tries, l->retry_ms);
	if (l->window_end == 0)
		l->window_end = s->now + s->config.call_timeout_ms;
	if (s->config.call_timeout_ms > 0 && s->now + wait > l->window_end)
		return false;
	session_note(s, LEVEL_INFO,
	    "a stream ended before its answer: it is resumed in %lld ms",
	    (long long)wait);
	again = session_again(s, l, wait);
	again->window_end = is_2xx(f) ? 0 : again->window_end;
	return true;
}

/* The call runs, or ran, but its stream cannot be had again. */
static struct frame *
resume_refused(struct session *s, const struct call *c, const struct facts *f)
{
	struct facts cut = *f;

	cut.ending = ENDING_CUT;
	cut.sent = true;
	return fault_from_facts(c->frame, &cut, s->config.host, NULL);
}

void
session_fail_accepted(struct session *s, bool lost)
{
	static const struct facts accepted = {
		.ending = ENDING_COMPLETE,
		.sent = true,
		.status = 202,
		.retry_after_ms = -1,
	};
	struct fault fault = { .reason = "session_lost", .maybe = true };
	struct call *c, *next;

	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		if (c->state != CALL_ACCEPTED)
			continue;
		session_fail(s, c,
		    lost ? fault_frame(c->frame->id, &fault,
			       "%s forgot the session before it answered. The "
			       "call may have run: check before calling it "
			       "again.",
			       s->config.host) :
			   fault_from_facts(c->frame, &accepted, s->config.host,
			       NULL));
	}
}

/* 202 to a request: some servers answer on the GET stream. */
static bool
accept_202(struct session *s, struct call *c, const struct facts *f)
{
	if (f->status != 202 || c->leg->generation != s->generation ||
	    (s->listen.state != LISTEN_OPEN &&
		s->listen.state != LISTEN_WAITING))
		return false;
	session_call_state(s, c, CALL_ACCEPTED);
	c->again_at = s->now + s->config.call_timeout_ms;
	if (s->config.call_timeout_ms > 0)
		session_due(s, c->again_at);
	else
		c->again_at = INT64_MAX;
	return true;
}

/* A resuming GET was answered 404: the session is gone, and the call was
 * running in it. */
static bool
is_lost_resume(const struct leg *l, const struct facts *f)
{
	return l->last_event_id.n > 0 && f->status == 404;
}

static void
call_done(struct session *s, struct leg *l, const struct facts *f)
{
	struct call *c = l->call;
	enum verdict verdict;

	if (c == NULL || c->cancelled) {
		if (c != NULL) {
			l->live = false;
			session_fail(s, c, NULL);
			return;
		}
		calls_leg_drop(&s->calls, l);
		return;
	}
	if (f->too_large)
		verdict = VERDICT_FAIL;
	else if (is_lost_resume(l, f))
		verdict = VERDICT_LOST_MAYBE;
	else
		verdict = verdict_bare(f);
	if (verdict == VERDICT_LOST && l->spoke)
		verdict = VERDICT_LOST_MAYBE;
	l->live = false;
	if (is_2xx(f) || l->last_event_id.n > 0) {
		if (resume(s, l, f))
			return;
	}
	switch (verdict) {
	case VERDICT_LOST:
		session_refused(s, c, l, f, NULL);
		calls_leg_drop(&s->calls, l);
		break;
	case VERDICT_LOST_MAYBE:
		interrupted(s, c, l, c->refusal);
		break;
	case VERDICT_RETRY:
		if (!f->sent ? retry_unsent(s, l, f) : retry_refused(s, l, f))
			return;
		/* FALLTHROUGH */
	default:
		if (accept_202(s, c, f)) {
			calls_leg_drop(&s->calls, l);
			return;
		}
		if (c->refusal != NULL && f->status != 401)
			session_answer(s, c, c->refusal);
		else if (l->last_event_id.n > 0)
			session_fail(s, c, resume_refused(s, c, f));
		else
			session_fail(s, c,
			    fault_from_facts(c->frame, f, s->config.host,
				c->refusal));
		break;
	}
}

/* The session was lost between a question and its answer: the call that asked
 * waits in vain. */
static void
undelivered(struct session *s, uint64_t asker)
{
	struct fault fault = { .reason = "session_lost", .maybe = true };
	struct leg *l = calls_leg_find(&s->calls, asker);
	struct buf label;

	if (l == NULL || l->call == NULL)
		return;
	buf_init(&label, 0);
	fault_label(l->call->frame, &label);
	session_fail(s, l->call,
	    fault_frame(l->call->frame->id, &fault,
		"%s forgot the session while %s waited for an answer to its "
		"question. The answer was not delivered. It may have run in "
		"part: check before calling it again.",
		s->config.host, buf_str(&label)));
	buf_free(&label);
}

/* A notification or an answer of the client. */
static void
note_done(struct session *s, struct leg *l, const struct facts *f)
{
	bool current = l->generation == s->generation;

	l->live = false;
	if (f->ending == ENDING_COMPLETE && is_2xx(f)) {
		calls_leg_drop(&s->calls, l);
		return;
	}
	if (verdict_bare(f) == VERDICT_RETRY && !f->sent && current &&
	    retry_unsent(s, l, f))
		return;
	if (f->status == 404 && f->had_session && current) {
		session_note(s, LEVEL_WARN,
		    "%s forgot the session: a notification or an answer was "
		    "not delivered",
		    s->config.host);
		undelivered(s, l->asker);
		session_renew_unasked(s, "404 to a notification");
	} else if (f->ending != ENDING_ABORTED || f->status == 0) {
		session_note(s, LEVEL_WARN,
		    "%s did not take a notification or an answer (%d)",
		    s->config.host, f->status);
	}
	calls_leg_drop(&s->calls, l);
}

/* notifications/initialized: its 2xx opens the gate. */
static void
ready_done(struct session *s, struct leg *l, const struct facts *f)
{
	enum { FLAP_MS = 500, FLAPS = 2 };
	bool lost = f->status == 404 && f->had_session;

	l->live = false;
	if (s->phase != PHASE_READYING || l->generation != s->generation) {
		calls_leg_drop(&s->calls, l);
		return;
	}
	if (verdict_bare(f) == VERDICT_RETRY && !f->sent &&
	    retry_unsent(s, l, f))
		return;
	/* Behind a balancer another replica may know the session. */
	if ((lost || f->status == 429 || f->status >= 500) &&
	    l->tries < FLAPS) {
		session_again(s, l, FLAP_MS);
		return;
	}
	if (lost && backoff_budget_allows(&s->budget, s->now)) {
		calls_leg_drop(&s->calls, l);
		backoff_budget_failed(&s->budget, s->now);
		session_renew(s, "404 to notifications/initialized");
		return;
	}
	if (!is_2xx(f))
		session_note(s, LEVEL_WARN,
		    "%s did not take notifications/initialized (%d); going on",
		    s->config.host, f->status);
	calls_leg_drop(&s->calls, l);
	session_readied(s);
}

static void
delete_done(struct session *s, struct leg *l)
{
	struct leg *open;

	calls_leg_drop(&s->calls, l);
	if (s->phase == PHASE_CLOSING)
		session_closed(s);
	/* An initialize that waited for the old session to end. */
	for (open = s->calls.legs; open != NULL; open = open->next)
		if (open->kind == LEG_OPEN && !open->live &&
		    s->phase == PHASE_OPENING)
			open->start_at = s->now;
	session_due(s, s->now);
}

/* initialize ended without a result that was adopted. */
static void
open_done(struct session *s, struct leg *l, const struct facts *f)
{
	enum verdict verdict = verdict_bare(f);
	int64_t wait = f->retry_after_ms >= 0 ?
	    f->retry_after_ms :
	    backoff_retry(l->tries, s->random);
	struct frame *words;

	l->live = false;
	if (l->generation != s->generation ||
	    (s->phase != PHASE_OPENING && s->phase != PHASE_RENEWING)) {
		calls_leg_drop(&s->calls, l);
		return;
	}
	/* To initialize twice harms nothing: a cut is tried again too. */
	if ((verdict == VERDICT_RETRY || f->ending == ENDING_CUT) &&
	    (s->phase == PHASE_OPENING || s->config.retry_window_ms > 0) &&
	    (s->phase_deadline < 0 || s->now + wait < s->phase_deadline)) {
		session_note(s, LEVEL_INFO,
		    "%s is not ready (%d %.*s): initialize again in %lld ms",
		    s->config.host, f->status, (int)f->why.n,
		    f->why.n == 0 ? "" : f->why.p, (long long)wait);
		session_again(s, l, wait);
		return;
	}
	words = l->call != NULL && l->call->refusal != NULL ?
	    frame_ref(l->call->refusal) :
	    NULL;
	if (l->call == NULL)
		calls_leg_drop(&s->calls, l);
	session_open_failed(s, f, words);
	frame_unref(words);
}

void
session_done(struct session *s, struct leg *l, const struct facts *f)
{
	bool current;

	switch (l->kind) {
	case LEG_CALL:
		call_done(s, l, f);
		break;
	case LEG_OPEN:
		open_done(s, l, f);
		break;
	case LEG_READY:
		ready_done(s, l, f);
		break;
	case LEG_NOTE:
		note_done(s, l, f);
		break;
	case LEG_LISTEN:
		current = l->ticket == s->listen.ticket;
		calls_leg_drop(&s->calls, l);
		if (current)
			session_listen_done(s, f);
		break;
	case LEG_DELETE:
		delete_done(s, l);
		break;
	}
}
