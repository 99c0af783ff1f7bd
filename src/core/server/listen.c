/*
 * This file plays the session's GET stream with two subscriptions at a modern
 * server (subscriptions/listen, doc/protocol.md 6.6): one for changes of lists
 * and one for resources, so that a change of the set of resources never loses a
 * change of a list. It also keeps the listens of a modern client, and hands on
 * what comes for any subscription.
 *
 * A stream that ends is replaced after a while, under a new id. mcpsplice
 * cannot know what changed in between, so it tells the session that everything
 * changed.
 */
#include "config.h"

#include "core/server/parts.h"

#include <stdlib.h>

#include "core/wire/edit.h"

/* --- a modern client's listens --- */

/*
 * The subscriptions/listen of a modern client at a modern server. What comes
 * passes through. A stream that breaks is replaced under an id that mcpsplice
 * makes, but the client sees one subscription: with its own id, with one
 * acknowledgement, and with everything told as changed after the gap.
 */

void
server_native_open(struct server *s, struct server_order *o)
{
	struct listens *l = server_tell_listens(s);
	struct subscription *sub = server_subscription_new(o),
			    **at = &l->natives;

	while (*at != NULL)
		at = &(*at)->next;
	*at = sub;
	sub->id = xstrndup(o->body->id.p, o->body->id.n);
	server_subscription_open(s, sub, o->body);
}

/* Takes the subscription out of the list and frees it. */
static void
native_drop(struct server *s, struct subscription *sub)
{
	struct subscription **at = &s->listens->natives;

	while (*at != sub)
		at = &(*at)->next;
	*at = sub->next;
	server_subscription_free(s, sub);
}

/* Opens the next stream. */
static void
native_again(struct server *s, struct subscription *sub)
{
	struct frame *request;

	string_set(&sub->id, own_id_new(&s->ids));
	request = msg_with_id(sub->order->body, span_of(sub->id));
	server_subscription_open(s, sub, request);
	frame_unref(request);
}

/* Ends the subscription and the client's listen. */
static void
finish(struct server *s, struct subscription *sub, const struct facts *f)
{
	struct server_order *o = sub->order;

	native_drop(s, sub);
	server_order_tell_done(s, o, f);
}

static void
gone(struct server *s, struct subscription *sub)
{
	struct server_order *o = sub->order;

	native_drop(s, sub);
	server_tell_gone(s, o);
}

/* Opens another stream later. After too many failures the client is told that
 * its listen broke. */
static void
lost(struct server *s, struct subscription *sub, const struct facts *f)
{
	struct facts cut = server_facts_stream;

	server_subscription_lost(s, sub, f);
	if (sub->failures < BOUND_FALSE_STARTS)
		return;
	server_log(s, LEVEL_INFO, "%s no longer accepts a subscription",
	    s->config.host);
	cut.ending = ENDING_CUT;
	finish(s, sub, &cut);
}

/* --- under the client's id --- */

static bool
is_first(const struct subscription *sub)
{
	return span_eq(span_of(sub->id), sub->order->body->id);
}

/* Returns the result of a listen that has an id of mcpsplice's, under the
 * client's id. The caller frees it. */
static struct frame *
result_for_client(struct frame *m, struct span id)
{
	struct edit edit = { META_PREFIX "subscriptionId", id };
	struct span meta = json_get(m->result, "_meta");
	struct frame *edited, *made;
	struct buf object;

	if (json_get(meta, edit.key).p == NULL)
		return msg_with_id(m, id);
	buf_init(&object, 0);
	edit_object(&object, meta, &edit, 1);
	edit = (struct edit){ "_meta", buf_span(&object) };
	edited = edit_part(m, "result", m->result, &edit, 1);
	made = msg_with_id(edited, id);
	frame_unref(edited);
	buf_free(&object);
	return made;
}

/* Tells the client that everything may have changed. */
static void
tell_changes(struct server *s, struct subscription *sub)
{
	struct span all = json_get(sub->honours->params, "notifications");
	struct span list = json_get(all, "resourceSubscriptions"), key, uri;
	size_t at = 0, n = 0;

	server_tell_lists(s, sub->order, sub->honours);
	if (json_kind(list) != '[')
		return;
	while (n++ < BOUND_LISTED && json_next(list, &at, &key, &uri))
		if (json_kind(uri) == '"')
			server_tell_resource(s, sub->order, uri);
}

