/*
 * A modern server behind a legacy session. Most of it are schedules, in
 * tests/play/schedules/modern.txt, each a test with a name (CK_RUN_CASE=NAME
 * plays one); here are the tables and the bounds.
 */
#include "config.h"

#include "base/bounds.h"
#include "play/suite.h"

#include "unit/unit.h"

/* --- is it a modern server? --- */

static const struct {
	const char *answer;
	bool gone;
} answers[] = {
	{ "400", true },
	{ "404", true },
	{ "405", true },
	{ "406", true },
	{ "415", true },
	{ "404 media=other body=Not_found", true },
	{ "400 media=json body={}", true },
	{ "400 err=null -32000 Bad Request: Server not initialized", true },
	{ "400 err -32000 Bad Request: Server not initialized", true },
	{ "404 err=null -32001 Session not found", true },
	{ "404 err='other' -32001 Session not found", true },
	{ "400 err='server-error' -32600 Bad Request: Missing session ID",
	    true },
	{ "400 err='server-error' -32600 Bad Request: Unsupported protocol "
	  "version: 2026-07-28. Supported versions: 2025-11-25",
	    true },
	{ "422 err=null -1 what", true },
	/* It may be the server's way to say something else. */
	{ "400 err -32000 Out of paper", false },
	{ "400 err=null -32600 Invalid Request", false },
	{ "400 err=null -32602 session not found", false },
	{ "404 err=null -32601 session not found", false },
	{ "400 err=null -32603 session not found", false },
	{ "400 err=null -32700 session not found", false },
	{ "400 err=null -32021 session not found", false },
	{ "401 err=null -32001 Session not found", false },
	{ "403 err=null -32001 Session not found", false },
	{ "407 err=null -32001 Session not found", false },
	{ "408 err=null -32001 Session not found", false },
	{ "413 err=null -32001 Session not found", false },
	{ "429 err=null -32001 Session not found", false },
	{ "500 err=null -32001 Session not found", false },
	{ "503 err=null -32001 Session not found", false },
	{ "200 err=null -32001 Session not found", false },
	/* A framework's words for a route that is not there. */
	{ "404 media=html body=<p>no</p>", true },
	{ "400 media=html", true },
	{ "405 media=html body=<p>no</p>", true },
	{ "406 media=html body=<p>no</p>", true },
	{ "415 media=html body=<p>no</p>", true },
	/* Not about the protocol. */
	{ "200 media=html body=<p>sign_in</p>", false },
	{ "403 media=html body=<p>no</p>", false },
	{ "410 media=html body=<p>no</p>", false },
	{ "502 media=html body=<p>no</p>", false },
	{ "401", false },
	{ "403", false },
	{ "407", false },
	{ "408", false },
	{ "409", false },
	{ "410", false },
	{ "413", false },
	{ "429", false },
	{ "500", false },
	{ "502", false },
	{ "307", false },
	{ "202", false },
	{ "404 size=100", false },
	{ "cut", false },
	{ "connect", false },
	{ "idle", false },
};

START_TEST(test_contradicts)
{
	struct play *p = play_new(&play_server, "modern");

	play_feed(p, "> tools/call 1");
	play_feed(p, "< #1 %s", answers[_i].answer);
	ck_assert_uint_eq(play_seen(p, "done @1 gone maybe\n"),
	    answers[_i].gone);
	/* The session hears of the end, whatever it was. */
	ck_assert_uint_eq(play_seen(p, "done @1"), 1);
	play_free(p);
}
END_TEST

/* A call in a later round may have run in part. */
START_TEST(test_contradicts_later)
{
	struct play *p = play_new(&play_server, "modern");

	play_feed(p, "> tools/call 1");
	play_feed(p,
	    "< #1 200 ok {'resultType':'input_required',"
	    "'requestState':'x'}");
	play_feed(p, "! wait 250");
	play_feed(p, "< #2 %s", answers[_i].answer);
	ck_assert_uint_eq(play_seen(p, "done @1 gone\n"), 0);
	ck_assert_uint_eq(play_seen(p, "done @1 gone maybe\n"),
	    answers[_i].gone);
	play_free(p);
}
END_TEST

