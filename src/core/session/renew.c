/*
 * A session is lost and renewed: one renewal at a time, one for each
 * generation, within the budget.
 */
#include "config.h"

#include "core/session/parts.h"

#include "base/codec.h"

/* --- a session that is opened in doubt, beside the one that may be gone --- */

/*
 * A session that is opened in doubt: beside the witness that tells whether the
 * old one is gone, so that nobody waits for one after the other. If the old one
 * lives, the spare one is deleted, and for a while the witness goes first.
 */

void
session_spare_open(struct session *s)
{
	struct spare *p = &s->spare;
	struct attempt *a;

	/* Where sessions have no ids, a second one may end the first. */
	if (p->generation != NULL || s->now < p->not_before ||
	    s->generation->session == NULL || !phase_permits(s, PHASE_WORKS) ||
	    s->now < s->renewal.pace)
		return;
	(void)backoff_pace(&s->renewal.pace, s->now);
	p->generation = generation_new(s->generation->number + 1);
	a = session_own_attempt(s, ATTEMPT_OPEN, "initialize",
	    s->handshake.request->params, p->generation);
	a->unasked = true;
	p->ticket = a->ticket;
	session_start(s, a);
}

bool
session_spare_opened(struct session *s, const struct attempt *a,
    const struct facts *f, struct frame *m)
{
	struct spare *p = &s->spare;

	if (p->generation == NULL || a->generation != p->generation)
		return false;
	if (m->kind == FRAME_RESULT && p->answer == NULL) {
		p->answer = frame_ref(m);
		p->facts = facts_keep(f);
		if (f->session.n > 0)
			p->generation->session = xstrndup(f->session.p,
			    f->session.n);
	}
	return true;
}

/* Makes the spare session the current generation, if there is one: its
 * initialize is under way, or was answered, which the end of the step takes
 * up. Returns false if there is none. */
static bool
spare_take(struct session *s)
{
	struct spare *p = &s->spare;
	struct generation *g = p->generation;

	if (g == NULL)
		return false;
	p->generation = NULL;
	if (p->answer == NULL &&
	    calls_attempt_find(&s->calls, p->ticket) == NULL) {
		generation_unref(g); /* it failed */
		return false;
	}
	generation_unref(s->generation);
	s->generation = g;
	p->taken = p->answer != NULL;
	s->asking.pending = true; /* it may wait for the user already */
	return true;
}

void
session_spare_free(struct session *s)
{
	struct spare *p = &s->spare;

	frame_unref(p->answer);
	facts_free(p->facts);
	generation_unref(p->generation);
	p->answer = NULL;
	p->facts = NULL;
	p->generation = NULL;
	p->taken = false;
}

void
session_spare_end(struct session *s)
{
	enum { VAIN_MS = 10 * 60 * 1000 };
	struct spare *p = &s->spare;
	struct attempt *a;

	if (p->generation == NULL)
		return;
	p->not_before = s->now + VAIN_MS;
	/* The next session gets the number that this one had. */
	p->generation->number = s->generation->number;
	a = calls_attempt_find(&s->calls, p->ticket);
	if (p->generation->session != NULL) {
		session_delete(s, p->generation);
	} else if (a != NULL) {
		/* If it is answered soon, its session is deleted. */
		if (a->live)
			session_abort_in(s, a, BOUND_SHORT_MS);
		else
			session_abort(s, a);
	}
	session_spare_free(s);
}

int64_t
session_renew_window(const struct session *s)
{
	int64_t window = s->config.retry_window_ms;

	return window > 0 ? window : BOUND_RENEW_MS;
}

/* --- who waits, and how long --- */

static bool
is_waiting(const struct call *c)
{
	return c->state == CALL_HELD || c->state == CALL_REFUSED;
}

int64_t
session_wait_end(const struct session *s, const struct call *c)
{
	int64_t since = s->renewal.window_at;

	if (since < c->waits_since)
		since = c->waits_since;
	return since + session_renew_window(s);
}

int64_t
session_wait_soonest(const struct session *s)
{
	int64_t end = ALARM_NEVER;
	const struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (is_waiting(c))
			end = alarm_sooner(end, session_wait_end(s, c));
	return end;
}

int64_t
session_wait_latest(const struct session *s)
{
	int64_t end = 0;
	const struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (is_waiting(c) && session_wait_end(s, c) > end)
			end = session_wait_end(s, c);
	return end > 0 ? end : ALARM_NEVER;
}

/* When this initialize has had its time. The head of an answer is none, nor is
 * a comment, and a sign-in restarts the time. */
