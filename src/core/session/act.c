/*
 * The primitives of the reducer: the queue of actions, the phase, the deadline,
 * and how one attempt is started, aborted or made again.
 */
#include "config.h"

#include "core/session/act.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/tools.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

/* --- actions --- */

static void
action_clear(struct action *a)
{
	frame_unref(a->frame);
	frame_unref(a->other);
	generation_unref(a->generation);
	free(a->text);
	memset(a, 0, sizeof *a);
}

static struct action *
action_add(struct session *s, enum session_action_kind kind)
{
	struct action *a;

	if (s->actions.next == s->actions.n)
		s->actions.next = s->actions.n = 0;
	if (s->actions.n == s->actions.cap) {
		s->actions.cap = s->actions.cap * 2 + 16;
		s->actions.list = xrealloc(s->actions.list,
		    s->actions.cap * sizeof *s->actions.list);
	}
	a = &s->actions.list[s->actions.n++];
	memset(a, 0, sizeof *a);
	a->kind = kind;
	return a;
}

void
session_drop_actions(struct session *s)
{
	while (s->actions.next < s->actions.n)
		action_clear(&s->actions.list[s->actions.next++]);
	action_clear(&s->actions.current);
	free(s->actions.list);
}

void
session_log(struct session *s, enum log_level level, const char *fmt, ...)
{
	struct action *a = action_add(s, ACTION_LOG);
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	a->level = level;
	a->text = xstrdup(text);
}

bool
session_may_say(const struct session *s, int64_t *say_at, int64_t pause)
{
	if (s->now < *say_at)
		return false;
	*say_at = s->now + pause;
	return true;
}

void
session_write(struct session *s, struct frame *f)
{
	if (!s->ending.broken)
		action_add(s, ACTION_WRITE)->frame = frame_ref(f);
}

void
session_pass(struct session *s, struct frame *f, const struct attempt *l)
{
	struct action *a;

	if (s->ending.broken)
		return;
	a = action_add(s, ACTION_WRITE);
	a->frame = frame_ref(f);
	if (l->call != NULL)
		a->other = frame_ref(l->call->frame);
}

void
session_start(struct session *s, struct attempt *l)
{
	l->live = true;
	l->start_at = ALARM_NEVER;
	l->out_at = s->ping.active_at = s->now;
	if (l->kind == ATTEMPT_CALL) {
		if (l->call != NULL)
			l->call->ran_in = l->generation->number;
		/* Resuming a stream is not a sign that its call is alive. */
		if (l->last_event_id.n == 0) {
			l->event_at = s->now;
			l->silent_at = s->now + SILENT_MS;
		}
		alarm_note(&s->alarms, l->silent_at);
	} else if (l->kind == ATTEMPT_RESTORE) {
		session_abort_in(s, l, RESTORE_MS);
	} else if (l->kind == ATTEMPT_ONE_WAY &&
	    l->body->kind == FRAME_NOTIFICATION) {
		/* Answers get no limit here: one may be large and slow to
		 * send. */
		session_abort_in(s, l, NOTIFICATION_MS);
	}
	action_add(s, ACTION_SEND)->ticket = l->ticket;
}

void
session_abort(struct session *s, struct attempt *l)
{
	l->abort_at = ALARM_NEVER;
	if (l->live)
		action_add(s, ACTION_ABORT)->ticket = l->ticket;
	else
		calls_attempt_drop(&s->calls, l);
}

struct attempt *
session_again(struct session *s, struct attempt *l, int64_t wait)
{
	struct call *c = l->call;
	struct attempt *again;

	l->call = NULL;
	if (c != NULL) {
		c->attempt = NULL;
		keep_frame(&c->refusal, NULL);
	}
	again = calls_attempt(&s->calls, l->kind, c, l->body, l->generation);
	again->tries = l->tries + 1;
	again->window_end = l->window_end;
	again->spoke = l->spoke;
	again->resumes = l->resumes;
	again->retry_ms = l->retry_ms;
	again->origin = l->origin;
	again->asker = l->asker;
	/* A resumed stream inherits how long its call has been silent. */
	if (l->last_event_id.n > 0) {
		again->event_at = l->event_at;
		again->silent_at = l->silent_at;
		again->silences = l->silences;
		again->dead_at = l->dead_at;
	}
	buf_addspan(&again->last_event_id, buf_span(&l->last_event_id));
	session_start_in(s, again, wait);
	calls_attempt_drop(&s->calls, l);
	return again;
}

