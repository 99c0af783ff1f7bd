/*
 * The session reducer: inputs in, actions out. It gives each input to the part
 * that knows what it means, and finishes what is left at the end of each step.
 * state.h has the invariants.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

#include "core/era/mirror.h"

struct session *
session_new(const struct session_config *config)
{
	struct session *s = xcalloc(1, sizeof *s);

	s->config = *config;
	alarm_init(&s->alarms);
	s->changes.tell_at = ALARM_NEVER;
	s->quickest_ms = -1;
	s->tools = tools_new();
	s->mirrored.mirror = mirror_new();
	s->mirrored.tried_modern = config->legacy;
	headers_init(&s->mirrored.headers);
	s->shown = tools_new();
	s->generation = generation_new(0);
	s->reading = true;
	s->listen.retry_ms = -1;
	own_ids_init(&s->ids, OWN_ID_SESSION, config->prefix);
	calls_init(&s->calls);
	return s;
}

void
session_free(struct session *s)
{
	size_t i;

	if (s == NULL)
		return;
	events_free(&s->events);
	own_ids_free(&s->ids);
	while (s->held.first != NULL)
		frame_unref(session_take_held(s, s->held.first));
	session_drop_one_way(s);
	kept_clear(&s->early);
	calls_free(&s->calls);
	session_drop_answers(s); /* no call is left that this could end */
	questions_free(&s->questions);
	buf_free(&s->listen.last_event_id);
	buf_free(&s->event_ids.last);
	free(s->sign_in);
	frame_unref(s->handshake.request);
	frame_unref(s->handshake.ready);
	frame_unref(s->renewal.setback_error);
	frame_unref(s->handshake.answer);
	frame_unref(s->renewal.before);
	for (i = 0; i < s->changes.n_burst; i++) {
		frame_unref(s->changes.burst[i].frame);
		frame_unref(s->changes.burst[i].related);
	}
	session_forget_lists(s);
	facts_free(s->renewal.setback);
	settings_clear(&s->settings);
	tools_free(s->tools);
	mirror_free(s->mirrored.mirror);
	frame_unref(s->mirrored.discovered);
	headers_free(&s->mirrored.headers);
	tools_free(s->shown);
	buf_free(&s->start.result);
	buf_free(&s->start.tools);
	session_spare_free(s);
	generation_unref(s->generation);
	generation_unref(s->former);
	free(s);
}

/* The machine slept or its network changed. Connections may be dead, and the
 * network may be there again: attempts that wait for their next try go out
 * now. */
static void
wake(struct session *s)
{
	struct attempt *a;

	session_listen_wake(s);
	for (a = s->calls.attempts; a != NULL; a = a->next)
		if (!a->live && a->tries > 0 &&
		    (a->kind == ATTEMPT_CALL || a->kind == ATTEMPT_OPEN))
			session_start_in(s, a, 0);
	session_renew_now(s);
}

/* The server was away, and this is its first answer: what waits for it goes out
 * now. A server that comes and goes wakes it once in a while only. */
static void
come_back(struct session *s)
{
	enum { PAUSE_MS = 1000 };
	struct attempt *a;

	if (s->now < s->wake_at)
		return;
	s->away = false;
	s->wake_at = s->now + PAUSE_MS;
	for (a = s->calls.attempts; a != NULL; a = a->next)
		if (!a->live && a->away && !a->suspect)
			session_start_in(s, a, 0);
	if (s->listen.state == LISTEN_WAITING)
		alarm_set(&s->alarms, ALARM_LISTEN, s->now);
}

/* Passes on the messages that the server sent before the client had its answer
 * to initialize. The attempt may have been dropped since, but calls_reap comes
 * later. */
static void
deliver_early(struct session *s)
{
	static const struct facts none = { 0 };
	struct attempt *a = s->handshake.opener;
	struct kept early = s->early;
	size_t i;

	s->handshake.opener = NULL;
	s->early = (struct kept){ 0 };
	for (i = 0; i < early.n; i++)
		session_message(s, a, &none, early.list[i]);
	kept_clear(&early);
}

