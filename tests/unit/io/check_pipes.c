/*
 * stdin and stdout of every kind: what goes in comes out, whole and in order;
 * the end is told once; nothing blocks, spins or stays non-blocking.
 * CK_FORK=no runs all in one process.
 */
#include "config.h"

#include "io/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "unit/unit.h"

#define HIGH 200000
#define LOW 50000
#define TOTAL (10 * 1024 * 1024)

enum kind {
	PIPE,
	SMALL_PIPE, /* of 4 KiB */
	SOCKET,
	TERMINAL,
	REGULAR,
	FLAG_PIPE,  /* a pipe that cannot be opened again */
	STDERR_PIPE /* the same, and it is stderr too */
};

/* What a stream was: its length and a checksum that sees the order. */
struct sum {
	uint64_t bytes;
	uint64_t hash;
};

static struct loop *l;
static struct pipes *p;
static struct loop_timer *watchdog, *tick;
static struct sum in_sum, out_sum;
static int chunks, eofs, highs, lows, brokens, dones, ticks;
static int stop_at_eof, pause_at_chunk;
static unsigned frame_no;
static size_t most_queued;
static char logged[512];

static void
sum_add(struct sum *s, const char *bytes, size_t n)
{
	size_t i;

	if (s->bytes == 0)
		s->hash = 14695981039346656037U;
	for (i = 0; i < n; i++)
		s->hash = (s->hash ^ (unsigned char)bytes[i]) * 1099511628211U;
	s->bytes += n;
}

static void
sum_check(const struct sum *a, const struct sum *b)
{
	ck_assert_uint_eq(a->bytes, b->bytes);
	ck_assert(a->hash == b->hash);
}

static void
sleep_us(long us)
{
	struct timespec ts = { 0, us * 1000 };

	nanosleep(&ts, NULL);
}

static int64_t
real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void
on_chunk(const char *bytes, size_t n, void *arg)
{
	ck_assert_ptr_eq(arg, &in_sum);
	ck_assert_int_eq(eofs, 0);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_le(n, 65536);
	sum_add(&in_sum, bytes, n);
	if (++chunks == pause_at_chunk)
		pipes_pause(p, true);
}

static void
on_eof(void *arg)
{
	ck_assert_ptr_eq(arg, &in_sum);
	eofs++;
	if (stop_at_eof)
		loop_stop(l, 0);
}

static void
on_high(void *arg)
{
	(void)arg;
	ck_assert_uint_gt(pipes_memory(p), HIGH);
	ck_assert_int_eq(highs, lows);
	highs++;
	if (tick != NULL)
		loop_timer_set(tick, -1);
}

static void
on_low(void *arg)
{
	(void)arg;
	ck_assert_uint_le(pipes_memory(p), LOW);
	lows++;
	ck_assert_int_eq(highs, lows);
	if (tick != NULL && out_sum.bytes < TOTAL)
		loop_timer_set(tick, 0);
}

static void
on_broken(int error, void *arg)
{
	(void)error;
	(void)arg;
	brokens++;
	ck_assert_uint_eq(pipes_queued(p), 0);
}

static const struct pipes_ops ops = { on_chunk, on_eof, on_high, on_low,
	on_broken };

static void
on_stop(void *arg)
{
	(void)arg;
	loop_stop(l, 5);
}

static void
on_watchdog(void *arg)
{
	(void)arg;
	loop_stop(l, 99);
}

static void
on_log(enum log_level level, const char *line, void *arg)
{
	(void)arg;
	if (level == LEVEL_ERROR)
		snprintf(logged, sizeof logged, "%s", line);
}

static void
setup(void)
{
	l = loop_new();
	ck_assert_ptr_nonnull(l);
	watchdog = loop_timer_new(l, on_watchdog, NULL);
	loop_timer_set(watchdog, 50000);
	tick = NULL;
	p = NULL;
	memset(&in_sum, 0, sizeof in_sum);
	memset(&out_sum, 0, sizeof out_sum);
	chunks = eofs = highs = lows = brokens = dones = ticks = 0;
	stop_at_eof = 1;
	pause_at_chunk = 0;
	frame_no = 0;
	most_queued = 0;
	logged[0] = '\0';
	log_sink(on_log, NULL);
}

static void
teardown(void)
{
	pipes_free(p);
	loop_timer_free(tick);
	loop_timer_free(watchdog);
	loop_free(l);
	log_sink(NULL, NULL);
}

