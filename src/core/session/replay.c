/*
 * What is sent again, and why. A call that the server's door refused, as a
 * witness proved, is replayed in the next session. A call that may have run is
 * repeated only if a second run does no harm. If replicas do not share their
 * sessions, a call is briefly sent again with the same session id.
 */
#include "config.h"

#include "core/session/parts.h"

bool
session_is_safe(const struct session *s, const struct call *c)
{
	return calls_safe(c->frame) ||
	    (json_key_is(c->frame->method, "tools/call") &&
		tools_safe(s->tools, c->ran_in, c->frame));
}

bool
session_awaits_tools(const struct session *s, const struct call *c)
{
	const struct call *list;

	if (!json_key_is(c->frame->method, "tools/call"))
		return false;
	for (list = s->calls.first; list != NULL; list = list->next)
		if (json_key_is(list->frame->method, "tools/list") &&
		    !list->cancelled)
			return true;
	return false;
}

bool
session_is_unsure(struct session *s, struct attempt *a)
{
	enum { PAUSE_MS = 250 };
	struct facts f = { .ending = ENDING_COMPLETE,
		.sent = true,
		.status = a->status,
		.retry_after_ms = -1 };
	struct call *c = a->call;

	if (c == NULL || a->status == 0 || session_is_safe(s, c))
		return false;
	if (session_awaits_tools(s, c) && s->now < a->window_end)
		session_start_in(s, a, PAUSE_MS);
	else
		session_fail(s, c,
		    fault_from_facts(c->frame, &f, s->config.host, NULL));
	return true;
}

/* Ends a call with the server's refusal, or with an error that mcpsplice makes
 * if the server sent no message or the call has run since. */
void
session_refusal_stands(struct session *s, struct call *c, const char *what,
    bool maybe)
{
	bool ran = session_may_have_run(c);

	if (c->refusal != NULL && !ran)
		session_answer(s, c, c->refusal);
	else
		session_fail(s, c,
		    fault_make(FAULT_FORGOTTEN,
			&(struct fault_args){ .request = c->frame,
			    .host = s->config.host,
			    .why = span_of(what),
			    .status = c->status,
			    .refusal = c->refusal,
			    .maybe = maybe || ran }));
}

/* --- one id, accepted and refused --- */

int64_t
session_flap_wait(unsigned n)
{
	enum { PAUSE_MS = 50, LONGEST_MS = 200 };
	int64_t wait = (int64_t)n * PAUSE_MS;

	return wait < LONGEST_MS ? wait : LONGEST_MS;
}

void
session_flapping(struct session *s, uint64_t mark)
{
	s->balancer.flapping_until = s->now + FLAPPING_MS;
	s->balancer.mark = mark;
	if (!session_may_say(s, &s->say.flapping_at, HOUR_MS))
		return;
	session_log(s, LEVEL_WARN,
	    "%s accepts and refuses the same session: its load balancer sends "
	    "requests to replicas that do not share sessions. mcpsplice "
	    "repeats each request until it reaches the right one, which costs "
	    "time. To fix this, turn on sticky sessions at the load balancer, "
	    "by Mcp-Session-Id or by cookie.",
	    s->config.host);
}

/* A ping says nothing about the next request, so the call itself asks. A tool
 * may pass on the words of another server's door, but hardly its id. */
bool
session_try_elsewhere(struct session *s, struct call *c)
{
	enum { IN_A_ROW = 12 };
	struct doubt *d = &c->doubt;

	if (++s->balancer.in_a_row >= IN_A_ROW) {
		s->balancer.in_a_row = 0;
		s->balancer.flapping_until = 0;
		return false;
	}
	if (s->config.replay == REPLAY_NEVER ||
	    s->config.retry_window_ms == 0 || c->flaps >= BOUND_FLAPS ||
	    !gate_is_open(s) || !d->usable ||
	    !((d->spoken && d->mark == s->balancer.mark) ||
		session_is_safe(s, c)))
		return false;
	session_end_doubt(c);
	c->flaps++;
	session_log(s, LEVEL_INFO,
	    "another replica may know the session: sending the request again "
	    "with the same session id, try %u",
	    c->flaps);
	session_send_call_in(s, c, session_flap_wait(c->flaps));
	c->attempt->fresh = true;
	return true;
}

/* --- refused --- */

/* The call was refused by an earlier session: the current one may answer it. */
static void
replay_stale(struct session *s, struct call *c)
{
	if (!phase_permits(s, PHASE_HOLDS))
		session_refusal_stands(s, c, ", and there is no new one",
		    false);
	else if (gate_is_open(s) && s->witness.ticket == 0)
		session_replay(s);
	/* Otherwise the call waits for the gate, or for the witness. */
}

/* By proof a call is sent again once, however many proofs there are; a safe one
 * a second time. */
static bool
is_spent(const struct session *s, const struct call *c)
{
	return c->replays >= (session_is_safe(s, c) ? 2 : 1);
}

