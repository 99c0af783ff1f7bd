/*
 * Plays subscriptions/listen for a legacy server: a notification on the
 * server's own stream goes to every listen that asked for it. (doc/protocol.md
 * 7.6)
 */
#include "config.h"

#include "core/modern_client/parts.h"

#include <stdlib.h>

/* --- resources that are watched --- */

/*
 * Resources at a legacy server: each has one subscription for as long as a
 * listen wants it. At most one of subscribe and unsubscribe is under way for a
 * resource, as two may arrive in either order.
 */

/* Frees u. No listen may want it, and no request for it may be under way. */
static void
uri_forget(struct client *c, struct watched *u)
{
	struct watched **at = &c->uris;

	while (*at != u)
		at = &(*at)->next;
	*at = u->next;
	c->n_uris--;
	c->uri_bytes -= strlen(u->raw);
	buf_free(&u->text);
	free(u->raw);
	free(u);
}

/* Sends resources/subscribe (on) or resources/unsubscribe for u. */
static void
uri_send(struct client *c, struct watched *u, bool on)
{
	char *params = xasprintf("{\"uri\":%s}", u->raw);

	client_send_own(c, on ? REQUEST_SUBSCRIBE : REQUEST_UNSUBSCRIBE,
	    on ? "resources/subscribe" : "resources/unsubscribe",
	    span_of(params))
	    ->uri = u;
	u->state = on ? URI_SUBSCRIBING : URI_UNSUBSCRIBING;
	free(params);
}

/* One listen no longer wants u. If it was the last one, u is unsubscribed, or
 * freed if it was never subscribed. */
static void
uri_release(struct client *c, struct watched *u)
{
	if (--u->refs > 0)
		return;
	if (u->state == URI_NEW)
		uri_forget(c, u);
	else if (u->state == URI_ON && !c->ended)
		uri_send(c, u, false);
}

/* Returns the resource with this URI, a JSON string; makes it if there is
 * none. NULL: there are too many, or their URIs are too long. */
static struct watched *
uri_get(struct client *c, struct span raw)
{
	uint64_t hash = msg_id_hash(raw);
	struct watched *u;

	for (u = c->uris; u != NULL; u = u->next)
		/* msg_id_same compares any two JSON strings. */
		if (u->hash == hash && msg_id_same(span_of(u->raw), raw))
			return u;
	if (c->n_uris >= BOUND_LISTED ||
	    raw.n > BOUND_QUEUE_BYTES - c->uri_bytes)
		return NULL;
	u = xcalloc(1, sizeof *u);
	buf_init(&u->text, 0);
	json_string(raw, &u->text);
	u->raw = xstrndup(raw.p, raw.n);
	u->hash = hash;
	u->next = c->uris;
	c->uris = u;
	c->n_uris++;
	c->uri_bytes += raw.n;
	return u;
}

/* --- listens --- */

static struct listen **
listen_of(struct client *c, const struct request *r)
{
	struct listen **at = &c->listens;

	while (*at != NULL && (*at)->request != r)
		at = &(*at)->next;
	return at;
}

/* Removes the listen at *at and its request. With release, its resources are
 * released too. */
static void
listen_drop(struct client *c, struct listen **at, bool release)
{
	struct listen *l = *at;
	size_t i;

	*at = l->next;
	c->n_listens--;
	for (i = 0; release && i < l->n_uris; i++)
		uri_release(c, l->uris[i]);
	kept_clear(&l->early);
	free(l->uris);
	client_drop(c, l->request);
	free(l);
}

void
client_unlisten(struct client *c, struct request *r)
{
	listen_drop(c, listen_of(c, r), true);
}

void
client_listen_free(struct client *c)
{
	while (c->listens != NULL)
		listen_drop(c, &c->listens, false);
	while (c->uris != NULL)
		uri_forget(c, c->uris);
}

static void
tell(struct client *c, const struct listen *l, struct frame *f)
{
	client_write(c, era_notification_to_modern(f, l->request->frame->id));
}

/* Appends the params that tell the client which of its wishes are honoured. */
static void
add_honoured(struct buf *out, const struct listen *l)
{
	const char *sep = "{";
	size_t i;

	buf_adds(out, "{\"notifications\":");
	for (i = 0; i < ERA_FAMILIES; i++)
		if (l->families[i]) {
			buf_addf(out, "%s\"%s\":true", sep,
			    era_families[i].wish);
			sep = ",";
		}
	for (i = 0; i < l->n_uris; i++) {
		if (i == 0)
			buf_addf(out, "%s\"resourceSubscriptions\":[", sep);
		buf_addf(out, "%s%s", i > 0 ? "," : "", l->uris[i]->raw);
	}
	if (l->n_uris > 0)
		buf_addc(out, ']');
	else if (*sep == '{')
		buf_addc(out, '{');
	buf_adds(out, "}}");
}

