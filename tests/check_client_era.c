/*
 * The client's era as schedules: who the client is, its opening, what passes
 * to a modern server, what is translated for a legacy one, parked requests,
 * listens. Each row is played from the start.
 */
#include "config.h"

#include <stdlib.h>

#include "base/mem.h"
#include "client_era_play.h"
#include "unit.h"

struct schedule {
	const char *name, *text;
};

/* --- pieces --- */

#define PROBE_M                                                                \
	"probe {$J,'id':'p-c1','method':'server/discover','params':{$M}}\n"
#define INITIALIZE(n, caps)                                                    \
	"send {$J,'id':'p-c" n "','method':'initialize','params':{"            \
	"'protocolVersion':'2025-11-25','capabilities':" caps                  \
	",'clientInfo':{'name':'mcpsplice','version':'0.1'}}}\n"
#define INITIALIZED(n, caps)                                                   \
	"< {$J,'id':'p-c" n                                                    \
	"','result':{'protocolVersion':'2025-11-25','capabilities':" caps      \
	",'serverInfo':{'name':'s','version':'1'}}}\n"                         \
	"send {$J,'method':'notifications/initialized'}\n"
#define ALL_CAPS "{'sampling':{},'roots':{},'elicitation':{'form':{},'url':{}}}"
#define WHO "'_meta':{'$IserverInfo':{'name':'s','version':'1'}}"
#define MINE "{'source':'mcpsplice','ran':'no'}"
#define BECAUSE(why) "{'source':'mcpsplice','reason':'" why "','ran':'no'}"

#define DISCOVERED(versions)                                                   \
	"+ {$J,'id':'x','result':{'resultType':'complete',"                    \
	"'supportedVersions':" versions ",'capabilities':{}}}\n"

/* A modern client opened a session and got its server/discover answered. */
#define NATIVE                                                                       \
	"> {$J,'id':'d','method':'server/discover','params':{$A}}\n"                 \
	"probe {$J,'id':'d','method':'server/discover','params':{$A}}\n" INITIALIZE( \
	    "1", ALL_CAPS) DISCOVERED("['2026-07-28']") INITIALIZED("1",             \
	    "{}") "write {$J,'id':'d','result':{'resultType':'complete',"            \
		  "'supportedVersions':['2026-07-28'],'capabilities':{}}}\n"
#define BRIDGED_AS(meta, mine, caps)                                           \
	"> {$J,'id':'d','method':'server/discover','params':{" meta "}}\n"     \
	"probe {$J,'id':'d','method':'server/discover','params':{" meta        \
	"}}\n" INITIALIZE("1", mine) INITIALIZED("1", caps) "write <*>\n"
#define BRIDGED(caps) BRIDGED_AS("$A", ALL_CAPS, caps)

#define CALL(id, more)                                                         \
	"> {$J,'id':" id ",'method':'tools/call','params':{'name':'book',"     \
	"'arguments':{'d':1}," more "}}\n"
#define SENT(n, more)                                                          \
	"send {$J,'id':'p-c" n "','method':'tools/call','params':{"            \
	"'name':'book','arguments':{'d':1}" more "}}\n"
#define DONE(n) "< {$J,'id':'p-c" n "','result':{'content':[]}}\n"
#define WRITTEN(id)                                                            \
	"write {$J,'id':" id ",'result':{'content':[],"                        \
	"'resultType':'complete'," WHO "}}\n"
#define ASK(n, id)                                                             \
	"< @'p-c" n "' {$J,'id':" id ",'method':'elicitation/create',"         \
	"'params':{'message':'m" id "','requestedSchema':{}}}\n"
#define ENTRY(id)                                                              \
	"{'method':'elicitation/create','params':{'message':'m" id             \
	"','requestedSchema':{}}}"
#define REQUIRED(id, entries, state)                                           \
	"write {$J,'id':" id ",'result':{'resultType':'input_required',"       \
	"'inputRequests':{" entries "},'requestState':'" state "'}}\n"
#define YES "{'action':'accept','content':{'sure':true}}"
#define CANCELLED_BY(n, reason)                                                \
	"send {$J,'method':'notifications/cancelled','params':{"               \
	"'requestId':'p-c" n "','reason':'" reason "'}}\n"
#define CANCEL(id)                                                             \
	"> {$J,'method':'notifications/cancelled','params':{'requestId':" id   \
	"}}\n"

/* The session knows what is not open. */
#define CANCEL_UNKNOWN(id)                                                     \
	CANCEL(id)                                                             \
	"send {$J,'method':'notifications/cancelled','params':{'requestId':"   \
	id "}}\n"

/* --- who it is --- */

