/*
 * Makes the messages for a modern server or client: requests with their _meta,
 * results with resultType, the messages that only the modern era has. Messages
 * of the other side are edited, never made anew, so unknown members stay in
 * them.
 */
#include "config.h"

#include <stdio.h>

#include "base/codec.h"
#include "core/era/parts.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

#define COMPLETE "\"complete\""

/* Appends "key":value; the value is raw JSON. */
static void
add_member(struct buf *out, const char *key, struct span value)
{
	buf_addf(out, "\"%s\":", key);
	buf_addspan(out, value);
}

void
era_client_meta(struct buf *out, struct span initialize_params)
{
	struct span client = json_get(initialize_params, "clientInfo");

	add_member(out, META_REVISION, span_of("\"" REVISION_MODERN "\""));
	if (json_kind(client) == '{') {
		buf_addc(out, ',');
		add_member(out, META_CLIENT, client);
	}
	buf_adds(out, ",\"" META_CAPABILITIES "\":");
	era_capabilities(out, json_get(initialize_params, "capabilities"));
}

struct frame *
era_request_to_modern(struct frame *legacy, struct span meta, struct span level)
{
	static const char *const keys[] = { META_REVISION, META_CLIENT,
		META_CAPABILITIES };
	struct edit edits[ERA_EDITS(keys) + 1], params[2];
	struct buf ours, merged;
	struct frame *made;
	size_t i, n = 0;

	buf_init(&ours, 0);
	buf_init(&merged, 0);
	buf_addc(&ours, '{');
	buf_addspan(&ours, meta);
	buf_addc(&ours, '}');
	for (i = 0; i < ERA_EDITS(keys); i++) {
		edits[n].key = keys[i];
		edits[n].value = json_get(buf_span(&ours), keys[i]);
		n += edits[n].value.p != NULL;
	}
	if (level.n > 0)
		edits[n++] = (struct edit){ META_LEVEL, level };
	params[0] = era_edit_meta(&merged, legacy->params, edits, n);
	params[1] = (struct edit){ "task", no_span };
	made = era_edit_params(legacy, params, ERA_EDITS(params));
	buf_free(&ours);
	buf_free(&merged);
	return made;
}

/* Makes a request with these members of _meta, and with one other member of
 * params if key is not NULL. */
static struct frame *
call(struct span id, const char *method, const char *key, struct span value,
    struct span meta)
{
	struct buf params;
	struct frame *made;

	buf_init(&params, 0);
	buf_addc(&params, '{');
	if (key != NULL) {
		add_member(&params, key, value);
		buf_addc(&params, ',');
	}
	buf_adds(&params, "\"_meta\":{");
	buf_addspan(&params, meta);
	buf_adds(&params, "}}");
	made = msg_call(id, method, buf_span(&params));
	buf_free(&params);
	return made;
}

struct frame *
era_discover(struct span id, struct span meta)
{
	return call(id, "server/discover", NULL, no_span, meta);
}

struct frame *
era_listen(struct span id, struct span meta, struct span notifications)
{
	return call(id, "subscriptions/listen", "notifications", notifications,
	    meta);
}

struct frame *
era_retry(struct frame *modern, struct span id, struct span responses,
    struct span state)
{
	struct edit params[] = { { "inputResponses", responses },
		{ "requestState", state } };
	struct frame *made, *named;

	if (responses.n == 0)
		params[0].value = no_span;
	made = era_edit_params(modern, params, ERA_EDITS(params));
	named = msg_with_id(made, id);
	frame_unref(made);
	return named;
}

void
era_server_info(struct buf *out, struct span initialized)
{
	struct span info = json_get(initialized, "serverInfo");

	if (json_kind(info) == '{')
		buf_addspan(out, info);
}

/* Returns the edit of _meta that adds serverInfo, unless it is there or not
 * known. */
static struct edit
name_server(struct buf *out, struct span object, struct span server_info)
{
	struct edit edit = { META_SERVER, server_info };
	struct span meta = json_get(object, "_meta");

	if (server_info.n == 0 || json_get(meta, META_SERVER).p != NULL)
		return (struct edit){ "_meta", meta };
	return era_edit_meta(out, object, &edit, 1);
}

