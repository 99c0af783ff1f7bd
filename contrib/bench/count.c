/*
 * What no clock and no other program changes: instructions, by valgrind, which
 * does not count what the kernel does, and system calls, by strace, which looks
 * at a candidate whose connections are open.
 */
#include <sys/wait.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drive.h"

#define COUNT_FEW 100    /* calls of the first run in valgrind */
#define COUNT_CALLS 1000 /* the second has so many more; or those in strace */
#define COUNT_END_MS 60000
#define COUNT_ATTACH_MS 5000

static bool
is_there(const char *tool)
{
	char command[80];
	bool there;

	snprintf(command, sizeof command, "command -v %s >/dev/null", tool);
	there = system(command) == 0;
	if (!there)
		fprintf(stderr, "%s is not here: nothing is counted by it\n",
		    tool);
	return there;
}

/* The total of strace's table, or of callgrind's file. */
static double
read_total(const char *file)
{
	char line[512], calls[32];
	double total = NAN;
	FILE *f = fopen(file, "re");

	if (f == NULL)
		return NAN;
	while (fgets(line, sizeof line, f) != NULL) {
		if (strncmp(line, "summary: ", 9) == 0 ||
		    (strncmp(line, "totals: ", 8) == 0 && isnan(total)))
			total = strtod(strchr(line, ' '), NULL);
		if (strstr(line, " total\n") != NULL &&
		    sscanf(line, "%*s %*s %*s %31s", calls) == 1)
			total = strtod(calls, NULL);
	}
	fclose(f);
	return total;
}

static double
count_instructions(struct drive *d, const struct cand *c, int calls)
{
	char file[256], option[300], *words[HOST_ARGS];
	struct cand with = *c;
	struct host h;
	int r;

	if (c->n > HOST_ARGS - 6)
		return NAN;
	snprintf(file, sizeof file, "%s/counted", d->scratch);
	snprintf(option, sizeof option, "--callgrind-out-file=%s", file);
	words[0] = "valgrind";
	words[1] = "-q";
	words[2] = "--tool=callgrind";
	words[3] = option;
	memcpy(words + 4, c->words, (size_t)c->n * sizeof *words);
	with.words = words;
	with.n = c->n + 4;
	unlink(file);
	r = cand_open(&with, &h, d->url[FORM_JSON], d->err);
	if (r == 0)
		r = host_calls(&h, "echo", 0, calls, 1);
	host_end(&h, COUNT_END_MS);
	return r == 0 ? read_total(file) : NAN;
}

static void
instructions(struct drive *d, const struct cand *c, const struct task *task,
    double *v)
{
	double few = count_instructions(d, c, COUNT_FEW);

	v[1] = (count_instructions(d, c, COUNT_FEW + COUNT_CALLS) - few) /
	    COUNT_CALLS;
	v[0] = few - (COUNT_FEW + 1) * v[1];
	if (isnan(v[0]))
		drive_fail(d, c, task->figure[0].name, NULL, false);
}

/* Does a tracer look at the process? */
static bool
is_traced(pid_t pid)
{
	char path[64], line[256];
	long tracer = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	while (fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "TracerPid:", 10) == 0)
			tracer = strtol(line + 10, NULL, 10);
	fclose(f);
	return tracer != 0;
}

/* Attaches strace to all threads of a process; its pid, or -1. */
static pid_t
attach(const struct drive *d, const char *file, pid_t pid)
{
	char number[32];
	int ms, fd;
	pid_t tracer;

	snprintf(number, sizeof number, "%ld", (long)pid);
	tracer = fork();
	if (tracer == 0) {
		fd = open(d->err, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, STDERR_FILENO);
		execlp("strace", "strace", "-f", "-c", "-o", file, "-p", number,
		    (char *)NULL);
		_exit(127);
	}
	for (ms = 0; tracer > 0 && ms < COUNT_ATTACH_MS; ms += 50) {
		bench_sleep(50); /* the other threads come right after */
		if (is_traced(pid)) {
			bench_sleep(50);
			return tracer;
		}
	}
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	return -1;
}

static double
count_system_calls(struct drive *d, struct host *h, int in_flight)
{
	char file[256];
	pid_t tracer;
	int r;

	snprintf(file, sizeof file, "%s/counted", d->scratch);
	unlink(file);
	if (host_calls(h, "echo", 0, 2 * in_flight, in_flight) != 0)
		return NAN;
	tracer = attach(d, file, h->child.pid);
	if (tracer < 0) {
		fprintf(stderr, "strace cannot attach: may you trace here?\n");
		return NAN;
	}
	r = host_calls(h, "echo", 0, COUNT_CALLS, in_flight);
	kill(tracer, SIGINT);
	waitpid(tracer, NULL, 0);
	return r == 0 ? read_total(file) / COUNT_CALLS : NAN;
}

static void
system_calls(struct drive *d, const struct cand *c, const struct task *task,
    double *v)
{
	static const int in_flight[] = { 1, 8, 64, 512 };
	struct host h;
	size_t i;

	if (cand_open(c, &h, d->url[FORM_JSON], d->err) != 0)
		drive_fail(d, c, "the first call", h.why, false);
	else
		for (i = 0; i < sizeof in_flight / sizeof *in_flight; i++) {
			v[i] = count_system_calls(d, &h, in_flight[i]);
			if (isnan(v[i]))
				drive_fail(d, c, task->figure[i].name, h.why,
				    false);
		}
	host_end(&h, DRIVE_END_MS);
}

static bool
fits_strace(const struct cand *c)
{
	return c->n > 0;
}

/* A program that compiles itself while it runs cannot be measured this way. */
static bool
fits_valgrind(const struct cand *c)
{
	return fits_pipes(c) && !c->third;
}

void
measure_instructions(struct drive *d)
{
	struct task task = {
		.figure = { { "instructions of a start", "" },
		    { "instructions per call", "" } },
		.fits = fits_valgrind,
		.run = instructions,
	};

	if (is_there("valgrind"))
		drive_turns(d, &task, 1);
}

void
measure_system_calls(struct drive *d)
{
	struct task task = {
		.figure = {
		    { "system calls per call, 1 in flight", "" },
		    { "system calls per call, 8 in flight", "" },
		    { "system calls per call, 64 in flight", "" },
		    { "system calls per call, 512 in flight", "" },
		},
		.fits = fits_strace,
		.run = system_calls,
	};

	if (is_there("strace"))
		drive_turns(d, &task, 1);
}
