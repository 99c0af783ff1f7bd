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
server_native_open(struct server *e, struct server_order *o)
{
	struct listens *l = server_tell_listens(e);
	struct subscription *fd = server_subscription_new(o),
			    **at = &l->natives;

	while (*at != NULL)
		at = &(*at)->next;
	*at = fd;
	fd->id = xstrndup(o->body->id.p, o->body->id.n);
	server_subscription_open(e, fd, o->body);
}

/* Takes the subscription out of the list and frees it. */
static void
native_drop(struct server *e, struct subscription *fd)
{
	struct subscription **at = &e->listens->natives;

	while (*at != fd)
		at = &(*at)->next;
	*at = fd->next;
	server_subscription_free(e, fd);
}

/* Opens the next stream. */
static void
native_again(struct server *e, struct subscription *fd)
{
	struct frame *request;

	string_set(&fd->id, server_own_id(e));
	request = msg_with_id(fd->order->body, span_of(fd->id));
	server_subscription_open(e, fd, request);
	frame_unref(request);
}

/* Ends the subscription and the client's listen. */
static void
finish(struct server *e, struct subscription *fd, const struct facts *f)
{
	struct server_order *o = fd->order;

	native_drop(e, fd);
	server_order_tell_done(e, o, f);
}

static void
gone(struct server *e, struct subscription *fd)
{
	struct server_order *o = fd->order;

	native_drop(e, fd);
	server_tell_gone(e, o);
}

/* Opens another stream later. After too many failures the client is told that
 * its listen broke. */
static void
lost(struct server *e, struct subscription *fd, const struct facts *f)
{
	struct facts cut = server_facts_stream;

	server_subscription_lost(e, fd, f);
	if (fd->failures < BOUND_FALSE_STARTS)
		return;
	server_log(e, LEVEL_INFO, "%s does not accept a subscription again",
	    e->config.host);
	cut.ending = ENDING_CUT;
	finish(e, fd, &cut);
}

/* --- under the client's id --- */

