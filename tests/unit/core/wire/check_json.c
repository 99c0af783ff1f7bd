/* The JSON check, fault by fault, and the cursor. */
#include "config.h"

#include "core/wire/json.h"

#include <limits.h>
#include <stdlib.h>

#include "unit/unit.h"

#define TEXT(s)                                                                \
	{                                                                      \
		s, sizeof(s) - 1                                               \
	}

static const struct {
	struct span text;
	enum json_status want;
	size_t at; /* of the fault */
} cases[] = {
	/* Values. */
	{ TEXT("{}"), JSON_OK, 0 },
	{ TEXT("[]"), JSON_OK, 0 },
	{ TEXT("null"), JSON_OK, 0 },
	{ TEXT("true"), JSON_OK, 0 },
	{ TEXT("false"), JSON_OK, 0 },
	{ TEXT("\"\""), JSON_OK, 0 },
	{ TEXT(" \t\r\n[ 1 , 2 ] \t\r\n"), JSON_OK, 0 },
	{ TEXT("{\"a\":{\"b\":[1,{\"c\":null}]},\"a\":2}"), JSON_OK, 0 },
	{ TEXT("{ \"a\" : 1 , \"b\" : [ ] , \"c\" : { } }"), JSON_OK, 0 },
	{ TEXT("{\"\":0}"), JSON_OK, 0 },
	{ TEXT("[[],{},[[]],\"\"]"), JSON_OK, 0 },
	/* Nothing, or too much. */
	{ TEXT(""), JSON_SYNTAX, 0 },
	{ TEXT("  "), JSON_SYNTAX, 2 },
	{ TEXT("1 2"), JSON_SYNTAX, 2 },
	{ TEXT("{}{}"), JSON_SYNTAX, 2 },
	{ TEXT("[]]"), JSON_SYNTAX, 2 },
	{ TEXT("{}\0"), JSON_SYNTAX, 2 },
	{ TEXT("\0"), JSON_SYNTAX, 0 },
	{ TEXT("[1\0]"), JSON_SYNTAX, 2 },
	{ TEXT("\xEF\xBB\xBF{}"), JSON_SYNTAX, 0 },
	{ TEXT("\xC2\xA0{}"), JSON_SYNTAX, 0 },
	{ TEXT("\f1"), JSON_SYNTAX, 0 },
	{ TEXT("/**/1"), JSON_SYNTAX, 0 },
	/* Structure. */
	{ TEXT("["), JSON_SYNTAX, 1 },
	{ TEXT("[1"), JSON_SYNTAX, 2 },
	{ TEXT("[1,"), JSON_SYNTAX, 3 },
	{ TEXT("[1,]"), JSON_SYNTAX, 3 },
	{ TEXT("[,1]"), JSON_SYNTAX, 1 },
	{ TEXT("[1 2]"), JSON_SYNTAX, 3 },
	{ TEXT("[1}"), JSON_SYNTAX, 2 },
	{ TEXT("[}"), JSON_SYNTAX, 1 },
	{ TEXT("[1:2]"), JSON_SYNTAX, 2 },
	{ TEXT("]"), JSON_SYNTAX, 0 },
	{ TEXT("{"), JSON_SYNTAX, 1 },
	{ TEXT("{\"a\""), JSON_SYNTAX, 4 },
	{ TEXT("{\"a\":"), JSON_SYNTAX, 5 },
	{ TEXT("{\"a\":1"), JSON_SYNTAX, 6 },
	{ TEXT("{\"a\":1,"), JSON_SYNTAX, 7 },
	{ TEXT("{\"a\":1,}"), JSON_SYNTAX, 7 },
	{ TEXT("{\"a\" 1}"), JSON_SYNTAX, 5 },
	{ TEXT("{\"a\":}"), JSON_SYNTAX, 5 },
	{ TEXT("{\"a\",1}"), JSON_SYNTAX, 4 },
	{ TEXT("{a:1}"), JSON_SYNTAX, 1 },
	{ TEXT("{1:1}"), JSON_SYNTAX, 1 },
	{ TEXT("{'a':1}"), JSON_SYNTAX, 1 },
	{ TEXT("{\"a\":1]"), JSON_SYNTAX, 6 },
	{ TEXT("{]"), JSON_SYNTAX, 1 },
	{ TEXT("{\"a\":[1}"), JSON_SYNTAX, 7 },
	{ TEXT("[{\"a\":1],2]"), JSON_SYNTAX, 7 },
	{ TEXT("{\"a\":[]\"b\":1}"), JSON_SYNTAX, 7 },
	/* Numbers. */
	{ TEXT("0"), JSON_OK, 0 },
	{ TEXT("-0"), JSON_OK, 0 },
	{ TEXT("123456789012345678901234567890"), JSON_OK, 0 },
	{ TEXT("-1.50e+10"), JSON_OK, 0 },
	{ TEXT("1E400"), JSON_OK, 0 },
	{ TEXT("0e-0"), JSON_OK, 0 },
	{ TEXT("01"), JSON_SYNTAX, 1 },
	{ TEXT("-01"), JSON_SYNTAX, 2 },
	{ TEXT("00"), JSON_SYNTAX, 1 },
	{ TEXT("+1"), JSON_SYNTAX, 0 },
	{ TEXT("-"), JSON_SYNTAX, 1 },
	{ TEXT("--1"), JSON_SYNTAX, 1 },
	{ TEXT("1."), JSON_SYNTAX, 2 },
	{ TEXT(".5"), JSON_SYNTAX, 0 },
	{ TEXT("1.e1"), JSON_SYNTAX, 2 },
	{ TEXT("1e"), JSON_SYNTAX, 2 },
	{ TEXT("1e+"), JSON_SYNTAX, 3 },
	{ TEXT("1e1.5"), JSON_SYNTAX, 3 },
	{ TEXT("0x10"), JSON_SYNTAX, 1 },
	{ TEXT("1_000"), JSON_SYNTAX, 1 },
	{ TEXT("NaN"), JSON_SYNTAX, 0 },
	{ TEXT("Infinity"), JSON_SYNTAX, 0 },
	{ TEXT("-Infinity"), JSON_SYNTAX, 1 },
	/* Words. */
	{ TEXT("tru"), JSON_SYNTAX, 3 },
	{ TEXT("trux"), JSON_SYNTAX, 3 },
	{ TEXT("truee"), JSON_SYNTAX, 4 },
	{ TEXT("True"), JSON_SYNTAX, 0 },
	{ TEXT("nul"), JSON_SYNTAX, 3 },
	{ TEXT("undefined"), JSON_SYNTAX, 0 },
	{ TEXT("[truefalse]"), JSON_SYNTAX, 5 },
	/* Strings. */
	{ TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00Ff\""), JSON_OK, 0 },
	{ TEXT("\"\\ud83d\\ude00\""), JSON_OK, 0 },
	{ TEXT("\"\\ud800\""), JSON_OK, 0 },
	{ TEXT("\"\\udc00\\ud800x\""), JSON_OK, 0 },
	{ TEXT("\"\\u0000\""), JSON_OK, 0 },
	{ TEXT("\"\x7F\""), JSON_OK, 0 },
	{ TEXT("\"\xC2\x80\xEF\xBF\xBF\xF4\x8F\xBF\xBF\""), JSON_OK, 0 },
	{ TEXT("\""), JSON_SYNTAX, 1 },
	{ TEXT("\"abc"), JSON_SYNTAX, 4 },
	{ TEXT("\"abc\\"), JSON_SYNTAX, 5 },
	{ TEXT("\"abc\\\""), JSON_SYNTAX, 6 },
	{ TEXT("\"\\x\""), JSON_SYNTAX, 2 },
	{ TEXT("\"\\\0\""), JSON_SYNTAX, 2 },
	{ TEXT("\"\\'\""), JSON_SYNTAX, 2 },
	{ TEXT("\"\\U0041\""), JSON_SYNTAX, 2 },
	{ TEXT("\"\\u004\""), JSON_SYNTAX, 6 },
	{ TEXT("\"\\u00g0\""), JSON_SYNTAX, 5 },
	{ TEXT("\"\\u"), JSON_SYNTAX, 3 },
	{ TEXT("\"a\nb\""), JSON_SYNTAX, 2 },
	{ TEXT("\"a\rb\""), JSON_SYNTAX, 2 },
	{ TEXT("\"a\tb\""), JSON_SYNTAX, 2 },
	{ TEXT("\"a\0b\""), JSON_SYNTAX, 2 },
	{ TEXT("\"a\x1F\""), JSON_SYNTAX, 2 },
	{ TEXT("'a'"), JSON_SYNTAX, 0 },
	/* Something in the middle of words of eight bytes. */
	{ TEXT("\"abcdefghijk\\x0123456789\""), JSON_SYNTAX, 13 },
	{ TEXT("\"abcdefghijk\\n0123456789\""), JSON_OK, 0 },
	{ TEXT("\"abcdefghijk\"0123456789\""), JSON_SYNTAX, 13 },
	{ TEXT("\"abcdefghijk\xFF"
	       "0123456789\""),
	    JSON_UTF8, 12 },
	{ TEXT("\"\x1F"
	       "bcdefghijklmnop\""),
	    JSON_SYNTAX, 1 },
	{ TEXT("\"abcdefg\x1Fijklmnop\""), JSON_SYNTAX, 8 },
	{ TEXT("\"abcdefgh\x01jklmnop\""), JSON_SYNTAX, 9 },
	{ TEXT("\"abcdefghijklmno\x0A\""), JSON_SYNTAX, 16 },
	/* UTF-8. */
	{ TEXT("\"\xFF\""), JSON_UTF8, 1 },
	{ TEXT("\"ab\x80\""), JSON_UTF8, 3 },
	{ TEXT("\"\xE2\x82\""), JSON_UTF8, 1 },
	{ TEXT("\"\xC3\xA9\xC0\x80\""), JSON_UTF8, 3 },
	{ TEXT("\"\xED\xA0\x80\""), JSON_UTF8, 1 },
	{ TEXT("{\"\xFF\":\"\xFE\"}"), JSON_UTF8, 2 },
	{ TEXT("\"\xFF"), JSON_SYNTAX, 2 },
	{ TEXT("[\"\xFF\",]"), JSON_SYNTAX, 5 },
	{ TEXT("[\"\xFF\"]x"), JSON_SYNTAX, 5 },
	{ TEXT("[\"\xFF\n\"]"), JSON_SYNTAX, 3 },
	{ TEXT("[\xFF]"), JSON_SYNTAX, 1 },
	{ TEXT("[\"\xFF\",[[[[[1]]]]]]"), JSON_DEPTH, 9 },
	/* Depth: five here. */
	{ TEXT("[[[[[1]]]]]"), JSON_OK, 0 },
	{ TEXT("[[[[[[1]]]]]]"), JSON_DEPTH, 5 },
	{ TEXT("[[[[{\"a\":{}}]]]]"), JSON_DEPTH, 9 },
	{ TEXT("[[],[],[],[],[],[],[]]"), JSON_OK, 0 },
	{ TEXT("[\"\xE2\x80\xA7\", \"\xC2\x85\",\"\xE2\x80\xA8\"]"), JSON_OK,
	    9 },
	{ TEXT("\"\xE2\x80\xA9\"\n"), JSON_OK, 1 },
};

