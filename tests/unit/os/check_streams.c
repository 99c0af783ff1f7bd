/*
 * Streams and children on every system: this program starts itself, in the part
 * that its first argument names, and speaks to it through pipes.
 */
#include "config.h"

#include "os/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "io/child.h"
#include "io/pipes.h"
#include "os/child.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/network.h"
#include "os/process.h"
#include "unit/unit.h"

#define BIG ((size_t)3 * 1024 * 1024)
#define LINES 20000
#define TIMEOUT_MS 60000

static char *self;

/* --- what the child does --- */

static int
print_arguments(char **argv)
{
	for (; *argv != NULL; argv++)
		printf("[%s]", *argv);
	return 0;
}

static int
print_variable(char **argv)
{
	const char *value = getenv(argv[0]);

	printf("%s", value == NULL ? "(none)" : value);
	return 0;
}

struct echo {
	struct loop *l;
	struct pipes *p;
	struct buf line;
};

static void
on_chunk(const char *p, size_t n, void *arg)
{
	struct echo *e = arg;
	struct frame *f;
	size_t i;

	for (i = 0; i < n; i++) {
		if (p[i] != '\n') {
			buf_addc(&e->line, p[i]);
			continue;
		}
		f = frame_take(&e->line);
		pipes_write(e->p, f);
		frame_unref(f);
	}
}

static void
on_flushed(void *arg)
{
	struct echo *e = arg;

	loop_stop(e->l, 0);
}

static void
on_eof(void *arg)
{
	struct echo *e = arg;

	pipes_flush(e->p, TIMEOUT_MS, on_flushed, e);
}

static void
on_high(void *arg)
{
	struct echo *e = arg;

	pipes_pause(e->p, true);
}

static void
on_low(void *arg)
{
	struct echo *e = arg;

	pipes_pause(e->p, false);
}

static void
on_broken(int error, void *arg)
{
	struct echo *e = arg;

	loop_stop(e->l, error == EPIPE ? 3 : 4);
}

/* Gives each line back, as a proxy does with its stdio. */
static int
echo_lines(void)
{
	static const struct pipes_ops ops = { on_chunk, on_eof, on_high, on_low,
		on_broken };
	struct echo e;
	int status;

	e.l = loop_new();
	buf_init(&e.line, 0);
	e.p = pipes_new(e.l, 0, 1, 65536, 16384, &ops, &e);
	status = loop_run(e.l);
	pipes_free(e.p);
	buf_free(&e.line);
	loop_free(e.l);
	return status;
}

static int
hang(void)
{
	struct loop *l = loop_new();
	struct loop_timer *t = loop_timer_new(l, on_flushed, l);

	loop_timer_set(t, (int64_t)3600 * 1000);
	return loop_run(l);
}

static void
on_parent(void *arg)
{
	loop_stop(arg, 0);
}

static int
wait_for_parent(void)
{
	struct loop *l = loop_new();

	if (loop_watch_parent(l, on_parent, l) != 0)
		return 5;
	printf("watches\n");
	fflush(stdout);
	return loop_run(l);
}

static int
be_child(int argc, char **argv)
{
	if (strcmp(argv[1], "arguments") == 0)
		return print_arguments(argv + 2);
	if (strcmp(argv[1], "variable") == 0)
		return print_variable(argv + 2);
	if (strcmp(argv[1], "echo") == 0)
		return echo_lines();
	if (strcmp(argv[1], "hang") == 0)
		return hang();
	if (strcmp(argv[1], "parent") == 0)
		return wait_for_parent();
	return argc > 2 ? atoi(argv[2]) : 9;
}

/* --- the parent --- */

struct run {
	struct loop *l;
	struct child *child;
	struct buf out, err;
	enum child_end end;
	int value;
};

static void
on_output(const char *p, size_t n, void *arg)
{
	struct run *r = arg;

	buf_add(&r->out, p, n);
}

static void
on_errors(const char *p, size_t n, void *arg)
{
	struct run *r = arg;

	buf_add(&r->err, p, n);
}

