/*
 * The primitives of the reducer: the queue of actions, the phase, the deadline,
 * and how one attempt is started, aborted or made again.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/era/mirror.h"

/* --- actions --- */

void
session_log(struct session *s, enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	events_log(&s->events, level, fmt, ap);
	va_end(ap);
}

bool
session_may_say(const struct session *s, int64_t *say_at, int64_t pause)
{
	if (s->now < *say_at)
		return false;
	*say_at = s->now + pause;
	return true;
}

static void
write_out(struct session *s, struct frame *f, struct frame *related)
{
	if (!s->ending.broken)
		events_add(&s->events,
		    &(struct event){
			.kind = ACTION_WRITE, .frame = f, .related = related });
}

void
session_learn_families(struct session *s, const struct frame *m)
{
	struct span caps = json_get(m->result, "capabilities"), family;
	size_t i;

	for (i = 0; i < ERA_FAMILIES; i++) {
		family = json_get(caps, era_families[i].name);
		s->changes.families[i] = span_is(json_get(family,
						     "listChanged"),
		    "true");
	}
}

void
session_end_burst(struct session *s)
{
	struct change *c = s->changes.burst;

	alarm_set(&s->alarms, ALARM_BURST, ALARM_NEVER);
	for (; s->changes.n_burst > 0; s->changes.n_burst--, c++) {
		write_out(s, c->frame, c->related);
		frame_unref(c->frame);
		frame_unref(c->related);
	}
}

/* Keeps a list_changed for a moment, because some servers send one for each of
 * their tools, and hosts list again for each. Whatever else is written ends the
 * burst, so that the order stays. */
static void
keep_change(struct session *s, struct frame *f, struct frame *related)
{
	enum { GAP_MS = 100, LONGEST_MS = 1000 };
	struct change *c = s->changes.burst, *end = c + s->changes.n_burst;

	while (c < end &&
	    (c->related != related || !span_eq(c->frame->method, f->method) ||
		!span_eq(c->frame->params, f->params)))
		c++;
	if (c == s->changes.burst + ERA_FAMILIES) {
		session_end_burst(s);
		c = end = s->changes.burst;
	}
	if (s->changes.n_burst == 0)
		s->changes.burst_at = s->now;
	if (c == end) {
		c->frame = frame_ref(f);
		c->related = related != NULL ? frame_ref(related) : NULL;
		s->changes.n_burst++;
	}
	alarm_set(&s->alarms, ALARM_BURST,
	    alarm_sooner(s->now + GAP_MS, s->changes.burst_at + LONGEST_MS));
}

void
session_write(struct session *s, struct frame *f)
{
	session_end_burst(s);
	write_out(s, f, NULL);
}

void
session_tell(struct session *s, const char *method, struct span params)
{
	struct frame *f = msg_call(no_span, method, params);

	session_write(s, f);
	frame_unref(f);
}

void
session_pass(struct session *s, struct frame *f, const struct attempt *a)
{
	struct frame *related = a->call != NULL ? a->call->frame : NULL;

	if (f->kind == FRAME_NOTIFICATION &&
	    era_family(f->method) < ERA_FAMILIES) {
		keep_change(s, f, related);
		return;
	}
	session_end_burst(s);
	write_out(s, f, related);
}

/* Has this session shown a break since it last served, or not served for long?
 * Then its server may have to start before it answers. One that has served
 * nothing yet was just opened. */
static bool
has_rested(const struct session *s, const struct generation *g)
{
	int64_t since = g->served_at > g->ready_at ? g->served_at : g->ready_at;

	return g->broken || (since != 0 && s->now - since >= IDLE_MS);
}

