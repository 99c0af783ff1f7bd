/*
 * The loop: order of deferred work, timers, signals, descriptors, the clock,
 * the watch on the parent and the sleep of the machine, for which the clocks
 * are made to lie. CK_FORK=no runs all in one process.
 */
#include "config.h"

#include "io/loop.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "os/random.h"
#include "unit/unit.h"

static struct loop *l;
static char trace[64]; /* what ran, a letter each */
static char letters[] = "abcdefghijklmnopqrstuvwxyz";
#define LETTER(c) (&letters[(c) - 'a'])
static struct loop_timer *first, *second, *watchdog;
static int64_t seen_now;

/* What the clocks show wrongly, ms: all of them, and those that go on while
 * the machine sleeps. */
static int64_t ahead, slept, held_up;
static int looks; /* at one that goes on */

static bool
goes_on(clockid_t id)
{
#if defined(CLOCK_UPTIME_RAW)
	return id != CLOCK_UPTIME_RAW;
#elif defined(CLOCK_BOOTTIME) && !defined(CLOCK_UPTIME)
	return id == CLOCK_BOOTTIME;
#else
	return id == CLOCK_REALTIME;
#endif
}

/* The system's, which a static program has no second function for. */
static int
real_clock(clockid_t id, struct timespec *ts)
{
	static int (*real)(clockid_t, struct timespec *);

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
#ifdef SYS_clock_gettime
	if (real == NULL)
		return (int)syscall(SYS_clock_gettime, id, ts);
#endif
	return real(id, ts);
}

/* The loop's and libevent's, instead of the system's. With held_up we were
 * not let run for so long right before a clock that goes on was read. */
int
clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t off;

	if (goes_on(id)) {
		looks++;
		ahead += held_up;
		held_up = 0;
	}
	if (real_clock(id, ts) == -1)
		return -1;
	off = ahead + (goes_on(id) ? slept : 0);
	ts->tv_sec += (time_t)(off / 1000);
	ts->tv_nsec += (long)(off % 1000) * 1000000;
	if (ts->tv_nsec >= 1000000000) {
		ts->tv_sec++;
		ts->tv_nsec -= 1000000000;
	}
	return 0;
}

static void
mark(char c)
{
	size_t n = strlen(trace);

	ck_assert(n + 1 < sizeof trace);
	trace[n] = c;
	trace[n + 1] = '\0';
}

static void
on_mark(void *arg)
{
	mark(*(const char *)arg);
}

static void
on_stop(void *arg)
{
	(void)arg;
	loop_stop(l, 7);
}

static void
on_watchdog(void *arg)
{
	(void)arg;
	loop_stop(l, 99);
}

static void
setup(void)
{
	l = loop_new();
	ck_assert_ptr_nonnull(l);
	trace[0] = '\0';
	watchdog = loop_timer_new(l, on_watchdog, NULL);
	loop_timer_set(watchdog, 10000);
	first = second = NULL;
}

static void
teardown(void)
{
	loop_timer_free(first);
	loop_timer_free(second);
	loop_timer_free(watchdog);
	loop_free(l);
}

static void
sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) == -1 && errno == EINTR)
		;
}

static void
on_put_off_three(void *arg)
{
	(void)arg;
	mark('T');
	loop_defer(l, on_mark, LETTER('a'));
	loop_defer(l, on_mark, LETTER('b'));
	/* Ends the run in the next turn, however late this one is. */
	loop_timer_set(second, 0);
	mark('t');
}

static void
on_put_off_more(void *arg)
{
	(void)arg;
	mark('d');
	loop_defer(l, on_mark, LETTER('f'));
}

START_TEST(defer_runs_in_order_before_the_next_wait)
{
	loop_defer(l, on_mark, LETTER('c'));
	loop_defer(l, on_put_off_more, NULL);
	loop_defer(l, on_mark, LETTER('e'));
	first = loop_timer_new(l, on_put_off_three, NULL);
	loop_timer_set(first, 0);
	second = loop_timer_new(l, on_stop, NULL);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "cdefTtab");
}
END_TEST

