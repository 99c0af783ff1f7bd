/*
 * The session reducer: inputs in, actions out, timers, and the end. What an
 * input means is decided in the other session_*.c; session_state.h lists who
 * does what.
 *
 * Invariants: a call in the table has had no answer yet; an attempt that is
 * live has exactly one exchange under way, named by its ticket; a frame that is
 * held is held once.
 */
#include "config.h"

#include "core/session/state.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/json.h"

struct session *
session_new(const struct session_config *config)
{
	struct session *s = xcalloc(1, sizeof *s);

	s->config = *config;
	s->phase_deadline = s->drain_deadline = s->deadline = -1;
	s->last_at = -1;
	s->tell_at = s->renew_at = s->cached_at = -1;
	s->flapping_told_at = s->summed_at = -1;
	s->told_at = INT64_MIN / 2;
	s->quickest_ms = -1;
	s->say_asks_at = s->say_dropped_at = INT64_MIN;
	s->tools = tools_new();
	s->generation = generation_new(0);
	s->reading = true;
	s->listen.retry_ms = -1;
	calls_init(&s->calls);
	return s;
}

static void
action_clear(struct action *a)
{
	frame_unref(a->frame);
	frame_unref(a->other);
	generation_unref(a->generation);
	free(a->text);
	memset(a, 0, sizeof *a);
}

void
session_drop_actions(struct session *s)
{
	while (s->next_action < s->n_actions)
		action_clear(&s->actions[s->next_action++]);
	action_clear(&s->current);
	free(s->actions);
}

void
session_free(struct session *s)
{
	struct held *h;
	struct frame *f;

	if (s == NULL)
		return;
	session_drop_actions(s);
	while ((h = s->held) != NULL) {
		s->held = h->next;
		frame_unref(h->frame);
		free(h);
	}
	while ((f = session_take_early(s)) != NULL)
		frame_unref(f);
	calls_free(&s->calls);
	session_drop_answers(s); /* no call is left that it could end */
	questions_free(&s->questions);
	buf_free(&s->listen.last_event_id);
	free(s->sign_in);
	frame_unref(s->opening);
	frame_unref(s->ready);
	frame_unref(s->last_refusal);
	frame_unref(s->opened);
	frame_unref(s->opened_before);
	settings_clear(&s->settings);
	tools_free(s->tools);
	buf_free(&s->cached_start);
	buf_free(&s->cached_tools);
	generation_unref(s->generation);
	generation_unref(s->former);
	free(s);
}

/* --- actions --- */

static struct action *
action_add(struct session *s, enum session_action_kind kind)
{
	struct action *a;

	if (s->next_action == s->n_actions)
		s->next_action = s->n_actions = 0;
	if (s->n_actions == s->cap_actions) {
		s->cap_actions = s->cap_actions * 2 + 16;
		s->actions = xrealloc(s->actions,
		    s->cap_actions * sizeof *s->actions);
	}
	a = &s->actions[s->n_actions++];
	memset(a, 0, sizeof *a);
	a->kind = kind;
	return a;
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
session_may_say(const struct session *s, int64_t *say_at)
{
	if (s->now < *say_at)
		return false;
	*say_at = s->now + SAY_MS;
	return true;
}

void
session_write(struct session *s, struct frame *f)
{
	if (!s->broken)
		action_add(s, ACTION_WRITE)->frame = frame_ref(f);
}

void
session_pass(struct session *s, struct frame *f, const struct attempt *l)
{
	struct action *a;

	if (s->broken)
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
	l->start_at = 0;
	l->out_at = s->active_at = s->now;
	if (l->kind == ATTEMPT_CALL) {
		if (l->call != NULL)
			l->call->ran_in = l->generation->number;
		/* To resume a stream is no sign of life of its call. */
		if (l->last_event_id.n == 0) {
			l->event_at = s->now;
			l->silent_at = s->now + SILENT_MS;
		}
		session_due(s, l->silent_at);
	} else if (l->kind == ATTEMPT_RESTORE) {
		l->abort_at = s->now + RESTORE_MS;
		session_due(s, l->abort_at);
	} else if (l->kind == ATTEMPT_ONE_WAY &&
	    l->body->kind == FRAME_NOTIFICATION) {
		/* An answer may be large and slow to send. */
		l->abort_at = s->now + NOTIFICATION_MS;
		session_due(s, l->abort_at);
	}
	action_add(s, ACTION_SEND)->ticket = l->ticket;
}

void
session_abort(struct session *s, struct attempt *l)
{
	l->abort_at = 0;
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
		frame_unref(c->refusal);
		c->refusal = NULL;
	}
	again = calls_attempt(&s->calls, l->kind, c, l->body, l->generation);
	again->tries = l->tries + 1;
	again->window_end = l->window_end;
	again->spoke = l->spoke;
	again->resumes = l->resumes;
	again->retry_ms = l->retry_ms;
	again->origin = l->origin;
	again->asker = l->asker;
	/* The call that a stream is resumed for has been silent so long. */
	if (l->last_event_id.n > 0) {
		again->event_at = l->event_at;
		again->silent_at = l->silent_at;
		again->silences = l->silences;
		again->dead_at = l->dead_at;
	}
	buf_addspan(&again->last_event_id, buf_span(&l->last_event_id));
	again->start_at = s->now + wait;
	session_due(s, again->start_at);
	calls_attempt_drop(&s->calls, l);
	return again;
}

