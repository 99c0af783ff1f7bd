/*
 * Which era, which transport? Every branch of both trees (doc/protocol.md 5) as
 * a schedule in the language of server_play.h, then what the session is told,
 * fact by fact.
 */
#include "config.h"

#include "play/server_hand.h"
#include "play/server_play.h"

#include "core/server/order.h"
#include "unit/unit.h"

struct row {
	const char *name, *options, *schedule;
};

#define INIT                                                                   \
	"{'protocolVersion':'2025-11-25','capabilities':{},"                   \
	"'clientInfo':{'name':'c','version':'1'}}"
#define OPENS "> initialize 1 " INIT "\n"
#define AGAIN "> initialize 2 " INIT "\n"
#define POSTED(n) "order #" n " POST initialize 1\n"
#define POSTED_2(n) "order #" n " POST initialize 2\n"
#define ASKED(n, id) "order #" n " POST server/discover 'mine-s" id "'\n"
#define STREAM(n) "order #" n " GET listen announces\n"
/* HTTP+SSE, as remembered, is silent, and initialize is refused: once more. */
#define TWICE                                                                  \
	OPENS STREAM("1") "! wait 2000\n"                                      \
			  "drop #1\n" POSTED("2") "< #2 405\n" STREAM("3")
#define SPOKEN "{'protocolVersion':'2025-11-25'}"
#define TOLD(k, id)                                                            \
	"tell @" k " {'jsonrpc':'2.0','id':" id ",'result':" SPOKEN "}\n"
#define REFUSED(code, text)                                                    \
	"tell @1 {'jsonrpc':'2.0','id':1,'error':{'code':" code                \
	",'message':'" text "'}}\n"

/* Streamable HTTP answers, of the order n. */
#define LEGACY(n)                                                              \
	"< #" n " 200 ok " SPOKEN "\n"                                         \
	"head @1 200\n"                                                        \
	"found legacy\n" TOLD("1", "1") "done @1 200\n"
/* A modern server answers server/discover. */
#define DISCOVERS                                                              \
	"ok {'resultType':'complete','supportedVersions':['2026-07-28'],"      \
	"'capabilities':{'tools':{}},'_meta':{"                                \
	"'io.modelcontextprotocol/serverInfo':{'name':'s','version':'1'}}}\n"
#define SAID_MODERN(k, id)                                                     \
	"head @" k " 200\n"                                                    \
	"tell @" k " {'jsonrpc':'2.0','id':" id                                \
	",'result':{'capabilities':{'tools':{}},'protocolVersion':"            \
	"'2025-11-25','serverInfo':{'name':'s','version':'1'}}}\n"             \
	"done @" k " 200\n"
#define MODERN(n, k, id)                                                       \
	"< #" n " 200 " DISCOVERS "found modern\n" SAID_MODERN(k, id)
/* It may take initialize, too: that is nothing to remember. */
#define DUAL(n, k, id) "< #" n " 200 " DISCOVERS SAID_MODERN(k, id)
/* But that what was remembered is wrong. */
#define FORGETS(n, k, id)                                                      \
	"< #" n " 200 " DISCOVERS "found dual\n" SAID_MODERN(k, id)
/* The stream n has an endpoint, and initialize goes there as p. */
#define SSE_AT(n, p)                                                           \
	"< #" n " head 200 media=sse\n"                                        \
	"< #" n " endpoint ok\n" POSTED(p) "< #" p " 202\n"                    \
					   "head @1 200\n"                     \
					   "< #" n " msg ok=1 " SPOKEN "\n"    \
					   "found sse\n" TOLD("1",             \
					       "1") "done @1 200\n"

/* --- a legacy client --- */