static void
on_done(enum child_end end, int value, void *arg)
{
	struct run *r = arg;

	r->child = NULL;
	r->end = end;
	r->value = value;
	loop_stop(r->l, 0);
}

static const struct child_ops run_ops = { on_output, on_errors, on_done };

static void
start(struct run *r, const char *const *argv, struct span input, bool stays)
{
	const char *const unset[] = { "SECRET_OF_US", NULL };
	const char *const set[] = { "GIVEN=\xc3\xbc \"x\"", NULL };
	struct child_config c = { .argv = argv,
		.path = strcmp(argv[0], "self") == 0 ? self : NULL,
		.unset = unset,
		.set = set,
		.input = input,
		.stays = stays,
		.output = true,
		.errors = true,
		.max_output = 2 * BIG,
		.timeout_ms = strcmp(argv[1] == NULL ? "" : argv[1], "hang") ==
			0 ?
		    300 :
		    TIMEOUT_MS };

	memset(r, 0, sizeof *r);
	buf_init(&r->out, 0);
	buf_init(&r->err, 0);
	r->l = loop_new();
	r->child = child_new(r->l, &c, &run_ops, r);
}

static void
finish(struct run *r)
{
	if (r->child != NULL)
		loop_run(r->l);
	ck_assert_ptr_null(r->child);
}

static void
run_free(struct run *r)
{
	buf_free(&r->out);
	buf_free(&r->err);
	loop_free(r->l);
}

START_TEST(arguments_come_as_they_are)
{
	const char *const argv[] = { "self", "arguments", "", "two words",
		"a\"b", "\\", "end\\", "\\\"", "%PATH%", "a&b|c<d>e^f", "*",
		"\xc3\xbc\xe2\x82\xac", "tab\there", NULL };
	struct buf expected;
	struct run r;
	size_t i;

	start(&r, argv, no_span, false);
	finish(&r);
	buf_init(&expected, 0);
	for (i = 2; argv[i] != NULL; i++)
		buf_addf(&expected, "[%s]", argv[i]);
	ck_assert_int_eq(r.end, CHILD_EXIT);
	ck_assert_str_eq(buf_str(&r.out), buf_str(&expected));
	buf_free(&expected);
	run_free(&r);
}
END_TEST

/* Where there is cmd.exe, a batch file gets them, too; it gives them on here.
 * What cmd.exe would change is not started. */
static const struct {
	const char *word;
	enum child_end end;
} batch_words[] = {
	{ "two words", CHILD_EXIT },
	{ "a&b|c<d>e^f", CHILD_EXIT },
	{ "!x!", CHILD_EXIT },
	{ "(a)", CHILD_EXIT },
	{ "%PATH%", CHILD_NO_START },
	{ "a\" & b", CHILD_NO_START },
	{ "a\nb", CHILD_NO_START },
};

START_TEST(batch_file_gets_arguments)
{
	static const char name[] = "./check_streams.cmd";
	const char *const argv[] = { name, batch_words[_i].word, NULL };
	struct child_config c = { .argv = argv,
		.output = true,
		.max_output = BIG,
		.timeout_ms = TIMEOUT_MS };
	struct buf expected = { 0 };
	char *path;
	struct run r;
	FILE *f;

	if (os_child_find("cmd.exe", &path) != 0)
		return;
	free(path);
	f = fopen(name, "w");
	fprintf(f, "@\"%s\" arguments %%*\r\n", self);
	fclose(f);
	memset(&r, 0, sizeof r);
	r.l = loop_new();
	r.child = child_new(r.l, &c, &run_ops, &r);
	finish(&r);
	remove(name);
	ck_assert_int_eq(r.end, batch_words[_i].end);
	buf_addf(&expected, "[%s]", batch_words[_i].word);
	if (r.end == CHILD_EXIT)
		ck_assert_str_eq(buf_str(&r.out), buf_str(&expected));
	buf_free(&expected);
	run_free(&r);
}
END_TEST

