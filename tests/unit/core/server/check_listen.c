/*
 * subscriptions/listen at a modern server: the session's GET stream, and a
 * modern client's own listens, as schedules.
 */
#include "config.h"

#include "play/suite.h"

#include <stdlib.h>

#include "play/server_listen_words.h"
#include "unit/unit.h"

/* The opening of a GET whose listen is acknowledged. */
#define OPEN                                                                   \
	"> get\n"                                                              \
	"head @1 200\n"                                                        \
	"send #1 POST subscriptions/listen \"mine-s2\" listen\n"               \
	"< #1 head 200 media=sse\n"                                            \
	"< #1 msg " ACK ALL END

/* --- the session's GET --- */

START_TEST(test_get)
{
	play_check(&play_server, "modern bodies headers",
	    "> get\n"
	    "head @1 200\n"
	    "send #1 POST {\"jsonrpc\":\"2.0\",\"id\":\"mine-s2\","
	    "\"method\":\"subscriptions/listen\","
	    "\"params\":{\"notifications\":" ALL
	    ",\"_meta\":{<meta>}}} listen v=2026-07-28 [Mcp-Method: "
	    "subscriptions/listen]\n"
	    "< #1 head 200 media=sse\n"
	    "< #1 msg " ACK ALL END
	    /* silence never ends it */
	    "! wait 86400000\n"
	    "< #1 msg " TOOLS "tell @1 " TOLD_TOOLS
	    /* What nobody here knows stays in it. */
	    "< #1 msg {\"params\":{\"x\":1.0,\"_meta\":{\"a\":2,"
	    "\"io.modelcontextprotocol/subscriptionId\":$}},"
	    "\"method\":\"notifications/prompts/list_changed\","
	    "\"jsonrpc\":\"2.0\"}\n"
	    "tell @1 {\"params\":{\"x\":1.0,\"_meta\":{\"a\":2}},"
	    "\"method\":\"notifications/prompts/list_changed\","
	    "\"jsonrpc\":\"2.0\"}\n"
	    "> abort @1\n"
	    "abort #1\n"
	    "done @1 aborted\n");
}
END_TEST

START_TEST(test_get_asks_for_what_there_is)
{
	play_check(&play_server,
	    "modern bodies "
	    "server={\"tools\":{\"listChanged\":false},"
	    "\"prompts\":{\"listChanged\":true},\"resources\":{}}",
	    "> get\n"
	    "head @1 200\n"
	    "send #1 POST {\"jsonrpc\":\"2.0\",\"id\":\"mine-s2\","
	    "\"method\":\"subscriptions/listen\","
	    "\"params\":{\"notifications\":{\"promptsListChanged\":true},"
	    "\"_meta\":{<meta>}}} listen\n");
	play_check(&play_server,
	    "modern server={\"resources\":{\"subscribe\":true}}",
	    "> get\n"
	    "head @1 200\n"
	    "! wait 1000000\n");
	play_check(&play_server,
	    "modern server={\"tools\":{\"listChanged\":1},"
	    "\"resources\":{\"subscribe\":\"true\"}}",
	    "> get\n"
	    "head @1 405\n"
	    "done @1 405\n"
	    "! wait 1000000\n");
}
END_TEST

START_TEST(test_get_hostile)
{
	play_check(&play_server, "modern",
	    OPEN
	    /* another subscription's, one of another type, none at all */
	    "< #1 msg " TOOLS_OF "\"mine-s3\"" THAT "< #1 msg " TOOLS_OF
	    "2" THAT "< #1 msg " TOOLS_OF "null" THAT
	    "< #1 msg note notifications/tools/list_changed\n"
	    "< #1 msg note notifications/tools/list_changed {\"_meta\":[]}\n"
	    "< #1 msg " ACK_OF "\"other\"" FOR ALL END
	    /* no requests on a listen stream */
	    "< #1 msg ask 7 roots/list\n"
	    "< #1 msg " ACK ALL END "< #1 msg " TOOLS "tell @1 " TOLD_TOOLS);
	/* Before the acknowledgement, or without any: told nevertheless. */
	play_check(&play_server, "modern",
	    "> get\n"
	    "head @1 200\n"
	    "send #1 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #1 msg " TOOLS "tell @1 " TOLD_TOOLS "< #1 head 200 media=sse\n"
	    "< #1 msg " PROMPTS "tell @1 " TOLD_PROMPTS
	    /* nothing was lost that was ours */
	    "< #1 end\n"
	    "! wait 1000\n"
	    "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
	    "< #2 head 200 media=sse\n"
	    "< #2 msg " ACK ALL END);
}
END_TEST

