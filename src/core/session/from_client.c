/*
 * What the client sends: requests, notifications, answers, and frames that
 * are none. Requests and notifications go through the gate and are held
 * while it is shut; answers and cancels never wait.
 */
#include "config.h"

#include "core/session/state.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"

static const struct span no_span = { NULL, 0 };

static bool
gate_open(const struct session *s)
{
	return s->phase == PHASE_OPENED || s->phase == PHASE_LIVE;
}

static bool
is_method(const struct frame *f, const char *method)
{
	return json_key_is(f->method, method);
}

/* --- answers to the client --- */

void
session_call_state(struct session *s, struct call *c, enum call_state state)
{
	bool was = c->state != CALL_HELD, is = state != CALL_HELD;

	if (was && !is)
		s->in_flight--;
	else if (is && !was)
		s->in_flight++;
	c->state = state;
}

/* The call is over. A stream that still runs may end by itself for a while. */
static void
call_forget(struct session *s, struct call *c)
{
	struct attempt *l = c->attempt;

	session_forget_scout(s, c);
	session_unhold(s, c);
	session_call_state(s, c, CALL_HELD);
	calls_drop(&s->calls, c);
	if (l == NULL)
		return;
	if (!l->live || l->waits_for_user) {
		session_abort(s, l); /* it must not be sent any more */
	} else {
		l->abort_at = s->now + LINGER_MS;
		session_due(s, l->abort_at);
	}
}

static struct frame *
too_large(struct session *s, const struct call *c, size_t size)
{
	struct fault fault = { .reason = "too_large", .maybe = true };
	struct buf label;
	struct frame *f;

	buf_init(&label, 0);
	fault_label(c->frame, &label);
	f = fault_frame(c->frame->id, &fault,
	    "The answer of %s to %s is too large for the client: %zu bytes, "
	    "the limit is %zu. It did run. Ask for less, or raise --max-result "
	    "if your client takes it.",
	    s->config.host, buf_str(&label), size, s->config.max_result);
	buf_free(&label);
	return f;
}

void
session_answer(struct session *s, struct call *c, struct frame *answer)
{
	struct frame *f;

	s->answered[s->next_answered++ % ANSWERED] = c->by_id.key;
	if (!c->cancelled) {
		f = msg_with_id(answer, c->frame->id);
		if (s->config.max_result > 0 &&
		    f->text.n > s->config.max_result) {
			session_fail(s, c, too_large(s, c, f->text.n));
			frame_unref(f);
			return;
		}
		session_write(s, f);
		frame_unref(f);
	}
	call_forget(s, c);
}

bool
session_was_answered(const struct session *s, struct span id)
{
	uint64_t hash;
	size_t i;

	if (id.p == NULL || id.p[0] == 'n')
		return false;
	hash = msg_id_hash(id);
	for (i = 0; i < ANSWERED && i < s->next_answered; i++)
		if (s->answered[i] == hash)
			return true;
	return false;
}

void
session_fail(struct session *s, struct call *c, struct frame *error)
{
	if (error != NULL && !c->cancelled) {
		s->own_errors = true;
		session_write(s, error);
	}
	frame_unref(error);
	call_forget(s, c);
}

/* An error of our own for a frame that never became a call. */
static void
reject(struct session *s, struct frame *error)
{
	s->own_errors = true;
	session_write(s, error);
	frame_unref(error);
}

/* --- holding and sending --- */

size_t
session_held_size(const struct frame *f)
{
	return frame_size(f) + sizeof(struct held) + MEM_OVERHEAD;
}

/* The same, with the call where it is one. */
static size_t
held_size(const struct frame *f, bool is_call)
{
	size_t size = session_held_size(f);

	return is_call ? size + sizeof(struct call) + MEM_OVERHEAD : size;
}

/* Is there no room to hold this frame? */
static bool
is_full(const struct session *s, const struct frame *f, bool is_call)
{
	return s->held_bytes + held_size(f, is_call) > s->config.max_held;
}

static void
hold(struct session *s, struct frame *f, struct call *c)
{
	struct held *h = xcalloc(1, sizeof *h);

	h->frame = frame_ref(f);
	h->call = c;
	if (s->held_last != NULL)
		s->held_last->next = h;
	else
		s->held = h;
	s->held_last = h;
	s->held_bytes += held_size(f, c != NULL);
	session_want_read(s);
}

/* Takes the entry after prev (NULL: the first) out of the list. */
static void
release(struct session *s, struct held *prev)
{
	struct held *h = prev == NULL ? s->held : prev->next;

	if (prev == NULL)
		s->held = h->next;
	else
		prev->next = h->next;
	if (s->held_last == h)
		s->held_last = prev;
	s->held_bytes -= held_size(h->frame, h->call != NULL);
	frame_unref(h->frame);
	free(h);
}

