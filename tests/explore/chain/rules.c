/*
 * The rules of every life. What was asked, what has run and what was answered
 * is compared here, and nowhere else.
 */
#include "config.h"

#include "explore/chain/world.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/json.h"

enum {
	ASKED_MS = 200 * 1000,  /* a question has come to nothing, */
	FORMER_MS = 5 * 1000,   /* or one of a session that is gone */
	SILENT_MS = 140 * 1000, /* nobody looks after a silent call */
	POSTS = 60,             /* of one thing */
	PER_REQUEST = 40,       /* exchanges, */
	PER_SECOND = 3,         /* and those that nobody asks for */
	AT_FIRST = 100,
	ALIVE = 400 /* 64 notifications, 64 answers, 256 cancels, the calls */
};

static bool
is_call(const struct world *w, int thing)
{
	return thing >= 0 && w->things[thing].method <= METHOD_READ;
}

/* Exchange i carries the thing itself. */
static bool
carries(const struct world *w, size_t i, int thing)
{
	return w->exchanges[i].thing == thing &&
	    w->p->sent[i].verb == VERB_POST;
}

/* May the thing have run, or may it run now, in an exchange from this one
 * on? */
static bool
may_have_run(const struct world *w, int thing, size_t from)
{
	size_t i;

	for (i = from; i < w->n_exchanges; i++)
		if (carries(w, i, thing) &&
		    (w->exchanges[i].fate == FATE_OPEN ||
			w->exchanges[i].fate == FATE_RAN))
			return true;
	return false;
}

/* A 503 says that the request did not run, which may be wrong. */
static bool
is_doubtful(const struct world *w, int thing)
{
	size_t i;

	for (i = 0; i < w->n_exchanges; i++)
		if (carries(w, i, thing) && w->exchanges[i].fate == FATE_BUSY)
			return true;
	return false;
}

/* --- what is sent --- */

static void
note_session(struct world *w, struct exchange *x, const struct order *o)
{
	if (o->session.n > 0)
		x->session = (unsigned)number_in(o->session, 0);
	if (o->verb == VERB_POST && x->session > w->newest &&
	    x->session <= w->sessions) {
		w->newest = x->session;
		w->newest_at = w->p->now;
	}
}

/* The answer goes to the server: its tool has it, unless it is refused. */
static void
note_answer(struct world *w, struct exchange *x, const struct frame *f)
{
	int k = number_in(f->id, 0);

	if (k < 0 || k >= (int)w->n_questions)
		return;
	x->answers = k;
	w->questions[k].since = -1;
	w->questions[k].client[0] = '\0';
}

static void
check_thing(struct world *w, int thing)
{
	if (++w->things[thing].posts > POSTS && is_call(w, thing))
		breaks(w, "a call is sent too often");
	if (w->things[thing].method == METHOD_UNSAFE &&
	    (may_have_run(w, thing, 0) || is_doubtful(w, thing)))
		breaks(w, "an unsafe call is sent again, and may have run");
}

static void
note_post(struct world *w, struct exchange *x, const struct frame *f)
{
	if (f->kind == FRAME_RESULT || f->kind == FRAME_ERROR) {
		note_answer(w, x, f);
		return;
	}
	if (f->kind != FRAME_REQUEST)
		return;
	x->thing = number_in(json_get(f->params, "n"), 0);
	if (x->thing >= 0)
		check_thing(w, x->thing);
}

/* A stream that is resumed: its event ids name the exchange. */
static void
note_get(struct world *w, struct exchange *x, struct span event)
{
	int post = event.n == 0 ? NOBODY : number_in(event, 0);

	if (post < 0 || post >= (int)w->n_exchanges)
		return;
	x->post = (size_t)post;
	x->thing = w->exchanges[post].thing;
}

static void
check_number(struct world *w)
{
	int64_t seconds = (w->p->now - w->began) / 1000;

	if (w->n_exchanges > AT_FIRST + PER_REQUEST * (size_t)w->n_requests +
		PER_SECOND * (size_t)seconds)
		breaks(w, "there are too many exchanges");
	if (w->n_exchanges == MAX_EXCHANGES - 1)
		w->well = true;
}

