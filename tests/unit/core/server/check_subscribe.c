/*
 * resources/subscribe of a legacy client at a modern server, as schedules:
 * one subscriptions/listen for the whole set, replaced when the set changes.
 */
#include "config.h"

#include "play/suite.h"

#include <stdlib.h>

#include "play/server_listen_words.h"
#include "unit/unit.h"

/* A subscription that goes out. */
#define SUBSCRIBE_1                                                            \
	"> resources/subscribe 1 {\"uri\":\"a:/1\"}\n"                         \
	"! wait 50\n"                                                          \
	"send #1 POST subscriptions/listen \"mine-s2\" listen\n"               \
	"< #1 head 200 media=sse\n"
#define SUBSCRIBE_2                                                            \
	"> resources/subscribe 2 {\"uri\":\"a:/2\"}\n"                         \
	"! wait 50\n"                                                          \
	"send #2 POST subscriptions/listen \"mine-s3\" listen\n"               \
	"< #2 head 200 media=sse\n"
#define SUBSCRIBE_3                                                            \
	"> resources/subscribe 3 {\"uri\":\"a:/3\"}\n"                         \
	"! wait 50\n"                                                          \
	"send #3 POST subscriptions/listen \"mine-s4\" listen\n"               \
	"< #3 head 200 media=sse\n"

/* The answer to the first subscription of the tests below. */
#define FIRST                                                                  \
	"> get\n"                                                              \
	"head @1 200\n" SUBSCRIBE_1 "< #1 msg " ACK                            \
	"{\"resourceSubscriptions\":[\"a:/1\"]}" END "head @2 200\n"           \
	"tell @2 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"               \
	"done @2 200\n"
/* One without lists. */
#define ONLY "modern server={\"resources\":{\"subscribe\":true}}"

START_TEST(test_subscribe)
{
	play_check(&play_server, "modern bodies",
	    "> resources/subscribe 7 {\"uri\":\"a:/1\"}\n"
	    "! wait 49\n"
	    "! wait 1\n"
	    "send #1 POST {\"jsonrpc\":\"2.0\",\"id\":\"mine-s2\","
	    "\"method\":\"subscriptions/listen\","
	    "\"params\":{\"notifications\":{\"resourceSubscriptions\":[\"a:/1"
	    "\"]},\"_meta\":{<meta>}}} listen\n"
	    "< #1 head 200 media=sse\n"
	    "< #1 msg " ACK "{\"resourceSubscriptions\":[\"a:\\/1\"]}" END
	    "head @1 200\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"
	    "done @1 200\n"
	    "! wait 1000000\n"
	    /* known already */
	    "> resources/subscribe 8 {\"uri\":\"a\\u003a/1\"}\n"
	    "head @2 200\n"
	    "tell @2 {\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}\n"
	    "done @2 200\n"
	    "! wait 1000000\n");
}
END_TEST

START_TEST(test_subscribe_refused)
{
	play_check(&play_server,
	    "modern server={\"resources\":{\"listChanged\":true}}",
	    "> resources/subscribe 7 {\"uri\":\"a:/1\"}\n"
	    "head @1 200\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"id\":7,"
	    "\"error\":{\"code\":-32601,\"message\":\"mcp.test has no "
	    "subscriptions to resources.\"...\n"
	    "done @1 200\n"
	    "> resources/unsubscribe 8 {\"uri\":\"a:/1\"}\n"
	    "head @2 200\n"
	    "tell @2 {\"jsonrpc\":\"2.0\",\"id\":8,"
	    "\"error\":{\"code\":-32601,...\n"
	    "done @2 200\n"
	    "! wait 1000000\n");
	play_check(&play_server, "modern",
	    "> resources/subscribe 7\n"
	    "head @1 200\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"id\":7,"
	    "\"error\":{\"code\":-32602,\"message\":\"params.uri is missing, "
	    "or is no string.\"...\n"
	    "done @1 200\n"
	    "> resources/unsubscribe 8 {\"uri\":{\"uri\":\"a:/1\"}}\n"
	    "head @2 200\n"
	    "tell @2 {\"jsonrpc\":\"2.0\",\"id\":8,"
	    "\"error\":{\"code\":-32602,...\n"
	    "done @2 200\n"
	    "! wait 1000000\n");
}
END_TEST

