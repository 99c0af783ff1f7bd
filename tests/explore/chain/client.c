/* The client of a life: it asks, cancels, answers, and begins anew. */
#include "config.h"

#include "explore/chain/world.h"

#include <stdlib.h>

static const char *const names[] = { "tools/call", "tools/call", "tools/list",
	"resources/read", "ping", "logging/setLevel", "resources/subscribe",
	"resources/unsubscribe", "server/discover", "subscriptions/listen",
	"initialize" };

static const char *const caps[] = { "{'elicitation':{},'roots':{}}", "{}" };

/* --- requests --- */

/* What is asked for, beside its number. */
static char *
params_of(struct world *w, enum method method)
{
	static const char *const levels[] = { "debug", "error" };

	switch (method) {
	case METHOD_UNSAFE:
		return xstrdup(",'name':'book','arguments':{'a':'x'}");
	case METHOD_SAFE:
		return xstrdup(",'name':'safe'");
	case METHOD_READ:
	case METHOD_SUBSCRIBE:
	case METHOD_UNSUBSCRIBE:
		return xasprintf(",'uri':'a:%u'", below(w, 3));
	case METHOD_LEVEL:
		return xasprintf(",'level':'%s'", levels[below(w, 2)]);
	case METHOD_LISTEN:
		return xasprintf(",'notifications':{'toolsListChanged':true,"
				 "'resourceSubscriptions':['a:%u']}",
		    below(w, 3));
	case METHOD_INITIALIZE:
		return xasprintf(",'protocolVersion':'2025-11-25',"
				 "'capabilities':%s",
		    caps[below(w, 2)]);
	default:
		return xstrdup("");
	}
}

/* Asks for a thing; returns the request. */
static int
ask(struct world *w, unsigned thing)
{
	struct thing *t = &w->things[thing];
	struct request *r = &w->requests[w->n_requests];
	bool modern = w->modern && t->method != METHOD_INITIALIZE;
	char *state = t->state;

	*r = (struct request){ .thing = thing };
	w->n_requests++;
	t->state = NULL;
	input(w, "> %s %u {'n':%u%s%s%s}", names[t->method],
	    w->n_requests + 999, thing, t->params,
	    !modern            ? "" :
		percent(w, 30) ? ",$M" :
				 ",$A",
	    state == NULL ? "" : state);
	free(state);
	return (int)w->n_requests - 1;
}

static int
ask_for(struct world *w, enum method method)
{
	struct thing *t = &w->things[w->n_things];

	if (w->n_requests == MAX_REQUESTS || w->eof)
		return NOBODY;
	t->method = method;
	t->params = params_of(w, method);
	return ask(w, w->n_things++);
}

int
client_calls(struct world *w)
{
	return ask_for(w, METHOD_TOOLS);
}

static void
asks(struct world *w)
{
	static const enum method legacy[] = { METHOD_UNSAFE, METHOD_UNSAFE,
		METHOD_UNSAFE, METHOD_SAFE, METHOD_TOOLS, METHOD_READ,
		METHOD_PING, METHOD_LEVEL, METHOD_SUBSCRIBE,
		METHOD_UNSUBSCRIBE };
	static const enum method modern[] = { METHOD_UNSAFE, METHOD_UNSAFE,
		METHOD_UNSAFE, METHOD_SAFE, METHOD_TOOLS, METHOD_READ,
		METHOD_DISCOVER, METHOD_DISCOVER, METHOD_LISTEN,
		METHOD_LISTEN };

	if (open_requests(w) < MAX_OPEN)
		ask_for(w, (w->modern ? modern : legacy)[below(w, 10)]);
}

static void
begins(struct world *w)
{
	unsigned i;

	w->modern = w->said_initialized = false;
	w->n_asked = 0;
	for (i = 0; i < w->n_things; i++) {
		free(w->things[i].state);
		w->things[i].state = NULL;
	}
	ask_for(w, METHOD_INITIALIZE);
}

/* Sends the retry that input_required asks for. */
static bool
retries(struct world *w)
{
	unsigned i;

	for (i = 0; i < w->n_things; i++)
		if (w->things[i].state != NULL &&
		    w->n_requests < MAX_REQUESTS) {
			ask(w, i);
			return true;
		}
	return false;
}

/* --- the rest --- */

static void
cancels(struct world *w)
{
	unsigned i;

	if (w->n_requests == 0)
		return;
	i = below(w, w->n_requests);
	if (!is_open(w, i) ||
	    w->things[w->requests[i].thing].method == METHOD_INITIALIZE)
		return;
	w->requests[i].cancelled = true;
	input(w, "> notifications/cancelled {'requestId':%u}", i + 1000);
}

static void
answers(struct world *w)
{
	char id[sizeof w->asked[0]];
	unsigned i, k;

	if (w->n_asked == 0)
		return;
	i = below(w, w->n_asked);
	memcpy(id, w->asked[i], sizeof id);
	memcpy(w->asked[i], w->asked[--w->n_asked], sizeof id);
	for (k = 0; k < w->n_questions; k++)
		if (strcmp(w->questions[k].client, id) == 0) {
			w->questions[k].client[0] = '\0';
			w->questions[k].since = w->p->now;
		}
	if (percent(w, 80))
		input(w, "> answer %s {'action':'accept'}", id);
	else
		input(w, "> refuse %s -1 no", id);
}

static void
notifies(struct world *w)
{
	if (!w->modern && !w->said_initialized) {
		w->said_initialized = true;
		input(w, "> notifications/initialized");
	} else if (!w->modern && percent(w, 50)) {
		input(w, "> notifications/roots/list_changed");
	} else if (percent(w, 20)) {
		input(w, "! too-long 1000000 \"x\" request");
	} else if (percent(w, 20)) {
		input(w, "> {$J,");
	}
}

void
client_turn(struct world *w)
{
	unsigned dice = below(w, 100);

	if (!w->p->reading || w->eof)
		return;
	if (!w->modern && w->n_requests == 0)
		begins(w);
	else if (!w->modern && !w->said_initialized && dice < 40)
		notifies(w);
	else if (dice < 60)
		asks(w);
	else if (dice < 68)
		cancels(w);
	else if (dice < 86)
		(void)(retries(w) || (answers(w), true));
	else if (dice < 97)
		notifies(w);
	else if (!w->modern || percent(w, 20))
		begins(w);
}
