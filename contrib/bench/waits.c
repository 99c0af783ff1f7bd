/*
 * How long a user waits whose server is far away: plays the MCP host over a
 * long line (link.c) and prints each wait in milliseconds and in round trips,
 * which hold on any line.
 *
 * The candidates take turns (A B A B ...), and each figure is a median. For
 * each silence a process of its own is opened; it sleeps while others are
 * measured. An answer that is wrong, missing or there twice makes the figure
 * fail ("-") and the exit status 1.
 */
#include "host.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figures.h"
#include "rpc.h"

#define WAITS_CANDS 4
#define WAITS_ROUNDS 9
#define WAITS_AT_ONCE 10
#define WAITS_END_MS 10000
#define WAITS_AHEAD 4.0 /* s: more than a candidate needs to start */

enum wait {
	START,
	LIST,
	WARM,
	SILENT_6,
	SILENT_20,
	CLOSED_20,
	SILENT_90,
	SILENT_300,
	AT_ONCE,
	AT_ONCE_AGAIN,
	LOST,
	END,
	WAITS
};

static const struct {
	const char *name;
	int silence; /* s */
	bool closes; /* the server closes what is idle, after 5 s */
} waits[WAITS] = {
	[START] = { .name = "spawn to the answer to initialize" },
	[LIST] = { .name = "spawn to the answer to tools/list" },
	[WARM] = { .name = "a call, warm" },
	[SILENT_6] = { "a call after 6 s of silence", 6, false },
	[SILENT_20] = { "a call after 20 s of silence", 20, false },
	[CLOSED_20] = { "a call after 20 s, closed after 5 s", 20, true },
	[SILENT_90] = { "a call after 90 s of silence", 90, false },
	[SILENT_300] = { "a call after 5 min of silence", 300, false },
	[AT_ONCE] = { .name = "10 calls at once, the first time" },
	[AT_ONCE_AGAIN] = { .name = "10 calls at once, again" },
	[LOST] = { .name = "a call that finds its session lost" },
	[END] = { .name = "EOF to exit" },
};

struct cand {
	const char *name;
	char *open[HOST_ARGS];  /* with the server that keeps connections */
	char *close[HOST_ARGS]; /* with the one that closes them */
	double v[WAITS][WAITS_ROUNDS];
	double median[WAITS];
};

/* A process in its silence. */
struct sleeper {
	struct host host;
	struct cand *cand;
	enum wait wait;
	int round;
	double due; /* 0: not there */
};

struct run {
	char *url;
	char *closing_url;
	const char *err;
	const char *json;
	double rtt; /* ms */
	int rounds;
	int longest; /* s of silence */
	struct cand cand[WAITS_CANDS];
	size_t cands;
	bool failed;
};

static void
failed(struct run *r, const struct cand *c, enum wait wait)
{
	fprintf(stderr, "waits: %s: %s: failed (see %s)\n", c->name,
	    waits[wait].name, r->err);
	r->failed = true;
}

static double
since(double t)
{
	return (bench_now() - t) * 1e3;
}

static bool
timed_open(const struct run *r, struct cand *c, struct host *h, double v[WAITS])
{
	char line[256];
	int n = rpc_list(line, sizeof line, 1);
	double t = bench_now();

	if (host_start(h, c->open, r->err) != 0)
		return false;
	v[START] = since(t);
	h->next_id = 1;
	if (child_send(&h->child, rpc_started(), strlen(rpc_started())) != 0 ||
	    child_send(&h->child, line, (size_t)n) != 0 ||
	    host_await(h, 1) != 0)
		return false;
	v[LIST] = since(t);
	return true;
}

static bool
timed_call(struct host *h, double *v)
{
	double t = bench_now();

	if (host_call(h) != 0)
		return false;
	*v = since(t);
	return true;
}

static bool
timed_calls(struct host *h, double v[WAITS])
{
	double t;
	int at;

	if (host_call(h) != 0 || !timed_call(h, &v[WARM]))
		return false;
	for (at = AT_ONCE; at <= AT_ONCE_AGAIN; at++) {
		t = bench_now();
		if (host_calls(h, WAITS_AT_ONCE) != 0)
			return false;
		v[at] = since(t);
	}
	return host_call_tool(h, "forget") == 0 && timed_call(h, &v[LOST]);
}

