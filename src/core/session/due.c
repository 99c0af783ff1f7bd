/*
 * What is due: a phase that takes too long, attempts that wait, calls that are
 * given up. A tick looks at every alarm, call and attempt, and then finds out
 * what is due next. The limit of a call's silence, --call-timeout, is elsewhere:
 * proxy/transport/request.c asks for it, and io/http.c keeps it.
 */
#include "config.h"

#include "core/session/parts.h"

int64_t
session_deadline(const struct session *s)
{
	return s->alarms.soonest;
}

static void
phase_timeout(struct session *s)
{
	static const struct facts silent = {
		.ending = ENDING_IDLE,
		.sent = true,
		.retry_after_ms = -1,
	};

	struct facts f = s->renewal.setback != NULL ?
	    s->renewal.setback->facts :
	    silent;

	switch (session_lateness(s)) {
	case LATE_FIRST:
		if (session_start_early(s, &silent))
			break;
		f = session_opening_waits(s) ? session_sign_in_facts(s) :
					       silent;
		session_open_failed(s, &f, NULL);
		break;
	case LATE_AGAIN:
		if (session_opening_waits(s))
			f = session_sign_in_facts(s);
		session_renew_late(s, &f);
		break;
	case LATE_READY:
		session_log(s, LEVEL_WARN,
		    "%s did not acknowledge notifications/initialized in time; "
		    "mcpsplice continues",
		    s->config.host);
		session_readied(s);
		break;
	case LATE_RESTORE:
		session_restore_timeout(s);
		break;
	case LATE_CLOSE:
		session_phase(s, PHASE_ENDED, ALARM_NEVER);
		break;
	case LATE_NEVER:
		alarm_set(&s->alarms, ALARM_PHASE, ALARM_NEVER);
		break;
	}
}

/* The client is answered without the server, or the lists are that waited for it
 * after such a start. If the last try of the first initialize is not over, but
 * the one before never got there, initialize fails, unless the server requires
 * a sign-in. */
static void
start_tick(struct session *s)
{
	const struct kept_facts *k = s->renewal.setback;

	if (!alarm_is_due(&s->alarms, ALARM_EARLY_START, s->now))
		return;
	alarm_set(&s->alarms, ALARM_EARLY_START, ALARM_NEVER);
	if (k != NULL && !session_opening_waits(s) &&
	    session_start_fails_at(s, &k->facts) <= s->now)
		session_open_failed(s, &k->facts, NULL);
	else if (!session_start_early(s, NULL))
		session_answer_early(s);
}

static void
attempt_tick(struct session *s, struct attempt *a)
{
	static const struct facts given_up = { .ending = ENDING_ABORTED };
	struct call *c;
	struct frame *error;

	if (a->live) {
		if (a->abort_at <= s->now)
			session_abort(s, a);
		else if (a->kind == ATTEMPT_OPEN)
			session_hedge(s, a);
		else if (a->kind == ATTEMPT_WITNESS)
			session_witness_tick(s, a);
		return;
	}
	if (a->start_at > s->now || session_is_unsure(s, a))
		return;
	if (a->kind == ATTEMPT_PING &&
	    (a->generation != s->generation || a->abort_at <= s->now)) {
		session_ping_done(s, a, &given_up);
		return;
	}
	if (a->kind == ATTEMPT_WITNESS && a->abort_at <= s->now) {
		session_witness_done(s, a, &given_up);
		return;
	}
	if ((a->kind == ATTEMPT_RESTORE || a->kind == ATTEMPT_LIST) &&
	    a->generation != s->generation) {
		calls_attempt_drop(&s->calls, a);
		return;
	}
	if ((a->kind == ATTEMPT_ONE_WAY || a->kind == ATTEMPT_READY) &&
	    (a->generation != s->generation ||
		(a->kind == ATTEMPT_READY &&
		    !phase_permits(s, PHASE_READIES)))) {
		session_undelivered(s, a->asker, NULL);
		calls_attempt_drop(&s->calls, a); /* its session is gone */
		return;
	}
	/* Nothing of this attempt was sent yet: it goes to the current
	 * session. */
	if (a->last_event_id.n == 0 && a->kind == ATTEMPT_CALL &&
	    a->generation != s->generation) {
		c = a->call;
		if (!gate_is_open(s)) {
			session_call_state(s, c, CALL_REFUSED);
			calls_attempt_drop(&s->calls, a);
			if (phase_permits(s, PHASE_REVIVES) &&
			    (error = session_revive(s, c->frame,
				 session_may_have_run(c))) != NULL)
				session_fail(s, c, error);
			return;
		}
		generation_unref(a->generation);
		a->generation = generation_ref(s->generation);
		/* No other run of the call is known there. */
		if (c->sent != NULL) {
			calls_send_as(&s->calls, c, NULL);
			keep_frame(&a->body, frame_ref(c->frame));
		}
		c->flaps = 0;
	}
	session_start(s, a);
}

