/*
 * This file is the dispatcher of the core/server reducer. It hands each input
 * to the file that knows the server's era or the purpose of the attempt; what
 * those do becomes a queue of actions.
 *
 * An exchange has two ends: an order is the session's, an attempt is the one
 * that transport makes. Both are in lists. The end of the step frees those that
 * are over, so that a walk over a list may end any of them.
 */
#include "config.h"

#include "core/server/parts.h"

#include <stdlib.h>

#include "core/era/mirror.h"

struct server *
server_new(const struct server_config *config)
{
	struct server *s = xcalloc(1, sizeof *s);

	s->config = *config;
	alarm_init(&s->alarms);
	server_belief_init(s);
	own_ids_init(&s->ids, OWN_ID_SERVER, config->prefix);
	buf_init(&s->taken, 0);
	buf_init(&s->meta, 0);
	buf_init(&s->level, 0);
	s->mirror = mirror_new();
	return s;
}

/* --- the way down --- */

static bool
is_initialize(const struct order *order)
{
	return order->body != NULL && order->body->kind == FRAME_REQUEST &&
	    json_key_is(order->body->method, "initialize");
}

/* Does this order of the session go straight to the transport? With a legacy
 * Streamable server all do but an initialize; and any that carries the id of a
 * session does. */
static bool
passes(const struct server *s, const struct order *order)
{
	return order->session.n > 0 ||
	    (s->belief.mode == MODE_LEGACY && !is_initialize(order));
}

static void
probe(struct server *s, struct frame *discover)
{
	frame_unref(s->client_discover);
	s->client_discover = discover == NULL ? NULL : frame_ref(discover);
}

static void
send(struct server *s, const struct order *order)
{
	struct server_order *o = server_order_new(s, order);

	if (is_initialize(order)) {
		o->mode = MODE_UNKNOWN;
		server_detect_begin(s, o, order->discovered);
		return;
	}
	switch (s->belief.mode) {
	case MODE_SSE:
		server_sse2024_send(s, o);
		break;
	case MODE_MODERN:
		server_modern_send(s, o);
		break;
	default:
		/* The server is not known. The session sends such an order only
		 * when it tidies up after a failed initialize. */
		server_order_tell_gone(s, o, false);
		break;
	}
}

static void
abort_order(struct server *s, uint64_t ticket)
{
	struct server_order *o = server_order_find(s, ticket);
	struct facts f = server_facts_aborted;

	if (o == NULL)
		return;
	f.verb = o->verb;
	if (o->mode == MODE_SSE)
		server_sse2024_abort(s, o);
	else if (o->mode == MODE_MODERN)
		server_modern_abort(s, o);
	server_order_tell_done(s, o, &f);
}

/* --- the way up --- */

/* What takes the head, a message and the end of an attempt. */
static const struct {
	void (*head)(struct server *, struct server_attempt *,
	    const struct facts *); /* NULL: the head says nothing */
	void (*message)(struct server *, struct server_attempt *,
	    const struct facts *, struct frame *);
	void (*done)(struct server *, struct server_attempt *,
	    const struct facts *);
} takers[] = {
	[FOR_INITIALIZE] = { server_detect_head, server_detect_message,
	    server_detect_done },
	[FOR_DISCOVER] = { server_detect_head, server_detect_message,
	    server_detect_done },
	[FOR_STREAM] = { NULL, server_sse2024_in_message,
	    server_sse2024_in_done },
	[FOR_POST] = { NULL, server_sse2024_in_message,
	    server_sse2024_in_done },
	[FOR_CALL] = { server_modern_head, server_answer_message,
	    server_modern_done },
	[FOR_TOOLS] = { NULL, server_answer_message, server_modern_done },
	[FOR_LISTEN] = { server_listen_head, server_listen_message,
	    server_listen_done },
};

static void
take_endpoint(struct server *s, struct server_attempt *a, bool ok)
{
	if (a->purpose == FOR_STREAM)
		server_sse2024_in_endpoint(s, a, ok);
	else
		server_detect_endpoint(s, a, ok);
}