START_TEST(test_get_notes)
{
	play_check(&play_server, "modern notes",
	    OPEN "< #1 msg " TOOLS_OF "\"other\"" THAT
		 "note a notification of another subscription: dropped\n"
		 "< #1 msg " ACK ALL END
		 "note a subscription is acknowledged twice: dropped\n"
		 "< #1 msg ask 7 roots/list\n"
		 "note a request on a subscription stream: dropped\n"
		 "< #1 cut\n"
		 "note the subscription stream is opened again in 1000 ms\n");
}
END_TEST

/* Behind each gap everything honoured is told as changed, once. */
START_TEST(test_get_gap)
{
	play_check(&play_server, "modern",
	    OPEN
	    "! wait 30000\n"
	    /* graceful: what the stream says after its result is not heard */
	    "< #1 msg " ENDED "abort #1\n"
	    "! wait 999\n"
	    "! wait 1\n"
	    "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
	    "< #2 head 200 media=sse\n"
	    "< #2 msg " ACK
	    "{\"toolsListChanged\":true,\"promptsListChanged\":false}" END
	    "tell @1 " SAID_TOOLS
	    /* abrupt, and soon: a longer wait */
	    "< #2 cut\n"
	    "! wait 1499\n"
	    "! wait 1\n"
	    "send #3 POST subscriptions/listen \"mine-s4\" listen\n"
	    "< #3 503 retry-after=7\n"
	    "! wait 6999\n"
	    "! wait 1\n"
	    "send #4 POST subscriptions/listen \"mine-s5\" listen\n"
	    "< #4 head 200 media=sse\n"
	    "< #4 msg " ACK ALL END "tell @1 " SAID_TOOLS
	    "tell @1 " SAID_PROMPTS "tell @1 " SAID_RESOURCES
	    "< #4 msg " TOOLS_OF "\"mine-s4\"" THAT "< #4 msg " TOOLS
	    "tell @1 " TOLD_TOOLS);
}
END_TEST

/* A stream that never works is tried seldom, but for ever. */
START_TEST(test_get_false_starts)
{
	play_check(&play_server, "modern",
	    "> get\n"
	    "head @1 200\n"
	    "send #1 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #1 connect\n"
	    "! wait 1000\n"
	    "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
	    "< #2 401\n"
	    "! wait 1500\n"
	    "send #3 POST subscriptions/listen \"mine-s4\" listen\n"
	    "< #3 403 err -32000 no\n"
	    "abort #3\n"
	    "! wait 2250\n"
	    "send #4 POST subscriptions/listen \"mine-s5\" listen\n"
	    "< #4 429 retry-after=3600\n"
	    "! wait 299999\n"
	    "! wait 1\n"
	    "send #5 POST subscriptions/listen \"mine-s6\" listen\n"
	    "< #5 200 media=sse\n"
	    "! wait 299999\n"
	    "! wait 1\n"
	    "send #6 POST subscriptions/listen \"mine-s7\" listen\n"
	    "< #6 502 media=html\n"
	    "! wait 299999\n"
	    "! wait 1\n"
	    "send #7 POST subscriptions/listen \"mine-s8\" listen\n"
	    /* one that lasts is a new start */
	    "< #7 head 200 media=sse\n"
	    "! wait 30000\n"
	    "< #7 cut\n"
	    "! wait 1000\n"
	    "send #8 POST subscriptions/listen \"mine-s9\" listen\n");
}
END_TEST

/* Acknowledged ones that die young: the waits grow up to half a minute. */
START_TEST(test_get_short_lives)
{
	static const char *const waits[] = { "1000", "1500", "2250", "3375",
		"5062", "7593", "11389", "17083", "25624", "30000", "30000" };
	struct buf b;
	size_t i;

	buf_init(&b, 0);
	buf_adds(&b, OPEN);
	for (i = 0; i < sizeof waits / sizeof *waits; i++) {
		buf_addf(&b, "< #%zu cut\n", i + 1);
		buf_addf(&b, "! wait %ld\n! wait 1\n",
		    strtol(waits[i], NULL, 10) - 1);
		buf_addf(&b,
		    "send #%zu POST subscriptions/listen \"mine-s%zu\" "
		    "listen\n",
		    i + 2, i + 3);
		buf_addf(&b, "< #%zu head 200 media=sse\n", i + 2);
		buf_addf(&b, "< #%zu msg ", i + 2);
		buf_adds(&b, ACK "{\"toolsListChanged\":true}" END);
		buf_adds(&b, "tell @1 " SAID_TOOLS);
	}
	play_check(&play_server, "modern", buf_str(&b));
	buf_free(&b);
}
END_TEST

