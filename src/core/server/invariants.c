/* This file asserts the invariants that the head of state.h lists. */
#include "config.h"

#include "core/server/parts.h"

#ifdef MCPSPLICE_SANE

#undef NDEBUG
#include <assert.h>

#include "core/server/state.h"
#include "core/wire/msg.h"

/* --- what hangs on what --- */

static bool
has_order(const struct server *s, const struct server_order *order)
{
	return server_order_find(s, order->ticket) == order;
}

static bool
has_attempt(const struct server *s, const struct server_attempt *attempt)
{
	return server_attempt_find(s, attempt->ticket) == attempt;
}

/* The attempts that may still end the order. */
static size_t
attempts_of(const struct server *s, const struct server_order *o)
{
	const struct server_attempt *a;
	size_t n = 0;

	for (a = s->attempts; a != NULL; a = a->next)
		n += a->order == o;
	return n;
}

static bool
waits(const struct server *s, uint64_t ticket)
{
	const struct subscriber *w;
	const struct resource *u;

	for (u = s->listens->uris; u != NULL; u = u->next)
		for (w = u->waiters; w != NULL; w = w->next)
			if (w->ticket == ticket)
				return true;
	return false;
}

static bool
is_listen(const struct server *s, const struct server_order *o)
{
	const struct subscription *sub;

	for (sub = s->listens->natives; sub != NULL; sub = sub->next)
		if (sub->order == o)
			return true;
	return waits(s, o->ticket);
}

/* How many subscriptions have this attempt as their stream? */
static size_t
subscriptions_with(const struct listens *l, const struct server_attempt *a)
{
	const struct subscription *sub;
	size_t n = 0;

	n += l->lists != NULL && l->lists->attempt == a;
	n += l->resources != NULL && l->resources->attempt == a;
	n += l->successor != NULL && l->successor->attempt == a;
	for (sub = l->natives; sub != NULL; sub = sub->next)
		n += sub->attempt == a;
	return n;
}

/* --- orders and attempts --- */

static void
sane_order(const struct server *s, const struct server_order *o)
{
	size_t n = attempts_of(s, o);

	assert(!o->dropped);
	assert(!server_owns(o->ticket));
	assert(server_order_find(s, o->ticket) == o);
	assert((o->verb == VERB_POST) == (o->body != NULL));
	assert(n <= 1);
	assert((o->inputs != NULL) == (o->inputs_end != ALARM_NEVER));
	assert(o->inputs == NULL || (n == 0 && o->again_at == ALARM_NEVER));
	assert(o->again_at == ALARM_NEVER || n == 0);
	assert(o->post != POST_TAKEN ||
	    (n == 0 && s->sse != NULL && s->sse->ready));
	assert(o->post != POST_STREAM_ENDED || n == 1);
	/* Something is left that ends it. */
	assert(n == 1 || o->verb == VERB_GET || o->inputs != NULL ||
	    o->again_at != ALARM_NEVER || o->post == POST_TAKEN ||
	    o == s->detect.order || (s->listens != NULL && is_listen(s, o)));
}

static void
sane_attempt(const struct server *s, const struct server_attempt *a)
{
	assert(!a->dropped && server_owns(a->ticket));
	assert(server_attempt_find(s, a->ticket) == a);
	assert((a->ticket & ~((uint64_t)1 << 63)) <= s->next_ticket);
	assert(a->next == NULL || a->next->ticket < a->ticket);
	assert(a->order == NULL || has_order(s, a->order));
	assert(a->order != NULL || a->purpose == FOR_STREAM ||
	    a->purpose == FOR_LISTEN || a->end_at != ALARM_NEVER);
	if (a->purpose == FOR_STREAM)
		assert(s->sse != NULL && s->sse->stream == a);
	if (a->purpose == FOR_LISTEN)
		assert(s->listens != NULL &&
		    subscriptions_with(s->listens, a) == 1);
}

static void
sane_detect(const struct server *s)
{
	const struct detect *d = &s->detect;
	bool is_timed = alarm_is_set(&s->alarms, ALARM_ENDPOINT);

	if (d->order == NULL) {
		assert(d->step == TRY_NONE && d->attempt == NULL);
		assert(d->head == NULL && d->facts == NULL && d->words == NULL);
		assert(!is_timed);
		return;
	}
	assert(has_order(s, d->order) && d->order->body != NULL);
	assert(d->step != TRY_NONE && s->belief.mode == MODE_UNKNOWN);
	assert(d->attempt != NULL && has_attempt(s, d->attempt));
	assert(d->attempt->order == d->order ||
	    d->attempt->purpose == FOR_STREAM);
	assert(!is_timed || (d->step == TRY_STREAM && !s->sse->ready));
}

static void
sane_belief(const struct server *s)
{
	const struct belief *b = &s->belief;

	assert(b->mode == MODE_UNKNOWN || b->mode == b->last);
	assert(!b->modern_only || b->last == MODE_MODERN);
	assert(b->mode == MODE_UNKNOWN || s->initialize != NULL);
	assert(b->mode != MODE_MODERN || s->discovered != NULL);
	assert(b->named != NULL || b->named_until == UINT64_MAX);
}

/* --- streams --- */