void
session_unhold(struct session *s, struct call *c)
{
	struct held *h, *prev = NULL;

	if (c->state != CALL_HELD)
		return;
	for (h = s->held; h != NULL; prev = h, h = h->next)
		if (h->call == c) {
			release(s, prev);
			return;
		}
}

void
session_keep_ready(struct session *s)
{
	struct held *h, *prev = NULL;

	for (h = s->held; h != NULL; prev = h, h = h->next)
		if (h->call == NULL &&
		    json_key_is(h->frame->method,
			"notifications/initialized")) {
			s->ready = frame_ref(h->frame);
			release(s, prev);
			return;
		}
}

void
session_drop_one_way(struct session *s)
{
	struct held *h, *prev = NULL, *next;

	for (h = s->held; h != NULL; h = next) {
		next = h->next;
		if (h->call == NULL)
			release(s, prev);
		else
			prev = h;
	}
}

bool
session_may_have_run(const struct call *c)
{
	if (c->repeated ||
	    (c->state == CALL_SUSPECT && (c->suspect_ran || c->status < 400)))
		return true;
	if (c->state == CALL_RUNNING && c->attempt != NULL)
		return (c->attempt->live && !c->attempt->waits_for_user) ||
		    c->attempt->last_event_id.n > 0;
	return c->state == CALL_ACCEPTED;
}

struct attempt *
session_call_attempt(struct session *s, struct call *c)
{
	struct frame *ours = NULL;

	/* What refused the call before says nothing of this attempt. */
	frame_unref(c->refusal);
	c->refusal = NULL;
	if (c->repeated && c->ran_in == s->generation->number)
		ours = session_with_own_id(s, c->frame);
	if (c->sent != ours)
		calls_send_as(&s->calls, c, ours);
	return calls_attempt(&s->calls, ATTEMPT_CALL, c,
	    c->sent != NULL ? c->sent : c->frame, s->generation);
}

void
session_send_call(struct session *s, struct call *c)
{
	session_call_state(s, c, CALL_RUNNING);
	session_start(s, session_call_attempt(s, c));
}

struct attempt *
session_send_one_way(struct session *s, struct frame *f)
{
	struct attempt *l = calls_attempt(&s->calls, ATTEMPT_ONE_WAY, NULL, f,
	    s->generation);

	session_start(s, l);
	return l;
}

/* --- answers to questions of the server --- */

/* There is no session to send them in while it is renewed. */
static bool
may_send_answer(const struct session *s)
{
	return s->calls.n_answers < MAX_ANSWERS && s->phase != PHASE_RENEWING;
}

static void
hold_answer(struct session *s, struct frame *f, uint64_t asker)
{
	struct held *h = xcalloc(1, sizeof *h);

	h->frame = frame_ref(f);
	h->asker = asker;
	if (s->answers != NULL)
		s->answers_last->next = h;
	else
		s->answers = h;
	s->answers_last = h;
	s->n_answers++;
	s->answer_bytes += f->text.n;
}

/* The first that is held; the caller owns it. */
static struct frame *
take_answer(struct session *s, uint64_t *asker)
{
	struct held *h = s->answers;
	struct frame *f = h->frame;

	*asker = h->asker;
	s->answers = h->next;
	s->n_answers--;
	s->answer_bytes -= f->text.n;
	free(h);
	return f;
}

void
session_send_answer(struct session *s, struct frame *f, uint64_t asker)
{
	struct facts full = { .ending = ENDING_IDLE };

	if (s->phase >= PHASE_DEAD) {
		session_log(s, LEVEL_INFO,
		    "an answer for a session that is gone: dropped");
		session_undelivered(s, asker, NULL);
	} else if (s->answers == NULL && may_send_answer(s)) {
		session_send_one_way(s, f)->asker = asker;
	} else if (s->n_answers >= MAX_QUESTIONS ||
	    (s->answer_bytes > 0 &&
		s->answer_bytes + f->text.n > s->config.max_held)) {
		session_log(s, LEVEL_INFO,
		    "%s does not take the answers to its questions: one is "
		    "dropped",
		    s->config.host);
		full.why = span_of("too many answers wait for it");
		session_undelivered(s, asker, &full);
	} else {
		hold_answer(s, f, asker);
	}
}

void
session_drop_answers(struct session *s)
{
	uint64_t asker;

	while (s->answers != NULL) {
		frame_unref(take_answer(s, &asker));
		session_undelivered(s, asker, NULL);
	}
}

