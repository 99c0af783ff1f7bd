/*
 * The end of the program: after EOF, after a signal, or when nobody reads
 * stdout. Open calls get an error and the server gets a DELETE.
 */
#include "config.h"

#include "core/session/parts.h"

void
session_closed(struct session *s)
{
	const struct attempt *a;

	for (a = s->calls.attempts; a != NULL; a = a->next)
		if (a->kind == ATTEMPT_DELETE || session_may_open(a))
			return;
	session_phase(s, PHASE_ENDED, ALARM_NEVER);
}

void
session_close(struct session *s)
{
	struct attempt *a;

	if (!phase_permits(s, PHASE_SERVES))
		return;
	session_listen_close(s);
	session_drop_answers(s);
	session_spare_end(s);
	for (a = s->calls.attempts; a != NULL; a = calls_attempt_next(a)) {
		if (a->kind != ATTEMPT_DELETE && !session_may_open(a))
			session_abort(s, a);
	}
	s->ping.ticket = 0;
	if (s->generation->session != NULL && !s->generation->lost)
		session_delete(s, s->generation);
	session_phase(s, PHASE_CLOSING, s->now + BOUND_END_MS);
	session_closed(s);
}

void
session_stop(struct session *s)
{
	s->ending.stopped = true;
	session_fail_all(s, FAULT_STOPPED);
	session_close(s);
}

/* Does the client still wait for something after EOF? It waits for its calls
 * and for an opening. Held notifications count while the gate is shut and the
 * opening of the session has an end: one that waits for the user has none. */
static bool
is_awaited(const struct session *s)
{
	const struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (!c->cancelled)
			return true;
	return (s->held.n + s->notes.n > 0 && !gate_is_open(s) &&
		   alarm_is_set(&s->alarms, ALARM_PHASE)) ||
	    phase_permits(s, PHASE_FIRST);
}

/* Is anything under way that the server has to get? Notifications and answers
 * count until ALARM_LAST. */
static bool
is_owed(const struct session *s)
{
	bool notes = s->ending.drain == DRAIN_LAST;
	const struct attempt *a;

	if (notes && s->answers.n + s->held.n + s->notes.n > 0)
		return true;
	for (a = s->calls.attempts; a != NULL; a = a->next)
		if ((a->kind == ATTEMPT_ONE_WAY && notes) ||
		    a->kind == ATTEMPT_DELETE ||
		    (a->kind == ATTEMPT_READY && a->live &&
			phase_permits(s, PHASE_READIES)))
			return true;
	return false;
}

void
session_last_tick(struct session *s)
{
	if (!alarm_is_due(&s->alarms, ALARM_LAST, s->now))
		return;
	alarm_set(&s->alarms, ALARM_LAST, ALARM_NEVER);
	s->ending.drain = DRAIN_OVER;
}

/* After EOF the session ends with the last call. Notifications and answers that
 * are still under way then have BOUND_SHORT_MS to arrive, because a server that
 * never acknowledges them must not keep the process. */
void
session_drain(struct session *s)
{
	if (is_awaited(s))
		return;
	if (s->ending.drain == DRAIN_CALLS) {
		s->ending.drain = DRAIN_LAST;
		alarm_set(&s->alarms, ALARM_LAST, s->now + BOUND_SHORT_MS);
	}
	session_last_tick(s);
	if (!is_owed(s))
		session_close(s);
}

void
session_eof(struct session *s)
{
	int64_t end = s->start.began_at + BOUND_END_MS;

	s->ending.drain = DRAIN_CALLS;
	session_answer_all(s);
	if (s->config.drain_timeout_ms > 0)
		alarm_set(&s->alarms, ALARM_DRAIN,
		    s->now + s->config.drain_timeout_ms);
	else if (is_early(s))
		alarm_set(&s->alarms, ALARM_DRAIN, end > s->now ? end : s->now);
}

void
session_broken(struct session *s)
{
	s->ending.broken = true;
	while (s->calls.first != NULL)
		session_fail(s, s->calls.first, NULL);
	session_close(s);
}

void
session_end_stale(struct session *s, const struct event *in)
{
	struct generation *g;

	if (!phase_permits(s, PHASE_SERVES) || !verdict_session_ok(in->session))
		return;
	g = generation_new(0);
	g->session = xstrndup(in->session.p, in->session.n);
	if (in->version.n > 0)
		g->version = xstrndup(in->version.p, in->version.n);
	if (session_delete(s, g))
		session_log(s, LEVEL_INFO, "ending a stale session with %s",
		    s->config.host);
	generation_unref(g);
}
