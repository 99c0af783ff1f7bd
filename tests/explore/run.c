/* Runs schedules by their seeds; run.h has the interface. */
#include "config.h"

#include "explore/run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SCHEDULES = 100000,
	WITH_SANITIZERS = 20000, /* valgrind is five times slower */
	UNDER_VALGRIND = 300,
	RULES = 64
};

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

struct finding {
	const char *rule;
	uint64_t seed;
	char *trace;
	size_t n, times;
};

struct run {
	explore_play *play;
	struct finding all[RULES];
	bool go_on; /* after a broken rule */
	bool print; /* a good schedule, too */
};

/* The seed of the schedule that is being played. */
static uint64_t at;

/* The shortest schedule for each rule. */
static void
note_finding(struct run *r, const char *rule, const struct buf *trace)
{
	struct finding *f = r->all;

	while (f->rule != NULL && f->rule != rule)
		f++;
	if (f == r->all + RULES - 1)
		return;
	f->rule = rule;
	f->times++;
	if (f->trace != NULL && f->n <= trace->n)
		return;
	free(f->trace);
	f->trace = xstrndup(trace->p, trace->n);
	f->n = trace->n;
	f->seed = at;
}

static void
tell_finding(const struct finding *f)
{
	printf("%s\nEXPLORE_SEED=%llu breaks a rule: %s\n", f->trace,
	    (unsigned long long)f->seed, f->rule);
	if (f->times > 1)
		printf("(%zu schedules do; this is the shortest)\n", f->times);
}

/* Returns false when a rule was broken. */
static bool
explore(struct run *r)
{
	const char *rule;
	struct buf trace;

	buf_init(&trace, 0);
	rule = r->play(at, &trace);
	if (rule != NULL)
		note_finding(r, rule, &trace);
	else if (r->print)
		printf("%s\n", buf_str(&trace));
	buf_free(&trace);
	return rule == NULL;
}

/* Returns how many findings there are. */
static int
explore_from(struct run *r, uint64_t first, uint64_t last)
{
	int n = 0;

	for (at = first; at <= last; at++)
		if (!explore(r) && !r->go_on)
			break;
	for (; r->all[n].rule != NULL; n++) {
		tell_finding(&r->all[n]);
		free(r->all[n].trace);
	}
	fflush(stdout);
	return n;
}

/* The seed of a crash is told; what stdio does in there may fail, too, and the
 * crash goes on. */
static void
tell_crash(int number)
{
	signal(number, SIG_DFL);
	printf("EXPLORE_SEED=%llu ends in a crash\n", (unsigned long long)at);
	fflush(stdout);
	raise(number);
}

static int
explore_all(struct run *r, uint64_t n)
{
	signal(SIGABRT, tell_crash);
	if (!SANITIZED) /* which tell more of these */
		signal(SIGSEGV, tell_crash);
	if (explore_from(r, 1, n) > 0)
		return 1;
	printf("%llu schedules, no rule broken\n", (unsigned long long)n);
	return 0;
}

static uint64_t
how_many(void)
{
	const char *number = getenv("EXPLORE");

	if (number != NULL)
		return strtoull(number, NULL, 10);
	if (getenv("UNDER_VALGRIND") != NULL)
		return UNDER_VALGRIND;
	return SANITIZED ? WITH_SANITIZERS : SCHEDULES;
}

int
explore_main(explore_play *play)
{
	struct run r = { .play = play, .go_on = getenv("EXPLORE_ALL") != NULL };
	const char *seed = getenv("EXPLORE_SEED");
	uint64_t one;

	if (seed == NULL)
		return explore_all(&r, how_many());
	one = strtoull(seed, NULL, 10);
	r.print = getenv("EXPLORE_TRACE") != NULL;
	return explore_from(&r, one, one) > 0;
}