static const struct schedule opening[] = {
	{ "legacy",
	    "? passes {$J,'id':1,'method':'initialize'} no\n"
	    "? legacy no\n"
	    "> {$J,'id':1,'method':'initialize','params':{}}\n"
	    "probe -\n"
	    "send {$J,'id':1,'method':'initialize','params':{}}\n"
	    "? legacy yes\n"
	    "? passes {$J,'id':1,'method':'tools/list'} yes\n"
	    "? passes {$J,'id':1,'method':'initialize'} yes\n"
	    "? passes {$J,'id':1,'method':'server/discover'} yes\n"
	    "? passes {$J,'id':1,'method':'tools/list','params':{$M}} yes\n"
	    "? passes {$J,'method':'server/discover','params':{$M}} yes\n"
	    "? passes {$J,'id':1,'result':{}} yes\n"
	    "? passes {$J,'id':1,'method':'server/discover','params':{$M}} "
	    "no\n"
	    "? passes {$J,'id':1,'method':'subscriptions/listen',"
	    "'params':{$M}} no\n" },
	{ "legacy that asks for a modern version",
	    "> {$J,'id':1,'method':'initialize','params':{"
	    "'protocolVersion':'2026-07-28'}}\n"
	    "probe -\n"
	    "send {$J,'id':1,'method':'initialize','params':{"
	    "'protocolVersion':'2026-07-28'}}\n"
	    "? legacy yes\n" },
	{ "legacy, probes a modern server again",
	    "> {$J,'id':1,'method':'initialize','params':{}}\n"
	    "probe -\n"
	    "send <*>\n" DISCOVERED(
		"['2025-11-25','2026-07-28']") "> {$J,'id':2,'method':'server/discover','params':{$M}}\n"
					       "write {$J,'id':2,'result':{'resultType':'complete',"
					       "'supportedVersions':['2026-07-28'],'capabilities':{}}}\n"
					       "> {$J,'id':3,'method':'subscriptions/listen','params':{$M}}\n"
					       "send {$J,'id':3,'method':'subscriptions/listen','params':{$M}}\n"
					       "? legacy yes\n" },
	{ "legacy, probes a legacy server again",
	    "> {$J,'id':1,'method':'initialize','params':{}}\n"
	    "probe -\n"
	    "send <*>\n"
	    "> {$J,'id':2,'method':'server/discover','params':{$M}}\n"
	    "write {$J,'id':2,'error':{'code':-32601,'message':'This client "
	    "initialized, and mcp.example.com speaks no 2026-07-28. Not sent: "
	    "go on in the session.','data':" MINE "}}\n"
	    "? legacy yes\n" },
	{ "before anything is known",
	    "> {$J,'id':1,'method':'ping'}\n"
	    "send {$J,'id':1,'method':'ping'}\n"
	    "< {$J,'id':1,'result':{}}\n"
	    "write {$J,'id':1,'result':{}}\n"
	    "> {$J,'id':2,'method':'tools/list'}\n"
	    "send {$J,'id':2,'method':'tools/list'}\n"
	    "> {$J,'method':'notifications/x'}\n"
	    "send {$J,'method':'notifications/x'}\n"
	    "> {$J,'id':2,'result':{}}\n"
	    "send {$J,'id':2,'result':{}}\n"
	    "< @2 {$J,'method':'notifications/message','params':{}}\n"
	    "write {$J,'method':'notifications/message','params':{}}\n"
	    "< {$J,'id':7,'method':'ping'}\n"
	    "write {$J,'id':7,'method':'ping'}\n"
	    "< {$J,'id':2,'result':{'tools':[]}}\n"
	    "write {$J,'id':2,'result':{'tools':[]}}\n"
	    "? legacy no\n"
	    "? holds no\n"
	    "? due never\n" },
	{ "no version that is a string",
	    "> {$J,'id':1,'method':'tools/list','params':{'_meta':{"
	    "'$IprotocolVersion':20260728}}}\n"
	    "write {$J,'id':1,'error':{'code':-32602,"
	    "'message':'params._meta[\\'$IprotocolVersion\\'] is no string. "
	    "Not sent.','data':" MINE "}}\n" },
	{ "no capabilities",
	    "> {$J,'id':1,'method':'tools/list','params':{'_meta':{"
	    "'$IprotocolVersion':'2026-07-28'}}}\n"
	    "write {$J,'id':1,'error':{'code':-32602,"
	    "'message':'params._meta[\\'$IclientCapabilities\\'] is missing, "
	    "or no object. Not sent.','data':" MINE "}}\n"
	    "> {$J,'id':2,'method':'tools/list','params':{'_meta':{"
	    "'$IprotocolVersion':'2026-07-28','$IclientCapabilities':[]}}}\n"
	    "write {$J,'id':2,'error':{'code':-32602,<*>\n" },
	{ "another version",
	    "> {$J,'id':1,'method':'tools/list','params':{'_meta':{"
	    "'$IprotocolVersion':'2027-01-01'}}}\n"
	    "write {$J,'id':1,'error':{'code':-32022,'message':'mcpsplice "
	    "speaks 2026-07-28 and, after \\'initialize\\', the versions "
	    "before it, not \\'2027-01-01\\'. Not sent.','data':{"
	    "'supported':['2026-07-28'],'requested':'2027-01-01'}}}\n"
	    "> {$J,'id':1,'method':'tools/list','params':{'_meta':{"
	    "'$IprotocolVersion':'2025-11-25','$IclientCapabilities':{}}}}\n"
	    "write {$J,'id':1,'error':{'code':-32022,<*>"
	    "'requested':'2025-11-25'}}}\n"
	    "> {$J,'id':2,'method':'initialize','params':{}}\n"
	    "probe -\n"
	    "send {$J,'id':2,'method':'initialize','params':{}}\n"
	    "? legacy yes\n" },
	{ "a version with an escape in it",
	    "> {$J,'id':1,'method':'tools/list','params':{'_meta':{"
	    "'$IprotocolVersion':'2026-07-2\\u0038','$IclientCapabilities':{"
	    "}}}}\n"
	    "probe {$J,'id':'p-c1','method':'server/discover','params':{"
	    "'_meta':{'$IprotocolVersion':'2026-07-2\\u0038',"
	    "'$IclientCapabilities':{}}}}\n" INITIALIZE("2", "{}") },
	{ "initialize with _meta is no method",
	    "> {$J,'id':1,'method':'initialize','params':{$M}}\n"
	    "write {$J,'id':1,'error':{'code':-32601,<*>\n"
	    "? legacy no\n" },
	{ "server/discover first, on a legacy server",
	    "> {$J,'id':'d','method':'server/discover','params':{'_meta':{"
	    "'$IprotocolVersion':'2026-07-28','$IclientInfo':{'name':'h',"
	    "'version':'9'},'$IclientCapabilities':{'roots':{"
	    "'listChanged':true},'extensions':{'$Itasks':{},'x':{}}}}}}\n"
	    "probe {$J,'id':'d',<*>\n"
	    "send {$J,'id':'p-c1','method':'initialize','params':{"
	    "'protocolVersion':'2025-11-25','capabilities':{'roots':{},"
	    "'extensions':{'x':{}}},'clientInfo':{'name':'h','version':'9'}}}\n"
	    "? holds yes\n"
	    "? due 3500\n"
	    "< {$J,'id':'p-c1','result':{'protocolVersion':'2025-06-18',"
	    "'capabilities':{'tools':{},'tasks':{}},'serverInfo':{'name':'s'},"
	    "'instructions':'i'}}\n"
	    "send {$J,'method':'notifications/initialized'}\n"
	    "write {$J,'id':'d','result':{'capabilities':{'tools':{}},"
	    "'instructions':'i','resultType':'complete',"
	    "'supportedVersions':['2026-07-28'],'ttlMs':0,"
	    "'cacheScope':'private','_meta':{'$IserverInfo':{'name':'s'}}}}\n"
	    "? holds no\n"
	    "? due never\n"
	    "> {$J,'id':'e','method':'server/discover','params':{$M}}\n"
	    "write {$J,'id':'e','result':{'capabilities':{'tools':{}},<*>\n" },
	{ "another request first",
	    "> {$J,'id':1,'method':'tools/list','params':{'_meta':{"
	    "'progressToken':5,'$IprotocolVersion':'2026-07-28',"
	    "'$IlogLevel':'info','$IclientCapabilities':{}}}}\n" PROBE_M INITIALIZE(
		"2",
		"{}") "> {$J,'id':2,'method':'prompts/list','params':{$M}}\n"
		      "> {$J,'id':3,'method':'server/discover','params':{$M}}\n"
		      "? says 2 requests held back\n" INITIALIZED("2",
			  "{}") "write {$J,'id':3,'result':<*>\n"
				"send {$J,'id':'p-c3','method':'tools/list','params':{'_meta':{"
				"'progressToken':5}}}\n"
				"send {$J,'id':'p-c4','method':'prompts/list','params':{}}\n" },
	{ "refused: each gets the error, the next tries again",
	    "> {$J,'id':1,'method':'tools/list','params':{$M}}\n" PROBE_M INITIALIZE(
		"2",
		"{}") "> {$J,'id':2,'method':'server/discover','params':{$M}}\n"
		      "< {$J,'id':'p-c2','error':{'code':-32603,'message':'down',"
		      "'data':{'a':1.0}}}\n"
		      "write {$J,'id':2,'error':{'code':-32603,'message':'down',"
		      "'data':{'a':1.0}}}\n"
		      "write {$J,'id':1,'error':{'code':-32603,'message':'down',"
		      "'data':{'a':1.0}}}\n"
		      "? holds no\n"
		      "> {$J,'id':1,'method':'tools/list','params':{$M}}\n"
		      "probe {$J,'id':'p-c3',<*>\n" INITIALIZE("4", "{}")
			  INITIALIZED("4", "{}") "send {$J,'id':'p-c5',<*>\n" },
	{ "our answer to a probe comes in time",
	    "> {$J,'id':'d','method':'server/discover','params':{$M}}\n"
	    "probe <*>\n" INITIALIZE("1",
		"{}") "! wait 1000\n"
		      "> {$J,'id':'e','method':'server/discover','params':{$M}}\n"
		      "> {$J,'id':1,'method':'tools/list','params':{$M}}\n"
		      "! wait 2499\n"
		      "! wait 1\n"
		      "write {$J,'id':'d','error':{'code':-32603,"
		      "'message':'mcp.example.com did not answer within 4 s, so it is "
		      "not known yet what it speaks. mcpsplice goes on trying: ask "
		      "again, or send \\'initialize\\'.','data':" BECAUSE(
			  "upstream_timeout") "}}\n"
					      "! wait 1000\n"
					      "write {$J,'id':'e','error':{'code':-32603,<*>\n"
					      "? due never\n"
					      "? holds yes\n" INITIALIZED("1",
						  "{}") "send {$J,'id':'p-c2','method':'tools/list','params':{}}\n" },
	{ "held and cancelled",
	    "> {$J,'id':1,'method':'tools/list','params':{$M}}\n" PROBE_M INITIALIZE(
		"2", "{}") CANCEL("1")
		CANCEL("9") "> {$J,'id':1,'method':'prompts/list','params':{$M}}\n" INITIALIZED(
		    "2",
		    "{}") "send {$J,'id':'p-c3','method':'prompts/list','params':{}}\n" },
	{ "the same id twice",
	    "> {$J,'id':1,'method':'tools/list','params':{$M}}\n" PROBE_M INITIALIZE(
		"2",
		"{}") "> {$J,'id':1.0,'method':'prompts/list','params':{$M}}\n"
		      "write {$J,'id':1.0,'error':{'code':-32600,'message':'Duplicate "
		      "request id: the request before it with the same id has no answer "
		      "yet. Not sent.','data':" BECAUSE(
			  "duplicate_id") "}}\n" INITIALIZED("2",
			  "{}") "send {$J,'id':'p-c3',<*>\n"
				"> {$J,'id':1,'method':'prompts/list','params':{$M}}\n"
				"write {$J,'id':1,'error':{'code':-32600,<*>\n"
				"> {$J,'id':'1','method':'prompts/list','params':{$M}}\n"
				"send {$J,'id':'p-c4',<*>\n"
				"> {$J,'id':9007199254740993,'method':'prompts/list','params':{$M}"
				"}\n"
				"send {$J,'id':'p-c5',<*>\n"
				"> {$J,'id':9007199254740992,'method':'prompts/list','params':{$M}"
				"}\n"
				"send {$J,'id':'p-c6',<*>\n"
				"< {$J,'id':'p-c5','error':{'code':1,'message':'m'}}\n"
				"write {$J,'id':9007199254740993,'error':{'code':1,"
				"'message':'m'}}\n" },
	{ "too much is held",
	    "! held 200\n"
	    "> {$J,'id':1,'method':'tools/list','params':{$M}}\n" PROBE_M INITIALIZE(
		"2",
		"{}") "> {$J,'id':2,'method':'tools/list','params':{$M}}\n"
		      "write {$J,'id':2,'error':{'code':-32603,'message':'Too many "
		      "requests wait for mcp.example.com (170 bytes held back). Not "
		      "sent. Wait for answers, then try again.','data':" BECAUSE(
			  "busy") "}}\n" INITIALIZED("2",
			  "{}") "send {$J,'id':'p-c3',<*>\n" },
	{ "modern, without the key",
	    BRIDGED(
		"{}") "> {$J,'id':1,'method':'tools/list'}\n"
		      "write {$J,'id':1,'error':{'code':-32602,'message':'params._meta["
		      "\\'$IprotocolVersion\\'] is missing, and there was no "
		      "\\'initialize\\'. Not sent.','data':" MINE "}}\n"
		      "> {$J,'id':2,'method':'ping'}\n"
		      "write {$J,'id':2,'result':{}}\n"
		      "! notes\n"
		      "> {$J,'id':3,'result':{}}\n"
		      "note an answer of a client that speaks 2026-07-28: there it "
		      "answers in its next request; dropped\n"
		      "> {$J,'id':3,'error':{'code':1,'message':''}}\n"
		      "note an answer of <*>\n"
		      "> {$J,'method':'notifications/initialized'}\n"
		      "note notifications/initialized of <*>\n" },
	{ "what was no request has its error",
	    BRIDGED(
		"{}") "< {$J,'error':{'code':-32700,'message':'Parse error'}}\n"
		      "write {$J,'error':{'code':-32700,'message':'Parse error'}}\n"
		      "< {$J,'id':5,'error':{'code':-32600,'message':'No'}}\n"
		      "write {$J,'id':5,'error':{'code':-32600,'message':'No'}}\n"
		      "< {$J,'id':'p-c99','result':{}}\n" },
	{ "capabilities grow while nothing is open",
	    BRIDGED_AS("$M", "{}", "{}") CALL("1",
		"$A") "probe {$J,'id':'p-c2','method':'server/discover',<*>\n" INITIALIZE("3",
		ALL_CAPS) "? holds yes\n" INITIALIZED("3", "{}") SENT("4", "")
		CALL("2", "$M") SENT("5", "") DONE("4") WRITTEN("1") },
	{ "capabilities grow while something is open",
	    BRIDGED_AS("$M", "{}", "{}") CALL("1", "$M") SENT("2", "")
		CALL("2", "$A") SENT("3", "") },
};

