/*
 * The three reducers in a row, end to end: what passes, an upgrade of the
 * server under a live client of either era, the end of stdin, memory, time.
 * The language is that of chain_play.h.
 */
#include "config.h"

#include "play/chain_play.h"

#include <stdlib.h>

#include "core/chain.h"
#include "core/wire/msg.h"

#include "unit/unit.h"

struct row {
	const char *name, *options, *schedule;
};

#define INIT "{'protocolVersion':'2025-11-25','capabilities':{}}"
#define SPOKEN(caps)                                                           \
	"{'protocolVersion':'2025-11-25','capabilities':" caps                 \
	",'serverInfo':{'name':'s','version':'1'}}"
#define TOOLS "{'tools':{'listChanged':true}}"
#define DISCOVERS(caps)                                                        \
	"ok {'resultType':'complete','supportedVersions':['2026-07-28'],"      \
	"'capabilities':" caps                                                 \
	",'_meta':{'io.modelcontextprotocol/serverInfo':"                      \
	"{'name':'s','version':'1'}}}\n"
/* It opens an HTTP+SSE session: initialize is id, its stream n, its POST p. */
#define SSE(n, p, id, caps)                                                    \
	"< #" n " head 200 media=sse\n"                                        \
	"< #" n " endpoint ok\n"                                               \
	"send #" p " POST initialize " id " endpoint\n"                        \
	"< #" p " 202\n"                                                       \
	"< #" n " msg ok=" id " " SPOKEN(caps) "\n"                            \
					       "found sse\n"
#define CHANGED(list)                                                          \
	"write {'jsonrpc':'2.0','method':'notifications/" list                 \
	"/list_changed'}\n"
#define CONTENT "{'content':[]}"
#define DONE "{'resultType':'complete','content':[]}"
#define GAVE(id, result)                                                       \
	"write {'jsonrpc':'2.0','id':" id ",'result':" result "}\n"
/* What a legacy server answered to a modern client. */
#define TRANSLATED(id)                                                         \
	GAVE(id,                                                               \
	    "{'content':[],'resultType':'complete','_meta':{"                  \
	    "'io.modelcontextprotocol/serverInfo':{'name':'s',"                \
	    "'version':'1'}}}")

/* A legacy client on an HTTP+SSE server, on the stream #1. */
/* clang-format off */
#define LIVE_SSE                                                               \
	"> initialize 1 " INIT "\n"                                            \
	"send #1 GET listen announces\n"                                       \
	SSE("1", "2", "1", "{}")                                               \
	GAVE("1", SPOKEN("{}"))                                                \
	"> notifications/initialized\n"                                        \
	"send #3 POST notifications/initialized v=2025-11-25 endpoint\n"       \
	"< #3 202\n"
/* clang-format on */
/* A modern client on a modern server. */
#define LIVE_MODERN                                                            \
	"> server/discover 'd' {$M}\n"                                         \
	"send #1 POST server/discover 'd' v=2026-07-28 mirrored\n"             \
	"< #1 200 " DISCOVERS(                                                 \
	    TOOLS) "write {'jsonrpc':'2.0','id':'d','result':{'resultType':"   \
		   "'complete','supportedVersions':['2026-07-28'],...\n"

/* --- legacy on both ends --- */

