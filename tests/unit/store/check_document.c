/*
 * store/document: what is no document, in every way that json-c would let
 * pass, and what members are taken for.
 */
#include "config.h"

#include "base/bounds.h"
#include "store/document.h"

#include "unit/unit.h"

#define CANARY "CANARY"

static struct json_object *
parse(const char *text)
{
	const char *why;
	struct json_object *o = document_parse(span_of(text), &why);

	ck_assert_msg(o != NULL, "%s: %s", text, why);
	ck_assert_ptr_null(why);
	return o;
}

static const char *
refusal(struct span text)
{
	const char *why = NULL;
	char *exact = xmalloc(text.n);

	/* Exactly as large, so that a sanitizer sees a byte read behind. */
	if (text.n > 0)
		memcpy(exact, text.p, text.n);
	text.p = exact;
	ck_assert_ptr_null(document_parse(text, &why));
	free(exact);
	ck_assert_ptr_nonnull(why);
	ck_assert_ptr_null(strstr(why, CANARY));
	return why;
}

static const struct bad_case {
	const char *text, *why;
} bad_cases[] = {
	{ "", "empty" },
	{ " ", "not JSON" },
	{ "<html>" CANARY "</html>", "not JSON" },
	{ "access_token=" CANARY "&scope=", "not JSON" },
	{ "{\"a\":\"" CANARY "\"", "not JSON" },
	{ "{\"a\":NaN}", "not JSON" },
	{ "{\"a\":-NaN}", "not JSON" },
	{ "{\"a\":Infinity}", "not JSON" },
	{ "{\"a\":-Infinity}", "not JSON" },
	{ "{\"a\":1.}", "not JSON" },
	{ "{\"a\":01}", "not JSON" },
	{ "{\"a\":+1}", "not JSON" },
	{ "{\"a\":True}", "not JSON" },
	{ "{'a':1}", "not JSON" },
	{ "{\"a\":'" CANARY "'}", "not JSON" },
	{ "{\"a\":\"\n\"}", "not JSON" },
	{ "{\"a\":\"\t\"}", "not JSON" },
	{ "{\"a\":\"\x01\"}", "not JSON" },
	{ "{\"a\n\":1}", "not JSON" },
	{ "{\"a\":\"\\x\"}", "not JSON" },
	{ "{\"a\":1,}", "not JSON" },
	{ "{\"a\":[1,]}", "not JSON" },
	{ "{\"a\":/* " CANARY " */1}", "not JSON" },
	{ "{\"a\":1}{\"b\":2}", "not JSON" },
	{ "{\"a\":1} " CANARY, "not JSON" },
	{ "{\"a\":1}}", "not JSON" },
	{ "\xEF\xBB\xBF{}", "not JSON" },
	{ "{\"a\":\"\xFF\"}", "UTF-8" },
	{ "{\"a\":\"\xC0\xAF\"}", "UTF-8" },
	{ "{\"a\":\"\xED\xA0\x80\"}", "UTF-8" },
	{ "{\"\x80\":1}", "UTF-8" },
	{ "[]", "not an object" },
	{ "[{\"a\":1}]", "not an object" },
	{ " \"" CANARY "\" ", "not an object" },
	{ "null", "not an object" },
	{ "1", "not an object" },
	{ "{\"a\":1,\"a\":1}", "twice" },
	{ "{\"a\":1,\"b\":2,\"a\":null}", "twice" },
	{ "{\"" CANARY "\":1,\"\\u0043ANARY\":2}", "twice" },
	{ "{\"a\":{\"b\":[{\"c\":1,\"c\":2}]}}", "twice" },
	{ "{\"a\":{\"b\":1},\"a\":{\"b\":1}}", "twice" },
	{ "{\"\":1,\"\":2}", "twice" },
	/* json-c makes one character of both */
	{ "{\"\\ud800\":1,\"\\udc00\":2}", "twice" },
	{ "{\"issuer\\u0000x\":\"" CANARY "\"}", "NUL" },
	{ "{\"a\":[{\"\\u0000\":1}]}", "NUL" },
};