static void
note_refusal(struct session *s, struct call *c, const struct generation *g)
{
	struct buf label;

	buf_init(&label, 0);
	fault_label(c->frame, &label);
	session_log(s, LEVEL_INFO,
	    "%s was refused in session %llu before it ran: %s", buf_str(&label),
	    (unsigned long long)g->number, c->rule);
	buf_free(&label);
}

/* The call was refused by the current session. */
static void
refused_now(struct session *s, struct call *c, struct generation *g)
{
	const char *rule = c->rule;

	/* Perhaps the session lacks nothing but its initialized. */
	if (g->initialized_refused && g->initialized_again == 0 &&
	    c->status == 400 && !c->unready && !is_spent(s, c) &&
	    session_is_safe(s, c) && s->config.replay != REPLAY_NEVER &&
	    s->config.retry_window_ms > 0 && phase_permits(s, PHASE_WORKS)) {
		session_unready(s, c, c->refusal, c->rule);
		return;
	}
	if (is_spent(s, c)) {
		session_count_failed_renewal(s);
		g->lost = true;
		session_log(s, LEVEL_INFO,
		    "%s refused the replay, too: the client gets its answer",
		    s->config.host);
		session_refusal_stands(s, c, ", and the new one too", false);
	} else if (!session_may_renew(s)) {
		session_log(s,
		    session_may_say(s, &s->say.losing_at, BOUND_MINUTE_MS) ?
			LEVEL_WARN :
			LEVEL_INFO,
		    "%s keeps losing its sessions: mcpsplice renews them less "
		    "often; until then, calls get its errors",
		    s->config.host);
		session_refusal_stands(s, c, ", again and again", false);
	} else {
		if (s->config.replay == REPLAY_NEVER) {
			session_log(s, LEVEL_INFO,
			    "not sending the request again (--replay=never)");
			session_refusal_stands(s, c, "; --replay=never", false);
		}
		session_renew(s, rule);
	}
}

void
session_refused(struct session *s, struct call *c, struct generation *g)
{
	session_end_doubt(c);
	session_detach(s, c);
	session_call_state(s, c, CALL_REFUSED);
	if (c->cancelled) {
		session_fail(s, c, NULL);
		return;
	}
	note_refusal(s, c, g);
	c->refused_in = g->number;
	if (g == s->generation)
		refused_now(s, c, g);
	else if (s->config.replay == REPLAY_NEVER)
		session_refusal_stands(s, c, "; --replay=never", false);
	else if (is_spent(s, c))
		session_refusal_stands(s, c, ", and the new one too", false);
	else
		replay_stale(s, c);
}

void
session_replay(struct session *s)
{
	struct call *c, *next;
	size_t n = 0;

	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		if (c->state != CALL_REFUSED || c->attempt != NULL)
			continue;
		if (c->if_changed && !s->generation->changed) {
			session_interrupted(s, c, s->former, c->refusal,
			    c->rule);
			continue;
		}
		c->if_changed = false;
		c->flaps = 0;
		if (c->refused_in != 0) {
			c->replayed = s->generation->number;
			c->replays++;
		}
		session_send_call(s, c);
		n++;
	}
	s->renewal.replays += n;
	if (n > 0)
		session_log(s, LEVEL_INFO, "replayed %zu request%s", n,
		    n == 1 ? "" : "s");
}

/* --- perhaps it ran --- */

bool
session_repeat(struct session *s, struct call *c, int64_t wait)
{
	struct buf label;

	if (s->config.replay != REPLAY_SAFE || c->repeated || c->asked ||
	    c->cancelled || !phase_permits(s, PHASE_HOLDS) ||
	    !session_is_safe(s, c))
		return false;
	session_detach(s, c);
	if (s->generation->lost && session_may_renew(s))
		session_renew(s,
		    s->renewal.why != NULL ? s->renewal.why : "it was lost");
	c->repeated = true;
	buf_init(&label, 0);
	fault_label(c->frame, &label);
	session_log(s, LEVEL_INFO,
	    "%s may have run and is safe to repeat: sending it again",
	    buf_str(&label));
	buf_free(&label);
	keep_frame(&c->refusal, NULL);
	if (!gate_is_open(s)) {
		session_call_state(s, c, CALL_REFUSED);
		return true;
	}
	if (c->ran_in != s->generation->number)
		c->flaps = 0;
	session_send_call_in(s, c, wait);
	return true;
}

void
session_interrupted(struct session *s, struct call *c, struct generation *g,
    struct frame *refusal, const char *rule)
{
	struct buf label;

	if (c->cancelled) {
		session_fail(s, c, NULL);
		return;
	}
	if (refusal != NULL)
		frame_ref(refusal); /* the call may own it and drop it below */
	session_end_doubt(c);
	/* The call must not count as accepted: those end with the session. */
	session_call_state(s, c, CALL_REFUSED);
	session_detach(s, c);
	if (g == s->generation && session_may_renew(s))
		session_renew(s, rule);
	if (session_repeat(s, c, 0)) {
		frame_unref(refusal);
		return;
	}
	buf_init(&label, 0);
	fault_label(c->frame, &label);
	session_log(s, LEVEL_INFO,
	    "not repeating %s, which may have run (%s): the client gets an "
	    "error",
	    buf_str(&label), rule);
	buf_free(&label);
	session_fail(s, c,
	    fault_make(FAULT_INTERRUPTED,
		&(struct fault_args){ .request = c->frame,
		    .host = s->config.host,
		    .refusal = refusal }));
	frame_unref(refusal);
}

