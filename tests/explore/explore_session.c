/*
 * Random schedules for the session reducer: a client, a server that forgets,
 * refuses, cuts and lingers, and time. After every input the rules that hold
 * for all schedules are checked; a schedule that breaks one is printed in the
 * language of tests/play/README. run.h says what the environment can ask for.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "explore/run.h"
#include "explore/session/world.h"

enum {
	MAX_STEPS = 160,
	ROUNDS = 400 /* of answers, after EOF */
};

/* --- what happens --- */

static void
time_passes(struct world *w)
{
	static const unsigned spans[] = { 0, 1, 100, 250, 500, 1000, 2000, 5000,
		6000, 11000, 16000, 31000, 61000 };
	unsigned n = w->climate->hasty ? 5 : 13;

	explore_input(w, "! random %u", explore_below(w, 1000000));
	explore_input(w, "! wait %u", spans[explore_below(w, n)]);
}

static void
remember(struct world *w)
{
	w->recalled = false;
	if (explore_chance(w, 30))
		return;
	explore_input(w,
	    "! cached {\"protocolVersion\":\"2025-11-25\",\"memory\":1}%s",
	    explore_chance(w, 50) ? " {\"tools\":[],\"memory\":1}" : "");
}

/* Any other input: a sign-in, a wake-up, a stale session, a tick. */
static void
world_turns(struct world *w)
{
	unsigned dice = explore_below(w, 100);

	if (w->recalled && dice < 70)
		remember(w);
	else if (w->looks && dice < 90) {
		w->looks = false;
		explore_input(w, dice < 60 ? "! newest" : "! newer-peer");
	} else if (dice < 65)
		explore_signed_in(w);
	else if (dice < 75)
		explore_input(w, "! wake");
	else if (dice < 85)
		explore_input(w, "! stale o%u", ++w->strays);
	else if (dice < 95)
		explore_input(w, "! tick");
	else
		explore_input(w, "! too-long 1000 %u request", 999u);
}

static void
wander(struct world *w)
{
	unsigned steps = 20 + explore_below(w, MAX_STEPS - 20), dice;
	unsigned client = w->climate->hasty ? 20 : 38;

	if (w->climate->hasty)
		steps += MAX_STEPS;
	while (steps-- > 0 && w->broken == NULL) {
		dice = explore_below(w, 100);
		if (w->recalled && dice < 50)
			world_turns(w);
		else if (dice < client)
			explore_client(w);
		else if (dice < 84)
			explore_server(w);
		else if (dice < 97)
			time_passes(w);
		else
			world_turns(w);
	}
}

/* --- how it ends --- */

static void
check_all_answered(struct world *w)
{
	unsigned i;

	if (w->broken != NULL)
		return;
	for (i = 0; i < w->n_calls; i++)
		if (explore_is_open(w, i))
			explore_breaks(w, "a call without an answer");
}

static void
check_exit(struct world *w)
{
	check_all_answered(w);
	if (w->broken == NULL && w->p->status < 0)
		explore_breaks(w,
		    w->ending ? "no exit in its second" :
				"no exit after EOF and every answer");
}

/* From here on the session itself answers what the server asks. */
static void
eof(struct world *w)
{
	w->eof = true;
	w->n_questions = 0;
	w->asked_to_sign_in[0] = '\0';
	explore_input(w, "! eof");
}

static void
end_by_eof(struct world *w)
{
	unsigned rounds = ROUNDS;

	w->slow = explore_chance(w, 50);
	eof(w);
	while (w->p->status < 0 && rounds-- > 0 && w->broken == NULL) {
		explore_answer_well(w);
		explore_input(w, "! wait 1000");
	}
	check_exit(w);
}

/* In 1.1 seconds, without any help of the server. */
static void
end_by(struct world *w, const char *how)
{
	unsigned i;

	w->ending = true;
	if (explore_below(w, 4) == 0)
		eof(w);
	if (strcmp(how, "broken") == 0)
		for (i = 0; i < w->n_calls; i++)
			w->calls[i].cancelled = true;
	if (strcmp(how, "broken") == 0)
		w->asked_to_sign_in[0] = '\0';
	explore_input(w, "! %s", how);
	explore_input(w, "! wait 1100");
	check_exit(w);
}

static void
all_is_well(struct world *w, unsigned rounds)
{
	while (rounds-- > 0 && w->broken == NULL) {
		explore_answer_well(w);
		explore_input(w, "! wait 1000");
	}
}

/* A good server forgets the session once more: the next call, whatever it is,
 * does not even notice. */
static void
end_forgotten(struct world *w)
{
	unsigned rounds = 100;
	int call;

	if (w->broken != NULL || w->no_ping != NULL || explore_flaps(w) ||
	    w->config->replay == REPLAY_NEVER ||
	    w->config->retry_window_ms == 0 || !explore_forget(w))
		return;
	call = explore_plain_call(w);
	while (call >= 0 && !w->calls[call].answered && rounds-- > 0 &&
	    w->broken == NULL) {
		explore_answer_well(w);
		explore_input(w, "! wait 100");
	}
	if (w->broken == NULL && call >= 0 && !w->calls[call].result)
		explore_breaks(w, "a call that was refused is not replayed");
}

