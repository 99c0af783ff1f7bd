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
	struct server *e = xcalloc(1, sizeof *e);

	e->config = *config;
	alarm_init(&e->alarms);
	server_belief_init(e);
	buf_init(&e->own_id, 0);
	buf_init(&e->taken, 0);
	buf_init(&e->meta, 0);
	buf_init(&e->level, 0);
	e->mirror = mirror_new();
	return e;
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
passes(const struct server *e, const struct order *order)
{
	return order->session.n > 0 ||
	    (e->belief.mode == MODE_LEGACY && !is_initialize(order));
}

static void
probe(struct server *e, struct frame *discover)
{
	frame_unref(e->client_discover);
	e->client_discover = discover == NULL ? NULL : frame_ref(discover);
}

static void
send(struct server *e, const struct order *order)
{
	struct server_order *o = server_order_new(e, order);

	if (is_initialize(order)) {
		o->mode = MODE_UNKNOWN;
		server_detect_begin(e, o, order->discovered);
		return;
	}
	switch (e->belief.mode) {
	case MODE_SSE:
		server_sse2024_send(e, o);
		break;
	case MODE_MODERN:
		server_modern_send(e, o);
		break;
	default:
		/* The server is not known. The session sends such an order only
		 * when it tidies up after a failed initialize. */
		server_order_tell_gone(e, o, false);
		break;
	}
}