/* Runs the loop for so many ms. */
static void
run_ms(int64_t ms)
{
	struct loop_timer *t = loop_timer_new(l, on_stop, NULL);

	loop_timer_set(t, ms);
	ck_assert_int_eq(loop_run(l), 5);
	loop_timer_free(t);
}

static int
null_fd(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	ck_assert_int_ne(fd, -1);
	return fd;
}

static bool
nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	ck_assert_int_ne(flags, -1);
	return flags & O_NONBLOCK;
}

/* Both ends of a terminal, and no processing of what goes through. */
static void
open_terminal(int *master, int *slave, bool raw)
{
	struct termios tio;

	*master = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert_int_ne(*master, -1);
	ck_assert_int_eq(grantpt(*master), 0);
	ck_assert_int_eq(unlockpt(*master), 0);
	*slave = open(ptsname(*master), O_RDWR | O_NOCTTY);
	ck_assert_int_ne(*slave, -1);
	ck_assert_int_eq(tcgetattr(*slave, &tio), 0);
	if (raw) {
		tio.c_iflag = 0;
		tio.c_oflag = 0;
		tio.c_lflag = 0;
	}
	tio.c_lflag &= ~(tcflag_t)ECHO;
	ck_assert_int_eq(tcsetattr(*slave, TCSANOW, &tio), 0);
}

static int
open_temporary(void)
{
	char name[] = "/tmp/check_pipes.XXXXXX";
	int fd = mkstemp(name);

	ck_assert_int_ne(fd, -1);
	unlink(name);
	return fd;
}

/* Fills text with lines that tell where they are. */
static void
fill_lines(char *text, size_t n, unsigned no)
{
	size_t at = 0, part;
	char line[64];

	while (at < n) {
		snprintf(line, sizeof line, "%u %zu abcdefghijklmnop\n", no,
		    at);
		part = strlen(line) < n - at ? strlen(line) : n - at;
		memcpy(text + at, line, part);
		at += part;
	}
}

static void
write_all(int fd, const char *text, size_t n)
{
	ssize_t done;

	for (; n > 0; text += done, n -= (size_t)done) {
		done = write(fd, text, n);
		if (done <= 0)
			_exit(1);
	}
}

/* A process that writes the text to fd, in parts, and closes it. */
static pid_t
spawn_writer(int fd, int other, const char *text, size_t n)
{
	pid_t pid = fork();
	size_t at, part;

	ck_assert_int_ge(pid, 0);
	if (pid != 0) {
		close(fd);
		return pid;
	}
	close(other);
	for (at = 0; at < n; at += part) {
		part = n - at < 7777 ? n - at : 7777;
		write_all(fd, text + at, part);
		sleep_us(200);
	}
	_exit(0);
}

static void
reap(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* Everything arrives and then the end, once, and nothing after it. */
static void
expect_in(int in, const char *text, size_t n)
{
	struct sum want = { 0, 0 };
	int out = null_fd();

	p = pipes_new(l, in, out, HIGH, LOW, &ops, &in_sum);
	ck_assert_int_eq(eofs + chunks, 0);
	ck_assert_int_eq(loop_run(l), 0);
	sum_add(&want, text, n);
	if (n > 0)
		sum_check(&in_sum, &want);
	ck_assert_uint_eq(in_sum.bytes, n);
	pipes_pause(p, true);
	pipes_pause(p, false);
	run_ms(30);
	ck_assert_int_eq(eofs, 1);
	ck_assert_int_eq(brokens, 0);
	close(out);
}

static char text[300001];

START_TEST(in_pipe_and_socket)
{
	int fd[2], dupe;
	pid_t pid;

	if (_i == 0)
		ck_assert_int_eq(pipe(fd), 0);
	else
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	fill_lines(text, sizeof text, 1);
	dupe = dup(fd[0]);
	pid = spawn_writer(fd[1], fd[0], text, sizeof text);
	expect_in(fd[0], text, sizeof text);
	ck_assert_int_gt(chunks, 3);
	ck_assert(!nonblocking(dupe));
	reap(pid);
	close(fd[0]);
	close(dupe);
}
END_TEST

/* A shell user ends the input with ^D. */
START_TEST(in_terminal)
{
	int master, slave;
	pid_t pid;

	open_terminal(&master, &slave, false);
	fill_lines(text, 20000, 2);
	text[19999] = '\n';
	text[20000] = 4;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		size_t at;

		/* 20001 is 59 times 339. */
		for (at = 0; at < 20001; at += 339) {
			write_all(master, text + at, 339);
			sleep_us(500);
		}
		sleep_us(900000);
		_exit(0);
	}
	expect_in(slave, text, 20000);
	ck_assert(!nonblocking(slave));
	close(master);
	close(slave);
	reap(pid);
}
END_TEST

