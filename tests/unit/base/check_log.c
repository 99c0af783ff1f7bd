/*
 * The log: levels, escaping, both formats, the file and its rotation, the
 * ring, and a stderr that is full or closed.
 */
#include "config.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/mem.h"
#include "core/wire/json.h"
#include "unit/unit.h"

static struct buf seen; /* what the sink got, a line each */
static char dir[64];
static char *path, *old_path;

static void
on_record(enum log_level level, const char *line, void *arg)
{
	ck_assert_ptr_eq(arg, &seen);
	buf_addf(&seen, "%d|%s\n", (int)level, line);
}

static void
setup(void)
{
	snprintf(dir, sizeof dir, "/tmp/check_log.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/log", dir);
	old_path = xasprintf("%s/log.1", dir);
	buf_init(&seen, 0);
	log_sink(on_record, &seen);
}

static void
teardown(void)
{
	log_close();
	log_sink(NULL, NULL);
	unlink(path);
	unlink(old_path);
	rmdir(dir);
	free(path);
	free(old_path);
	buf_free(&seen);
}

static void
open_log(enum log_level level, bool json, const char *file)
{
	struct log_config config = { level, json, file };

	ck_assert_int_eq(log_open(&config), 0);
}

/* The content of a file, to be freed. */
static char *
content(const char *name)
{
	char chunk[4096];
	struct buf b;
	size_t n;
	FILE *in;

	in = fopen(name, "r");
	ck_assert_ptr_nonnull(in);
	buf_init(&b, 0);
	while ((n = fread(chunk, 1, sizeof chunk, in)) > 0)
		buf_add(&b, chunk, n);
	fclose(in);
	return buf_take(&b);
}

START_TEST(test_levels)
{
	open_log(LEVEL_WARN, false, NULL);
	log_error("e %d", 1);
	log_warn("w");
	log_info("i");
	log_debug("d");
	ck_assert_str_eq(buf_str(&seen),
	    "0|mcpsplice: error: e 1\n"
	    "1|mcpsplice: warning: w\n");
	ck_assert(log_wants(LEVEL_WARN) && !log_wants(LEVEL_INFO));
	buf_reset(&seen);
	open_log(LEVEL_DEBUG, false, NULL);
	log_info("i");
	log_debug("d");
	ck_assert_str_eq(buf_str(&seen), "2|mcpsplice: i\n3|mcpsplice: d\n");
}
END_TEST

START_TEST(test_escapes)
{
	open_log(LEVEL_WARN, false, NULL);
	log_warn("a%sb", "\n\x1b[2J\xE2\x80\xAE\xFF\xC3\xA9");
	ck_assert_str_eq(buf_str(&seen),
	    "1|mcpsplice: warning: a \\x1b"
	    "[2J\\xe2\\x80\\xae\\xff\xC3\xA9"
	    "b\n");
}
END_TEST

START_TEST(test_cut)
{
	char *big;
	size_t n;

	big = xmalloc(100001);
	memset(big, 'x', 100000);
	big[100000] = '\0';
	open_log(LEVEL_WARN, false, NULL);
	log_warn("%s", big);
	n = seen.n;
	ck_assert(n > 3500 && n <= 4096 + 2);
	ck_assert_mem_eq(seen.p + n - 4, "...\n", 4);
	/* Each byte is shown as four. */
	memset(big, '\x01', 100000);
	buf_reset(&seen);
	log_warn("%s", big);
	ck_assert(seen.n > 3500 && seen.n <= 4096 + 2);
	free(big);
}
END_TEST