/* Every modern server has server/discover, and is asked but once more. */
START_TEST(test_lacks_discover)
{
	static const char *const refusals[] = { "< #1 404 err -32601 no",
		"< #1 200 err -32601 no" };
	struct play *p;
	int i;

	for (i = 0; i < COUNT(refusals); i++) {
		p = play_new(&play_server, "modern");
		play_feed(p, "> server/discover 1");
		play_feed(p, "%s", refusals[i]);
		ck_assert_uint_eq(play_seen(p, "done @1 gone maybe\n"), 1);
		play_feed(p, "> server/discover 2");
		play_feed(p, "< #2 404 err -32601 no");
		ck_assert_uint_eq(play_seen(p, "tell @2 "), 1);
		ck_assert_uint_eq(play_seen(p, "done @2 gone\n"), 0);
		play_free(p);
	}
}
END_TEST

/* --- bounds --- */

/* The call with this number asks n questions in its first answer. */
static void
ask(struct play *p, unsigned call, unsigned n)
{
	struct buf questions;
	unsigned i;

	buf_init(&questions, 0);
	for (i = 0; i < n; i++)
		buf_addf(&questions, "%s'q%u':{'method':'roots/list'}",
		    i == 0 ? "" : ",", i);
	play_feed(p, "> tools/call %u {'name':'t'}", call);
	play_feed(p,
	    "< #%u 200 ok {'resultType':'input_required','inputRequests':{%s}}",
	    call, buf_str(&questions));
	buf_free(&questions);
}

START_TEST(test_questions_in_a_round)
{
	struct play *p = play_new(&play_server, "modern");

	ask(p, 1, 64);
	ck_assert_uint_eq(play_seen(p, "roots/list"), 64);
	ck_assert_uint_eq(play_seen(p, "done"), 0);
	buf_reset(&p->out);
	ask(p, 2, 65);
	ck_assert_uint_eq(play_seen(p, "roots/list"), 0);
	ck_assert_uint_eq(play_seen(p, "input_refused"), 1);
	ck_assert_uint_eq(play_seen(p, "done @2 200"), 1);
	play_free(p);
}
END_TEST

START_TEST(test_questions_of_all)
{
	struct play *p = play_new(&play_server, "modern");
	unsigned i;

	for (i = 1; i <= 4; i++)
		ask(p, i, 64);
	ck_assert_uint_eq(play_seen(p, "roots/list"), 256);
	buf_reset(&p->out);
	ask(p, 5, 1);
	ck_assert_uint_eq(play_seen(p, "input_refused"), 1);
	/* Where one call is over there is room again. */
	play_feed(p, "> notifications/cancelled {'requestId':3}");
	buf_reset(&p->out);
	ask(p, 6, 64);
	ck_assert_uint_eq(play_seen(p, "roots/list"), 64);
	play_free(p);
}
END_TEST

/* The call with this number asks in an answer of so many bytes. */
static void
ask_at_length(struct play *p, unsigned call, size_t bytes)
{
	char *line = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{"
			       "\"resultType\":\"input_required\","
			       "\"inputRequests\":{\"q\":{\"method\":"
			       "\"roots/list\"}},\"x\":\"",
	    call);
	size_t n = bytes - strlen(line) - 3;
	char *pad = xmalloc(n + 1);

	memset(pad, 'x', n);
	pad[n] = '\0';
	play_feed(p, "> tools/call %u {'name':'t'}", call);
	buf_reset(&p->out);
	play_feed(p, "< #%u 200 %s%s\"}}", call, line, pad);
	free(pad);
	free(line);
}

START_TEST(test_bytes_of_a_round)
{
	struct play *p = play_new(&play_server, "modern");

	ask_at_length(p, 1, BOUND_INPUTS_BYTES);
	ck_assert_uint_eq(play_seen(p, "roots/list"), 1);
	ck_assert_uint_eq(play_seen(p, "done"), 0);
	ask_at_length(p, 2, BOUND_INPUTS_BYTES + 1);
	ck_assert_uint_eq(play_seen(p, "roots/list"), 0);
	ck_assert_uint_eq(play_seen(p, "\"reason\":\"too_large\""), 1);
	ck_assert_uint_eq(play_seen(p, "done @2 200"), 1);
	play_free(p);
}
END_TEST

