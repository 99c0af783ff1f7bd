/*
 * This file has the primitives that every other file of the folder uses: kept
 * facts, the queue of actions, and attempts, which are the exchanges that
 * core/server orders from upstream.
 */
#include "config.h"

#include "core/server/act.h"

#include <stdlib.h>

#include "core/era/mirror.h"
#include "core/wire/protocol.h"

static const uint64_t OURS = (uint64_t)1 << 63;

/* --- facts --- */

const struct facts server_facts_ok = {
	.verb = VERB_POST,
	.status = 200,
	.media = MEDIA_JSON,
	.ending = ENDING_COMPLETE,
	.sent = true,
	.retry_after_ms = -1,
	.retry_ms = -1,
};

const struct facts server_facts_accepted = {
	.verb = VERB_POST,
	.status = 202,
	.ending = ENDING_COMPLETE,
	.sent = true,
	.retry_after_ms = -1,
	.retry_ms = -1,
};

const struct facts server_facts_stream = {
	.verb = VERB_POST,
	.status = 200,
	.media = MEDIA_SSE,
	.ending = ENDING_COMPLETE,
	.sent = true,
	.retry_after_ms = -1,
	.retry_ms = -1,
};

const struct facts server_facts_aborted = {
	.verb = VERB_POST,
	.ending = ENDING_ABORTED,
	.sent = true,
	.retry_after_ms = -1,
	.retry_ms = -1,
};

struct facts
server_facts_gone(bool ran)
{
	struct facts f = server_facts_accepted;

	f.status = ran ? 0 : 404;
	f.ending = ran ? ENDING_CUT : ENDING_COMPLETE;
	f.session_ended = true;
	return f;
}

struct kept_facts *
server_facts_keep(const struct facts *f)
{
	struct kept_facts *k = xcalloc(1, sizeof *k);
	struct span *const spans[] = { &k->facts.session, &k->facts.body,
		&k->facts.last_event_id, &k->facts.location, &k->facts.why,
		&k->facts.challenge };
	size_t i, at = 0;

	k->facts = *f;
	buf_init(&k->bytes, 0);
	for (i = 0; i < sizeof spans / sizeof *spans; i++)
		buf_addspan(&k->bytes, *spans[i]);
	for (i = 0; i < sizeof spans / sizeof *spans; i++) {
		if (spans[i]->n > 0)
			spans[i]->p = k->bytes.p + at;
		at += spans[i]->n;
	}
	return k;
}

void
server_facts_free(struct kept_facts *k)
{
	if (k == NULL)
		return;
	buf_free(&k->bytes);
	free(k);
}

/* --- actions --- */

void
server_action_clear(struct server_queued *a)
{
	server_facts_free(a->facts);
	frame_unref(a->frame);
	free(a->text);
	memset(a, 0, sizeof *a);
}

struct server_queued *
server_action_add(struct server *e, enum server_action_kind kind,
    uint64_t ticket)
{
	struct server_queued *a;

	if (e->next_action == e->n_actions)
		e->next_action = e->n_actions = 0;
	if (e->n_actions == e->cap_actions) {
		e->cap_actions = e->cap_actions * 2 + 16;
		e->actions = xrealloc(e->actions,
		    e->cap_actions * sizeof *e->actions);
	}
	a = &e->actions[e->n_actions++];
	memset(a, 0, sizeof *a);
	a->kind = kind;
	a->ticket = ticket;
	return a;
}

void
server_log(struct server *e, enum log_level level, const char *fmt, ...)
{
	struct server_queued *a = server_action_add(e, SERVER_NOTE, 0);
	va_list ap;

	a->level = level;
	va_start(ap, fmt);
	a->text = xvasprintf(fmt, ap);
	va_end(ap);
}