static void
abort_order(struct server *e, uint64_t ticket)
{
	struct server_order *o = server_order_find(e, ticket);
	struct facts f = server_facts_aborted;

	if (o == NULL)
		return;
	f.verb = o->verb;
	if (o->mode == MODE_SSE)
		server_sse2024_abort(e, o);
	else if (o->mode == MODE_MODERN)
		server_modern_abort(e, o);
	server_order_tell_done(e, o, &f);
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
take_endpoint(struct server *e, struct server_attempt *i, bool ok)
{
	if (i->purpose == FOR_STREAM)
		server_sse2024_in_endpoint(e, i, ok);
	else
		server_detect_endpoint(e, i, ok);
}

/* The user has to sign in before this exchange goes on (text NULL: not
 * any more). */
static void
take_sign_in(struct server *e, struct server_attempt *i, const char *text)
{
	if (i->order == NULL)
		return;
	server_detect_user(e, i, text != NULL);
	server_tell_user(e, i->order, text);
}

/* A legacy server refuses the revision of the session, which asks a witness
 * whether that is so. */
static void
take_refusal(struct server *e, const struct event *in)
{
	struct facts f = *in->facts;
	struct event out = *in;

	server_belief_name(e, in->facts, in->frame);
	f.other_revision = true;
	out.facts = &f;
	events_add(&e->events, &out);
}

static void
take(struct server *e, const struct event *in)
{
	struct server_attempt *i = server_attempt_find(e, in->ticket);

	if (!server_owns(in->ticket)) {
		take_refusal(e, in);
		return;
	}
	if (i == NULL)
		return; /* stale: the attempt was ended */
	if (in->head && takers[i->purpose].head != NULL)
		takers[i->purpose].head(e, i, in->facts);
	i->ordered = in->kind != INPUT_DONE;
	if (in->frame != NULL)
		takers[i->purpose].message(e, i, in->facts, in->frame);
	i = server_attempt_find(e, in->ticket);
	if (i == NULL)
		return;
	if (in->kind == INPUT_ENDPOINT)
		take_endpoint(e, i, in->ok);
	else if (in->kind == INPUT_SIGN_IN)
		take_sign_in(e, i, in->text);
	if (in->kind == INPUT_DONE) {
		server_attempt_drop(e, i);
		takers[i->purpose].done(e, i, in->facts);
	}
}

/* --- steps --- */

static void
tick(struct server *e)
{
	server_detect_tick(e);
	server_sse2024_tick(e);
	server_modern_tick(e);
	server_listen_tick(e);
}

static void
end_of_client(struct server *e)
{
	struct server_order *o;

	e->ended = true;
	for (o = e->orders; o != NULL; o = o->next)
		if (!o->dropped && o->inputs != NULL)
			server_inputs_eof(e, o);
}

/* Releases what hangs on a dropped order, and frees it. */
static void
release(struct server *e, struct server_order *o)
{
	if (e->detect.order == o)
		server_detect_end(e);
	server_inputs_end(e, o, false);
	server_order_free(o);
}

static void
sweep_orders(struct server *e)
{
	struct server_order **at = &e->orders, *o;

	while ((o = *at) != NULL) {
		if (o->dropped) {
			*at = o->next;
			release(e, o);
			continue;
		}
		alarm_note(&e->alarms, o->again_at);
		alarm_note(&e->alarms, o->inputs_end);
		at = &o->next;
	}
}

static void
sweep_attempts(struct server *e)
{
	struct server_attempt **at = &e->attempts, *i;

	while ((i = *at) != NULL) {
		if (i->dropped) {
			*at = i->next;
			server_attempt_free(i);
			continue;
		}
		alarm_note(&e->alarms, i->end_at);
		at = &i->next;
	}
}

static void
note_subscriptions(struct server *e)
{
	const struct listens *l = e->listens;
	const struct subscription *fd;

	if (l == NULL)
		return;
	alarm_note(&e->alarms, server_resources_due(e));
	if (l->lists != NULL)
		alarm_note(&e->alarms, l->lists->again_at);
	for (fd = l->natives; fd != NULL; fd = fd->next)
		alarm_note(&e->alarms, fd->again_at);
}

/* Frees what was dropped in this step, and notes the times of what stays: the
 * alarms know only those with a name. Orders go first, because detection may
 * still name an attempt that ended with its order. */
static void
sweep(struct server *e)
{
	alarm_recount(&e->alarms);
	sweep_orders(e);
	sweep_attempts(e);
	note_subscriptions(e);
}

uint64_t
server_wants(const struct server *e)
{
	static const uint64_t always = EVENT_BIT(INPUT_EOF) |
	    EVENT_BIT(INPUT_TICK) | EVENT_BIT(EVENT_PROBE) |
	    EVENT_BIT(ACTION_SEND) | EVENT_BIT(INPUT_DONE);
	static const uint64_t busy = EVENT_BIT(INPUT_HEAD) |
	    EVENT_BIT(INPUT_MESSAGE) | EVENT_BIT(INPUT_ENDPOINT) |
	    EVENT_BIT(INPUT_SIGN_IN) | EVENT_BIT(ACTION_ABORT);

	return e->orders == NULL && e->attempts == NULL ? always :
							  always | busy;
}

/* Tells whether this event is for the reducer: of an order of the session that
 * does not pass, or of an attempt, or a refusal that changes what is believed of
 * a legacy server. */
static bool
concerns(const struct server *e, const struct event *in)
{
	switch (in->kind) {
	case ACTION_SEND:
		return !passes(e, in->order);
	case ACTION_ABORT:
		return server_order_find(e, in->ticket) != NULL;
	case INPUT_DONE:
		return server_owns(in->ticket) ||
		    server_belief_refuses(e, in->ticket, in->facts, in->frame);
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
server_step(struct server *e, const struct event *in)
{
	if (!concerns(e, in))
		return false;
	e->now = in->now;
	e->random = in->random;
	switch (in->kind) {
	case ACTION_SEND:
		send(e, in->order);
		break;
	case ACTION_ABORT:
		abort_order(e, in->ticket);
		break;
	case EVENT_PROBE:
		probe(e, in->frame);
		break;
	case INPUT_EOF:
		end_of_client(e);
		break;
	case INPUT_TICK:
		tick(e);
		break;
	default:
		take(e, in);
		break;
	}
	sweep(e);
	server_sane(e);
	return true;
}

/* --- looking in, and the end --- */

int64_t
server_deadline(const struct server *e)
{
	return e->alarms.soonest;
}

struct frame *
server_discovered(const struct server *e)
{
	return e->belief.mode == MODE_MODERN ? e->discovered : NULL;
}

bool
server_shares_stream(const struct server *e)
{
	return e->belief.mode == MODE_SSE;
}

void
server_describe(const struct server *e, struct buf *out)
{
	static const char *const modes[] = { "not known yet",
		"legacy, Streamable HTTP", "legacy, HTTP+SSE (2024-11-05)",
		"modern (" REVISION_MODERN ")" };

	buf_addf(out, "server: %s", modes[e->belief.mode]);
	if (e->order_table.n > 0)
		buf_addf(out, "; %zu exchanges translated, as %zu",
		    e->order_table.n, e->attempt_table.n);
	buf_addc(out, '\n');
}

void
server_free(struct server *e)
{
	struct server_order *o;
	struct server_attempt *i;

	if (e == NULL)
		return;
	server_detect_end(e);
	server_sse2024_close(e);
	server_modern_leave(e);
	for (o = e->orders; o != NULL; o = o->next)
		if (!o->dropped)
			server_order_drop(e, o);
	for (i = e->attempts; i != NULL; i = i->next)
		server_attempt_end(e, i);
	sweep(e);
	hash_free(&e->order_table);
	hash_free(&e->attempt_table);
	events_free(&e->events);
	frame_unref(e->client_discover);
	frame_unref(e->initialize);
	frame_unref(e->discovered);
	buf_free(&e->own_id);
	buf_free(&e->taken);
	buf_free(&e->meta);
	buf_free(&e->level);
	mirror_free(e->mirror);
	free(e);
}