/* Once the server is good every call is answered, and a new one works: at
 * the latest when the budget allows the next renewal. */
static void
end_well(struct world *w)
{
	unsigned trials = 4;
	int call = -1;

	all_is_well(w, 45);
	check_all_answered(w);
	if (w->idle || (w->initializes == 0 && !w->config->handshake))
		explore_initialize(w);
	all_is_well(w, 3);
	while (trials-- > 0 && w->broken == NULL &&
	    (call < 0 || !w->calls[call].result)) {
		call = explore_plain_call(w);
		if (call < 0)
			break;
		all_is_well(w, 32);
		check_all_answered(w);
	}
	if (w->broken == NULL && call >= 0 && !w->calls[call].result)
		explore_breaks(w, "a good server, and no call works");
	end_forgotten(w);
	end_by(w, "stop");
}

/* --- a schedule --- */

static const struct climate climates[] = {
	/* loss flap unsent maybe fail stream refuse silent user hasty */
	{ 5, 0, 5, 5, 5, 15, 10, 5, 2, false },      /* most is well */
	{ 30, 0, 15, 20, 20, 15, 30, 5, 5, false },  /* most is not */
	{ 60, 0, 5, 5, 10, 5, 10, 0, 5, false },     /* it forgets much */
	{ 0, 50, 2, 2, 5, 5, 5, 0, 0, false },       /* two replicas */
	{ 2, 30, 0, 0, 10, 0, 0, 0, 2, false },      /* some of them */
	{ 10, 0, 30, 30, 10, 10, 60, 10, 0, false }, /* the network is bad */
	{ 20, 0, 5, 10, 10, 60, 10, 40, 5, false },  /* slow streams */
	{ 95, 0, 0, 0, 0, 0, 5, 0, 0, true },        /* broken for good */
	{ 10, 0, 5, 5, 10, 15, 10, 10, 40, false },  /* it wants a sign-in */
	{ 30, 0, 5, 10, 10, 15, 10, 30, 25, false }, /* and forgets */
	{ 5, 0, 0, 2, 60, 5, 0, 5, 0, false },       /* tools fail */
};

static void
begin(struct world *w)
{
	static const char *const options[] = { "call=60000",
		"call=60000 inflight=2", "call=60000 held=6000 inflight=3",
		"call=60000 replay=never", "call=60000 replay=refused",
		"call=60000 handshake", "call=60000 held=600",
		"call=60000 inflight=1", "call=0", "call=60000 drain=5000",
		"call=3600000", "call=60000 window=0" };
	static const char *const more[] = { "", "", "", " cache", " cache",
		" ping=5000", " ping=30000 cache", " late" };
	static const char *const starts[] = { "", "", "", "", " start=wait",
		" start=stand-in", " start=instant" };
	static const char *const hosts[] = { "", "",
		",\"capabilities\":{\"elicitation\":{}}",
		",\"capabilities\":{\"elicitation\":{\"url\":{}}}" };
	static const struct refusal no_pings[] = {
		{ "404", "", 0, NULL, false, false },
		{ "404", "", -32601, "Method not found", true, false },
		{ "400", "", 0, NULL, false, false },
	};
	char text[100];

	w->climate = &climates[explore_below(w,
	    sizeof climates / sizeof *climates)];
	w->elicitation = hosts[explore_below(w, 4)];
	w->lets_pings = explore_chance(w, 15);
	w->by_turns = explore_chance(w, 50);
	if (!w->lets_pings && explore_chance(w, 15))
		w->no_ping = &no_pings[explore_below(w, 3)];
	w->level = w->cancelling = -1;
	memset(w->subs, -1, sizeof w->subs);
	memset(w->vague_subs, -1, sizeof w->vague_subs);
	snprintf(text, sizeof text, "%s%s%s", options[explore_below(w, 12)],
	    more[explore_below(w, 8)], starts[explore_below(w, 7)]);
	w->p = play_new(&play_session, text);
	w->config = session_played(w->p);
	w->p->watch = explore_watch;
	w->p->arg = w;
	/* What the trace needs to be played again. */
	buf_addf(&w->p->trace, "= session\n== a_schedule : %s\n", text);
}

static void
play_schedule(struct world *w)
{
	begin(w);
	wander(w);
	switch (explore_below(w, 6)) {
	case 0:
		end_by(w, "stop");
		break;
	case 1:
		end_by(w, "broken");
		break;
	case 2:
	case 3:
		end_well(w);
		break;
	default:
		end_by_eof(w);
		break;
	}
}

/* --- all of them --- */

static const char *
play(uint64_t seed, struct buf *trace)
{
	struct world *w = xcalloc(1, sizeof *w);
	const char *broken;

	w->rng = seed;
	play_schedule(w);
	broken = w->broken;
	buf_addspan(trace, buf_span(&w->p->trace));
	play_free(w->p);
	free(w);
	return broken;
}

int
main(void)
{
	return explore_main(play);
}
