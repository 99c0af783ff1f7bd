/*
 * Messages: what each is, where its parts are, what ids are the same, and
 * what is made by splicing.
 */
#include "config.h"

#include "base/bounds.h"
#include "core/wire/msg.h"

#include <stdlib.h>

#include "core/wire/json.h"
#include "unit/unit.h"

#define TEXT(s)                                                                \
	{                                                                      \
		s, sizeof(s) - 1                                               \
	}
#define V "\"jsonrpc\":\"2.0\""

static const struct span absent = { NULL, 0 };

/* Parts that are not told must be absent. */
static const struct {
	struct span text;
	enum msg_status status;
	enum frame_kind kind;
	const char *id, *method, *params, *result, *error;
} cases[] = {
	{ TEXT("{" V ",\"id\":1,\"method\":\"ping\"}"), MSG_OK, FRAME_REQUEST,
	    "1", "ping", NULL, NULL, NULL },
	{ TEXT(" { \"params\" : [1] , \"method\" : \"a/b\" , " V
	       " , \"id\" : \"x\" } "),
	    MSG_OK, FRAME_REQUEST, "\"x\"", "a/b", "[1]", NULL, NULL },
	{ TEXT("{" V ",\"id\":-0.10e1,\"method\":\"\",\"params\":{}}"), MSG_OK,
	    FRAME_REQUEST, "-0.10e1", "", "{}", NULL, NULL },
	{ TEXT("{" V ",\"id\":\"\",\"method\":\"a\\/b\"}"), MSG_OK,
	    FRAME_REQUEST, "\"\"", "a\\/b", NULL, NULL, NULL },
	{ TEXT("{" V ",\"method\":\"n\",\"params\":{\"id\":1}}"), MSG_OK,
	    FRAME_NOTIFICATION, NULL, "n", "{\"id\":1}", NULL, NULL },
	{ TEXT("{" V ",\"id\":1,\"result\":{}}"), MSG_OK, FRAME_RESULT, "1",
	    NULL, NULL, "{}", NULL },
	{ TEXT("{" V ",\"id\":1,\"result\":null}"), MSG_OK, FRAME_RESULT, "1",
	    NULL, NULL, "null", NULL },
	{ TEXT("{" V ",\"id\":1,\"error\":{\"code\":1}}"), MSG_OK, FRAME_ERROR,
	    "1", NULL, NULL, NULL, "{\"code\":1}" },
	{ TEXT("{" V ",\"id\":null,\"error\":{}}"), MSG_OK, FRAME_ERROR, "null",
	    NULL, NULL, NULL, "{}" },
	{ TEXT("{" V ",\"error\":{}}"), MSG_OK, FRAME_ERROR, NULL, NULL, NULL,
	    NULL, "{}" },
	/* Named twice, or by escapes. */
	{ TEXT("{" V ",\"id\":1,\"method\":\"a\",\"id\":2,\"method\":\"b\"}"),
	    MSG_OK, FRAME_REQUEST, "2", "b", NULL, NULL, NULL },
	{ TEXT("{\"\\u006asonrpc\":\"\\u0032.0\",\"\\u0069\\u0064\":3,"
	       "\"m\\u0065thod\":\"c\"}"),
	    MSG_OK, FRAME_REQUEST, "3", "c", NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":null,\"method\":\"a\",\"id\":2}"), MSG_OK,
	    FRAME_REQUEST, "2", "a", NULL, NULL, NULL },
	{ TEXT("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"a\"," V "}"), MSG_OK,
	    FRAME_REQUEST, "1", "a", NULL, NULL, NULL },
	{ TEXT("{" V ",\"x\":{\"id\":9},\"ID\":8,\"method\":\"a\"}"), MSG_OK,
	    FRAME_NOTIFICATION, NULL, "a", NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":2,\"method\":\"a\",\"id\":null}"), MSG_INVALID,
	    FRAME_RAW, NULL, NULL, NULL, NULL, NULL },
	/* JSON, but no message. */
	{ TEXT("{}"), MSG_INVALID, FRAME_RAW, NULL, NULL, NULL, NULL, NULL },
	{ TEXT("{" V "}"), MSG_INVALID, FRAME_RAW, NULL, NULL, NULL, NULL,
	    NULL },
	{ TEXT("7"), MSG_INVALID, FRAME_RAW, NULL, NULL, NULL, NULL, NULL },
	{ TEXT("null"), MSG_INVALID, FRAME_RAW, NULL, NULL, NULL, NULL, NULL },
	{ TEXT("{\"id\":1,\"method\":\"a\"}"), MSG_INVALID, FRAME_RAW, "1",
	    NULL, NULL, NULL, NULL },
	{ TEXT("{\"jsonrpc\":\"1.0\",\"id\":\"x\",\"method\":\"a\"}"),
	    MSG_INVALID, FRAME_RAW, "\"x\"", NULL, NULL, NULL, NULL },
	{ TEXT("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"a\"}"), MSG_INVALID,
	    FRAME_RAW, "1", NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":1,\"method\":7}"), MSG_INVALID, FRAME_RAW, "1",
	    NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":1,\"method\":null}"), MSG_INVALID, FRAME_RAW, "1",
	    NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":1,\"method\":\"a\",\"params\":7}"), MSG_INVALID,
	    FRAME_RAW, "1", NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":1,\"method\":\"a\",\"result\":{}}"), MSG_INVALID,
	    FRAME_RAW, "1", NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":null,\"method\":\"a\"}"), MSG_INVALID, FRAME_RAW,
	    NULL, NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":{},\"method\":\"a\"}"), MSG_INVALID, FRAME_RAW,
	    NULL, NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":true,\"method\":\"a\"}"), MSG_INVALID, FRAME_RAW,
	    NULL, NULL, NULL, NULL, NULL },
	/* A broken answer: what it answers with is told. */
	{ TEXT("{" V ",\"id\":[1],\"result\":1}"), MSG_INVALID, FRAME_RAW, NULL,
	    NULL, NULL, "1", NULL },
	{ TEXT("{" V ",\"id\":1,\"result\":{},\"error\":[]}"), MSG_INVALID,
	    FRAME_RAW, "1", NULL, NULL, "{}", "[]" },
	{ TEXT("{\"id\":1,\"error\":{}}"), MSG_INVALID, FRAME_RAW, "1", NULL,
	    NULL, NULL, "{}" },
	{ TEXT("{" V ",\"id\":1}"), MSG_INVALID, FRAME_RAW, "1", NULL, NULL,
	    NULL, NULL },
	{ TEXT("{" V ",\"id\":null,\"result\":1}"), MSG_INVALID, FRAME_RAW,
	    NULL, NULL, NULL, "1", NULL },
	{ TEXT("{" V ",\"result\":1}"), MSG_INVALID, FRAME_RAW, NULL, NULL,
	    NULL, "1", NULL },
	{ TEXT("{" V ",\"id\":1,\"error\":\"x\"}"), MSG_INVALID, FRAME_RAW, "1",
	    NULL, NULL, NULL, "\"x\"" },
	/* Batches, and no JSON. */
	{ TEXT("[]"), MSG_BATCH, FRAME_RAW, NULL, NULL, NULL, NULL, NULL },
	{ TEXT(" \r\n[{" V ",\"id\":1,\"method\":\"a\"}]"), MSG_BATCH,
	    FRAME_RAW, NULL, NULL, NULL, NULL, NULL },
	{ TEXT(""), MSG_SYNTAX, FRAME_RAW, NULL, NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":1,\"method\":\"a\"}}"), MSG_SYNTAX, FRAME_RAW,
	    NULL, NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":1,\"method\":\"a\0\"}"), MSG_SYNTAX, FRAME_RAW,
	    NULL, NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":1,\"method\":\"a\",\"params\":[[[[[[[[[]]]]]]"
	       "]]]}"),
	    MSG_SYNTAX, FRAME_RAW, NULL, NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":1,\"method\":\"\xFF\"}"), MSG_UTF8, FRAME_RAW,
	    NULL, NULL, NULL, NULL, NULL },
	{ TEXT("{" V ",\"id\":1,\"method\":\"\xFF\",}"), MSG_SYNTAX, FRAME_RAW,
	    NULL, NULL, NULL, NULL, NULL },
};