void
session_unready(struct session *s, struct call *c, struct frame *refusal,
    const char *rule)
{
	enum { UNREADY_MS = 250 };

	if (s->config.replay == REPLAY_NEVER || c->unready || c->cancelled ||
	    !phase_permits(s, PHASE_WORKS)) {
		session_answer(s, c, refusal);
		return;
	}
	c->unready = true;
	session_log(s, LEVEL_INFO,
	    "the new session is not ready (%s): sending initialized and the "
	    "call again",
	    rule);
	session_detach(s, c);
	if (s->handshake.ready != NULL &&
	    s->generation->initialized_again == 0) {
		s->generation->initialized_again++;
		session_send_one_way(s, s->handshake.ready);
	}
	session_send_call_in(s, c, UNREADY_MS);
}

/* --- streams are resumed --- */

/*
 * Streams that are resumed by GET with Last-Event-ID, because they ended before
 * their answer.
 */

/* Did this stream bring its call forward? A stream that lasted for LASTED_MS
 * counts too. The next GET then starts without a back-off. */
static bool
brought_something(const struct session *s, const struct attempt *a,
    const struct facts *f)
{
	enum { LASTED_MS = 10 * 1000 };

	if (a->head_at == 0)
		return false;
	return a->event_at >= a->head_at || s->now - a->head_at >= LASTED_MS ||
	    (f->last_event_id.n > 0 &&
		!span_eq(f->last_event_id, buf_span(&a->last_event_id)));
}

void
session_note_ids(struct session *s, const struct attempt *a,
    const struct facts *f)
{
	struct event_ids *e = &s->event_ids;
	const char *session = a->generation->session;

	e->trusted |= f->primed;
	if ((session != NULL && span_is(f->last_event_id, session)) ||
	    (e->origin != a->origin &&
		span_eq(f->last_event_id, buf_span(&e->last))))
		e->none = true;
	e->origin = a->origin;
	buf_reset(&e->last);
	buf_addspan(&e->last, f->last_event_id);
}

/* Did a resumption bring no event, because the server has nothing of this stream
 * any more? A stream that was silent for long may belong to a long call, and a
 * server that is away or busy may know the stream later. */
static bool
is_in_vain(const struct session *s, const struct attempt *a,
    const struct facts *f)
{
	if (a->last_event_id.n == 0 || f->ending != ENDING_COMPLETE ||
	    f->status == 429 || verdict_is_gateway(f->status))
		return false;
	return !verdict_2xx(f) ||
	    (f->last_event_id.n == 0 && !brought_something(s, a, f));
}

/* A resumption that was in vain is tried once more, unless its session is gone,
 * or other credentials are wanted. */
static bool
once_more(const struct session *s, struct attempt *a, const struct facts *f)
{
	return a->in_vain++ == 0 && a->generation == s->generation &&
	    !a->generation->lost && f->status != 401 && f->status != 403;
}

bool
session_resume(struct session *s, struct attempt *a, const struct facts *f,
    struct ruling r)
{
	enum { RESUME_MS = 1000 };
	int64_t wait;
	bool was_get = a->last_event_id.n > 0, flaps;
	/* A GET is refused with the words that refuse a POST. */
	bool refused = was_get && f->ending == ENDING_COMPLETE &&
	    (r.verdict == VERDICT_LOST_MAYBE || is_refusal(r));
	bool in_vain = is_in_vain(s, a, f);

	if (brought_something(s, a, f))
		a->tries = 0;
	if (f->last_event_id.n > 0) {
		if (!span_eq(f->last_event_id, buf_span(&a->last_event_id)))
			a->event_at = s->now;
		buf_reset(&a->last_event_id);
		buf_addspan(&a->last_event_id, f->last_event_id);
	}
	if (a->last_event_id.n == 0 || s->event_ids.none ||
	    f->ending == ENDING_ABORTED || f->too_large)
		return false;
	flaps = session_flaps(s) && refused && a->tries < BOUND_FLAPS;
	if (!flaps && (refused || (in_vain && !once_more(s, a, f))))
		return false;
	if (f->retry_ms >= 0)
		a->retry_ms = f->retry_ms;
	wait = flaps ? session_flap_wait(a->tries + 1) :
		       backoff_stream(a->tries, a->retry_ms);
	if (++a->resumes > BOUND_IN_A_ROW && wait < RESUME_MS)
		wait = RESUME_MS;
	if (s->config.call_timeout_ms > 0 &&
	    s->now + wait > a->event_at + s->config.call_timeout_ms)
		return false;
	session_log(s, LEVEL_INFO,
	    "a stream ended before the answer came: resuming it in %lld ms",
	    (long long)wait);
	session_again(s, a, wait)->fresh = flaps;
	return true;
}