START_TEST(environment_is_ours_but_for_what_is_named)
{
	static const char *const names[] = { "GIVEN", "SECRET_OF_US" };
	static const char *const values[] = { "\xc3\xbc \"x\"", "(none)" };
	const char *const argv[] = { "self", "variable", names[_i], NULL };
	struct run r;

	start(&r, argv, no_span, false);
	finish(&r);
	ck_assert_str_eq(buf_str(&r.out), values[_i]);
	run_free(&r);
}
END_TEST

START_TEST(status_is_told)
{
	const char *const argv[] = { "self", "exit", "7", NULL };
	struct run r;

	start(&r, argv, no_span, false);
	finish(&r);
	ck_assert_int_eq(r.end, CHILD_EXIT);
	ck_assert_int_eq(r.value, 7);
	run_free(&r);
}
END_TEST

START_TEST(what_hangs_is_killed)
{
	const char *const argv[] = { "self", "hang", NULL };
	struct run r;

	start(&r, argv, no_span, false);
	finish(&r);
	ck_assert_int_eq(r.end, CHILD_TIMEOUT);
	run_free(&r);
}
END_TEST

START_TEST(no_such_program)
{
	const char *const argv[] = { "no-such-program-at-all", NULL };
	struct run r;

	start(&r, argv, no_span, false);
	finish(&r);
	ck_assert_int_eq(r.end, CHILD_NO_START);
	ck_assert_int_eq(r.value, ENOENT);
	run_free(&r);
}
END_TEST

/* Fills b with lines, of different lengths. */
static void
add_lines(struct buf *b)
{
	size_t i;

	for (i = 0; i < LINES; i++)
		buf_addf(b, "%zu %.*s\n", i, (int)(i % 150),
		    "......................................................"
		    "......................................................"
		    "..........................................");
}

/* More than all buffers hold: the end comes after the last byte. */
START_TEST(lines_come_back)
{
	const char *const argv[] = { "self", "echo", NULL };
	struct buf input;
	struct run r;

	buf_init(&input, 0);
	add_lines(&input);
	start(&r, argv, buf_span(&input), false);
	finish(&r);
	ck_assert_int_eq(r.end, CHILD_EXIT);
	ck_assert_int_eq(r.value, 0);
	ck_assert(span_eq(buf_span(&r.out), buf_span(&input)));
	buf_free(&input);
	run_free(&r);
}
END_TEST

static void
on_answer(const char *p, size_t n, void *arg)
{
	struct run *r = arg;

	buf_add(&r->out, p, n);
	loop_stop(r->l, 0);
}

/* Question and answer, many times: nothing waits for a buffer to be full. */
START_TEST(stdin_that_stays)
{
	static const struct child_ops ops = { on_answer, on_errors, on_done };
	const char *const argv[] = { "self", "echo", NULL };
	struct child_config c = { .argv = argv,
		.path = self,
		.stays = true,
		.output = true,
		.max_output = BIG,
		.timeout_ms = TIMEOUT_MS };
	struct run r;
	int i;

	memset(&r, 0, sizeof r);
	buf_init(&r.out, 0);
	r.l = loop_new();
	r.child = child_new(r.l, &c, &ops, &r);
	for (i = 0; i < 50; i++) {
		buf_reset(&r.out);
		child_write(r.child, span_of("question\n"));
		while (r.child != NULL && r.out.n < 9)
			loop_run(r.l);
		ck_assert_str_eq(buf_str(&r.out), "question\n");
	}
	child_end_input(r.child);
	while (r.child != NULL)
		loop_run(r.l);
	ck_assert_int_eq(r.end, CHILD_EXIT);
	ck_assert_int_eq(r.value, 0);
	buf_free(&r.out);
	loop_free(r.l);
}
END_TEST

START_TEST(parent_is_watched)
{
	const char *const argv[] = { "self", "parent", NULL };
	struct run r;

	start(&r, argv, no_span, false);
	while (r.child != NULL && r.out.n == 0) {
		struct loop_timer *t = loop_timer_new(r.l, on_parent, r.l);

		loop_timer_set(t, 10);
		loop_run(r.l);
		loop_timer_free(t);
	}
	ck_assert_ptr_nonnull(r.child);
	child_free(r.child, true);
	run_free(&r);
}
END_TEST

