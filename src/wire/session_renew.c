/*
 * Opening a session, losing it, renewing it, replaying what was refused.
 * One renewal at a time, one for each generation; one replay for each call.
 */
#include "config.h"

#include "wire/session_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "wire/json.h"
#include "wire/msg.h"

static const struct span no_span = { NULL, 0 };

static void
next_generation(struct session *s)
{
	uint64_t number = s->generation->number + 1;

	generation_unref(s->generation);
	s->generation = generation_new(number);
	s->counted = false;
}

/* --- opening --- */

static void
open_begin(struct session *s, struct frame *body, struct call *c,
    enum phase phase, int64_t timeout)
{
	struct leg *l, *d;

	session_phase(s, phase, timeout > 0 ? s->now + timeout : -1);
	l = calls_leg(&s->calls, LEG_OPEN, c, body, s->generation);
	/* A server with room for one session wants the old one ended first. */
	for (d = s->calls.legs; d != NULL; d = d->next)
		if (d->kind == LEG_DELETE && d->live) {
			l->start_at = s->now + DELETE_MS;
			session_due(s, l->start_at);
			return;
		}
	session_start(s, l);
}

void
session_open(struct session *s, struct frame *initialize, struct call *c)
{
	frame_unref(s->opening);
	s->opening = frame_ref(initialize);
	frame_unref(s->ready);
	s->ready = NULL;
	free(s->former_version);
	s->former_version = NULL;
	if (s->listen.state == LISTEN_REFUSED)
		s->listen.state = LISTEN_OFF;
	next_generation(s);
	session_call_state(s, c, CALL_RUNNING);
	open_begin(s, initialize, c, PHASE_OPENING, s->config.init_timeout_ms);
}

static struct frame *
own_request(struct session *s, const char *method, struct span params)
{
	char *id = xasprintf("\"%s-%llu\"", s->config.prefix,
	    (unsigned long long)++s->ids);
	struct frame *f = msg_call(span_of(id), method, params);

	free(id);
	return f;
}

void
session_open_own(struct session *s)
{
	char *params = xasprintf(
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
	    "\"clientInfo\":{\"name\":\"mcpsplice\",\"version\":\"%s\"}}",
	    s->config.version);

	frame_unref(s->opening);
	s->opening = own_request(s, "initialize", span_of(params));
	free(params);
	frame_unref(s->ready);
	s->ready = msg_call(no_span, "notifications/initialized", no_span);
	s->own_handshake = true;
	next_generation(s);
	open_begin(s, s->opening, NULL, PHASE_OPENING,
	    s->config.init_timeout_ms);
}

/* The version goes into a header: a plain token, or none. */
static char *
negotiated(const struct frame *m)
{
	static const char plain[] =
	    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";
	struct buf v;
	char *version = NULL;

	buf_init(&v, 0);
	if (json_string(json_get(m->result, "protocolVersion"), &v) == 0 &&
	    v.n > 0 && v.n <= 32 && strspn(buf_str(&v), plain) == v.n)
		version = xstrdup(buf_str(&v));
	buf_free(&v);
	return version;
}

static void
adopt(struct session *s, const struct facts *f, const struct frame *m)
{
	struct generation *g = s->generation;

	if (verdict_session_ok(f->session))
		g->session = xstrndup(f->session.p, f->session.n);
	else if (f->session.n > 0)
		session_note(s, LEVEL_WARN,
		    "%s gave a session id with bytes that are not allowed: not "
		    "used",
		    s->config.host);
	g->version = negotiated(m);
}

static void
deliver_early(struct session *s, struct leg *l)
{
	struct frame *f;

	while ((f = session_take_early(s)) != NULL) {
		session_message(s, l, &(struct facts){ 0 }, f);
		frame_unref(f);
	}
}

/* The families of lists whose changes the server said it would tell. */
static const char *const families[] = { "tools", "prompts", "resources" };

static void
learn_families(struct session *s, const struct frame *m)
{
	struct span caps = json_get(m->result, "capabilities");
	size_t i;

	for (i = 0; i < FAMILIES; i++)
		s->tells_changes[i] = span_is(json_get(json_get(caps,
							   families[i]),
						  "listChanged"),
		    "true");
}

/* Another server may answer now: what the client knows of its lists is in
 * doubt. */