static void
acknowledge(struct client *c, struct listen *l)
{
	struct buf params;
	struct frame *f;
	size_t i;

	l->acked = true;
	l->ack_at = ALARM_NEVER;
	buf_init(&params, 0);
	add_honoured(&params, l);
	f = msg_call(no_span, "notifications/subscriptions/acknowledged",
	    buf_span(&params));
	tell(c, l, f);
	frame_unref(f);
	buf_free(&params);
	for (i = 0; i < l->early.n; i++)
		tell(c, l, l->early.list[i]);
	kept_clear(&l->early);
}

static bool
has_wishes(const struct listen *l)
{
	size_t i = 0;

	while (i < ERA_FAMILIES && !l->families[i])
		i++;
	return i < ERA_FAMILIES || l->n_uris > 0;
}

/* Acknowledges l if the server has answered for each resource, and either the
 * stream is open or the listen does not need one. */
static void
acknowledge_if_ready(struct client *c, struct listen *l)
{
	if (l->pending == 0 &&
	    (c->listening != LISTENS_PERHAPS || !has_wishes(l)))
		acknowledge(c, l);
}

static bool
has_uri(const struct listen *l, const struct watched *u)
{
	size_t i;

	for (i = 0; i < l->n_uris; i++)
		if (l->uris[i] == u)
			return true;
	return false;
}

/* Removes u from l, which has it. */
static void
remove_uri(struct listen *l, const struct watched *u)
{
	size_t i = 0, n;

	while (l->uris[i] != u)
		i++;
	n = --l->n_uris - i;
	memmove(&l->uris[i], &l->uris[i + 1], n * sizeof *l->uris);
}

/* Adds the resources of this list. Returns false if there are too many, or
 * their URIs are too long. A resource that is named twice counts twice. */
static bool
add_uris(struct client *c, struct listen *l, struct span list)
{
	struct span key, value;
	struct watched *u;
	size_t at = 0, n = 0;

	if (json_kind(list) != '[')
		return true;
	while (json_next(list, &at, &key, &value)) {
		if (json_kind(value) != '"')
			continue;
		if (n++ == BOUND_LISTED)
			return false;
		u = uri_get(c, value);
		if (u == NULL)
			return false;
		if (has_uri(l, u))
			continue;
		l->uris = xrealloc(l->uris, (l->n_uris + 1) * sizeof *l->uris);
		l->uris[l->n_uris++] = u;
		u->refs++;
		l->pending += u->state != URI_ON;
	}
	return true;
}

static struct frame *
refused(const struct client *c, const struct frame *f)
{
	if (json_kind(json_get(f->params, "notifications")) != '{')
		return client_fault(c, f, FAULT_BAD_NOTIFICATIONS);
	if (c->n_listens < BOUND_FEW)
		return NULL;
	return fault_make(FAULT_LISTENS_FULL,
	    &(struct fault_args){ .request = f, .count = BOUND_FEW });
}

static void
too_many_uris(struct client *c, const struct frame *f)
{
	client_write(c,
	    fault_make(FAULT_URIS_FULL,
		&(struct fault_args){ .request = f,
		    .host = c->config.host,
		    .count = BOUND_LISTED,
		    .limit = BOUND_QUEUE_BYTES >> 10 }));
}

/* Notes in l the wishes that the server can fulfil. Returns false like
 * add_uris. */
static bool
add_wishes(struct client *c, struct listen *l)
{
	struct span wishes = json_get(l->request->frame->params,
	    "notifications");
	struct span can = json_get(c->initialized->result, "capabilities");
	size_t i;

	if (c->listening == LISTENS_NOT)
		return true;
	for (i = 0; i < ERA_FAMILIES; i++)
		l->families[i] = span_is(json_get(wishes, era_families[i].wish),
				     "true") &&
		    span_is(json_get(json_get(can, era_families[i].name),
				"listChanged"),
			"true");
	if (!span_is(json_get(json_get(can, "resources"), "subscribe"), "true"))
		return true;
	return add_uris(c, l, json_get(wishes, "resourceSubscriptions"));
}

void
client_listen(struct client *c, struct request *r)
{
	struct frame *error = refused(c, r->frame);
	struct listen **at = listen_of(c, NULL), *l; /* the end */
	size_t i;

	if (error != NULL) {
		client_write(c, error);
		client_drop(c, r);
		return;
	}
	l = *at = xcalloc(1, sizeof *l);
	c->n_listens++;
	l->request = r;
	l->ack_at = c->now + BOUND_STEP_MS;
	if (!add_wishes(c, l)) {
		too_many_uris(c, r->frame);
		listen_drop(c, at, true);
		return;
	}
	for (i = 0; i < l->n_uris; i++)
		if (l->uris[i]->state == URI_NEW)
			uri_send(c, l->uris[i], true);
	acknowledge_if_ready(c, l);
}