/* A part is where it says, and says what it should. */
static void
check_part(const struct frame *f, struct span part, const char *want)
{
	if (want == NULL) {
		ck_assert_ptr_null(part.p);
		return;
	}
	ck_assert(part.p >= f->text.p);
	ck_assert(part.p + part.n <= f->text.p + f->text.n);
	ck_assert_msg(span_is(part, want), "%.*s is not %s", (int)part.n,
	    part.p, want);
}

START_TEST(test_parse)
{
	struct frame *f;

	f = frame_copy(cases[_i].text);
	f->id = f->error = f->text; /* of an earlier use */
	f->kind = FRAME_ERROR;
	ck_assert_int_eq(msg_parse(f, 9), cases[_i].status);
	ck_assert_int_eq(f->kind, cases[_i].kind);
	check_part(f, f->id, cases[_i].id);
	check_part(f, f->method, cases[_i].method);
	check_part(f, f->params, cases[_i].params);
	check_part(f, f->result, cases[_i].result);
	check_part(f, f->error, cases[_i].error);
	frame_unref(f);
}
END_TEST

static struct frame *
parsed(struct span text)
{
	struct frame *f;

	f = frame_copy(text);
	ck_assert_int_eq(msg_parse(f, 512), MSG_OK);
	return f;
}

