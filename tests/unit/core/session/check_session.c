/*
 * The session reducer: schedules of inputs and the actions that must come of
 * them, in tests/play/schedules, each a test with a name. session_play.h tells
 * the language. CK_RUN_CASE=NAME plays one of them.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "play/session_play.h"

#include "unit/unit.h"

struct schedule {
	char *name; /* fragments begin with @ */
	char *options;
	char *lines;
};

static struct schedule *schedules;
static size_t n_schedules;

/* --- reading --- */

static void
add_schedule(const char *head, size_t n)
{
	size_t name = strcspn(head, " \n");
	struct schedule *s;

	schedules = xrealloc(schedules, (n_schedules + 1) * sizeof *schedules);
	s = &schedules[n_schedules++];
	s->name = xstrndup(head, name);
	s->options = xstrndup(head + name, n - name);
	s->lines = xstrdup("");
}

static void
add_line(const char *line, size_t n)
{
	struct schedule *s = &schedules[n_schedules - 1];
	char *more = xasprintf("%s%.*s\n", s->lines, (int)n, line);

	free(s->lines);
	s->lines = more;
}

static void
read_schedules(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[4096];
	size_t n;

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof line, file) != NULL) {
		n = strcspn(line, "\n");
		if (strncmp(line, "== ", 3) == 0)
			add_schedule(line + 3, n - 3);
		else if (n > 0 && line[0] != '#' && n_schedules > 0)
			add_line(line, n);
	}
	fclose(file);
}

static void
read_all(void)
{
	static const char *const files[] = { "opening", "loss", "calls",
		"listen", "ends", "recover", "signin" };
	const char *srcdir = getenv("abs_srcdir");
	char *path;
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++) {
		path = xasprintf("%s/play/schedules/%s.txt",
		    srcdir == NULL ? "." : srcdir, files[i]);
		read_schedules(path);
		free(path);
	}
}

static struct schedule *
find_schedule(const char *name)
{
	size_t i;

	for (i = 0; i < n_schedules; i++)
		if (strcmp(schedules[i].name, name) == 0)
			return &schedules[i];
	ck_abort_msg("there is no fragment %s", name);
	return NULL;
}

/* --- playing --- */

/* An expected line that ends with "..." is the beginning of one. */
static bool
is_same(const char *want, const char *seen)
{
	size_t n = strlen(want);

	if (n > 3 && strcmp(want + n - 3, "...") == 0)
		return strncmp(want, seen, n - 3) == 0;
	return strcmp(want, seen) == 0;
}

/* The end of what was played: check dies of a message that is too long. */
static const char *
trace_tail(struct play *p)
{
	enum { TAIL = 4000 };
	const char *trace = buf_str(&p->trace);

	return p->trace.n > TAIL ? trace + p->trace.n - TAIL : trace;
}

static void
expect(struct play *p, const char *want)
{
	struct buf seen;
	bool some;

	buf_init(&seen, 0);
	some = play_take(p, &seen);
	if (want == NULL ? some : !some || !is_same(want, buf_str(&seen)))
		ck_abort_msg("wanted: %s\nseen:   %s\nin:\n%s",
		    want == NULL ? "nothing more" : want,
		    some ? buf_str(&seen) : "nothing", trace_tail(p));
	buf_free(&seen);
}

static void
play_lines(struct play *p, const char *lines)
{
	const char *at = lines, *end;
	char *line;

	for (; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		line = xstrndup(at, (size_t)(end - at));
		if (strchr("><!", line[0]) != NULL) {
			expect(p, NULL);
			ck_assert_msg(play_input(p, line), "not understood: %s",
			    line);
		} else {
			expect(p, line);
		}
		free(line);
	}
	expect(p, NULL);
}

/* The lines of a schedule, "& NAME" replaced by the fragment @NAME. */
static char *
expand(const struct schedule *s)
{
	const char *at = s->lines, *end;
	struct buf b;
	char *name, *lines;

	buf_init(&b, 0);
	for (; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		if (*at != '&') {
			buf_add(&b, at, (size_t)(end + 1 - at));
			continue;
		}
		name = xasprintf("@%.*s", (int)(end - at - 2), at + 2);
		buf_adds(&b, find_schedule(name)->lines);
		free(name);
	}
	lines = xstrdup(buf_str(&b));
	buf_free(&b);
	return lines;
}

START_TEST(test_schedule)
{
	struct play *p = play_new(schedules[_i].options);
	char *lines = expand(&schedules[_i]);

	ck_assert_msg(strchr(lines, '>') != NULL || strchr(lines, '!') != NULL,
	    "an empty schedule");
	play_lines(p, lines);
	free(lines);
	play_free(p);
}
END_TEST

/* --- limits --- */

