/*
 * Splices in objects: members set, added, taken out; duplicates, escaped keys
 * and white space; frames that are shared when nothing changes.
 */
#include "config.h"

#include "core/wire/edit.h"

#include <stdlib.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "unit/unit.h"

static const struct span absent = { NULL, 0 };

/* Edits are "a" and "b"; NULL takes the member out, "-" leaves it alone. */
static const struct {
	const char *object, *a, *b, *want;
} objects[] = {
	/* nothing to do */
	{ "{}", "-", "-", "{}" },
	{ "{ }", NULL, NULL, "{ }" },
	{ "{ \"x\" : 1 }", NULL, NULL, "{ \"x\" : 1 }" },
	{ "{\"a\": 1 ,\"x\":{\"b\":2}}", "1", NULL,
	    "{\"a\": 1 ,\"x\":{\"b\":2}}" },
	{ "{\"x\":1,\"x\":2}", NULL, "-", "{\"x\":1,\"x\":2}" },
	/* taken out */
	{ "{\"a\":1}", NULL, "-", "{}" },
	{ "{ \"a\" : 1 }", NULL, "-", "{}" },
	{ "{\"a\":1,\"x\":2,\"b\":3}", NULL, NULL, "{\"x\":2}" },
	{ "{\"x\":1,\"a\":2,\"y\":3}", NULL, "-", "{\"x\":1,\"y\":3}" },
	{ "{ \"x\" : 1 , \"a\" : 2 , \"y\" : 3 }", NULL, "-",
	    "{ \"x\" : 1 , \"y\" : 3 }" },
	{ "{\"a\":1,\"a\":2,\"a\":3}", NULL, "-", "{}" },
	{ "{\"x\":1,\"a\":[1,{\"a\":2}]}", NULL, "-", "{\"x\":1}" },
	{ "{\"\\u0061\":1,\"x\":\"a\"}", NULL, "-", "{\"x\":\"a\"}" },
	{ "{\"aa\":1,\"A\":2,\"\":3}", NULL, "-", "{\"aa\":1,\"A\":2,\"\":3}" },
	/* set where it was */
	{ "{\"a\":1}", "2", "-", "{\"a\":2}" },
	{ "{\"x\":0, \"a\" : 1 ,\"y\":2}", "[ 7 ]", "-",
	    "{\"x\":0, \"a\" : [ 7 ] ,\"y\":2}" },
	{ "{\"\\u0061\":1}", "2", "-", "{\"\\u0061\":2}" },
	{ "{\"a\":1,\"x\":2,\"a\":3,\"y\":4}", "5", "-",
	    "{\"x\":2,\"a\":5,\"y\":4}" },
	{ "{\"a\":1,\"\\u0061\":1}", "1", "-", "{\"\\u0061\":1}" },
	{ "{\"a\":1,\"b\":2}", "2", "1", "{\"a\":2,\"b\":1}" },
	{ "{\"a\":\"}\",\"b\":\",\"}", "\"{\"", "-",
	    "{\"a\":\"{\",\"b\":\",\"}" },
	/* added */
	{ "{}", "1", "2", "{\"a\":1,\"b\":2}" },
	{ "{ }", "1", "-", "{\"a\":1}" },
	{ "{\"x\":1.50 }", "1", "-", "{\"x\":1.50 ,\"a\":1}" },
	{ "{\"b\":1}", "1", NULL, "{\"a\":1}" },
	{ "{\"a\":1,\"b\":1}", NULL, "1", "{\"b\":1}" },
	{ "{\"a\":1}", NULL, "1", "{\"b\":1}" },
	/* no object */
	{ NULL, "-", "-", "{}" },
	{ NULL, NULL, "-", "{}" },
	{ NULL, "1", "-", "{\"a\":1}" },
	{ "null", "1", "-", "{\"a\":1}" },
	{ "[1]", "1", "-", "{\"a\":1}" },
	{ "\"a\"", NULL, "-", "\"a\"" },
	{ "[{\"a\":1}]", NULL, "-", "[{\"a\":1}]" },
};

static size_t
edits_of(struct edit *edits, const char *a, const char *b)
{
	size_t n = 0;

	if (a == NULL || *a != '-')
		edits[n++] = (struct edit){ "a", span_of(a) };
	if (b == NULL || *b != '-')
		edits[n++] = (struct edit){ "b", span_of(b) };
	return n;
}

START_TEST(test_object)
{
	struct span object = span_of(objects[_i].object);
	struct edit edits[2];
	struct buf out;
	size_t n = edits_of(edits, objects[_i].a, objects[_i].b);

	buf_init(&out, 0);
	buf_adds(&out, "kept");
	edit_object(&out, object, edits, n);
	ck_assert_str_eq(buf_str(&out) + 4, objects[_i].want);
	ck_assert(memcmp(out.p, "kept", 4) == 0);
	buf_free(&out);
}
END_TEST

static struct frame *
parsed(const char *text)
{
	struct frame *f = frame_copy(span_of(text));

	ck_assert_int_eq(msg_parse(f, 20), MSG_OK);
	return f;
}

