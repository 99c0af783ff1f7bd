/* Words for the schedules of check_listen.c and check_subscribe.c. */
#ifndef MCPSPLICE_TESTS_PLAY_SERVER_LISTEN_WORDS_H
#define MCPSPLICE_TESTS_PLAY_SERVER_LISTEN_WORDS_H

/* What the server sends on a stream; $ is the id of its listen. */
#define SUB_OF "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":"
#define SUB SUB_OF "$}"
#define ACK_OF                                                                 \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"       \
	"acknowledged\",\"params\":{" SUB_OF
#define FOR "},\"notifications\":"
#define ACK ACK_OF "$" FOR
#define END "}}\n"
#define ALL                                                                    \
	"{\"toolsListChanged\":true,\"promptsListChanged\":true,"              \
	"\"resourcesListChanged\":true}"
#define CHANGED "/list_changed\",\"params\":{" SUB_OF
#define TOOLS_OF "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools" CHANGED
#define THAT "}}}\n"
#define TOOLS TOOLS_OF "$" THAT
#define PROMPTS                                                                \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts" CHANGED      \
	"$" THAT
#define TOLD                                                                   \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\"," \
	"\"params\":{\"uri\":\""
#define UPDATED TOLD
#define UP_END "\"," SUB "}}\n"
#define ENDED                                                                  \
	"{\"jsonrpc\":\"2.0\",\"id\":$,\"result\":{\"resultType\":"            \
	"\"complete\"," SUB "}}\n"

/* What the session gets of that. */
#define TOLD_END "\"}}\n"
#define TOLD_TOOLS                                                             \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"" \
	",\"params\":{}}\n"
#define TOLD_PROMPTS                                                           \
	"{\"jsonrpc\":\"2.0\",\"method\":"                                     \
	"\"notifications/prompts/list_changed\",\"params\":{}}\n"
/* The same as our own word, behind a gap. */
#define SAID_TOOLS                                                             \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"" \
	"}\n"
#define SAID_PROMPTS                                                           \
	"{\"jsonrpc\":\"2.0\",\"method\":"                                     \
	"\"notifications/prompts/list_changed\"}\n"
#define SAID_RESOURCES                                                         \
	"{\"jsonrpc\":\"2.0\",\"method\":"                                     \
	"\"notifications/resources/list_changed\"}\n"

#endif
