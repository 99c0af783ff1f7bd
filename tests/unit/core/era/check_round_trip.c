/*
 * There and back: random messages of either era go through the other one, and
 * what both can say comes back. Messages are made from a seed; they are
 * compared as trees by a parser that is not ours, and the parts that nobody
 * has to touch as bytes.
 */
#include "config.h"

#include "core/era/era.h"

#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "unit/unit.h"

#define SERVER "{\"name\":\"s\",\"version\":\"1\"}"
#define PARTS_MAX 8

enum { SEEDS = 4, MESSAGES = 500 }; /* of each kind */

/* Randomness from a seed: xorshift64*. */

static uint64_t state;

static unsigned
pick(unsigned n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned)((state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % n;
}

static void
seed(int i)
{
	state = (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15) + 1;
}

static const char *
one_of(const char *const *list, int n)
{
	return list[pick((unsigned)n)];
}

static void
add_scalar(struct buf *b)
{
	static const char *const scalars[] = { "0", "-1", "1.50", "1e3",
		"12345678901234567", "true", "false", "null", "\"\"", "\"x\"",
		"\"a\\/b\"", "\"\\u0041\\n\"", "\"\xC3\xA9\"", "\"{,}\"",
		"\"_meta\"", "\"complete\"" };

	buf_adds(b, one_of(scalars, COUNT(scalars)));
}

/* A value of at most this depth; names may be those that matter elsewhere. */
static void
add_value(struct buf *b, unsigned depth)
{
	static const char *const names[] = { "a", "b\\/c", "_meta", "task",
		"ttlMs", "resultType", "execution", "\\u0064", "$ref",
		"requestState" };
	unsigned i, n = pick(4), first = pick(COUNT(names));
	bool object = pick(2) == 0;

	if (depth == 0 || pick(3) == 0) {
		add_scalar(b);
		return;
	}
	buf_adds(b, object ? "{" : "[ ");
	for (i = 0; i < n; i++) {
		if (i > 0)
			buf_adds(b, pick(2) ? "," : " , ");
		if (object)
			buf_addf(b, "\"%s\":", names[(first + i) % 10]);
		add_value(b, depth - 1);
	}
	buf_adds(b, object ? "}" : "]");
}

/* The members of an object in random order, some of them missing. */
struct parts {
	char *part[PARTS_MAX];
	unsigned n;
};

static void
put_part(struct parts *p, const char *key, struct buf *value)
{
	ck_assert_uint_lt(p->n, PARTS_MAX);
	p->part[p->n++] = xasprintf("\"%s\":%s", key, buf_str(value));
	buf_free(value);
}

static void
put_raw(struct parts *p, const char *key, const char *value)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, value);
	put_part(p, key, &b);
}

static void
put_random(struct parts *p, const char *key)
{
	struct buf b;

	buf_init(&b, 0);
	add_value(&b, 3);
	put_part(p, key, &b);
}

static void
add_parts(struct buf *b, struct parts *p)
{
	unsigned i;
	bool first = true;

	buf_addc(b, '{');
	while (p->n > 0) {
		i = pick(p->n);
		buf_adds(b, first ? "" : ",");
		buf_adds(b, p->part[i]);
		free(p->part[i]);
		p->part[i] = p->part[--p->n];
		first = false;
	}
	buf_addc(b, '}');
}

/* A _meta with some keys of the peer's, and these more (NULL: none). */
static void
put_meta(struct parts *to, const char *members)
{
	struct parts p = { .n = 0 };
	struct buf b;

	buf_init(&b, 0);
	if (pick(2) == 0)
		put_raw(&p, "progressToken", pick(2) ? "7" : "\"p\\u0031\"");
	if (pick(3) == 0)
		put_raw(&p, "traceparent", "\"00-a-b-01\"");
	if (pick(3) == 0)
		put_random(&p, "vendor.example\\/key");
	add_parts(&b, &p);
	if (members != NULL) {
		b.n--;
		buf_addf(&b, "%s%s}", b.n > 1 ? "," : "", members);
	}
	put_part(to, "_meta", &b);
}

