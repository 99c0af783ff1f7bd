/*
 * What tools/list said: hints by name over pages and anew, names as they are
 * meant, the whole list, all the bounds, and odd results.
 */
#include "config.h"

#include "core/session/tools.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "unit/unit.h"

#define READ_ONLY "\"annotations\":{\"readOnlyHint\":true}"
#define SAFE(name) "{\"name\":\"" name "\"," READ_ONLY "}"
#define PLAIN(name) "{\"name\":\"" name "\"}"
#define PAGE(tools) "{\"tools\":[" tools "]}"
#define MORE(tools, next) "{\"tools\":[" tools "],\"nextCursor\":" next "}"

enum { TOOLS_MAX = 10000, NAME_BYTES = 512, LIST_BYTES = 4 << 20 };

static const struct span absent = { NULL, 0 };

/* A list request with these params (NULL: none) got this result in this
 * session. */
static void
learn_in(struct tools *t, uint64_t session, const char *params,
    const char *result)
{
	struct frame *q = msg_call(span_of("1"), "tools/list",
	    params == NULL ? absent : span_of(params));
	struct frame *a = msg_result(span_of("1"), result);

	ck_assert_int_eq(q->kind, FRAME_REQUEST);
	ck_assert_int_eq(a->kind, FRAME_RESULT);
	tools_learn(t, session, q, a);
	/* Nothing of the frames may be used after this. */
	frame_unref(q);
	frame_unref(a);
}

static void
learn(struct tools *t, const char *params, const char *result)
{
	learn_in(t, 1, params, result);
}

static bool
call_safe_in(const struct tools *t, uint64_t session, const char *params)
{
	struct frame *f = msg_call(span_of("7"), "tools/call",
	    params == NULL ? absent : span_of(params));
	bool safe = tools_safe(t, session, f);

	frame_unref(f);
	return safe;
}

static bool
call_safe(const struct tools *t, const char *params)
{
	return call_safe_in(t, 1, params);
}

/* name is the raw text between the quotes. */
static bool
is_safe(const struct tools *t, const char *name)
{
	char *params = xasprintf("{\"name\":\"%s\",\"arguments\":{}}", name);
	bool safe = call_safe(t, params);

	free(params);
	return safe;
}

static void
check_list(const struct tools *t, const char *want)
{
	struct span list = tools_list(t);

	if (want == NULL) {
		ck_assert_uint_eq(list.n, 0);
		return;
	}
	ck_assert_uint_eq(list.n, strlen(want));
	ck_assert_int_eq(memcmp(list.p, want, list.n), 0);
	ck_assert_int_eq(json_check(list, 100, NULL, NULL, NULL), JSON_OK);
}

START_TEST(test_nothing)
{
	struct tools *t = tools_new();

	ck_assert(!is_safe(t, "a"));
	ck_assert(!is_safe(t, ""));
	check_list(t, NULL);
	tools_free(t);
	tools_free(NULL);
}
END_TEST

