/*
 * The driver: plays the MCP host, measures all candidates in one run and
 * prints one table, with each figure as a multiple of the first candidate's.
 *
 * A machine's speed drifts, so candidates take turns within every figure
 * (A B C A B C ...) and each figure is a median. Every answer is checked: it
 * must be a result, and each id must come back exactly once; anything else
 * makes the figure fail ("-") and the exit status 1.
 */
#include "host.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figures.h"
#include "rpc.h"

#define DRIVE_CANDS 8
#define DRIVE_BLOCK 50 /* sequential calls in one turn */
#define DRIVE_TURNS 10 /* of them in a round */

struct cand {
	struct figures row;
	char *http[HOST_ARGS];
	char *https[HOST_ARGS];
	struct host host; /* the one kept for the calls */
	bool dead;        /* do not wait for it again */
};

struct drive {
	const char *http;
	const char *https; /* NULL: not measured */
	const char *err;
	int starts; /* cold starts per candidate */
	int rounds; /* of calls in a row, and of loads */
	int calls;  /* of one load */
	struct cand cand[DRIVE_CANDS];
	size_t cands;
	bool failed;
};

static void
die(const char *what)
{
	fprintf(stderr, "drive: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double
failed(struct drive *d, struct cand *c, const char *what)
{
	fprintf(stderr, "drive: %s: %s failed (see %s)\n", c->row.name, what,
	    d->err);
	d->failed = true;
	c->dead = true;
	return NAN;
}

static double
one_start(struct drive *d, struct cand *c, bool tls, double *cpu)
{
	struct host host;
	double t;
	int r;

	*cpu = NAN;
	if (c->dead)
		return NAN;
	t = bench_now();
	r = host_start(&host, tls ? c->https : c->http, d->err);
	t = bench_now() - t;
	if (r == 0)
		*cpu = child_cpu(&host.child) * 1e3;
	child_end(&host.child, 2000);
	return r == 0 ? t * 1e3 : failed(d, c, "cold start");
}

static void
measure_starts(struct drive *d, bool tls)
{
	enum figure wall = tls ? COLD_HTTPS : COLD_HTTP;
	enum figure used = tls ? COLD_HTTPS_CPU : COLD_HTTP_CPU;
	size_t n = (size_t)d->starts, i, k;
	double *t = figures_values(n * d->cands),
	       *cpu = figures_values(n * d->cands);

	for (i = 0; i < n; i++)
		for (k = 0; k < d->cands; k++)
			t[k * n + i] = one_start(d, &d->cand[k], tls,
			    &cpu[k * n + i]);
	for (k = 0; k < d->cands; k++) {
		d->cand[k].row.v[wall] = figures_median(t + k * n, n);
		d->cand[k].row.v[used] = figures_median(cpu + k * n, n);
		d->cand[k].dead = false;
	}
	free(t);
	free(cpu);
}

static void
measure_memory(struct drive *d)
{
	struct child_memory m;
	struct cand *c;
	double v[3][3];
	int i;

	for (c = d->cand; c < d->cand + d->cands; c++) {
		for (i = 0; i < 3; i++) {
			if (host_open(&c->host, c->http, d->err) != 0)
				failed(d, c, "the first call");
			bench_sleep(1000);
			m = child_memory(&c->host.child);
			if (c->dead)
				m.rss = m.pss = m.peak = NAN;
			v[0][i] = m.rss;
			v[1][i] = m.pss;
			v[2][i] = m.peak;
			child_end(&c->host.child, 2000);
		}
		c->row.v[RSS] = figures_median(v[0], 3);
		c->row.v[PSS] = figures_median(v[1], 3);
		c->row.v[PEAK] = figures_median(v[2], 3);
	}
}

static double
direct_p50(int fd)
{
	double t, v[DRIVE_BLOCK];
	int i;

	for (i = 0; i < DRIVE_BLOCK; i++) {
		t = bench_now();
		if (rpc_direct(fd, i) != 0)
			die("direct call");
		v[i] = (bench_now() - t) * 1e3;
	}
	return figures_median(v, DRIVE_BLOCK);
}

static double
call_p50(struct drive *d, struct cand *c)
{
	double t, v[DRIVE_BLOCK];
	int i;

	for (i = 0; i < DRIVE_BLOCK; i++) {
		t = bench_now();
		if (!c->dead && host_call(&c->host) != 0)
			failed(d, c, "a call");
		v[i] = c->dead ? NAN : (bench_now() - t) * 1e3;
	}
	return figures_median(v, DRIVE_BLOCK);
}

/* Each turn compares with the direct calls of the same moment. The first
 * turn of everybody warms up and is overwritten. */
static void
measure_calls(struct drive *d)
{
	size_t n = (size_t)d->rounds * DRIVE_TURNS, turn, at, k;
	double *direct = figures_values(n);
	double *added = figures_values(n * d->cands);
	int fd = rpc_connect(d->http);

	if (fd < 0)
		die("connect to the server");
	for (turn = 0; turn <= n; turn++) {
		at = turn == 0 ? 0 : turn - 1;
		direct[at] = direct_p50(fd);
		for (k = 0; k < d->cands; k++)
			added[k * n + at] = call_p50(d, &d->cand[k]) -
			    direct[at];
	}
	printf("direct call, p50: %.4f ms\n", figures_median(direct, n));
	for (k = 0; k < d->cands; k++)
		d->cand[k].row.v[ADDED] = figures_median(added + k * n, n);
	close(fd);
	free(direct);
	free(added);
}

static void
measure_loads(struct drive *d)
{
	size_t n = (size_t)d->rounds, i, k, at;
	double *cpu = figures_values(n * d->cands),
	       *wall = figures_values(n * d->cands);
	double scale = 10000.0 / d->calls;
	struct cand *c;

	for (i = 0; i < n; i++)
		for (k = 0; k < d->cands; k++) {
			c = &d->cand[k];
			at = k * n + i;
			cpu[at] = -child_cpu(&c->host.child);
			wall[at] = -bench_now();
			if (!c->dead && host_calls(&c->host, d->calls) != 0)
				failed(d, c, "a load");
			if (c->dead)
				cpu[at] = wall[at] = NAN;
			cpu[at] = (cpu[at] + child_cpu(&c->host.child)) * scale;
			wall[at] = (wall[at] + bench_now()) * scale;
		}
	for (k = 0; k < d->cands; k++) {
		d->cand[k].row.v[LOAD_CPU] = figures_median(cpu + k * n, n);
		d->cand[k].row.v[LOAD_WALL] = figures_median(wall + k * n, n);
	}
	free(cpu);
	free(wall);
}

static void
measure(struct drive *d)
{
	const struct figures *rows[DRIVE_CANDS];
	struct cand *c;
	size_t k;

	measure_starts(d, false);
	if (d->https != NULL)
		measure_starts(d, true);
	measure_memory(d);
	for (c = d->cand; c < d->cand + d->cands; c++) {
		c->row.v[HANDSHAKE_CPU] = c->row.v[COLD_HTTPS_CPU] -
		    c->row.v[COLD_HTTP_CPU];
		if (host_open(&c->host, c->http, d->err) != 0)
			failed(d, c, "the first call");
	}
	measure_calls(d);
	measure_loads(d);
	for (c = d->cand; c < d->cand + d->cands; c++)
		child_end(&c->host.child, 5000);
	for (k = 0; k < d->cands; k++)
		rows[k] = &d->cand[k].row;
	figures_print(rows, d->cands, d->https != NULL);
}

/* Only that many calls, one after another: for an instruction counter. */
static void
count(struct drive *d, int calls)
{
	struct cand *c = &d->cand[0];
	int r = host_open(&c->host, c->http, d->err);

	while (r == 0 && calls-- > 0)
		r = host_call(&c->host);
	if (r != 0)
		failed(d, c, "a call");
	child_end(&c->host.child, 60000);
}

/* NAME COMMAND ARG..., where the argument URL stands for the server's. */
static void
add_cand(struct drive *d, char **arg, int n)
{
	struct cand *c = &d->cand[d->cands++];
	static char http[256], https[256];
	int i;

	if (d->cands > DRIVE_CANDS || n < 2 || n > HOST_ARGS) {
		fprintf(stderr, "drive: too many candidates or words\n");
		exit(2);
	}
	snprintf(http, sizeof http, "%s", d->http);
	if (d->https != NULL)
		snprintf(https, sizeof https, "%s", d->https);
	c->row.name = arg[0];
	host_words(c->http, arg + 1, n - 1, http);
	host_words(c->https, arg + 1, n - 1, https);
	for (i = 0; i < FIGURES; i++)
		c->row.v[i] = NAN;
}

static int
number(const char *s)
{
	long n = strtol(s, NULL, 10);

	if (n < 0 || n > 1000000) {
		fprintf(stderr, "drive: %s is out of range\n", s);
		exit(2);
	}
	return (int)n;
}

int
main(int argc, char **argv)
{
	static struct drive d = {
		.err = "/dev/null", .starts = 20, .rounds = 5, .calls = 10000
	};
	int opt, counted = -1, first;

	while ((opt = getopt(argc, argv, "+mu:t:e:s:r:n:c:")) != -1) {
		switch (opt) {
		case 'm':
			rpc_modern = true;
			break;
		case 'u':
			d.http = optarg;
			break;
		case 't':
			d.https = optarg;
			break;
		case 'e':
			d.err = optarg;
			break;
		case 's':
			d.starts = number(optarg);
			break;
		case 'r':
			d.rounds = number(optarg);
			break;
		case 'n':
			d.calls = number(optarg);
			break;
		case 'c':
			counted = number(optarg);
			break;
		default:
			return 2;
		}
	}
	for (first = optind; optind <= argc; optind++)
		if (optind == argc || strcmp(argv[optind], "--") == 0) {
			if (d.http != NULL && optind > first)
				add_cand(&d, argv + first, optind - first);
			first = optind + 1;
		}
	if (d.cands == 0 || d.rounds == 0 || d.calls == 0) {
		fprintf(stderr,
		    "usage: drive [-m] -u URL [-t HTTPS-URL] [-e FILE] "
		    "[-s STARTS] [-r ROUNDS] [-n CALLS] [-c CALLS]\n"
		    "    NAME COMMAND ARG... [-- NAME COMMAND ARG...]...\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (counted >= 0)
		count(&d, counted);
	else
		measure(&d);
	return d.failed ? 1 : 0;
}