/* --- back to initialize --- */

#define INIT_AGAIN                                                             \
	"> {$J,'id':'i','method':'initialize','params':{}}\n"                  \
	"probe -\n"                                                            \
	"send {$J,'id':'i','method':'initialize','params':{}}\n"

static const struct schedule fallback[] = {
	{ "after a probe that failed",
	    "> {$J,'id':'d','method':'server/discover','params':{$M}}\n"
	    "probe <*>\n" INITIALIZE("1",
		"{}") "< {$J,'id':'p-c1','error':{'code':-32603,'message':'down'}}\n"
		      "write {$J,'id':'d','error':{'code':-32603,'message':'down'}}\n" INIT_AGAIN
		      "? legacy yes\n" },
	{ "while the opening runs",
	    "> {$J,'id':'d','method':'server/discover','params':{$M}}\n"
	    "probe <*>\n" INITIALIZE("1",
		"{}") "> {$J,'id':1,'method':'tools/list','params':{$M}}\n"
		      "> {$J,'id':'i','method':'initialize','params':{}}\n"
		      "write {$J,'id':'d','error':{'code':-32603,'message':'The client "
		      "began a new session before mcp.example.com answered. The call "
		      "did not run.','data':" BECAUSE(
			  "session_lost") "}}\n"
					  "write {$J,'id':1,'error':{<*>\n"
					  "probe -\n"
					  "send {$J,'id':'i','method':'initialize','params':{}}\n"
					  "? legacy no\n"
					  "? passes {$J,'id':1,'method':'tools/list'} yes\n"
					  "? holds no\n"
					  "? due never\n"
					  /* The session ends ours, and nobody sees it. */
					  "< {$J,'id':'p-c1','error':{'code':-32603,'message':'again'}}\n"
					  "? legacy yes\n"
					  "< {$J,'id':'i','result':{}}\n"
					  "write {$J,'id':'i','result':{}}\n" },
	{ "native calls are the session's",
	    NATIVE CALL("1", "$M") "send {$J,'id':1,<*>\n" INIT_AGAIN
				   "? legacy yes\n" },
	{ "bridged calls end under their own ids",
	    BRIDGED("{'logging':{}}") CALL("1", "$M") SENT("2",
		"") "> {$J,'id':2,'method':'tools/list','params':{'_meta':{"
		    "'$IprotocolVersion':'2026-07-28','$IclientCapabilities':{},"
		    "'$IlogLevel':'info'}}}\n"
		    "send {$J,'id':'p-c3','method':'logging/setLevel',<*>\n"
		    "> {$J,'id':'i','method':'initialize','params':{}}\n"
		    "write {$J,'id':2,'error':{'code':-32603,<*>\n"
		    "probe -\n"
		    "send {$J,'id':'i',<*>\n"
		    "? legacy no\n"
		    "? due never\n"
		    "< @'p-c2' {$J,'method':'notifications/x'}\n"
		    "write {$J,'method':'notifications/x'}\n"
		    "< {$J,'id':'p-c2','error':{'code':-32603,'message':'again'}}\n"
		    "write {$J,'id':1,'error':{'code':-32603,'message':'again'}}\n"
		    "? legacy no\n"
		    "< {$J,'id':'p-c3','error':{'code':-32603,'message':'again'}}\n"
		    "? legacy yes\n" },
	{ "parked calls and listens are forgotten",
	    BRIDGED("{'tools':{'listChanged':true},'resources':{"
		    "'subscribe':true}}") CALL("1", "$A") SENT("2", "") ASK("2",
		"17") "! wait 30\n" REQUIRED("1", "'q1':" ENTRY("17"),
		"$S") "> {$J,'id':2,'method':'subscriptions/listen','params':{$M,"
		      "'notifications':{'toolsListChanged':true,"
		      "'resourceSubscriptions':['a:b']}}}\n"
		      "send {$J,'id':'p-c3','method':'resources/subscribe','params':{"
		      "'uri':'a:b'}}\n" CALL("3", "$A") SENT("4", "")
			  ASK("4", "18") INIT_AGAIN
	    "? due never\n"
	    "< {$J,'id':'p-c2','error':{'code':-32603,'message':'again'}}\n"
	    "< {$J,'id':'p-c3','error':{'code':-32603,'message':'again'}}\n"
	    "? legacy no\n"
	    "< {$J,'id':'p-c4','error':{'code':-32603,'message':'again'}}\n"
	    "write {$J,'id':3,'error':{'code':-32603,'message':'again'}}\n"
	    "? legacy yes\n"
	    "! wait 700000\n" },
};

/* --- a modern server --- */

#define LISTEN(id, wishes)                                                     \
	"> {$J,'id':" id ",'method':'subscriptions/listen','params':{$M,"      \
	"'notifications':" wishes "}}\n"
#define LISTEN_SENT(id, wishes)                                                \
	"send {$J,'id':" id ",'method':'subscriptions/listen','params':{$M,"   \
	"'notifications':" wishes "}}\n"
#define ACK(id, honoured)                                                      \
	"{$J,'method':'notifications/subscriptions/acknowledged','params':{"   \
	"'notifications':" honoured ",'_meta':{'$IsubscriptionId':" id "}}}\n"
#define ENDED(id)                                                              \
	"write {$J,'id':" id ",'result':{'resultType':'complete','_meta':{"    \
	"'$IsubscriptionId':" id "}}}\n"

