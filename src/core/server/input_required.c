/*
 * This file asks the client what a modern server wants to know before it
 * answers a call (multi-round-trip requests, doc/protocol.md 6.7). Each
 * question of the server becomes a request to the client. When the client has
 * answered all of them, the call goes out once more, with the answers: to the
 * client it is one call that asks in between, as legacy servers do. The number
 * of rounds, the number of questions and the time for the answers are bounded.
 */
#include "config.h"

#include "core/server/parts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/codec.h"

enum {
	PAUSE_MS = 250, /* before a round without questions */
	LABEL_MAX = 64
};

struct input {
	struct span key;      /* raw, without quotes; points into result */
	struct frame *ask;    /* the request to the client */
	struct frame *answer; /* NULL: the client has not answered */
};

struct inputs {
	struct frame *result; /* the input_required result */
	struct input *list;
	size_t n, open;
};

static void
inputs_free(struct server *s, struct inputs *t)
{
	size_t i;

	s->inputs_bytes -= t->result->text.n;
	for (i = 0; i < t->n; i++) {
		frame_unref(t->list[i].ask);
		frame_unref(t->list[i].answer);
	}
	free(t->list);
	frame_unref(t->result);
	free(t);
}

/* --- errors --- */

/* Ends the call with the error id, and cancels its open questions at the
 * client. refusal is the client's error, or NULL; what says the rest for
 * people. */
static void
fail(struct server *s, struct server_order *o, enum fault_id id,
    const struct frame *refusal, const char *what)
{
	server_inputs_end(s, o, true);
	server_order_fail(s, o, id,
	    &(struct fault_args){ .why = span_of(what), .refusal = refusal });
}

/* --- asking --- */

/* Returns a version 4 UUID that was not used before. */
static char *
new_uuid(const struct server *s)
{
	uint64_t a = codec_mix(s->random ^ s->ids.made << 1);
	uint64_t b = codec_mix(s->random ^ (s->ids.made << 1 | 1));

	return xasprintf("%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-%04" PRIx64
			 "-%012" PRIx64,
	    a >> 32, a >> 16 & 0xffff, a & 0xfff, (b >> 48 & 0x3fff) | 0x8000,
	    b & UINT64_C(0xffffffffffff));
}

/* Returns the request to the client, or NULL if the entry is no question, or
 * one that the client did not say it answers. */
static struct frame *
make_question(struct server *s, struct span entry)
{
	struct span params = s->initialize->params;
	struct span method = json_get(entry, "method");
	const char *id;
	struct frame *f;
	char *uuid;

	if (json_kind(method) != '"')
		return NULL;
	method = (struct span){ method.p + 1, method.n - 2 };
	if (!era_declares(json_get(params, "capabilities"), method,
		json_get(entry, "params")))
		return NULL;
	id = own_id_new(&s->ids);
	uuid = new_uuid(s);
	f = era_question(entry, span_of(id),
	    json_get(params, "protocolVersion"), uuid);
	free(uuid);
	return f;
}

/* Returns the index of the question with this key, or t->n. The last of two
 * equal keys counts, as with JSON.parse. */
static size_t
place_of(const struct inputs *t, struct span key)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (span_eq(t->list[i].key, key))
			break;
	return i;
}

/* Makes a request of each question. Returns false if one cannot be asked, and
 * points *what to the reason. */
static bool
collect(struct server *s, struct inputs *t, struct span requests,
    const char **what)
{
	struct span key, value;
	struct frame *ask;
	size_t at = 0, i;

	t->list = xcalloc(BOUND_FEW, sizeof *t->list);
	*what = "more than a client can be asked at once";
	while (json_next(requests, &at, &key, &value)) {
		i = place_of(t, key);
		if (i == BOUND_FEW)
			return false;
		ask = make_question(s, value);
		if (ask == NULL) {
			*what = "something that this client cannot be asked";
			return false;
		}
		if (i == t->n)
			t->n++;
		frame_unref(t->list[i].ask);
		t->list[i].key = key;
		t->list[i].ask = ask;
	}
	t->open = t->n;
	return true;
}

static size_t
open_in_all(const struct server *s)
{
	const struct server_order *o;
	size_t n = 0;

	for (o = s->orders; o != NULL; o = o->next)
		if (!o->dropped && o->inputs != NULL)
			n += o->inputs->open;
	return n;
}

static void
ask_all(struct server *s, struct server_order *o)
{
	struct inputs *t = o->inputs;
	size_t i;

	o->inputs_end = s->now + BOUND_HOUR_MS;
	for (i = 0; i < t->n; i++)
		server_order_tell_message(s, o, &server_facts_stream,
		    t->list[i].ask);
}

/* Makes o->sent the next round of the call, with the answers (a raw object; n
 * 0: none) and the state. */
static void
next_round(struct server *s, struct server_order *o, struct span responses,
    struct span state)
{
	struct frame *next = era_retry(o->sent, span_of(own_id_new(&s->ids)),
	    responses, state);

	frame_unref(o->sent);
	o->sent = next;
}

/* Some servers write null for a member that they do not mean to set. */
static struct span
member(const struct frame *result, const char *name)
{
	struct span value = json_get(result->result, name);

	return json_kind(value) == 'n' ? no_span : value;
}

static void
ask_nothing(struct server *s, struct server_order *o, struct span state)
{
	next_round(s, o, no_span, state);
	o->again_at = s->now + PAUSE_MS;
}

void
server_inputs_ask(struct server *s, struct server_order *o,
    struct frame *result)
{
	struct span requests = member(result, "inputRequests");
	struct span state = member(result, "requestState");
	struct inputs *t;
	const char *what;

