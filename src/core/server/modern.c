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
call_again(struct server *e, struct server_order *o)
{
	struct frame *again = msg_with_id(o->sent, span_of(server_own_id(e)));

	frame_unref(o->sent);
	o->sent = again;
	server_order_send(e, o);
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
	    f->retry_after_ms <= BOUND_RETRY_AFTER_MS;
}

/* Sends a later round again if it did not reach the server or was refused for
 * now: the session cannot, because the call has begun. Returns false if it is
 * not sent again. */
static bool
call_retry(struct server *e, struct server_order *o, const struct facts *f)
{
	/* After a 503 a tool may have run. */
	bool refused = is_refused_for_now(f) &&
	    (f->status == 429 || !server_order_is(o, "tools/call"));
	int64_t wait = backoff_retry(o->tries, e->random);

	if (o->rounds == 0 || o->former || (!refused && !is_unsent(f)))
		return false;
	if (refused && wait < f->retry_after_ms)
		wait = f->retry_after_ms;
	if (o->window_end == ALARM_NEVER)
		o->window_end = e->now + BOUND_ROUND_MS;
	if (e->now + wait > o->window_end)
		return false;
	o->tries++;
	o->again_at = e->now + wait;
	server_log(e, LEVEL_INFO,
	    "the answers to the questions of %s are sent again in %lld ms",
	    e->config.host, (long long)wait);
	return true;
}

/* Makes the session renew, to find out anew what the server speaks.
 * unless_changed: a tool may have given this answer, so the call ran unless
 * another protocol is found. */
static void
call_renew(struct server *e, struct server_order *o, struct server_attempt *i,
    const struct facts *f, bool unless_changed)
{
	struct facts gone = server_facts_gone(o->rounds > 0);

	server_log(e, LEVEL_INFO,
	    "%s answered %d, which no modern server does: its protocol is "
	    "detected again",
	    e->config.host, f->status);
	server_belief_doubt(e);
	server_attempt_let_go(e, i);
	gone.verb = o->verb;
	if (o->rounds == 0)
		gone.status = f->status;
	gone.ran_unless_changed = unless_changed && o->rounds == 0;
	server_order_tell_done(e, o, &gone);
}

/* --- what an answer means --- */

/*
 * The session is told a result or an error as a legacy client knows it, or an
 * error that mcpsplice makes. Or the answer is not told, and the call goes on:
 * the client is asked, the tools are listed again, or the session renews.
 */

/* Answers the order of i with an error that mcpsplice makes. more is as for
 * server_order_fail. */
static void
fail(struct server *e, struct server_attempt *i, enum fault_id id,
    const struct fault_args *more)
{
	struct server_order *o = i->order;

	server_attempt_let_go(e, i);
	server_order_fail(e, o, id, more);
}

/* --- to list the tools --- */

static void
list_tools(struct server *e, struct server_order *o, struct span cursor,
    int64_t end_at)
{
	struct frame *plain, *modern;
	struct server_attempt *i;
	struct buf params;

	buf_init(&params, 0);
	buf_adds(&params, "{");
	if (cursor.p != NULL) {
		buf_adds(&params, "\"cursor\":");
		buf_addspan(&params, cursor);
	}
	buf_adds(&params, "}");
	plain = msg_call(span_of(server_own_id(e)), "tools/list",
	    buf_span(&params));
	modern = era_request_to_modern(plain, buf_span(&e->meta), no_span);
	o->pages++;
	i = server_attempt_new_modern(e, FOR_TOOLS, o, modern);
	i->end_at = end_at;
	frame_unref(plain);
	frame_unref(modern);
	buf_free(&params);
}

static void
dropped_tool(const char *name, const char *why, void *arg)
{
	struct server *e = arg;

	if (++e->dropped_tools <= BOUND_TOOL_WARNINGS)
		server_log(e, LEVEL_WARN, "a tool of %s is left out: %s (%s)",
		    e->config.host, name, why);
}

/* Learns which tools there are. Returns the tools/list result without the tools
 * that no client may have; the caller frees it. */
static struct frame *
learn_tools(struct server *e, struct frame *m)
{
	struct frame *good;

	e->dropped_tools = 0;
	good = mirror_learn(e->mirror, m, dropped_tool, e);
	if (e->dropped_tools > BOUND_TOOL_WARNINGS)
		server_log(e, LEVEL_WARN,
		    "and %zu more tools of %s are left out",
		    e->dropped_tools - BOUND_TOOL_WARNINGS, e->config.host);
	return good;
}

static void
take_tools(struct server *e, struct server_order *o, struct server_attempt *i,
    struct frame *m)
{
	struct span cursor = json_get(m->result, "nextCursor");
	int64_t end_at = i->end_at;

