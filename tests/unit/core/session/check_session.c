/*
 * The session reducer: schedules of inputs and the actions that must come of
 * them, in tests/play/schedules, each a test with a name. CK_RUN_CASE=NAME
 * plays one of them. Here are the limits, which take many inputs.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "play/suite.h"
#include "unit/unit.h"

/* --- limits --- */

enum { ANSWERS = 64, QUESTIONS = 256 };

/* A live session; the call 1 runs on the stream #4. */
static struct play *
asking(const char *options)
{
	struct play *p = play_new(&play_session, options);

	play_check_lines(p, suite_fragment("@quiet"));
	play_check_lines(p, suite_fragment("@call"));
	play_must(p, "< #4 head 200 media=sse");
	return p;
}

/* The server asks, on the stream of the call 1, and the client answers. Its ids
 * are counted from 0, those that the client sees from 1. */
static void
ask_and_answer(struct play *p, int id, const char *method)
{
	play_must(p, "< #4 msg ask %d %s", id, method);
	play_must(p, "write ask %d %s", id + 1, method);
	play_must(p, "> answer %d", id + 1);
}

/* As many as may be under way: #5 to #68. */
static void
ask_and_answer_all(struct play *p)
{
	int i;

	for (i = 0; i < ANSWERS; i++) {
		ask_and_answer(p, i, "ping");
		play_must(p, "send #%d POST answer %d @s1", i + 5, i);
	}
}

/* A server acknowledges nothing: the answers that it gets are bounded. */
START_TEST(answers_under_way)
{
	struct play *p = asking("");

	ask_and_answer_all(p);
	ask_and_answer(p, 64, "elicitation/create");
	ask_and_answer(p, 65, "ping");
	/* Notifications and calls do not wait for them. */
	play_must(p, "> notifications/a");
	play_must(p, "send #69 POST notifications/a @s1");
	play_must(p, "> tools/list 2");
	play_must(p, "send #70 POST tools/list 2 @s1");
	/* A place is free: in their order. */
	play_must(p, "< #9 202");
	play_must(p, "send #71 POST answer 64 @s1");
	play_must(p, "< #8 idle");
	play_must(p, "send #72 POST answer 65 @s1");
	play_must(p, "< #71 500");
	play_must(p, "write 1 ! bad_upstream maybe status 500");
	play_must(p, "! wait 5000");
	play_must(p, "abort #4");
	play_must_rest(p);
	play_free(p);
}
END_TEST

/* What waits counts as an open question. */
START_TEST(answers_that_wait)
{
	struct play *p = asking("warnings");
	int i;

	ask_and_answer_all(p);
	for (i = ANSWERS; i < ANSWERS + QUESTIONS; i++)
		ask_and_answer(p, i, "ping");
	play_must(p, "< #4 msg ask 1000 ping");
	play_must(p,
	    "warn mcp.test asks too many questions at once: refusing others "
	    "while 256 are open");
	play_must(p, "< #4 msg ask 1001 roots/list");
	play_must(p, "write 1 ! upstream_timeout maybe");
	play_must_rest(p);
	play_free(p);
}
END_TEST

/* Three answers of two digits: the bytes of all are taken, or one is too
 * many. */
START_TEST(bytes_of_answers_that_wait)
{
	size_t one = strlen("{\"jsonrpc\":\"2.0\",\"id\":64,\"result\":{}}");
	char *options = xasprintf("held=%zu", 3 * one - (size_t)_i);
	struct play *p = asking(options);

	ask_and_answer_all(p);
	ask_and_answer(p, 64, "ping");
	ask_and_answer(p, 65, "ping");
	ask_and_answer(p, 66, "roots/list");
	if (_i == 1)
		play_must(p, "write 1 ! upstream_timeout maybe");
	play_must_rest(p);
	play_free(p);
	free(options);
}
END_TEST

START_TEST(answers_that_wait_while_the_session_is_lost)
{
	struct play *p = asking("");

	ask_and_answer_all(p);
	ask_and_answer(p, 64, "roots/list");
	play_must(p, "> tools/list 2");
	play_must(p, "send #69 POST tools/list 2 @s1");
	play_must(p, "< #69 404 media=other body=session_not_found");
	play_must(p, "send #70 POST ping \"mine-1\" @s1");
	play_must(p, "send #71 POST initialize \"mine-2\"");
	play_must(p, "< #70 404 media=other body=session_not_found");
	play_must(p, "write 1 ! session_lost maybe");
	play_must_rest(p);
	play_free(p);
}
END_TEST

