/*
 * What comes on an open stream of the explorer's server: progress, questions,
 * answers and losses of this call and others, and its end, to be resumed or
 * not.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "explore/session/world.h"

static void
stream_progress(struct world *w, size_t i, int call)
{
	w->sends[i].spoke = true;
	w->sends[i].heard_at = w->p->now;
	explore_input(w,
	    "< #%zu msg note notifications/progress {\"progressToken\":%d,"
	    "\"progress\":%u}",
	    i + 1, call + 1000, explore_below(w, 9));
}

static void
stream_question(struct world *w, size_t i)
{
	static const char *const asks[] = { "ping", "elicitation/create",
		"elicitation/create", "roots/list" };

	w->sends[i].spoke = true;
	w->sends[i].heard_at = w->p->now;
	w->telling = i + 1;
	snprintf(w->asking.server, sizeof w->asking.server, "%u",
	    ++w->asked % 50);
	explore_input(w, "< #%zu msg ask %s %s", i + 1, w->asking.server,
	    asks[explore_below(w, 4)]);
}

/* May the answer to this call come on another stream than its own? */
static bool
may_answer(const struct world *w, int call)
{
	const struct seen_call *c = &w->calls[call];

	return c->method != METHOD_INITIALIZE && c->sent > 0 &&
	    (c->outcome == RUNS || c->accepted) &&
	    explore_is_open(w, (unsigned)call) &&
	    explore_is_alive(w, c->last) && !w->sends[c->last].waits;
}

static bool
may_lose(const struct world *w, int call)
{
	const struct seen_call *c = &w->calls[call];

	return may_answer(w, call) && w->p->sent[c->posted].session != NULL &&
	    explore_is_alive(w, c->last);
}

/* A message on any stream; own is the call whose stream it is, or -1. */
static void
says_something(struct world *w, size_t i, int own)
{
	int call = explore_chance(w, 25) ? explore_some_call(w) : own;
	unsigned dice = explore_below(w, 100);

	if (dice < 25 && call >= 0)
		stream_progress(w, i, call);
	else if (dice < 45)
		stream_question(w, i);
	else if (call >= 0 && dice < 80 && may_answer(w, call))
		explore_result(w, i, (unsigned)call, false);
	else if (call >= 0 && dice < 90 && may_lose(w, call))
		explore_words(w, i, (unsigned)call);
}

/* A resumed stream ends again and brought nothing. It may be resumed once more,
 * unless it was in vain before, or its call is silent for the call timeout. */
static void
stream_ends_again(struct world *w, size_t i, const char *how)
{
	enum { WAIT_MS = 30 * 1000 }; /* until it is resumed, at most */
	bool late = w->p->now - w->sends[i].heard_at + WAIT_MS >
	    w->config->call_timeout_ms;

	explore_end(w, i, late || strcmp(how, "end") == 0 ? BROKEN : RUNS, how);
}

/* A broken stream is resumed, with the event id that names its call and its POST:
 * an id that two of them had would be no id of an event. */
static void
stream_breaks(struct world *w, size_t i, const char *how)
{
	char text[64];

	snprintf(text, sizeof text, "%s id=%c%d retry=%u", how,
	    w->sends[i].letter, w->sends[i].call + 1000,
	    explore_below(w, 2000));
	if (w->sends[i].kind == SEND_RESUME)
		stream_ends_again(w, i, text);
	else
		explore_end(w, i, RUNS, text);
}

void
explore_stream_goes_on(struct world *w, size_t i)
{
	struct seen_send *n = &w->sends[i];
	unsigned dice = explore_below(w, 100);

	if (dice < 70)
		says_something(w, i, n->call);
	else if (dice < 85 && n->call >= 0)
		stream_breaks(w, i, dice < 80 ? "end" : "cut");
	else if (dice < 95 && n->kind == SEND_RESUME)
		stream_ends_again(w, i, dice < 90 ? "cut" : "end");
	else if (dice < 95)
		explore_end(w, i, MAYBE, dice < 90 ? "cut" : "end");
	else if (n->kind == SEND_LISTEN)
		explore_end(w, i, MAYBE, "cut id=x retry=500");
}

void
explore_stream_starts(struct world *w, size_t i)
{
	w->sends[i].headed = true;
	if (w->sends[i].kind != SEND_RESUME)
		w->sends[i].heard_at = w->p->now;
	if (w->sends[i].kind == SEND_LISTEN &&
	    w->sends[i].generation == w->generation)
		explore_now(w)->listened = true;
	explore_input(w, "< #%zu head 200 media=sse", i + 1);
}
