/*
 * Small calls: how long one takes, and what many cost.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "figures.h"

#define CALLS_BLOCK 50 /* calls in a row, in one turn */
#define CALLS_TURNS 15 /* per turn of the others */
#define CALLS_WARM_UP 500
#define CALLS_THIRD 5 /* a third-party program makes fewer, by this */

/* The samples of one candidate: all calls, and the median of each turn. */
struct row {
	struct host host;
	bool dead;
	double *all;
	double *p50;
};

static void
block(struct drive *d, const struct cand *c, struct row *row, size_t turn)
{
	double *v = row->all + turn * CALLS_BLOCK, sorted[CALLS_BLOCK];
	int i;

	for (i = 0; i < CALLS_BLOCK; i++) {
		v[i] = NAN;
		if (!row->dead && host_call(&row->host) != 0) {
			row->dead = true;
			drive_fail(d, c, "a call", row->host.why, false);
		}
		if (!row->dead)
			v[i] = (row->host.came - row->host.began) * 1e6;
	}
	memcpy(sorted, v, sizeof sorted);
	row->p50[turn] = figures_median(sorted, CALLS_BLOCK);
}

/* Each figure includes the time of the server itself: the candidate without a
 * command tells how much that is. */
static void
print(const struct drive *d, struct row *rows, size_t turns, const char *form)
{
	double p50, p99, least = NAN, most = NAN;
	char name[80];
	size_t k;

	for (k = 0; k < d->cands; k++) {
		p50 = figures_min(rows[k].p50, turns);
		p99 = figures_p99(rows[k].all, turns * CALLS_BLOCK);
		if (d->cand[k].n == 0) {
			least = p50;
			most = p99;
			snprintf(name, sizeof name, "a call, %s: p50", form);
			figures_print(name, "us", d->cand[k].name, p50);
			snprintf(name, sizeof name, "a call, %s: p99", form);
			figures_print(name, "us", d->cand[k].name, p99);
			continue;
		}
		snprintf(name, sizeof name, "added to a call, %s: p50", form);
		figures_print(name, "us", d->cand[k].name, p50 - least);
		snprintf(name, sizeof name, "added to a call, %s: p99", form);
		figures_print(name, "us", d->cand[k].name, p99 - most);
	}
}

/* A new process is started for some turns, because a process may stay in the
 * slower of two modes. The first turn warms up and is overwritten. */
static void
some_turns(struct drive *d, enum form form, struct row *rows, size_t first)
{
	size_t turn, k;

	for (k = 0; k < d->cands; k++) {
		rows[k].dead = cand_open(&d->cand[k], &rows[k].host,
				   d->url[form], d->err) != 0;
		if (rows[k].dead)
			drive_fail(d, &d->cand[k], "the first call",
			    rows[k].host.why, false);
	}
	for (turn = 0; turn <= CALLS_TURNS; turn++)
		for (k = 0; k < d->cands; k++)
			block(d, &d->cand[k], &rows[k],
			    first + (turn == 0 ? 0 : turn - 1));
	for (k = 0; k < d->cands; k++)
		host_end(&rows[k].host, DRIVE_END_MS);
}

static void
latency(struct drive *d, enum form form)
{
	size_t turns = (size_t)d->turns * CALLS_TURNS, first, k;
	struct row rows[CAND_MAX];

	for (k = 0; k < d->cands; k++) {
		rows[k].all = figures_values(turns * CALLS_BLOCK);
		rows[k].p50 = figures_values(turns);
	}
	for (first = 0; first < turns; first += CALLS_TURNS)
		some_turns(d, form, rows, first);
	print(d, rows, turns, form == FORM_JSON ? "JSON" : "SSE");
	for (k = 0; k < d->cands; k++) {
		free(rows[k].all);
		free(rows[k].p50);
	}
}

void
measure_latency(struct drive *d)
{
	latency(d, FORM_JSON);
	latency(d, FORM_SSE);
}

/* The CPU and the time of a load, for 10,000 calls. */
static void
load(struct drive *d, const struct cand *c, const struct task *task, double *v)
{
	int calls = c->third ? d->calls / CALLS_THIRD : d->calls, r;
	double t = 0, cpu = 0, scale = 10000.0 / calls;
	struct host h;

	r = cand_open(c, &h, task->url, d->err);
	if (r == 0)
		r = host_calls(&h, "echo", 0, CALLS_WARM_UP, task->size);
	if (r == 0) {
		cpu = h.child.pid != 0 ? child_cpu(&h.child) : NAN;
		t = bench_now();
		r = host_calls(&h, "echo", 0, calls, task->size);
	}
	if (r == 0) {
		v[0] = (bench_now() - t) * scale;
		if (h.child.pid != 0)
			v[1] = (child_cpu(&h.child) - cpu) * scale;
	} else {
		drive_fail(d, c, task->figure[0].name, h.why, false);
	}
	host_end(&h, DRIVE_END_MS);
}

void
measure_loads(struct drive *d)
{
	static const int in_flight[] = { 1, 8, 64, 512 };
	char wall[80], cpu[80];
	struct task task = {
		.figure = { { wall, "s" }, { cpu, "s" } },
		.fits = fits_all,
		.run = load,
		.url = d->url[FORM_JSON],
	};
	size_t i;

	for (i = 0; i < sizeof in_flight / sizeof *in_flight; i++) {
		task.size = in_flight[i];
		snprintf(wall, sizeof wall, "10,000 calls, %d in flight",
		    in_flight[i]);
		snprintf(cpu, sizeof cpu, "10,000 calls, %d in flight: CPU",
		    in_flight[i]);
		drive_turns(d, &task, d->turns);
	}
}