/* Both frames have the same bytes and the same parts at the same places. */
static void
check_equal(const struct frame *a, const struct frame *b)
{
	ck_assert(span_eq(a->text, b->text));
	ck_assert_int_eq(a->kind, b->kind);
	ck_assert_int_eq(a->ambiguous, b->ambiguous);
	ck_assert(span_eq(a->id, b->id));
	ck_assert(span_eq(a->method, b->method));
	ck_assert(span_eq(a->params, b->params));
	ck_assert(span_eq(a->result, b->result));
	ck_assert(span_eq(a->error, b->error));
	if (a->id.p != NULL)
		ck_assert_uint_eq((size_t)(a->id.p - a->text.p),
		    (size_t)(b->id.p - b->text.p));
}

static const struct {
	const char *text, *id, *want; /* want NULL: f itself */
} splices[] = {
	{ "{" V ",\"id\":1,\"method\":\"a\"}", "\"long id\"",
	    "{" V ",\"id\":\"long id\",\"method\":\"a\"}" },
	{ "{\"id\":\"long\"," V ",\"method\":\"a\",\"params\":{\"id\":1}}", "2",
	    "{\"id\":2," V ",\"method\":\"a\",\"params\":{\"id\":1}}" },
	{ "{\"result\":{\"id\":1}," V ", \"id\" : 1 }", "-7",
	    "{\"result\":{\"id\":1}," V ", \"id\" : -7 }" },
	{ "{" V ",\"id\":1,\"error\":{},\"id\":2}", "3",
	    "{" V ",\"id\":1,\"error\":{},\"id\":3}" },
	{ "{" V ",\"id\":null,\"error\":{}}", "3",
	    "{" V ",\"id\":3,\"error\":{}}" },
	{ "{" V ",\"id\":1,\"method\":\"a\"}", "1", NULL },
	{ "{" V ",\"id\":\"a\",\"method\":\"a\"}", "\"a\"", NULL },
	{ "{" V ",\"id\":1,\"method\":\"a\"}", "1.0",
	    "{" V ",\"id\":1.0,\"method\":\"a\"}" },
	{ "{" V ",\"method\":\"a\",\"params\":[]}", "5",
	    "{\"id\":5," V ",\"method\":\"a\",\"params\":[]}" },
	{ " { \"error\":{}," V "}", "\"x\"",
	    " {\"id\":\"x\", \"error\":{}," V "}" },
};

START_TEST(test_with_id)
{
	struct frame *f, *made, *again;

	f = parsed(span_of(splices[_i].text));
	made = msg_with_id(f, span_of(splices[_i].id));
	if (splices[_i].want == NULL) {
		ck_assert_ptr_eq(made, f);
		ck_assert_uint_eq(f->refs, 2);
	} else {
		ck_assert(span_is(made->text, splices[_i].want));
		ck_assert(span_is(f->text, splices[_i].text));
		ck_assert_int_eq(made->text.p[made->text.n], '\n');
		again = parsed(made->text);
		check_equal(made, again);
		frame_unref(again);
	}
	frame_unref(made);
	frame_unref(f);
}
END_TEST