static void
on_forever(void *arg)
{
	long *rounds = arg;

	(*rounds)++;
	loop_defer(l, on_forever, arg);
}

/* Deferred work that defers itself again must not delay timers. */
START_TEST(defer_does_not_starve)
{
	long rounds = 0;

	loop_defer(l, on_forever, &rounds);
	first = loop_timer_new(l, on_stop, NULL);
	loop_timer_set(first, 10);
	ck_assert_int_eq(loop_run(l), 7);
	/* The deferred work does not wait for the timers either. */
	ck_assert_int_gt(rounds, 300);
}
END_TEST

static int counted;

static void
on_count(void *arg)
{
	int *slot = arg;

	ck_assert_int_eq(*slot, counted);
	counted++;
}

/* The ring grows while it is wrapped. */
START_TEST(defer_many)
{
	static int slots[5000];
	int i, round;

	for (round = 0; round < 3; round++) {
		counted = 0;
		for (i = 0; i < 1000 + round * 2000; i++) {
			slots[i] = i;
			loop_defer(l, on_count, &slots[i]);
		}
		loop_defer(l, on_stop, NULL);
		ck_assert_int_eq(loop_run(l), 7);
		ck_assert_int_eq(counted, i);
		loop_defer(l, on_mark, LETTER('x'));
		loop_undefer(l, on_mark, LETTER('x'));
	}
}
END_TEST

static void
on_take_back(void *arg)
{
	loop_undefer(l, on_mark, arg);
}

START_TEST(undefer)
{
	loop_undefer(l, on_mark, LETTER('a'));
	loop_defer(l, on_mark, LETTER('a'));
	loop_defer(l, on_mark, LETTER('b'));
	loop_defer(l, on_mark, LETTER('a'));
	loop_defer(l, on_take_back, LETTER('c'));
	loop_defer(l, on_mark, LETTER('c'));
	loop_undefer(l, on_mark, LETTER('a'));
	loop_undefer(l, on_stop, LETTER('b'));
	loop_defer(l, on_stop, NULL);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "b");
}
END_TEST

static void
on_see_now(void *arg)
{
	(void)arg;
	mark('n');
	seen_now = loop_now(l);
	loop_stop(l, 7);
}

START_TEST(timer_later_replaces)
{
	int64_t start = loop_now(l);

	first = loop_timer_new(l, on_see_now, NULL);
	loop_timer_set(first, 5);
	loop_timer_set(first, 60);
	loop_timer_set(first, 60);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_int_ge(seen_now - start, 60);
	ck_assert_int_lt(seen_now - start, 5000);
	second = loop_timer_new(l, on_stop, NULL);
	loop_timer_set(second, 80);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "n");
}
END_TEST

START_TEST(timer_sooner_replaces)
{
	int64_t start = loop_now(l);

	first = loop_timer_new(l, on_see_now, NULL);
	loop_timer_set(first, 60000);
	loop_timer_set(first, 10);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_int_ge(seen_now - start, 10);
	ck_assert_int_lt(seen_now - start, 9000);
}
END_TEST

START_TEST(timer_stop_and_far_away)
{
	first = loop_timer_new(l, on_mark, LETTER('x'));
	loop_timer_set(first, -1);
	loop_timer_set(first, 10);
	loop_timer_set(first, -5);
	second = loop_timer_new(l, on_stop, NULL);
	loop_timer_set(second, 50);
	ck_assert_int_eq(loop_run(l), 7);
	loop_timer_set(first, INT64_MAX);
	loop_timer_set(second, 50);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "");
	/* Stopped, it can be started again, for the deadline it had too. */
	loop_timer_set(first, 5);
	loop_timer_set(second, 50);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "x");
}
END_TEST

static void
on_stop_and_set(void *arg)
{
	(void)arg;
	loop_timer_set(first, 5);
	loop_timer_set(first, -1);
	loop_timer_set(first, 5);
}

