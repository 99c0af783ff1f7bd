/*
 * Any message through all translations of the eras, as if it came from either
 * side: what comes out is a message, located right; translating it once more
 * changes nothing; and what only the other era has is gone, or there.
 */
#include "config.h"

#include "core/era/era.h"

#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "fuzz/fuzz.h"

#define DEPTH 96       /* deeper than a schema that is wrapped */
#define MADE_DEPTH 112 /* what is made adds a few levels */
#define META                                                                   \
	"\"" META_PREFIX "protocolVersion\":\"2026-07-28\","                   \
	"\"" META_PREFIX "clientCapabilities\":{}"

static const struct span absent = { NULL, 0 };

static void
check_made(const struct frame *f)
{
	struct frame *again = frame_copy(f->text);

	FUZZ_CHECK(f->text.p[f->text.n] == '\n');
	FUZZ_CHECK(msg_parse(again, MADE_DEPTH) == MSG_OK);
	FUZZ_CHECK(f->kind == again->kind);
	FUZZ_CHECK(span_eq(f->id, again->id));
	FUZZ_CHECK(span_eq(f->method, again->method));
	FUZZ_CHECK(span_eq(f->params, again->params));
	FUZZ_CHECK(span_eq(f->result, again->result));
	FUZZ_CHECK(span_eq(f->error, again->error));
	frame_unref(again);
}

/* Appended JSON is one object. */
static void
check_object(struct buf *out)
{
	FUZZ_CHECK(json_check(buf_span(out), MADE_DEPTH, NULL, NULL, NULL) ==
	    JSON_OK);
	FUZZ_CHECK(json_kind(buf_span(out)) == '{');
	buf_reset(out);
}

/* Takes made; stable is what the same translation makes of it. */
static void
check_stable(struct frame *made, struct frame *stable)
{
	check_made(made);
	FUZZ_CHECK(stable == made);
	frame_unref(stable);
	frame_unref(made);
}

static void
check_call(struct frame *f)
{
	struct span meta = span_of(META), level = span_of("\"info\"");
	struct frame *made, *back;

	made = era_request_to_modern(f, meta, level);
	if (json_kind(f->params) != '[') {
		FUZZ_CHECK(span_is(era_request_version(made),
		    "\"" REVISION_MODERN "\""));
		FUZZ_CHECK(span_eq(era_meta(made, META_LEVEL), level));
		FUZZ_CHECK(json_get(made->params, "task").p == NULL);
	}
	back = era_request_to_legacy(made);
	FUZZ_CHECK(era_request_version(back).p == NULL);
	check_stable(back, era_request_to_legacy(back));
	check_stable(made, era_request_to_modern(made, meta, level));
	made = era_request_to_legacy(f);
	FUZZ_CHECK(era_request_version(made).p == NULL);
	check_stable(made, era_request_to_legacy(made));
	made = era_notification_to_modern(f, span_of("7"));
	back = era_notification_to_legacy(made);
	FUZZ_CHECK(era_meta(back, META_SUBSCRIPTION).p == NULL);
	check_stable(back, era_notification_to_legacy(back));
	check_stable(made, era_notification_to_modern(made, span_of("7")));
}

static void
check_retry(struct frame *f)
{
	struct span state = span_of("\"s\"");
	struct frame *made, *again;

	made = era_retry(f, span_of("\"r\""), span_of("{}"), state);
	check_made(made);
	if (json_kind(f->params) != '[')
		FUZZ_CHECK(span_eq(json_get(made->params, "requestState"),
		    state));
	again = era_retry(made, span_of("2"), absent, absent);
	check_made(again);
	FUZZ_CHECK(json_get(again->params, "requestState").p == NULL);
	FUZZ_CHECK(span_is(again->id, "2"));
	frame_unref(again);
	frame_unref(made);
}