START_TEST(test_check)
{
	struct span text = cases[_i].text;
	size_t at, line = 0;

	while (line < text.n && text.p[line] != '\n' && text.p[line] != '\r')
		line++;
	if (cases[_i].want == JSON_OK && cases[_i].at != 0)
		line = cases[_i].at; /* of what else may end a line */
	ck_assert_int_eq(json_check(text, 5, NULL, NULL, &at), cases[_i].want);
	ck_assert_uint_eq(at, cases[_i].want == JSON_OK ? line : cases[_i].at);
	ck_assert_int_eq(json_check(cases[_i].text, 5, NULL, NULL, NULL),
	    cases[_i].want);
}
END_TEST

/* A text is good and each of its beginnings is not. */
START_TEST(test_prefixes)
{
	static const char text[] = "{\"a\":[1.5e3,true,\"\\u00e9\xC3\xA9\"],"
				   "\"b\":{\"c\":null}}";
	struct span part = { text, sizeof text - 1 };
	size_t at;

	ck_assert_int_eq(json_check(part, 9, NULL, NULL, NULL), JSON_OK);
	while (part.n-- > 0) {
		ck_assert_int_ne(json_check(part, 9, NULL, NULL, &at), JSON_OK);
		ck_assert_uint_le(at, part.n);
	}
}
END_TEST