START_TEST(test_get_refused)
{
	static const int passing[] = { 401, 403, 408, 429, 500, 503 };
	char *schedule;
	size_t i;

	play_check(&play_server, "modern notes",
	    "> get\n"
	    "head @1 200\n"
	    "send #1 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #1 404 err -32601 no\n"
	    "abort #1\n"
	    "note mcp.test does not tell of changes: it refuses "
	    "subscriptions/listen (-32601)\n"
	    "! wait 10000000\n"
	    /* nor for a GET to come */
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "> get\n"
	    "head @2 200\n"
	    "! wait 10000000\n");
	/* One of the moment. */
	for (i = 0; i < sizeof passing / sizeof *passing; i++) {
		schedule = xasprintf(
		    "> get\n"
		    "head @1 200\n"
		    "send #1 POST subscriptions/listen \"mine-s2\" listen\n"
		    "< #1 %d err -32000 oops\n"
		    "abort #1\n"
		    "! wait 1000\n"
		    "send #2 POST subscriptions/listen \"mine-s3\" "
		    "listen\n",
		    passing[i]);
		play_check(&play_server, "modern", schedule);
		free(schedule);
	}
	play_check(&play_server, "modern",
	    "> get\n"
	    "head @1 200\n"
	    "send #1 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #1 200 err -32603 oops\n"
	    "abort #1\n"
	    "! wait 1000\n"
	    "send #2 POST subscriptions/listen \"mine-s3\" listen\n");
}
END_TEST

/* The server is a legacy one by now: the session is to find out. */
START_TEST(test_get_gone)
{
	play_check(&play_server, "modern",
	    OPEN "< #1 cut\n"
		 "! wait 1000\n"
		 "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
		 "< #2 404\n"
		 "done @1 gone\n"
		 "! wait 1000000\n");
	play_check(&play_server, "modern",
	    OPEN "< #1 cut\n"
		 "! wait 1000\n"
		 "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
		 "< #2 400 err=null -32000 Bad Request: no session id\n"
		 "abort #2\n"
		 "done @1 gone\n"
		 "! wait 1000000\n");
}
END_TEST

/* The server is a modern one again, and refuses again: it is not asked who
 * it is a second time. */
START_TEST(test_get_gone_once)
{
	play_check(&play_server, "modern",
	    "> get\n"
	    "head @1 200\n"
	    "send #1 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #1 405\n"
	    "done @1 gone\n"
	    "> initialize 5 {\"protocolVersion\":\"2025-11-25\","
	    "\"capabilities\":{}}\n"
	    "send #2 POST server/discover \"mine-s3\"\n"
	    "< #2 200 ok {\"supportedVersions\":[\"2026-07-28\"],"
	    "\"capabilities\":{\"tools\":{\"listChanged\":true}}}\n"
	    "found modern\n"
	    "head @2 200\n"
	    "tell @2 ...\n"
	    "done @2 200\n"
	    "> get\n"
	    "head @3 200\n"
	    "send #3 POST subscriptions/listen \"mine-s4\" listen\n"
	    "< #3 405\n"
	    "! wait 1000\n"
	    "send #4 POST subscriptions/listen \"mine-s5\" listen\n"
	    "< #4 head 200 media=sse\n"
	    /* It works by now, so that it is believed again. */
	    "< #4 msg " ACK ALL END "< #4 cut\n"
	    "! wait 1500\n"
	    "send #5 POST subscriptions/listen \"mine-s6\" listen\n"
	    "< #5 405\n"
	    "done @3 gone\n");
}
END_TEST

/* The session ends its GET when the machine slept. */
START_TEST(test_get_again)
{
	play_check(&play_server, "modern",
	    OPEN "> abort @1\n"
		 "abort #1\n"
		 "done @1 aborted\n"
		 "! wait 100000\n"
		 "> get\n"
		 "head @2 200\n"
		 "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
		 "< #2 head 200 media=sse\n"
		 "< #2 msg " ACK "{\"promptsListChanged\":true}" END
		 "tell @2 " SAID_PROMPTS
		 /* and one that comes too soon replaces the one before */
		 "> get\n"
		 "done @2 200\n"
		 "head @3 200\n"
		 "< #2 msg " TOOLS "tell @3 " TOLD_TOOLS);
}
END_TEST

