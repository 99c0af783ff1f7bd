/*
 * Starts and ends of a candidate, and its memory between them.
 */
#include <math.h>

#include "drive.h"

#define STARTS_TWENTY 20
#define STARTS_IDLE_MS 1000

static bool
fits_tls(const struct cand *c)
{
	return fits_pipes(c) && !c->plain;
}

/* The exit is that of a process that has made a call. */
static void
start(struct drive *d, const struct cand *c, const struct task *task, double *v)
{
	struct host h;
	double t = bench_now();
	int r = cand_spawn(c, &h, task->url, d->err);

	if (r == 0 && (r = host_started(&h)) == 0) {
		v[0] = (h.came - t) * 1e3;
		v[1] = child_cpu(&h.child) * 1e3;
		r = host_settle(&h);
	}
	if (r != 0)
		drive_fail(d, c, "a start", h.why, false);
	v[2] = host_end(&h, DRIVE_END_MS) * 1e3;
	if (isnan(v[2]))
		drive_fail(d, c, "the exit", "it needed a signal", true);
}

/* From the first spawn to the last answer. */
static void
twenty(struct drive *d, const struct cand *c, const struct task *task,
    double *v)
{
	static struct host h[STARTS_TWENTY];
	double t = bench_now();
	int i, r = 0;

	for (i = 0; i < STARTS_TWENTY; i++)
		r |= cand_spawn(c, &h[i], task->url, d->err);
	for (i = 0; i < STARTS_TWENTY; i++)
		r |= host_started(&h[i]);
	t = (bench_now() - t) * 1e3;
	for (i = 0; i < STARTS_TWENTY; i++)
		host_end(&h[i], DRIVE_END_MS);
	if (r == 0)
		v[0] = t;
	else
		drive_fail(d, c, task->figure[0].name, NULL, false);
}

void
measure_starts(struct drive *d)
{
	struct task http = {
		.figure = { { "start", "ms" }, { "start: CPU", "ms" },
		    { "exit", "ms" } },
		.fits = fits_pipes,
		.run = start,
		.url = d->url[FORM_JSON],
	};
	struct task https = {
		.figure = { { "start, https", "ms" },
		    { "start, https: CPU", "ms" } },
		.fits = fits_tls,
		.run = start,
		.url = d->https,
	};
	struct task at_once = {
		.figure = { { "20 starts at once", "ms" } },
		.fits = fits_pipes,
		.run = twenty,
		.url = d->url[FORM_JSON],
	};

	drive_turns(d, &http, d->starts);
	if (d->https != NULL)
		drive_turns(d, &https, d->starts);
	drive_turns(d, &at_once, d->turns);
}

/* One at a time: of what two processes share, each would have half. */
static void
memory(struct drive *d, const struct cand *c, const struct task *task,
    double *v)
{
	struct child_memory m;
	struct host h;

	if (cand_open(c, &h, task->url, d->err) == 0) {
		bench_sleep(STARTS_IDLE_MS);
		m = child_memory(&h.child);
		v[0] = m.rss;
		v[1] = m.pss;
	} else {
		drive_fail(d, c, "the first call", h.why, false);
	}
	host_end(&h, DRIVE_END_MS);
}

void
measure_memory(struct drive *d)
{
	struct task idle = {
		.figure = { { "idle RSS", "MiB" }, { "idle PSS", "MiB" } },
		.fits = fits_pipes,
		.run = memory,
		.url = d->url[FORM_JSON],
	};

	drive_turns(d, &idle, d->turns);
}
