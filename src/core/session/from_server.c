/*
 * What the server says. A message is routed by what it is, not by the stream it
 * came on.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

static void
heard(struct session *s, struct attempt *a)
{
	a->event_at = s->now;
	a->silences = 0;
	a->silent_at = s->now + BOUND_MINUTE_MS;
	if (a->dead_at != ALARM_NEVER)
		a->dead_at = a->silent_at;
}

/* Notes how long the server took to answer. */
static void
time_head(struct session *s, struct attempt *a, const struct facts *f)
{
	int64_t took;

	a->head_at = s->now;
	if (f->out_at == 0)
		return;
	a->out_at = f->out_at;
	took = s->now - f->out_at;
	if (s->quickest_ms < 0 || took < s->quickest_ms)
		s->quickest_ms = took;
}

/* A server may recover its session in place and rename it. The other requests
 * of the session then go out under the new id; otherwise the server would
 * recover it for each of them. An error with another id is not about a session
 * (go-sdk). A server that does not know the name that it gave is not believed
 * again. */
static void
adopt_id(struct session *s, const struct attempt *a, const struct facts *f)
{
	struct generation *g = a->generation;

	if (g != s->generation || g->session == NULL || !verdict_2xx(f) ||
	    a->kind == ATTEMPT_OPEN || a->kind == ATTEMPT_DELETE)
		return;
	g->renamed = false;
	if (s->renames_in_vain || !verdict_session_ok(f->session) ||
	    span_is(f->session, g->session))
		return;
	session_log(s, LEVEL_INFO, "%s changed the session's id",
	    s->config.host);
	free(g->session);
	g->session = xstrndup(f->session.p, f->session.n);
	g->renamed = true;
	session_save(s, g);
}