/* A stream that waits does not open without a GET. */
START_TEST(test_get_ends_while_it_waits)
{
	play_check(&play_server, "modern",
	    OPEN "< #1 cut\n"
		 "> abort @1\n"
		 "done @1 aborted\n"
		 "! wait 1000000\n"
		 "> get\n"
		 "head @2 200\n"
		 "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
		 "< #2 head 200 media=sse\n"
		 "< #2 msg " ACK "{\"toolsListChanged\":true}" END
		 "tell @2 " SAID_TOOLS);
}
END_TEST

START_TEST(test_leave)
{
	play_check(&play_server, "modern",
	    "> get\n"
	    "head @1 200\n"
	    "send #1 POST subscriptions/listen \"mine-s2\" listen\n"
	    "> resources/subscribe 1 {\"uri\":\"a:/1\"}\n"
	    "! wait 50\n"
	    "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
	    "> initialize 5 {\"protocolVersion\":\"2025-11-25\","
	    "\"capabilities\":{}}\n"
	    "done @1 gone\n"
	    "done @2 gone\n"
	    "abort #1\n"
	    "abort #2\n"
	    "send #3 POST server/discover \"mine-s4\"\n"
	    "! wait 100000\n");
}
END_TEST

/* --- a modern client's own listens --- */

#define LISTEN_OF                                                              \
	"{\"method\":\"subscriptions/listen\", \"jsonrpc\":\"2.0\",\"id\":"
#define WITH                                                                   \
	",\"params\":{\"notifications\":{\"toolsListChanged\":true,"           \
	"\"resourceSubscriptions\":[\"a:/1\"]},\"_meta\":{"                    \
	"\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}"
#define LISTEN_7 LISTEN_OF "7" WITH
#define LISTEN_8 LISTEN_OF "8" WITH
#define LISTEN_A LISTEN_OF "\"a\"" WITH
#define LISTEN_S2 LISTEN_OF "\"mine-s2\"" WITH
#define SUB_7 SUB_OF "7}"
#define ACK_7 ACK_OF "7" FOR
#define HONOURS                                                                \
	"{\"toolsListChanged\":true,\"resourceSubscriptions\":[\"a:/1\"]}"
#define NATIVE                                                                 \
	"> " LISTEN_7 "\n"                                                     \
	"send #1 POST subscriptions/listen 7 listen\n"                         \
	"< #1 head 200 media=sse\n"                                            \
	"head @1 200\n"
#define NATIVE_ACK "< #1 msg " ACK HONOURS END "tell @1 " ACK_7 HONOURS END

START_TEST(test_native)
{
	play_check(&play_server, "modern bodies headers",
	    "> " LISTEN_7 "\n"
	    "send #1 POST " LISTEN_7
	    " listen v=2026-07-28 [Mcp-Method: subscriptions/listen]\n"
	    "< #1 head 200 media=sse\n"
	    "head @1 200\n" NATIVE_ACK "! wait 86400000\n"
	    "< #1 msg {\"params\":{ \"x\":1.0," SUB
	    "},\"method\":\"notifications/tools/list_changed\","
	    "\"jsonrpc\":\"2.0\"}\n"
	    "tell @1 {\"params\":{ \"x\":1.0," SUB_7
	    "},\"method\":\"notifications/tools/list_changed\","
	    "\"jsonrpc\":\"2.0\"}\n"
	    "< #1 msg " ENDED "tell @1 {\"jsonrpc\":\"2.0\",\"id\":7,"
	    "\"result\":{\"resultType\":\"complete\"," SUB_7 "}}\n"
	    "abort #1\n"
	    "done @1 200\n"
	    "! wait 1000000\n");
}
END_TEST