/* clang-format off */
static const struct row legacy[] = {
	{ "streamable", "",
	    "> initialize 1 " INIT "\n"
	    "send #1 POST initialize 1\n"
	    "< #1 200 session=s1 ok " SPOKEN(TOOLS) "\n"
	    "found legacy\n"
	    GAVE("1", SPOKEN(TOOLS))
	    "> notifications/initialized\n"
	    "send #2 POST notifications/initialized @s1 v=2025-11-25\n"
	    "< #2 202\n"
	    "send #3 GET @s1 v=2025-11-25 listen\n"
	    "< #3 head 200 media=sse\n"
	    "> tools/call 'x' {'name':'a'}\n"
	    "send #4 POST tools/call 'x' @s1 v=2025-11-25\n"
	    "< #4 200 ok " CONTENT "\n"
	    GAVE("'x'", CONTENT)
	    /* the session is lost and found, once */
	    "> tools/call 5 {'name':'a'}\n"
	    "send #5 POST tools/call 5 @s1 v=2025-11-25\n"
	    "< #5 404 err=null -32001 Session not found\n"
	    "abort #3\n"
	    "send #6 POST initialize 'mine-1'\n"
	    "< #6 200 session=s2 ok " SPOKEN(TOOLS) "\n"
	    "found legacy\n"
	    "send #7 POST notifications/initialized @s2 v=2025-11-25\n"
	    "< #7 202\n"
	    "send #8 GET @s2 v=2025-11-25 listen\n"
	    "send #9 POST tools/call 5 @s2 v=2025-11-25\n"
	    CHANGED("tools")
	    "< #9 200 ok " CONTENT "\n"
	    GAVE("5", CONTENT) },
	/* The first GET is refused: no stream, not a lost session
	 * (doc/protocol.md 4.3). */
	{ "no stream", "",
	    "> initialize 1 " INIT "\n"
	    "send #1 POST initialize 1\n"
	    "< #1 200 session=s1 ok " SPOKEN("{}") "\n"
	    "found legacy\n"
	    GAVE("1", SPOKEN("{}"))
	    "> notifications/initialized\n"
	    "send #2 POST notifications/initialized @s1 v=2025-11-25\n"
	    "< #2 202\n"
	    "send #3 GET @s1 v=2025-11-25 listen\n"
	    "< #3 404\n"
	    "> tools/call 5 {'name':'a'}\n"
	    "send #4 POST tools/call 5 @s1 v=2025-11-25\n"
	    "< #4 200 ok " CONTENT "\n"
	    GAVE("5", CONTENT)
	    "! wait 100000\n"
	    "! describe\n"
	    "page session: live, generation 1, protocol 2025-11-25\n"
	    "page calls: 0 open, ...\n"
	    "page listen stream: refused by the server\n"
	    "page server: legacy, Streamable HTTP\n" },
	/* No id, so nothing was lost; the server opens a stream for all. */
	{ "no id, then any POST is announced to", "",
	    "> initialize 1 " INIT "\n"
	    "send #1 POST initialize 1\n"
	    "< #1 200 ok " SPOKEN("{}") "\n"
	    "found legacy\n"
	    GAVE("1", SPOKEN("{}"))
	    "> notifications/initialized\n"
	    "send #2 POST notifications/initialized v=2025-11-25\n"
	    "< #2 202\n"
	    "send #3 GET v=2025-11-25 listen\n"
	    "< #3 405\n"
	    "> tools/call 5 {'name':'a'}\n"
	    "send #4 POST tools/call 5 v=2025-11-25\n"
	    "< #4 404 media=html body=<p>no</p>\n"
	    "send #5 POST ping 'mine-1' v=2025-11-25\n"
	    "< #5 404\n"
	    "send #6 POST initialize 'mine-2'\n"
	    "< #6 head 200 media=sse\n"
	    "< #6 endpoint ok\n"
	    "abort #6\n"
	    "send #7 GET listen announces\n"
	    SSE("7", "8", "'mine-2'", "{}")
	    "send #9 POST notifications/initialized v=2025-11-25 endpoint\n"
	    "< #9 202\n"
	    "send #10 POST tools/call 5 v=2025-11-25 endpoint\n"
	    "< #10 202\n"
	    "< #7 msg ok=5 " CONTENT "\n"
	    GAVE("5", CONTENT) },
	{ "two initialize", "",
	    "> initialize 1 " INIT "\n"
	    "send #1 POST initialize 1\n"
	    "> initialize 2 " INIT "\n"
	    "write {'jsonrpc':'2.0','id':1,'error':...\n"
	    "send #2 POST initialize 2\n"
	    "< #2 200 session=s2 ok " SPOKEN("{}") "\n"
	    "found legacy\n"
	    GAVE("2", SPOKEN("{}"))
	    /* the late one made a session: it is ended */
	    "< #1 200 session=s1 ok " SPOKEN("{}") "\n"
	    "send #3 DELETE @s1 v=2025-11-25\n" },
	{ "refused", "",
	    "> initialize 1 " INIT "\n"
	    "send #1 POST initialize 1\n"
	    "< #1 503 retry-after=2\n"
	    "! wait 1000\n"
	    "! wait 2000\n"
	    "send #2 POST initialize 1\n"
	    "< #2 200 ok " SPOKEN("{}") "\n"
	    "found legacy\n"
	    GAVE("1", SPOKEN("{}")) },
	{ "neither", "",
	    "> initialize 1 " INIT "\n"
	    "send #1 POST initialize 1\n"
	    "< #1 404\n"
	    "send #2 GET listen announces\n"
	    "< #2 404\n"
	    "send #3 POST server/discover 'mine-s1' v=2026-07-28 mirrored\n"
	    "< #3 404\n"
	    "write {'jsonrpc':'2.0','id':1,'error':{'code':-32603,'message':"
	    "'mcp.test has no MCP server at this path (404; no event stream "
	    "of HTTP+SSE there either, and server/discover is not...\n" },
};
/* clang-format on */

/* --- HTTP+SSE --- */

