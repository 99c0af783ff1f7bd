/*
 * What the server says. A message is routed by what it is, not by the stream it
 * came on.
 */
#include "config.h"

#include "core/session/from_server.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/exchange/fault.h"
#include "core/session/act.h"
#include "core/session/call.h"
#include "core/session/early_start.h"
#include "core/session/held.h"
#include "core/session/listen.h"
#include "core/session/live.h"
#include "core/session/one_way.h"
#include "core/session/open.h"
#include "core/session/ping.h"
#include "core/session/replay.h"
#include "core/session/tools.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

static void
heard(struct session *s, struct attempt *l)
{
	l->event_at = s->now;
	l->silences = 0;
	l->silent_at = s->now + BOUND_SILENT_MS;
	if (l->dead_at != ALARM_NEVER)
		l->dead_at = l->silent_at;
}

/* Notes how long the server took to answer: came_soon judges later refusals by
 * the quickest answer. */
static void
time_head(struct session *s, struct attempt *l, const struct facts *f)
{
	int64_t took;

	l->head_at = s->now;
	if (f->out_at == 0)
		return;
	l->out_at = f->out_at;
	took = s->now - f->out_at;
	if (s->quickest_ms < 0 || took < s->quickest_ms)
		s->quickest_ms = took;
}

/* A server may recover its session in place and name it anew. The other
 * requests of the session then go out under the new id; else the server would
 * recover it for each of them. A server that does not know the name that it
 * gave is not believed again. */
static void
adopt_id(struct session *s, const struct attempt *l, const struct facts *f)
{
	struct generation *g = l->generation;

	if (g != s->generation || g->session == NULL || !verdict_2xx(f) ||
	    l->kind == ATTEMPT_OPEN || l->kind == ATTEMPT_DELETE)
		return;
	g->renamed = false;
	if (s->renames_in_vain || !verdict_session_ok(f->session) ||
	    span_is(f->session, g->session))
		return;
	session_log(s, LEVEL_INFO, "%s gave the session another id",
	    s->config.host);
	free(g->session);
	g->session = xstrndup(f->session.p, f->session.n);
	g->renamed = true;
	session_save(s, g);
}

void
session_head(struct session *s, struct attempt *l, const struct facts *f)
{
	time_head(s, l, f);
	adopt_id(s, l, f);
	/* The head of a resumed stream is no sign of life: the stream may end
	 * again without a message. */
	if (l->kind == ATTEMPT_CALL && l->last_event_id.n > 0)
		return;
	heard(s, l);
	if (l->kind == ATTEMPT_LISTEN) {
		session_listen_head(s, f);
	} else if (l->kind == ATTEMPT_ONE_WAY && verdict_2xx(f)) {
		/* The server took the message; whatever else comes is of no
		 * use. */
		session_abort_in(s, l, BOUND_LINGER_MS);
	} else if (verdict_2xx(f) && l->kind != ATTEMPT_READY) {
		l->tries = 0;
		l->window_end = ALARM_NEVER;
		/* The server accepted the session id, so the other calls need
		 * not wait for the scout. */
		if (l->call != NULL)
			session_forget_scout(s, l->call);
	}
}

/* Answers a question with this frame, which is taken, without asking the
 * client. */
static void
answer_here(struct session *s, uint64_t asker, struct frame *answer)
{
	session_send_answer(s, answer, asker);
	frame_unref(answer);
}

/* Refuses a question for which there is no place. If too many answers are under
 * way already, the call that asked ends instead, so that a flood of questions
 * does not cause a flood of answers. */
static void
refuse_flood(struct session *s, uint64_t asker, const struct frame *m)
{
	struct facts full = { .ending = ENDING_IDLE };

	if (session_may_say(s, &s->say.asks_at, BOUND_WARNING_MS))
		session_log(s, LEVEL_WARN,
		    "%s asks too many questions at once: while %d are open, "
		    "others are refused",
		    s->config.host, BOUND_QUESTIONS);
	if (s->calls.n_answers < BOUND_ANSWERS) {
		answer_here(s, asker,
		    fault_make(FAULT_ASKED_TOO_MUCH,
			&(struct fault_args){ .request = m }));
		return;
	}
	full.why = span_of("too many questions are open");
	session_undelivered(s, asker, &full);
}

/* Does this call run in the session of the attempt? A call that was accepted
 * with 202 runs without an attempt. */
static bool
runs_beside(const struct call *c, const struct attempt *l)
{
	if (c->state == CALL_ACCEPTED)
		return true;
	return c->state == CALL_RUNNING && c->attempt->kind == ATTEMPT_CALL &&
	    c->attempt->live && c->attempt->generation == l->generation;
}