/* A special byte is found wherever it stands, and what is before it is not. */
START_TEST(test_each_place)
{
	static const char special[] = { '"', '\\', '\x1f', '\0', '\xff' };
	char text[2 + 100];
	size_t i, n, at;

	for (n = 0; n < 99; n++)
		for (i = 0; i < sizeof special; i++) {
			memset(text, "~}\x7f!"[n % 4], sizeof text);
			text[0] = text[sizeof text - 1] = '"';
			text[1 + n] = special[i];
			ck_assert_int_ne(json_check((struct span){ text,
							sizeof text },
					     1, NULL, NULL, &at),
			    JSON_OK);
			/* behind the quote, and at what is escaped */
			ck_assert_uint_eq(at, 1 + n + (i < 2));
		}
}
END_TEST

START_TEST(test_no_depth)
{
	ck_assert_int_eq(json_check(span_of("1"), 0, NULL, NULL, NULL),
	    JSON_OK);
	ck_assert_int_eq(json_check(span_of("[]"), 0, NULL, NULL, NULL),
	    JSON_DEPTH);
	ck_assert_int_eq(json_check((struct span){ NULL, 0 }, 1, NULL, NULL,
			     NULL),
	    JSON_SYNTAX);
}
END_TEST

/* n levels, arrays and objects in turn by a pattern that no word repeats. */
static struct span
nested(struct buf *b, size_t n)
{
	size_t i;

	buf_reset(b);
	for (i = 0; i < n; i++)
		buf_adds(b, i % 3 == 1 || i % 7 == 2 ? "{\"\":" : "[");
	buf_addc(b, '1');
	while (i-- > 0)
		buf_addc(b, i % 3 == 1 || i % 7 == 2 ? '}' : ']');
	return buf_span(b);
}