void
session_ask(struct session *s, enum session_action_kind kind)
{
	struct action *a = action_add(s, kind);

	if (s->opening != NULL)
		a->frame = frame_ref(s->opening);
	if (s->opened != NULL)
		a->other = frame_ref(s->opened);
}

void
session_save(struct session *s, struct generation *g)
{
	struct action *a = action_add(s, ACTION_SAVE_SESSION);

	if (g != NULL)
		a->generation = generation_ref(g);
}

/* Reading goes on while a question waits for the client's answer, however
 * much is held: only the answer can free the calls. */
void
session_want_read(struct session *s)
{
	bool want = !s->eof &&
	    (s->held_bytes < s->config.max_held || s->questions.n > 0 ||
		s->phase >= PHASE_CLOSING);

	if (want == s->reading || s->eof)
		return;
	s->reading = want;
	action_add(s, ACTION_READ)->on = want;
}

/* Only what a request of the client waits for may open a browser: nobody
 * wants one at night. */
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
	const struct action *a = &s->current;

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
	const struct generation *g = s->current.generation;

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
		action_clear(&s->current);
		if (s->next_action == s->n_actions)
			return false;
		s->current = s->actions[s->next_action++];
		memset(out, 0, sizeof *out);
		out->kind = s->current.kind;
		out->ticket = s->current.ticket;
		out->frame = s->current.frame;
		out->level = s->current.level;
		out->text = s->current.text;
		out->on = s->current.on;
		out->status = s->current.status;
		if (out->kind == ACTION_WRITE)
			out->related = s->current.other;
		if (out->kind == ACTION_LOAD_START ||
		    out->kind == ACTION_SAVE_START)
			fill_memory(s, out);
		else if (out->kind == ACTION_SAVE_SESSION)
			fill_keep(s, out);
		if (out->kind != ACTION_SEND)
			return true;
		/* Dropped again within the same step: nothing to send. */
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
session_due(struct session *s, int64_t at)
{
	if (at >= 0 && (s->deadline < 0 || at < s->deadline))
		s->deadline = at;
}

int64_t
session_deadline(const struct session *s)
{
	return s->deadline;
}

static const char *
phase_name(enum phase phase)
{
	static const char *const names[] = {
		"idle",
		"opening",
		"opened",
		"readying",
		"restoring",
		"live",
		"renewing",
		"dead",
		"closing",
		"ended",
	};

	return names[phase];
}

void
session_phase(struct session *s, enum phase phase, int64_t deadline)
{
	if (phase != s->phase)
		session_log(s, LEVEL_DEBUG, "session: %s -> %s",
		    phase_name(s->phase), phase_name(phase));
	s->phase = phase;
	s->phase_deadline = deadline;
	session_due(s, deadline);
}

static void
phase_timeout(struct session *s)
{
	static const struct facts silent = {
		.ending = ENDING_IDLE,
		.sent = true,
		.retry_after_ms = -1,
	};

	struct facts f = silent;

	switch (s->phase) {
	case PHASE_OPENING:
		if (session_start_from_cache(s, &silent))
			break;
		/* FALLTHROUGH */
	case PHASE_RENEWING:
		if (session_opening_waits(s))
			f = session_sign_in_facts(s);
		session_open_failed(s, &f, NULL);
		break;
	case PHASE_READYING:
		session_log(s, LEVEL_WARN,
		    "%s did not acknowledge notifications/initialized within "
		    "%d s; going on",
		    s->config.host, READY_MS / 1000);
		session_readied(s);
		break;
	case PHASE_RESTORING:
		session_restore_timeout(s);
		break;
	case PHASE_CLOSING:
		session_phase(s, PHASE_ENDED, -1);
		break;
	default:
		s->phase_deadline = -1;
		break;
	}
}