/* A message with n bytes of arguments. */
static struct frame *
large(size_t n)
{
	struct frame *f;
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "{" V ",\"params\":{\"x\":\"");
	while (b.n < n)
		buf_addc(&b, 'x');
	buf_adds(&b, "\"},\"method\":\"m\",\"id\":\"old\"}");
	f = parsed(buf_span(&b));
	buf_free(&b);
	return f;
}

/* There and back again is the same, in small frames and in large ones. */
START_TEST(test_splice_back)
{
	static const size_t sizes[] = { 10, 4000, 4040, 4090, 5000, 200000 };
	struct frame *f, *other, *back;
	size_t i;

	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		f = large(sizes[i]);
		other = msg_with_id(f, span_of("123456789012345"));
		back = msg_with_id(other, f->id);
		check_equal(f, back);
		ck_assert(span_is(other->method, "m"));
		frame_unref(f);
		frame_unref(other);
		frame_unref(back);
	}
}
END_TEST

static const struct {
	const char *a, *b;
	bool same;
} ids[] = {
	{ "1", "1", true },
	{ "1", "2", false },
	{ "1", "\"1\"", false },
	{ "1", "1.0", true },
	{ "1", "10e-1", true },
	{ "100", "1e2", true },
	{ "0", "-0", true },
	{ "-1", "1", false },
	{ "9007199254740993", "9007199254740992", true },
	{ "9007199254740993", "9007199254740995", false },
	{ "0.1", "0.10", true },
	{ "1e999", "1e999", true },
	{ "\"a\"", "\"a\"", true },
	{ "\"a\"", "\"b\"", false },
	{ "\"a\"", "\"ab\"", false },
	{ "\"a\"", "\"\\u0061\"", true },
	{ "\"/\"", "\"\\/\"", true },
	{ "\"\\ud83d\\ude00\"", "\"\xF0\x9F\x98\x80\"", true },
	{ "\"\\n\"", "\"\\u000A\"", true },
	{ "\"\\n\"", "\"n\"", false },
	/* The longest way to say it. */
	{ "\"abcabcabcabc\"",
	    "\"\\u0061\\u0062\\u0063\\u0061\\u0062\\u0063"
	    "\\u0061\\u0062\\u0063\\u0061\\u0062\\u0063\"",
	    true },
	{ "\"\"", "\"\"", true },
	{ "\"\"", "0", false },
	{ "\"1\"", "\"1.0\"", false },
	{ "1",
	    "1.000000000000000000000000000000000000000000000000000000000"
	    "0000000000000000000000",
	    true },
	{ "null", "1", false },
	{ "null", "\"null\"", false },
};

START_TEST(test_id_same)
{
	struct span a = span_of(ids[_i].a), b = span_of(ids[_i].b);

	ck_assert_int_eq(msg_id_same(a, b), ids[_i].same);
	ck_assert_int_eq(msg_id_same(b, a), ids[_i].same);
	ck_assert(msg_id_same(a, a));
	if (ids[_i].same)
		ck_assert_uint_eq(msg_id_hash(a), msg_id_hash(b));
	else
		ck_assert_uint_ne(msg_id_hash(a), msg_id_hash(b));
	ck_assert(!msg_id_same(absent, a));
	ck_assert(!msg_id_same(a, absent));
}
END_TEST

/* Behind the version of a tools/call with an id; a "!" stands for another
 * method. */