static bool
has_notification_slot(const struct session *s)
{
	return s->calls.n_notifications < BOUND_FEW;
}

/* Sends what was first in the queue of held frames, or puts it back. */
static void
send_held(struct session *s, struct held *h)
{
	struct call *c = h->call;
	struct frame *f;

	if (c == NULL && !has_notification_slot(s) &&
	    !json_key_is(h->frame->method, "notifications/initialized")) {
		session_hold_longer(s, h);
		return;
	}
	f = session_take_held(s, h);
	if (c != NULL) {
		session_send_call(s, c);
	} else if (phase_permits(s, PHASE_INITIALIZED) &&
	    json_key_is(f->method, "notifications/initialized")) {
		s->handshake.ready = frame_ref(f);
		session_begin_ready(s);
	} else {
		session_send_one_way(s, f);
	}
	frame_unref(f);
}

static bool
may_send_held(struct session *s, const struct held *h)
{
	if (h == NULL || !gate_is_open(s) || s->mirrored.ticket != 0)
		return false;
	return h->call == NULL ||
	    (session_has_place(s, h->frame) &&
		!session_awaits_stream(s, h->frame, h->call->waits_since));
}

/* Sends the held frames, as far as the gate and the bounds of what is in flight
 * allow. */
static void
pump(struct session *s)
{
	struct frame *f;

	if (s->answers.first != NULL)
		session_pump_answers(s);
	while (s->notes.first != NULL && gate_is_open(s) &&
	    has_notification_slot(s)) {
		f = session_queue_take(&s->notes, s->notes.first);
		session_send_one_way(s, f);
		frame_unref(f);
	}
	session_listen_before(s, s->held.first);
	while (may_send_held(s, s->held.first))
		send_held(s, s->held.first);
	session_listen_behind(s);
	session_listen_hurry(s);
	session_want_read(s);
}

/* Returns the attempt of this ticket, or NULL if it was given up. */
static struct attempt *
live_attempt(const struct session *s, uint64_t ticket)
{
	struct attempt *a = calls_attempt_find(&s->calls, ticket);

	return a != NULL && a->live ? a : NULL;
}

/* One event may tell the head, the body and the end of an answer; each may end
 * the attempt. */
static void
from_server(struct session *s, const struct event *in)
{
	struct attempt *a = live_attempt(s, in->ticket);

	if (a == NULL)
		return;
	s->ping.active_at = s->now;
	s->over = in->kind == INPUT_DONE ? in->ticket : 0;
	if (in->kind == INPUT_SIGN_IN) {
		session_sign_in(s, a, span_of(in->text));
		session_mind_start(s);
		session_answer_early(s);
		return;
	}
	if (in->head)
		session_head(s, a, in->facts);
	if (in->head && s->away && !verdict_is_for_now(in->facts->status))
		come_back(s);
	if (in->frame != NULL)
		session_message(s, a, in->facts, in->frame);
	if (in->kind == INPUT_DONE && (a = live_attempt(s, in->ticket)) != NULL)
		session_done(s, a, in->facts);
}

/* The new session has answered the witness, or refused it. */
static void
after_witness(struct session *s)
{
	bool ready = s->witness.ready;

	if (ready && phase_permits(s, PHASE_READIES)) {
		session_readied(s);
	} else if (gate_is_open(s)) {
		s->witness.mark = 0;
		s->witness.ready = false;
		if (ready && phase_permits(s, PHASE_INITIALIZED))
			session_reopened(s);
		else
			session_replay(s);
	}
}

/* Ends the program when stdout is flushed. */
static void
end_program(struct session *s)
{
	bool failed = s->config.fail && s->ending.own_errors &&
	    !s->ending.broken;

	events_add(&s->events,
	    &(struct event){ .kind = ACTION_EXIT, .status = failed ? 22 : 0 });
	s->ending.exiting = true;
}

