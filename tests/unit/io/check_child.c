/*
 * Programs that are started: what they get and what they do not, what they
 * write, how they end, and who waits for them. CK_FORK=no runs all in one
 * process.
 */
#include "config.h"

#include "io/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "unit/unit.h"

#define BIG ((size_t)4 * 1024 * 1024)
#define MANY 50
#define ATTEMPTS 10 /* to be quick on a busy machine */
#define NOT_YET ((enum child_end)99)

/* What became of one. */
struct run {
	struct child *child;
	struct buf out, err;
	enum child_end end;
	int value;
	int dones;
	int chunks;
	int stall_ms; /* in each call of output */
	bool free_in_output, kill;
	pid_t pid, session; /* of what printed its number */
};

static struct loop *l;
static struct loop_timer *watchdog, *tick;
static struct run run;
static unsigned running;
static char dir[] = "/tmp/check_child.XXXXXX";

static void
on_watchdog(void *arg)
{
	(void)arg;
	loop_stop(l, 99);
}

static void
stall(int ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static void
on_output(const char *p, size_t n, void *arg)
{
	struct run *r = arg;

	ck_assert_int_eq(r->dones, 0);
	ck_assert_uint_gt(n, 0);
	buf_add(&r->out, p, n);
	r->chunks++;
	if (r->stall_ms > 0)
		stall(r->stall_ms);
	if (!r->free_in_output)
		return;
	r->pid = (pid_t)strtol(buf_str(&r->out), NULL, 10);
	r->session = getsid(r->pid);
	child_free(r->child, r->kill);
	r->child = NULL;
	loop_stop(l, 0);
}

static void
on_errors(const char *p, size_t n, void *arg)
{
	struct run *r = arg;

	ck_assert_int_eq(r->dones, 0);
	buf_add(&r->err, p, n);
}

static void
on_done(enum child_end end, int value, void *arg)
{
	struct run *r = arg;

	r->end = end;
	r->value = value;
	r->dones++;
	r->child = NULL;
	if (--running == 0)
		loop_stop(l, 0);
}

static const struct child_ops ops = { on_output, on_errors, on_done };

static void
run_init(struct run *r)
{
	memset(r, 0, sizeof *r);
	buf_init(&r->out, 0);
	buf_init(&r->err, 0);
	r->end = NOT_YET;
}

static void
run_free(struct run *r)
{
	child_free(r->child, true);
	buf_free(&r->out);
	buf_free(&r->err);
}

static void
setup(void)
{
	l = loop_new();
	ck_assert_ptr_nonnull(l);
	watchdog = loop_timer_new(l, on_watchdog, NULL);
	loop_timer_set(watchdog, 60000);
	run_init(&run);
	running = 0;
	tick = NULL;
}

static void
teardown(void)
{
	run_free(&run);
	loop_timer_free(tick);
	loop_timer_free(watchdog);
	loop_free(l);
}

static void
begin(struct run *r, const struct child_config *config)
{
	running++;
	r->child = child_new(l, config, &ops, r);
	ck_assert_ptr_nonnull(r->child);
	ck_assert_int_eq(r->dones, 0);
	ck_assert_uint_eq(r->out.n, 0);
}

/* Runs one to its end. */
static void
play(const struct child_config *config)
{
	run_free(&run);
	run_init(&run);
	begin(&run, config);
	ck_assert_int_eq(loop_run(l), 0);
	ck_assert_int_eq(run.dones, 1);
}

#define SH(script) ((const char *const[]){ "/bin/sh", "-c", script, NULL })

static void
play_sh(const char *script)
{
	struct child_config config = { .argv = SH(script),
		.output = true,
		.errors = true,
		.max_output = 1000000 };

	play(&config);
}

static void
expect_end(enum child_end end, int value)
{
	ck_assert_int_eq(run.end, end);
	ck_assert_int_eq(run.value, value);
}

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const struct {
	const char *script;
	enum child_end end;
	int value;
} ends[] = {
	{ "exit 0", CHILD_EXIT, 0 },
	{ "exit 7", CHILD_EXIT, 7 },
	{ "exit 255", CHILD_EXIT, 255 },
	{ "kill -KILL $$", CHILD_SIGNAL, SIGKILL },
	{ "kill -TERM $$; sleep 1; exit 3", CHILD_SIGNAL, SIGTERM },
	{ "kill -PIPE $$; sleep 1; exit 3", CHILD_SIGNAL, SIGPIPE },
	{ "kill -USR1 $$; sleep 1; exit 3", CHILD_SIGNAL, SIGUSR1 },
	{ "kill -CHLD $$; exit 3", CHILD_EXIT, 3 },
};

static void
set_signal(int signo, void (*handler)(int), struct sigaction *old)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	sigemptyset(&action.sa_mask);
	ck_assert_int_eq(sigaction(signo, &action, old), 0);
}

