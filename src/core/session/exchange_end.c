/*
 * The end of an exchange: the transport has finished, whether or not an answer
 * came before, and the attempt is dropped or made again.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdio.h>

/* Does a try in wait ms fall into the retry window of the attempt, which begins
 * with its first try? */
static bool
may_retry(struct session *s, struct attempt *a, int64_t wait)
{
	if (a->window_end == ALARM_NEVER)
		a->window_end = s->now + s->config.retry_window_ms;
	return s->now + wait <= a->window_end;
}

/* How long the call waited for its place among --max-inflight. */
static int64_t
was_queued(const struct session *s, const struct attempt *a)
{
	const struct call *c = a->call;
	int64_t since;

	if (a->kind != ATTEMPT_CALL || c == NULL || c->repeated)
		return 0;
	since = c->waits_since > s->gate_at ? c->waits_since : s->gate_at;
	return a->out_at > since ? a->out_at - since : 0;
}

/* Says what is waited for, and how long. A wait that lasts is a warning, now and
 * then. */
static void
note_wait(struct session *s, const struct attempt *a, struct span why,
    int64_t until, int64_t wait)
{
	enum { LASTS = 2 };
	bool lasts = a->tries >= LASTS &&
	    session_may_say(s, &s->say.waits_at, BOUND_MINUTE_MS);

	session_log(s, lasts ? LEVEL_WARN : LEVEL_INFO,
	    "%s is not ready (%.*s): trying again in %lld ms, and for %lld s "
	    "more (--retry-window)",
	    s->config.host, (int)why.n, why.n == 0 ? "" : why.p,
	    (long long)wait, (long long)(until - s->now + 999) / 1000);
}

/* Makes the attempt again if the retry window is still open; otherwise returns
 * false. */
static bool
retry_unsent(struct session *s, struct attempt *a, const struct facts *f)
{
	int64_t wait = backoff_retry(a->tries, s->random);

	if (a->window_end == ALARM_NEVER)
		a->window_end = s->now + s->config.retry_window_ms -
		    was_queued(s, a);
	if (s->now >= a->window_end)
		return false;
	if (wait > a->window_end - s->now)
		wait = a->window_end - s->now;
	note_wait(s, a, fault_why(f), a->window_end, wait);
	session_again(s, a, wait);
	return true;
}

/* May a request that a gateway did not answer go out again as often as its
 * window allows? It may have arrived. A one-way message does no harm if it
 * arrives twice. */
static bool
may_do_twice(const struct session *s, const struct attempt *a)
{
	const struct call *c = a->call;

	return c == NULL ||
	    (s->config.replay == REPLAY_SAFE &&
		(session_is_safe(s, c) || session_awaits_tools(s, c)) &&
		!c->asked && !c->progress.any && a->last_event_id.n == 0);
}

/* The next attempt of the call is a repeat. Its window began with the first
 * one, in whatever session that was, and it has its own id, because the
 * server may still run the earlier request. */
static void
note_repeat(struct session *s, struct call *c, struct attempt *a)
{
	c->repeated = true;
	c->away_until = a->window_end;
	calls_send_as(&s->calls, c, session_with_own_id(s, a->body));
	keep_frame(&a->body, frame_ref(c->sent));
}

/* Makes the attempt again after a 429 or a gateway's status, if the retry window
 * is still open. A tool may have passed either on. A limit of requests takes
 * seconds to forget the last ones. */
static bool
retry_refused(struct session *s, struct attempt *a, const struct facts *f)
{
	enum { SECOND = 2 }; /* the try whose wait is one */
	bool busy = (f->status == 429 || f->status == 503) &&
	    f->retry_after_ms < 0;
	int64_t wait = backoff_retry(a->tries + (busy ? SECOND : 0), s->random);
	char status[sizeof "-2147483648"];
	struct call *c = a->call;

	if (s->config.replay == REPLAY_NEVER ||
	    f->retry_after_ms > BOUND_RETRY_MS || !may_do_twice(s, a))
		return false;
	/* "Retry-After: 0" still gets the back-off. */
	if (wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	if (c != NULL && c->away_until != ALARM_NEVER)
		a->window_end = c->away_until;
	if (!may_retry(s, a, wait))
		return false;
	(void)snprintf(status, sizeof status, "%d", f->status);
	note_wait(s, a, span_of(status), a->window_end, wait);
	if (c != NULL)
		note_repeat(s, c, a);
	session_again(s, a, wait)->status = f->status;
	return true;
}

/* Accepts a call that was answered 202: some servers answer on the GET
 * stream. */
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
		c->again_at = alarm_sooner(c->again_at,
		    s->now + s->config.call_timeout_ms);
	alarm_note(&s->alarms, c->again_at);
	return true;
}