START_TEST(test_frame)
{
	static const struct edit edits[] = { { "params", { "{\"n\":1}", 7 } },
		{ "extra", { NULL, 0 } } };
	struct frame *f, *made;

	f = parsed(" \t{ \"extra\":[1], \"id\" : 1.0 ,\"params\":{},"
		   "\"method\":\"a\\/b\",\"jsonrpc\":\"2.0\",\"x\":\"}\"} ");
	made = edit_frame(f, edits, 2);
	ck_assert(span_is(made->text,
	    " \t{ \"id\" : 1.0 ,\"params\":{\"n\":1},"
	    "\"method\":\"a\\/b\",\"jsonrpc\":\"2.0\",\"x\":\"}\"} "));
	ck_assert_int_eq(made->kind, FRAME_REQUEST);
	ck_assert(span_is(made->id, "1.0"));
	ck_assert(span_is(made->method, "a\\/b"));
	ck_assert(span_is(made->params, "{\"n\":1}"));
	ck_assert_ptr_eq(made->params.p,
	    memmem(made->text.p, made->text.n, "{\"n\"", 4));
	ck_assert_int_eq(made->text.p[made->text.n], '\n');
	ck_assert_uint_eq(made->refs, 1);
	ck_assert_uint_eq(f->refs, 1);
	ck_assert(span_is(f->params, "{}"));
	frame_unref(made);
	frame_unref(f);
}
END_TEST

START_TEST(test_shared)
{
	struct edit edits[] = { { "params", { "{ }", 3 } },
		{ "extra", { NULL, 0 } } };
	struct frame *f, *made;

	f = parsed("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{ }}");
	made = edit_frame(f, edits, 2);
	ck_assert_ptr_eq(made, f);
	ck_assert_uint_eq(f->refs, 2);
	frame_unref(made);
	made = edit_frame(f, NULL, 0);
	ck_assert_ptr_eq(made, f);
	frame_unref(made);
	edits[0].value.n = 2;
	edits[0].value.p = "{}";
	made = edit_frame(f, edits, 2);
	ck_assert_ptr_ne(made, f);
	frame_unref(made);
	frame_unref(f);
}
END_TEST

/* Large enough for a buffer of its own, and very deep. */
START_TEST(test_large)
{
	struct edit edit = { "result", absent };
	struct frame *f, *made;
	struct buf value;
	size_t i;

	buf_init(&value, 0);
	for (i = 0; i < 100000; i++)
		buf_addc(&value, '[');
	for (i = 0; i < 100000; i++)
		buf_addc(&value, ']');
	edit.value = buf_span(&value);
	f = parsed("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":0}");
	made = edit_frame(f, &edit, 1);
	ck_assert_int_eq(made->kind, FRAME_RESULT);
	ck_assert(span_eq(made->result, edit.value));
	ck_assert_int_eq(made->text.p[made->text.n], '\n');
	frame_unref(made);
	frame_unref(f);
	buf_free(&value);
}
END_TEST

/* A null is replaced where servers refuse it, and nothing else is. */
START_TEST(test_arguments)
{
	static const char *const rows[][2] = {
		{ "{\"id\":3, \"method\":\"tools/call\",\"params\":"
		  "{\"arguments\": null , \"name\":\"a\"},\"jsonrpc\":\"2.0\"}",
		    "{\"id\":3, \"method\":\"tools/call\",\"params\":"
		    "{\"arguments\": {} , \"name\":\"a\"},\"jsonrpc\":\"2.0\"}" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"prompts\\/get\","
		  "\"params\":{\"name\":\"a\",\"argument\\u0073\":null}}",
		    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":"
		    "\"prompts\\/get\",\"params\":{\"name\":\"a\","
		    "\"argument\\u0073\":{}}}" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"x\",\"params\":{"
		  "\"arguments\":null}}",
		    NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\","
		  "\"params\":{\"arguments\":{\"arguments\":null}}}",
		    NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\"}",
		    NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":null}", NULL },
	};
	struct frame *f, *made;
	int i;

	for (i = 0; i < COUNT(rows); i++) {
		f = frame_copy(span_of(rows[i][0]));
		ck_assert_int_eq(msg_parse(f, 64), MSG_OK);
		made = edit_arguments(f);
		ck_assert((made == f) == (rows[i][1] == NULL));
		ck_assert_msg(span_is(made->text, rows[i][rows[i][1] != NULL]),
		    "%.*s", (int)made->text.n, made->text.p);
		frame_unref(made);
	}
}
END_TEST

START_TEST(test_empty)
{
	static const char *const empty[] = { "{}", "{ \t}", "[]", "[1]", "5",
		"null", "\"{\"", "" };
	static const char *const full[] = { "{\"\":null}", "{ \"a\" : {} }" };
	int i;

	for (i = 0; i < COUNT(empty); i++)
		ck_assert(edit_is_empty(span_of(empty[i])));
	for (i = 0; i < COUNT(full); i++)
		ck_assert(!edit_is_empty(span_of(full[i])));
	ck_assert(edit_is_empty(absent));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("edit");
	TCase *t = tcase_create("edit");

	tcase_add_loop_test(t, test_object, 0, COUNT(objects));
	tcase_add_test(t, test_frame);
	tcase_add_test(t, test_shared);
	tcase_add_test(t, test_large);
	tcase_add_test(t, test_empty);
	tcase_add_test(t, test_arguments);
	suite_add_tcase(s, t);
	return unit_run(s);
}