/* --- what comes for it --- */

/* Take what comes on the stream of one. */
static void
native_head(struct server *s, struct subscription *sub, const struct facts *f)
{
	if (sub->begun)
		return;
	sub->begun = verdict_2xx(f);
	server_order_tell_head(s, sub->order, f);
}

/* Returns whether the client gets this acknowledgement. */
static bool
native_acknowledged(struct server *s, struct subscription *sub, struct frame *m)
{
	if (!server_subscription_acknowledged(s, sub, m))
		return false;
	if (server_subscription_take_gap(sub))
		tell_changes(s, sub);
	if (sub->told)
		return false;
	sub->told = true;
	return true;
}

static void
native_notified(struct server *s, struct subscription *sub,
    const struct facts *f, struct frame *m)
{
	struct span id = era_meta(m, META_SUBSCRIPTION);
	struct frame *told;

	if (id.p != NULL && !msg_id_same(id, span_of(sub->id))) {
		server_log(s, LEVEL_DEBUG,
		    "a notification belongs to another subscription: dropped");
		return;
	}
	if (json_key_is(m->method,
		"notifications/subscriptions/acknowledged") &&
	    !native_acknowledged(s, sub, m))
		return;
	if (id.p == NULL || is_first(sub))
		told = frame_ref(m);
	else
		told = era_notification_to_modern(m, sub->order->body->id);
	server_order_tell_message(s, sub->order, f, told);
	frame_unref(told);
}

static void
answered(struct server *s, struct subscription *sub, const struct facts *f,
    struct frame *m)
{
	struct span id = sub->order->body->id;
	struct frame *told = m->kind == FRAME_RESULT && !is_first(sub) ?
	    result_for_client(m, id) :
	    msg_with_id(m, id);

	server_order_tell_message(s, sub->order,
	    is_first(sub) ? f : &server_facts_stream, told);
	frame_unref(told);
	sub->answered = true;
	if (sub->begun)
		finish(s, sub, &server_facts_stream);
}

/* A legacy server refuses a listen as an unknown method. A modern server
 * without subscriptions should say 404; if one does not, the session renews
 * once for nothing. */
static bool
is_no_method(const struct subscription *sub, const struct facts *f,
    const struct frame *m)
{
	return !sub->told && verdict_2xx(f) &&
	    msg_error_code(m) == FAULT_METHOD;
}

static void
native_refused(struct server *s, struct subscription *sub,
    const struct facts *f, struct frame *m)
{
	if (server_belief_listen_contradicts(s, f, m)) {
		gone(s, sub);
	} else if (is_no_method(sub, f, m) && server_belief_listen_unknown(s)) {
		gone(s, sub);
	} else if (sub->begun && !is_first(sub) &&
	    server_subscription_is_passing(f, m)) {
		lost(s, sub, f);
	} else if (!sub->answered) {
		answered(s, sub, f, m);
	}
}

static void
native_message(struct server *s, struct subscription *sub,
    const struct facts *f, struct frame *m)
{
	if (m->kind == FRAME_NOTIFICATION)
		native_notified(s, sub, f, m);
	else if (m->kind == FRAME_ERROR)
		native_refused(s, sub, f, m);
	else if (!sub->answered)
		answered(s, sub, f, m);
}

/* The session judges a refusal that came before anything was told. */
static void
native_done(struct server *s, struct subscription *sub, const struct facts *f)
{
	if (!sub->answered && server_belief_listen_contradicts(s, f, NULL))
		gone(s, sub);
	else if (!sub->begun)
		finish(s, sub, f);
	else
		lost(s, sub, f);
}