void
session_start(struct session *s, struct attempt *a)
{
	a->live = true;
	a->start_at = ALARM_NEVER;
	a->out_at = s->ping.active_at = s->now;
	if (a->kind == ATTEMPT_CALL) {
		a->rested = has_rested(s, a->generation);
		if (a->call != NULL)
			a->call->ran_in = a->generation->number;
		/* Resuming a stream is not a sign that its call is alive, but
		 * has a time of its own. */
		if (a->last_event_id.n == 0) {
			s->listen.hurry |= s->listen.broke;
			a->event_at = s->now;
			a->silent_at = s->now + BOUND_MINUTE_MS;
		} else if (a->resumed_at == 0) {
			a->resumed_at = s->now;
			a->silent_at = s->now + BOUND_MINUTE_MS;
		}
		alarm_note(&s->alarms, a->silent_at);
	} else if (a->kind == ATTEMPT_OPEN) {
		a->silent_at = s->now + BOUND_SHORT_MS;
		alarm_note(&s->alarms, a->silent_at);
	} else if (a->kind == ATTEMPT_RESTORE) {
		session_abort_in(s, a, BOUND_SHORT_MS);
	} else if (a->kind == ATTEMPT_LIST) {
		session_abort_in(s, a, BOUND_LONG_MS);
	} else if (a->kind == ATTEMPT_ONE_WAY &&
	    a->body->kind == FRAME_NOTIFICATION) {
		/* Answers get no limit here: one may be large and slow to
		 * send. */
		session_abort_in(s, a, BOUND_LONG_MS);
	}
	events_add(&s->events,
	    &(struct event){ .kind = ACTION_SEND, .ticket = a->ticket });
}

void
session_abort(struct session *s, struct attempt *a)
{
	a->abort_at = ALARM_NEVER;
	if (a->live && a->ticket == s->over)
		return;
	if (a->live)
		events_add(&s->events,
		    &(struct event){
			.kind = ACTION_ABORT, .ticket = a->ticket });
	else
		calls_attempt_drop(&s->calls, a);
}

bool
session_may_open(const struct attempt *a)
{
	return a->kind == ATTEMPT_OPEN && a->live && !a->waits_for_user &&
	    a->generation->session == NULL && a->generation->version == NULL;
}

struct attempt *
session_again(struct session *s, struct attempt *a, int64_t wait)
{
	struct call *c = a->call;
	struct attempt *again;

	a->call = NULL;
	if (c != NULL) {
		c->attempt = NULL;
		keep_frame(&c->refusal, NULL);
	}
	again = calls_attempt(&s->calls, a->kind, c, a->body, a->generation);
	again->tries = a->tries + 1;
	again->window_end = a->window_end;
	again->fresh = a->fresh;
	again->away = a->away;
	again->spoke = a->spoke;
	again->list = a->list;
	again->control = a->control;
	again->resumes = a->resumes;
	again->in_vain = a->in_vain;
	again->resumed_at = a->resumed_at;
	again->retry_ms = a->retry_ms;
	again->origin = a->origin;
	again->asker = a->asker;
	/* A resumed stream inherits how long its call has been silent. */
	if (a->last_event_id.n > 0) {
		again->event_at = a->event_at;
		again->silent_at = a->silent_at;
		again->silences = a->silences;
		again->dead_at = a->dead_at;
	}
	buf_addspan(&again->last_event_id, buf_span(&a->last_event_id));
	session_start_in(s, again, wait);
	calls_attempt_drop(&s->calls, a);
	return again;
}

void
session_call_waits(struct session *s, struct call *c)
{
	if (c->frame->token.p == NULL || c->note_at != ALARM_NEVER)
		return;
	c->note_at = s->now + BOUND_SHORT_MS;
	alarm_set(&s->alarms, ALARM_WAITS,
	    alarm_sooner(c->note_at, s->alarms.at[ALARM_WAITS]));
}

bool
session_same_id(const struct generation *a, const struct generation *b)
{
	return a->session != NULL && b->session != NULL &&
	    strcmp(a->session, b->session) == 0;
}

bool
session_is_fragile(const struct session *s, const struct generation *g)
{
	enum { DIGITS = 32 };
	/* A spare session was not asked for its revision. */
	const char *version = g->version != NULL ? g->version :
						   s->generation->version;

	return version != NULL && strcmp(version, "2025-03-26") <= 0 &&
	    g->session != NULL && strlen(g->session) == DIGITS &&
	    strspn(g->session, "0123456789abcdef") == DIGITS;
}

