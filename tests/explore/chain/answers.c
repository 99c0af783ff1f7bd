/* What a server says that means well, and the streams that it says it on. */
#include "config.h"

#include "explore/chain/world.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/json.h"

#define CAPS                                                                   \
	"'capabilities':{'logging':{},'tools':{'listChanged':true},"           \
	"'resources':{'subscribe':true,'listChanged':true}}"
#define TOOLS                                                                  \
	"'tools':[{'name':'safe','annotations':{'readOnlyHint':true}},"        \
	"{'name':'book','inputSchema':{'type':'object','properties':"          \
	"{'a':{'type':'string','x-mcp-header':'A'}}},"                         \
	"'outputSchema':{'type':'array'}}]"

static const char *const results[] = {
	"'protocolVersion':'2025-11-25'," CAPS
	",'serverInfo':{'name':'s','version':'1'}",
	"'supportedVersions':['2026-07-28']," CAPS ",$W",
	TOOLS,
	"'content':[],'structuredContent':[1]",
};

static const char *
result_of(const struct frame *f)
{
	static const char *const methods[] = { "initialize", "server/discover",
		"tools/list" };
	size_t i = 0;

	while (i < 3 && !span_is(f->method, methods[i]))
		i++;
	return results[i];
}

/* --- streams --- */

/* The stream that exchange i is answered on: its own, or one that all share;
 * SIZE_MAX: there is none. */
static size_t
shared_stream(const struct world *w, size_t i)
{
	const struct exchange *x;
	size_t k;

	for (k = w->first_alive; k < w->n_exchanges; k++) {
		x = &w->exchanges[k];
		if (is_alive(w, k) && w->p->sent[k].verb == VERB_GET &&
		    x->listen && x->headed &&
		    x->endpoint == (w->kind == SERVER_SSE) &&
		    x->session == w->exchanges[i].session)
			return k;
	}
	return SIZE_MAX;
}

static void
message(struct world *w, size_t on, const char *text)
{
	w->exchanges[on].heard_at = w->p->now;
	input(w, "< #%zu msg %s", on + 1, text);
}

/* --- answers --- */

static char *
result_text(struct world *w, size_t i, bool asks)
{
	const struct frame *f = w->p->sent[i].frame;

	if (asks)
		return xasprintf(
		    "{$J,'id':%.*s,'result':{'resultType':'input_required',"
		    "'inputRequests':{'k':{'method':'elicitation/create',"
		    "'params':{'message':'m'}}},'requestState':'z%zu'}}",
		    (int)f->id.n, f->id.p, i);
	return xasprintf("{$J,'id':%.*s,'result':{%s'x':%zu,%s}}", (int)f->id.n,
	    f->id.p, w->exchanges[i].modern ? "'resultType':'complete'," : "",
	    i, result_of(f));
}

/* A new session begins with the answer to initialize. */
static void
answer_whole(struct world *w, size_t i, const char *text)
{
	char session[40] = "";

	if (w->kind == SERVER_LEGACY &&
	    span_is(w->p->sent[i].frame->method, "initialize")) {
		w->session = ++w->sessions;
		snprintf(session, sizeof session, " session=s%u", w->session);
	}
	w->exchanges[i].heard_at = w->p->now;
	input(w, "< #%zu %s200%s %s", i + 1, percent(w, 50) ? "whole " : "",
	    session, text);
}

bool
accept_message(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];

	if (shared_stream(w, i) == SIZE_MAX)
		return false;
	x->owes = true;
	input(w, "< #%zu 202", i + 1);
	return true;
}

void
answer(struct world *w, size_t i)
{
	struct exchange *post = &w->exchanges[w->exchanges[i].post];
	bool asks = post->modern && post->thing >= 0 && !w->well &&
	    post->fate == FATE_OPEN &&
	    w->things[post->thing].method == METHOD_UNSAFE &&
	    percent(w, 2 * w->climate->ask);
	size_t on = post->owes ? shared_stream(w, i) : i;
	char *text;

	if (on == SIZE_MAX)
		return;
	text = result_text(w, w->exchanges[i].post, asks);
	post->fate = asks ? FATE_ASKS : FATE_RAN;
	post->question = NOBODY;
	post->owes = false;
	post->told = true;
	if (on == i && !w->exchanges[i].headed)
		answer_whole(w, i, text);
	else
		message(w, on, text);
	if (on == i && w->exchanges[i].headed && is_alive(w, i) &&
	    percent(w, 80))
		input(w, "< #%zu end", i + 1);
	free(text);
}