START_TEST(test_deep)
{
	static const size_t depths[] = { 1, 63, 64, 65, 511, 512, 513, 1024,
		1025, 5000, 300000 };
	struct span text;
	struct buf b;
	size_t i, at, n;

	buf_init(&b, 0);
	for (i = 0; i < sizeof depths / sizeof *depths; i++) {
		n = depths[i];
		text = nested(&b, n);
		ck_assert_int_eq(json_check(text, (unsigned)n, NULL, NULL,
				     NULL),
		    JSON_OK);
		ck_assert_int_eq(json_check(text, UINT_MAX, NULL, NULL, NULL),
		    JSON_OK);
		ck_assert_int_eq(json_check(text, (unsigned)n - 1, NULL, NULL,
				     &at),
		    JSON_DEPTH);
		/* The innermost end is of the wrong sort. */
		b.p[text.n - n] = b.p[text.n - n] == ']' ? '}' : ']';
		ck_assert_int_eq(json_check(text, UINT_MAX, NULL, NULL, &at),
		    JSON_SYNTAX);
		ck_assert_uint_eq(at, text.n - n);
	}
	buf_free(&b);
}
END_TEST

/* 1 MiB of opening brackets. */
START_TEST(test_only_open)
{
	struct span text;
	struct buf b;
	size_t at;
	int i;

	buf_init(&b, 0);
	for (i = 0; i < 1048576; i++)
		buf_addc(&b, '[');
	text = buf_span(&b);
	ck_assert_int_eq(json_check(text, 512, NULL, NULL, &at), JSON_DEPTH);
	ck_assert_uint_eq(at, 512);
	ck_assert_int_eq(json_check(text, UINT_MAX, NULL, NULL, &at),
	    JSON_SYNTAX);
	ck_assert_uint_eq(at, 1048576);
	buf_free(&b);
}
END_TEST

