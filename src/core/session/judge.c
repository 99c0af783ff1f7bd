/*
 * One answer to a call is judged in one place: by the facts of its exchange and
 * the message that answers it, or by the facts alone.
 */
#include "config.h"

#include "core/session/parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/exchange/same_refusal.h"

/* The ruling for a message that answers this call. The call's own attempt tells
 * whether its request carried a session id. */
static struct ruling
rule_message(struct session *s, const struct call *c, const struct attempt *a,
    const struct facts *f, const struct frame *m)
{
	struct facts of_call = *f;
	const struct attempt *own = c->attempt != NULL ? c->attempt : a;
	const struct generation *g = own->generation;
	struct ruling r;
	bool hint = false;

	/* HTTP+SSE has sessions whose requests carry no id. */
	of_call.had_session = f->had_session || g->session != NULL;
	of_call.fresh = s->former != NULL && g == s->generation &&
	    g->ready_at != 0 && s->now - g->ready_at < FRESH_MS;
	session_add_history(s, c, g, &of_call);
	of_call.credentials_known_good = f->credentials_known_good;
	if (f->session_ended)
		return verdict_bare(&of_call, &s->config.rules);
	if (m->kind == FRAME_ERROR)
		return verdict_error(&of_call, m, &s->config.rules);
	r = verdict_result(&of_call, m, &s->config.rules, &hint);
	if (hint && !s->say.hinted) {
		s->say.hinted = true;
		session_log(s, LEVEL_WARN,
		    "a result from %s mentions a lost session. If this server "
		    "reports lost sessions in results, add "
		    "--session-lost-in-results",
		    s->config.host);
	}
	return r;
}

struct ruling
session_judge_end(const struct session *s, const struct attempt *a,
    const struct facts *f)
{
	static const struct ruling too_large = { VERDICT_FAIL, "too large" };
	struct facts known = *f;

	if (f->too_large)
		return too_large;
	if (a->last_event_id.n == 0)
		session_add_history(s, a->call, a->generation, &known);
	else if (f->session_ended)
		known.status = 0; /* the call ran up to that event */
	return session_ruling(s, a, &known);
}

static void
call_worked(struct session *s, struct call *c, struct generation *g,
    struct frame *m)
{
	if (m->kind != FRAME_RESULT)
		return;
	session_note_worked(c, g);
	if (json_key_is(c->frame->method, "tools/list")) {
		session_learn_tools(s, g, c->frame, m);
		return;
	}
	if (!settings_learn(&s->settings, c->frame))
		session_log(s, LEVEL_WARN,
		    "too many subscriptions: not all will be restored if %s "
		    "forgets the session",
		    s->config.host);
}

struct frame *
session_refusal_to_keep(struct frame *m)
{
	struct span none = { NULL, 0 };
	struct frame *f;
	struct buf text;

	if (m->kind != FRAME_ERROR || m->text.n <= BOUND_PART_BYTES)
		return frame_ref(m);
	buf_init(&text, 0);
	msg_error_text(m, &text);
	if (text.n > BOUND_PART_BYTES / 8)
		text.n = BOUND_PART_BYTES / 8;
	f = msg_error(m->id, (int)msg_error_code(m), buf_str(&text), none);
	buf_free(&text);
	return f;
}

/* Is there no more to learn for this call from a refusal on this attempt? An
 * exchange that the call has left says nothing about its current one. */
static bool
is_old_news(const struct call *c, const struct attempt *a)
{
	return c->state == CALL_REFUSED || c->state == CALL_SUSPECT ||
	    (a->kind == ATTEMPT_CALL && c->attempt != NULL && a != c->attempt &&
		(a->body == c->frame || a->body == c->sent));
}

/* Has the server declared that it has this method? */
static bool
is_declared(const struct session *s, struct span method)
{
	const char *slash = memchr(method.p, '/', method.n);
	struct span all = json_get(s->handshake.answer->result, "capabilities"),
		    family;
	char name[32];

	if (all.p == NULL || json_key_is(method, "ping") ||
	    json_key_is(method, "tools/call"))
		return true;
	if (slash == NULL)
		return false;
	snprintf(name, sizeof name, "%.*s%s", (int)(slash - method.p), method.p,
	    json_key_is(method, "completion/complete") ? "s" : "");
	family = json_get(all, name);
	if (json_key_is(method, "resources/subscribe") ||
	    json_key_is(method, "resources/unsubscribe"))
		return span_is(json_get(family, "subscribe"), "true");
	return family.p != NULL;
}

struct frame *
session_own_error(const struct session *s, const struct call *c,
    const struct attempt *a, const struct facts *f)
{
	struct facts known = *f;

	if (a->last_event_id.n > 0)
		return session_cut_off(s, c, f);
	session_add_history(s, c, a->generation, &known);
	if (a->window_end != ALARM_NEVER)
		known.waited_ms = s->now - a->window_end +
		    s->config.retry_window_ms;
	known.undeclared = !known.worked && !is_declared(s, c->frame->method);
	return fault_from_facts(c->frame, &known, s->config.host, c->refusal);
}

/* Did the server fail in a way that it also does when it has lost its session,
 * or is not done with its start? Only for what is safe a ping is worth it; but
 * an error for nobody is about the session. */
