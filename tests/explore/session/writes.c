/*
 * What the client is told: each request one answer, its own and a true one;
 * questions only of the session that there is, with small integers as ids;
 * progress that rises, and notes that a call waits.
 */
#include "config.h"

#include <stdio.h>

#include "explore/session/world.h"

#include <stdlib.h>

#include "base/hash.h"
#include "core/wire/json.h"

enum { TELL_MS = 30 * 1000, SAY_MS = 5 * 1000 };

/* --- answers --- */

/* What the server said of one exchange is not the answer of a call that may have
 * run in another. */
static void
check_refusal(struct world *w, const struct seen_call *c, const struct frame *f)
{
	struct span data = json_get(f->error, "data");
	const struct seen_send *n;
	long tag;

	if (data.n == 0 || data.p[0] < '1' || data.p[0] > '9')
		return;
	tag = strtol(data.p, NULL, 10);
	n = &w->sends[tag - 1];
	if ((size_t)tag > w->p->n_sent || n->call != (int)(c - w->calls))
		explore_breaks(w, "the error of another call");
	else if (n->outcome == REFUSED && explore_may_have_run(w, c))
		explore_breaks(w,
		    "a refusal is the answer of a call that may have run");
}

/* Our own error must not say that it did not run, when it may have. */
static void
check_evidence(struct world *w, const struct seen_call *c,
    const struct frame *f)
{
	struct span data = json_get(f->error, "data");
	struct span ran = json_get(data, "ran");

	if (!span_is(json_get(data, "source"), "\"mcpsplice\""))
		return;
	/* The time in the queue counts. */
	if (c->outcome == UNSENT && c->sent == 1 && w->telling > 0 &&
	    w->p->now - c->made_at < w->config->retry_window_ms &&
	    w->told_call && w->config->retry_window_ms > 0 &&
	    w->calls[w->sends[w->telling - 1].call].sent == 1 &&
	    c == &w->calls[w->sends[w->telling - 1].call])
		explore_breaks(w, "what was not sent is not tried again");
	/* Where a renewal fails no new session is asked for the other half of
	 * the proof. */
	if (span_is(ran, "\"no\"") && w->no_ping == NULL &&
	    explore_may_have_run(w, c))
		explore_breaks(w,
		    "an error says that a call did not run, and "
		    "it may have");
	if (span_is(ran, "\"maybe\"") &&
	    (c->sent == 0 ||
		(c->sent == 1 && !c->vague && explore_is_unasked(w, c))) &&
	    c->method != METHOD_INITIALIZE)
		explore_breaks(w,
		    "an error says that a call may have run, and "
		    "it was not sent");
}

/* Is this the result of the stand-in's initialize? */
static bool
is_stand_in(const struct frame *f)
{
	return json_string_is(json_get(json_get(f->result, "serverInfo"),
				  "name"),
	    "mcpsplice");
}

/* Each result says whose it is; what we answer ourselves does not. */
static void
check_result(struct world *w, const struct seen_call *c, const struct frame *f)
{
	struct span n = json_get(f->result, "n");

	if (n.p != NULL) {
		if (explore_number(n) != (int)(c - w->calls))
			explore_breaks(w, "the result of another call");
	} else if (c->method == METHOD_INITIALIZE) {
		w->stood_in = is_stand_in(f);
		w->from_cache = w->stood_in ||
		    json_get(f->result, "memory").p != NULL;
		w->ready_known |= w->from_cache && w->said_initialized;
	} else if (c->method == METHOD_LEVEL && w->from_cache) {
		w->level = (int)(c - w->calls);
		w->level_in_doubt = false;
	} else if (c->method == METHOD_TOOLS && w->from_cache) {
		/* The startup cache may lack the tools. */
		w->stood_in |= json_get(f->result, "memory").p == NULL;
	} else if (c->method != METHOD_PING &&
	    !(w->stood_in && c->method == METHOD_TOOLS) &&
	    json_get(f->result, "memory").p == NULL) {
		explore_breaks(w, "a result that no server gave");
	}
}

void
explore_check_start(struct world *w)
{
	if (w->config->start != START_WAIT && !w->eof && !w->ending &&
	    w->p->now - w->opened_at > START_MS)
		explore_breaks(w, "initialize is answered too late");
}

/* The client has this list now. */
static void
note_list(struct world *w, const struct seen_call *c, const struct frame *f)
{
	struct span list = json_get(f->result, "tools");

	if (c->method != METHOD_TOOLS)
		return;
	w->listed = true;
	w->has = hash_bytes(HASH_START, list.p, list.n);
}