static void
on_member(struct span key, struct span value, void *arg)
{
	buf_addspan(arg, key);
	buf_addc(arg, '=');
	buf_addspan(arg, value);
	buf_addc(arg, ';');
}

static const struct {
	const char *text, *want;
} members[] = {
	{ "{}", "" },
	{ " {\"a\":1}", "a=1;" },
	{ "{ \"a\" : [1, {\"x\":2}] , \"b\" :{\"y\": {}} ,\"c\":\"}\"}",
	    "a=[1, {\"x\":2}];b={\"y\": {}};c=\"}\";" },
	{ "{\"a\":1,\"a\":2,\"\\u0061\":3}", "a=1;a=2;\\u0061=3;" },
	{ "{\"a\\\"b\":[],\"\":{}}", "a\\\"b=[];={};" },
	{ "{\"a\":-1.5e3 ,\"b\":null }", "a=-1.5e3;b=null;" },
	{ "[{\"a\":1}]", "" },
	{ "\"a\"", "" },
};

/* The check and the cursor tell the same members. */
START_TEST(test_members)
{
	struct span text = span_of(members[_i].text), key, value;
	struct buf seen;
	size_t at = 0;

	buf_init(&seen, 0);
	ck_assert_int_eq(json_check(text, 9, on_member, &seen, NULL), JSON_OK);
	ck_assert_str_eq(buf_str(&seen), members[_i].want);
	if (*text.p == ' ') {
		text.p++;
		text.n--;
	}
	buf_reset(&seen);
	while (json_kind(text) == '{' && json_next(text, &at, &key, &value))
		on_member(key, value, &seen);
	ck_assert_str_eq(buf_str(&seen), members[_i].want);
	buf_free(&seen);
}
END_TEST

START_TEST(test_next_array)
{
	struct span text = span_of("[1, \"a,]\",[ [2],3 ] ,{\"k\":[4]},null ]");
	struct span key, value;
	static const char *const want[] = { "1", "\"a,]\"", "[ [2],3 ]",
		"{\"k\":[4]}", "null" };
	size_t at = 0, n = 0;

	while (json_next(text, &at, &key, &value)) {
		ck_assert_uint_lt(n, 5);
		ck_assert_ptr_null(key.p);
		ck_assert(span_is(value, want[n++]));
	}
	ck_assert_uint_eq(n, 5);
	ck_assert(!json_next(text, &at, &key, &value));
	at = 0;
	ck_assert(!json_next(span_of("[ ]"), &at, &key, &value));
	at = 0;
	ck_assert(!json_next(span_of("\"a\""), &at, &key, &value));
	at = 0;
	ck_assert(!json_next((struct span){ NULL, 0 }, &at, &key, &value));
}
END_TEST