static void
on_close_fd(void *arg)
{
	close(*(int *)arg);
}

/* The terminal goes away: a read error, or the end. */
START_TEST(in_terminal_hangs_up)
{
	int master, slave;

	open_terminal(&master, &slave, true);
	write_all(master, "unfinished", 10);
	tick = loop_timer_new(l, on_close_fd, &master);
	loop_timer_set(tick, 50);
	expect_in(slave, "unfinished", 10);
	close(slave);
}
END_TEST

static void
on_tick(void *arg)
{
	(void)arg;
	ticks++;
	if (eofs == 0)
		loop_timer_set(tick, 0);
}

/* Chunks of a regular file leave room for others between them. */
START_TEST(in_regular)
{
	int fd = open_temporary();

	fill_lines(text, sizeof text, 3);
	write_all(fd, text, sizeof text);
	lseek(fd, 0, SEEK_SET);
	tick = loop_timer_new(l, on_tick, NULL);
	loop_timer_set(tick, 0);
	expect_in(fd, text, sizeof text);
	ck_assert_int_eq(chunks, 5);
	ck_assert_int_ge(ticks, 5);
	close(fd);
}
END_TEST

START_TEST(in_nothing)
{
	int fd[2];

	if (_i == 0) {
		fd[0] = null_fd();
		expect_in(fd[0], "", 0);
		close(fd[0]);
	} else if (_i == 1) {
		fd[0] = null_fd();
		close(fd[0]);
		/* Out of the way of descriptors opened later. */
		expect_in(1000, "", 0);
	} else if (_i == 2) {
		expect_in(-1, "", 0);
	} else {
		ck_assert_int_eq(pipe(fd), 0);
		close(fd[1]);
		expect_in(fd[0], "", 0);
		close(fd[0]);
	}
}
END_TEST

static void
expect_pause(int in)
{
	struct sum want = { 0, 0 };
	int out = null_fd();
	uint64_t before;

	pause_at_chunk = 2;
	p = pipes_new(l, in, out, HIGH, LOW, &ops, &in_sum);
	run_ms(100);
	ck_assert_int_eq(chunks, 2);
	ck_assert_int_eq(eofs, 0);
	before = in_sum.bytes;
	ck_assert_uint_gt(before, 0);
	pipes_pause(p, true);
	pipes_pause(p, false);
	pipes_pause(p, false);
	ck_assert_uint_eq(in_sum.bytes, before);
	ck_assert_int_eq(loop_run(l), 0);
	sum_add(&want, text, sizeof text);
	sum_check(&in_sum, &want);
	ck_assert_int_eq(eofs, 1);
	close(out);
}

START_TEST(pause_stops_at_once)
{
	int fd[2];
	pid_t pid = -1;

	fill_lines(text, sizeof text, 4);
	if (_i == 0) {
		ck_assert_int_eq(pipe(fd), 0);
		pid = spawn_writer(fd[1], fd[0], text, sizeof text);
	} else {
		fd[0] = open_temporary();
		write_all(fd[0], text, sizeof text);
		lseek(fd[0], 0, SEEK_SET);
	}
	expect_pause(fd[0]);
	close(fd[0]);
	if (pid != -1)
		reap(pid);
}
END_TEST

/* A process that reads fd to its end, after a rest in which the queue fills,
 * in bits and pieces, and reports what it read. */
static pid_t
spawn_reader(int fd, int other, int report)
{
	static char buf[65536];
	struct sum s = { 0, 0 };
	pid_t pid = fork();
	ssize_t n;
	int i;

	ck_assert_int_ge(pid, 0);
	if (pid != 0)
		return pid;
	close(other);
	sleep_us(300000);
	for (i = 0; (n = read(fd, buf, i % 7 ? sizeof buf : 777)) > 0; i++) {
		sum_add(&s, buf, (size_t)n);
		if (i % 8 == 0)
			sleep_us(i < 100 ? 2000 : 50);
	}
	_exit(write(report, &s, sizeof s) == sizeof s ? 0 : 1);
}

