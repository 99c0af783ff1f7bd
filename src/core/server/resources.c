/*
 * This file keeps the resources that the session subscribes to at a modern
 * server. One subscriptions/listen, l->resources, asks for the whole set. To
 * change the set, a second one, l->successor, is opened. When the server has
 * acknowledged the successor, the first one ends, so that no update is lost.
 * The answer to resources/subscribe waits for that; the answer to
 * resources/unsubscribe does not.
 *
 * There is at most one successor. Changes that come close together are made as
 * one.
 */
#include "config.h"

#include "core/server/parts.h"

#include <stdlib.h>

/* --- the set --- */

/*
 * The resources that the session wants to hear of, and the orders that wait for
 * each. It is a list, searched by hash: the set is small.
 */

/* Returns the place of this resource (raw JSON string) in the list, or the end
 * of the list. */
static struct resource **
uris_find(struct listens *l, struct span uri)
{
	uint64_t hash = msg_id_hash(uri);
	struct resource **at;

	for (at = &l->uris; *at != NULL; at = &(*at)->next)
		/* msg_id_same() compares any two JSON strings. */
		if ((*at)->hash == hash &&
		    msg_id_same(span_of((*at)->text), uri))
			break;
	return at;
}

/* Adds a resource at this place, which is the end of the list. The list owns
 * it. */
static struct resource *
uris_add(struct listens *l, struct resource **at, struct span uri)
{
	struct resource *u = xcalloc(1, sizeof *u);

	u->text = xstrndup(uri.p, uri.n);
	u->hash = msg_id_hash(uri);
	*at = u;
	l->n_uris++;
	l->uri_bytes += uri.n;
	return u;
}

/* Takes the resource at this place out of the list and frees it, with the list
 * of orders that wait for it. */
static void
uris_forget(struct listens *l, struct resource **at)
{
	struct resource *u = *at;
	struct subscriber *w;

	*at = u->next;
	l->n_uris--;
	l->uri_bytes -= strlen(u->text);
	while ((w = u->waiters) != NULL) {
		u->waiters = w->next;
		free(w);
	}
	free(u->text);
	free(u);
}

/* Notes that this order waits for the resource. */
static void
uris_wait(struct resource *u, const struct server_order *o)
{
	struct subscriber *w = xcalloc(1, sizeof *w);

	w->ticket = o->ticket;
	w->next = u->waiters;
	u->waiters = w;
}

/* Writes params.notifications that ask for all resources of the set. */
static void
uris_ask(const struct listens *l, struct buf *asked)
{
	const struct resource *u;

	buf_reset(asked);
	buf_adds(asked, "{\"resourceSubscriptions\":[");
	for (u = l->uris; u != NULL; u = u->next) {
		buf_adds(asked, u->text);
		if (u->next != NULL)
			buf_addc(asked, ',');
	}
	buf_adds(asked, "]}");
}

/* Marks the resources that this acknowledgement honours. Reads no more URIs
 * than one subscription may have. */
static void
uris_honoured(struct listens *l, const struct frame *honours)
{
	struct span all = json_get(honours->params, "notifications");
	struct span list = json_get(all, "resourceSubscriptions"), key, value;
	struct resource *u;
	size_t at = 0, n = 0;

	for (u = l->uris; u != NULL; u = u->next)
		u->honoured = false;
	if (json_kind(list) != '[')
		return;
	while (n++ < BOUND_LISTED && json_next(list, &at, &key, &value)) {
		if (json_kind(value) != '"')
			continue;
		u = *uris_find(l, value);
		if (u != NULL)
			u->honoured = true;
	}
}

/* Tells whether the subscription asked for exactly this URI. */
static bool
uris_was_asked(const struct subscription *sub, struct span uri)
{
	struct span list = json_get(buf_span(&sub->asked),
	    "resourceSubscriptions");
	struct span key, value;
	size_t at = 0;

	while (json_next(list, &at, &key, &value))
		if (msg_id_same(value, uri))
			return true;
	return false;
}

/* The order with this ticket does not wait any more. */
static void
uris_wait_no_more(struct resource *u, uint64_t ticket)
{
	struct subscriber **at = &u->waiters, *w;

	while ((w = *at) != NULL) {
		if (w->ticket != ticket) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		free(w);
	}
}

enum { BURST_MS = 50 }; /* changes in this time are one change */

/* Each order that waits gets the error under its own id. */
static const struct span no_id = { "null", 4 };

bool
server_resources_is_offered(const struct server *s)
{
	struct span all = json_get(s->discovered->result, "capabilities");

	return span_is(json_get(json_get(all, "resources"), "subscribe"),
	    "true");
}

/* --- answers --- */

static void
done(struct server *s, struct server_order *o)
{
	server_order_tell_answer(s, o, msg_result(o->body->id, "{}"));
}