/* The params as a client's words: initialize, a question, a filter. */
static void
check_params(struct span params)
{
	static const char *const versions[] = { "", "\"2025-06-18\"",
		"\"2025-11-25\"" };
	struct span id = span_of("\"i\"");
	struct frame *made;
	struct buf out;
	size_t i;

	buf_init(&out, 0);
	buf_addc(&out, '{');
	era_client_meta(&out, params);
	buf_addc(&out, '}');
	check_object(&out);
	made = era_initialize(id, json_get(params, "clientInfo"),
	    json_get(params, "capabilities"), "1");
	check_made(made);
	frame_unref(made);
	for (i = 0; i < 3; i++) {
		made = era_question(params, id, span_of(versions[i]), "u");
		if (made == NULL)
			continue;
		check_made(made);
		FUZZ_CHECK(made->kind == FRAME_REQUEST);
		frame_unref(made);
	}
	era_declares(json_get(params, "capabilities"),
	    span_of("elicitation/create"), params);
	buf_free(&out);
}

/* A legacy client accepts only an outputSchema of type object. */
static void
check_tools(struct span tools)
{
	struct span key, tool, schema;
	struct buf type;
	size_t at = 0;

	buf_init(&type, 0);
	while (json_kind(tools) == '[' && json_next(tools, &at, &key, &tool)) {
		schema = json_get(tool, "outputSchema");
		FUZZ_CHECK(!era_wraps(schema));
		if (schema.p == NULL)
			continue;
		buf_reset(&type);
		FUZZ_CHECK(json_string(json_get(schema, "type"), &type) == 0);
		FUZZ_CHECK(span_is(buf_span(&type), "object"));
	}
	buf_free(&type);
}

static void
check_answer(struct frame *f)
{
	static const char *const methods[] = { "tools/list", "tools/call",
		"resources/read", "vendor/extra" };
	struct span method, server = span_of("{\"name\":\"s\"}");
	struct frame *made;
	size_t i;

	for (i = 0; i < sizeof methods / sizeof *methods; i++) {
		method = span_of(methods[i]);
		made = era_answer_to_legacy(f, method, false);
		FUZZ_CHECK(json_get(made->result, "resultType").p == NULL);
		if (i == 0)
			check_tools(json_get(made->result, "tools"));
		check_stable(made, era_answer_to_legacy(made, method, false));
		made = era_answer_to_modern(f, method, server);
		FUZZ_CHECK(msg_error_code(made) != ERROR_RESOURCE_NOT_FOUND);
		check_stable(made, era_answer_to_modern(made, method, server));
		made = era_answer_to_legacy(f, method, true);
		check_made(made);
		frame_unref(made);
	}
}

/* The result as a server's answer to initialize or server/discover. */
static void
check_result(struct frame *f)
{
	struct buf out;
	bool modern;

	buf_init(&out, 0);
	era_initialize_result(&out, f->result,
	    json_get(f->result, "protocolVersion"), "host");
	check_object(&out);
	era_discover_result(&out, f->result);
	FUZZ_CHECK(era_discovered(buf_span(&out), &modern));
	FUZZ_CHECK(modern);
	check_object(&out);
	era_discovered(f->result, &modern);
	buf_free(&out);
}

static void
check_question(const struct frame *f)
{
	struct frame *state;
	struct buf out;

	buf_init(&out, 0);
	era_input_request(&out, f);
	state = era_input_required(f->id, buf_span(&out), f->method);
	check_made(state);
	check_object(&out);
	frame_unref(state);
	buf_free(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };
	struct frame *f;

	if (size > 65536)
		return 0;
	f = frame_copy(text);
	if (msg_parse(f, DEPTH) == MSG_OK) {
		era_to_modern(f);
		era_to_legacy(f);
		if (f->method.p != NULL) {
			check_call(f);
			check_params(f->params);
		} else {
			check_answer(f);
			check_result(f);
		}
		if (f->kind == FRAME_REQUEST) {
			check_retry(f);
			check_question(f);
		}
	}
	FUZZ_CHECK(f->refs == 1);
	frame_unref(f);
	return 0;
}