static void
write_frame(size_t n)
{
	struct frame *f;
	char *bytes = xmalloc(n + 1);

	fill_lines(bytes, n, frame_no++);
	f = frame_copy((struct span){ bytes, n });
	bytes[n] = '\n';
	sum_add(&out_sum, bytes, n + 1);
	pipes_write(p, f);
	frame_unref(f);
	free(bytes);
}

static void
on_done(void *arg)
{
	(void)arg;
	dones++;
	loop_stop(l, 3);
}

/* Writes until the high mark, some frames a turn, and on after the low one. */
static void
on_feed(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 10; i++)
		write_frame(frame_no * 7919 % 20000);
	write_frame(0);
	if (pipes_queued(p) > most_queued)
		most_queued = pipes_queued(p);
	if (out_sum.bytes >= TOTAL)
		pipes_flush(p, 40000, on_done, NULL);
	else
		loop_timer_set(tick, 0);
}

/* Opens a descriptor to write to and one to read what was written. */
static void
open_kind(enum kind kind, int *from, int *to)
{
	int fd[2], small = 4096;

	if (kind == TERMINAL) {
		open_terminal(from, to, true);
		return;
	}
	if (kind == REGULAR) {
		*to = open_temporary();
		*from = dup(*to);
		return;
	}
	if (kind == SOCKET) {
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
		setsockopt(fd[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
	} else {
		ck_assert_int_eq(pipe(fd), 0);
	}
#ifdef F_SETPIPE_SZ
	if (kind == SMALL_PIPE)
		ck_assert_int_eq(fcntl(fd[1], F_SETPIPE_SZ, small), small);
#endif
	*from = fd[0];
	*to = fd[1];
}

/* pipes_new, where nothing can be opened for the kinds that say so. */
static void
new_pipes(enum kind kind, int in, int out)
{
	struct rlimit was, none;

	if (kind == FLAG_PIPE || kind == STDERR_PIPE) {
		getrlimit(RLIMIT_NOFILE, &was);
		none = was;
		none.rlim_cur = 0;
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	}
	p = pipes_new(l, in, out, HIGH, LOW, &ops, &in_sum);
	if (kind == FLAG_PIPE || kind == STDERR_PIPE)
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
}

static void
read_back(int fd, struct sum *got)
{
	ssize_t n;

	memset(got, 0, sizeof *got);
	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, text, sizeof text)) > 0)
		sum_add(got, text, (size_t)n);
}

/* All of 10 MB arrives, in order, at a reader that is slower than we are. */
START_TEST(out_delivers)
{
	enum kind kind = (enum kind)_i;
	int in = null_fd(), from, to, dupe, report[2], old_stderr = -1;
	struct sum got;
	pid_t pid = -1;

	open_kind(kind, &from, &to);
	ck_assert_int_eq(pipe(report), 0);
	if (kind != REGULAR)
		pid = spawn_reader(from, to, report[1]);
	dupe = dup(to);
	if (kind == STDERR_PIPE) {
		old_stderr = dup(STDERR_FILENO);
		dup2(to, STDERR_FILENO);
	}
	stop_at_eof = 0;
	new_pipes(kind, in, to);
	ck_assert(nonblocking(dupe) == (kind == FLAG_PIPE));
	ck_assert(pipes_out_is_for_user(p) ==
	    (kind == TERMINAL || kind == REGULAR));
	tick = loop_timer_new(l, on_feed, NULL);
	loop_timer_set(tick, 0);
	ck_assert_int_eq(loop_run(l), 3);
	ck_assert(nonblocking(dupe) == (kind == FLAG_PIPE));
	ck_assert_int_eq(dones, 1);
	ck_assert_int_eq(brokens, 0);
	ck_assert_uint_eq(pipes_queued(p), 0);
	if (kind == REGULAR) {
		ck_assert_int_eq(highs, 0);
		read_back(from, &got);
	} else {
		ck_assert_int_gt(highs, 0);
	}
	ck_assert_int_eq(highs, lows);
	/* One turn of on_feed more, at most. */
	ck_assert_uint_lt(most_queued, HIGH + 210000);
	pipes_free(p);
	p = NULL;
	ck_assert(!nonblocking(dupe));
	if (kind == STDERR_PIPE) {
		dup2(old_stderr, STDERR_FILENO);
		close(old_stderr);
	}
	close(dupe);
	close(to);
	if (pid != -1) {
		ck_assert_int_eq(read(report[0], &got, sizeof got), sizeof got);
		reap(pid);
	}
	sum_check(&got, &out_sum);
	close(from);
	close(report[0]);
	close(report[1]);
	close(in);
}
END_TEST

