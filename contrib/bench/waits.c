/*
 * How long a user waits whose server is far away: plays the MCP host over a
 * long line (link.c) and prints each wait (figures.h).
 *
 * The candidates take turns (A B A B ...), and each figure is a median. For
 * each silence a process of its own is opened; it sleeps while others are
 * measured. An answer that is wrong, missing or there twice makes the figure
 * fail, and the exit status 1 unless it is a third-party program's.
 */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cand.h"
#include "figures.h"
#include "rpc.h"

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
	LOST_ALONE,
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
	[LOST_ALONE] = { .name = "the same with one idle connection" },
	[END] = { .name = "EOF to exit" },
};

/* A candidate and its samples. */
struct waiter {
	struct cand cand;
	double v[WAITS][WAITS_ROUNDS];
	bool told[WAITS]; /* that it failed */
};

/* A process in its silence. */
struct sleeper {
	struct host host;
	struct waiter *waiter;
	enum wait wait;
	int round;
	double due; /* 0: not there */
};

struct run {
	const char *url;
	const char *closing_url; /* of the server that closes connections */
	const char *err;
	double rtt; /* ms */
	int rounds;
	int longest; /* s of silence */
	struct waiter waiter[CAND_MAX];
	size_t waiters;
	bool failed;
};

/* Reports a failure. A third-party program may fail without failing the run. */
static void
failed(struct run *r, struct waiter *w, enum wait wait)
{
	if (!w->told[wait])
		fprintf(stderr, "%s: failed: %g ms away: %s%s\n", w->cand.name,
		    r->rtt, waits[wait].name,
		    w->cand.third ? " (the run goes on)" : "");
	w->told[wait] = true;
	if (!w->cand.third)
		r->failed = true;
}

static double
since(double t)
{
	return (bench_now() - t) * 1e3;
}