/* With SIGPIPE and SIGTERM ignored here, and SIGUSR1 blocked. */
START_TEST(ends_and_signals)
{
	struct sigaction old;
	sigset_t set, old_set;

	set_signal(SIGTERM, SIG_IGN, &old);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old_set);
	play_sh(ends[_i].script);
	sigprocmask(SIG_SETMASK, &old_set, NULL);
	sigaction(SIGTERM, &old, NULL);
	expect_end(ends[_i].end, ends[_i].value);
	ck_assert_uint_eq(run.out.n, 0);
	ck_assert_uint_eq(run.err.n, 0);
}
END_TEST

/* No signal at all is ignored or blocked, as far as /proc shows. */
START_TEST(no_signal_is_ignored_or_blocked)
{
	unsigned long long blocked = 1, ignored = 1;
	struct sigaction old;

	if (access("/proc/self/status", R_OK) == -1)
		return;
	set_signal(SIGHUP, SIG_IGN, &old);
	play_sh("exec grep -E '^Sig(Blk|Ign)' /proc/self/status");
	sigaction(SIGHUP, &old, NULL);
	expect_end(CHILD_EXIT, 0);
	/* 32 and 33 are the C library's own: nobody can set them */
	ck_assert_int_eq(sscanf(buf_str(&run.out), "SigBlk: %llx SigIgn: %llx",
			     &blocked, &ignored),
	    2);
	ck_assert_uint_eq(blocked, 0);
	ck_assert_uint_eq(ignored & ~0x180000000ull, 0);
}
END_TEST

/* How a host may have left us the signal that tells of the end. */
START_TEST(sigchld_is_ignored_and_blocked)
{
	struct sigaction old;
	sigset_t set, old_set;

	set_signal(SIGCHLD, SIG_IGN, &old);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old_set);
	play_sh("exit 9");
	expect_end(CHILD_EXIT, 9);
	/* with its loop the handler goes, and what was before is back */
	teardown();
	sigprocmask(SIG_SETMASK, &old_set, NULL);
	set_signal(SIGCHLD, SIG_DFL, NULL);
	setup();
	/* another loop, at the same place perhaps */
	play_sh("exit 2");
	expect_end(CHILD_EXIT, 2);
}
END_TEST

static char *
pattern(size_t n)
{
	char *p = xmalloc(n);
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (char)(i * 31 >> 3);
	return p;
}

/* More than any pipe holds, in and out and out at once. */
START_TEST(much_both_ways)
{
	char *all = pattern(BIG);
	struct child_config config = { .argv = SH("tee /dev/stderr"),
		.input = { all, BIG },
		.output = true,
		.errors = true,
		.max_output = BIG };

	play(&config);
	expect_end(CHILD_EXIT, 0);
	ck_assert(span_eq(buf_span(&run.out), config.input));
	ck_assert(span_eq(buf_span(&run.err), config.input));
	free(all);
}
END_TEST

/* The input is copied: it is another one when it is written. */
START_TEST(input_is_copied)
{
	char input[] = "before";
	struct child_config config = { .argv = SH("cat"),
		.input = { input, 6 },
		.output = true,
		.max_output = 100 };

	begin(&run, &config);
	memcpy(input, "behind", 6);
	ck_assert_int_eq(loop_run(l), 0);
	ck_assert_str_eq(buf_str(&run.out), "before");
}
END_TEST

static const char *const not_read[] = { "exec 0<&-; sleep 0.6; exit 4",
	"exit 4" };