static int64_t
open_over_at(const struct session *s, const struct attempt *a)
{
	int64_t since = s->renewal.window_at;

	return (since < a->out_at ? a->out_at : since) + BOUND_RENEW_MS;
}

int64_t
session_hedge_due(const struct session *s, const struct attempt *a)
{
	if (!phase_permits(s, PHASE_AGAIN) || a->kind != ATTEMPT_OPEN ||
	    !a->live || a->waits_for_user || a->generation != s->generation)
		return ALARM_NEVER;
	if (s->generation->hedged || session_wait_soonest(s) == ALARM_NEVER)
		return open_over_at(s, a);
	return alarm_sooner(a->silent_at, open_over_at(s, a));
}

void
session_hedge(struct session *s, struct attempt *a)
{

	if (session_hedge_due(s, a) > s->now)
		return;
	session_log(s, LEVEL_INFO,
	    "%s did not answer initialize: sending it again on another "
	    "connection",
	    s->config.host);
	if (open_over_at(s, a) <= s->now) {
		session_abort(s, a);
		calls_attempt_drop(&s->calls, a);
	} else {
		s->generation->hedged = true;
	}
	a = session_own_attempt(s, ATTEMPT_OPEN, "initialize",
	    s->handshake.request->params, s->generation);
	a->fresh = true;
	session_start(s, a);
}

/* --- a new generation --- */

/* A generation that was never opened does not become the former one. */
void
session_next_generation(struct session *s)
{
	uint64_t number = s->generation->number + 1;

	if (s->generation->version != NULL || s->generation->session != NULL) {
		generation_unref(s->former);
		s->former = s->generation;
	} else {
		generation_unref(s->generation);
	}
	s->generation = generation_new(number);
	alarm_set(&s->alarms, ALARM_RENEW, ALARM_NEVER);
}

void
session_open_begin(struct session *s, struct frame *body, struct call *c,
    enum phase phase, int64_t timeout)
{
	struct attempt *a, *d;
	int64_t wait = phase == PHASE_RENEWING ?
	    backoff_pace(&s->renewal.pace, s->now) :
	    0;

	session_phase(s, phase, timeout > 0 ? s->now + timeout : ALARM_NEVER);
	a = calls_attempt(&s->calls, ATTEMPT_OPEN, c, body, s->generation);
	/* A server that allows one session needs the DELETE of the old one
	 * first. */
	for (d = s->calls.attempts; d != NULL; d = d->next)
		if (d->kind == ATTEMPT_DELETE && d->live &&
		    d->generation->number != 0) {
			session_start_in(s, a, BOUND_END_MS);
			a->after_delete = true;
			return;
		}
	if (wait > 0)
		session_start_in(s, a, wait);
	else
		session_start(s, a);
}

/* The current session is gone: makes calls that have been silent for long due
 * now, because their next turn may be an hour away. */
static void
mind_silent(struct session *s)
{
	struct attempt *a;

	for (a = s->calls.attempts; a != NULL; a = a->next) {
		if (a->kind != ATTEMPT_CALL || !a->live || a->waits_for_user ||
		    a->call == NULL || a->silences == 0 ||
		    a->dead_at != ALARM_NEVER)
			continue;
		a->silent_at = s->now;
		alarm_note(&s->alarms, a->silent_at);
	}
}

/* Aborts the ping, the restoring and the lists of the session before: they are of no use
 * any more. A ping that waits to be sent again ends in the next tick, because
 * its end settles the calls that wait for it. */
static void
end_own(struct session *s)
{
	struct attempt *a;

	for (a = s->calls.attempts; a != NULL; a = calls_attempt_next(a)) {
		if (a->kind == ATTEMPT_PING && !a->live)
			session_start_in(s, a, 0);
		else if (a->kind == ATTEMPT_PING ||
		    a->kind == ATTEMPT_RESTORE || a->kind == ATTEMPT_LIST ||
		    a->control)
			session_abort(s, a);
	}
	s->ping.ticket = s->witness.ticket = 0;
}