static void
fill_order(struct order *order, const struct server_attempt *i)
{
	order->ticket = i->ticket;
	order->verb = i->verb;
	order->body = i->body;
	order->version = span_of(i->version);
	order->mirrored = i->mirrored.n > 0 ? &i->mirrored : NULL;
	order->endpoint = i->endpoint;
	order->announces = i->announces;
	order->listen = i->listen;
	order->control = i->control;
	order->interactive = i->interactive;
}

struct server_attempt *
server_attempt_find(const struct server *e, uint64_t ticket)
{
	struct idtable_entry *i = idtable_first(&e->attempt_table, ticket);

	return i == NULL ? NULL :
			   IDTABLE_THING(i, struct server_attempt, by_ticket);
}

bool
server_next(struct server *e, struct server_action *out)
{
	struct server_queued *a = &e->current;
	struct server_attempt *i;

	for (;;) {
		server_action_clear(a);
		if (e->next_action == e->n_actions)
			return false;
		*a = e->actions[e->next_action++];
		memset(out, 0, sizeof *out);
		out->kind = a->kind;
		out->ticket = a->ticket;
		out->facts = a->facts != NULL ? &a->facts->facts : NULL;
		out->frame = a->frame;
		out->text = span_of(a->text);
		out->note = a->text;
		out->level = a->level;
		out->modern = a->modern;
		out->sse = a->sse;
		out->dual = a->dual;
		if (a->kind != SERVER_ORDER)
			return true;
		/* The step that ordered this attempt also ended it, so upstream
		 * never hears of it. */
		i = server_attempt_find(e, a->ticket);
		if (i == NULL)
			continue;
		i->ordered = true;
		fill_order(&out->order, i);
		return true;
	}
}

/* --- the server's end --- */

char *
server_own_id(struct server *e)
{
	return xasprintf("\"%s-s%llu\"", e->config.prefix,
	    (unsigned long long)++e->ids);
}

struct server_attempt *
server_attempt_new(struct server *e, enum purpose purpose,
    struct server_order *o, struct frame *body)
{
	struct server_attempt *i = xcalloc(1, sizeof *i);

	i->ticket = OURS | ++e->next_ticket;
	i->purpose = purpose;
	i->order = o;
	i->verb = body != NULL ? VERB_POST : VERB_GET;
	i->end_at = ALARM_NEVER;
	if (body != NULL)
		i->body = frame_ref(body);
	headers_init(&i->mirrored);
	if (o != NULL) {
		i->interactive = o->interactive;
		i->control = o->control;
	}
	i->next = e->attempts;
	e->attempts = i;
	idtable_add(&e->attempt_table, &i->by_ticket, i->ticket);
	server_action_add(e, SERVER_ORDER, i->ticket);
	return i;
}

struct server_attempt *
server_attempt_new_modern(struct server *e, enum purpose purpose,
    struct server_order *o, struct frame *body)
{
	struct server_attempt *i = server_attempt_new(e, purpose, o, body);

	i->version = xstrdup(REVISION_MODERN);
	mirror_headers(e->mirror, body, &i->mirrored);
	return i;
}

void
server_attempt_drop(struct server *e, struct server_attempt *i)
{
	i->dropped = true;
	idtable_remove(&e->attempt_table, &i->by_ticket);
}

void
server_attempt_end(struct server *e, struct server_attempt *i)
{
	if (i == NULL || i->dropped)
		return;
	server_attempt_drop(e, i);
	i->order = NULL;
	if (i->ordered)
		server_action_add(e, SERVER_DROP, i->ticket);
}

struct server_attempt *
server_attempt_of(const struct server *e, enum purpose purpose,
    const struct server_order *o)
{
	struct server_attempt *i;

	for (i = e->attempts; i != NULL; i = i->next)
		if (!i->dropped && i->purpose == purpose && i->order == o)
			return i;
	return NULL;
}

void
server_attempt_free(struct server_attempt *i)
{
	frame_unref(i->body);
	free(i->version);
	headers_free(&i->mirrored);
	free(i);
}
