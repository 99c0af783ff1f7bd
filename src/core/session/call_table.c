/*
 * The table of calls and attempts. Lists keep the order; hash tables find a
 * call by its id (type and value) and an attempt by its ticket.
 */
#include "config.h"

#include "core/session/call_table.h"

#include <stdlib.h>

#include "base/queue.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

struct generation *
generation_new(uint64_t number)
{
	struct generation *g = xcalloc(1, sizeof *g);

	g->refs = 1;
	g->number = number;
	return g;
}

struct generation *
generation_ref(struct generation *g)
{
	g->refs++;
	return g;
}

void
generation_unref(struct generation *g)
{
	if (g == NULL || --g->refs > 0)
		return;
	free(g->session);
	free(g->version);
	free(g);
}

void
calls_init(struct calls *t)
{
	memset(t, 0, sizeof *t);
	t->next_ticket = 1;
}

void
calls_free(struct calls *t)
{
	while (t->attempts != NULL)
		calls_attempt_drop(t, t->attempts);
	calls_reap(t);
	while (t->first != NULL)
		calls_drop(t, t->first);
	hash_free(&t->by_id);
	hash_free(&t->by_ticket);
}

struct call *
calls_add(struct calls *t, struct frame *f)
{
	struct call *c = xcalloc(1, sizeof *c);

	c->frame = frame_ref(f);
	c->again_at = c->user_at = c->away_until = c->note_at = ALARM_NEVER;
	QUEUE_ADD(t, c);
	t->n++;
	hash_add(&t->by_id, &c->by_id, msg_id_hash(f->id));
	return c;
}

static struct span
id_of(struct hash_entry *e)
{
	return HASH_THING(e, struct call, by_id)->frame->id;
}

struct call *
calls_find(const struct calls *t, struct span id)
{
	struct hash_entry *e = msg_id_find(&t->by_id, id, id_of);

	return e == NULL ? NULL : HASH_THING(e, struct call, by_id);
}

void
calls_drop(struct calls *t, struct call *c)
{
	hash_remove(&t->by_id, &c->by_id);
	QUEUE_REMOVE(t, c);
	t->n--;
	if (c->attempt != NULL)
		c->attempt->call = NULL;
	calls_send_as(t, c, NULL);
	frame_unref(c->frame);
	frame_unref(c->refusal);
	frame_unref(c->doubt.error);
	pages_free(&c->pages);
	generation_unref(c->doubt.generation);
	free(c);
}

uint64_t
calls_origin(const struct call *c)
{
	if (c->state == CALL_ACCEPTED)
		return c->accepted;
	return c->attempt == NULL ? 0 : c->attempt->origin;
}

bool
calls_resumed_since(const struct calls *t, int64_t since)
{
	const struct attempt *a;

	for (a = t->attempts; a != NULL; a = a->next)
		if (a->kind == ATTEMPT_CALL && a->live &&
		    a->last_event_id.n > 0 && a->out_at >= since)
			return true;
	return false;
}

void
calls_send_as(struct calls *t, struct call *c, struct frame *f)
{
	t->n_sent -= c->sent != NULL;
	t->n_sent += f != NULL;
	frame_unref(c->sent);
	c->sent = f;
}

struct call *
calls_find_sent(const struct calls *t, struct span id)
{
	size_t left = t->n_sent;
	struct call *c;

	if (id.p == NULL)
		return NULL;
	for (c = t->first; c != NULL && left > 0; c = c->next) {
		if (c->sent == NULL)
			continue;
		if (msg_id_same(c->sent->id, id))
			return c;
		left--;
	}
	return NULL;
}

/* The counter that counts this attempt, which is ATTEMPT_ONE_WAY. */
static size_t *
note_counter(struct calls *t, const struct attempt *a)
{
	return a->body == NULL || a->body->kind == FRAME_NOTIFICATION ?
	    &t->n_notifications :
	    &t->n_answers;
}

struct attempt *
calls_attempt(struct calls *t, enum attempt_kind kind, struct call *c,
    struct frame *body, struct generation *g)
{
	struct attempt *a = xcalloc(1, sizeof *a);

	a->ticket = a->origin = t->next_ticket++;
	a->kind = kind;
	a->retry_ms = -1;
	a->silent_at = a->dead_at = a->window_end = ALARM_NEVER;
	a->start_at = a->abort_at = ALARM_NEVER;
	a->call = c;
	a->body = body == NULL ? NULL : frame_ref(body);
	a->generation = generation_ref(g);
	if (c != NULL) {
		if (c->attempt != NULL)
			c->attempt->call = NULL;
		c->attempt = a;
	}
	a->next = t->attempts;
	if (t->attempts != NULL)
		t->attempts->prev = a;
	t->attempts = a;
	hash_add(&t->by_ticket, &a->by_ticket, a->ticket);
	t->n_attempts++;
	if (kind == ATTEMPT_ONE_WAY)
		++*note_counter(t, a);
	return a;
}

struct attempt *
calls_attempt_find(const struct calls *t, uint64_t ticket)
{
	struct hash_entry *e = hash_first(&t->by_ticket, ticket);

	return e == NULL ? NULL : HASH_THING(e, struct attempt, by_ticket);
}

void
calls_attempt_drop(struct calls *t, struct attempt *a)
{
	hash_remove(&t->by_ticket, &a->by_ticket);
	if (a->prev != NULL)
		a->prev->next = a->next;
	else
		t->attempts = a->next;
	if (a->next != NULL)
		a->next->prev = a->prev;
	t->n_attempts--;
	if (a->kind == ATTEMPT_ONE_WAY)
		--*note_counter(t, a);
	if (a->call != NULL)
		a->call->attempt = NULL;
	a->call = NULL;
	a->live = false;
	a->dropped = true;
	a->next_dropped = t->dropped;
	t->dropped = a;
}

struct attempt *
calls_attempt_next(const struct attempt *a)
{
	struct attempt *next = a->next;

	while (next != NULL && next->dropped)
		next = next->next;
	return next;
}

void
calls_reap(struct calls *t)
{
	struct attempt *a;

	while ((a = t->dropped) != NULL) {
		t->dropped = a->next_dropped;
		frame_unref(a->body);
		buf_free(&a->last_event_id);
		facts_free(a->unauthorized);
		generation_unref(a->generation);
		free(a);
	}
}

bool
calls_safe(const struct frame *request)
{
	static const char *const safe[] = {
		"ping",
		"tools/list",
		"prompts/list",
		"prompts/get",
		"resources/list",
		"resources/templates/list",
		"resources/read",
		"resources/subscribe",
		"resources/unsubscribe",
		"completion/complete",
		"logging/setLevel",
		"server/discover",
	};
	size_t i;

	for (i = 0; i < sizeof safe / sizeof *safe; i++)
		if (json_key_is(request->method, safe[i]))
			return !request->ambiguous;
	return false;
}
