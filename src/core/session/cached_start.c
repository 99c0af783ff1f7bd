/*
 * A start without the server. Hosts give up for good a server whose initialize
 * is late. If the startup cache has a former start, the client is answered from
 * it, and the server is opened in the background as after a loss.
 */
#include "config.h"

#include "core/session/cached_start.h"

#include "base/bounds.h"
#include "core/session/act.h"
#include "core/session/call.h"
#include "core/session/held.h"
#include "core/session/live.h"
#include "core/session/renew.h"
#include "core/session/sign_in.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

void
session_load_start(struct session *s)
{
	if (!s->config.cached_start)
		return;
	buf_free(&s->start.result);
	buf_free(&s->start.tools);
	session_ask_start(s);
}

void
session_cached_start(struct session *s, const struct event *in)
{
	if (!phase_permits(s, PHASE_FIRST) || in->result.n == 0)
		return;
	buf_addspan(&s->start.result, in->result);
	buf_addspan(&s->start.tools, in->tools);
	alarm_set(&s->alarms, ALARM_CACHED_START,
	    s->now +
		(s->start.probed ? BOUND_CACHED_PROBE_MS :
				   BOUND_CACHED_START_MS));
}

void
session_save_start(struct session *s)
{
	if (s->config.cached_start && s->handshake.answer != NULL &&
	    !is_own_handshake(s))
		session_keep_start(s);
}

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

bool
session_start_from_cache(struct session *s, const struct facts *f)
{
	struct call *c, *next;
	struct frame *answer;

	alarm_set(&s->alarms, ALARM_CACHED_START, ALARM_NEVER);
	if (s->start.result.n == 0 || !phase_permits(s, PHASE_FIRST) ||
	    (f != NULL && !is_away(f)))
		return false;
	for (c = s->calls.first; c != NULL; c = c->next)
		if (c->attempt != NULL && c->attempt->kind == ATTEMPT_OPEN)
			break;
	if (c == NULL)
		return false;
	session_log(s, LEVEL_WARN,
	    "%s has not opened a session yet: the client is answered from the "
	    "startup cache, and calls wait",
	    s->config.host);
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
	answer = msg_result(c->frame->id, buf_str(&s->start.result));
	session_keep_ready(s);
	session_learn_families(s, answer);
	s->handshake.by = HANDSHAKE_CACHED;
	s->renewal.why = "initialize was answered from the startup cache";
	s->renewal.began_at = s->renewal.window_at = s->now;
	session_phase(s, PHASE_RENEWING,
	    session_opening_waits(s) ? ALARM_NEVER :
				       s->now + session_renew_window(s));
	session_answer(s, c, answer);
	frame_unref(answer);
	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		answer = session_cached_answer(s, c->frame);
		if (answer != NULL)
			session_answer(s, c, answer);
		frame_unref(answer);
	}
	return true;
}

struct frame *
session_cached_answer(struct session *s, struct frame *request)
{
	if (!is_from_cache(s) || s->start.tools.n == 0 ||
	    !json_key_is(request->method, "tools/list") ||
	    json_get(request->params, "cursor").p != NULL)
		return NULL;
	return msg_result(request->id, buf_str(&s->start.tools));
}