/* What an annotations member makes of a tool. */
static const struct {
	const char *annotations;
	bool safe;
} hints[] = {
	{ "{\"readOnlyHint\":true}", true },
	{ "{\"idempotentHint\":true}", true },
	{ "{\"readOnlyHint\":true,\"idempotentHint\":true}", true },
	{ "{\"readOnlyHint\":false,\"idempotentHint\":true}", true },
	{ "{\"readOnlyHint\":true,\"idempotentHint\":false}", true },
	{ "{\"readOnlyHint\":true,\"destructiveHint\":true}", true },
	{ "{ \"title\" : \"t\" , \"readOnlyHint\" : true }", true },
	{ "{\"read\\u004fnlyHint\":true}", true },
	{ "{\"readOnlyHint\":false,\"readOnlyHint\":true}", true },
	{ "{\"readOnlyHint\":true,\"readOnlyHint\":false}", false },
	{ "{}", false },
	{ "{\"readOnlyHint\":false}", false },
	{ "{\"readOnlyHint\":null,\"idempotentHint\":null}", false },
	{ "{\"readOnlyHint\":\"true\"}", false },
	{ "{\"idempotentHint\":1}", false },
	{ "{\"readOnlyHint\":[true]}", false },
	{ "{\"readonlyhint\":true}", false },
	{ "{\"destructiveHint\":false,\"openWorldHint\":true}", false },
	{ "{\"x\":{\"readOnlyHint\":true}}", false },
	{ "[\"readOnlyHint\",true]", false },
	{ "[{\"readOnlyHint\":true}]", false },
	{ "\"readOnlyHint\"", false },
	{ "true", false },
	{ "null", false },
	{ "{\"readOnlyHint\":true},\"annotations\":null", false },
	{ "null,\"annotations\":{\"readOnlyHint\":true}", true },
	{ "{},\"readOnlyHint\":true,\"x\":{\"idempotentHint\":true}", false },
};

START_TEST(test_hint)
{
	struct tools *t = tools_new();
	char *page = xasprintf("{\"tools\":[{\"annotations\":%s,"
			       "\"inputSchema\":{\"name\":\"b\"},"
			       "\"name\":\"a\"}]}",
	    hints[_i].annotations);

	learn(t, NULL, page);
	ck_assert_int_eq(is_safe(t, "a"), hints[_i].safe);
	ck_assert(!is_safe(t, "b"));
	ck_assert(!is_safe(t, "A"));
	ck_assert(!is_safe(t, "aa"));
	ck_assert(!is_safe(t, ""));
	free(page);
	tools_free(t);
}
END_TEST

/* A call's params that name no tool, or not this one. */
static const char *const odd_calls[] = { NULL, "{}", "[]", "[\"name\",\"1\"]",
	"{\"name\":1}", "{\"name\":null}", "{\"name\":[\"1\"]}",
	"{\"name\":{\"name\":\"1\"}}", "{\"Name\":\"1\"}",
	"{\"name\":\"1\",\"name\":\"2\"}", "{\"name\":\"2\",\"name\":\"1\"}",
	"{\"name\":\"1\",\"Name\":\"1\"}", "{\"name\":\"1\\u0000\"}",
	"{\"name\":\"1 \"}", "{\"arguments\":{\"name\":\"1\"}}" };

START_TEST(test_odd_call)
{
	struct tools *t = tools_new();

	learn(t, NULL, PAGE(SAFE("1") "," SAFE("null")));
	ck_assert(!call_safe(t, odd_calls[_i]));
	ck_assert(call_safe(t, "{\"x\":\"2\",\"name\":\"1\"}"));
	tools_free(t);
}
END_TEST

START_TEST(test_names)
{
	struct tools *t = tools_new();

	learn(t, NULL,
	    PAGE(SAFE("caf\\u00e9") "," SAFE("th\xC3\xA9") "," SAFE(
		"\\ud83d\\ude00") "," SAFE("a\\/b\\\"")));
	ck_assert(is_safe(t, "caf\xC3\xA9"));
	ck_assert(is_safe(t, "caf\\u00E9"));
	ck_assert(is_safe(t, "\\u0063af\\u00e9"));
	ck_assert(!is_safe(t, "cafe"));
	ck_assert(!is_safe(t, "caf\\\\u00e9"));
	ck_assert(is_safe(t, "th\\u00e9"));
	ck_assert(is_safe(t, "\xF0\x9F\x98\x80"));
	ck_assert(is_safe(t, "a/b\\u0022"));
	tools_free(t);
}
END_TEST

