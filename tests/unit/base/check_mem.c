/* Buffers, their caps, and the frames made from them. */
#include "config.h"

#include "base/frame.h"

#include <stdlib.h>

#include "unit/unit.h"

START_TEST(test_buf_grows)
{
	struct buf b;
	size_t i;

	buf_init(&b, 0);
	ck_assert_uint_eq(b.n, 0);
	for (i = 0; i < 100000; i++)
		ck_assert_int_eq(buf_addc(&b, (char)('a' + i % 26)), 0);
	ck_assert_uint_eq(b.n, 100000);
	for (i = 0; i < b.n; i++)
		ck_assert_int_eq(b.p[i], (char)('a' + i % 26));
	ck_assert(b.cap > b.n);
	buf_free(&b);
	ck_assert_ptr_null(b.p);
}
END_TEST

START_TEST(test_buf_cap)
{
	struct buf b;

	buf_init(&b, 5);
	ck_assert_int_eq(buf_adds(&b, "abc"), 0);
	ck_assert_int_eq(buf_adds(&b, "def"), -1);
	ck_assert_int_eq(buf_addf(&b, "%d", 456), -1);
	ck_assert_int_eq(buf_reserve(&b, 3), -1);
	ck_assert(span_is(buf_span(&b), "abc"));
	ck_assert_int_eq(buf_addf(&b, "%s", "de"), 0);
	ck_assert_int_eq(buf_addc(&b, 'f'), -1);
	ck_assert_int_eq(buf_add(&b, "", 0), 0);
	ck_assert_str_eq(buf_str(&b), "abcde");
	buf_free(&b);
	ck_assert_uint_eq(b.max, 5);
	ck_assert_int_eq(buf_adds(&b, "123456"), -1);
	ck_assert_int_eq(buf_adds(&b, "12345"), 0);
	buf_free(&b);
}
END_TEST

/* A text that has room in the memory but not under the cap. */
START_TEST(test_buf_addf_fits_memory_not_cap)
{
	struct buf b;

	buf_init(&b, 4);
	ck_assert_int_eq(buf_addf(&b, "%s", "abcd"), 0);
	ck_assert_int_eq(buf_addf(&b, "%s", "e"), -1);
	ck_assert_int_eq(buf_addf(&b, "%s", ""), 0);
	ck_assert(span_is(buf_span(&b), "abcd"));
	buf_free(&b);
}
END_TEST

START_TEST(test_buf_addf_long)
{
	char want[2001];
	struct buf b;

	memset(want, 'x', sizeof want - 1);
	want[2000] = '\0';
	buf_init(&b, 0);
	ck_assert_int_eq(buf_addf(&b, "<%s>", want), 0);
	ck_assert_uint_eq(b.n, 2002);
	ck_assert_int_eq(b.p[2001], '>');
	ck_assert_mem_eq(b.p + 1, want, 2000);
	buf_free(&b);
}
END_TEST

START_TEST(test_buf_str_of_nothing)
{
	struct buf b;

	buf_init(&b, 0);
	ck_assert_str_eq(buf_str(&b), "");
	buf_free(&b);
}
END_TEST

START_TEST(test_strings)
{
	char *s;

	s = xstrndup("abcdef", 3);
	ck_assert_str_eq(s, "abc");
	free(s);
	s = xstrndup("ab\0cd", 5);
	ck_assert_str_eq(s, "ab");
	free(s);
	s = xstrdup("");
	ck_assert_str_eq(s, "");
	free(s);
	s = xasprintf("%d-%s", 7, "x");
	ck_assert_str_eq(s, "7-x");
	free(s);
	s = xasprintf("%s", "");
	ck_assert_str_eq(s, "");
	free(s);
	s = xcalloc(0, 0);
	ck_assert_ptr_nonnull(s);
	free(s);
}
END_TEST

