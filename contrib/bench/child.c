/*
 * Spawning and observing one candidate. The figures come from the kernel's
 * accounts of the process itself: its CPU clock (all threads, nanoseconds)
 * and /proc (Linux; elsewhere the memory figures are absent).
 */
#include "child.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHILD_READ 65536 /* what a pipe holds */
#define CHILD_WAIT_MS 60000

extern char **environ;

double
bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void
bench_sleep(int ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		;
}

static int
spawn_with(struct child *c, char *const argv[], const char *err, int in,
    int out)
{
	posix_spawn_file_actions_t fa;
	int r;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&fa, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&fa, STDERR_FILENO, err,
	    O_WRONLY | O_CREAT | O_APPEND, 0600);
	r = posix_spawnp(&c->pid, argv[0], &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (r == 0)
		r = clock_getcpuclockid(c->pid, &c->clock);
	errno = r;
	return r == 0 ? 0 : -1;
}

int
child_spawn(struct child *c, char *const argv[], const char *err)
{
	int in[2], out[2], r;

	memset(c, 0, sizeof *c);
	if (pipe2(in, O_CLOEXEC) != 0)
		return -1;
	if (pipe2(out, O_CLOEXEC) != 0)
		return -1;
	c->in = in[1];
	c->out = out[0];
	r = spawn_with(c, argv, err, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	fcntl(c->in, F_SETFL, O_NONBLOCK);
	return r;
}

/* Reads once; false at the end. */
static bool
child_read(struct child *c)
{
	ssize_t n = read(c->out, lines_room(&c->lines, CHILD_READ), CHILD_READ);

	if (n <= 0) {
		c->ended = true;
		return false;
	}
	c->lines.end += (size_t)n;
	return true;
}

int
child_send(struct child *c, const char *p, size_t n)
{
	struct pollfd pfd[2] = {
		{ .fd = c->in, .events = POLLOUT },
		{ .fd = c->out, .events = POLLIN },
	};
	ssize_t r;

	while (n > 0) {
		r = write(c->in, p, n);
		if (r >= 0) {
			p += r;
			n -= (size_t)r;
			continue;
		}
		if (errno != EAGAIN || poll(pfd, 2, CHILD_WAIT_MS) <= 0)
			return -1;
		if (pfd[1].revents != 0 && !child_read(c))
			return -1;
	}
	return 0;
}

char *
child_line(struct child *c, int ms)
{
	struct pollfd pfd = { .fd = c->out, .events = POLLIN };
	char *line;

	while ((line = lines_next(&c->lines, NULL)) == NULL)
		if (ms == 0 || poll(&pfd, 1, ms) <= 0 || !child_read(c))
			return NULL;
	return line;
}

double
child_cpu(const struct child *c)
{
	struct timespec ts;

	if (clock_gettime(c->clock, &ts) != 0)
		return NAN;
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The value of "Key:   n kB" in a file of /proc, in MiB. */
static double
proc_mib(pid_t pid, const char *file, const char *key)
{
	char path[64], line[256];
	double kib = NAN;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, file);
	f = fopen(path, "re");
	if (f == NULL)
		return NAN;
	while (fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			kib = strtod(line + strlen(key), NULL);
	fclose(f);
	return kib / 1024;
}

struct child_memory
child_memory(const struct child *c)
{
	struct child_memory m;

	m.rss = proc_mib(c->pid, "status", "VmRSS:");
	m.peak = proc_mib(c->pid, "status", "VmHWM:");
	m.pss = proc_mib(c->pid, "smaps_rollup", "Pss:");
	return m;
}

/* The end of its stdout shows when the child ended, to the microsecond. */
static bool
child_wait(const struct child *c, int ms)
{
	struct pollfd pfd = { .fd = c->out };
	double until = bench_now() + ms / 1e3;
	pid_t r;

	do {
		r = waitpid(c->pid, NULL, WNOHANG);
		if (r == c->pid || (r < 0 && errno == ECHILD))
			return true;
		poll(&pfd, 1, 1);
	} while (bench_now() < until);
	return false;
}

double
child_end(struct child *c, int ms)
{
	double t = bench_now();

	close(c->in);
	if (child_wait(c, ms)) {
		t = bench_now() - t;
	} else {
		t = NAN;
		kill(c->pid, SIGTERM);
		if (!child_wait(c, 2000)) {
			kill(c->pid, SIGKILL);
			child_wait(c, 2000);
		}
	}
	close(c->out);
	lines_free(&c->lines);
	memset(c, 0, sizeof *c);
	return t;
}