/* Input that the child does not read is not written again and again. */
START_TEST(input_is_not_read)
{
	char *all = pattern(BIG);
	struct child_config config = { .argv = SH(not_read[_i]),
		.input = { all, BIG } };
	clock_t cpu = clock();

	play(&config);
	expect_end(CHILD_EXIT, 4);
	ck_assert_int_lt(clock() - cpu, CLOCKS_PER_SEC / 4);
	free(all);
}
END_TEST

/* Nothing in, nothing out: the end of a file, and a place for words. */
START_TEST(no_pipes)
{
	struct child_config config = {
		.argv = SH("cat && echo out && echo err >&2 && exit 5")
	};

	play(&config);
	expect_end(CHILD_EXIT, 5);
	ck_assert_uint_eq(run.out.n, 0);
	ck_assert_uint_eq(run.err.n, 0);
}
END_TEST

/* Without callbacks, output is still read, and its bound still holds. */
START_TEST(no_callbacks)
{
	static const struct child_ops quiet = { NULL, NULL, on_done };
	struct child_config config = { .argv = SH("echo out; echo err >&2"),
		.output = true,
		.errors = true,
		.max_output = 4 };

	running++;
	child_new(l, &config, &quiet, &run);
	ck_assert_int_eq(loop_run(l), 0);
	expect_end(CHILD_EXIT, 0);
	config.max_output = 3;
	running++;
	child_new(l, &config, &quiet, &run);
	ck_assert_int_eq(loop_run(l), 0);
	expect_end(CHILD_TOO_LARGE, 3);
}
END_TEST

/* Words go as they are, whatever a shell would make of them. */
START_TEST(arguments_are_not_expanded)
{
	static const char *const argv[] = { "printf", "<%s>", "", "a b",
		"$(id)", "`id`", "*", "';'", "\\", NULL };
	struct child_config config = {
		.argv = argv, .output = true, .max_output = 1000
	};

	play(&config);
	expect_end(CHILD_EXIT, 0);
	ck_assert_str_eq(buf_str(&run.out), "<><a b><$(id)><`id`><*><';'><\\>");
}
END_TEST

static const struct {
	const char *script;
	size_t max;
	bool fits;
	size_t out, err;
} bounds[] = {
	{ "printf 1234567890", 10, true, 10, 0 },
	{ "printf 12345678901", 10, false, 10, 0 },
	{ "printf 1234567890 >&2", 10, true, 0, 10 },
	{ "printf 12345678901 >&2", 10, false, 0, 10 },
	{ "printf 1234567890; printf 1234567890 >&2", 10, true, 10, 10 },
	{ "yes", 300001, false, 300001, 0 },
	{ "yes >&2", 300001, false, 0, 300001 },
	{ "trap '' HUP INT TERM PIPE; while :; do echo y; done", 100, false,
	    100, 0 },
	{ "printf 1", 0, false, 0, 0 },
	{ ":", 0, true, 0, 0 },
};

START_TEST(output_is_bounded)
{
	struct child_config config = { .argv = SH(bounds[_i].script),
		.output = true,
		.errors = true,
		.max_output = bounds[_i].max };

	play(&config);
	expect_end(bounds[_i].fits ? CHILD_EXIT : CHILD_TOO_LARGE,
	    bounds[_i].fits ? 0 : (int)bounds[_i].max);
	ck_assert_uint_eq(run.out.n, bounds[_i].out);
	ck_assert_uint_eq(run.err.n, bounds[_i].err);
}
END_TEST

START_TEST(time_is_bounded)
{
	struct child_config config = {
		.argv = SH("trap '' TERM; echo here; exec sleep 20"),
		.output = true,
		.max_output = 100,
		.timeout_ms = 1500
	};
	int64_t start = now_ms();

	play(&config);
	expect_end(CHILD_TIMEOUT, 1500);
	ck_assert_str_eq(buf_str(&run.out), "here\n");
	ck_assert_int_ge(now_ms() - start, 1500);
	ck_assert_int_lt(now_ms() - start, 19000);
}
END_TEST