START_TEST(test_spans)
{
	struct span none = { NULL, 0 };

	ck_assert_uint_eq(span_of(NULL).n, 0);
	ck_assert(span_eq(none, span_of("")));
	ck_assert(!span_eq(span_of("ab"), span_of("abc")));
	ck_assert(!span_is(span_of("ab"), "ac"));
	ck_assert(span_is(none, ""));
	ck_assert(span_is_nocase(span_of("aB-"), "Ab-"));
	ck_assert(!span_is_nocase(span_of("aB-"), "Ab"));
	ck_assert(!span_is_nocase(none, "a"));
	ck_assert(span_is_printable(none, '!'));
	ck_assert(span_is_printable(span_of("! ~"), ' '));
	ck_assert(!span_is_printable(span_of("! ~"), '!'));
	ck_assert(!span_is_printable(span_of("a\x7f"), ' '));
	ck_assert(!span_is_printable(span_of("a\xc3\xa4"), ' '));
	ck_assert(!span_is_printable((struct span){ "a\0", 2 }, ' '));
	ck_assert(span_is(span_trim(span_of("\t a b \n"), " \t\n"), "a b"));
	ck_assert(span_is(span_trim(span_of("  "), " "), ""));
	ck_assert(span_is(span_trim(none, " "), ""));
	ck_assert_int_eq(span_number(span_of("0")), 0);
	ck_assert_int_eq(span_number(span_of("0123456789")), 123456789);
	ck_assert_int_eq(span_number(span_of("900000000000000000")),
	    900000000000000000);
	ck_assert_int_eq(span_number(none), -1);
	ck_assert_int_eq(span_number(span_of("12a")), -1);
	ck_assert_int_eq(span_number(span_of("-1")), -1);
	ck_assert_int_eq(span_number(span_of(" 1")), -1);
	ck_assert_int_eq(span_number(span_of("99999999999999999999")), -1);
}
END_TEST

START_TEST(test_span_take)
{
	struct span rest = span_of("a::bc");

	ck_assert(span_is(span_take(&rest, ':'), "a"));
	ck_assert(span_is(span_take(&rest, ':'), ""));
	ck_assert(span_is(rest, "bc"));
	ck_assert(span_is(span_take(&rest, ':'), "bc"));
	ck_assert_uint_eq(rest.n, 0);
	ck_assert_uint_eq(span_take(&rest, ':').n, 0);
}
END_TEST

START_TEST(test_list)
{
	struct strings list = { 0 };

	strings_add(&list, NULL);
	ck_assert_ptr_null(list.list[0]);
	strings_add(&list, xstrdup("a"));
	strings_add(&list, xstrdup("b"));
	ck_assert_uint_eq(list.n, 2);
	ck_assert_str_eq(list.list[1], "b");
	ck_assert_ptr_null(list.list[2]);
	strings_free(&list);
	ck_assert_ptr_null(list.list);
	ck_assert_uint_eq(list.n, 0);
	strings_free(&list);
}
END_TEST

START_TEST(test_string_set)
{
	char *s = NULL;

	ck_assert_ptr_null(string_copy(NULL));
	string_set(&s, "abc");
	ck_assert_str_eq(s, "abc");
	string_set(&s, s);
	ck_assert_str_eq(s, "abc");
	string_set(&s, NULL);
	ck_assert_ptr_null(s);
}
END_TEST

START_TEST(test_buf_take)
{
	struct buf b;
	char *s;

	buf_init(&b, 3);
	s = buf_take(&b);
	ck_assert_str_eq(s, "");
	free(s);
	buf_adds(&b, "abc");
	s = buf_take(&b);
	ck_assert_str_eq(s, "abc");
	free(s);
	ck_assert_uint_eq(b.n, 0);
	ck_assert_int_eq(buf_adds(&b, "abcd"), -1);
	buf_free(&b);
}
END_TEST

/* Sizes around the border between copied and taken. */
static const size_t sizes[] = { 0, 1, 255, 256, 4095, 4096, 4097, 5000, 65536,
	1048576 };

START_TEST(test_frame_take)
{
	size_t n = sizes[_i], i;
	struct frame *f;
	const char *p;
	struct buf b;

	buf_init(&b, 2000000);
	for (i = 0; i < n; i++)
		buf_addc(&b, (char)('A' + i % 50));
	f = frame_take(&b);
	ck_assert_uint_eq(f->text.n, n);
	ck_assert_int_eq(f->text.p[n], '\n');
	for (p = f->text.p, i = 0; i < n; i++)
		if (p[i] != (char)('A' + i % 50))
			ck_abort_msg("byte %zu is another", i);
	ck_assert_int_eq(f->kind, FRAME_RAW);
	ck_assert_ptr_null(f->id.p);
	ck_assert_uint_eq(b.n, 0);
	ck_assert_uint_eq(b.max, 2000000);
	ck_assert_int_eq(buf_adds(&b, "again"), 0);
	ck_assert_str_eq(buf_str(&b), "again");
	ck_assert(n == 0 || f->text.p[0] == 'A');
	frame_unref(f);
	buf_free(&b);
}
END_TEST

