/* Paths, and the places below what the environment names. */
#include "config.h"

#include "os/place.h"

#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

static void
joined(const char *folder, const char *name)
{
	char *path = os_path_join(folder, name), *again;

	ck_assert_str_eq(os_path_name(path), name);
	again = os_path_folder(path);
	ck_assert_str_eq(again, folder);
	free(again);
	free(path);
}

START_TEST(paths)
{
	char *folder;

	joined("a", "b");
	joined(os_path_absolute("/a") ? "/" : "C:\\", "b");
	joined(os_path_absolute("/a") ? "/a/\xc3\xbc" : "C:\\a\\\xc3\xbc", "b");
	folder = os_path_join("a", "b/c");
	ck_assert_uint_eq(strlen(folder), 5);
	ck_assert_int_eq(folder[1], *os_path_separators);
	ck_assert_int_eq(folder[3], *os_path_separators);
	free(folder);
	ck_assert_str_eq(os_path_name("x"), "x");
	ck_assert_str_eq(os_path_name("a/"), "");
	folder = os_path_folder("x");
	ck_assert_str_eq(folder, ".");
	free(folder);
}
END_TEST

START_TEST(absolute)
{
	ck_assert(!os_path_absolute(NULL));
	ck_assert(!os_path_absolute(""));
	ck_assert(!os_path_absolute("a/b"));
	ck_assert(!os_path_absolute("C:a"));
	ck_assert(os_path_absolute("/a") != os_path_absolute("C:\\a"));
	ck_assert(os_path_absolute("/a") != os_path_absolute("C:/a"));
	ck_assert(os_path_absolute("//a/b"));
}
END_TEST

START_TEST(places)
{
	ck_assert(os_path_absolute(os_place(OS_PLACE_HOME)));
	ck_assert(os_path_absolute(os_place(OS_PLACE_DATA)));
	ck_assert(os_path_absolute(os_place(OS_PLACE_CONFIG)));
	ck_assert(os_path_absolute(os_place(OS_PLACE_SYSTEM)));
	ck_assert_str_eq(os_path_name(os_place(OS_PLACE_SYSTEM)),
	    "mcpsplice.conf");
	ck_assert_str_eq(
	    os_path_name(os_place_below(".local/state/mcpsplice/auth")),
	    "auth");
	ck_assert_ptr_nonnull(strstr(os_place_below(".config/mcpsplice/config"),
	    "mcpsplice/config"));
	ck_assert_str_ne(os_place_below(".cache/mcpsplice"), "mcpsplice");
	ck_assert_str_eq(os_place_below("other"), "other");
}
END_TEST

START_TEST(program)
{
	char *path = os_path_of_program("./unit/os/check_place");

	ck_assert_ptr_nonnull(path);
	ck_assert(os_path_absolute(path));
	ck_assert_ptr_eq(strstr(os_path_name(path), "check_place"),
	    os_path_name(path));
	free(path);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("os/place");
	TCase *tc = tcase_create("place");

	tcase_add_test(tc, paths);
	tcase_add_test(tc, absolute);
	tcase_add_test(tc, places);
	tcase_add_test(tc, program);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