/* Did the exchange end after the server may have begun to run the call? That is
 * a cut, a stream that just ends, or a gateway that lost its server. */
static bool
may_repeat(const struct attempt *a, const struct facts *f)
{
	if (f->too_large || !f->sent)
		return false;
	if (f->ending == ENDING_CUT ||
	    (verdict_is_gateway(f->status) && f->retry_after_ms < 0))
		return true;
	if (f->ending != ENDING_COMPLETE)
		return false;
	return a->last_event_id.n > 0 ||
	    (verdict_2xx(f) && f->status != 202 && f->media == MEDIA_SSE);
}

static void
call_failed(struct session *s, struct call *c, struct attempt *a,
    const struct facts *f)
{
	bool again = c->repeated || c->flaps > 0;

	if (accept_202(s, c, f)) {
		session_detach(s, c);
		return;
	}
	if (may_repeat(a, f)) {
		/* The wait is for a server that goes down: it accepts
		 * connections for a moment longer. */
		if (session_repeat(s, c, backoff_retry(0, s->random)))
			return;
		session_log(s, LEVEL_INFO,
		    "not repeating a call that may have run: the client gets "
		    "an error");
	}
	/* The server's error speaks of this attempt only. */
	if (again && !f->sent)
		session_fail(s, c, session_cut_off(s, c, f));
	else if (c->refusal != NULL && f->status != 401 && !again &&
	    a->last_event_id.n == 0)
		session_answer(s, c, c->refusal);
	else
		session_fail(s, c, session_own_error(s, c, a, f));
}

static void
call_done(struct session *s, struct attempt *a, const struct facts *f)
{
	struct call *c = a->call;
	struct ruling r;

	a->live = false;
	if (c == NULL) {
		calls_attempt_drop(&s->calls, a);
		return;
	}
	if (c->cancelled) {
		session_fail(s, c, NULL);
		return;
	}
	r = session_judge_end(s, a, f);
	if ((verdict_2xx(f) || a->last_event_id.n > 0) &&
	    session_resume(s, a, f, r))
		return;
	if (session_judge(s, c, a, f, NULL))
		return;
	if (r.verdict == VERDICT_RETRY &&
	    (!f->sent ? retry_unsent(s, a, f) : retry_refused(s, a, f)))
		return;
	call_failed(s, c, a, f);
}

/* Drops a one-way message that the server did not take. */
static void
one_way_refused(struct session *s, struct attempt *a, const struct facts *f,
    struct ruling r)
{
	bool current = a->generation == s->generation;

	if (current && session_is_lost(r)) {
		session_log(s, LEVEL_WARN,
		    "%s forgot the session: %s was not delivered",
		    s->config.host, session_one_way_name(a));
		session_undelivered(s, a->asker, NULL);
		session_one_way_lost(s, a);
	} else {
		session_log(s, LEVEL_WARN, "%s did not accept %s (%d)",
		    s->config.host, session_one_way_name(a), f->status);
		session_undelivered(s, a->asker, current ? f : NULL);
	}
	calls_attempt_drop(&s->calls, a);
}

/* How often a one-way message that was refused is tried on other connections,
 * because another replica may know the session. One does if the call that the
 * message answers still runs. */
static unsigned
tries_elsewhere(const struct session *s, const struct attempt *a)
{
	const struct call *c = session_asking(s, a->asker);

	if (c != NULL && c->attempt != NULL && c->attempt->live)
		return BOUND_FLAPS;
	if (!session_flaps(s))
		return 0;
	return a->body == s->handshake.ready ? 1 : BOUND_FLAPS;
}

/* ATTEMPT_ONE_WAY: a notification or an answer of the client. */
static void
one_way_done(struct session *s, struct attempt *a, const struct facts *f)
{
	bool current = a->generation == s->generation;
	struct ruling r = session_ruling(s, a, f);

	a->live = false;
	if (verdict_2xx(f) && !f->session_ended && !is_refusal(r)) {
		calls_attempt_drop(&s->calls, a);
		return;
	}
	if (current && r.verdict == VERDICT_RETRY &&
	    (f->sent ? retry_refused(s, a, f) : retry_unsent(s, a, f)))
		return;
	if (current && is_refusal(r) && a->tries < tries_elsewhere(s, a)) {
		session_again(s, a, session_flap_wait(a->tries + 1))
		    ->fresh = true;
		return;
	}
	if (current && r.verdict == VERDICT_SUSPECT) {
		a->suspect = true;
		a->status = f->status;
		a->ping_from = session_ping(s,
		    "a notification or an answer was refused");
		return;
	}
	one_way_refused(s, a, f, r);
}