/* Our own answers count, too: too large a question, and nobody to ask. */
START_TEST(refusals_under_way)
{
	struct play *p = asking("result=150");
	int i;

	for (i = 0; i < ANSWERS + 1; i++) {
		play_must(p, "< #4 msg ask %d %0150d", i, 0);
		if (i < ANSWERS)
			play_must(p, "send #%d POST error %d @s1", i + 5, i);
	}
	play_must(p, "< #5 202");
	play_must(p, "send #69 POST error 64 @s1");
	play_must_rest(p);
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
		play_must(p, "> tools/call %d", i);
		play_must(p, "send #%d POST tools/call %d @s1", ++n, i);
		play_must(p, "> notifications/cancelled {\"requestId\":%d}", i);
		if (i < CANCELS + 2)
			play_must(p,
			    "send #%d POST notifications/cancelled @s1", ++n);
	}
	play_must_rest(p);
	play_free(p);
}
END_TEST

/* Calls do not wait until the server has taken notifications. */
START_TEST(notifications_under_way)
{
	enum { NOTES = 64, FIRST = 5 };
	struct play *p = asking("");
	int i;

	for (i = 0; i < NOTES; i++) {
		play_must(p, "> notifications/n%d", i);
		play_must(p, "send #%d POST notifications/n%d @s1", FIRST + i,
		    i);
	}
	play_must(p, "> notifications/late");
	play_must(p, "> notifications/later");
	play_must(p, "> tools/call 2");
	play_must(p, "send #%d POST tools/call 2 @s1", FIRST + NOTES);
	play_must(p, "< #%d 202", FIRST + 1);
	play_must(p, "send #%d POST notifications/late @s1", FIRST + NOTES + 1);
	play_must_rest(p);
	play_free(p);
}
END_TEST

START_TEST(calls_at_the_server)
{
	char *options = xasprintf("inflight=%d", BOUND_MAX_INFLIGHT);
	struct play *p = play_new(&play_session, options);
	int i, n = BOUND_MAX_INFLIGHT;

	play_check_lines(p, suite_fragment("@quiet"));
	for (i = 4; i < 4 + n; i++) {
		play_must(p, "> tools/call %d", i);
		play_must(p, "send #%d POST tools/call %d @s1", i, i);
	}
	play_must(p, "> tools/call %d", i);
	/* One that was cancelled counts as long as its stream is open. */
	play_must(p, "> notifications/cancelled {\"requestId\":5}");
	play_must(p, "send #%d POST notifications/cancelled @s1", i);
	play_must(p, "< #4 200 ok");
	play_must(p, "write 4 = {}");
	play_must(p, "send #%d POST tools/call %d @s1", i + 1, i);
	play_must_rest(p);
	play_free(p);
	free(options);
}
END_TEST

/* The client calls, with a line of so many bytes. */
static void
call_of(struct play *p, int id, size_t bytes)
{
	static const char
	    before[] = "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":"
		       "\"tools/call\",\"params\":{\"a\":\"";
	static const char behind[] = "\"}}";
	char *line = xasprintf(before, id), *pad;
	size_t n = bytes - strlen(line) - strlen(behind);

	pad = xmalloc(n + 1);
	memset(pad, 'x', n);
	pad[n] = '\0';
	play_must(p, "> %s%s%s", line, pad, behind);
	free(line);
	free(pad);
}

/* A call is held back if it makes the bytes at the server too many; one that
 * has its share of them, as --max-inflight shares them out, is not. */
START_TEST(bytes_at_the_server)
{
	enum { BIG = 10000, BIGGEST = 1000000 };
	size_t frame = sizeof(struct frame) + MEM_OVERHEAD;
	size_t held = 2 * (frame + BIG) - (_i == 1);
	char *options = xasprintf("inflight=20 bodies=%zu held=%zu", held,
	    held);
	struct play *p = play_new(&play_session, options);

	play_check_lines(p, suite_fragment("@quiet"));
	call_of(p, 4, BIG);
	play_must(p, "send #4 POST tools/call 4 @s1");
	call_of(p, 5, BIG);
	if (_i == 1) {
		play_must_rest(p);
		play_must(p, "< #4 200 ok");
		play_must(p, "write 4 = {}");
	}
	play_must(p, "send #5 POST tools/call 5 @s1");
	call_of(p, 6, held / 20 - frame);
	play_must(p, "send #6 POST tools/call 6 @s1");
	call_of(p, 7, BIGGEST);
	play_must(p, "read off");
	play_must(p, "< #6 200 ok");
	play_must(p, "write 6 = {}");
	if (_i == 0) {
		play_must(p, "< #4 200 ok");
		play_must(p, "write 4 = {}");
	}
	play_must(p, "< #5 200 ok");
	play_must(p, "write 5 = {}");
	/* It is alone. */
	play_must(p, "send #7 POST tools/call 7 @s1");
	play_must(p, "read on");
	call_of(p, 8, held / 20 - frame);
	play_must(p, "send #8 POST tools/call 8 @s1");
	call_of(p, 9, held / 20 - frame + 1);
	play_must_rest(p);
	play_free(p);
	free(options);
}
END_TEST