START_TEST(test_get)
{
	struct span o = span_of("{\"a\":1,\"b\":{\"a\":2},\"\\u0061\":3,"
				"\"aa\":4,\"\":5,\"q\\\"\":6}");

	ck_assert(span_is(json_get(o, "a"), "3"));
	ck_assert(span_is(json_get(o, "aa"), "4"));
	ck_assert(span_is(json_get(o, ""), "5"));
	ck_assert(span_is(json_get(o, "q\""), "6"));
	ck_assert(span_is(json_get(json_get(o, "b"), "a"), "2"));
	ck_assert_ptr_null(json_get(o, "c").p);
	ck_assert_ptr_null(json_get(json_get(o, "a"), "a").p);
	ck_assert_ptr_null(json_get(span_of("[1]"), "a").p);
	ck_assert_ptr_null(json_get((struct span){ NULL, 0 }, "a").p);
}
END_TEST

static const struct {
	const char *quoted; /* a key lies between quotes, always */
	const char *name;
	bool same;
} keys[] = {
	{ "\"id\"", "id", true },
	{ "\"idx\"", "id", false },
	{ "\"i\"", "id", false },
	{ "\"ID\"", "id", false },
	{ "\"\\u0069d\"", "id", true },
	{ "\"\\u0069\\u0064\"", "id", true },
	{ "\"\\u0069dx\"", "id", false },
	{ "\"\\u0069\"", "", false },
	{ "\"\"", "", true },
	{ "\"\"", "id", false },
};

START_TEST(test_key_is)
{
	const char *quoted = keys[_i].quoted;
	struct span key = { quoted + 1, strlen(quoted) - 2 };

	ck_assert_int_eq(json_key_is(key, keys[_i].name), keys[_i].same);
}
END_TEST

static const struct {
	const char *value; /* NULL: a member that is not there */
	const char *text;
	bool same;
} said[] = {
	{ "\"text\"", "text", true },
	{ "\"t\\u0065xt\"", "text", true },
	{ "\"\"", "", true },
	{ "\"text\"", "tex", false },
	{ "\"tex\"", "text", false },
	{ "\"\"", "text", false },
	{ "text", "text", false },
	{ "5", "5", false },
	{ "null", "null", false },
	{ "\"", "", false },
	{ "", "", false },
	{ NULL, "", false },
};

START_TEST(test_string_is)
{
	const char *value = said[_i].value;
	/* on the heap up to its end, so that a look past it is found out */
	size_t n = value == NULL ? 0 : strlen(value);
	char *block = xmalloc(n + 1);
	struct span v = { value == NULL ? NULL : block + 1, n };

	memcpy(block + 1, value == NULL ? "" : value, n);
	ck_assert_int_eq(json_string_is(v, said[_i].text), said[_i].same);
	free(block);
}
END_TEST

static const struct {
	const char *text;
	struct span want; /* p NULL: refused */
} strings[] = {
	{ "\"\"", TEXT("") },
	{ "\"abc\"", TEXT("abc") },
	{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", TEXT("\"\\/\b\f\n\r\t") },
	{ "\"\\u0041\\u00e9\\u20AC\"", TEXT("A\xC3\xA9\xE2\x82\xAC") },
	{ "\"x\\u0000y\"", TEXT("x\0y") },
	{ "\"\\uD83D\\uDE00!\"", TEXT("\xF0\x9F\x98\x80!") },
	{ "\"\\udbff\\udfff\"", TEXT("\xF4\x8F\xBF\xBF") },
	{ "\"\\ud800\"", TEXT("\xEF\xBF\xBD") },
	{ "\"\\udc00\"", TEXT("\xEF\xBF\xBD") },
	{ "\"\\ud800x\"", TEXT("\xEF\xBF\xBDx") },
	{ "\"\\ud800\\n\"", TEXT("\xEF\xBF\xBD\n") },
	{ "\"\\ud800\\u0041\"",
	    TEXT("\xEF\xBF\xBD"
		 "A") },
	{ "\"\\ud800\\ud83d\\ude00\"", TEXT("\xEF\xBF\xBD\xF0\x9F\x98\x80") },
	{ "\"\xC3\xA9\"", TEXT("\xC3\xA9") },
	{ "1", { NULL, 0 } },
	{ "\"", { NULL, 0 } },
	{ "\"abc", { NULL, 0 } },
	{ "\"a\\\"", { NULL, 0 } },
	{ "\"a\\q\"", { NULL, 0 } },
	{ "\"a\\u12\"", { NULL, 0 } },
	{ "{}", { NULL, 0 } },
};