/* The user has to sign in before this exchange goes on (text NULL: not
 * any more). */
static void
take_sign_in(struct server *s, struct server_attempt *a, const char *text)
{
	if (a->order == NULL)
		return;
	server_detect_user(s, a, text != NULL);
	server_tell_user(s, a->order, text);
}

/* A legacy server refuses the revision of the session, which asks a witness
 * whether that is so. */
static void
take_refusal(struct server *s, const struct event *in)
{
	struct facts f = *in->facts;
	struct event out = *in;

	server_belief_name(s, in->facts, in->frame);
	f.other_revision = true;
	out.facts = &f;
	events_add(&s->events, &out);
}

static void
take(struct server *s, const struct event *in)
{
	struct server_attempt *a = server_attempt_find(s, in->ticket);

	if (!server_owns(in->ticket)) {
		take_refusal(s, in);
		return;
	}
	if (a == NULL)
		return; /* stale: the attempt was ended */
	if (in->head && takers[a->purpose].head != NULL)
		takers[a->purpose].head(s, a, in->facts);
	a->ordered = in->kind != INPUT_DONE;
	if (in->frame != NULL)
		takers[a->purpose].message(s, a, in->facts, in->frame);
	a = server_attempt_find(s, in->ticket);
	if (a == NULL)
		return;
	if (in->kind == INPUT_ENDPOINT)
		take_endpoint(s, a, in->ok);
	else if (in->kind == INPUT_SIGN_IN)
		take_sign_in(s, a, in->text);
	if (in->kind == INPUT_DONE) {
		server_attempt_drop(s, a);
		takers[a->purpose].done(s, a, in->facts);
	}
}

/* --- steps --- */

static void
tick(struct server *s)
{
	server_detect_tick(s);
	server_sse2024_tick(s);
	server_modern_tick(s);
	server_listen_tick(s);
}

static void
end_of_client(struct server *s)
{
	struct server_order *o;

	s->ended = true;
	for (o = s->orders; o != NULL; o = o->next)
		if (!o->dropped && o->inputs != NULL)
			server_inputs_eof(s, o);
}

/* Releases what hangs on a dropped order, and frees it. */
static void
release(struct server *s, struct server_order *o)
{
	if (s->detect.order == o)
		server_detect_end(s);
	server_inputs_end(s, o, false);
	server_order_free(o);
}

static void
sweep_orders(struct server *s)
{
	struct server_order **at = &s->orders, *o;

	while ((o = *at) != NULL) {
		if (o->dropped) {
			*at = o->next;
			release(s, o);
			continue;
		}
		alarm_note(&s->alarms, o->again_at);
		alarm_note(&s->alarms, o->inputs_end);
		at = &o->next;
	}
}

static void
attempt_free(struct server_attempt *a)
{
	frame_unref(a->out.body);
	free(a->version);
	headers_free(&a->mirrored);
	free(a);
}

static void
sweep_attempts(struct server *s)
{
	struct server_attempt **at = &s->attempts, *a;

	while ((a = *at) != NULL) {
		if (a->dropped) {
			*at = a->next;
			attempt_free(a);
			continue;
		}
		alarm_note(&s->alarms, a->end_at);
		at = &a->next;
	}
}

static void
note_subscriptions(struct server *s)
{
	const struct listens *l = s->listens;
	const struct subscription *sub;

	if (l == NULL)
		return;
	alarm_note(&s->alarms, server_resources_due(s));
	if (l->lists != NULL)
		alarm_note(&s->alarms, l->lists->again_at);
	for (sub = l->natives; sub != NULL; sub = sub->next)
		alarm_note(&s->alarms, sub->again_at);
}

/* Frees what was dropped in this step, and notes the times of what stays: the
 * alarms know only those with a name. Orders go first, because detection may
 * still name an attempt that ended with its order. */
static void
sweep(struct server *s)
{
	alarm_recount(&s->alarms);
	sweep_orders(s);
	sweep_attempts(s);
	note_subscriptions(s);
}

