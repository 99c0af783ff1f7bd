/* notifications/cancelled from the client. It does not wait for the gate. A late
 * answer is dropped in session_answer (call.c) or server_answer (from_server.c). */
#include "config.h"

#include "core/session/parts.h"

/* Does the call run in the current session, so that the cancel can be sent? */
static bool
runs_in_current(const struct session *s, const struct call *c)
{
	return phase_permits(s, PHASE_CANCELS) &&
	    (c->attempt == NULL || c->attempt->generation == s->generation);
}

/* Sends the cancel with the id that the server knows the call by. A call that
 * has an id of ours was repeated in this session, where its first run may still
 * go on under the client's id: that one is cancelled, too. */
static void
forward_cancel(struct session *s, struct call *c, struct frame *f)
{
	struct frame *ours;

	if (s->calls.n_notifications >= BOUND_SOME) {
		session_log(s, LEVEL_INFO,
		    "%s does not acknowledge notifications: dropped a cancel",
		    s->config.host);
		return;
	}
	/* Under the client's id the first page was answered. */
	if (c->sent == NULL || c->pages == NULL)
		session_send_one_way(s, f);
	if (c->sent == NULL)
		return;
	ours = msg_cancel(c->sent->id, json_get(f->params, "reason"));
	session_send_one_way(s, ours);
	frame_unref(ours);
}

void
session_cancel(struct session *s, struct frame *f)
{
	struct call *c = calls_find(&s->calls,
	    json_get(f->params, "requestId"));

	if (c == NULL || c->cancelled) {
		session_log(s, LEVEL_DEBUG,
		    "the client cancelled a request that is not open: ignored");
		return;
	}
	if (json_key_is(c->frame->method, "initialize")) {
		session_log(s, LEVEL_INFO,
		    "the client cancelled initialize, which cannot be "
		    "cancelled: ignored");
		return;
	}
	c->cancelled = true;
	if (c->state == CALL_HELD || c->state == CALL_REFUSED ||
	    c->state == CALL_SUSPECT ||
	    (c->attempt != NULL &&
		(!c->attempt->live || c->attempt->waits_for_user) &&
		c->attempt->last_event_id.n == 0)) {
		session_log(s, LEVEL_INFO,
		    "the client cancelled a request before it was sent");
		session_fail(s, c, NULL);
		return;
	}
	if (runs_in_current(s, c))
		forward_cancel(s, c, f);
	if (c->state == CALL_ACCEPTED || !c->attempt->live ||
	    c->attempt->waits_for_user) {
		session_fail(s, c, NULL);
		return;
	}
	/* The server need not answer now; the stream has BOUND_SHORT_MS to
	 * end. */
	session_abort_in(s, c->attempt, BOUND_SHORT_MS);
}