/* The reader goes while there is nothing to write. A terminal and a file do not
 * show it. */
START_TEST(out_reader_goes_while_idle)
{
	static const enum kind kinds[] = { PIPE, FLAG_PIPE, STDERR_PIPE,
		SOCKET };
	enum kind kind = kinds[_i];
	int quiet[2], from, to, old_stderr = dup(STDERR_FILENO);

	ck_assert_int_eq(pipe(quiet), 0);
	open_kind(kind, &from, &to);
	if (kind == STDERR_PIPE)
		dup2(to, STDERR_FILENO);
	new_pipes(kind, quiet[0], to);
	run_ms(50);
	ck_assert_int_eq(brokens, 0);
	tick = loop_timer_new(l, on_close_fd, &from);
	loop_timer_set(tick, 10);
	run_ms(100);
	ck_assert_int_eq(brokens, 1);
	write_frame(100);
	ck_assert_uint_eq(pipes_queued(p), 0);
	run_ms(50);
	ck_assert_int_eq(brokens, 1);
	dup2(old_stderr, STDERR_FILENO);
	close(old_stderr);
	close(quiet[0]);
	close(quiet[1]);
	close(to);
}
END_TEST

/* The reader of a socket says that it will write nothing, or writes what nobody
 * asked for: it is still there, and it costs nothing. */
START_TEST(out_reader_of_a_socket_stays)
{
	int quiet[2], from, to;
	char buf[4096];

	ck_assert_int_eq(pipe(quiet), 0);
	open_kind(SOCKET, &from, &to);
	new_pipes(SOCKET, quiet[0], to);
	run_ms(20);
	if (_i == 0)
		ck_assert_int_eq(shutdown(from, SHUT_WR), 0);
	else
		write_all(from, "hello", 5);
	run_ms(20);
	ck_assert_int_eq(brokens, 0);
	write_frame(1000);
	run_ms(20);
	ck_assert_int_eq(recv(from, buf, sizeof buf, MSG_DONTWAIT), 1001);
	ck_assert_int_eq(brokens, 0);
	close(from);
	close(quiet[0]);
	close(quiet[1]);
	close(to);
}
END_TEST

/* The marks are about memory: small frames reach the high one although their
 * bytes are few. */
START_TEST(out_small_frames_are_counted)
{
	int in = null_fd(), from, to, i;

	open_kind(SMALL_PIPE, &from, &to);
	stop_at_eof = 0;
	new_pipes(SMALL_PIPE, in, to);
	for (i = 0; i < 5000; i++)
		write_frame(20);
	run_ms(20);
	ck_assert_int_eq(highs, 1);
	ck_assert_uint_lt(pipes_queued(p), HIGH);
	ck_assert_uint_gt(pipes_memory(p), 2 * HIGH);
	pipes_free(p);
	p = NULL;
	close(in);
	close(from);
	close(to);
}
END_TEST

/* The reader closes its end while bytes are queued for it. */
START_TEST(out_reader_goes_while_writing)
{
	static const enum kind kinds[] = { PIPE, SMALL_PIPE, SOCKET, TERMINAL,
		FLAG_PIPE, STDERR_PIPE };
	int quiet[2], from, to, old_stderr = dup(STDERR_FILENO), i;
	int64_t start;

	ck_assert_int_eq(pipe(quiet), 0);
	open_kind(kinds[_i], &from, &to);
	if (kinds[_i] == STDERR_PIPE)
		dup2(to, STDERR_FILENO);
	new_pipes(kinds[_i], quiet[0], to);
	for (i = 0; i < 40; i++)
		write_frame(20000);
	ck_assert_int_eq(highs, 0);
	run_ms(50);
	ck_assert_int_eq(highs, 1);
	ck_assert_int_eq(brokens, 0);
	ck_assert_uint_gt(pipes_queued(p), HIGH);
	close(from);
	pipes_flush(p, 20000, on_done, NULL);
	ck_assert_int_eq(dones, 0);
	start = real_ms();
	ck_assert_int_eq(loop_run(l), 3);
	ck_assert_int_lt(real_ms() - start, 5000);
	run_ms(50);
	ck_assert_int_eq(dones, 1);
	ck_assert_int_eq(brokens, 1);
	ck_assert_int_eq(lows, 0);
	if (kinds[_i] == TERMINAL)
		ck_assert_ptr_nonnull(strstr(logged, strerror(EIO)));
	else
		ck_assert_str_eq(logged, "");
	write_frame(1);
	run_ms(20);
	ck_assert_int_eq(brokens, 1);
	dup2(old_stderr, STDERR_FILENO);
	close(old_stderr);
	close(quiet[0]);
	close(quiet[1]);
	close(to);
}
END_TEST