/* clang-format off */
static const struct row sse[] = {
	{ "words, questions, cancels", "transport=sse",
	    "> initialize 1 " INIT "\n"
	    "send #1 GET listen announces\n"
	    "< #1 endpoint ok\n"
	    "send #2 POST initialize 1 endpoint\n"
	    "< #2 202\n"
	    "< #1 msg ask 1 roots/list\n"
	    "< #1 msg ok=1 " SPOKEN("{}") "\n"
	    "found sse\n"
	    GAVE("1", SPOKEN("{}"))
	    "< #1 msg note notifications/message {'a':1}\n"
	    "> notifications/initialized\n"
	    "send #3 POST notifications/initialized v=2025-11-25 endpoint\n"
	    "< #3 202\n"
	    "write {'jsonrpc':'2.0','id':1,'method':'roots/list','params':{}}\n"
	    "write {'jsonrpc':'2.0','method':'notifications/message',"
	    "'params':{'a':1}}\n"
	    "> {'jsonrpc':'2.0','id':1,'result':{'roots':[]}}\n"
	    "send #4 POST  1 v=2025-11-25 endpoint\n"
	    "> tools/call 6 {'name':'a'}\n"
	    "send #5 POST tools/call 6 v=2025-11-25 endpoint\n"
	    "< #5 202\n"
	    "> notifications/cancelled {'requestId':6}\n"
	    "send #6 POST notifications/cancelled v=2025-11-25 endpoint\n"
	    "< #1 msg ok=6\n"
	    "> ping 7\n"
	    "send #7 POST ping 7 v=2025-11-25 endpoint\n"
	    "< #1 msg ok=7\n"
	    GAVE("7", "{}")
	    "abort #7\n" },
	{ "lost while idle", "transport=sse",
	    LIVE_SSE "< #1 end\n"
	    "> tools/call 5 {'name':'a'}\n"
	    "send #4 GET listen announces\n"
	    "< #4 connect\n"
	    "! wait 2000\n"
	    "send #5 GET listen announces\n"
	    SSE("5", "6", "'mine-1'", "{}")
	    "send #7 POST notifications/initialized v=2025-11-25 endpoint\n"
	    "< #7 202\n"
	    "send #8 POST tools/call 5 v=2025-11-25 endpoint\n"
	    "< #8 202\n"
	    "< #5 msg ok=5 " CONTENT "\n"
	    GAVE("5", CONTENT) },
	/* What ran is not repeated, what is only read is. */
	{ "lost while calls run", "transport=sse",
	    LIVE_SSE "> tools/call 5 {'name':'a'}\n"
	    "send #4 POST tools/call 5 v=2025-11-25 endpoint\n"
	    "< #4 202\n"
	    "> tools/list 6\n"
	    "send #5 POST tools/list 6 v=2025-11-25 endpoint\n"
	    "< #5 202\n"
	    "< #1 cut\n"
	    "write {'jsonrpc':'2.0','id':5,'error':{'code':-32603,'message':"
	    "'mcp.test ended the session while \\'a\\' was running...\n"
	    "send #6 GET listen announces\n"
	    SSE("6", "7", "'mine-1'", "{}")
	    "send #8 POST notifications/initialized v=2025-11-25 endpoint\n"
	    "< #8 202\n"
	    "send #9 POST tools/list 6 v=2025-11-25 endpoint\n"
	    "< #9 202\n"
	    "< #6 msg ok=6\n"
	    GAVE("6", "{}") },
	/* Its answer comes nevertheless. */
	{ "a POST cut behind its status", "transport=sse",
	    LIVE_SSE "> tools/call 5 {'name':'a'}\n"
	    "send #4 POST tools/call 5 v=2025-11-25 endpoint\n"
	    "< #4 head 202\n"
	    "< #4 cut\n"
	    "< #1 msg ok=5\n"
	    GAVE("5", "{}") },
	/* The stream lives, the session is dead: the other call must end. */
	{ "renewed while a call runs", "transport=sse",
	    LIVE_SSE "> tools/call 5 {'name':'a'}\n"
	    "send #4 POST tools/call 5 v=2025-11-25 endpoint\n"
	    "< #4 202\n"
	    "> tools/call 6 {'name':'b'}\n"
	    "send #5 POST tools/call 6 v=2025-11-25 endpoint\n"
	    "< #5 404 err=null -32001 Session not found\n"
	    "abort #1\n"
	    "write {'jsonrpc':'2.0','id':5,'error':{'code':-32603,...\n"
	    "send #6 GET listen announces\n"
	    SSE("6", "7", "'mine-1'", "{}")
	    "send #8 POST notifications/initialized v=2025-11-25 endpoint\n"
	    "< #8 202\n"
	    "send #9 POST tools/call 6 v=2025-11-25 endpoint\n" },
	/* As long as any other exchange may be silent. */
	{ "a call without an answer", "transport=sse",
	    LIVE_SSE "> tools/call 5 {'name':'a'}\n"
	    "send #4 POST tools/call 5 v=2025-11-25 endpoint\n"
	    "< #4 202\n"
	    "! wait 7200000\n"
	    "write {'jsonrpc':'2.0','id':5,'error':{'code':-32603,...\n" },
	{ "a person signs in", "transport=sse",
	    "> initialize 1 " INIT "\n"
	    "send #1 GET listen announces\n"
	    "< #1 person open this\n"
	    "! wait 20000\n"
	    SSE("1", "2", "1", "{}")
	    GAVE("1", SPOKEN("{}")) },
	{ "an endpoint that never comes", "transport=sse",
	    "> initialize 1 " INIT "\n"
	    "send #1 GET listen announces\n"
	    "< #1 head 200 media=sse\n"
	    "! wait 9999\n"
	    "! wait 1\n"
	    "abort #1\n"
	    "write {'jsonrpc':'2.0','id':1,'error':{'code':-32603,'message':"
	    "'mcp.test is no HTTP+SSE server: no endpoint event within...\n" },
	{ "too slow, then again", "",
	    "> initialize 1 " INIT "\n"
	    "send #1 POST initialize 1\n"
	    "! wait 24000\n"
	    "< #1 404\n"
	    "send #2 GET listen announces\n"
	    "! wait 2000\n"
	    "write {'jsonrpc':'2.0','id':1,'error':{'code':-32603,...\n"
	    "abort #2\n"
	    "> initialize 2 " INIT "\n"
	    "send #3 POST initialize 2\n"
	    "! eof\n"
	    "< #3 connect\n"
	    "! wait 100\n"
	    "! wait 1900\n"
	    "send #4 POST initialize 2\n" },
};
/* clang-format on */

/* --- a server that changes under a legacy client --- */