/* In time, and the loop learns of it and of the time in the same turn. */
START_TEST(an_end_in_time_counts)
{
	struct child_config config = { .argv = SH("exit 6"),
		.timeout_ms = 200 };
	siginfo_t info;

	begin(&run, &config);
	ck_assert_int_eq(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
	stall(300);
	ck_assert_int_eq(loop_run(l), 0);
	expect_end(CHILD_EXIT, 6);
}
END_TEST

/* A grandchild that keeps the pipe open delays the end by a second. */
START_TEST(a_grandchild_keeps_the_pipe)
{
	int64_t start = now_ms();

	play_sh("sleep 8 & echo left; exit 3");
	expect_end(CHILD_EXIT, 3);
	ck_assert_str_eq(buf_str(&run.out), "left\n");
	ck_assert_int_ge(now_ms() - start, 1000);
	ck_assert_int_lt(now_ms() - start, 7000);
}
END_TEST

/* A grandchild without the pipe does not delay the end. */
START_TEST(a_grandchild_without_the_pipe)
{
	int64_t start;
	int i;

	for (i = 0; i < ATTEMPTS; i++) {
		start = now_ms();
		play_sh("sleep 8 >/dev/null 2>&1 & exit 3");
		expect_end(CHILD_EXIT, 3);
		if (now_ms() - start < 1000)
			return;
	}
	ck_abort_msg("it was waited for");
}
END_TEST

START_TEST(a_grandchild_that_writes_on)
{
	play_sh("yes & exit 0");
	expect_end(CHILD_TOO_LARGE, 1000000);
	ck_assert_uint_eq(run.out.n, 1000000);
}
END_TEST

START_TEST(a_busy_loop_loses_nothing)
{
	struct child_config config = {
		.argv = SH("sleep 4 & head -c 60000 /dev/zero; exit 0"),
		.output = true,
		.max_output = 60000
	};

	run.stall_ms = 700;
	begin(&run, &config);
	ck_assert_int_eq(loop_run(l), 0);
	expect_end(CHILD_EXIT, 0);
	ck_assert_uint_eq(run.out.n, 60000);
	ck_assert_int_gt(run.chunks, 2);
}
END_TEST

/* Whatever is open here, above and below the usual limit of a shell. */
START_TEST(no_descriptor_is_inherited)
{
	static const int extra[] = { 3, 9, 50, 200, 1000 };
	int fds[COUNT(extra)], i;

	if (access("/proc/self/fd", R_OK) == -1)
		return;
	for (i = 0; i < COUNT(extra); i++)
		fds[i] = fcntl(STDERR_FILENO, F_DUPFD, extra[i]);
	play_sh("exec ls /proc/self/fd");
	for (i = 0; i < COUNT(extra); i++)
		if (fds[i] != -1)
			close(fds[i]);
	expect_end(CHILD_EXIT, 0);
	/* 3 is that of ls, for the folder */
	ck_assert_str_eq(buf_str(&run.out), "0\n1\n2\n3\n");
}
END_TEST

/* With stdio closed, the new pipes get the numbers 0 to 2. */
START_TEST(our_own_stdio_is_closed)
{
	struct child_config config = { .argv = SH("cat; echo err >&2"),
		.input = { "in", 2 },
		.output = true,
		.errors = true,
		.max_output = 100 };
	int saved[3], i, status;

	for (i = 0; i < 3; i++) {
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
		close(i);
	}
	begin(&run, &config);
	status = loop_run(l);
	for (i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	ck_assert_int_eq(status, 0);
	expect_end(CHILD_EXIT, 0);
	ck_assert_str_eq(buf_str(&run.out), "in");
	ck_assert_str_eq(buf_str(&run.err), "err\n");
}
END_TEST

/* How many descriptors are open here. */
static int
count_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

START_TEST(no_descriptor_is_left_here)
{
	struct child_config none = { .argv = SH("exit 0") };
	int before;

	play(&none); /* the loop's own for signals */
	before = count_fds();
	play_sh("echo x");
	play_sh("nothing-of-this-name");
	none.argv = (const char *const[]){ "/nonexistent/x", NULL };
	play(&none);
	none.argv = (const char *const[]){ "nonexistent-x", NULL };
	none.output = none.errors = true;
	play(&none);
	ck_assert_int_eq(count_fds(), before);
}
END_TEST

/* Two of our secrets, a neighbour of each name, and one that is not there. */
START_TEST(no_secret_variable)
{
	static const char *const unset[] = { "CHECK_SECRET", "CHECK_TOKEN",
		"CHECK_ABSENT", "CHECK", NULL };
	static const char *const set[] = { "CHECK_NEW=4=5", NULL };
	struct child_config config = { .argv = SH("env | grep ^CHECK | sort"),
		.unset = unset,
		.output = true,
		.max_output = 1000 };

	setenv("CHECK_SECRET", "CANARY", 1);
	setenv("CHECK_SECRETS", "1", 1);
	setenv("CHECK_TOKEN", "CANARY=2", 1);
	setenv("CHECK_TOKE", "3", 1);
	play(&config);
	ck_assert_str_eq(buf_str(&run.out), "CHECK_SECRETS=1\nCHECK_TOKE=3\n");
	config.unset = NULL;
	play(&config);
	ck_assert_str_eq(buf_str(&run.out),
	    "CHECK_SECRET=CANARY\nCHECK_SECRETS=1\n"
	    "CHECK_TOKE=3\nCHECK_TOKEN=CANARY=2\n");
	ck_assert_str_eq(getenv("CHECK_SECRET"), "CANARY");
	config.unset = unset;
	config.set = set;
	play(&config);
	ck_assert_str_eq(buf_str(&run.out),
	    "CHECK_NEW=4=5\nCHECK_SECRETS=1\nCHECK_TOKE=3\n");
	unsetenv("CHECK_SECRET");
	unsetenv("CHECK_SECRETS");
	unsetenv("CHECK_TOKEN");
	unsetenv("CHECK_TOKE");
}
END_TEST

START_TEST(umask_is_kept)
{
	mode_t old = umask(027);

	play_sh("umask");
	umask(old);
	ck_assert_ptr_nonnull(strstr(buf_str(&run.out), "027\n"));
}
END_TEST

static void
on_tick(void *arg)
{
	siginfo_t info;

	(void)arg;
	if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG) == -1 &&
	    errno == ECHILD)
		loop_stop(l, 1);
	else
		loop_timer_set(tick, 10);
}