/* Until nothing is on the line any more. */
static void
calm_down(const struct run *r)
{
	bench_sleep(500 + (int)(4 * r->rtt));
}

/* The waits of one short session; those that failed stay as they are. */
static void
one_session(const struct run *r, struct cand *c, double v[WAITS])
{
	struct host h;
	bool good = timed_open(r, c, &h, v);
	double t;

	calm_down(r);
	good = good && timed_calls(&h, v);
	calm_down(r);
	t = bench_now();
	child_end(&h.child, WAITS_END_MS);
	if (good)
		v[END] = since(t);
}

/* The first session is thrown away: it warms the server up. */
static void
measure_sessions(struct run *r)
{
	double v[WAITS];
	struct cand *c;
	int round, i;

	one_session(r, r->cand, v);
	for (round = 0; round < r->rounds; round++)
		for (c = r->cand; c < r->cand + r->cands; c++) {
			for (i = 0; i < WAITS; i++)
				v[i] = NAN;
			one_session(r, c, v);
			for (i = 0; i < WAITS; i++) {
				c->v[i][round] = v[i];
				if (waits[i].silence == 0 && isnan(v[i]))
					failed(r, c, (enum wait)i);
			}
		}
}

static void
fall_asleep(struct run *r, struct sleeper *s)
{
	if (host_open(&s->host,
		waits[s->wait].closes ? s->cand->close : s->cand->open,
		r->err) == 0) {
		s->due = bench_now() + waits[s->wait].silence;
		return;
	}
	failed(r, s->cand, s->wait);
	child_end(&s->host.child, WAITS_END_MS);
}

static void
wake_up(struct run *r, struct sleeper *s)
{
	double t = s->due - bench_now();

	if (t > 0)
		bench_sleep((int)(t * 1e3));
	if (!timed_call(&s->host, &s->cand->v[s->wait][s->round]))
		failed(r, s->cand, s->wait);
	child_end(&s->host.child, WAITS_END_MS);
	s->due = 0;
}

static struct sleeper *
next_due(struct sleeper *s, size_t n)
{
	struct sleeper *next = NULL;

	for (; n > 0; n--, s++)
		if (s->due > 0 && (next == NULL || s->due < next->due))
			next = s;
	return next;
}

static size_t
list_sleepers(struct run *r, struct sleeper *s)
{
	struct cand *c;
	size_t n = 0;
	int i, round;

	for (i = WAITS - 1; i >= 0; i--) /* the longest silence first */
		for (round = 0; round < r->rounds; round++)
			for (c = r->cand; c < r->cand + r->cands; c++) {
				if (waits[i].silence == 0 ||
				    waits[i].silence > r->longest)
					continue;
				s[n].cand = c;
				s[n].wait = (enum wait)i;
				s[n++].round = round;
			}
	return n;
}

/* Whoever is due goes first: nobody is opened shortly before. */
static void
measure_silences(struct run *r)
{
	static struct sleeper all[WAITS * WAITS_ROUNDS * WAITS_CANDS];
	size_t n = list_sleepers(r, all), asleep = 0;
	struct sleeper *s;

	for (;;) {
		s = next_due(all, asleep);
		if (asleep < n &&
		    (s == NULL || s->due - bench_now() > WAITS_AHEAD))
			fall_asleep(r, &all[asleep++]);
		else if (s != NULL)
			wake_up(r, s);
		else
			return;
	}
}

static void
print_table(const struct run *r)
{
	const struct cand *c, *end = r->cand + r->cands;
	int i;

	printf("%-36s", "ms (round trips)");
	for (c = r->cand; c < end; c++)
		printf(" %16s", c->name);
	printf("\n");
	for (i = 0; i < WAITS; i++) {
		if (waits[i].silence > r->longest)
			continue;
		printf("%-36s", waits[i].name);
		for (c = r->cand; c < end; c++)
			if (isnan(c->median[i]))
				printf(" %16s", "-");
			else
				printf(" %8.0f (%5.1f)", c->median[i],
				    c->median[i] / r->rtt);
		printf("\n");
	}
}