/* How many warnings come of so many questions, from this id on. */
static unsigned
warnings_of_questions(struct play *p, int from, int n)
{
	unsigned warnings = 0;
	int i;

	for (i = from; i < from + n; i++) {
		play_must(p, "< #3 msg ask %d ping", i);
		warnings += play_count(p, "warn ");
	}
	return warnings;
}

START_TEST(flood_of_questions)
{
	struct play *p = play_new(&play_session, "warnings");

	play_check_lines(p, suite_fragment("@live"));
	play_must(p, "< #3 head 200 media=sse");
	ck_assert_uint_eq(warnings_of_questions(p, 0, 256), 0);
	ck_assert_uint_eq(warnings_of_questions(p, 256, 1000), 1);
	play_must(p, "! wait 60000");
	ck_assert_uint_eq(warnings_of_questions(p, 1256, 1000), 1);
	play_free(p);
}
END_TEST

/* The processor time of 1000 progress notifications that fit no call, ms, while
 * 8 calls with params of so many bytes are open. */
static long
time_of_progress(size_t bytes)
{
	struct play *p = play_new(&play_session, "bodies=16000000");
	char *data = xmalloc(bytes + 1);
	double start;
	int i;

	memset(data, 'x', bytes);
	data[bytes] = '\0';
	play_check_lines(p, suite_fragment("@quiet"));
	for (i = 1; i <= 8; i++) {
		play_must(p, "> tools/call %d {'a':'%s'}", i, data);
		play_must(p, "send #%d POST tools/call %d @s1", i + 3, i);
	}
	play_must(p, "< #4 head 200 media=sse");
	start = unit_cpu();
	for (i = 0; i < 1000; i++) {
		play_must(p,
		    "< #4 msg note notifications/progress "
		    "{'progressToken':'no%d','progress':1}",
		    i);
		play_must(p, "write note notifications/progress ...");
	}
	start = unit_cpu() - start;
	free(data);
	play_free(p);
	return (long)(1000 * start);
}

/* What it costs does not depend on how long the open calls are. */
START_TEST(forged_progress)
{
	long small = time_of_progress(10), large = time_of_progress(1000000);

	ck_assert_int_le(large, 10 * small + 300);
}
END_TEST

/* The call with this id is answered on the stream #stream, which stays open. */
static void
call_that_lingers(struct play *p, int id, int stream)
{
	play_must(p, "> tools/call %d", id);
	play_must(p, "send #%d POST tools/call %d @s1", stream, id);
	play_must(p, "< #%d head 200 media=sse", stream);
	play_must(p, "< #%d msg ok", stream);
	play_must(p, "write %d = {}", id);
}

/* Streams stay open although their calls were answered: the oldest is closed
 * when there are more than 64. */
START_TEST(streams_that_linger)
{
	enum { LINGERING = 64, FIRST = 4 };
	struct play *p = play_new(&play_session, "");
	int i;

	play_check_lines(p, suite_fragment("@quiet"));
	for (i = 0; i < 2 * LINGERING; i++) {
		call_that_lingers(p, i, FIRST + i);
		if (i >= LINGERING)
			play_must(p, "abort #%d", FIRST + i - LINGERING);
	}
	/* One that ended leaves room for another. */
	play_must(p, "< #%d end", FIRST + i - 1);
	call_that_lingers(p, i, FIRST + i);
	play_must_rest(p);
	play_free(p);
}
END_TEST

/* --- sizes --- */

/* A text of this many bytes with "x"s between its beginning and its end. */
static char *
filled(const char *beginning, const char *end, size_t size)
{
	size_t head = strlen(beginning), tail = strlen(end);
	char *s = xmalloc(size + 1);

	ck_assert_uint_ge(size, head + tail);
	memset(s, 'x', size);
	memcpy(s, beginning, head);
	memcpy(s + size - tail, end, tail + 1);
	return s;
}