/* A full disk, and no descriptor at all. */
START_TEST(out_cannot_be_written)
{
	int in = null_fd(), out = 1000;

	if (_i == 0) {
		out = open("/dev/full", O_WRONLY);
		if (out == -1) {
			close(in);
			return;
		}
	}
	stop_at_eof = 0;
	p = pipes_new(l, in, out, HIGH, LOW, &ops, &in_sum);
	write_frame(10);
	write_frame(10);
	ck_assert_int_eq(brokens, 0);
	run_ms(20);
	ck_assert_int_eq(brokens, 1);
	ck_assert_ptr_nonnull(strstr(logged,
	    _i == 0 ? "No space left on device" : "Bad file descriptor"));
	if (_i == 0)
		close(out);
	close(in);
}
END_TEST

/* Frames of one turn go out together, and not before its end. */
START_TEST(out_is_written_at_the_end_of_the_turn)
{
	int quiet[2], fd[2], i;
	char buf[4096];

	ck_assert_int_eq(pipe(quiet), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd), 0);
	p = pipes_new(l, quiet[0], fd[1], HIGH, LOW, &ops, &in_sum);
	for (i = 0; i < 10; i++)
		write_frame(9);
	ck_assert_uint_eq(pipes_queued(p), 100);
	ck_assert_int_eq(recv(fd[0], buf, sizeof buf, MSG_DONTWAIT), -1);
	run_ms(5);
	ck_assert_uint_eq(pipes_queued(p), 0);
	ck_assert_int_eq(recv(fd[0], buf, sizeof buf, MSG_DONTWAIT), 100);
	ck_assert_int_eq(recv(fd[0], buf, sizeof buf, MSG_DONTWAIT), -1);
	close(quiet[0]);
	close(quiet[1]);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

/* The ring starts again at its front, and is moved to a larger one. */
START_TEST(out_queue_grows_while_wrapped)
{
	static char buf[65536];
	struct sum got = { 0, 0 };
	int quiet[2], from, to, round, i;
	ssize_t n;

	ck_assert_int_eq(pipe(quiet), 0);
	open_kind(PIPE, &from, &to);
	new_pipes(PIPE, quiet[0], to);
	for (round = 1; round < 5; round++) {
		for (i = 0; i < 50 * round; i++)
			write_frame((size_t)(i % 50));
		run_ms(5);
		ck_assert_uint_eq(pipes_queued(p), 0);
		n = read(from, buf, sizeof buf);
		ck_assert_int_gt(n, 0);
		sum_add(&got, buf, (size_t)n);
	}
	sum_check(&got, &out_sum);
	close(quiet[0]);
	close(quiet[1]);
	close(from);
	close(to);
}
END_TEST

static void
on_done_other(void *arg)
{
	(void)arg;
	dones += 100;
}

static int slow_from;
static struct loop_timer *slow_timer;

static void
on_slow_read(void *arg)
{
	static char buf[16384];

	(void)arg;
	if (read(slow_from, buf, sizeof buf) > 0)
		loop_timer_set(slow_timer, 20);
}

/* A slow reader gets all bytes. */
START_TEST(flush_waits_for_who_reads)
{
	int quiet[2], to, i;
	int64_t start;

	ck_assert_int_eq(pipe(quiet), 0);
	open_kind(SMALL_PIPE, &slow_from, &to);
	new_pipes(SMALL_PIPE, quiet[0], to);
	slow_timer = loop_timer_new(l, on_slow_read, NULL);
	loop_timer_set(slow_timer, 20);
	for (i = 0; i < 40; i++)
		write_frame(20000);
	start = real_ms();
	pipes_flush(p, 300, on_done, NULL);
	ck_assert_int_eq(loop_run(l), 3);
	ck_assert_int_gt(real_ms() - start, 350);
	ck_assert_uint_eq(pipes_queued(p), 0);
	loop_timer_free(slow_timer);
	close(quiet[0]);
	close(quiet[1]);
	close(slow_from);
	close(to);
}
END_TEST

