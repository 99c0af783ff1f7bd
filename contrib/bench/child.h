/*
 * A candidate under measurement: a spawned stdio server, what it costs, and
 * the lines to and from it.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lines.h"

struct child {
	pid_t pid;
	clockid_t clock; /* CPU time of all its threads */
	int in;          /* its stdin */
	int out;         /* its stdout */
	struct lines lines;
	bool ended; /* its output */
};

/* In MiB; NaN where the system does not tell. */
struct child_memory {
	double rss;
	double pss;
	double peak;
};

/* Spawns argv with stderr to the file named; 0, or -1 with errno. */
int child_spawn(struct child *c, char *const argv[], const char *err);

/* Writes n bytes, and reads what it says meanwhile, so that neither waits for
 * the other. -1 when it does not read any more. */
int child_send(struct child *c, const char *p, size_t n);

/* The next line without its LF; good until the next call or child_send. NULL at
 * the end of its output or after ms milliseconds without one. With ms 0 only
 * what was read already is looked at. */
char *child_line(struct child *c, int ms);

/* Seconds of CPU time so far. */
double child_cpu(const struct child *c);

struct child_memory child_memory(const struct child *c);

/* Closes its stdin, waits up to ms, then ends it by signals. Seconds until it
 * ended; NaN if that took a signal. */
double child_end(struct child *c, int ms);

/* Seconds on the monotonic clock. */
double bench_now(void);

/* Sleeps. */
void bench_sleep(int ms);

#endif