/* The line that the client gets counts. */
START_TEST(size_of_a_result)
{
	char *options = xasprintf("result=%d", BOUND_MAX_RESULT_BYTES);
	struct play *p = asking(options);
	char
	    *line = filled("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"",
		"\"}}", BOUND_MAX_RESULT_BYTES + (size_t)_i);

	play_feed(p, "< #4 msg %s", line);
	ck_assert_uint_eq(play_seen(p, "write 1 = ("), _i == 0);
	ck_assert_uint_eq(play_seen(p, "write 1 ! too_large maybe\n"), _i == 1);
	free(line);
	free(options);
	play_free(p);
}
END_TEST

/* The refusal that a call keeps while it is asked whether the session lives:
 * as it is, or cut. */
START_TEST(size_of_a_refusal)
{
	struct play *p = play_new(&play_session, "");
	char *line = filled("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{"
			    "\"code\":-32000,\"message\":\"Not here",
	    "\"}}", BOUND_PART_BYTES + (size_t)_i);
	size_t n = _i == 0 ? strcspn(strstr(line, "Not"), "\"") :
			     BOUND_PART_BYTES / 8;
	char *words = filled("Not here", "", n);

	play_check_lines(p, suite_fragment("@quiet"));
	play_check_lines(p, suite_fragment("@call"));
	play_must(p, "< #4 400 %s", line);
	play_must(p, "send #5 POST ping \"mine-1\" @s1");
	play_must(p, "< #5 200 ok");
	play_must(p, "write 1 ! -32000 %s", words);
	play_must_rest(p);
	free(words);
	free(line);
	play_free(p);
}
END_TEST

/* A call with a progress token is made and answered. */
static void
answered(struct play *p, int id)
{
	play_must(p, "> tools/call %d {\"_meta\":{\"progressToken\":\"t%d\"}}",
	    id, id);
	play_must(p, "send #%d POST tools/call %d @s1", id, id);
	play_must(p, "< #%d 200 ok", id);
	play_must(p, "write %d = {}", id);
}

/* What comes late for a call that was answered is dropped, as long as its id
 * and its token are known. */
START_TEST(answered_calls_that_are_known)
{
	struct play *p = play_new(&play_session, "");
	int i, first = 4, last = first + BOUND_FEW + 1;

	play_check_lines(p, suite_fragment("@live"));
	for (i = first; i < last; i++)
		answered(p, i);
	play_must(p,
	    "< #3 msg note notifications/progress "
	    "{\"progressToken\":\"t%d\"}",
	    first + 1);
	play_must(p,
	    "< #3 msg note notifications/progress "
	    "{\"progressToken\":\"t%d\"}",
	    first);
	play_must(p,
	    "write note notifications/progress "
	    "{\"progressToken\":\"t%d\"}",
	    first);
	/* A second answer; one whose id is not known is that of the stream. */
	play_must(p, "> tools/call %d", last);
	play_must(p, "send #%d POST tools/call %d @s1", last, last);
	play_must(p, "< #%d head 200 media=sse", last);
	play_must(p, "< #%d msg ok=%d", last, first + 1);
	play_must(p, "< #%d msg ok=%d", last, first);
	play_must(p, "write %d = {}", last);
	play_must_rest(p);
	play_free(p);
}
END_TEST

static TCase *
limits(void)
{
	TCase *tc = tcase_create("limits");

	tcase_add_test(tc, answers_under_way);
	tcase_add_test(tc, answers_that_wait);
	tcase_add_loop_test(tc, bytes_of_answers_that_wait, 0, 2);
	tcase_add_test(tc, answers_that_wait_while_the_session_is_lost);
	tcase_add_test(tc, refusals_under_way);
	tcase_add_test(tc, cancels_under_way);
	tcase_add_test(tc, notifications_under_way);
	tcase_add_test(tc, calls_at_the_server);
	tcase_add_loop_test(tc, bytes_at_the_server, 0, 2);
	tcase_add_test(tc, flood_of_questions);
	tcase_add_test(tc, forged_progress);
	tcase_add_test(tc, streams_that_linger);
	tcase_add_loop_test(tc, size_of_a_result, 0, 2);
	tcase_add_loop_test(tc, size_of_a_refusal, 0, 2);
	tcase_add_test(tc, answered_calls_that_are_known);
	return tc;
}

int
main(void)
{
	static const char *const files[] = { "opening", "start", "tools",
		"loss", "calls", "listen", "lists", "ends", "recover",
		"signin" };
	Suite *suite = suite_create("session");
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++)
		suite_add_schedules(suite, files[i]);
	suite_add_tcase(suite, limits());
	return suite_run(suite);
}
