/*
 * This file keeps one subscription at the server through all the streams that
 * it takes, and tells what it brings. A stream that ends is replaced after a
 * while, under a new id; if none of them works, the next one is tried seldom.
 */
#include "config.h"

#include "core/server/parts.h"

#include <stdlib.h>

#include "core/exchange/backoff.h"

enum {
	BRIEF_MS = 30 * 1000, /* an older stream was no false start */
	SELDOM_MS = 5 * 60 * 1000
};

struct subscription *
server_subscription_new(struct server_order *o)
{
	struct subscription *fd = xcalloc(1, sizeof *fd);

	fd->order = o;
	fd->again_at = ALARM_NEVER;
	buf_init(&fd->asked, 0);
	return fd;
}

void
server_subscription_end(struct server *e, struct subscription *fd)
{
	server_attempt_end(e, fd->attempt);
	fd->attempt = NULL;
	fd->gap |= fd->acknowledged;
	fd->acknowledged = false;
	fd->again_at = ALARM_NEVER;
}

void
server_subscription_free(struct server *e, struct subscription *fd)
{
	if (fd == NULL)
		return;
	server_subscription_end(e, fd);
	buf_free(&fd->asked);
	frame_unref(fd->honours);
	free(fd->id);
	free(fd);
}

void
server_subscription_open(struct server *e, struct subscription *fd,
    struct frame *request)
{
	fd->since = e->now;
	fd->again_at = ALARM_NEVER;
	fd->attempt = server_attempt_new_modern(e, FOR_LISTEN, fd->order,
	    request);
	fd->attempt->out.listen = true;
}

void
server_subscription_ask(struct server *e, struct subscription *fd)
{
	struct frame *request;

	string_set(&fd->id, server_own_id(e));
	request = era_listen(span_of(fd->id), buf_span(&e->meta),
	    buf_span(&fd->asked));
	server_subscription_open(e, fd, request);
	frame_unref(request);
}

void
server_subscription_lost(struct server *e, struct subscription *fd,
    const struct facts *f)
{
	bool brief = e->now - fd->since < BRIEF_MS;
	int64_t wait;

	fd->failures = brief && !fd->acknowledged ? fd->failures + 1 : 0;
	if (!brief)
		fd->tries = 0;
	server_subscription_end(e, fd);
	wait = fd->failures >= BOUND_FALSE_STARTS ?
	    SELDOM_MS :
	    backoff_stream(fd->tries++, -1);
	if (f != NULL && f->retry_after_ms > wait)
		wait = f->retry_after_ms < SELDOM_MS ? f->retry_after_ms :
						       SELDOM_MS;
	server_log(e, LEVEL_DEBUG,
	    "the subscription stream is opened again in %lld ms",
	    (long long)wait);
	fd->again_at = e->now + wait;
}

bool
server_subscription_acknowledged(struct server *e, struct subscription *fd,
    struct frame *m)
{
	if (fd->acknowledged) {
		server_log(e, LEVEL_DEBUG,
		    "a subscription is acknowledged twice: the second one is "
		    "dropped");
		return false;
	}
	fd->acknowledged = true;
	server_belief_listen_confirm(e);
	frame_unref(fd->honours);
	fd->honours = frame_ref(m);
	return true;
}

bool
server_subscription_take_gap(struct subscription *fd)
{
	bool gap = fd->gap;

	fd->gap = false;
	return gap;
}

bool
server_subscription_is_passing(const struct facts *f, const struct frame *error)
{
	return f->status == 401 || f->status == 403 || f->status == 408 ||
	    f->status == 429 || f->status >= 500 ||
	    msg_error_code(error) == FAULT_INTERNAL;
}

bool
server_subscription_is_due(const struct server *e,
    const struct subscription *fd)
{
	return fd != NULL && fd->again_at <= e->now;
}

/* --- what is told --- */

/*
 * The session, or a modern client's listen, is told what subscriptions bring:
 * that something changed, and that the server is no modern one any more.
 */

struct listens *
server_tell_listens(struct server *e)
{
	if (e->listens == NULL) {
		e->listens = xcalloc(1, sizeof *e->listens);
		e->listens->change_at = ALARM_NEVER;
	}
	return e->listens;
}

void
server_tell_session(struct server *e, struct frame *m)
{
	struct listens *l = e->listens;

	if (l->get != NULL)
		server_order_tell_message(e, l->get, &server_facts_stream, m);
	else if (!server_order_keep(&l->kept, m))
		server_log(e, LEVEL_DEBUG,
		    "too many notifications came before the session listens: "
		    "one is dropped");
}

/* Tells that something may have changed, a resource (uri raw JSON) or a list
 * (uri absent): to a client's listen under its id, or to the session if o is
 * NULL. */
static void
tell_change(struct server *e, struct server_order *o, const char *method,
    struct span uri)
{
	struct frame *m;
	struct buf params;

	buf_init(&params, 0);
	if (uri.p != NULL) {
		buf_adds(&params, "{\"uri\":");
		buf_addspan(&params, uri);
	}
	if (o != NULL) {
		buf_adds(&params, params.n > 0 ? "," : "{");
		buf_adds(&params,
		    "\"_meta\":{\"" META_PREFIX "subscriptionId\":");
		buf_addspan(&params, o->body->id);
		buf_addc(&params, '}');
	}
	if (params.n > 0)
		buf_addc(&params, '}');
	m = msg_call(no_span, method, buf_span(&params));
	if (o != NULL)
		server_order_tell_message(e, o, &server_facts_stream, m);
	else
		server_tell_session(e, m);
	frame_unref(m);
	buf_free(&params);
}

void
server_tell_lists(struct server *e, struct server_order *o,
    const struct frame *honours)
{
	struct span honoured = json_get(honours->params, "notifications");
	size_t i;

	for (i = 0; i < ERA_FAMILIES; i++)
		if (span_is(json_get(honoured, era_families[i].wish), "true"))
			tell_change(e, o, era_families[i].changed, no_span);
}

void
server_tell_resource(struct server *e, struct server_order *o, struct span uri)
{
	tell_change(e, o, "notifications/resources/updated", uri);
}

/* --- a server of another era --- */

void
server_tell_gone(struct server *e, struct server_order *o)
{
	server_belief_listen_doubt(e);
	server_order_tell_gone(e, o, false);
}
