/* The explorer's client: a lively one that makes few mistakes. */
#include "config.h"

#include <stdio.h>

#include "explore/session/world.h"

static const char *const methods[] = {
	"tools/call",
	"tools/list",
	"ping",
	"resources/read",
	"logging/setLevel",
	"resources/subscribe",
	"resources/unsubscribe",
};

/* --- requests --- */

static const char *
argument(const struct seen_call *c)
{
	static const char *const levels[] = { "debug", "info", "error",
		"alert" };
	static char text[48];

	text[0] = '\0';
	if (c->method == METHOD_TOOL)
		snprintf(text, sizeof text, "\"name\":\"t%u\",", c->thing);
	else if (c->method == METHOD_LEVEL)
		snprintf(text, sizeof text, "\"level\":\"%s\",",
		    levels[c->thing]);
	else if (c->method != METHOD_TOOLS && c->method != METHOD_PING)
		snprintf(text, sizeof text, "\"uri\":\"u:%u\",", c->thing);
	return text;
}

/* The token is in all: it tells the call whatever its id becomes. */
static int
call(struct world *w, enum method method)
{
	struct seen_call *c = &w->calls[w->n_calls];
	/* Nothing opens the gate but what is told in another input. */
	bool shut = w->initializes > 0 && !explore_now(w)->settled &&
	    !w->config->handshake;

	if (w->n_calls == MAX_CALLS)
		return -1;
	c->method = method;
	c->thing = explore_below(w, 4);
	c->made_at = w->p->now;
	w->n_calls++;
	explore_input(w, "> %s %u {%s\"_meta\":{\"progressToken\":%u}}",
	    methods[method], w->n_calls + 999, argument(c), w->n_calls + 999);
	if (shut && method == METHOD_PING && !c->answered)
		explore_breaks(w, "a ping waits for the server");
	return (int)w->n_calls - 1;
}

int
explore_plain_call(struct world *w)
{
	return call(w, METHOD_TOOL);
}

static void
client_call(struct world *w)
{
	static const enum method often[] = { METHOD_TOOL, METHOD_TOOL,
		METHOD_TOOL, METHOD_TOOL, METHOD_TOOLS, METHOD_PING,
		METHOD_READ, METHOD_LEVEL, METHOD_SUBSCRIBE,
		METHOD_UNSUBSCRIBE };

	if (explore_open_calls(w) < MAX_OPEN)
		call(w, often[explore_below(w, 10)]);
}

void
explore_initialize(struct world *w)
{
	struct seen_call *c = &w->calls[w->n_calls];

	if (w->n_calls == MAX_CALLS)
		return;
	w->initializes++;
	w->said_initialized = w->ready_known = false;
	w->idle = w->from_cache = w->listen_refused = false;
	w->n_questions = 0;
	w->level = -1;
	w->listed = false;
	memset(w->subs, -1, sizeof w->subs);
	memset(w->vague_subs, -1, sizeof w->vague_subs);
	c->method = METHOD_INITIALIZE;
	c->made_at = w->opened_at = w->p->now;
	w->opening_open = true;
	w->n_calls++;
	/* The calls of the session before are answered by us in this step. */
	w->asked_to_sign_in[0] = '\0';
	explore_input(w,
	    "> initialize %u {\"protocolVersion\":\"2025-11-25\"%s}",
	    w->n_calls + 999, w->elicitation);
}

/* --- notifications --- */

/* Does the server have this call, so that it gets a cancel? */
static bool
is_at_server(struct world *w, const struct seen_call *c)
{
	return c->sent > 0 && c->generation == w->generation &&
	    !explore_is_unasked(w, c) && explore_now(w)->settled &&
	    !w->reason && c->outcome == RUNS && explore_is_alive(w, c->last) &&
	    !explore_is_given_up(w, c);
}

static void
client_cancel(struct world *w)
{
	int number = explore_some_call(w);
	struct seen_call *c;

	if (number < 0)
		return;
	c = &w->calls[number];
	/* A cancel of initialize is ignored. */
	c->cancelled = c->method != METHOD_INITIALIZE;
	if (c->cancelled && is_at_server(w, c)) {
		w->cancelling = number;
		w->cancel_sent = false;
	}
	explore_input(w, "> notifications/cancelled {\"requestId\":%d}",
	    number + 1000);
}

static void
client_initialized(struct world *w)
{
	w->said_initialized = true;
	if (w->initializes > 0 && !w->opening_open && !w->idle)
		w->ready_known = true;
	explore_input(w, "> notifications/initialized");
}

/* More than may be under way at once. */
static void
client_talks(struct world *w)
{
	unsigned n = explore_chance(w, 1) ? 80 : 1;

	while (n-- > 0 && w->broken == NULL)
		explore_input(w, "> notifications/roots/list_changed");
}

static void
client_shows(struct world *w)
{
	static const char *const answers[] = { "accept", "decline", "cancel" };
	unsigned i = explore_below(w, 4);
	char id[sizeof w->asked_to_sign_in];

	memcpy(id, w->asked_to_sign_in, sizeof id);
	w->asked_to_sign_in[0] = '\0';
	w->declined = i == 1;
	if (i == 3)
		explore_input(w, "> refuse %s -32601 no", id);
	else
		explore_input(w, "> answer %s {\"action\":\"%s\"}", id,
		    answers[i]);
}

static void
client_answer(struct world *w)
{
	unsigned i;

	if (w->asked_to_sign_in[0] != '\0' && explore_chance(w, 50)) {
		client_shows(w);
		return;
	}
	if (w->n_questions == 0)
		return;
	i = explore_below(w, w->n_questions);
	w->answering = w->questions[i];
	explore_forget_question(w, i);
	explore_input(w, "> answer %s", w->answering.client);
}

void
explore_client(struct world *w)
{
	unsigned dice = explore_below(w, 100);

	if (!w->p->reading)
		return;
	if (w->initializes == 0 && dice < 90 && !w->config->handshake)
		explore_initialize(w);
	else if (!w->said_initialized && dice < 40)
		client_initialized(w);
	else if (dice < 65)
		client_call(w);
	else if (dice < 75)
		client_cancel(w);
	else if (dice < 85)
		client_answer(w);
	else if (dice < 95)
		client_talks(w);
	else if (dice < 98)
		explore_input(w, "> {\"jsonrpc\":");
	else
		explore_initialize(w);
}