/* --- what comes on a stream --- */

static void
begin_stream(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];

	x->headed = true;
	x->heard_at = x->headed_at = w->p->now;
	if (w->p->sent[i].verb == VERB_POST && !x->modern && percent(w, 50))
		input(w, "< #%zu head 200 media=sse id=e%zu-%u", i + 1, x->post,
		    ++w->exchanges[x->post].events);
	else
		input(w, "< #%zu head 200 media=sse", i + 1);
}

/* Ends the stream while the tool goes on: a GET may get the rest. */
static void
break_off(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];
	const char *how = percent(w, 50) ? "cut" : "end";

	if (w->p->sent[i].verb == VERB_POST && x->fate == FATE_OPEN)
		x->fate = FATE_RAN;
	if (x->modern || x->post >= w->n_exchanges || percent(w, 20))
		input(w, "< #%zu %s", i + 1, how);
	else
		input(w, "< #%zu %s id=e%zu-%u", i + 1, how, x->post,
		    w->climate->resumes_in_vain || w->mute ?
			w->exchanges[x->post].events :
			++w->exchanges[x->post].events);
}

static void
ask_client(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];

	if (w->n_questions == MAX_QUESTIONS || x->question != NOBODY)
		return;
	x->question = (int)w->n_questions;
	x->spoke = true;
	x->heard_at = w->p->now;
	w->asking = x->question;
	w->questions[w->n_questions++] = (struct question){ .exchange = i,
		.since = w->p->now };
	input(w, "< #%zu msg ask \"q%d\" elicitation/create", i + 1,
	    x->question);
}

static void
say_something(struct world *w, size_t i)
{
	w->exchanges[i].spoke = true;
	if (percent(w, 50))
		message(w, i, "note notifications/message {'level':'error'}");
	else
		message(w, i, "note notifications/tools/list_changed");
}

static void
listen_turn(struct world *w, size_t i)
{
	unsigned dice = below(w, 20);

	if (dice < 6)
		say_something(w, i);
	else if (dice < 7)
		break_off(w, i);
	else if (dice < 8 && w->n_questions < MAX_QUESTIONS &&
	    !w->exchanges[i].modern)
		message(w, i, "ask 77 roots/list");
	else if (dice < 9)
		message(w, i, "ask 78 ping");
}

/* subscriptions/listen is acknowledged, then it stays. */
static void
acknowledge(struct world *w, size_t i)
{
	const struct frame *f = w->p->sent[i].frame;

	w->exchanges[i].spoke = true;
	input(w,
	    "< #%zu msg note notifications/subscriptions/acknowledged "
	    "{'notifications':%.*s,'_meta':{'$IsubscriptionId':%.*s}}",
	    i + 1, (int)json_get(f->params, "notifications").n,
	    json_get(f->params, "notifications").p, (int)f->id.n, f->id.p);
}

static bool
is_subscription(const struct world *w, size_t i)
{
	const struct frame *f = w->p->sent[i].frame;

	return f != NULL && span_is(f->method, "subscriptions/listen");
}

/* A call, or a GET that resumes its stream. */
static void
call_turn(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];
	unsigned dice = below(w, 100);

	if (x->question != NOBODY || percent(w, w->climate->silent))
		return;
	if (dice < w->climate->ask && !x->modern && x->post == i &&
	    x->thing >= 0)
		ask_client(w, i);
	else if (dice < 30)
		say_something(w, i);
	else if (dice < 45)
		break_off(w, i);
	else if (dice < 50 && x->post == i && x->thing >= 0)
		tell_words(w, i);
	else
		answer(w, i);
}

void
stream_turn(struct world *w, size_t i)
{
	struct exchange *x = &w->exchanges[i];
	bool resumes = x->post != i;

	if (!x->headed) {
		begin_stream(w, i);
	} else if (!x->listen && w->exchanges[x->post].told) {
		input(w, "< #%zu end", i + 1);
	} else if (is_subscription(w, i)) {
		if (!x->spoke)
			acknowledge(w, i);
		else if (!w->well && !w->mute)
			listen_turn(w, i);
	} else if (x->listen) {
		if (!w->well && !w->mute)
			listen_turn(w, i);
	} else if (w->well) {
		if (x->question == NOBODY)
			answer(w, i);
	} else if (resumes && w->climate->resumes_in_vain) {
		input(w, "< #%zu end", i + 1);
	} else if (w->mute) {
		break_off(w, i);
	} else {
		call_turn(w, i);
	}
}
