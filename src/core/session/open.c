/*
 * Opening a session, the first one and each one after it: initialize, what its
 * answer says, and what happens if no session can be opened.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/edit.h"

/* --- opening --- */

void
session_open(struct session *s, struct frame *initialize, struct call *c)
{
	keep_frame(&s->handshake.request, frame_ref(initialize));
	keep_frame(&s->handshake.ready, NULL);
	facts_free(s->renewal.setback);
	s->renewal.setback = NULL;
	session_next_generation(s);
	generation_unref(s->former);
	s->former = NULL;
	keep_frame(&s->handshake.answer, NULL);
	s->handshake.by = HANDSHAKE_CLIENT;
	settings_clear(&s->settings);
	s->renewal.renewed = false;
	keep_frame(&s->renewal.before, NULL);
	session_call_state(s, c, CALL_RUNNING);
	session_open_begin(s, initialize, c, PHASE_OPENING,
	    s->config.init_timeout_ms);
	session_begin_start(s);
}

void
session_open_own(struct session *s)
{
	char *params = xasprintf(
	    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
	    "\"clientInfo\":{\"name\":\"mcpsplice\",\"version\":\"%s\"}}",
	    s->config.version);

	keep_frame(&s->handshake.request,
	    session_own_request(s, "initialize", span_of(params)));
	free(params);
	keep_frame(&s->handshake.ready,
	    msg_call(no_span, "notifications/initialized", no_span));
	s->handshake.by = HANDSHAKE_OWN;
	s->start.began_at = s->now;
	session_next_generation(s);
	session_open_begin(s, s->handshake.request, NULL, PHASE_OPENING,
	    s->config.init_timeout_ms);
}

/* Decodes a version, which is raw JSON. The version goes into a header, so
 * anything but a plain token gives NULL. Owned by the caller. */
static char *
plain_version(struct span text)
{
	static const char plain[] =
	    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";
	struct buf v;
	char *version = NULL;

	buf_init(&v, 0);
	if (json_string(text, &v) == 0 && v.n > 0 && v.n <= 32 &&
	    strspn(buf_str(&v), plain) == v.n)
		version = xstrdup(buf_str(&v));
	buf_free(&v);
	return version;
}

static char *
negotiated(const struct frame *m)
{
	return plain_version(json_get(m->result, "protocolVersion"));
}

/* Returns the result of initialize with the version that the client hears. */
static struct frame *
as_heard(const struct session *s, struct frame *m)
{
	struct edit edit = { "protocolVersion", no_span };

	edit.value = era_heard_version(json_get(s->handshake.request->params,
					   edit.key),
	    json_get(m->result, edit.key));
	return edit_part(m, "result", m->result, &edit, 1);
}

static void
adopt(struct session *s, const struct facts *f, struct frame *m)
{
	struct generation *g = s->generation;

	free(g->session);
	g->session = NULL;
	if (verdict_session_ok(f->session))
		g->session = xstrndup(f->session.p, f->session.n);
	else if (f->session.n > BOUND_HEADER_BYTES)
		session_log(s, LEVEL_WARN,
		    "%s gave a session id of %zu bytes, which is too long: "
		    "ignored",
		    s->config.host, f->session.n);
	else if (f->session.n > 0)
		session_log(s, LEVEL_WARN,
		    "%s gave a session id that contains forbidden bytes: "
		    "ignored",
		    s->config.host);
	g->version = negotiated(m);
	g->changed = f->changed;
	keep_frame(&s->handshake.answer, as_heard(s, m));
	keep_frame(&s->mirrored.discovered, NULL);
	if (is_early(s))
		s->handshake.by = HANDSHAKE_CLIENT;
	alarm_set(&s->alarms, ALARM_EARLY_START, ALARM_NEVER);
	session_save(s, g);
	session_save_start(s);
}

/* The first initialize, of the client or of --handshake, was answered. */
static void
first_opened(struct session *s, struct attempt *a, const struct facts *f,
    struct frame *m)
{
	struct call *c = a->call;

	adopt(s, f, m);
	session_learn_families(s, m);
	session_log(s, LEVEL_INFO, "session %llu with %s, protocol %s%s",
	    (unsigned long long)s->generation->number, s->config.host,
	    s->generation->version != NULL ? s->generation->version : "unknown",
	    s->generation->session != NULL ? "" : ", without a session id");
	session_phase(s, PHASE_OPENED, ALARM_NEVER);
	if (c != NULL)
		session_answer(s, c, s->handshake.answer);
	s->handshake.opener = a;
	if (is_own_handshake(s))
		session_begin_ready(s);
}

/* The other initialize of this renewal is of no use any more. If it is answered
 * soon, end_stray deletes its session. */
