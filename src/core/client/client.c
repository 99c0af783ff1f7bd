/*
 * The reducer for the client's era: inputs in, actions out, the table of
 * requests, time. What an input means is decided in the other client_*.c;
 * client_state.h lists who does what.
 *
 * Invariants: a request in the table has had no answer yet, but for parked
 * ones; it is in exactly one queue; what the session has is found by the id it
 * has there, and what the client waits for by the client's.
 */
#include "config.h"

#include "core/client/client.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/client/state.h"
#include "core/exchange/fault.h"
#include "core/wire/msg.h"

enum { BUCKETS = 64 };

struct client *
client_new(const struct client_config *config)
{
	struct client *e = xcalloc(1, sizeof *e);

	e->config = *config;
	e->level = -1;
	e->level_at = -1;
	buf_init(&e->server_info, 0);
	client_table_init(e);
	return e;
}

void
client_free(struct client *e)
{
	if (e == NULL)
		return;
	client_listen_free(e);
	client_table_free(e);
	client_actions_free(e);
	frame_unref(e->initialized);
	buf_free(&e->server_info);
	free(e);
}

/* --- actions --- */

static void
action_clear(struct action *a)
{
	frame_unref(a->frame);
	free(a->text);
	memset(a, 0, sizeof *a);
}

static struct action *
action_add(struct client *e, enum client_action_kind kind)
{
	struct action *a;

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
	return a;
}

void
client_send(struct client *e, struct frame *f)
{
	action_add(e, CLIENT_SEND)->frame = f;
}

/* What we make of an answer may have become too large for the client. */
static struct frame *
too_large(const struct client *e, const struct frame *f)
{
	struct fault fault = { .reason = "too_large", .maybe = true };

	return fault_frame(f->id, &fault,
	    "The answer of %s is too large for the client: %zu bytes, the "
	    "limit is %zu. Ask for less, or raise --max-result if your client "
	    "takes it.",
	    e->config.host, f->text.n, e->config.max_result);
}

void
client_write(struct client *e, struct frame *f)
{
	struct frame *error;

	if (e->config.max_result > 0 && f->text.n > e->config.max_result &&
	    f->kind == FRAME_RESULT) {
		error = too_large(e, f);
		frame_unref(f);
		f = error;
	}
	action_add(e, CLIENT_WRITE)->frame = f;
}

void
client_probe(struct client *e, struct frame *f)
{
	action_add(e, CLIENT_PROBE)->frame = f;
}

void
client_log(struct client *e, enum log_level level, const char *fmt, ...)
{
	struct action *a = action_add(e, CLIENT_NOTE);
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	a->level = level;
	a->text = xstrdup(text);
}

bool
client_next(struct client *e, struct client_action *out)
{
	action_clear(&e->current);
	if (e->next_action == e->n_actions)
		return false;
	e->current = e->actions[e->next_action++];
	out->kind = e->current.kind;
	out->frame = e->current.frame;
	out->level = e->current.level;
	out->text = e->current.text;
	return true;
}

void
client_actions_free(struct client *e)
{
	while (e->next_action < e->n_actions)
		action_clear(&e->actions[e->next_action++]);
	action_clear(&e->current);
	free(e->actions);
}

/* --- the table --- */

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

size_t
client_size(const struct frame *f)
{
	return frame_size(f) + sizeof(struct request) + MEM_OVERHEAD;
}

bool
client_is_full(const struct client *e, const struct frame *f)
{
	return e->held_bytes > 0 &&
	    e->held_bytes + client_size(f) > e->config.max_held;
}

static void
queue_remove(struct client *e, struct request *r)
{
	struct queue *q = r->in;

	if (is_held(e, r))
		e->held_bytes -= client_size(r->frame);
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
		e->held_bytes += client_size(r->frame);
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

void
client_drop(struct client *e, struct request *r)
{
	client_forget_questions(e, r);
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
client_set_level(struct client *e, struct request *r, int level)
{
	if (r->level >= 0)
		e->levels[r->level]--;
	r->level = level;
	if (level >= 0)
		e->levels[level]++;
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
client_busy(struct client *e, const struct frame *f)
{
	struct fault fault = { .reason = "busy" };

	client_write(e,
	    fault_frame(f->id, &fault,
		"Too many requests wait for %s (%zu bytes held back). Not "
		"sent. Wait for answers, then try again.",
		e->config.host, e->held_bytes));
}

/* --- time --- */

static int64_t
sooner(int64_t a, int64_t b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

/* In these queues all wait equally long. */
static int64_t
queue_due(const struct queue *q)
{
	return q->first == NULL ? -1 : q->first->at;
}

int64_t
client_deadline(const struct client *e)
{
	int64_t due = sooner(e->level_at, client_listen_due(e));

	due = sooner(due, queue_due(&e->probes));
	due = sooner(due, queue_due(&e->collecting));
	return sooner(due, queue_due(&e->parked));
}

static void
tick(struct client *e)
{
	if (e->level_at >= 0 && e->level_at <= e->now)
		client_level_set(e);
	client_probes_tick(e);
	client_park_tick(e);
	client_listen_tick(e);
}

void
client_step(struct client *e, const struct client_input *in)
{
	e->now = in->now;
	e->secret[0] = in->secret[0];
	e->secret[1] = in->secret[1];
	e->discovered = in->discovered;
	e->shared = in->shared;
	/* A session that was renewed, perhaps with another server. */
	if (e->opening == OPENING_DONE && in->initialized != NULL &&
	    in->initialized != e->initialized)
		client_learn(e, in->initialized);
	if (in->listening != e->listening) {
		e->listening = in->listening;
		if (e->discovered != NULL)
			client_hand_over(e);
		else
			client_listening(e);
	}
	switch (in->kind) {
	case CLIENT_CLIENT:
		client_client(e, in->frame);
		break;
	case CLIENT_SESSION:
		client_session(e, in);
		break;
	case CLIENT_EOF:
		client_eof(e);
		break;
	case CLIENT_TICK:
		tick(e);
		break;
	case CLIENT_LISTENS:
		break; /* seen above */
	}
	e->discovered = NULL;
}

bool
client_is_legacy(const struct client *e)
{
	return e->legacy && e->strays == 0;
}

bool
client_holds(const struct client *e)
{
	return e->opening == OPENING_RUNS || e->held.n + e->waiting.n > 0;
}

void
client_describe(const struct client *e, struct buf *out)
{
	if (!e->modern)
		return;
	buf_addf(out, "client: protocol %s, %zu requests held back\n",
	    REVISION_MODERN, e->held.n + e->waiting.n);
	if (e->n_listens > 0)
		buf_addf(out, "client: %zu listens, %zu resources watched\n",
		    e->n_listens, e->n_uris);
	if (e->parked.n > 0)
		buf_addf(out,
		    "client: %zu requests parked until its user answered\n",
		    e->parked.n);
}