/* Names that may be the remains of two different ones. */
START_TEST(test_odd_names)
{
	struct tools *t = tools_new();

	learn(t, NULL,
	    PAGE(SAFE("x\\ud800") "," SAFE("y\xEF\xBF\xBD") "," SAFE(
		"z\\u0000") "," SAFE("\\u0000") "," SAFE("w")));
	ck_assert(!is_safe(t, "x\\ud800"));
	ck_assert(!is_safe(t, "x\\udfff"));
	ck_assert(!is_safe(t, "y\xEF\xBF\xBD"));
	ck_assert(!is_safe(t, "z\\u0000"));
	ck_assert(!is_safe(t, "z"));
	ck_assert(!is_safe(t, ""));
	ck_assert(is_safe(t, "w"));
	tools_free(t);
}
END_TEST

/* The last of a name counts, however it is written. */
START_TEST(test_same_name)
{
	struct tools *t = tools_new();

	learn(t, NULL,
	    PAGE(SAFE("a") "," PLAIN("b") "," SAFE("c") "," PLAIN(
		"\\u0061") "," SAFE("b") "," PLAIN("c") "," SAFE("c")));
	ck_assert(!is_safe(t, "a"));
	ck_assert(is_safe(t, "b"));
	ck_assert(is_safe(t, "c"));
	tools_free(t);
}
END_TEST

/* Elements that are not tools are skipped; a list must be an array. */
START_TEST(test_odd_tools)
{
	struct tools *t = tools_new();

	learn(t, NULL,
	    PAGE("1,\"a\",null,[\"name\",\"a\"],[" SAFE("a") "]," SAFE(
		"b") ",{},{\"name\":3," READ_ONLY "},true"));
	ck_assert(!is_safe(t, "a"));
	ck_assert(is_safe(t, "b"));
	tools_free(t);
}
END_TEST

static const char *const odd_results[] = { "{}", "[]", "null", "1",
	"{\"tools\":null}", "{\"tools\":{}}", "{\"tools\":\"[]\"}",
	"{\"tools\":" SAFE("a") "}", "{\"tools\":{\"a\":" SAFE("a") "}}",
	"[" SAFE("a") "]", "{\"tools\":[" SAFE("a") "],\"tools\":7}",
	"{\"Tools\":[" SAFE("a") "]}" };

/* A result without a list: the tools begin anew and are none. */
START_TEST(test_odd_result)
{
	struct tools *t = tools_new();

	learn(t, NULL, PAGE(SAFE("a") "," SAFE("b")));
	learn(t, NULL, odd_results[_i]);
	ck_assert(!is_safe(t, "a"));
	ck_assert(!is_safe(t, "b"));
	check_list(t, NULL);
	learn(t, NULL, PAGE(SAFE("a")));
	check_list(t, PAGE(SAFE("a")));
	/* As a page nobody asked for it changes nothing. */
	learn(t, "{\"cursor\":\"q\"}", odd_results[_i]);
	ck_assert(is_safe(t, "a"));
	check_list(t, PAGE(SAFE("a")));
	/* As the missing page it ends the list, not the hints. */
	learn(t, NULL, MORE(SAFE("a"), "\"q\""));
	learn(t, "{\"cursor\":\"q\"}", odd_results[_i]);
	ck_assert(is_safe(t, "a"));
	check_list(t, NULL);
	learn(t, "{\"cursor\":\"q\"}", PAGE(SAFE("c")));
	ck_assert(is_safe(t, "c"));
	check_list(t, NULL);
	tools_free(t);
}
END_TEST

/* The tools are kept as they came, without the rest, if that is the whole
 * list. */
START_TEST(test_list)
{
	static const struct {
		const char *result, *kept;
	} rows[] = {
		{ "{ \"_meta\":{\"tools\":[1]}, \"tools\" : [ ] }",
		    "{\"tools\":[ ]}" },
		{ "{\"x\":1,\"tools\":[ {\"name\" : \"\\u0061\"} , "
		  "{ } ],\"nextCursor\":null}",
		    "{\"tools\":[ {\"name\" : \"\\u0061\"} , { } ]}" },
		{ PAGE(PLAIN("c") "," PLAIN("c")),
		    PAGE(PLAIN("c") "," PLAIN("c")) },
		{ MORE(PLAIN("c"), "\"\""), PAGE(PLAIN("c")) },
	};
	struct tools *t = tools_new();
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		learn(t, i == 2 ? "{\"cursor\":null}" : NULL, rows[i].result);
		check_list(t, rows[i].kept);
	}
	learn(t, "{}", MORE(PLAIN("c"), "\"3\""));
	check_list(t, NULL);
	tools_free(t);
}
END_TEST