START_TEST(test_native_hostile)
{
	play_check(&play_server, "modern",
	    NATIVE
	    /* before the acknowledgement: the client judges */
	    "< #1 msg " TOOLS "tell @1 " TOOLS_OF "7" THAT NATIVE_ACK
	    "< #1 msg " ACK HONOURS END "< #1 msg " TOOLS_OF "8" THAT
	    "< #1 msg " TOOLS_OF "\"7\"" THAT "< #1 msg " ACK_OF "8" FOR
	    "{}" END "< #1 msg ask 9 roots/list\n"
	    "< #1 msg note notifications/tools/list_changed\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/li"
	    "st_changed\"}\n"
	    /* an answer with no id, or another one, is this one's */
	    "< #1 msg ok=\"x\" {}\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"
	    "abort #1\n"
	    "done @1 200\n");
}
END_TEST

START_TEST(test_native_abort)
{
	play_check(&play_server, "modern",
	    NATIVE "> " LISTEN_8 "\n"
		   "send #2 POST subscriptions/listen 8 listen\n"
		   "> abort @1\n"
		   "abort #1\n"
		   "done @1 aborted\n"
		   "< #2 cut\n"
		   "done @2 cut\n"
		   "! wait 1000000\n");
	/* between two streams */
	play_check(&play_server, "modern",
	    NATIVE NATIVE_ACK "< #1 cut\n"
			      "> abort @1\n"
			      "done @1 aborted\n"
			      "! wait 1000000\n");
	/* by its own notification */
	play_check(&play_server, "modern",
	    NATIVE "> notifications/cancelled {\"requestId\":7}\n"
		   "abort #1\n"
		   "done @1 aborted\n"
		   "done @2 202\n"
		   "! wait 1000000\n");
}
END_TEST

/* A stream that breaks is replaced; the client sees one subscription. */
START_TEST(test_native_again)
{
	play_check(&play_server, "modern bodies",
	    "> " LISTEN_7 "\n"
	    "send #1 POST " LISTEN_7 " listen\n"
	    "< #1 head 200 media=sse\n"
	    "head @1 200\n" NATIVE_ACK "< #1 cut\n"
	    "! wait 999\n"
	    "! wait 1\n"
	    "send #2 POST " LISTEN_S2 " listen\n"
	    "< #2 head 200 media=sse\n"
	    "< #2 msg " ACK
	    "{\"toolsListChanged\":true,\"promptsListChanged\":false,"
	    "\"resourceSubscriptions\":[\"a:/1\",4]}" END
	    "tell @1 {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/li"
	    "st_changed\",\"params\":{" SUB_7 "}}\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resource"
	    "s/updated\",\"params\":{\"uri\":\"a:/1\"," SUB_7 "}}\n"
	    "< #2 msg {\"params\":{ \"uri\":\"a:/1\", " SUB
	    "},\"method\":\"notifications/resources/updated\","
	    "\"jsonrpc\":\"2.0\"}\n"
	    "tell @1 {\"params\":{ \"uri\":\"a:/1\", " SUB_7
	    "},\"method\":\"notifications/resources/updated\","
	    "\"jsonrpc\":\"2.0\"}\n"
	    /* without an id: as it came */
	    "< #2 msg note notifications/tools/list_changed\n"
	    "tell @1 {\"jsonrpc\":\"2.0\","
	    "\"method\":\"notifications/tools/list_changed\"}\n"
	    /* of the stream before */
	    "< #2 msg " TOOLS_OF "7" THAT "< #2 msg " ACK HONOURS END
	    "< #2 msg " ENDED "tell @1 {\"jsonrpc\":\"2.0\",\"id\":7,"
	    "\"result\":{\"resultType\":\"complete\"," SUB_7 "}}\n"
	    "abort #2\n"
	    "done @1 200\n"
	    "! wait 1000000\n");
	/* The first acknowledgement comes on the second stream only. */
	play_check(&play_server, "modern",
	    NATIVE
	    "< #1 end\n"
	    "! wait 1000\n"
	    "send #2 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #2 head 200 media=sse\n"
	    "< #2 msg " ACK HONOURS END "tell @1 " ACK_7 HONOURS END
	    /* a result without a subscriptionId gets none */
	    "< #2 msg ok {\"resultType\":\"complete\",\"_meta\":{\"a\":1}}\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"id\":7,"
	    "\"result\":{\"resultType\":\"complete\",\"_meta\":{\"a\":1}}}\n"
	    "abort #2\n"
	    "done @1 200\n");
}
END_TEST

