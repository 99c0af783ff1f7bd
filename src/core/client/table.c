/*
 * Keeps the requests: each is in one queue, and is found by the id that the
 * client knows and by the id that the session knows. Keeps the questions too,
 * as they go with their request.
 */
#include "config.h"

#include "core/client/parts.h"

#include <stdlib.h>

#include "base/codec.h"
#include "base/queue.h"
#include "core/wire/msg.h"

/* --- ids --- */

static struct span
id_of(struct hash_entry *e)
{
	return HASH_THING(e, struct request, by_id)->frame->id;
}

static struct span
sent_id_of(struct hash_entry *e)
{
	return HASH_THING(e, struct request, by_sent)->sent->id;
}

struct request *
client_find(const struct client *e, struct span id)
{
	struct hash_entry *found = msg_id_find(&e->by_id, id, id_of);

	return found == NULL ? NULL : HASH_THING(found, struct request, by_id);
}

struct request *
client_find_sent(const struct client *e, struct span id)
{
	struct hash_entry *found = msg_id_find(&e->by_sent, id, sent_id_of);

	return found == NULL ? NULL :
			       HASH_THING(found, struct request, by_sent);
}

static void
await(struct client *e, struct request *r, struct frame *f)
{
	r->frame = frame_ref(f);
	r->client_waits = true;
	hash_add(&e->by_id, &r->by_id, msg_id_hash(f->id));
}

void
client_forget_id(struct client *e, struct request *r)
{
	if (!r->client_waits)
		return;
	hash_remove(&e->by_id, &r->by_id);
	r->client_waits = false;
}

/* --- progress tokens --- */

static struct span
sent_token_of(struct hash_entry *e)
{
	return HASH_THING(e, struct request, by_token)->sent->token;
}

struct request *
client_find_token(const struct client *e, struct span token)
{
	struct hash_entry *found = msg_id_find(&e->by_token, token,
	    sent_token_of);

	return found == NULL ? NULL :
			       HASH_THING(found, struct request, by_token);
}

/* A token is for one request at a time. Of more than one the first is found. A
 * parked request has had its answer, so its token is free. */
static void
add_token(struct client *e, struct request *r)
{
	if (r->in == &e->parked || r->sent == NULL ||
	    r->sent->token.p == NULL ||
	    client_find_token(e, r->sent->token) != NULL)
		return;
	hash_add(&e->by_token, &r->by_token, msg_id_hash(r->sent->token));
	r->by_token_added = true;
}

static void
forget_token(struct client *e, struct request *r)
{
	if (r->by_token_added)
		hash_remove(&e->by_token, &r->by_token);
	r->by_token_added = false;
}

/* --- queues --- */

static bool
is_held(const struct client *e, const struct request *r)
{
	return r->in == &e->held || r->in == &e->waiting;
}

static bool
is_listening(const struct client *e, const struct request *r)
{
	return r->in == &e->running && r->frame != NULL &&
	    client_is_listen(r->frame);
}

size_t
client_size_of(const struct frame *f)
{
	return frame_size(f) + sizeof(struct request) + MEM_OVERHEAD;
}

bool
client_is_full(const struct client *e, const struct frame *f)
{
	return e->held_bytes > 0 &&
	    e->held_bytes + client_size_of(f) > e->config.max_held;
}

static void
queue_remove(struct client *e, struct request *r)
{
	struct request_queue *q = r->in;

	if (is_held(e, r))
		e->held_bytes -= client_size_of(r->frame);
	e->listening_here -= is_listening(e, r);
	QUEUE_REMOVE(q, r);
	q->n--;
	r->in = NULL;
}

static void
queue_add(struct client *e, struct request *r, struct request_queue *q)
{
	QUEUE_ADD(q, r);
	q->n++;
	r->in = q;
	r->at = ALARM_NEVER;
	if (is_held(e, r))
		e->held_bytes += client_size_of(r->frame);
	e->listening_here += is_listening(e, r);
}

struct request *
client_add(struct client *e, struct frame *f, struct request_queue *q)
{
	struct request *r = xcalloc(1, sizeof *r);

	r->level = -1;
	if (f != NULL)
		await(e, r, f);
	queue_add(e, r, q);
	return r;
}

void
client_move(struct client *e, struct request *r, struct request_queue *q)
{
	queue_remove(e, r);
	queue_add(e, r, q);
	forget_token(e, r);
	if (r->at_session)
		add_token(e, r);
}

void
client_set_kind(struct client *e, struct request *r, enum request_kind kind)
{
	if (r->at_session) {
		e->strays -= r->kind != REQUEST_NATIVE;
		e->strays += kind != REQUEST_NATIVE;
	}
	r->kind = kind;
}

void
client_forget_sent(struct client *e, struct request *r)
{
	if (!r->at_session)
		return;
	if (r->kind != REQUEST_NATIVE)
		e->strays--;
	hash_remove(&e->by_sent, &r->by_sent);
	forget_token(e, r);
	r->at_session = false;
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

/* Drops the questions of r and does not answer them. */
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
client_want_level(struct client *e, struct request *r, int level)
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
	client_want_level(e, r, -1);
	client_forget_sent(e, r);
	client_forget_id(e, r);
	queue_remove(e, r);
	if (r->final != NULL)
		e->parked_bytes -= r->final->text.n;
	frame_unref(r->final);
	frame_unref(r->frame);
	frame_unref(r->sent);
	free(r);
}

void
client_replace(struct client *e, struct request *r, struct frame *f)
{
	client_forget_id(e, r);
	frame_unref(r->frame);
	await(e, r, f);
}

void
client_table_free(struct client *e)
{
	struct request_queue *all[] = { &e->held, &e->probes, &e->waiting,
		&e->asking, &e->collecting, &e->parked, &e->running };
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		while (all[i]->first != NULL)
			client_drop(e, all[i]->first);
	hash_free(&e->by_id);
	hash_free(&e->by_sent);
	hash_free(&e->by_token);
}

/* --- to the session --- */

const char *
client_id(struct client *e)
{
	buf_reset(&e->own_id);
	buf_addf(&e->own_id, "\"%s-c%llu\"", e->config.prefix,
	    (unsigned long long)++e->ids);
	return buf_str(&e->own_id);
}

void
client_send_as(struct client *e, struct request *r, struct frame *f)
{
	r->sent = f;
	r->serial = ++e->serial;
	r->at_session = true;
	hash_add(&e->by_sent, &r->by_sent, msg_id_hash(f->id));
	add_token(e, r);
	if (r->kind != REQUEST_NATIVE)
		e->strays++;
	client_send(e, frame_ref(f));
}

struct request *
client_send_own(struct client *e, enum request_kind kind, const char *method,
    struct span params)
{
	struct request *r = client_add(e, NULL, &e->running);

	r->kind = kind;
	client_send_as(e, r, msg_call(span_of(client_id(e)), method, params));
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
