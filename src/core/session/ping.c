/*
 * A ping with the same session id finds out whether the session is gone: if an
 * answer leaves that open, if a call is silent for long, and at
 * --ping-interval. There is one ping at a time, for all that wait for it. A
 * session that answers a ping may be lost the next moment, so an answer that
 * leaves a doubt while a ping is under way waits for a ping after that one.
 */
#include "config.h"

#include "core/session/ping.h"

#include "base/bounds.h"
#include "core/session/act.h"
#include "core/session/call.h"
#include "core/session/listen.h"
#include "core/session/one_way.h"
#include "core/session/renew.h"
#include "core/session/replay.h"

static bool
may_ask(const struct session *s)
{
	return gate_is_open(s) && s->generation->session != NULL &&
	    !s->generation->lost;
}

/* When --ping-interval wants the next ping. Each exchange puts it off. */
static int64_t
wanted_at(const struct session *s)
{
	int64_t interval = s->config.ping_interval_ms;

	return interval > 0 && s->ping.ticket == 0 && may_ask(s) ?
	    s->ping.active_at + interval :
	    ALARM_NEVER;
}

void
session_ping_due(struct session *s)
{
	alarm_set(&s->alarms, ALARM_PING, wanted_at(s));
}

uint64_t
session_ping(struct session *s, const char *why)
{
	struct frame *body;
	struct attempt *l;

	if (s->ping.ticket != 0) {
		l = calls_attempt_find(&s->calls, s->ping.ticket);
		return l->live ? s->calls.next_ticket : l->ticket;
	}
	session_log(s, LEVEL_INFO,
	    "%s: a ping asks whether the session is alive", why);
	body = session_own_request(s, "ping", no_span);
	l = calls_attempt(&s->calls, ATTEMPT_PING, NULL, body, s->generation);
	frame_unref(body);
	s->ping.ticket = l->ticket;
	l->window_end = s->now + BOUND_PING_MS;
	session_abort_in(s, l, BOUND_PING_MS);
	session_start(s, l);
	return l->ticket;
}

/* A ping that was sent in vain counts for each call that waits for it. */
static void
charge_suspects(struct session *s, const struct attempt *l)
{
	struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (c->state == CALL_SUSPECT && c->suspect == l->generation)
			c->vain++;
}

/* Sends the ping again, within its time, if it told nothing because the server
 * was not there, or refused it for now: a server that restarts does both. */
static bool
ping_again(struct session *s, struct attempt *l, const struct facts *f,
    struct ruling r)
{
	int64_t wait = backoff_retry(l->tries, s->random);
	int64_t left = l->window_end - s->now;