	if (++o->rounds > BOUND_ROUNDS) {
		fail(s, o, FAULT_INPUT_ROUNDS, NULL,
		    "it asked ten times already, and mcpsplice allows no more");
		return;
	}
	if (s->ended && requests.p != NULL) {
		fail(s, o, FAULT_INPUT_REFUSED, NULL, "the client ended");
		return;
	}
	if (result->text.n > BOUND_INPUTS_BYTES ||
	    s->inputs_bytes + result->text.n > BOUND_ALL_BYTES) {
		fail(s, o, FAULT_INPUT_HUGE, NULL, "what it asks is too large");
		return;
	}
	t = xcalloc(1, sizeof *t);
	t->result = frame_ref(result);
	s->inputs_bytes += result->text.n;
	if ((requests.p != NULL && json_kind(requests) != '{') ||
	    (state.p != NULL && json_kind(state) != '"')) {
		inputs_free(s, t);
		fail(s, o, FAULT_INPUT_BAD, NULL,
		    "what it asks cannot be understood");
		return;
	}
	if (!collect(s, t, requests, &what)) {
		inputs_free(s, t);
		fail(s, o, FAULT_INPUT_REFUSED, NULL, what);
		return;
	}
	if (t->n == 0) {
		inputs_free(s, t);
		if (state.p != NULL)
			ask_nothing(s, o, state);
		else
			fail(s, o, FAULT_INPUT_BAD, NULL,
			    "it does not say what");
		return;
	}
	if (open_in_all(s) + t->n > BOUND_SOME) {
		inputs_free(s, t);
		fail(s, o, FAULT_INPUT_REFUSED, NULL,
		    "more than a client can be asked at once");
		return;
	}
	o->inputs = t;
	ask_all(s, o);
}

/* --- the answers --- */

static bool
is_elicitation(const struct input *q)
{
	return span_is(q->ask->method, "elicitation/create");
}

/* Adds {"key":result,...}. A question that the client refused counts as
 * cancelled. */
static void
add_responses(struct buf *b, const struct inputs *t)
{
	const struct input *q;
	size_t i;

	for (i = 0; i < t->n; i++) {
		q = &t->list[i];
		buf_addf(b, "%c\"", i == 0 ? '{' : ',');
		buf_addspan(b, q->key);
		buf_adds(b, "\":");
		if (q->answer->kind == FRAME_RESULT)
			buf_addspan(b, q->answer->result);
		else
			buf_adds(b, "{\"action\":\"cancel\"}");
	}
	buf_addc(b, '}');
}

static void
go_on(struct server *s, struct server_order *o)
{
	struct buf responses;

	buf_init(&responses, 0);
	add_responses(&responses, o->inputs);
	next_round(s, o, buf_span(&responses),
	    member(o->inputs->result, "requestState"));
	buf_free(&responses);
	server_inputs_end(s, o, false);
	server_order_send(s, o);
}

static struct input *
find_open(const struct server *s, struct span id, struct server_order **owner)
{
	struct inputs *t;
	struct server_order *o;
	size_t i;

	for (o = s->orders; o != NULL; o = o->next) {
		t = o->dropped ? NULL : o->inputs;
		for (i = 0; t != NULL && i < t->n; i++) {
			if (t->list[i].answer != NULL ||
			    !msg_id_same(t->list[i].ask->id, id))
				continue;
			*owner = o;
			return &t->list[i];
		}
	}
	return NULL;
}

bool
server_inputs_answer(struct server *s, struct frame *answer)
{
	struct server_order *o;
	struct input *q = find_open(s, answer->id, &o);

	if (q == NULL)
		return false;
	q->answer = frame_ref(answer);
	o->inputs->open--;
	if (answer->kind == FRAME_ERROR && !is_elicitation(q))
		fail(s, o, FAULT_INPUT_REFUSED, answer, "the client refused");
	else if (o->inputs->open == 0)
		go_on(s, o);
	return true;
}

/* --- the end --- */

static void
cancel(struct server *s, struct server_order *o, const struct input *q)
{
	struct frame *f = msg_cancel(q->ask->id,
	    span_of("\"the call that asked is over\""));

	server_order_tell_message(s, o, &server_facts_stream, f);
	frame_unref(f);
}

void
server_inputs_end(struct server *s, struct server_order *o, bool tell)
{
	struct inputs *t = o->inputs;
	size_t i;

	if (t == NULL)
		return;
	o->inputs = NULL;
	o->inputs_end = ALARM_NEVER;
	for (i = 0; tell && i < t->n; i++)
		if (t->list[i].answer == NULL)
			cancel(s, o, &t->list[i]);
	inputs_free(s, t);
}

void
server_inputs_eof(struct server *s, struct server_order *o)
{
	fail(s, o, FAULT_INPUT_REFUSED, NULL, "the client ended");
}

void
server_inputs_expire(struct server *s, struct server_order *o)
{
	fail(s, o, FAULT_INPUT_EXPIRED, NULL, "nobody gave it in time");
}

#ifdef MCPSPLICE_SANE

#undef NDEBUG
#include <assert.h>

void
server_inputs_sane(const struct server *s)
{
	const struct server_order *o;
	const struct inputs *t;
	size_t i, open, bytes = 0, all = 0;

	for (o = s->orders; o != NULL; o = o->next) {
		if ((t = o->inputs) == NULL)
			continue;
		for (open = i = 0; i < t->n; i++)
			open += t->list[i].answer == NULL;
		assert(t->open == open && open > 0);
		assert(o->mode == MODE_MODERN && !o->answered);
		bytes += t->result->text.n;
		all += open;
	}
	assert(bytes == s->inputs_bytes && all <= BOUND_SOME);
}

#endif