/* Returns the subscription whose stream the attempt is, or NULL. */
static struct subscription *
subscription_of(const struct server *s, const struct server_attempt *a)
{
	const struct listens *l = s->listens;
	struct subscription *own[3], *sub;
	size_t n;

	if (l == NULL)
		return NULL;
	own[0] = l->lists;
	own[1] = l->resources;
	own[2] = l->successor;
	for (n = 0; n < sizeof own / sizeof *own; n++)
		if (own[n] != NULL && own[n]->attempt == a)
			return own[n];
	for (sub = l->natives; sub != NULL; sub = sub->next)
		if (sub->attempt == a)
			return sub;
	return NULL;
}

/* --- the session's GET --- */

/* Adds the lists whose changes the server declares. Returns false if there is
 * none. */
static bool
add_lists(const struct server *s, struct buf *asked)
{
	struct span all = json_get(s->discovered->result, "capabilities");
	struct span one;
	size_t i;

	for (i = 0; i < ERA_FAMILIES; i++) {
		one = json_get(all, era_families[i].name);
		if (span_is(json_get(one, "listChanged"), "true"))
			buf_addf(asked, "%s\"%s\":true",
			    asked->n == 0 ? "{" : ",", era_families[i].wish);
	}
	if (asked->n > 0)
		buf_addc(asked, '}');
	return asked->n > 0;
}

static void
refuse_get(struct server *s, struct server_order *o)
{
	struct facts f = server_facts_accepted;

	f.verb = VERB_GET;
	f.status = 405;
	server_order_tell_head(s, o, &f);
	server_order_tell_done(s, o, &f);
}

static void
attach(struct server *s, struct server_order *o)
{
	struct listens *l = s->listens;

	if (l->get != NULL)
		server_order_tell_done(s, l->get, &server_facts_stream);
	l->get = o;
	server_order_listen(s, o, &l->kept);
}

void
server_listen_open(struct server *s, struct server_order *o)
{
	struct listens *l = server_tell_listens(s);
	struct buf asked;
	bool lists;

	buf_init(&asked, 0);
	lists = add_lists(s, &asked);
	if (!lists && !server_resources_is_offered(s)) {
		refuse_get(s, o);
		buf_free(&asked);
		return;
	}
	attach(s, o);
	if (lists && l->lists == NULL) {
		l->lists = server_subscription_new(NULL);
		buf_addspan(&l->lists->asked, buf_span(&asked));
	}
	buf_free(&asked);
	if (l->lists != NULL && l->lists->attempt == NULL && !l->lists->refused)
		server_subscription_ask(s, l->lists);
}

/* The session ends its GET when it thinks that the stream is dead, for example
 * after the machine slept. The streams of the subscriptions may then be dead,
 * too. */
static void
detach(struct server *s)
{
	struct listens *l = s->listens;

	l->get = NULL;
	if (l->lists != NULL)
		server_subscription_end(s, l->lists);
	server_resources_stale(s);
}

void
server_listen_close(struct server *s, struct server_order *o)
{
	struct listens *l = s->listens;
	struct subscription *sub;

	if (l == NULL)
		return;
	if (l->get == o) {
		detach(s);
		return;
	}
	for (sub = l->natives; sub != NULL; sub = sub->next) {
		if (sub->order == o) {
			native_drop(s, sub);
			return;
		}
	}
	server_resources_abort(s, o);
}

/* --- what a subscription of the session brings --- */

/* An answer to the subscription contradicts a modern server: the session
 * renews. */
static void
contradicted(struct server *s, struct subscription *sub)
{
	struct listens *l = s->listens;
	struct server_order *o = l->get != NULL ? l->get :
						  server_resources_waiting(s);

	if (o == NULL) {
		/* There is no order that could tell the session. */
		server_subscription_lost(s, sub, NULL);
		return;
	}
	server_subscription_end(s, sub);
	if (o == l->get)
		l->get = NULL;
	else
		server_resources_abort(s, o);
	server_tell_gone(s, o);
}

static void
refused(struct server *s, struct subscription *sub, const struct facts *f,
    struct frame *error)
{
	struct listens *l = s->listens;