/* listen: the order that listens, or NULL. */
static void
sane_kept(const struct server *s, const struct server_order *listen,
    const struct kept *kept)
{
	size_t i, bytes = 0;

	for (i = 0; i < kept->n; i++)
		bytes += frame_size(kept->list[i]) + sizeof *kept->list;
	assert(kept->n <= BOUND_FEW && kept->bytes <= BOUND_QUEUE_BYTES);
	assert(kept->bytes == bytes);
	assert(listen == NULL || (has_order(s, listen) && kept->n == 0));
}

static void
sane_sse(const struct server *s)
{
	const struct sse2024 *sse = s->sse;

	if (sse == NULL) {
		assert(!alarm_is_set(&s->alarms, ALARM_SILENCE));
		return;
	}
	assert(s->belief.mode == MODE_SSE || s->detect.step == TRY_STREAM);
	assert(has_attempt(s, sse->stream) &&
	    sse->stream->purpose == FOR_STREAM);
	assert(sse->ready || !alarm_is_set(&s->alarms, ALARM_SILENCE));
	sane_kept(s, sse->listen, &sse->kept);
}

static void
sane_subscription(const struct server *s, const struct subscription *sub)
{
	const struct server_attempt *a = sub->attempt;

	assert(a == NULL ||
	    (has_attempt(s, a) && a->purpose == FOR_LISTEN &&
		a->order == sub->order && sub->again_at == ALARM_NEVER));
	assert(!sub->acknowledged || (a != NULL && sub->honours != NULL));
	assert(!sub->gap || sub->honours != NULL);
}

static void
sane_native(const struct server *s, const struct subscription *sub)
{
	sane_subscription(s, sub);
	assert(sub->order != NULL && has_order(s, sub->order));
	assert(sub->attempt != NULL || sub->again_at != ALARM_NEVER);
}

static void
sane_uri(const struct server *s, const struct resource *u)
{
	const struct subscriber *w;

	for (w = u->waiters; w != NULL; w = w->next)
		assert(server_order_find(s, w->ticket) != NULL);
	assert(u->hash == msg_id_hash(span_of(u->text)));
	assert(u->settled == (u->waiters == NULL));
	assert(!u->settled || u->asked);
}

static void
sane_set(const struct server *s, const struct listens *l)
{
	const struct resource *u;
	size_t n = 0, bytes = 0;

	for (u = l->uris; u != NULL; u = u->next) {
		sane_uri(s, u);
		n++;
		bytes += strlen(u->text);
	}
	assert(n == l->n_uris && n <= BOUND_LISTED);
	assert(bytes == l->uri_bytes && bytes <= BOUND_QUEUE_BYTES);
	assert((l->successor != NULL) ==
	    alarm_is_set(&s->alarms, ALARM_PATIENCE));
}

static void
sane_listens(const struct server *s)
{
	const struct listens *l = s->listens;
	const struct subscription *const own[] = { l->lists, l->resources,
		l->successor };
	const struct subscription *sub;
	size_t i;

	assert(s->belief.mode == MODE_MODERN);
	sane_kept(s, l->get, &l->kept);
	for (i = 0; i < sizeof own / sizeof *own; i++) {
		if (own[i] == NULL)
			continue;
		assert(own[i]->order == NULL);
		sane_subscription(s, own[i]);
	}
	for (sub = l->natives; sub != NULL; sub = sub->next)
		sane_native(s, sub);
	sane_set(s, l);
}

/* --- the queue --- */

/* Is the end of this order told behind this place of the queue? */
static bool
is_done_later(const struct server *s, size_t at, uint64_t ticket)
{
	const struct event *out;

	while ((out = events_peek(&s->events, ++at)) != NULL)
		if (out->kind == INPUT_DONE && out->ticket == ticket)
			return true;
	return false;
}

static void
sane_event(const struct server *s, size_t at, const struct event *out)
{
	const struct server_order *o = server_order_find(s, out->ticket);

	switch (out->kind) {
	case ACTION_SEND:
	case ACTION_ABORT:
		assert(server_owns(out->ticket));
		break;
	case INPUT_HEAD:
	case INPUT_MESSAGE:
	case INPUT_SIGN_IN:
		assert((o != NULL) != is_done_later(s, at, out->ticket));
		break;
	case INPUT_DONE:
		assert(o == NULL && !is_done_later(s, at, out->ticket));
		break;
	default:
		assert(out->ticket == 0);
		break;
	}
}

void
server_sane(const struct server *s)
{
	const struct server_order *o;
	const struct server_attempt *a;
	const struct event *out;
	size_t at, orders = 0, attempts = 0;

	for (o = s->orders; o != NULL; o = o->next, orders++)
		sane_order(s, o);
	for (a = s->attempts; a != NULL; a = a->next, attempts++)
		sane_attempt(s, a);
	assert(orders == s->order_table.n && attempts == s->attempt_table.n);
	sane_detect(s);
	sane_belief(s);
	sane_sse(s);
	if (s->listens != NULL)
		sane_listens(s);
	else
		assert(!alarm_is_set(&s->alarms, ALARM_PATIENCE));
	server_inputs_sane(s);
	for (at = 0; (out = events_peek(&s->events, at)) != NULL; at++)
		sane_event(s, at, out);
}

#endif