static void
pump_answers(struct session *s)
{
	struct frame *f;
	uint64_t asker;

	if (s->phase >= PHASE_DEAD)
		session_drop_answers(s);
	while (s->answers != NULL && may_send_answer(s)) {
		f = take_answer(s, &asker);
		session_send_one_way(s, f)->asker = asker;
		frame_unref(f);
	}
}

void
session_pump(struct session *s)
{
	struct frame *f;
	struct call *c;

	if (s->answers != NULL)
		pump_answers(s);
	if (s->scouted && s->scout == NULL && gate_open(s)) {
		s->scouted = false;
		session_replay(s);
	}
	while (s->held != NULL && gate_open(s)) {
		c = s->held->call;
		if (c != NULL ? s->in_flight >= s->config.max_inflight :
				s->calls.n_notifications >= MAX_NOTIFICATIONS)
			break;
		f = frame_ref(s->held->frame);
		release(s, NULL);
		if (c != NULL) {
			session_send_call(s, c);
		} else if (s->phase == PHASE_OPENED &&
		    json_key_is(f->method, "notifications/initialized")) {
			s->ready = frame_ref(f);
			session_begin_ready(s);
		} else {
			session_send_one_way(s, f);
		}
		frame_unref(f);
	}
	session_want_read(s);
}

/* --- requests --- */

static void
request_unready(struct session *s, struct frame *f)
{
	struct fault fault = { .code = FAULT_PARAMS };

	reject(s,
	    fault_frame(f->id, &fault,
		"No session yet: send \"initialize\" first, or start mcpsplice "
		"with --handshake to have it done for you. (A request of the "
		"2026-07-28 protocol would name its version in "
		"params._meta.)"));
}

static void
request_full(struct session *s, struct frame *f)
{
	struct fault fault = { .reason = "busy" };

	reject(s,
	    fault_frame(f->id, &fault,
		"Too many requests wait for %s (%zu in flight, %zu bytes held "
		"back). Not sent. Wait for answers, then try again.",
		s->config.host, s->in_flight, s->held_bytes));
}

static void
request_late(struct session *s, struct frame *f)
{
	struct fault fault = { .reason = "shutting_down" };

	reject(s,
	    fault_frame(f->id, &fault,
		"mcpsplice is shutting down. Not sent."));
}

static void
answer_ping(struct session *s, struct frame *f)
{
	struct frame *pong = msg_result(f->id, "{}");

	session_write(s, pong);
	frame_unref(pong);
}

/* The client begins again: what belongs to the session before it ends. */
static void
end_former(struct session *s)
{
	struct fault fault = { .reason = "session_lost" };
	struct attempt *l;
	struct call *c;
	struct frame *early;

	session_listen_close(s);
	while ((c = s->calls.first) != NULL) {
		fault.maybe = session_may_have_run(c);
		session_fail(s, c,
		    fault_frame(c->frame->id, &fault,
			"The client began a new session before %s answered.%s",
			s->config.host,
			fault.maybe ? " The call may have run." :
				      " The call did not run."));
	}
	session_drop_one_way(s);
	session_drop_answers(s);
	while ((early = session_take_early(s)) != NULL)
		frame_unref(early);
	for (l = s->calls.attempts; l != NULL; l = calls_attempt_next(l)) {
		if (l->kind == ATTEMPT_DELETE)
			continue;
		/* An initialize under way makes a session that must end. */
		if (l->kind != ATTEMPT_OPEN || !l->live) {
			session_abort(s, l);
		} else {
			l->abort_at = s->now + LINGER_MS;
			session_due(s, l->abort_at);
		}
	}
	questions_free(&s->questions);
	s->ping = 0;
	s->flapping = s->flaps_useless = s->scouted = false;
	if (s->generation->session != NULL)
		session_delete(s, s->generation);
}

static void
request_initialize(struct session *s, struct frame *f)
{
	if (s->phase != PHASE_IDLE) {
		session_log(s, LEVEL_INFO,
		    "the client initializes again: a new session, the old one "
		    "ends");
		end_former(s);
	}
	s->own_handshake = false;
	session_open(s, f, calls_add(&s->calls, f));
}

static bool
is_duplicate(const struct session *s, struct span id)
{
	const struct call *c = calls_find(&s->calls, id);

	return c != NULL && msg_id_again(c->frame->id, id);
}

/* The session was found gone while nobody waited: now somebody does. */
static void
renew_lost(struct session *s)
{
	if (s->generation->lost && gate_open(s) && session_may_renew(s))
		session_renew(s, s->why != NULL ? s->why : "it was lost");
}