static bool
is_first(const struct subscription *fd)
{
	return span_eq(span_of(fd->id), fd->order->body->id);
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
tell_changes(struct server *e, struct subscription *fd)
{
	struct span all = json_get(fd->honours->params, "notifications");
	struct span list = json_get(all, "resourceSubscriptions"), key, uri;
	size_t at = 0, n = 0;

	server_tell_lists(e, fd->order, fd->honours);
	if (json_kind(list) != '[')
		return;
	while (n++ < BOUND_SUBSCRIBED && json_next(list, &at, &key, &uri))
		if (json_kind(uri) == '"')
			server_tell_resource(e, fd->order, uri);
}

/* --- what comes for it --- */

/* Take what comes on the stream of one. */
static void
native_head(struct server *e, struct subscription *fd, const struct facts *f)
{
	if (fd->begun)
		return;
	fd->begun = verdict_2xx(f);
	server_order_tell_head(e, fd->order, f);
}

/* Returns whether the client gets this acknowledgement. */
static bool
native_acknowledged(struct server *e, struct subscription *fd, struct frame *m)
{
	if (!server_subscription_acknowledged(e, fd, m))
		return false;
	if (server_subscription_take_gap(fd))
		tell_changes(e, fd);
	if (fd->told)
		return false;
	fd->told = true;
	return true;
}

static void
native_notified(struct server *e, struct subscription *fd,
    const struct facts *f, struct frame *m)
{
	struct span id = era_meta(m, META_SUBSCRIPTION);
	struct frame *told;

	if (id.p != NULL && !msg_id_same(id, span_of(fd->id))) {
		server_log(e, LEVEL_DEBUG,
		    "a notification belongs to another subscription: dropped");
		return;
	}
	if (json_key_is(m->method,
		"notifications/subscriptions/acknowledged") &&
	    !native_acknowledged(e, fd, m))
		return;
	if (id.p == NULL || is_first(fd))
		told = frame_ref(m);
	else
		told = era_notification_to_modern(m, fd->order->body->id);
	server_order_tell_message(e, fd->order, f, told);
	frame_unref(told);
}

static void
answered(struct server *e, struct subscription *fd, const struct facts *f,
    struct frame *m)
{
	struct span id = fd->order->body->id;
	struct frame *told = m->kind == FRAME_RESULT && !is_first(fd) ?
	    result_for_client(m, id) :
	    msg_with_id(m, id);

	server_order_tell_message(e, fd->order,
	    is_first(fd) ? f : &server_facts_stream, told);
	frame_unref(told);
	fd->answered = true;
	if (fd->begun)
		finish(e, fd, &server_facts_stream);
}

/* A legacy server refuses a listen as an unknown method. A modern server
 * without subscriptions should say 404; if one does not, the session renews
 * once for nothing. */
static bool
is_no_method(const struct subscription *fd, const struct facts *f,
    const struct frame *m)
{
	return !fd->told && verdict_2xx(f) && msg_error_code(m) == FAULT_METHOD;
}

static void
native_refused(struct server *e, struct subscription *fd, const struct facts *f,
    struct frame *m)
{
	if (server_belief_listen_contradicts(e, f, m)) {
		gone(e, fd);
	} else if (is_no_method(fd, f, m) && server_belief_listen_unknown(e)) {
		gone(e, fd);
	} else if (fd->begun && !is_first(fd) &&
	    server_subscription_is_passing(f, m)) {
		lost(e, fd, f);
	} else if (!fd->answered) {
		answered(e, fd, f, m);
	}
}

static void
native_message(struct server *e, struct subscription *fd, const struct facts *f,
    struct frame *m)
{
	if (m->kind == FRAME_NOTIFICATION)
		native_notified(e, fd, f, m);
	else if (m->kind == FRAME_ERROR)
		native_refused(e, fd, f, m);
	else if (!fd->answered)
		answered(e, fd, f, m);
}

/* The session judges a refusal that came before anything was told. */
static void
native_done(struct server *e, struct subscription *fd, const struct facts *f)
{
	if (!fd->answered && server_belief_listen_contradicts(e, f, NULL))
		gone(e, fd);
	else if (!fd->begun)
		finish(e, fd, f);
	else
		lost(e, fd, f);
}

/* Returns the subscription whose stream the attempt is, or NULL. */
static struct subscription *
subscription_of(const struct server *e, const struct server_attempt *i)
{
	const struct listens *l = e->listens;
	struct subscription *own[3], *fd;
	size_t n;

	if (l == NULL)
		return NULL;
	own[0] = l->lists;
	own[1] = l->resources;
	own[2] = l->successor;
	for (n = 0; n < sizeof own / sizeof *own; n++)
		if (own[n] != NULL && own[n]->attempt == i)
			return own[n];
	for (fd = l->natives; fd != NULL; fd = fd->next)
		if (fd->attempt == i)
			return fd;
	return NULL;
}

/* --- the session's GET --- */

/* Adds the lists whose changes the server declares. Returns false if there is
 * none. */
static bool
add_lists(const struct server *e, struct buf *asked)
{
	struct span all = json_get(e->discovered->result, "capabilities");
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
refuse_get(struct server *e, struct server_order *o)
{
	struct facts f = server_facts_accepted;

	f.verb = VERB_GET;
	f.status = 405;
	server_order_tell_head(e, o, &f);
	server_order_tell_done(e, o, &f);
}

static void
attach(struct server *e, struct server_order *o)
{
	struct listens *l = e->listens;

	if (l->get != NULL)
		server_order_tell_done(e, l->get, &server_facts_stream);
	l->get = o;
	server_order_listen(e, o, &l->kept);
}

void
server_listen_open(struct server *e, struct server_order *o)
{
	struct listens *l = server_tell_listens(e);
	struct buf asked;
	bool lists;

	buf_init(&asked, 0);
	lists = add_lists(e, &asked);
	if (!lists && !server_resources_is_offered(e)) {
		refuse_get(e, o);
		buf_free(&asked);
		return;
	}
	attach(e, o);
	if (lists && l->lists == NULL) {
		l->lists = server_subscription_new(NULL);
		buf_addspan(&l->lists->asked, buf_span(&asked));
	}
	buf_free(&asked);
	if (l->lists != NULL && l->lists->attempt == NULL && !l->lists->refused)
		server_subscription_ask(e, l->lists);
}

/* The session ends its GET when it thinks that the stream is dead, for example
 * after the machine slept. The streams of the subscriptions may then be dead,
 * too. */
static void
detach(struct server *e)
{
	struct listens *l = e->listens;

	l->get = NULL;
	if (l->lists != NULL)
		server_subscription_end(e, l->lists);
	server_resources_stale(e);
}

void
server_listen_close(struct server *e, struct server_order *o)
{
	struct listens *l = e->listens;
	struct subscription *fd;

	if (l == NULL)
		return;
	if (l->get == o) {
		detach(e);
		return;
	}
	for (fd = l->natives; fd != NULL; fd = fd->next) {
		if (fd->order == o) {
			native_drop(e, fd);
			return;
		}
	}
	server_resources_abort(e, o);
}

/* --- what a subscription of the session brings --- */

/* An answer to the subscription contradicts a modern server: the session
 * renews. */
static void
contradicted(struct server *e, struct subscription *fd)
{
	struct listens *l = e->listens;
	struct server_order *o = l->get != NULL ? l->get :
						  server_resources_waiting(e);

	if (o == NULL) {
		/* There is no order that could tell the session. */
		server_subscription_lost(e, fd, NULL);
		return;
	}
	server_subscription_end(e, fd);
	if (o == l->get)
		l->get = NULL;
	else
		server_resources_abort(e, o);
	server_tell_gone(e, o);
}

static void
refused(struct server *e, struct subscription *fd, const struct facts *f,
    struct frame *error)
{
	struct listens *l = e->listens;

	if (server_belief_listen_contradicts(e, f, error)) {
		contradicted(e, fd);
	} else if (server_subscription_is_passing(f, error)) {
		server_subscription_lost(e, fd, f);
	} else {
		server_subscription_end(e, fd);
		fd->refused = true;
		server_log(e, LEVEL_INFO,
		    "%s reports no changes: it refuses subscriptions/listen "
		    "(%ld)",
		    e->config.host, msg_error_code(error));
		if (fd == l->successor)
			server_resources_give_up(e, error);
	}
}

static void
acknowledged(struct server *e, struct subscription *fd, struct frame *m)
{
	if (!server_subscription_acknowledged(e, fd, m))
		return;
	if (fd != e->listens->lists) {
		server_resources_acknowledged(e, fd);
		return;
	}
	if (server_subscription_take_gap(fd))
		server_tell_lists(e, NULL, m);
}

static void
notified(struct server *e, struct subscription *fd, struct frame *m)
{
	struct span id = era_meta(m, META_SUBSCRIPTION);
	bool ack = json_key_is(m->method,
	    "notifications/subscriptions/acknowledged");
	struct frame *told;

	if (!msg_id_same(id, span_of(fd->id)) && (id.p != NULL || !ack)) {
		server_log(e, LEVEL_DEBUG,
		    "a notification belongs to another subscription: dropped");
		return;
	}
	if (ack) {
		acknowledged(e, fd, m);
		return;
	}
	if (fd != e->listens->lists && !server_resources_wants(e, fd, m))
		return;
	told = era_notification_to_legacy(m);
	server_tell_session(e, told);
	frame_unref(told);
}

/* --- what comes --- */

void
server_listen_head(struct server *e, struct server_attempt *i,
    const struct facts *f)
{
	struct subscription *fd = subscription_of(e, i);

	if (fd != NULL && fd->order != NULL)
		native_head(e, fd, f);
}

void
server_listen_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m)
{
	struct subscription *fd = subscription_of(e, i);

	if (fd == NULL)
		return;
	if (m->kind == FRAME_REQUEST)
		server_log(e, LEVEL_DEBUG,
		    "a request came on a subscription stream: dropped");
	else if (fd->order != NULL)
		native_message(e, fd, f, m);
	else if (m->kind == FRAME_NOTIFICATION)
		notified(e, fd, m);
	else if (m->kind == FRAME_ERROR)
		refused(e, fd, f, m);
	else /* the server ended the stream by a result */
		server_subscription_lost(e, fd, NULL);
}

void
server_listen_done(struct server *e, struct server_attempt *i,
    const struct facts *f)
{
	struct subscription *fd = subscription_of(e, i);

	if (fd == NULL)
		return;
	fd->attempt = NULL;
	if (fd->order != NULL)
		native_done(e, fd, f);
	else if (server_belief_listen_contradicts(e, f, NULL))
		contradicted(e, fd);
	else
		server_subscription_lost(e, fd, f);
}

/* --- times, and the end --- */

void
server_listen_tick(struct server *e)
{
	struct listens *l = e->listens;
	struct subscription *fd;

	if (l == NULL)
		return;
	server_resources_tick(e);
	if (server_subscription_is_due(e, l->lists))
		server_subscription_ask(e, l->lists);
	for (fd = l->natives; fd != NULL; fd = fd->next)
		if (server_subscription_is_due(e, fd))
			native_again(e, fd);
}

/* The orders that still wait learn that the server is gone, and the session
 * asks again. */
void
server_listen_leave(struct server *e)
{
	struct listens *l = e->listens;
	struct server_order *o;

	if (l == NULL)
		return;
	if (l->get != NULL)
		server_order_tell_gone(e, l->get, false);
	while (l->natives != NULL) {
		o = l->natives->order;
		native_drop(e, l->natives);
		server_order_tell_gone(e, o, false);
	}
	server_resources_leave(e);
	server_subscription_free(e, l->lists);
	server_subscription_free(e, l->resources);
	server_subscription_free(e, l->successor);
	kept_clear(&l->kept);
	alarm_set(&e->alarms, ALARM_PATIENCE, ALARM_NEVER);
	server_belief_listen_leave(e);
	free(l);
	e->listens = NULL;
}