void
session_renew(struct session *s, const char *why)
{
	struct frame *body, *cancel;
	uint64_t asker;

	if (!phase_permits(s, PHASE_RENEWS))
		return;
	session_log(s, LEVEL_INFO,
	    is_early(s) ? "asking %s for a session again (%s)" :
		s->mirrored.discovered != NULL ?
			  "switching to another protocol version with %s (%s)" :
			  "%s forgot the session (%s): renewing",
	    s->config.host, why);
	s->renames_in_vain |= s->generation->renamed;
	s->renewal.why = s->generation->why = why;
	s->renewal.began_at = s->renewal.window_at = s->now;
	facts_free(s->renewal.setback);
	s->renewal.setback = NULL;
	s->renewal.replays = s->restoring.restored = s->restoring.refused = 0;
	if (s->renewal.before == NULL && s->handshake.answer != NULL)
		s->renewal.before = frame_ref(s->handshake.answer);
	session_listen_close(s);
	mind_silent(s);
	session_next_generation(s);
	session_save(s, s->generation);
	session_phase(s, PHASE_RENEWING, ALARM_NEVER);
	end_own(s);
	session_fail_accepted(s, true);
	while (questions_expire(&s->questions, s->generation->number, &cancel,
	    &asker)) {
		session_write(s, cancel);
		frame_unref(cancel);
		session_undelivered(s, asker, NULL);
	}
	session_drop_answers(s);
	if (spare_take(s)) {
		session_phase(s, PHASE_RENEWING,
		    s->now + session_renew_window(s));
		return;
	}
	body = session_own_request(s, "initialize",
	    s->handshake.request->params);
	session_open_begin(s, body, NULL, PHASE_RENEWING,
	    session_renew_window(s));
	frame_unref(body);
}

void
session_count_failed_renewal(struct session *s)
{
	if (!s->generation->counted)
		backoff_budget_failed(&s->renewal.budget, s->now);
	s->generation->counted = true;
}

bool
session_renew_again(struct session *s, const char *why)
{
	if (s->generation->second ||
	    !backoff_budget_allows(&s->renewal.budget, s->now))
		return false;
	session_count_failed_renewal(s);
	session_renew(s, why);
	s->generation->second = true;
	return true;
}

bool
session_may_renew(struct session *s)
{
	if (s->former != NULL && s->generation->served_at == 0)
		session_count_failed_renewal(s);
	return backoff_budget_allows(&s->renewal.budget, s->now);
}

/* --- renewals that no call waits for --- */

void
session_renew_unasked(struct session *s, const char *why)
{
	s->generation->lost = true;
	if (!backoff_budget_allows(&s->renewal.unasked, s->now)) {
		session_log(s, LEVEL_INFO, "%s: not renewing the session now",
		    why);
		mind_silent(s);
		return;
	}
	backoff_budget_failed(&s->renewal.unasked, s->now);
	session_renew(s, why);
	s->generation->counted = true;
}

/* A cancel ends something, so it does not begin a renewal. */
void
session_one_way_lost(struct session *s, const struct attempt *a)
{
	s->generation->lost = true;
	if (!json_key_is(a->body->method, "notifications/cancelled"))
		session_renew_unasked(s,
		    a->body->kind == FRAME_NOTIFICATION ?
			"a notification was refused" :
			"an answer from the client was refused");
}

/* Does a call wait for its next try, or for a session? */
static bool
call_waits(const struct session *s)
{
	const struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (is_waiting(c) || (c->attempt != NULL && !c->attempt->live))
			return true;
	return false;
}

void
session_renew_later(struct session *s, const char *why)
{
	int64_t wait;

	s->generation->lost = true;
	session_fail_accepted(s, true);
	if (call_waits(s) && session_may_renew(s)) {
		session_renew(s, why);
		return;
	}
	if (alarm_is_set(&s->alarms, ALARM_RENEW))
		return;
	mind_silent(s);
	if (s->renewal.idle >= BOUND_TRIES) {
		session_log(s, LEVEL_INFO,
		    "the session is gone (%s): renewing it when the client "
		    "sends something",
		    why);
		return;
	}
	s->renewal.idle++;
	s->renewal.why = why;
	/* Spread the renewals: many clients lose their session at the same
	 * moment. */
	wait = (int64_t)(s->random % JITTER_MS);
	alarm_set(&s->alarms, ALARM_RENEW, s->now + wait);
	session_log(s, LEVEL_INFO,
	    "%s forgot the session (%s); no call is waiting: renewing it in "
	    "%lld ms",
	    s->config.host, why, (long long)wait);
}

void
session_renew_now(struct session *s)
{
	if (phase_permits(s, PHASE_REVIVES) && is_early(s))
		alarm_set(&s->alarms, ALARM_RENEW, s->now);
}

void
session_renew_tick(struct session *s)
{
	if (!alarm_is_due(&s->alarms, ALARM_RENEW, s->now))
		return;
	alarm_set(&s->alarms, ALARM_RENEW, ALARM_NEVER);
	if (phase_permits(s, PHASE_REVIVES) && is_early(s)) {
		if (backoff_budget_allows(&s->renewal.budget, s->now))
			session_renew(s,
			    "the server took too long at the start");
		else
			alarm_set(&s->alarms, ALARM_RENEW,
			    s->now + BOUND_RENEW_MS);
	} else if (s->config.cached_start) {
		events_add(&s->events,
		    &(struct event){ .kind = ACTION_CHECK_PEERS });
	} else {
		session_peer_state(s, false);
	}
}