/* The clock stands still in between: the deadline is the same. */
START_TEST(timer_stopped_and_set_in_one_turn)
{
	first = loop_timer_new(l, on_mark, LETTER('x'));
	second = loop_timer_new(l, on_stop_and_set, NULL);
	loop_timer_set(second, 0);
	loop_defer(l, on_stop_and_set, NULL);
	loop_timer_set(watchdog, 60);
	ck_assert_int_eq(loop_run(l), 99);
	ck_assert_str_eq(trace, "x");
}
END_TEST

static int turns_left;

static void
on_again(void *arg)
{
	(void)arg;
	mark('z');
	loop_defer(l, on_mark, LETTER('d'));
	if (turns_left-- > 0)
		loop_timer_set(first, 0);
	else
		loop_stop(l, 7);
}

/* A timer of 0 that is set in its own callback comes in the next turn: the
 * deferred work of this one is before it. */
START_TEST(timer_zero_is_the_next_turn)
{
	turns_left = 3;
	first = loop_timer_new(l, on_again, NULL);
	loop_timer_set(first, 0);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "zdzdzdz");
}
END_TEST

static void
on_free_both(void *arg)
{
	(void)arg;
	mark('f');
	loop_timer_free(first);
	loop_timer_free(second);
	first = second = NULL;
	loop_defer(l, on_stop, NULL);
}

START_TEST(timer_freed_in_a_callback)
{
	first = loop_timer_new(l, on_free_both, NULL);
	second = loop_timer_new(l, on_free_both, NULL);
	loop_timer_set(first, 0);
	loop_timer_set(second, 0);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "f");
	loop_timer_free(NULL);
}
END_TEST

static int64_t due;
static int fired;

static void
on_not_early(void *arg)
{
	(void)arg;
	ck_assert_int_ge(loop_now(l), due);
	if (++fired == 40) {
		loop_stop(l, 7);
		return;
	}
	due = loop_now(l) + fired % 5 + 1;
	loop_timer_set(first, fired % 5 + 1);
}

START_TEST(timer_is_never_early)
{
	due = 0;
	fired = 0;
	first = loop_timer_new(l, on_not_early, NULL);
	loop_timer_set(first, 1);
	ck_assert_int_eq(loop_run(l), 7);
}
END_TEST

static void
on_check_cache(void *arg)
{
	int64_t before = loop_now(l);

	(void)arg;
	sleep_ms(30);
	ck_assert_int_eq(loop_now(l), before);
	seen_now = before;
	mark('c');
}

static void
on_check_later(void *arg)
{
	(void)arg;
	ck_assert_int_ge(loop_now(l) - seen_now, 30);
	loop_stop(l, 7);
}

START_TEST(now_stands_still_within_a_turn)
{
	int64_t outside = loop_now(l);

	sleep_ms(10);
	ck_assert_int_ge(loop_now(l) - outside, 10);
	first = loop_timer_new(l, on_check_cache, NULL);
	second = loop_timer_new(l, on_check_later, NULL);
	loop_timer_set(first, 0);
	loop_timer_set(second, 15);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "c");
	ck_assert_int_ge(loop_now(l), seen_now + 30);
}
END_TEST

START_TEST(now_is_monotonic_ms)
{
	int64_t before = loop_now(l), now;
	struct timespec ts;
	int i;

	for (i = 0; i < 100000; i++) {
		now = loop_now(l);
		ck_assert_int_ge(now, before);
		before = now;
	}
	clock_gettime(CLOCK_MONOTONIC, &ts);
	before = (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
	ck_assert_int_ge(before, now);
	ck_assert_int_lt(before - now, 5000);
}
END_TEST

static void
on_signal(int signo, void *arg)
{
	ck_assert_ptr_eq(arg, LETTER('a'));
	if (signo == SIGUSR1) {
		mark('1');
		raise(SIGUSR2);
	} else {
		mark('2');
		loop_stop(l, 7);
	}
}

START_TEST(signals)
{
	ck_assert_int_eq(loop_signal(l, SIGUSR1, on_signal, LETTER('a')), 0);
	ck_assert_int_eq(loop_signal(l, SIGUSR2, on_signal, LETTER('a')), 0);
	ck_assert_int_eq(loop_signal(l, SIGKILL, on_signal, LETTER('a')), -1);
	raise(SIGUSR1);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "12");
}
END_TEST

