/*
 * This file makes calls to a modern server out of the session's orders, and
 * takes the answers and the ends of their exchanges. The requests of a modern
 * client pass byte for byte, those of a legacy client are translated
 * (core/era/era).
 *
 * An order has at most one attempt at a time. An attempt that has nothing more
 * to say while its order goes on is let go: it ends by itself, or is ended
 * soon.
 */
#include "config.h"

#include "core/server/parts.h"

#include <stdlib.h>

#include "core/era/mirror.h"
#include "core/exchange/backoff.h"

/* --- a call is sent again, or the session renews --- */

/* Sends the same request under a new id. */
static void
call_again(struct server *s, struct server_order *o)
{
	struct frame *again = msg_with_id(o->sent,
	    span_of(own_id_new(&s->ids)));

	frame_unref(o->sent);
	o->sent = again;
	server_order_send(s, o);
}

/* Tells whether the facts say that the request did not reach the server. */
static bool
is_unsent(const struct facts *f)
{
	return !f->sent &&
	    (f->ending == ENDING_RESOLVE || f->ending == ENDING_CONNECT ||
		f->ending == ENDING_CUT);
}

/* Tells whether the server refused the request for now and named a time to wait
 * that is short enough. */
static bool
is_refused_for_now(const struct facts *f)
{
	return f->ending == ENDING_COMPLETE &&
	    (f->status == 429 || f->status == 503) && f->retry_after_ms >= 0 &&
	    f->retry_after_ms <= BOUND_RETRY_MS;
}

/* Sends a later round again if it did not reach the server or was refused for
 * now: the session cannot, because the call has begun. Returns false if it is
 * not sent again. */
