/*
 * One run of the driver: what its parts share.
 */
#ifndef BENCH_DRIVE_H
#define BENCH_DRIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "cand.h"

#define DRIVE_END_MS 5000
#define DRIVE_FIGURES 4

enum form { FORM_JSON, FORM_SSE, FORMS };

struct drive {
	const char *url[FORMS]; /* where the server answers in that form */
	const char *https;      /* NULL: not measured */
	const char *scratch;    /* a folder for files of tools */
	const char *err;        /* the file for what candidates say */
	int starts;             /* cold starts per candidate */
	int turns;              /* of everything else */
	int calls;              /* of one load */
	struct cand cand[CAND_MAX];
	size_t cands;
	bool failed;
};

/* Something that is measured in turns: A B C A B C ... */
struct task {
	struct {
		const char *name;
		const char *unit;
	} figure[DRIVE_FIGURES]; /* the end: a name that is NULL */
	bool (*fits)(const struct cand *c);
	/* One sample of each figure; those that it leaves alone have failed. */
	void (*run)(struct drive *d, const struct cand *c,
	    const struct task *task, double *v);
	const char *url;
	double (*call)(struct host *h,
	    int size); /* what run does, if it asks */
	int size;      /* of what run does */
};

/* Runs a task in so many turns, for all candidates that it fits, and prints the
 * medians. A third-party program, which is slow, has a third of the turns. Who
 * fails is not asked again. */
void drive_turns(struct drive *d, const struct task *task, int turns);

/* Says that something failed, and why (NULL: that is not known). It fails the
 * run, unless the candidate is not of this tree and may have limits there. */
void drive_fail(struct drive *d, const struct cand *c, const char *what,
    const char *why, bool may_have_limits);

/* Whom a task fits: everybody; who is a process with pipes; who can have calls
 * in flight. */
bool fits_all(const struct cand *c);
bool fits_pipes(const struct cand *c);
bool fits_many(const struct cand *c);

/* starts.c: the time to start, alone and twenty at once, over http or https;
 * the memory when idle; the exit. */
void measure_starts(struct drive *d);
void measure_memory(struct drive *d);

/* calls.c: latency of calls in a row, and the cost of calls in flight. */
void measure_latency(struct drive *d);
void measure_loads(struct drive *d);

/* count.c: instructions and system calls, if the tools are here */
void measure_instructions(struct drive *d);
void measure_system_calls(struct drive *d);

/* heavy.c: large messages and many. */
void measure_heavy(struct drive *d);

#endif