/* Some servers keep one session for each user: two copies of mcpsplice would
 * end each other's sessions for ever. */
void
session_peer_state(struct session *s, bool newer_peer)
{
	if (!s->generation->lost || !gate_is_open(s))
		return;
	if (newer_peer)
		session_log(s, LEVEL_INFO,
		    "another mcpsplice has a newer session with %s: renewing "
		    "this one when the client sends something",
		    s->config.host);
	else
		session_renew_unasked(s, s->renewal.why);
}

/* --- there is none --- */

void
session_setback_text(const struct facts *f, const struct frame *error,
    struct buf *out)
{
	enum { WORDS_MAX = 200 };
	struct buf words;

	if (error != NULL) {
		buf_init(&words, 0);
		msg_error_text(error, &words);
		if (words.n > 0) {
			buf_adds(out, "it answered \"");
			codec_visible(out, buf_span(&words), WORDS_MAX);
			buf_adds(out, "\"");
		} else {
			buf_addf(out, "it answered with the error %ld",
			    msg_error_code(error));
		}
		buf_free(&words);
	} else if (f->ending == ENDING_IDLE) {
		buf_adds(out, "no answer to initialize in time");
	} else if (f->ending != ENDING_COMPLETE || f->too_large) {
		buf_addspan(out, fault_why(f));
	} else {
		buf_addf(out, "it answered initialize with %d", f->status);
	}
}

struct span
session_remedy(const struct session *s, const struct facts *f)
{
	if (f->ending == ENDING_IDLE && s->renewal.setback != NULL)
		f = &s->renewal.setback->facts;
	return fault_remedy(f);
}

void
session_try_before(const struct session *s, struct buf *out)
{
	const struct kept_facts *k = s->renewal.setback;

	if (k == NULL || k->facts.ending == ENDING_IDLE)
		return;
	buf_adds(out, "; the try before failed: ");
	session_setback_text(&k->facts, NULL, out);
}

/* Returns the row whose reason a call gets for which there is no session;
 * FAULT_NONE: that of its own row. */
static enum fault_id
reason_of(const struct session *s, const struct frame *error)
{
	if (is_early(s))
		return FAULT_UNREACHABLE;
	if (error != NULL && msg_error_code(error) == ERROR_UNSUPPORTED_VERSION)
		return FAULT_VERSION_REFUSED;
	return FAULT_NONE;
}

struct frame *
session_unopened(const struct session *s, const struct frame *request,
    const struct facts *f, const struct frame *error,
    const struct frame *refusal, int64_t waited_ms, bool maybe)
{
	bool lost = !phase_permits(s, PHASE_STARTS) && !is_early(s);
	struct facts unsent = *f;
	struct frame *fault;
	struct buf why;

	unsent.sent = false; /* initialize was sent, this was not */
	if (!maybe &&
	    (f->status == 401 || f->status == 403 ||
		(phase_permits(s, PHASE_STARTS) && error == NULL &&
		    f->ending != ENDING_IDLE)))
		return fault_from_facts(request, &unsent, s->config.host,
		    error);
	buf_init(&why, 0);
	session_setback_text(f, error, &why);
	if (error == NULL && f->ending == ENDING_IDLE)
		session_try_before(s, &why);
	fault = fault_make(lost ? FAULT_NO_NEW_SESSION : FAULT_NO_SESSION,
	    &(struct fault_args){ .request = request,
		.host = s->config.host,
		.why = buf_span(&why),
		.remedy = error != NULL ? no_span : session_remedy(s, f),
		.status = f->status,
		.retry_after_ms = f->retry_after_ms,
		.waited_ms = phase_permits(s, PHASE_STARTS) ? 0 : waited_ms,
		.refusal = refusal != NULL ? refusal : error,
		.maybe = maybe,
		.reason_of = reason_of(s, error) });
	buf_free(&why);
	return fault;
}

struct frame *
session_revive(struct session *s, const struct frame *request, bool maybe)
{
	if (backoff_budget_allows(&s->renewal.budget, s->now)) {
		session_renew(s,
		    is_early(s) ? "the server took too long at the start" :
				  "the session was lost before");
		return NULL;
	}
	s->ending.own_errors = true;
	return session_unopened(s, request, &s->renewal.setback->facts,
	    s->renewal.setback_error, NULL, 0, maybe);
}