static bool
call_retry(struct server *s, struct server_order *o, const struct facts *f)
{
	/* After a 503 a tool may have run. */
	bool refused = is_refused_for_now(f) &&
	    (f->status == 429 || !server_order_is(o, "tools/call"));
	int64_t wait = backoff_retry(o->tries, s->random);

	if (o->rounds == 0 || o->former || (!refused && !is_unsent(f)))
		return false;
	if (refused && wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	if (o->window_end == ALARM_NEVER)
		o->window_end = s->now + BOUND_RETRY_MS;
	if (s->now + wait > o->window_end)
		return false;
	o->tries++;
	o->again_at = s->now + wait;
	server_log(s, LEVEL_INFO,
	    "sending the answers to %s's questions again in %lld ms",
	    s->config.host, (long long)wait);
	return true;
}

/* Makes the session renew, to find out anew what the server speaks.
 * unless_changed: a tool may have given this answer, so the call ran unless
 * another protocol is found. */
static void
call_renew(struct server *s, struct server_order *o, struct server_attempt *a,
    const struct facts *f, bool unless_changed)
{
	struct facts gone = server_facts_gone(o->rounds > 0);

	server_log(s, LEVEL_INFO,
	    "%s answered %d, which no modern server does: detecting its "
	    "protocol again",
	    s->config.host, f->status);
	server_belief_doubt(s);
	server_attempt_let_go(s, a);
	gone.verb = o->verb;
	if (o->rounds == 0)
		gone.status = f->status;
	gone.ran_unless_changed = unless_changed && o->rounds == 0;
	server_order_tell_done(s, o, &gone);
}

/* --- what an answer means --- */

/*
 * The session is told a result or an error as a legacy client knows it, or an
 * error that mcpsplice makes. Or the answer is not told, and the call goes on:
 * the client is asked, the tools are listed again, or the session renews.
 */

/* Answers the order of a with an error that mcpsplice makes. more is as for
 * server_order_fail. */
static void
fail(struct server *s, struct server_attempt *a, enum fault_id id,
    const struct fault_args *more)
{
	struct server_order *o = a->order;

	server_attempt_let_go(s, a);
	server_order_fail(s, o, id, more);
}

/* --- to list the tools --- */

static void
list_tools(struct server *s, struct server_order *o, struct span cursor,
    int64_t end_at)
{
	struct frame *plain, *modern;
	struct server_attempt *a;
	struct buf params;

	buf_init(&params, 0);
	buf_adds(&params, "{");
	if (cursor.p != NULL) {
		buf_adds(&params, "\"cursor\":");
		buf_addspan(&params, cursor);
	}
	buf_adds(&params, "}");
	plain = msg_call(span_of(own_id_new(&s->ids)), "tools/list",
	    buf_span(&params));
	modern = era_request_to_modern(plain, buf_span(&s->meta), no_span);
	o->pages++;
	a = server_attempt_new_modern(s, FOR_TOOLS, o, modern);
	a->end_at = end_at;
	frame_unref(plain);
	frame_unref(modern);
	buf_free(&params);
}

static void
dropped_tool(const char *name, const char *why, void *arg)
{
	struct server *s = arg;

	if (++s->dropped_tools <= BOUND_IN_A_ROW)
		server_log(s, LEVEL_WARN, "leaving out a tool of %s: %s (%s)",
		    s->config.host, name, why);
}

/* Learns which tools there are. Returns the tools/list result without the tools
 * that no client may have; the caller frees it. */
static struct frame *
learn_tools(struct server *s, struct frame *m)
{
	struct frame *good;

	s->dropped_tools = 0;
	good = mirror_learn(s->mirror, m, dropped_tool, s);
	if (s->dropped_tools > BOUND_IN_A_ROW)
		server_log(s, LEVEL_WARN, "leaving out %zu more of %s's tools",
		    s->dropped_tools - BOUND_IN_A_ROW, s->config.host);
	return good;
}

static void
take_tools(struct server *s, struct server_order *o, struct server_attempt *a,
    struct frame *m)
{
	struct span cursor = json_get(m->result, "nextCursor");
	int64_t end_at = a->end_at;

	if (m->kind != FRAME_RESULT && m->kind != FRAME_ERROR)
		return;
	server_attempt_let_go(s, a);
	if (m->kind == FRAME_RESULT)
		frame_unref(learn_tools(s, m));
	if (m->kind == FRAME_RESULT && json_kind(cursor) == '"' &&
	    o->pages < BOUND_TOOL_PAGES)
		list_tools(s, o, cursor, end_at);
	else
		call_again(s, o);
}

/* --- answers --- */

/* Tells the answer under the id that the session gave its request. */
static void
tell(struct server *s, struct server_order *o, const struct facts *f,
    struct frame *m)
{
	struct frame *own = msg_with_id(m, o->body->id);

	server_order_tell_message(s, o, f, own);
	frame_unref(own);
}

static void
tell_result(struct server *s, struct server_order *o, const struct facts *f,
    struct frame *m)
{
	bool tools = server_order_is(o, "tools/list");
	struct frame *good, *legacy;

	good = tools ? learn_tools(s, m) : frame_ref(m);
	if (o->native) {
		tell(s, o, f, good);
	} else {
		legacy = era_answer_to_legacy(good, o->body->method,
		    server_order_is(o, "tools/call") &&
			mirror_wraps(s->mirror, o->body));
		tell(s, o, f, legacy);
		frame_unref(legacy);
	}
	frame_unref(good);
}

/* Only some methods allow the server to ask the client something. */
static void
take_question(struct server *s, struct server_order *o,
    struct server_attempt *a, struct frame *m)
{
	if (o->former) {
		server_attempt_let_go(s, a);
		server_order_tell_gone(s, o, true);
		return;
	}
	if (era_may_ask(o->body->method)) {
		server_attempt_let_go(s, a);
		o->tries = 0;
		o->window_end = ALARM_NEVER;
		server_inputs_ask(s, o, m);
		return;
	}
	fail(s, a, FAULT_INPUT_NOT_ALLOWED, NULL);
}

static void
take_result(struct server *s, struct server_order *o, struct server_attempt *a,
    const struct facts *f, struct frame *m)
{
	struct span type = json_get(m->result, "resultType");

	server_belief_took_version(s, a);
	server_belief_confirm(s);
	if (o->renamed)
		s->raw_names = o->raw_name;
	if (o->native || type.p == NULL || json_kind(type) == 'n' ||
	    json_string_is(type, "complete"))
		tell_result(s, o, f, m);
	else if (json_string_is(type, "input_required"))
		take_question(s, o, a, m);
	else /* perhaps a task, which the client did not say that it can take */
		fail(s, a, FAULT_RESULT_TYPE,
		    &(struct fault_args){ .name = type });
}

/* Fails a call that the server refused with -32020 and that another tools/list
 * cannot help. missing names the header that was left out because its value is
 * too long, or is empty. */
static void
fail_mismatch(struct server *s, struct server_attempt *a, const struct facts *f,
    const struct frame *m, struct span missing)
{
	fail(s, a, missing.n > 0 ? FAULT_HEADER_HUGE : FAULT_HEADERS_REFUSED,
	    &(struct fault_args){ .why = missing,
		.maybe = a->order->rounds > 0,
		.status = f->status,
		.refusal = m });
}

/* The server refused the mirrored headers. What mcpsplice knows of its tools is
 * most likely old. */
static void
take_mismatch(struct server *s, struct server_order *o,
    struct server_attempt *a, const struct facts *f, const struct frame *m)
{
	struct buf missing;

	if (o->former) {
		server_attempt_let_go(s, a);
		server_order_tell_gone(s, o, o->rounds > 0);
		return;
	}
	/* For a tool its arguments are likelier to be the reason. */
	if (a->two_names && !o->renamed &&
	    (o->mismatched || !server_order_is(o, "tools/call"))) {
		o->renamed = true;
		o->raw_name = !o->raw_name;
		server_attempt_let_go(s, a);
		call_again(s, o);
		return;
	}
	buf_init(&missing, 0);
	mirror_left_out(s->mirror, o->sent, &missing);
	if (o->mismatched || span_is(buf_span(&missing), "Mcp-Name")) {
		fail_mismatch(s, a, f, m, buf_span(&missing));
	} else {
		server_log(s, LEVEL_INFO,
		    "%s refused the headers: listing its tools again, then "
		    "sending the call again",
		    s->config.host);
		o->mismatched = true;
		server_attempt_let_go(s, a);
		list_tools(s, o, no_span, s->now + BOUND_LONG_MS);
	}
	buf_free(&missing);
}

/* The server refused the version, so it changed. The session renews once to
 * find out. */
static void
take_version(struct server *s, struct server_order *o, struct server_attempt *a,
    const struct facts *f, const struct frame *m)
{
	if (server_belief_refused_version(s, a)) {
		call_renew(s, o, a, f, false);
		return;
	}
	fail(s, a, FAULT_VERSION_REFUSED,
	    &(struct fault_args){
		.maybe = o->rounds > 0, .status = f->status, .refusal = m });
}

/* Tells whether the request names the version that mcpsplice speaks: a modern
 * client may ask for another one. */
static bool
is_of_our_version(const struct server_order *o)
{
	return !o->native ||
	    json_string_is(era_request_version(o->body), REVISION_MODERN);
}

/* Tells whether the server does not know server/discover, which every modern
 * server knows. */
static bool
lacks_discover(const struct server_order *o, long code)
{
	return code == FAULT_METHOD && server_order_is(o, "server/discover");
}

static void
take_error(struct server *s, struct server_order *o, struct server_attempt *a,
    const struct facts *f, struct frame *m)
{
	long code = msg_error_code(m);
	struct frame *legacy;

	if (code == ERROR_HEADER_MISMATCH) {
		take_mismatch(s, o, a, f, m);
	} else if (code == ERROR_UNSUPPORTED_VERSION && is_of_our_version(o)) {
		take_version(s, o, a, f, m);
	} else if (server_belief_may_doubt(s, a) &&
	    (server_belief_contradicts(f, m) || lacks_discover(o, code))) {
		call_renew(s, o, a, f, true);
	} else if (call_retry(s, o, f)) {
		server_attempt_let_go(s, a);
	} else {
		server_belief_took_version(s, a);
		legacy = o->native ?
		    frame_ref(m) :
		    era_answer_to_legacy(m, o->body->method, false);
		tell(s, o, f, legacy);
		frame_unref(legacy);
	}
}

/* --- notifications --- */

/* Is it progress that the client must not see, as each round of a call may
 * count from the beginning? */
static bool
goes_backwards(struct server_order *o, const struct frame *m)
{
	return json_key_is(m->method, "notifications/progress") &&
	    !msg_progress(&o->progress, m, o->rounds > 0);
}

/* Tells whether a notification concerns only the exchange between mcpsplice and
 * the server. */
static bool
is_ours(const struct frame *m)
{
	return json_key_is(m->method, "notifications/cancelled") ||
	    json_key_is(m->method, "notifications/subscriptions/acknowledged");
}

static void
take_notification(struct server *s, struct server_order *o,
    const struct facts *f, struct frame *m)
{
	struct frame *legacy;

	if (o->native) {
		server_order_tell_message(s, o, f, m);
		return;
	}
	if (is_ours(m) || goes_backwards(o, m)) {
		server_log(s, LEVEL_DEBUG,
		    "a notification is not meant for the client: dropped");
		return;
	}
	legacy = era_notification_to_legacy(m);
	server_order_tell_message(s, o, f, legacy);
	frame_unref(legacy);
}

/* Tells whether the server waits for the answer to this request, which nobody
 * can give: a legacy server asks like that. */
static bool
holds_up(const struct frame *m)
{
	return json_key_is(m->method, "sampling/createMessage") ||
	    json_key_is(m->method, "elicitation/create");
}

static void
take_request(struct server *s, struct server_order *o, struct server_attempt *a,
    const struct facts *f, struct frame *m)
{
	if (!holds_up(m)) {
		server_log(s, LEVEL_INFO,
		    "%s sent a request, which a modern server must not do: "
		    "dropped",
		    s->config.host);
		return;
	}
	if (server_belief_may_doubt(s, a)) {
		call_renew(s, o, a, f, true);
		return;
	}
	fail(s, a, FAULT_ASKS_BY_REQUEST, NULL);
}

void
server_answer_message(struct server *s, struct server_attempt *a,
    const struct facts *f, struct frame *m)
{
	struct server_order *o = a->order;

	if (o == NULL || o->answered || o->body->kind != FRAME_REQUEST)
		return;
	if (a->purpose == FOR_TOOLS)
		take_tools(s, o, a, m);
	else if (m->kind == FRAME_NOTIFICATION)
		take_notification(s, o, f, m);
	else if (m->kind == FRAME_RESULT)
		take_result(s, o, a, f, m);
	else if (m->kind == FRAME_ERROR)
		take_error(s, o, a, f, m);
	else
		take_request(s, o, a, f, m);
}

/* The session begins anew. Calls under way may end by themselves, but a call
 * that waits for the client or for tools/list would go on in a session that is
 * gone. */
void
server_modern_leave(struct server *s)
{
	struct server_order *o;

	server_listen_leave(s);
	for (o = s->orders; o != NULL; o = o->next) {
		if (o->dropped || o->mode != MODE_MODERN)
			continue;
		o->former = true;
		if (o->inputs != NULL || o->again_at != ALARM_NEVER)
			server_order_tell_gone(s, o, true);
		else if (server_attempt_of(s, FOR_TOOLS, o) != NULL)
			server_order_tell_gone(s, o, o->rounds > 0);
	}
}

/* --- the way down --- */

/* Tells whether listen.c or resources.c keeps this order. */
static bool
is_listens(const struct server_order *o)
{
	return o->verb == VERB_GET ||
	    server_order_is(o, "subscriptions/listen") ||
	    server_order_is(o, "resources/subscribe") ||
	    server_order_is(o, "resources/unsubscribe");
}

void
server_modern_abort(struct server *s, struct server_order *o)
{
	if (is_listens(o))
		server_listen_close(s, o);
}

static void
answer_ping(struct server *s, struct server_order *o)
{
	server_order_tell_answer(s, o, msg_result(o->body->id, "{}"));
}

static void
set_level(struct server *s, struct server_order *o)
{
	struct span level = json_get(o->body->params, "level");

	if (era_level(level) < 0) {
		server_order_fail(s, o, FAULT_BAD_LEVEL, NULL);
		return;
	}
	buf_reset(&s->level);
	buf_addspan(&s->level, level);
	answer_ping(s, o);
}

/* The answer would be a stream, which no legacy client knows. */
static void
answer_listen(struct server *s, struct server_order *o)
{
	server_order_fail(s, o, FAULT_LISTEN_IS_MODERN, NULL);
}

static void
send_native(struct server *s, struct server_order *o)
{
	o->native = true;
	o->sent = frame_ref(o->body);
	if (server_order_is(o, "subscriptions/listen"))
		server_native_open(s, o);
	else
		server_order_send(s, o);
}

static void
send_request(struct server *s, struct server_order *o)
{
	static const struct {
		const char *method;
		void (*answer)(struct server *, struct server_order *);
	} here[] = {
		{ "ping", answer_ping },
		{ "logging/setLevel", set_level },
		{ "resources/subscribe", server_resources_subscribe },
		{ "resources/unsubscribe", server_resources_subscribe },
		{ "subscriptions/listen", answer_listen },
	};
	size_t i;

	if (era_request_version(o->body).p != NULL) {
		send_native(s, o);
		return;
	}
	for (i = 0; i < sizeof here / sizeof *here; i++)
		if (server_order_is(o, here[i].method)) {
			here[i].answer(s, o);
			return;
		}
	if (era_to_modern(o->body) != ERA_BOTH) {
		server_order_fail(s, o, FAULT_NOT_IN_MODERN, NULL);
		return;
	}
	o->sent = era_request_to_modern(o->body, buf_span(&s->meta),
	    buf_span(&s->level));
	server_order_send(s, o);
}

/* At a modern server, closing the stream is the cancel. */
static void
cancel(struct server *s, struct span id)
{
	struct server_order *o = server_order_asking(s, id, MODE_MODERN);

	if (o == NULL)
		return;
	server_modern_abort(s, o);
	server_inputs_end(s, o, true);
	server_order_tell_done(s, o, &server_facts_aborted);
}

static void
send_note(struct server *s, struct server_order *o)
{
	if (server_order_is(o, "notifications/cancelled")) {
		cancel(s, json_get(o->body->params, "requestId"));
	} else if (era_to_modern(o->body) == ERA_BOTH) {
		o->native = s->client_discover != NULL;
		o->sent = o->native ?
		    frame_ref(o->body) :
		    era_request_to_modern(o->body, buf_span(&s->meta), no_span);
		server_order_send(s, o);
		return;
	}
	server_order_tell_done(s, o, &server_facts_accepted);
}

void
server_modern_send(struct server *s, struct server_order *o)
{
	if (o->verb == VERB_GET && s->client_discover != NULL) {
		/* A modern client opens its own listen. */
		server_order_tell_head(s, o, &server_facts_stream);
	} else if (o->verb == VERB_GET) {
		server_listen_open(s, o);
	} else if (o->verb == VERB_POST && o->body->kind == FRAME_REQUEST) {
		send_request(s, o);
	} else if (o->verb == VERB_POST &&
	    o->body->kind == FRAME_NOTIFICATION) {
		send_note(s, o);
	} else {
		if (o->verb == VERB_POST && !server_inputs_answer(s, o->body))
			server_log(s, LEVEL_DEBUG,
			    "an answer matches no open question: dropped");
		server_order_tell_done(s, o, &server_facts_accepted);
	}
}

/* --- the ends of exchanges --- */

void
server_modern_head(struct server *s, struct server_attempt *a,
    const struct facts *f)
{
	if (a->order != NULL)
		server_order_tell_head(s, a->order, f);
}

/* A notification that the server does not want counts as delivered. */
static void
note_done(struct server *s, struct server_order *o, const struct facts *f)
{
	bool refused = f->status >= 400 && f->status < 500 &&
	    f->status != 401 && f->status != 403 && f->status != 429;
	bool taken = f->ending == ENDING_COMPLETE &&
	    ((f->status >= 200 && f->status < 300) || refused);

	server_order_tell_done(s, o, taken ? &server_facts_accepted : f);
}

void
server_modern_done(struct server *s, struct server_attempt *a,
    const struct facts *f)
{
	struct server_order *o = a->order;
	struct facts told = *f;

	if (o == NULL)
		return;
	/* A stream of a modern server is not resumed, and the session must not
	 * send a call again that had rounds. */
	told.last_event_id = no_span;
	told.retry_ms = -1;
	if (o->rounds > 0 && is_refused_for_now(f))
		told.retry_after_ms = -1;
	if (a->purpose == FOR_TOOLS)
		call_again(s, o);
	else if (o->body->kind != FRAME_REQUEST)
		note_done(s, o, &told);
	else if (o->answered)
		server_order_tell_done(s, o, &told);
	else if (server_belief_may_doubt(s, a) &&
	    server_belief_contradicts(f, NULL))
		call_renew(s, o, a, f, true);
	else if (call_retry(s, o, f))
		return;
	else if (o->rounds > 0 && is_unsent(f))
		server_order_fail(s, o, FAULT_UNDELIVERED_INPUTS,
		    &(struct fault_args){ .why = f->why });
	else
		server_order_tell_done(s, o, &told);
}

/* --- time --- */

void
server_modern_tick(struct server *s)
{
	struct server_order *o;
	struct server_attempt *a;

	for (a = s->attempts; a != NULL; a = a->next) {
		if (a->dropped || a->end_at > s->now)
			continue;
		o = a->order;
		server_attempt_end(s, a);
		if (o != NULL)
			call_again(s, o);
	}
	for (o = s->orders; o != NULL; o = o->next) {
		if (o->dropped)
			continue;
		if (o->again_at <= s->now)
			server_order_send(s, o);
		else if (o->inputs_end <= s->now)
			server_inputs_expire(s, o);
	}
}