/* Marks the calls that may have asked this question, because a call that asked
 * the user something is not repeated. If the stream belongs to no call, each
 * running call may be the one. */
static void
may_have_asked(struct session *s, const struct attempt *l)
{
	size_t left = s->in_flight;
	struct call *c;

	if (l->call != NULL) {
		l->call->asked = true;
		return;
	}
	for (c = s->calls.first; c != NULL && left > 0; c = c->next) {
		if (runs_beside(c, l))
			c->asked = true;
		left -= c->state != CALL_HELD;
	}
}

/* The origin of the attempt that asks; 0 for a ping, for which no call waits.
 * On a stream that belongs to no call, as with all questions of HTTP+SSE, the
 * only call that runs is taken to ask. But a server may ask roots/list for
 * itself. */
static uint64_t
asker_of(const struct session *s, const struct attempt *l,
    const struct frame *m)
{
	size_t left = s->in_flight;
	const struct call *c, *only = NULL;

	if (json_key_is(m->method, "ping"))
		return 0;
	if (l->kind == ATTEMPT_CALL || json_key_is(m->method, "roots/list"))
		return l->origin;
	for (c = s->calls.first; c != NULL && left > 0; c = c->next) {
		left -= c->state != CALL_HELD;
		if (!runs_beside(c, l) ||
		    (c->attempt != NULL && c->attempt->waits_for_user))
			continue;
		if (only != NULL)
			return l->origin;
		only = c;
	}
	return only == NULL ? l->origin : calls_origin(only);
}

static void
server_request(struct session *s, struct attempt *l, struct frame *m)
{
	bool ping = json_key_is(m->method, "ping");
	uint64_t asker = asker_of(s, l, m);
	struct facts full = { .ending = ENDING_IDLE };
	struct frame *f;

	if (l->generation != s->generation) {
		session_log(s, LEVEL_INFO,
		    "a question came from a session that is gone: dropped");
		session_undelivered(s, asker, NULL);
		return;
	}
	/* A refusal would have the id, so it is not even refused. */
	if (m->id.n > BOUND_QUESTION_ID_BYTES) {
		session_log(s, LEVEL_INFO,
		    "a question from %s has an id of %zu bytes, which is too "
		    "long: dropped",
		    s->config.host, m->id.n);
		full.why = span_of("the id of its question is too long");
		session_undelivered(s, asker, &full);
		return;
	}
	/* With --handshake no client answers questions, and after EOF nobody
	 * does. */
	if (is_own_handshake(s) || has_eof(s)) {
		answer_here(s, asker, session_nobody(m->id, ping));
		return;
	}
	if (s->config.max_result > 0 && m->text.n > s->config.max_result) {
		answer_here(s, asker,
		    fault_make(FAULT_QUESTION_HUGE,
			&(struct fault_args){
			    .request = m, .size = m->text.n }));
		return;
	}
	if (s->questions.n + s->answers.n >= BOUND_QUESTIONS) {
		refuse_flood(s, asker, m);
		return;
	}
	if (!ping)
		may_have_asked(s, l);
	f = questions_ask(&s->questions, m, s->generation->number, asker,
	    s->config.prefix);
	session_pass(s, f, l);
	frame_unref(f);
	session_want_read(s);
}

/* The call that asked for progress under this token. The walk skips held calls
 * and stops after the last call in flight, because very many held calls may
 * follow. */
static struct call *
progressing(struct session *s, struct attempt *l, struct span token)
{
	size_t left = s->in_flight;
	struct call *c = l->call;

	if (token.p == NULL)
		return NULL;
	if (c != NULL && msg_id_same(c->frame->token, token))
		return c;
	for (c = s->calls.first; c != NULL && left > 0; c = c->next) {
		if (c->state == CALL_HELD)
			continue;
		if (msg_id_same(c->frame->token, token))
			return c;
		left--;
	}
	return NULL;
}

/* Does this progress come after the answer to its call, or is it behind what
 * the client was told? A call that is sent again begins its progress again, but
 * the client must see it rise. */
static bool
is_stale_progress(struct session *s, struct attempt *l, const struct frame *m)
{
	struct span token = json_get(m->params, "progressToken");
	struct call *c = progressing(s, l, token);

	if (c == NULL)
		return session_is_token_over(s, token);
	return !msg_progress(&c->progress, m, c->replayed != 0 || c->repeated);
}

