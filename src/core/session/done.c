/*
 * The ends of exchanges: what it means that no answer came, or that one did
 * and the transport is over too.
 */
#include "config.h"

#include "core/session/done.h"

#include "core/exchange/fault.h"
#include "core/session/act.h"
#include "core/session/call.h"
#include "core/session/end.h"
#include "core/session/listen.h"
#include "core/session/live.h"
#include "core/session/one_way.h"
#include "core/session/open.h"
#include "core/session/ping.h"
#include "core/session/renew.h"
#include "core/session/replay.h"
#include "core/session/startup.h"

/* Tries the attempt again as long as the window is open. Returns false when it
 * is not. */
static bool
retry_unsent(struct session *s, struct attempt *l, const struct facts *f)
{
	int64_t wait = backoff_retry(l->tries, s->random);

	if (l->window_end == ALARM_NEVER)
		l->window_end = s->now + s->config.retry_window_ms;
	if (s->now + wait > l->window_end)
		return false;
	session_log(s, LEVEL_INFO, "nothing was sent (%.*s): again in %lld ms",
	    (int)f->why.n, f->why.n == 0 ? "" : f->why.p, (long long)wait);
	session_again(s, l, wait);
	return true;
}

/* 429 and 503 say when to come back. A notification or an answer that was
 * taken all the same does no harm when it comes again, as a safe call. */
