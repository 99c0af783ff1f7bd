#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

#include "base/codec.h"
#include "core/wire/json.h"

static const char sign_in[] = "sign_in";
static const char connection_status[] = "connection_status";

/* Lists of a server that has none, and the capability of each. */
static const struct {
	const char *method, *capability, *result;
} lists[] = {
	{ "tools/list", "tools", "{\"tools\":[]}" },
	{ "prompts/list", "prompts", "{\"prompts\":[]}" },
	{ "resources/list", "resources", "{\"resources\":[]}" },
	{ "resources/templates/list", "resources",
	    "{\"resourceTemplates\":[]}" },
};

void
session_stand_in(struct session *s, const struct frame *initialize,
    struct buf *out)
{
	struct span version = json_get(initialize->params, "protocolVersion");

	s->start.tool = session_opening_waits(s) ? sign_in : connection_status;
	buf_adds(out, "{\"protocolVersion\":");
	if (json_kind(version) == '"')
		buf_addspan(out, version);
	else
		buf_adds(out, "\"2025-11-25\"");
	buf_addf(out,
	    ",\"capabilities\":{\"tools\":{\"listChanged\":true},"
	    "\"prompts\":{\"listChanged\":true},"
	    "\"resources\":{\"listChanged\":true}},"
	    "\"serverInfo\":{\"name\":\"mcpsplice\",\"version\":\"%s\"}}",
	    s->config.version);
}

/* Says what is missing, or that nothing is. */
static void
describe(const struct session *s, struct buf *out)
{
	if (!is_early(s)) {
		if (s->start.tool == sign_in)
			buf_adds(out, "Signed in.");
		else
			buf_addf(out, "%s is connected.", s->config.host);
		buf_adds(out,
		    " If the tools are missing, reconnect this server or "
		    "begin a new conversation.");
		return;
	}
	if (session_opening_waits(s) && s->sign_in != NULL) {
		buf_addf(out,
		    "%s wants a sign-in: %s. Its tools appear when you have "
		    "signed in.",
		    s->config.host, s->sign_in);
		return;
	}
	buf_addf(out, "There is no connection to %s yet", s->config.host);
	if (s->renewal.setback != NULL) {
		buf_adds(out, ": ");
		session_setback_text(&s->renewal.setback->facts, NULL, out);
	}
	buf_adds(out,
	    ". mcpsplice tries again; the tools appear when the "
	    "server answers.");
}

/* An answer that says how it is now, between these two raw parts, with more
 * words behind it. Owned by the caller. */
static struct frame *
tell(const struct session *s, struct span id, const char *before,
    const char *more, const char *behind)
{
	struct buf text, result;
	struct frame *f;

	buf_init(&text, 0);
	buf_init(&result, 0);
	describe(s, &text);
	buf_adds(&text, more);
	buf_adds(&result, before);
	codec_json_string(&result, buf_span(&text));
	buf_adds(&result, behind);
	f = msg_result(id, buf_str(&result));
	buf_free(&text);
	buf_free(&result);
	return f;
}

/* The list with the one tool. Owned by the caller. */
static struct frame *
list_tool(const struct session *s, struct span id)
{
	char
	    *before = xasprintf("{\"tools\":[{\"name\":\"%s\",\"description\":",
		s->start.tool);
	struct frame *f = tell(s, id, before,
	    " Call this tool to see how it is now.",
	    ",\"inputSchema\":{\"type\":\"object\"},"
	    "\"annotations\":{\"readOnlyHint\":true}}]}");

	free(before);
	return f;
}

/* The result of the tool. Owned by the caller. */
static struct frame *
call_tool(const struct session *s, struct span id)
{
	return tell(s, id, "{\"content\":[{\"type\":\"text\",\"text\":", "",
	    "}]}");
}

/* Has the server a tool with the name of ours? */
static bool
has_such_tool(const struct session *s)
{
	struct span tools = json_get(tools_list(s->tools), "tools"), key, tool;
	size_t at = 0;

	if (json_kind(tools) != '[')
		return false;
	while (json_next(tools, &at, &key, &tool))
		if (json_string_is(json_get(tool, "name"), s->start.tool))
			return true;
	return false;
}

/* Is this a call of our tool that can be answered now? If nobody is asked to
 * sign in at present, the call has to begin a renewal first. */
static bool
is_call(const struct session *s, const struct frame *request)
{
	return json_key_is(request->method, "tools/call") &&
	    json_string_is(json_get(request->params, "name"), s->start.tool) &&
	    (is_early(s) || !has_such_tool(s)) &&
	    !(s->start.tool == sign_in && phase_permits(s, PHASE_REVIVES));
}

/* The same for the stand-in only. */
static struct frame *
stand_in_answer(const struct session *s, const struct frame *request)
{
	struct span caps;
	size_t i;

	if (is_call(s, request))
		return call_tool(s, request->id);
	if (is_early(s) && json_key_is(request->method, "tools/list"))
		return list_tool(s, request->id);
	caps = is_early(s) ?
	    no_span :
	    json_get(s->handshake.answer->result, "capabilities");
	for (i = 0; i < sizeof lists / sizeof *lists; i++)
		if (json_key_is(request->method, lists[i].method) &&
		    json_get(caps, lists[i].capability).p == NULL)
			return msg_result(request->id, lists[i].result);
	return NULL;
}

struct frame *
session_early_answer(struct session *s, const struct frame *request)
{
	size_t i;

	if (s->start.tool != NULL)
		return stand_in_answer(s, request);
	if (!is_early(s) || json_get(request->params, "cursor").p != NULL)
		return NULL;
	if (json_key_is(request->method, "tools/list"))
		return s->start.tools.n == 0 ?
		    NULL :
		    msg_result(request->id, buf_str(&s->start.tools));
	if (alarm_is_set(&s->alarms, ALARM_EARLY_START))
		return NULL;
	for (i = 1; i < sizeof lists / sizeof *lists; i++)
		if (json_key_is(request->method, lists[i].method))
			return msg_result(request->id, lists[i].result);
	return NULL;
}

void
session_answer_early(struct session *s)
{
	struct call *c, *next;
	struct frame *answer;

	if (s->start.tool == NULL && !is_early(s))
		return;
	for (c = s->calls.first; c != NULL; c = next) {
		next = c->next;
		answer = session_early_answer(s, c->frame);
		if (answer != NULL)
			session_answer(s, c, answer);
		frame_unref(answer);
	}
}