static const struct {
	const char *rest;
	bool ambiguous;
} readings[] = {
	{ "", false },
	{ "\"params\":{\"name\":\"a\",\"_meta\":{\"Name\":1},"
	  "\"arguments\":{\"name\":1,\"Name\":2,\"n\\u0061me\":3}}",
	    false },
	{ "\"params\":[{\"name\":1,\"name\":2}],\"x\":1,\"x\":2,\"methods\":3",
	    false },
	{ "\"params\":{\"x\":1,\"x\":2,\"names\":1,\"\":3}", false },
	{ "\"result\\u0073\":1", true },
	{ "\"jsonrpc\":\"2.0\"", true },
	{ "\"id\":1", true },
	{ "\"method\":\"a\"", true },
	{ "\"Method\":\"b\"", true },
	{ "\"ID\":2", true },
	{ "\"JsonRpc\":2", true },
	{ "\"RESULT\":2", true },
	{ "\"eRROR\":2", true },
	{ "\"params\":{},\"params\":{}", true },
	{ "\"params\":{},\"Params\":{}", true },
	{ "\"params\":{},\"param\xC5\xBF\":{}", true },
	{ "\"params\":{},\"param\\u017f\":{}", true },
	{ "\"params\":{},\"params\\u0000\":{}", true },
	{ "\"p\\u0061rams\":{}", true },
	{ "\"\xC4\xB1"
	  "d\":3",
	    true },
	{ "\"\xE2\x84\xAA\":3", true },
	{ "\"params\":{\"name\":\"a\",\"name\":\"a\"}", true },
	{ "\"params\":{\"name\":\"a\",\"Name\":\"b\"}", true },
	{ "\"params\":{\"NAME\":\"b\"}", true },
	{ "\"params\":{\"\\u006eame\":\"b\"}", true },
	{ "\"params\":{\"name\":\"a\",\"\\u006eame\":\"b\"}", true },
	{ "\"params\":{\"name\":\"a\",\"\\u004eame\":\"b\"}", true },
	{ "\"params\":{\"name\":\"a\",\"name\\u0000\":\"b\"}", true },
	{ "\"params\":{\"name\":\"a\",\"n\\u0000ame\":\"b\"}", true },
	{ "\"params\":{\"_meta\":{},\"_meta\":{}}", true },
	{ "\"params\":{\"_META\":{}}", true },
	{ "\"params\":{\"name\":\"a\",\"_na-Me_\":\"b\"}", true },
	{ "\"params\":{\"name\":\"a\",\"na_mes\":\"b\",\"meta\":{}}", false },
	{ "\"json-rpc\":\"2.0\"", true },
	{ "\"params\":{},\"PARAMS_\":{}", true },
	/* No tool is named in the params of other methods. */
	{ "!prompts\\/get\",\"params\":{\"name\":1,\"name\":2,\"Name\":3}",
	    false },
	{ "!tools\\/call\",\"params\":{\"Name\":\"b\"}", true },
	{ "!prompts/get\",\"Params\":{}", true },
	{ "!tools/call\\u0000\"", true },
	{ "!tools\\u002fcall\"", false },
};

START_TEST(test_readings)
{
	const char *rest = readings[_i].rest;
	bool other_method = *rest == '!';
	char *text = xasprintf("{" V ",\"id\":1,\"method\":\"%s%s%s}",
	    other_method ? "" : "tools/call\"",
	    other_method || *rest == '\0' ? "" : ",", rest + other_method);
	struct frame *f = frame_copy(span_of(text)), *other;

	f->ambiguous = !readings[_i].ambiguous; /* of an earlier use */
	ck_assert_int_eq(msg_parse(f, 512), MSG_OK);
	ck_assert_int_eq(f->ambiguous, readings[_i].ambiguous);
	other = msg_with_id(f, span_of("\"x\""));
	ck_assert_int_eq(other->ambiguous, readings[_i].ambiguous);
	frame_unref(other);
	frame_unref(f);
	free(text);
}
END_TEST