static const struct schedule native[] = {
	{ "byte for byte",
	    NATIVE
	    "> { $J , 'id' : 1e0 , 'method' : 'tools/call' , 'params' : { $M ,"
	    " 'name':'a', 'name':'b', 'n':1.0e+2 } , 'more' : 1 }\n"
	    "send { $J , 'id' : 1e0 , 'method' : 'tools/call' , 'params' : { "
	    "$M , 'name':'a', 'name':'b', 'n':1.0e+2 } , 'more' : 1 }\n"
	    "< @1e0 { $J, 'method':'notifications/progress','params':{ } }\n"
	    "write { $J, 'method':'notifications/progress','params':{ } }\n"
	    "< @1e0 {$J,'method':'notifications/tools/list_changed'}\n"
	    "write {$J,'method':'notifications/tools/list_changed'}\n"
	    "< { $J , 'id':1e0, 'result' : {'resultType':'input_required', "
	    "'x':1.00} }\n"
	    "write { $J , 'id':1e0, 'result' : {'resultType':'input_required',"
	    " 'x':1.00} }\n"
	    "> {$J,'id':2,'method':'tools/call','params':{$M,"
	    "'requestState':'s'}}\n"
	    "send {$J,'id':2,'method':'tools/call','params':{$M,"
	    "'requestState':'s'}}\n"
	    "> {$J,'id':3,'method':'ping','params':{$M}}\n"
	    "send {$J,'id':3,'method':'ping','params':{$M}}\n"
	    "> {$J,'id':4,'method':'x/y','params':{'_meta':{"
	    "'$IprotocolVersion':'2026-07-28','$IclientCapabilities':{},"
	    "'$IlogLevel':'loud'}}}\n"
	    "send {$J,'id':4,'method':'x/y',<*>\n"
	    "< {$J,'id':2,'error':{'code':-32002,'message':'m'}}\n"
	    "write {$J,'id':2,'error':{'code':-32002,'message':'m'}}\n"
	    "> {$J,'method':'notifications/roots/list_changed'}\n"
	    "send {$J,'method':'notifications/roots/list_changed'}\n" },
	{ "the versions it lists are reduced to ours",
	    "> {$J,'id':'d','method':'server/discover','params':{$M}}\n"
	    "probe <*>\n" INITIALIZE("1", "{}") DISCOVERED(
		"['2025-11-25', '2026-07-28','2027-01-01']") INITIALIZED("1",
		"{}") "write {$J,'id':'d','result':{'resultType':'complete',"
		      "'supportedVersions':['2026-07-28'],'capabilities':{}}}\n"
		      "> {$J,'id':'e','method':'server/discover','params':{$M}}\n"
		      "send {$J,'id':'e','method':'server/discover','params':{$M}}\n"
		      "< {$J,'id':'e','result':{'supportedVersions':['2025-11-25'], "
		      "'z':1}}\n"
		      "write {$J,'id':'e','result':{'supportedVersions':[], 'z':1}}\n"
		      "> {$J,'id':'f','method':'server/discover','params':{$M}}\n"
		      "send {$J,'id':'f',<*>\n"
		      "< {$J,'id':'f','result':{'supportedVersions':[ '2026-07-28' ]}}\n"
		      "write {$J,'id':'f','result':{'supportedVersions':[ '2026-07-28' "
		      "]}}\n"
		      "> {$J,'id':'g','method':'server/discover','params':{$M}}\n"
		      "send {$J,'id':'g',<*>\n"
		      "< {$J,'id':'g','error':{'code':1,'message':'m'}}\n"
		      "write {$J,'id':'g','error':{'code':1,'message':'m'}}\n"
		      "? due never\n" },
	{ "a later probe has its answer in time, too",
	    NATIVE "> {$J,'id':'e','method':'server/discover','params':{$M}}\n"
		   "send {$J,'id':'e',<*>\n"
		   "! wait 3500\n"
		   "send {$J,'method':'notifications/cancelled','params':{"
		   "'requestId':'e','reason':'too late'}}\n"
		   "write {$J,'id':'e','result':{'resultType':'complete',"
		   "'supportedVersions':['2026-07-28'],'capabilities':{}}}\n"
		   "? due never\n" },
	{ "cancelled",
	    NATIVE CALL("1", "$M") "send {$J,'id':1,<*>\n" CANCEL(
		"1") "send {$J,'method':'notifications/cancelled','params':{"
		     "'requestId':1}}\n"
		     /* Not a word about it any more. */
		     "< @1 {$J,'method':'notifications/progress','params':{}}\n"
		     "< @1 {$J,'method':'notifications/message','params':{"
		     "'level':'error'}}\n"
		     "< @1 {$J,'method':'notifications/x','params':{}}\n" CANCEL(
			 "1") CALL("1", "$M") "send {$J,'id':1,<*>\n" },
	{ "a listen",
	    NATIVE LISTEN("1", "{'toolsListChanged':true}") LISTEN_SENT("1",
		"{'toolsListChanged':true}") "< @1 " ACK("1",
		"{'toolsListChanged':true}") "write " ACK("1",
		"{'toolsListChanged':true}") "< {$J,'method':'notifications/tools/list_changed','params':{"
					     "'_meta':{'$IsubscriptionId':1}}}\n"
					     "write {$J,'method':'notifications/tools/list_changed','params':{"
					     "'_meta':{'$IsubscriptionId':1}}}\n"
					     /* What the session says after a renewal, and what is late. */
					     "< {$J,'method':'notifications/tools/list_changed'}\n"
					     "< {$J,'method':'notifications/resources/updated','params':{}}\n"
					     "< {$J,'method':'notifications/tools/list_changed','params':{"
					     "'_meta':{'$IsubscriptionId':'1'}}}\n"
					     "< {$J,'id':1,'result':{'resultType':'complete','_meta':{"
					     "'$IsubscriptionId':1}}}\n" ENDED(
						 "1") },
	{ "a listen that is refused",
	    NATIVE LISTEN("1", "{}") LISTEN_SENT("1",
		"{}") "< {$J,'id':1,'error':{'code':-32601,'message':'no'}}\n"
		      "write {$J,'id':1,'error':{'code':-32601,'message':'no'}}\n" },
	{ "a listen that breaks",
	    NATIVE LISTEN("1", "{}") LISTEN_SENT("1", "{}") "< @1 " ACK("1",
		"{}") "write " ACK("1",
		"{}") "< {$J,'id':1,'error':{'code':-32603,'message':'cut'}}\n"
		      "write {$J,'method':'notifications/cancelled','params':{"
		      "'requestId':1}}\n" LISTEN("1", "{}")
			  LISTEN_SENT("1", "{}") },
	{ "a request of the server",
	    NATIVE CALL("1",
		"$A") "send {$J,'id':1,<*>\n"
		      "< @1 {$J,'id':5,'method':'roots/list'}\n"
		      "send {$J,'id':5,'error':{'code':-32601,'message':'The client is "
		      "asked in answers to tools/call, prompts/get and resources/read "
		      "only; this belongs to none.','data':" MINE "}}\n"
		      "< {$J,'id':6,'method':'sampling/createMessage','params':{}}\n"
		      "send {$J,'id':6,'error':{'code':-32601,<*>\n"
		      "< {$J,'id':7,'method':'ping'}\n"
		      "send {$J,'id':7,'result':{}}\n" },
	{ "a server that is a legacy one again",
	    NATIVE
	    "> {$J,'id':1,'method':'tools/list','params':{$M}}\n"
	    "send {$J,'id':1,<*>\n"
	    "> {$J,'id':2,'method':'tools/list','params':{$M}}\n"
	    "send {$J,'id':2,<*>\n"
	    "-\n"
	    "< {$J,'id':1,'result':{'tools':[]}}\n"
	    "write {$J,'id':1,'result':{'tools':[],'resultType':'complete',"
	    "'ttlMs':0,'cacheScope':'private'," WHO "}}\n"
	    "< {$J,'id':2,'result':{'tools':[],'resultType':'complete'}}\n"
	    "write {$J,'id':2,'result':{'tools':[],'resultType':'complete'}}\n"
	    "> {$J,'id':3,'method':'tools/list','params':{$M}}\n"
	    "send {$J,'id':'p-c2','method':'tools/list','params':{}}\n" DISCOVERED(
		"['2026-07-28']") "< {$J,'id':'p-c2','result':{'tools':[]}}\n"
				  "write {$J,'id':3,'result':{'tools':[],'resultType':'complete',"
				  "<*>\n"
				  "> {$J,'id':3,'method':'tools/list','params':{$M}}\n"
				  "send {$J,'id':3,<*>\n" },
	{ "the end",
	    NATIVE CALL("1", "$M") "send {$J,'id':1,<*>\n" LISTEN("2", "{}")
		LISTEN_SENT("2", "{}") "! eof\n" ENDED(
		    "2") "send {$J,'method':'notifications/cancelled','params':{"
			 "'requestId':2,'reason':'the client ended'}}\n"
			 "? holds no\n"
			 "< {$J,'id':1,'result':{'resultType':'complete'}}\n"
			 "write {$J,'id':1,'result':{'resultType':'complete'}}\n" },
	{ "the end comes before the opening is done",
	    "> {$J,'id':1,'method':'tools/list','params':{$M}}\n" PROBE_M
		INITIALIZE("2", "{}") LISTEN("2",
		    "{}") "! eof\n"
			  "? holds yes\n" DISCOVERED("['2026-07-28']")
			      INITIALIZED("2", "{}") "send {$J,'id':1,<*>\n" ENDED(
				  "2") "? holds no\n" },
};

/* --- a legacy server --- */

#define NOTE(n, method, params)                                                \
	"< @'p-c" n "' {$J,'method':'notifications/" method                    \
	"','params':" params "}\n"
#define TOLD(method, params)                                                   \
	"write {$J,'method':'notifications/" method "','params':" params "}\n"
#define LEVEL(level)                                                           \
	"'_meta':{'$IprotocolVersion':'2026-07-28','$IclientCapabilities':{"   \
	"},'$IlogLevel':'" level "'}"
#define SET(n, level)                                                          \
	"send {$J,'id':'p-c" n "','method':'logging/setLevel','params':{"      \
	"'level':'" level "'}}\n"
#define IS_SET(n) "< {$J,'id':'p-c" n "','result':{}}\n"