/* clang-format off */
static const struct row legacy_tour[] = {
	{ "modern, streamable, sse, modern", "",
	    "> initialize 1 " INIT "\n"
	    "send #1 POST initialize 1\n"
	    "< #1 400 err -32022 no\n"
	    "abort #1\n"
	    "send #2 POST server/discover 'mine-s1' v=2026-07-28 mirrored\n"
	    "< #2 200 " DISCOVERS(TOOLS)
	    "found modern\n"
	    "write {'jsonrpc':'2.0','id':1,'result':{'capabilities':" TOOLS
	    ",'protocolVersion':'2025-11-25','serverInfo':{'name':'s',"
	    "'version':'1'}}}\n"
	    "> notifications/initialized\n"
	    "send #3 POST subscriptions/listen 'mine-s2' v=2026-07-28 listen "
	    "mirrored\n"
	    "> tools/call 3 {'name':'a'}\n"
	    "send #4 POST tools/call 3 v=2026-07-28 mirrored\n"
	    "< #4 200 ok " DONE "\n"
	    GAVE("3", CONTENT)
	    /* an older server takes its place */
	    "> tools/call 4 {'name':'a'}\n"
	    "send #5 POST tools/call 4 v=2026-07-28 mirrored\n"
	    "< #5 400 err=null -32000 no session\n"
	    "abort #3\n"
	    "send #6 POST server/discover 'mine-s3' v=2026-07-28 mirrored\n"
	    "< #6 400 err=null -32000 no session\n"
	    "abort #6\n"
	    "send #7 POST initialize 'mine-1'\n"
	    "< #7 200 session=s1 ok " SPOKEN(TOOLS) "\n"
	    "found legacy\n"
	    "send #8 POST notifications/initialized @s1 v=2025-11-25\n"
	    "< #8 202\n"
	    "send #9 GET @s1 v=2025-11-25 listen\n"
	    "send #10 POST tools/call 4 @s1 v=2025-11-25\n"
	    CHANGED("tools")
	    "< #10 200 ok " CONTENT "\n"
	    GAVE("4", CONTENT)
	    "< #9 405\n"
	    /* an older one still */
	    "> tools/call 5 {'name':'a'}\n"
	    "send #11 POST tools/call 5 @s1 v=2025-11-25\n"
	    "< #11 405\n"
	    "send #12 POST ping 'mine-2' @s1 v=2025-11-25\n"
	    "< #12 405\n"
	    "send #13 POST initialize 'mine-3'\n"
	    "< #13 405\n"
	    "send #14 GET listen announces\n"
	    SSE("14", "15", "'mine-3'", TOOLS)
	    "send #16 POST notifications/initialized v=2025-11-25 endpoint\n"
	    "< #16 202\n"
	    "send #17 POST tools/call 5 v=2025-11-25 endpoint\n"
	    "< #17 202\n"
	    "< #14 msg ok=5 " CONTENT "\n"
	    GAVE("5", CONTENT)
	    "! describe\n"
	    "page session: live, generation 3 (no session id)...\n"
	    "page calls: 0 open, ...\n"
	    "page listen stream: open\n"
	    "page server: legacy, HTTP+SSE (2024-11-05); 1 exchanges "
	    "translated, as 1\n"
	    /* and the new one again */
	    "> tools/call 6 {'name':'a'}\n"
	    "send #18 POST tools/call 6 v=2025-11-25 endpoint\n"
	    "< #14 end\n"
	    "< #18 404\n"
	    "send #19 GET listen announces\n"
	    "< #19 405\n"
	    "send #20 POST initialize 'mine-4'\n"
	    "< #20 400 err -32022 no\n"
	    "abort #20\n"
	    "send #21 POST server/discover 'mine-s4' v=2026-07-28 mirrored\n"
	    "< #21 200 " DISCOVERS(TOOLS)
	    "found modern\n"
	    "send #22 POST subscriptions/listen 'mine-s5' v=2026-07-28 listen "
	    "mirrored\n"
	    "send #23 POST tools/call 6 v=2026-07-28 mirrored\n"
	    "< #23 200 ok " DONE "\n"
	    GAVE("6", CONTENT)
	    "! describe\n"
	    "page session: live, generation 4 (no session id)...\n"
	    "page calls: 0 open, ...\n"
	    "page listen stream: open\n"
	    "page server: modern (2026-07-28); 1 exchanges translated, as 1\n"
	    /* told once in a while, not with each change */
	    "! wait 30000\n"
	    CHANGED("tools")
	    "! eof\n"
	    "exit 0\n"
	    "abort #22\n" },
	/* What may have run is not repeated in any other era either. */
	{ "not repeated", "replay=never",
	    "> initialize 1 " INIT "\n"
	    "send #1 POST initialize 1\n"
	    "< #1 400 err -32022 no\n"
	    "abort #1\n"
	    "send #2 POST server/discover 'mine-s1' v=2026-07-28 mirrored\n"
	    "< #2 200 " DISCOVERS("{}")
	    "found modern\n"
	    "write {'jsonrpc':'2.0','id':1,'result':...\n"
	    "> notifications/initialized\n"
	    "> tools/call 4 {'name':'a'}\n"
	    "send #3 POST tools/call 4 v=2026-07-28 mirrored\n"
	    "< #3 400 err=null -32000 no session\n"
	    "write {'jsonrpc':'2.0','id':4,'error':{'code':-32603,'message':"
	    "'mcp.test forgot the session...\n"
	    "send #4 POST server/discover 'mine-s2' v=2026-07-28 mirrored\n" },
	/* The server changes between two probes. */
	{ "a modern probe after initialize", "",
	    "> initialize 1 " INIT "\n"
	    "send #1 POST initialize 1\n"
	    "< #1 400 err -32022 no\n"
	    "abort #1\n"
	    "send #2 POST server/discover 'mine-s1' v=2026-07-28 mirrored\n"
	    "< #2 200 " DISCOVERS(TOOLS)
	    "found modern\n"
	    "write {'jsonrpc':'2.0','id':1,'result':{'capabilities':" TOOLS
	    ",...\n"
	    "> server/discover 'd' {$M}\n"
	    "write {'jsonrpc':'2.0','id':'d','result':{'resultType':"
	    "'complete','supportedVersions':['2026-07-28'],...\n" },
};
/* clang-format on */

/* --- a modern client --- */

/* clang-format off */
/* The legacy server becomes a modern one, which cuts the call: it may run
 * still, so that it goes out under another id. */
#define ONCE_MORE(method)                                                      \
	"send #1 POST ...\n"                                                   \
	"< #1 404\n"                                                           \
	"send #2 POST ...\n"                                                   \
	"< #2 200 session=s1 ok " SPOKEN("{}") "\n"                            \
	"found legacy\n"                                                       \
	"send #3 POST ...\n"                                                   \
	"< #3 202\n"                                                           \
	"send #4 GET @s1 v=2025-11-25 listen\n"                                \
	"send #5 POST " method " 'mine-c3' @s1 v=2025-11-25\n"                 \
	"< #4 405\n"                                                           \
	"< #5 404 err=null -32001 Session not found\n"                         \
	"send #6 POST ...\n"                                                   \
	"< #6 200 " DISCOVERS("{}")                                            \
	"found dual\n"                                                         \
	"send #7 POST " method " 'mine-c3' v=2026-07-28 mirrored\n"            \
	"< #7 head 200 media=sse\n"                                            \
	"< #7 cut\n"                                                           \
	"! wait 250\n"                                                         \
	"send #8 POST " method " 'mine-2' v=2026-07-28 mirrored\n"

