/*
 * io/file, files of the user: links, modes, backups, and what another program
 * does to the file meanwhile.
 */
#include "config.h"

#include "io/file.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/home.h"
#include "unit/unit.h"

#define MAX 1000

static struct user_file f;
static char *why;

static void
setup(void)
{
	home_begin();
	why = NULL;
	home_puts("a.json", "old");
	ck_assert_int_eq(chmod(home_path("a.json"), 0644), 0);
}

static void
teardown(void)
{
	free(why);
	home_end();
}

static void
refused(int rc, const char *reason)
{
	ck_assert_int_eq(rc, -1);
	ck_assert_msg(strstr(why, reason) != NULL, "%s", why);
	free(why);
	why = NULL;
}

static void
take(const char *name)
{
	ck_assert_int_eq(user_file_read(&f, home_path(name), MAX, &why), 0);
}

START_TEST(is_replaced_whole)
{
	struct stat before, after;

	take("a.json");
	ck_assert_int_eq(stat(home_path("a.json"), &before), 0);
	ck_assert_int_eq(user_file_write(&f, span_of("new"), &why), 0);
	ck_assert_int_eq(stat(home_path("a.json"), &after), 0);
	ck_assert(home_is("a.json", "new"));
	ck_assert_uint_eq(after.st_mode, before.st_mode);
	ck_assert_uint_ne(after.st_ino, before.st_ino);
	ck_assert_uint_eq(home_count("."), 1);
	user_file_free(&f);
}
END_TEST

START_TEST(changed_meanwhile)
{
	static const char *const texts[] = { "OLD", "older", "o", "" };

	take("a.json");
	home_puts("a.json", texts[_i]);
	refused(user_file_write(&f, span_of("new"), &why), "changed it");
	ck_assert(home_is("a.json", texts[_i]));
	ck_assert_uint_eq(home_count("."), 1);
	user_file_free(&f);
}
END_TEST

START_TEST(removed_meanwhile)
{
	take("a.json");
	ck_assert_int_eq(unlink(home_path("a.json")), 0);
	refused(user_file_write(&f, span_of("new"), &why), "");
	ck_assert_uint_eq(home_count("."), 0);
	user_file_free(&f);
}
END_TEST

START_TEST(behind_links)
{
	home_mkdir("dots", 0700);
	home_puts("dots/b", "old");
	ck_assert_int_eq(symlink("dots/b", home_path("l1")), 0);
	ck_assert_int_eq(symlink("l1", home_path("l2")), 0);
	take("l2");
	free(user_file_keep(&f, &why));
	ck_assert_int_eq(user_file_write(&f, span_of("new"), &why), 0);
	ck_assert(home_is("dots/b", "new"));
	ck_assert_uint_eq(home_count("dots"), 1);
	ck_assert(home_is("l2.mcpsplice-backup", "old"));
	user_file_free(&f);
	ck_assert_int_eq(user_file_restore(home_path("l2"), MAX, &why), 0);
	ck_assert(home_is("dots/b", "old"));
	ck_assert(home_is("l2.mcpsplice-backup", "new"));
}
END_TEST

START_TEST(what_is_not_read)
{
	refused(user_file_read(&f, home_path("none"), MAX, &why), "No such");
	user_file_free(&f);
	refused(user_file_read(&f, home_path("."), MAX, &why), "regular");
	user_file_free(&f);
	refused(user_file_read(&f, home_path("a.json"), 2, &why), "large");
	user_file_free(&f);
}
END_TEST

static bool
cannot_write(void)
{
	char *reason = NULL;
	struct user_file mine;
	bool kept = user_file_read(&mine, home_path("a.json"), MAX, &reason) ==
		0 &&
	    user_file_write(&mine, span_of("new"), &reason) < 0;

	user_file_free(&mine);
	free(reason);
	return kept;
}

START_TEST(read_only)
{
	ck_assert_int_eq(chmod(home_path("a.json"), 0444), 0);
	ck_assert(home_apart(cannot_write, true));
	ck_assert(home_is("a.json", "old"));
}
END_TEST

START_TEST(second_name)
{
	take("a.json");
	ck_assert_int_eq(link(home_path("a.json"), home_path("b")), 0);
	user_file_free(&f);
	take("a.json");
	refused(user_file_write(&f, span_of("new"), &why), "hard link");
	ck_assert(home_is("b", "old"));
	user_file_free(&f);
}
END_TEST

static void
keep(const char *name)
{
	char *path;

	take("a.json");
	path = user_file_keep(&f, &why);
	ck_assert_str_eq(path, home_path(name));
	free(path);
	user_file_free(&f);
}

START_TEST(backups)
{
	refused(user_file_restore(home_path("a.json"), MAX, &why), "no backup");
	keep("a.json.mcpsplice-backup");
	keep("a.json.mcpsplice-backup");
	home_puts("a.json", "second");
	keep("a.json.mcpsplice-backup.2");
	home_puts("a.json", "old");
	keep("a.json.mcpsplice-backup.3");
	ck_assert(home_is("a.json.mcpsplice-backup", "old"));
	ck_assert(home_is("a.json.mcpsplice-backup.2", "second"));
	home_puts("a.json", "now");
	ck_assert_int_eq(user_file_restore(home_path("a.json"), MAX, &why), 0);
	ck_assert(home_is("a.json", "old"));
	ck_assert(home_is("a.json.mcpsplice-backup.3", "now"));
}
END_TEST

START_TEST(many_backups)
{
	char name[64];
	int i;

	home_puts("a.json.mcpsplice-backup", "1");
	for (i = 2; i <= 999; i++) {
		snprintf(name, sizeof name, "a.json.mcpsplice-backup.%d", i);
		home_puts(name, "n");
	}
	take("a.json");
	ck_assert_ptr_eq(user_file_keep(&f, &why), NULL);
	refused(-1, "too many");
	user_file_free(&f);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("file_user");
	TCase *t = tcase_create("file_user");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, is_replaced_whole);
	tcase_add_loop_test(t, changed_meanwhile, 0, 4);
	tcase_add_test(t, removed_meanwhile);
	tcase_add_test(t, behind_links);
	tcase_add_test(t, what_is_not_read);
	tcase_add_test(t, read_only);
	tcase_add_test(t, second_name);
	tcase_add_test(t, backups);
	tcase_add_test(t, many_backups);
	suite_add_tcase(s, t);
	return unit_run(s);
}