	if (server_belief_listen_contradicts(s, f, error)) {
		contradicted(s, sub);
	} else if (server_subscription_is_passing(f, error)) {
		server_subscription_lost(s, sub, f);
	} else {
		server_subscription_end(s, sub);
		sub->refused = true;
		server_log(s, LEVEL_INFO,
		    "%s refused subscriptions/listen, so it reports no changes "
		    "(%ld)",
		    s->config.host, msg_error_code(error));
		if (sub == l->successor)
			server_resources_give_up(s, error);
	}
}

static void
acknowledged(struct server *s, struct subscription *sub, struct frame *m)
{
	if (!server_subscription_acknowledged(s, sub, m))
		return;
	if (sub != s->listens->lists) {
		server_resources_acknowledged(s, sub);
		return;
	}
	if (server_subscription_take_gap(sub))
		server_tell_lists(s, NULL, m);
}

static void
notified(struct server *s, struct subscription *sub, struct frame *m)
{
	struct span id = era_meta(m, META_SUBSCRIPTION);
	bool ack = json_key_is(m->method,
	    "notifications/subscriptions/acknowledged");
	struct frame *told;

	if (!msg_id_same(id, span_of(sub->id)) && (id.p != NULL || !ack)) {
		server_log(s, LEVEL_DEBUG,
		    "a notification belongs to another subscription: dropped");
		return;
	}
	if (ack) {
		acknowledged(s, sub, m);
		return;
	}
	if (sub != s->listens->lists && !server_resources_wants(s, sub, m))
		return;
	told = era_notification_to_legacy(m);
	server_tell_session(s, told);
	frame_unref(told);
}

/* --- what comes --- */

void
server_listen_head(struct server *s, struct server_attempt *a,
    const struct facts *f)
{
	struct subscription *sub = subscription_of(s, a);

	if (sub != NULL && sub->order != NULL)
		native_head(s, sub, f);
}

void
server_listen_message(struct server *s, struct server_attempt *a,
    const struct facts *f, struct frame *m)
{
	struct subscription *sub = subscription_of(s, a);

	if (sub == NULL)
		return;
	if (m->kind == FRAME_REQUEST)
		server_log(s, LEVEL_DEBUG,
		    "a request came on a subscription stream: dropped");
	else if (sub->order != NULL)
		native_message(s, sub, f, m);
	else if (m->kind == FRAME_NOTIFICATION)
		notified(s, sub, m);
	else if (m->kind == FRAME_ERROR)
		refused(s, sub, f, m);
	else /* the server ended the stream by a result */
		server_subscription_lost(s, sub, NULL);
}

void
server_listen_done(struct server *s, struct server_attempt *a,
    const struct facts *f)
{
	struct subscription *sub = subscription_of(s, a);

	if (sub == NULL)
		return;
	sub->attempt = NULL;
	if (sub->order != NULL)
		native_done(s, sub, f);
	else if (server_belief_listen_contradicts(s, f, NULL))
		contradicted(s, sub);
	else
		server_subscription_lost(s, sub, f);
}

/* --- times, and the end --- */

void
server_listen_tick(struct server *s)
{
	struct listens *l = s->listens;
	struct subscription *sub;

	if (l == NULL)
		return;
	server_resources_tick(s);
	if (server_subscription_is_due(s, l->lists))
		server_subscription_ask(s, l->lists);
	for (sub = l->natives; sub != NULL; sub = sub->next)
		if (server_subscription_is_due(s, sub))
			native_again(s, sub);
}

/* The orders that still wait learn that the server is gone, and the session
 * asks again. */
void
server_listen_leave(struct server *s)
{
	struct listens *l = s->listens;
	struct server_order *o;

	if (l == NULL)
		return;
	if (l->get != NULL)
		server_order_tell_gone(s, l->get, false);
	while (l->natives != NULL) {
		o = l->natives->order;
		native_drop(s, l->natives);
		server_order_tell_gone(s, o, false);
	}
	server_resources_leave(s);
	server_subscription_free(s, l->lists);
	server_subscription_free(s, l->resources);
	server_subscription_free(s, l->successor);
	kept_clear(&l->kept);
	alarm_set(&s->alarms, ALARM_PATIENCE, ALARM_NEVER);
	server_belief_listen_leave(s);
	free(l);
	s->listens = NULL;
}