/* A large buffer without slack is the frame: nothing was copied. */
START_TEST(test_frame_take_steals)
{
	struct frame *f;
	const char *p;
	struct buf b;

	buf_init(&b, 0);
	buf_reserve(&b, 100000);
	memset(b.p, 'x', 100000);
	b.n = 100000;
	p = b.p;
	f = frame_take(&b);
	ck_assert_ptr_eq(f->text.p, p);
	ck_assert_ptr_null(b.p);
	frame_unref(f);
}
END_TEST

/* Not even the byte of the line end is free in the memory. */
START_TEST(test_frame_take_full)
{
	struct frame *f;
	struct buf b;

	buf_init(&b, 0);
	b.p = xmalloc(5000);
	memset(b.p, 'x', 5000);
	b.n = b.cap = 5000;
	f = frame_take(&b);
	ck_assert_int_eq(f->text.p[5000], '\n');
	frame_unref(f);
}
END_TEST

START_TEST(test_frame_refs)
{
	char text[] = "{\"a\":1}";
	struct frame *f;

	f = frame_copy(span_of(text));
	text[0] = 'x';
	ck_assert_int_eq(f->text.p[0], '{');
	ck_assert_int_eq(f->text.p[7], '\n');
	ck_assert_ptr_eq(frame_ref(f), f);
	ck_assert_uint_eq(f->refs, 2);
	frame_unref(f);
	ck_assert_uint_eq(f->refs, 1);
	frame_unref(f);
	frame_unref(NULL);
	f = frame_copy((struct span){ NULL, 0 });
	ck_assert_int_eq(f->text.p[0], '\n');
	frame_unref(f);
}
END_TEST

static bool
hole(struct buf *out, struct span name, const void *arg)
{
	if (span_is(name, "name"))
		buf_adds(out, arg);
	else if (!span_is(name, "none"))
		return false;
	return true;
}

START_TEST(test_words)
{
	static const char *const words[] = { "one", "two" };

	ck_assert_uint_eq(string_index("two", words, 2), 1);
	ck_assert_uint_eq(string_index("three", words, 2), 2);
	ck_assert_uint_eq(string_index(NULL, words, 2), 2);
	ck_assert(string_eq("a", "a") && string_eq(NULL, NULL));
	ck_assert(!string_eq("a", "b"));
	ck_assert(!string_eq("a", NULL) && !string_eq(NULL, "a"));
}
END_TEST

START_TEST(test_fill)
{
	struct buf b;

	buf_init(&b, 0);
	buf_fill(&b,
	    "{name}, {name?yes {|no}; {none?yes|no}{none}{what}{what?a|b}",
	    hole, "x}y");
	ck_assert_str_eq(buf_str(&b), "x}y, yes {; no{what}{what}");
	buf_free(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mem");
	TCase *tc = tcase_create("mem");

	tcase_add_test(tc, test_buf_grows);
	tcase_add_test(tc, test_buf_cap);
	tcase_add_test(tc, test_buf_addf_fits_memory_not_cap);
	tcase_add_test(tc, test_buf_addf_long);
	tcase_add_test(tc, test_span_take);
	tcase_add_test(tc, test_strings);
	tcase_add_test(tc, test_buf_str_of_nothing);
	tcase_add_test(tc, test_words);
	tcase_add_test(tc, test_fill);
	tcase_add_test(tc, test_list);
	tcase_add_test(tc, test_spans);
	tcase_add_test(tc, test_string_set);
	tcase_add_test(tc, test_buf_take);
	tcase_add_loop_test(tc, test_frame_take, 0,
	    (int)(sizeof sizes / sizeof *sizes));
	tcase_add_test(tc, test_frame_take_steals);
	tcase_add_test(tc, test_frame_take_full);
	tcase_add_test(tc, test_frame_refs);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
