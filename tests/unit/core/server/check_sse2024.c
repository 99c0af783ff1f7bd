/*
 * HTTP+SSE of 2024-11-05, played as Streamable HTTP: schedules in the language
 * of server_play.h (doc/protocol.md 1.2), the bounds of what is kept, and the
 * facts of what is refused and of what is lost.
 */
#include "config.h"

#include "play/server_hand.h"
#include "play/server_play.h"

#include <stdio.h>

#include "core/server/order.h"
#include "unit/unit.h"

struct row {
	const char *name, *schedule;
};

#define INIT                                                                   \
	"{'protocolVersion':'2025-06-18','capabilities':{},"                   \
	"'clientInfo':{'name':'c','version':'1'}}"
#define SPOKEN "{'protocolVersion':'2025-06-18'}"
#define NOTE(method) "{'jsonrpc':'2.0','method':'" method "','params':{}}\n"
#define ASK(id) "{'jsonrpc':'2.0','id':" id ",'method':'ping','params':{}}\n"

/* initialize is POSTed to the endpoint that the stream #1 named, as #2. */
#define BEGUN                                                                  \
	"> initialize 0 " INIT "\n"                                            \
	"order #1 GET listen announces\n"                                      \
	"< #1 head 200 media=sse\n"                                            \
	"< #1 endpoint ok\n"                                                   \
	"order #2 POST initialize 0\n"
/* @1 is answered. */
#define OPENED                                                                 \
	BEGUN "< #2 202\n"                                                     \
	      "head @1 200\n"                                                  \
	      "< #1 msg ok=0 " SPOKEN "\n"                                     \
	      "found sse\n"                                                    \
	      "tell @1 {'jsonrpc':'2.0','id':0,'result':" SPOKEN "}\n"         \
	      "done @1 200\n"
/* @2 was initialized, @3 is the session's GET. */
#define LIVE                                                                   \
	OPENED "> notifications/initialized\n"                                 \
	       "order #3 POST notifications/initialized\n"                     \
	       "< #3 202 body=Accepted\n"                                      \
	       "done @2 202\n"                                                 \
	       "> get\n"                                                       \
	       "head @3 200\n"
/* The order k, request id, is POSTed as n and taken. */
#define CALL(k, id, n)                                                         \
	"> tools/call " id "\n"                                                \
	"order #" n " POST tools/call " id "\n"                                \
	"< #" n " 202\n"                                                       \
	"head @" k " 200\n"
#define ANSWERED(k, id)                                                        \
	"tell @" k " {'jsonrpc':'2.0','id':" id ",'result':{}}\n"              \
	"done @" k " 200\n"

/* --- the endpoint --- */

/* clang-format off */
static const struct row endpoint[] = {
	{ "good",
	    LIVE },
	/* initialize is answered before its POST is. */
	{ "an early answer",
	    BEGUN "< #1 msg ok=0 " SPOKEN "\n"
	    "found sse\n"
	    "tell @1 {'jsonrpc':'2.0','id':0,'result':" SPOKEN "}\n"
	    "done @1 200\n"
	    "drop #2\n"
	    "< #2 202\n"
	    "> ping 1\n"
	    "order #3 POST ping 1\n" },
	{ "foreign",
	    "> initialize 0 " INIT "\n"
	    "order #1 GET listen announces\n"
	    "< #1 endpoint bad\n"
	    "warn mcp.test names an endpoint on another origin: not used\n"
	    "drop #1\n"
	    "done @1 200\n"
	    "< #1 endpoint ok\n" },
	/* Upstream has the new one from now on. */
	{ "a new one",
	    LIVE "< #1 endpoint ok\n"
	    CALL("4", "1", "4")
	    "< #1 endpoint ok\n"
	    "< #1 msg ok=1\n"
	    ANSWERED("4", "1") },
	{ "a new one before the answer",
	    BEGUN "< #1 endpoint ok\n"
	    "< #2 202\n"
	    "head @1 200\n"
	    "< #1 msg ok=0 {}\n"
	    "found sse\n"
	    "tell @1 {'jsonrpc':'2.0','id':0,'result':{}}\n"
	    "done @1 200\n" },
	{ "a foreign one later",
	    LIVE CALL("4", "1", "4")
	    "< #1 endpoint bad\n"
	    "warn mcp.test names an endpoint on another origin: not used\n"
	    "drop #1\n"
	    "done @4 gone maybe\n"
	    "done @3 gone\n"
	    "> ping 2\n"
	    "done @5 gone\n" },
	{ "late",
	    "> initialize 0 " INIT "\n"
	    "order #1 GET listen announces\n"
	    "! wait 9999\n"
	    "< #1 head 200 media=sse\n"
	    "< #1 endpoint ok\n"
	    "order #2 POST initialize 0\n"
	    /* that clock is stopped */
	    "! wait 100000\n"
	    "< #2 202\n"
	    "head @1 200\n" },
	{ "too late",
	    "> initialize 0 " INIT "\n"
	    "order #1 GET listen announces\n"
	    "! wait 10000\n"
	    "drop #1\n"
	    "done @1 202\n"
	    "< #1 endpoint ok\n"
	    "< #1 msg ok=0 {}\n"
	    "< #1 end\n" },
	{ "none",
	    "> initialize 0 " INIT "\n"
	    "order #1 GET listen announces\n"
	    "< #1 head 200 media=sse\n"
	    "< #1 end\n"
	    "done @1 200\n" },
	{ "a message first",
	    "> initialize 0 " INIT "\n"
	    "order #1 GET listen announces\n"
	    "< #1 head 200 media=sse\n"
	    "< #1 msg note notifications/message {}\n"
	    "drop #1\n"
	    "done @1 200\n" },
	/* Silence never ends the stream. */
	{ "silence",
	    LIVE "! wait 86400000\n"
	    CALL("4", "1", "4") },
};
/* clang-format on */