static const struct {
	struct span text;
	enum msg_status status;
	const char *want;
	bool scrubbed;
} servers[] = {
	{ TEXT("{" V ",\"id\":1,\"result\":{}}"), MSG_OK,
	    "{" V ",\"id\":1,\"result\":{}}", false },
	{ TEXT("{\r\n\t" V ",\n \"id\": 1,\r \"result\": {\n}\n}\n"), MSG_OK,
	    "{  \t" V ",  \"id\": 1,  \"result\": { } }", false },
	{ TEXT("{" V ",\"method\":\"a\",\"Method\":\"b\"}"), MSG_OK,
	    "{" V ",\"method\":\"a\",\"Method\":\"b\"}", false },
	{ TEXT("\n\n{" V ",\"method\":\"a\\n\\r\"}"), MSG_OK,
	    "{" V ",\"method\":\"a\\n\\r\"}", false },
	{ TEXT("\xEF\xBB\xBF{" V ",\"id\":1,\"result\":{}}"), MSG_OK,
	    "{" V ",\"id\":1,\"result\":{}}", false },
	{ TEXT("\xEF\xBB\xBF \t{" V ",\"id\":1,\"result\":{} }\r\n \t"), MSG_OK,
	    "{" V ",\"id\":1,\"result\":{} }", false },
	{ TEXT("{" V ",\"id\":1,\"result\":{}} \n\r\n"), MSG_OK,
	    "{" V ",\"id\":1,\"result\":{}}", false },
	/* What some readers take for the end of a line. */
	{ TEXT(" {" V ",\"id\":\"\xE2\x80\xA8\",\n\"result\":{"
	       "\"\xC2\x85k\":\"\xE2\x80\xA9\xE2\x80\xA7\xC2\x84\"}}\n"),
	    MSG_OK,
	    "{" V ",\"id\":\"\\u2028\", \"result\":{"
	    "\"\\u0085k\":\"\\u2029\xE2\x80\xA7\xC2\x84\"}}",
	    false },
	{ TEXT("{" V ",\"method\":\"\xFF\xC2\x85\"}"), MSG_OK,
	    "{" V ",\"method\":\"\xEF\xBF\xBD\\u0085\"}", true },
	{ TEXT("{" V ",\"id\":1,\"result\":{}}\xC2\x85"), MSG_SYNTAX, NULL,
	    false },
	{ TEXT("{" V ",\"id\":1,\n\"result\":\"a\xFF"
	       "b\xE2\x82\"}"),
	    MSG_OK,
	    "{" V ",\"id\":1, \"result\":\"a\xEF\xBF\xBD"
	    "b\xEF\xBF\xBD"
	    "\xEF\xBF\xBD\"}",
	    true },
	{ TEXT("{" V ",\"id\":\"\xFF\",\"result\":\"\xC3\xA9\"}"), MSG_OK,
	    "{" V ",\"id\":\"\xEF\xBF\xBD\",\"result\":\"\xC3\xA9\"}", true },
	{ TEXT("{" V ",\"id\":1,\"result\":\"a\nb\"}"), MSG_SYNTAX, NULL,
	    false },
	{ TEXT("Not Found\n"), MSG_SYNTAX, NULL, false },
	{ TEXT("\xFF"), MSG_SYNTAX, NULL, false },
	{ TEXT(""), MSG_SYNTAX, NULL, false },
	{ TEXT("{\"error\":\"session\n\"}"), MSG_SYNTAX, NULL, false },
	{ TEXT("{\"error\":\n\"no session\"}"), MSG_INVALID, NULL, false },
	{ TEXT("\n[{" V ",\"method\":\"a\"}]"), MSG_BATCH, NULL, false },
	{ TEXT("[{" V ",\"method\":\"\xFF\"}]"), MSG_BATCH, NULL, false },
};

START_TEST(test_from_server)
{
	struct frame *f, *again;
	struct buf b;
	bool scrubbed;

	buf_init(&b, 0);
	buf_addspan(&b, servers[_i].text);
	ck_assert_int_eq(msg_from_server(&b, 512, &f, &scrubbed),
	    servers[_i].status);
	if (servers[_i].status == MSG_OK) {
		ck_assert_msg(span_is(f->text, servers[_i].want), "%.*s",
		    (int)f->text.n, f->text.p);
		ck_assert_int_eq(f->text.p[f->text.n], '\n');
		ck_assert_int_eq(scrubbed, servers[_i].scrubbed);
		again = parsed(f->text);
		check_equal(f, again);
		frame_unref(again);
		frame_unref(f);
		ck_assert_uint_eq(b.n, 0);
	} else {
		ck_assert_ptr_null(f);
		ck_assert(span_eq(buf_span(&b), servers[_i].text));
	}
	buf_free(&b);
}
END_TEST

/* A large one keeps its bytes where they are, and its parts follow. */
START_TEST(test_from_server_large)
{
	struct frame *f, *got;
	struct buf b;
	bool scrubbed;

	f = large(300000);
	buf_init(&b, 0);
	buf_addspan(&b, f->text);
	ck_assert_int_eq(msg_from_server(&b, 512, &got, &scrubbed), MSG_OK);
	check_equal(f, got);
	ck_assert_uint_eq(b.n, 0);
	ck_assert_ptr_null(b.p);
	frame_unref(f);
	frame_unref(got);
}
END_TEST

