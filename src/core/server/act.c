/*
 * This file has the primitives that every other file of the folder uses: kept
 * facts, the queue of actions, and attempts, which are the exchanges that
 * core/server orders from transport.
 */
#include "config.h"

#include "core/server/parts.h"

#include <stdlib.h>

#include "core/era/mirror.h"

static const uint64_t OURS = (uint64_t)1 << 63;

/* --- facts --- */

/* Facts of a request that was sent. */
#define SENT(...)                                                              \
	{                                                                      \
		.verb = VERB_POST, .sent = true, .retry_after_ms = -1,         \
		.retry_ms = -1, __VA_ARGS__                                    \
	}

const struct facts server_facts_ok = SENT(.status = 200, .media = MEDIA_JSON);
const struct facts server_facts_accepted = SENT(.status = 202);
const struct facts server_facts_stream = SENT(.status = 200,
    .media = MEDIA_SSE);
const struct facts server_facts_aborted = SENT(.ending = ENDING_ABORTED);

struct facts
server_facts_gone(bool ran)
{
	struct facts f = server_facts_accepted;

	f.status = ran ? 0 : 404;
	f.ending = ran ? ENDING_CUT : ENDING_COMPLETE;
	f.session_ended = true;
	return f;
}

/* --- actions --- */

/* Queues an event of which there is nothing to say but its kind and ticket. */
static void
post(struct server *e, enum event_kind kind, uint64_t ticket)
{
	events_add(&e->events,
	    &(struct event){ .kind = kind, .ticket = ticket });
}

void
server_log(struct server *e, enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	events_log(&e->events, level, fmt, ap);
	va_end(ap);
}

void
server_attempt_let_go(struct server *e, struct server_attempt *i)
{
	struct server_attempt *other, *oldest = i;
	size_t n = 0;

	i->order = NULL;
	i->end_at = e->now + BOUND_LINGER_MS;
	for (other = e->attempts; other != NULL; other = other->next) {
		if (other->dropped || other->order != NULL ||
		    other->end_at == ALARM_NEVER)
			continue;
		n++;
		if (other->end_at <= oldest->end_at)
			oldest = other;
	}
	if (n > BOUND_LINGERING)
		server_attempt_end(e, oldest);
}

struct server_attempt *
server_attempt_find(const struct server *e, uint64_t ticket)
{
	struct hash_entry *i = hash_first(&e->attempt_table, ticket);

	return i == NULL ? NULL :
			   HASH_THING(i, struct server_attempt, by_ticket);
}

bool
server_next(struct server *e, struct event *out)
{
	struct server_attempt *i;

	while (events_next(&e->events, out)) {
		if (out->kind != ACTION_SEND)
			return true;
		/* The step that ordered this attempt may have ended it: then
		 * nobody hears of it. */
		i = server_attempt_find(e, out->ticket);
		if (i == NULL)
			continue;
		i->ordered = true;
		i->out.version = span_of(i->version);
		i->out.mirrored = i->mirrored.n > 0 ? &i->mirrored : NULL;
		e->events.order = i->out;
		out->order = &e->events.order;
		return true;
	}
	return false;
}

/* --- the server's end --- */

const char *
server_own_id(struct server *e)
{
	buf_reset(&e->own_id);
	buf_addf(&e->own_id, "\"%s-s%llu\"", e->config.prefix,
	    (unsigned long long)++e->ids);
	return buf_str(&e->own_id);
}

void
server_tell_user(struct server *e, struct server_order *o, const char *text)
{
	o->waits_for_user = text != NULL;
	events_add(&e->events,
	    &(struct event){
		.kind = INPUT_SIGN_IN, .ticket = o->ticket, .text = text });
}

struct server_attempt *
server_attempt_new(struct server *e, enum purpose purpose,
    struct server_order *o, struct frame *body)
{
	struct server_attempt *i = xcalloc(1, sizeof *i);

	i->ticket = OURS | ++e->next_ticket;
	i->purpose = purpose;
	i->order = o;
	i->out.ticket = i->ticket;
	i->out.verb = body != NULL ? VERB_POST : VERB_GET;
	i->end_at = ALARM_NEVER;
	if (body != NULL)
		i->out.body = frame_ref(body);
	headers_init(&i->mirrored);
	if (o != NULL) {
		/* What waited for the user has ended. */
		if (o->waits_for_user)
			server_tell_user(e, o, NULL);
		i->out.why = o->why;
		i->out.generation = o->generation;
		i->out.interactive = o->interactive;
		i->out.control = o->control;
		i->out.fresh = o->fresh;
		i->out.wary = o->wary;
	}
	i->next = e->attempts;
	e->attempts = i;
	hash_add(&e->attempt_table, &i->by_ticket, i->ticket);
	post(e, ACTION_SEND, i->ticket);
	return i;
}

struct server_attempt *
server_attempt_new_modern(struct server *e, enum purpose purpose,
    struct server_order *o, struct frame *body)
{
	struct server_attempt *i = server_attempt_new(e, purpose, o, body);

	i->version = xstrdup(REVISION_MODERN);
	i->two_names = mirror_headers(e->mirror, body, o != NULL && o->raw_name,
	    &i->mirrored);
	return i;
}

void
server_attempt_drop(struct server *e, struct server_attempt *i)
{
	i->dropped = true;
	hash_remove(&e->attempt_table, &i->by_ticket);
}

void
server_attempt_end(struct server *e, struct server_attempt *i)
{
	if (i == NULL || i->dropped)
		return;
	server_attempt_drop(e, i);
	i->order = NULL;
	if (i->ordered)
		post(e, ACTION_ABORT, i->ticket);
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
	frame_unref(i->out.body);
	free(i->version);
	headers_free(&i->mirrored);
	free(i);
}
