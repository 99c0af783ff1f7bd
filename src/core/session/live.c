/*
 * A session becomes live: the server gets initialized, a new session gets the
 * settings of the last one, and users learn what has changed.
 */
#include "config.h"

#include "core/session/parts.h"

#include "base/codec.h"

/* --- people are told --- */

static void
add_string(struct buf *out, struct span object, const char *name)
{
	enum { SHOWN = 64 };
	struct buf text;

	buf_init(&text, 0);
	if (json_string(json_get(object, name), &text) == 0)
		codec_visible(out, buf_span(&text), SHOWN);
	buf_free(&text);
}

/* Adds what differs between the sessions before and after the renewal. Returns
 * false if nothing does. */
static bool
add_changes(struct session *s, struct frame *before, struct buf *out)
{
	struct span was = before->result, is = s->handshake.answer->result;
	struct span a = json_get(was, "serverInfo"),
		    b = json_get(is, "serverInfo");
	size_t n = out->n;

	if (!span_eq(a, b)) {
		buf_adds(out, "; the server is ");
		add_string(out, b, "name");
		buf_addc(out, ' ');
		add_string(out, b, "version");
		buf_adds(out, ", was ");
		add_string(out, a, "name");
		buf_addc(out, ' ');
		add_string(out, a, "version");
	}
	if (!span_eq(json_get(was, "protocolVersion"),
		json_get(is, "protocolVersion"))) {
		buf_adds(out, "; the protocol is ");
		add_string(out, is, "protocolVersion");
		buf_adds(out, ", was ");
		add_string(out, was, "protocolVersion");
	}
	if (!span_eq(json_get(was, "capabilities"),
		json_get(is, "capabilities")))
		buf_adds(out, "; its capabilities differ");
	return out->n > n;
}

/* Logs the line about a renewal. The line is a warning if something differs,
 * and once in BOUND_PARKED_MS: a server may end its sessions all the time. The
 * first session after a start that the user asked for is nothing to warn of. */
static void
sum_up(struct session *s)
{
	struct buf line;
	bool differs = false, due;

	buf_init(&line, 0);
	buf_addf(&line, "%s: new session, number %llu (%s)", s->config.host,
	    (unsigned long long)s->generation->number,
	    s->renewal.why != NULL ? s->renewal.why : "at the start");
	if (s->renewal.replays > 0)
		buf_addf(&line, "; %zu request%s sent again",
		    s->renewal.replays, s->renewal.replays == 1 ? "" : "s");
	if (s->restoring.restored + s->restoring.refused > 0)
		buf_addf(&line, "; %zu of %zu settings restored",
		    s->restoring.restored,
		    s->restoring.restored + s->restoring.refused);
	if (s->renewal.before != NULL && s->handshake.answer != NULL)
		differs = add_changes(s, s->renewal.before, &line);
	due = s->now >= s->say.sum_up_at && !s->start.asked;
	s->start.asked = false;
	if (differs || due)
		s->say.sum_up_at = s->now + BOUND_PARKED_MS;
	session_log(s, differs || due ? LEVEL_WARN : LEVEL_INFO, "%s",
	    buf_str(&line));
	buf_free(&line);
	keep_frame(&s->renewal.before, NULL);
}

/* --- ready, and live --- */

/* The end of a part of the opening that may take ms. In a renewal it ends with
 * the time of the calls that wait. */
static int64_t
by_then(const struct session *s, int64_t ms)
{
	int64_t end = s->now + ms;

	if (s->renewal.renewed)
		end = alarm_sooner(end, session_wait_soonest(s));
	return end > s->now ? end : s->now;
}

void
session_begin_ready(struct session *s)
{
	session_phase(s, PHASE_READYING, by_then(s, BOUND_STEP_MS));
	s->witness.ready = false;
	session_start(s,
	    calls_attempt(&s->calls, ATTEMPT_READY, NULL, s->handshake.ready,
		s->generation));
	/* A witness whose answer cannot be read shows it without harm. */
	if (s->config.try_first && s->former == NULL)
		s->witness.mark = UINT64_MAX;
	session_witness_again(s);
}

/* Opens the gate: the server took initialized, or will not take it. */
static void
go_live(struct session *s)
{
	session_phase(s, PHASE_LIVE, ALARM_NEVER);
	s->generation->ready_at = s->ping.active_at = s->now;
	session_answer_early(s);
	if (!session_awaits_witness(s))
		session_replay(s);
	if (s->renewal.renewed) {
		sum_up(s);
		session_tell_soon(s);
	}
	s->renewal.renewed = false;
	session_ping_due(s);
}

void
session_reopened(struct session *s)
{
	session_phase(s, PHASE_OPENED, ALARM_NEVER);
	session_witness_again(s);
	s->witness.ready = session_awaits_witness(s);
	if (s->witness.ready)
		return;
	session_replay(s);
	sum_up(s);
}

void
session_readied(struct session *s)
{
	if (s->now >= s->alarms.at[ALARM_PHASE]) {
		session_witness_too_late(s);
	} else if (session_witness_is_due(s)) {
		s->witness.ready = true;
		session_witness_again(s);
	}
	s->witness.ready = session_awaits_witness(s);
	if (s->witness.ready)
		return;
	s->witness.mark = 0;
	if (s->renewal.renewed && session_restore(s))
		return;
	if (s->renewal.renewed)
		session_listen_open(s); /* before the calls that wait */
	else
		s->listen.due = true;
	go_live(s);
}