START_TEST(refused)
{
	const struct bad_case *c = &bad_cases[_i];
	const char *why = refusal(span_of(c->text));

	ck_assert_msg(strstr(why, c->why) != NULL, "%s: %s", c->text, why);
}
END_TEST

START_TEST(a_nul_is_no_end)
{
	static const char inside[] = "{\"a\":\"b\0c\"}";
	static const char after[] = "{\"a\":1}\0" CANARY;

	refusal((struct span){ inside, sizeof inside - 1 });
	refusal((struct span){ after, sizeof after - 1 });
	refusal((struct span){ after, 8 });
	refusal((struct span){ NULL, 0 });
}
END_TEST

static const char *const good_cases[] = {
	"{}",
	" \r\n\t{ } \n",
	"{\"a\":\"\xC3\xA9\"}",
	"{\"\xC3\xA9\":{\"\xC3\xA9\":1}}",
	/* the same name in two objects, and as a value */
	"{\"a\":{\"a\":\"a\"},\"b\":[{\"a\":1},{\"a\":1}]}",
	"{\"a\":\":\\\":\",\"b:\":1,\"c\":\"\\u0000:\"}",
	"{\"\\\\u0000\":1}",
	"{\"a\":-0,\"b\":1e999,\"c\":1E-5,\"d\":123456789012345678901}",
	"{\"a\":\"\\ud83d\\ude00\\ud800\"}",
	"{\"\":null}",
};

START_TEST(accepted)
{
	json_object_put(parse(good_cases[_i]));
}
END_TEST

/* depth containers in each other, the outermost an object. */
static void
nest(struct buf *b, unsigned depth)
{
	unsigned i;

	buf_adds(b, "{\"a\":");
	for (i = 1; i < depth; i++)
		buf_addc(b, '[');
	buf_adds(b, "1");
	for (i = 1; i < depth; i++)
		buf_addc(b, ']');
	buf_addc(b, '}');
}

START_TEST(depth)
{
	struct buf b;

	buf_init(&b, 0);
	nest(&b, 32);
	json_object_put(parse(buf_str(&b)));
	buf_reset(&b);
	nest(&b, 33);
	ck_assert_ptr_nonnull(strstr(refusal(buf_span(&b)), "deep"));
	buf_reset(&b);
	nest(&b, 100000);
	ck_assert_ptr_nonnull(strstr(refusal(buf_span(&b)), "deep"));
	buf_free(&b);
}
END_TEST

START_TEST(size)
{
	size_t n = BOUND_PART_BYTES;
	char *text = xmalloc(n + 2);

	memset(text, ' ', n + 1);
	text[n + 1] = '\0';
	memcpy(text, "{\"a\":\"b\"}", 9);
	ck_assert_ptr_nonnull(strstr(refusal((struct span){ text, n + 1 }),
	    "too large"));
	text[n] = '\0';
	json_object_put(parse(text));
	free(text);
}
END_TEST

/* Many members, and many that are left out of a list, take no time. */
START_TEST(many)
{
	struct json_object *o, *list;
	struct buf b;
	int i;

	buf_init(&b, BOUND_PART_BYTES);
	buf_adds(&b, "{\"l\":[0");
	for (i = 0; i < 20000; i++)
		buf_adds(&b, ",\"\",0");
	buf_adds(&b, "]");
	for (i = 0; i < 10000; i++)
		buf_addf(&b, ",\"%x\":0", i);
	buf_adds(&b, "}");
	o = parse(buf_str(&b));
	ck_assert_int_eq(json_object_object_length(o), 10001);
	list = document_list(o, "l");
	ck_assert_uint_eq(json_object_array_length(list), 20000);
	json_object_put(o);
	buf_free(&b);
}
END_TEST

