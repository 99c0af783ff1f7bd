/*
 * The messages of the measurement.
 */
#include "rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define META                                                                   \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"              \
	"\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

bool rpc_modern;

const char *
rpc_start(void)
{
	if (rpc_modern)
		return "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":"
		       "\"server/discover\",\"params\":{" META "}}\n";
	return "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":"
	       "\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
	       "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\","
	       "\"version\":\"1\"}}}\n";
}

const char *
rpc_started(void)
{
	return rpc_modern ? "" :
			    "{\"jsonrpc\":\"2.0\",\"method\":"
			    "\"notifications/initialized\"}\n";
}

int
rpc_call(char *out, size_t size, int id, const char *tool, int n)
{
	char arguments[64] = "\"message\":\"hello\"";

	if (n > 0)
		snprintf(arguments, sizeof arguments, "\"size\":%d", n);
	return snprintf(out, size,
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":"
	    "\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":"
	    "{%s}%s}}\n",
	    id, tool, arguments, rpc_modern ? "," META : "");
}

int
rpc_take(char *out, size_t size, int id, int n)
{
	return snprintf(out, size,
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":"
	    "\"tools/call\",\"params\":{\"name\":\"take\",\"arguments\":"
	    "{\"size\":%d,\"blob\":\"",
	    id, n);
}

int
rpc_list(char *out, size_t size, int id)
{
	return snprintf(out, size,
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/list\"}\n", id);
}

int
rpc_answer_id(const char *line)
{
	const char *id = strstr(line, "\"id\":");

	if (strstr(line, "\"method\":") != NULL)
		return -1;
	if (id == NULL || strstr(line, "\"result\":") == NULL)
		return -2;
	return (int)strtol(id + 5, NULL, 10);
}

bool
rpc_is_text(const char *line)
{
	return strstr(line, "the quick brown fox") != NULL;
}
