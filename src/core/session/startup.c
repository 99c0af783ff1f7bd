/*
 * A start without the server. Hosts end a server whose initialize is late,
 * for good: where a former start is remembered the client is answered from
 * it, and the server is opened as after a loss.
 */
#include "config.h"

#include "core/session/state.h"

#include "core/wire/json.h"
#include "core/wire/msg.h"

void
session_recall(struct session *s)
{
	if (!s->config.memory)
		return;
	buf_free(&s->memory);
	buf_free(&s->memory_tools);
	session_ask(s, ACTION_RECALL);
}

void
session_remembered(struct session *s, const struct session_input *in)
{
	if (s->phase != PHASE_OPENING || in->result.n == 0)
		return;
	buf_addspan(&s->memory, in->result);
	buf_addspan(&s->memory_tools, in->tools);
	s->memory_at = s->now + (s->probed ? MEMORY_PROBE_MS : MEMORY_MS);
	session_due(s, s->memory_at);
}

void
session_remember(struct session *s)
{
	if (s->config.memory && s->opened != NULL && !s->own_handshake)
		session_ask(s, ACTION_REMEMBER);
}

/* A server that says no, or cannot be trusted, is not one that is away. */
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
session_from_memory(struct session *s, const struct facts *f)
{
	struct call *c, *next;
	struct frame *answer;

	s->memory_at = -1;
	if (s->memory.n == 0 || s->phase != PHASE_OPENING ||
	    (f != NULL && !is_away(f)))
		return false;
	for (c = s->calls.first; c != NULL; c = c->next)
		if (c->leg != NULL && c->leg->kind == LEG_OPEN)
			break;
	if (c == NULL)
		return false;
	session_note(s, LEVEL_WARN,
	    "%s has opened no session yet: the client gets what it said at a "
	    "former start, calls wait for it",
	    s->config.host);
	session_call_state(s, c, CALL_RUNNING);
	frame_unref(c->refusal);
	c->refusal = NULL;
	c->leg->call = NULL;
	c->leg = NULL;
	answer = msg_result(c->frame->id, buf_str(&s->memory));
	session_keep_ready(s);
	session_learn_families(s, answer);
	s->from_memory = true;
	s->why = "the start was from memory";
	session_phase(s, PHASE_RENEWING,
	    session_opening_waits(s) ? -1 : s->now + session_renew_window(s));
	session_answer(s, c, answer);
	frame_unref(answer);
	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		answer = session_memory_answer(s, c->frame);
		if (answer != NULL)
			session_answer(s, c, answer);
		frame_unref(answer);
	}
	return true;
}

struct frame *
session_memory_answer(struct session *s, struct frame *request)
{
	if (!s->from_memory || s->memory_tools.n == 0 ||
	    !json_key_is(request->method, "tools/list") ||
	    json_get(request->params, "cursor").p != NULL)
		return NULL;
	return msg_result(request->id, buf_str(&s->memory_tools));
}