/* Runs the loop until no child is left, not even a zombie. */
static void
await_none(void)
{
	tick = loop_timer_new(l, on_tick, NULL);
	loop_timer_set(tick, 0);
	ck_assert_int_eq(loop_run(l), 1);
}

/* Detached or not; freed from inside its own callback, with a kill. */
START_TEST(freed_and_killed)
{
	struct child_config config = {
		.argv = SH("trap '' TERM; echo $$; exec sleep 50"),
		.output = true,
		.detached = _i == 1,
		.max_output = 100,
		.timeout_ms = 40000
	};

	run.free_in_output = run.kill = true;
	begin(&run, &config);
	ck_assert_int_eq(loop_run(l), 0);
	ck_assert_int_gt(run.pid, 1);
	ck_assert_int_eq(run.session, _i == 1 ? run.pid : getsid(0));
	await_none();
	ck_assert_int_eq(run.dones, 0);
	ck_assert_int_eq(kill(run.pid, 0), -1);
}
END_TEST

/* A detached child goes on when freed, without callbacks, and is reaped. */
START_TEST(freed_and_left_alone)
{
	char *script = xasprintf("echo $$; sleep 0.3; echo went on >%s/file",
	    dir);
	char *path = xasprintf("%s/file", dir);
	struct child_config config = { .argv = SH(script),
		.output = true,
		.detached = true,
		.max_output = 100 };
	char text[16] = "";
	FILE *f;

	run.free_in_output = true;
	begin(&run, &config);
	ck_assert_int_eq(loop_run(l), 0);
	await_none();
	ck_assert_int_eq(run.dones, 0);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
	ck_assert_str_eq(text, "went on\n");
	fclose(f);
	unlink(path);
	free(script);
	free(path);
}
END_TEST

static void
on_never(enum child_end end, int value, void *arg)
{
	(void)arg;
	ck_abort_msg("done was told: %d %d", (int)end, value);
}

/* Before the loop ever ran, and when all that is missing is to tell. */
START_TEST(freed_before_anything)
{
	static const struct child_ops never = { NULL, NULL, on_never };
	struct child_config config = { .argv = SH("exit 0"), .output = true };
	const char *const nothing[] = { "nonexistent-x", NULL };

	child_free(child_new(l, &config, &never, NULL), true);
	child_free(child_new(l, &config, &never, NULL), false);
	config.argv = nothing;
	child_free(child_new(l, &config, &never, NULL), false);
	child_free(NULL, true);
	await_none();
}
END_TEST