static const char *const both[] = { "tools/list", "tools/call", "prompts/list",
	"prompts/get", "resources/list", "resources/templates/list",
	"resources/read", "completion/complete", "vendor/extra" };

static const char *const notices[] = { "notifications/tools/list_changed",
	"notifications/prompts/list_changed",
	"notifications/resources/list_changed", "notifications/message",
	"notifications/resources/updated", "notifications/vendor" };

static void
put_params(struct parts *p)
{
	static const char *const names[] = { "name", "arguments", "cursor",
		"uri" };
	int i;

	for (i = 0; i < COUNT(names); i++) {
		if (pick(2) == 0)
			put_random(p, names[i]);
	}
}

static struct frame *
parsed(struct buf *b)
{
	struct frame *f = frame_take(b);

	buf_free(b);
	ck_assert_msg(msg_parse(f, 40) == MSG_OK, "%.*s", (int)f->text.n,
	    f->text.p);
	return f;
}

/* A message: its first members, then key and the parts as its value (no
 * parts: sometimes no such member). */
static struct frame *
message(const char *start, const char *key, struct parts *p)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, start);
	if (p->n > 0 || pick(2) == 0) {
		buf_addf(&b, ",\"%s\":", key);
		add_parts(&b, p);
	}
	buf_addc(&b, '}');
	return parsed(&b);
}

static struct frame *
call(const char *method, bool notification, struct parts *p)
{
	char *start = xasprintf("{\"jsonrpc\":\"2.0\",%s\"method\":\"%s\"",
	    notification ? "" : "\"id\":\"i\\/1\",", method);
	struct frame *f = message(start, "params", p);

	free(start);
	return f;
}

/* Trees. */

static struct json_object *
tree(struct span text)
{
	char *s = xstrndup(text.p, text.n);
	struct json_object *o = json_tokener_parse(s);

	ck_assert_msg(o != NULL, "%s", s);
	free(s);
	return o;
}

static struct json_object *
member(struct json_object *o, const char *key)
{
	struct json_object *found = NULL;

	json_object_object_get_ex(o, key, &found);
	return found;
}

static void
set(struct json_object *o, const char *key, const char *json)
{
	json_object_object_add(o, key, json_tokener_parse(json));
}

/* An empty _meta says as much as none. */
static void
drop_empty_meta(struct json_object *o)
{
	struct json_object *meta = member(o, "_meta");

	if (meta != NULL && json_object_object_length(meta) == 0)
		json_object_object_del(o, "_meta");
}

/* Empty params say as much as none. */
static struct json_object *
params_of(struct json_object *o)
{
	if (member(o, "params") == NULL)
		json_object_object_add(o, "params", json_object_new_object());
	drop_empty_meta(member(o, "params"));
	return member(o, "params");
}

/* Takes both trees. */
static void
check_same(struct json_object *want, struct json_object *got)
{
	ck_assert_msg(json_object_equal(want, got), "want %s\n got %s",
	    json_object_to_json_string(want), json_object_to_json_string(got));
	json_object_put(want);
	json_object_put(got);
}

/* The member of a is in b, byte for byte. */
static void
check_bytes(struct span a, const char *key, struct span b)
{
	struct span value = json_get(a, key), kept = json_get(b, key);

	ck_assert(span_eq(value, kept));
}

/* The random members of _meta that a modern client sends. */
static char *
client_words(struct span *level)
{
	static const char *const levels[] = { "", "\"info\"", "\"error\"" };
	struct buf b;

	*level = span_of(one_of(levels, COUNT(levels)));
	buf_init(&b, 0);
	buf_adds(&b, "\"" META_PREFIX "protocolVersion\":\"2026-07-28\"");
	if (pick(2) == 0)
		buf_adds(&b,
		    ",\"" META_PREFIX "clientInfo\":{\"name\":\"\\u0063\"}");
	buf_adds(&b,
	    ",\"" META_PREFIX "clientCapabilities\":{\"sampling\":{},\"x\":");
	add_value(&b, 2);
	buf_addc(&b, '}');
	return buf_take(&b);
}