	if (m->kind != FRAME_RESULT && m->kind != FRAME_ERROR)
		return;
	server_attempt_let_go(e, i);
	if (m->kind == FRAME_RESULT)
		frame_unref(learn_tools(e, m));
	if (m->kind == FRAME_RESULT && json_kind(cursor) == '"' &&
	    o->pages < BOUND_TOOL_PAGES)
		list_tools(e, o, cursor, end_at);
	else
		call_again(e, o);
}

/* --- answers --- */

/* Tells the answer under the id that the session gave its request. */
static void
tell(struct server *e, struct server_order *o, const struct facts *f,
    struct frame *m)
{
	struct frame *own = msg_with_id(m, o->body->id);

	server_order_tell_message(e, o, f, own);
	frame_unref(own);
}

static void
tell_result(struct server *e, struct server_order *o, const struct facts *f,
    struct frame *m)
{
	bool tools = server_order_is(o, "tools/list");
	struct frame *good, *legacy;

	good = tools ? learn_tools(e, m) : frame_ref(m);
	if (o->native) {
		tell(e, o, f, good);
	} else {
		legacy = era_answer_to_legacy(good, o->body->method,
		    server_order_is(o, "tools/call") &&
			mirror_wraps(e->mirror, o->body));
		tell(e, o, f, legacy);
		frame_unref(legacy);
	}
	frame_unref(good);
}

/* Only some methods allow the server to ask the client something. */
static void
take_question(struct server *e, struct server_order *o,
    struct server_attempt *i, struct frame *m)
{
	if (o->former) {
		server_attempt_let_go(e, i);
		server_order_tell_gone(e, o, true);
		return;
	}
	if (era_may_ask(o->body->method)) {
		server_attempt_let_go(e, i);
		o->tries = 0;
		o->window_end = ALARM_NEVER;
		server_inputs_ask(e, o, m);
		return;
	}
	fail(e, i, FAULT_INPUT_NOT_ALLOWED, NULL);
}

static void
take_result(struct server *e, struct server_order *o, struct server_attempt *i,
    const struct facts *f, struct frame *m)
{
	struct span type = json_get(m->result, "resultType");

	server_belief_took_version(e, i);
	server_belief_confirm(e);
	if (o->renamed)
		e->raw_names = o->raw_name;
	if (o->native || type.p == NULL || json_kind(type) == 'n' ||
	    json_string_is(type, "complete"))
		tell_result(e, o, f, m);
	else if (json_string_is(type, "input_required"))
		take_question(e, o, i, m);
	else /* perhaps a task, which the client did not say that it can take */
		fail(e, i, FAULT_RESULT_TYPE,
		    &(struct fault_args){ .name = type });
}

/* Fails a call that the server refused with -32020 and that another tools/list
 * cannot help. missing names the header that was left out because its value is
 * too long, or is empty. */
static void
fail_mismatch(struct server *e, struct server_attempt *i, const struct facts *f,
    const struct frame *m, struct span missing)
{
	fail(e, i, missing.n > 0 ? FAULT_HEADER_HUGE : FAULT_HEADERS_REFUSED,
	    &(struct fault_args){ .why = missing,
		.maybe = i->order->rounds > 0,
		.status = f->status,
		.refusal = m });
}

/* The server refused the mirrored headers. What mcpsplice knows of its tools is
 * most likely old. */
static void
take_mismatch(struct server *e, struct server_order *o,
    struct server_attempt *i, const struct facts *f, const struct frame *m)
{
	struct buf missing;

	if (o->former) {
		server_attempt_let_go(e, i);
		server_order_tell_gone(e, o, o->rounds > 0);
		return;
	}
	/* For a tool its arguments are likelier to be the reason. */
	if (i->two_names && !o->renamed &&
	    (o->mismatched || !server_order_is(o, "tools/call"))) {
		o->renamed = true;
		o->raw_name = !o->raw_name;
		server_attempt_let_go(e, i);
		call_again(e, o);
		return;
	}
	buf_init(&missing, 0);
	mirror_left_out(e->mirror, o->sent, &missing);
	if (o->mismatched || span_is(buf_span(&missing), "Mcp-Name")) {
		fail_mismatch(e, i, f, m, buf_span(&missing));
	} else {
		server_log(e, LEVEL_INFO,
		    "%s refused the headers: its tools are listed again, then "
		    "the call is sent again",
		    e->config.host);
		o->mismatched = true;
		server_attempt_let_go(e, i);
		list_tools(e, o, no_span, e->now + BOUND_TOOL_PAGES_MS);
	}
	buf_free(&missing);
}

/* The server refused the version, so it changed. The session renews once to
 * find out. */