/* --- the opening --- */

/* clang-format off */
static const struct row opening[] = {
	{ "refused on the stream",
	    BEGUN "< #2 202\n"
	    "head @1 200\n"
	    "< #1 msg err=0 -32602 no\n"
	    "tell @1 {'jsonrpc':'2.0','id':0,'error':{'code':-32602,"
	    "'message':'no'}}\n"
	    "done @1 200\n"
	    "drop #1\n"
	    "> notifications/initialized\n"
	    "done @2 gone\n" },
	{ "refused by its POST",
	    BEGUN "< #2 400\n"
	    "head @1 400\n"
	    "done @1 400\n"
	    "drop #1\n"
	    "> ping 1\n"
	    "done @2 gone\n" },
	{ "cut",
	    BEGUN "< #2 cut\n"
	    "head @1 0\n"
	    "done @1 cut\n"
	    "drop #1\n" },
	{ "its stream ends",
	    BEGUN "< #2 202\n"
	    "head @1 200\n"
	    "< #1 cut\n"
	    "done @1 cut\n"
	    "> initialize 1 " INIT "\n"
	    "order #3 GET listen announces\n" },
	{ "its stream ends before its POST",
	    BEGUN "< #1 end\n"
	    "done @1 cut\n"
	    "drop #2\n"
	    "< #2 202\n" },
	{ "given up",
	    BEGUN "> abort @1\n"
	    "done @1 aborted\n"
	    "drop #1\n"
	    "drop #2\n"
	    "> initialize 1 " INIT "\n"
	    "order #3 GET listen announces\n" },
	{ "other answers before it",
	    BEGUN "< #2 202\n"
	    "head @1 200\n"
	    "< #1 msg ok=1 {}\n"
	    "< #1 msg ok='0' {}\n"
	    "< #1 msg ok=0.0 {}\n"
	    "found sse\n"
	    "tell @1 {'jsonrpc':'2.0','id':0.0,'result':{}}\n"
	    "done @1 200\n" },
	/* What the server says first waits for the session's GET. */
	{ "words before it",
	    BEGUN "< #1 msg note notifications/message {}\n"
	    "< #1 msg ask 1 ping\n"
	    "< #2 202\n"
	    "head @1 200\n"
	    "< #1 msg ok=0 {}\n"
	    "found sse\n"
	    "tell @1 {'jsonrpc':'2.0','id':0,'result':{}}\n"
	    "done @1 200\n"
	    "> get\n"
	    "head @2 200\n"
	    "tell @2 " NOTE("notifications/message")
	    "tell @2 " ASK("1") },
};
/* clang-format on */

/* --- answers --- */