/* A burst is one change; each is answered for itself. */
START_TEST(test_subscribe_burst)
{
	play_check(&play_server, "modern bodies",
	    "> resources/subscribe 1 {\"uri\":\"a:/1\"}\n"
	    "! wait 25\n"
	    "> resources/subscribe 2 {\"uri\":\"a:/2\"}\n"
	    "> resources/subscribe 3 {\"uri\":\"a:/1\"}\n"
	    "> resources/subscribe 4 {\"uri\":\"a:/4\"}\n"
	    "! wait 24\n"
	    /* answered at once, and so is who waited for it */
	    "> resources/unsubscribe 5 {\"uri\":\"a:/4\"}\n"
	    "head @4 200\n"
	    "tell @4 {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n"
	    "done @4 200\n"
	    "head @5 200\n"
	    "tell @5 {\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n"
	    "done @5 200\n"
	    "! wait 1\n"
	    "send #1 POST {\"jsonrpc\":\"2.0\",\"id\":\"mine-s2\","
	    "\"method\":\"subscriptions/listen\","
	    "\"params\":{\"notifications\":{\"resourceSubscriptions\":[\"a:/1"
	    "\",\"a:/2\"]},\"_meta\":{<meta>}}} listen\n"
	    /* what comes now waits for the next change, what is known not */
	    "> resources/subscribe 6 {\"uri\":\"a:/6\"}\n"
	    "> resources/subscribe 7 {\"uri\":\"a:/2\"}\n"
	    "! wait 1000\n"
	    "< #1 head 200 media=sse\n"
	    "< #1 msg " ACK
	    "{\"resourceSubscriptions\":[\"a:/2\",17,\"a:/x\",\"a:/6\","
	    "\"a:/2\"]}" END "head @3 200\n"
	    "tell @3 {\"jsonrpc\":\"2.0\",\"id\":3,"
	    "\"error\":{\"code\":-32602,\"message\":\"mcp.test: subscription "
	    "not honoured.\"...\n"
	    "done @3 200\n"
	    "head @1 200\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"error\":{\"code\":-32602,\"message\":\"mcp.test: subscription "
	    "not honoured.\"...\n"
	    "done @1 200\n"
	    "head @7 200\n"
	    "tell @7 {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"
	    "done @7 200\n"
	    "head @2 200\n"
	    "tell @2 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"
	    "done @2 200\n"
	    "! wait 0\n"
	    "send #2 POST {\"jsonrpc\":\"2.0\",\"id\":\"mine-s3\","
	    "\"method\":\"subscriptions/listen\","
	    "\"params\":{\"notifications\":{\"resourceSubscriptions\":[\"a:/2"
	    "\",\"a:/6\"]},\"_meta\":{<meta>}}} listen\n"
	    "< #2 head 200 media=sse\n"
	    "< #2 msg " ACK
	    "{\"resourceSubscriptions\":[\"a:/6\",\"a:/2\"]}" END "abort #1\n"
	    "head @6 200\n"
	    "tell @6 {\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{}}\n"
	    "done @6 200\n"
	    "! wait 1000000\n");
}
END_TEST