START_TEST(flush_ends_in_time)
{
	int quiet[2], from, to, i;
	int64_t start;

	ck_assert_int_eq(pipe(quiet), 0);
	open_kind(SMALL_PIPE, &from, &to);
	new_pipes(SMALL_PIPE, quiet[0], to);

	pipes_flush(p, 10000, on_done, NULL);
	ck_assert_int_eq(dones, 0);
	start = real_ms();
	ck_assert_int_eq(loop_run(l), 3);
	ck_assert_int_lt(real_ms() - start, 5000);

	/* Only the last flush calls back, also when an earlier one is due. */
	pipes_flush(p, 10000, on_done_other, NULL);
	for (i = 0; i < 40; i++)
		write_frame(20000);
	start = real_ms();
	pipes_flush(p, 1, on_done_other, NULL);
	pipes_flush(p, 150, on_done, NULL);
	ck_assert_int_eq(loop_run(l), 3);
	ck_assert_int_ge(real_ms() - start, 150);
	ck_assert_int_lt(real_ms() - start, 5000);
	ck_assert_uint_gt(pipes_queued(p), 0);
	run_ms(200);
	ck_assert_int_eq(dones, 2);

	pipes_flush(p, 0, on_done, NULL);
	ck_assert_int_eq(loop_run(l), 3);
	/* Freed with a queue, a flush and a deferred done under way. */
	pipes_flush(p, 10, on_done, NULL);
	write_frame(1);
	pipes_free(p);
	p = pipes_new(l, quiet[0], to, HIGH, LOW, &ops, &in_sum);
	pipes_flush(p, 10, on_done, NULL);
	pipes_free(p);
	p = NULL;
	run_ms(50);
	ck_assert_int_eq(dones, 3);
	close(quiet[0]);
	close(quiet[1]);
	close(from);
	close(to);
}
END_TEST

/* One socket for both directions: input is not taken for a hang-up. */
START_TEST(one_socket_both_ways)
{
	struct sum got = { 0, 0 }, want = { 0, 0 };
	int fd[2], out;
	ssize_t n;
	char buf[4096];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	out = _i == 0 ? fd[1] : dup(fd[1]);
	stop_at_eof = 0;
	p = pipes_new(l, fd[1], out, HIGH, LOW, &ops, &in_sum);
	write_all(fd[0], "hello", 5);
	write_frame(1000);
	run_ms(30);
	write_all(fd[0], " again", 6);
	run_ms(30);
	sum_add(&want, "hello again", 11);
	sum_check(&in_sum, &want);
	ck_assert_int_eq(eofs + brokens, 0);
	ck_assert(!nonblocking(fd[1]));
	shutdown(fd[0], SHUT_WR);
	run_ms(30);
	ck_assert_int_eq(eofs, 1);
	ck_assert_int_eq(brokens, 0);
	write_frame(500);
	run_ms(30);
	while ((n = recv(fd[0], buf, sizeof buf, MSG_DONTWAIT)) > 0)
		sum_add(&got, buf, (size_t)n);
	sum_check(&got, &out_sum);
	if (out != fd[1])
		close(out);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

static int64_t
cpu_us(const struct rusage *u)
{
	return ((int64_t)u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 +
	    u->ru_utime.tv_usec + u->ru_stime.tv_usec;
}

/* 150 ms in which nothing happens cost neither wake-ups nor time. */
static void
expect_idle(void)
{
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	run_ms(150);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_int_lt(after.ru_nvcsw - before.ru_nvcsw, 8);
	ck_assert_int_lt(cpu_us(&after) - cpu_us(&before), 30000);
}

static void
on_drain(int fd, int what, void *arg)
{
	static char buf[65536];

	(void)what;
	(void)arg;
	ck_assert_int_gt(read(fd, buf, sizeof buf), 0);
}

/* Fills the queue and lets it stall. */
static void
stall(void)
{
	int i;

	for (i = 0; i < 40; i++)
		write_frame(20000);
	run_ms(30);
	ck_assert_uint_gt(pipes_queued(p), HIGH);
}

/* Idle in each state: all open, stdin paused with bytes in it, a stalled
 * reader, after it took all, stdout broken, stdin at its end. */
START_TEST(idle_costs_nothing)
{
	static const enum kind kinds[] = { PIPE, SOCKET, TERMINAL };
	struct loop_fd *drain;
	int in[2], from, to, i;

	if (kinds[_i] == SOCKET)
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, in), 0);
	else
		ck_assert_int_eq(pipe(in), 0);
	open_kind(kinds[_i], &from, &to);
	stop_at_eof = 0;
	new_pipes(kinds[_i], in[0], to);
	run_ms(20);
	expect_idle();
	pipes_pause(p, true);
	write_all(in[1], "bytes", 5);
	expect_idle();
	ck_assert_int_eq(chunks, 0);
	pipes_pause(p, false);
	run_ms(20);
	ck_assert_int_eq(chunks, 1);
	write_frame(100);
	run_ms(20);
	expect_idle();
	stall();
	expect_idle();
	drain = loop_fd_new(l, from, LOOP_READ, on_drain, NULL);
	/* A terminal takes little at a time. */
	for (i = 0; i < 500 && pipes_queued(p) > 0; i++)
		run_ms(20);
	run_ms(20);
	loop_fd_free(drain);
	ck_assert_uint_eq(pipes_queued(p), 0);
	expect_idle();
	stall();
	ck_assert_int_eq(highs, 2);
	ck_assert_int_eq(brokens, 0);
	close(from);
	run_ms(50);
	ck_assert_int_eq(brokens, 1);
	expect_idle();
	close(in[1]);
	run_ms(20);
	ck_assert_int_eq(eofs, 1);
	expect_idle();
	close(in[0]);
	close(to);
}
END_TEST