static const struct schedule bridged[] = {
	{ "a call",
	    BRIDGED(
		"{}") "> {$J,'id':'a','method':'tools/call','params':{'name':'x',"
		      "'arguments':{'n':1.0e+2},'inputResponses':{},'_meta':{"
		      "'traceparent':'t','progressToken':7,"
		      "'$IprotocolVersion':'2026-07-28','$IclientInfo':{},"
		      "'$IclientCapabilities':{}}}}\n"
		      "send {$J,'id':'p-c2','method':'tools/call','params':{"
		      "'name':'x','arguments':{'n':1.0e+2},'_meta':{"
		      "'traceparent':'t','progressToken':7}}}\n"
		      "< {$J,'id':'p-c2','result':{'content':[],'resultType':'odd',"
		      "'_meta':{'k':1}}}\n"
		      "write {$J,'id':'a','result':{'content':[],"
		      "'resultType':'complete','_meta':{'k':1,'$IserverInfo':{"
		      "'name':'s','version':'1'}}}}\n" },
	{ "results",
	    BRIDGED(
		"{}") "> {$J,'id':1,'method':'tools/list','params':{$M}}\n"
		      "send {$J,'id':'p-c2','method':'tools/list','params':{}}\n"
		      "< {$J,'id':'p-c2','result':{'tools':[{'name':'a','execution':{"
		      "'taskSupport':'optional'},'x':1}]}}\n"
		      "write {$J,'id':1,'result':{'tools':[{'name':'a','x':1}],"
		      "'resultType':'complete','ttlMs':0,'cacheScope':'private'," WHO
		      "}}\n"
		      "> {$J,'id':2,'method':'resources/read','params':{'uri':'u',$M}}\n"
		      "send {$J,'id':'p-c3','method':'resources/read','params':{"
		      "'uri':'u'}}\n"
		      "< {$J,'id':'p-c3','error':{'code':-32002,'message':'none',"
		      "'data':{'uri':'u'}}}\n"
		      "write {$J,'id':2,'error':{'code':-32602,'message':'none',"
		      "'data':{'uri':'u'}}}\n" },
	{ "unknown methods pass",
	    BRIDGED("{}") "> {$J,'id':1,'method':'x/y','params':{$M,'z':1}}\n"
			  "send {$J,'id':'p-c2','method':'x/y','params':{"
			  "'z':1}}\n"
			  "< {$J,'id':'p-c2','error':{'code':-32601,"
			  "'message':'no'}}\n"
			  "write {$J,'id':1,'error':{'code':-32601,"
			  "'message':'no'}}\n"
			  "> {$J,'method':'notifications/x','params':{}}\n"
			  "send {$J,'method':'notifications/x',"
			  "'params':{}}\n" },
	{ "what the modern era has not",
	    BRIDGED(
		"{'logging':{},'resources':{'subscribe':true}}") "> {$J,'id':1,'method':'ping','params':{$M}}\n"
								 "write {$J,'id':1,'error':{'code':-32601,'message':"
								 "'mcp.example.com speaks an older protocol than this client: "
								 "\\'ping\\' cannot be translated. Not sent.','data':" MINE
								 "}}\n"
								 "> {$J,'id':2,'method':'logging/setLevel','params':{$M}}\n"
								 "write {$J,'id':2,'error':{'code':-32601,<*>\n"
								 "> {$J,'id':3,'method':'resources/subscribe','params':{$M}}\n"
								 "write {$J,'id':3,'error':{'code':-32601,<*>\n"
								 "> {$J,'id':4,'method':'resources/unsubscribe','params':{$M}}\n"
								 "write {$J,'id':4,'error':{'code':-32601,<*>\n"
								 "> {$J,'id':5,'method':'tasks/get','params':{$M}}\n"
								 "write {$J,'id':5,'error':{'code':-32601,<*>\n"
								 "> {$J,'id':6,'method':'tasks/update','params':{$M}}\n"
								 "write {$J,'id':6,'error':{'code':-32601,<*>\n"
								 "> {$J,'id':7,'method':'initialize','params':{$M}}\n"
								 "write {$J,'id':7,'error':{'code':-32601,<*>\n" },
	{ "cancelled",
	    BRIDGED("{}") CALL("1", "$M") SENT("2",
		"") "> {$J,'method':'notifications/cancelled','params':{'reason':'r',"
		    "'requestId':1.0,'x':1}}\n"
		    "send {$J,'method':'notifications/cancelled','params':{"
		    "'reason':'r','requestId':'p-c2','x':1}}\n" NOTE("2",
			"progress", "{'progressToken':1}") NOTE("2", "x", "{}")
			DONE("2") CANCEL("1") CALL("1", "$M") SENT("3", "")
			    DONE("3") WRITTEN("1") },
	{ "cancelled without params",
	    BRIDGED("{}") "> {$J,'method':'notifications/cancelled'}\n"
			  "> {$J,'method':'notifications/cancelled',"
			  "'params':{'requestId':{}}}\n"
			  "> {$J,'method':'notifications/cancelled',"
			  "'params':[1]}\n" },
	{ "progress",
	    BRIDGED("{}") CALL("1",
		"'_meta':{'progressToken':'t','$IprotocolVersion':"
		"'2026-07-28','$IclientCapabilities':{}}") SENT("2",
		",'_meta':{'progressToken':'t'}") CALL("2", "$M") SENT("3", "")
		NOTE("2", "progress", "{'progressToken':'t','progress':1.0}")
		    TOLD("progress", "{'progressToken':'t','progress':1.0}")
	    /* On a stream of its own, or on that of another. */
	    "< {$J,'method':'notifications/progress','params':{"
	    "'progressToken':'t','progress':2}}\n" TOLD("progress",
		"{'progressToken':'t','progress':2}") NOTE("3", "progress",
		"{'progressToken':'t','progress':3}") TOLD("progress",
		"{'progressToken':'t','progress':3}") NOTE("2", "progress",
		"{'progressToken':'u','progress':4}")
		NOTE("2", "progress", "{'progress':5}") DONE("2") WRITTEN(
		    "1") "< {$J,'method':'notifications/progress','params':{"
			 "'progressToken':'t','progress':6}}\n" },
	{ "notifications that have no place",
	    BRIDGED("{}") CALL("1", "$M") SENT("2", "") NOTE("2",
		"elicitation/complete", "{}") NOTE("2", "tasks/status", "{}")
		NOTE("2", "tools/list_changed", "{}") NOTE("2",
		    "resources/updated", "{'uri':'u'}") NOTE("2",
		    "subscriptions/acknowledged", "{}") NOTE("2", "cancelled",
		    "{'requestId':5}") NOTE("2", "cancelled", "{}")
		    NOTE("2", "custom", "{}") TOLD("custom",
			"{}") "< {$J,'method':'notifications/other'}\n"
			      "write {$J,'method':'notifications/other'}\n" },
	{ "log messages",
	    BRIDGED("{'logging':{}}") CALL("1", "$M") SENT("2", "") NOTE("2",
		"message",
		"{'level':'emergency'}") CALL("2", LEVEL("warning")) SET("3",
		"warning") "? holds yes\n"
			   "? due 5000\n" IS_SET("3") SENT("4",
			       "") "? holds no\n" NOTE("4", "message",
			       "{'level':'error','data':1.0}") TOLD("message",
			       "{'level':'error','data':1.0}") NOTE("4",
			       "message", "{'level':'warning'}") TOLD("message",
			       "{'level':'warning'}") NOTE("4", "message",
			       "{'level':'info'}") NOTE("4", "message",
			       "{'level':'loud'}") NOTE("4", "message", "{}")
			       NOTE("2", "message", "{'level':'emergency'}")
	    /* Of no request: there is no other stream on HTTP+SSE. */
	    "< {$J,'method':'notifications/message','params':{'level':'alert'}"
	    "}\n" TOLD("message",
		"{'level':'alert'}") "< {$J,'method':'notifications/message','params':{'level':'info'}}"
				     "\n"
				     "< {$J,'method':'notifications/message','params':{}}\n"
	    /* The same level again needs nothing, a lower one does. */
	    CALL("3", LEVEL("warning")) SENT("5", "") CALL("4",
		LEVEL("error")) SENT("6", "") CALL("5", LEVEL("debug")) SET("7",
		"debug") CALL("6", LEVEL("info")) CALL("7", "$M") SENT("8",
		"") IS_SET("7") SENT("9", "") SENT("10",
		"") DONE("4") WRITTEN("2") DONE("5") WRITTEN("3") DONE("6")
		WRITTEN("4") DONE("9") WRITTEN("5") DONE("10") WRITTEN(
		    "6") "< {$J,'method':'notifications/message','params':{'level':'alert'}"
			 "}\n" CALL("8", LEVEL("error")) SET("11", "error")
			     IS_SET("11") SENT("12", "") },
	{ "two levels do not overtake each other",
	    BRIDGED("{'logging':{}}") CALL("1", LEVEL("error")) SET("2",
		"error") CALL("2", LEVEL("debug")) IS_SET("2")
		SET("3", "debug") "< {$J,'id':'p-c3','error':{'code':-32603,'message':'no'}}\n" SENT(
		    "4", "") SENT("5", "") },
	{ "a level that is not set in time, and one that is not wanted",
	    BRIDGED("{'logging':{}}") CALL("1", LEVEL("error")) SET("2",
		"error") "! wait 4999\n"
			 "! wait 1\n" SENT("3", "") IS_SET("2") CALL("2",
			     LEVEL("info")) SET("4", "info") CANCEL("2")
			     IS_SET("4") CALL("2", LEVEL("error"))
				 SET("5", "error") IS_SET("5") SENT("6", "") },
	{ "a level that nobody knows",
	    BRIDGED("{'logging':{}}") CALL("1",
		LEVEL(
		    "loud")) "write {$J,'id':1,'error':{'code':-32602,'message':'params._meta["
			     "\\'$IlogLevel\\'] is none of debug, info, notice, warning, error, "
			     "critical, alert, emergency. Not sent.','data':" MINE
			     "}}\n" },
	{ "a server without logging",
	    BRIDGED("{}") CALL("1", LEVEL("info")) SENT("2", "")
		NOTE("2", "message", "{'level':'info'}")
		    TOLD("message", "{'level':'info'}") },
	{ "too much waits for a level",
	    "! held 300\n" BRIDGED("{'logging':{}}") CALL("1",
		LEVEL("info")) SET("2", "info") CALL("2",
		LEVEL(
		    "info")) "write {$J,'id':2,'error':{'code':-32603,<*>\n" CALL("3",
		"$M") SENT("3", "") IS_SET("2") SENT("4", "") },
	{ "questions that nobody can be asked",
	    BRIDGED(
		"{}") "< {$J,'id':1,'method':'roots/list'}\n"
		      "send {$J,'id':1,'error':{'code':-32601,<*>\n"
		      "< {$J,'id':2,'method':'ping'}\n"
		      "send {$J,'id':2,'result':{}}\n"
		      "> {$J,'id':1,'method':'completion/complete','params':{$A}}\n"
		      "send {$J,'id':'p-c2',<*>\n"
		      "< @'p-c2' {$J,'id':3,'method':'roots/list'}\n"
		      "send {$J,'id':3,'error':{'code':-32601,<*>\n" CALL("2",
			  "$M") SENT("3",
			  "") "< @'p-c3' {$J,'id':4,'method':'roots/list'}\n"
			      "send {$J,'id':4,'error':{'code':-32601,'message':'The client did "
			      "not declare that it answers this.','data':" MINE
			      "}}\n" ASK("3",
				  "5") "send {$J,'id':5,'error':{'code':-32601,<*>\n"
				       "> {$J,'id':3,'method':'prompts/get','params':{'_meta':{"
				       "'$IprotocolVersion':'2026-07-28','$IclientCapabilities':{"
				       "'elicitation':{}}}}}\n"
				       "send {$J,'id':'p-c4',<*>\n"
				       "< @'p-c4' {$J,'id':6,'method':'elicitation/create','params':{"
				       "'mode':'url'}}\n"
				       "send {$J,'id':6,'error':{'code':-32602,<*>\n"
				       "< @'p-c4' {$J,'id':7,'method':'sampling/createMessage'}\n"
				       "send {$J,'id':7,'error':{'code':-32601,<*>\n"
				       "< @'p-c4' {$J,'id':8,'method':'x/y'}\n"
				       "send {$J,'id':8,'error':{'code':-32601,<*>\n"
				       "? due never\n" },
};

/* --- parked --- */

#define RETRY(id, state, responses)                                            \
	CALL(id, "'inputResponses':" responses ",'requestState':'" state "',$A")