START_TEST(test_pages)
{
	struct tools *t = tools_new();

	learn(t, NULL, MORE(SAFE("a") "," SAFE("b"), "\"n\\u00e9\""));
	ck_assert(is_safe(t, "a"));
	learn(t, "{\"cursor\":\"n\xC3\xA9\"}", MORE(SAFE("c"), "\"3\""));
	learn(t, "{\"cursor\":\"3\"}", PAGE(PLAIN("b") "," PLAIN("d")));
	check_list(t, NULL);
	ck_assert(is_safe(t, "a"));
	ck_assert(!is_safe(t, "b")); /* the later page said so */
	ck_assert(is_safe(t, "c"));
	ck_assert(!is_safe(t, "d"));
	tools_free(t);
}
END_TEST

/* Anew: a tool that is not there any more is not safe, nor is one that lost
 * its hint; what is left of the old list does not come back. */
START_TEST(test_anew)
{
	struct tools *t = tools_new();

	learn(t, NULL, MORE(SAFE("a") "," SAFE("b") "," SAFE("c"), "\"2\""));
	learn(t, NULL, MORE(SAFE("a") "," PLAIN("b"), "\"3\""));
	ck_assert(is_safe(t, "a"));
	ck_assert(!is_safe(t, "b"));
	ck_assert(!is_safe(t, "c"));
	check_list(t, NULL);
	tools_free(t);
}
END_TEST

/* A list vouches for calls of its session and of those before. */
START_TEST(test_sessions)
{
	struct tools *t = tools_new();

	learn_in(t, 2, NULL, MORE(SAFE("a") "," SAFE("b"), "\"2\""));
	learn_in(t, 3, "{\"cursor\":\"2\"}", PAGE(SAFE("b") "," SAFE("c")));
	ck_assert(call_safe_in(t, 1, "{\"name\":\"a\"}"));
	ck_assert(call_safe_in(t, 2, "{\"name\":\"a\"}"));
	ck_assert(!call_safe_in(t, 3, "{\"name\":\"a\"}"));
	ck_assert(call_safe_in(t, 3, "{\"name\":\"b\"}"));
	ck_assert(call_safe_in(t, 3, "{\"name\":\"c\"}"));
	ck_assert(!call_safe_in(t, 4, "{\"name\":\"c\"}"));
	/* The list of the startup cache stays. */
	tools_changed(t);
	ck_assert(!call_safe_in(t, 1, "{\"name\":\"c\"}"));
	learn_in(t, 4, NULL, PAGE(SAFE("a")));
	tools_changed(t);
	ck_assert(!call_safe_in(t, 1, "{\"name\":\"a\"}"));
	check_list(t, PAGE(SAFE("a")));
	tools_free(t);
}
END_TEST

/* A page out of order: its hints count, the list stays as it was. */
START_TEST(test_other_page)
{
	struct tools *t = tools_new();

	learn(t, "{\"cursor\":\"x\"}", PAGE(SAFE("z")));
	ck_assert(is_safe(t, "z"));
	check_list(t, NULL);
	learn(t, NULL, PAGE(SAFE("a") "," SAFE("b")));
	learn(t, "{\"cursor\":\"1\"}", MORE(PLAIN("a") "," SAFE("c"), "\"9\""));
	learn(t, "{\"cursor\":2}", PAGE(PLAIN("g")));
	learn(t, "{\"cursor\":[\"2\"]}", PAGE(SAFE("f")));
	check_list(t, PAGE(SAFE("a") "," SAFE("b")));
	ck_assert(!is_safe(t, "a"));
	ck_assert(is_safe(t, "b"));
	ck_assert(is_safe(t, "c"));
	ck_assert(is_safe(t, "f"));
	tools_free(t);
}
END_TEST

