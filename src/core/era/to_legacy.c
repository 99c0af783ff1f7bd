/*
 * Makes the messages for a legacy client or server: initialize and its result,
 * results without the members of the modern era, questions as requests. As in
 * to_modern.c, messages are edited, never made anew.
 */
#include "config.h"

#include "base/codec.h"
#include "core/era/parts.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

/* Appends the server's name, which every InitializeResult must have. */
static void
add_server(struct buf *out, struct span discovered, const char *host)
{
	struct span info;

	info = json_get(json_get(discovered, "_meta"), META_SERVER);
	if (json_kind(info) != '{')
		info = json_get(discovered, "serverInfo"); /* older drafts */
	if (json_kind(info) == '{') {
		buf_addspan(out, info);
		return;
	}
	buf_adds(out, "{\"name\":");
	codec_json_string(out, span_of(host));
	buf_adds(out, ",\"version\":\"0\"}");
}

static struct edit
without_server(struct buf *out, struct span object)
{
	static const struct edit edit = { META_SERVER, { NULL, 0 } };

	return era_edit_meta(out, object, &edit, 1);
}

void
era_initialize_result(struct buf *out, struct span discovered,
    struct span wanted, const char *host)
{
	struct buf meta, capabilities, server;
	struct edit edits[] = { { "protocolVersion", no_span },
		{ "capabilities", no_span }, { "serverInfo", no_span },
		{ "resultType", no_span }, { "supportedVersions", no_span },
		{ "ttlMs", no_span }, { "cacheScope", no_span },
		{ "_meta", no_span } };

	buf_init(&meta, 0);
	buf_init(&capabilities, 0);
	buf_init(&server, 0);
	era_capabilities(&capabilities, json_get(discovered, "capabilities"));
	add_server(&server, discovered, host);
	edits[0].value = era_legacy_version(wanted);
	edits[1].value = buf_span(&capabilities);
	edits[2].value = buf_span(&server);
	edits[7] = without_server(&meta, discovered);
	edit_object(out, discovered, edits, ERA_EDITS(edits));
	buf_free(&meta);
	buf_free(&capabilities);
	buf_free(&server);
}

static void
add_legacy_tool(struct buf *out, struct span tool)
{
	struct span schema = json_get(tool, "outputSchema");
	struct edit edit = { "outputSchema", no_span };
	struct buf wrapped;

	if (schema.p == NULL ||
	    json_string_is(json_get(schema, "type"), "object")) {
		buf_addspan(out, tool);
		return;
	}
	buf_init(&wrapped, 0);
	if (era_wrap_schema(&wrapped, schema))
		edit.value = buf_span(&wrapped);
	edit_object(out, tool, &edit, 1);
	buf_free(&wrapped);
}

static bool
has_text(struct span content)
{
	struct span key, item;
	size_t at = 0;

	while (json_next(content, &at, &key, &item)) {
		if (json_string_is(json_get(item, "type"), "text"))
			return true;
	}
	return false;
}

/* Appends the content with one more item, which has the value as JSON text. */
static void
add_text(struct buf *out, struct span content, struct span value)
{
	struct span key, item;
	size_t at = 0, end = 0;

	while (json_kind(content) == '[' &&
	    json_next(content, &at, &key, &item))
		end = at;
	if (end > 0) {
		buf_add(out, content.p, end);
		buf_addc(out, ',');
	} else {
		buf_addc(out, '[');
	}
	buf_adds(out, "{\"type\":\"text\",\"text\":");
	codec_json_string(out, value);
	buf_adds(out, "}]");
}

/* Makes the edits of a tools/call result with a structured value that a legacy
 * client cannot take, because it is not an object or the schema was wrapped. */
static size_t
wrap_value(struct edit *edits, struct buf *value, struct buf *content,
    struct span result, bool wrapped)
{
	struct span structured = json_get(result, "structuredContent");
	struct span items = json_get(result, "content");

	if (structured.p == NULL || (json_kind(structured) == '{' && !wrapped))
		return 0;
	buf_adds(value, "{\"result\":");
	buf_addspan(value, structured);
	buf_addc(value, '}');
	edits[0] = (struct edit){ "structuredContent", buf_span(value) };
	if (json_kind(items) == '[' && has_text(items))
		return 1;
	add_text(content, items, structured);
	edits[1] = (struct edit){ "content", buf_span(content) };
	return 2;
}

/* Makes the edits for a particular method's result, up to two. */
static size_t
edit_special(struct edit *edits, struct buf *one, struct buf *two,
    const struct frame *answer, struct span method, bool wrapped)
{
	struct span tools;

	if (era_method_is(method, "tools/call"))
		return wrap_value(edits, one, two, answer->result, wrapped);
	if (!era_method_is(method, "tools/list"))
		return 0;
	tools = json_get(answer->result, "tools");
	if (json_kind(tools) != '[')
		return 0;
	era_map(one, tools, add_legacy_tool);
	edits[0] = (struct edit){ "tools", buf_span(one) };
	return 1;
}