#define SECOND "00000000000000032222222222222222"
#define ANSWER(id, result) "send {$J,'id':" id ",'result':" result "}\n"
#define PARKED                                                                 \
	BRIDGED("{}")                                                          \
	CALL("'a'", "$A")                                                      \
	SENT("2", "") ASK("2", "17") "! wait 30\n" REQUIRED("'a'",             \
	    "'q1':" ENTRY("17"), "$S")

static const struct schedule parked[] = {
	{ "asked, answered, done",
	    PARKED
	    "? due 600000\n"
	    "? says 1 requests parked\n" RETRY("'b'", "$S", "{'q1':" YES "}")
		ANSWER("17", YES) "? due never\n" DONE("2") WRITTEN("'b'") },
	{ "questions are collected for a moment",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "") ASK("2",
		"17") "? due 30\n"
		      "! wait 20\n"
		      "< @'p-c2' {$J,'id':'x','method':'sampling/createMessage',"
		      "'params':{'messages':[],'task':{},'_meta':{'k':1}}}\n"
		      "< @'p-c2' {$J,'id':18,'method':'roots/list'}\n"
		      "! wait 10\n" REQUIRED("1",
			  "'q1':" ENTRY(
			      "17") ",'q2':{'method':'sampling/createMessage',"
				    "'params':{'messages':[]}},'q3':{'method':'roots/list'}",
			  "$S") RETRY("2", "$S",
			  "{'q3':{'roots':[]},'q1':" YES
			  ",'q2':{'role':'assistant'}}") ANSWER("17", YES)
			  ANSWER("'x'", "{'role':'assistant'}") ANSWER("18",
			      "{'roots':[]}") DONE("2") WRITTEN("2") },
	{ "answers that are missing are asked for again",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "") ASK("2", "17") ASK("2",
		"18") "! wait 30\n" REQUIRED("1",
		"'q1':" ENTRY("17") ",'q2':" ENTRY("18"),
		"$S") "! secret 3\n" RETRY("2", "$S",
		"{'q2':" YES ",'q9':{}}") ANSWER("18", YES) REQUIRED("2",
		"'q1':" ENTRY("17"), SECOND) RETRY("3", "$S",
		"{'q1':" YES
		"}") "write {$J,'id':3,'error':{'code':-32602,<*>\n" RETRY("3",
		SECOND, "{'q1':" YES "}") ANSWER("17", YES) DONE("2")
		WRITTEN("3") },
	{ "no answers at all",
	    PARKED "! secret 3\n" CALL("'b'", "'requestState':'$S',$A")
		REQUIRED("'b'", "'q1':" ENTRY("17"), SECOND)
		    RETRY("'c'", SECOND, "{'q1':'no object'}")
			REQUIRED("'c'", "'q1':" ENTRY("17"), SECOND) },
	{ "further questions are for the next round",
	    PARKED ASK("2",
		"18") "? due 600000\n"
		      "! secret 3\n" RETRY("'b'", "$S", "{'q1':" YES "}")
			  ANSWER("17", YES) REQUIRED("'b'", "'q2':" ENTRY("18"),
			      SECOND) RETRY("'a'", SECOND, "{'q2':" YES "}")
			      ANSWER("18", YES)
				  ASK("2", "19") "! wait 30\n" REQUIRED("'a'",
				      "'q3':" ENTRY("19"), SECOND) },
	{ "the answer comes before the retry",
	    PARKED DONE("2") "send {$J,'id':17,'result':{'action':'cancel'}}\n"
			     "? due 600000\n" RETRY("'b'", "$S",
				 "{'q1':" YES "}")
				 WRITTEN("'b'") "? due never\n" },
	{ "the answer comes before the question was asked",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "") ASK("2", "17")
		DONE("2") "send {$J,'id':17,'result':{'action':'cancel'}}\n" WRITTEN(
		    "1") "! wait 100\n" },
	{ "an answer that is too large to keep",
	    "! held 1000\n" PARKED "< {$J,'id':'p-c2','result':{'content':['"
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "....................................................."
	    "']}}\n"
	    "send {$J,'id':17,'result':{'action':'cancel'}}\n" RETRY("'b'",
		"$S",
		"{}") "write {$J,'id':'b','error':{'code':-32603,'message':"
		      "'mcp.example.com answered while its user was asked, and the "
		      "answer was too large to be kept (1062 bytes). It did run.',"
		      "'data':{'source':'mcpsplice','reason':'too_large',"
		      "'ran':'maybe'}}}\n" },
	{ "a requestState that is not known",
	    PARKED RETRY("'b'", "11111111111111112222222222222223",
		"{}") "write {$J,'id':'b','error':{'code':-32602,'message':'Unknown "
		      "requestState: no request like this one waits for its user, or "
		      "not any more (10 min). Not sent: ask without it.','data':" BECAUSE(
			  "input_expired") "}}\n" CALL("'b'",
			  "'requestState':7,$A") "write {$J,'id':'b','error':{'code':-32602,<*>\n"
						 /* Another tool, other arguments, one more, another method. */
						 "> {$J,'id':'b','method':'tools/call','params':{'name':'bok',"
						 "'arguments':{'d':1},'requestState':'$S',$A}}\n"
						 "write {$J,'id':'b','error':{'code':-32602,<*>\n"
						 "> {$J,'id':'b','method':'tools/call','params':{'name':'book',"
						 "'arguments':{'d':2},'requestState':'$S',$A}}\n"
						 "write {$J,'id':'b','error':{'code':-32602,<*>\n" CALL(
						     "'b'",
						     "'x':1,'requestState':'$S',$A") "write {$J,'id':'b','error':{'code':-32602,<*>\n"
										     "> {$J,'id':'b','method':'prompts/get','params':{'name':'book',"
										     "'arguments':{'d':1},'requestState':'$S',$A}}\n"
										     "write {$J,'id':'b','error':{'code':-32602,<*>\n"
										     /* Where there is none it means nothing. */
										     "> {$J,'id':'b','method':'tools/list','params':{"
										     "'requestState':'$S',$A}}\n"
										     "send {$J,'id':'p-c3','method':'tools/list','params':{}}\n"
										     /* The same in another order, with other white space. */
										     "> {$J,'id':'c','method':'tools/call','params':{'requestState':"
										     "'$S', 'arguments': {'d' : 1},$A, 'inputResponses':{'q1':" YES
										     "},'name':'book'}}\n" ANSWER(
											 "17",
											 YES)
											 DONE("2") WRITTEN(
											     "'c'") },
	{ "white space in a string is not white space",
	    BRIDGED(
		"{}") "> {$J,'id':1,'method':'prompts/get','params':{'name':'a b\\\\"
		      "\\' c',$A}}\n"
		      "send {$J,'id':'p-c2',<*>\n" ASK("2",
			  "17") "! wait 30\n"
				"write {$J,'id':1,'result':{'resultType':'input_required',<*>\n"
				"> {$J,'id':2,'method':'prompts/get','params':{'name':'a b\\\\"
				"\\'c',$A,'requestState':'$S'}}\n"
				"write {$J,'id':2,'error':{'code':-32602,<*>\n"
				"> {$J,'id':2,'method':'prompts/get','params':{'name':'a b\\\\"
				"\\' c',$A,'requestState':'$S','inputResponses':{'q1':{}}}}\n" ANSWER(
				    "17", "{}") },
	{ "the first id is used again meanwhile",
	    PARKED CALL("'a'", "$A") SENT("3",
		"") DONE("3") WRITTEN("'a'") RETRY("'a'", "$S",
		"{'q1':" YES "}") ANSWER("17", YES) RETRY("'a'", "$S",
		"{'q1':" YES
		"}") "write {$J,'id':'a','error':{'code':-32600,<*>\n" DONE("2")
		WRITTEN("'a'") },
	{ "nobody answers",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "") ASK("2",
		"17") "< @'p-c2' {$J,'id':18,'method':'sampling/createMessage'}\n"
		      "< @'p-c2' {$J,'id':19,'method':'roots/list'}\n"
		      "! wait 30\n"
		      "write {$J,'id':1,'result':{'resultType':'input_required',<*>\n"
		      "! wait 599999\n"
		      "! wait 1\n"
		      "send {$J,'id':17,'result':{'action':'cancel'}}\n"
		      "send {$J,'id':18,'error':{'code':-1,'message':'The user did not "
		      "answer.','data':" BECAUSE(
			  "input_expired") "}}\n"
					   "send {$J,'id':19,'error':{'code':-32603,'message':'The user did "
					   "not answer.','data':" BECAUSE(
					       "input_expired") "}}\n" CANCELLED_BY("2",
					       "the user did not answer in time")
					       RETRY("2", "$S",
						   "{}") "write {$J,'id':2,'error':{'code':-32602,<*>\n"
							 "? due never\n" },
	{ "cancelled by its last id",
	    PARKED CANCEL("'z'")
		CANCEL("'a'") "send {$J,'id':17,'result':{'action':'cancel'}}\n" CANCELLED_BY(
		    "2", "cancelled by the client") RETRY("'b'", "$S",
		    "{'q1':" YES
		    "}") "write {$J,'id':'b','error':{'code':-32602,<*>\n" },
	{ "cancelled while the questions are collected",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "") ASK("2", "17") CANCEL(
		"1") "send {$J,'id':17,'result':{'action':'cancel'}}\n"
		     "send {$J,'method':'notifications/cancelled','params':{"
		     "'requestId':'p-c2'}}\n"
		     "? due never\n" },
	{ "the answer came, nobody fetches it",
	    PARKED DONE("2") "send {$J,'id':17,<*>\n"
			     "! wait 600000\n" },
	{ "the server takes its question back",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "") ASK("2", "17") NOTE("2",
		"cancelled",
		"{'requestId':17}") "? due never\n"
				    "! wait 100\n" ASK("2", "18") ASK("2",
					"19") "! wait 30\n" REQUIRED("1",
					"'q1':" ENTRY("18") ",'q2':" ENTRY("19"),
					"$S") "< {$J,'method':'notifications/cancelled','params':{"
					      "'requestId':18}}\n" RETRY("2",
						  "$S",
						  "{'q1':" YES ",'q2':" YES "}")
						  ANSWER("19", YES) DONE("2")
						      WRITTEN("2") },
	{ "a question on no stream is the latest one's",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "") CALL("2",
		"$A") SENT("3",
		"") "> {$J,'id':3,'method':'tools/list','params':{$A}}\n"
		    "send {$J,'id':'p-c4',<*>\n"
		    "< {$J,'id':5,'method':'roots/list'}\n" ASK("2",
			"6") "< {$J,'id':7,'method':'roots/list'}\n"
			     "! wait 30\n" REQUIRED("2",
				 "'q1':{'method':'roots/list'},'q2':{'method':'roots/list'}",
				 "$S") REQUIRED("1", "'q1':" ENTRY("6"), "$S")
	    /* The parked ones are asked only where there is no other. */
	    "! secret 3\n" CALL("4", "$A") SENT("5",
		"") "< {$J,'id':8,'method':'roots/list'}\n"
		    "! wait 30\n" REQUIRED("4", "'q1':{'method':'roots/list'}",
			SECOND)
			DONE("5") "send {$J,'id':8,'error':{'code':-32603,<*>\n"
				  "< {$J,'id':9,'method':'roots/list'}\n" },
	{ "progress and messages while it is parked, and after",
	    BRIDGED("{}") CALL("1",
		"'_meta':{'$IprotocolVersion':'2026-07-28',"
		"'$IclientCapabilities':{'elicitation':{}},"
		"'$IlogLevel':'info','progressToken':'t'}") SENT("2",
		",'_meta':{'progressToken':'t'}") ASK("2",
		"17") "! wait 30\n" REQUIRED("1", "'q1':" ENTRY("17"),
		"$S") NOTE("2", "progress",
		"{'progressToken':'t','progress':1}") NOTE("2", "message",
		"{'level':'error'}") NOTE("2", "x",
		"{}") "< {$J,'method':'notifications/progress','params':{"
		      "'progressToken':'t','progress':2}}\n"
		      "< {$J,'method':'notifications/message','params':{"
		      "'level':'error'}}\n" CALL("2",
			  "'_meta':{'$IprotocolVersion':'2026-07-28',"
			  "'$IclientCapabilities':{},'$IlogLevel':'error',"
			  "'progressToken':9},'requestState':'$S',"
			  "'inputResponses':{'q1':{}}") ANSWER("17",
			  "{}") NOTE("2", "progress",
			  "{'progressToken':'t','progress':1.0}")
			  TOLD("progress", "{'progressToken':9,'progress':1.0}")
			      NOTE("2", "message", "{'level':'error'}")
				  TOLD("message", "{'level':'error'}")
				      NOTE("2", "message", "{'level':'info'}")
	    /* What the retry declared decides now. */
	    ASK("2",
		"18") "send {$J,'id':18,'error':{'code':-32601,<*>\n" DONE("2")
		WRITTEN("2") },
	{ "a retry without a token hears of no progress",
	    BRIDGED("{}") CALL("1",
		"'_meta':{'$IprotocolVersion':'2026-07-28',"
		"'$IclientCapabilities':{'elicitation':{}},"
		"'progressToken':'t'}")
		SENT("2", ",'_meta':{'progressToken':'t'}") ASK("2",
		    "17") "! wait 30\n" REQUIRED("1", "'q1':" ENTRY("17"), "$S")
		    RETRY("2", "$S", "{'q1':{}}") ANSWER("17", "{}") NOTE("2",
			"progress", "{'progressToken':'t','progress':1}") },
	{ "a retry with a log level",
	    BRIDGED("{'logging':{}}") CALL("1", "$A") SENT("2", "") ASK("2",
		"17") "! wait 30\n" REQUIRED("1", "'q1':" ENTRY("17"), "$S")
		CALL("2", LEVEL("loud") ",'requestState':'$S'") "write {$J,'id':2,'error':{'code':-32602,<*>\n" CALL(
		    "2",
		    LEVEL("info") ",'requestState':'$S','inputResponses':{"
				  "'q1':{}}") ANSWER("17", "{}")
		    SET("3", "info") IS_SET("3") DONE("2") WRITTEN("2") },
	{ "the session is lost meanwhile",
	    PARKED
	    "< {$J,'method':'notifications/cancelled','params':{"
	    "'requestId':17}}\n"
	    "< {$J,'id':'p-c2','error':{'code':-32603,"
	    "'message':'lost'}}\n" RETRY("'b'", "$S",
		"{'q1':" YES
		"}") "write {$J,'id':'b','error':{'code':-32603,'message':'lost'}}\n" },
	{ "the server becomes a modern one meanwhile",
	    PARKED DISCOVERED("['2026-07-28']")
		RETRY("'b'", "$S", "{'q1':" YES "}") ANSWER("17", YES) DONE("2")
		    WRITTEN("'b'") RETRY("'b'", "$S",
			"{'q1':" YES "}") "send {$J,'id':'b',<*>\n" },
	{ "the end",
	    PARKED CALL("1", "$A") SENT("3", "") ASK("3",
		"18") "! eof\n"
		      "send {$J,'id':18,'result':{'action':'cancel'}}\n"
		      "send {$J,'id':17,'result':{'action':'cancel'}}\n" CANCELLED_BY(
			  "2", "the client ended") ASK("3",
			  "19") "send {$J,'id':19,'result':{'action':'cancel'}}\n"
				"? due never\n" DONE("3") WRITTEN("1") },
};