static void
legacy_call(void)
{
	bool notification = pick(4) == 0;
	struct parts p = { .n = 0 };
	struct frame *f, *modern, *back;
	struct json_object *want, *got;
	struct span level;
	char *words;

	put_params(&p);
	if (pick(2) == 0)
		put_meta(&p, NULL);
	if (pick(4) == 0)
		put_raw(&p, "task", "{\"ttl\":1}");
	f = call(one_of(both, COUNT(both)), notification, &p);
	words = client_words(&level);
	modern = era_request_to_modern(f, span_of(words), level);
	ck_assert(span_is(era_request_version(modern), "\"2026-07-28\""));
	ck_assert(level.n == 0 || span_eq(era_meta(modern, META_LEVEL), level));
	back = era_request_to_legacy(modern);
	check_bytes(f->params, "arguments", modern->params);
	check_bytes(f->params, "arguments", back->params);
	want = tree(f->text);
	json_object_object_del(params_of(want), "task");
	got = tree(back->text);
	params_of(got);
	check_same(want, got);
	frame_unref(back);
	frame_unref(modern);
	frame_unref(f);
	free(words);
}

static void
modern_call(void)
{
	struct parts p = { .n = 0 };
	struct frame *f, *legacy, *back;
	struct json_object *want;
	struct span level;
	char *words = client_words(&level), *all;

	all = level.n == 0 ?
	    xstrdup(words) :
	    xasprintf("%s,\"" META_PREFIX "logLevel\":%s", words, level.p);
	put_params(&p);
	put_meta(&p, all);
	if (pick(3) == 0)
		put_random(&p, "inputResponses");
	if (pick(3) == 0)
		put_raw(&p, "requestState", "\"s\"");
	f = call(one_of(both, COUNT(both)), false, &p);
	legacy = era_request_to_legacy(f);
	ck_assert_ptr_null(memmem(legacy->text.p, legacy->text.n,
	    META_PREFIX "client", strlen(META_PREFIX "client")));
	back = era_request_to_modern(legacy, span_of(words), level);
	check_bytes(f->params, "arguments", legacy->params);
	check_bytes(f->params, "arguments", back->params);
	want = tree(f->text);
	json_object_object_del(params_of(want), "inputResponses");
	json_object_object_del(params_of(want), "requestState");
	check_same(want, tree(back->text));
	frame_unref(back);
	frame_unref(legacy);
	frame_unref(f);
	free(all);
	free(words);
}

static void
put_tools(struct parts *to)
{
	struct parts p = { .n = 0 };
	unsigned i, n = pick(4);
	struct buf b;

	buf_init(&b, 0);
	for (i = 0; i < n; i++) {
		buf_adds(&b, i == 0 ? "[" : " ,");
		put_random(&p, "name");
		put_random(&p, "inputSchema");
		if (pick(2) == 0)
			put_raw(&p, "execution", "{\"taskSupport\":1}");
		if (pick(2) == 0)
			put_raw(&p, "outputSchema",
			    "{\"type\":\"object\",\"not\":{\"$ref\":\"#\"}}");
		if (pick(2) == 0)
			put_meta(&p, NULL);
		add_parts(&b, &p);
	}
	buf_adds(&b, n == 0 ? "[]" : "]");
	put_part(to, "tools", &b);
}

/* The members of a result that both eras have. */
static void
put_result(struct parts *p, const char *method)
{
	if (strcmp(method, "tools/list") == 0)
		put_tools(p);
	if (strcmp(method, "tools/call") == 0 && pick(2) == 0)
		put_raw(p, "structuredContent", "{\"\\u0061\":1.50}");
	put_random(p, "content");
	if (pick(2) == 0)
		put_random(p, "nextCursor");
}

static void
drop_execution(struct json_object *result)
{
	struct json_object *tools = member(result, "tools");
	size_t i, n = tools == NULL ? 0 : json_object_array_length(tools);

	for (i = 0; i < n; i++)
		json_object_object_del(json_object_array_get_idx(tools, i),
		    "execution");
}

static struct frame *
answer(struct parts *p)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":");
	add_parts(&b, p);
	buf_addc(&b, '}');
	return parsed(&b);
}