START_TEST(sigpipe_is_ignored)
{
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	close(fd[0]);
	ck_assert_int_eq(write(fd[1], "x", 1), -1);
	ck_assert_int_eq(errno, EPIPE);
	close(fd[1]);
}
END_TEST

static struct loop_fd *watch;

static void
on_readable(int fd, int what, void *arg)
{
	char c;

	ck_assert_int_eq(what, LOOP_READ);
	ck_assert_ptr_eq(arg, LETTER('b'));
	ck_assert_int_eq(read(fd, &c, 1), 1);
	mark(c);
	if (c != 'z')
		return;
	loop_fd_free(watch);
	watch = NULL;
	loop_defer(l, on_stop, NULL);
}

/* Level-triggered: one byte is taken each time, all come. What is there after
 * the watch is gone stays. */
START_TEST(fd_read)
{
	int fd[2];
	char c;

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(write(fd[1], "xyz!", 4), 4);
	watch = loop_fd_new(l, fd[0], LOOP_READ, on_readable, LETTER('b'));
	ck_assert_ptr_nonnull(watch);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "xyz");
	ck_assert_int_eq(read(fd[0], &c, 1), 1);
	ck_assert_int_eq(c, '!');
	close(fd[0]);
	close(fd[1]);
}
END_TEST

static void
on_writable(int fd, int what, void *arg)
{
	(void)fd;
	(void)arg;
	ck_assert_int_eq(what, LOOP_WRITE);
	loop_stop(l, 7);
}

START_TEST(fd_write)
{
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	watch = loop_fd_new(l, fd[1], LOOP_WRITE, on_writable, NULL);
	ck_assert_ptr_nonnull(watch);
	ck_assert_int_eq(loop_run(l), 7);
	loop_fd_free(watch);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

/* The descriptor -1 is refused; libevent would make it a timer. */
START_TEST(fd_refused)
{
	ck_assert_ptr_null(loop_fd_new(l, -1, LOOP_READ, on_readable, NULL));
	loop_fd_free(NULL);
}
END_TEST

static char logged[256];

static void
on_log(enum log_level level, const char *line, void *arg)
{
	(void)arg;
	if (level == LEVEL_ERROR)
		snprintf(logged, sizeof logged, "%s", line);
}

START_TEST(stop)
{
	loop_stop(l, 3);
	loop_defer(l, on_mark, LETTER('x'));
	ck_assert_int_eq(loop_run(l), 3);
	ck_assert_str_eq(trace, "");
	loop_defer(l, on_stop, NULL);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "x");
	/* With no event left, the loop ends instead of spinning. */
	loop_timer_set(watchdog, -1);
	log_sink(on_log, NULL);
	ck_assert_int_eq(loop_run(l), 1);
	log_sink(NULL, NULL);
	ck_assert_ptr_nonnull(strstr(logged, "nothing to wait for"));
	loop_free(NULL);
}
END_TEST

START_TEST(random_bytes)
{
	unsigned char a[600], b[600];
	size_t i, same = 0, zero = 0;

	memset(a, 0, sizeof a);
	ck_assert_int_eq(os_random(a, sizeof a), 0);
	ck_assert_int_eq(os_random(b, sizeof b), 0);
	for (i = 0; i < sizeof a; i++) {
		same += a[i] == b[i];
		zero += a[i] == 0;
	}
	/* 2.3 expected of each; the last part alone has 88 bytes. */
	ck_assert_uint_lt(same, 30);
	ck_assert_uint_lt(zero, 30);
	memset(a, 0, sizeof a);
	ck_assert_int_eq(os_random(a + 1, 0), 0);
	ck_assert_int_eq(a[1], 0);
}
END_TEST

