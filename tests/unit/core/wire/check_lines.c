/*
 * The line framer: every split point of every input, the cap, and what is
 * found in a line that is passed over.
 */
#include "config.h"

#include "core/wire/lines.h"

#include <stdlib.h>

#include "unit/unit.h"

#define TEXT(s)                                                                \
	{                                                                      \
		s, sizeof(s) - 1                                               \
	}

static void
on_line(struct frame *f, void *arg)
{
	ck_assert_int_eq(f->text.p[f->text.n], '\n');
	ck_assert_int_eq(f->kind, FRAME_RAW);
	buf_addc(arg, '<');
	buf_addspan(arg, f->text);
	buf_addc(arg, '>');
	frame_unref(f);
}

static void
on_too_long(uint64_t size, struct span id, bool request, void *arg)
{
	buf_addf(arg, "(%llu %s ", (unsigned long long)size,
	    request ? "request" : "other");
	if (id.p == NULL)
		buf_adds(arg, "none");
	buf_addspan(arg, id);
	buf_addc(arg, ')');
}

static const struct lines_ops ops = { on_line, on_too_long };

static const struct {
	size_t max;
	struct span text;
	const char *want;
} cases[] = {
	{ 99, TEXT(""), "" },
	{ 99, TEXT("a\n"), "<a>" },
	{ 99, TEXT("a\nbc\nd"), "<a><bc><d>" },
	{ 99, TEXT("a\r\nb\r\n"), "<a><b>" },
	{ 99, TEXT("a\r"), "<a>" },
	{ 99, TEXT("a\rb\n"), "<a\rb>" },
	{ 99, TEXT("a\r\r\n"), "<a\r>" },
	{ 99, TEXT("\n\r\n \t \n\r\na\n\n"), "<a>" },
	{ 99, TEXT("  "), "" },
	{ 99, TEXT(" a \n"), "< a >" },
	{ 99,
	    TEXT("\xEF\xBB\xBF"
		 "a\nb"),
	    "<a><b>" },
	{ 99, TEXT("\xEF\xBB\xBF\na\n"), "<a>" },
	{ 99, TEXT("\xEF\xBB\xBF"), "" },
	{ 99,
	    TEXT("\xEF\xBB\xBF\xEF\xBB\xBF"
		 "a\n"),
	    "<\xEF\xBB\xBF"
	    "a>" },
	{ 99,
	    TEXT("\xEF\xBB"
		 "a\n"),
	    "<\xEF\xBB"
	    "a>" },
	{ 99, TEXT("\xEF\xBB"), "<\xEF\xBB>" },
	{ 99, TEXT("\xEF\n\xBB"), "<\xEF><\xBB>" },
	{ 99, TEXT("\xEF\xEF\xBB\xBF\n"), "<\xEF\xEF\xBB\xBF>" },
	{ 99,
	    TEXT("a\n\xEF\xBB\xBF"
		 "b\n"),
	    "<a><\xEF\xBB\xBF"
	    "b>" },
	/* The cap. */
	{ 4, TEXT("abcd\n"), "<abcd>" },
	{ 4, TEXT("abcd\r\n"), "<abcd>" },
	{ 4, TEXT("abcd"), "<abcd>" },
	{ 4, TEXT("abcd\r"), "<abcd>" },
	{ 4,
	    TEXT("\xEF\xBB\xBF"
		 "abcd\r\n"),
	    "<abcd>" },
	{ 4, TEXT("abcde\nx\n"), "(5 other none)<x>" },
	{ 4, TEXT("abcde\r\nx\n"), "(5 other none)<x>" },
	{ 4, TEXT("abcd\rx\r\ny"), "(6 other none)<y>" },
	{ 4, TEXT("abcde"), "(5 other none)" },
	{ 4,
	    TEXT("\xEF\xBB\xBF"
		 "abcde\nx"),
	    "(5 other none)<x>" },
	{ 4, TEXT("abcdefgh\nabcdefgh\nx\n"),
	    "(8 other none)(8 other none)<x>" },
	{ 4, TEXT("      \nx\n"), "(6 other none)<x>" },
	/* The id, wherever it is. */
	{ 9, TEXT("{\"id\":7,\"method\":\"x\"}\n{}\n"), "(21 request 7)<{}>" },
	{ 9, TEXT("{\"method\":\"x\",\"params\":{\"id\":1},\"id\":\"a b\"}"),
	    "(43 request \"a b\")" },
	{ 9, TEXT("{\"result\":{\"method\":\"x\"},\"id\":-1.5e3}\r\n"),
	    "(37 other -1.5e3)" },
	{ 9, TEXT(" { \"x\" : [ { \"id\" : 1 } ] , \"id\" : 2 } "),
	    "(39 other 2)" },
	{ 9, TEXT("{\"a\":\"\\\",\\\"id\\\":1\",\"id\":\"\\\"}\\\\\"}"),
	    "(32 other \"\\\"}\\\\\")" },
	{ 9, TEXT("{\"id\":1,\"id\":2,\"\\u0069d\":3}"), "(27 other 3)" },
	{ 9, TEXT("{\"id\":1,\"id\":null}"), "(18 other none)" },
	{ 9, TEXT("{\"id\":1,\"id\":{\"id\":2}}"), "(22 other none)" },
	{ 9, TEXT("{\"id\":[3],\"method\":\"m\"}"), "(23 request none)" },
	{ 9, TEXT("{\"id\":null,\"method\":{}}"), "(23 other none)" },
	{ 9, TEXT("{\"method\":\"a\",\"method\":1}"), "(25 other none)" },
	{ 9, TEXT("{\"x\":\"id\",\"y\":\"method\"}"), "(23 other none)" },
	{ 9, TEXT("{\"idx\":1,\"i\":2,\"ID\":3}"), "(22 other none)" },
	{ 9, TEXT("[{\"id\":1,\"method\":\"x\"}]"), "(23 other none)" },
	{ 9, TEXT("{\"id\":1}{\"id\":2,\"method\":3}"), "(27 other 1)" },
	{ 9, TEXT("{\"id\":tru,\"method\":\"x\"}"), "(23 request none)" },
	{ 9, TEXT("{\"id\":01,\"method\":\"x\"}"), "(22 request none)" },
	{ 9, TEXT("{\"id\":\"\xFF\",\"method\":\"\"}"), "(22 request none)" },
	{ 9, TEXT("{\"id\":1,\"method\":\"cut"), "(21 other 1)" },
	{ 9, TEXT("}}}}}]]]]]{\"id\":1}"), "(18 other none)" },
	{ 9, TEXT("\"id\":1,\"method\":2"), "(17 other none)" },
	{ 9, TEXT("{\"a\":{\"b\":[1,2,{}]},\"id\":4,\"c\":[\"id\",5]}"),
	    "(40 other 4)" },
};