static const struct row modern_tour[] = {
	{ "byte for byte", "bodies",
	    "> {'method':'tools/call','id':1e0,'params':{'name':'a','name':'b',"
	    "$M},'jsonrpc':'2.0'}\n"
	    "send #1 POST {'jsonrpc':'2.0','id':'mine-c1','method':"
	    "'server/discover','params':{$M}} v=2026-07-28 mirrored\n"
	    "< #1 200 " DISCOVERS("{}")
	    "send #2 POST {'method':'tools/call','id':1e0,'params':{'name':'a',"
	    "'name':'b',$M},'jsonrpc':'2.0'} v=2026-07-28 mirrored\n"
	    "< #2 200 {'result':{'x':1.0},'id':$,'jsonrpc':'2.0'}\n"
	    "write {'result':{'x':1.0},'id':1e0,'jsonrpc':'2.0'}\n" },
	{ "as it came, and once more", "",
	    "> tools/list 1 {$M}\n" ONCE_MORE("tools/list")
	    "< #8 200 ok {'resultType':'complete','tools':[],'ttlMs':1}\n"
	    GAVE("1", "{'resultType':'complete','tools':[],'ttlMs':1}") },
	{ "once more, and asked", "",
	    "> prompts/get 1 {'name':'p',$M}\n" ONCE_MORE("prompts/get")
	    "< #8 200 ok {'resultType':'input_required','requestState':'z'}\n"
	    GAVE("1", "{'resultType':'input_required','requestState':'z'}") },
	{ "modern, streamable, sse, modern", "",
	    LIVE_MODERN "> tools/call 2 {'name':'a',$M}\n"
	    "send #2 POST tools/call 2 v=2026-07-28 mirrored\n"
	    "< #2 200 ok " DONE "\n"
	    GAVE("2", DONE)
	    "> tools/call 4 {'name':'a',$M}\n"
	    "send #3 POST tools/call 4 v=2026-07-28 mirrored\n"
	    "< #3 400 err=null -32000 no session\n"
	    "send #4 POST server/discover 'd' v=2026-07-28 mirrored\n"
	    "< #4 400 err=null -32000 no session\n"
	    "abort #4\n"
	    "send #5 POST initialize 'mine-1'\n"
	    "< #5 200 session=s1 ok " SPOKEN(TOOLS) "\n"
	    "found legacy\n"
	    "send #6 POST notifications/initialized @s1 v=2025-11-25\n"
	    "< #6 202\n"
	    "send #7 GET @s1 v=2025-11-25 listen\n"
	    "send #8 POST tools/call 4 @s1 v=2025-11-25\n"
	    "< #7 405\n"
	    "< #8 200 ok " CONTENT "\n"
	    TRANSLATED("4")
	    "> tools/call 5 {'name':'a',$M}\n"
	    "send #9 POST tools/call 'mine-c2' @s1 v=2025-11-25\n"
	    "< #9 405\n"
	    "send #10 POST ping 'mine-2' @s1 v=2025-11-25\n"
	    "< #10 405\n"
	    "send #11 POST server/discover 'd' v=2026-07-28 mirrored\n"
	    "< #11 405\n"
	    "send #12 POST initialize 'mine-3'\n"
	    "< #12 405\n"
	    "send #13 GET listen announces\n"
	    SSE("13", "14", "'mine-3'", TOOLS)
	    "send #15 POST notifications/initialized v=2025-11-25 endpoint\n"
	    "< #15 202\n"
	    "send #16 POST tools/call 'mine-c2' v=2025-11-25 endpoint\n"
	    "< #16 202\n"
	    "< #13 msg ok='mine-c2' " CONTENT "\n"
	    TRANSLATED("5")
	    "> tools/call 8 {'name':'a',$M}\n"
	    "send #17 POST tools/call 'mine-c3' v=2025-11-25 endpoint\n"
	    "< #13 end\n"
	    "< #17 404\n"
	    "send #18 GET listen announces\n"
	    "< #18 404\n"
	    "send #19 POST server/discover 'd' v=2026-07-28 mirrored\n"
	    "< #19 200 " DISCOVERS(TOOLS)
	    "found dual\n"
	    "send #20 POST tools/call 'mine-c3' v=2026-07-28 mirrored\n"
	    "< #20 200 ok " DONE "\n"
	    GAVE("8", DONE)
	    "> tools/call 9 {'name':'a',$M}\n"
	    "send #21 POST tools/call 9 v=2026-07-28 mirrored\n"
	    "< #21 200 ok " DONE "\n"
	    GAVE("9", DONE)
	    "! eof\n"
	    "exit 0\n" },
	/* As a framework says it. */
	{ "modern, then pages and sse", "",
	    LIVE_MODERN "> tools/call 4 {'name':'a',$M}\n"
	    "send #2 POST tools/call 4 v=2026-07-28 mirrored\n"
	    "< #2 404 media=html body=<p>no</p>\n"
	    "send #3 POST server/discover 'd' v=2026-07-28 mirrored\n"
	    "< #3 404 media=html body=<p>no</p>\n"
	    "send #4 POST initialize 'mine-1'\n"
	    "< #4 404 media=html body=<p>no</p>\n"
	    "send #5 GET listen announces\n"
	    SSE("5", "6", "'mine-1'", TOOLS)
	    "send #7 POST notifications/initialized v=2025-11-25 endpoint\n"
	    "< #7 202\n"
	    "send #8 POST tools/call 4 v=2025-11-25 endpoint\n"
	    "< #8 202\n"
	    "< #5 msg ok=4 " CONTENT "\n"
	    TRANSLATED("4") },
	/* A request that goes out again is one of the server's era. */
	{ "made plain", "bodies",
	    "> server/discover 'd' {$M}\n"
	    "send #1 POST ...\n"
	    "< #1 200 " DISCOVERS("{}")
	    "write ...\n"
	    "> tools/call 2 {'name':'a',$M}\n"
	    "send #2 POST {'jsonrpc':'2.0','method':'tools/call','id':2,"
	    "'params':{'name':'a',$M}} v=2026-07-28 mirrored\n"
	    "< #2 404\n"
	    "send #3 POST ...\n"
	    "< #3 404\n"
	    "send #4 POST {'jsonrpc':'2.0','id':'mine-1','method':"
	    "'initialize',...\n"
	    "< #4 200 ok " SPOKEN("{}") "\n"
	    "found legacy\n"
	    "send #5 POST {'jsonrpc':'2.0','method':"
	    "'notifications/initialized'} v=2025-11-25\n"
	    "< #5 202\n"
	    "send #6 GET v=2025-11-25 listen\n"
	    "send #7 POST {'jsonrpc':'2.0','method':'tools/call','id':2,"
	    "'params':{'name':'a'}} v=2025-11-25\n"
	    "< #7 200 ok " CONTENT "\n"
	    TRANSLATED("2") },
	/* Its listen ends with the server that it was at. */
	{ "a listen of its own", "",
	    LIVE_MODERN "> subscriptions/listen 3 {'notifications':"
	    "{'toolsListChanged':true},$M}\n"
	    "send #2 POST subscriptions/listen 3 v=2026-07-28 listen "
	    "mirrored\n"
	    "< #2 head 200 media=sse\n"
	    "< #2 msg note notifications/subscriptions/acknowledged "
	    "{'_meta':{'io.modelcontextprotocol/subscriptionId':3},"
	    "'notifications':{'toolsListChanged':true}}\n"
	    "write {'jsonrpc':'2.0','method':'notifications/subscriptions/"
	    "acknowledged',...\n"
	    "> tools/call 4 {'name':'a',$M}\n"
	    "send #3 POST tools/call 4 v=2026-07-28 mirrored\n"
	    "< #3 404\n"
	    "abort #2\n"
	    "write {'jsonrpc':'2.0','method':'notifications/cancelled',"
	    "'params':{'requestId':3}}\n"
	    "send #4 POST server/discover 'd' v=2026-07-28 mirrored\n" },
	/* The same the other way round: it must not go deaf. */
	{ "a listen of ours", "",
	    "> subscriptions/listen 3 {'notifications':"
	    "{'toolsListChanged':true},$M}\n"
	    "send #1 POST server/discover 'mine-c1' v=2026-07-28 mirrored\n"
	    "< #1 404\n"
	    "send #2 POST initialize 'mine-c2'\n"
	    "< #2 200 ok " SPOKEN(TOOLS) "\n"
	    "found legacy\n"
	    "send #3 POST notifications/initialized v=2025-11-25\n"
	    "< #3 202\n"
	    "send #4 GET v=2025-11-25 listen\n"
	    "< #4 head 200 media=sse\n"
	    "write {'jsonrpc':'2.0','method':'notifications/subscriptions/"
	    "acknowledged',...\n"
	    "< #4 msg note notifications/tools/list_changed\n"
	    "write {'jsonrpc':'2.0','method':'notifications/tools/"
	    "list_changed',...\n"
	    "> tools/call 5 {'name':'a',$M}\n"
	    "send #5 POST tools/call 'mine-c3' v=2025-11-25\n"
	    "< #5 400 err -32022 no\n"
	    "abort #4\n"
	    "send #6 POST server/discover 'mine-c1' v=2026-07-28 mirrored\n"
	    "< #6 200 " DISCOVERS(TOOLS)
	    "found dual\n"
	    "write {'jsonrpc':'2.0','method':'notifications/tools/"
	    "list_changed',...\n"
	    "send #7 POST tools/call 'mine-c3' v=2026-07-28 mirrored\n"
	    "write {'jsonrpc':'2.0','method':'notifications/cancelled',"
	    "'params':{'requestId':3}}\n" },
	{ "-32022 and -32021", "",
	    "> server/discover 'd' {$M}\n"
	    "send #1 POST server/discover 'd' v=2026-07-28 mirrored\n"
	    "< #1 400 {'jsonrpc':'2.0','id':$,'error':{'code':-32022,"
	    "'message':'no','data':{'supported':['2027-01-01']}}}\n"
	    "write {'jsonrpc':'2.0','id':'d','error':{'code':-32022,'message':"
	    "'no','data':{'supported':['2027-01-01']}}}\n"
	    "abort #1\n"
	    "> server/discover 'e' {$M}\n"
	    "send #2 POST server/discover 'e' v=2026-07-28 mirrored\n"
	    "< #2 400 err -32021 need\n"
	    "write {'jsonrpc':'2.0','id':'e','error':{'code':-32021,'message':"
	    "'need'}}\n"
	    "abort #2\n" },
	/* A probe is answered in 4 s; the client falls back. */
	{ "a slow probe", "",
	    "> server/discover 'd' {$M}\n"
	    "send #1 POST server/discover 'd' v=2026-07-28 mirrored\n"
	    "! wait 3000\n"
	    "! wait 1000\n"
	    "write {'jsonrpc':'2.0','id':'d','error':{'code':-32603,...\n"
	    "> initialize 1 " INIT "\n"
	    "abort #1\n"
	    "send #2 POST initialize 1\n"
	    "< #1 200 " DISCOVERS("{}")
	    "< #2 200 ok " SPOKEN("{}") "\n"
	    "found legacy\n"
	    GAVE("1", SPOKEN("{}"))
	    "> ping 2\n"
	    "send #3 POST ping 2 v=2025-11-25\n"
	    "> notifications/initialized\n"
	    "send #4 POST notifications/initialized v=2025-11-25\n" },
};
/* clang-format on */