/* What is left at the end of a step when the session opens or ends. */
static void
opening_and_end(struct session *s, enum event_kind kind)
{
	/* The tick finds calls that wait for the sign-in since this step. */
	if (kind != INPUT_TICK && session_opening_waits(s))
		alarm_note(&s->alarms, s->now);
	if (has_eof(s) && phase_permits(s, PHASE_SERVES))
		session_drain(s);
	if (phase_permits(s, PHASE_EXITS) && !s->ending.exiting)
		end_program(s);
}

/* With --handshake --fail and no request, can the server be reached at all? */
static bool
is_bare_test(const struct session *s)
{
	return s->config.handshake && s->config.fail &&
	    phase_permits(s, PHASE_STARTS) && s->generation->number == 0;
}

void
session_step(struct session *s, const struct event *in)
{
	s->now = in->now;
	s->random = in->random;
	switch (in->kind) {
	case INPUT_CLIENT:
		s->renewal.idle = 0;
		s->start.probed = in->probe;
		session_client(s, in->frame);
		break;
	case INPUT_INVALID:
	case INPUT_TOO_LONG:
		session_invalid(s, in);
		break;
	case INPUT_EOF:
		session_eof(s);
		if (is_bare_test(s))
			session_open_own(s);
		break;
	case INPUT_STOP:
		session_stop(s);
		break;
	case INPUT_BROKEN:
		session_broken(s);
		break;
	case INPUT_TICK:
		session_tick(s);
		break;
	case INPUT_CACHED_START:
		session_cached_start(s, in);
		break;
	case INPUT_PEER_STATE:
		session_peer_state(s, in->ok);
		break;
	case INPUT_STALE_SESSION:
		session_end_stale(s, in);
		break;
	case INPUT_WAKE:
		wake(s);
		break;
	case INPUT_REFUSED:
		session_unauthorized(s, in);
		break;
	case INPUT_HELPER:
		s->helper_runs = in->ok;
		break;
	case INPUT_SIGNED_IN:
		session_signed_in(s);
		if (s->sign_in != NULL) /* perhaps somebody else */
			session_tell_soon(s);
		break;
	default:
		from_server(s, in);
		break;
	}
	session_open_spare(s);
	if (s->asking.pending)
		session_mind_sign_in(s);
	if (s->witness.mark != 0 && !session_awaits_witness(s))
		after_witness(s);
	if (s->handshake.opener != NULL)
		deliver_early(s);
	pump(s);
	session_tell_changes(s);
	if (has_eof(s) || !phase_permits(s, PHASE_WORKS))
		opening_and_end(s, in->kind);
	calls_reap(&s->calls);
	session_sane(s, in->kind == INPUT_TICK);
}

struct session_brief
session_brief(const struct session *s)
{
	return (struct session_brief){ .phase = session_phase_name(s),
		.generation = s->generation->number,
		.version = s->generation->version,
		.has_id = s->generation->session != NULL,
		.listening = session_listening(s),
		.client = s->handshake.request == NULL ?
		    no_span :
		    json_get(s->handshake.request->params, "clientInfo") };
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
		"refused, a witness is asked",
		"accepted",
	};
	const struct call *c;

	buf_addf(out, "session: %s, generation %llu%s, protocol %s\n",
	    session_phase_name(s), (unsigned long long)s->generation->number,
	    s->generation->session != NULL ? "" : " (no session id)",
	    s->generation->version != NULL ? s->generation->version : "-");
	buf_addf(out,
	    "calls: %zu open, %zu in flight, %zu bytes held back; %zu "
	    "attempts; %zu questions of the server open\n",
	    s->calls.n, s->in_flight, session_held_bytes(s),
	    s->calls.n_attempts, s->questions.n);
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