/* clang-format off */
static const struct row answers[] = {
	{ "by id",
	    LIVE CALL("4", "1", "4")
	    CALL("5", "'b'", "5")
	    "< #1 msg ok='b'\n"
	    ANSWERED("5", "'b'")
	    "< #1 msg err=1 7 no\n"
	    "tell @4 {'jsonrpc':'2.0','id':1,'error':{'code':7,"
	    "'message':'no'}}\n"
	    "done @4 200\n" },
	{ "written otherwise",
	    LIVE CALL("4", "1", "4")
	    CALL("5", "'a'", "5")
	    CALL("6", "20", "6")
	    "< #1 msg ok='\\u0061'\n"
	    ANSWERED("5", "'\\u0061'")
	    "< #1 msg ok=2E1\n"
	    ANSWERED("6", "2E1")
	    "< #1 msg ok='1'\n"
	    "< #1 msg ok=1.0\n"
	    ANSWERED("4", "1.0") },
	{ "before the POST is over",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #1 msg ok=1\n"
	    ANSWERED("4", "1")
	    "drop #4\n"
	    "< #4 202\n" },
	{ "twice",
	    LIVE CALL("4", "1", "4")
	    "< #1 msg ok=1\n"
	    ANSWERED("4", "1")
	    "< #1 msg ok=1\n"
	    "< #1 msg err=1 7 no\n" },
	{ "to nobody",
	    LIVE "< #1 msg ok=1\n"
	    "< #1 msg err=null -32700 what\n"
	    "< #1 msg ok=1.5\n"
	    CALL("4", "1", "4")
	    "< #1 msg ok=2\n"
	    "< #1 msg ok=1\n"
	    ANSWERED("4", "1") },
	/* The session's notification and its answers have none. */
	{ "to what asked nothing",
	    LIVE "> answer 1\n"
	    "order #4 POST answer 1\n"
	    "< #1 msg ok=1\n"
	    "< #4 202\n"
	    "done @4 202\n"
	    "< #1 msg ok=1\n" },
	{ "the same id again",
	    LIVE CALL("4", "1", "4")
	    "< #1 msg ok=1\n"
	    ANSWERED("4", "1")
	    CALL("5", "1", "5")
	    "< #1 msg ok=1\n"
	    ANSWERED("5", "1") },
	/* It is on the stream: what a POST says of success is ignored. */
	{ "in the body of the POST",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #4 200 ok\n"
	    "head @4 200\n"
	    "< #1 msg ok=1\n"
	    ANSWERED("4", "1") },
	{ "any 2xx",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #4 204\n"
	    "head @4 200\n"
	    "> notifications/x\n"
	    "order #5 POST notifications/x\n"
	    "< #5 299\n"
	    "done @5 202\n" },
};
/* clang-format on */

/* --- what the server says --- */

/* clang-format off */
static const struct row server_words[] = {
	{ "on the stream",
	    LIVE "< #1 msg note a\n"
	    "tell @3 {'jsonrpc':'2.0','method':'a'}\n"
	    "< #1 msg ask 1.0 ping\n"
	    "tell @3 " ASK("1.0")
	    "> answer 1.0\n"
	    "order #4 POST answer 1.0\n"
	    "< #4 202\n"
	    "done @4 202\n" },
	{ "before the GET",
	    OPENED "< #1 msg note a\n"
	    "< #1 msg ask 1 ping\n"
	    "< #1 msg note b\n"
	    "> get\n"
	    "head @2 200\n"
	    "tell @2 {'jsonrpc':'2.0','method':'a'}\n"
	    "tell @2 " ASK("1")
	    "tell @2 {'jsonrpc':'2.0','method':'b'}\n"
	    "< #1 msg note c\n"
	    "tell @2 {'jsonrpc':'2.0','method':'c'}\n" },
	{ "between two GETs",
	    LIVE "> abort @3\n"
	    "done @3 aborted\n"
	    "< #1 msg note a\n"
	    "> get\n"
	    "head @4 200\n"
	    "tell @4 {'jsonrpc':'2.0','method':'a'}\n"
	    "< #1 msg note b\n"
	    "tell @4 {'jsonrpc':'2.0','method':'b'}\n" },
	/* What is kept is of that session. */
	{ "of a session before",
	    OPENED "< #1 msg note a\n"
	    "> initialize 1 " INIT "\n"
	    "drop #1\n"
	    "order #3 GET listen announces\n"
	    "< #3 endpoint ok\n"
	    "order #4 POST initialize 1\n"
	    "< #4 202\n"
	    "head @2 200\n"
	    "< #3 msg ok=1 {}\n"
	    "found sse\n"
	    "tell @2 {'jsonrpc':'2.0','id':1,'result':{}}\n"
	    "done @2 200\n"
	    "> get\n"
	    "head @3 200\n"
	    "< #1 msg note b\n"
	    "< #3 msg note c\n"
	    "tell @3 {'jsonrpc':'2.0','method':'c'}\n" },
};
/* clang-format on */

