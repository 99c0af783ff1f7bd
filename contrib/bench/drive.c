/*
 * The driver: plays the MCP host, measures all candidates in one run, and
 * prints one line for each figure of each candidate (figures.h).
 *
 * A machine's speed drifts, so candidates take turns within every figure
 * (A B C A B C ...). Every answer is checked: it must be the right result, and
 * each id must come back exactly once; anything else makes the figure fail and
 * the exit status 1.
 */
#include "drive.h"

#include <sys/resource.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figures.h"
#include "rpc.h"

#define DRIVE_FILES 8192 /* a thousand calls at once need as many sockets */
#define DRIVE_THIRD 3    /* a third-party program has fewer turns, by this */

void
drive_fail(struct drive *d, const struct cand *c, const char *what,
    const char *why, bool may_have_limits)
{
	bool forgiven = c->third && may_have_limits;

	fprintf(stderr, "%s: failed: %s%s%s%s\n", c->name, what,
	    why == NULL ? "" : ": ", why == NULL ? "" : why,
	    forgiven ? " (the run goes on)" : "");
	if (!forgiven)
		d->failed = true;
}

bool
fits_all(const struct cand *c)
{
	(void)c;
	return true;
}

bool
fits_pipes(const struct cand *c)
{
	return c->port == NULL;
}

bool
fits_many(const struct cand *c)
{
	return !c->one;
}

/* v: the samples of each figure, one after another. */
static void
print_medians(const struct task *task, const struct cand *c, double *v,
    size_t turns)
{
	int i;

	for (i = 0; i < DRIVE_FIGURES && task->figure[i].name != NULL; i++) {
		/* the server itself is no process of ours */
		if (i > 0 && c->n == 0)
			continue;
		figures_print(task->figure[i].name, task->figure[i].unit,
		    c->name, figures_median(v + (size_t)i * turns, turns));
	}
}

static bool
one_turn(struct drive *d, const struct task *task, const struct cand *c,
    double *v, size_t turns)
{
	double one[DRIVE_FIGURES] = { NAN, NAN, NAN, NAN };
	size_t i;

	task->run(d, c, task, one);
	for (i = 0; i < DRIVE_FIGURES; i++)
		v[i * turns] = one[i];
	return !isnan(one[0]);
}

void
drive_turns(struct drive *d, const struct task *task, int turns)
{
	size_t n = (size_t)turns, i, k, share[CAND_MAX];
	double *v[CAND_MAX];
	bool good[CAND_MAX];

	for (k = 0; k < d->cands; k++) {
		v[k] = figures_values(DRIVE_FIGURES * n);
		good[k] = task->fits(&d->cand[k]);
		share[k] = n;
		if (d->cand[k].third)
			share[k] = (n + DRIVE_THIRD - 1) / DRIVE_THIRD;
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < d->cands; k++)
			if (good[k] && i < share[k])
				good[k] = one_turn(d, task, &d->cand[k],
				    v[k] + i, share[k]);
	for (k = 0; k < d->cands; k++) {
		if (task->fits(&d->cand[k]))
			print_medians(task, &d->cand[k], v[k], share[k]);
		free(v[k]);
	}
}

static void
measure(struct drive *d)
{
	measure_starts(d);
	measure_memory(d);
	measure_latency(d);
	measure_loads(d);
	measure_heavy(d);
	measure_instructions(d);
	measure_system_calls(d);
}

/* Makes so many calls and measures nothing: strace or valgrind does that. */
static void
only_calls(struct drive *d, int calls)
{
	const struct cand *c = &d->cand[0];
	struct host h;

	if (cand_open(c, &h, d->url[FORM_JSON], d->err) != 0 ||
	    host_calls(&h, "echo", 0, calls, 1) != 0)
		drive_fail(d, c, "a call", h.why, false);
	host_end(&h, DRIVE_END_MS);
}

static int
number(const char *s)
{
	long n = strtol(s, NULL, 10);

	if (n < 1 || n > 1000000) {
		fprintf(stderr, "drive: %s is out of range\n", s);
		exit(2);
	}
	return (int)n;
}

static void
more_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return;
	r.rlim_cur = r.rlim_max < DRIVE_FILES ? r.rlim_max : DRIVE_FILES;
	setrlimit(RLIMIT_NOFILE, &r);
}

static const char usage[] =
    "usage: drive [-d SCRATCH] [-e FILE] -u URL -v SSE-URL [-t HTTPS-URL]\n"
    "             [-s STARTS] [-r TURNS] [-n CALLS] CANDIDATE...\n"
    "       drive -i [-m] [-d SCRATCH] [-e FILE] -u URL CANDIDATE...\n"
    "       drive -c CALLS [-m] [-e FILE] -u URL CANDIDATE\n"
    "cand.h says what a candidate is. -i only counts, -m is 2026-07-28.\n";

int
main(int argc, char **argv)
{
	static struct drive d = {
		.scratch = ".",
		.err = "/dev/null",
		.starts = 30,
		.turns = 3,
		.calls = 10000,
	};
	int opt, calls = 0;
	bool counts = false;

	while ((opt = getopt(argc, argv, "+imu:v:t:d:e:s:r:n:c:")) != -1) {
		switch (opt) {
		case 'i':
			counts = true;
			break;
		case 'm':
			rpc_modern = true;
			break;
		case 'u':
			d.url[FORM_JSON] = optarg;
			break;
		case 'v':
			d.url[FORM_SSE] = optarg;
			break;
		case 't':
			d.https = optarg;
			break;
		case 'd':
			d.scratch = optarg;
			break;
		case 'e':
			d.err = optarg;
			break;
		case 's':
			d.starts = number(optarg);
			break;
		case 'r':
			d.turns = number(optarg);
			break;
		case 'n':
			d.calls = number(optarg);
			break;
		case 'c':
			calls = number(optarg);
			break;
		default:
			return 2;
		}
	}
	d.cands = cand_read(d.cand, argv + optind, argc - optind);
	if (d.cands == 0 || d.url[FORM_JSON] == NULL ||
	    (calls == 0 && !counts && d.url[FORM_SSE] == NULL)) {
		fputs(usage, stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	more_files();
	if (calls > 0) {
		only_calls(&d, calls);
	} else if (counts) {
		measure_instructions(&d);
		measure_system_calls(&d);
	} else {
		measure(&d);
	}
	return d.failed ? 1 : 0;
}