static bool
retry_refused(struct session *s, struct attempt *l, const struct facts *f)
{
	int64_t wait = backoff_retry(l->tries, s->random);
	bool safe = l->call == NULL || session_is_safe(s, l->call);
	bool may = f->status == 429 || (f->status == 503 && safe);

	if (s->config.replay == REPLAY_NEVER || !may || f->retry_after_ms < 0 ||
	    f->retry_after_ms > RETRY_AFTER_MAX_MS)
		return false;
	/* "Retry-After: 0" still gets the back-off. */
	if (wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	if (l->window_end == ALARM_NEVER)
		l->window_end = s->now + s->config.retry_window_ms;
	if (s->now + wait > l->window_end)
		return false;
	session_log(s, LEVEL_INFO, "%s answered %d: again in %lld ms",
	    s->config.host, f->status, (long long)wait);
	session_again(s, l, wait);
	return true;
}

/* Did this stream bring its call on? One that only lasted counts, too: it is
 * opened again without a back-off. */
static bool
brought_something(const struct session *s, const struct attempt *l,
    const struct facts *f)
{
	enum { LASTED_MS = 10 * 1000 };

	if (l->head_at == 0)
		return false;
	return l->event_at >= l->head_at || s->now - l->head_at >= LASTED_MS ||
	    (f->last_event_id.n > 0 &&
		!span_eq(f->last_event_id, buf_span(&l->last_event_id)));
}

/* The stream broke after an event id: the answer is fetched by GET. A server
 * may want that often, but not for longer than --call-timeout without an event
 * or a message. */
static bool
resume(struct session *s, struct attempt *l, const struct facts *f)
{
	enum { RESUMES_QUICK = 20, RESUME_MS = 1000 };
	int64_t wait;
	bool was_get = l->last_event_id.n > 0, flaps;

	if (brought_something(s, l, f))
		l->tries = 0;
	if (f->last_event_id.n > 0) {
		if (!span_eq(f->last_event_id, buf_span(&l->last_event_id)))
			l->event_at = s->now;
		buf_reset(&l->last_event_id);
		buf_addspan(&l->last_event_id, f->last_event_id);
	}
	if (l->last_event_id.n == 0 || f->ending == ENDING_ABORTED ||
	    f->too_large)
		return false;
	flaps = session_flaps(s) && f->status == 404 && l->tries < FLAPS;
	if (was_get && f->ending == ENDING_COMPLETE && !flaps &&
	    (verdict_2xx(f) ? f->media != MEDIA_SSE :
			      f->status != 429 && f->status < 500))
		return false;
	if (f->retry_ms >= 0)
		l->retry_ms = f->retry_ms;
	wait = flaps ? session_flap_wait(l->tries + 1) :
		       backoff_stream(l->tries, l->retry_ms);
	if (++l->resumes > RESUMES_QUICK && wait < RESUME_MS)
		wait = RESUME_MS;
	if (s->config.call_timeout_ms > 0 &&
	    s->now + wait > l->event_at + s->config.call_timeout_ms)
		return false;
	session_log(s, LEVEL_INFO,
	    "a stream ended before its answer: it is resumed in %lld ms",
	    (long long)wait);
	session_again(s, l, wait);
	return true;
}

/* The call runs, or ran, but its stream cannot be had again. */
static struct frame *
cut_off(struct session *s, const struct call *c, const struct facts *f)
{
	struct facts cut = *f;

	cut.ending = ENDING_CUT;
	cut.sent = true;
	return fault_from_facts(c->frame, &cut, s->config.host, NULL);
}

/* 202 to a request: some servers answer on the GET stream. */
static bool
accept_202(struct session *s, struct call *c, const struct facts *f)
{
	if (f->status != 202 || c->attempt->generation != s->generation ||
	    (s->listen.state != LISTEN_OPEN &&
		s->listen.state != LISTEN_WAITING))
		return false;
	c->accepted = c->attempt->origin;
	session_call_state(s, c, CALL_ACCEPTED);
	if (s->config.call_timeout_ms > 0)
		c->again_at = s->now + s->config.call_timeout_ms;
	alarm_note(&s->alarms, c->again_at);
	return true;
}

/* What the end of a call's exchange means, where no answer came. */
static struct ruling
judge_end(struct session *s, const struct attempt *l, const struct facts *f)
{
	static const struct ruling too_large = { VERDICT_FAIL, "too large" };
	static const struct ruling resume_404 = { VERDICT_LOST_MAYBE,
		"404 to a resuming GET" };

	if (f->too_large)
		return too_large;
	/* The call was running in it. */
	if (l->last_event_id.n > 0 && f->status == 404)
		return resume_404;
	return session_weigh(s, l->call, l, f,
	    verdict_bare(f, &s->config.rules));
}

/* The exchange ended without an answer, after the server may have begun: a
 * cut, a stream that just ends, a gateway that lost its server. */
static bool
may_repeat(const struct attempt *l, const struct facts *f)
{
	if (f->too_large || !f->sent)
		return false;
	if (f->ending == ENDING_CUT || f->status == 502 || f->status == 504)
		return true;
	if (f->ending != ENDING_COMPLETE)
		return false;
	return l->last_event_id.n > 0 ||
	    (verdict_2xx(f) && f->status != 202 && f->media == MEDIA_SSE);
}

/* Do these facts alone say that the call may have run? */
static bool
was_taken(const struct facts *f)
{
	if (!f->sent)
		return false;
	if (f->ending == ENDING_CUT || f->ending == ENDING_IDLE)
		return true;
	return (verdict_2xx(f) && f->media != MEDIA_HTML) ||
	    (f->status >= 500 && f->status != 503);
}

static void
call_failed(struct session *s, struct call *c, struct attempt *l,
    const struct facts *f)
{
	if (accept_202(s, c, f)) {
		session_detach(s, c);
		return;
	}
	if (may_repeat(l, f)) {
		/* A server that goes down takes connections for a moment
		 * more. */
		if (session_repeat(s, c, backoff_retry(0, s->random)))
			return;
		session_log(s, LEVEL_INFO,
		    "a call may have run and is not repeated: an error");
	}
	if (c->refusal != NULL && f->status != 401)
		session_answer(s, c, c->refusal);
	else if (l->last_event_id.n > 0 || (c->repeated && !was_taken(f)))
		session_fail(s, c, cut_off(s, c, f));
	else
		session_fail(s, c,
		    fault_from_facts(c->frame, f, s->config.host, c->refusal));
}

static void
call_done(struct session *s, struct attempt *l, const struct facts *f)
{
	struct call *c = l->call;
	struct generation *g;
	struct frame *error;
	struct ruling r;
	bool ran;

	l->live = false;
	if (c == NULL) {
		calls_attempt_drop(&s->calls, l);
		return;
	}
	if (c->cancelled) {
		session_fail(s, c, NULL);
		return;
	}
	r = judge_end(s, l, f);
	if ((verdict_2xx(f) || l->last_event_id.n > 0) && resume(s, l, f))
		return;
	g = generation_ref(l->generation);
	switch (r.verdict) {
	case VERDICT_LOST:
		session_refused(s, c, g, f->status, NULL, r.rule);
		break;
	case VERDICT_SUSPECT:
	case VERDICT_SUSPECT_MAYBE:
		ran = r.verdict == VERDICT_SUSPECT_MAYBE;
		/* The facts alone would say that a 4xx did not run. */
		error = c->repeated || (ran && f->status < 500) ?
		    cut_off(s, c, f) :
		    fault_from_facts(c->frame, f, s->config.host, NULL);
		session_suspect(s, c, g, f->status, NULL, error, r.rule, ran);
		break;
	case VERDICT_LOST_MAYBE:
		session_interrupted(s, c, g, c->refusal, r.rule);
		break;
	case VERDICT_RETRY:
		if (!f->sent ? retry_unsent(s, l, f) : retry_refused(s, l, f))
			break;
		/* FALLTHROUGH */
	default:
		call_failed(s, c, l, f);
		break;
	}
	generation_unref(g);
}

/* It is over, and the server did not take it. */
static void
note_refused(struct session *s, struct attempt *l, const struct facts *f,
    struct ruling r)
{
	bool current = l->generation == s->generation;

	if (current && r.verdict == VERDICT_LOST) {
		session_log(s, LEVEL_WARN,
		    "%s forgot the session: %s was not delivered",
		    s->config.host, session_one_way_name(l));
		session_undelivered(s, l->asker, NULL);
		session_one_way_lost(s, l);
	} else {
		session_log(s, LEVEL_WARN, "%s did not take %s (%d)",
		    s->config.host, session_one_way_name(l), f->status);
		session_undelivered(s, l->asker, current ? f : NULL);
	}
	calls_attempt_drop(&s->calls, l);
}

/* A notification or an answer of the client. */
static void
note_done(struct session *s, struct attempt *l, const struct facts *f)
{
	bool current = l->generation == s->generation;
	struct ruling r = session_ruling(s, l, f);

	l->live = false;
	if (verdict_2xx(f) && !f->session_ended && !is_refusal(r)) {
		calls_attempt_drop(&s->calls, l);
		return;
	}
	if (current && r.verdict == VERDICT_RETRY &&
	    (f->sent ? retry_refused(s, l, f) : retry_unsent(s, l, f)))
		return;
	/* Another replica knows the session. */
	if (current && session_flaps(s) && l->tries < FLAPS && is_refusal(r)) {
		session_again(s, l, session_flap_wait(l->tries + 1));
		return;
	}
	if (current && r.verdict == VERDICT_SUSPECT) {
		l->suspect = true;
		l->status = f->status;
		session_ping(s, "a notification or an answer was refused");
		return;
	}
	note_refused(s, l, f, r);
}

/* notifications/initialized: its 2xx opens the gate. */
static void
ready_done(struct session *s, struct attempt *l, const struct facts *f)
{
	struct ruling r = session_ruling(s, l, f);
	/* Without an id it is no more than a doubt, and a call will tell. */
	bool lost = r.verdict == VERDICT_LOST ||
	    (is_refusal(r) && f->had_session);

	l->live = false;
	if (!phase_permits(s, PHASE_READIES) ||
	    l->generation != s->generation) {
		calls_attempt_drop(&s->calls, l);
		return;
	}
	if (r.verdict == VERDICT_RETRY && !f->sent && retry_unsent(s, l, f))
		return;
	/* Behind a balancer another replica may know the session. */
	if (l->window_end == ALARM_NEVER)
		l->window_end = s->now + FLAPS_MS;
	if ((lost || f->status == 429 || f->status >= 500) &&
	    l->tries < FLAPS && s->now < l->window_end) {
		session_again(s, l, session_flap_wait(l->tries + 1));
		return;
	}
	if (lost && backoff_budget_allows(&s->renewal.budget, s->now)) {
		calls_attempt_drop(&s->calls, l);
		backoff_budget_failed(&s->renewal.budget, s->now);
		session_renew(s, "initialized was refused");
		return;
	}
	s->generation->initialized_denied = f->status == 401 ||
	    f->status == 403;
	if (!verdict_2xx(f))
		session_log(s, LEVEL_WARN,
		    "%s did not take notifications/initialized (%d); going on",
		    s->config.host, f->status);
	calls_attempt_drop(&s->calls, l);
	session_readied(s);
}

static void
delete_done(struct session *s, struct attempt *l, const struct facts *f)
{
	struct attempt *open;

	if (l->generation == s->generation && f->status != 0)
		session_save(s, NULL);
	calls_attempt_drop(&s->calls, l);
	if (!phase_permits(s, PHASE_SERVES))
		session_closed(s);
	/* An initialize that waited for the old session to end. */
	for (open = s->calls.attempts; open != NULL; open = open->next)
		if (open->kind == ATTEMPT_OPEN && !open->live &&
		    open->after_delete)
			open->start_at = s->now;
	alarm_note(&s->alarms, s->now);
}

/* The server has no such stream. */
static bool
is_refused(const struct facts *f)
{
	switch (f->status) {
	case 400:
	case 405:
	case 406:
	case 501:
	case 204:
		return true;
	case 401:
	case 403:
	case 408:
	case 409: /* an old stream still counts */
	case 429:
		return false;
	default:
		return f->status < 500;
	}
}

static void
listen_done(struct session *s, const struct attempt *l, const struct facts *f)
{
	enum { HEALTHY_MS = 10 * 1000 }; /* this old, no false start */
	struct listen *n = &s->listen;
	bool stream = verdict_2xx(f) && f->media == MEDIA_SSE;
	struct ruling r;

	if (n->state != LISTEN_OPEN)
		return; /* closed by us */
	if (!phase_permits(s, PHASE_LISTENS)) {
		n->state = LISTEN_OFF;
		return;
	}
	/* 404 to the first one is a missing route, not a missing session. */
	r = session_ruling(s, l, f);
	if (n->worked && session_flaps(s) && n->tries < FLAPS &&
	    is_refusal(r)) {
		session_listen_again(s);
		return;
	}
	if (n->worked && r.verdict == VERDICT_LOST) {
		n->state = LISTEN_OFF;
		session_renew_later(s, r.rule);
		return;
	}
	if (n->worked && r.verdict == VERDICT_SUSPECT) {
		n->state = LISTEN_SUSPECT;
		session_ping(s, "the listen stream was refused");
		return;
	}
	if (n->worked && f->status == 405) {
		/* Another server may have taken its place. */
		n->worked = false;
		n->state = LISTEN_SUSPECT;
		session_fail_accepted(s, false);
		session_ping(s, "the listen stream is not offered any more");
		return;
	}
	if (f->status == 400 && n->last_event_id.n > 0) {
		/* It may be the event id that it does not know. */
		buf_reset(&n->last_event_id);
		session_listen_again(s);
		return;
	}
	if (f->status != 0 && !stream && is_refused(f)) {
		session_log(s, LEVEL_INFO, "%s offers no listen stream (%d)",
		    s->config.host, f->status);
		n->state = LISTEN_REFUSED;
		session_fail_accepted(s, false);
		return;
	}
	if (f->status == 401 || f->status == 403) {
		session_log(s, LEVEL_WARN, "%s refuses the listen stream (%d)",
		    s->config.host, f->status);
		n->state = LISTEN_OFF;
		n->denied = true;
		session_fail_accepted(s, false);
		return;
	}
	if (f->retry_ms >= 0)
		n->retry_ms = f->retry_ms;
	if (f->last_event_id.n > 0) {
		buf_reset(&n->last_event_id);
		buf_addspan(&n->last_event_id, f->last_event_id);
	}
	if (n->event || (stream && s->now - n->since > HEALTHY_MS))
		n->tries = 0;
	session_listen_again(s);
}

static void
note_not_ready(struct session *s, const struct facts *f, int64_t wait)
{
	if (f->why.n > 0)
		session_log(s, LEVEL_INFO,
		    "%s is not ready (%.*s): initialize again in %lld ms",
		    s->config.host, (int)f->why.n, f->why.p, (long long)wait);
	else
		session_log(s, LEVEL_INFO,
		    "%s is not ready (%d): initialize again in %lld ms",
		    s->config.host, f->status, (long long)wait);
}

/* initialize ended without a result that was adopted. */
static void
open_done(struct session *s, struct attempt *l, const struct facts *f)
{
	enum verdict verdict = verdict_bare(f, &s->config.rules).verdict;
	int64_t wait = backoff_retry(l->tries, s->random);
	struct frame *words;

	l->live = false;
	if (l->generation != s->generation ||
	    !phase_permits(s, PHASE_FIRST | PHASE_AGAIN)) {
		calls_attempt_drop(&s->calls, l);
		if (!phase_permits(s, PHASE_SERVES))
			session_closed(s);
		return;
	}
	if (wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	/* To initialize twice harms nothing: a cut is tried again too. */
	if ((verdict == VERDICT_RETRY || f->ending == ENDING_CUT) &&
	    (phase_permits(s, PHASE_FIRST) || s->config.retry_window_ms > 0) &&
	    !alarm_is_due(&s->alarms, ALARM_PHASE, s->now + wait)) {
		note_not_ready(s, f, wait);
		session_again(s, l, wait);
		return;
	}
	if (session_make_room(s, l, f))
		return;
	if (session_start_from_cache(s, f)) {
		session_again(s, l, wait);
		return;
	}
	words = l->call != NULL && l->call->refusal != NULL ?
	    frame_ref(l->call->refusal) :
	    NULL;
	if (l->call == NULL)
		calls_attempt_drop(&s->calls, l);
	session_open_failed(s, f, words);
	frame_unref(words);
}

void
session_done(struct session *s, struct attempt *l, const struct facts *f)
{
	switch (l->kind) {
	case ATTEMPT_CALL:
		call_done(s, l, f);
		break;
	case ATTEMPT_OPEN:
		open_done(s, l, f);
		break;
	case ATTEMPT_READY:
		ready_done(s, l, f);
		break;
	case ATTEMPT_ONE_WAY:
		note_done(s, l, f);
		break;
	case ATTEMPT_LISTEN:
		if (l->ticket == s->listen.ticket)
			listen_done(s, l, f);
		calls_attempt_drop(&s->calls, l);
		break;
	case ATTEMPT_PING:
		session_ping_done(s, l, f);
		break;
	case ATTEMPT_RESTORE:
		session_restore_done(s, l, f);
		break;
	case ATTEMPT_DELETE:
		delete_done(s, l, f);
		break;
	}
}
