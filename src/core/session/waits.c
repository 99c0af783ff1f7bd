/*
 * A client that asked for the progress of a call is also told of waits that the
 * server cannot report: for the server itself, for a new session, or for the
 * user.
 */
#include "config.h"

#include "core/session/parts.h"

#include "base/codec.h"

enum { PER_ONE = 1000000 }; /* so many notes would count as much as 1 */

/* A request that the server has does not wait, as far as anybody knows, nor does
 * one whose stream is resumed. What is tried at a server that was away does. */
static bool
is_waiting(const struct session *s, const struct call *c)
{
	const struct attempt *a = c->attempt;

	if (c->cancelled || c->spoke)
		return false;
	if (c->state == CALL_RUNNING)
		return a->waits_for_user || (a->away && s->away) ||
		    (!a->live && a->last_event_id.n == 0);
	return c->state != CALL_ACCEPTED;
}

static void
describe(const struct session *s, const struct call *c, struct buf *out)
{
	bool asked = c->attempt != NULL ? c->attempt->waits_for_user :
					  session_renewal_waits(s);
	bool renews = !gate_is_open(s) && !is_early(s);

	if (asked && s->sign_in != NULL) {
		buf_addf(out, "%s requires you to sign in: %s", s->config.host,
		    s->sign_in);
		return;
	}
	buf_addf(out, "waiting for %s%s", renews ? "a new session with " : "",
	    s->config.host);
	if (!gate_is_open(s) && s->renewal.setback != NULL) {
		buf_adds(out, ": ");
		session_setback_text(&s->renewal.setback->facts, NULL, out);
	}
}

/* The numbers are small, so that those of the server are above them. */
static void
tell(struct session *s, struct call *c)
{
	struct buf text, params;

	buf_init(&text, 0);
	buf_init(&params, 0);
	describe(s, c, &text);
	buf_adds(&params, "{\"progressToken\":");
	buf_addspan(&params, c->frame->token);
	buf_addf(&params,
	    ",\"progress\":0.%06u,\"message\":", ++c->notes % PER_ONE);
	codec_json_string(&params, buf_span(&text));
	buf_adds(&params, "}");
	session_tell(s, "notifications/progress", buf_span(&params));
	buf_free(&text);
	buf_free(&params);
}

/* Of very many calls the first are told of. The walk comes once in GAP_MS at
 * most. */
void
session_waits_tick(struct session *s)
{
	enum { GAP_MS = 1000 };
	int64_t next = ALARM_NEVER;
	size_t left = BOUND_SOME;
	struct call *c;

	if (!alarm_is_due(&s->alarms, ALARM_WAITS, s->now))
		return;
	for (c = s->calls.first; c != NULL && left > 0; c = c->next) {
		if (c->note_at <= s->now) {
			c->note_at = is_waiting(s, c) ?
			    s->now + BOUND_SHORT_MS :
			    ALARM_NEVER;
			/* Nothing comes before the answer to initialize. */
			if (c->note_at != ALARM_NEVER &&
			    !phase_permits(s, PHASE_FIRST))
				tell(s, c);
			left--;
		}
		next = alarm_sooner(next, c->note_at);
	}
	if (next < s->now + GAP_MS || left == 0)
		next = s->now + GAP_MS;
	alarm_set(&s->alarms, ALARM_WAITS, next);
}

bool
session_is_behind(struct call *c, const struct frame *m)
{
	c->spoke = true;
	if (c->notes > 0 && !c->progress.any)
		c->progress = (struct msg_progress){ true,
			(double)c->notes / PER_ONE };
	return !msg_progress(&c->progress, m,
	    c->replayed != 0 || c->repeated || c->notes > 0 ||
		c->pages != NULL);
}
