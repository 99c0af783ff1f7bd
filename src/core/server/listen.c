/*
 * This file plays the session's GET stream with two subscriptions at a modern
 * server (subscriptions/listen, doc/protocol.md 6.6): one for changes of lists
 * and one for resources, so that a change of the set of resources never loses a
 * change of a list. It also hands on what comes for any subscription.
 *
 * A stream that ends is replaced after a while, under a new id. mcpsplice
 * cannot know what changed in between, so it tells the session that everything
 * changed.
 */
#include "config.h"

#include "core/server/listen.h"

#include <stdlib.h>

#include "core/era/era.h"
#include "core/server/act.h"
#include "core/server/belief.h"
#include "core/server/listen_state.h"
#include "core/server/native_listen.h"
#include "core/server/order.h"
#include "core/server/set.h"
#include "core/server/subscription.h"
#include "core/server/tell.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "core/wire/protocol.h"

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
	if (!lists && !server_set_is_offered(e)) {
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
	server_set_stale(e);
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
			server_native_drop(e, fd);
			return;
		}
	}
	server_set_abort(e, o);
}

/* --- what a subscription of the session brings --- */

/* An answer to the subscription contradicts a modern server: the session
 * renews. */
static void
contradicted(struct server *e, struct subscription *fd)
{
	struct listens *l = e->listens;
	struct server_order *o = l->get != NULL ? l->get :
						  server_set_waiting(e);

	if (o == NULL) {
		/* There is no order that could tell the session. */
		server_subscription_lost(e, fd, NULL);
		return;
	}
	server_subscription_end(e, fd);
	if (o == l->get)
		l->get = NULL;
	else
		server_set_abort(e, o);
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
			server_set_give_up(e, error);
	}
}

static void
acknowledged(struct server *e, struct subscription *fd, struct frame *m)
{
	if (!server_subscription_acknowledged(e, fd, m))
		return;
	if (fd != e->listens->lists) {
		server_set_acknowledged(e, fd);
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
	if (fd != e->listens->lists && !server_set_wants(e, fd, m))
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
		server_native_head(e, fd, f);
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
		server_native_message(e, fd, f, m);
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
		server_native_done(e, fd, f);
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
	server_set_tick(e);
	if (server_subscription_is_due(e, l->lists))
		server_subscription_ask(e, l->lists);
	for (fd = l->natives; fd != NULL; fd = fd->next)
		if (server_subscription_is_due(e, fd))
			server_native_again(e, fd);
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
		server_native_drop(e, l->natives);
		server_order_tell_gone(e, o, false);
	}
	server_set_leave(e);
	server_subscription_free(e, l->lists);
	server_subscription_free(e, l->resources);
	server_subscription_free(e, l->successor);
	kept_clear(&l->kept);
	alarm_set(&e->alarms, ALARM_PATIENCE, ALARM_NEVER);
	server_belief_listen_leave(e);
	free(l);
	e->listens = NULL;
}