START_TEST(texts)
{
	struct json_object *o = parse("{\"a\":\"x/\\u00e9\\n\",\"n\":1,"
				      "\"nul\":\"a\\u0000b\",\"no\":null,"
				      "\"e\":\"\",\"l\":[\"a\"],\"o\":{}}");

	ck_assert_str_eq(document_text(o, "a"), "x/\xC3\xA9\n");
	ck_assert_str_eq(document_text(o, "e"), "");
	ck_assert_ptr_null(document_text(o, "n"));
	ck_assert_ptr_null(document_text(o, "nul"));
	ck_assert_ptr_null(document_text(o, "no"));
	ck_assert_ptr_null(document_text(o, "l"));
	ck_assert_ptr_null(document_text(o, "o"));
	ck_assert_ptr_null(document_text(o, "A"));
	ck_assert_ptr_null(document_text(o, "absent"));
	ck_assert_ptr_null(document_text(NULL, "a"));
	json_object_put(o);
}
END_TEST

START_TEST(truths)
{
	struct json_object *o = parse("{\"t\":true,\"f\":false,\"n\":null,"
				      "\"one\":1,\"s\":\"true\",\"l\":[true]}");

	ck_assert(document_true(o, "t"));
	ck_assert(!document_true(o, "f"));
	ck_assert(!document_true(o, "one"));
	ck_assert(!document_true(o, "s"));
	ck_assert(!document_true(o, "l"));
	ck_assert(!document_true(o, "absent"));
	ck_assert(document_has(o, "t"));
	ck_assert(document_has(o, "f"));
	ck_assert(document_has(o, "l"));
	ck_assert(!document_has(o, "n"));
	ck_assert(!document_has(o, "absent"));
	ck_assert(!document_has(NULL, "t"));
	json_object_put(o);
}
END_TEST

static const struct number_case {
	const char *raw;
	int64_t n;
} number_cases[] = {
	{ "0", 0 },
	{ "-0", 0 },
	{ "3600", 3600 },
	{ "3600.0", 3600 },
	{ "3.6e3", 3600 },
	{ "36e2", 3600 },
	{ "3600.5", -1 },
	{ "1e-3", -1 },
	{ "-1", -1 },
	{ "-1.0", -1 },
	{ "9007199254740992", INT64_C(9007199254740992) },
	{ "9007199254740993", -1 },
	{ "9007199254740993.0", -1 },
	{ "9223372036854775808", -1 },
	{ "18446744073709551616", -1 },
	{ "-9223372036854775809", -1 },
	{ "123456789012345678901234567890", -1 },
	{ "1e999", -1 },
	{ "-1e999", -1 },
	{ "\"3600\"", 3600 },
	{ "\"0\"", 0 },
	{ "\"9007199254740992\"", INT64_C(9007199254740992) },
	{ "\"9007199254740993\"", -1 },
	{ "\"99999999999999999999\"", -1 },
	{ "\"\"", -1 },
	{ "\"-1\"", -1 },
	{ "\"+1\"", -1 },
	{ "\" 1\"", -1 },
	{ "\"1 \"", -1 },
	{ "\"0x10\"", -1 },
	{ "\"12abc\"", -1 },
	{ "\"12\\u0000\"", -1 },
	{ "true", -1 },
	{ "null", -1 },
	{ "[1]", -1 },
	{ "{}", -1 },
};

START_TEST(numbers)
{
	const struct number_case *c = &number_cases[_i];
	char *text = xasprintf("{\"n\":%s}", c->raw);
	struct json_object *o = parse(text);

	ck_assert_msg(document_number(o, "n") == c->n, "%s: %lld", text,
	    (long long)document_number(o, "n"));
	ck_assert_int_eq(document_number(o, "absent"), -1);
	json_object_put(o);
	free(text);
}
END_TEST

static const struct list_case {
	const char *raw, *joined;
	size_t n;
} list_cases[] = {
	{ "[\"a\",\"b\"]", "a b", 2 },
	{ "[1,\"a\",null,{\"b\":\"b\"},[\"c\"],\"d\",true]", "a d", 2 },
	{ "[\"x\\u0000y\",\"a\"]", "a", 1 },
	{ "[\"a\",\"a\\u0000\"]", "a", 1 },
	{ "[\"\",\"a\",\"\"]", "a", 3 },
	{ "[\"\"]", NULL, 1 },
	{ "[1,2]", NULL, 0 },
	{ "[]", NULL, 0 },
};