/* Without --drain-timeout only calls at a server that never came have an end. */
static void
drain_timeout(struct session *s)
{
	alarm_set(&s->alarms, ALARM_DRAIN, ALARM_NEVER);
	if (s->config.drain_timeout_ms == 0 && !is_early(s))
		return;
	session_fail_all(s, FAULT_DRAINED);
	session_close(s);
}

/* How many of the calls that are not held a walk over all calls has to visit.
 * Very many held calls may follow, and only a sign-in makes them wait for a
 * time of their own. */
static size_t
calls_to_visit(const struct session *s)
{
	return s->sign_in == NULL ? s->in_flight : SIZE_MAX;
}

static void
call_tick(struct session *s, struct call *c, bool renewal_waits)
{
	int64_t due = session_sign_in_due(s, c, renewal_waits);

	if (c->again_at <= s->now)
		session_fail_unanswered(s, c);
	else if (due <= s->now)
		session_fail(s, c, session_sign_in_error(s, c));
}

static int64_t
call_due(struct session *s, struct call *c, bool renewal_waits)
{
	int64_t due = session_sign_in_due(s, c, renewal_waits);

	return alarm_sooner(due, c->again_at);
}

static int64_t
attempt_due(const struct session *s, const struct attempt *a)
{
	int64_t due;

	if (!a->live)
		return a->start_at;
	due = alarm_sooner(a->abort_at, session_hedge_due(s, a));
	if (a->kind == ATTEMPT_WITNESS)
		return alarm_sooner(due, a->silent_at);
	if (a->kind != ATTEMPT_CALL || a->call == NULL)
		return due;
	if (!a->waits_for_user)
		due = alarm_sooner(due, a->silent_at);
	return alarm_sooner(due, a->dead_at);
}

/* Finds out again what is due next. Only this can make the deadline
 * later. */
static void
recount(struct session *s)
{
	bool renewal_waits = session_renewal_waits(s);
	size_t left = calls_to_visit(s);
	struct attempt *a;
	struct call *c;

	session_ping_due(s);
	alarm_recount(&s->alarms);
	for (c = s->calls.first; c != NULL && left > 0; c = c->next) {
		alarm_note(&s->alarms, call_due(s, c, renewal_waits));
		left -= c->state != CALL_HELD;
	}
	for (a = s->calls.attempts; a != NULL; a = a->next)
		alarm_note(&s->alarms, attempt_due(s, a));
}

void
session_tick(struct session *s)
{
	bool renewal_waits;
	struct attempt *a;
	struct call *c, *after;
	size_t left;

	/* first, so that nothing is sent that would be aborted at once */
	if (alarm_is_due(&s->alarms, ALARM_DRAIN, s->now))
		drain_timeout(s);
	if (alarm_is_due(&s->alarms, ALARM_PHASE, s->now))
		phase_timeout(s);
	session_last_tick(s);
	start_tick(s);
	session_listen_tick(s);
	session_renew_tick(s);
	session_ping_tick(s);
	session_tell_changes(s);
	if (alarm_is_due(&s->alarms, ALARM_BURST, s->now))
		session_end_burst(s);
	renewal_waits = session_renewal_waits(s);
	left = calls_to_visit(s);
	for (c = s->calls.first; c != NULL && left > 0; c = after) {
		after = c->next;
		left -= c->state != CALL_HELD;
		call_tick(s, c, renewal_waits);
	}
	for (a = s->calls.attempts; a != NULL; a = calls_attempt_next(a)) {
		attempt_tick(s, a);
	}
	session_waits_tick(s);
	recount(s);
}