static void
end_hedge(struct session *s, const struct attempt *opener)
{
	struct attempt *a;

	for (a = s->calls.attempts; a != NULL; a = calls_attempt_next(a)) {
		if (a->kind != ATTEMPT_OPEN || a == opener ||
		    a->generation != s->generation)
			continue;
		if (!a->live) {
			session_abort(s, a);
			continue;
		}
		generation_unref(a->generation);
		a->generation = generation_new(s->generation->number);
		session_abort_in(s, a, BOUND_SHORT_MS);
	}
}

/* The initialize of a renewal was answered; a is NULL if that was a while
 * ago. */
static void
renewed(struct session *s, struct attempt *a, const struct facts *f,
    struct frame *m)
{
	adopt(s, f, m);
	s->start.tries = 0;
	end_hedge(s, a);
	if (a != NULL)
		session_linger(s, a);
	session_log(s, LEVEL_DEBUG, "new session with %s, number %llu",
	    s->config.host, (unsigned long long)s->generation->number);
	s->renewal.renewed = true;
	if (s->handshake.ready != NULL) {
		session_begin_ready(s);
		return;
	}
	if (!session_restore(s))
		session_reopened(s);
}

/* An initialize was answered that nobody waits for any more: the session that
 * it made is deleted. */
static void
end_stray(struct session *s, struct attempt *a, const struct facts *f,
    const struct frame *m)
{
	if (m->kind != FRAME_RESULT || !verdict_session_ok(f->session) ||
	    a->generation->session != NULL)
		return;
	a->generation->session = xstrndup(f->session.p, f->session.n);
	free(a->generation->version);
	a->generation->version = negotiated(m);
	session_delete(s, a->generation);
}

bool
session_make_room(struct session *s, struct attempt *a, const struct facts *f)
{
	if (!phase_permits(s, PHASE_AGAIN) || s->former == NULL ||
	    s->former->session == NULL || s->former->ended ||
	    s->generation->made_room || (f->status != 400 && f->status != 409))
		return false;
	s->generation->made_room = true;
	if (!session_delete(s, s->former))
		return false;
	session_log(s, LEVEL_INFO,
	    "%s refused a new session (%d): ending the old one first",
	    s->config.host, f->status);
	session_again(s, a, BOUND_END_MS)->after_delete = true;
	return true;
}

void
session_opened(struct session *s, struct attempt *a, const struct facts *f,
    struct frame *m)
{
	if (session_spare_opened(s, a, f, m)) {
		session_linger(s, a);
		return;
	}
	if (a->generation != s->generation || !phase_permits(s, PHASE_SERVES)) {
		end_stray(s, a, f, m);
		return;
	}
	if (!phase_permits(s, PHASE_FIRST | PHASE_AGAIN))
		return;
	if (m->kind == FRAME_RESULT && phase_permits(s, PHASE_AGAIN)) {
		renewed(s, a, f, m);
	} else if (m->kind == FRAME_RESULT) {
		first_opened(s, a, f, m);
	} else if (!verdict_is_gateway(f->status) &&
	    verdict_error(f, m, &s->config.rules).verdict != VERDICT_RETRY) {
		if (session_make_room(s, a, f))
			return;
		if (session_start_early(s, f))
			session_again(s, a, backoff_retry(0, s->random));
		else
			session_open_failed(s, f, m);
	} else if (a->call != NULL) {
		/* open_done knows how long to wait before the next try. */
		keep_frame(&a->call->refusal, frame_ref(m));
	}
}

void
session_open_spare(struct session *s)
{
	if (!s->spare.taken)
		return;
	if (phase_permits(s, PHASE_AGAIN))
		renewed(s, NULL, &s->spare.facts->facts, s->spare.answer);
	session_spare_free(s);
}

struct frame *
session_initialize_answer(const struct session *s)
{
	return s->handshake.answer;
}

/* --- failing to open --- */

/* Gives each call that waits for this session, and no longer than until, its
 * error. */
static void
fail_waiting(struct session *s, const struct facts *f,
    const struct frame *error, int64_t until)
{
	struct call *c, *next;

	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		if ((c->state != CALL_REFUSED && c->state != CALL_HELD) ||
		    (until != ALARM_NEVER && session_wait_end(s, c) > until))
			continue;
		session_fail(s, c,
		    session_unopened(s, c->frame, f, error, c->refusal,
			s->now - session_wait_end(s, c) +
			    session_renew_window(s),
			session_may_have_run(c)));
	}
}

/* Ends every initialize that is under way. Returns the client's call, if it has
 * one there. */
static struct call *
abort_open(struct session *s)
{
	struct call *c = NULL;
	struct attempt *a;

	for (a = s->calls.attempts; a != NULL; a = calls_attempt_next(a)) {
		if (a->kind != ATTEMPT_OPEN)
			continue;
		if (a->call != NULL)
			c = a->call;
		session_abort(s, a);
	}
	return c;
}