void
session_tell_changes(struct session *s)
{
	struct frame *f;
	char *method;
	size_t i;

	if (s->tell_at < 0 || s->phase != PHASE_LIVE)
		return;
	session_due(s, s->tell_at);
	if (s->now < s->tell_at)
		return;
	s->told_at = s->now;
	s->tell_at = -1;
	for (i = 0; i < FAMILIES && !s->own_handshake; i++) {
		if (!s->tells_changes[i])
			continue;
		method = xasprintf("notifications/%s/list_changed",
		    families[i]);
		f = msg_call(no_span, method, no_span);
		session_write(s, f);
		frame_unref(f);
		free(method);
	}
}

/* An initialize of the client, or of our own handshake, was answered. */
static void
first_opened(struct session *s, struct leg *l, const struct facts *f,
    struct frame *m)
{
	struct call *c = l->call;

	adopt(s, f, m);
	learn_families(s, m);
	session_note(s, LEVEL_INFO,
	    "session of generation %llu with %s, protocol %s%s",
	    (unsigned long long)s->generation->number, s->config.host,
	    s->generation->version != NULL ? s->generation->version : "unknown",
	    s->generation->session != NULL ? "" : ", without a session id");
	session_phase(s, PHASE_OPENED, -1);
	if (c != NULL)
		session_answer(s, c, m);
	deliver_early(s, l);
	if (s->own_handshake)
		session_begin_ready(s);
}

static void
replay(struct session *s)
{
	struct call *c, *next;
	size_t n = 0;

	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		if (c->state != CALL_REFUSED)
			continue;
		session_send_call(s, c);
		n++;
	}
	if (n > 0)
		session_note(s, LEVEL_INFO, "replayed %zu request%s", n,
		    n == 1 ? "" : "s");
}

static void
renewed(struct session *s, struct leg *l, const struct facts *f,
    struct frame *m)
{
	const char *before = s->former_version;

	adopt(s, f, m);
	if (before != NULL && s->generation->version != NULL &&
	    strcmp(before, s->generation->version) != 0)
		session_note(s, LEVEL_WARN,
		    "%s speaks %s in the new session, %s before",
		    s->config.host, s->generation->version, before);
	l->abort_at = s->now + LINGER_MS;
	session_due(s, l->abort_at);
	session_note(s, LEVEL_INFO, "new session with %s, generation %llu",
	    s->config.host, (unsigned long long)s->generation->number);
	s->renewed = true;
	if (s->ready != NULL) {
		session_begin_ready(s);
		return;
	}
	session_phase(s, PHASE_OPENED, -1);
	replay(s);
}

/* The answer to an initialize that nobody waits for any more: the session it
 * made is not left behind. */
static void
end_stray(struct session *s, struct leg *l, const struct facts *f,
    const struct frame *m)
{
	if (m->kind != FRAME_RESULT || !verdict_session_ok(f->session) ||
	    l->generation->session != NULL)
		return;
	l->generation->session = xstrndup(f->session.p, f->session.n);
	l->generation->version = negotiated(m);
	session_delete(s, l->generation);
}

void
session_opened(struct session *s, struct leg *l, const struct facts *f,
    struct frame *m)
{
	if (l->generation != s->generation) {
		end_stray(s, l, f, m);
		return;
	}
	if (s->phase != PHASE_OPENING && s->phase != PHASE_RENEWING)
		return;
	if (m->kind == FRAME_RESULT && s->phase == PHASE_RENEWING) {
		renewed(s, l, f, m);
	} else if (m->kind == FRAME_RESULT) {
		first_opened(s, l, f, m);
	} else if (verdict_error(f, m, l->body->id) != VERDICT_RETRY) {
		session_open_failed(s, f, m);
	} else if (l->call != NULL) {
		/* open_done knows how long to wait. */
		frame_unref(l->call->refusal);
		l->call->refusal = frame_ref(m);
	}
}

void
session_begin_ready(struct session *s)
{
	session_phase(s, PHASE_READYING, s->now + READY_MS);
	session_start(s,
	    calls_leg(&s->calls, LEG_READY, NULL, s->ready, s->generation));
}

void
session_readied(struct session *s)
{
	session_phase(s, PHASE_LIVE, -1);
	session_listen_open(s);
	replay(s);
	/* A client lists anew on each list_changed: not so often that a server
	 * which loses its sessions over that makes a storm. */
	if (s->renewed)
		s->tell_at = s->now < s->told_at + TELL_MS ?
		    s->told_at + TELL_MS :
		    s->now;
	s->renewed = false;
	session_tell_changes(s);
}

/* --- failing to open --- */