/* Both streams tell of the same change: one is heard. */
START_TEST(test_overlap)
{
	play_check(&play_server, ONLY,
	    FIRST SUBSCRIBE_2
	    "< #1 msg " UPDATED "a:/1" UP_END "tell @1 " TOLD "a:/1" TOLD_END
	    "< #2 msg " UPDATED "a:/1" UP_END
	    "< #2 msg {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resourc"
	    "es/updated\",\"params\":{\"uri\":\"a:/1\","
	    "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":\"mine-s2"
	    "\"}}}\n"
	    "< #2 msg " ACK
	    "{\"resourceSubscriptions\":[\"a:/1\",\"a:/2\"]}" END "abort #1\n"
	    "head @3 200\n"
	    "tell @3 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"
	    "done @3 200\n"
	    "< #1 msg " UPDATED "a:/1" UP_END "< #2 msg " UPDATED "a:/2" UP_END
	    "tell @1 " TOLD "a:/2" TOLD_END "< #2 msg " UPDATED "a:/1" UP_END
	    "tell @1 " TOLD "a:/1" TOLD_END
	    /* a part of what is subscribed; the server knows */
	    "< #2 msg " UPDATED "a:/1/x" UP_END "tell @1 " TOLD
	    "a:/1/x" TOLD_END);
}
END_TEST

START_TEST(test_unsubscribe)
{
	play_check(&play_server, ONLY,
	    FIRST SUBSCRIBE_2
	    "< #2 msg " ACK
	    "{\"resourceSubscriptions\":[\"a:/1\",\"a:/2\"]}" END "abort #1\n"
	    "head @3 200\n"
	    "tell @3 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"
	    "done @3 200\n"
	    "> resources/unsubscribe 3 {\"uri\":\"a:\\/1\"}\n"
	    "head @4 200\n"
	    "tell @4 {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n"
	    "done @4 200\n"
	    /* the server does not know it yet */
	    "< #2 msg " UPDATED "a:/1" UP_END "< #2 msg " UPDATED "a:/2" UP_END
	    "tell @1 " TOLD "a:/2" TOLD_END "! wait 50\n"
	    "send #3 POST subscriptions/listen \"mine-s4\" listen\n"
	    /* nobody waits for it: the one before goes on if need be */
	    "< #3 head 200 media=sse\n"
	    "! wait 10000\n"
	    "abort #3\n"
	    "< #2 msg " UPDATED "a:/1" UP_END "< #2 msg " UPDATED "a:/2" UP_END
	    "tell @1 " TOLD "a:/2" TOLD_END
	    /* one that nobody had */
	    "> resources/unsubscribe 4 {\"uri\":\"a:/9\"}\n"
	    "head @5 200\n"
	    "tell @5 {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n"
	    "done @5 200\n"
	    "! wait 100000\n"
	    /* the last one: no stream is needed */
	    "> resources/unsubscribe 5 {\"uri\":\"a:/2\"}\n"
	    "head @6 200\n"
	    "tell @6 {\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n"
	    "done @6 200\n"
	    "! wait 50\n"
	    "abort #2\n"
	    "! wait 1000000\n");
}
END_TEST

/* Taken out and put in again: what is open will do. */
START_TEST(test_resubscribe)
{
	play_check(&play_server, ONLY,
	    FIRST "> resources/unsubscribe 3 {\"uri\":\"a:/1\"}\n"
		  "head @3 200\n"
		  "tell @3 {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n"
		  "done @3 200\n"
		  "! wait 20\n"
		  "> resources/subscribe 4 {\"uri\":\"a:/1\"}\n"
		  "! wait 29\n"
		  "! wait 1\n"
		  "head @4 200\n"
		  "tell @4 {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n"
		  "done @4 200\n"
		  "! wait 1000000\n"
		  "< #1 msg " UPDATED "a:/1" UP_END "tell @1 " TOLD
		  "a:/1" TOLD_END);
}
END_TEST

/* But not what is not open. */
START_TEST(test_resubscribe_while_it_is_away)
{
	play_check(&play_server, ONLY,
	    FIRST "< #1 cut\n"
		  "> resources/unsubscribe 3 {\"uri\":\"a:/1\"}\n"
		  "head @3 200\n"
		  "tell @3 {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n"
		  "done @3 200\n"
		  "> resources/subscribe 4 {\"uri\":\"a:/1\"}\n"
		  "! wait 50\n"
		  "send #2 POST subscriptions/listen \"mine-s3\" listen\n");
}
END_TEST

