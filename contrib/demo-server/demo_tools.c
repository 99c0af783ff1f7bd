/*
 * What the demo server says, as JSON: its tools, and the answer to each
 * method. Pure; sessions and HTTP are demo_server.c's.
 */
#include "config.h"

#include "demo_tools.h"

#include <stdio.h>
#include <string.h>

#define SLOW_MAX_MS 600000

static const char *const versions[] = { "2025-03-26", "2025-06-18",
	"2025-11-25" };

#define N_VERSIONS (sizeof versions / sizeof *versions)

static const char
    tools[] = "{\"tools\":["
	      "{\"name\":\"add\",\"description\":\"Adds two numbers\","
	      "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
	      "\"a\":{\"type\":\"number\"},\"b\":{\"type\":\"number\"}},"
	      "\"required\":[\"a\",\"b\"]}},"
	      "{\"name\":\"echo\",\"description\":\"Returns the text\","
	      "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
	      "\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}},"
	      "{\"name\":\"slow_echo\",\"description\":\"The same, ms later\","
	      "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
	      "\"text\":{\"type\":\"string\"},\"ms\":{\"type\":\"integer\"}},"
	      "\"required\":[\"text\",\"ms\"]}}]}";

static struct json_object *
envelope(struct json_object *id)
{
	struct json_object *m = json_object_new_object();

	json_object_object_add(m, "jsonrpc", json_object_new_string("2.0"));
	json_object_object_add(m, "id", json_object_get(id));
	return m;
}

struct json_object *
demo_result(struct json_object *id, struct json_object *result)
{
	struct json_object *m = envelope(id);

	json_object_object_add(m, "result", result);
	return m;
}

struct json_object *
demo_error(struct json_object *id, int code, const char *text)
{
	struct json_object *m = envelope(id);
	struct json_object *e = json_object_new_object();

	json_object_object_add(e, "code", json_object_new_int(code));
	json_object_object_add(e, "message", json_object_new_string(text));
	json_object_object_add(m, "error", e);
	return m;
}

static struct json_object *
text_result(const char *text, size_t n, bool is_error)
{
	struct json_object *r = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct json_object *part = json_object_new_object();

	json_object_object_add(part, "type", json_object_new_string("text"));
	json_object_object_add(part, "text",
	    json_object_new_string_len(text, (int)n));
	json_object_array_add(list, part);
	json_object_object_add(r, "content", list);
	if (is_error)
		json_object_object_add(r, "isError",
		    json_object_new_boolean(1));
	return r;
}

bool
demo_version_known(const char *version)
{
	size_t i;

	for (i = 0; i < N_VERSIONS; i++)
		if (version != NULL && strcmp(version, versions[i]) == 0)
			return true;
	return false;
}

struct json_object *
demo_initialize(struct json_object *params)
{
	struct json_object *r, *part, *asked = NULL;
	const char *version = versions[N_VERSIONS - 1];

	json_object_object_get_ex(params, "protocolVersion", &asked);
	if (asked != NULL && demo_version_known(json_object_get_string(asked)))
		version = json_object_get_string(asked);
	r = json_object_new_object();
	json_object_object_add(r, "protocolVersion",
	    json_object_new_string(version));
	part = json_object_new_object();
	json_object_object_add(part, "tools", json_object_new_object());
	json_object_object_add(r, "capabilities", part);
	part = json_object_new_object();
	json_object_object_add(part, "name",
	    json_object_new_string("mcpsplice-demo"));
	json_object_object_add(part, "version",
	    json_object_new_string(PACKAGE_VERSION));
	json_object_object_add(r, "serverInfo", part);
	return r;
}

static struct json_object *
add(struct json_object *arguments)
{
	struct json_object *a = NULL, *b = NULL;
	char text[64];

	json_object_object_get_ex(arguments, "a", &a);
	json_object_object_get_ex(arguments, "b", &b);
	if (a == NULL || b == NULL)
		return text_result("add needs a and b", 17, true);
	snprintf(text, sizeof text, "%.15g",
	    json_object_get_double(a) + json_object_get_double(b));
	return text_result(text, strlen(text), false);
}

/* Fills *delay_ms when the answer is not for now. NULL: no such tool. */
static struct json_object *
call_tool(struct json_object *params, long *delay_ms)
{
	struct json_object *name = NULL, *arguments = NULL, *v = NULL;
	const char *tool;

	json_object_object_get_ex(params, "name", &name);
	json_object_object_get_ex(params, "arguments", &arguments);
	tool = name == NULL ? "" : json_object_get_string(name);
	if (strcmp(tool, "add") == 0)
		return add(arguments);
	if (strcmp(tool, "echo") != 0 && strcmp(tool, "slow_echo") != 0)
		return NULL;
	if (tool[0] == 's' && json_object_object_get_ex(arguments, "ms", &v)) {
		*delay_ms = (long)json_object_get_int64(v);
		if (*delay_ms < 0 || *delay_ms > SLOW_MAX_MS)
			*delay_ms = SLOW_MAX_MS;
	}
	if (!json_object_object_get_ex(arguments, "text", &v))
		return text_result("text is missing", 15, true);
	return text_result(json_object_get_string(v),
	    (size_t)json_object_get_string_len(v), false);
}

struct json_object *
demo_serve(const char *method, struct json_object *id,
    struct json_object *params, long *delay_ms)
{
	struct json_object *r = NULL;

	if (strcmp(method, "ping") == 0)
		r = json_object_new_object();
	else if (strcmp(method, "tools/list") == 0)
		r = json_tokener_parse(tools);
	else if (strcmp(method, "tools/call") == 0)
		r = call_tool(params, delay_ms);
	else
		return demo_error(id, -32601, "Method not found");
	if (r == NULL)
		return demo_error(id, -32602, "Unknown tool");
	return demo_result(id, r);
}