static void
server_notification(struct session *s, struct attempt *l, struct frame *m)
{
	struct frame *f;

	if (json_key_is(m->method, "notifications/tools/list_changed"))
		tools_changed(s->tools);
	if (s->config.max_result > 0 && m->text.n > s->config.max_result) {
		session_log(s, LEVEL_WARN,
		    "a notification of %zu bytes is too large for the client "
		    "(--max-result): dropped",
		    m->text.n);
		return;
	}
	if (json_key_is(m->method, "notifications/cancelled")) {
		f = questions_cancel(&s->questions, m, l->generation->number);
		session_pass(s, f, l);
		frame_unref(f);
		return;
	}
	if (json_key_is(m->method, "notifications/progress") &&
	    is_stale_progress(s, l, m)) {
		session_log(s, LEVEL_DEBUG,
		    "the progress of a call that is over, or was sent again "
		    "and is behind what the client was told: dropped");
		return;
	}
	session_pass(s, m, l);
}

/*
 * Finds the call that a message answers. A message with an error status belongs
 * to the POST it came on, whatever its id says. Otherwise the id decides, on
 * whichever stream the message came. An id that matches no open call belongs to
 * the POST it came on.
 */
static struct call *
answered_call(const struct session *s, const struct attempt *l,
    const struct facts *f, const struct frame *m)
{
	struct call *c;

	if (f->status >= 400)
		return l->call;
	c = calls_find(&s->calls, m->id);
	if (c != NULL && c->state != CALL_HELD)
		return c;
	c = calls_find_sent(&s->calls, m->id);
	if (c != NULL || l->kind == ATTEMPT_LISTEN)
		return c;
	/* On an event stream the message may be a second answer to another
	 * call. */
	if (f->media == MEDIA_SSE && session_was_answered(s, m->id))
		return NULL;
	return l->call;
}

/* The ruling for an answer of this call. The call's own attempt tells whether
 * its request carried a session id. */
static struct ruling
judge(struct session *s, const struct call *c, const struct attempt *l,
    const struct facts *f, const struct frame *m)
{
	struct facts of_call = *f;
	const struct attempt *own = c->attempt != NULL ? c->attempt : l;
	const struct generation *g = own->generation;
	struct ruling r;
	bool hint = false;

	/* HTTP+SSE has sessions whose requests carry no id. */
	of_call.had_session = f->had_session || g->session != NULL;
	of_call.fresh = s->former != NULL && g == s->generation &&
	    g->ready_at != 0 && s->now - g->ready_at < FRESH_MS;
	session_add_history(s, c, g, &of_call);
	of_call.credentials_known_good = f->credentials_known_good;
	if (m->kind == FRAME_ERROR)
		r = verdict_error(&of_call, m, &s->config.rules);
	else
		r = verdict_result(&of_call, m, &s->config.rules, &hint);
	if (hint && !s->say.hinted) {
		s->say.hinted = true;
		session_log(s, LEVEL_WARN,
		    "a result from %s speaks of a lost session. If this server "
		    "reports lost sessions in results, add "
		    "--session-lost-in-results",
		    s->config.host);
	}
	return r.verdict == VERDICT_ANSWER ? r : session_weigh(s, c, l, f, r);
}

static void
call_worked(struct session *s, struct call *c, struct generation *g,
    struct frame *m)
{
	session_served(s, c, g);
	if (m->kind != FRAME_RESULT)
		return;
	session_note_worked(c, g);
	if (json_key_is(c->frame->method, "tools/list")) {
		tools_learn(s->tools, g->number, c->frame, m);
		if (tools_list(s->tools).n > 0)
			session_save_start(s);
		return;
	}
	if (!settings_learn(&s->settings, c->frame))
		session_log(s, LEVEL_WARN,
		    "there are too many subscriptions: not all will be "
		    "restored when %s forgets the session",
		    s->config.host);
}

/* The error that a call keeps until its session is renewed: the message as it
 * came, or only its code and text if the message is too large. */
static struct frame *
refusal_to_keep(struct frame *m)
{
	struct span none = { NULL, 0 };
	struct frame *f;
	struct buf text;

	if (m->kind != FRAME_ERROR || m->text.n <= BOUND_ERROR_KEPT_BYTES)
		return frame_ref(m);
	buf_init(&text, 0);
	msg_error_text(m, &text);
	if (text.n > BOUND_ERROR_KEPT_BYTES / 8)
		text.n = BOUND_ERROR_KEPT_BYTES / 8;
	f = msg_error(m->id, (int)msg_error_code(m), buf_str(&text), none);
	buf_free(&text);
	return f;
}

static void
server_answer(struct session *s, struct attempt *l, const struct facts *f,
    struct frame *m)
{
	struct call *c = answered_call(s, l, f, m);
	struct generation *g;
	struct frame *kept;
	struct ruling r;