START_TEST(test_subscribe_timeout)
{
	play_check(&play_server, ONLY,
	    FIRST SUBSCRIBE_2
	    "! wait 9999\n"
	    "! wait 1\n"
	    "abort #2\n"
	    "head @3 200\n"
	    "tell @3 {\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"error\":{\"code\":-32603,\"message\":\"mcp.test did not "
	    "acknowledge the subscription within 10 s. Try again later.\","
	    "\"data\":{\"source\":\"mcpsplice\","
	    "\"reason\":\"upstream_timeout\",\"ran\":\"no\"}}}\n"
	    "done @3 200\n"
	    /* the old set stays */
	    "< #1 msg " UPDATED "a:/1" UP_END "tell @1 " TOLD "a:/1" TOLD_END
	    "! wait 1000000\n");
	/* Tried again as long as somebody waits. */
	play_check(&play_server, ONLY,
	    SUBSCRIBE_1 "< #1 cut\n"
			"! tick\n"
			"! wait 1000\n"
			"send #2 POST subscriptions/listen \"mine-s3\" listen\n"
			"< #2 503\n"
			"! wait 1500\n"
			"send #3 POST subscriptions/listen \"mine-s4\" listen\n"
			"< #3 head 200 media=sse\n"
			"< #3 msg " ACK
			"{\"resourceSubscriptions\":[\"a:/1\"]}" END
			"head @1 200\n"
			"tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
			"done @1 200\n");
	play_check(&play_server, ONLY,
	    SUBSCRIBE_1 "< #1 cut\n"
			"! wait 1000\n"
			"send #2 POST subscriptions/listen \"mine-s3\" listen\n"
			"< #2 503 retry-after=60\n"
			"! wait 9000\n"
			"head @1 200\n"
			"tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,"
			"\"error\":{\"code\":-32603,...\n"
			"done @1 200\n"
			"! wait 1000000\n");
}
END_TEST

/* The server's own words. */
START_TEST(test_subscribe_error)
{
	play_check(&play_server, ONLY,
	    FIRST SUBSCRIBE_2
	    "< #2 msg err -32602 too many\n"
	    "abort #2\n"
	    "head @3 200\n"
	    "tell @3 {\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"error\":{\"code\":-32602,\"message\":\"too many\"}}\n"
	    "done @3 200\n"
	    "< #1 msg " UPDATED "a:/1" UP_END "tell @1 " TOLD "a:/1" TOLD_END
	    "! wait 1000000\n"
	    /* the set is as it was: the same is a change again */
	    SUBSCRIBE_3);
}
END_TEST

/* All that was asked for is not honoured: the stream is of no use. */
START_TEST(test_subscribe_to_nothing)
{
	play_check(&play_server, ONLY,
	    SUBSCRIBE_1 "< #1 msg " ACK "{}" END "head @1 200\n"
			"tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,"
			"\"error\":{\"code\":-32602,...\n"
			"done @1 200\n"
			"! wait 50\n"
			"abort #1\n"
			"! wait 1000000\n");
	play_check(&play_server, ONLY,
	    SUBSCRIBE_1 "< #1 msg " ACK
			"{\"resourceSubscriptions\":{\"a:/1\":\"a:/1\"}}" END
			"head @1 200\n"
			"tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,"
			"\"error\":{\"code\":-32602,...\n"
			"done @1 200\n");
}
END_TEST

START_TEST(test_subscribe_abort)
{
	/* before it went out */
	play_check(&play_server, ONLY,
	    "> resources/subscribe 1 {\"uri\":\"a:/1\"}\n"
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "! wait 1000000\n");
	/* and after: the acknowledgement is for nobody */
	play_check(&play_server, ONLY,
	    SUBSCRIBE_1 "> abort @1\n"
			"done @1 aborted\n"
			"< #1 msg " ACK
			"{\"resourceSubscriptions\":[\"a:/1\"]}" END
			"! wait 50\n"
			"abort #1\n"
			"! wait 1000000\n");
	/* another one waits for the same */
	play_check(&play_server, ONLY,
	    "> resources/subscribe 9 {\"uri\":\"a:/1\"}\n" SUBSCRIBE_1
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "< #1 msg " ACK "{\"resourceSubscriptions\":[\"a:/1\"]}" END
	    "head @2 200\n"
	    "tell @2 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
	    "done @2 200\n"
	    "! wait 1000000\n");
}
END_TEST