static void
legacy_result(void)
{
	const char *name = one_of(both, COUNT(both));
	struct span method = span_of(name);
	struct parts p = { .n = 0 };
	struct frame *f, *modern, *back;
	struct json_object *want, *r;
	bool cacheable = era_is_cacheable(method);

	put_result(&p, name);
	if (pick(2) == 0)
		put_meta(&p, NULL);
	if (!cacheable && pick(3) == 0)
		put_raw(&p, "ttlMs", "5"); /* a word of its own there */
	f = answer(&p);
	modern = era_answer_to_modern(f, method, span_of(SERVER));
	r = tree(modern->result);
	ck_assert_str_eq(json_object_get_string(member(r, "resultType")),
	    "complete");
	ck_assert_ptr_nonnull(member(member(r, "_meta"),
	    META_PREFIX "serverInfo"));
	ck_assert_int_eq(member(r, "cacheScope") != NULL, cacheable);
	json_object_put(r);
	back = era_answer_to_legacy(modern, method, false);
	check_bytes(f->result, "content", modern->result);
	check_bytes(f->result, "content", back->result);
	want = tree(f->text);
	drop_execution(member(want, "result"));
	drop_empty_meta(member(want, "result"));
	check_same(want, tree(back->text));
	frame_unref(back);
	frame_unref(modern);
	frame_unref(f);
}

static void
modern_result(void)
{
	const char *name = one_of(both, COUNT(both));
	struct span method = span_of(name);
	struct parts p = { .n = 0 };
	struct frame *f, *legacy, *back;
	struct json_object *want, *r;

	put_result(&p, name);
	put_raw(&p, "resultType", "\"complete\"");
	put_meta(&p, "\"" META_PREFIX "serverInfo\":" SERVER);
	put_raw(&p, "ttlMs", "3600");
	put_raw(&p, "cacheScope", "\"public\"");
	f = answer(&p);
	legacy = era_answer_to_legacy(f, method, false);
	ck_assert_ptr_null(json_get(legacy->result, "resultType").p);
	back = era_answer_to_modern(legacy, method, span_of(SERVER));
	check_bytes(f->result, "content", legacy->result);
	check_bytes(f->result, "content", back->result);
	want = tree(f->text);
	r = member(want, "result");
	drop_execution(r);
	if (era_is_cacheable(method)) {
		set(r, "ttlMs", "0");
		set(r, "cacheScope", "\"private\"");
	}
	check_same(want, tree(back->text));
	frame_unref(back);
	frame_unref(legacy);
	frame_unref(f);
}

static void
notification(void)
{
	struct parts p = { .n = 0 };
	struct frame *f, *modern, *back, *again;
	struct json_object *want, *got;

	put_params(&p);
	if (pick(2) == 0)
		put_meta(&p, NULL);
	f = call(one_of(notices, COUNT(notices)), true, &p);
	modern = era_notification_to_modern(f, span_of("\"L\""));
	ck_assert(span_is(era_meta(modern, META_SUBSCRIPTION), "\"L\""));
	back = era_notification_to_legacy(modern);
	want = tree(f->text);
	params_of(want);
	got = tree(back->text);
	params_of(got);
	check_same(want, got);
	again = era_notification_to_modern(back, span_of("\"L\""));
	check_same(tree(modern->text), tree(again->text));
	frame_unref(again);
	frame_unref(back);
	frame_unref(modern);
	frame_unref(f);
}

/* Capabilities of a client or a server, with what only one era has. */
static void
put_capabilities(struct parts *to)
{
	struct parts p = { .n = 0 };
	struct buf b;

	buf_init(&b, 0);
	put_raw(&p, "roots", "{\"listChanged\":true}");
	put_random(&p, "tools");
	put_random(&p, "elicitation");
	put_random(&p, "experimental");
	if (pick(2) == 0)
		put_random(&p, "tasks");
	if (pick(2) == 0)
		put_raw(&p, "extensions",
		    "{\"io.modelcontextprotocol\\/tasks\":{},"
		    "\"io.modelcontextprotocol/ui\":{\"a\":[1.0]}}");
	add_parts(&b, &p);
	put_part(to, "capabilities", &b);
}