START_TEST(others_are_not_waited_for)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(44);
	play_sh("sleep 0.2");
	expect_end(CHILD_EXIT, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 44);
}
END_TEST

/* Another part of the program reaps the child first. */
START_TEST(waited_for_by_another)
{
	struct child_config config = { .argv = SH("exit 3") };

	begin(&run, &config);
	ck_assert_int_gt(waitpid(-1, NULL, 0), 0);
	ck_assert_int_eq(loop_run(l), 0);
	expect_end(CHILD_EXIT, -1);
}
END_TEST

static char *
make_file(const char *name, const char *text, mode_t mode)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	ck_assert_int_eq(chmod(path, mode), 0);
	return path;
}

static void
expect_no_start(const char *program, int error)
{
	struct child_config config = { .argv = (const char *const[]){ program,
					   NULL },
		.output = true,
		.max_output = 100 };

	play(&config);
	ck_assert_msg(run.end == CHILD_NO_START, "%s: %d", program,
	    (int)run.end);
	ck_assert_msg(run.value == error, "%s: %s", program,
	    strerror(run.value));
}

START_TEST(what_cannot_be_started)
{
	char *plain = make_file("plain", "exit 0\n", 0644);
	char *bare = make_file("bare", "exit 0\n", 0755);
	char *lost = make_file("lost", "#!/nonexistent/sh\n", 0755);
	char *old = xstrdup(getenv("PATH")), *path;

	expect_no_start(NULL, ENOENT);
	expect_no_start("", ENOENT);
	expect_no_start("nonexistent-x", ENOENT);
	expect_no_start("/nonexistent/x", ENOENT);
	expect_no_start(dir, EACCES);
	expect_no_start(plain, EACCES);
	expect_no_start(bare, ENOEXEC);
	/* valgrind starts itself, whatever is to be run */
	if (getenv("UNDER_VALGRIND") == NULL)
		expect_no_start(lost, ENOENT);
	setenv("PATH", dir, 1);
	expect_no_start("plain", EACCES);
	expect_no_start("bare", ENOEXEC);
	path = xasprintf("%s:/", dir);
	setenv("PATH", path, 1);
	expect_no_start("tmp", EACCES); /* a folder */
	setenv("PATH", old, 1);
	unlink(plain);
	unlink(bare);
	unlink(lost);
	free(plain);
	free(bare);
	free(lost);
	free(path);
	free(old);
}
END_TEST

/* A PATH for each way a name is found, or not; %s is our folder, which is
 * the current one too. */
static const struct {
	const char *path;
	bool found;
} paths[] = {
	{ "%s", true },
	{ "/nonexistent:%s", true },
	{ "%s:/nonexistent", true },
	{ ":%s:", true },
	{ "relative:%s", true },
	{ ".", false },
	{ "", false },
	{ ":", false },
	{ "/nonexistent:", false },
	{ ":/nonexistent", false },
	{ "./", false },
	{ NULL, false },
};

START_TEST(the_search)
{
	static const char *const argv[] = { "check-child-here", NULL };
	char *file = make_file("check-child-here", "#!/bin/sh\nexit 8\n", 0755);
	struct child_config config = { .argv = argv };
	char *old = xstrdup(getenv("PATH")), *path = NULL, *cwd;
	const char *at;

	cwd = getcwd(NULL, 0);
	ck_assert_int_eq(chdir(dir), 0);
	if (paths[_i].path == NULL) {
		unsetenv("PATH");
	} else {
		at = strstr(paths[_i].path, "%s");
		path = at == NULL ?
		    xstrdup(paths[_i].path) :
		    xasprintf("%.*s%s%s", (int)(at - paths[_i].path),
			paths[_i].path, dir, at + 2);
		setenv("PATH", path, 1);
	}
	play(&config);
	setenv("PATH", old, 1);
	ck_assert_int_eq(chdir(cwd), 0);
	if (paths[_i].found)
		expect_end(CHILD_EXIT, 8);
	else
		expect_end(CHILD_NO_START, ENOENT);
	unlink(file);
	free(file);
	free(path);
	free(cwd);
	free(old);
}
END_TEST