static int stolen;

static void
on_steal(int fd, int what, void *arg)
{
	char buf[8];

	(void)what;
	(void)arg;
	if (read(fd, buf, sizeof buf) > 0)
		stolen++;
}

/* Others who hold the same description may make it non-blocking, and take the
 * bytes before us: that is not the end of the input. */
START_TEST(in_shared_with_others)
{
	struct loop_fd *before, *after;
	int fd[2], out = null_fd();

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
	before = loop_fd_new(l, fd[0], LOOP_READ, on_steal, NULL);
	p = pipes_new(l, fd[0], out, HIGH, LOW, &ops, &in_sum);
	after = loop_fd_new(l, fd[0], LOOP_READ, on_steal, NULL);
	write_all(fd[1], "x", 1);
	run_ms(50);
	ck_assert_int_eq(stolen, 1);
	ck_assert_int_eq(chunks + eofs, 0);
	loop_fd_free(before);
	loop_fd_free(after);
	write_all(fd[1], "y", 1);
	run_ms(50);
	ck_assert_int_eq(chunks, 1);
	ck_assert_int_eq(eofs, 0);
	ck_assert(nonblocking(fd[0]));
	close(fd[1]);
	ck_assert_int_eq(loop_run(l), 0);
	ck_assert_int_eq(eofs, 1);
	close(fd[0]);
	close(out);
}
END_TEST

static TCase *
in_cases(void)
{
	TCase *t = tcase_create("in");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, in_pipe_and_socket, 0, 2);
	tcase_add_test(t, in_terminal);
	tcase_add_test(t, in_terminal_hangs_up);
	tcase_add_test(t, in_regular);
	tcase_add_loop_test(t, in_nothing, 0, 4);
	tcase_add_test(t, in_shared_with_others);
	tcase_add_loop_test(t, pause_stops_at_once, 0, 2);
	return t;
}

static TCase *
out_cases(void)
{
	TCase *t = tcase_create("out");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, out_delivers, PIPE, STDERR_PIPE + 1);
	tcase_add_test(t, out_small_frames_are_counted);
	tcase_add_loop_test(t, out_reader_goes_while_idle, 0, 4);
	tcase_add_loop_test(t, out_reader_goes_while_writing, 0, 6);
	tcase_add_loop_test(t, out_reader_of_a_socket_stays, 0, 2);
	tcase_add_loop_test(t, out_cannot_be_written, 0, 2);
	tcase_add_test(t, out_is_written_at_the_end_of_the_turn);
	tcase_add_test(t, out_queue_grows_while_wrapped);
	tcase_add_test(t, flush_waits_for_who_reads);
	tcase_add_test(t, flush_ends_in_time);
	return t;
}

static TCase *
both_cases(void)
{
	TCase *t = tcase_create("both");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, one_socket_both_ways, 0, 2);
	tcase_add_loop_test(t, idle_costs_nothing, 0, 3);
	return t;
}

int
main(void)
{
	Suite *s = suite_create("pipes");

	suite_add_tcase(s, in_cases());
	suite_add_tcase(s, out_cases());
	suite_add_tcase(s, both_cases());
	return unit_run(s);
}
