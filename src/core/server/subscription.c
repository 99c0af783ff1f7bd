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
	struct subscription *sub = xcalloc(1, sizeof *sub);

	sub->order = o;
	sub->again_at = ALARM_NEVER;
	buf_init(&sub->asked, 0);
	return sub;
}

void
server_subscription_end(struct server *s, struct subscription *sub)
{
	server_attempt_end(s, sub->attempt);
	sub->attempt = NULL;
	sub->gap |= sub->acknowledged;
	sub->acknowledged = false;
	sub->again_at = ALARM_NEVER;
}

void
server_subscription_free(struct server *s, struct subscription *sub)
{
	if (sub == NULL)
		return;
	server_subscription_end(s, sub);
	buf_free(&sub->asked);
	frame_unref(sub->honours);
	free(sub->id);
	free(sub);
}

void
server_subscription_open(struct server *s, struct subscription *sub,
    struct frame *request)
{
	sub->since = s->now;
	sub->again_at = ALARM_NEVER;
	sub->attempt = server_attempt_new_modern(s, FOR_LISTEN, sub->order,
	    request);
	sub->attempt->out.listen = true;
}

void
server_subscription_ask(struct server *s, struct subscription *sub)
{
	struct frame *request;

	string_set(&sub->id, own_id_new(&s->ids));
	request = era_listen(span_of(sub->id), buf_span(&s->meta),
	    buf_span(&sub->asked));
	server_subscription_open(s, sub, request);
	frame_unref(request);
}

void
server_subscription_lost(struct server *s, struct subscription *sub,
    const struct facts *f)
{
	bool brief = s->now - sub->since < BRIEF_MS;
	int64_t wait;

	sub->failures = brief && !sub->acknowledged ? sub->failures + 1 : 0;
	if (!brief)
		sub->tries = 0;
	server_subscription_end(s, sub);
	wait = sub->failures >= BOUND_FALSE_STARTS ?
	    SELDOM_MS :
	    backoff_stream(sub->tries++, -1);
	if (f != NULL && f->retry_after_ms > wait)
		wait = f->retry_after_ms < SELDOM_MS ? f->retry_after_ms :
						       SELDOM_MS;
	server_log(s, LEVEL_DEBUG,
	    "reopening the subscription stream in %lld ms", (long long)wait);
	sub->again_at = s->now + wait;
}

bool
server_subscription_acknowledged(struct server *s, struct subscription *sub,
    struct frame *m)
{
	if (sub->acknowledged) {
		server_log(s, LEVEL_DEBUG,
		    "a subscription was acknowledged twice: dropped the second "
		    "one");
		return false;
	}
	sub->acknowledged = true;
	server_belief_listen_confirm(s);
	frame_unref(sub->honours);
	sub->honours = frame_ref(m);
	return true;
}

bool
server_subscription_take_gap(struct subscription *sub)
{
	bool gap = sub->gap;

	sub->gap = false;
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
server_subscription_is_due(const struct server *s,
    const struct subscription *sub)
{
	return sub != NULL && sub->again_at <= s->now;
}

/* --- what is told --- */

/*
 * The session, or a modern client's listen, is told what subscriptions bring:
 * that something changed, and that the server is no modern one any more.
 */

struct listens *
server_tell_listens(struct server *s)
{
	if (s->listens == NULL) {
		s->listens = xcalloc(1, sizeof *s->listens);
		s->listens->change_at = ALARM_NEVER;
	}
	return s->listens;
}

void
server_tell_session(struct server *s, struct frame *m)
{
	struct listens *l = s->listens;

	if (l->get != NULL)
		server_order_tell_message(s, l->get, &server_facts_stream, m);
	else if (!server_order_keep(&l->kept, m))
		server_log(s, LEVEL_DEBUG,
		    "too many notifications came before the session was ready: "
		    "dropped one");
}

/* Tells that something may have changed, a resource (uri raw JSON) or a list
 * (uri absent): to a client's listen under its id, or to the session if o is
 * NULL. */
static void
tell_change(struct server *s, struct server_order *o, const char *method,
    struct span uri)
{
	struct facts by_us = server_facts_stream;
	struct server_order *to = o != NULL ? o : s->listens->get;
	struct frame *m;
	struct buf params;

	by_us.changed = o == NULL;
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
	if (to != NULL)
		server_order_tell_message(s, to, &by_us, m);
	else
		server_tell_session(s, m);
	frame_unref(m);
	buf_free(&params);
}

void
server_tell_lists(struct server *s, struct server_order *o,
    const struct frame *honours)
{
	struct span honoured = json_get(honours->params, "notifications");
	size_t i;

	for (i = 0; i < ERA_FAMILIES; i++)
		if (span_is(json_get(honoured, era_families[i].wish), "true"))
			tell_change(s, o, era_families[i].changed, no_span);
}

void
server_tell_resource(struct server *s, struct server_order *o, struct span uri)
{
	tell_change(s, o, "notifications/resources/updated", uri);
}

/* --- a server of another era --- */

void
server_tell_gone(struct server *s, struct server_order *o)
{
	server_belief_listen_doubt(s);
	server_order_tell_gone(s, o, false);
}