/* Tools from..to-1 with this text behind the name (a member, or nothing). */
static void
add_tools(struct buf *b, int from, int to, const char *rest)
{
	int i;

	for (i = from; i < to; i++)
		buf_addf(b, "%s{\"name\":\"t%d\"%s}", i == from ? "" : ",", i,
		    rest);
}

static void
learn_many(struct tools *t, const char *params, int from, int to,
    const char *rest, const char *next)
{
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "{\"tools\":[");
	add_tools(&b, from, to, rest);
	buf_addf(&b, "],\"nextCursor\":%s}", next);
	learn(t, params, buf_str(&b));
	buf_free(&b);
}

/* Are tools from..to-1 safe, all of them or none? */
static void
check_many(const struct tools *t, int from, int to, bool safe)
{
	char name[24];
	int i;

	for (i = from; i < to; i++) {
		snprintf(name, sizeof name, "t%d", i);
		ck_assert_msg(is_safe(t, name) == safe, "%s", name);
	}
}

START_TEST(test_many)
{
	struct tools *t = tools_new();
	struct buf want;

	learn_many(t, NULL, 0, TOOLS_MAX, "," READ_ONLY, "null");
	check_many(t, 0, TOOLS_MAX, true);
	ck_assert(!is_safe(t, "t10000"));
	buf_init(&want, 0);
	buf_adds(&want, "{\"tools\":[");
	add_tools(&want, 0, TOOLS_MAX, "," READ_ONLY);
	buf_adds(&want, "]}");
	check_list(t, buf_str(&want));
	buf_free(&want);
	/* Tools that become unsafe make room for others. */
	learn_many(t, "{\"cursor\":\"x\"}", 5000, 5002, "", "null");
	learn_many(t, "{\"cursor\":\"x\"}", 20000, 20003, "," READ_ONLY,
	    "null");
	check_many(t, 0, 5000, true);
	check_many(t, 5000, 5002, false);
	check_many(t, 5002, TOOLS_MAX, true);
	check_many(t, 20000, 20002, true);
	check_many(t, 20002, 20003, false);
	tools_free(t);
}
END_TEST

/* One more than is kept: the name beyond is not safe. */
START_TEST(test_too_many)
{
	struct tools *t = tools_new();

	learn_many(t, NULL, 0, TOOLS_MAX + 1, "," READ_ONLY, "null");
	check_many(t, 0, TOOLS_MAX, true);
	check_many(t, TOOLS_MAX, TOOLS_MAX + 1, false);
	/* A tool that is known can still change. */
	learn_many(t, "{\"cursor\":\"x\"}", 7, 8, "", "null");
	check_many(t, 7, 8, false);
	learn(t, NULL, PAGE(PLAIN("a")));
	check_list(t, PAGE(PLAIN("a")));
	check_many(t, 0, 2, false);
	tools_free(t);
}
END_TEST

/* A page with one tool, padded to n bytes. */
static void
learn_sized(struct tools *t, const char *params, const char *name, size_t n,
    const char *next)
{
	struct buf b;
	size_t from;

	buf_init(&b, 0);
	buf_adds(&b, "{\"tools\":[");
	from = b.n;
	buf_addf(&b, "{\"name\":\"%s\"," READ_ONLY ",\"pad\":\"", name);
	while (b.n - from < n - 2)
		buf_addc(&b, 'x');
	buf_addf(&b, "\"}],\"nextCursor\":%s}", next);
	learn(t, params, buf_str(&b));
	buf_free(&b);
}