START_TEST(test_resources_gap)
{
	play_check(&play_server, ONLY,
	    FIRST SUBSCRIBE_2
	    "< #2 msg " ACK
	    "{\"resourceSubscriptions\":[\"a:/1\",\"a:/2\"]}" END "abort #1\n"
	    "head @3 200\n"
	    "tell @3 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"
	    "done @3 200\n"
	    "! wait 30000\n"
	    "< #2 msg " ENDED "abort #2\n"
	    "! wait 1000\n"
	    "send #3 POST subscriptions/listen \"mine-s4\" listen\n"
	    "< #3 head 200 media=sse\n"
	    "< #3 msg " ACK
	    "{\"resourceSubscriptions\":[\"a:/1\",\"a:/2\"]}" END
	    "tell @1 " TOLD "a:/1" TOLD_END "tell @1 " TOLD "a:/2" TOLD_END
	    "< #3 msg " ACK
	    "{\"resourceSubscriptions\":[\"a:/1\",\"a:/2\"]}" END
	    "! wait 1000000\n");
	/* A change while it is away takes its place, and tells the same. */
	play_check(&play_server, ONLY,
	    FIRST "! wait 30000\n"
		  "< #1 cut\n"
		  "! wait 980\n"
		  "> resources/subscribe 2 {\"uri\":\"a:/2\"}\n"
		  "! wait 49\n"
		  "! wait 1\n"
		  "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
		  "< #2 head 200 media=sse\n"
		  /* there is no other that would tell */
		  "< #2 msg " UPDATED "a:/1" UP_END "tell @1 " TOLD
		  "a:/1" TOLD_END "! wait 5000\n"
		  "< #2 msg " ACK
		  "{\"resourceSubscriptions\":[\"a:/1\",\"a:/2\"]}" END
		  "tell @1 " TOLD "a:/1" TOLD_END "head @3 200\n"
		  "tell @3 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"
		  "done @3 200\n"
		  "! wait 1000000\n");
	/* The change fails: what was away comes back, with the set of now. */
	play_check(&play_server, ONLY " bodies",
	    "> resources/subscribe 1 {\"uri\":\"a:/1\"}\n"
	    "! wait 50\n"
	    "send #1 POST ...\n"
	    "< #1 head 200 media=sse\n"
	    "< #1 msg " ACK "{\"resourceSubscriptions\":[\"a:/1\"]}" END
	    "head @1 200\n"
	    "tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
	    "done @1 200\n"
	    "< #1 cut\n"
	    "> resources/subscribe 2 {\"uri\":\"a:/2\"}\n"
	    "! wait 50\n"
	    "send #2 POST ...\n"
	    "! wait 10000\n"
	    "abort #2\n"
	    "head @2 200\n"
	    "tell @2 {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":...\n"
	    "done @2 200\n"
	    "send #3 POST {\"jsonrpc\":\"2.0\",\"id\":\"mine-s4\","
	    "\"method\":\"subscriptions/listen\","
	    "\"params\":{\"notifications\":{\"resourceSubscriptions\":[\"a:/1"
	    "\"]},\"_meta\":{<meta>}}} listen\n");
}
END_TEST

