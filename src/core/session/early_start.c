/*
 * A start without the server. Hosts give up a server for good whose initialize
 * is late. If the startup cache has a former start, the client is answered from
 * it; a client that never saw the server may get the stand-in. Either way the
 * server is opened in the background as after a loss.
 */
#include "config.h"

#include "core/session/parts.h"

#include "core/wire/json.h"

void
session_begin_start(struct session *s)
{
	buf_free(&s->start.result);
	buf_free(&s->start.tools);
	s->start.tool = NULL;
	s->start.began_at = s->now;
	session_mind_start(s);
	if (s->config.cached_start && s->config.start != START_WAIT)
		session_ask_start(s);
}

void
session_cached_start(struct session *s, const struct event *in)
{
	if (!phase_permits(s, PHASE_FIRST) || in->result.n == 0)
		return;
	buf_addspan(&s->start.result, in->result);
	buf_addspan(&s->start.tools, in->tools);
	session_mind_start(s);
}

void
session_save_start(struct session *s)
{
	if (s->config.cached_start && s->handshake.answer != NULL &&
	    !is_own_handshake(s))
		session_keep_start(s);
}

/* --- when --- */

/* A modern client waits for the answer to server/discover, and not for long. */
static int64_t
early_enough(const struct session *s, int64_t ms)
{
	return s->start.probed && ms > BOUND_EARLY_PROBE_MS ?
	    BOUND_EARLY_PROBE_MS :
	    ms;
}

/* Returns the time at which the client is answered without the server, or
 * ALARM_NEVER. */
static int64_t
early_at(const struct session *s)
{
	int64_t ms;

	if (!phase_permits(s, PHASE_FIRST) || is_own_handshake(s) ||
	    s->config.start == START_WAIT)
		return ALARM_NEVER;
	if (s->start.result.n > 0)
		ms = s->config.start == START_INSTANT ? 0 :
							BOUND_CACHED_START_MS;
	else if (has_eof(s))
		return ALARM_NEVER; /* a script is patient */
	else if (s->config.start == START_STAND_IN)
		ms = BOUND_STAND_IN_MS;
	else if (session_opening_waits(s))
		ms = BOUND_STAND_IN_SIGN_IN_MS;
	else
		return ALARM_NEVER;
	return s->start.began_at + early_enough(s, ms);
}

void
session_mind_start(struct session *s)
{
	if (!is_early(s)) /* else the alarm is that of lists that wait */
		alarm_set(&s->alarms, ALARM_EARLY_START, early_at(s));
}

int64_t
session_start_fails_at(const struct session *s, const struct facts *f)
{
	int64_t ms;

	if (!phase_permits(s, PHASE_FIRST) || s->start.result.n > 0 ||
	    s->config.start == START_WAIT || s->config.start == START_STAND_IN)
		return ALARM_NEVER;
	if (f->ending == ENDING_RESOLVE)
		ms = BOUND_UNKNOWN_NAME_MS;
	else if (f->conn_refused)
		ms = BOUND_REFUSED_START_MS;
	else
		return ALARM_NEVER;
	return s->start.began_at + early_enough(s, ms);
}

bool
session_start_is_hopeless(const struct session *s, const struct facts *f)
{
	return phase_permits(s, PHASE_FIRST) && s->start.result.n > 0 &&
	    (f->ending == ENDING_RESOLVE || f->conn_refused);
}

/* --- the answer --- */

/* Do these facts say that the server is away? A server that refuses or that
 * cannot be trusted is not. */
static bool
is_away(const struct facts *f)
{
	switch (f->ending) {
	case ENDING_CONNECT:
	case ENDING_RESOLVE:
	case ENDING_CUT:
	case ENDING_IDLE:
		return true;
	case ENDING_COMPLETE:
		return f->status == 429 || f->status >= 500;
	default:
		return false;
	}
}

/* Returns the client's initialize, if it is under way, or NULL. */
static struct call *
waiting_initialize(const struct session *s)
{
	struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (c->attempt != NULL && c->attempt->kind == ATTEMPT_OPEN)
			return c;
	return NULL;
}

/* The client's initialize is not answered by its attempt any more, which goes
 * on as that of a renewal. */
static void
begin_renewal(struct session *s, struct call *c)
{
	session_call_state(s, c, CALL_RUNNING);
	keep_frame(&c->refusal, NULL);
	/* What the server said of itself comes after the answer, unless the
	 * try failed. */
	if (c->attempt->live)
		s->handshake.opener = c->attempt;
	else
		kept_clear(&s->early);
	c->attempt->call = NULL;
	c->attempt = NULL;
	session_keep_ready(s);
	s->handshake.by = HANDSHAKE_EARLY;
	s->renewal.why = "initialize was answered without the server";
	s->renewal.began_at = s->renewal.window_at = s->now;
	session_phase(s, PHASE_RENEWING,
	    session_opening_waits(s) ? ALARM_NEVER :
				       s->now + session_renew_window(s));
}

bool
session_start_early(struct session *s, const struct facts *f)
{
	struct call *c = waiting_initialize(s);
	struct frame *answer;
	int64_t at = early_at(s);

	alarm_set(&s->alarms, ALARM_EARLY_START, ALARM_NEVER);
	if (at == ALARM_NEVER || c == NULL || (f != NULL && !is_away(f)))
		return false;
	if (s->start.result.n == 0)
		session_stand_in(s, c->frame, &s->start.result);
	session_log(s, LEVEL_WARN,
	    s->start.tool != NULL ?
		"%s has not opened a session yet: the client gets a stand-in "
		"with one tool, which tells what is missing" :
		"%s has not opened a session yet: the client is answered from "
		"the startup cache, and calls wait",
	    s->config.host);
	answer = msg_result(c->frame->id, buf_str(&s->start.result));
	session_learn_families(s, answer);
	begin_renewal(s, c);
	session_answer(s, c, answer);
	frame_unref(answer);
	session_answer_early(s);
	alarm_set(&s->alarms, ALARM_EARLY_START,
	    s->now + BOUND_CACHED_START_MS);
	return true;
}

void
session_start_tick(struct session *s)
{
	if (!alarm_is_due(&s->alarms, ALARM_EARLY_START, s->now))
		return;
	if (!session_start_early(s, NULL))
		session_answer_early(s);
}