uint64_t
server_wants(const struct server *s)
{
	static const uint64_t always = EVENT_BIT(INPUT_EOF) |
	    EVENT_BIT(INPUT_TICK) | EVENT_BIT(EVENT_PROBE) |
	    EVENT_BIT(ACTION_SEND) | EVENT_BIT(INPUT_DONE);
	static const uint64_t busy = EVENT_BIT(INPUT_HEAD) |
	    EVENT_BIT(INPUT_MESSAGE) | EVENT_BIT(INPUT_ENDPOINT) |
	    EVENT_BIT(INPUT_SIGN_IN) | EVENT_BIT(ACTION_ABORT);

	return s->orders == NULL && s->attempts == NULL ? always :
							  always | busy;
}

/* Tells whether this event is for the reducer: of an order of the session that
 * does not pass, or of an attempt, or a refusal that changes what is believed of
 * a legacy server. */
static bool
concerns(const struct server *s, const struct event *in)
{
	switch (in->kind) {
	case ACTION_SEND:
		return !passes(s, in->order);
	case ACTION_ABORT:
		return server_order_find(s, in->ticket) != NULL;
	case INPUT_DONE:
		return server_owns(in->ticket) ||
		    server_belief_refuses(s, in->ticket, in->facts, in->frame);
	case INPUT_HEAD:
	case INPUT_MESSAGE:
	case INPUT_ENDPOINT:
	case INPUT_SIGN_IN:
		return server_owns(in->ticket);
	default:
		return in->kind == INPUT_EOF || in->kind == INPUT_TICK ||
		    in->kind == EVENT_PROBE;
	}
}

bool
server_step(struct server *s, const struct event *in)
{
	if (!concerns(s, in))
		return false;
	s->now = in->now;
	s->random = in->random;
	switch (in->kind) {
	case ACTION_SEND:
		send(s, in->order);
		break;
	case ACTION_ABORT:
		abort_order(s, in->ticket);
		break;
	case EVENT_PROBE:
		probe(s, in->frame);
		break;
	case INPUT_EOF:
		end_of_client(s);
		break;
	case INPUT_TICK:
		tick(s);
		break;
	default:
		take(s, in);
		break;
	}
	sweep(s);
	server_sane(s);
	return true;
}

/* --- looking in, and the end --- */

int64_t
server_deadline(const struct server *s)
{
	return s->alarms.soonest;
}

struct frame *
server_discovered(const struct server *s)
{
	return s->belief.mode == MODE_MODERN ? s->discovered : NULL;
}

bool
server_shares_stream(const struct server *s)
{
	return s->belief.mode == MODE_SSE;
}

void
server_describe(const struct server *s, struct buf *out)
{
	static const char *const modes[] = { "not known yet",
		"legacy, Streamable HTTP", "legacy, HTTP+SSE (2024-11-05)",
		"modern (" REVISION_MODERN ")" };

	buf_addf(out, "server: %s", modes[s->belief.mode]);
	if (s->order_table.n > 0)
		buf_addf(out, "; %zu exchanges translated, as %zu",
		    s->order_table.n, s->attempt_table.n);
	buf_addc(out, '\n');
}

void
server_free(struct server *s)
{
	struct server_order *o;
	struct server_attempt *a;

	if (s == NULL)
		return;
	server_detect_end(s);
	server_sse2024_close(s);
	server_modern_leave(s);
	for (o = s->orders; o != NULL; o = o->next)
		if (!o->dropped)
			server_order_drop(s, o);
	for (a = s->attempts; a != NULL; a = a->next)
		server_attempt_end(s, a);
	sweep(s);
	hash_free(&s->order_table);
	hash_free(&s->attempt_table);
	events_free(&s->events);
	frame_unref(s->client_discover);
	frame_unref(s->initialize);
	frame_unref(s->discovered);
	own_ids_free(&s->ids);
	buf_free(&s->taken);
	buf_free(&s->meta);
	buf_free(&s->level);
	mirror_free(s->mirror);
	free(s);
}
