/* A life: it begins, things happen, and it ends. */
#include "config.h"

#include "explore/chain/life.h"

#include <inttypes.h>
#include <stdlib.h>

#include "explore/chain/world.h"

#define COUNT(list) ((unsigned)(sizeof(list) / sizeof *(list)))

enum {
	STEPS_LEAST = 20,
	STEPS_MORE = 60,
	GOOD_MS = 700 * 1000, /* after EOF, while the server is good */
	BAD_MS = 600 * 1000,  /* the same, and some call timeouts, while it
				* is not */
	STOP_MS = 1600        /* after a signal */
};

static const struct climate climates[] = {
	/* forget flap unsent maybe stream silent user ask words change */
	{ 2, 0, 5, 5, 30, 10, 2, 15, 2, 0, false, false },
	{ 20, 0, 5, 10, 20, 10, 2, 10, 3, 0, false, false },
	{ 5, 40, 2, 20, 10, 5, 0, 5, 0, 0, false, false },
	{ 5, 0, 20, 20, 20, 20, 5, 5, 5, 0, false, true },
	{ 8, 0, 0, 5, 70, 60, 0, 30, 0, 0, false, false },
	{ 5, 5, 5, 10, 50, 20, 0, 10, 0, 0, true, false },
	{ 5, 0, 5, 5, 20, 10, 30, 5, 0, 0, false, false },
	{ 10, 5, 5, 5, 20, 10, 5, 10, 5, 30, false, true },
	{ 60, 5, 5, 5, 10, 30, 0, 5, 5, 0, false, true },
};

/* --- what happens --- */

static void
silence_ends(struct world *w)
{
	const struct exchange *x;
	size_t i;

	for (i = w->first_alive; w->call_timeout_ms > 0 && i < w->n_exchanges;
	     i++) {
		x = &w->exchanges[i];
		if (!is_alive(w, i) || x->listen ||
		    w->p->now - x->heard_at < w->call_timeout_ms)
			continue;
		/* No exchange waits for the user's sign-in as long as that. */
		if (x->fate == FATE_UNASKED)
			end_with(w, i, FATE_REFUSED, "401");
		else
			end_with(w, i, FATE_RAN, "idle");
	}
}

/* The transport ends what was refused for good, and what is silent. */
static void
transport_turn(struct world *w)
{
	size_t i;

	for (i = w->first_alive; i < w->n_exchanges; i++)
		if (w->exchanges[i].final && is_alive(w, i))
			end_with(w, i, FATE_REFUSED, "401");
	silence_ends(w);
}

static void
time_passes(struct world *w)
{
	static const unsigned spans[] = { 0, 1, 30, 100, 250, 500, 1000, 2000,
		4000, 6000, 11000, 16000, 31000, 61000, 61000, 121000 };
	unsigned n = w->climate->silent > 15 ? 16 : 12;

	unsigned ms = spans[below(w, n)];

	if (!percent(w, w->climate->stalls ? 50 : 5)) {
		input(w, "! wait %u", ms);
		return;
	}
	w->stalled_at = w->p->now + ms;
	input(w, "! stall %u", ms);
}

static void
remember(struct world *w)
{
	w->recalled = false;
	if (percent(w, 50))
		input(w,
		    "! cached {\"protocolVersion\":\"2025-11-25\","
		    "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":"
		    "\"s\",\"version\":\"1\"}} {\"tools\":[]}");
}

static void
machine_turn(struct world *w)
{
	unsigned dice = below(w, 100);

	if (w->recalled && dice < 80) {
		remember(w);
	} else if (w->looks && dice < 90) {
		w->looks = false;
		input(w, dice < 60 ? "! newest" : "! newer-peer");
	} else if (dice < 40) {
		input(w, "! signed-in");
	} else if (dice < 70) {
		input(w, "! wake");
	} else {
		input(w, "! tick");
	}
}

static bool
goes_on(const struct world *w)
{
	return w->broken == NULL && w->p->status < 0 &&
	    w->n_exchanges < MAX_EXCHANGES - 1;
}

static void
step(struct world *w)
{
	unsigned dice = below(w, 100);

	if (w->recalled && dice < 40)
		machine_turn(w);
	else if (dice < 34)
		client_turn(w);
	else if (dice < 80)
		server_turn(w);
	else if (dice < 97)
		time_passes(w);
	else
		machine_turn(w);
	transport_turn(w);
}