START_TEST(test_list_bytes)
{
	const size_t room = LIST_BYTES - strlen("{\"tools\":[]}");
	struct tools *t = tools_new();

	learn_sized(t, NULL, "a", room, "null");
	ck_assert_uint_eq(tools_list(t).n, LIST_BYTES);
	learn_sized(t, NULL, "b", room + 1, "null");
	check_list(t, NULL);
	ck_assert(is_safe(t, "b"));
	learn_sized(t, NULL, "d", (size_t)LIST_BYTES * 3, "null");
	check_list(t, NULL);
	ck_assert(is_safe(t, "d"));
	tools_free(t);
}
END_TEST

/* n letters. */
static char *
letters(size_t n)
{
	char *s = xmalloc(n + 1);

	memset(s, 'n', n);
	s[n] = '\0';
	return s;
}

START_TEST(test_long_name)
{
	struct tools *t = tools_new();
	char *longest = letters(NAME_BYTES), *longer = letters(NAME_BYTES + 1);
	char *page = xasprintf(PAGE(SAFE("%s") "," SAFE("%s")), longest,
	    longer);
	char *large = letters(1 << 20);

	learn(t, NULL, page);
	ck_assert(is_safe(t, longest));
	ck_assert(!is_safe(t, longest + 1));
	ck_assert(!is_safe(t, longer));
	ck_assert(!is_safe(t, large));
	check_list(t, page);
	free(longest);
	free(longer);
	free(page);
	free(large);
	tools_free(t);
}
END_TEST

/* Names in no order, of many lengths, learnt and unlearnt: a plain table
 * knows the same. */
START_TEST(test_random)
{
	enum { NAMES = 500, ROUNDS = 40, TOOLS = 200 };
	struct tools *t = tools_new();
	bool safe[NAMES] = { false };
	uint32_t seed = 12345;
	struct buf b;
	unsigned i, k, name;
	char text[32];

	buf_init(&b, 0);
	for (i = 0; i < ROUNDS; i++) {
		buf_reset(&b);
		buf_adds(&b, "{\"tools\":[{}");
		for (k = 0; k < TOOLS; k++) {
			seed = seed * 1664525 + 1013904223;
			name = (seed >> 8 & 0xFFFF) % NAMES;
			safe[name] = seed >> 31;
			buf_addf(&b, ",{\"name\":\"%u%.*s\"%s}", name,
			    (int)(name % 9), "xxxxxxxxx",
			    safe[name] ? "," READ_ONLY : "");
		}
		buf_adds(&b, "]}");
		learn(t, "{\"cursor\":\"x\"}", buf_str(&b));
		for (k = 0; k < NAMES; k++) {
			snprintf(text, sizeof text, "%u%.*s", k, (int)(k % 9),
			    "xxxxxxxxx");
			ck_assert_int_eq(is_safe(t, text), safe[k]);
		}
	}
	buf_free(&b);
	tools_free(t);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("tools");
	TCase *tc = tcase_create("tools");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_nothing);
	tcase_add_loop_test(tc, test_hint, 0, COUNT(hints));
	tcase_add_loop_test(tc, test_odd_call, 0, COUNT(odd_calls));
	tcase_add_test(tc, test_names);
	tcase_add_test(tc, test_odd_names);
	tcase_add_test(tc, test_same_name);
	tcase_add_test(tc, test_odd_tools);
	tcase_add_loop_test(tc, test_odd_result, 0, COUNT(odd_results));
	tcase_add_test(tc, test_list);
	tcase_add_test(tc, test_pages);
	tcase_add_test(tc, test_anew);
	tcase_add_test(tc, test_sessions);
	tcase_add_test(tc, test_other_page);
	tcase_add_test(tc, test_many);
	tcase_add_test(tc, test_too_many);
	tcase_add_test(tc, test_list_bytes);
	tcase_add_test(tc, test_long_name);
	tcase_add_test(tc, test_random);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