/* --- POSTs that are refused, or do not arrive --- */

/* clang-format off */
static const struct row posts[] = {
	{ "404",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #4 404\n"
	    "head @4 404\n"
	    "done @4 404\n"
	    "< #1 msg ok=1\n" },
	{ "400 and words",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #4 400 err=null -32000 no session\n"
	    "tell @4 {'jsonrpc':'2.0','id':null,'error':{'code':-32000,"
	    "'message':'no session'}}\n"
	    "head @4 400\n"
	    "done @4 400\n" },
	{ "400, a notification",
	    LIVE "> notifications/x\n"
	    "order #4 POST notifications/x\n"
	    "< #4 400 body=no\n"
	    "head @4 400\n"
	    "done @4 400\n" },
	{ "503",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #4 503 retry-after=4\n"
	    "head @4 503\n"
	    "done @4 503 retry-after 4000\n" },
	{ "307",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #4 307\n"
	    "head @4 307\n"
	    "done @4 307\n" },
	{ "cut",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #4 cut\n"
	    "head @4 0\n"
	    "done @4 cut\n"
	    "< #1 msg ok=1\n" },
	/* It was taken: its answer may come. */
	{ "cut behind its status",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #4 head 202\n"
	    "< #4 cut\n"
	    "head @4 200\n"
	    "< #1 msg ok=1\n"
	    ANSWERED("4", "1")
	    "> notifications/x\n"
	    "order #5 POST notifications/x\n"
	    "< #5 head 202\n"
	    "< #5 cut\n"
	    "done @5 202\n" },
	{ "not sent",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #4 connect\n"
	    "head @4 0\n"
	    "done @4 connect unsent\n"
	    "> tools/call 1\n"
	    "order #5 POST tools/call 1\n"
	    "< #5 reset\n"
	    "head @5 0\n"
	    "done @5 cut unsent\n" },
	{ "a person",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #4 person open this\n"
	    "sign-in @4 open this\n"
	    "< #4 person\n"
	    "sign-in @4 \n"
	    "< #4 202\n"
	    "head @4 200\n"
	    /* of the stream: of no order */
	    "< #1 person open this\n" },
};
/* clang-format on */

/* --- the stream is lost --- */