static void
attempt_tick(struct session *s, struct attempt *l)
{
	struct call *c;
	struct frame *error;

	if (l->live) {
		if (l->abort_at != 0 && l->abort_at <= s->now)
			session_abort(s, l);
		return;
	}
	if (l->suspect || l->start_at > s->now)
		return;
	if (l->kind == ATTEMPT_RESTORE && l->generation != s->generation) {
		calls_attempt_drop(&s->calls, l);
		return;
	}
	if ((l->kind == ATTEMPT_ONE_WAY || l->kind == ATTEMPT_READY) &&
	    (l->generation != s->generation ||
		(l->kind == ATTEMPT_READY && s->phase != PHASE_READYING))) {
		session_undelivered(s, l->asker, NULL);
		calls_attempt_drop(&s->calls, l); /* of a session that is
						   * gone */
		return;
	}
	/* Nothing of it was sent yet: it belongs to the session of now. */
	if (l->last_event_id.n == 0 && l->kind == ATTEMPT_CALL &&
	    l->generation != s->generation) {
		if (s->phase != PHASE_LIVE && s->phase != PHASE_OPENED) {
			c = l->call;
			session_call_state(s, c, CALL_REFUSED);
			calls_attempt_drop(&s->calls, l);
			if (s->phase == PHASE_DEAD &&
			    (error = session_revive(s, c->frame->id)) != NULL)
				session_fail(s, c, error);
			return;
		}
		generation_unref(l->generation);
		l->generation = generation_ref(s->generation);
		if (l->call->lost_at != 0)
			l->call->replayed = s->generation->number;
		l->call->flaps = 0;
		l->call->flaps_end = 0;
	}
	session_start(s, l);
}

static void
drain_timeout(struct session *s)
{
	struct call *c;

	s->drain_deadline = -1;
	while ((c = s->calls.first) != NULL) {
		struct fault fault = { .reason = "shutting_down",
			.maybe = session_may_have_run(c) };

		session_fail(s, c,
		    fault_frame(c->frame->id, &fault,
			"mcpsplice ended before %s answered: --drain-timeout.",
			s->config.host));
	}
	session_close(s);
}

static void
call_tick(struct session *s, struct call *c)
{
	static const struct facts silent = {
		.ending = ENDING_COMPLETE,
		.sent = true,
		.status = 202,
		.retry_after_ms = -1,
	};

	int64_t due = session_sign_in_due(s, c);

	if (c->state == CALL_ACCEPTED && c->again_at <= s->now)
		session_fail(s, c,
		    fault_from_facts(c->frame, &silent, s->config.host, NULL));
	else if (due >= 0 && due <= s->now)
		session_fail(s, c, session_sign_in_error(s, c));
}

/* What remains due, from scratch. */
static void
session_due_all(struct session *s)
{
	struct attempt *l;
	struct call *c;

	s->deadline = -1;
	session_due(s, s->phase_deadline);
	session_due(s, s->drain_deadline);
	if (s->last_at > s->now)
		session_due(s, s->last_at);
	session_due(s, s->cached_at);
	session_due(s, s->renew_at);
	if (s->phase == PHASE_LIVE)
		session_due(s, s->tell_at);
	session_ping_due(s);
	session_due(s, session_scout_due(s));
	if (s->listen.state == LISTEN_WAITING)
		session_due(s, s->listen.at);
	for (c = s->calls.first; c != NULL; c = c->next) {
		if (c->state == CALL_ACCEPTED)
			session_due(s, c->again_at);
		session_due(s, session_sign_in_due(s, c));
	}
	for (l = s->calls.attempts; l != NULL; l = l->next) {
		if (!l->live) {
			if (!l->suspect)
				session_due(s, l->start_at);
			continue;
		}
		if (l->abort_at != 0)
			session_due(s, l->abort_at);
		if (l->kind != ATTEMPT_CALL || l->call == NULL)
			continue;
		if (!l->waits_for_user)
			session_due(s, l->silent_at);
		if (l->dead_at != 0)
			session_due(s, l->dead_at);
	}
}

static void
session_tick(struct session *s)
{
	struct attempt *l;
	struct call *c, *after;

	if (s->phase_deadline >= 0 && s->phase_deadline <= s->now)
		phase_timeout(s);
	if (s->drain_deadline >= 0 && s->drain_deadline <= s->now)
		drain_timeout(s);
	if (s->cached_at >= 0 && s->cached_at <= s->now)
		session_start_from_cache(s, NULL);
	session_listen_tick(s);
	session_renew_tick(s);
	session_ping_tick(s);
	session_scout_tick(s);
	session_tell_changes(s);
	for (c = s->calls.first; c != NULL; c = after) {
		after = c->next;
		call_tick(s, c);
	}
	for (l = s->calls.attempts; l != NULL; l = calls_attempt_next(l)) {
		attempt_tick(s, l);
	}
	session_due_all(s);
}