struct frame *
era_answer_to_legacy(struct frame *answer, struct span method, bool wrapped)
{
	struct buf meta, one, two;
	struct frame *made;
	struct edit edits[6] = { { "resultType", no_span } };
	size_t n = 1;

	if (json_kind(answer->result) != '{')
		return frame_ref(answer);
	buf_init(&meta, 0);
	buf_init(&one, 0);
	buf_init(&two, 0);
	edits[n++] = without_server(&meta, answer->result);
	if (era_is_cacheable(method)) {
		edits[n++] = (struct edit){ "ttlMs", no_span };
		edits[n++] = (struct edit){ "cacheScope", no_span };
	}
	n += edit_special(edits + n, &one, &two, answer, method, wrapped);
	made = edit_part(answer, "result", answer->result, edits, n);
	buf_free(&meta);
	buf_free(&one);
	buf_free(&two);
	return made;
}

struct frame *
era_notification_to_legacy(struct frame *modern)
{
	static const struct edit id = { META_SUBSCRIPTION, { NULL, 0 } };
	struct frame *made;
	struct edit edit;
	struct buf meta;

	if (json_kind(modern->params) != '{')
		return frame_ref(modern);
	buf_init(&meta, 0);
	edit = era_edit_meta(&meta, modern->params, &id, 1);
	made = era_edit_params(modern, &edit, 1);
	buf_free(&meta);
	return made;
}

/* Returns the name of a question, or NULL for anything else. */
static const char *
question_of(struct span method)
{
	static const char *const questions[] = { "sampling/createMessage",
		"elicitation/create", "roots/list" };
	size_t i;

	for (i = 0; i < ERA_EDITS(questions); i++) {
		if (json_string_is(method, questions[i]))
			return questions[i];
	}
	return NULL;
}

/* 2025-11-25 has modes, and requires an elicitationId in URL mode. Earlier
 * versions have only forms and may refuse the member "mode". For a form it
 * means nothing, so it is removed also if the version is not known. */
static void
add_elicitation(struct buf *out, struct span params, struct span version,
    const char *uuid)
{
	struct span mode = json_get(params, "mode");
	struct edit edit = { "elicitationId", no_span };
	struct buf id;
	bool newest;

	newest = json_string_is(era_legacy_version(version), REVISION_LEGACY);
	buf_init(&id, 0);
	codec_json_string(&id, span_of(uuid));
	edit.value = json_get(params, edit.key);
	if (json_string_is(mode, "url") && newest && edit.value.p == NULL)
		edit.value = buf_span(&id);
	else if (json_string_is(mode, "form") && (!newest || version.n == 0))
		edit = (struct edit){ "mode", no_span };
	edit_object(out, params, &edit, 1);
	buf_free(&id);
}

struct frame *
era_question(struct span entry, struct span id, struct span version,
    const char *uuid)
{
	const char *method = question_of(json_get(entry, "method"));
	struct span params = json_get(entry, "params");
	struct frame *made;
	struct buf b;

	if (json_kind(params) == 'n')
		params = no_span;
	if (method == NULL || (params.p != NULL && json_kind(params) != '{'))
		return NULL;
	buf_init(&b, 0);
	if (params.p != NULL && strcmp(method, "elicitation/create") == 0) {
		add_elicitation(&b, params, version, uuid);
		params = buf_span(&b);
	}
	made = msg_call(id, method, params);
	buf_free(&b);
	return made;
}

struct frame *
era_initialize(struct span id, struct span info, struct span capabilities,
    const char *version)
{
	struct frame *made;
	struct buf params;

	buf_init(&params, 0);
	buf_adds(&params,
	    "{\"protocolVersion\":\"" REVISION_LEGACY "\",\"capabilities\":");
	era_capabilities(&params, capabilities);
	buf_adds(&params, ",\"clientInfo\":");
	if (json_kind(info) == '{') {
		buf_addspan(&params, info);
	} else {
		buf_adds(&params, "{\"name\":\"mcpsplice\",\"version\":");
		codec_json_string(&params, span_of(version));
		buf_addc(&params, '}');
	}
	buf_addc(&params, '}');
	made = msg_call(id, "initialize", buf_span(&params));
	buf_free(&params);
	return made;
}

struct frame *
era_request_to_legacy(struct frame *modern)
{
	static const struct edit keys[] = { { META_REVISION, { NULL, 0 } },
		{ META_CLIENT, { NULL, 0 } },
		{ META_CAPABILITIES, { NULL, 0 } },
		{ META_LEVEL, { NULL, 0 } } };
	struct edit params[] = { { "inputResponses", no_span },
		{ "requestState", no_span }, { "_meta", no_span } };
	struct frame *made;
	struct buf meta;

	if (json_kind(modern->params) != '{')
		return frame_ref(modern);
	buf_init(&meta, 0);
	params[2] = era_edit_meta(&meta, modern->params, keys, ERA_EDITS(keys));
	made = era_edit_params(modern, params, ERA_EDITS(params));
	buf_free(&meta);
	return made;
}