/* Sends initialized again, at most BOUND_AGAIN times in a session: behind
 * a load balancer, another replica may know the session. Returns false if that
 * is too often, or takes longer than the calls that wait may spend. */
static bool
ready_again(struct session *s, struct attempt *a, const struct facts *f)
{
	struct generation *g = s->generation;
	int64_t wait = session_flap_wait(g->initialized_again + 1);

	if (wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	if (g->initialized_again >= BOUND_AGAIN ||
	    s->now + wait >= s->alarms.at[ALARM_PHASE])
		return false;
	g->initialized_again++;
	session_again(s, a, wait)->fresh = true;
	return true;
}

/* ATTEMPT_READY: the 2xx to notifications/initialized opens the gate. If the
 * session is gone already, it is renewed, but only once in a row. Otherwise the
 * calls that wait are sent all the same: what happens to them shows whether the
 * session is good. */
static void
ready_done(struct session *s, struct attempt *a, const struct facts *f)
{
	struct ruling r = session_ruling(s, a, f);
	const struct attempt *w;
	bool overtaken;
	/* Without a session id, or a word about it, the refusal is only a doubt;
	 * the first call will tell. */
	bool lost = session_is_lost(r) ||
	    (is_refusal(r) && f->had_session &&
		(f->status == 404 || f->status == 409 || f->status == 410)) ||
	    f->other_revision;

	a->live = false;
	if (!phase_permits(s, PHASE_READIES) ||
	    a->generation != s->generation) {
		calls_attempt_drop(&s->calls, a);
		return;
	}
	if (r.verdict == VERDICT_RETRY &&
	    (!f->sent ?
		    retry_unsent(s, a, f) :
		    (verdict_is_gateway(f->status) || f->retry_after_ms < 0) &&
			retry_refused(s, a, f)))
		return;
	if ((lost || f->status == 429 || f->status >= 500 ||
		f->ending == ENDING_CUT) &&
	    ready_again(s, a, f))
		return;
	w = calls_attempt_find(&s->calls, s->witness.ticket);
	overtaken = w != NULL && w->tries == 0;
	if (lost && session_renew_again(s, "initialized was refused")) {
		s->witness.after |= overtaken;
		calls_attempt_drop(&s->calls, a);
		return;
	}
	s->generation->initialized_refused = !verdict_2xx(f);
	s->generation->initialized_denied = f->status == 401 ||
	    f->status == 403;
	if (!verdict_2xx(f))
		session_log(s, LEVEL_WARN,
		    "%s did not accept notifications/initialized (%d); "
		    "mcpsplice continues",
		    s->config.host, f->status);
	calls_attempt_drop(&s->calls, a);
	session_readied(s);
}

/* At the end of the program, tries the DELETE on another connection if the
 * session served a moment ago: another replica may know it. */
static bool
delete_elsewhere(struct session *s, struct attempt *a, const struct facts *f)
{
	enum { ELSEWHERE = 2 };
	const struct generation *g = a->generation;

	if (phase_permits(s, PHASE_SERVES) ||
	    (f->status != 400 && f->status != 404) || g->lost ||
	    g->served_at == 0 || s->now - g->served_at >= FLAPPING_MS ||
	    a->tries >= ELSEWHERE)
		return false;
	a->live = false;
	a = session_again(s, a, session_flap_wait(a->tries + 1));
	a->fresh = true;
	session_abort_in(s, a, BOUND_END_MS);
	return true;
}

static void
delete_done(struct session *s, struct attempt *a, const struct facts *f)
{
	struct attempt *open;
	const struct attempt *other;

	if (delete_elsewhere(s, a, f))
		return;
	if (a->generation == s->generation && f->status != 0)
		session_save(s, NULL);
	calls_attempt_drop(&s->calls, a);
	if (!phase_permits(s, PHASE_SERVES))
		session_closed(s);
	for (other = s->calls.attempts; other != NULL; other = other->next)
		if (other->kind == ATTEMPT_DELETE && other->live)
			return;
	/* An initialize may have waited for these sessions to end: it starts
	 * now. */
	for (open = s->calls.attempts; open != NULL; open = open->next)
		if (open->kind == ATTEMPT_OPEN && !open->live &&
		    open->after_delete)
			open->start_at = s->now;
	alarm_note(&s->alarms, s->now);
}

/* Does the answer to the GET say that the server has no listen stream? */
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
	case 409: /* the server still counts an older stream */
	case 429:
		return false;
	default:
		return f->status < 500;
	}
}