/* A server that honours more than there is room for. */
START_TEST(test_native_gap_bound)
{
	struct play *p = play_new(&play_server, "modern");
	struct buf b;
	int i;

	play_feed(p, "> " LISTEN_7);
	play_feed(p, "< #1 head 200 media=sse");
	play_feed(p, "< #1 msg " ACK_OF "$" FOR "{}}}");
	play_feed(p, "< #1 cut");
	play_feed(p, "! wait 1000");
	play_feed(p, "< #2 head 200 media=sse");
	play_count(p, "");
	buf_init(&b, 0);
	buf_adds(&b, "< #2 msg " ACK "{\"resourceSubscriptions\":[\"u\"");
	for (i = 0; i < 1100; i++)
		buf_adds(&b, ",\"u\"");
	buf_adds(&b, "]}}}");
	play_feed(p, "%s", buf_str(&b));
	ck_assert_uint_eq(play_count(p, "tell @1"), 1024);
	buf_free(&b);
	play_free(p);
}
END_TEST

START_TEST(test_native_gives_up)
{
	play_check(&play_server, "modern",
	    NATIVE NATIVE_ACK
	    "! wait 40000\n"
	    "< #1 cut\n"
	    "! wait 1000\n"
	    "send #2 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #2 503\n"
	    "! wait 1500\n"
	    "send #3 POST subscriptions/listen \"mine-s3\" listen\n"
	    "< #3 connect\n"
	    "! wait 2250\n"
	    "send #4 POST subscriptions/listen \"mine-s4\" listen\n"
	    "< #4 401 err -32000 no\n"
	    "abort #4\n"
	    "! wait 3375\n"
	    "send #5 POST subscriptions/listen \"mine-s5\" listen\n"
	    "< #5 200 media=sse\n"
	    "! wait 5062\n"
	    "send #6 POST subscriptions/listen \"mine-s6\" listen\n"
	    "< #6 200 media=html\n"
	    "done @1 cut 200\n"
	    "! wait 1000000\n");
	/* One that works is a new start. */
	play_check(&play_server, "modern",
	    NATIVE NATIVE_ACK
	    "< #1 cut\n"
	    "! wait 1000\n"
	    "send #2 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #2 503\n"
	    "! wait 1500\n"
	    "send #3 POST subscriptions/listen \"mine-s3\" listen\n"
	    "< #3 503\n"
	    "! wait 2250\n"
	    "send #4 POST subscriptions/listen \"mine-s4\" listen\n"
	    "< #4 503\n"
	    "! wait 3375\n"
	    "send #5 POST subscriptions/listen \"mine-s5\" listen\n"
	    "< #5 head 200 media=sse\n"
	    "< #5 msg " ACK "{}" END "< #5 cut\n"
	    "! wait 5062\n"
	    "send #6 POST subscriptions/listen \"mine-s6\" listen\n"
	    "< #6 503\n"
	    "! wait 7593\n"
	    "send #7 POST subscriptions/listen \"mine-s7\" listen\n");
}
END_TEST

/* The first refusal is the session's to judge. */
START_TEST(test_native_refused)
{
	play_check(&play_server, "modern",
	    "> " LISTEN_A "\n"
	    "send #1 POST subscriptions/listen \"a\" listen\n"
	    "< #1 404 err -32601 no\n"
	    "head @1 404\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"id\":\"a\","
	    "\"error\":{\"code\":-32601,\"message\":\"no\"}}\n"
	    "done @1 404\n"
	    "! wait 1000000\n");
	play_check(&play_server, "modern",
	    "> " LISTEN_7 "\n"
	    "send #1 POST subscriptions/listen 7 listen\n"
	    "< #1 429 retry-after=3\n"
	    "head @1 429\n"
	    "done @1 429 retry-after 3000\n"
	    "! wait 1000000\n");
	play_check(&play_server, "modern",
	    "> " LISTEN_7 "\n"
	    "send #1 POST subscriptions/listen 7 listen\n"
	    "< #1 connect\n"
	    "done @1 connect unsent\n"
	    "! wait 1000000\n");
	play_check(&play_server, "modern",
	    NATIVE "< #1 msg err=null -32603 broken\n"
		   "tell @1 {\"jsonrpc\":\"2.0\",\"id\":7,"
		   "\"error\":{\"code\":-32603,\"message\":\"broken\"}}\n"
		   "abort #1\n"
		   "done @1 200\n");
	/* It refuses twice. */
	play_check(&play_server, "modern",
	    "> " LISTEN_7 "\n"
	    "send #1 POST subscriptions/listen 7 listen\n"
	    "< #1 head 400\n"
	    "head @1 400\n"
	    "< #1 msg err -32602 no\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"id\":7,"
	    "\"error\":{\"code\":-32602,\"message\":\"no\"}}\n"
	    "< #1 msg err -32602 no\n"
	    "< #1 msg ok\n"
	    "< #1 end\n"
	    "done @1 400\n");
	/* A later one, by a server that does not want it any more. */
	play_check(&play_server, "modern",
	    NATIVE NATIVE_ACK
	    "< #1 cut\n"
	    "! wait 1000\n"
	    "send #2 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #2 404 err -32601 no\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"id\":7,"
	    "\"error\":{\"code\":-32601,\"message\":\"no\"}}\n"
	    "abort #2\n"
	    "done @1 200\n");
}
END_TEST

