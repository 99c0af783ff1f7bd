/*
 * One attempt: it is started, now or later, aborted, left to end by itself, or
 * made again.
 */
#include "config.h"

#include "core/session/parts.h"

/* Has this session shown a break since it last served, or not served for long?
 * Then its server may have to start before it answers. One that has served
 * nothing yet was just opened. */
static bool
has_rested(const struct session *s, const struct generation *g)
{
	int64_t since = g->served_at > g->ready_at ? g->served_at : g->ready_at;

	return g->broken || (since != 0 && s->now - since >= IDLE_MS);
}

void
session_start(struct session *s, struct attempt *a)
{
	a->live = true;
	a->start_at = ALARM_NEVER;
	a->out_at = s->ping.active_at = s->now;
	if (a->kind == ATTEMPT_CALL) {
		a->rested = has_rested(s, a->generation);
		if (a->call != NULL)
			a->call->ran_in = a->generation->number;
		/* Resuming a stream is not a sign that its call is alive, but
		 * has a time of its own. */
		if (a->last_event_id.n == 0) {
			s->listen.hurry |= s->listen.broke;
			a->event_at = s->now;
			a->silent_at = s->now + BOUND_MINUTE_MS;
		} else if (a->resumed_at == 0) {
			a->resumed_at = s->now;
			a->silent_at = s->now + BOUND_MINUTE_MS;
		}
		alarm_note(&s->alarms, a->silent_at);
	} else if (a->kind == ATTEMPT_OPEN) {
		a->silent_at = s->now + BOUND_SHORT_MS;
		alarm_note(&s->alarms, a->silent_at);
	} else if (a->kind == ATTEMPT_RESTORE) {
		session_abort_in(s, a, BOUND_SHORT_MS);
	} else if (a->kind == ATTEMPT_LIST) {
		session_abort_in(s, a, BOUND_LONG_MS);
	} else if (a->kind == ATTEMPT_ONE_WAY &&
	    a->body->kind == FRAME_NOTIFICATION) {
		/* Answers get no limit here: one may be large and slow to
		 * send. */
		session_abort_in(s, a, BOUND_LONG_MS);
	}
	events_add(&s->events,
	    &(struct event){ .kind = ACTION_SEND, .ticket = a->ticket });
}

void
session_abort(struct session *s, struct attempt *a)
{
	a->abort_at = ALARM_NEVER;
	if (a->live && a->ticket == s->over)
		return;
	if (a->live)
		events_add(&s->events,
		    &(struct event){
			.kind = ACTION_ABORT, .ticket = a->ticket });
	else
		calls_attempt_drop(&s->calls, a);
}

bool
session_may_open(const struct attempt *a)
{
	return a->kind == ATTEMPT_OPEN && a->live && !a->waits_for_user &&
	    a->generation->session == NULL && a->generation->version == NULL;
}

struct attempt *
session_again(struct session *s, struct attempt *a, int64_t wait)
{
	struct call *c = a->call;
	struct attempt *again;

	a->call = NULL;
	if (c != NULL) {
		c->attempt = NULL;
		keep_frame(&c->refusal, NULL);
	}
	again = calls_attempt(&s->calls, a->kind, c, a->body, a->generation);
	again->tries = a->tries + 1;
	again->window_end = a->window_end;
	again->fresh = a->fresh;
	again->away = a->away;
	again->spoke = a->spoke;
	again->list = a->list;
	again->control = a->control;
	again->resumes = a->resumes;
	again->in_vain = a->in_vain;
	again->resumed_at = a->resumed_at;
	again->retry_ms = a->retry_ms;
	again->origin = a->origin;
	again->asker = a->asker;
	/* A resumed stream inherits how long its call has been silent. */
	if (a->last_event_id.n > 0) {
		again->event_at = a->event_at;
		again->silent_at = a->silent_at;
		again->silences = a->silences;
		again->dead_at = a->dead_at;
	}
	buf_addspan(&again->last_event_id, buf_span(&a->last_event_id));
	session_start_in(s, again, wait);
	calls_attempt_drop(&s->calls, a);
	return again;
}

void
session_call_waits(struct session *s, struct call *c)
{
	if (c->frame->token.p == NULL || c->note_at != ALARM_NEVER)
		return;
	c->note_at = s->now + BOUND_SHORT_MS;
	alarm_set(&s->alarms, ALARM_WAITS,
	    alarm_sooner(c->note_at, s->alarms.at[ALARM_WAITS]));
}

void
session_start_in(struct session *s, struct attempt *a, int64_t ms)
{
	a->start_at = s->now + ms;
	alarm_note(&s->alarms, a->start_at);
	if (a->call != NULL)
		session_call_waits(s, a->call);
}

void
session_abort_in(struct session *s, struct attempt *a, int64_t ms)
{
	a->abort_at = s->now + ms;
	alarm_note(&s->alarms, a->abort_at);
}

void
session_linger(struct session *s, struct attempt *a)
{
	struct attempt *other, *oldest = a;
	size_t n = 0;

	if (a->ticket == s->over)
		return; /* it ends in this step */
	session_abort_in(s, a, BOUND_SHORT_MS);
	a->lingers = true;
	for (other = s->calls.attempts; other != NULL; other = other->next) {
		if (!other->lingers || other->abort_at == ALARM_NEVER)
			continue;
		n++;
		if (other->abort_at <= oldest->abort_at)
			oldest = other;
	}
	if (n > BOUND_FEW)
		session_abort(s, oldest);
}