/* What the server honours without being asked does not count later. */
START_TEST(test_honoured_too_early)
{
	play_check(&play_server, ONLY,
	    SUBSCRIBE_1 "> resources/subscribe 2 {\"uri\":\"a:/2\"}\n"
			"< #1 msg " ACK
			"{\"resourceSubscriptions\":[\"a:/1\",\"a:/2\"]}" END
			"head @1 200\n"
			"tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
			"done @1 200\n"
			"! wait 50\n"
			"send #2 POST subscriptions/listen \"mine-s3\" listen\n"
			"< #2 head 200 media=sse\n"
			"< #2 msg " ACK
			"{\"resourceSubscriptions\":[\"a:/1\"]}" END
			"abort #1\n"
			"head @2 200\n"
			"tell @2 {\"jsonrpc\":\"2.0\",\"id\":2,"
			"\"error\":{\"code\":-32602,...\n"
			"done @2 200\n");
}
END_TEST

/* A gap is told once, not with the next change. */
START_TEST(test_gap_told_once)
{
	play_check(&play_server, ONLY,
	    FIRST "< #1 cut\n"
		  "! wait 1000\n"
		  "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
		  "< #2 head 200 media=sse\n"
		  "< #2 msg " ACK "{\"resourceSubscriptions\":[\"a:/1\"]}" END
		  "tell @1 " TOLD "a:/1" TOLD_END
		  "> resources/subscribe 2 {\"uri\":\"a:/2\"}\n"
		  "! wait 50\n"
		  "send #3 POST subscriptions/listen \"mine-s4\" listen\n"
		  "< #3 head 200 media=sse\n"
		  "< #3 msg " ACK
		  "{\"resourceSubscriptions\":[\"a:/1\",\"a:/2\"]}" END
		  "abort #2\n"
		  "head @3 200\n"
		  "tell @3 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"
		  "done @3 200\n");
}
END_TEST

/* The session's GET ended: what is open is replaced, before it ends. */
START_TEST(test_resources_again)
{
	play_check(&play_server, ONLY,
	    FIRST "> abort @1\n"
		  "done @1 aborted\n"
		  "> get\n"
		  "head @3 200\n"
		  "! wait 50\n"
		  "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
		  "< #1 msg " UPDATED "a:/1" UP_END "tell @3 " TOLD
		  "a:/1" TOLD_END "< #2 head 200 media=sse\n"
		  "< #2 msg " ACK "{\"resourceSubscriptions\":[\"a:/1\"]}" END
		  "tell @3 " TOLD "a:/1" TOLD_END "abort #1\n"
		  "! wait 1000000\n");
	/* Neither is heard of: the old one is not trusted. */
	play_check(&play_server, ONLY,
	    FIRST "> abort @1\n"
		  "done @1 aborted\n"
		  "! wait 50\n"
		  "send #2 POST subscriptions/listen \"mine-s3\" listen\n"
		  "! wait 10000\n"
		  "abort #2\n"
		  "abort #1\n"
		  "! wait 1000\n"
		  "send #3 POST subscriptions/listen \"mine-s4\" listen\n"
		  "< #3 head 200 media=sse\n"
		  "< #3 msg " ACK "{\"resourceSubscriptions\":[\"a:/1\"]}" END
		  "> get\n"
		  "head @3 200\n"
		  "tell @3 " TOLD "a:/1" TOLD_END);
}
END_TEST

/* Without a GET the one who waits learns that the server is another. */
START_TEST(test_subscribe_gone)
{
	play_check(&play_server, ONLY,
	    "> resources/subscribe 1 {\"uri\":\"a:/1\"}\n"
	    "! wait 50\n"
	    "send #1 POST subscriptions/listen \"mine-s2\" listen\n"
	    "< #1 404\n"
	    "done @1 gone\n"
	    "! wait 1000000\n");
	/* Nobody is there to learn it: it is asked again. */
	play_check(&play_server, ONLY,
	    SUBSCRIBE_1 "< #1 msg " ACK
			"{\"resourceSubscriptions\":[\"a:/1\"]}" END
			"head @1 200\n"
			"tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
			"done @1 200\n"
			"< #1 cut\n"
			"! wait 1000\n"
			"send #2 POST subscriptions/listen \"mine-s3\" listen\n"
			"< #2 404\n"
			"! wait 1500\n"
			"send #3 POST subscriptions/listen \"mine-s4\" listen\n"
			"> get\n"
			"head @2 200\n"
			"< #3 404\n"
			"done @2 gone\n");
}
END_TEST

