/* Asserts the invariants that the comment at the top of state.h lists. */
#include "config.h"

#include "core/session/parts.h"

#ifdef MCPSPLICE_SANE

#undef NDEBUG
#include <assert.h>

#include "base/bounds.h"

/* A list of frames agrees with what is counted of it. */
static void
check_queue(const struct held_queue *q)
{
	const struct held *h, *last = NULL;
	size_t n = 0, bytes = 0;

	for (h = q->first; h != NULL; h = h->next) {
		assert(h->prev == last);
		n++;
		bytes += h->bytes;
		last = h;
	}
	assert(q->last == last);
	assert(q->n == n);
	assert(q->bytes == bytes);
}

static void
check_held(const struct session *s)
{
	const struct held *h;
	const struct call *c;
	size_t held = 0;

	for (h = s->held.first; h != NULL; h = h->next) {
		assert(h->call == NULL ||
		    (h->call->state == CALL_HELD && h->call->held == h));
		held += h->call != NULL;
	}
	for (c = s->calls.first; c != NULL; c = c->next) {
		assert((c->state == CALL_HELD) == (c->held != NULL));
		held -= c->held != NULL;
	}
	assert(held == 0);
	assert(s->answers.n <= BOUND_SOME);
	assert(s->answers.n <= 1 || s->answers.bytes <= s->config.max_held);
	assert(s->early.bytes <= BOUND_QUEUE_BYTES);
}

/* Is a ping under way that will decide about this generation? */
static bool
is_asked_about(const struct session *s, const struct generation *g)
{
	const struct attempt *a;

	for (a = s->calls.attempts; a != NULL; a = a->next)
		if (a->kind == ATTEMPT_PING && a->generation == g &&
		    !a->answered)
			return true;
	return false;
}

static void
check_call(const struct session *s, const struct call *c)
{
	const struct attempt *a = c->attempt;

	assert((c->state == CALL_RUNNING) == (a != NULL));
	assert(a == NULL || (a->call == c && !a->dropped));
	assert(a == NULL || a->kind == ATTEMPT_CALL || a->kind == ATTEMPT_OPEN);
	assert((c->state == CALL_SUSPECT) == (c->doubt.generation != NULL));
	if (c->state == CALL_SUSPECT) {
		assert(c->refusal != NULL || c->doubt.error != NULL);
		assert(c->doubt.generation->inquiry.under_way > 0);
	}
	assert(c->note_at == ALARM_NEVER ||
	    (c->frame->token.p != NULL &&
		alarm_is_set(&s->alarms, ALARM_WAITS)));
	assert(c->ran_in <= s->generation->number);
	assert(c->refused_in <= s->generation->number);
	assert(c->replayed <= s->generation->number);
}

static void
check_calls(const struct session *s)
{
	const struct call *c, *last = NULL;
	size_t n = 0, in_flight = 0, bytes = 0, sent = 0;

	for (c = s->calls.first; c != NULL; c = c->next) {
		assert(c->prev == last);
		check_call(s, c);
		n++;
		in_flight += c->state != CALL_HELD;
		bytes += c->state != CALL_HELD ? frame_size(c->frame) : 0;
		sent += c->sent != NULL;
		last = c;
	}
	assert(s->calls.last == last);
	assert(s->calls.n == n && s->calls.by_id.n == n);
	assert(s->calls.n_sent == sent);
	assert(s->in_flight == in_flight && s->in_flight_bytes == bytes);
}

static void
check_attempt(const struct session *s, const struct attempt *a)
{
	assert(!a->dropped);
	assert(a->ticket < s->calls.next_ticket && a->origin <= a->ticket);
	assert(a->call == NULL || a->call->attempt == a);
	assert(a->generation->number <= s->generation->number ||
	    a->generation == s->spare.generation);
	/* An attempt runs, or begins at its time, or waits for a ping. */
	assert(a->live + (a->start_at != ALARM_NEVER) + a->suspect == 1);
	if (a->suspect) {
		assert(a->kind == ATTEMPT_ONE_WAY);
		assert(is_asked_about(s, a->generation));
	}
}

static void
check_attempts(const struct session *s)
{
	const struct attempt *a, *before = NULL;
	size_t n = 0, notifications = 0, answers = 0;

	for (a = s->calls.attempts; a != NULL; a = a->next) {
		assert(a->prev == before);
		check_attempt(s, a);
		before = a;
		n++;
		if (a->kind == ATTEMPT_ONE_WAY &&
		    a->body->kind == FRAME_NOTIFICATION)
			notifications++;
		else if (a->kind == ATTEMPT_ONE_WAY)
			answers++;
	}
	assert(s->calls.n_attempts == n && s->calls.by_ticket.n == n);
	assert(s->calls.n_notifications == notifications);
	assert(s->calls.n_answers == answers);
}

