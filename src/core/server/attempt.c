/*
 * Attempts, the exchanges that core/server orders from transport: each is begun,
 * found again, and ended.
 */
#include "config.h"

#include "core/server/parts.h"

#include "core/era/mirror.h"

static const uint64_t OURS = (uint64_t)1 << 63;

/* Queues an event of which there is nothing to say but its kind and ticket. */
static void
post(struct server *s, enum event_kind kind, uint64_t ticket)
{
	events_add(&s->events,
	    &(struct event){ .kind = kind, .ticket = ticket });
}

void
server_attempt_let_go(struct server *s, struct server_attempt *a)
{
	struct server_attempt *other, *oldest = a;
	size_t n = 0;

	a->order = NULL;
	a->end_at = s->now + BOUND_SHORT_MS;
	for (other = s->attempts; other != NULL; other = other->next) {
		if (other->dropped || other->order != NULL ||
		    other->end_at == ALARM_NEVER)
			continue;
		n++;
		if (other->end_at <= oldest->end_at)
			oldest = other;
	}
	if (n > BOUND_FEW)
		server_attempt_end(s, oldest);
}

struct server_attempt *
server_attempt_find(const struct server *s, uint64_t ticket)
{
	struct hash_entry *i = hash_first(&s->attempt_table, ticket);

	return i == NULL ? NULL :
			   HASH_THING(i, struct server_attempt, by_ticket);
}

bool
server_next(struct server *s, struct event *out)
{
	struct server_attempt *a;

	while (events_next(&s->events, out)) {
		if (out->kind != ACTION_SEND)
			return true;
		/* The step that ordered this attempt may have ended it: then
		 * nobody hears of it. */
		a = server_attempt_find(s, out->ticket);
		if (a == NULL)
			continue;
		a->ordered = true;
		a->out.version = span_of(a->version);
		a->out.mirrored = a->mirrored.n > 0 ? &a->mirrored : NULL;
		s->events.order = a->out;
		out->order = &s->events.order;
		return true;
	}
	return false;
}

struct server_attempt *
server_attempt_new(struct server *s, enum purpose purpose,
    struct server_order *o, struct frame *body)
{
	struct server_attempt *a = xcalloc(1, sizeof *a);

	a->ticket = OURS | ++s->next_ticket;
	a->purpose = purpose;
	a->order = o;
	a->out.ticket = a->ticket;
	a->out.verb = body != NULL ? VERB_POST : VERB_GET;
	a->end_at = ALARM_NEVER;
	if (body != NULL)
		a->out.body = frame_ref(body);
	headers_init(&a->mirrored);
	if (o != NULL) {
		/* What waited for the user has ended. */
		if (o->waits_for_user)
			server_tell_user(s, o, NULL);
		a->out.why = o->why;
		a->out.generation = o->generation;
		a->out.interactive = o->interactive;
		a->out.control = o->control;
		a->out.fresh = o->fresh;
		a->out.wary = o->wary;
	}
	a->next = s->attempts;
	s->attempts = a;
	hash_add(&s->attempt_table, &a->by_ticket, a->ticket);
	post(s, ACTION_SEND, a->ticket);
	return a;
}

struct server_attempt *
server_attempt_new_modern(struct server *s, enum purpose purpose,
    struct server_order *o, struct frame *body)
{
	struct server_attempt *a = server_attempt_new(s, purpose, o, body);

	a->version = xstrdup(REVISION_MODERN);
	a->two_names = mirror_headers(s->mirror, body, o != NULL && o->raw_name,
	    &a->mirrored);
	return a;
}

void
server_attempt_drop(struct server *s, struct server_attempt *a)
{
	a->dropped = true;
	hash_remove(&s->attempt_table, &a->by_ticket);
}

void
server_attempt_end(struct server *s, struct server_attempt *a)
{
	if (a == NULL || a->dropped)
		return;
	server_attempt_drop(s, a);
	a->order = NULL;
	if (a->ordered)
		post(s, ACTION_ABORT, a->ticket);
}

struct server_attempt *
server_attempt_of(const struct server *s, enum purpose purpose,
    const struct server_order *o)
{
	struct server_attempt *a;

	for (a = s->attempts; a != NULL; a = a->next)
		if (!a->dropped && a->purpose == purpose && a->order == o)
			return a;
	return NULL;
}
