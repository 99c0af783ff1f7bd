/*
 * Large messages and many. Each has a process of its own, so that the peak of
 * its memory is that of the one message.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drive.h"

#define HEAVY_MB 1000000
#define HEAVY_NOTES 100000
#define HEAVY_CALLS 1000
#define HEAVY_CALL_MS 200

static double
many(struct host *h, int calls)
{
	double t = bench_now();

	if (host_calls(h, "slow", HEAVY_CALL_MS, calls, calls) != 0)
		return NAN;
	return h->came - t;
}

/* The time in ms and the peak of RSS. */
static void
heavy(struct drive *d, const struct cand *c, const struct task *task, double *v)
{
	struct host h;
	double t = NAN;

	if (cand_open(c, &h, task->url, d->err) == 0)
		t = task->call(&h, task->size) * 1e3;
	if (isnan(t)) {
		drive_fail(d, c, task->figure[0].name, h.why, true);
	} else {
		v[0] = t;
		if (h.child.pid != 0)
			v[1] = child_memory(&h.child).peak;
	}
	host_end(&h, DRIVE_END_MS);
}

static void
measure(struct drive *d, const char *name, enum form form,
    double (*call)(struct host *h, int size), int size)
{
	char peak[80];
	struct task task = {
		.figure = { { name, "ms" }, { peak, "MiB" } },
		.fits = call == many ? fits_many : fits_all,
		.run = heavy,
		.call = call,
		.url = d->url[form],
		.size = size,
	};

	snprintf(peak, sizeof peak, "%s: peak RSS", name);
	drive_turns(d, &task, d->turns);
}

/* Touches the driver's memory, so that its first large read is not slower. */
static void
touch_memory(void)
{
	struct lines l = { .p = NULL };

	memset(lines_room(&l, 130 * HEAVY_MB), 0, 130 * HEAVY_MB);
	lines_free(&l);
}

void
measure_heavy(struct drive *d)
{
	touch_memory();
	measure(d, "10 MB result, JSON", FORM_JSON, host_big, 10 * HEAVY_MB);
	measure(d, "10 MB result, SSE", FORM_SSE, host_big, 10 * HEAVY_MB);
	measure(d, "100 MB result, JSON", FORM_JSON, host_big, 100 * HEAVY_MB);
	measure(d, "100 MB result, SSE", FORM_SSE, host_big, 100 * HEAVY_MB);
	measure(d, "50 MB request", FORM_JSON, host_take, 50 * HEAVY_MB);
	measure(d, "100,000 notifications", FORM_SSE, host_notes, HEAVY_NOTES);
	measure(d, "1,000 calls of 200 ms at once", FORM_JSON, many,
	    HEAVY_CALLS);
}