/* --- bounds --- */

static void
subscribe(struct play *p, int id, const char *uri)
{
	play_feed(p, "> resources/subscribe %d {'uri':'%s'}", id, uri);
}

START_TEST(test_too_many_uris)
{
	struct play *p = play_new(&play_server, "modern");
	int i;

	for (i = 0; i < 1024; i++)
		play_feed(p, "> resources/subscribe %d {'uri':'a:/%d'}", i, i);
	ck_assert_uint_eq(play_count(p, ""), 0);
	subscribe(p, 1024, "a:/1024");
	ck_assert_uint_eq(play_count(p,
			      "tell @1025 {\"jsonrpc\":\"2.0\",\"id\":1024,"
			      "\"error\":{\"code\":-32603,\"message\":\"Too "
			      "many subscriptions to resources: unsubscribe "
			      "from some first.\",\"data\":{\"source\":"
			      "\"mcpsplice\",\"reason\":\"busy\""),
	    1);
	/* One of them is no more than it was. */
	subscribe(p, 1025, "a:/1023");
	ck_assert_uint_eq(play_count(p, ""), 0);
	play_feed(p, "> resources/unsubscribe 1026 {\"uri\":\"a:/0\"}");
	ck_assert_uint_eq(play_count(p, "done @"), 2);
	subscribe(p, 1027, "a:/1024");
	ck_assert_uint_eq(play_count(p, ""), 0);
	play_feed(p, "! wait 50");
	ck_assert_uint_eq(play_count(p, "send #1 POST"), 1);
	play_free(p);
}
END_TEST

START_TEST(test_too_long_uris)
{
	struct play *p = play_new(&play_server, "modern");
	char *uri = xmalloc((1 << 19) + 1);

	/* With their quotes two of them would be a few bytes too many. */
	memset(uri, 'u', 1 << 19);
	uri[1 << 19] = '\0';
	subscribe(p, 1, uri);
	ck_assert_uint_eq(play_count(p, ""), 0);
	uri[0] = 'v';
	subscribe(p, 2, uri);
	ck_assert_uint_eq(play_count(p,
			      "tell @2 {\"jsonrpc\":\"2.0\",\"id\":2,"
			      "\"error\":{\"code\":-32603,"),
	    1);
	uri[(1 << 19) - 4] = '\0';
	subscribe(p, 3, uri);
	ck_assert_uint_eq(play_count(p, ""), 0);
	/* What leaves makes room. */
	subscribe(p, 4, "w");
	ck_assert_uint_eq(play_count(p, "tell @4"), 1);
	play_feed(p, "> abort @3");
	ck_assert_uint_eq(play_count(p, "done @3"), 1);
	subscribe(p, 5, "w");
	ck_assert_uint_eq(play_count(p, ""), 0);
	free(uri);
	play_free(p);
}
END_TEST

/* What is honoured is looked at as far as it can be of use. */
START_TEST(test_long_acknowledgement)
{
	struct play *p = play_new(&play_server, "modern");
	struct buf b;
	size_t i;

	subscribe(p, 1, "a:/1");
	play_feed(p, "! wait 50");
	play_feed(p, "< #1 head 200 media=sse");
	play_count(p, "");
	buf_init(&b, 0);
	buf_adds(&b,
	    "< #1 msg {\"jsonrpc\":\"2.0\",\"method\":"
	    "\"notifications/subscriptions/acknowledged\",\"params\":{" SUB
	    ",\"notifications\":{"
	    "\"resourceSubscriptions\":[");
	for (i = 0; i < 1024; i++)
		buf_adds(&b, "0,");
	buf_adds(&b, "\"a:/1\"]}}}");
	play_feed(p, "%s", buf_str(&b));
	ck_assert_uint_eq(play_count(p,
			      "tell @1 {\"jsonrpc\":\"2.0\",\"id\":1,"
			      "\"error\":{\"code\":-32602,"),
	    1);
	buf_free(&b);
	play_free(p);
}
END_TEST