static void
take_version(struct server *e, struct server_order *o, struct server_attempt *i,
    const struct facts *f, const struct frame *m)
{
	if (server_belief_refused_version(e, i)) {
		call_renew(e, o, i, f, false);
		return;
	}
	fail(e, i, FAULT_VERSION_REFUSED,
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
take_error(struct server *e, struct server_order *o, struct server_attempt *i,
    const struct facts *f, struct frame *m)
{
	long code = msg_error_code(m);
	struct frame *legacy;

	if (code == ERROR_HEADER_MISMATCH) {
		take_mismatch(e, o, i, f, m);
	} else if (code == ERROR_UNSUPPORTED_VERSION && is_of_our_version(o)) {
		take_version(e, o, i, f, m);
	} else if (server_belief_may_doubt(e, i) &&
	    (server_belief_contradicts(f, m) || lacks_discover(o, code))) {
		call_renew(e, o, i, f, true);
	} else if (call_retry(e, o, f)) {
		server_attempt_let_go(e, i);
	} else {
		server_belief_took_version(e, i);
		legacy = o->native ?
		    frame_ref(m) :
		    era_answer_to_legacy(m, o->body->method, false);
		tell(e, o, f, legacy);
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
take_notification(struct server *e, struct server_order *o,
    const struct facts *f, struct frame *m)
{
	struct frame *legacy;

	if (o->native) {
		server_order_tell_message(e, o, f, m);
		return;
	}
	if (is_ours(m) || goes_backwards(o, m)) {
		server_log(e, LEVEL_DEBUG,
		    "a notification is not meant for the client: dropped");
		return;
	}
	legacy = era_notification_to_legacy(m);
	server_order_tell_message(e, o, f, legacy);
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
take_request(struct server *e, struct server_order *o, struct server_attempt *i,
    const struct facts *f, struct frame *m)
{
	if (!holds_up(m)) {
		server_log(e, LEVEL_INFO,
		    "%s sent a request, which a modern server must not do: "
		    "dropped",
		    e->config.host);
		return;
	}
	if (server_belief_may_doubt(e, i)) {
		call_renew(e, o, i, f, true);
		return;
	}
	fail(e, i, FAULT_ASKS_BY_REQUEST, NULL);
}

void
server_answer_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m)
{
	struct server_order *o = i->order;

	if (o == NULL || o->answered || o->body->kind != FRAME_REQUEST)
		return;
	if (i->purpose == FOR_TOOLS)
		take_tools(e, o, i, m);
	else if (m->kind == FRAME_NOTIFICATION)
		take_notification(e, o, f, m);
	else if (m->kind == FRAME_RESULT)
		take_result(e, o, i, f, m);
	else if (m->kind == FRAME_ERROR)
		take_error(e, o, i, f, m);
	else
		take_request(e, o, i, f, m);
}

/* The session begins anew. Calls under way may end by themselves, but a call
 * that waits for the client or for tools/list would go on in a session that is
 * gone. */
void
server_modern_leave(struct server *e)
{
	struct server_order *o;

	server_listen_leave(e);
	for (o = e->orders; o != NULL; o = o->next) {
		if (o->dropped || o->mode != MODE_MODERN)
			continue;
		o->former = true;
		if (o->inputs != NULL || o->again_at != ALARM_NEVER)
			server_order_tell_gone(e, o, true);
		else if (server_attempt_of(e, FOR_TOOLS, o) != NULL)
			server_order_tell_gone(e, o, o->rounds > 0);
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
server_modern_abort(struct server *e, struct server_order *o)
{
	if (is_listens(o))
		server_listen_close(e, o);
}

static void
answer_ping(struct server *e, struct server_order *o)
{
	server_order_tell_answer(e, o, msg_result(o->body->id, "{}"));
}

static void
set_level(struct server *e, struct server_order *o)
{
	struct span level = json_get(o->body->params, "level");

	if (era_level(level) < 0) {
		server_order_fail(e, o, FAULT_BAD_LEVEL, NULL);
		return;
	}
	buf_reset(&e->level);
	buf_addspan(&e->level, level);
	answer_ping(e, o);
}

/* The answer would be a stream, which no legacy client knows. */
static void
answer_listen(struct server *e, struct server_order *o)
{
	server_order_fail(e, o, FAULT_LISTEN_IS_MODERN, NULL);
}

static void
send_native(struct server *e, struct server_order *o)
{
	o->native = true;
	o->sent = frame_ref(o->body);
	if (server_order_is(o, "subscriptions/listen"))
		server_native_open(e, o);
	else
		server_order_send(e, o);
}

static void
send_request(struct server *e, struct server_order *o)
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
		send_native(e, o);
		return;
	}
	for (i = 0; i < sizeof here / sizeof *here; i++)
		if (server_order_is(o, here[i].method)) {
			here[i].answer(e, o);
			return;
		}
	if (era_to_modern(o->body) != ERA_BOTH) {
		server_order_fail(e, o, FAULT_NOT_IN_MODERN, NULL);
		return;
	}
	o->sent = era_request_to_modern(o->body, buf_span(&e->meta),
	    buf_span(&e->level));
	server_order_send(e, o);
}

/* At a modern server, closing the stream is the cancel. */
static void
cancel(struct server *e, struct span id)
{
	struct server_order *o = server_order_asking(e, id, MODE_MODERN);

	if (o == NULL)
		return;
	server_modern_abort(e, o);
	server_inputs_end(e, o, true);
	server_order_tell_done(e, o, &server_facts_aborted);
}

static void
send_note(struct server *e, struct server_order *o)
{
	if (server_order_is(o, "notifications/cancelled")) {
		cancel(e, json_get(o->body->params, "requestId"));
	} else if (era_to_modern(o->body) == ERA_BOTH) {
		o->native = e->client_discover != NULL;
		o->sent = o->native ?
		    frame_ref(o->body) :
		    era_request_to_modern(o->body, buf_span(&e->meta), no_span);
		server_order_send(e, o);
		return;
	}
	server_order_tell_done(e, o, &server_facts_accepted);
}

void
server_modern_send(struct server *e, struct server_order *o)
{
	if (o->verb == VERB_GET && e->client_discover != NULL) {
		/* A modern client opens its own listen. */
		server_order_tell_head(e, o, &server_facts_stream);
	} else if (o->verb == VERB_GET) {
		server_listen_open(e, o);
	} else if (o->verb == VERB_POST && o->body->kind == FRAME_REQUEST) {
		send_request(e, o);
	} else if (o->verb == VERB_POST &&
	    o->body->kind == FRAME_NOTIFICATION) {
		send_note(e, o);
	} else {
		if (o->verb == VERB_POST && !server_inputs_answer(e, o->body))
			server_log(e, LEVEL_DEBUG,
			    "an answer matches no open question: dropped");
		server_order_tell_done(e, o, &server_facts_accepted);
	}
}

/* --- the ends of exchanges --- */

void
server_modern_head(struct server *e, struct server_attempt *i,
    const struct facts *f)
{
	if (i->order != NULL)
		server_order_tell_head(e, i->order, f);
}

/* A notification that the server does not want counts as delivered. */
static void
note_done(struct server *e, struct server_order *o, const struct facts *f)
{
	bool refused = f->status >= 400 && f->status < 500 &&
	    f->status != 401 && f->status != 403 && f->status != 429;
	bool taken = f->ending == ENDING_COMPLETE &&
	    ((f->status >= 200 && f->status < 300) || refused);

	server_order_tell_done(e, o, taken ? &server_facts_accepted : f);
}

void
server_modern_done(struct server *e, struct server_attempt *i,
    const struct facts *f)
{
	struct server_order *o = i->order;
	struct facts told = *f;

	if (o == NULL)
		return;
	/* A stream of a modern server is not resumed, and the session must not
	 * send a call again that had rounds. */
	told.last_event_id = no_span;
	told.retry_ms = -1;
	if (o->rounds > 0 && is_refused_for_now(f))
		told.retry_after_ms = -1;
	if (i->purpose == FOR_TOOLS)
		call_again(e, o);
	else if (o->body->kind != FRAME_REQUEST)
		note_done(e, o, &told);
	else if (o->answered)
		server_order_tell_done(e, o, &told);
	else if (server_belief_may_doubt(e, i) &&
	    server_belief_contradicts(f, NULL))
		call_renew(e, o, i, f, true);
	else if (call_retry(e, o, f))
		return;
	else if (o->rounds > 0 && is_unsent(f))
		server_order_fail(e, o, FAULT_UNDELIVERED_INPUTS,
		    &(struct fault_args){ .why = f->why });
	else
		server_order_tell_done(e, o, &told);
}

/* --- time --- */

void
server_modern_tick(struct server *e)
{
	struct server_order *o;
	struct server_attempt *i;

	for (i = e->attempts; i != NULL; i = i->next) {
		if (i->dropped || i->end_at > e->now)
			continue;
		o = i->order;
		server_attempt_end(e, i);
		if (o != NULL)
			call_again(e, o);
	}
	for (o = e->orders; o != NULL; o = o->next) {
		if (o->dropped)
			continue;
		if (o->again_at <= e->now)
			server_order_send(e, o);
		else if (o->inputs_end <= e->now)
			server_inputs_expire(e, o);
	}
}
