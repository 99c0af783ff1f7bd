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
has_order(const struct server *e, const struct server_order *order)
{
	return server_order_find(e, order->ticket) == order;
}

static bool
has_attempt(const struct server *e, const struct server_attempt *attempt)
{
	return server_attempt_find(e, attempt->ticket) == attempt;
}

/* The attempts that may still end the order. */
static size_t
attempts_of(const struct server *e, const struct server_order *o)
{
	const struct server_attempt *i;
	size_t n = 0;

	for (i = e->attempts; i != NULL; i = i->next)
		n += i->order == o;
	return n;
}

static bool
waits(const struct server *e, uint64_t ticket)
{
	const struct subscriber *w;
	const struct resource *u;

	for (u = e->listens->uris; u != NULL; u = u->next)
		for (w = u->waiters; w != NULL; w = w->next)
			if (w->ticket == ticket)
				return true;
	return false;
}

static bool
is_listen(const struct server *e, const struct server_order *o)
{
	const struct subscription *fd;

	for (fd = e->listens->natives; fd != NULL; fd = fd->next)
		if (fd->order == o)
			return true;
	return waits(e, o->ticket);
}

/* How many subscriptions have this attempt as their stream? */
static size_t
subscriptions_with(const struct listens *l, const struct server_attempt *i)
{
	const struct subscription *fd;
	size_t n = 0;

	n += l->lists != NULL && l->lists->attempt == i;
	n += l->resources != NULL && l->resources->attempt == i;
	n += l->successor != NULL && l->successor->attempt == i;
	for (fd = l->natives; fd != NULL; fd = fd->next)
		n += fd->attempt == i;
	return n;
}

/* --- orders and attempts --- */

static void
sane_order(const struct server *e, const struct server_order *o)
{
	size_t n = attempts_of(e, o);

	assert(!o->dropped);
	assert(!server_owns(o->ticket));
	assert(server_order_find(e, o->ticket) == o);
	assert((o->verb == VERB_POST) == (o->body != NULL));
	assert(n <= 1);
	assert((o->inputs != NULL) == (o->inputs_end != ALARM_NEVER));
	assert(o->inputs == NULL || (n == 0 && o->again_at == ALARM_NEVER));
	assert(o->again_at == ALARM_NEVER || n == 0);
	assert(o->post != POST_TAKEN ||
	    (n == 0 && e->sse != NULL && e->sse->ready));
	assert(o->post != POST_STREAM_ENDED || n == 1);
	/* Something is left that ends it. */
	assert(n == 1 || o->verb == VERB_GET || o->inputs != NULL ||
	    o->again_at != ALARM_NEVER || o->post == POST_TAKEN ||
	    o == e->detect.order || (e->listens != NULL && is_listen(e, o)));
}

static void
sane_attempt(const struct server *e, const struct server_attempt *i)
{
	assert(!i->dropped && server_owns(i->ticket));
	assert(server_attempt_find(e, i->ticket) == i);
	assert((i->ticket & ~((uint64_t)1 << 63)) <= e->next_ticket);
	assert(i->next == NULL || i->next->ticket < i->ticket);
	assert(i->order == NULL || has_order(e, i->order));
	assert(i->order != NULL || i->purpose == FOR_STREAM ||
	    i->purpose == FOR_LISTEN || i->end_at != ALARM_NEVER);
	if (i->purpose == FOR_STREAM)
		assert(e->sse != NULL && e->sse->stream == i);
	if (i->purpose == FOR_LISTEN)
		assert(e->listens != NULL &&
		    subscriptions_with(e->listens, i) == 1);
}

static void
sane_detect(const struct server *e)
{
	const struct detect *d = &e->detect;
	bool is_timed = alarm_is_set(&e->alarms, ALARM_ENDPOINT);

	if (d->order == NULL) {
		assert(d->step == TRY_NONE && d->attempt == NULL);
		assert(d->head == NULL && d->facts == NULL && d->words == NULL);
		assert(!is_timed);
		return;
	}
	assert(has_order(e, d->order) && d->order->body != NULL);
	assert(d->step != TRY_NONE && e->belief.mode == MODE_UNKNOWN);
	assert(d->attempt != NULL && has_attempt(e, d->attempt));
	assert(d->attempt->order == d->order ||
	    d->attempt->purpose == FOR_STREAM);
	assert(!is_timed || (d->step == TRY_STREAM && !e->sse->ready));
}

static void
sane_belief(const struct server *e)
{
	const struct belief *b = &e->belief;

	assert(b->mode == MODE_UNKNOWN || b->mode == b->last);
	assert(!b->modern_only || b->last == MODE_MODERN);
	assert(b->mode == MODE_UNKNOWN || e->initialize != NULL);
	assert(b->mode != MODE_MODERN || e->discovered != NULL);
	assert(b->named != NULL || b->named_until == UINT64_MAX);
}

/* --- streams --- */