/* Plays a line; what came of the inputs before it must have been taken. */
static void say(struct play *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void
say(struct play *p, const char *fmt, ...)
{
	char *line;
	va_list ap;

	va_start(ap, fmt);
	line = xvasprintf(fmt, ap);
	va_end(ap);
	expect(p, NULL);
	ck_assert_msg(play_input(p, line), "not understood: %s", line);
	free(line);
}

static void want(struct play *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void
want(struct play *p, const char *fmt, ...)
{
	char *line;
	va_list ap;

	va_start(ap, fmt);
	line = xvasprintf(fmt, ap);
	va_end(ap);
	expect(p, line);
	free(line);
}

enum { ANSWERS = 64, QUESTIONS = 256 };

/* A live session; the call 1 runs on the stream #4. */
static struct play *
asking(const char *options)
{
	struct play *p = play_new(options);

	play_lines(p, find_schedule("@quiet")->lines);
	play_lines(p, find_schedule("@call")->lines);
	say(p, "< #4 head 200 media=sse");
	return p;
}

/* The server asks, on the stream of the call 1, and the client answers. */
static void
ask_and_answer(struct play *p, int id, const char *method)
{
	say(p, "< #4 msg ask %d %s", id, method);
	want(p, "write ask %d %s", id, method);
	say(p, "> answer %d", id);
}

/* A server acknowledges nothing: the answers that it gets are bounded. */
START_TEST(answers_under_way)
{
	struct play *p = asking("");
	int i;

	for (i = 0; i < ANSWERS; i++) {
		ask_and_answer(p, i, "ping");
		want(p, "send #%d POST answer %d @s1", i + 5, i);
	}
	ask_and_answer(p, 64, "elicitation/create");
	ask_and_answer(p, 65, "ping");
	/* Notifications and calls do not wait for them. */
	say(p, "> notifications/a");
	want(p, "send #69 POST notifications/a @s1");
	say(p, "> tools/list 2");
	want(p, "send #70 POST tools/list 2 @s1");
	/* A place is free: in their order. */
	say(p, "< #9 202");
	want(p, "send #71 POST answer 64 @s1");
	say(p, "< #8 idle");
	want(p, "send #72 POST answer 65 @s1");
	say(p, "< #71 502");
	want(p, "write 1 ! upstream_unreachable maybe status 502");
	say(p, "! wait 5000");
	want(p, "abort #4");
	expect(p, NULL);
	play_free(p);
}
END_TEST

/* What waits counts as an open question. */
START_TEST(answers_that_wait)
{
	struct play *p = asking("warnings");
	int i;

	for (i = 0; i < ANSWERS + QUESTIONS; i++) {
		ask_and_answer(p, i, "ping");
		if (i < ANSWERS)
			want(p, "send #%d POST answer %d @s1", i + 5, i);
	}
	say(p, "< #4 msg ask 1000 ping");
	want(p,
	    "warn mcp.test asks too much at once: questions are refused "
	    "while 256 are open");
	say(p, "< #4 msg ask 1001 roots/list");
	want(p, "write 1 ! upstream_timeout maybe");
	expect(p, NULL);
	play_free(p);
}
END_TEST

START_TEST(bytes_of_answers_that_wait)
{
	struct play *p = asking("held=100");
	int i;

	for (i = 0; i < ANSWERS; i++) {
		ask_and_answer(p, i, "ping");
		want(p, "send #%d POST answer %d @s1", i + 5, i);
	}
	ask_and_answer(p, 64, "ping");
	ask_and_answer(p, 65, "ping");
	ask_and_answer(p, 66, "roots/list");
	want(p, "write 1 ! upstream_timeout maybe");
	expect(p, NULL);
	play_free(p);
}
END_TEST

START_TEST(answers_that_wait_while_the_session_is_lost)
{
	struct play *p = asking("");
	int i;

	for (i = 0; i < ANSWERS; i++) {
		ask_and_answer(p, i, "ping");
		want(p, "send #%d POST answer %d @s1", i + 5, i);
	}
	ask_and_answer(p, 64, "roots/list");
	say(p, "> tools/list 2");
	want(p, "send #69 POST tools/list 2 @s1");
	say(p, "< #69 404 media=other body=session_not_found");
	want(p, "write 1 ! session_lost maybe");
	want(p, "send #70 POST initialize \"mine-1\"");
	expect(p, NULL);
	play_free(p);
}
END_TEST

/* Our own answers count, too: too large a question, and nobody to ask. */
START_TEST(refusals_under_way)
{
	struct play *p = asking("result=150");
	int i;

	for (i = 0; i < ANSWERS + 1; i++) {
		say(p, "< #4 msg ask %d %0150d", i, 0);
		if (i < ANSWERS)
			want(p, "send #%d POST error %d @s1", i + 5, i);
	}
	say(p, "< #5 202");
	want(p, "send #69 POST error 64 @s1");
	expect(p, NULL);
	play_free(p);
}
END_TEST

/* A call can be cancelled as soon as it is made. */
START_TEST(cancels_under_way)
{
	enum { CANCELS = 256 };
	struct play *p = asking("inflight=1000");
	int i, n = 4;

	for (i = 2; i < CANCELS + 3; i++) {
		say(p, "> tools/call %d", i);
		want(p, "send #%d POST tools/call %d @s1", ++n, i);
		say(p, "> notifications/cancelled {\"requestId\":%d}", i);
		if (i < CANCELS + 2)
			want(p, "send #%d POST notifications/cancelled @s1",
			    ++n);
	}
	expect(p, NULL);
	play_free(p);
}
END_TEST

/* How many warnings come of so many questions, from this id on. */
static int
warnings_of_questions(struct play *p, int from, int n)
{
	struct buf line;
	char ask[64];
	int i, warnings = 0;

	buf_init(&line, 0);
	for (i = from; i < from + n; i++) {
		snprintf(ask, sizeof ask, "< #3 msg ask %d ping", i);
		ck_assert(play_input(p, ask));
		for (; play_take(p, &line); buf_reset(&line))
			warnings += strncmp(buf_str(&line), "warn ", 5) == 0;
	}
	buf_free(&line);
	return warnings;
}

START_TEST(flood_of_questions)
{
	struct play *p = play_new("warnings");
	const struct schedule live = { .lines = "& live\n"
						"< #3 head 200 media=sse\n" };
	char *lines = expand(&live);

	play_lines(p, lines);
	ck_assert_int_eq(warnings_of_questions(p, 0, 256), 0);
	ck_assert_int_eq(warnings_of_questions(p, 256, 1000), 1);
	ck_assert(play_input(p, "! wait 60000"));
	ck_assert_int_eq(warnings_of_questions(p, 1256, 1000), 1);
	free(lines);
	play_free(p);
}
END_TEST

/* The processor time of 1000 progress notifications that fit no call, ms, while
 * 8 calls with params of so many bytes are open. */
static long
time_of_progress(size_t bytes)
{
	struct play *p = play_new("");
	const struct schedule quiet = { .lines = "& quiet\n" };
	char *lines = expand(&quiet), *data = xmalloc(bytes + 1), *line;
	struct buf out;
	clock_t start;
	int i;

	memset(data, 'x', bytes);
	data[bytes] = '\0';
	buf_init(&out, 0);
	play_lines(p, lines);
	for (i = 1; i <= 8; i++) {
		line = xasprintf("> tools/call %d {\"a\":\"%s\"}", i, data);
		ck_assert(play_input(p, line));
		free(line);
	}
	ck_assert(play_input(p, "< #4 head 200 media=sse"));
	while (play_take(p, &out))
		buf_reset(&out);
	start = clock();
	for (i = 0; i < 1000; i++) {
		line = xasprintf("< #4 msg note notifications/progress "
				 "{\"progressToken\":\"no%d\",\"progress\":1}",
		    i);
		ck_assert(play_input(p, line));
		ck_assert(play_take(p, &out));
		buf_reset(&out);
		free(line);
	}
	start = clock() - start;
	buf_free(&out);
	free(data);
	free(lines);
	play_free(p);
	return (long)(start / (CLOCKS_PER_SEC / 1000));
}

/* What it costs does not depend on how long the open calls are. */
START_TEST(forged_progress)
{
	long small = time_of_progress(10), large = time_of_progress(1000000);

	ck_assert_int_le(large, 10 * small + 300);
}
END_TEST

static TCase *
limits(void)
{
	TCase *tc = tcase_create("limits");

	tcase_add_test(tc, answers_under_way);
	tcase_add_test(tc, answers_that_wait);
	tcase_add_test(tc, bytes_of_answers_that_wait);
	tcase_add_test(tc, answers_that_wait_while_the_session_is_lost);
	tcase_add_test(tc, refusals_under_way);
	tcase_add_test(tc, cancels_under_way);
	tcase_add_test(tc, flood_of_questions);
	tcase_add_test(tc, forged_progress);
	return tc;
}

int
main(void)
{
	Suite *suite = suite_create("session");
	TCase *tc;
	size_t i;
	int status;

	read_all();
	for (i = 0; i < n_schedules; i++) {
		if (schedules[i].name[0] == '@')
			continue;
		tc = tcase_create(schedules[i].name);
		tcase_add_loop_test(tc, test_schedule, (int)i, (int)i + 1);
		suite_add_tcase(suite, tc);
	}
	suite_add_tcase(suite, limits());
	status = unit_run(suite);
	for (i = 0; i < n_schedules; i++) {
		free(schedules[i].name);
		free(schedules[i].options);
		free(schedules[i].lines);
	}
	free(schedules);
	return status;
}