/* clang-format off */
static const struct row legacy_client[] = {
	{ "one trip", "flags headers",
	    OPENS "order #1 POST initialize 1 [] announces person\n"
	    LEGACY("1") },
	/* Its version and its capabilities go on, and what it asked with. */
	{ "-32022", "bodies headers flags",
	    OPENS
	    "order #1 POST {'jsonrpc':'2.0','method':'initialize','id':1,"
	    "'params':" INIT "} [] announces person\n"
	    "< #1 400 err -32022 no\n"
	    "drop #1\n"
	    "order #2 POST {'jsonrpc':'2.0','id':'mine-s1','method':"
	    "'server/discover','params':{'_meta':{<meta>}}} "
	    "[2026-07-28; Mcp-Method: server/discover] announces person\n"
	    MODERN("2", "1", "1") },
	{ "-32020", "",
	    OPENS POSTED("1")
	    "< #1 400 err -32020 no\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    MODERN("2", "1", "1") },
	{ "-32602", "",
	    OPENS POSTED("1")
	    "< #1 400 err -32602 no\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    MODERN("2", "1", "1") },
	{ "404 and -32601", "",
	    OPENS POSTED("1")
	    "< #1 404 err -32601 no\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    MODERN("2", "1", "1") },
	{ "200 and -32601", "",
	    OPENS POSTED("1")
	    "< #1 200 err -32601 no\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    MODERN("2", "1", "1") },
	{ "an error of nobody", "",
	    OPENS POSTED("1")
	    "< #1 400 err=null -32000 no\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    MODERN("2", "1", "1") },
	{ "an error on a stream", "",
	    OPENS POSTED("1")
	    "< #1 head 200 media=sse\n"
	    "< #1 msg err -32601 no\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    MODERN("2", "1", "1") },
	/* No modern server either: the words of initialize are the answer. */
	{ "-32602, no discover", "",
	    OPENS POSTED("1")
	    "< #1 200 err -32602 a name is missing\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    "< #2 200 err -32601 no\n"
	    "drop #2\n"
	    "head @1 200\n"
	    REFUSED("-32602", "a name is missing")
	    "done @1 200\n" },
	{ "400, spoken, no discover, stream", "",
	    OPENS POSTED("1")
	    "< #1 400 err -32000 POST elsewhere\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    "< #2 400 err -32000 no\n"
	    "drop #2\n"
	    STREAM("3")
	    SSE_AT("3", "4") },
	{ "400, spoken, no discover, no stream", "",
	    OPENS POSTED("1")
	    "< #1 400 err -32000 at capacity\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    "< #2 404\n"
	    STREAM("3")
	    "< #3 405\n"
	    "head @1 400\n"
	    REFUSED("-32000", "at capacity")
	    "done @1 400\n" },
	/* A legacy client cannot take a modern version. */
	{ "initialize is answered with a modern version", "",
	    OPENS POSTED("1")
	    "< #1 200 ok {'protocolVersion':'2026-07-28'}\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    MODERN("2", "1", "1") },
	{ "and there is no server/discover", "",
	    OPENS POSTED("1")
	    "< #1 200 ok {'protocolVersion':'2026-07-28'}\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    "< #2 404\n"
	    "head @1 200\n"
	    "found legacy\n"
	    "tell @1 {'jsonrpc':'2.0','id':1,'result':"
	    "{'protocolVersion':'2026-07-28'}}\n"
	    "done @1 200\n" },
	/* Only a modern server says -32022: no look at its GET. */
	{ "-32022, no discover", "",
	    OPENS POSTED("1")
	    "< #1 400 err -32022 no\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    "< #2 404\n"
	    "head @1 400\n"
	    REFUSED("-32022", "no")
	    "done @1 400\n" },
	{ "404, stream", "flags",
	    OPENS "order #1 POST initialize 1 announces person\n"
	    "< #1 404\n"
	    "order #2 GET listen announces person\n"
	    "< #2 head 200 media=sse\n"
	    "< #2 endpoint ok\n"
	    "order #3 POST initialize 1 endpoint person\n"
	    "< #3 202\n"
	    "head @1 200\n"
	    "< #2 msg ok=1 " SPOKEN "\n"
	    "found sse\n"
	    TOLD("1", "1")
	    "done @1 200\n" },
	{ "405, stream", "",
	    OPENS POSTED("1")
	    "< #1 405\n"
	    STREAM("2")
	    SSE_AT("2", "3") },
	{ "400 of a page, stream", "",
	    OPENS POSTED("1")
	    "< #1 400 media=html body=<p>no</p>\n"
	    STREAM("2")
	    SSE_AT("2", "3") },
	{ "405, no stream, discover", "",
	    OPENS POSTED("1")
	    "< #1 405\n"
	    STREAM("2")
	    "< #2 405\n"
	    ASKED("3", "1")
	    MODERN("3", "1", "1") },
	{ "404, neither", "",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    STREAM("2")
	    "< #2 404\n"
	    ASKED("3", "1")
	    "< #3 404\n"
	    "done @1 404\n" },
	{ "404, a stream of others, neither", "",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    STREAM("2")
	    "< #2 head 200 media=sse\n"
	    "< #2 msg note notifications/message {}\n"
	    "drop #2\n"
	    ASKED("3", "1")
	    "< #3 200 media=html body=<p>\n"
	    "head @1 200\n"
	    "done @1 200\n" },
	{ "404, a stream without an event", "",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    STREAM("2")
	    "< #2 head 200 media=sse\n"
	    "! wait 9999\n"
	    "! wait 1\n"
	    "drop #2\n"
	    ASKED("3", "1")
	    MODERN("3", "1", "1") },
	{ "404, silence", "",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    STREAM("2")
	    "! wait 10000\n"
	    "drop #2\n"
	    ASKED("3", "1")
	    "< #3 404\n"
	    "done @1 404\n" },
	/* The endpoint is of another origin: warned of, not used. */
	{ "404, a foreign endpoint", "",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    STREAM("2")
	    "< #2 head 200 media=sse\n"
	    "< #2 endpoint bad\n"
	    "warn mcp.test names an endpoint on another origin: not used\n"
	    "drop #2\n"
	    ASKED("3", "1")
	    "< #3 404\n"
	    "done @1 404\n" },
	{ "404, GET cut", "",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    STREAM("2")
	    "< #2 cut\n"
	    "done @1 cut\n" },
	{ "404, GET to nobody", "",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    STREAM("2")
	    "< #2 connect\n"
	    "done @1 connect unsent\n" },
	{ "415", "",
	    OPENS POSTED("1")
	    "< #1 415\n"
	    ASKED("2", "1")
	    MODERN("2", "1", "1") },
	{ "415, neither", "",
	    OPENS POSTED("1")
	    "< #1 415\n"
	    ASKED("2", "1")
	    "< #2 404\n"
	    "done @1 415\n" },
	{ "406, 409, 410, 422", "",
	    OPENS POSTED("1")
	    "< #1 406\n"
	    ASKED("2", "1")
	    "< #2 400\n"
	    "done @1 406\n"
	    AGAIN POSTED_2("3")
	    "< #3 409\n"
	    ASKED("4", "2")
	    "< #4 422\n"
	    "done @2 409\n" },
	{ "410", "",
	    OPENS POSTED("1")
	    "< #1 410\n"
	    ASKED("2", "1")
	    "< #2 404\n"
	    "done @1 410\n" },
	{ "422 and words", "",
	    OPENS POSTED("1")
	    "< #1 422 err -32602 no\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    "< #2 422\n"
	    "head @1 422\n"
	    REFUSED("-32602", "no")
	    "done @1 422\n" },
	/* A modern server of other versions is none for us. */
	{ "discover of older versions", "",
	    OPENS POSTED("1")
	    "< #1 400 err -32602 no\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    "< #2 200 ok {'supportedVersions':['2025-11-25']}\n"
	    "drop #2\n"
	    STREAM("3")
	    "< #3 405\n"
	    "head @1 400\n"
	    REFUSED("-32602", "no")
	    "done @1 400\n" },
	{ "discover with junk", "",
	    OPENS POSTED("1")
	    "< #1 415\n"
	    ASKED("2", "1")
	    "< #2 200 ok {'supportedVersions':'2026-07-28'}\n"
	    "drop #2\n"
	    "done @1 415\n" },
	{ "discover without versions", "",
	    OPENS POSTED("1")
	    "< #1 415\n"
	    ASKED("2", "1")
	    "< #2 200 ok {}\n"
	    "drop #2\n"
	    "done @1 415\n" },
	/* What is no answer decides nothing on discover's stream. */
	{ "discover on a stream", "",
	    OPENS POSTED("1")
	    "< #1 415\n"
	    ASKED("2", "1")
	    "< #2 head 200 media=sse\n"
	    "< #2 msg note notifications/message {}\n"
	    "< #2 msg ask 9 ping\n"
	    "< #2 msg " DISCOVERS "found modern\n"
	    "head @1 200\n"
	    "tell @1 {'jsonrpc':'2.0','id':1,'result':{...\n"
	    "done @1 200\n"
	    /* it ends by itself, and says no more to anybody */
	    "< #2 msg err -32601 no\n"
	    "< #2 cut\n" },
	{ "what it says first", "",
	    OPENS POSTED("1")
	    "< #1 head 200 media=sse session=s1\n"
	    "< #1 msg note notifications/message {'a':1}\n"
	    "tell @1 {'jsonrpc':'2.0','method':"
	    "'notifications/message','params':{'a':1}}\n"
	    "< #1 msg ask 7 ping\n"
	    "tell @1 {'jsonrpc':'2.0','id':7,'method':'ping',"
	    "'params':{}}\n"
	    "< #1 msg ok " SPOKEN "\n"
	    "head @1 200\n"
	    "found legacy\n"
	    TOLD("1", "1")
	    "< #1 msg note notifications/message {}\n"
	    "tell @1 {'jsonrpc':'2.0','method':"
	    "'notifications/message','params':{}}\n"
	    "< #1 end id=e7 retry=50\n"
	    "done @1 200 event e7\n" },
	/* A server of HTTP+SSE that does not look at the method: its stream
	 * for a POST is not THE stream. */
	{ "a POST is announced to", "",
	    OPENS POSTED("1")
	    "< #1 head 200 media=sse\n"
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    STREAM("2")
	    SSE_AT("2", "3")
	    /* what it may still say */
	    "< #1 endpoint ok\n"
	    "< #1 msg ok " SPOKEN "\n" },
	{ "announced, a slow stream", "was=legacy",
	    OPENS POSTED("1")
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    STREAM("2")
	    "! wait 9999\n"
	    SSE_AT("2", "3") },
	/* Nothing else is tried then. */
	{ "announced, no stream", "",
	    OPENS POSTED("1")
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    STREAM("2")
	    "< #2 405\n"
	    "done @1 405\n" },
	{ "announced, a silent stream", "",
	    OPENS POSTED("1")
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    STREAM("2")
	    "! wait 10000\n"
	    "drop #2\n"
	    "done @1 202\n" },
	{ "announced, the endpoint is foreign", "",
	    OPENS POSTED("1")
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    STREAM("2")
	    "< #2 endpoint bad\n"
	    "warn mcp.test names an endpoint on another origin: not used\n"
	    "drop #2\n"
	    "done @1 200\n" },
	{ "announced, it begins again", "",
	    OPENS POSTED("1")
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    STREAM("2")
	    "< #2 cut\n"
	    "done @1 cut\n"
	    AGAIN POSTED_2("3")
	    "< #3 endpoint ok\n"
	    "drop #3\n"
	    "order #4 GET listen announces\n" },
	{ "announced in discover", "",
	    OPENS POSTED("1")
	    "< #1 415\n"
	    ASKED("2", "1")
	    "< #2 head 200 media=sse\n"
	    "< #2 endpoint ok\n"
	    "drop #2\n"
	    STREAM("3")
	    SSE_AT("3", "4") },
	/* Of another origin it decides nothing. */
	{ "announced, foreign", "",
	    OPENS POSTED("1")
	    "< #1 head 200 media=sse\n"
	    "< #1 endpoint bad\n"
	    "< #1 msg ok " SPOKEN "\n"
	    "head @1 200\n"
	    "found legacy\n"
	    TOLD("1", "1") },
	/* Nor of a server that answers. */
	{ "announced after the answer", "",
	    OPENS POSTED("1")
	    "< #1 head 200 media=sse\n"
	    "< #1 msg ok " SPOKEN "\n"
	    "head @1 200\n"
	    "found legacy\n"
	    TOLD("1", "1")
	    "< #1 endpoint ok\n"
	    "< #1 end\n"
	    "done @1 200\n" },
	{ "announced to the former", "",
	    OPENS POSTED("1")
	    AGAIN POSTED_2("2")
	    "< #1 endpoint ok\n"
	    "< #2 endpoint ok\n"
	    "drop #2\n"
	    "order #3 GET listen announces\n" },
	/* Legacy Streamable HTTP: nothing else stops here. */
	{ "passes", "",
	    OPENS POSTED("1")
	    LEGACY("1")
	    "> notifications/initialized\n"
	    "pass @2 POST notifications/initialized\n"
	    "> tools/call 2\n"
	    "pass @3 POST tools/call 2\n"
	    "> get\n"
	    "pass @4 GET listen\n"
	    "> delete\n"
	    "pass @5 DELETE\n"
	    "> ping 3\n"
	    "pass @6 POST ping 3\n" },
	{ "before and between", "",
	    "> tools/call 1\n"
	    "done @1 gone\n"
	    "> get\n"
	    "done @2 gone\n"
	    "> delete\n"
	    "done @3 gone\n"
	    "> initialize 5 " INIT "\n"
	    "order #1 POST initialize 5\n"
	    "> notifications/cancelled {'requestId':5}\n"
	    "done @5 gone\n"
	    "< #1 200 ok " SPOKEN "\n"
	    "head @4 200\n"
	    "found legacy\n"
	    TOLD("4", "5")
	    "done @4 200\n" },
};
/* clang-format on */

/* --- what is asked for, and what is remembered --- */

#define ANNOUNCED(why)                                                         \
	"head @1 200\n"                                                        \
	"tell @1 {'jsonrpc':'2.0','id':1,'error':{'code':-32603,'message':"    \
	"'mcp.test opens a stream of HTTP+SSE for a POST, " why "','data':{"   \
	"'source':'mcpsplice','reason':'bad_upstream','ran':'no'}}}\n"         \
	"done @1 200\n"

/* clang-format off */
static const struct row asked_for[] = {
	{ "legacy", "protocol=legacy",
	    OPENS POSTED("1")
	    "< #1 400 err -32022 no\n"
	    "drop #1\n"
	    "head @1 400\n"
	    REFUSED("-32022", "no")
	    "done @1 400\n" },
	{ "legacy, 404", "protocol=legacy",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    STREAM("2")
	    "< #2 405\n"
	    "done @1 404\n" },
	{ "legacy, 404 and words", "protocol=legacy",
	    OPENS POSTED("1")
	    "< #1 404 err -32601 no\n"
	    "drop #1\n"
	    STREAM("2")
	    SSE_AT("2", "3") },
	{ "legacy, over http", "protocol=legacy transport=http",
	    OPENS POSTED("1")
	    "< #1 405\n"
	    "done @1 405\n" },
	{ "modern", "protocol=modern",
	    OPENS ASKED("1", "1")
	    DUAL("1", "1", "1") },
	{ "modern, and it is not", "protocol=modern",
	    OPENS ASKED("1", "1")
	    "< #1 404 err -32601 no\n"
	    "drop #1\n"
	    "head @1 404\n"
	    REFUSED("-32601", "no")
	    "done @1 404\n" },
	{ "modern, bare", "protocol=modern",
	    OPENS ASKED("1", "1")
	    "< #1 405\n"
	    "done @1 405\n" },
	{ "modern, remembered otherwise", "protocol=modern was=sse",
	    OPENS ASKED("1", "1")
	    FORGETS("1", "1", "1") },
	{ "http", "transport=http",
	    OPENS POSTED("1")
	    "< #1 405\n"
	    ASKED("2", "1")
	    "< #2 405\n"
	    "done @1 405\n" },
	{ "http, announced", "transport=http",
	    OPENS POSTED("1")
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    ANNOUNCED("but --transport allows none: leave that out.") },
	{ "modern, announced", "protocol=modern",
	    OPENS ASKED("1", "1")
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    ANNOUNCED("but --protocol allows none: leave that out.") },
	{ "legacy, announced", "protocol=legacy",
	    OPENS POSTED("1")
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    STREAM("2")
	    SSE_AT("2", "3") },
	{ "sse first, announced to the POST only", "transport=sse-first",
	    OPENS STREAM("1")
	    "< #1 405\n"
	    POSTED("2")
	    "< #2 endpoint ok\n"
	    "drop #2\n"
	    ANNOUNCED("but none for a GET: check the URL.") },
	{ "was sse, slow, announced", "was=sse",
	    OPENS STREAM("1")
	    "! wait 2000\n"
	    "drop #1\n"
	    POSTED("2")
	    "< #2 endpoint ok\n"
	    "drop #2\n"
	    STREAM("3")
	    "! wait 9999\n"
	    SSE_AT("3", "4") },
	{ "http, modern", "transport=http",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    ASKED("2", "1")
	    MODERN("2", "1", "1") },
	{ "http, remembered otherwise", "transport=http was=sse",
	    OPENS POSTED("1")
	    LEGACY("1") },
	{ "sse", "transport=sse",
	    OPENS STREAM("1")
	    SSE_AT("1", "2") },
	{ "sse, and it is not", "transport=sse",
	    OPENS STREAM("1")
	    "< #1 405\n"
	    "done @1 405\n" },
	{ "sse, silence", "transport=sse",
	    OPENS STREAM("1")
	    "< #1 head 200 media=sse\n"
	    "! wait 10000\n"
	    "drop #1\n"
	    "done @1 202\n" },
	{ "sse, remembered otherwise", "transport=sse was=modern",
	    OPENS STREAM("1")
	    SSE_AT("1", "2") },
	{ "sse first", "transport=sse-first",
	    OPENS STREAM("1")
	    SSE_AT("1", "2") },
	{ "sse first, then http", "transport=sse-first",
	    OPENS STREAM("1")
	    "< #1 405\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "sse first, then modern", "transport=sse-first",
	    OPENS STREAM("1")
	    "< #1 404\n"
	    POSTED("2")
	    "< #2 400 err -32022 no\n"
	    "drop #2\n"
	    ASKED("3", "1")
	    MODERN("3", "1", "1") },
	{ "sse first, then nothing", "transport=sse-first",
	    OPENS STREAM("1")
	    "< #1 404\n"
	    POSTED("2")
	    "< #2 404\n"
	    ASKED("3", "1")
	    "< #3 404\n"
	    "done @1 404\n" },
	{ "sse first, a foreign endpoint", "transport=sse-first",
	    OPENS STREAM("1")
	    "< #1 endpoint bad\n"
	    "warn mcp.test names an endpoint on another origin: not used\n"
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "was modern", "was=modern",
	    OPENS ASKED("1", "1")
	    MODERN("1", "1", "1") },
	{ "was modern, is legacy", "was=modern",
	    OPENS ASKED("1", "1")
	    "< #1 400\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "was modern, says it is none", "was=modern",
	    OPENS ASKED("1", "1")
	    "< #1 200 err -32601 no\n"
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "was modern, is sse", "was=modern",
	    OPENS ASKED("1", "1")
	    "< #1 405\n"
	    POSTED("2")
	    "< #2 405\n"
	    STREAM("3")
	    SSE_AT("3", "4") },
	{ "was modern, is nothing", "was=modern",
	    OPENS ASKED("1", "1")
	    "< #1 404\n"
	    POSTED("2")
	    "< #2 404\n"
	    STREAM("3")
	    "< #3 404\n"
	    "done @1 404\n" },
	{ "was sse", "was=sse",
	    OPENS STREAM("1")
	    SSE_AT("1", "2") },
	{ "was sse, is legacy", "was=sse",
	    OPENS STREAM("1")
	    "< #1 405\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "was sse, is legacy with a stream", "was=sse",
	    OPENS STREAM("1")
	    "< #1 head 200 media=sse\n"
	    "! wait 1999\n"
	    "! wait 1\n"
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	/* It was only slow. */
	{ "was sse, is slow", "was=sse",
	    TWICE
	    "! wait 9999\n"
	    SSE_AT("3", "4") },
	{ "was sse, is nothing", "was=sse",
	    TWICE
	    "! wait 10000\n"
	    "drop #3\n"
	    ASKED("4", "1")
	    "< #4 405\n"
	    "done @1 405\n" },
	{ "was sse, and no other is wanted", "was=sse transport=sse",
	    OPENS STREAM("1")
	    "! wait 9999\n"
	    SSE_AT("1", "2") },
	{ "was legacy, and no other is wanted", "was=legacy transport=sse",
	    OPENS STREAM("1")
	    "! wait 9999\n"
	    SSE_AT("1", "2") },
	{ "was sse, a person", "was=sse",
	    OPENS STREAM("1")
	    "! wait 1999\n"
	    "< #1 person open this\n"
	    "sign-in @1 open this\n"
	    "! wait 60000\n"
	    "< #1 person\n"
	    "sign-in @1 \n"
	    "! wait 2000\n"
	    "drop #1\n"
	    POSTED("2") },
	{ "was sse, is modern", "was=sse",
	    OPENS STREAM("1")
	    "< #1 404\n"
	    POSTED("2")
	    "< #2 400 err -32022 no\n"
	    "drop #2\n"
	    ASKED("3", "1")
	    MODERN("3", "1", "1") },
	{ "was legacy", "was=legacy",
	    OPENS POSTED("1")
	    LEGACY("1") },
	{ "was legacy, is modern", "was=legacy",
	    OPENS POSTED("1")
	    "< #1 400 err -32022 no\n"
	    "drop #1\n"
	    ASKED("2", "1")
	    MODERN("2", "1", "1") },
	/* What was found counts from then on, not what was remembered. */
	{ "the last one first", "was=modern",
	    OPENS ASKED("1", "1")
	    "< #1 400\n"
	    POSTED("2")
	    LEGACY("2")
	    AGAIN POSTED_2("3")
	    "< #3 405\n"
	    STREAM("4")
	    "< #4 405\n"
	    ASKED("5", "2")
	    MODERN("5", "2", "2")
	    "> initialize 1 " INIT "\n"
	    ASKED("6", "3")
	    "< #6 404\n"
	    "order #7 POST initialize 1\n"
	    "< #7 405\n"
	    "order #8 GET listen announces\n"
	    "< #8 endpoint ok\n"
	    "order #9 POST initialize 1\n"
	    "< #8 msg ok=1 " SPOKEN "\n"
	    "found sse\n"
	    TOLD("3", "1")
	    "done @3 200\n"
	    "drop #9\n"
	    "> initialize 4 " INIT "\n"
	    "drop #8\n"
	    "order #10 GET listen announces\n"
	    "< #10 404\n"
	    "order #11 POST initialize 4\n"
	    "< #11 200 ok " SPOKEN "\n"
	    "head @4 200\n"
	    "found legacy\n"
	    TOLD("4", "4")
	    "done @4 200\n" },
};
/* clang-format on */

/* --- a modern client --- */

#define IS_MODERN                                                              \
	"! client {'jsonrpc':'2.0','id':'d','method':'server/discover',"       \
	"'params':{'_meta':{'io.modelcontextprotocol/protocolVersion':"        \
	"'2026-07-28','x':1.0}}}\n"
#define ASKED_D(n) "order #" n " POST server/discover 'd'\n"
#define LISTED(list)                                                           \
	"< #1 400 {'jsonrpc':'2.0','id':$,'error':{'code':-32022,"             \
	"'message':'no','data':{'supported':" list "}}}\n"
#define RELAYED(code, data)                                                    \
	"head @1 400\n"                                                        \
	"tell @1 {'jsonrpc':'2.0','id':1,'error':{'code':" code                \
	",'message':'no'" data "}}\n"                                          \
	"done @1 400\n"                                                        \
	"drop #1\n"

/* clang-format off */
static const struct row modern_client[] = {
	/* Its own, byte for byte. */
	{ "modern", "bodies headers flags",
	    IS_MODERN OPENS
	    "order #1 POST {'jsonrpc':'2.0','id':'d','method':"
	    "'server/discover','params':{'_meta':{"
	    "'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
	    "'x':1.0}}} [2026-07-28; Mcp-Method: server/discover] "
	    "announces person\n"
	    DUAL("1", "1", "1") },
	{ "older versions", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 200 ok {'supportedVersions':['2025-11-25']}\n"
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "-32601", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 404 err -32601 no\n"
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "any error", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 400 err=null -32000 no session\n"
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "a code of the drafts", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 400 err -32004 no\n"
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "junk", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 200 media=other body=hello\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "400", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 400\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "404, then sse", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 404\n"
	    POSTED("2")
	    "< #2 404\n"
	    STREAM("3")
	    SSE_AT("3", "4") },
	/* A framework's 404 is a page. */
	{ "a page", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 404 media=html body=<p>\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "415", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 415\n"
	    POSTED("2")
	    LEGACY("2") },
	/* Asked once. */
	{ "nothing", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 415\n"
	    POSTED("2")
	    "< #2 415\n"
	    "done @1 415\n" },
	{ "-32020", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 400 err -32020 no\n"
	    RELAYED("-32020", "") },
	{ "-32021", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 400 err -32021 no\n"
	    RELAYED("-32021", "") },
	{ "-32022, newer", "",
	    IS_MODERN OPENS ASKED_D("1")
	    LISTED("['2027-01-01']")
	    RELAYED("-32022", ",'data':{'supported':['2027-01-01']}") },
	/* It lists what we asked for: that is its own contradiction. */
	/* It is tried once more. */
	{ "-32022, ours", "",
	    IS_MODERN OPENS ASKED_D("1")
	    LISTED("['2026-07-28']")
	    "drop #1\n"
	    ASKED_D("2")
	    DUAL("2", "1", "1") },
	{ "-32022, ours, twice", "",
	    IS_MODERN OPENS ASKED_D("1")
	    LISTED("['2026-07-28']")
	    "drop #1\n"
	    ASKED_D("2")
	    "< #2 400 {'jsonrpc':'2.0','id':$,'error':{'code':-32022,"
	    "'message':'no','data':{'supported':['2026-07-28']}}}\n"
	    "head @1 400\n"
	    "tell @1 {'jsonrpc':'2.0','id':1,'error':{'code':-32022,"
	    "'message':'no','data':{'supported':['2026-07-28']}}}\n"
	    "done @1 400\n"
	    "drop #2\n" },
	{ "-32022, both", "",
	    IS_MODERN OPENS ASKED_D("1")
	    LISTED("['2025-11-25','2027\\u002d01-01']")
	    RELAYED("-32022",
		",'data':{'supported':['2025-11-25','2027\\u002d01-01']}") },
	{ "-32022, older", "",
	    IS_MODERN OPENS ASKED_D("1")
	    LISTED("['2024-11-05','2025-11-25']")
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "-32022, none", "",
	    IS_MODERN OPENS ASKED_D("1")
	    LISTED("[]")
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "-32022, no list", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 400 err -32022 no\n"
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	{ "-32022, hostile lists", "",
	    IS_MODERN OPENS ASKED_D("1")
	    LISTED("{'a':7,'b':[['2027-01-01']],'c':null}")
	    "drop #1\n"
	    POSTED("2")
	    LEGACY("2") },
	/* What was remembered is wrong, and what is right nobody knows: it
	 * was not asked for initialize. */
	{ "remembered as legacy", "was=legacy",
	    IS_MODERN OPENS ASKED_D("1")
	    FORGETS("1", "1", "1") },
	{ "remembered as sse", "was=sse",
	    IS_MODERN OPENS STREAM("1")
	    "< #1 405\n"
	    ASKED_D("2")
	    FORGETS("2", "1", "1")
	    /* once */
	    AGAIN ASKED_D("3")
	    DUAL("3", "2", "2") },
	{ "remembered as sse, silent", "was=sse",
	    IS_MODERN OPENS STREAM("1")
	    "! wait 2000\n"
	    "drop #1\n"
	    ASKED_D("2")
	    FORGETS("2", "1", "1") },
	{ "remembered as modern", "was=modern",
	    IS_MODERN OPENS ASKED_D("1")
	    MODERN("1", "1", "1") },
	{ "legacy, then modern", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 404\n"
	    POSTED("2")
	    LEGACY("2")
	    AGAIN ASKED_D("3")
	    FORGETS("3", "2", "2") },
	/* The same at once for a stream that opens for any POST. */
	{ "announced", "",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 head 200 media=sse\n"
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    STREAM("2")
	    SSE_AT("2", "3") },
	{ "announced, over http", "transport=http",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 endpoint ok\n"
	    "drop #1\n"
	    ANNOUNCED("but --transport allows none: leave that out.") },
	/* initialize would be executed by what needs none (doc/protocol.md
	 * 5.3). */
	{ "remembered as sse, is legacy", "was=sse",
	    IS_MODERN OPENS STREAM("1")
	    "< #1 405\n"
	    ASKED_D("2")
	    "< #2 404\n"
	    POSTED("3")
	    LEGACY("3") },
	{ "protocol legacy", "protocol=legacy",
	    IS_MODERN OPENS POSTED("1")
	    LEGACY("1") },
	{ "protocol modern", "protocol=modern",
	    IS_MODERN OPENS ASKED_D("1")
	    "< #1 404\n"
	    "done @1 404\n" },
	{ "transport sse", "transport=sse",
	    IS_MODERN OPENS STREAM("1")
	    SSE_AT("1", "2") },
	/* It left, and another client came. */
	{ "no more", "",
	    IS_MODERN "! client\n"
	    OPENS POSTED("1")
	    LEGACY("1") },
};
/* clang-format on */

/* --- what decides nothing --- */

struct ending_row {
	const char *name, *input, *told;
	bool spoken;
};

/* Behind "< #N" and "done @1". */
static const struct ending_row says_nothing[] = {
	{ "401", "401", "401", false },
	{ "403", "403", "403", false },
	{ "407", "407", "407", false },
	{ "408", "408", "408", false },
	{ "429", "429 retry-after=5", "429 retry-after 5000", false },
	{ "302", "302", "302", false },
	{ "308", "308", "308", false },
	{ "500", "500", "500", false },
	{ "502 page", "502 media=html body=<p>", "502", false },
	{ "503", "503 retry-after=9", "503 retry-after 9000", false },
	{ "401 and words", "401 err -32001 sign in", "401", true },
	{ "403 and words", "403 err -32003 no", "403", true },
	{ "429 and words", "429 err -32601 no", "429", true },
	{ "500 and words", "500 err -32601 no", "500", true },
	{ "200, a page", "200 media=html body=<p>", "200", false },
	{ "cut", "cut", "cut", false },
	{ "idle", "idle", "idle", false },
	{ "connect", "connect", "connect unsent", false },
	{ "resolve", "resolve", "resolve unsent", false },
	{ "tls", "tls", "tls unsent", false },
	{ "proxy", "proxy", "proxy unsent", false },
	{ "denied", "denied", "denied unsent", false },
	{ "reset", "reset", "cut unsent", false },
};

struct step_row {
	const char *options, *before, *order;
	int number;
	bool stream;
};

/* A step of which it is said, and what led there. */
static const struct step_row first_steps[] = {
	{ "", OPENS, POSTED("1"), 1, false },
	{ "was=modern", OPENS, ASKED("1", "1"), 1, false },
	{ "protocol=modern", OPENS, ASKED("1", "1"), 1, false },
	{ "", IS_MODERN OPENS, ASKED_D("1"), 1, false },
	{ "transport=sse", OPENS, STREAM("1"), 1, true },
	{ "transport=sse-first", OPENS, STREAM("1"), 1, true },
	{ "was=sse", OPENS, STREAM("1"), 1, true },
	{ "", OPENS POSTED("1") "< #1 415\n", ASKED("2", "1"), 2, false },
	{ "was=modern", OPENS ASKED("1", "1") "< #1 404\n", POSTED("2"), 2,
	    false },
};

static void
check_nothing(const struct step_row *s, const struct ending_row *r)
{
	/* It begins again at the same place, as if nothing had been said. */
	bool page = strcmp(r->name, "200, a page") == 0;
	bool head = r->input[0] >= '1' && r->input[0] <= '9' && !s->stream;
	struct buf b;

	if (s->stream && (r->spoken || page))
		return; /* what a GET brings is judged elsewhere */
	buf_init(&b, 0);
	buf_addf(&b, "%s%s< #%d %s\n", s->before, s->order, s->number,
	    r->input);
	if (head)
		buf_addf(&b, "head @1 %.3s\n", r->input);
	if (r->spoken)
		buf_adds(&b, "tell @1 {'jsonrpc':'2.0','id':1,'error':...\n");
	buf_addf(&b, "done @1 %s\n", r->told);
	if (r->spoken)
		buf_addf(&b, "drop #%d\n", s->number);
	buf_adds(&b, "! wait 100000\n");
	if (s->number == 1 && strstr(s->before, "! client") == NULL &&
	    strstr(s->order, "mine-s") == NULL) {
		buf_adds(&b, OPENS);
		buf_addf(&b, "order #2%s", s->order + strlen("order #1"));
	}
	server_play_check(s->options, buf_str(&b));
	buf_free(&b);
}

START_TEST(test_says_nothing)
{
	size_t i;

	for (i = 0; i < sizeof first_steps / sizeof *first_steps; i++)
		check_nothing(&first_steps[i], &says_nothing[_i]);
}
END_TEST

/* --- the session gives up, or begins again --- */

/* clang-format off */
static const struct row given_up[] = {
	{ "initialize", "",
	    OPENS POSTED("1")
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "drop #1\n"
	    "< #1 200 ok " SPOKEN "\n"
	    AGAIN POSTED_2("2") },
	{ "initialize, with words before", "",
	    OPENS POSTED("1")
	    "< #1 head 200 media=sse\n"
	    "< #1 msg note notifications/message {}\n"
	    "tell @1 {'jsonrpc':'2.0','method':"
	    "'notifications/message','params':{}}\n"
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "drop #1\n" },
	{ "discover", "",
	    OPENS POSTED("1")
	    "< #1 415\n"
	    ASKED("2", "1")
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "drop #2\n"
	    AGAIN POSTED_2("3") },
	{ "stream", "",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    STREAM("2")
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "drop #2\n"
	    "! wait 100000\n"
	    AGAIN POSTED_2("3")
	    "< #3 404\n"
	    "order #4 GET listen announces\n" },
	{ "stream, for good", "transport=sse",
	    OPENS STREAM("1")
	    "< #1 head 200 media=sse\n"
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "drop #1\n"
	    "! wait 100000\n" },
	{ "stream, then all again", "transport=sse",
	    OPENS STREAM("1")
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "drop #1\n"
	    "> ping 7\n"
	    "done @2 gone\n"
	    AGAIN STREAM("2")
	    "< #2 endpoint ok\n"
	    POSTED_2("3") },
	/* initialize twice: the former may still make a session. */
	{ "twice", "",
	    OPENS POSTED("1")
	    AGAIN POSTED_2("2")
	    "< #2 200 session=s2 ok " SPOKEN "\n"
	    "head @2 200\n"
	    "found legacy\n"
	    TOLD("2", "2")
	    "done @2 200\n"
	    "< #1 200 session=s1 ok " SPOKEN "\n"
	    TOLD("1", "1")
	    "done @1 200\n" },
	{ "twice, the former first", "",
	    OPENS POSTED("1")
	    AGAIN POSTED_2("2")
	    "< #1 200 session=s1 ok " SPOKEN "\n"
	    TOLD("1", "1")
	    "done @1 200\n"
	    "< #2 200 session=s2 ok " SPOKEN "\n"
	    "head @2 200\n"
	    "found legacy\n"
	    TOLD("2", "2")
	    "done @2 200\n" },
	/* What the former is refused for is not about the latter. */
	{ "twice, the former refused", "",
	    OPENS POSTED("1")
	    AGAIN POSTED_2("2")
	    "< #1 400 err -32022 no\n"
	    REFUSED("-32022", "no")
	    "done @1 400\n"
	    "< #2 404\n"
	    "order #3 GET listen announces\n" },
	{ "twice, the former cut", "",
	    OPENS POSTED("1")
	    AGAIN POSTED_2("2")
	    "< #1 cut\n"
	    "done @1 cut\n"
	    "< #2 415\n"
	    ASKED("3", "1") },
	{ "twice, the former given up", "",
	    OPENS POSTED("1")
	    AGAIN POSTED_2("2")
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "drop #1\n"
	    "> abort @2\n"
	    "done @2 aborted\n"
	    "drop #2\n" },
	{ "twice, at discover", "",
	    OPENS POSTED("1")
	    "< #1 415\n"
	    ASKED("2", "1")
	    AGAIN "done @1 aborted\n"
	    "drop #2\n"
	    POSTED_2("3")
	    "< #3 415\n"
	    ASKED("4", "2")
	    MODERN("4", "2", "2") },
	{ "twice, at the stream", "",
	    OPENS POSTED("1")
	    "< #1 404\n"
	    STREAM("2")
	    AGAIN "done @1 aborted\n"
	    "drop #2\n"
	    POSTED_2("3")
	    "! wait 20000\n"
	    "< #3 404\n"
	    STREAM("4")
	    "! wait 9999\n"
	    "< #4 endpoint ok\n"
	    POSTED_2("5") },
	{ "twice, at the endpoint", "transport=sse",
	    OPENS STREAM("1")
	    "< #1 endpoint ok\n"
	    POSTED("2")
	    AGAIN "done @1 aborted\n"
	    "drop #1\n"
	    "drop #2\n"
	    STREAM("3")
	    "< #3 endpoint ok\n"
	    POSTED_2("4")
	    "< #4 202\n"
	    "head @2 200\n"
	    "< #3 msg ok=2 " SPOKEN "\n"
	    "found sse\n"
	    TOLD("2", "2")
	    "done @2 200\n" },
	/* A person is asked to sign in. */
	{ "a person", "",
	    OPENS POSTED("1")
	    "< #1 person open this\n"
	    "sign-in @1 open this\n"
	    "< #1 person\n"
	    "sign-in @1 \n"
	    LEGACY("1") },
	{ "a person, at discover", "",
	    OPENS POSTED("1")
	    "< #1 415\n"
	    ASKED("2", "1")
	    "< #2 person open this\n"
	    "sign-in @1 open this\n"
	    MODERN("2", "1", "1") },
	/* Meanwhile the clock of the endpoint stands still. */
	{ "a person, at the stream", "transport=sse",
	    OPENS STREAM("1")
	    "< #1 person open this\n"
	    "sign-in @1 open this\n"
	    "! wait 60000\n"
	    "< #1 person\n"
	    "sign-in @1 \n"
	    "! wait 9999\n"
	    SSE_AT("1", "2") },
	{ "an unknown ticket", "",
	    OPENS POSTED("1")
	    "> abort @1\n"
	    "done @1 aborted\n"
	    "drop #1\n"
	    "< #1 person open this\n"
	    "< #1 endpoint ok\n"
	    "! tick\n" },
};
/* clang-format on */

/* --- what people are told --- */

/* clang-format off */
static const struct row notes[] = {
	{ "first", "notes",
	    OPENS POSTED("1")
	    "< #1 200 ok " SPOKEN "\n"
	    "head @1 200\n"
	    "note mcp.test speaks the legacy protocol " "(Streamable HTTP)\n"
	    "found legacy\n"
	    TOLD("1", "1")
	    "done @1 200\n" },
	{ "as remembered", "notes was=legacy",
	    OPENS POSTED("1")
	    LEGACY("1") },
	{ "changed", "notes was=modern",
	    OPENS ASKED("1", "1")
	    "< #1 404\n"
	    POSTED("2")
	    "< #2 405\n"
	    STREAM("3")
	    "< #3 endpoint ok\n"
	    POSTED("4")
	    "< #4 202\n"
	    "head @1 200\n"
	    "< #3 msg ok=1 " SPOKEN "\n"
	    "note mcp.test speaks the legacy protocol (HTTP+SSE)\n"
	    "found sse\n"
	    TOLD("1", "1")
	    "done @1 200\n" },
	{ "modern", "notes was=sse",
	    OPENS STREAM("1")
	    "< #1 404\n"
	    POSTED("2")
	    "< #2 400 err -32022 no\n"
	    "drop #2\n"
	    ASKED("3", "1")
	    "< #3 200 " DISCOVERS
	    "note mcp.test speaks the modern protocol (2026-07-28)\n"
	    "found modern\n"
	    "head @1 200\n"
	    "tell @1 ...\n"
	    "done @1 200\n" },
};
/* clang-format on */

/* --- the facts that the session gets --- */

static const struct server_config plain = { .host = "h", .prefix = "p" };
static const struct facts ok_facts = { .status = 200,
	.media = MEDIA_JSON,
	.session = { "sess", 4 },
	PLAIN };
static const char initialized[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"v\"}}";

/* A native answer comes with all its facts; and it says whether the server
 * speaks what it spoke before. */
START_TEST(test_facts_legacy)
{
	struct server_config config = plain;
	struct hand h;

	config.remembered = _i > 0;
	config.was_modern = _i == 2;
	hand_open(&h, &config);
	if (_i == 2) /* to server/discover */
		hand_answer(&h, h.order,
		    &(struct facts){ .status = 404, PLAIN }, NULL);
	hand_answer(&h, h.order, &ok_facts, initialized);
	ck_assert(h.head.told && h.message.told && !h.done.told);
	ck_assert_int_eq(h.head.facts.status, 200);
	ck_assert_int_eq(h.head.facts.media, MEDIA_JSON);
	ck_assert_str_eq(h.head.session, "sess");
	ck_assert_str_eq(h.message.session, "sess");
	ck_assert(!h.message.facts.had_session &&
	    !h.message.facts.session_ended);
	ck_assert_int_eq(h.message.facts.changed, _i != 1);
	ck_assert_str_eq(buf_str(&h.text), initialized);
	hand_answer(&h, h.order, &ok_facts, NULL);
	ck_assert(h.done.told && !h.done.facts.session_ended);
	ck_assert_str_eq(h.done.session, "sess");
	ck_assert_int_eq(h.done.facts.ending, ENDING_COMPLETE);
	hand_free(&h);
}
END_TEST

/* The answer of a former initialize comes with the id of the session that it
 * made, so that it can be ended. */
START_TEST(test_facts_stray)
{
	uint64_t former;
	struct hand h;

	hand_open(&h, &plain);
	former = h.order;
	hand_post(&h, 8,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\"}");
	ck_assert(h.order != former && !h.done.told);
	ck_assert(server_order_find(h.era, 7) != NULL &&
	    server_order_find(h.era, 8) != NULL);
	hand_answer(&h, former, &ok_facts, initialized);
	ck_assert(h.message.told);
	ck_assert_str_eq(h.message.session, "sess");
	ck_assert(!h.message.facts.changed);
	hand_answer(&h, former, &ok_facts, NULL);
	ck_assert(h.done.told && server_order_find(h.era, 7) == NULL);
	hand_free(&h);
}
END_TEST

static const char discovered[] =
    "{\"jsonrpc\":\"2.0\",\"id\":\"p-s1\",\"result\":{\"resultType\":"
    "\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":"
    "{\"tools\":{}}}}";

START_TEST(test_facts_modern)
{
	struct server_config config = plain;
	struct hand h;
	struct buf page;

	config.remembered = true;
	config.was_modern = _i == 0;
	hand_open(&h, &config);
	ck_assert_ptr_null(server_discovered(h.era));
	if (_i == 1)
		hand_answer(&h, h.order,
		    &(struct facts){ .status = 415, PLAIN }, NULL);
	/* What else comes with it is not the session's. */
	hand_answer(&h, h.order, &ok_facts, discovered);
	ck_assert(h.head.told && h.message.told && h.done.told);
	ck_assert_int_eq(h.message.facts.status, 200);
	ck_assert_int_eq(h.message.facts.media, MEDIA_JSON);
	ck_assert_int_eq(h.message.facts.changed, _i == 1);
	ck_assert_str_eq(h.message.session, "");
	ck_assert(!h.done.facts.session_ended);
	ck_assert(span_is(server_discovered(h.era)->text, discovered));
	hand_answer(&h, h.order, &ok_facts, NULL);
	ck_assert(h.done.told == 0);
	buf_init(&page, 0);
	server_describe(h.era, &page);
	ck_assert_str_eq(buf_str(&page), "server: modern (2026-07-28)\n");
	buf_free(&page);
	hand_free(&h);
}
END_TEST

static void
hand_refuse(struct hand *h, int status, const char *why)
{
	struct facts f = { .status = status, .why = span_of(why), PLAIN };

	f.verb = h->verb;
	hand_answer(h, h->order, &f, NULL);
}

/* When nothing fits: what initialize was refused by, and both failures. */
START_TEST(test_facts_neither)
{
	struct server_config config = plain;
	struct hand h;

	hand_open(&h, &config);
	hand_refuse(&h, 404, "");
	ck_assert_int_eq(h.verb, VERB_GET);
	hand_refuse(&h, 405, "");
	ck_assert_int_eq(h.verb, VERB_POST);
	hand_refuse(&h, 400, "");
	ck_assert(h.done.told && !h.message.told);
	ck_assert_int_eq(h.done.facts.status, 404);
	ck_assert_int_eq(h.done.facts.verb, VERB_POST);
	ck_assert(!h.done.facts.session_ended && !h.done.facts.had_session);
	ck_assert_str_eq(h.done.why,
	    "no event stream of HTTP+SSE there either, and server/discover is "
	    "not known");
	hand_free(&h);

	config.protocol = PROTOCOL_LEGACY;
	hand_open(&h, &config);
	hand_refuse(&h, 405, "");
	hand_refuse(&h, 404, "");
	ck_assert_int_eq(h.done.facts.status, 405);
	ck_assert_str_eq(h.done.why,
	    "no event stream of HTTP+SSE there either");
	hand_free(&h);

	/* Upstream's words are not overwritten. */
	hand_open(&h, &config);
	hand_refuse(&h, 405, "mind the gap");
	hand_refuse(&h, 404, "no stream");
	ck_assert_str_eq(h.done.why, "mind the gap");
	hand_free(&h);
}
END_TEST

START_TEST(test_facts_silence)
{
	struct server_config config = plain;
	struct event in = { .kind = INPUT_TICK };
	struct hand h;

	config.transport = TRANSPORT_SSE;
	hand_open(&h, &config);
	ck_assert_int_eq(server_deadline(h.era), 1000 + 10000);
	hand_step(&h, &in); /* too early */
	ck_assert(!h.done.told);
	ck_assert_int_eq(server_deadline(h.era), 1000 + 10000);
	h.now += 10000;
	hand_step(&h, &in);
	ck_assert(h.done.told);
	ck_assert_str_eq(h.done.why, "no endpoint event within 10 s");
	hand_free(&h);

	/* A foreign endpoint. */
	hand_open(&h, &config);
	in.kind = INPUT_ENDPOINT;
	in.ticket = h.order;
	hand_step(&h, &in);
	ck_assert(h.done.told);
	ck_assert_str_eq(h.done.why, "its endpoint is on another origin");
	in.kind = INPUT_TICK;
	hand_step(&h, &in);
	ck_assert_int_eq(server_deadline(h.era), -1);
	hand_free(&h);
}
END_TEST

/* --- main --- */

#define ROWS(list)                                                             \
	START_TEST(test_##list)                                                \
	{                                                                      \
		server_play_check(list[_i].options, list[_i].schedule);        \
	}                                                                      \
	END_TEST

ROWS(legacy_client)
ROWS(asked_for)
ROWS(modern_client)
ROWS(given_up)
ROWS(notes)

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
	Suite *suite = suite_create("server_detect");
	TCase *tc = tcase_create("facts");

	ADD(legacy_client);
	ADD(asked_for);
	ADD(modern_client);
	ADD(given_up);
	ADD(notes);
	tcase_add_loop_test(tc, test_says_nothing, 0, COUNT(says_nothing));
	tcase_add_loop_test(tc, test_facts_legacy, 0, 3);
	tcase_add_loop_test(tc, test_facts_modern, 0, 2);
	tcase_add_test(tc, test_facts_stray);
	tcase_add_test(tc, test_facts_neither);
	tcase_add_test(tc, test_facts_silence);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