static void
check_answer(struct world *w, const struct frame *f)
{
	int number = explore_number(f->id);
	struct seen_call *c;

	if (number < 0) {
		if (f->id.n > 0 && !span_is(f->id, "999"))
			explore_breaks(w,
			    "an answer with an id that nobody used");
		return;
	}
	c = &w->calls[number];
	if ((unsigned)number >= w->n_calls)
		explore_breaks(w, "an answer to a call that was not made");
	if (c->answered)
		explore_breaks(w, "a second answer");
	if (c->cancelled)
		explore_breaks(w, "an answer to a cancelled call");
	/* What stands on the pages that were not read is not known. */
	if (json_get(f->result, "nextCursor").p != NULL)
		explore_forget_safe(w);
	c->answered = true;
	c->result = f->kind == FRAME_RESULT;
	if (c->method == METHOD_INITIALIZE) {
		explore_check_start(w);
		w->opening_open = false;
		w->idle = !c->result;
	}
	if (c->result) {
		note_list(w, c, f);
		check_result(w, c, f);
	} else {
		check_evidence(w, c, f);
		check_refusal(w, c, f);
	}
}

/* --- questions --- */

void
explore_forget_question(struct world *w, unsigned i)
{
	memmove(&w->questions[i], &w->questions[i + 1],
	    (w->n_questions - i - 1) * sizeof w->questions[0]);
	w->n_questions--;
}

static void
note_cancelled(struct world *w, struct span id)
{
	unsigned i;

	if (span_is(id, w->asked_to_sign_in))
		w->asked_to_sign_in[0] = '\0';
	for (i = 0; i < w->n_questions; i++)
		if (span_is(id, w->questions[i].client)) {
			explore_forget_question(w, i);
			return;
		}
}

/* The user is asked: on behalf of the call whose stream it is, else of any
 * that runs in the session. */
static int
note_asked(struct world *w, bool ping)
{
	const struct seen_send *n = &w->sends[w->telling - 1];
	struct seen_call *c;
	unsigned i;

	if (n->call >= 0 && !w->calls[n->call].answered &&
	    w->calls[n->call].outcome == RUNS &&
	    w->calls[n->call].last == w->telling - 1) {
		w->calls[n->call].asked |= !ping;
		return ping ? -1 : n->call;
	}
	for (i = 0; i < w->n_calls; i++) {
		c = &w->calls[i];
		if (explore_is_open(w, i) && c->sent > 0 &&
		    c->generation == n->generation && c->outcome == RUNS &&
		    explore_is_alive(w, c->last))
			c->asked |= !ping;
	}
	return -1;
}

/* --- the host is asked to show where to sign in --- */

static bool
is_user_awaited(const struct world *w)
{
	const struct seen_send *n;
	size_t i;

	for (i = w->first_alive; i < w->p->n_sent; i++) {
		n = &w->sends[i];
		if (n->waits && explore_is_alive(w, i) &&
		    (n->kind == SEND_OPEN ? n->generation == w->generation &&
				!w->generations[n->generation].settled &&
				n->epoch == w->initializes :
					    n->call >= 0))
			return true;
	}
	return false;
}

/* Some seconds after the user was sent to a page. */
static bool
must_ask(const struct world *w)
{
	return w->elicitation[0] != '\0' && w->initializes > 0 && !w->eof &&
	    !w->ending && w->ready_known && !w->opening_open && !w->idle &&
	    w->page != 0 && w->shown != w->page &&
	    w->p->now > w->browser_at + ASK_MS;
}

/* One question at a time, of a host that can be asked, for a page that the user
 * has had for some seconds. */
static void
check_sign_in(struct world *w, const struct frame *f)
{
	bool url = strstr(w->elicitation, "url") != NULL;

	if (w->elicitation[0] == '\0' || w->initializes == 0 || w->eof ||
	    !w->said_initialized)
		explore_breaks(w, "a host that cannot be asked is asked");
	if (w->asked_to_sign_in[0] != '\0')
		explore_breaks(w, "the host is asked twice to show a page");
	if (w->page == 0 || w->p->now < w->browser_at + ASK_MS)
		explore_breaks(w, "the host is asked before the browser");
	if (url != (json_get(f->params, "url").p != NULL) ||
	    url == (json_get(f->params, "requestedSchema").p != NULL))
		explore_breaks(w, "a question in the wrong mode");
	w->shown = w->page;
	snprintf(w->asked_to_sign_in, sizeof w->asked_to_sign_in, "%.*s",
	    (int)f->id.n, f->id.p);
}

static void
check_declined(struct world *w)
{
	size_t i;

	for (i = w->first_alive; i < w->p->n_sent; i++)
		if (w->sends[i].waits && explore_is_alive(w, i) &&
		    w->sends[i].call >= 0)
			explore_breaks(w,
			    "a call waits for a user who declined");
}

void
explore_check_host(struct world *w)
{
	bool awaited = is_user_awaited(w);

	if (w->declined)
		check_declined(w);
	w->declined = false;
	if (w->asked_to_sign_in[0] != '\0' && !awaited)
		explore_breaks(w, "the host shows a page for nobody");
	if (awaited && must_ask(w))
		explore_breaks(w, "the host is not asked to show a page");
}