	if (wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	if ((r.verdict != VERDICT_RETRY && f->ending != ENDING_CUT) ||
	    s->ping.ticket != l->ticket || wait >= left)
		return false;
	session_log(s, LEVEL_INFO,
	    "the ping shows nothing (%s): it is sent again in %lld ms", r.rule,
	    (long long)wait);
	if (f->sent)
		charge_suspects(s, l);
	l = session_again(s, l, wait);
	s->ping.ticket = l->ticket;
	session_abort_in(s, l, left);
	return true;
}

/* Is this a refusal that needs no ping, or that a ping cannot decide? A session
 * that is known to be gone refuses by a status, or by the rule by which it was
 * lost; other words may come from an application that ran. */
static bool
refuses(const struct session *s, const struct generation *g, int status,
    const char *rule)
{
	if (g != s->generation)
		return status >= 400 || rule == g->why;
	return status >= 400 && session_flaps(s);
}

/* The session of a suspect call is gone. */
static void
lost_with(struct session *s, struct call *c, struct generation *g, int status,
    struct frame *refusal, const char *rule, bool ran)
{
	session_end_doubt(c);
	if (ran)
		session_interrupted(s, c, g, refusal, rule);
	else
		session_refused(s, c, g, status, refusal, rule);
}

void
session_suspect(struct session *s, struct call *c, struct generation *g,
    int status, struct frame *refusal, struct frame *error, const char *rule,
    bool ran)
{
	if (c->cancelled || refuses(s, g, status, rule)) {
		frame_unref(error);
		lost_with(s, c, g, status, refusal, rule, ran);
		return;
	}
	if (g != s->generation && refusal != NULL) {
		session_answer(s, c, refusal);
		return;
	}
	if (g != s->generation) {
		session_fail(s, c, error);
		return;
	}
	c->suspect = generation_ref(g);
	session_detach(s, c);
	session_call_state(s, c, CALL_SUSPECT);
	if (refusal != NULL)
		keep_frame(&c->refusal, frame_ref(refusal));
	c->verdict = error;
	c->suspect_ran = ran;
	c->status = status;
	c->rule = rule;
	c->ping_from = session_ping(s, rule);
}

/* --- what it found --- */

/* The first call in doubt that a ping of this ticket decides about. */
static struct call *
first_suspect(const struct session *s, const struct generation *g,
    uint64_t ticket)
{
	struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (c->state == CALL_SUSPECT && c->suspect == g &&
		    c->ping_from <= ticket)
			return c;
	return NULL;
}

/* The same for one-way messages. */
static struct attempt *
first_suspect_note(const struct session *s, const struct generation *g,
    uint64_t ticket)
{
	struct attempt *l;

	for (l = s->calls.attempts; l != NULL; l = l->next)
		if (l->suspect && l->generation == g && l->ping_from <= ticket)
			return l;
	return NULL;
}

/* The session lives, or nobody knows: the client gets the first answer. If
 * there was none to a call that may have run, the call is repeated if that is
 * safe. If the session lives, and the call was refused without a word, another
 * replica may have answered. */
static void
stands(struct session *s, struct call *c, bool lives)
{
	struct frame *error = c->verdict;
	bool ran = c->suspect_ran;

	c->verdict = NULL;
	session_end_doubt(c);
	if (error != NULL &&
	    (ran ? session_repeat(s, c, 0) :
		   lives && c->bare && session_try_elsewhere(s, c))) {
		frame_unref(error);
		return;
	}
	session_log(s, LEVEL_INFO, "the client gets the first answer");
	if (error != NULL)
		session_fail(s, c, error);
	else
		session_answer(s, c, c->refusal);
}

/* A ping that found the session lost by verdict_elsewhere is no proof that
 * words in a 2xx were about the session: an application may have run, and said
 * them. */
static void
settle_calls(struct session *s, struct generation *g, uint64_t ticket,
    bool lost, struct ruling r)
{
	bool proof = r.rule != verdict_elsewhere;
	bool lives = r.verdict == VERDICT_ANSWER;
	struct call *c;

	while ((c = first_suspect(s, g, ticket)) != NULL)
		if (lost || refuses(s, g, c->status, c->rule))
			lost_with(s, c, g, c->status, c->refusal, c->rule,
			    c->suspect_ran || (!proof && c->status < 400));
		else
			stands(s, c, lives && g == s->generation);
}

static void
settle_notes(struct session *s, struct generation *g, uint64_t ticket,
    bool lost)
{
	struct facts refused = { .ending = ENDING_COMPLETE, .sent = true };
	bool gone = lost || g != s->generation;
	struct attempt *l;

	while ((l = first_suspect_note(s, g, ticket)) != NULL) {
		session_log(s, LEVEL_WARN, "%s %s: %s was not delivered",
		    s->config.host,
		    lost ? "forgot the session" : "did not accept it",
		    session_one_way_name(l));
		refused.status = l->status;
		session_undelivered(s, l->asker, gone ? NULL : &refused);
		if (lost && g == s->generation)
			session_one_way_lost(s, l);
		calls_attempt_drop(&s->calls, l);
	}
}

/* Repeats, if that is safe, a call that has been silent for long in a session
 * that is gone. Another call gets BOUND_SILENT_MS more, because the process
 * that began its stream may still serve it. */
static void
outlive(struct session *s, struct attempt *l)
{
	if (l->dead_at != ALARM_NEVER || session_repeat(s, l->call, 0))
		return;
	l->dead_at = s->now + BOUND_SILENT_MS;
	alarm_note(&s->alarms, l->dead_at);
}

static void
settle_silent(struct session *s, struct generation *g)
{
	struct attempt *l;

	for (l = s->calls.attempts; l != NULL; l = calls_attempt_next(l)) {
		if (l->kind == ATTEMPT_CALL && l->live && l->call != NULL &&
		    l->generation == g && l->silences > 0)
			outlive(s, l);
	}
}

/* Has something been in doubt since after the ping was sent? */
static bool
is_doubted(const struct session *s, const struct generation *g)
{
	return first_suspect(s, g, UINT64_MAX) != NULL ||
	    first_suspect_note(s, g, UINT64_MAX) != NULL ||
	    s->listen.state == LISTEN_SUSPECT;
}

/* Does the ping say that the session is lost? If replicas do not share their
 * sessions, one ping tells nothing. */
static bool
is_loss(const struct session *s, struct ruling r)
{
	return !session_flaps(s) &&
	    (is_refusal(r) || r.verdict == VERDICT_LOST_MAYBE);
}

/* Settles what this ping decides about. If the session is lost, or another one
 * has taken its place, that is everything. */
static void
settle(struct session *s, struct generation *g, uint64_t ticket,
    struct ruling r)
{
	bool lost = is_loss(s, r);

