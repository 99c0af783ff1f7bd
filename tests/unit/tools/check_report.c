/* What "mcpsplice check" prints: the pure parts. */
#include "config.h"

#include <stdlib.h>

#include "tools/check.h"
#include "unit/unit.h"

static struct buf out;

static void
setup(void)
{
	buf_init(&out, 0);
}

static void
teardown(void)
{
	buf_free(&out);
}

static const struct {
	int64_t us;
	const char *text;
} test_time_cases[] = { { 0, "0 ms" }, { 499, "0 ms" }, { 500, "1 ms" },
	{ 12345, "12 ms" }, { 999499, "999 ms" }, { 999500, "1.0 s" },
	{ 1260000, "1.2 s" }, { 61000000, "61.0 s" } };

START_TEST(test_time)
{
	report_time(&out, test_time_cases[_i].us);
	ck_assert_str_eq(buf_str(&out), test_time_cases[_i].text);
}
END_TEST

static const struct {
	const char *text;
	size_t columns, indent;
	const char *lines;
} test_wrap_cases[] = {
	{ "", 10, 2, "" },
	{ "one", 10, 2, "one" },
	{ "one two three", 7, 2, "one two\n  three" },
	{ "one two three", 8, 2, "one two\n  three" },
	{ "one two three", 6, 0, "one\ntwo\nthree" },
	{ "one two three", SIZE_MAX, 0, "one two three" },
	{ "a  b", 2, 1, "a\n b" },
	{ "abcdefgh ij", 4, 1, "abcd\n efgh\n ij" },
	{ "\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xa4", 3, 1,
	    "\xc3\xa4\xc3\xa4\xc3\xa4\n \xc3\xa4" },
};

START_TEST(test_wrap)
{
	report_wrap(&out, span_of(test_wrap_cases[_i].text),
	    test_wrap_cases[_i].columns, test_wrap_cases[_i].indent);
	ck_assert_str_eq(buf_str(&out), test_wrap_cases[_i].lines);
}
END_TEST

static const char *const test_name_cases[][2] = {
	{ "C = US, O = Let's Encrypt, CN = R3", "R3" },
	{ "CN=R3,O=x", "R3" },
	{ "C = US, O = \"Acme, Inc.\", OU = CN", "Acme, Inc." },
	{ "O = Acme", "Acme" },
	{ "OU = Unit, DC = x", "OU = Unit, DC = x" },
	{ "", "" },
};

START_TEST(test_name)
{
	check_show_name(&out, test_name_cases[_i][0]);
	ck_assert_str_eq(buf_str(&out), test_name_cases[_i][1]);
}
END_TEST

START_TEST(test_day)
{
	check_show_day(&out, 1577836800);
	ck_assert_str_eq(buf_str(&out), "2020-01-01");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("report");
	TCase *tc = tcase_create("report");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_time, 0, COUNT(test_time_cases));
	tcase_add_loop_test(tc, test_wrap, 0, COUNT(test_wrap_cases));
	tcase_add_loop_test(tc, test_name, 0, COUNT(test_name_cases));
	tcase_add_test(tc, test_day);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