static bool
is_failure(const struct session *s, const struct call *c,
    const struct attempt *a, const struct facts *f, const struct frame *m)
{
	if (f->status != 500 || a != c->attempt ||
	    a->generation->session == NULL || a->last_event_id.n > 0 ||
	    c->repeated)
		return false;
	return m != NULL ?
	    m->kind == FRAME_ERROR && !refusal_has_id(m, a->body) :
	    f->ending == ENDING_COMPLETE && session_is_safe(s, c);
}

/* Did the answer end at once, without a byte? So answers a session whose loop in
 * the server is gone (mcp 1.8 to 1.10, after a cancel), or that ended while the
 * call ran (go-sdk with JSON). */
static bool
is_silence(const struct session *s, const struct attempt *a,
    const struct facts *f)
{
	enum { AT_ONCE_MS = 1000 };

	return f->silent && a->last_event_id.n == 0 &&
	    a->generation->session != NULL &&
	    (f->ending == ENDING_COMPLETE || f->ending == ENDING_CUT) &&
	    s->now - a->head_at < AT_ONCE_MS;
}

static void
lost(struct session *s, struct call *c, struct generation *g,
    const struct facts *f, struct frame *kept, struct ruling r)
{
	if (kept != NULL)
		keep_frame(&c->refusal, frame_ref(kept));
	c->status = f->status;
	c->rule = r.rule;
	session_refused(s, c, g);
}

/* A server that answers requests of a session that it does not know, as LiteLLM
 * does after a restart, no longer sends its id. Nothing else shows that the
 * listen stream and the settings are gone. Where it happens again at once,
 * replicas differ. */
static void
begun_anew(struct session *s, struct generation *g)
{
	static const char rule[] = "a result without the id of the session";

	if (g == s->generation && gate_is_open(s) &&
	    (s->former == NULL || s->former->why != rule ||
		s->now - g->ready_at >= IDLE_MS))
		session_renew_later(s, rule);
}

/* The call was answered in this generation. */
static void
served(struct session *s, struct call *c, struct generation *g)
{
	bool helped = c->replayed == g->number;

	g->served_at = s->now;
	g->broken = false;
	g->unproved = 0;
	s->balancer.in_a_row = 0;
	if (g != s->generation)
		return;
	backoff_budget_helped(&s->renewal.budget);
	if (helped)
		backoff_budget_helped(&s->renewal.unasked);
	if (c->flaps > 0)
		session_flapping(s, s->balancer.mark);
}

bool
session_judge(struct session *s, struct call *c, struct attempt *a,
    const struct facts *f, struct frame *m)
{
	struct ruling r = m != NULL ? rule_message(s, c, a, f, m) :
				      session_judge_end(s, a, f);
	struct frame *kept = NULL, *whole;
	struct generation *g;
	bool anew;

	if ((r.verdict == VERDICT_ANSWER || r.verdict == VERDICT_FAIL) &&
	    is_failure(s, c, a, f, m))
		r = (struct ruling){ VERDICT_SUSPECT, session_failure };
	if (m == NULL && r.verdict == VERDICT_FAIL && is_silence(s, a, f))
		r = (struct ruling){ VERDICT_SUSPECT,
			"its answer ended without a byte" };
	if (m != NULL && r.verdict != VERDICT_ANSWER && is_old_news(c, a))
		return true;
	if (m != NULL && a == c->attempt && session_mirror(s, c, f, m))
		return true;
	if (m == NULL &&
	    (r.verdict == VERDICT_RETRY || r.verdict == VERDICT_FAIL ||
		r.verdict == VERDICT_ANSWER || r.verdict == VERDICT_UNREADY))
		return false;
	if (m != NULL)
		kept = session_refusal_to_keep(m);
	if (f->status == 401 && r.verdict == VERDICT_ANSWER) {
		/* call_done makes an auth_required error that contains this
		 * one. */
		keep_frame(&c->refusal, kept);
		return true;
	}
	g = generation_ref(c->attempt != NULL ? c->attempt->generation :
						a->generation);
	switch (r.verdict) {
	case VERDICT_LOST:
		lost(s, c, g, f, kept, r);
		break;
	case VERDICT_UNREADY:
		if (session_is_safe(s, c)) {
			session_unready(s, c, kept, r.rule);
			break;
		}
		/* FALLTHROUGH */
	case VERDICT_WORDS:
	case VERDICT_GATE:
	case VERDICT_SUSPECT:
		session_doubt(s, c, a, f, kept,
		    kept == NULL ? session_own_error(s, c, a, f) : NULL, r);
		break;
	case VERDICT_LOST_MAYBE:
		c->if_changed = f->ran_unless_changed &&
		    s->config.replay != REPLAY_NEVER && !session_is_safe(s, c);
		if (c->if_changed)
			lost(s, c, g, f, kept, r);
		else
			session_interrupted(s, c, g,
			    kept != NULL ? kept : c->refusal, r.rule);
		break;
	case VERDICT_RETRY:
		/* call_done knows how long to wait. This error is the answer if
		 * the call is not tried again. */
		keep_frame(&c->refusal, frame_ref(kept));
		break;
	case VERDICT_FAIL:
	case VERDICT_ANSWER:
		assert(m != NULL); /* else it has returned above */
		anew = m->kind == FRAME_RESULT && session_lacks_id(g, c, a, f);
		served(s, c, g);
		whole = session_page(s, c, g, m);
		if (whole != NULL) {
			call_worked(s, c, g, whole);
			session_answer(s, c, whole);
			frame_unref(whole);
		}
		if (anew)
			begun_anew(s, g);
		break;
	}
	frame_unref(kept);
	generation_unref(g);
	return true;
}
