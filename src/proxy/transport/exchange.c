/*
 * The life of an exchange, and back-pressure: when stdout is full, all
 * exchanges pause. When partial messages hold more than the cap, all pause
 * except the one with the oldest partial message, which may finish it. Control
 * orders continue in both cases, as long as their answers are small.
 */
#include "config.h"

#include "proxy/transport/state.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/queue.h"

struct exchange *
exchange_find(const struct streamable *u, uint64_t ticket)
{
	struct hash_entry *e = hash_first(&u->by_ticket, ticket);

	return e == NULL ? NULL : HASH_THING(e, struct exchange, by_ticket);
}

void
exchange_clear_facts(struct exchange *t)
{
	memset(&t->facts, 0, sizeof t->facts);
	t->facts.verb = t->order.verb;
	t->facts.retry_after_ms = t->facts.retry_ms = -1;
}

void
exchange_clear_answer(struct exchange *t)
{
	t->u->held -= t->held;
	t->held = 0;
	sse_free(t->sse);
	t->sse = NULL;
	frame_unref(t->stray);
	t->stray = NULL;
	buf_free(&t->answer);
	buf_free(&t->challenge);
	buf_free(&t->denial);
	string_set(&t->session_given, NULL);
	string_set(&t->location, NULL);
	string_set(&t->secure, NULL);
	string_set(&t->why, NULL);
	string_set(&t->type, NULL);
	string_set(&t->coding, NULL);
}

void
exchange_free(struct exchange *t)
{
	struct streamable *u = t->u;

	hash_remove(&u->by_ticket, &t->by_ticket);
	QUEUE_REMOVE(u, t);
	exchange_clear_answer(t);
	frame_unref(t->body);
	headers_free(&t->mirrored);
	free(t->session);
	free(t->version);
	free(t->last_event_id);
	free(t->url);
	free(t->redirect);
	free(t);
}

void
exchange_tell(struct exchange *t, struct event *e)
{
	e->ticket = t->order.ticket;
	e->facts = &t->facts;
	e->head = t->head_due;
	t->head_due = false;
	t->u->event(e, t->u->arg);
}

/* --- back-pressure --- */

static bool
is_small_control(const struct exchange *t)
{
	return t->order.control && t->bytes <= BOUND_PART_BYTES;
}

void
exchange_pause(struct exchange *t, bool paused)
{
	if (t->x == NULL || t->paused == paused ||
	    (paused && is_small_control(t)))
		return;
	t->paused = paused;
	http_pause(t->x, paused);
}

/* Returns the stream that may continue in order to finish its message, or NULL.
 * Calls come before listen streams, which may keep half a message for ever. */
static struct exchange *
oldest_partial(const struct streamable *u)
{
	struct exchange *t, *oldest = NULL;

	for (t = u->first; t != NULL; t = t->next) {
		if (t->held == 0 || t->x == NULL)
			continue;
		if (oldest == NULL ||
		    (t->order.listen == oldest->order.listen ?
			    t->partial < oldest->partial :
			    oldest->order.listen))
			oldest = t;
	}
	return oldest;
}

bool
exchange_is_full(const struct streamable *u)
{
	return u->stdout_full || u->held_full;
}

void
exchange_apply_pause(struct streamable *u)
{
	struct exchange *t, *goes_on = NULL;

	if (u->held_full && !u->stdout_full)
		goes_on = oldest_partial(u);
	for (t = u->first; t != NULL; t = t->next)
		exchange_pause(t, exchange_is_full(u) && t != goes_on);
}

void
exchange_count_held(struct exchange *t, size_t held)
{
	struct streamable *u = t->u;
	bool finished = t->held > 0 && (held == 0 || t->events != t->before);
	bool full;

	if (held > 0 && (t->held == 0 || finished)) {
		t->partial = ++u->partials;
		t->before = t->events;
	}
	u->held = u->held - t->held + held;
	t->held = held;
	full = u->config.max_held > 0 && u->held > u->config.max_held;
	if (full != u->held_full || (full && finished)) {
		u->held_full = full;
		exchange_apply_pause(u); /* the next oldest may continue */
	}
}

void
exchange_count_bytes(struct exchange *t, size_t n)
{
	bool was_small = is_small_control(t);

	t->bytes += n;
	if (was_small && !is_small_control(t) && exchange_is_full(t->u))
		exchange_apply_pause(t->u);
}

void
exchange_end(struct exchange *t, struct frame *body)
{
	struct event e = { .kind = INPUT_DONE, .frame = body };

	t->ending = true;
	if (t->held > 0)
		exchange_count_held(t, 0);
	exchange_tell(t, &e);
	exchange_free(t);
}
