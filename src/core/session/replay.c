/*
 * What is sent again, and why. A call that was refused before it ran is
 * replayed in the next session, once in each. A call that may have run is
 * repeated only if a second run does no harm. If replicas do not share their
 * sessions, a call is sent again with the same session id for a moment.
 */
#include "config.h"

#include "core/session/replay.h"

#include "base/bounds.h"
#include "core/exchange/fault.h"
#include "core/session/act.h"
#include "core/session/call.h"
#include "core/session/one_way.h"
#include "core/session/renew.h"
#include "core/session/tools.h"
#include "core/wire/json.h"

bool
session_is_safe(const struct session *s, const struct call *c)
{
	return calls_safe(c->frame) ||
	    (json_key_is(c->frame->method, "tools/call") &&
		tools_safe(s->tools, c->ran_in, c->frame));
}

/* Did words in a 2xx or a 5xx come soon enough to be a refusal? Later words may
 * come from a handler that ran. */
static bool
came_soon(const struct session *s, const struct call *c,
    const struct attempt *l)
{
	int64_t since_head = l->head_at == 0 ? 0 : s->now - l->head_at;
	int64_t soon = 4 * s->quickest_ms;

	if (session_is_safe(s, c))
		return since_head < REFUSAL_SAFE_MS;
	if (soon < REFUSAL_MS)
		soon = REFUSAL_MS;
	return s->now - l->out_at <= soon && since_head <= REFUSAL_HEAD_MS;
}

/* Was the call refused before it ran? Not if it was accepted, if its stream
 * brought messages, or if the answer came on another stream. A status of 4xx is
 * a refusal however late it comes: the protocol has 404 for a session id that
 * is not known. Other words are a refusal only if they come soon, and in a 2xx
 * only if the call cannot have asked the user. */
static bool
was_refused(const struct session *s, const struct call *c,
    const struct attempt *l, const struct facts *f)
{
	if (l != c->attempt || l->spoke || l->last_event_id.n > 0)
		return false;
	if (f->status >= 400 && f->status < 500)
		return true;
	return (!c->asked || f->status >= 500) && came_soon(s, c, l);
}

struct ruling
session_weigh(const struct session *s, const struct call *c,
    const struct attempt *l, const struct facts *f, struct ruling r)
{
	if ((!is_refusal(r) && r.verdict != VERDICT_UNREADY) ||
	    was_refused(s, c, l, f))
		return r;
	if (r.verdict == VERDICT_UNREADY)
		r.verdict = VERDICT_ANSWER;
	else if (r.verdict == VERDICT_LOST)
		r.verdict = VERDICT_LOST_MAYBE;
	else
		r.verdict = VERDICT_SUSPECT_MAYBE;
	return r;
}

/* Ends a call with the server's refusal, or with an error that mcpsplice makes
 * if the server sent no message. */
static void
refusal_stands(struct session *s, struct call *c, const char *what)
{
	if (c->refusal != NULL)
		session_answer(s, c, c->refusal);
	else
		session_fail(s, c,
		    fault_make(FAULT_FORGOTTEN,
			&(struct fault_args){ .request = c->frame,
			    .host = s->config.host,
			    .why = span_of(what),
			    .status = c->status,
			    .maybe = session_may_have_run(c) }));
}

/* --- one id, accepted and refused --- */

int64_t
session_flap_wait(unsigned n)
{
	return n < 4 ? 100 * (int64_t)n : 400;
}

/* Was flapping seen a moment ago? Then neither the session nor the server is
 * gone, and a call that is refused often has bad luck. */
static bool
flaps_surely(const struct session *s)
{
	return s->balancer.flapping_until > s->now + HOUR_MS - FLAPPING_MS;
}

/* The call is not sent again in this session. */
static void
flap_exhausted(struct session *s, const struct call *c)
{
	if (c->flaps > 0 && !flaps_surely(s))
		s->balancer.flapping_until = 0;
	if (s->balancer.scout != c)
		return;
	session_scout(s, NULL);
	s->balancer.scouting = SCOUTING_VAIN;
}