/* clang-format off */
static const struct row lost[] = {
	{ "idle",
	    LIVE "< #1 end\n"
	    "done @3 gone\n"
	    "> get\n"
	    "done @4 gone\n"
	    "> tools/call 1\n"
	    "done @5 gone\n"
	    "> notifications/x\n"
	    "done @6 gone\n"
	    "> answer 4\n"
	    "done @7 gone\n"
	    "> delete\n"
	    "done @8 gone\n"
	    "> abort @8\n"
	    /* nothing of it is heard */
	    "< #1 msg note a\n"
	    "< #1 end\n"
	    "> initialize 9 " INIT "\n"
	    "order #4 GET listen announces\n" },
	{ "without a GET",
	    OPENED "< #1 cut\n"
	    "> tools/call 1\n"
	    "done @2 gone\n" },
	{ "an answer behind its end",
	    LIVE CALL("4", "1", "4")
	    "< #1 cut\n"
	    "done @4 gone maybe\n"
	    "done @3 gone\n"
	    "< #1 msg ok=1\n" },
	/* What was taken may have run; what is under way, its status tells. */
	{ "POSTs under way",
	    LIVE CALL("4", "1", "4")
	    "> tools/call 2\n"
	    "order #5 POST tools/call 2\n"
	    "> tools/call 3\n"
	    "order #6 POST tools/call 3\n"
	    "> tools/call 4\n"
	    "order #7 POST tools/call 4\n"
	    "> notifications/x\n"
	    "order #8 POST notifications/x\n"
	    "< #1 end\n"
	    "done @4 gone maybe\n"
	    "done @3 gone\n"
	    "< #5 202\n"
	    "done @5 gone maybe\n"
	    "< #6 404 err=null -32000 no\n"
	    "done @6 gone\n"
	    "< #7 500\n"
	    "done @7 gone maybe\n"
	    "< #8 400\n"
	    "done @8 gone\n" },
	/* A server that dies takes both: each says for itself what it was. */
	{ "a POST cut behind it",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #1 cut\n"
	    "done @3 gone\n"
	    "< #4 cut\n"
	    "head @4 0\n"
	    "done @4 cut\n" },
	{ "a POST not sent behind it",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #1 cut\n"
	    "done @3 gone\n"
	    "< #4 connect\n"
	    "head @4 0\n"
	    "done @4 connect unsent\n"
	    /* again: now it is refused */
	    "> tools/call 1\n"
	    "done @5 gone\n" },
	{ "a POST given up behind it",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #1 cut\n"
	    "done @3 gone\n"
	    "> abort @4\n"
	    "done @4 aborted\n"
	    "drop #4\n" },
	{ "twice",
	    LIVE CALL("4", "1", "4")
	    "> tools/call 2\n"
	    "order #5 POST tools/call 2\n"
	    "< #1 end\n"
	    "done @4 gone maybe\n"
	    "done @3 gone\n"
	    "> initialize 9 " INIT "\n"
	    "order #6 GET listen announces\n"
	    "< #6 endpoint ok\n"
	    "order #7 POST initialize 9\n"
	    "< #7 202\n"
	    "head @6 200\n"
	    "< #6 msg ok=9 {}\n"
	    "found sse\n"
	    "tell @6 {'jsonrpc':'2.0','id':9,'result':{}}\n"
	    "done @6 200\n"
	    /* the POST of the session before still ends as lost */
	    "< #5 202\n"
	    "done @5 gone maybe\n"
	    CALL("7", "2", "8")
	    "< #6 end\n"
	    "done @7 gone maybe\n" },
	/* The new session has the same id in use. */
	{ "an id of the session before",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "< #1 end\n"
	    "done @3 gone\n"
	    "> initialize 9 " INIT "\n"
	    "order #5 GET listen announces\n"
	    "< #5 endpoint ok\n"
	    "order #6 POST initialize 9\n"
	    "< #6 202\n"
	    "head @5 200\n"
	    "< #5 msg ok=9 {}\n"
	    "found sse\n"
	    "tell @5 {'jsonrpc':'2.0','id':9,'result':{}}\n"
	    "done @5 200\n"
	    /* @4 is not of this stream, whatever its id is */
	    "< #5 msg ok=1\n"
	    "< #4 404\n"
	    "done @4 gone\n" },
};
/* clang-format on */

/* --- it is renewed while it lives --- */

/* clang-format off */
static const struct row renewed[] = {
	/* Nothing will come of what was under way. */
	{ "a call",
	    LIVE CALL("4", "1", "4")
	    "> tools/call 2\n"
	    "order #5 POST tools/call 2\n"
	    "< #5 404\n"
	    "head @5 404\n"
	    "done @5 404\n"
	    "> initialize 9 " INIT "\n"
	    "drop #1\n"
	    "done @4 gone maybe\n"
	    "done @3 gone\n"
	    "order #6 GET listen announces\n" },
	{ "a POST",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "> initialize 9 " INIT "\n"
	    "drop #1\n"
	    "done @3 gone\n"
	    "order #5 GET listen announces\n"
	    "< #4 202\n"
	    "done @4 gone maybe\n" },
	{ "idle",
	    OPENED "> initialize 9 " INIT "\n"
	    "drop #1\n"
	    "order #3 GET listen announces\n" },
};
/* clang-format on */

/* --- the session ends things --- */