void
session_head(struct session *s, struct attempt *a, const struct facts *f)
{
	time_head(s, a, f);
	if (a->body == NULL || a->body->kind != FRAME_REQUEST)
		adopt_id(s, a, f);
	/* The head of a resumed stream proves nothing: the stream may end
	 * again without a message. */
	if (a->kind == ATTEMPT_CALL && a->last_event_id.n > 0)
		return;
	heard(s, a);
	if (a->kind == ATTEMPT_LISTEN && a->generation == s->generation) {
		if (session_listen_head(s, f) && a->generation->session != NULL)
			s->listen.back_from = session_ping(s,
			    "the listen stream is back after a break");
	} else if (a->kind == ATTEMPT_ONE_WAY && verdict_2xx(f)) {
		/* The server took the message; whatever else comes is of no
		 * use. */
		session_abort_in(s, a, BOUND_SHORT_MS);
	} else if (verdict_2xx(f) && a->kind != ATTEMPT_READY &&
	    a->kind != ATTEMPT_WITNESS) {
		a->tries = 0;
		a->window_end = ALARM_NEVER;
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

	if (session_may_say(s, &s->say.asks_at, BOUND_MINUTE_MS))
		session_log(s, LEVEL_WARN,
		    "%s asks too many questions at once: refusing others while "
		    "%d are open",
		    s->config.host, BOUND_SOME);
	if (s->calls.n_answers < BOUND_FEW) {
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
runs_beside(const struct call *c, const struct attempt *a)
{
	if (c->state == CALL_ACCEPTED)
		return true;
	return c->state == CALL_RUNNING && c->attempt->kind == ATTEMPT_CALL &&
	    c->attempt->live && c->attempt->generation == a->generation;
}

/* Marks the calls that may have asked this question, because a call that asked
 * the user something is not repeated. If the stream belongs to no call, each
 * running call may be the one. */
static void
may_have_asked(struct session *s, const struct attempt *a)
{
	size_t left = s->in_flight;
	struct call *c;

	if (a->call != NULL) {
		a->call->asked = true;
		return;
	}
	for (c = s->calls.first; c != NULL && left > 0; c = c->next) {
		if (runs_beside(c, a))
			c->asked = true;
		left -= c->state != CALL_HELD;
	}
}

/* The origin of the attempt that asks; 0 for a ping, for which no call waits.
 * On a stream that belongs to no call, as with all questions of HTTP+SSE, the
 * only call that runs is taken to ask. But a server may ask roots/list for
 * itself. */
static uint64_t
asker_of(const struct session *s, const struct attempt *a,
    const struct frame *m)
{
	size_t left = s->in_flight;
	const struct call *c, *only = NULL;

	if (json_key_is(m->method, "ping"))
		return 0;
	if (a->kind == ATTEMPT_CALL || json_key_is(m->method, "roots/list"))
		return a->origin;
	for (c = s->calls.first; c != NULL && left > 0; c = c->next) {
		left -= c->state != CALL_HELD;
		if (!runs_beside(c, a) ||
		    (c->attempt != NULL && c->attempt->waits_for_user))
			continue;
		if (only != NULL)
			return a->origin;
		only = c;
	}
	return only == NULL ? a->origin : calls_origin(only);
}

static void
server_request(struct session *s, struct attempt *a, struct frame *m)
{
	bool ping = json_key_is(m->method, "ping");
	uint64_t asker = asker_of(s, a, m);
	struct facts full = { .ending = ENDING_IDLE };
	struct frame *f;

	if (a->generation != s->generation) {
		session_log(s, LEVEL_INFO,
		    "a question came from a session that is gone: dropped");
		session_undelivered(s, asker, NULL);
		return;
	}
	/* A refusal would have the id, so it is not even refused. */
	if (m->id.n > BOUND_ID_BYTES) {
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
	if (s->questions.n + s->answers.n >= BOUND_SOME) {
		refuse_flood(s, asker, m);
		return;
	}
	if (!ping)
		may_have_asked(s, a);
	f = questions_ask(&s->questions, m, s->generation->number, asker);
	session_pass(s, f, a);
	frame_unref(f);
	session_want_read(s);
}

/* The call that asked for progress under this token. The walk skips held calls
 * and stops after the last call in flight, because very many held calls may
 * follow. */
static struct call *
progressing(struct session *s, struct attempt *a, struct span token)
{
	size_t left = s->in_flight;
	struct call *c = a->call;

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

/* Is this the progress token of one of the latest calls that are over? */
static bool
is_token_over(const struct session *s, struct span token)
{
	const struct answered *a = &s->answered;
	uint64_t hash;
	size_t i;

	if (token.p == NULL)
		return false;
	hash = msg_id_hash(token);
	for (i = 0; i < BOUND_FEW && i < a->n_tokens; i++)
		if (a->tokens[i] == hash)
			return true;
	return false;
}

/* Does this progress come after the answer to its call, or is it behind what
 * the client was told? A call that is sent again begins its progress again, but
 * the client must see it rise. */
static bool
is_stale_progress(struct session *s, struct attempt *a, const struct frame *m)
{
	struct span token = json_get(m->params, "progressToken");
	struct call *c = progressing(s, a, token);

	if (c == NULL)
		return is_token_over(s, token);
	return session_is_behind(c, m);
}

static void
server_notification(struct session *s, struct attempt *a, struct frame *m)
{
	size_t family = era_family(m->method);
	struct frame *f;

	if (family < ERA_FAMILIES)
		session_lists_changed(s, family);
	if (s->config.max_result > 0 && m->text.n > s->config.max_result) {
		session_log(s, LEVEL_WARN,
		    "a notification of %zu bytes is too large for the client "
		    "(--max-result): dropped",
		    m->text.n);
		return;
	}
	if (json_key_is(m->method, "notifications/cancelled")) {
		f = questions_cancel(&s->questions, m, a->generation->number);
		if (f != NULL)
			session_pass(s, f, a);
		frame_unref(f);
		return;
	}
	if (json_key_is(m->method, "notifications/progress") &&
	    is_stale_progress(s, a, m)) {
		session_log(s, LEVEL_DEBUG,
		    "progress of a finished call, or progress that the client "
		    "has already seen: dropped");
		return;
	}
	session_pass(s, m, a);
}

/* Was a call with this id among the last BOUND_FEW that were answered? */
static bool
was_answered(const struct session *s, struct span id)
{
	uint64_t hash;
	size_t i;

	if (id.p == NULL || id.p[0] == 'n')
		return false;
	hash = msg_id_hash(id);
	for (i = 0; i < BOUND_FEW && i < s->answered.n; i++)
		if (s->answered.ids[i] == hash)
			return true;
	return false;
}

/*
 * Finds the call that a message answers. A message with an error status belongs
 * to the POST it came on, whatever its id says. Otherwise the id decides, on
 * whichever stream the message came. An id that matches no open call belongs to
 * the POST it came on.
 */
static struct call *
answered_call(const struct session *s, const struct attempt *a,
    const struct facts *f, const struct frame *m)
{
	struct call *c;

	if (f->status >= 400)
		return a->call;
	c = calls_find(&s->calls, m->id);
	/* What waits for a page had an answer under the client's id. */
	if (c != NULL && c->state != CALL_HELD &&
	    (c->pages == NULL || c->sent == NULL))
		return c;
	c = calls_find_sent(&s->calls, m->id);
	if (c != NULL || a->kind == ATTEMPT_LISTEN)
		return c;
	/* On an event stream the message may be a second answer to another
	 * call. */
	if (f->media == MEDIA_SSE && was_answered(s, m->id))
		return NULL;
	return a->call;
}

static void
server_answer(struct session *s, struct attempt *a, const struct facts *f,
    struct frame *m)
{
	struct call *c = answered_call(s, a, f, m);

	if (c == NULL)
		session_log(s, LEVEL_DEBUG,
		    "an answer matches no open request: dropped");
	else if (c->attempt != NULL && c->attempt->kind == ATTEMPT_OPEN)
		session_opened(s, c->attempt, f, m);
	else
		session_judge(s, c, a, f, m);
}

/* Does this error refuse a GET that resumes the stream of a call? Then it came
 * with an error status, or has another id than the call, whose answer has its
 * id. */
static bool
refuses_resuming(const struct session *s, const struct attempt *a,
    const struct facts *f, const struct frame *m)
{
	if (m->kind != FRAME_ERROR || a->kind != ATTEMPT_CALL ||
	    a->last_event_id.n == 0 || a->call == NULL)
		return false;
	return f->status >= 400 ||
	    (answered_call(s, a, f, m) == a->call &&
		(m->id.p == NULL || !msg_id_same(m->id, a->body->id)));
}

void
session_message(struct session *s, struct attempt *a, const struct facts *f,
    struct frame *m)
{
	bool answer = m->kind == FRAME_RESULT || m->kind == FRAME_ERROR;

	if (refuses_resuming(s, a, f, m)) {
		/* It is not a sign of life. call_done continues. */
		a->said = verdict_error(f, m, &s->config.rules);
		keep_frame(&a->call->refusal, session_refusal_to_keep(m));
		return;
	}
	if (a->kind == ATTEMPT_LISTEN && verdict_2xx(f))
		session_listen_event(s);
	if (a->kind == ATTEMPT_CALL && a->last_event_id.n > 0)
		s->event_ids.trusted = true;
	if (m->kind == FRAME_RESULT)
		adopt_id(s, a, f);
	if (!answer)
		a->spoke = true;
	if (!answer && a->call != NULL)
		a->call->spoke = true;
	heard(s, a);
	/* Only answers count on an old listen stream: everything else belongs
	 * to a session that is gone. */
	if (!answer && a->kind == ATTEMPT_LISTEN &&
	    a->generation != s->generation)
		return;
	if (!answer && phase_permits(s, PHASE_FIRST) && !is_own_handshake(s)) {
		session_keep_early(s, m);
	} else if (a->kind == ATTEMPT_LISTEN && f->changed) {
		session_tell_soon(s); /* it comes from core/server */
	} else if (m->kind == FRAME_REQUEST) {
		server_request(s, a, m);
	} else if (m->kind == FRAME_NOTIFICATION) {
		server_notification(s, a, m);
	} else if (a->kind == ATTEMPT_OPEN) {
		session_opened(s, a, f, m);
	} else if (a->kind == ATTEMPT_CALL ||
	    (a->kind == ATTEMPT_LISTEN && f->status < 400)) {
		server_answer(s, a, f, m);
	} else if (a->kind == ATTEMPT_PING) {
		session_ping_message(s, a, f, m);
	} else if (a->kind == ATTEMPT_DOOR) {
		session_door_message(s, a);
	} else if (a->kind == ATTEMPT_STRANGER && m->kind == FRAME_RESULT) {
		session_restore_again(s, a->generation);
	} else if (a->kind == ATTEMPT_WITNESS) {
		session_witness_message(s, a, f, m);
	} else if (a->kind == ATTEMPT_MIRROR) {
		session_mirror_message(s, a, m);
	} else if (a->kind == ATTEMPT_LIST) {
		session_list_message(s, a, f, m);
	} else if (a->kind == ATTEMPT_RESTORE && m->kind == FRAME_RESULT) {
		session_restore_message(s, a);
	} else if (m->kind == FRAME_ERROR) {
		a->said = verdict_error(f, m, &s->config.rules);
	}
	/* For the other attempts session_done looks at the status. */
}