static void
sent(struct world *w, const struct event *e)
{
	const struct order *o = e->order;
	struct exchange *x = &w->exchanges[w->n_exchanges];

	if (w->n_exchanges == MAX_EXCHANGES) {
		breaks(w, "there are too many exchanges");
		return;
	}
	*x = (struct exchange){ .thing = NOBODY,
		.question = NOBODY,
		.answers = NOBODY,
		.listen = o->listen,
		.announces = o->announces,
		.modern = o->mirrored != NULL,
		.endpoint = o->endpoint,
		.sent_at = w->p->now,
		.heard_at = w->p->now,
		.post = w->n_exchanges };
	note_session(w, x, o);
	if (o->verb == VERB_GET)
		note_get(w, x, o->last_event_id);
	else if (o->body != NULL)
		note_post(w, x, o->body);
	if (x->thing >= 0)
		w->things[x->thing].latest = w->n_exchanges;
	w->n_exchanges++;
	check_number(w);
}

static void
refused(struct world *w, const struct event *e)
{
	size_t i = w->n_exchanges;

	while (i > 0 && w->p->sent[i - 1].was != e->ticket)
		i--;
	if (i == 0)
		return;
	w->exchanges[i - 1].asked_again = e->kind == ACTION_AUTHORIZE;
	w->exchanges[i - 1].final = e->kind == ACTION_TAKE_REFUSAL;
}

/* --- what the client is told --- */

static struct request *
request_of(struct world *w, struct span id)
{
	int number = number_in(id, 1000);

	if (number < 0 || number >= (int)w->n_requests)
		return NULL;
	return &w->requests[number];
}

/* The server's own answer names the exchange that it was for. */
static void
check_mark(struct world *w, const struct request *r, struct span mark,
    bool error)
{
	int i = number_in(mark, 0), thing = (int)r->thing;

	if (i < 0 || i >= (int)w->n_exchanges)
		return;
	/* Other errors may tell why there is no session. */
	if (!error && is_call(w, thing) && w->exchanges[i].thing != thing)
		breaks(w, "the result of another call");
	else if (error && w->exchanges[i].thing == thing &&
	    w->exchanges[i].fate == FATE_REFUSED && is_call(w, thing) &&
	    may_have_run(w, thing, (size_t)i + 1))
		breaks(w, "an old refusal answers a call that may have run");
}

static void
check_error(struct world *w, const struct request *r, const struct frame *f)
{
	struct span data = json_get(f->error, "data");

	if (!span_is(json_get(data, "source"), "\"mcpsplice\""))
		check_mark(w, r, json_get(data, "x"), true);
	else if (span_is(json_get(data, "ran"), "\"no\"") &&
	    is_call(w, (int)r->thing) && may_have_run(w, (int)r->thing, 0))
		breaks(w, "a call did not run, it says, and it may have");
}

/* The client may come back with its answers. */
static void
note_state(struct world *w, struct thing *t, const struct frame *f)
{
	struct span asked = json_get(f->result, "inputRequests"), key, value;
	struct span state = json_get(f->result, "requestState");
	struct buf b;
	size_t at = 0, n = 0, i;

	buf_init(&b, 0);
	if (state.n > 0)
		buf_addf(&b, ",\"requestState\":%.*s", (int)state.n, state.p);
	buf_adds(&b, ",\"inputResponses\":{");
	while (json_next(asked, &at, &key, &value))
		buf_addf(&b, "%s\"%.*s\":{\"action\":\"accept\"}",
		    n++ > 0 ? "," : "", (int)key.n, key.p);
	buf_adds(&b, "}");
	free(t->state);
	t->state = xstrdup(buf_str(&b));
	buf_free(&b);
	for (i = 0; i < w->n_questions; i++)
		if (w->exchanges[w->questions[i].exchange].thing ==
		    (int)(t - w->things))
			w->questions[i].parked = true;
}

static void
answered(struct world *w, const struct frame *f)
{
	struct request *r = request_of(w, f->id);

	if (r == NULL) {
		/* "x" is that of a line that was too long. */
		if (f->id.n > 0 && !span_is(f->id, "\"x\""))
			breaks(w, "an answer that nobody asked for");
		return;
	}
	if (r->answered)
		breaks(w, "a second answer");
	r->answered = true;
	if (f->kind == FRAME_ERROR)
		check_error(w, r, f);
	else if (span_is(json_get(f->result, "resultType"),
		     "\"input_required\""))
		note_state(w, &w->things[r->thing], f);
	else
		check_mark(w, r, json_get(f->result, "x"), false);
}