static void
check_told(struct buf *told, const char *want)
{
	ck_assert_str_eq(buf_str(told), want);
	buf_reset(told);
}

/* In one piece, a byte at a time, and cut in two and three everywhere. */
START_TEST(test_splits)
{
	struct span text = cases[_i].text;
	struct lines *l;
	struct buf told;
	size_t i, j;

	buf_init(&told, 0);
	l = lines_new(cases[_i].max, &ops, &told);
	for (i = 0; i < text.n; i++)
		lines_feed(l, text.p + i, 1);
	lines_end(l);
	ck_assert_uint_eq(lines_held(l), 0);
	lines_free(l);
	check_told(&told, cases[_i].want);
	for (i = 0; i <= text.n; i++) {
		for (j = i; j <= text.n; j++) {
			l = lines_new(cases[_i].max, &ops, &told);
			lines_feed(l, text.p, i);
			lines_feed(l, text.p + i, j - i);
			lines_feed(l, text.p + j, text.n - j);
			lines_end(l);
			lines_free(l);
			check_told(&told, cases[_i].want);
		}
	}
	buf_free(&told);
}
END_TEST

/* A line is told when its LF comes, not later. */
START_TEST(test_at_once)
{
	struct lines *l;
	struct buf told;

	buf_init(&told, 0);
	l = lines_new(99, &ops, &told);
	lines_feed(l, "ab", 2);
	ck_assert_uint_eq(told.n, 0);
	ck_assert_uint_eq(lines_held(l), 2);
	lines_feed(l, "c\nde", 4);
	ck_assert_uint_eq(lines_held(l), 2);
	check_told(&told, "<abc>");
	lines_end(l);
	check_told(&told, "<de>");
	lines_end(l);
	check_told(&told, "");
	lines_free(l);
	lines_free(NULL);
	buf_free(&told);
}
END_TEST