/* The wait before the next try of a call with the same session id, in ms. */
static int64_t
flap_wait(const struct session *s, const struct call *c)
{
	enum { SURE_MS = 200 };
	int64_t wait = session_flap_wait(c->flaps + 1);

	return wait > SURE_MS && flaps_surely(s) ? SURE_MS : wait;
}

/* Have enough requests been made in vain for a call? */
static bool
is_vain(const struct session *s, const struct call *c)
{
	return c->vain >= BOUND_VAIN && !flaps_surely(s);
}

/* May the call be sent again with the same session id? A part of its time is
 * left for a new session, if it had none yet. */
static bool
may_flap(const struct session *s, const struct call *c,
    const struct generation *g)
{
	int64_t left = c->replayed == g->number ? 0 : VAIN_LEFT_MS;

	return (c->flaps < BOUND_FLAPS || flaps_surely(s)) && !is_vain(s, c) &&
	    s->now + flap_wait(s, c) < c->vain_until - left;
}

/* A session that refused the call helped others, which shows that the server is
 * not broken: the count of requests in vain begins anew, once a session. */
static void
count_anew(struct session *s, struct call *c, const struct generation *g)
{
	if (c->helped_in == g->number)
		return;
	c->helped_in = g->number;
	c->vain = 0;
	c->vain_until = s->now + BOUND_VAIN_MS;
}

/* Counts the requests that were made in vain for a call that is refused. */
static void
count_vain(struct session *s, struct call *c, const struct generation *g,
    unsigned requests)
{
	if (c->vain_until == ALARM_NEVER)
		c->vain_until = s->now + BOUND_VAIN_MS;
	if (g->replays_ok > 0)
		count_anew(s, c, g);
	c->vain += requests;
}

static void
ask_another(struct session *s, struct call *c)
{
	int64_t wait = flap_wait(s, c);

	c->flaps++;
	session_log(s, LEVEL_INFO,
	    "another replica may know the session: the request is sent again "
	    "with the same session id, try %u",
	    c->flaps);
	session_send_call_in(s, c, wait);
	c->attempt->fresh = true;
}

/* A session that was accepted a moment ago is refused. Behind a load balancer
 * another replica may answer the next try. As long as that is a guess, one
 * call, the scout, tries for all. Returns true if the call was sent again or
 * waits for the scout. */
static bool
flap(struct session *s, struct call *c, struct generation *g)
{
	bool fresh = c->replayed == g->number && g->replays_ok == 0;

	/* Only a status is certain to refuse a call before it runs. */
	if (s->config.retry_window_ms == 0 || c->status < 400 ||
	    g->session == NULL || c->rule == verdict_other_era)
		return false;
	if (s->balancer.scout != NULL && s->balancer.scout != c) {
		s->balancer.scouting = SCOUTING_AWAITED;
		return true;
	}
	if (session_flaps(s)) {
		if (!fresh &&
		    (g->served_at == 0 || s->now - g->served_at > FLAPPING_MS))
			return false;
	} else if (!fresh || s->balancer.scouting == SCOUTING_VAIN) {
		return false;
	}
	if (!session_flaps(s))
		session_scout(s, c);
	if (!may_flap(s, c, g)) {
		flap_exhausted(s, c);
		return false;
	}
	ask_another(s, c);
	return true;
}

bool
session_try_elsewhere(struct session *s, struct call *c)
{
	struct generation *g = s->generation;

	if (s->config.replay == REPLAY_NEVER ||
	    s->config.retry_window_ms == 0 || g->session == NULL ||
	    !gate_is_open(s))
		return false;
	c->refused_in = g->number;
	count_vain(s, c, g, 2); /* with the ping */
	if (!may_flap(s, c, g))
		return false;
	ask_another(s, c);
	return true;
}

