/*
 * Keeps the requests: each is in one queue, found by the id that the client
 * knows and by the one that the session knows, and may be asked questions.
 *
 * Invariants: a request in the table has had no answer yet, but for parked
 * ones; it is in exactly one queue; what the session has is found by the id it
 * has there, and what the client waits for by the client's.
 */
#include "config.h"

#include "core/client/table.h"

#include <stdlib.h>

#include "base/codec.h"
#include "core/client/act.h"
#include "core/exchange/fault.h"
#include "core/wire/msg.h"

enum { BUCKETS = 64 };

void
client_table_init(struct client *e)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		e->n_buckets[i] = BUCKETS;
		e->buckets[i] = xcalloc(BUCKETS, sizeof *e->buckets[i]);
	}
}

static struct span
id_of(const struct request *r, enum by by)
{
	return by == BY_ID ? r->frame->id : r->sent->id;
}

static void
table_grow(struct client *e, enum by by)
{
	size_t was = e->n_buckets[by], i;
	struct request **old = e->buckets[by], *r, *after, **at;

	e->n_buckets[by] = was * 4;
	e->buckets[by] = xcalloc(was * 4, sizeof *old);
	for (i = 0; i < was; i++)
		for (r = old[i]; r != NULL; r = after) {
			after = r->chain[by];
			at = &e->buckets[by][r->hash[by] % (was * 4)];
			r->chain[by] = *at;
			*at = r;
		}
	free(old);
}

static void
table_add(struct client *e, struct request *r, enum by by)
{
	struct request **at;

	if (++e->n_known[by] > e->n_buckets[by] * 2)
		table_grow(e, by);
	r->hash[by] = msg_id_hash(id_of(r, by));
	at = &e->buckets[by][r->hash[by] % e->n_buckets[by]];
	r->chain[by] = *at;
	*at = r;
	r->known[by] = true;
}

static void
table_remove(struct client *e, struct request *r, enum by by)
{
	struct request **at;

	if (!r->known[by])
		return;
	at = &e->buckets[by][r->hash[by] % e->n_buckets[by]];
	while (*at != r)
		at = &(*at)->chain[by];
	*at = r->chain[by];
	r->known[by] = false;
	e->n_known[by]--;
}

struct request *
client_find(const struct client *e, enum by by, struct span id)
{
	struct request *r, *same = NULL;
	uint64_t hash;

	if (id.p == NULL)
		return NULL;
	hash = msg_id_hash(id);
	/* As written first: two ids may be one value to a double. */
	for (r = e->buckets[by][hash % e->n_buckets[by]]; r != NULL;
	     r = r->chain[by]) {
		if (r->hash[by] != hash)
			continue;
		if (span_eq(id_of(r, by), id))
			return r;
		if (same == NULL && msg_id_same(id_of(r, by), id))
			same = r;
	}
	return same;
}

/* --- queues --- */

static bool
is_held(const struct client *e, const struct request *r)
{
	return r->in == &e->held || r->in == &e->waiting;
}

/* The memory that a request of the client takes with this frame. */
static size_t
size_of(const struct frame *f)
{
	return frame_size(f) + sizeof(struct request) + MEM_OVERHEAD;
}

bool
client_is_full(const struct client *e, const struct frame *f)
{
	return e->held_bytes > 0 &&
	    e->held_bytes + size_of(f) > e->config.max_held;
}

static void
queue_remove(struct client *e, struct request *r)
{
	struct queue *q = r->in;

	if (is_held(e, r))
		e->held_bytes -= size_of(r->frame);
	if (r->prev != NULL)
		r->prev->next = r->next;
	else
		q->first = r->next;
	if (r->next != NULL)
		r->next->prev = r->prev;
	else
		q->last = r->prev;
	q->n--;
	r->in = NULL;
}

static void
queue_add(struct client *e, struct request *r, struct queue *q)
{
	r->next = NULL;
	r->prev = q->last;
	if (q->last != NULL)
		q->last->next = r;
	else
		q->first = r;
	q->last = r;
	q->n++;
	r->in = q;
	if (is_held(e, r))
		e->held_bytes += size_of(r->frame);
}