/* Why there is no session, in a few words. */
static void
setback(const struct facts *f, const struct frame *error, struct buf *out)
{
	enum { WORDS_MAX = 200 };
	struct buf words;

	if (error != NULL) {
		buf_init(&words, 0);
		msg_error_text(error, &words);
		buf_adds(out, "it answered \"");
		codec_visible(out, buf_span(&words), WORDS_MAX);
		buf_adds(out, "\"");
		buf_free(&words);
	} else if (f->ending == ENDING_IDLE) {
		buf_adds(out, "no answer to initialize in time");
	} else if (f->ending != ENDING_COMPLETE) {
		buf_addspan(out, f->why);
	} else {
		buf_addf(out, "it answered initialize with %d", f->status);
	}
}

/* Every call that waits for this session gets its error now. */
static void
fail_waiting(struct session *s, const struct facts *f,
    const struct frame *error, bool lost)
{
	struct facts unsent = *f;
	struct call *c, *next;
	struct fault fault;
	struct buf why;

	buf_init(&why, 0);
	setback(f, error, &why);
	unsent.sent = false; /* initialize was, these were not */
	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		if (c->state != CALL_REFUSED && c->state != CALL_HELD)
			continue;
		if (!lost && error == NULL && f->ending != ENDING_IDLE) {
			session_fail(s, c,
			    fault_from_facts(c->frame, &unsent, s->config.host,
				NULL));
			continue;
		}
		memset(&fault, 0, sizeof fault);
		fault.status = f->status;
		fault.retry_after_ms = f->retry_after_ms;
		fault.reason = "reinit_failed";
		if (c->refusal != NULL)
			fault.server = c->refusal->error;
		else if (error != NULL)
			fault.server = error->error;
		session_fail(s, c,
		    fault_frame(c->frame->id, &fault,
			lost ? "%s forgot the session, and no new one could be "
			       "made: %s. The call did not run. Try again "
			       "later." :
			       "No session with %s could be made: %s. The call "
			       "did not run. Try again later.",
			s->config.host, buf_str(&why)));
	}
	buf_free(&why);
	session_drop_notes(s);
}

/* The client's own initialize gets the server's words, or ours. */
static void
first_failed(struct session *s, const struct facts *f, struct frame *error)
{
	struct fault late = { .reason = "upstream_timeout" };
	struct call *c = NULL;
	struct leg *l, *next;
	struct frame *early;

	for (l = s->calls.legs; l != NULL; l = next) {
		next = l->next;
		if (l->kind != LEG_OPEN)
			continue;
		if (l->call != NULL)
			c = l->call;
		session_abort(s, l);
	}
	session_phase(s, PHASE_IDLE, -1);
	if (c != NULL && error != NULL && f->status != 401)
		session_answer(s, c, error);
	else if (c != NULL && f->ending == ENDING_IDLE)
		session_fail(s, c,
		    fault_frame(c->frame->id, &late,
			"%s did not answer initialize within %lld s "
			"(--init-timeout). Check that the server is up and the "
			"URL is right.",
			s->config.host,
			(long long)(s->config.init_timeout_ms / 1000)));
	else if (c != NULL)
		session_fail(s, c,
		    fault_from_facts(c->frame, f, s->config.host, error));
	fail_waiting(s, f, error, false);
	while ((early = session_take_early(s)) != NULL)
		frame_unref(early);
}

void
session_open_failed(struct session *s, const struct facts *f,
    struct frame *error)
{
	struct leg *l, *next;

	if (s->phase == PHASE_OPENING) {
		first_failed(s, f, error);
		return;
	}
	session_note(s, LEVEL_ERROR,
	    "%s lost the session and accepts no new one (%d)", s->config.host,
	    f->status);
	for (l = s->calls.legs; l != NULL; l = next) {
		next = l->next;
		if (l->kind == LEG_OPEN)
			session_abort(s, l);
	}
	/* A server that is away says nothing about sessions. */
	if (f->status != 0 && !s->counted)
		backoff_budget_failed(&s->budget, s->now);
	session_phase(s, PHASE_DEAD, -1);
	fail_waiting(s, f, error, true);
}

/* --- losing and renewing --- */

/* A renewal takes its part of the retry window. */
static int64_t
renew_window(const struct session *s)
{
	int64_t window = s->config.retry_window_ms;

	return window > 0 && window < RENEW_MS ? window : RENEW_MS;
}