	if (lost || g != s->generation)
		ticket = UINT64_MAX;
	settle_calls(s, g, ticket, lost, r);
	/* As long as the scout asks other replicas, nobody knows. */
	if (g == s->generation && s->balancer.scout != NULL)
		lost = false;
	g->lost = g->lost || lost;
	settle_notes(s, g, ticket, lost);
	if (g == s->generation)
		session_listen_pinged(s, ticket, lost);
	if (lost && g == s->generation)
		session_renew_later(s, "a ping found it gone");
	if (lost)
		settle_silent(s, g);
	else if (g == s->generation && is_doubted(s, g))
		session_ping(s, "a doubt came after the ping");
}

/* Any answer that does not speak of a lost session shows that the session
 * lives, an error too: servers of 2026-07-28 have no ping any more. */
void
session_ping_message(struct session *s, struct attempt *l,
    const struct facts *f, struct frame *m)
{
	struct generation *g = l->generation;
	struct ruling r = { VERDICT_ANSWER, "the server answered" };
	bool lost;

	if (l->answered)
		return;
	if (m->kind == FRAME_ERROR)
		r = verdict_error(f, m, &s->config.rules);
	l->said = r;
	if (r.verdict == VERDICT_RETRY)
		return; /* session_ping_done sends it again */
	lost = is_loss(s, r);
	l->answered = true;
	s->ping.ticket = 0;
	session_log(s, LEVEL_INFO, "the ping shows that the session is %s (%s)",
	    lost ? "gone" : "alive", r.rule);
	session_linger(s, l);
	generation_ref(g);
	settle(s, g, l->ticket, r);
	generation_unref(g);
	session_ping_due(s);
}

void
session_ping_done(struct session *s, struct attempt *l, const struct facts *f)
{
	struct generation *g = l->generation;
	struct ruling r = session_ruling(s, l, f);
	uint64_t ticket = l->ticket;
	bool lost = is_loss(s, r);

	l->live = false;
	if (!l->answered && ping_again(s, l, f, r))
		return;
	generation_ref(g);
	if (s->ping.ticket == ticket)
		s->ping.ticket = 0;
	s->ping.active_at = s->now;
	if (!l->answered) {
		session_log(s, LEVEL_INFO, "the ping shows %s (%s)",
		    lost ? "that the session is gone" : "nothing", r.rule);
		calls_attempt_drop(&s->calls, l);
		settle(s, g, ticket, r);
	} else {
		calls_attempt_drop(&s->calls, l);
	}
	generation_unref(g);
	session_ping_due(s);
}

/* --- when to ask --- */

static void
silence(struct session *s, struct attempt *l)
{
	if (l->dead_at <= s->now) {
		session_interrupted(s, l->call, l->generation, NULL,
		    "the call was silent, and its session is gone");
		return;
	}
	if (l->silent_at > s->now || l->waits_for_user)
		return;
	/* The pause doubles, because one ping tells of all calls. */
	if (l->silences < 6)
		l->silences++;
	l->silent_at = s->now + ((int64_t)BOUND_SILENT_MS << l->silences);
	if (l->generation != s->generation || l->generation->lost)
		outlive(s, l);
	else if (may_ask(s))
		session_ping(s, "a call is silent");
}

void
session_ping_tick(struct session *s)
{
	struct attempt *l;

	for (l = s->calls.attempts; l != NULL; l = calls_attempt_next(l)) {
		if (l->kind == ATTEMPT_CALL && l->live && l->call != NULL)
			silence(s, l);
	}
	if (s->now >= wanted_at(s))
		session_ping(s, "--ping-interval");
}