bool
session_delete(struct session *s, struct generation *g)
{
	struct attempt *a;

	if (g != s->generation && session_same_id(g, s->generation))
		return false;
	if (session_is_fragile(s, g)) {
		session_log(s, LEVEL_INFO,
		    "not deleting the session: at servers like %s, a DELETE "
		    "may end everybody's",
		    s->config.host);
		if (g == s->generation)
			session_save(s, NULL);
		return false;
	}
	a = calls_attempt(&s->calls, ATTEMPT_DELETE, NULL, NULL, g);
	g->ended = true;
	session_abort_in(s, a, BOUND_END_MS);
	session_start(s, a);
	return true;
}

struct frame *
session_own_request(struct session *s, const char *method, struct span params)
{
	return msg_call(span_of(own_id_new(&s->ids)), method, params);
}

struct frame *
session_own_page(struct session *s, const char *method, struct span cursor)
{
	char *params = xasprintf("{%s%.*s}", cursor.n > 0 ? "\"cursor\":" : "",
	    (int)cursor.n, cursor.p);
	struct frame *f = session_own_request(s, method, span_of(params));

	free(params);
	return f;
}

struct attempt *
session_own_attempt(struct session *s, enum attempt_kind kind,
    const char *method, struct span params, struct generation *g)
{
	struct frame *body = session_own_request(s, method, params);
	struct attempt *a = calls_attempt(&s->calls, kind, NULL, body, g);

	frame_unref(body);
	return a;
}

struct frame *
session_with_own_id(struct session *s, struct frame *request)
{
	return msg_with_id(request, span_of(own_id_new(&s->ids)));
}

void
session_save(struct session *s, struct generation *g)
{
	struct event e = { .kind = ACTION_SAVE_SESSION };

	if (g != NULL) {
		e.session = span_of(g->session);
		e.version = span_of(g->version);
	}
	events_add(&s->events, &e);
}

/* stdin is read while a question waits for the client's answer, however much is
 * held, because only that answer can free the calls. */
void
session_want_read(struct session *s)
{
	bool want = !has_eof(s) &&
	    (s->held.bytes + s->notes.bytes < s->config.max_held ||
		s->questions.n > 0 || !phase_permits(s, PHASE_SERVES));

	if (want == s->reading || has_eof(s))
		return;
	s->reading = want;
	events_add(&s->events,
	    &(struct event){ .kind = ACTION_READ, .ok = want });
}

/* Only a request of the client may open a browser; background work must
 * not. */
static bool
is_for_client(const struct session *s, const struct attempt *a)
{
	const struct call *c;

	if (a->kind != ATTEMPT_OPEN || a->call != NULL)
		return a->call != NULL;
	for (c = s->calls.first; c != NULL; c = c->next)
		if (c->state == CALL_HELD || c->state == CALL_REFUSED)
			return true;
	return false;
}

/* Says in a word what the attempt is for. */
static const char *
purpose(const struct session *s, const struct attempt *a)
{
	static const char *const names[] = {
		[ATTEMPT_CALL] = "call",
		[ATTEMPT_OPEN] = "open",
		[ATTEMPT_READY] = "initialized",
		[ATTEMPT_ONE_WAY] = "one-way",
		[ATTEMPT_LISTEN] = "listen",
		[ATTEMPT_PING] = "ping",
		[ATTEMPT_WITNESS] = "witness",
		[ATTEMPT_DOOR] = "witness",
		[ATTEMPT_STRANGER] = "witness",
		[ATTEMPT_MIRROR] = "headers",
		[ATTEMPT_LIST] = "list",
		[ATTEMPT_RESTORE] = "restore",
		[ATTEMPT_DELETE] = "delete",
	};
	const struct call *c = a->call;

	if (a->kind == ATTEMPT_OPEN &&
	    (a->unasked || s->phase == PHASE_RENEWING))
		return "renewal";
	if (a->kind != ATTEMPT_CALL)
		return names[a->kind];
	if (a->last_event_id.n > 0)
		return "resume";
	if (c != NULL && c->replayed == a->generation->number)
		return "replay";
	if (c != NULL && c->repeated)
		return "repeat";
	return a->tries > 0 || (c != NULL && c->flaps > 0) ? "again" : "call";
}