static void
client_is_asked(struct world *w, const struct frame *f)
{
	if (w->modern)
		breaks(w, "a modern client is asked");
	if (w->n_asked < MAX_QUESTIONS)
		snprintf(w->asked[w->n_asked++], sizeof w->asked[0], "%.*s",
		    (int)f->id.n, f->id.p);
	if (w->asking == NOBODY)
		return;
	snprintf(w->questions[w->asking].client, sizeof w->questions[0].client,
	    "%.*s", (int)f->id.n, f->id.p);
	w->questions[w->asking].since = -1;
	w->questions[w->asking].heard = true;
}

static void
question_ends(struct world *w, struct span id)
{
	unsigned i;

	for (i = 0; i < w->n_asked; i++)
		if (span_is(id, w->asked[i]))
			memcpy(w->asked[i], w->asked[--w->n_asked],
			    sizeof w->asked[0]);
	for (i = 0; i < w->n_questions; i++)
		if (span_is(id, w->questions[i].client)) {
			w->questions[i].client[0] = '\0';
			w->questions[i].since = w->p->now;
		}
}

static void
written(struct world *w, const struct frame *f)
{
	if (f->kind == FRAME_RESULT || f->kind == FRAME_ERROR)
		answered(w, f);
	else if (f->kind == FRAME_REQUEST)
		client_is_asked(w, f);
	else if (!span_is(f->method, "notifications/cancelled"))
		return;
	else if (request_of(w, json_get(f->params, "requestId")) != NULL)
		request_of(w, json_get(f->params, "requestId"))
		    ->cancelled = true;
	else
		question_ends(w, json_get(f->params, "requestId"));
}

void
watch(struct play *p, const struct event *e)
{
	struct world *w = p->arg;

	if (e->kind == ACTION_SEND)
		sent(w, e);
	else if (e->kind == ACTION_WRITE)
		written(w, e->frame);
	else if (e->kind == ACTION_LOAD_START)
		w->recalled = true;
	else if (e->kind == ACTION_CHECK_PEERS)
		w->looks = true;
	else if (e->kind == ACTION_TAKE_REFUSAL || e->kind == ACTION_AUTHORIZE)
		refused(w, e);
}

/* --- time --- */

/* A question of a lost session cannot be answered. */
static int64_t
patience(const struct world *w, const struct question *q)
{
	unsigned session = w->exchanges[q->exchange].session;

	return session > 0 && session < w->newest && !q->heard ? FORMER_MS :
								 ASKED_MS;
}

static void
check_questions(struct world *w)
{
	const struct question *q;
	unsigned i;

	for (i = 0; i < w->n_questions; i++) {
		q = &w->questions[i];
		if (q->since >= 0 && !q->parked &&
		    w->p->now - q->since > patience(w, q) &&
		    is_alive(w, q->exchange) &&
		    w->exchanges[q->exchange].question == (int)i &&
		    is_wanted(w, w->exchanges[q->exchange].thing))
			breaks(w, "a call asked, and nobody will answer");
	}
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Checks silent calls of a session that the chain has replaced. */
static void
check_silent(struct world *w)
{
	const struct exchange *x;
	int64_t since;
	size_t i;

	/* It was sent again: the exchange of before may linger. */
	for (i = w->first_alive; i < w->n_exchanges; i++) {
		x = &w->exchanges[i];
		since = later(later(x->heard_at, w->newest_at),
		    w->stalled_at - SILENT_MS / 2);
		if (x->session > 0 && x->session < w->newest &&
		    is_call(w, x->thing) && x->fate == FATE_OPEN &&
		    w->p->now - since > SILENT_MS && is_alive(w, i) &&
		    w->things[x->thing].latest == i && is_wanted(w, x->thing))
			breaks(w,
			    "nobody looks after a silent call of a session "
			    "that is gone");
	}
}

/* However many requests are queued, few exchanges are under way at once. */
static void
check_alive(struct world *w)
{
	size_t alive = 0, i;

	for (i = w->first_alive; i < w->n_exchanges; i++)
		alive += is_alive(w, i);
	if (alive > ALIVE)
		breaks(w, "too many exchanges are under way");
}

void
check_time(struct world *w)
{
	check_alive(w);
	check_questions(w);
	check_silent(w);
}
