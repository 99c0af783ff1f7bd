/*
 * This file keeps the subscriptions/listen of a modern client at a modern
 * server. What comes passes through. A stream that breaks is replaced under an
 * id that mcpsplice makes, but the client sees one subscription: with its own
 * id, with one acknowledgement, and with everything told as changed after the
 * gap.
 */
#include "config.h"

#include "core/server/native_listen.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/era/era.h"
#include "core/exchange/fault.h"
#include "core/server/act.h"
#include "core/server/belief.h"
#include "core/server/order.h"
#include "core/server/subscription.h"
#include "core/server/tell.h"
#include "core/wire/edit.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "core/wire/protocol.h"

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

void
server_native_drop(struct server *e, struct subscription *fd)
{
	struct subscription **at = &e->listens->natives;

	while (*at != fd)
		at = &(*at)->next;
	*at = fd->next;
	server_subscription_free(e, fd);
}

void
server_native_again(struct server *e, struct subscription *fd)
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

	server_native_drop(e, fd);
	server_order_tell_done(e, o, f);
}

static void
gone(struct server *e, struct subscription *fd)
{
	struct server_order *o = fd->order;

	server_native_drop(e, fd);
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

/* --- what comes --- */

void
server_native_head(struct server *e, struct subscription *fd,
    const struct facts *f)
{
	if (fd->begun)
		return;
	fd->begun = verdict_2xx(f);
	server_order_tell_head(e, fd->order, f);
}

/* Returns whether the client gets this acknowledgement. */
static bool
acknowledged(struct server *e, struct subscription *fd, struct frame *m)
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
notified(struct server *e, struct subscription *fd, const struct facts *f,
    struct frame *m)
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
	    !acknowledged(e, fd, m))
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
refused(struct server *e, struct subscription *fd, const struct facts *f,
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

void
server_native_message(struct server *e, struct subscription *fd,
    const struct facts *f, struct frame *m)
{
	if (m->kind == FRAME_NOTIFICATION)
		notified(e, fd, f, m);
	else if (m->kind == FRAME_ERROR)
		refused(e, fd, f, m);
	else if (!fd->answered)
		answered(e, fd, f, m);
}

/* The session judges a refusal that came before anything was told. */
void
server_native_done(struct server *e, struct subscription *fd,
    const struct facts *f)
{
	if (!fd->answered && server_belief_listen_contradicts(e, f, NULL))
		gone(e, fd);
	else if (!fd->begun)
		finish(e, fd, f);
	else
		lost(e, fd, f);
}