static void
on_parent_gone(void *arg)
{
	const int *fd = arg;

	if (write(*fd, "g", 1) != 1)
		_exit(1);
	/* The callback comes once; nothing follows. */
	loop_timer_set(first, 50);
}

/* The process whose parent is about to die. */
static _Noreturn void
orphan_main(int report, int ready)
{
	l = loop_new();
	first = loop_timer_new(l, on_stop, NULL);
	if (loop_watch_parent(l, on_parent_gone, &report) == -1 ||
	    loop_watch_parent(l, on_parent_gone, &report) != -1)
		_exit(1);
	if (write(report, "w", 1) != 1 || write(ready, "r", 1) != 1)
		_exit(1);
	if (loop_run(l) != 7)
		_exit(1);
	if (getppid() == 1 &&
	    loop_watch_parent(l, on_parent_gone, &report) != -1)
		_exit(1);
	_exit(write(report, "e", 1) == 1 ? 0 : 1);
}

static bool
can_watch(void)
{
#if defined(SYS_pidfd_open)
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd != -1)
		close(fd);
	return fd != -1;
#elif defined(HAVE_KQUEUE)
	return true;
#else
	return false;
#endif
}

START_TEST(parent_watch)
{
	char got[8] = "";
	int report[2], ready[2], status;
	ssize_t n;
	size_t have = 0;
	pid_t pid;

	if (!can_watch()) {
		n = loop_watch_parent(l, on_parent_gone, NULL);
		ck_assert_int_eq(n, -1);
		return;
	}
	ck_assert_int_eq(pipe(report), 0);
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (fork() == 0) {
			close(ready[0]);
			orphan_main(report[1], ready[1]);
		}
		close(ready[1]);
		/* The stale session watches us by then; it must not be told
		 * yet. */
		if (read(ready[0], got, 1) != 1)
			_exit(1);
		sleep_ms(50);
		_exit(write(report[1], "x", 1) == 1 ? 0 : 1);
	}
	close(report[1]);
	close(ready[0]);
	close(ready[1]);
	do {
		n = read(report[0], got + have, sizeof got - 1 - have);
		have += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	close(report[0]);
	got[have] = '\0';
	ck_assert_str_eq(got, "wxge");
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* More than is needed anywhere for a sleep, and less. */
enum { NIGHT_MS = 8 * 3600 * 1000, NAP_MS = 1900 };

static int64_t told;
static void (*at_sleep)(void);

static void
on_sleep(int64_t slept_ms, void *arg)
{
	mark(*(const char *)arg);
	told = slept_ms;
	if (at_sleep != NULL)
		at_sleep();
}

/* Watches; the tests are about what comes with the sleep. */
static void
watch_sleep(void)
{
	ahead = slept = held_up = 0;
	told = -1;
	at_sleep = NULL;
	loop_watch_sleep(l, on_sleep, LETTER('s'));
}

/* Ends the run in a later turn than this one, however late this one is. */
static void
stop_later(int64_t ms)
{
	loop_timer_set(second, ms);
}

static void
on_mark_and_stop_later(void *arg)
{
	on_mark(arg);
	stop_later(40);
}

static void
on_night(void *arg)
{
	(void)arg;
	mark('n');
	slept += NIGHT_MS;
	stop_later(15);
}

/* The sleep is in the wait that ends with what wakes us. Only the first turn
 * after it tells. */
START_TEST(sleep_comes_before_the_timer)
{
	watch_sleep();
	slept = NIGHT_MS;
	loop_defer(l, on_mark, LETTER('d'));
	first = loop_timer_new(l, on_mark_and_stop_later, LETTER('t'));
	loop_timer_set(first, 10);
	second = loop_timer_new(l, on_stop, NULL);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "dst");
	ck_assert_int_le(llabs(told - NIGHT_MS), 5);
}
END_TEST

static int pipes[2][2];

static void
on_byte(int fd, int what, void *arg)
{
	char c;

	ck_assert_int_eq(what, LOOP_READ);
	ck_assert_int_eq(read(fd, &c, 1), 1);
	mark(c);
	loop_defer(l, on_mark, arg);
}