START_TEST(test_json)
{
	struct span line, value;
	struct buf text;
	char *big;

	open_log(LEVEL_INFO, true, NULL);
	log_info("say \"%s\"", "a\nb\\");
	ck_assert_mem_eq(seen.p, "2|", 2);
	line = (struct span){ seen.p + 2, seen.n - 3 };
	ck_assert_int_eq(json_check(line, 1, NULL, NULL, NULL), JSON_OK);
	ck_assert(span_is(json_get(line, "level"), "\"info\""));
	ck_assert_int_eq(json_kind(json_get(line, "time")), '"');
	ck_assert_int_eq(atoi(json_get(line, "pid").p), (int)getpid());
	value = json_get(line, "message");
	buf_init(&text, 0);
	ck_assert_int_eq(json_string(value, &text), 0);
	ck_assert_str_eq(buf_str(&text), "say \"a b\\\"");
	buf_free(&text);
	/* Quoting doubles it: still one object of at most 4 KiB. */
	big = xmalloc(5001);
	memset(big, '"', 5000);
	big[5000] = '\0';
	buf_reset(&seen);
	log_info("%s", big);
	ck_assert(seen.n > 1000 && seen.n <= 4096 + 2);
	line = (struct span){ seen.p + 2, seen.n - 3 };
	ck_assert_int_eq(json_check(line, 1, NULL, NULL, NULL), JSON_OK);
	free(big);
}
END_TEST

/* A record of so many bytes with its line end is whole, a longer one is cut. */
START_TEST(test_line_bytes)
{
	char text[BOUND_LINE_BYTES + 1];
	size_t around, room;

	open_log(LEVEL_INFO, true, NULL);
	log_info("%s", "");
	around = seen.n - 2; /* what the sink got begins with the level */
	buf_reset(&seen);
	memset(text, '"', sizeof text);
	/* A quote takes two bytes. */
	room = BOUND_LINE_BYTES - around + (size_t)_i;
	text[room / 2] = room % 2 == 1 ? 'x' : '\0';
	text[room / 2 + 1] = '\0';
	log_info("%s", text);
	if (_i == 0)
		ck_assert_uint_eq(seen.n - 2, BOUND_LINE_BYTES);
	else
		ck_assert_uint_lt(seen.n - 2, BOUND_LINE_BYTES);
}
END_TEST

START_TEST(test_file)
{
	char *text, *want;
	struct stat st;

	open_log(LEVEL_INFO, false, path);
	log_info("one");
	log_close();
	open_log(LEVEL_INFO, false, path);
	log_warn("two");
	log_debug("not this");
	text = content(path);
	want = xasprintf("mcpsplice[%ld]: one\n", (long)getpid());
	ck_assert_ptr_nonnull(strstr(text, want));
	free(want);
	want = xasprintf("Z mcpsplice[%ld]: warning: two\n", (long)getpid());
	ck_assert_ptr_nonnull(strstr(text, want));
	ck_assert_ptr_null(strstr(text, "not this"));
	ck_assert_int_eq(text[4], '-');
	ck_assert_int_eq(text[10], 'T');
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	free(want);
	free(text);
}
END_TEST

START_TEST(test_file_cannot_be_opened)
{
	struct log_config config = { LEVEL_WARN, false, "/nonexistent/log" };

	ck_assert_int_eq(log_open(&config), -1);
	ck_assert_int_eq(errno, ENOENT);
	log_warn("still here");
	ck_assert_ptr_nonnull(strstr(buf_str(&seen), "still here"));
}
END_TEST

/* At 5 MiB the file is put aside; a second log that has it open follows. */
START_TEST(test_rotation)
{
	char line[1001];
	struct stat st;
	char *text;
	int i;

	memset(line, 'x', 1000);
	line[1000] = '\0';
	open_log(LEVEL_DEBUG, false, path);
	for (i = 0; i < 6000; i++)
		log_info("%s", line);
	ck_assert_int_eq(stat(old_path, &st), 0);
	ck_assert(st.st_size >= 5 * 1024 * 1024);
	ck_assert(st.st_size < 5 * 1024 * 1024 + 4096);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert(st.st_size > 0 && st.st_size < 2 * 1024 * 1024);
	/* Somebody else puts it aside: ours must not go there. */
	ck_assert_int_eq(rename(path, old_path), 0);
	log_info("the new one");
	text = content(path);
	ck_assert_ptr_nonnull(strstr(text, "the new one"));
	ck_assert(strlen(text) < 200);
	free(text);
}
END_TEST

/* A file of so many bytes takes no more, one of a byte less takes a line. */
START_TEST(test_file_bytes)
{
	struct stat st;
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(ftruncate(fileno(out), BOUND_LOG_FILE_BYTES - _i), 0);
	fclose(out);
	open_log(LEVEL_INFO, false, path);
	log_info("a line");
	ck_assert_int_eq(stat(old_path, &st), _i == 0 ? 0 : -1);
	log_info("a line");
	ck_assert_int_eq(stat(old_path, &st), 0);
}
END_TEST