/* clang-format off */
static const struct row ends[] = {
	{ "DELETE",
	    LIVE "> delete\n"
	    "done @4 202\n" },
	{ "a call",
	    LIVE CALL("4", "1", "4")
	    "> abort @4\n"
	    "done @4 aborted\n"
	    "< #1 msg ok=1\n" },
	{ "a POST",
	    LIVE "> tools/call 1\n"
	    "order #4 POST tools/call 1\n"
	    "> abort @4\n"
	    "done @4 aborted\n"
	    "drop #4\n"
	    "< #1 msg ok=1\n"
	    "< #4 202\n" },
	{ "a notification",
	    LIVE "> notifications/x\n"
	    "order #4 POST notifications/x\n"
	    "> abort @4\n"
	    "done @4 aborted\n"
	    "drop #4\n" },
	{ "the GET",
	    LIVE "> abort @3\n"
	    "done @3 aborted\n"
	    "> abort @3\n"
	    "< #1 end\n"
	    "> get\n"
	    "done @4 gone\n" },
};
/* clang-format on */

/* --- how orders go out --- */

START_TEST(test_orders)
{
	server_play_check("transport=sse flags headers",
	    "> initialize 0 " INIT "\n"
	    "order #1 GET listen announces [] person\n"
	    "< #1 endpoint ok\n"
	    "order #2 POST initialize 0 [] endpoint person\n"
	    "< #2 202\n"
	    "head @1 200\n"
	    "< #1 msg ok=0 {}\n"
	    "found sse\n"
	    "tell @1 {'jsonrpc':'2.0','id':0,'result':{}}\n"
	    "done @1 200\n"
	    "> notifications/initialized\n"
	    "order #3 POST notifications/initialized [2025-11-25] endpoint\n"
	    "> tools/call 1 {'name':'x'}\n"
	    "order #4 POST tools/call 1 [2025-11-25] endpoint person\n"
	    "> answer 7\n"
	    "order #5 POST answer 7 [2025-11-25] endpoint\n");
	/* Byte for byte. */
	server_play_check("transport=sse bodies",
	    "> initialize 0\n"
	    "order #1 GET listen announces\n"
	    "< #1 endpoint ok\n"
	    "order #2 POST {'jsonrpc':'2.0','method':'initialize','id':0}\n"
	    "< #1 msg ok=0 {}\n"
	    "found sse\n"
	    "tell @1 {'jsonrpc':'2.0','id':0,'result':{}}\n"
	    "done @1 200\n"
	    "drop #2\n"
	    "> {'params':{'a':1.0,'a':2},'method':'x','id':1e0,"
	    "'jsonrpc':'2.0','_meta':0}\n"
	    "order #3 POST {'params':{'a':1.0,'a':2},'method':'x','id':1e0,"
	    "'jsonrpc':'2.0','_meta':0}\n");
}
END_TEST

START_TEST(test_notes)
{
	server_play_check("transport=sse notes was=sse",
	    LIVE "< #1 msg ok=1\n"
		 "note an answer to no open request on the stream: dropped\n");
}
END_TEST

/* --- bounds --- */

static void
play(struct server_play *p, const char *line)
{
	struct buf text;
	size_t i;

	buf_init(&text, 0);
	buf_adds(&text, line);
	for (i = 0; i < text.n; i++)
		if (text.p[i] == '\'')
			text.p[i] = '"';
	ck_assert(server_play_input(p, buf_str(&text)));
	buf_free(&text);
}

static void
play_all(struct server_play *p, const char *lines)
{
	const char *end;
	char *line;

	for (; *lines != '\0'; lines = end + 1) {
		end = strchr(lines, '\n');
		line = xstrndup(lines, (size_t)(end - lines));
		if (strchr("<>!", *line) != NULL)
			play(p, line);
		free(line);
	}
	buf_reset(&p->out);
}

static unsigned
count(struct server_play *p, const char *beginning)
{
	struct buf line;
	unsigned n = 0;

	buf_init(&line, 0);
	while (server_play_take(p, &line))
		if (strncmp(buf_str(&line), beginning, strlen(beginning)) == 0)
			n++;
	buf_free(&line);
	return n;
}

/* So many messages wait for a GET, and no more. */
START_TEST(test_kept)
{
	struct server_play *p = server_play_new("transport=sse notes");
	char line[64];
	int i;

	play_all(p, OPENED);
	for (i = 0; i < 66; i++) {
		snprintf(line, sizeof line, "< #1 msg note n%d", i);
		play(p, line);
	}
	ck_assert_uint_eq(count(p, "note too much on the stream"), 2);
	play(p, "> get");
	ck_assert(memmem(p->out.p, p->out.n, "\"n0\"", 4) != NULL);
	ck_assert(memmem(p->out.p, p->out.n, "\"n63\"", 5) != NULL);
	ck_assert(memmem(p->out.p, p->out.n, "\"n64\"", 5) == NULL);
	ck_assert_uint_eq(count(p, "tell @2"), 64);
	/* There is room again. */
	play(p, "> abort @2");
	play(p, "< #1 msg note a");
	buf_reset(&p->out);
	play(p, "> get");
	ck_assert_uint_eq(count(p, "tell @3"), 1);
	server_play_free(p);
}
END_TEST