void
era_discover_result(struct buf *out, struct span initialized)
{
	struct buf meta, capabilities, info;
	struct edit edits[] = { { "resultType", span_of(COMPLETE) },
		{ "supportedVersions", span_of("[\"" REVISION_MODERN "\"]") },
		{ "capabilities", no_span }, { "protocolVersion", no_span },
		{ "serverInfo", no_span }, { "ttlMs", span_of("0") },
		{ "cacheScope", span_of("\"private\"") },
		{ "_meta", no_span } };

	buf_init(&meta, 0);
	buf_init(&capabilities, 0);
	buf_init(&info, 0);
	era_capabilities(&capabilities, json_get(initialized, "capabilities"));
	edits[2].value = buf_span(&capabilities);
	era_server_info(&info, initialized);
	edits[7] = name_server(&meta, initialized, buf_span(&info));
	edit_object(out, initialized, edits, ERA_EDITS(edits));
	buf_free(&meta);
	buf_free(&capabilities);
	buf_free(&info);
}

static void
add_modern_tool(struct buf *out, struct span tool)
{
	static const struct edit edit = { "execution", { NULL, 0 } };

	edit_object(out, tool, &edit, 1);
}

/* Returns an edit that sets a member only if there is none. */
static struct edit
unless_there(struct span object, const char *key, const char *value)
{
	struct span there = json_get(object, key);

	return (struct edit){ key, there.p != NULL ? there : span_of(value) };
}

/* Makes the edits of a result, except for _meta and the tools. */
static size_t
complete(struct edit *edits, struct span result, struct span method)
{
	size_t n = 0;

	edits[n++] = (struct edit){ "resultType", span_of(COMPLETE) };
	if (era_is_cacheable(method)) {
		edits[n++] = unless_there(result, "ttlMs", "0");
		edits[n++] = unless_there(result, "cacheScope", "\"private\"");
	}
	return n;
}

static struct frame *
result_to_modern(struct frame *answer, struct span method,
    struct span server_info)
{
	struct span tools = json_get(answer->result, "tools");
	struct buf meta, list;
	struct edit edits[5];
	struct frame *made;
	size_t n;

	buf_init(&meta, 0);
	buf_init(&list, 0);
	n = complete(edits, answer->result, method);
	edits[n++] = name_server(&meta, answer->result, server_info);
	if (era_method_is(method, "tools/list") && json_kind(tools) == '[') {
		era_map(&list, tools, add_modern_tool);
		edits[n++] = (struct edit){ "tools", buf_span(&list) };
	}
	made = edit_part(answer, "result", answer->result, edits, n);
	buf_free(&meta);
	buf_free(&list);
	return made;
}

/* Replaces -32002: a modern server must not use a code of its own for "resource
 * not found". */
static struct frame *
error_to_modern(struct frame *answer)
{
	struct edit edit = { "code", span_of("-32602") };

	if (msg_error_code(answer) != ERROR_RESOURCE_NOT_FOUND)
		return frame_ref(answer);
	return edit_part(answer, "error", answer->error, &edit, 1);
}

struct frame *
era_answer_to_modern(struct frame *answer, struct span method,
    struct span server_info)
{
	char kind = json_kind(answer->result);

	if (answer->kind == FRAME_ERROR)
		return error_to_modern(answer);
	/* Some servers write null for an empty result. */
	if (kind != '{' && kind != 'n')
		return frame_ref(answer);
	return result_to_modern(answer, method, server_info);
}

struct frame *
era_notification_to_modern(struct frame *legacy, struct span subscription)
{
	struct edit id = { META_SUBSCRIPTION, subscription }, edit;
	struct frame *made;
	struct buf meta;

	buf_init(&meta, 0);
	edit = era_edit_meta(&meta, legacy->params, &id, 1);
	made = era_edit_params(legacy, &edit, 1);
	buf_free(&meta);
	return made;
}

void
era_input_request(struct buf *out, const struct frame *question)
{
	static const struct edit edits[] = { { "task", { NULL, 0 } },
		{ "elicitationId", { NULL, 0 } }, { "_meta", { NULL, 0 } } };

	buf_adds(out, "{\"method\":\"");
	buf_addspan(out, question->method);
	buf_addc(out, '"');
	/* Some clients want params, although roots/list may have none. */
	buf_adds(out, ",\"params\":");
	edit_object(out,
	    json_kind(question->params) == '{' ? question->params : no_span,
	    edits, ERA_EDITS(edits));
	buf_addc(out, '}');
}

struct frame *
era_input_required(struct span id, struct span requests, struct span state)
{
	struct frame *made;
	struct buf result;

	buf_init(&result, 0);
	buf_adds(&result, "{\"resultType\":\"input_required\"");
	if (requests.n > 0) {
		buf_adds(&result, ",\"inputRequests\":");
		buf_addspan(&result, requests);
	}
	if (state.p != NULL) {
		buf_adds(&result, ",\"requestState\":");
		codec_json_string(&result, state);
	}
	buf_addc(&result, '}');
	made = msg_result(id, buf_str(&result));
	buf_free(&result);
	return made;
}
