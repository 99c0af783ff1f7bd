/*
 * Random schedules for the session reducer: a client, a server that forgets,
 * refuses, cuts and lingers, and time. After every input the rules that hold
 * for all schedules are checked; a schedule that breaks one is printed in the
 * language of session_play.h.
 *
 * EXPLORE is the number of schedules; EXPLORE_SEED=N plays that one alone,
 * EXPLORE_TRACE=1 prints it even when it is good.
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "explore_session.h"

enum {
	SCHEDULES = 20000,
	UNDER_VALGRIND = 300,
	MAX_STEPS = 160,
	ROUNDS = 400 /* of answers, after EOF */
};

static void
time_passes(struct world *w)
{
	static const unsigned spans[] = { 0, 1, 100, 250, 500, 1000, 2000, 5000,
		6000, 11000, 16000, 31000 };

	explore_input(w, "! random %u", explore_below(w, 1000000));
	explore_input(w, "! wait %u", spans[explore_below(w, 12)]);
}

static void
wander(struct world *w)
{
	unsigned steps = 20 + explore_below(w, MAX_STEPS - 20), dice;

	while (steps-- > 0 && w->broken == NULL) {
		dice = explore_below(w, 100);
		if (dice < 40)
			explore_client(w);
		else if (dice < 85)
			explore_server(w);
		else
			time_passes(w);
	}
}

static void
check_all_answered(struct world *w)
{
	unsigned i;

	if (w->broken != NULL)
		return;
	if (w->p->status < 0)
		explore_breaks(w,
		    w->ending ? "no exit in its second" :
				"no exit after EOF and every answer");
	for (i = 0; i < w->n_calls; i++)
		if (!w->calls[i].answered && !w->calls[i].cancelled)
			explore_breaks(w, "a call without an answer");
}

static void
end_by_eof(struct world *w)
{
	unsigned rounds = ROUNDS;

	explore_input(w, "! eof");
	while (w->p->status < 0 && rounds-- > 0 && w->broken == NULL) {
		explore_answer_well(w);
		explore_input(w, "! wait 1000");
	}
	check_all_answered(w);
}

/* In 1.1 seconds, without any help of the server. */
static void
end_by(struct world *w, const char *how)
{
	unsigned i;

	w->ending = true;
	if (explore_below(w, 4) == 0)
		explore_input(w, "! eof");
	if (strcmp(how, "broken") == 0)
		for (i = 0; i < w->n_calls; i++)
			w->calls[i].cancelled = true;
	explore_input(w, "! %s", how);
	explore_input(w, "! wait 1100");
	check_all_answered(w);
}

static void
play_schedule(struct world *w)
{
	static const char *const options[] = { "call=60000",
		"call=60000 inflight=2", "call=60000 held=300 inflight=3",
		"call=60000 replay=never", "call=60000 handshake",
		"call=60000 held=150", "call=60000 inflight=1", "call=0",
		"call=60000 drain=5000" };

	w->p = play_new(ONE_OF(w, options));
	w->p->watch = explore_watch;
	w->p->arg = w;
	wander(w);
	switch (explore_below(w, 4)) {
	case 0:
		end_by(w, "stop");
		break;
	case 1:
		end_by(w, "broken");
		break;
	default:
		end_by_eof(w);
		break;
	}
}

/* Returns false when a rule was broken. */
static bool
explore(uint64_t seed, bool trace)
{
	struct world *w = xcalloc(1, sizeof *w);
	bool good;

	w->rng = seed;
	play_schedule(w);
	good = w->broken == NULL;
	if (!good || trace)
		printf("%s\n", buf_str(&w->p->trace));
	if (!good)
		printf("EXPLORE_SEED=%llu breaks a rule: %s\n",
		    (unsigned long long)seed, w->broken);
	play_free(w->p);
	free(w->session);
	free(w);
	return good;
}

/* In a child, so that the seed of a crash is known. */
static int
explore_all(uint64_t n)
{
	uint64_t *seed = mmap(NULL, sizeof *seed, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *fork_wish = getenv("CK_FORK");
	int status = 0;
	pid_t child = 0;

	if (seed == MAP_FAILED)
		return 1;
	if (fork_wish == NULL || strcmp(fork_wish, "no") != 0)
		child = fork();
	if (child == 0) {
		for (*seed = 1; *seed <= n; ++*seed)
			if (!explore(*seed, false))
				break;
		status = *seed <= n;
		if (fork_wish == NULL || strcmp(fork_wish, "no") != 0)
			exit(status);
		return status;
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	if (status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 1))
		printf("EXPLORE_SEED=%llu ends in a crash\n",
		    (unsigned long long)*seed);
	if (status == 0)
		printf("%llu schedules, no rule broken\n",
		    (unsigned long long)n);
	return status != 0;
}

int
main(void)
{
	const char *seed = getenv("EXPLORE_SEED");
	const char *number = getenv("EXPLORE");

	if (seed != NULL)
		return !explore(strtoull(seed, NULL, 10),
		    getenv("EXPLORE_TRACE") != NULL);
	if (number != NULL)
		return explore_all(strtoull(number, NULL, 10));
	return explore_all(getenv("UNDER_VALGRIND") != NULL ? UNDER_VALGRIND :
							      SCHEDULES);
}
