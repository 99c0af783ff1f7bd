/*
 * A ping with the same session id finds out whether the session is gone: if a
 * one-way message or the listen stream was refused, if a call is silent for
 * long, and at --ping-interval. There is one ping at a time, for all that wait
 * for it. A session that answers a ping may be lost the next moment, so a doubt
 * that comes while a ping is under way waits for a ping after that one.
 *
 * A ping of the host itself is a request like any other: see from_client.c.
 */
#include "config.h"

#include "core/session/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool
may_ask(const struct session *s)
{
	return gate_is_open(s) && s->generation->session != NULL &&
	    !s->generation->lost;
}

/* When --ping-interval asks for the next ping. Each exchange puts it off. */
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
	struct attempt *a;

	if (s->ping.ticket != 0) {
		a = calls_attempt_find(&s->calls, s->ping.ticket);
		return a->live ? s->calls.next_ticket : a->ticket;
	}
	session_log(s, LEVEL_INFO,
	    "%s: sending a ping to see whether the session is alive", why);
	a = session_own_attempt(s, ATTEMPT_PING, "ping", no_span,
	    s->generation);
	s->ping.ticket = a->ticket;
	a->window_end = s->now + BOUND_SHORT_MS;
	session_abort_in(s, a, BOUND_SHORT_MS);
	session_start(s, a);
	return a->ticket;
}

/* Sends the ping again, within its time, if it told nothing because the server
 * was not there, or refused it for now: a server that restarts does both. */
static bool
ping_again(struct session *s, struct attempt *a, const struct facts *f,
    struct ruling r)
{
	int64_t wait = backoff_retry(a->tries, s->random);
	int64_t left = a->window_end - s->now;

