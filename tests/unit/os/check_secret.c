/* What is sealed, where the system seals. */
#include "config.h"

#include "os/secret.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

static const char text[] = "{\"refresh_token\":\"rt-\xc3\xbc\"}";

START_TEST(plain)
{
	size_t n;

	ck_assert_ptr_null(os_secret_open(text, sizeof text, &n));
	ck_assert_int_eq(errno, 0);
	ck_assert_ptr_null(os_secret_open("", 0, &n));
	ck_assert_int_eq(errno, 0);
}
END_TEST

START_TEST(sealed)
{
	size_t n, m;
	char *closed = os_secret_seal(text, sizeof text, &n), *again;

	if (closed == NULL) /* as on Linux */
		return;
	ck_assert_uint_gt(n, sizeof text);
	ck_assert_ptr_null(memchr(closed, '{', 20));
	again = os_secret_open(closed, n, &m);
	ck_assert_ptr_nonnull(again);
	ck_assert_uint_eq(m, sizeof text);
	ck_assert_mem_eq(again, text, m);
	free(again);
	closed[n - 1] = (char)~closed[n - 1];
	ck_assert_ptr_null(os_secret_open(closed, n, &m));
	ck_assert_int_ne(errno, 0);
	ck_assert_ptr_null(os_secret_open(closed, n / 2, &m));
	ck_assert_int_ne(errno, 0);
	free(closed);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("os/secret");
	TCase *tc = tcase_create("secret");

	tcase_add_test(tc, plain);
	tcase_add_test(tc, sealed);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