/* --- questions of the server --- */

static void
check_question(struct world *w, const struct frame *f)
{
	struct question *q = &w->questions[w->n_questions];
	unsigned i;

	for (i = 0; i < w->n_questions; i++)
		if (span_is(f->id, w->questions[i].client))
			explore_breaks(w, "two questions with one id");
	if (f->id.p[0] < '1' || f->id.p[0] > '9' || f->id.n > 4)
		explore_breaks(w, "the id of a question is no small integer");
	if (w->telling == 0 || w->asking.server[0] == '\0' ||
	    w->sends[w->telling - 1].generation != w->generation) {
		explore_breaks(w, "a question of a session that is gone");
		return;
	}
	*q = w->asking;
	q->call = note_asked(w, span_is(f->method, "ping"));
	q->generation = w->generation;
	snprintf(q->client, sizeof q->client, "%.*s", (int)f->id.n, f->id.p);
	if (w->n_questions < MAX_ASKED - 1)
		w->n_questions++;
}

/* --- notifications --- */

/* A note that the call waits. */
static void
check_note(struct world *w, struct seen_call *c, double progress)
{
	int64_t since = c->noted_at > 0 ? c->noted_at : c->made_at;

	if (!explore_is_open(w, (unsigned)(c - w->calls)))
		explore_breaks(w, "a note of a call that is over");
	if (w->opening_open)
		explore_breaks(w, "a note before the answer to initialize");
	if (c->progressed)
		explore_breaks(w, "a note after the server has spoken");
	if (w->p->now - since < NOTE_MS)
		explore_breaks(w, "a note that comes too early");
	if (progress <= c->noted)
		explore_breaks(w, "a note that does not rise");
	/* Its stream may be asked for at a server that is away. */
	if (c->sent == 1 && c->outcome == RUNS && !c->vague &&
	    w->sends[c->last].kind != SEND_RESUME &&
	    explore_is_alive(w, c->last) && !w->sends[c->last].waits)
		explore_breaks(w, "a note of a call that the server has");
	c->noted = progress;
	c->noted_at = w->p->now;
}

static void
check_progress(struct world *w, const struct frame *f)
{
	int number = explore_number(json_get(f->params, "progressToken"));
	struct seen_call *c;
	struct span value = json_get(f->params, "progress");
	double progress = value.n == 0 ? 0 : strtod(value.p, NULL);

	if (number < 0)
		return;
	c = &w->calls[number];
	if (json_get(f->params, "message").p != NULL) {
		check_note(w, c, progress);
		return;
	}
	/* A server cannot know of a call that was never sent. */
	if (!explore_is_open(w, (unsigned)number) || c->sent == 0)
		return;
	if (c->progressed && c->again && progress <= c->progress)
		explore_breaks(w, "progress falls after a call was sent again");
	if (c->noted_at > 0 && progress <= c->noted)
		explore_breaks(w, "progress falls after a note");
	c->progressed = true;
	c->progress = progress;
}

static void
check_changed(struct world *w)
{
	const struct seen_send
	    *n = &w->sends[w->reading > 0 ? w->reading - 1 : 0];

	if (!w->listed)
		explore_breaks(w,
		    "the client is told of lists that it has not");
	/* A server without tools is not asked. */
	if (w->reading > 0 && n->generation == w->generation &&
	    w->has == w->reads)
		explore_breaks(w,
		    "the client is told of lists that are the same");
	if (w->reading > 0 && n->generation == w->generation &&
	    explore_open_calls(w) > 0 &&
	    w->p->now < (w->say_from > 0 ? w->say_from : n->sent_at) + SAY_MS)
		explore_breaks(w, "the client is told while a call is open");
	w->listed = false;
	if (w->changed_at > 0 && w->p->now < w->changed_at + TELL_MS)
		explore_breaks(w, "the client is told too often of new lists");
	w->changed_at = w->p->now;
	w->say_from = 0;
}

void
explore_check_write(struct world *w, const struct frame *f)
{
	if (f->kind == FRAME_REQUEST &&
	    json_get(f->params, "message").p != NULL)
		check_sign_in(w, f);
	else if (f->kind == FRAME_REQUEST)
		check_question(w, f);
	else if (f->kind != FRAME_NOTIFICATION)
		check_answer(w, f);
	else if (span_is(f->method, "notifications/cancelled"))
		note_cancelled(w, json_get(f->params, "requestId"));
	else if (span_is(f->method, "notifications/progress"))
		check_progress(w, f);
	else if (span_is(f->method, "notifications/tools/list_changed"))
		check_changed(w);
	else if (span_is(f->method, "notifications/resources/updated"))
		w->say_from = 0;
}