/* Mending makes it longer; the cap holds. */
START_TEST(test_from_server_cap)
{
	static const char text[] = "{" V ",\"id\":1,\"result\":\"\xFF\"}";
	static const char line[] = "{" V ",\"method\":\"\xC2\x85\"}";
	struct frame *f;
	struct buf b;
	bool scrubbed;

	buf_init(&b, sizeof text - 1 + 1);
	buf_adds(&b, text);
	ck_assert_int_eq(msg_from_server(&b, 512, &f, &scrubbed), MSG_UTF8);
	ck_assert_str_eq(buf_str(&b), text);
	buf_free(&b);
	buf_init(&b, sizeof text - 1 + 2);
	buf_adds(&b, text);
	ck_assert_int_eq(msg_from_server(&b, 512, &f, &scrubbed), MSG_OK);
	frame_unref(f);
	buf_free(&b);
	buf_init(&b, sizeof line - 1 + 3);
	buf_adds(&b, line);
	ck_assert_int_eq(msg_from_server(&b, 512, &f, &scrubbed), MSG_UTF8);
	ck_assert(!scrubbed);
	ck_assert_str_eq(buf_str(&b), line);
	buf_free(&b);
}
END_TEST

static void
on_element(struct frame *f, void *arg)
{
	buf_addf(arg, "%d:", (int)f->kind);
	buf_addspan(arg, f->text);
	buf_addc(arg, '\n');
	frame_unref(f);
}

START_TEST(test_batch)
{
	static const char text[] = " [ {" V ",\"id\":1,\n\"result\":{}} , 7,"
				   "{" V
				   ",\"method\":\"\xFF\"},[],\n{\"id\":2},"
				   "{" V ",\"id\":3,\"method\":\"]\"} ]";
	struct buf told;

	buf_init(&told, 0);
	ck_assert_uint_eq(msg_batch(span_of(text), 512, on_element, &told), 3);
	ck_assert_str_eq(buf_str(&told),
	    "3:{" V ",\"id\":1, \"result\":{}}\n"
	    "2:{" V ",\"method\":\"\xEF\xBF\xBD\"}\n"
	    "1:{" V ",\"id\":3,\"method\":\"]\"}\n");
	buf_reset(&told);
	ck_assert_uint_eq(msg_batch(span_of("[]"), 512, on_element, &told), 0);
	ck_assert_uint_eq(told.n, 0);
	buf_free(&told);
}
END_TEST

static void
on_counted(struct frame *f, void *arg)
{
	size_t *n = arg;

	(*n)++;
	frame_unref(f);
}

START_TEST(test_batch_of_too_many)
{
	size_t i, told, extra = (size_t)_i;
	struct buf b;

	buf_init(&b, 0);
	buf_addc(&b, '[');
	for (i = 0; i < BOUND_MANY + extra; i++)
		buf_adds(&b,
		    i > 0 ? ",{" V ",\"method\":\"n\"}" :
			    "{" V ",\"method\":\"n\"}");
	buf_addc(&b, ']');
	told = 0;
	ck_assert_uint_eq(msg_batch(buf_span(&b), 512, on_counted, &told),
	    extra == 0 ? 0 : SIZE_MAX);
	ck_assert_uint_eq(told, extra == 0 ? BOUND_MANY : 0);
	buf_free(&b);
}
END_TEST

static void
check_made(struct frame *f, enum frame_kind kind, const char *want)
{
	ck_assert_msg(span_is(f->text, want), "%.*s is not %s", (int)f->text.n,
	    f->text.p, want);
	ck_assert_int_eq(f->text.p[f->text.n], '\n');
	ck_assert_int_eq(f->kind, kind);
	frame_unref(f);
}

START_TEST(test_made)
{
	check_made(msg_error(span_of("7"), -32603, "It \"broke\".\n",
		       span_of("{\"a\":1}")),
	    FRAME_ERROR,
	    "{" V ",\"id\":7,\"error\":"
	    "{\"code\":-32603,\"message\":\"It \\\"broke\\\".\\n\","
	    "\"data\":{\"a\":1}}}");
	check_made(msg_error(absent, -32700, "x\xFF", absent), FRAME_ERROR,
	    "{" V ",\"error\":{\"code\":-32700,\"message\":"
	    "\"x\xEF\xBF\xBD\"}}");
	check_made(msg_result(span_of("\"a\""), "{}"), FRAME_RESULT,
	    "{" V ",\"id\":\"a\",\"result\":{}}");
	check_made(msg_call(span_of("1"), "ping", absent), FRAME_REQUEST,
	    "{" V ",\"id\":1,\"method\":\"ping\"}");
	check_made(msg_call(absent, "notifications/cancelled",
		       span_of("{\"requestId\":1}")),
	    FRAME_NOTIFICATION,
	    "{" V ",\"method\":\"notifications/cancelled\","
	    "\"params\":{\"requestId\":1}}");
}
END_TEST