/* --- the end --- */

void
session_delete(struct session *s, struct generation *g)
{
	struct attempt *l = calls_attempt(&s->calls, ATTEMPT_DELETE, NULL, NULL,
	    g);

	l->abort_at = s->now + DELETE_MS;
	session_due(s, l->abort_at);
	session_start(s, l);
}

/* Ends the closing when no DELETE is under way any more, nor an initialize
 * whose session would be left behind. */
void
session_closed(struct session *s)
{
	const struct attempt *l;

	for (l = s->calls.attempts; l != NULL; l = l->next)
		if (l->kind == ATTEMPT_DELETE || l->kind == ATTEMPT_OPEN)
			return;
	session_phase(s, PHASE_ENDED, -1);
}

/* Ends the session: DELETE where there is one, no other traffic. */
void
session_close(struct session *s)
{
	struct attempt *l;

	if (s->phase >= PHASE_CLOSING)
		return;
	session_listen_close(s);
	session_drop_answers(s);
	for (l = s->calls.attempts; l != NULL; l = calls_attempt_next(l)) {
		if (l->kind != ATTEMPT_DELETE &&
		    (l->kind != ATTEMPT_OPEN || !l->live))
			session_abort(s, l);
	}
	if (s->generation->session != NULL && !s->generation->lost)
		session_delete(s, s->generation);
	session_phase(s, PHASE_CLOSING, s->now + DELETE_MS);
	session_closed(s);
}

static void
session_stop(struct session *s)
{
	struct call *c;

	s->stopped = true;
	while ((c = s->calls.first) != NULL) {
		struct fault fault = { .reason = "shutting_down",
			.maybe = session_may_have_run(c) };

		session_fail(s, c,
		    fault_frame(c->frame->id, &fault,
			"mcpsplice was told to end before %s answered.%s",
			s->config.host,
			fault.maybe ? " The call may have run." :
				      " The call did not run."));
	}
	session_close(s);
}

/* After EOF: does the client still wait for something? Notifications that are
 * held wait for the session, whose opening has an end, or else for others
 * before them. */
static bool
is_awaited(const struct session *s)
{
	bool gate_open = s->phase == PHASE_LIVE || s->phase == PHASE_OPENED;
	const struct call *c;

	for (c = s->calls.first; c != NULL; c = c->next)
		if (!c->cancelled)
			return true;
	return (s->held != NULL && !gate_open) || s->phase == PHASE_OPENING;
}

/* Is anything under way that the server is owed? Notifications and answers
 * count until last_at. */
static bool
is_owed(const struct session *s)
{
	bool notes = s->now < s->last_at;
	const struct attempt *l;

	if (notes && (s->answers != NULL || s->held != NULL))
		return true;
	for (l = s->calls.attempts; l != NULL; l = l->next)
		if ((l->kind == ATTEMPT_ONE_WAY && notes) ||
		    l->kind == ATTEMPT_DELETE ||
		    (l->kind == ATTEMPT_READY && l->live &&
			s->phase == PHASE_READYING) ||
		    (l->kind == ATTEMPT_OPEN && l->generation != s->generation))
			return true;
	return false;
}

/* After EOF the session ends with the last call. What the server is told in
 * those moments has only a few seconds to arrive, whenever it was sent: a
 * server that never acknowledges it must not keep the process. */
static void
session_drain(struct session *s)
{
	if (is_awaited(s))
		return;
	if (s->last_at < 0) {
		s->last_at = s->now + LAST_MS;
		session_due(s, s->last_at);
	}
	if (!is_owed(s))
		session_close(s);
}

static void
session_eof(struct session *s)
{
	s->eof = true;
	session_answer_all(s);
	if (s->config.drain_timeout_ms > 0) {
		s->drain_deadline = s->now + s->config.drain_timeout_ms;
		session_due(s, s->drain_deadline);
	}
}

/* Everything is dropped; nobody would read it. */
static void
session_broken(struct session *s)
{
	s->broken = true;
	while (s->calls.first != NULL)
		session_fail(s, s->calls.first, NULL);
	session_close(s);
}

/* Connections may be dead without knowing it, and a network may be there
 * again: what waits for a better time goes out now. */