static bool
timed_open(const struct run *r, const struct waiter *w, struct host *h,
    double v[WAITS])
{
	char line[256];
	int n = rpc_list(line, sizeof line, 1);
	double t = bench_now();

	if (cand_spawn(&w->cand, h, r->url, r->err) != 0 ||
	    host_started(h) != 0)
		return false;
	v[START] = since(t);
	h->next_id = 1;
	if (host_send(h, rpc_started(), strlen(rpc_started())) != 0 ||
	    host_send(h, line, (size_t)n) != 0 || host_await(h, 1) == NULL)
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

/* They are made as long as they succeed. Who once failed to recover is not
 * waited for again. */
static void
timed_calls(const struct waiter *w, struct host *h, double v[WAITS])
{
	double t;
	int at;

	if (host_call(h) != 0 || !timed_call(h, &v[WARM]))
		return;
	for (at = AT_ONCE; at <= AT_ONCE_AGAIN; at++) {
		t = bench_now();
		if (host_calls(h, "echo", 0, WAITS_AT_ONCE, WAITS_AT_ONCE) != 0)
			return;
		v[at] = since(t);
	}
	if (!w->told[LOST] && host_call_tool(h, "forget") == 0)
		timed_call(h, &v[LOST]);
}

/* Sleeps until no packet is on the long line any more. */
static void
calm_down(const struct run *r)
{
	bench_sleep(500 + (int)(4 * r->rtt));
}

/* The session is lost by the first call of a process, so that no burst of
 * calls has left idle connections. */
static void
lost_alone(const struct run *r, const struct waiter *w, double *v)
{
	struct host h;

	if (cand_open(&w->cand, &h, r->url, r->err) == 0) {
		calm_down(r);
		if (host_call_tool(&h, "forget") == 0)
			timed_call(&h, v);
	}
	host_end(&h, WAITS_END_MS);
}

/* The waits of one short session; those that failed stay as they are. */
static void
one_session(const struct run *r, const struct waiter *w, double v[WAITS])
{
	struct host h;
	bool opened = timed_open(r, w, &h, v);

	calm_down(r);
	if (opened)
		timed_calls(w, &h, v);
	calm_down(r);
	v[END] = host_end(&h, WAITS_END_MS) * 1e3;
	if (!w->told[LOST_ALONE])
		lost_alone(r, w, &v[LOST_ALONE]);
}

/* The figures of the first session are not used: it warms the server up. */
static void
measure_sessions(struct run *r)
{
	double v[WAITS];
	struct waiter *w;
	int round, i;

	one_session(r, r->waiter, v);
	for (round = 0; round < r->rounds; round++)
		for (w = r->waiter; w < r->waiter + r->waiters; w++) {
			for (i = 0; i < WAITS; i++)
				v[i] = NAN;
			one_session(r, w, v);
			for (i = 0; i < WAITS; i++) {
				w->v[i][round] = v[i];
				if (waits[i].silence == 0 && isnan(v[i]))
					failed(r, w, (enum wait)i);
			}
		}
}

static void
fall_asleep(struct run *r, struct sleeper *s)
{
	if (cand_open(&s->waiter->cand, &s->host,
		waits[s->wait].closes ? r->closing_url : r->url, r->err) == 0) {
		s->due = bench_now() + waits[s->wait].silence;
		return;
	}
	failed(r, s->waiter, s->wait);
	host_end(&s->host, WAITS_END_MS);
}

static void
wake_up(struct run *r, struct sleeper *s)
{
	double t = s->due - bench_now();

	if (t > 0)
		bench_sleep((int)(t * 1e3));
	if (!timed_call(&s->host, &s->waiter->v[s->wait][s->round]))
		failed(r, s->waiter, s->wait);
	host_end(&s->host, WAITS_END_MS);
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
	struct waiter *w;
	size_t n = 0;
	int i, round;

	for (i = WAITS - 1; i >= 0; i--) /* the longest silence first */
		for (round = 0; round < r->rounds; round++)
			for (w = r->waiter; w < r->waiter + r->waiters; w++) {
				if (waits[i].silence == 0 ||
				    waits[i].silence > r->longest)
					continue;
				s[n].waiter = w;
				s[n].wait = (enum wait)i;
				s[n++].round = round;
			}
	return n;
}

/* A process whose silence is over goes first; none is opened shortly before. */
static void
measure_silences(struct run *r)
{
	static struct sleeper all[WAITS * WAITS_ROUNDS * CAND_MAX];
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
print(struct run *r)
{
	char name[80];
	size_t k;
	int i;

	for (i = 0; i < WAITS; i++) {
		if (waits[i].silence > r->longest)
			continue;
		snprintf(name, sizeof name, "%g ms away: %s", r->rtt,
		    waits[i].name);
		for (k = 0; k < r->waiters; k++)
			figures_print(name, "ms", r->waiter[k].cand.name,
			    figures_median(r->waiter[k].v[i],
				(size_t)r->rounds));
	}
}

/* No sample is there yet. */
static void
read_candidates(struct run *r, char **arg, int n)
{
	static struct cand all[CAND_MAX];
	size_t k;
	int i, round;

	r->waiters = cand_read(all, arg, n);
	for (k = 0; k < r->waiters; k++) {
		r->waiter[k].cand = all[k];
		for (i = 0; i < WAITS; i++)
			for (round = 0; round < WAITS_ROUNDS; round++)
				r->waiter[k].v[i][round] = NAN;
	}
}

static void
options(struct run *r, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "+u:c:e:t:r:l:")) != -1) {
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

	options(&r, argc, argv);
	read_candidates(&r, argv + optind, argc - optind);
	if (r.waiters == 0 || r.url == NULL || r.closing_url == NULL ||
	    r.rtt <= 0 || r.rounds < 1 || r.rounds > WAITS_ROUNDS) {
		fprintf(stderr,
		    "usage: waits -u URL -c CLOSING-URL [-t ROUND-TRIP-MS]\n"
		    "             [-r ROUNDS] [-l LONGEST-SILENCE] [-e FILE] "
		    "CANDIDATE...\n"
		    "cand.h says what a candidate is.\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	measure_sessions(&r);
	measure_silences(&r);
	print(&r);
	return r.failed ? 1 : 0;
}