static char *
own_id(struct session *s)
{
	return xasprintf("\"%s-%llu\"", s->config.prefix,
	    (unsigned long long)++s->ids);
}

struct frame *
session_own_request(struct session *s, const char *method, struct span params)
{
	char *id = own_id(s);
	struct frame *f = msg_call(span_of(id), method, params);

	free(id);
	return f;
}

struct frame *
session_with_own_id(struct session *s, struct frame *request)
{
	char *id = own_id(s);
	struct frame *f = msg_with_id(request, span_of(id));

	free(id);
	return f;
}

void
session_ask(struct session *s, enum session_action_kind kind)
{
	struct action *a = action_add(s, kind);

	if (s->handshake.request != NULL)
		a->frame = frame_ref(s->handshake.request);
	if (s->handshake.answer != NULL)
		a->other = frame_ref(s->handshake.answer);
}

void
session_save(struct session *s, struct generation *g)
{
	struct action *a = action_add(s, ACTION_SAVE_SESSION);

	if (g != NULL)
		a->generation = generation_ref(g);
}

/* stdin is read while a question waits for the client's answer, however much is
 * held, because only that answer can free the calls. */
void
session_want_read(struct session *s)
{
	bool want = !has_eof(s) &&
	    (s->held.bytes < s->config.max_held || s->questions.n > 0 ||
		!phase_permits(s, PHASE_SERVES));

	if (want == s->reading || has_eof(s))
		return;
	s->reading = want;
	action_add(s, ACTION_READ)->on = want;
}

void
session_exit(struct session *s)
{
	struct action *a = action_add(s, ACTION_EXIT);

	a->status = s->config.fail && s->ending.own_errors &&
		!s->ending.broken ?
	    22 :
	    0;
	s->ending.exiting = true;
}

/* Only a request of the client may open a browser; background work must
 * not. */
static bool
is_for_client(const struct session *s, const struct attempt *l)
{
	const struct call *c;

	if (l->kind != ATTEMPT_OPEN || l->call != NULL)
		return l->call != NULL;
	for (c = s->calls.first; c != NULL; c = c->next)
		if (c->state == CALL_HELD || c->state == CALL_REFUSED)
			return true;
	return false;
}

static void
fill_order(const struct session *s, struct order *out, const struct attempt *l)
{
	out->ticket = l->ticket;
	out->body = l->body;
	out->interactive = is_for_client(s, l);
	if (l->kind == ATTEMPT_DELETE)
		out->verb = VERB_DELETE;
	else if (l->kind == ATTEMPT_LISTEN || l->last_event_id.n > 0)
		out->verb = VERB_GET;
	else
		out->verb = VERB_POST;
	out->last_event_id = buf_span(&l->last_event_id);
	out->listen = l->kind == ATTEMPT_LISTEN;
	out->control = l->kind != ATTEMPT_CALL && l->kind != ATTEMPT_LISTEN;
	if (l->kind == ATTEMPT_OPEN)
		return;
	out->session = span_of(l->generation->session);
	out->version = span_of(l->generation->version);
}

static void
fill_memory(const struct session *s, struct session_action *out)
{
	const struct action *a = &s->actions.current;

	if (a->frame != NULL)
		out->version = json_get(a->frame->params, "protocolVersion");
	if (a->other != NULL)
		out->result = a->other->result;
	out->tools = tools_list(s->tools);
	out->frame = NULL;
}

static void
fill_keep(const struct session *s, struct session_action *out)
{
	const struct generation *g = s->actions.current.generation;

	if (g == NULL)
		return;
	out->session = span_of(g->session);
	out->version = span_of(g->version);
}