/* A folder of the program's name in PATH is skipped; the search goes on. */
START_TEST(a_folder_in_the_way)
{
	char *file = make_file("tmp", "#!/bin/sh\nexit 8\n", 0755);
	char *old = xstrdup(getenv("PATH")), *path = xasprintf("/:%s", dir);
	struct child_config config = { .argv = (const char *const[]){
					   "tmp", NULL } };

	setenv("PATH", path, 1);
	play(&config);
	setenv("PATH", old, 1);
	expect_end(CHILD_EXIT, 8);
	unlink(file);
	free(file);
	free(path);
	free(old);
}
END_TEST

/* Without PATH the usual folders. */
START_TEST(no_path_at_all)
{
	char *old = xstrdup(getenv("PATH"));
	struct child_config config = { .argv = (const char *const[]){
					   "sh", "-c", "exit 2", NULL } };

	unsetenv("PATH");
	play(&config);
	setenv("PATH", old, 1);
	free(old);
	expect_end(CHILD_EXIT, 2);
}
END_TEST

START_TEST(many_at_once)
{
	static struct run all[MANY];
	struct child_config config = { .output = true, .max_output = 100 };
	char *script;
	int i, before;

	play_sh("exit 0");
	before = count_fds();
	for (i = 0; i < MANY; i++) {
		run_init(&all[i]);
		script = xasprintf("cat; echo %d; exit %d", i, i);
		config.argv = SH(script);
		config.input = span_of("in");
		begin(&all[i], &config);
		free(script);
	}
	ck_assert_int_eq(loop_run(l), 0);
	for (i = 0; i < MANY; i++) {
		script = xasprintf("in%d\n", i);
		ck_assert_str_eq(buf_str(&all[i].out), script);
		ck_assert_int_eq(all[i].end, CHILD_EXIT);
		ck_assert_int_eq(all[i].value, i);
		ck_assert_int_eq(all[i].dones, 1);
		free(script);
		run_free(&all[i]);
	}
	ck_assert_int_eq(count_fds(), before);
}
END_TEST

/* A signal to the group between fork and exec must not reach our handlers
 * twice: they count what comes. */
static int usr1;

static void
on_usr1(int signo, void *arg)
{
	(void)signo;
	(void)arg;
	usr1++;
}

START_TEST(our_handlers_stay_ours)
{
	struct child_config config = { .argv = SH("kill -USR1 $$") };

	usr1 = 0;
	ck_assert_int_eq(loop_signal(l, SIGUSR1, on_usr1, NULL), 0);
	play(&config);
	expect_end(CHILD_SIGNAL, SIGUSR1);
	ck_assert_int_eq(usr1, 0);
}
END_TEST

/* words are joined by "|", with one at the end of each; NULL: refused */
static const struct {
	const char *text, *words;
} lines[] = {
	{ "a", "a|" },
	{ "a b", "a|b|" },
	{ " \t a\t\n b\r\n", "a|b|" },
	{ "a 'b c' d", "a|b c|d|" },
	{ "a \"b c\" d", "a|b c|d|" },
	{ "a'b'\"c\"d", "abcd|" },
	{ "''", "|" },
	{ "a \"\" ''", "a|||" },
	{ "'a\"b'", "a\"b|" },
	{ "\"a'b\"", "a'b|" },
	{ "a\\ b", "a b|" },
	{ "\\'a \\\"b", "'a|\"b|" },
	{ "\"a\\\"b\\\\c\\d\"", "a\"b\\cd|" },
	{ "'a\\b'", "a\\b|" },
	{ "'a\\'", "a\\|" },
	{ "\\\\", "\\|" },
	{ "$HOME `id` $(id) ; & > | * ~ # !",
	    "$HOME|`id`|$(id)|;|&|>|||*|~|#|"
	    "!|" },
	{ "\xc3\xa4 'b\x01'", "\xc3\xa4|b\x01|" },
	{ "", NULL },
	{ " \t\r\n", NULL },
	{ "'", NULL },
	{ "a \"b", NULL },
	{ "a 'b\\'c'", NULL },
	{ "\"a\\\"", NULL },
	{ "a\\", NULL },
	{ "\"a\\", NULL },
};