static void
map_capabilities(struct json_object *o)
{
	struct json_object *c = member(o, "capabilities");

	set(c, "roots", "{}");
	json_object_object_del(c, "tasks");
	if (member(c, "extensions") != NULL)
		json_object_object_del(member(c, "extensions"),
		    META_PREFIX "tasks");
}

/* initialize, its meaning in each modern request, initialize again. */
static void
client_greeting(void)
{
	struct parts p = { .n = 0 };
	struct frame *f, *modern, *back;
	struct json_object *want;
	struct buf meta;

	put_capabilities(&p);
	put_raw(&p, "clientInfo", "{\"name\":\"h\",\"version\":\"\\u0031\"}");
	put_raw(&p, "protocolVersion", "\"2025-11-25\"");
	f = call("initialize", false, &p);
	buf_init(&meta, 0);
	era_client_meta(&meta, f->params);
	modern = era_discover(f->id, buf_span(&meta));
	ck_assert(span_is(era_request_version(modern), "\"2026-07-28\""));
	back = era_initialize(modern->id, era_meta(modern, META_CLIENT),
	    era_meta(modern, META_CAPABILITIES), "9");
	want = tree(f->text);
	map_capabilities(member(want, "params"));
	check_same(want, tree(back->text));
	frame_unref(modern);
	frame_unref(back);
	frame_unref(f);
	buf_free(&meta);
}

static void
server_greeting(void)
{
	struct parts p = { .n = 0 };
	struct buf discovered, back;
	struct json_object *want;
	struct frame *f;
	bool modern;

	put_capabilities(&p);
	put_raw(&p, "serverInfo", SERVER);
	put_raw(&p, "protocolVersion", "\"2025-06-18\"");
	if (pick(2) == 0)
		put_random(&p, "instructions");
	if (pick(2) == 0)
		put_meta(&p, NULL);
	f = answer(&p);
	buf_init(&discovered, 0);
	buf_init(&back, 0);
	era_discover_result(&discovered, f->result);
	ck_assert(era_discovered(buf_span(&discovered), &modern));
	ck_assert(modern);
	era_initialize_result(&back, buf_span(&discovered),
	    json_get(f->result, "protocolVersion"), "h");
	want = tree(f->result);
	map_capabilities(want);
	drop_empty_meta(want);
	check_same(want, tree(buf_span(&back)));
	frame_unref(f);
	buf_free(&discovered);
	buf_free(&back);
}

static void
question(void)
{
	static const char *const methods[] = { "sampling/createMessage",
		"elicitation/create", "roots/list" };
	struct parts p = { .n = 0 };
	struct frame *f, *back;
	struct json_object *want, *got;
	struct buf entry;

	put_random(&p, "message");
	put_random(&p, "requestedSchema");
	if (pick(2) == 0)
		put_raw(&p, "mode", "\"form\"");
	if (pick(3) == 0)
		put_raw(&p, "task", "{}");
	if (pick(3) == 0)
		put_meta(&p, NULL);
	f = call(one_of(methods, COUNT(methods)), false, &p);
	buf_init(&entry, 0);
	era_input_request(&entry, f);
	back = era_question(buf_span(&entry), f->id, span_of("\"2025-11-25\""),
	    "u");
	ck_assert_ptr_nonnull(back);
	check_bytes(f->params, "message", back->params);
	want = tree(f->text);
	json_object_object_del(params_of(want), "task");
	json_object_object_del(params_of(want), "_meta");
	got = tree(back->text);
	check_same(want, got);
	frame_unref(back);
	frame_unref(f);
	buf_free(&entry);
}

static void (*const journeys[])(void) = { legacy_call, modern_call,
	legacy_result, modern_result, notification, client_greeting,
	server_greeting, question };

START_TEST(test_return)
{
	int i;

	seed(_i + 1);
	for (i = 0; i < MESSAGES; i++)
		journeys[_i % COUNT(journeys)]();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("round_trip");
	TCase *t = tcase_create("return");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_return, 0, SEEDS * COUNT(journeys));
	suite_add_tcase(s, t);
	return unit_run(s);
}