static void
client_request(struct session *s, struct frame *f)
{
	struct call *c;
	struct frame *error, *answer;

	if (s->phase >= PHASE_CLOSING) {
		request_late(s, f);
		return;
	}
	if (is_duplicate(s, f->id)) {
		reject(s, fault_duplicate(f->id));
		return;
	}
	if (is_method(f, "initialize")) {
		request_initialize(s, f);
		return;
	}
	if (is_method(f, "ping") && !gate_open(s)) {
		answer_ping(s, f);
		return;
	}
	answer = session_cached_answer(s, f);
	if (answer != NULL) {
		session_write(s, answer);
		frame_unref(answer);
		return;
	}
	renew_lost(s);
	if (s->phase == PHASE_IDLE) {
		if (!s->config.handshake) {
			request_unready(s, f);
			return;
		}
		session_open_own(s);
	} else if (s->phase == PHASE_DEAD &&
	    (error = session_revive(s, f->id)) != NULL) {
		session_write(s, error);
		frame_unref(error);
		return;
	}
	if (s->held_bytes > 0 && s->questions.n > 0 && is_full(s, f, true)) {
		request_full(s, f);
		return;
	}
	c = calls_add(&s->calls, f);
	if (gate_open(s) && s->held == NULL &&
	    s->in_flight < s->config.max_inflight)
		session_send_call(s, c);
	else
		hold(s, f, c);
}

/* --- notifications and answers --- */

static void
client_initialized(struct session *s, struct frame *f)
{
	switch (s->phase) {
	case PHASE_OPENING:
		hold(s, f, NULL);
		break;
	case PHASE_OPENED:
		s->ready = frame_ref(f);
		session_begin_ready(s);
		break;
	default:
		/* Kept for a renewal that began before the client said it. */
		if (s->ready == NULL && s->phase != PHASE_IDLE)
			s->ready = frame_ref(f);
		break;
	}
}

/* Is there somebody to tell that this call is cancelled? */
static bool
runs_in_current(const struct session *s, const struct call *c)
{
	return (gate_open(s) || s->phase == PHASE_READYING ||
		   s->phase == PHASE_RESTORING) &&
	    (c->attempt == NULL || c->attempt->generation == s->generation);
}

/* The server may know the call by an id of ours. */
static void
forward_cancel(struct session *s, struct call *c, struct frame *f)
{
	struct frame *ours;

	if (s->calls.n_notifications >= MAX_CANCELS) {
		session_log(s, LEVEL_INFO,
		    "%s does not acknowledge what it is told: a cancel is "
		    "dropped",
		    s->config.host);
		return;
	}
	if (c->sent == NULL) {
		session_send_one_way(s, f);
		return;
	}
	ours = msg_cancel(c->sent->id, json_get(f->params, "reason"));
	session_send_one_way(s, ours);
	frame_unref(ours);
}

static void
client_cancel(struct session *s, struct frame *f)
{
	struct call *c = calls_find(&s->calls,
	    json_get(f->params, "requestId"));

	if (c == NULL || c->cancelled) {
		session_log(s, LEVEL_DEBUG,
		    "cancel of a request that is not open: ignored");
		return;
	}
	if (is_method(c->frame, "initialize")) {
		session_log(s, LEVEL_INFO,
		    "initialize cannot be cancelled: ignored");
		return;
	}
	c->cancelled = true;
	if (c->state == CALL_HELD || c->state == CALL_REFUSED ||
	    c->state == CALL_SUSPECT ||
	    (c->attempt != NULL &&
		(!c->attempt->live || c->attempt->waits_for_user) &&
		c->attempt->last_event_id.n == 0)) {
		session_log(s, LEVEL_INFO, "cancelled before it was sent");
		session_fail(s, c, NULL);
		return;
	}
	if (runs_in_current(s, c))
		forward_cancel(s, c, f);
	if (c->state == CALL_ACCEPTED || !c->attempt->live ||
	    c->attempt->waits_for_user) {
		session_fail(s, c, NULL);
		return;
	}
	/* The server owes no answer now; the stream may end by itself. */
	c->attempt->abort_at = s->now + LINGER_MS;
	session_due(s, c->attempt->abort_at);
}