/* listen: the order that listens, or NULL. */
static void
sane_kept(const struct server *e, const struct server_order *listen,
    const struct kept *kept)
{
	size_t i, bytes = 0;

	for (i = 0; i < kept->n; i++)
		bytes += frame_size(kept->list[i]) + sizeof *kept->list;
	assert(kept->n <= BOUND_ENDPOINT_MESSAGES &&
	    kept->bytes <= BOUND_ENDPOINT_MESSAGES_BYTES);
	assert(kept->bytes == bytes);
	assert(listen == NULL || (has_order(e, listen) && kept->n == 0));
}

static void
sane_sse(const struct server *e)
{
	const struct sse2024 *s = e->sse;

	if (s == NULL) {
		assert(!alarm_is_set(&e->alarms, ALARM_SILENCE));
		return;
	}
	assert(e->belief.mode == MODE_SSE || e->detect.step == TRY_STREAM);
	assert(has_attempt(e, s->stream) && s->stream->purpose == FOR_STREAM);
	assert(s->ready || !alarm_is_set(&e->alarms, ALARM_SILENCE));
	sane_kept(e, s->listen, &s->kept);
}

static void
sane_subscription(const struct server *e, const struct subscription *fd)
{
	const struct server_attempt *i = fd->attempt;

	assert(i == NULL ||
	    (has_attempt(e, i) && i->purpose == FOR_LISTEN &&
		i->order == fd->order && fd->again_at == ALARM_NEVER));
	assert(!fd->acknowledged || (i != NULL && fd->honours != NULL));
	assert(!fd->gap || fd->honours != NULL);
}

static void
sane_native(const struct server *e, const struct subscription *fd)
{
	sane_subscription(e, fd);
	assert(fd->order != NULL && has_order(e, fd->order));
	assert(fd->attempt != NULL || fd->again_at != ALARM_NEVER);
}

static void
sane_uri(const struct server *e, const struct resource *u)
{
	const struct subscriber *w;

	for (w = u->waiters; w != NULL; w = w->next)
		assert(server_order_find(e, w->ticket) != NULL);
	assert(u->hash == msg_id_hash(span_of(u->text)));
	assert(u->settled == (u->waiters == NULL));
	assert(!u->settled || u->asked);
}

static void
sane_set(const struct server *e, const struct listens *l)
{
	const struct resource *u;
	size_t n = 0, bytes = 0;

	for (u = l->uris; u != NULL; u = u->next) {
		sane_uri(e, u);
		n++;
		bytes += strlen(u->text);
	}
	assert(n == l->n_uris && n <= BOUND_SUBSCRIBED);
	assert(bytes == l->uri_bytes && bytes <= BOUND_SUBSCRIBED_BYTES);
	assert((l->successor != NULL) ==
	    alarm_is_set(&e->alarms, ALARM_PATIENCE));
}

static void
sane_listens(const struct server *e)
{
	const struct listens *l = e->listens;
	const struct subscription *const own[] = { l->lists, l->resources,
		l->successor };
	const struct subscription *fd;
	size_t i;

	assert(e->belief.mode == MODE_MODERN);
	sane_kept(e, l->get, &l->kept);
	for (i = 0; i < sizeof own / sizeof *own; i++) {
		if (own[i] == NULL)
			continue;
		assert(own[i]->order == NULL);
		sane_subscription(e, own[i]);
	}
	for (fd = l->natives; fd != NULL; fd = fd->next)
		sane_native(e, fd);
	sane_set(e, l);
}

/* --- the queue --- */

/* Is the end of this order told behind this place of the queue? */
static bool
is_done_later(const struct server *e, size_t at, uint64_t ticket)
{
	const struct event *out;

	while ((out = events_peek(&e->events, ++at)) != NULL)
		if (out->kind == INPUT_DONE && out->ticket == ticket)
			return true;
	return false;
}

static void
sane_event(const struct server *e, size_t at, const struct event *out)
{
	const struct server_order *o = server_order_find(e, out->ticket);

	switch (out->kind) {
	case ACTION_SEND:
	case ACTION_ABORT:
		assert(server_owns(out->ticket));
		break;
	case INPUT_HEAD:
	case INPUT_MESSAGE:
	case INPUT_SIGN_IN:
		assert((o != NULL) != is_done_later(e, at, out->ticket));
		break;
	case INPUT_DONE:
		assert(o == NULL && !is_done_later(e, at, out->ticket));
		break;
	default:
		assert(out->ticket == 0);
		break;
	}
}

void
server_sane(const struct server *e)
{
	const struct server_order *o;
	const struct server_attempt *i;
	const struct event *out;
	size_t at, orders = 0, attempts = 0;

	for (o = e->orders; o != NULL; o = o->next, orders++)
		sane_order(e, o);
	for (i = e->attempts; i != NULL; i = i->next, attempts++)
		sane_attempt(e, i);
	assert(orders == e->order_table.n && attempts == e->attempt_table.n);
	sane_detect(e);
	sane_belief(e);
	sane_sse(e);
	if (e->listens != NULL)
		sane_listens(e);
	else
		assert(!alarm_is_set(&e->alarms, ALARM_PATIENCE));
	server_inputs_sane(e);
	for (at = 0; (out = events_peek(&e->events, at)) != NULL; at++)
		sane_event(e, at, out);
}

#endif