/* The figures in ms; null is one that failed. */
static int
write_json(const struct run *r)
{
	FILE *f = fopen(r->json, "we");
	size_t k;
	int i;

	if (f == NULL)
		return -1;
	fprintf(f, "{\"round_trip_ms\":%g,\"rounds\":%d,\"waits_ms\":{", r->rtt,
	    r->rounds);
	for (k = 0; k < r->cands; k++) {
		fprintf(f, "%s\n\"%s\":{", k > 0 ? "," : "", r->cand[k].name);
		for (i = 0; i < WAITS; i++) {
			if (waits[i].silence > r->longest)
				continue;
			fprintf(f, "%s\n  \"%s\":", i > 0 ? "," : "",
			    waits[i].name);
			if (isnan(r->cand[k].median[i]))
				fprintf(f, "null");
			else
				fprintf(f, "%.1f", r->cand[k].median[i]);
		}
		fprintf(f, "}");
	}
	fprintf(f, "}}\n");
	return fclose(f);
}

static void
medians(struct run *r)
{
	struct cand *c;
	int i;

	for (c = r->cand; c < r->cand + r->cands; c++)
		for (i = 0; i < WAITS; i++)
			c->median[i] = figures_median(c->v[i],
			    (size_t)r->rounds);
}

/* NAME COMMAND ARG..., where the argument URL stands for the server's. */
static void
add_cand(struct run *r, char **arg, int n)
{
	struct cand *c = &r->cand[r->cands++];
	int i, k;

	if (r->cands > WAITS_CANDS || n < 2 || n > HOST_ARGS) {
		fprintf(stderr, "waits: too many candidates or words\n");
		exit(2);
	}
	c->name = arg[0];
	host_words(c->open, arg + 1, n - 1, r->url);
	host_words(c->close, arg + 1, n - 1, r->closing_url);
	for (i = 0; i < WAITS; i++)
		for (k = 0; k < WAITS_ROUNDS; k++)
			c->v[i][k] = NAN;
}

static void
options(struct run *r, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "+u:c:e:j:t:r:l:")) != -1) {
		switch (opt) {
		case 'u':
			r->url = optarg;
			break;
		case 'c':
			r->closing_url = optarg;
			break;
		case 'e':
			r->err = optarg;
			break;
		case 'j':
			r->json = optarg;
			break;
		case 't':
			r->rtt = strtod(optarg, NULL);
			break;
		case 'r':
			r->rounds = (int)strtol(optarg, NULL, 10);
			break;
		case 'l':
			r->longest = (int)strtol(optarg, NULL, 10);
			break;
		default:
			exit(2);
		}
	}
}

int
main(int argc, char **argv)
{
	static struct run r = {
		.err = "/dev/null", .rtt = 80, .rounds = 3, .longest = 20
	};
	int first;

	options(&r, argc, argv);
	for (first = optind; optind <= argc; optind++)
		if (optind == argc || strcmp(argv[optind], "--") == 0) {
			if (optind > first)
				add_cand(&r, argv + first, optind - first);
			first = optind + 1;
		}
	if (r.cands == 0 || r.url == NULL || r.closing_url == NULL ||
	    r.rtt <= 0 || r.rounds < 1 || r.rounds > WAITS_ROUNDS) {
		fprintf(stderr,
		    "usage: waits -u URL -c URL [-t ROUND-TRIP-MS] "
		    "[-r ROUNDS] [-l LONGEST-SILENCE] [-e FILE] [-j FILE]\n"
		    "    NAME COMMAND ARG... [-- NAME COMMAND ARG...]...\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	measure_sessions(&r);
	measure_silences(&r);
	medians(&r);
	print_table(&r);
	if (r.json != NULL && write_json(&r) != 0) {
		perror(r.json);
		return 1;
	}
	return r.failed ? 1 : 0;
}
