/* Header lists: what gets in, order, replacing, and what does not get in. */
#include "config.h"

#include "base/headers.h"

#include "unit/unit.h"

#define TEXT(s)                                                                \
	{                                                                      \
		s, sizeof(s) - 1                                               \
	}

static const struct {
	struct span name, value;
	const char *kept; /* NULL: refused */
} cases[] = {
	{ TEXT("Accept"), TEXT("text/html"), "text/html" },
	{ TEXT("X-!#$%&'*+.^_`|~9"), TEXT("v"), "v" },
	{ TEXT("A"), TEXT(""), "" },
	{ TEXT("A"), TEXT(" \t a b\tc \t"), "a b\tc" },
	{ TEXT("A"), TEXT(" \t "), "" },
	{ TEXT("A"), TEXT("caf\xC3\xA9"), "caf\xC3\xA9" },
	{ TEXT(""), TEXT("v"), NULL },
	{ TEXT("A B"), TEXT("v"), NULL },
	{ TEXT("A:"), TEXT("v"), NULL },
	{ TEXT("A\r\nB"), TEXT("v"), NULL },
	{ TEXT("A\0"), TEXT("v"), NULL },
	{ TEXT("\xC3\xA9"), TEXT("v"), NULL },
	{ TEXT("A"), TEXT("v\r\nB: w"), NULL },
	{ TEXT("A"), TEXT("v\n"), NULL },
	{ TEXT("A"), TEXT("\rv"), NULL },
	{ TEXT("A"), TEXT("v\0w"), NULL },
	{ TEXT("A"), TEXT("v\x01"), NULL },
	{ TEXT("A"), TEXT("v\x7F"), NULL },
};

START_TEST(test_add)
{
	struct headers h;
	char name[32];
	int want = cases[_i].kept == NULL ? -1 : 0;

	headers_init(&h);
	ck_assert_int_eq(headers_add(&h, cases[_i].name, cases[_i].value,
			     false),
	    want);
	ck_assert_int_eq(headers_set(&h, cases[_i].name, cases[_i].value,
			     false),
	    want);
	ck_assert_uint_eq(h.n, want == 0 ? 1 : 0);
	if (want == 0) {
		memcpy(name, cases[_i].name.p, cases[_i].name.n + 1);
		ck_assert_str_eq(headers_get(&h, name), cases[_i].kept);
	}
	headers_free(&h);
}
END_TEST

START_TEST(test_order_and_set)
{
	struct headers h;

	headers_init(&h);
	ck_assert_ptr_null(headers_get(&h, "A"));
	headers_add(&h, span_of("A"), span_of("1"), false);
	headers_add(&h, span_of("B"), span_of("2"), true);
	headers_add(&h, span_of("a"), span_of("3"), false);
	ck_assert_uint_eq(h.n, 3);
	ck_assert_str_eq(headers_get(&h, "a"), "1");
	ck_assert_str_eq(headers_get(&h, "b"), "2");
	ck_assert(h.list[1].secret && !h.list[0].secret);
	/* A bad value leaves what is there. */
	ck_assert_int_eq(headers_set(&h, span_of("A"), span_of("\n"), false),
	    -1);
	ck_assert_str_eq(headers_get(&h, "a"), "1");
	ck_assert_int_eq(headers_set(&h, span_of("A"), span_of("4"), true), 0);
	ck_assert_uint_eq(h.n, 2);
	ck_assert_str_eq(h.list[0].name, "B");
	ck_assert_str_eq(h.list[1].value, "4");
	ck_assert(h.list[1].secret);
	headers_free(&h);
	ck_assert_uint_eq(h.n, 0);
	ck_assert_int_eq(headers_add(&h, span_of("C"), span_of("5"), false), 0);
	headers_free(&h);
}
END_TEST

/* A value may be set from itself. */
START_TEST(test_set_from_itself)
{
	struct headers h;

	headers_init(&h);
	headers_add(&h, span_of("A"), span_of("some value"), false);
	ck_assert_int_eq(headers_set(&h, span_of(h.list[0].name),
			     span_of(headers_get(&h, "A")), true),
	    0);
	ck_assert_uint_eq(h.n, 1);
	ck_assert_str_eq(headers_get(&h, "A"), "some value");
	headers_free(&h);
}
END_TEST

START_TEST(test_append)
{
	struct headers h, from;
	char name[3] = "H?";
	size_t i;

	headers_init(&h);
	headers_init(&from);
	for (i = 0; i < 20; i++) {
		name[1] = (char)('a' + i);
		headers_add(&from, span_of(name), span_of("v"), i % 2 == 0);
	}
	headers_add(&h, span_of("Hb"), span_of("mine"), false);
	headers_append(&h, &from);
	headers_free(&from);
	ck_assert_uint_eq(h.n, 21);
	ck_assert_str_eq(headers_get(&h, "hb"), "mine");
	ck_assert_str_eq(h.list[20].name, "Ht");
	ck_assert(h.list[1].secret && !h.list[2].secret);
	headers_append(&h, &h);
	ck_assert_uint_eq(h.n, 42);
	headers_free(&h);
}
END_TEST

START_TEST(test_same)
{
	struct headers a, b;

	headers_init(&a);
	headers_init(&b);
	ck_assert(headers_same(&a, &b));
	headers_add(&a, span_of("A"), span_of("v"), false);
	ck_assert(!headers_same(&a, &b) && !headers_same(&b, &a));
	headers_add(&b, span_of("a"), span_of("v"), true);
	ck_assert(headers_same(&a, &b));
	headers_set(&b, span_of("a"), span_of("V"), false);
	ck_assert(!headers_same(&a, &b));
	headers_set(&b, span_of("a"), span_of("v"), false);
	headers_add(&a, span_of("B"), span_of("w"), false);
	headers_add(&b, span_of("C"), span_of("w"), false);
	ck_assert(!headers_same(&a, &b));
	headers_free(&a);
	headers_free(&b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("headers");
	TCase *tc = tcase_create("headers");

	tcase_add_loop_test(tc, test_add, 0, COUNT(cases));
	tcase_add_test(tc, test_order_and_set);
	tcase_add_test(tc, test_set_from_itself);
	tcase_add_test(tc, test_append);
	tcase_add_test(tc, test_same);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