/* Answers all orders that wait for the resource: with this error, or with a
 * result if error is NULL. */
static void
answer(struct server *s, struct resource *u, struct frame *error)
{
	struct subscriber *w;
	struct server_order *o;

	while ((w = u->waiters) != NULL) {
		u->waiters = w->next;
		o = server_order_find(s, w->ticket);
		free(w);
		if (error == NULL)
			done(s, o);
		else
			server_order_tell_answer(s, o,
			    msg_with_id(error, o->body->id));
	}
}

/* --- changes --- */

static void
change_soon(struct server *s)
{
	struct listens *l = s->listens;

	if (l->change_at == ALARM_NEVER)
		l->change_at = s->now + BURST_MS;
}

/* Ends a change. honours is the acknowledgement; NULL: there is none. A
 * resource that it does not honour leaves the set, and the orders that wait for
 * it get this error. */
static void
settle(struct server *s, const struct frame *honours, struct frame *error)
{
	struct listens *l = s->listens;
	struct resource **at = &l->uris, *u;

	if (honours != NULL)
		uris_honoured(l, honours);
	while ((u = *at) != NULL) {
		if (u->asked && !u->settled &&
		    (honours == NULL || !u->honoured)) {
			answer(s, u, error);
			uris_forget(l, at);
			continue;
		}
		if (u->asked) {
			answer(s, u, NULL);
			u->settled = true;
		}
		at = &u->next;
	}
	if (l->uris == NULL && l->resources != NULL)
		change_soon(s); /* change() ends the stream */
}

static void
settle_honoured(struct server *s, const struct frame *honours)
{
	struct frame *error = fault_make(FAULT_NOT_HONOURED,
	    &(struct fault_args){ .id = no_id, .host = s->config.host });

	settle(s, honours, error);
	frame_unref(error);
}

static bool
is_as_asked(const struct listens *l, const struct buf *asked)
{
	return !l->stale && l->resources != NULL &&
	    l->resources->acknowledged &&
	    span_eq(buf_span(&l->resources->asked), buf_span(asked));
}

static void
change(struct server *s)
{
	struct listens *l = s->listens;
	struct subscription *sub;
	struct resource *u;

	l->change_at = ALARM_NEVER;
	if (l->uris == NULL) {
		server_subscription_free(s, l->resources);
		l->resources = NULL;
		return;
	}
	for (u = l->uris; u != NULL; u = u->next)
		u->asked = true;
	sub = server_subscription_new(NULL);
	uris_ask(l, &sub->asked);
	if (is_as_asked(l, &sub->asked)) {
		server_subscription_free(s, sub);
		settle_honoured(s, l->resources->honours);
		return;
	}
	l->successor = sub;
	alarm_set(&s->alarms, ALARM_PATIENCE, s->now + BOUND_STEP_MS);
	server_subscription_ask(s, sub);
}

/* The set stays as it was before the change. */
void
server_resources_give_up(struct server *s, struct frame *error)
{
	struct listens *l = s->listens;

	alarm_set(&s->alarms, ALARM_PATIENCE, ALARM_NEVER);
	server_subscription_free(s, l->successor);
	l->successor = NULL;
	if (l->stale && l->resources != NULL && l->resources->attempt != NULL)
		server_subscription_lost(s, l->resources, NULL);
	l->stale = false;
	settle(s, NULL, error);
}

static void
time_out(struct server *s)
{
	struct frame *error = fault_make(FAULT_NOT_ACKNOWLEDGED,
	    &(struct fault_args){ .id = no_id,
		.host = s->config.host,
		.count = BOUND_STEP_MS / 1000 });

	server_resources_give_up(s, error);
	frame_unref(error);
}

static void
tell_updated(struct server *s)
{
	const struct resource *u;

	for (u = s->listens->uris; u != NULL; u = u->next)
		if (u->settled)
			server_tell_resource(s, NULL, span_of(u->text));
}

/* The successor takes the place of l->resources. */
static void
succeed(struct server *s)
{
	struct listens *l = s->listens;
	struct subscription *old = l->resources;

	alarm_set(&s->alarms, ALARM_PATIENCE, ALARM_NEVER);
	l->resources = l->successor;
	l->successor = NULL;
	l->stale = false;
	if (old != NULL && old->gap)
		tell_updated(s);
	server_subscription_free(s, old);
	settle_honoured(s, l->resources->honours);
}

void
server_resources_acknowledged(struct server *s, struct subscription *sub)
{
	if (sub == s->listens->successor) {
		succeed(s);
		return;
	}
	if (server_subscription_take_gap(sub))
		tell_updated(s);
}

/* --- what comes --- */

