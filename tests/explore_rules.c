/*
 * The rules that hold for every schedule, checked action by action: who gets
 * how many answers, what is sent again and why, in the name of which session,
 * how many at a time.
 */
#include "config.h"

#include "explore_session.h"

#include <stdio.h>
#include <stdlib.h>

#include "wire/json.h"

void
explore_breaks(struct world *w, const char *rule)
{
	if (w->broken == NULL)
		w->broken = rule;
}

/* Calls have the ids 1000 and on; -1: another id. */
static int
call_of(struct span id)
{
	char text[32];
	long n;

	if (id.n == 0 || id.n >= sizeof text)
		return -1;
	memcpy(text, id.p, id.n);
	text[id.n] = '\0';
	n = strtol(text, NULL, 10);
	return n >= 1000 && n < 1000 + MAX_CALLS ? (int)n - 1000 : -1;
}

static bool
is_call(const struct frame *f)
{
	return span_is(f->method, "tools/call") ||
	    span_is(f->method, "tools/list") || span_is(f->method, "ping");
}

bool
explore_is_alive(const struct world *w, size_t i)
{
	return !w->sends[i].ended && !w->p->sent[i].aborted;
}

static bool
is_in_flight(const struct world *w, unsigned call)
{
	size_t i;

	if (w->calls[call].answered || w->calls[call].cancelled)
		return false;
	for (i = 0; i < w->p->n_sent; i++)
		if (w->sends[i].call == (int)call && explore_is_alive(w, i))
			return true;
	return false;
}

static void
check_call_sent(struct world *w, struct seen_send *n)
{
	struct seen_call *c = &w->calls[n->call];
	unsigned open = 0, k;

	if (c->answered)
		explore_breaks(w, "a call is sent after its answer");
	if (c->cancelled)
		explore_breaks(w, "a call is sent after its cancel");
	if (c->sent++ > 0 && c->again == AGAIN_NO)
		explore_breaks(w, "a call is sent again without a reason");
	if (c->sent > 1 && c->again == AGAIN_LOST) {
		if (c->replayed)
			explore_breaks(w, "a call is replayed twice");
		c->replayed = true;
	}
	c->again = AGAIN_NO;
	for (k = 0; k < w->n_calls; k++)
		open += (int)k != n->call && is_in_flight(w, k);
	if (open + 1 > w->p->config.max_inflight)
		explore_breaks(w, "more in flight than the cap allows");
}

static void
check_opening_sent(struct world *w, struct seen_send *n, struct span id)
{
	size_t i;

	n->initialize = true;
	n->renewal = id.n > 0 && id.p[0] == '"';
	for (i = 0; i < w->p->n_sent; i++) {
		if (!n->renewal)
			w->sends[i].renewal = false; /* given up */
		else if (explore_is_alive(w, i) && w->sends[i].renewal)
			explore_breaks(w, "two renewals at a time");
	}
	if (n->renewal && !span_is(id, w->renewal)) {
		if (w->generation > 0 && !w->lost)
			explore_breaks(w, "a renewal without a loss");
		snprintf(w->renewal, sizeof w->renewal, "%.*s", (int)id.n,
		    id.p);
		w->generation++;
	} else if (!n->renewal) {
		w->generation++;
	}
	w->lost = false;
	w->settled = false;
}

/* What goes out in the name of a session is that of now. */
static void
check_session_sent(struct world *w, struct span session)
{
	struct span now = span_of(w->session);

	if (!w->settled)
		explore_breaks(w, "something is sent without a session");
	else if (!span_eq(session, now))
		explore_breaks(w,
		    "something is sent with another session's id");
}