void
session_scout_tick(struct session *s)
{
	if (alarm_is_due(&s->alarms, ALARM_SCOUT, s->now))
		session_scout(s, NULL);
}

/* --- refused --- */

/* The call was refused by an earlier session: the current one may answer it. */
static void
replay_stale(struct session *s, struct call *c)
{
	if (!phase_permits(s, PHASE_HOLDS))
		refusal_stands(s, c, ", and there is no new one");
	else if (gate_is_open(s) && s->balancer.scout == NULL)
		session_replay(s);
	else if (gate_is_open(s))
		s->balancer.scouting = SCOUTING_AWAITED;
	/* Otherwise the call waits for the gate with the others. */
}

/* Has the call used up its replays? A call is replayed once in each session,
 * and again in the next one only if this session answered another replayed
 * call: a server may end its sessions after each call, as long as each session
 * helps. */
static bool
is_spent(const struct session *s, const struct call *c,
    const struct generation *g)
{
	if (c->replayed == 0)
		return false;
	return (c->replayed == g->number && g->replays_ok == 0) ||
	    s->now - c->lost_at >= s->config.retry_window_ms;
}

static void
note_refusal(struct session *s, struct call *c, const struct generation *g,
    struct frame *refusal)
{
	struct buf label;

	if (refusal != NULL)
		keep_frame(&c->refusal, frame_ref(refusal));
	session_end_doubt(c);
	buf_init(&label, 0);
	fault_label(c->frame, &label);
	session_log(s, LEVEL_INFO,
	    "%s was refused in session %llu before it ran: %s", buf_str(&label),
	    (unsigned long long)g->number, c->rule);
	buf_free(&label);
}

/* The session answered a call that was replayed. Others that it refused may
 * have been told so first. */
static void
note_help(struct session *s, struct generation *g)
{
	struct call *c;

	if (g->replays_ok++ > 0)
		return;
	for (c = s->calls.first; c != NULL; c = c->next)
		if (c->refused_in == g->number && c->vain_until != ALARM_NEVER)
			count_anew(s, c, g);
}

/* Another try in the current session does not help the call: the session is
 * renewed, or the client gets the refusal. */
static void
renew_or_end(struct session *s, struct call *c, struct generation *g)
{
	const char *rule = c->rule;

	if (is_spent(s, c, g)) {
		session_count_failed_renewal(s);
		session_log(s, LEVEL_INFO,
		    "%s refused the replay, too: the client gets its answer",
		    s->config.host);
		refusal_stands(s, c, ", and the new one too");
	} else if (!session_may_renew(s)) {
		session_log(s,
		    session_may_say(s, &s->say.losing_at, BOUND_WARNING_MS) ?
			LEVEL_WARN :
			LEVEL_INFO,
		    "%s keeps losing its sessions: mcpsplice renews them less "
		    "often, and calls get its errors meanwhile",
		    s->config.host);
		refusal_stands(s, c, ", again and again");
	} else {
		if (s->config.replay == REPLAY_NEVER) {
			session_log(s, LEVEL_INFO,
			    "the request is not sent again, because of "
			    "--replay=never");
			refusal_stands(s, c, "; --replay=never");
		}
		session_renew(s, rule);
	}
}

/* The scout found no replica that knows this session. Calls that waited for it
 * and had their replay end, too; the others want a new session. */
static void
end_scouting(struct session *s, struct generation *g)
{
	struct call *c, *next;

	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		if (c->state == CALL_REFUSED && is_spent(s, c, g))
			refusal_stands(s, c, ", and the new one too");
	}
	for (c = s->calls.first; c != NULL && g == s->generation; c = next) {
		next = c->next;
		if (c->state == CALL_REFUSED)
			renew_or_end(s, c, g);
	}
}