/* --- URLs first --- */

#define URLS(n, list)                                                          \
	"< {$J,'id':'p-c" n "','error':{'code':-32042,'message':'first',"      \
	"'data':{'elicitations':" list "}}}\n"

static const struct schedule urls[] = {
	{ "asked, and sent again",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "") URLS("2",
		"[{'mode':'url','elicitationId':'e','url':'u',"
		"'message':'m'},{'url':'v'},7]") REQUIRED("1",
		"'q1':{'method':'elicitation/create','params':{'mode':'url',"
		"'url':'u','message':'m'}},'q2':{'method':'elicitation/create'"
		",'params':{'url':'v','mode':'url'}}",
		"$S") "? due 600000\n"
		      /* Nothing is open at the server. */
		      "< {$J,'id':9,'method':'roots/list'}\n"
		      "send {$J,'id':9,'error':{'code':-32601,<*>\n" RETRY("2",
			  "$S", "{'q1':{'action':'accept'}}") SENT("3", "")
			  RETRY("3", "$S", "{'q1':{'action':'accept'}}") "write {$J,'id':3,'error':{'code':-32602,<*>\n" DONE(
			      "3") WRITTEN("2") },
	{ "nobody opens them",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "")
		URLS("2", "[{'url':'u'}]") "write {$J,'id':1,'result':<*>\n"
					   "! wait 600000\n"
					   "? due never\n" },
	{ "not declared",
	    BRIDGED("{}") CALL("1", "$M") SENT("2", "") URLS("2",
		"[{'url':'u'}]") "write {$J,'id':1,'error':{'code':-32021,'message':"
				 "'mcp.example.com wants its user to open a URL first, and this "
				 "client did not declare elicitation.url.','data':{"
				 "'requiredCapabilities':{'elicitation':{'url':{}}}}}}\n" },
	{ "without URLs",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "") URLS("2",
		"[]") "write {$J,'id':1,'error':{'code':-32042,<*>\n" CALL("1",
		"$A") SENT("3", "") URLS("3",
		"{'a':{}}") "write {$J,'id':1,'error':{'code':-32042,<*>\n" CALL("1",
		"$A") SENT("4", "") URLS("4",
		"[1,2]") "write {$J,'id':1,'error':{'code':-32042,<*>\n"
			 "> {$J,'id':1,'method':'tools/list','params':{$A}}\n"
			 "send {$J,'id':'p-c5',<*>\n" URLS("5",
			     "[{'url':'u'}]") "write {$J,'id':1,'error':{'code':-32042,<*>\n" },
	{ "while it is parked",
	    PARKED URLS("2",
		"[{'url':'u'}]") "send {$J,'id':17,'result':{'action':'cancel'}}\n"
				 "! secret 3\n" RETRY("'b'", "$S",
				     "{'q1':" YES "}") REQUIRED("'b'",
				     "'q1':{'method':'elicitation/create','params':{'url':'u',"
				     "'mode':'url'}}",
				     SECOND) RETRY("'c'", SECOND, "{}")
				     SENT("3", "") },
	{ "the end",
	    BRIDGED("{}") CALL("1", "$A") SENT("2", "")
		URLS("2", "[{'url':'u'}]") "write {$J,'id':1,'result':<*>\n" CANCEL(
		    "1") "? due never\n" },
};

/* --- listens --- */

#define LISTS                                                                  \
	"{'tools':{'listChanged':true},'prompts':{'listChanged':true},"        \
	"'resources':{'listChanged':true,'subscribe':true}}"
#define ALL_LISTS                                                              \
	"{'toolsListChanged':true,'promptsListChanged':true,"                  \
	"'resourcesListChanged':true}"
#define WATCH(uris) "{'resourceSubscriptions':[" uris "]}"
#define SUBSCRIBE(n, uri)                                                      \
	"send {$J,'id':'p-c" n                                                 \
	"','method':'resources/subscribe','params':{'uri':" uri "}}\n"
#define UNSUBSCRIBE(n, uri)                                                    \
	"send {$J,'id':'p-c" n                                                 \
	"','method':'resources/unsubscribe','params':{'uri':" uri "}}\n"