/* --- a new session is told again --- */

static void
restore_send(struct session *s, struct frame *request)
{
	struct frame *body = session_with_own_id(s, request);

	s->restoring.under_way++;
	session_start(s,
	    calls_attempt(&s->calls, ATTEMPT_RESTORE, NULL, body,
		s->generation));
	frame_unref(body);
}

/* Ends the restoring. A session whose client never says initialized stays
 * opened. */
static void
restored(struct session *s)
{
	if (s->handshake.ready != NULL)
		go_live(s);
	else
		session_reopened(s);
}

/* Restores more subscriptions, RESTORES_AT_ONCE at a time, and ends the
 * restoring after the last. */
static void
restore_more(struct session *s)
{
	struct subscribed *sub = s->settings.list;

	while (sub != NULL && s->restoring.under_way < RESTORES_AT_ONCE) {
		if (sub->told != s->generation->number) {
			sub->told = s->generation->number;
			restore_send(s, sub->request);
		}
		sub = sub->next;
	}
	if (s->restoring.under_way == 0)
		restored(s);
}

/* Opens the listen stream before the subscriptions, because their notifications
 * come on it. */
static void
listen_before_rest(struct session *s)
{
	if (s->handshake.ready != NULL && s->listen.state != LISTEN_OPEN)
		session_listen_open(s);
}

static void
restore_rest(struct session *s)
{
	s->restoring.stage = RESTORE_REST;
	listen_before_rest(s);
	restore_more(s);
}

bool
session_restore(struct session *s)
{
	if (s->settings.level == NULL && s->settings.n == 0)
		return false;
	session_phase(s, PHASE_RESTORING, by_then(s, BOUND_STEP_MS));
	s->restoring.under_way = s->restoring.flaps = 0;
	s->restoring.stage = RESTORE_LEVEL;
	if (s->settings.level != NULL)
		restore_send(s, s->settings.level);
	else
		restore_rest(s);
	return true;
}

void
session_restore_again(struct session *s, const struct generation *g)
{
	struct subscribed *sub;

	if (g->number != s->generation->number ||
	    !phase_permits(s, PHASE_WORKS))
		return;
	session_log(s, LEVEL_INFO,
	    "%s accepts any session id and may have restarted: restoring the "
	    "settings",
	    s->config.host);
	for (sub = s->settings.list; sub != NULL; sub = sub->next)
		sub->told = 0;
	session_tell_soon(s);
	session_restore(s);
}

/* One request of the restoring is over: continues with the next ones. */
static void
restore_next(struct session *s)
{
	s->restoring.under_way--;
	if (s->restoring.stage == RESTORE_REST)
		restore_more(s);
	else if (s->restoring.under_way == 0)
		restore_rest(s);
}

void
session_restore_message(struct session *s, struct attempt *a)
{
	if (a->answered)
		return;
	a->answered = true;
	session_linger(s, a);
	if (a->generation != s->generation || !phase_permits(s, PHASE_RESTORES))
		return;
	s->restoring.restored++;
	restore_next(s);
}

/* Handles a refusal of the new session: another replica may have answered, or
 * the session is gone again. Returns false if it was no refusal, or nothing can
 * be done about it. */
static bool
restore_lost(struct session *s, struct attempt *a, struct ruling r)
{
	if (!is_refusal(r))
		return false;
	if (s->restoring.flaps < BOUND_FLAPS && s->config.retry_window_ms > 0) {
		s->restoring.flaps++;
		session_again(s, a, session_flap_wait(s->restoring.flaps))
		    ->fresh = true;
		return true;
	}
	if (!session_may_renew(s))
		return false;
	calls_attempt_drop(&s->calls, a);
	session_renew(s, r.rule);
	return true;
}

/* A setting that the server does not take is not worth the session: the
 * restoring continues. */
void
session_restore_done(struct session *s, struct attempt *a,
    const struct facts *f)
{
	struct ruling r = session_ruling(s, a, f);

	a->live = false;
	if (a->answered || a->generation != s->generation ||
	    !phase_permits(s, PHASE_RESTORES)) {
		calls_attempt_drop(&s->calls, a);
		return;
	}
	if (restore_lost(s, a, r))
		return;
	s->restoring.refused++;
	session_log(s, LEVEL_WARN,
	    "%s did not accept %.*s in the new session (%d)", s->config.host,
	    (int)a->body->method.n, a->body->method.p, f->status);
	/* The server answered with a refusal: the client does not have this
	 * setting any more. */
	if (r.verdict == VERDICT_ANSWER)
		settings_forget(&s->settings, a->body);
	calls_attempt_drop(&s->calls, a);
	restore_next(s);
}

void
session_restore_timeout(struct session *s)
{
	session_log(s, LEVEL_WARN,
	    "%s takes too long to accept the settings of the session before; "
	    "mcpsplice continues",
	    s->config.host);
	if (s->restoring.stage == RESTORE_LEVEL)
		listen_before_rest(s);
	restored(s);
}