/* --- how it ends --- */

static void
must_be_over(struct world *w, const char *rule)
{
	unsigned i;

	if (w->broken != NULL)
		return;
	if (w->p->status < 0)
		breaks(w, rule);
	for (i = 0; i < w->n_requests; i++)
		if (is_open(w, i))
			breaks(w, "a request without an answer");
}

static void
eof(struct world *w)
{
	w->eof = true;
	w->n_asked = 0;
	input(w, "! eof");
}

static void
end_well(struct world *w)
{
	int64_t until = w->p->now + GOOD_MS;

	w->well = true;
	eof(w);
	while (goes_on(w) && w->p->now < until) {
		server_is_good(w);
		input(w, "! wait 1000");
		transport_turn(w);
	}
	must_be_over(w, "no exit after EOF, and the server is good");
}

static void
end_badly(struct world *w)
{
	int64_t until = w->p->now + BAD_MS +
	    (3 + open_requests(w)) * w->call_timeout_ms;

	w->mute = true;
	eof(w);
	while (goes_on(w) && w->p->now < until) {
		server_turn(w);
		transport_turn(w);
		input(w, "! wait %" PRId64,
		    200 + below(w, 60) * w->call_timeout_ms / 600);
		transport_turn(w);
	}
	must_be_over(w, "no exit after EOF");
}

static void
end_at_once(struct world *w, const char *how)
{
	unsigned i;

	if (strcmp(how, "broken") == 0)
		for (i = 0; i < w->n_requests; i++)
			w->requests[i].cancelled = true;
	input(w, "! %s", how);
	input(w, "! wait %d", STOP_MS);
	must_be_over(w, "no exit in its time");
}

static void
end(struct world *w)
{
	unsigned dice = below(w, 8);

	if (!goes_on(w))
		return;
	if (dice < 4 || w->call_timeout_ms == 0)
		end_well(w);
	else if (dice < 6)
		end_badly(w);
	else
		end_at_once(w, dice == 6 ? "stop" : "broken");
}

/* --- all of it --- */

static char *
options(struct world *w)
{
	static const char *const calls[] = { "60000", "60000", "5000",
		"3600000", "0" };
	static const char *const limits[] = { "", "", "", " inflight=2",
		" held=3000", " replay=never", " replay=refused", " window=0",
		" ping=5000" };
	static const char *const starts[] = { "", "", " cache", " was=modern",
		" was=sse", " was=legacy", " transport=http",
		" transport=sse-first", " protocol=legacy" };
	const char *call = calls[below(w, COUNT(calls))];

	w->call_timeout_ms = strtoll(call, NULL, 10);
	return xasprintf("call=%s%s%s", call, limits[below(w, COUNT(limits))],
	    starts[below(w, COUNT(starts))]);
}

static void
begin(struct world *w)
{
	static const enum server_kind kinds[] = { SERVER_LEGACY, SERVER_LEGACY,
		SERVER_LEGACY, SERVER_NO_ID, SERVER_SSE, SERVER_MODERN };
	char *text;

	w->climate = &climates[below(w, COUNT(climates))];
	w->kind = kinds[below(w, COUNT(kinds))];
	w->modern = percent(w, 40);
	w->asking = NOBODY;
	text = options(w);
	w->p = play_new(&play_chain, text);
	w->p->watch = watch;
	w->p->arg = w;
	w->began = w->p->now;
	buf_addf(&w->p->trace, "= chain\n== a_life : %s\n", text);
	free(text);
}

static void
forget(struct world *w)
{
	unsigned i;

	for (i = 0; i < w->n_things; i++) {
		free(w->things[i].params);
		free(w->things[i].state);
	}
	play_free(w->p);
	free(w);
}

const char *
life_play(struct choices *c, struct buf *trace)
{
	struct world *w = xcalloc(1, sizeof *w);
	const char *broken;
	unsigned steps;

	w->choices = c;
	begin(w);
	steps = STEPS_LEAST + below(w, STEPS_MORE);
	if (c->bytes != NULL)
		steps = 1000;
	while (steps-- > 0 && goes_on(w) && !choices_over(c))
		step(w);
	end(w);
	broken = w->broken;
	if (trace != NULL)
		buf_addspan(trace, buf_span(&w->p->trace));
	forget(w);
	return broken;
}