#define OK(n) "< {$J,'id':'p-c" n "','result':{}}\n"
#define NO(n) "< {$J,'id':'p-c" n "','error':{'code':1,'message':'m'}}\n"
#define UPDATED(uri)                                                            \
	"< {$J,'method':'notifications/resources/updated','params':{'uri':" uri \
	"}}\n"
#define TOLD_UPDATED(id, uri)                                                  \
	"write {$J,'method':'notifications/resources/updated','params':{"      \
	"'uri':" uri ",'_meta':{'$IsubscriptionId':" id "}}}\n"
#define CHANGED(family)                                                        \
	"< {$J,'method':'notifications/" family "/list_changed'}\n"
#define TOLD_CHANGED(id, family)                                               \
	"write {$J,'method':'notifications/" family                            \
	"/list_changed','params':{'_meta':{'$IsubscriptionId':" id "}}}\n"

static const struct schedule listens[] = {
	{ "lists",
	    BRIDGED(LISTS) LISTEN("1", ALL_LISTS) "write " ACK("1",
		ALL_LISTS) LISTEN("'2'",
		"{'promptsListChanged':true,"
		"'toolsListChanged':false}") "write " ACK("'2'",
		"{'promptsListChanged':true}") "? says 2 listens\n" CHANGED("tools")
		TOLD_CHANGED("1",
		    "tools") CHANGED("resources") TOLD_CHANGED("1",
		    "resources") CHANGED("prompts") TOLD_CHANGED("1",
		    "prompts") TOLD_CHANGED("'2'",
		    "prompts") "< {$J,'method':'notifications/tools/list_changed','params':{"
			       "'x':1.0,'_meta':{'k':1}}}\n"
			       "write {$J,'method':'notifications/tools/list_changed','params':{"
			       "'x':1.0,'_meta':{'k':1,'$IsubscriptionId':1}}}\n" UPDATED(
				   "'a:b'") CANCEL("1") CHANGED("prompts")
				   TOLD_CHANGED("'2'", "prompts")
				       CHANGED("tools") CANCEL("1")
					   CANCEL("'2'") CHANGED("prompts")
					       LISTEN("1",
						   ALL_LISTS) "write " ACK("1",
						   ALL_LISTS) },
	{ "what the server cannot do is not honoured",
	    BRIDGED("{'tools':{},'prompts':{'listChanged':false},"
		    "'resources':{'subscribe':1}}") LISTEN("1",
		"{'toolsListChanged':true,'promptsListChanged':true,"
		"'resourcesListChanged':true,"
		"'resourceSubscriptions':['a:b'],'taskIds':['t']}") "write " ACK("1",
		"{}") CHANGED("tools") },
	{ "wishes that are none",
	    BRIDGED(
		LISTS) "> {$J,'id':1,'method':'subscriptions/listen','params':{$M}}\n"
		       "write {$J,'id':1,'error':{'code':-32602,'message':'params."
		       "notifications is missing, or no object. Not sent.','data':" MINE
		       "}}\n" LISTEN("1",
			   "[]") "write {$J,'id':1,'error':{'code':-32602,<*>\n" LISTEN("1",
			   "{'toolsListChanged':'true',"
			   "'resourceSubscriptions':{'a':1}}") "write " ACK("1",
			   "{}") LISTEN("2",
			   "{'resourceSubscriptions':[1,null,{}]}") "write " ACK("2",
			   "{}") },
	{ "resources",
	    BRIDGED(LISTS) LISTEN("1", WATCH("'a:b','a:c'"))
		SUBSCRIBE("2", "'a:b'") SUBSCRIBE("3", "'a:c'") "? due 10000\n"
	    /* Nothing before it is acknowledged. */
	    UPDATED("'a:b'") OK("2") UPDATED("'a:c'") OK("3") "write " ACK("1",
		WATCH("'a:b','a:c'")) TOLD_UPDATED("1", "'a:b'")
		TOLD_UPDATED("1", "'a:c'") "? due never\n"
	    /* A second one for the same needs no second subscription. */
	    LISTEN("2", WATCH("'a:b'")) "write " ACK("2", WATCH("'a:b'"))
		UPDATED("'a:b'") TOLD_UPDATED("1", "'a:b'") TOLD_UPDATED("2",
		    "'a:b'") UPDATED("'a:b/sub'") TOLD_UPDATED("1",
		    "'a:b/sub'") TOLD_UPDATED("2",
		    "'a:b/sub'") UPDATED("'a\\u003ac'") TOLD_UPDATED("1",
		    "'a\\u003ac'") UPDATED("'z:z'") TOLD_UPDATED("1",
		    "'z:z'") TOLD_UPDATED("2",
		    "'z:z'") UPDATED("7") TOLD_UPDATED("1",
		    "7") TOLD_UPDATED("2", "7") CANCEL("1") UNSUBSCRIBE("4",
		    "'a:c'") OK("4") UPDATED("'a:b'") TOLD_UPDATED("2",
		    "'a:b'") CANCEL("2") UNSUBSCRIBE("5", "'a:b'")
		    OK("5") "? says 0 requests held back\n" UPDATED("'a:b'") },
	{ "one that is refused, the same twice, an escape in it",
	    BRIDGED(LISTS) LISTEN("1",
		"{'toolsListChanged':true,'resourceSubscriptions':["
		"'a:b','a:c','a:\\u0062','a:b']}") SUBSCRIBE("2", "'a:b'")
		SUBSCRIBE("3", "'a:c'") NO("2") OK("3") "write " ACK("1",
		    "{'toolsListChanged':true,"
		    "'resourceSubscriptions':['a:c']}")
		    LISTEN("2", WATCH("'a:b'")) SUBSCRIBE("4", "'a:b'")
			NO("4") "write " ACK("2", "{}") UPDATED("'a:b'")
			    TOLD_UPDATED("1", "'a:b'") },
	{ "one that takes too long",
	    BRIDGED(LISTS) LISTEN("1", WATCH("'a:b','a:c'"))
		SUBSCRIBE("2", "'a:b'") SUBSCRIBE("3", "'a:c'")
		    OK("3") "! wait 9999\n"
			    "! wait 1\n"
			    "write " ACK("1", WATCH("'a:c'")) OK("2")
				UNSUBSCRIBE("4", "'a:b'") OK("4") },
	{ "cancelled before it was acknowledged",
	    BRIDGED(LISTS) LISTEN("1", WATCH("'a:b'")) SUBSCRIBE("2", "'a:b'")
		UPDATED("'a:b'") CANCEL("1") "? due never\n"
	    /* Wanted again before the answer came. */
	    LISTEN("1", WATCH("'a:b'")) OK("2") "write " ACK("1",
		WATCH("'a:b'")) CANCEL("1") UNSUBSCRIBE("3", "'a:b'")
	    /* And again: not before the end of the first is known. */
	    LISTEN("2", WATCH("'a:b'")) OK("3") SUBSCRIBE("4", "'a:b'")
		OK("4") "write " ACK("2", WATCH("'a:b'")) },
	{ "cancelled, and refused then",
	    BRIDGED(LISTS) LISTEN("1", WATCH("'a:b'")) SUBSCRIBE("2", "'a:b'")
		CANCEL("1") NO("2") LISTEN("1", WATCH("'a:b'")) SUBSCRIBE("3",
		    "'a:b'") OK("3") "write " ACK("1", WATCH("'a:b'"))
		    CANCEL("1") UNSUBSCRIBE("4", "'a:b'") NO("4")
			LISTEN("1", WATCH("'a:b'")) SUBSCRIBE("5", "'a:b'") },
	{ "an id that is in use",
	    BRIDGED(LISTS) LISTEN("1", "{}") "write " ACK("1", "{}") CALL("1",
		"$M") "write {$J,'id':1,'error':{'code':-32600,<*>\n" },
	{ "a server that becomes a modern one",
	    BRIDGED(LISTS) LISTEN("1", ALL_LISTS) "write " ACK("1", ALL_LISTS)
		DISCOVERED("['2026-07-28']") CHANGED("tools")
		    TOLD_CHANGED("1", "tools") LISTEN("2", "{}")
			LISTEN_SENT("2", "{}") CANCEL("1") CHANGED("tools") },
	{ "the end",
	    BRIDGED(LISTS) LISTEN("1", WATCH("'a:b'")) SUBSCRIBE("2",
		"'a:b'") OK("2") "write " ACK("1", WATCH("'a:b'")) LISTEN("2",
		WATCH("'a:c'")) SUBSCRIBE("3", "'a:c'") CALL("3", "$M")
		SENT("4", "") "! eof\n" ENDED("1") ENDED("2") OK("3")
		    CHANGED("tools") "? due never\n" DONE("4") WRITTEN("3") },
};

#define TABLES(X)                                                              \
	X(opening)                                                             \
	X(fallback)                                                            \
	X(native)                                                              \
	X(bridged)                                                             \
	X(parked)                                                              \
	X(urls)                                                                \
	X(listens)

#define TEST(table)                                                            \
	START_TEST(test_##table)                                               \
	{                                                                      \
		play_row(&table[_i]);                                          \
	}                                                                      \
	END_TEST

#define ADD(table) tcase_add_loop_test(tc, test_##table, 0, COUNT(table));

static void
play_row(const struct schedule *row)
{
	char *wrong = client_era_play(row->text);

	ck_assert_msg(wrong == NULL, "%s: %s", row->name, wrong);
}

TABLES(TEST)

int
main(void)
{
	Suite *s = suite_create("client_era");
	TCase *tc = tcase_create("client_era");

	TABLES(ADD)
	suite_add_tcase(s, tc);
	return unit_run(s);
}