/* All that was ready is served after it, once each, in whichever order. */
START_TEST(sleep_comes_before_what_was_ready)
{
	struct loop_fd *watches[2];
	int i;

	watch_sleep();
	slept = NIGHT_MS;
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(pipe(pipes[i]), 0);
		ck_assert_int_eq(write(pipes[i][1], i == 0 ? "x" : "y", 1), 1);
		watches[i] = loop_fd_new(l, pipes[i][0], LOOP_READ, on_byte,
		    LETTER('d'));
	}
	first = loop_timer_new(l, on_mark_and_stop_later, LETTER('t'));
	loop_timer_set(first, 0);
	second = loop_timer_new(l, on_stop, NULL);
	sleep_ms(5);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_uint_eq(strlen(trace), 6);
	ck_assert_int_eq(trace[0], 's');
	ck_assert_ptr_nonnull(strchr(trace, 'x'));
	ck_assert_ptr_nonnull(strchr(trace, 'y'));
	ck_assert_ptr_nonnull(strchr(trace, 't'));
	for (i = 0; i < 2; i++) {
		loop_fd_free(watches[i]);
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}
END_TEST

static void
on_woken_by(int signo, void *arg)
{
	(void)signo;
	mark('1');
	loop_defer(l, on_mark, arg);
	loop_defer(l, on_stop, NULL);
}

/* A signal's callback may run first: what it put off does not. */
START_TEST(sleep_comes_before_deferred_work)
{
	watch_sleep();
	slept = NIGHT_MS;
	ck_assert_int_eq(loop_signal(l, SIGUSR1, on_woken_by, LETTER('d')), 0);
	raise(SIGUSR1);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "1sd");
}
END_TEST

static void
free_what_woke_us(void)
{
	loop_timer_free(first);
	first = NULL;
	loop_fd_free(watch);
	watch = NULL;
	stop_later(60);
}

static void
on_readable_and_stop_later(int fd, int what, void *arg)
{
	on_readable(fd, what, arg);
	stop_later(60);
}

static void
stop_the_timer(void)
{
	loop_timer_set(first, -1);
}

static void
set_the_timer(void)
{
	loop_timer_set(first, 30);
}

static void
stop_the_loop(void)
{
	loop_stop(l, 8);
}

/* The callback of a sleep may free what ended the wait. */
START_TEST(sleep_may_end_what_woke_us)
{
	static void (*const acts[])(void) = { free_what_woke_us, stop_the_timer,
		set_the_timer, stop_the_loop };
	static const char *const traces[] = { "s", "sr", "srt", "s" };
	int fd[2];

	watch_sleep();
	at_sleep = acts[_i];
	slept = NIGHT_MS;
	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(write(fd[1], "r", 1), 1);
	watch = loop_fd_new(l, fd[0], LOOP_READ, on_readable_and_stop_later,
	    LETTER('b'));
	first = loop_timer_new(l, on_mark, LETTER('t'));
	loop_timer_set(first, 0);
	sleep_ms(5);
	second = loop_timer_new(l, on_stop, NULL);
	ck_assert_int_eq(loop_run(l), _i == 3 ? 8 : 7);
	ck_assert_str_eq(trace, traces[_i]);
	loop_fd_free(watch);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(sleep_each_time)
{
	watch_sleep();
	first = loop_timer_new(l, on_night, NULL);
	loop_timer_set(first, 5);
	second = loop_timer_new(l, on_stop, NULL);
	/* The system sleeps during a callback; the next turn notices it. */
	ck_assert_int_eq(loop_run(l), 7);
	loop_timer_set(first, 5);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "nsns");
	ck_assert_int_le(llabs(told - NIGHT_MS), 5);
}
END_TEST

static void
on_nap_or_step(void *arg)
{
	const int64_t *step = arg;

	slept += *step;
	stop_later(15);
}

/* Short naps, a clock that is set back, and one that is set forward for all
 * of us are no sleep. */