/* The call was refused by the current session. */
static void
refused_now(struct session *s, struct call *c, struct generation *g)
{
	bool scout = s->balancer.scout == c;

	/* Perhaps the session lacks nothing but its initialized. */
	if (g->initialized_refused && g->initialized_again == 0 &&
	    c->status == 400 && !c->unready && !is_vain(s, c) &&
	    s->config.replay != REPLAY_NEVER && s->config.retry_window_ms > 0 &&
	    phase_permits(s, PHASE_WORKS)) {
		session_unready(s, c, c->refusal, c->rule);
		return;
	}
	if (flap(s, c, g))
		return;
	renew_or_end(s, c, g);
	if (scout && g == s->generation)
		end_scouting(s, g);
}

void
session_refused(struct session *s, struct call *c, struct generation *g,
    int status, struct frame *refusal, const char *rule)
{
	/* A suspect call was asked about with a ping. */
	unsigned requests = c->state == CALL_SUSPECT ? 2 : 1;

	session_detach(s, c);
	session_call_state(s, c, CALL_REFUSED);
	c->status = status;
	c->rule = rule;
	if (c->cancelled) {
		session_fail(s, c, NULL);
		return;
	}
	note_refusal(s, c, g, refusal);
	c->refused_in = g->number;
	count_vain(s, c, g, requests);
	if (c->lost_at == 0)
		c->lost_at = s->now;
	if (g == s->generation)
		refused_now(s, c, g);
	else if (s->config.replay == REPLAY_NEVER)
		refusal_stands(s, c, "; --replay=never");
	else
		replay_stale(s, c);
}

void
session_replay(struct session *s)
{
	struct call *c, *next;
	size_t n = 0;
	bool again;

	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		if (c->state != CALL_REFUSED || c->attempt != NULL)
			continue;
		if (is_vain(s, c) && s->generation->replays_ok == 0) {
			refusal_stands(s, c, ", again and again");
			continue;
		}
		again = c->refused_in == s->generation->number;
		c->flaps = again ? c->flaps + 1 : 0;
		if (c->lost_at != 0)
			c->replayed = s->generation->number;
		session_send_call(s, c);
		c->attempt->fresh = again;
		n++;
	}
	s->renewal.replays += n;
	if (n > 0)
		session_log(s, LEVEL_INFO, "replayed %zu request%s", n,
		    n == 1 ? "" : "s");
}

void
session_served(struct session *s, struct call *c, struct generation *g)
{
	bool helped = c->replayed == g->number;

	g->served_at = s->now;
	if (helped)
		note_help(s, g);
	if (g != s->generation)
		return;
	backoff_budget_helped(&s->renewal.budget);
	if (s->balancer.scouting == SCOUTING_VAIN)
		s->balancer.scouting = SCOUTING_OPEN;
	if (helped)
		backoff_budget_helped(&s->renewal.unasked);
	if (c->flaps == 0)
		return;
	s->balancer.flapping_until = s->now + HOUR_MS;
	session_scout(s, NULL);
	if (!session_may_say(s, &s->say.flapping_at, HOUR_MS))
		return;
	session_log(s, LEVEL_WARN,
	    "%s accepts and refuses the same session: its load balancer sends "
	    "requests to replicas that do not share sessions. Each request is "
	    "sent again until it reaches the right one, which costs time. The "
	    "remedy is sticky sessions at the load balancer, by Mcp-Session-Id "
	    "or by cookie.",
	    s->config.host);
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
	    "%s may have run and is safe to repeat: it is sent again",
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
	    "%s may have run (%s) and is not repeated: the client gets an "
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
	c->vain++;
	session_log(s, LEVEL_INFO,
	    "the new session is not ready (%s): initialized and the call are "
	    "sent again",
	    rule);
	session_detach(s, c);
	if (s->handshake.ready != NULL &&
	    s->generation->initialized_again == 0) {
		s->generation->initialized_again++;
		session_charge_refused(s, 0);
		session_send_one_way(s, s->handshake.ready);
	}
	session_send_call_in(s, c, UNREADY_MS);
}