static const struct {
	const char *error;
	long code;
	const char *message;
} errors[] = {
	{ "{\"code\":-32600,\"message\":\"a\\n\\u00e9\"}", -32600,
	    "a\n\xC3\xA9" },
	{ "{\"message\":\"x\",\"code\":32600}", 32600, "x" },
	{ "{\"code\":-3.26e4}", -32600, "" },
	{ "{\"code\":\"-32600\",\"message\":7}", 0, "" },
	{ "{\"code\":1e300}", 0, "" },
	{ "{\"code\":1,\"code\":2}", 2, "" },
	{ "{\"data\":{\"code\":1,\"message\":\"x\"}}", 0, "" },
	{ "{}", 0, "" },
};

START_TEST(test_error)
{
	struct frame *f;
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "{" V ",\"error\":");
	buf_adds(&b, errors[_i].error);
	buf_adds(&b, "}");
	f = parsed(buf_span(&b));
	buf_reset(&b);
	ck_assert_int_eq(msg_error_code(f), errors[_i].code);
	msg_error_text(f, &b);
	ck_assert_str_eq(buf_str(&b), errors[_i].message);
	buf_free(&b);
	frame_unref(f);
	f = parsed(span_of("{" V ",\"id\":1,\"result\":{\"code\":5}}"));
	ck_assert_int_eq(msg_error_code(f), 0);
	frame_unref(f);
}
END_TEST

/* The deepest that is read without an option; the message itself is one. */
START_TEST(test_depth)
{
	size_t i, n = BOUND_MAX_DEPTH - 1 + (size_t)_i;
	struct frame *f;
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "{" V ",\"id\":1,\"method\":\"a\",\"params\":");
	for (i = 0; i < n; i++)
		buf_addc(&b, '[');
	for (i = 0; i < n; i++)
		buf_addc(&b, ']');
	buf_addc(&b, '}');
	f = frame_copy(buf_span(&b));
	ck_assert_int_eq(msg_parse(f, BOUND_MAX_DEPTH),
	    _i == 0 ? MSG_OK : MSG_SYNTAX);
	frame_unref(f);
	buf_free(&b);
}
END_TEST

/* 1 MiB of brackets is refused, not followed. */
START_TEST(test_deep)
{
	struct frame *f;
	struct buf b;
	size_t i;

	buf_init(&b, 0);
	buf_adds(&b, "{" V ",\"id\":1,\"method\":\"a\",\"params\":");
	for (i = 0; i < 1048576; i++)
		buf_addc(&b, '[');
	f = frame_copy(buf_span(&b));
	ck_assert_int_eq(msg_parse(f, 512), MSG_SYNTAX);
	frame_unref(f);
	buf_free(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("msg");
	TCase *tc = tcase_create("msg");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_parse, 0, COUNT(cases));
	tcase_add_loop_test(tc, test_with_id, 0, COUNT(splices));
	tcase_add_test(tc, test_splice_back);
	tcase_add_loop_test(tc, test_id_same, 0, COUNT(ids));
	tcase_add_loop_test(tc, test_readings, 0, COUNT(readings));
	tcase_add_loop_test(tc, test_from_server, 0, COUNT(servers));
	tcase_add_test(tc, test_from_server_large);
	tcase_add_test(tc, test_from_server_cap);
	tcase_add_test(tc, test_batch);
	tcase_add_loop_test(tc, test_batch_of_too_many, 0, 2);
	tcase_add_test(tc, test_made);
	tcase_add_loop_test(tc, test_error, 0, COUNT(errors));
	tcase_add_loop_test(tc, test_depth, 0, 2);
	tcase_add_test(tc, test_deep);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