START_TEST(sleep_is_long)
{
	static const int64_t steps[] = { NAP_MS, -NIGHT_MS, 0 };
	int64_t step = steps[_i];

	watch_sleep();
	ahead = _i == 2 ? 5000 : 0;
	first = loop_timer_new(l, on_nap_or_step, &step);
	loop_timer_set(first, 5);
	second = loop_timer_new(l, on_stop, NULL);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "");
	/* A real sleep is still noticed afterwards. */
	slept += NIGHT_MS;
	loop_timer_set(second, 5);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "s");
}
END_TEST

static void
on_hold_up(void *arg)
{
	(void)arg;
	held_up = 5000;
	stop_later(15);
}

/* A process that is stopped between the two readings did not sleep. */
START_TEST(sleep_is_not_a_stopped_process)
{
	watch_sleep();
	first = loop_timer_new(l, on_hold_up, NULL);
	loop_timer_set(first, 5);
	second = loop_timer_new(l, on_stop, NULL);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_int_eq(ahead, 5000);
	loop_timer_set(second, 20);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "");
	slept = NIGHT_MS;
	loop_timer_set(second, 5);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_str_eq(trace, "s");
	ck_assert_int_le(llabs(told - NIGHT_MS), 5);
}
END_TEST

#if !defined(CLOCK_UPTIME_RAW)
/* One more look at a clock per turn, however much there is to do in it, and
 * none while nobody watches. (On macOS it is the other clock.) */
START_TEST(sleep_is_cheap)
{
	int before;

	watch_sleep();
	turns_left = 9;
	first = loop_timer_new(l, on_again, NULL);
	loop_timer_set(first, 0);
	before = looks;
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_uint_eq(strlen(trace), 19);
	ck_assert_int_le(looks - before, 12);
	ck_assert_int_ge(looks - before, 10);

	loop_watch_sleep(l, NULL, NULL);
	trace[0] = '\0';
	slept = NIGHT_MS;
	before = looks;
	turns_left = 9;
	loop_timer_set(first, 0);
	ck_assert_int_eq(loop_run(l), 7);
	ck_assert_int_eq(looks, before);
	ck_assert_ptr_null(strchr(trace, 's'));
}
END_TEST
#endif

int
main(void)
{
	Suite *s = suite_create("loop");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, defer_runs_in_order_before_the_next_wait);
	tcase_add_test(t, defer_does_not_starve);
	tcase_add_test(t, defer_many);
	tcase_add_test(t, undefer);
	tcase_add_test(t, timer_later_replaces);
	tcase_add_test(t, timer_sooner_replaces);
	tcase_add_test(t, timer_stop_and_far_away);
	tcase_add_test(t, timer_stopped_and_set_in_one_turn);
	tcase_add_test(t, timer_zero_is_the_next_turn);
	tcase_add_test(t, timer_freed_in_a_callback);
	tcase_add_test(t, timer_is_never_early);
	tcase_add_test(t, now_stands_still_within_a_turn);
	tcase_add_test(t, now_is_monotonic_ms);
	tcase_add_test(t, signals);
	tcase_add_test(t, sigpipe_is_ignored);
	tcase_add_test(t, fd_read);
	tcase_add_test(t, fd_write);
	tcase_add_test(t, fd_refused);
	tcase_add_test(t, stop);
	tcase_add_test(t, random_bytes);
	tcase_add_test(t, parent_watch);
	tcase_add_test(t, sleep_comes_before_the_timer);
	tcase_add_test(t, sleep_comes_before_what_was_ready);
	tcase_add_test(t, sleep_comes_before_deferred_work);
	tcase_add_loop_test(t, sleep_may_end_what_woke_us, 0, 4);
	tcase_add_test(t, sleep_each_time);
	tcase_add_loop_test(t, sleep_is_long, 0, 3);
	tcase_add_test(t, sleep_is_not_a_stopped_process);
#if !defined(CLOCK_UPTIME_RAW)
	tcase_add_test(t, sleep_is_cheap);
#endif
	suite_add_tcase(s, t);
	return unit_run(s);
}
