/*
 * This file keeps one order of the session from its begin to its end: it finds
 * the order, tells the session what comes of it, and drops it. The facts of
 * an exchange that did not take place are here, too.
 */
#include "config.h"

#include "core/server/parts.h"

#include <stdlib.h>

#include "core/era/mirror.h"

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

struct server_order *
server_order_find(const struct server *s, uint64_t ticket)
{
	struct hash_entry *o = hash_first(&s->order_table, ticket);

	return o == NULL ? NULL : HASH_THING(o, struct server_order, by_ticket);
}

struct server_order *
server_order_asking(const struct server *s, struct span id,
    enum server_mode mode)
{
	struct server_order *o, *alike = NULL;

	for (o = s->orders; o != NULL; o = o->next) {
		if (o->dropped || o->post == POST_STREAM_ENDED ||
		    o->body == NULL || o->body->kind != FRAME_REQUEST ||
		    (o->mode != mode && o != s->detect.order))
			continue;
		if (span_eq(o->body->id, id))
			return o;
		if (alike == NULL && msg_id_same(o->body->id, id))
			alike = o;
	}
	return alike;
}

bool
server_order_is(const struct server_order *o, const char *method)
{
	return o->body != NULL && json_key_is(o->body->method, method);
}

struct server_order *
server_order_new(struct server *s, const struct order *order)
{
	struct server_order *o = xcalloc(1, sizeof *o);

	o->ticket = order->ticket;
	o->verb = order->verb;
	if (order->verb == VERB_POST)
		o->body = frame_ref(order->body);
	if (order->version.n > 0)
		o->version = xstrndup(order->version.p, order->version.n);
	o->why = order->why;
	o->generation = order->generation;
	o->control = order->control;
	o->interactive = order->interactive;
	o->fresh = order->fresh;
	o->wary = order->wary;
	o->mode = s->belief.mode;
	o->raw_name = s->raw_names;
	o->again_at = o->inputs_end = o->window_end = ALARM_NEVER;
	o->next = s->orders;
	s->orders = o;
	hash_add(&s->order_table, &o->by_ticket, o->ticket);
	return o;
}

void
server_order_free(struct server_order *o)
{
	frame_unref(o->body);
	frame_unref(o->sent);
	free(o->version);
	free(o);
}

void
server_order_drop(struct server *s, struct server_order *o)
{
	struct server_attempt *a;

	o->dropped = true;
	hash_remove(&s->order_table, &o->by_ticket);
	if (s->detect.order == o)
		server_attempt_end(s, s->detect.attempt);
	for (a = s->attempts; a != NULL; a = a->next)
		if (a->order == o)
			server_attempt_end(s, a);
}

/* Returns the event of this kind for the order if it was told just now, with
 * the same status 200: what comes next can be told in the same event. */
static struct event *
told_last(struct server *s, const struct server_order *o, enum event_kind kind,
    const struct facts *f)
{
	struct event *last = events_last(&s->events);

	if (last == NULL || last->kind != kind || last->ticket != o->ticket ||
	    f->status != 200 || last->facts->status != 200 ||
	    f->ending != last->facts->ending || o->changed)
		return NULL;
	return last;
}

void
server_order_tell_head(struct server *s, struct server_order *o,
    const struct facts *f)
{
	events_add(&s->events,
	    &(struct event){ .kind = INPUT_HEAD,
		.ticket = o->ticket,
		.facts = f,
		.head = true });
}

void
server_order_tell_message(struct server *s, struct server_order *o,
    const struct facts *f, struct frame *m)
{
	struct facts facts = *f;
	struct event out = { .kind = INPUT_MESSAGE,
		.ticket = o->ticket,
		.facts = &facts,
		.frame = m };
	struct event *head = told_last(s, o, INPUT_HEAD, f);

	facts.changed = o->changed;
	/* The refusal of a modern server says nothing about a session, but with
	 * this status the session would think so. */
	if (o->mode == MODE_MODERN && m->kind == FRAME_ERROR &&
	    (f->status == 400 || f->status == 404))
		facts.status = 200;
	if (head != NULL) {
		head->kind = INPUT_MESSAGE;
		head->frame = frame_ref(m);
	} else {
		events_add(&s->events, &out);
	}
	if (m->kind == FRAME_RESULT || m->kind == FRAME_ERROR)
		o->answered = true;
}

void
server_order_tell_done(struct server *s, struct server_order *o,
    const struct facts *f)
{
	struct event *message = told_last(s, o, INPUT_MESSAGE, f);

	if (message != NULL)
		message->kind = INPUT_DONE;
	else
		events_add(&s->events,
		    &(struct event){
			.kind = INPUT_DONE, .ticket = o->ticket, .facts = f });
	server_order_drop(s, o);
}

void
server_order_tell_answer(struct server *s, struct server_order *o,
    struct frame *m)
{
	server_order_tell_head(s, o, &server_facts_ok);
	server_order_tell_message(s, o, &server_facts_ok, m);
	frame_unref(m);
	server_order_tell_done(s, o, &server_facts_ok);
}

void
server_order_fail(struct server *s, struct server_order *o, enum fault_id id,
    const struct fault_args *more)
{
	struct fault_args args = { 0 };

	if (more != NULL)
		args = *more;
	args.request = o->body;
	args.host = s->config.host;
	server_order_tell_answer(s, o, fault_make(id, &args));
}

void
server_order_tell_gone(struct server *s, struct server_order *o, bool ran)
{
	struct facts f = server_facts_gone(ran);

	f.verb = o->verb;
	server_order_tell_done(s, o, &f);
}

/* --- messages for the session's listen stream --- */

bool
server_order_keep(struct kept *kept, struct frame *m)
{
	return kept_add(kept, m, BOUND_FEW, BOUND_QUEUE_BYTES);
}

void
server_order_listen(struct server *s, struct server_order *o, struct kept *kept)
{
	size_t i;

	server_order_tell_head(s, o, &server_facts_stream);
	for (i = 0; i < kept->n; i++)
		server_order_tell_message(s, o, &server_facts_stream,
		    kept->list[i]);
	kept_clear(kept);
}

void
server_order_send(struct server *s, struct server_order *o)
{
	struct buf name;

	o->again_at = ALARM_NEVER;
	buf_init(&name, 0);
	if (mirror_unfit(s->mirror, o->sent, &name))
		server_order_fail(s, o, FAULT_ARGUMENT_UNFIT,
		    &(struct fault_args){ .why = buf_span(&name) });
	else
		server_attempt_new_modern(s, FOR_CALL, o, o->sent);
	buf_free(&name);
}