/* --- the end of stdin --- */

/* clang-format off */
static const struct row ends[] = {
	{ "modern, while it opens", "",
	    "> tools/call 1 {'name':'a',$M}\n"
	    "send #1 POST server/discover 'mine-c1' v=2026-07-28 mirrored\n"
	    "> tools/call 2 {'name':'a',$M}\n"
	    "! eof\n"
	    "< #1 200 " DISCOVERS("{}")
	    "send #2 POST tools/call 1 v=2026-07-28 mirrored\n"
	    "send #3 POST tools/call 2 v=2026-07-28 mirrored\n"
	    "< #3 200 ok " DONE "\n"
	    GAVE("2", DONE)
	    "< #2 200 ok " DONE "\n"
	    GAVE("1", DONE)
	    "exit 0\n"
	    "abort #2\n" },
	{ "a question that nobody answers any more", "",
	    "> initialize 1 {'protocolVersion':'2025-11-25','capabilities':"
	    "{'roots':{}}}\n"
	    "send #1 POST initialize 1\n"
	    "< #1 400 err -32022 no\n"
	    "abort #1\n"
	    "send #2 POST server/discover 'mine-s1' v=2026-07-28 mirrored\n"
	    "< #2 200 " DISCOVERS("{}")
	    "found modern\n"
	    "write ...\n"
	    "> notifications/initialized\n"
	    "> tools/call 2 {'name':'a'}\n"
	    "send #3 POST tools/call 2 v=2026-07-28 mirrored\n"
	    "< #3 200 ok {'resultType':'input_required','inputRequests':"
	    "{'k':{'method':'roots/list'}}}\n"
	    "write ...\n"
	    "! eof\n"
	    "write ...\n"
	    "write {'jsonrpc':'2.0','id':2,'error':{'code':-32603,...\n"
	    "exit 0\n" },
	{ "legacy, while it opens", "",
	    "> tools/call 1 {'name':'a',$M}\n"
	    "send #1 POST server/discover 'mine-c1' v=2026-07-28 mirrored\n"
	    "! eof\n"
	    "< #1 404\n"
	    "send #2 POST initialize 'mine-c2'\n"
	    "< #2 200 session=s1 ok " SPOKEN("{}") "\n"
	    "found legacy\n"
	    "send #3 POST notifications/initialized @s1 v=2025-11-25\n"
	    "< #3 202\n"
	    "send #4 GET @s1 v=2025-11-25 listen\n"
	    "send #5 POST tools/call 'mine-c3' @s1 v=2025-11-25\n"
	    "< #4 405\n"
	    "< #5 200 ok " CONTENT "\n"
	    TRANSLATED("1")
	    "abort #5\n"
	    "send #6 DELETE @s1 v=2025-11-25\n"
	    "< #6 200\n"
	    "exit 0\n" },
	{ "nobody there, while it opens", "",
	    "> tools/call 1 {'name':'a',$M}\n"
	    "send #1 POST server/discover 'mine-c1' v=2026-07-28 mirrored\n"
	    "! eof\n"
	    "< #1 404\n"
	    "send #2 POST initialize 'mine-c2'\n"
	    "< #2 404\n"
	    "send #3 GET listen announces\n"
	    "< #3 404\n"
	    "write {'jsonrpc':'2.0','id':1,'error':{'code':-32603,...\n"
	    "exit 0\n" },
	{ "before anything", "",
	    "! eof\nexit 0\n" },
	{ "a listen", "",
	    LIVE_MODERN "> subscriptions/listen 3 {'notifications':"
	    "{'toolsListChanged':true},$M}\n"
	    "send #2 POST subscriptions/listen 3 v=2026-07-28 listen "
	    "mirrored\n"
	    "< #2 head 200 media=sse\n"
	    "! eof\n"
	    "write {'jsonrpc':'2.0','id':3,'result':{'resultType':"
	    "'complete',...\n"
	    "abort #2\n"
	    "exit 0\n" },
	{ "http+sse", "transport=sse",
	    LIVE_SSE "! eof\n"
	    "exit 0\n" },
};
/* clang-format on */