	if (c == NULL) {
		session_log(s, LEVEL_DEBUG,
		    "an answer matches no open request: dropped");
		return;
	}
	if (c->attempt != NULL && c->attempt->kind == ATTEMPT_OPEN) {
		session_opened(s, c->attempt, f, m);
		return;
	}
	r = judge(s, c, l, f, m);
	/* An exchange that the call has left says nothing about its current
	 * one. */
	if (l->kind == ATTEMPT_CALL && c->attempt != NULL && l != c->attempt &&
	    (l->body == c->frame || l->body == c->sent) &&
	    r.verdict != VERDICT_ANSWER)
		return;
	if ((c->state == CALL_REFUSED || c->state == CALL_SUSPECT) &&
	    r.verdict != VERDICT_ANSWER)
		return; /* the call was refused already */
	kept = refusal_to_keep(m);
	if (f->status == 401 && r.verdict == VERDICT_ANSWER) {
		/* call_done makes an auth_required error that contains this
		 * one. */
		keep_frame(&c->refusal, kept);
		return;
	}
	g = generation_ref(c->attempt != NULL ? c->attempt->generation :
						l->generation);
	switch (r.verdict) {
	case VERDICT_LOST:
		session_refused(s, c, g, f->status, kept, r.rule);
		break;
	case VERDICT_SUSPECT:
	case VERDICT_SUSPECT_MAYBE:
		session_suspect(s, c, g, f->status, kept, NULL, r.rule,
		    r.verdict == VERDICT_SUSPECT_MAYBE);
		break;
	case VERDICT_UNREADY:
		session_unready(s, c, kept, r.rule);
		break;
	case VERDICT_LOST_MAYBE:
		session_interrupted(s, c, g, kept, r.rule);
		break;
	case VERDICT_RETRY:
		/* call_done knows how long to wait. This error is the answer if
		 * the call is not tried again. */
		keep_frame(&c->refusal, frame_ref(kept));
		break;
	default:
		call_worked(s, c, g, m);
		session_answer(s, c, m);
		break;
	}
	frame_unref(kept);
	generation_unref(g);
}

/* Does this error refuse a GET that resumes the stream of a call? Then it came
 * with an error status, or has another id than the call, whose answer has its
 * id. */
static bool
refuses_resuming(const struct session *s, const struct attempt *l,
    const struct facts *f, const struct frame *m)
{
	if (m->kind != FRAME_ERROR || l->kind != ATTEMPT_CALL ||
	    l->last_event_id.n == 0 || l->call == NULL)
		return false;
	return f->status >= 400 ||
	    (answered_call(s, l, f, m) == l->call &&
		(m->id.p == NULL || !msg_id_same(m->id, l->body->id)));
}

void
session_message(struct session *s, struct attempt *l, const struct facts *f,
    struct frame *m)
{
	bool answer = m->kind == FRAME_RESULT || m->kind == FRAME_ERROR;

	if (refuses_resuming(s, l, f, m)) {
		/* It is no sign of life. call_done goes on. */
		l->said = verdict_error(f, m, &s->config.rules);
		keep_frame(&l->call->refusal, refusal_to_keep(m));
		return;
	}
	if (l->kind == ATTEMPT_LISTEN && verdict_2xx(f))
		session_listen_event(s);
	if (!answer)
		l->spoke = true;
	heard(s, l);
	/* Only answers count on an old listen stream: everything else belongs
	 * to a session that is gone. */
	if (!answer && l->kind == ATTEMPT_LISTEN &&
	    l->generation != s->generation)
		return;
	if (!answer && phase_permits(s, PHASE_FIRST) && !is_own_handshake(s)) {
		session_keep_early(s, m);
	} else if (m->kind == FRAME_REQUEST) {
		server_request(s, l, m);
	} else if (m->kind == FRAME_NOTIFICATION) {
		server_notification(s, l, m);
	} else if (l->kind == ATTEMPT_OPEN) {
		session_opened(s, l, f, m);
	} else if (l->kind == ATTEMPT_CALL ||
	    (l->kind == ATTEMPT_LISTEN && f->status < 400)) {
		server_answer(s, l, f, m);
	} else if (l->kind == ATTEMPT_PING) {
		session_ping_message(s, l, f, m);
	} else if (l->kind == ATTEMPT_RESTORE && m->kind == FRAME_RESULT) {
		session_restore_message(s, l);
	} else if (m->kind == FRAME_ERROR) {
		l->said = verdict_error(f, m, &s->config.rules);
	}
	/* For the other attempts session_done looks at the status. */
}