static void
client_notification(struct session *s, struct frame *f)
{
	if (s->phase >= PHASE_CLOSING)
		return;
	if (is_method(f, "notifications/initialized")) {
		client_initialized(s, f);
		return;
	}
	if (is_method(f, "notifications/cancelled")) {
		client_cancel(s, f);
		return;
	}
	if (s->generation->lost && gate_open(s))
		session_renew_unasked(s, "it was lost");
	if (gate_open(s) && s->calls.n_notifications < MAX_NOTIFICATIONS) {
		session_send_one_way(s, f);
	} else if (s->phase == PHASE_IDLE || s->phase == PHASE_DEAD) {
		session_log(s, LEVEL_INFO,
		    "a notification without a session: dropped");
	} else if (is_full(s, f, false)) {
		if (session_may_say(s, &s->say_dropped_at))
			session_log(s, LEVEL_WARN,
			    "too much waits for %s: notifications are dropped",
			    s->config.host);
	} else {
		hold(s, f, NULL);
	}
}

/* An answer of the client to a question of the server. */
static void
client_answer(struct session *s, struct frame *f)
{
	uint64_t generation, asker;
	struct frame *out = questions_answer(&s->questions, f, &generation,
	    &asker);

	if (out == NULL)
		session_log(s, LEVEL_INFO,
		    "an answer to no open question of the server: dropped");
	else if (generation != s->generation->number)
		session_log(s, LEVEL_INFO,
		    "an answer for a session that is gone: dropped");
	else
		session_send_answer(s, out, asker);
	frame_unref(out);
	session_want_read(s);
}

void
session_answer_all(struct session *s)
{
	const struct question *q;
	struct frame *f;

	while ((q = s->questions.list) != NULL) {
		f = session_nobody(span_of(q->client_id), q->ticket == 0);
		client_answer(s, f);
		frame_unref(f);
	}
}

void
session_client(struct session *s, struct frame *f)
{
	switch (f->kind) {
	case FRAME_REQUEST:
		client_request(s, f);
		break;
	case FRAME_NOTIFICATION:
		client_notification(s, f);
		break;
	default:
		client_answer(s, f);
		break;
	}
}

/* --- frames that are none --- */

/* Schemas before 2025-11-25 know no error without an id. */
static bool
may_omit_id(const struct session *s)
{
	const char *version = s->generation->version;

	if (version == NULL && s->former != NULL)
		version = s->former->version;
	return version == NULL || strcmp(version, "2025-11-25") >= 0;
}

/* What the client said to a question with this id cannot be passed on. The
 * server waits for it, so it is told. */
static void
answer_unusable(struct session *s, struct span id, const char *why)
{
	struct fault fault = { 0 };
	struct frame *f;

	if (id.p == NULL)
		return;
	f = fault_frame(id, &fault, "The client's answer %s.", why);
	client_answer(s, f);
	frame_unref(f);
}

void
session_invalid(struct session *s, const struct session_input *in)
{
	struct fault fault = { .code = FAULT_REQUEST };
	struct span id = in->kind == INPUT_TOO_LONG ? in->id :
	    in->frame != NULL                       ? in->frame->id :
						      no_span;
	struct frame *f;

	/* To an answer there is no answer, not even to a bad one. */
	if (in->frame != NULL &&
	    (in->frame->result.p != NULL || in->frame->error.p != NULL)) {
		session_log(s, LEVEL_WARN,
		    "an answer of the client is no JSON-RPC message: dropped");
		answer_unusable(s, id, "is no JSON-RPC message");
		return;
	}
	if (in->kind == INPUT_TOO_LONG) {
		fault.reason = "too_large";
		f = fault_frame(id, &fault,
		    "Message too large: %llu bytes. Not sent. Send less, or "
		    "raise --max-message.",
		    (unsigned long long)in->size);
	} else if (in->bad == INVALID_SYNTAX) {
		fault.code = FAULT_PARSE;
		f = fault_frame(id, &fault,
		    "Parse error: this line is no JSON in UTF-8. Not sent.");
	} else if (in->bad == INVALID_BATCH) {
		f = fault_frame(id, &fault,
		    "Invalid request: one message a line, no batch. Not sent.");
	} else {
		f = fault_frame(id, &fault,
		    "Invalid request: no JSON-RPC 2.0 message. Not sent.");
	}
	session_log(s, LEVEL_WARN,
	    "a line from the client is not forwarded: %s",
	    in->kind == INPUT_TOO_LONG    ? "too long" :
		in->bad == INVALID_SYNTAX ? "no JSON" :
		in->bad == INVALID_BATCH  ? "a batch" :
					    "no JSON-RPC message");
	/* To an over-long notification or answer the client gets none. */
	if (in->kind == INPUT_TOO_LONG && id.p != NULL && !in->request) {
		frame_unref(f);
		answer_unusable(s, id, "is too large");
	} else if (id.p == NULL && !may_omit_id(s)) {
		frame_unref(f);
	} else {
		reject(s, f);
	}
}