/* The server agreed (on) or refused to watch u. */
static void
uri_settled(struct client *c, struct watched *u, bool on)
{
	struct listen *l;

	u->state = on ? URI_ON : URI_NEW;
	for (l = c->listens; l != NULL; l = l->next) {
		if (!has_uri(l, u))
			continue;
		l->pending--;
		if (!on) {
			remove_uri(l, u);
			u->refs--;
		}
		acknowledge_if_ready(c, l);
	}
	if (u->refs > 0)
		return;
	if (on && !c->ended)
		uri_send(c, u, false);
	else
		uri_forget(c, u);
}

void
client_subscribed(struct client *c, struct request *r,
    const struct frame *answer)
{
	struct watched *u = r->uri;
	bool off = r->kind == REQUEST_UNSUBSCRIBE;

	client_drop(c, r);
	if (!off)
		uri_settled(c, u, answer->kind == FRAME_RESULT);
	else if (u->refs > 0)
		uri_send(c, u, true);
	else
		uri_forget(c, u);
}

/* --- the stream --- */

static void
without_wishes(struct client *c, struct listen *l)
{
	memset(l->families, 0, sizeof l->families);
	while (l->n_uris > 0)
		uri_release(c, l->uris[--l->n_uris]);
	l->pending = 0;
}

void
client_listens_lost(struct client *c)
{
	struct listen *l;

	while ((l = c->listens) != NULL) {
		client_write(c, msg_cancel(l->request->frame->id, no_span));
		listen_drop(c, &c->listens, true);
	}
}

void
client_listening_changed(struct client *c)
{
	struct listen *l;

	for (l = c->listens; l != NULL; l = l->next) {
		if (l->acked)
			continue;
		if (c->listening == LISTENS_NOT)
			without_wishes(c, l);
		acknowledge_if_ready(c, l);
	}
}

/* --- fan-out --- */

/* Does l have this resource, or one whose URI is a prefix of this? */
static bool
watches(const struct listen *l, struct span uri)
{
	struct span start;
	size_t i;

	for (i = 0; i < l->n_uris; i++) {
		start = buf_span(&l->uris[i]->text);
		if (uri.n >= start.n &&
		    span_eq((struct span){ uri.p, start.n }, start))
			return true;
	}
	return false;
}

/* Tells l, or keeps the notification until l is acknowledged. */
static void
tell_or_keep(struct client *c, struct listen *l, struct frame *f)
{
	if (l->acked)
		tell(c, l, f);
	else if (!kept_add(&l->early, f, 0, BOUND_QUEUE_BYTES))
		client_log(c, LEVEL_WARN,
		    "too many notifications are waiting for a "
		    "subscriptions/listen to be acknowledged: dropped one");
}

/* The server may write a URI in another way than the client did. If no listen
 * watches this URI, all listens that watch any resource are told. */
static void
tell_updated(struct client *c, struct frame *f)
{
	struct listen *l;
	struct buf uri;
	bool any = false;

	buf_init(&uri, 0);
	if (json_string(json_get(f->params, "uri"), &uri) == 0)
		for (l = c->listens; l != NULL; l = l->next)
			any |= watches(l, buf_span(&uri));
	for (l = c->listens; l != NULL; l = l->next)
		if (any ? watches(l, buf_span(&uri)) : l->n_uris > 0)
			tell_or_keep(c, l, f);
	buf_free(&uri);
}

bool
client_fan_out(struct client *c, struct frame *f)
{
	bool updated = client_is(f, "notifications/resources/updated");
	size_t i = era_family(f->method);
	struct listen *l;

	if (!updated && i == ERA_FAMILIES)
		return false;
	if (f->text.n > BOUND_QUEUE_BYTES) {
		client_log(c, LEVEL_WARN,
		    "the notification that a %s changed is too large (%zu "
		    "bytes): dropped",
		    updated ? "resource" : "list", f->text.n);
		return true;
	}
	if (updated) {
		tell_updated(c, f);
		return true;
	}
	for (l = c->listens; l != NULL; l = l->next)
		if (l->families[i])
			tell_or_keep(c, l, f);
	return true;
}

/* --- time --- */

int64_t
client_listen_due(const struct client *c)
{
	const struct listen *l;
	int64_t due = ALARM_NEVER;

	for (l = c->listens; l != NULL; l = l->next)
		due = alarm_sooner(due, l->ack_at);
	return due;
}

/* Acknowledges l without the resources that the server has not answered for.
 * The session may still get a stream later. */
static void
give_up(struct client *c, struct listen *l)
{
	struct watched *u;
	size_t i = 0;

	while (i < l->n_uris) {
		u = l->uris[i];
		if (u->state == URI_ON) {
			i++;
			continue;
		}
		remove_uri(l, u);
		uri_release(c, u);
	}
	l->pending = 0;
	acknowledge(c, l);
}

void
client_listen_tick(struct client *c)
{
	struct listen *l;

	for (l = c->listens; l != NULL; l = l->next)
		if (l->ack_at <= c->now)
			give_up(c, l);
}