START_TEST(test_bytes_of_all_rounds)
{
	unsigned i, calls = BOUND_ALL_BYTES / BOUND_INPUTS_BYTES;
	size_t less = 1000;
	struct play *p = play_new(&play_server, "modern");

	for (i = 1; i <= calls; i++) {
		ask_at_length(p, i,
		    BOUND_INPUTS_BYTES - (i == calls ? less : 0));
		ck_assert_uint_eq(play_seen(p, "roots/list"), 1);
	}
	less += BOUND_ALL_BYTES % BOUND_INPUTS_BYTES;
	ask_at_length(p, i, less + 1);
	ck_assert_uint_eq(play_seen(p, "\"reason\":\"too_large\""), 1);
	ck_assert_uint_eq(play_seen(p, "roots/list"), 0);
	ask_at_length(p, i + 1, less);
	ck_assert_uint_eq(play_seen(p, "roots/list"), 1);
	play_free(p);
}
END_TEST

/* A server that never comes to an end of its tools. */
START_TEST(test_pages)
{
	struct play *p = play_new(&play_server, "modern");
	unsigned i;

	play_feed(p, "> tools/call 1 {'name':'t'}");
	play_feed(p, "< #1 400 err -32020 no");
	for (i = 2; i <= 51; i++) {
		buf_reset(&p->out);
		play_feed(p, "< #%u 200 ok {'tools':[],'nextCursor':'x'}", i);
		ck_assert_uint_eq(play_seen(p, "send"), 1);
		ck_assert_uint_eq(play_seen(p, "tools/list"), i < 51);
	}
	ck_assert_uint_eq(play_seen(p, "send #52 POST tools/call"), 1);
	play_free(p);
}
END_TEST

/* A list of n tools that no client may have. */
static void
bad_tools(struct play *p, unsigned id, unsigned n)
{
	struct buf tools;
	unsigned i;

	buf_init(&tools, 0);
	for (i = 0; i < n; i++)
		buf_addf(&tools,
		    "%s{'name':'t','inputSchema':{'properties':"
		    "{'a':{'type':'number','x-mcp-header':'A'}}}}",
		    i == 0 ? "" : ",");
	buf_reset(&p->out);
	play_feed(p, "> tools/list %u", id);
	play_feed(p, "< #%u 200 ok {'tools':[%s]}", id, buf_str(&tools));
	buf_free(&tools);
}

START_TEST(test_tool_warnings)
{
	struct play *p = play_new(&play_server, "modern");

	bad_tools(p, 1, 20);
	ck_assert_uint_eq(play_seen(p, "warn leaving out a tool"), 20);
	ck_assert_uint_eq(play_seen(p, "warn"), 20);
	bad_tools(p, 2, 21);
	ck_assert_uint_eq(play_seen(p, "warn leaving out a tool"), 20);
	ck_assert_uint_eq(play_seen(p, "warn leaving out 1 more of"), 1);
	play_free(p);
}
END_TEST

/* Streams that stay open although a round or a page is over. */
START_TEST(test_lingering)
{
	struct play *p = play_new(&play_server, "modern");
	unsigned i;

	for (i = 1; i <= 66; i++) {
		play_feed(p, "> tools/call %u {'name':'t'}", i);
		play_feed(p, "< #%u head 200 media=sse", i);
		play_feed(p,
		    "< #%u msg ok {'resultType':'input_required',"
		    "'inputRequests':{'q':{'method':'roots/list'}}}",
		    i);
		ck_assert_uint_eq(play_seen(p, "abort"), i <= 64 ? 0 : i - 64);
	}
	ck_assert_uint_eq(play_seen(p, "abort #1\n"), 1);
	ck_assert_uint_eq(play_seen(p, "abort #2\n"), 1);
	play_free(p);
}
END_TEST

#define TOO_LONG_NAME                                                                    \
	"mcp.test refused resources/read without the header Mcp-Name. "                  \
	"mcpsplice did not send it, because its value is too large for a "               \
	"header. The call did not run.\",\"data\":{\"source\":\"mcpsplice\",\"reason\":" \
	"\"too_large\",\"ran\":\"no\",\"httpStatus\":400"
#define TOO_LONG_PARAM                                                         \
	"mcp.test refused \\\"t\\\" without the header Mcp-Param-A. "          \
	"mcpsplice did not send it, because its value is too large for a "     \
	"header. The call did not run."