/* May this refusal of the GET be that of a replica that does not know the
 * session? Where no stream was ever open, only words of a loss are. */
static bool
is_of_a_replica(const struct session *s, struct ruling r)
{
	return s->listen.held ? session_flaps(s) && is_refusal(r) :
				session_is_lost(r);
}

/* Does this refusal of the GET raise a doubt whether the session lives? Until
 * the server held a stream open, a 404 means a missing route. After a break any
 * refusal may come from a server that has restarted. */
static bool
listen_is_doubted(const struct listen_stream *n, const struct facts *f,
    struct ruling r)
{
	if (n->held && is_refusal(r))
		return true;
	return n->broke && f->status >= 400 && !verdict_is_for_now(f->status) &&
	    !verdict_is_gateway(f->status) && f->status != 401 &&
	    f->status != 403;
}

static void
listen_done(struct session *s, const struct attempt *a, const struct facts *f)
{
	/* A stream that lasted longer was not a false start. */
	enum { HEALTHY_MS = 10 * 1000, PUSHED_MS = 1000 };
	struct listen_stream *n = &s->listen;
	bool stream = verdict_2xx(f) && f->media == MEDIA_SSE;
	struct ruling r;

	if (n->state != LISTEN_OPEN)
		return; /* session_listen_close closed it */
	if (!phase_permits(s, PHASE_LISTENS)) {
		n->state = LISTEN_OFF;
		return;
	}
	session_listen_broke(s, a, f);
	n->pushed |= stream && f->ending == ENDING_COMPLETE &&
	    calls_resumed_since(&s->calls,
		a->out_at > s->now - PUSHED_MS ? a->out_at :
						 s->now - PUSHED_MS);
	r = session_ruling(s, a, f);
	if (n->tries < BOUND_FLAPS && is_of_a_replica(s, r)) {
		n->fresh = true;
		session_listen_again(s);
		return;
	}
	if (n->worked && session_is_lost(r)) {
		n->state = LISTEN_OFF;
		session_renew_later(s, r.rule);
		return;
	}
	if (n->worked && f->status == 405) {
		/* Another server may have taken the place of the one that had a
		 * stream. */
		n->worked = n->broke = false;
		n->state = LISTEN_SUSPECT;
		session_fail_accepted(s, false);
		n->ping_from = session_ping(s,
		    "the server no longer offers a listen stream");
		return;
	}
	if (listen_is_doubted(n, f, r)) {
		n->state = LISTEN_SUSPECT;
		n->ping_from = session_ping(s, "the listen stream was refused");
		if (n->broke)
			n->back_from = n->ping_from;
		n->broke = false;
		return;
	}
	if (f->status == 400 && n->last_event_id.n > 0) {
		/* The server may not know the event id: the next GET has
		 * none. */
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
		session_log(s, LEVEL_WARN,
		    "%s refused the listen stream (%d), so it cannot report "
		    "changes",
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

/* At the start the first time is a warning: a host may give up soon, and shows
 * what it has. */
static void
note_not_ready(struct session *s, const struct attempt *a,
    const struct facts *f, int64_t wait)
{
	int64_t until = session_wait_latest(s);
	struct buf why;

	buf_init(&why, 0);
	session_setback_text(f, NULL, &why);
	if (until == ALARM_NEVER)
		until = s->now + session_renew_window(s);
	if (phase_permits(s, PHASE_AGAIN))
		note_wait(s, a, buf_span(&why), until, wait);
	else
		session_log(s, a->tries == 0 ? LEVEL_WARN : LEVEL_INFO,
		    "%s is not ready (%s): sending initialize again in %lld ms",
		    s->config.host, buf_str(&why), (long long)wait);
	buf_free(&why);
}

/* Did core/server end this initialize because, with the second one of the same
 * renewal, it began to look for the server again? */
static bool
is_replaced(const struct session *s, const struct attempt *a,
    const struct facts *f)
{
	const struct attempt *other;

	if (f->ending != ENDING_ABORTED)
		return false;
	for (other = s->calls.attempts; other != NULL;
	     other = calls_attempt_next(other))
		if (other != a && other->kind == ATTEMPT_OPEN && other->live &&
		    other->generation == a->generation)
			return true;
	return false;
}

static bool
start_is_hopeless(const struct session *s, const struct facts *f)
{
	return phase_permits(s, PHASE_FIRST) && s->start.result.n > 0 &&
	    (f->ending == ENDING_RESOLVE || f->conn_refused);
}

/* ATTEMPT_OPEN: initialize ended without a result that opened the session. */
static void
open_done(struct session *s, struct attempt *a, const struct facts *f)
{
	enum verdict verdict = verdict_bare(f, &s->config.rules).verdict;
	int64_t wait = backoff_retry(a->tries, s->random);
	struct frame *words;

	a->live = false;
	if (a->generation != s->generation ||
	    !phase_permits(s, PHASE_FIRST | PHASE_AGAIN)) {
		calls_attempt_drop(&s->calls, a);
		if (!phase_permits(s, PHASE_SERVES))
			session_closed(s);
		return;
	}
	if (is_replaced(s, a, f)) {
		calls_attempt_drop(&s->calls, a);
		return;
	}
	if (wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	/* A second initialize does no harm, so a cut is retried too. 424: what
	 * the server needs is not there yet. */
	if ((verdict == VERDICT_RETRY || verdict_is_gateway(f->status) ||
		f->ending == ENDING_CUT || f->status == 424) &&
	    !start_is_hopeless(s, f) && session_open_again(s, f, &wait)) {
		facts_free(s->renewal.setback);
		s->renewal.setback = facts_keep(f);
		note_not_ready(s, a, f, wait);
		session_again(s, a, wait);
		return;
	}
	if (session_make_room(s, a, f))
		return;
	/* Nobody was asked to sign in for a spare session. */
	if (a->unasked && (f->status == 401 || f->status == 403)) {
		session_again(s, a, 0);
		return;
	}
	if (session_start_early(s, f)) {
		session_again(s, a, wait);
		return;
	}
	words = a->call != NULL && a->call->refusal != NULL ?
	    frame_ref(a->call->refusal) :
	    NULL;
	if (a->call == NULL)
		calls_attempt_drop(&s->calls, a);
	session_open_failed(s, f, words);
	frame_unref(words);
}

/* Does this end look like that of a server that goes down? Not if it is ours. */
static bool
is_break(const struct attempt *a, const struct facts *f)
{
	return f->ending == ENDING_CUT || f->ending == ENDING_CONNECT ||
	    (f->status >= 502 && f->status <= 504) ||
	    (a->kind == ATTEMPT_LISTEN && verdict_2xx(f) &&
		f->ending != ENDING_ABORTED);
}

/* Was the server not there? A Retry-After says when to come back instead. */
static bool
is_away(const struct facts *f)
{
	if (f->status != 0)
		return verdict_is_gateway(f->status) && f->retry_after_ms < 0;
	return f->ending == ENDING_CUT || f->ending == ENDING_CONNECT ||
	    f->ending == ENDING_RESOLVE;
}

void
session_done(struct session *s, struct attempt *a, const struct facts *f)
{
	a->generation->broken |= is_break(a, f);
	if (a->kind == ATTEMPT_CALL && f->last_event_id.n > 0)
		session_note_ids(s, a, f);
	a->away = is_away(f);
	s->away |= a->away;
	switch (a->kind) {
	case ATTEMPT_CALL:
		call_done(s, a, f);
		break;
	case ATTEMPT_OPEN:
		open_done(s, a, f);
		break;
	case ATTEMPT_READY:
		ready_done(s, a, f);
		break;
	case ATTEMPT_ONE_WAY:
		one_way_done(s, a, f);
		break;
	case ATTEMPT_LISTEN:
		if (a->ticket == s->listen.ticket)
			listen_done(s, a, f);
		calls_attempt_drop(&s->calls, a);
		break;
	case ATTEMPT_PING:
		session_ping_done(s, a, f);
		break;
	case ATTEMPT_WITNESS:
		session_witness_done(s, a, f);
		break;
	case ATTEMPT_DOOR:
		session_door_done(s, a);
		break;
	case ATTEMPT_STRANGER:
		session_stranger_done(s, a, f);
		break;
	case ATTEMPT_MIRROR:
		session_mirror_done(s, a);
		break;
	case ATTEMPT_LIST:
		session_list_done(s, a);
		break;
	case ATTEMPT_RESTORE:
		if (!verdict_is_for_now(f->status) ||
		    a->generation != s->generation || !retry_refused(s, a, f))
			session_restore_done(s, a, f);
		break;
	case ATTEMPT_DELETE:
		delete_done(s, a, f);
		break;
	}
}