/* Without too_long, only the lines before and after are reported. */
START_TEST(test_not_told)
{
	static const struct lines_ops untold = { .line = on_line };
	static const char text[] = "a\nmuch too long\nb\n";
	struct buf out = { 0 };
	struct lines *l = lines_new(4, &untold, &out);

	lines_feed(l, text, sizeof text - 1);
	ck_assert_str_eq(buf_str(&out), "<a><b>");
	lines_free(l);
	buf_free(&out);
}
END_TEST

/* A long line's id up to 1 KiB is told, a longer one is not. */
START_TEST(test_long_ids)
{
	struct buf told, text;
	struct lines *l;
	size_t n;

	buf_init(&told, 0);
	buf_init(&text, 0);
	for (n = 1020; n < 1027; n++) {
		buf_reset(&text);
		buf_adds(&text, "{\"method\":\"m\",\"id\":\"");
		while (text.n < n + 20)
			buf_addc(&text, 'x');
		buf_adds(&text, "\"}\n");
		l = lines_new(100, &ops, &told);
		lines_feed(l, text.p, text.n);
		lines_free(l);
		ck_assert_ptr_nonnull(strstr(buf_str(&told), "request"));
		ck_assert_int_eq(strstr(told.p, "none") != NULL, n + 2 > 1024);
		buf_reset(&told);
	}
	buf_free(&told);
	buf_free(&text);
}
END_TEST

/* What is passed over is not held: 64 MiB with a cap of 1 MiB. */
START_TEST(test_flat)
{
	static char chunk[65536];
	static const char head[] = "{\"method\":\"m\",\"x\":\"";
	struct lines *l;
	struct buf told;
	size_t i, most = 0;

	memset(chunk, 'x', sizeof chunk);
	buf_init(&told, 0);
	l = lines_new(1048576, &ops, &told);
	lines_feed(l, head, sizeof head - 1);
	for (i = 0; i < 1024; i++) {
		lines_feed(l, chunk, sizeof chunk);
		most = lines_held(l) > most ? lines_held(l) : most;
	}
	lines_feed(l, "\",\"id\":5}\nnext\n", 15);
	ck_assert_uint_le(most, 1048576 + 1);
	ck_assert_uint_gt(most, 500000);
	check_told(&told, "(67108892 request 5)<next>");
	lines_free(l);
	buf_free(&told);
}
END_TEST

/* CPU seconds for a line of n bytes that comes in pieces. */
static double
seconds(size_t n, size_t max, size_t piece)
{
	static char chunk[4096];
	struct lines *l;
	double start, t;
	struct buf told;
	size_t i;
	int k;

	memset(chunk, '[', sizeof chunk);
	buf_init(&told, 0);
	start = unit_cpu();
	for (k = 0; !unit_measured(start, k, &t); k++) {
		buf_reset(&told);
		l = lines_new(max, &ops, &told);
		for (i = 0; i < n; i += piece)
			lines_feed(l, chunk, piece);
		lines_end(l);
		lines_free(l);
	}
	buf_free(&told);
	return t;
}

START_TEST(test_linear)
{
	static const struct {
		size_t max, piece;
	} kinds[] = { { 1 << 30, 64 }, { 1 << 30, 4096 }, { 100, 64 } };
	double small, large;
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		small = seconds(262144, kinds[i].max, kinds[i].piece);
		large = seconds(16 * 262144, kinds[i].max, kinds[i].piece);
		ck_assert_msg(large < 40 * (small + 0.0005),
		    "kind %zu: %.4f s, sixteen times as much: %.4f s", i, small,
		    large);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("lines");
	TCase *tc = tcase_create("lines");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_splits, 0, COUNT(cases));
	tcase_add_test(tc, test_at_once);
	tcase_add_test(tc, test_not_told);
	tcase_add_test(tc, test_long_ids);
	tcase_add_test(tc, test_flat);
	tcase_add_test(tc, test_linear);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