	if (wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	if (f->silent ||
	    (r.verdict != VERDICT_RETRY && f->ending != ENDING_CUT) ||
	    s->ping.ticket != a->ticket || wait >= left)
		return false;
	session_log(s, LEVEL_INFO,
	    "the ping shows nothing (%s): sending it again in %lld ms", r.rule,
	    (long long)wait);
	a = session_again(s, a, wait);
	s->ping.ticket = a->ticket;
	session_abort_in(s, a, left);
	return true;
}

/* --- what it found --- */

/* The first one-way message in doubt that a ping of this ticket decides
 * about. */
static struct attempt *
first_suspect_note(const struct session *s, const struct generation *g,
    uint64_t ticket)
{
	struct attempt *a;

	for (a = s->calls.attempts; a != NULL; a = a->next)
		if (a->suspect && a->generation == g && a->ping_from <= ticket)
			return a;
	return NULL;
}

static void
settle_notes(struct session *s, struct generation *g, uint64_t ticket,
    bool lost)
{
	struct facts refused = { .ending = ENDING_COMPLETE, .sent = true };
	bool gone = lost || g != s->generation;
	struct attempt *a;

	while ((a = first_suspect_note(s, g, ticket)) != NULL) {
		session_log(s, LEVEL_WARN, "%s %s: %s was not delivered",
		    s->config.host,
		    lost ? "forgot the session" : "did not accept it",
		    session_one_way_name(a));
		refused.status = a->status;
		session_undelivered(s, a->asker, gone ? NULL : &refused);
		if (lost && g == s->generation)
			session_one_way_lost(s, a);
		calls_attempt_drop(&s->calls, a);
	}
}

/* Repeats, if that is safe, a call that has been silent for long in a session
 * that is gone. Another call gets BOUND_MINUTE_MS more, because the process
 * that began its stream may still serve it. */
static void
outlive(struct session *s, struct attempt *a)
{
	if (a->dead_at != ALARM_NEVER || session_repeat(s, a->call, 0))
		return;
	a->dead_at = s->now + BOUND_MINUTE_MS;
	alarm_note(&s->alarms, a->dead_at);
}

static void
settle_silent(struct session *s, struct generation *g)
{
	struct attempt *a;

	for (a = s->calls.attempts; a != NULL; a = calls_attempt_next(a)) {
		if (a->kind == ATTEMPT_CALL && a->live && a->call != NULL &&
		    a->generation == g && a->silences > 0)
			outlive(s, a);
	}
}

/* The session lives. Calls whose streams were resumed a minute ago, and have been
 * silent since, are over, unless resuming is worth something here. */
static void
settle_resumed(struct session *s, const struct generation *g)
{
	static const struct facts none = { .retry_after_ms = -1 };
	struct attempt *a;

	if (s->event_ids.trusted)
		return;
	for (a = s->calls.attempts; a != NULL; a = calls_attempt_next(a)) {
		if (a->kind != ATTEMPT_CALL || a->call == NULL ||
		    a->generation != g || a->resumed_at == 0 ||
		    s->now - a->resumed_at < BOUND_MINUTE_MS)
			continue;
		if (!session_repeat(s, a->call, 0))
			session_fail(s, a->call,
			    session_cut_off(s, a->call, &none));
	}
}

/* The id of a session that nobody has, in the form of this one. NULL: there is
 * no letter or digit in it. Owned by the caller. */
static char *
unknown_id(const char *session)
{
	char *id = xstrdup(session);
	size_t n = strlen(id);

	while (n > 0 && !isalnum((unsigned char)id[n - 1]))
		n--;
	if (n == 0) {
		free(id);
		return NULL;
	}
	if (isdigit((unsigned char)id[n - 1]))
		id[n - 1] = id[n - 1] == '0' ? '1' : '0';
	else
		id[n - 1] = id[n - 1] == 'a' ? 'b' : 'a';
	return id;
}

/* The session lives after a break. But a server that takes any id may also
 * have restarted, and lost the settings. */
static void
ask_stranger(struct session *s)
{
	struct generation *g;
	struct attempt *a;

	if (s->listen.ids_known || s->generation->session == NULL ||
	    !phase_permits(s, PHASE_WORKS))
		return;
	g = generation_new(s->generation->number);
	g->session = unknown_id(s->generation->session);
	g->version = s->generation->version == NULL ?
	    NULL :
	    xstrdup(s->generation->version);
	if (g->session != NULL) {
		a = session_own_attempt(s, ATTEMPT_STRANGER, "ping", no_span,
		    g);
		session_abort_in(s, a, BOUND_SHORT_MS);
		session_start(s, a);
	}
	generation_unref(g);
}

void
session_stranger_done(struct session *s, struct attempt *a,
    const struct facts *f)
{
	s->listen.ids_known |= is_refusal(session_ruling(s, a, f));
	calls_attempt_drop(&s->calls, a);
}

/* Has something been in doubt since after the ping was sent? */
static bool
is_doubted(const struct session *s, const struct generation *g)
{
	return first_suspect_note(s, g, UINT64_MAX) != NULL ||
	    s->listen.state == LISTEN_SUSPECT;
}

/* Does the ping say that the session is lost? If replicas do not share their
 * sessions, one ping proves nothing. */
static bool
is_loss(const struct session *s, struct ruling r)
{
	return !session_flaps(s) &&
	    (is_refusal(r) || r.verdict == VERDICT_LOST_MAYBE);
}

/* Settles what this ping decides about. If the session is lost, or another one
 * has taken its place, that is everything. */
static void
settle(struct session *s, struct generation *g, uint64_t ticket, bool lost)
{
	if (lost || g != s->generation)
		ticket = UINT64_MAX;
	g->lost = g->lost || lost;
	settle_notes(s, g, ticket, lost);
	if (g == s->generation && session_listen_pinged(s, ticket, lost))
		ask_stranger(s);
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
session_ping_message(struct session *s, struct attempt *a,
    const struct facts *f, struct frame *m)
{
	struct generation *g = a->generation;
	struct ruling r = { VERDICT_ANSWER, "the server answered" };
	bool lost;

	if (a->answered)
		return;
	if (m->kind == FRAME_ERROR)
		r = verdict_error(f, m, &s->config.rules);
	a->said = r;
	if (r.verdict == VERDICT_RETRY)
		return; /* session_ping_done sends it again */
	lost = is_loss(s, r);
	a->answered = true;
	s->ping.ticket = 0;
	session_log(s, LEVEL_INFO, "the ping shows that the session is %s (%s)",
	    lost ? "gone" : "alive", r.rule);
	session_linger(s, a);
	generation_ref(g);
	settle(s, g, a->ticket, lost);
	if (!lost)
		settle_resumed(s, g);
	generation_unref(g);
	session_ping_due(s);
}

void
session_ping_done(struct session *s, struct attempt *a, const struct facts *f)
{
	struct generation *g = a->generation;
	struct ruling r = session_ruling(s, a, f);
	uint64_t ticket = a->ticket;
	bool lost = is_loss(s, r) || (f->silent && f->media == MEDIA_SSE);

	a->live = false;
	if (!a->answered && ping_again(s, a, f, r))
		return;
	generation_ref(g);
	if (s->ping.ticket == ticket)
		s->ping.ticket = 0;
	s->ping.active_at = s->now;
	if (!a->answered) {
		session_log(s, LEVEL_INFO, "the ping shows %s (%s)",
		    lost ? "that the session is gone" : "nothing", r.rule);
		calls_attempt_drop(&s->calls, a);
		settle(s, g, ticket, lost);
	} else {
		calls_attempt_drop(&s->calls, a);
	}
	generation_unref(g);
	session_ping_due(s);
}

/* --- when to ask --- */

static void
silence(struct session *s, struct attempt *a)
{
	if (a->dead_at <= s->now) {
		session_interrupted(s, a->call, a->generation, NULL,
		    "the call was silent, and its session is gone");
		return;
	}
	if (a->silent_at > s->now || a->waits_for_user)
		return;
	/* The pause doubles, because one ping is about all calls. */
	if (a->silences < 6)
		a->silences++;
	a->silent_at = s->now + ((int64_t)BOUND_MINUTE_MS << a->silences);
	if (a->generation != s->generation || a->generation->lost)
		outlive(s, a);
	else if (may_ask(s))
		session_ping(s, "a call is silent");
}

void
session_ping_tick(struct session *s)
{
	struct attempt *a;

	for (a = s->calls.attempts; a != NULL; a = calls_attempt_next(a)) {
		if (a->kind == ATTEMPT_CALL && a->live && a->call != NULL)
			silence(s, a);
	}
	if (s->now >= wanted_at(s))
		session_ping(s, "--ping-interval");
}