/* --- memory --- */

#define PROBED                                                                 \
	"> server/discover 'd' {$M}\n"                                         \
	"recall 2026-07-28\n"                                                  \
	"send #1 POST server/discover 'd' v=2026-07-28 mirrored\n"             \
	"! memory " SPOKEN(TOOLS) "\n"
#define RECALLED                                                               \
	"write {'jsonrpc':'2.0','id':'d','result':{'capabilities':" TOOLS      \
	",'resultType':'complete','supportedVersions':['2026-07-28'],...\n"

/* clang-format off */
static const struct row memory[] = {
	/* Before the 4 s are over in which a probe is answered. */
	{ "a probe", "memory",
	    PROBED "! wait 2999\n"
	    "! wait 1\n"
	    RECALLED "! wait 5000\n" },
	{ "a probe, answered in time", "memory",
	    PROBED "! wait 2999\n"
	    "< #1 200 " DISCOVERS("{}")
	    "keep -\n"
	    "remember 2026-07-28\n"
	    "write {'jsonrpc':'2.0','id':'d','result':{'resultType':...\n"
	    "! wait 5000\n" },
	{ "then a legacy server", "memory",
	    PROBED "! wait 3000\n"
	    RECALLED "> tools/call 2 {'name':'a',$M}\n"
	    "< #1 connect\n"
	    "! wait 2000\n"
	    "send #2 POST server/discover 'd' v=2026-07-28 mirrored\n"
	    "< #2 404\n"
	    "send #3 POST initialize 'mine-c1'\n"
	    "< #3 200 session=s1 ok " SPOKEN(TOOLS) "\n"
	    "found legacy\n"
	    "keep @s1\n"
	    "remember 2026-07-28\n"
	    "send #4 POST notifications/initialized @s1 v=2025-11-25\n"
	    "< #4 202\n"
	    "send #5 GET @s1 v=2025-11-25 listen\n"
	    "send #6 POST tools/call 'mine-c2' @s1 v=2025-11-25\n"
	    "< #6 200 ok " CONTENT "\n"
	    TRANSLATED("2") },
	{ "then a modern server", "memory",
	    PROBED "! wait 3000\n"
	    RECALLED "> tools/call 2 {'name':'a',$M}\n"
	    "< #1 200 " DISCOVERS(TOOLS)
	    "keep -\n"
	    "remember 2026-07-28\n"
	    "send #2 POST tools/call 'mine-c2' v=2026-07-28 mirrored\n"
	    "< #2 200 ok " DONE "\n"
	    GAVE("2", DONE)
	    "> tools/call 3 {'name':'a',$M}\n"
	    "send #3 POST tools/call 3 v=2026-07-28 mirrored\n" },
	/* A client after initialize waits longer. */
	{ "initialize", "memory",
	    "> initialize 1 " INIT "\n"
	    "recall 2025-11-25\n"
	    "send #1 POST initialize 1\n"
	    "! memory " SPOKEN("{}") "\n"
	    "! wait 4999\n"
	    "! wait 1\n"
	    GAVE("1", SPOKEN("{}")) },
};
/* clang-format on */

/* --- by pointer --- */

static struct frame *
parsed(const char *text)
{
	struct frame *f = frame_copy(span_of(text));

	ck_assert(msg_parse(f, 64) == MSG_OK);
	return f;
}

/* The next action of this kind; the others are passed over. */
static void
await(struct chain *c, enum event_kind kind, struct event *a)
{
	while (chain_next(c, a))
		if (a->kind == kind)
			return;
	ck_abort_msg("no action %d", (int)kind);
}

static void
step(struct chain *c, struct event *in)
{
	in->now = 1000;
	chain_step(c, in);
}

/* Between two legacy ends a frame is the same one, and a ticket is the
 * session's own: no copy, no stop. */
