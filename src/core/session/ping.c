/*
 * A ping with the same session id finds out whether the session is gone: if a
 * one-way message or the listen stream was refused, if a call is silent for
 * long, and at --ping-interval. There is one ping at a time, for all that wait
 * for it. A session that answers a ping may be lost the next moment, so a doubt
 * that comes while a ping is under way waits for a ping after that one.
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
	struct attempt *l;

	if (s->ping.ticket != 0) {
		l = calls_attempt_find(&s->calls, s->ping.ticket);
		return l->live ? s->calls.next_ticket : l->ticket;
	}
	session_log(s, LEVEL_INFO,
	    "%s: a ping asks whether the session is alive", why);
	l = session_own_attempt(s, ATTEMPT_PING, "ping", no_span,
	    s->generation);
	s->ping.ticket = l->ticket;
	l->window_end = s->now + BOUND_PING_MS;
	session_abort_in(s, l, BOUND_PING_MS);
	session_start(s, l);
	return l->ticket;
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
	if (f->silent ||
	    (r.verdict != VERDICT_RETRY && f->ending != ENDING_CUT) ||
	    s->ping.ticket != l->ticket || wait >= left)
		return false;
	session_log(s, LEVEL_INFO,
	    "the ping shows nothing (%s): it is sent again in %lld ms", r.rule,
	    (long long)wait);
	l = session_again(s, l, wait);
	s->ping.ticket = l->ticket;
	session_abort_in(s, l, left);
	return true;
}

/* --- what it found --- */

/* The first one-way message in doubt that a ping of this ticket decides
 * about. */
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

/* The session lives. Calls whose streams were resumed a minute ago, and have been
 * silent since, are over, unless resuming is worth something here. */
static void
settle_resumed(struct session *s, const struct generation *g)
{
	static const struct facts none = { .retry_after_ms = -1 };
	struct attempt *l;

	if (s->event_ids.trusted)
		return;
	for (l = s->calls.attempts; l != NULL; l = calls_attempt_next(l)) {
		if (l->kind != ATTEMPT_CALL || l->call == NULL ||
		    l->generation != g || l->resumed_at == 0 ||
		    s->now - l->resumed_at < BOUND_SILENT_MS)
			continue;
		if (!session_repeat(s, l->call, 0))
			session_fail(s, l->call,
			    session_cut_off(s, l->call, &none));
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

/* The session lives after a break. But a server that takes any id as well may
 * have begun anew, and lost the settings. */
static void
ask_stranger(struct session *s)
{
	struct generation *g;
	struct attempt *l;

	if (s->listen.ids_known || s->generation->session == NULL ||
	    !phase_permits(s, PHASE_WORKS))
		return;
	g = generation_new(s->generation->number);
	g->session = unknown_id(s->generation->session);
	g->version = s->generation->version == NULL ?
	    NULL :
	    xstrdup(s->generation->version);
	if (g->session != NULL) {
		l = session_own_attempt(s, ATTEMPT_STRANGER, "ping", no_span,
		    g);
		session_abort_in(s, l, BOUND_PING_MS);
		session_start(s, l);
	}
	generation_unref(g);
}

void
session_stranger_done(struct session *s, struct attempt *l,
    const struct facts *f)
{
	s->listen.ids_known |= is_refusal(session_ruling(s, l, f));
	calls_attempt_drop(&s->calls, l);
}

/* Has something been in doubt since after the ping was sent? */
static bool
is_doubted(const struct session *s, const struct generation *g)
{
	return first_suspect_note(s, g, UINT64_MAX) != NULL ||
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
	settle(s, g, l->ticket, lost);
	if (!lost)
		settle_resumed(s, g);
	generation_unref(g);
	session_ping_due(s);
}

void
session_ping_done(struct session *s, struct attempt *l, const struct facts *f)
{
	struct generation *g = l->generation;
	struct ruling r = session_ruling(s, l, f);
	uint64_t ticket = l->ticket;
	bool lost = is_loss(s, r) || (f->silent && f->media == MEDIA_SSE);

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
		settle(s, g, ticket, lost);
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