static size_t
count(const char *word)
{
	const char *at = buf_str(&seen);
	size_t n = 0;

	while ((at = strstr(at, word)) != NULL) {
		at++;
		n++;
	}
	return n;
}

/* Of a flood 100 records a second are written, and how many were not; an
 * error comes through. With LEVEL_DEBUG all are written. */
START_TEST(test_rate)
{
	static const char told[] = " more messages left out";
	size_t i, n, left = 0;
	time_t start = time(NULL);
	const char *at;

	open_log(_i == 0 ? LEVEL_WARN : LEVEL_DEBUG, false, NULL);
	for (i = 0; i < 2000; i++)
		log_warn("flood");
	n = count("flood");
	if (_i == 1) {
		ck_assert_uint_eq(n, 2000);
		return;
	}
	ck_assert_uint_ge(n, 100);
	ck_assert_uint_le(n, 100 * (size_t)(time(NULL) - start + 1));
	log_put(LEVEL_ERROR, "it broke");
	for (i = 0; i < 2000; i++)
		log_put(LEVEL_ERROR, "flood");
	log_error("the end");
	ck_assert_uint_eq(count("it broke"), 1);
	ck_assert_uint_eq(count("the end"), 1);
	log_close();
	n = count("flood");
	ck_assert_uint_le(n, 200 * (size_t)(time(NULL) - start + 1));
	for (at = seen.p; (at = strstr(at, told)) != NULL; at++) {
		const char *digits = at;

		while (digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		left += strtoul(digits, NULL, 10);
	}
	ck_assert_uint_eq(left + n, 4000);
}
END_TEST

/* What a server causes with "-v" must not hide what is wrong. */
START_TEST(test_rate_of_each_level)
{
	size_t i;

	open_log(LEVEL_INFO, false, NULL);
	for (i = 0; i < 2000; i++)
		log_info("flood");
	log_warn("it broke");
	ck_assert_uint_lt(count("flood"), 2000);
	ck_assert_uint_eq(count("it broke"), 1);
}
END_TEST

START_TEST(test_decisions)
{
	const char *first, *last;
	int i;

	open_log(LEVEL_WARN, false, NULL);
	for (i = 0; i < 70; i++)
		log_decision("decision <%d>", i);
	ck_assert_uint_eq(seen.n, 0);
	log_dump("Giving up");
	buf_str(&seen);
	ck_assert_ptr_nonnull(strstr(seen.p, "Giving up"));
	ck_assert_ptr_null(strstr(seen.p, "<5>"));
	first = strstr(seen.p, "<6>");
	last = strstr(seen.p, "<69>");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_nonnull(last);
	ck_assert(first < last);
	buf_reset(&seen);
	open_log(LEVEL_INFO, false, NULL);
	log_decision("shown");
	ck_assert_str_eq(buf_str(&seen), "2|mcpsplice: shown\n");
}
END_TEST

START_TEST(test_dump_for_errors)
{
	open_log(LEVEL_WARN, false, NULL);
	log_dump_for_error("one", 5);
	log_dump_for_error("two", 5 + BOUND_MINUTE_MS - 1);
	log_dump_for_error("three", 5 + BOUND_MINUTE_MS);
	log_dump_for_error("four", 5 + BOUND_MINUTE_MS);
	ck_assert_uint_eq(count("|mcpsplice: one\n"), 1);
	ck_assert_uint_eq(count("|mcpsplice: two\n"), 0);
	ck_assert_uint_eq(count("|mcpsplice: three\n"), 1);
	ck_assert_uint_eq(count("|mcpsplice: four\n"), 0);
}
END_TEST

/* The tap gets each record, also those that are not written, but no dump. */
START_TEST(test_tap)
{
	size_t i;

	open_log(LEVEL_ERROR, false, NULL);
	ck_assert(!log_wants(LEVEL_DEBUG));
	log_tap(on_record, &seen);
	ck_assert(log_wants(LEVEL_DEBUG));
	for (i = 0; i < BOUND_LOG_LINES + 2; i++)
		log_debug("one\n");
	ck_assert_uint_eq(count("3|one\n"), BOUND_LOG_LINES + 2);
	buf_reset(&seen);
	log_decision("two");
	ck_assert_str_eq(buf_str(&seen), "2|two\n");
	buf_reset(&seen);
	log_error("three");
	ck_assert_str_eq(buf_str(&seen),
	    "0|three\n0|mcpsplice: error: three\n");
	buf_reset(&seen);
	log_dump("page");
	ck_assert_uint_eq(count("|page"), 0);
	log_tap(NULL, NULL);
	buf_reset(&seen);
	log_decision("four");
	ck_assert_uint_eq(seen.n, 0);
}
END_TEST

/* The watch gets what is a warning at least, though -q is given. */
START_TEST(test_watch)
{
	open_log(LEVEL_ERROR, false, NULL);
	log_watch(on_record, &seen);
	ck_assert(!log_wants(LEVEL_INFO));
	log_info("one");
	log_decision("two");
	log_warn("three\n");
	ck_assert_str_eq(buf_str(&seen), "1|three\n");
	log_watch(NULL, NULL);
	log_warn("four");
	ck_assert_str_eq(buf_str(&seen), "1|three\n");
}
END_TEST

START_TEST(test_errno_is_kept)
{
	open_log(LEVEL_WARN, false, path);
	errno = EDOM;
	log_warn("x");
	ck_assert_int_eq(errno, EDOM);
}
END_TEST

/* Calls with stderr replaced; returns the real one. */
static int
swap_stderr(int fd)
{
	int saved = dup(STDERR_FILENO);

	ck_assert_int_ge(saved, 0);
	if (fd >= 0)
		ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	else
		close(STDERR_FILENO);
	return saved;
}

static void
restore_stderr(int saved)
{
	dup2(saved, STDERR_FILENO);
	close(saved);
}

START_TEST(test_stderr)
{
	static const char want[] = "mcpsplice: warning: hello\n";
	char got[128];
	int fds[2], saved;
	ssize_t n;

	log_sink(NULL, NULL);
	open_log(LEVEL_WARN, false, NULL);
	ck_assert_int_eq(pipe(fds), 0);
	saved = swap_stderr(fds[1]);
	log_warn("hello");
	restore_stderr(saved);
	n = read(fds[0], got, sizeof got);
	ck_assert_int_eq(n, (int)sizeof want - 1);
	ck_assert_mem_eq(got, want, sizeof want - 1);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* Nobody reads, nobody listens, nobody is there: no hang, no signal. */
START_TEST(test_stderr_full_or_gone)
{
	int fds[2], saved, i;

	log_sink(NULL, NULL);
	open_log(LEVEL_WARN, false, NULL);
	ck_assert_int_eq(pipe(fds), 0);
	saved = swap_stderr(fds[1]);
	alarm(20);
	for (i = 0; i < 20000; i++)
		log_warn("a line that fills the pipe");
	close(fds[0]);
	log_warn("nobody reads");
	restore_stderr(saved);
	close(fds[1]);
	saved = swap_stderr(-1);
	log_warn("closed");
	restore_stderr(saved);
	alarm(0);
	ck_assert_int_eq(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("log");
	TCase *tc = tcase_create("log");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, test_levels);
	tcase_add_test(tc, test_escapes);
	tcase_add_test(tc, test_cut);
	tcase_add_test(tc, test_json);
	tcase_add_loop_test(tc, test_line_bytes, 0, 2);
	tcase_add_test(tc, test_file);
	tcase_add_loop_test(tc, test_rate, 0, 2);
	tcase_add_test(tc, test_rate_of_each_level);
	tcase_add_test(tc, test_file_cannot_be_opened);
	tcase_add_test(tc, test_rotation);
	tcase_add_loop_test(tc, test_file_bytes, 0, 2);
	tcase_add_test(tc, test_decisions);
	tcase_add_test(tc, test_dump_for_errors);
	tcase_add_test(tc, test_tap);
	tcase_add_test(tc, test_watch);
	tcase_add_test(tc, test_errno_is_kept);
	tcase_add_test(tc, test_stderr);
	tcase_add_test(tc, test_stderr_full_or_gone);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