static void
session_wake(struct session *s)
{
	struct attempt *l;

	session_listen_wake(s);
	for (l = s->calls.attempts; l != NULL; l = l->next)
		if (!l->live && !l->suspect && l->tries > 0 &&
		    (l->kind == ATTEMPT_CALL || l->kind == ATTEMPT_OPEN)) {
			l->start_at = s->now;
			session_due(s, s->now);
		}
	if (s->phase == PHASE_DEAD && s->from_cache) {
		s->renew_at = s->now;
		session_due(s, s->now);
	}
}

/* A session that a process before us left behind. */
static void
session_end_stale(struct session *s, const struct session_input *in)
{
	struct generation *g;

	if (s->phase >= PHASE_CLOSING || !verdict_session_ok(in->session))
		return;
	g = generation_new(0);
	g->session = xstrndup(in->session.p, in->session.n);
	if (in->version.n > 0)
		g->version = xstrndup(in->version.p, in->version.n);
	session_log(s, LEVEL_INFO,
	    "a session that was left behind at %s is ended", s->config.host);
	session_delete(s, g);
	generation_unref(g);
}

static void
session_exit(struct session *s)
{
	struct action *a = action_add(s, ACTION_EXIT);

	a->status = s->config.fail && s->own_errors && !s->broken ? 22 : 0;
	s->exiting = true;
}

void
session_step(struct session *s, const struct session_input *in)
{
	struct attempt *l;

	s->now = in->now;
	s->random = in->random;
	switch (in->kind) {
	case INPUT_CLIENT:
		s->idle_renewals = 0;
		s->probed = in->probe;
		session_client(s, in->frame);
		break;
	case INPUT_INVALID:
	case INPUT_TOO_LONG:
		session_invalid(s, in);
		break;
	case INPUT_EOF:
		session_eof(s);
		break;
	case INPUT_STOP:
		if (!s->stopped)
			session_stop(s);
		break;
	case INPUT_BROKEN:
		if (!s->broken)
			session_broken(s);
		break;
	case INPUT_TICK:
		session_tick(s);
		break;
	case INPUT_CACHED_START:
		session_cached_start(s, in);
		break;
	case INPUT_PEER_STATE:
		session_peer_state(s, in->newer_peer);
		break;
	case INPUT_STALE_SESSION:
		session_end_stale(s, in);
		break;
	case INPUT_WAKE:
		session_wake(s);
		break;
	case INPUT_SIGNED_IN:
		session_signed_in(s);
		break;
	default:
		l = calls_attempt_find(&s->calls, in->ticket);
		if (l == NULL || !l->live)
			break; /* stale: its attempt was given up */
		s->active_at = s->now;
		if (in->kind == INPUT_SIGN_IN)
			session_sign_in(s, l, in->text);
		else if (in->kind == INPUT_HEAD)
			session_head(s, l, in->facts);
		else if (in->kind == INPUT_MESSAGE)
			session_message(s, l, in->facts, in->frame);
		else
			session_done(s, l, in->facts);
		break;
	}
	session_pump(s);
	/* A call that came, or was refused, waits for a person, too. */
	if (in->kind != INPUT_TICK && session_opening_waits(s))
		session_due(s, s->now);
	calls_reap(&s->calls);
	if (s->eof && s->phase < PHASE_CLOSING)
		session_drain(s);
	if (s->phase == PHASE_ENDED && !s->exiting)
		session_exit(s);
}

void
session_describe(const struct session *s, struct buf *out)
{
	static const char *const listen[] = {
		"off",
		"refused by the server",
		"waiting to reopen",
		"refused, asking whether the session lives",
		"open",
	};
	static const char *const states[] = {
		"held back",
		"running",
		"refused, waits for a new session",
		"refused, asking whether the session lives",
		"accepted",
	};
	const struct call *c;

	buf_addf(out, "session: %s, generation %llu%s, protocol %s\n",
	    phase_name(s->phase), (unsigned long long)s->generation->number,
	    s->generation->session != NULL ? "" : " (no session id)",
	    s->generation->version != NULL ? s->generation->version : "-");
	buf_addf(out,
	    "calls: %zu open, %zu in flight, %zu bytes held back; %zu legs; "
	    "%zu questions of the server open\n",
	    s->calls.n, s->in_flight, s->held_bytes, s->calls.n_attempts,
	    s->questions.n);
	buf_addf(out, "listen stream: %s\n", listen[s->listen.state]);
	for (c = s->calls.first; c != NULL; c = c->next) {
		buf_adds(out, "call ");
		buf_add(out, c->frame->id.p,
		    c->frame->id.n > 64 ? 64 : c->frame->id.n);
		buf_adds(out, " ");
		fault_label(c->frame, out);
		buf_addf(out, ": %s%s\n", states[c->state],
		    c->cancelled ? ", cancelled" : "");
	}
}