START_TEST(test_passes)
{
	const struct chain_config config = { .session = { .host = "h",
						 .version = "0",
						 .prefix = "p",
						 .max_inflight = 8,
						 .max_held = 1000 } };
	const struct facts ok = { .status = 200,
		.media = MEDIA_JSON,
		.sent = true,
		.retry_after_ms = -1,
		.retry_ms = -1 };
	struct chain *c = chain_new(&config);
	struct frame *initialize = parsed("{\"jsonrpc\":\"2.0\",\"id\":1,"
					  "\"method\":\"initialize\","
					  "\"params\":{}}");
	struct frame *call = parsed("{\"jsonrpc\":\"2.0\",\"id\":2,"
				    "\"method\":\"tools/call\"}");
	struct frame *ready = parsed("{\"jsonrpc\":\"2.0\",\"method\":"
				     "\"notifications/initialized\"}");
	struct frame *opened = parsed("{\"jsonrpc\":\"2.0\",\"id\":1,"
				      "\"result\":{}}");
	struct frame *result = parsed("{\"jsonrpc\":\"2.0\",\"id\":2,"
				      "\"result\":{}}");
	struct event in = { .kind = INPUT_CLIENT, .frame = initialize };
	struct event a;

	ck_assert(chain_wants_secret(c));
	ck_assert_int_eq(chain_deadline(c), -1);
	step(c, &in);
	await(c, ACTION_SEND, &a);
	ck_assert(a.order->body == initialize);
	ck_assert(server_owns(a.ticket) && a.ticket == a.order->ticket);
	ck_assert(!chain_wants_secret(c));
	in = (struct event){ .kind = INPUT_MESSAGE,
		.ticket = a.ticket,
		.facts = &ok,
		.frame = opened };
	step(c, &in);
	await(c, ACTION_WRITE, &a);
	ck_assert(a.frame == opened);
	in = (struct event){ .kind = INPUT_CLIENT, .frame = ready };
	step(c, &in);
	await(c, ACTION_SEND, &a);
	ck_assert(a.order->body == ready && !server_owns(a.ticket));
	in = (struct event){
		.kind = INPUT_DONE, .ticket = a.ticket, .facts = &ok
	};
	step(c, &in);
	while (chain_next(c, &a))
		continue;
	in = (struct event){ .kind = INPUT_CLIENT, .frame = call };
	step(c, &in);
	await(c, ACTION_SEND, &a);
	ck_assert(a.order->body == call && !server_owns(a.ticket));
	in = (struct event){ .kind = INPUT_MESSAGE,
		.ticket = a.ticket,
		.facts = &ok,
		.frame = result };
	step(c, &in);
	await(c, ACTION_WRITE, &a);
	ck_assert(a.frame == result);
	chain_free(c);
	frame_unref(initialize);
	frame_unref(call);
	frame_unref(ready);
	frame_unref(opened);
	frame_unref(result);
}
END_TEST

/* Freed at any moment, with whatever is under way. */
START_TEST(test_freed)
{
	static const char *const schedules[] = { LIVE_SSE
		"> tools/call 5 {'name':'a'}\n"
		"send #4 POST tools/call 5 v=2025-11-25 endpoint\n",
		"> server/discover 'd' {$M}\n"
		"send #1 POST server/discover 'd' v=2026-07-28 mirrored\n"
		"> tools/call 5 {'name':'a',$M}\n",
		"> initialize 1 " INIT "\n"
		"send #1 POST initialize 1\n"
		"< #1 404\n"
		"send #2 GET listen announces\n" };

	chain_play_check("", _i == 0 ? "" : schedules[_i]);
	if (_i == 0)
		chain_play_check("transport=sse", schedules[0]);
	chain_free(NULL);
}
END_TEST

/* --- the process stood still: several times are over in one turn --- */

#define TOO_SLOW(id)                                                           \
	"write {'jsonrpc':'2.0','id':'" id                                     \
	"','error':{'code':-32603,'message':'mcp.test did not answer within "  \
	"4 s,...\n"

/* clang-format off */
static const struct row stalls[] = {
	{ "a probe and the renewal that it waits for", "",
	    LIVE_MODERN
	    "> server/discover 'e' {$M}\n"
	    "send #2 POST server/discover 'e' v=2026-07-28 mirrored\n"
	    "< #2 400 err -32022 no\n"
	    "send #3 POST server/discover 'd' v=2026-07-28 mirrored\n"
	    "! stall 18000\n"
	    TOO_SLOW("e")
	    "abort #3\n" },
	{ "a probe and the person that it waits for", "",
	    LIVE_MODERN
	    "> server/discover 'e' {$M}\n"
	    "send #2 POST server/discover 'e' v=2026-07-28 mirrored\n"
	    "< #2 person open http://a/x\n"
	    "! stall 60000\n"
	    "write {'jsonrpc':'2.0','id':'e','result':{'resultType':"
	    "'complete','supportedVersions':['2026-07-28'],...\n"
	    "abort #2\n" },
	{ "a probe and the initialize that it waits for", "",
	    "> server/discover 'd' {$M}\n"
	    "send #1 POST server/discover 'd' v=2026-07-28 mirrored\n"
	    "! stall 30000\n"
	    TOO_SLOW("d")
	    "abort #1\n" },
};
/* clang-format on */

/* --- main --- */

#define ROWS(list)                                                             \
	START_TEST(test_##list)                                                \
	{                                                                      \
		chain_play_check(list[_i].options, list[_i].schedule);         \
	}                                                                      \
	END_TEST

ROWS(legacy)
ROWS(sse)
ROWS(legacy_tour)
ROWS(modern_tour)
ROWS(ends)
ROWS(memory)
ROWS(stalls)

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
	Suite *suite = suite_create("chain");
	TCase *tc = tcase_create("rest");

	ADD(legacy);
	ADD(sse);
	ADD(legacy_tour);
	ADD(modern_tour);
	ADD(ends);
	ADD(memory);
	ADD(stalls);
	tcase_add_test(tc, test_passes);
	tcase_add_loop_test(tc, test_freed, 0, 3);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