/* A header that would be too long is left out: the server may mind. */
START_TEST(test_too_long_name)
{
	struct play *p = play_new(&play_server, "modern headers");

	play_feed(p, "> resources/read 1 {'uri':'%08193d'}", 0);
	ck_assert_uint_eq(play_seen(p, "Mcp-Name"), 0);
	play_feed(p, "< #1 400 err -32020 no Mcp-Name");
	ck_assert_uint_eq(play_seen(p, "tools/list"), 0);
	ck_assert_uint_eq(play_seen(p, TOO_LONG_NAME), 1);
	play_free(p);
}
END_TEST

/* The tools are listed again: the header may be none any more. */
START_TEST(test_too_long_param)
{
	struct play *p = play_new(&play_server, "modern headers");

	play_feed(p, "> tools/call 1 {'name':'t','arguments':{'a':'%08193d'}}",
	    0);
	play_feed(p, "< #1 400 err -32020 no Mcp-Param-A");
	play_feed(p,
	    "< #2 200 ok {'tools':[{'name':'t','inputSchema':{'properties':{"
	    "'a':{'type':'string','x-mcp-header':'A'}}}}]}");
	ck_assert_uint_eq(play_seen(p, "send #3 POST tools/call"), 1);
	ck_assert_uint_eq(play_seen(p, "Mcp-Param-A"), 0);
	play_feed(p, "< #3 400 err -32020 no Mcp-Param-A");
	ck_assert_uint_eq(play_seen(p, TOO_LONG_PARAM), 1);
	play_free(p);
}
END_TEST

/* Many members, deep and long ones: what is refused costs little. */
START_TEST(test_hostile)
{
	struct play *p = play_new(&play_server, "modern");
	struct buf line;
	unsigned i;

	buf_init(&line, 0);
	buf_adds(&line,
	    "< #1 200 ok {\"resultType\":\"input_required\","
	    "\"requestState\":\"");
	for (i = 0; i < 200000; i++)
		buf_adds(&line, "state");
	buf_adds(&line, "\",\"inputRequests\":{");
	for (i = 0; i < 50000; i++)
		buf_addf(&line, "%s\"q\":{\"method\":\"roots/list\"}",
		    i == 0 ? "" : ",");
	buf_adds(&line, "}}");
	play_feed(p, "> tools/call 1 {'name':'t'}");
	play_feed(p, "%s", buf_str(&line));
	/* All of one name: one question. */
	ck_assert_uint_eq(play_seen(p, "\"method\":\"roots/list\""), 1);
	buf_reset(&p->out);
	play_feed(p, "> answer 'mine-s50001' {}");
	ck_assert_uint_eq(play_seen(p, "send #2 POST tools/call"), 1);
	play_free(p);
	buf_free(&line);
}
END_TEST

/* Ends while everything is open. */
START_TEST(test_end)
{
	struct play *p = play_new(&play_server, "modern");

	ask(p, 1, 3);
	play_feed(p, "> tools/call 2");
	play_feed(p, "< #2 400 err -32020 no");
	play_feed(p, "> tools/call 3");
	play_feed(p,
	    "< #4 200 ok {'resultType':'input_required',"
	    "'requestState':'x'}");
	play_feed(p, "> notifications/own");
	ck_assert_uint_eq(play_seen(p, "done"), 0);
	play_free(p);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("server_modern");
	TCase *tc = tcase_create("contradicts");

	suite_add_schedules(suite, "modern");
	tcase_add_loop_test(tc, test_contradicts, 0, COUNT(answers));
	tcase_add_loop_test(tc, test_contradicts_later, 0, COUNT(answers));
	tcase_add_test(tc, test_lacks_discover);
	suite_add_tcase(suite, tc);
	tc = tcase_create("bounds");
	tcase_add_test(tc, test_questions_in_a_round);
	tcase_add_test(tc, test_questions_of_all);
	tcase_add_test(tc, test_bytes_of_a_round);
	tcase_add_test(tc, test_bytes_of_all_rounds);
	tcase_add_test(tc, test_pages);
	tcase_add_test(tc, test_tool_warnings);
	tcase_add_test(tc, test_lingering);
	tcase_add_test(tc, test_hostile);
	tcase_add_test(tc, test_too_long_name);
	tcase_add_test(tc, test_too_long_param);
	tcase_add_test(tc, test_end);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