static const struct {
	const char *text, *why;
} refused_lines[] = {
	{ " ", "it is empty" },
	{ "a 'b", "a quote is not closed" },
	{ "a b\\", "it ends with a backslash" },
};

START_TEST(words)
{
	char **got, *why = NULL;
	struct buf joined;
	size_t i;

	got = child_words(lines[_i].text, &why);
	if (lines[_i].words == NULL) {
		ck_assert_ptr_null(got);
		ck_assert_ptr_nonnull(why);
		free(why);
		return;
	}
	ck_assert_ptr_nonnull(got);
	ck_assert_ptr_null(why);
	buf_init(&joined, 0);
	for (i = 0; got[i] != NULL; i++)
		buf_addf(&joined, "%s|", got[i]);
	ck_assert_str_eq(buf_str(&joined), lines[_i].words);
	buf_free(&joined);
	string_list_free(got);
}
END_TEST

START_TEST(words_that_are_refused)
{
	char *why = NULL;

	ck_assert_ptr_null(child_words(refused_lines[_i].text, &why));
	ck_assert_str_eq(why, refused_lines[_i].why);
	free(why);
	string_list_free(NULL);
}
END_TEST

static const struct {
	enum child_end end;
	int value;
	const char *fate;
} fates[] = {
	{ CHILD_EXIT, 3, "ended with status 3" },
	{ CHILD_SIGNAL, 9, "was ended by signal 9" },
	{ CHILD_TIMEOUT, 30000, "did not answer within 30 s" },
	{ CHILD_TOO_LARGE, 2048, "wrote more than 2 KiB" },
	{ CHILD_NO_START, ENOENT,
	    "cannot be started: No such file or directory" },
};

START_TEST(the_fate)
{
	char *fate = child_fate(fates[_i].end, fates[_i].value);

	ck_assert_str_eq(fate, fates[_i].fate);
	free(fate);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("child");
	TCase *t = tcase_create("child");
	int status;

	if (mkdtemp(dir) == NULL)
		return EXIT_FAILURE;
	tcase_set_timeout(t, 90);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, ends_and_signals, 0, COUNT(ends));
	tcase_add_test(t, no_signal_is_ignored_or_blocked);
	tcase_add_test(t, sigchld_is_ignored_and_blocked);
	tcase_add_test(t, much_both_ways);
	tcase_add_test(t, input_is_copied);
	tcase_add_loop_test(t, input_is_not_read, 0, COUNT(not_read));
	tcase_add_test(t, no_pipes);
	tcase_add_test(t, no_callbacks);
	tcase_add_test(t, arguments_are_not_expanded);
	tcase_add_loop_test(t, output_is_bounded, 0, COUNT(bounds));
	tcase_add_test(t, time_is_bounded);
	tcase_add_test(t, an_end_in_time_counts);
	tcase_add_test(t, a_grandchild_keeps_the_pipe);
	tcase_add_test(t, a_grandchild_without_the_pipe);
	tcase_add_test(t, a_grandchild_that_writes_on);
	tcase_add_test(t, a_busy_loop_loses_nothing);
	tcase_add_test(t, no_descriptor_is_inherited);
	tcase_add_test(t, our_own_stdio_is_closed);
	tcase_add_test(t, no_descriptor_is_left_here);
	tcase_add_test(t, no_secret_variable);
	tcase_add_test(t, umask_is_kept);
	tcase_add_loop_test(t, freed_and_killed, 0, 2);
	tcase_add_test(t, freed_and_left_alone);
	tcase_add_test(t, freed_before_anything);
	tcase_add_test(t, others_are_not_waited_for);
	tcase_add_test(t, waited_for_by_another);
	tcase_add_test(t, what_cannot_be_started);
	tcase_add_loop_test(t, the_search, 0, COUNT(paths));
	tcase_add_test(t, a_folder_in_the_way);
	tcase_add_test(t, no_path_at_all);
	tcase_add_test(t, many_at_once);
	tcase_add_test(t, our_handlers_stay_ours);
	tcase_add_loop_test(t, the_fate, 0, COUNT(fates));
	tcase_add_loop_test(t, words, 0, COUNT(lines));
	tcase_add_loop_test(t, words_that_are_refused, 0, COUNT(refused_lines));
	suite_add_tcase(s, t);
	status = unit_run(s);
	rmdir(dir);
	return status;
}