static void
play_big(struct server_play *p, size_t n)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "< #1 msg note n {\"a\":\"");
	while (b.n < n)
		buf_addc(&b, 'x');
	buf_adds(&b, "\"}");
	ck_assert(server_play_input(p, buf_str(&b)));
	buf_free(&b);
}

START_TEST(test_kept_bytes)
{
	struct server_play *p = server_play_new("transport=sse notes");
	int i;

	play_all(p, OPENED);
	for (i = 0; i < 5; i++)
		play_big(p, 300 * 1000);
	ck_assert_uint_eq(count(p, "note too much on the stream"), 2);
	play(p, "< #1 msg note small");
	ck_assert_uint_eq(count(p, "note too much"), 0);
	play(p, "> get");
	ck_assert_uint_eq(count(p, "tell @2"), 4);
	/* There is room again. */
	play(p, "> abort @2");
	play_big(p, 900 * 1000);
	buf_reset(&p->out);
	play(p, "> get");
	ck_assert_uint_eq(count(p, "tell @3"), 1);
	/* With a GET there is no bound here. */
	play_big(p, 2 * 1000 * 1000);
	ck_assert_uint_eq(count(p, "tell @3"), 1);
	server_play_free(p);
}
END_TEST

/* --- facts --- */

/* The session 7 is open on the stream; returns the stream's ticket. */
static uint64_t
hand_sse(struct hand *h)
{
	const struct server_config config = {
		.host = "h", .prefix = "p", .transport = TRANSPORT_SSE
	};
	const struct facts stream = {
		.status = 200, .media = MEDIA_SSE, PLAIN
	};
	struct event in = { .kind = INPUT_ENDPOINT, .ok = true };
	uint64_t ticket;

	hand_open(h, &config);
	ticket = in.ticket = h->order;
	hand_step(h, &in);
	ck_assert(h->order != ticket);
	hand_answer(h, ticket, &stream,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	ck_assert(h->done.told == 1 && h->done_of == 7);
	return ticket;
}

#define POSTED "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\"}"

/* The answers are those of a stream, whatever the server's facts were. */
START_TEST(test_facts_answer)
{
	const struct facts taken = { .status = 202,
		.media = MEDIA_OTHER,
		.session = { "abc", 3 },
		PLAIN };
	const struct facts stream = { .status = 200,
		.media = MEDIA_SSE,
		.last_event_id = { "e1", 2 },
		PLAIN };
	uint64_t ticket;
	struct hand h;

	ticket = hand_sse(&h);
	ck_assert(h.message.facts.changed);
	hand_post(&h, 8, POSTED);
	hand_answer(&h, h.order, &taken, NULL);
	ck_assert(h.head.told == 1 && h.done.told == 0);
	ck_assert_int_eq(h.head.facts.status, 200);
	ck_assert_int_eq(h.head.facts.media, MEDIA_SSE);
	ck_assert_str_eq(h.head.session, "");
	hand_answer(&h, ticket, &stream,
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}");
	ck_assert(h.message.told == 1 && h.done.told == 1 && h.done_of == 8);
	ck_assert_int_eq(h.message.facts.media, MEDIA_SSE);
	ck_assert(!h.message.facts.changed && !h.message.facts.session_ended);
	/* There is nothing to resume. */
	ck_assert_uint_eq(h.done.facts.last_event_id.n, 0);
	ck_assert_int_eq(h.done.facts.ending, ENDING_COMPLETE);
	hand_free(&h);
}
END_TEST

/* The session is the stream: what is refused is refused in a session, but for
 * initialize, which begins it. */
START_TEST(test_facts_refused)
{
	const struct facts f = {
		.status = _i == 0 ? 404 : 400, .media = MEDIA_JSON, PLAIN
	};
	const char *words = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
			    "{\"code\":-32000,\"message\":\"m\"}}";
	struct hand h;

	hand_sse(&h);
	hand_post(&h, 8, POSTED);
	hand_answer(&h, h.order, &f, words);
	ck_assert(h.message.told == 1 && h.done.told == 0);
	ck_assert(h.message.facts.had_session);
	ck_assert_int_eq(h.message.facts.status, f.status);
	ck_assert(buf_span(&h.text).n > 0 && span_is(buf_span(&h.text), words));
	hand_answer(&h, h.order, &f, NULL);
	ck_assert(h.head.told == 1 && h.head.facts.had_session);
	ck_assert(h.done.told == 1 && h.done.facts.had_session);
	ck_assert(!h.done.facts.session_ended);
	ck_assert_int_eq(h.done.facts.status, f.status);
	ck_assert(server_order_find(h.era, 8) == NULL);
	hand_free(&h);
}
END_TEST

START_TEST(test_facts_refused_first)
{
	const struct facts f = { .status = 404, .media = MEDIA_JSON, PLAIN };
	const struct server_config config = {
		.host = "h", .prefix = "p", .transport = TRANSPORT_SSE
	};
	struct event in = { .kind = INPUT_ENDPOINT, .ok = true };
	struct hand h;

	hand_open(&h, &config);
	in.ticket = h.order;
	hand_step(&h, &in);
	hand_answer(&h, h.order, &f, NULL);
	ck_assert(h.done.told == 1 && h.done_of == 7);
	ck_assert(!h.done.facts.had_session && !h.head.facts.had_session);
	hand_free(&h);
}
END_TEST

START_TEST(test_facts_lost)
{
	const struct facts end = { .status = 200, .media = MEDIA_SSE, PLAIN };
	const struct facts taken = { .status = 202, PLAIN };
	uint64_t ticket;
	struct hand h;
	struct buf page;

	ticket = hand_sse(&h);
	hand_post(&h, 8, POSTED);
	hand_answer(&h, h.order, &taken, NULL);
	hand_answer(&h, ticket, &end, NULL);
	ck_assert(h.done.told == 1 && h.done_of == 8);
	ck_assert(h.done.facts.session_ended && h.done.facts.sent);
	ck_assert_int_eq(h.done.facts.status, 0);
	ck_assert_int_eq(h.done.facts.verb, VERB_POST);
	/* What comes later did not run. */
	hand_post(&h, 9, POSTED);
	ck_assert(h.done.told == 1 && h.done_of == 9);
	ck_assert(h.done.facts.session_ended);
	ck_assert_int_eq(h.done.facts.status, 404);
	buf_init(&page, 0);
	server_describe(h.era, &page);
	ck_assert_str_eq(buf_str(&page),
	    "server: legacy, HTTP+SSE (2024-11-05)\n");
	buf_free(&page);
	hand_free(&h);
}
END_TEST

/* --- main --- */

#define ROWS(list)                                                             \
	START_TEST(test_##list)                                                \
	{                                                                      \
		server_play_check("transport=sse", list[_i].schedule);         \
	}                                                                      \
	END_TEST

ROWS(endpoint)
ROWS(opening)
ROWS(answers)
ROWS(server_words)
ROWS(posts)
ROWS(lost)
ROWS(renewed)
ROWS(ends)

static void
add(Suite *suite, const TTest *test, const struct row *rows, int n)
{
	TCase *tc;
	int i;

	for (i = 0; i < n; i++) {
		tc = tcase_create(rows[i].name);
		tcase_add_loop_test(tc, test, i, i + 1);
		suite_add_tcase(suite, tc);
	}
}

#define ADD(list) add(suite, test_##list, list, COUNT(list))

int
main(void)
{
	Suite *suite = suite_create("server_sse2024");
	TCase *tc = tcase_create("rest");

	ADD(endpoint);
	ADD(opening);
	ADD(answers);
	ADD(server_words);
	ADD(posts);
	ADD(lost);
	ADD(renewed);
	ADD(ends);
	tcase_add_test(tc, test_orders);
	tcase_add_test(tc, test_notes);
	tcase_add_test(tc, test_kept);
	tcase_add_test(tc, test_kept_bytes);
	tcase_add_test(tc, test_facts_answer);
	tcase_add_loop_test(tc, test_facts_refused, 0, 2);
	tcase_add_test(tc, test_facts_refused_first);
	tcase_add_test(tc, test_facts_lost);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