/* No request waits that could have the error. */
static void
report_failure(struct session *s, const struct facts *f,
    const struct frame *error)
{
	struct buf why;

	buf_init(&why, 0);
	session_setback_text(f, error, &why);
	session_log(s, LEVEL_ERROR, "cannot open a session with %s: %s",
	    s->config.host, buf_str(&why));
	buf_free(&why);
	s->ending.own_errors = true;
}

/* Makes the error for an initialize that was not answered in time. */
static struct frame *
too_slow(const struct session *s, const struct call *c, const struct facts *f)
{
	struct frame *fault;
	struct buf why;

	buf_init(&why, 0);
	session_try_before(s, &why);
	fault = fault_make(s->helper_runs ? FAULT_HELPER_SLOW :
					    FAULT_INITIALIZE_SLOW,
	    &(struct fault_args){ .request = c->frame,
		.host = s->config.host,
		.why = buf_span(&why),
		.remedy = session_remedy(s, f),
		.count = (uint64_t)s->config.init_timeout_ms / 1000 });
	buf_free(&why);
	return fault;
}

/* The first initialize failed. The client's own gets the server's error, or one
 * that mcpsplice makes. */
static void
first_failed(struct session *s, const struct facts *f, struct frame *error)
{
	struct call *c = abort_open(s);

	session_phase(s, PHASE_IDLE, ALARM_NEVER);
	if (c != NULL && error != NULL && f->status != 401)
		session_answer(s, c, error);
	else if (c != NULL && f->ending == ENDING_IDLE)
		session_fail(s, c, too_slow(s, c, f));
	else if (c != NULL)
		session_fail(s, c,
		    fault_from_facts(c->frame, f, s->config.host, error));
	else if (s->calls.first == NULL)
		report_failure(s, f, error);
	fail_waiting(s, f, error, ALARM_NEVER);
	session_drop_one_way(s);
	kept_clear(&s->early);
}

/* Keeps why there is no session, for requests that come before the next try. */
static void
note_setback(struct session *s, const struct facts *f, struct frame *error)
{
	struct kept_facts *k = facts_keep(f); /* f may be the one before */
	bool small = error != NULL && error->text.n <= BOUND_PART_BYTES;

	facts_free(s->renewal.setback);
	s->renewal.setback = k;
	keep_frame(&s->renewal.setback_error, small ? frame_ref(error) : NULL);
}

/* The wait before the next try after a start from the cache: for the first
 * minutes like that of a stream, then longer. */
static int64_t
cached_start_wait(unsigned tries)
{
	enum { OFTEN = 12, SELDOM_MS = 5 * 60 * 1000 };

	return tries < OFTEN ? backoff_stream(tries, -1) : SELDOM_MS;
}

void
session_open_failed(struct session *s, const struct facts *f,
    struct frame *error)
{
	if (phase_permits(s, PHASE_FIRST)) {
		first_failed(s, f, error);
		return;
	}
	session_log(s,
	    s->start.asked  ? LEVEL_WARN :
		is_early(s) ? LEVEL_INFO :
			      LEVEL_ERROR,
	    is_early(s) ?
		"%s still does not open a session (%d)" :
		"%s lost the session and does not open a new one (%d)",
	    s->config.host, f->status);
	s->start.asked = false;
	abort_open(s);
	/* A server that did not answer says nothing about its sessions. */
	if (f->status != 0)
		session_count_failed_renewal(s);
	session_phase(s, PHASE_DEAD, ALARM_NEVER);
	/* The client was told that there is a server, so mcpsplice looks for
	 * it. */
	if (is_early(s))
		alarm_set(&s->alarms, ALARM_RENEW,
		    s->now + cached_start_wait(s->start.tries++) +
			(int64_t)(s->random % JITTER_MS));
	fail_waiting(s, f, error, ALARM_NEVER);
	note_setback(s, f, error);
	session_drop_one_way(s);
}

void
session_renew_late(struct session *s, const struct facts *f)
{
	int64_t latest = session_wait_latest(s);

	if (latest == ALARM_NEVER || latest <= s->now) {
		session_open_failed(s, f, NULL);
		return;
	}
	fail_waiting(s, f, NULL, s->now);
	alarm_set(&s->alarms, ALARM_PHASE, session_wait_soonest(s));
}

bool
session_open_again(const struct session *s, const struct facts *f,
    int64_t *wait)
{
	enum { LAST_TRY_MS = 250 };
	int64_t until = s->alarms.at[ALARM_PHASE], left;

	if (phase_permits(s, PHASE_AGAIN)) {
		if (s->config.retry_window_ms == 0)
			return false;
		left = session_wait_latest(s);
		if (left != ALARM_NEVER && left > until)
			until = left;
	}
	until = alarm_sooner(until, session_start_fails_at(s, f));
	left = until == ALARM_NEVER ? ALARM_NEVER :
				      until - s->now - LAST_TRY_MS;
	if (left <= 0 || f->retry_after_ms > left)
		return false;
	if (*wait > left)
		*wait = left;
	return true;
}