bool
session_next(struct session *s, struct session_action *out)
{
	struct attempt *l;

	for (;;) {
		action_clear(&s->actions.current);
		if (s->actions.next == s->actions.n)
			return false;
		s->actions.current = s->actions.list[s->actions.next++];
		memset(out, 0, sizeof *out);
		out->kind = s->actions.current.kind;
		out->ticket = s->actions.current.ticket;
		out->frame = s->actions.current.frame;
		out->level = s->actions.current.level;
		out->text = s->actions.current.text;
		out->on = s->actions.current.on;
		out->status = s->actions.current.status;
		if (out->kind == ACTION_WRITE)
			out->related = s->actions.current.other;
		if (out->kind == ACTION_LOAD_START ||
		    out->kind == ACTION_SAVE_START)
			fill_memory(s, out);
		else if (out->kind == ACTION_SAVE_SESSION)
			fill_keep(s, out);
		if (out->kind != ACTION_SEND)
			return true;
		/* The same step dropped this attempt again: there is nothing to
		 * send. */
		l = calls_attempt_find(&s->calls, out->ticket);
		if (l == NULL)
			continue;
		fill_order(s, &out->order, l);
		out->related = l->call != NULL ? l->call->frame : NULL;
		return true;
	}
}

/* --- phases and time --- */

void
session_start_in(struct session *s, struct attempt *l, int64_t ms)
{
	l->start_at = s->now + ms;
	alarm_note(&s->alarms, l->start_at);
}

void
session_abort_in(struct session *s, struct attempt *l, int64_t ms)
{
	l->abort_at = s->now + ms;
	alarm_note(&s->alarms, l->abort_at);
}

int64_t
session_deadline(const struct session *s)
{
	return s->alarms.soonest == ALARM_NEVER ? -1 : s->alarms.soonest;
}

static const struct {
	const char *name;
	enum lateness late;
	unsigned permits;
} phases[] = {
	[PHASE_IDLE] = { "idle", LATE_NEVER,
	    PHASE_SERVES | PHASE_STARTS | PHASE_ANSWERS },
	[PHASE_OPENING] = { "opening", LATE_FIRST,
	    PHASE_SERVES | PHASE_FIRST | PHASE_HOLDS | PHASE_ANSWERS },
	[PHASE_OPENED] = { "opened", LATE_NEVER,
	    PHASE_SERVES | PHASE_SENDS | PHASE_HOLDS | PHASE_ANSWERS |
		PHASE_CANCELS | PHASE_INITIALIZED | PHASE_RENEWS },
	[PHASE_READYING] = { "readying", LATE_READY,
	    PHASE_SERVES | PHASE_HOLDS | PHASE_ANSWERS | PHASE_CANCELS |
		PHASE_READIES | PHASE_RENEWS },
	[PHASE_RESTORING] = { "restoring", LATE_RESTORE,
	    PHASE_SERVES | PHASE_HOLDS | PHASE_ANSWERS | PHASE_CANCELS |
		PHASE_RESTORES | PHASE_LISTENS | PHASE_RENEWS },
	[PHASE_LIVE] = { "live", LATE_NEVER,
	    PHASE_SERVES | PHASE_SENDS | PHASE_HOLDS | PHASE_ANSWERS |
		PHASE_CANCELS | PHASE_LISTENS | PHASE_WORKS | PHASE_RENEWS },
	[PHASE_RENEWING] = { "renewing", LATE_AGAIN,
	    PHASE_SERVES | PHASE_AGAIN | PHASE_HOLDS },
	[PHASE_DEAD] = { "dead", LATE_NEVER,
	    PHASE_SERVES | PHASE_RENEWS | PHASE_REVIVES },
	[PHASE_CLOSING] = { "closing", LATE_CLOSE, 0 },
	[PHASE_ENDED] = { "ended", LATE_NEVER, PHASE_EXITS },
};

bool
phase_permits(const struct session *s, unsigned bits)
{
	return (phases[s->phase].permits & bits) != 0;
}

bool
gate_is_open(const struct session *s)
{
	return phase_permits(s, PHASE_SENDS);
}

enum lateness
session_lateness(const struct session *s)
{
	return phases[s->phase].late;
}

const char *
session_phase_name(const struct session *s)
{
	return phases[s->phase].name;
}

void
session_phase(struct session *s, enum phase phase, int64_t deadline)
{
	if (phase != s->phase)
		session_log(s, LEVEL_DEBUG, "session: %s -> %s",
		    phases[s->phase].name, phases[phase].name);
	s->phase = phase;
	alarm_set(&s->alarms, ALARM_PHASE, deadline);
	if (!phase_permits(s, PHASE_WORKS))
		alarm_set(&s->alarms, ALARM_TELL, ALARM_NEVER);
}