static void
check_questions(const struct session *s)
{
	const struct open_question *q;
	size_t n = 0;

	for (q = s->questions.list; q != NULL; q = q->next) {
		assert(q->generation <= s->generation->number ||
		    (q->generation == QUESTION_OWN && s->asking.open != 0));
		n++;
	}
	assert(s->questions.n == n);
	assert(s->asking.answer == NULL);
	assert(n + s->answers.n <= BOUND_SOME);
}

/* The attempts that are named by their tickets are there. */
static void
check_tickets(const struct session *s)
{
	const struct attempt *a;

	if (s->ping.ticket != 0) {
		a = calls_attempt_find(&s->calls, s->ping.ticket);
		assert(a != NULL && a->kind == ATTEMPT_PING);
		assert(a->generation == s->generation && !a->answered);
	}
	if (s->listen.state == LISTEN_OPEN) {
		a = calls_attempt_find(&s->calls, s->listen.ticket);
		assert(a != NULL && a->kind == ATTEMPT_LISTEN);
	}
}

static void
check_phase(const struct session *s)
{
	const struct generation *g = s->generation;
	bool is_open = phase_permits(s, PHASE_CANCELS);

	assert(g->refs > 0 && (s->former == NULL || s->former->refs > 0));
	assert(s->former == NULL || s->former->number < g->number);
	assert(!is_open || s->handshake.request != NULL);
	assert(!is_open || s->handshake.answer != NULL);
	/* A session that is being opened is not known yet. */
	if (phase_permits(s,
		PHASE_FIRST | PHASE_AGAIN | PHASE_STARTS | PHASE_REVIVES))
		assert(g->session == NULL && g->version == NULL);
	if (phase_permits(s, PHASE_WORKS | PHASE_READIES))
		assert(s->handshake.ready != NULL);
	if (phase_permits(s, PHASE_WORKS))
		assert(g->ready_at != 0);
	assert(!phase_permits(s, PHASE_REVIVES) || s->ping.ticket == 0);
	assert(s->restoring.under_way <= s->calls.n_attempts ||
	    !phase_permits(s, PHASE_RESTORES));
	assert(s->handshake.opener == NULL);
}

/* Each alarm is set in the state in which it means something, and only then. */
static void
check_alarms(const struct session *s)
{
	const struct alarms *a = &s->alarms;

	if (session_lateness(s) == LATE_NEVER)
		assert(!alarm_is_set(a, ALARM_PHASE));
	assert(alarm_is_set(a, ALARM_LAST) == (s->ending.drain == DRAIN_LAST));
	assert(alarm_is_set(a, ALARM_LISTEN) ==
	    (s->listen.state == LISTEN_WAITING));
	assert(alarm_is_set(a, ALARM_BURST) == (s->changes.n_burst > 0));
	assert(!alarm_is_set(a, ALARM_SAY) || phase_permits(s, PHASE_WORKS));
	if (alarm_is_set(a, ALARM_TELL)) {
		assert(phase_permits(s, PHASE_WORKS));
		assert(a->at[ALARM_TELL] == s->changes.tell_at);
	}
}

/* The deadline is not later than anything that is due. The silence of a call is
 * the exception: what the call hears may bring it forward. */
static void
check_deadline(const struct session *s)
{
	int64_t soonest = s->alarms.soonest;
	const struct attempt *a;
	const struct call *c;
	unsigned name;

	for (name = 0; name < ALARMS; name++)
		assert(soonest <= s->alarms.at[name]);
	for (a = s->calls.attempts; a != NULL; a = a->next)
		assert(soonest <= (a->live ? a->abort_at : a->start_at));
	for (c = s->calls.first; c != NULL; c = c->next)
		assert(soonest <= c->user_at && soonest <= c->again_at);
}

/* A tick leaves nothing undone. The silence of a call is the exception: the
 * tick may resume its stream, and the next one looks after it. */
static void
check_ticked(const struct session *s)
{
	const struct attempt *a;
	const struct call *c;
	unsigned name;

	for (name = 0; name < ALARMS; name++)
		assert(s->alarms.at[name] >= s->now);
	for (a = s->calls.attempts; a != NULL; a = a->next)
		assert((a->live ? a->abort_at : a->start_at) >= s->now);
	for (c = s->calls.first; c != NULL; c = c->next)
		assert(c->user_at >= s->now && c->again_at >= s->now);
}

void
session_sane(const struct session *s, bool ticked)
{
	check_queue(&s->held);
	check_queue(&s->notes);
	check_queue(&s->answers);
	check_held(s);
	check_calls(s);
	check_attempts(s);
	check_questions(s);
	check_tickets(s);
	check_phase(s);
	check_alarms(s);
	check_deadline(s);
	if (ticked)
		check_ticked(s);
}

#endif