START_TEST(lists)
{
	const struct list_case *c = &list_cases[_i];
	char *text = xasprintf("{\"l\":%s}", c->raw), *joined;
	struct json_object *o = parse(text), *list = document_list(o, "l");

	ck_assert_ptr_nonnull(list);
	ck_assert_uint_eq(json_object_array_length(list), c->n);
	joined = document_joined(list);
	ck_assert_pstr_eq(joined, c->joined);
	ck_assert_int_eq(document_listed(list, "a"),
	    strchr(c->joined == NULL ? "" : c->joined, 'a') != NULL);
	ck_assert(!document_listed(list, "b b"));
	ck_assert(!document_listed(list, "x"));
	/* Reading the list again, after it was cleaned, gives the same list. */
	ck_assert_ptr_eq(document_list(o, "l"), list);
	ck_assert_uint_eq(json_object_array_length(list), c->n);
	free(joined);
	json_object_put(o);
	free(text);
}
END_TEST

START_TEST(no_list)
{
	struct json_object *o = parse("{\"s\":\"a\",\"o\":{\"a\":1}}");

	ck_assert_ptr_null(document_list(o, "s"));
	ck_assert_ptr_null(document_list(o, "o"));
	ck_assert_ptr_null(document_list(o, "absent"));
	ck_assert_ptr_null(document_list(NULL, "s"));
	ck_assert(!document_listed(NULL, "a"));
	ck_assert_ptr_null(document_joined(NULL));
	json_object_put(o);
}
END_TEST

/* Members that were not changed are printed as they were read. */
START_TEST(print)
{
	struct json_object *o = parse("{ \"url\":\"https:\\/\\/a\\/b\", "
				      "\"keep\":{\"x\":[1,2.50]},"
				      "\"gone\":1,\"t\":\"\\u00e9\\u0001\"}");
	struct buf b;

	document_set(o, "gone", NULL);
	document_set(o, "never", NULL);
	document_set(o, "url", "https://c/\"d\"");
	document_set(o, "new", "\xC3\xA9");
	document_set_number(o, "n", INT64_C(9007199254740992));
	buf_init(&b, 0);
	buf_adds(&b, "=");
	document_print(o, &b);
	ck_assert_str_eq(buf_str(&b),
	    "={\"url\":\"https://c/\\\"d\\\"\",\"keep\":{\"x\":[1,2.50]},"
	    "\"t\":\"\xC3\xA9\\u0001\",\"new\":\"\xC3\xA9\","
	    "\"n\":9007199254740992}");
	json_object_put(o);
	o = parse(buf_str(&b) + 1);
	ck_assert_int_eq(document_number(o, "n"), INT64_C(9007199254740992));
	json_object_put(o);
	buf_free(&b);
}
END_TEST

/* A document with them could be read by nobody. */
START_TEST(bytes_that_are_not_utf8)
{
	struct json_object *o = json_object_new_object();
	struct buf b;

	document_set(o, "a", "caf\xE9 \xFF\xC3");
	document_set(o, "b", "\xED\xA0\x80");
	document_set(o, "c", "");
	buf_init(&b, 0);
	document_print(o, &b);
	json_object_put(o);
	o = parse(buf_str(&b));
	ck_assert_str_eq(document_text(o, "a"),
	    "caf\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD");
	ck_assert_str_eq(document_text(o, "b"),
	    "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
	ck_assert_str_eq(document_text(o, "c"), "");
	json_object_put(o);
	buf_free(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("document");
	TCase *t = tcase_create("document");

	tcase_add_loop_test(t, refused, 0, COUNT(bad_cases));
	tcase_add_test(t, a_nul_is_no_end);
	tcase_add_loop_test(t, accepted, 0, COUNT(good_cases));
	tcase_add_test(t, depth);
	tcase_add_test(t, size);
	tcase_add_test(t, many);
	tcase_add_test(t, texts);
	tcase_add_test(t, truths);
	tcase_add_loop_test(t, numbers, 0, COUNT(number_cases));
	tcase_add_loop_test(t, lists, 0, COUNT(list_cases));
	tcase_add_test(t, no_list);
	tcase_add_test(t, print);
	tcase_add_test(t, bytes_that_are_not_utf8);
	suite_add_tcase(s, t);
	return unit_run(s);
}