/* Until the successor is acknowledged, l->resources tells the same updates, so
 * those of the successor are not wanted. A URI that nobody subscribed to is a
 * part of a resource that somebody did subscribe to, unless the subscription
 * asked for exactly this URI: then it was unsubscribed. */
bool
server_resources_wants(const struct server *s, const struct subscription *sub,
    const struct frame *m)
{
	struct listens *l = s->listens;
	struct span uri = json_get(m->params, "uri");

	if (sub == l->successor && l->resources != NULL &&
	    l->resources->acknowledged)
		return false;
	if (!json_key_is(m->method, "notifications/resources/updated") ||
	    json_kind(uri) != '"')
		return true;
	return *uris_find(l, uri) != NULL || !uris_was_asked(sub, uri);
}

/* --- the session's requests --- */

static void
subscribe(struct server *s, struct server_order *o, struct span uri)
{
	struct listens *l = server_tell_listens(s);
	struct resource **at = uris_find(l, uri), *u = *at;

	if (u != NULL && u->settled) {
		done(s, o);
		return;
	}
	if (u == NULL) {
		if (l->n_uris == BOUND_LISTED ||
		    uri.n > BOUND_QUEUE_BYTES - l->uri_bytes) {
			server_order_fail(s, o, FAULT_SUBSCRIPTIONS_FULL, NULL);
			return;
		}
		u = uris_add(l, at, uri);
		change_soon(s);
	}
	uris_wait(u, o);
}

static void
unsubscribe(struct server *s, struct server_order *o, struct span uri)
{
	struct listens *l = server_tell_listens(s);
	struct resource **at = uris_find(l, uri);

	if (*at != NULL) {
		answer(s, *at, NULL);
		uris_forget(l, at);
		change_soon(s);
	}
	done(s, o);
}

void
server_resources_subscribe(struct server *s, struct server_order *o)
{
	struct span uri = json_get(o->body->params, "uri");

	if (!server_resources_is_offered(s))
		server_order_fail(s, o, FAULT_NO_SUBSCRIPTIONS, NULL);
	else if (json_kind(uri) != '"')
		server_order_fail(s, o, FAULT_BAD_URI, NULL);
	else if (json_key_is(o->body->method, "resources/subscribe"))
		subscribe(s, o, uri);
	else
		unsubscribe(s, o, uri);
}

/* --- the session gives up --- */

void
server_resources_stale(struct server *s)
{
	struct listens *l = s->listens;

	if (l->resources == NULL || l->resources->attempt == NULL)
		return;
	l->stale = true;
	l->resources->gap |= l->resources->acknowledged;
	change_soon(s);
}

struct server_order *
server_resources_waiting(const struct server *s)
{
	const struct resource *u;

	for (u = s->listens->uris; u != NULL; u = u->next)
		if (u->waiters != NULL)
			return server_order_find(s, u->waiters->ticket);
	return NULL;
}

/* A resource leaves the set if no order waits for it and none was told that it
 * is subscribed. */
void
server_resources_abort(struct server *s, const struct server_order *o)
{
	struct listens *l = s->listens;
	struct resource **at = &l->uris, *u;

	while ((u = *at) != NULL) {
		uris_wait_no_more(u, o->ticket);
		if (u->settled || u->waiters != NULL) {
			at = &u->next;
			continue;
		}
		uris_forget(l, at);
		change_soon(s);
	}
}

void
server_resources_leave(struct server *s)
{
	struct listens *l = s->listens;
	const struct subscriber *w;

	while (l->uris != NULL) {
		for (w = l->uris->waiters; w != NULL; w = w->next)
			server_order_tell_gone(s,
			    server_order_find(s, w->ticket), false);
		uris_forget(l, &l->uris);
	}
}

/* --- times --- */

/* Returns when l->resources opens its next stream. A change comes sooner, and
 * replaces it. */
static int64_t
again_at(const struct listens *l)
{
	if (l->resources == NULL || l->successor != NULL ||
	    l->change_at != ALARM_NEVER)
		return ALARM_NEVER;
	return l->resources->again_at;
}

void
server_resources_tick(struct server *s)
{
	struct listens *l = s->listens;

	if (alarm_is_due(&s->alarms, ALARM_PATIENCE, s->now))
		time_out(s);
	if (l->successor == NULL && l->change_at <= s->now)
		change(s);
	if (server_subscription_is_due(s, l->successor))
		server_subscription_ask(s, l->successor);
	if (again_at(l) <= s->now) {
		uris_ask(l, &l->resources->asked);
		server_subscription_ask(s, l->resources);
	}
}

int64_t
server_resources_due(const struct server *s)
{
	const struct listens *l = s->listens;

	if (l->successor != NULL)
		return l->successor->again_at;
	return alarm_sooner(l->change_at, again_at(l));
}