/* An acknowledged stream of resources, and no GET. */
static struct play *
without_get(void)
{
	struct play *p = play_new(&play_server, ONLY);

	subscribe(p, 1, "a:/1");
	play_feed(p, "! wait 50");
	play_feed(p, "< #1 head 200 media=sse");
	play_feed(p,
	    "< #1 msg " ACK "{\"resourceSubscriptions\":[\"a:/1\"]}" END);
	ck_assert_uint_eq(play_count(p, "done @1 200"), 1);
	return p;
}

START_TEST(test_kept)
{
	struct play *p = without_get();
	int i;

	for (i = 0; i < 70; i++)
		play_feed(p, "< #1 msg " UPDATED "a:/1/%d" UP_END, i);
	ck_assert_uint_eq(play_count(p, ""), 0);
	play_must(p, "> get");
	play_must(p, "head @2 200");
	for (i = 0; i < 64; i++)
		play_must(p, "tell @2 " TOLD "a:/1/%d" TOLD_END, i);
	play_must_rest(p);
	/* They are told once. */
	play_feed(p, "> abort @2");
	play_feed(p, "> get");
	ck_assert_uint_eq(play_count(p, "tell"), 0);
	play_free(p);
}
END_TEST

START_TEST(test_kept_bytes)
{
	struct play *p = without_get();
	char *big = xmalloc((1 << 18) + 1);
	int i;

	memset(big, 'u', 1 << 18);
	big[1 << 18] = '\0';
	for (i = 0; i < 5; i++)
		play_feed(p, "< #1 msg " UPDATED "%s" UP_END, big);
	play_feed(p, "< #1 msg " UPDATED "a:/1" UP_END);
	ck_assert_uint_eq(play_count(p, ""), 0);
	play_feed(p, "> get");
	/* Four do not fit, with what is around them; the small one does. */
	ck_assert_uint_eq(play_count(p, "tell @2"), 4);
	/* There is room again. */
	play_feed(p, "> abort @2");
	for (i = 0; i < 2; i++)
		play_feed(p, "< #1 msg " UPDATED "%s" UP_END, big);
	ck_assert_uint_eq(play_count(p, "done @2"), 1);
	play_feed(p, "> get");
	ck_assert_uint_eq(play_count(p, "tell @3"), 2);
	free(big);
	play_free(p);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("server_subscribe");
	TCase *set = tcase_create("resources");
	TCase *bounds = tcase_create("bounds");

	tcase_add_test(set, test_subscribe);
	tcase_add_test(set, test_subscribe_refused);
	tcase_add_test(set, test_subscribe_burst);
	tcase_add_test(set, test_overlap);
	tcase_add_test(set, test_unsubscribe);
	tcase_add_test(set, test_resubscribe);
	tcase_add_test(set, test_resubscribe_while_it_is_away);
	tcase_add_test(set, test_subscribe_timeout);
	tcase_add_test(set, test_subscribe_error);
	tcase_add_test(set, test_subscribe_to_nothing);
	tcase_add_test(set, test_subscribe_abort);
	tcase_add_test(set, test_resources_gap);
	tcase_add_test(set, test_honoured_too_early);
	tcase_add_test(set, test_gap_told_once);
	tcase_add_test(set, test_resources_again);
	tcase_add_test(set, test_subscribe_gone);
	tcase_add_test(bounds, test_too_many_uris);
	tcase_add_test(bounds, test_too_long_uris);
	tcase_add_test(bounds, test_long_acknowledgement);
	tcase_add_test(bounds, test_kept);
	tcase_add_test(bounds, test_kept_bytes);
	suite_add_tcase(s, set);
	suite_add_tcase(s, bounds);
	return s;
}

int
main(void)
{
	return suite_run(make_suite());
}