void
session_renew(struct session *s, const char *why)
{
	struct frame *body, *cancel;

	if (s->phase != PHASE_LIVE && s->phase != PHASE_OPENED &&
	    s->phase != PHASE_READYING && s->phase != PHASE_DEAD)
		return;
	session_note(s, LEVEL_INFO, "%s forgot the session (%s): renewing",
	    s->config.host, why);
	session_listen_close(s);
	if (s->generation->version != NULL) {
		free(s->former_version);
		s->former_version = xstrdup(s->generation->version);
	}
	next_generation(s);
	session_phase(s, PHASE_RENEWING, -1);
	session_fail_accepted(s, true);
	while (questions_expire(&s->questions, s->generation->number,
	    &cancel)) {
		session_write(s, cancel);
		frame_unref(cancel);
	}
	body = own_request(s, "initialize", s->opening->params);
	open_begin(s, body, NULL, PHASE_RENEWING, renew_window(s));
	frame_unref(body);
}

void
session_renew_unasked(struct session *s, const char *why)
{
	if (backoff_budget_allows(&s->budget, s->now)) {
		backoff_budget_failed(&s->budget, s->now);
		session_renew(s, why);
		s->counted = true;
		return;
	}
	session_note(s, LEVEL_INFO, "%s: no renewal for that now", why);
}

/* The server's own words, or ours where it had none. */
static void
refusal_stands(struct session *s, struct call *c, const struct facts *f,
    const char *what)
{
	struct fault fault = { .reason = "session_lost" };

	if (c->refusal != NULL) {
		session_answer(s, c, c->refusal);
		return;
	}
	fault.status = f->status;
	session_fail(s, c,
	    fault_frame(c->frame->id, &fault,
		"%s forgot the session (%d)%s. The call did not run.",
		s->config.host, f->status, what));
}

/* Refused by a session that is gone already: the one of now will do. */
static void
replay_stale(struct session *s, struct call *c, const struct facts *f)
{
	switch (s->phase) {
	case PHASE_LIVE:
	case PHASE_OPENED:
		session_send_call(s, c);
		break;
	case PHASE_RENEWING:
	case PHASE_READYING:
		break; /* it waits with the others */
	default:
		refusal_stands(s, c, f, ", and there is no new one");
		break;
	}
}

void
session_refused(struct session *s, struct call *c, struct leg *l,
    const struct facts *f, struct frame *refusal)
{
	bool current = l->generation == s->generation;
	bool again = s->config.replay != SESSION_NEVER;

	if (l->call == c) {
		l->call = NULL;
		c->leg = NULL;
		if (l->live) {
			l->abort_at = s->now + LINGER_MS;
			session_due(s, l->abort_at);
		}
	}
	session_call_state(s, c, CALL_REFUSED);
	if (refusal != NULL) {
		frame_unref(c->refusal);
		c->refusal = frame_ref(refusal);
		frame_unref(s->last_refusal);
		s->last_refusal = frame_ref(refusal);
	}
	if (c->cancelled) {
		session_fail(s, c, NULL);
		return;
	}
	if (c->replayed) {
		/* It did not help. Once for each generation. */
		if (!s->counted)
			backoff_budget_failed(&s->budget, s->now);
		s->counted = true;
		session_note(s, LEVEL_WARN,
		    "%s refused the replay too: its answer is passed on",
		    s->config.host);
		refusal_stands(s, c, f, ", and the new one too");
		return;
	}
	if (current && !backoff_budget_allows(&s->budget, s->now)) {
		session_note(s, LEVEL_WARN,
		    "%s keeps losing its sessions: no renewal now",
		    s->config.host);
		refusal_stands(s, c, f, ", again and again");
		return;
	}
	if (!again)
		refusal_stands(s, c, f, "; --replay=never");
	else
		c->replayed = true;
	if (current)
		session_renew(s,
		    refusal != NULL ? "in its answer" : "404 to a request");
	else if (again)
		replay_stale(s, c, f);
}

struct frame *
session_revive(struct session *s, struct span id)
{
	struct fault fault = { .reason = "session_lost" };

	if (backoff_budget_allows(&s->budget, s->now)) {
		session_renew(s, "it was lost before");
		return NULL;
	}
	if (s->last_refusal != NULL)
		return msg_with_id(s->last_refusal, id);
	s->own_errors = true;
	return fault_frame(id, &fault,
	    "%s keeps losing its sessions. Not sent. The next trial is within "
	    "30 s.",
	    s->config.host);
}