START_TEST(test_string)
{
	struct span want = strings[_i].want;
	struct buf out;

	buf_init(&out, 0);
	buf_adds(&out, ">");
	ck_assert_int_eq(json_string(span_of(strings[_i].text), &out),
	    want.p == NULL ? -1 : 0);
	ck_assert_uint_eq(out.n, 1 + want.n);
	ck_assert_mem_eq(out.p + 1, want.p == NULL ? "" : want.p, want.n);
	buf_free(&out);
}
END_TEST

START_TEST(test_string_full)
{
	struct buf out;

	buf_init(&out, 4);
	buf_addc(&out, '>');
	ck_assert_int_eq(json_string(span_of("\"abcd\""), &out), -1);
	ck_assert_int_eq(json_string(span_of("\"ab\\u20ac\""), &out), -1);
	ck_assert_uint_eq(out.n, 1);
	ck_assert_int_eq(json_string(span_of("\"ab\\n\""), &out), 0);
	ck_assert_str_eq(buf_str(&out), ">ab\n");
	buf_free(&out);
}
END_TEST

/* CPU seconds for one kind of text of about n bytes; the best of three. */
static double
seconds(const char *open, const char *unit, const char *close, size_t n)
{
	struct span key, value;
	double start, t;
	struct buf b;
	size_t at;
	int i;

	buf_init(&b, 0);
	buf_adds(&b, open);
	while (b.n < n)
		buf_adds(&b, unit);
	buf_adds(&b, close);
	start = unit_cpu();
	for (i = 0; !unit_measured(start, i, &t); i++) {
		ck_assert_int_eq(json_check(buf_span(&b), UINT_MAX, NULL, NULL,
				     NULL),
		    JSON_OK);
		at = 0;
		while (json_next(buf_span(&b), &at, &key, &value))
			continue;
	}
	buf_free(&b);
	return t;
}

/* Sixteen times the text must not take more than forty times as long. */
START_TEST(test_linear)
{
	static const struct {
		const char *open, *unit, *close;
	} kinds[] = {
		{ "[0", ",0", "]" },
		{ "{\"a\":0", ",\"\\u0061\":0", "}" },
		{ "[\"", "\\\\", "\"]" },
		{ "[\"", "\xC3\xA9", "\"]" },
		{ "[0", ",[[],{}]", "]" },
		{ "[0", "       \n", ",1]" },
	};
	double small, large;
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		small = seconds(kinds[i].open, kinds[i].unit, kinds[i].close,
		    262144);
		large = seconds(kinds[i].open, kinds[i].unit, kinds[i].close,
		    16 * 262144);
		ck_assert_msg(large < 40 * (small + 0.0005),
		    "kind %zu: %.4f s, sixteen times as much: %.4f s", i, small,
		    large);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("json");
	TCase *tc = tcase_create("json");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_check, 0, COUNT(cases));
	tcase_add_test(tc, test_prefixes);
	tcase_add_test(tc, test_each_place);
	tcase_add_test(tc, test_no_depth);
	tcase_add_test(tc, test_deep);
	tcase_add_test(tc, test_only_open);
	tcase_add_loop_test(tc, test_members, 0, COUNT(members));
	tcase_add_test(tc, test_next_array);
	tcase_add_test(tc, test_get);
	tcase_add_loop_test(tc, test_key_is, 0, COUNT(keys));
	tcase_add_loop_test(tc, test_string_is, 0, COUNT(said));
	tcase_add_loop_test(tc, test_string, 0, COUNT(strings));
	tcase_add_test(tc, test_string_full);
	tcase_add_test(tc, test_linear);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