START_TEST(test_native_gone)
{
	play_check(&play_server, "modern",
	    "> " LISTEN_7 "\n"
	    "send #1 POST subscriptions/listen 7 listen\n"
	    "< #1 400 err=null -32000 Bad Request: no session id\n"
	    "head @1 400\n"
	    "abort #1\n"
	    "done @1 gone\n");
	play_check(&play_server, "modern",
	    NATIVE NATIVE_ACK
	    "< #1 cut\n"
	    "! wait 1000\n"
	    "send #2 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #2 404\n"
	    "done @1 gone\n"
	    "! wait 1000000\n");
	/* As only a legacy server refuses it; the second time it is true. */
	play_check(&play_server, "modern",
	    "> " LISTEN_7 "\n"
	    "send #1 POST subscriptions/listen 7 listen\n"
	    "< #1 200 err -32601 no\n"
	    "head @1 200\n"
	    "abort #1\n"
	    "done @1 gone\n"
	    "> initialize 5 {\"protocolVersion\":\"2025-11-25\","
	    "\"capabilities\":{}}\n"
	    "send #2 POST server/discover \"mine-s2\"\n"
	    "< #2 200 ok {\"supportedVersions\":[\"2026-07-28\"],"
	    "\"capabilities\":{}}\n"
	    "found modern\n"
	    "head @2 200\n"
	    "tell @2 ...\n"
	    "done @2 200\n"
	    "> " LISTEN_8 "\n"
	    "send #3 POST subscriptions/listen 8 listen\n"
	    "< #3 200 err -32601 no\n"
	    "head @3 200\n"
	    "tell @3 {\"jsonrpc\":\"2.0\",\"id\":8,"
	    "\"error\":{\"code\":-32601,\"message\":\"no\"}}\n"
	    "abort #3\n"
	    "done @3 200\n");
	/* Another request finds out: all of them are told. */
	play_check(&play_server, "modern",
	    NATIVE NATIVE_ACK
	    "> " LISTEN_8 "\n"
	    "send #2 POST subscriptions/listen 8 listen\n"
	    "> initialize 5 {\"protocolVersion\":\"2025-11-25\","
	    "\"capabilities\":{}}\n"
	    "abort #1\n"
	    "done @1 gone\n"
	    "abort #2\n"
	    "done @2 gone\n"
	    "send #3 POST server/discover \"mine-s2\"\n"
	    "! wait 1000000\n");
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("server_listen");
	TCase *get = tcase_create("get");
	TCase *native = tcase_create("native");

	tcase_add_test(get, test_get);
	tcase_add_test(get, test_get_asks_for_what_there_is);
	tcase_add_test(get, test_get_hostile);
	tcase_add_test(get, test_get_notes);
	tcase_add_test(get, test_get_gap);
	tcase_add_test(get, test_get_false_starts);
	tcase_add_test(get, test_get_short_lives);
	tcase_add_test(get, test_get_refused);
	tcase_add_test(get, test_get_gone);
	tcase_add_test(get, test_get_gone_once);
	tcase_add_test(get, test_get_again);
	tcase_add_test(get, test_get_ends_while_it_waits);
	tcase_add_test(get, test_leave);
	tcase_add_test(native, test_native);
	tcase_add_test(native, test_native_hostile);
	tcase_add_test(native, test_native_abort);
	tcase_add_test(native, test_native_again);
	tcase_add_test(native, test_native_gap_bound);
	tcase_add_test(native, test_native_gives_up);
	tcase_add_test(native, test_native_refused);
	tcase_add_test(native, test_native_gone);
	suite_add_tcase(s, get);
	suite_add_tcase(s, native);
	return s;
}

int
main(void)
{
	return suite_run(make_suite());
}
