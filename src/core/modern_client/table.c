/*
 * Keeps the requests: each is in one queue, and is found by the id that the
 * client knows and by the id that the session knows. Keeps the questions too,
 * as they go with their request.
 */
#include "config.h"

#include "core/modern_client/parts.h"

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
client_find(const struct client *c, struct span id)
{
	struct hash_entry *found = msg_id_find(&c->by_id, id, id_of);

	return found == NULL ? NULL : HASH_THING(found, struct request, by_id);
}

struct request *
client_find_sent(const struct client *c, struct span id)
{
	struct hash_entry *found = msg_id_find(&c->by_sent, id, sent_id_of);

	return found == NULL ? NULL :
			       HASH_THING(found, struct request, by_sent);
}

static void
await(struct client *c, struct request *r, struct frame *f)
{
	r->frame = frame_ref(f);
	r->client_waits = true;
	hash_add(&c->by_id, &r->by_id, msg_id_hash(f->id));
}

void
client_forget_id(struct client *c, struct request *r)
{
	if (!r->client_waits)
		return;
	hash_remove(&c->by_id, &r->by_id);
	r->client_waits = false;
}

/* --- progress tokens --- */

static struct span
sent_token_of(struct hash_entry *e)
{
	return HASH_THING(e, struct request, by_token)->sent->token;
}

struct request *
client_find_token(const struct client *c, struct span token)
{
	struct hash_entry *found = msg_id_find(&c->by_token, token,
	    sent_token_of);

	return found == NULL ? NULL :
			       HASH_THING(found, struct request, by_token);
}

/* A token is for one request at a time. Of more than one the first is found. A
 * parked request has had its answer, so its token is free. */
static void
add_token(struct client *c, struct request *r)
{
	if (r->in == &c->parked || r->sent == NULL ||
	    r->sent->token.p == NULL ||
	    client_find_token(c, r->sent->token) != NULL)
		return;
	hash_add(&c->by_token, &r->by_token, msg_id_hash(r->sent->token));
	r->by_token_added = true;
}

static void
forget_token(struct client *c, struct request *r)
{
	if (r->by_token_added)
		hash_remove(&c->by_token, &r->by_token);
	r->by_token_added = false;
}

/* --- queues --- */

static bool
is_held(const struct client *c, const struct request *r)
{
	return r->in == &c->held || r->in == &c->waiting;
}

static bool
is_listening(const struct client *c, const struct request *r)
{
	return r->in == &c->running && r->frame != NULL &&
	    client_is_listen(r->frame);
}

size_t
client_size_of(const struct frame *f)
{
	return frame_size(f) + sizeof(struct request) + MEM_OVERHEAD;
}

bool
client_is_full(const struct client *c, const struct frame *f)
{
	return c->held_bytes > 0 &&
	    c->held_bytes + client_size_of(f) > c->config.max_held;
}

static void
queue_remove(struct client *c, struct request *r)
{
	struct request_queue *q = r->in;

	if (is_held(c, r))
		c->held_bytes -= client_size_of(r->frame);
	c->listening_here -= is_listening(c, r);
	QUEUE_REMOVE(q, r);
	q->n--;
	r->in = NULL;
}

static void
queue_add(struct client *c, struct request *r, struct request_queue *q)
{
	QUEUE_ADD(q, r);
	q->n++;
	r->in = q;
	r->at = ALARM_NEVER;
	if (is_held(c, r))
		c->held_bytes += client_size_of(r->frame);
	c->listening_here += is_listening(c, r);
}

struct request *
client_add(struct client *c, struct frame *f, struct request_queue *q)
{
	struct request *r = xcalloc(1, sizeof *r);

	r->level = -1;
	if (f != NULL)
		await(c, r, f);
	queue_add(c, r, q);
	return r;
}

void
client_move(struct client *c, struct request *r, struct request_queue *q)
{
	queue_remove(c, r);
	queue_add(c, r, q);
	forget_token(c, r);
	if (r->at_session)
		add_token(c, r);
}

void
client_set_kind(struct client *c, struct request *r, enum request_kind kind)
{
	if (r->at_session) {
		c->strays -= r->kind != REQUEST_NATIVE;
		c->strays += kind != REQUEST_NATIVE;
	}
	r->kind = kind;
}

void
client_forget_sent(struct client *c, struct request *r)
{
	if (!r->at_session)
		return;
	if (r->kind != REQUEST_NATIVE)
		c->strays--;
	hash_remove(&c->by_sent, &r->by_sent);
	forget_token(c, r);
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
forget_questions(struct client *c, const struct request *r)
{
	struct question **at = &c->questions;

	while (*at != NULL)
		if ((*at)->owner == r)
			client_question_drop(at);
		else
			at = &(*at)->next;
}

/* --- the life of a request --- */

void
client_want_level(struct client *c, struct request *r, int level)
{
	if (r->level >= 0)
		c->levels[r->level]--;
	r->level = level;
	if (level >= 0)
		c->levels[level]++;
}

void
client_drop(struct client *c, struct request *r)
{
	forget_questions(c, r);
	client_want_level(c, r, -1);
	client_forget_sent(c, r);
	client_forget_id(c, r);
	queue_remove(c, r);
	if (r->final != NULL)
		c->parked_bytes -= r->final->text.n;
	frame_unref(r->final);
	frame_unref(r->frame);
	frame_unref(r->sent);
	free(r);
}

void
client_replace(struct client *c, struct request *r, struct frame *f)
{
	client_forget_id(c, r);
	frame_unref(r->frame);
	await(c, r, f);
}

void
client_table_free(struct client *c)
{
	struct request_queue *all[] = { &c->held, &c->probes, &c->waiting,
		&c->asking, &c->collecting, &c->parked, &c->running };
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		while (all[i]->first != NULL)
			client_drop(c, all[i]->first);
	hash_free(&c->by_id);
	hash_free(&c->by_sent);
	hash_free(&c->by_token);
}

/* --- to the session --- */

void
client_send_as(struct client *c, struct request *r, struct frame *f)
{
	r->sent = f;
	r->serial = ++c->serial;
	r->at_session = true;
	hash_add(&c->by_sent, &r->by_sent, msg_id_hash(f->id));
	add_token(c, r);
	if (r->kind != REQUEST_NATIVE)
		c->strays++;
	client_send(c, frame_ref(f));
}

struct request *
client_send_own(struct client *c, enum request_kind kind, const char *method,
    struct span params)
{
	struct request *r = client_add(c, NULL, &c->running);

	r->kind = kind;
	client_send_as(c, r,
	    msg_call(span_of(own_id_new(&c->ids)), method, params));
	return r;
}

void
client_cancel(struct client *c, const struct request *r, const char *reason)
{
	struct buf raw;

	buf_init(&raw, 0);
	codec_json_string(&raw, span_of(reason));
	client_send(c, msg_cancel(r->sent->id, buf_span(&raw)));
	buf_free(&raw);
}