START_TEST(clocks_go_on)
{
	int64_t steady = os_clock_us(OS_CLOCK_STEADY);
	int64_t wall = os_clock_us(OS_CLOCK_WALL) / 1000000;
	int64_t awake = os_clock_us(OS_CLOCK_AWAKE);
	int64_t apart = os_clock_us(OS_CLOCK_ALWAYS) - awake;

	ck_assert_int_lt(llabs(wall - (int64_t)time(NULL)), 3);
	while (os_clock_us(OS_CLOCK_STEADY) - steady < 50000)
		;
	ck_assert_int_gt(os_clock_us(OS_CLOCK_AWAKE), awake);
	awake = os_clock_us(OS_CLOCK_AWAKE);
	ck_assert_int_lt(llabs(os_clock_us(OS_CLOCK_ALWAYS) - awake - apart),
	    (int64_t)os_clock_sleep_ms * 1000);
}
END_TEST

static const struct {
	const char *text;
	size_t n;
	unsigned char last;
} addresses[] = {
	{ "127.0.0.1", 4, 1 },
	{ "127.1", 4, 1 },
	{ "0x7f000002", 4, 2 },
	{ "2130706433", 4, 1 },
	{ "0177.0.0.3", 4, 3 },
	{ "10.0.65535", 4, 255 },
	{ "10.0.65536", 0, 0 },
	{ "256.1", 0, 0 },
	{ "1.2.3.4.5", 0, 0 },
	{ "1.2.3.", 0, 0 },
	{ "", 0, 0 },
	{ "08.1", 0, 0 },
	{ "4294967296", 0, 0 },
};

START_TEST(addresses_of_resolvers)
{
	struct os_address a = os_address_read_loosely(addresses[_i].text);

	ck_assert_uint_eq(a.n, addresses[_i].n);
	if (a.n > 0)
		ck_assert_uint_eq(a.bytes[3], addresses[_i].last);
}
END_TEST

/* A port that is open is not given away again, and a connection has two ends
 * that know each other. */
START_TEST(port_is_ours_alone)
{
	int s = os_listen(false, false, 0, 4);
	struct os_address own, way;

	ck_assert_int_ne(s, -1);
	ck_assert(os_socket_own(s, &own));
	ck_assert_int_eq(os_listen(false, false, own.port, 4), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert_str_ne(os_error_text(EADDRINUSE), "Unknown error");
	ck_assert_int_eq(os_accept(s), -1);
	ck_assert_int_eq(errno, EAGAIN);
	way = os_address_towards(&own);
	ck_assert_uint_eq(way.n, 4);
	ck_assert_uint_eq(way.bytes[0], 127);
	ck_assert_int_eq(os_socket_close(s), 0);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite *s;
	TCase *t;
	int status;

	os_process_begin(&argc, &argv);
	if (argc > 1)
		return be_child(argc, argv);
	s = suite_create("streams");
	t = tcase_create("streams");
	self = os_process_program();
	if (self == NULL)
		self = xstrdup(argv[0]);
	tcase_set_timeout(t, 90);
	tcase_add_test(t, arguments_come_as_they_are);
	tcase_add_loop_test(t, batch_file_gets_arguments, 0,
	    COUNT(batch_words));
	tcase_add_loop_test(t, environment_is_ours_but_for_what_is_named, 0, 2);
	tcase_add_test(t, status_is_told);
	tcase_add_test(t, what_hangs_is_killed);
	tcase_add_test(t, no_such_program);
	tcase_add_test(t, lines_come_back);
	tcase_add_test(t, stdin_that_stays);
	tcase_add_test(t, parent_is_watched);
	tcase_add_test(t, clocks_go_on);
	tcase_add_loop_test(t, addresses_of_resolvers, 0, COUNT(addresses));
	tcase_add_test(t, port_is_ours_alone);
	suite_add_tcase(s, t);
	status = unit_run(s);
	free(self);
	return status;
}