static void
check_send(struct world *w, const struct session_action *a)
{
	struct seen_send *n = &w->sends[w->p->n_sent];
	size_t i;

	memset(n, 0, sizeof *n);
	n->call = -1;
	n->generation = w->generation;
	if (a->ticket == 0)
		explore_breaks(w, "a send without a ticket");
	for (i = 0; i < w->p->n_sent; i++)
		if (w->p->sent[i].ticket == a->ticket)
			explore_breaks(w, "a ticket is used twice");
	if (a->verb == VERB_DELETE)
		return;
	if (a->verb == VERB_GET && !a->listen)
		return;
	if (a->verb == VERB_POST && span_is(a->frame->method, "initialize")) {
		check_opening_sent(w, n, a->frame->id);
		if (a->session.n > 0)
			explore_breaks(w, "an initialize with a session id");
		return;
	}
	check_session_sent(w, a->session);
	if (a->verb == VERB_POST && is_call(a->frame)) {
		n->call = call_of(a->frame->id);
		check_call_sent(w, n);
	}
}

/* A resuming GET is of the call whose stream ended before it: the reducer
 * does not say which, the event id does (it is the call's number). */
static void
note_resume(struct world *w, const struct session_action *a)
{
	struct seen_send *n = &w->sends[w->p->n_sent];

	if (a->verb != VERB_GET || a->listen || a->last_event_id.n < 2)
		return;
	n->call = call_of((struct span){
	    a->last_event_id.p + 1, a->last_event_id.n - 1 });
	n->spoke = true;
	if (n->call < 0)
		return;
	if (w->calls[n->call].answered)
		explore_breaks(w, "a stream is resumed after its answer");
	if (w->calls[n->call].cancelled)
		explore_breaks(w, "a stream is resumed after its cancel");
}

void
explore_forget_question(struct world *w, unsigned i)
{
	memmove(w->questions[i], w->questions[i + 1],
	    (w->n_questions - i - 1) * sizeof w->questions[0]);
	w->n_questions--;
}

static void
note_cancelled_question(struct world *w, struct span id)
{
	unsigned i;

	for (i = 0; i < w->n_questions; i++)
		if (span_is(id, w->questions[i])) {
			explore_forget_question(w, i);
			return;
		}
}

static void
check_write(struct world *w, const struct frame *f)
{
	int call;

	if (f->kind == FRAME_NOTIFICATION) {
		if (span_is(f->method, "notifications/cancelled"))
			note_cancelled_question(w,
			    json_get(f->params, "requestId"));
		return;
	}
	if (f->kind == FRAME_REQUEST) {
		if (w->n_questions < 7 && f->id.n < 32) {
			memcpy(w->questions[w->n_questions], f->id.p, f->id.n);
			w->questions[w->n_questions++][f->id.n] = '\0';
		}
		return;
	}
	call = call_of(f->id);
	if (call < 0) {
		if (f->id.n > 0)
			explore_breaks(w,
			    "an answer with an id that nobody used");
		return;
	}
	if ((unsigned)call >= w->n_calls)
		explore_breaks(w, "an answer to a call that was not made");
	if (w->calls[call].answered)
		explore_breaks(w, "a second answer");
	if (w->calls[call].cancelled)
		explore_breaks(w, "an answer to a cancelled call");
	w->calls[call].answered = true;
}

/* An initialize that took too long: the next call may try again. */
static void
note_abort(struct world *w, uint64_t ticket)
{
	size_t i;

	for (i = 0; i < w->p->n_sent; i++)
		if (w->p->sent[i].ticket == ticket && w->sends[i].initialize)
			w->lost = true;
}

void
explore_watch(struct play *p, const struct session_action *a)
{
	struct world *w = p->arg;

	if (p->status >= 0 && a->kind != ACTION_NOTE)
		explore_breaks(w, "an action after exit");
	if (p->n_sent == MAX_SENDS - 1)
		explore_breaks(w, "too many sends");
	if (w->broken != NULL)
		return;
	if (a->kind == ACTION_ABORT)
		note_abort(w, a->ticket);
	if (a->kind == ACTION_SEND) {
		check_send(w, a);
		note_resume(w, a);
	} else if (a->kind == ACTION_WRITE) {
		check_write(w, a->frame);
	}
}