static void
fill_order(struct session *s, struct order *out, const struct attempt *a)
{
	struct mirrored *k = &s->mirrored;

	out->ticket = a->ticket;
	out->body = a->body;
	out->interactive = is_for_client(s, a);
	if (a->kind == ATTEMPT_DELETE)
		out->verb = VERB_DELETE;
	else if (a->kind == ATTEMPT_LISTEN || a->last_event_id.n > 0)
		out->verb = VERB_GET;
	else
		out->verb = VERB_POST;
	out->last_event_id = buf_span(&a->last_event_id);
	out->listen = a->kind == ATTEMPT_LISTEN;
	out->control = a->kind != ATTEMPT_CALL && a->kind != ATTEMPT_LISTEN;
	out->fresh = a->fresh;
	out->why = purpose(s, a);
	out->generation = a->generation->number;
	if (k->wanted && out->verb == VERB_POST &&
	    (a->kind == ATTEMPT_CALL || a->kind == ATTEMPT_MIRROR ||
		a->kind == ATTEMPT_LIST)) {
		headers_free(&k->headers);
		mirror_headers(k->mirror, a->body, false, &k->headers);
		out->mirrored = &k->headers;
	}
	if (a->kind == ATTEMPT_OPEN) {
		out->discovered = k->discovered;
		return;
	}
	out->wary = session_flaps(s);
	out->session = span_of(a->generation->session);
	out->version = span_of(a->generation->version);
}

bool
session_next(struct session *s, struct event *out)
{
	struct order *order = &s->events.order;
	struct attempt *a;

	while (events_next(&s->events, out)) {
		if (out->kind != ACTION_SEND)
			return true;
		/* The same step may have dropped this attempt again: then there
		 * is nothing to send. */
		a = calls_attempt_find(&s->calls, out->ticket);
		if (a == NULL)
			continue;
		*order = (struct order){ 0 };
		fill_order(s, order, a);
		out->order = order;
		out->related = a->call != NULL ? a->call->frame : NULL;
		return true;
	}
	return false;
}

/* --- phases and time --- */

void
session_start_in(struct session *s, struct attempt *a, int64_t ms)
{
	a->start_at = s->now + ms;
	alarm_note(&s->alarms, a->start_at);
	if (a->call != NULL)
		session_call_waits(s, a->call);
}

void
session_abort_in(struct session *s, struct attempt *a, int64_t ms)
{
	a->abort_at = s->now + ms;
	alarm_note(&s->alarms, a->abort_at);
}

void
session_linger(struct session *s, struct attempt *a)
{
	struct attempt *other, *oldest = a;
	size_t n = 0;

	if (a->ticket == s->over)
		return; /* it ends in this step */
	session_abort_in(s, a, BOUND_SHORT_MS);
	a->lingers = true;
	for (other = s->calls.attempts; other != NULL; other = other->next) {
		if (!other->lingers || other->abort_at == ALARM_NEVER)
			continue;
		n++;
		if (other->abort_at <= oldest->abort_at)
			oldest = other;
	}
	if (n > BOUND_FEW)
		session_abort(s, oldest);
}

int64_t
session_deadline(const struct session *s)
{
	return s->alarms.soonest;
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
	if (!gate_is_open(s) && (phases[phase].permits & PHASE_SENDS) != 0)
		s->gate_at = s->now;
	if (phase != s->phase)
		session_log(s, LEVEL_DEBUG, "session: %s -> %s",
		    phases[s->phase].name, phases[phase].name);
	s->phase = phase;
	alarm_set(&s->alarms, ALARM_PHASE, deadline);
	if (!phase_permits(s, PHASE_WORKS)) {
		alarm_set(&s->alarms, ALARM_TELL, ALARM_NEVER);
		alarm_set(&s->alarms, ALARM_SAY, ALARM_NEVER);
	}
}