struct request *
client_add(struct client *e, struct frame *f, struct queue *q)
{
	struct request *r = xcalloc(1, sizeof *r);

	r->level = -1;
	if (f != NULL) {
		r->frame = frame_ref(f);
		table_add(e, r, BY_ID);
	}
	queue_add(e, r, q);
	return r;
}

void
client_move(struct client *e, struct request *r, struct queue *q)
{
	queue_remove(e, r);
	queue_add(e, r, q);
}

void
client_turn(struct client *e, struct request *r, enum request_kind kind)
{
	if (r->known[BY_WIRE]) {
		e->strays -= r->kind != REQUEST_NATIVE;
		e->strays += kind != REQUEST_NATIVE;
	}
	r->kind = kind;
}

void
client_over(struct client *e, struct request *r)
{
	if (!r->known[BY_WIRE])
		return;
	if (r->kind != REQUEST_NATIVE)
		e->strays--;
	table_remove(e, r, BY_WIRE);
}

/* --- questions --- */

void
client_question_drop(struct question **at)
{
	struct question *q = *at;

	*at = q->next;
	frame_unref(q->frame);
	free(q);
}

/* Drops the questions of r, without a word to the server. */
static void
forget_questions(struct client *e, const struct request *r)
{
	struct question **at = &e->questions;

	while (*at != NULL)
		if ((*at)->owner == r)
			client_question_drop(at);
		else
			at = &(*at)->next;
}

/* --- the life of a request --- */

void
client_set_level(struct client *e, struct request *r, int level)
{
	if (r->level >= 0)
		e->levels[r->level]--;
	r->level = level;
	if (level >= 0)
		e->levels[level]++;
}

void
client_drop(struct client *e, struct request *r)
{
	forget_questions(e, r);
	client_set_level(e, r, -1);
	client_over(e, r);
	table_remove(e, r, BY_ID);
	queue_remove(e, r);
	if (r->final != NULL)
		e->parked_bytes -= r->final->text.n;
	frame_unref(r->final);
	frame_unref(r->frame);
	frame_unref(r->sent);
	free(r);
}

void
client_rename(struct client *e, struct request *r, struct frame *f)
{
	table_remove(e, r, BY_ID);
	if (f == NULL)
		return;
	frame_unref(r->frame);
	r->frame = frame_ref(f);
	r->tokens_known = false;
	table_add(e, r, BY_ID);
}

void
client_table_free(struct client *e)
{
	struct queue *all[] = { &e->held, &e->probes, &e->waiting, &e->asking,
		&e->collecting, &e->parked, &e->running };
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		while (all[i]->first != NULL)
			client_drop(e, all[i]->first);
	free(e->buckets[BY_ID]);
	free(e->buckets[BY_WIRE]);
}

/* --- to the session --- */

char *
client_id(struct client *e)
{
	return xasprintf("\"%s-c%llu\"", e->config.prefix,
	    (unsigned long long)++e->ids);
}

void
client_go(struct client *e, struct request *r, struct frame *f)
{
	r->sent = f;
	r->tokens_known = false;
	r->serial = ++e->serial;
	table_add(e, r, BY_WIRE);
	if (r->kind != REQUEST_NATIVE)
		e->strays++;
	client_send(e, frame_ref(f));
}

struct request *
client_own(struct client *e, enum request_kind kind, const char *method,
    struct span params)
{
	struct request *r = client_add(e, NULL, &e->running);
	char *id = client_id(e);

	r->kind = kind;
	client_go(e, r, msg_call(span_of(id), method, params));
	free(id);
	return r;
}

void
client_cancel(struct client *e, const struct request *r, const char *reason)
{
	struct buf raw;

	buf_init(&raw, 0);
	codec_json_string(&raw, span_of(reason));
	client_send(e, msg_cancel(r->sent->id, buf_span(&raw)));
	buf_free(&raw);
}

void
client_busy(struct client *e, const struct frame *f)
{
	struct fault fault = { .reason = "busy" };

	client_write(e,
	    fault_frame(f->id, &fault,
		"Too many requests wait for %s (%zu bytes held back). Not "
		"sent. Wait for answers, then try again.",
		e->config.host, e->held_bytes));
}
