/* Files as os/file.h has them, on each system: what they are, names, content,
 * locks, renaming. */
#include "config.h"

#include "os/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "os/place.h"
#include "os/random.h"
#include "unit/os/system.h"
#include "unit/unit.h"

static char *base; /* a new folder, its name with a blank and without ASCII */
static int dir;

/* Returns a path in the folder, which is freed with the test. */
static const char *
path_of(const char *name)
{
	static char *last[8];
	static unsigned i;
	char **to = &last[i++ % 8];

	free(*to);
	return *to = os_path_join(base, name);
}

static void
setup(void)
{
	uint64_t r;
	char *here = os_file_real("."), *name;

	ck_assert_ptr_nonnull(here);
	ck_assert_int_eq(os_random(&r, sizeof r), 0);
	name = xasprintf("os \xc3\xbc\xe2\x82\xac %016" PRIx64, r);
	base = os_path_join(here, name);
	ck_assert_int_eq(os_folder_make(base), 0);
	dir = os_folder_open(base, OS_NO_LINK);
	ck_assert_int_ge(dir, 0);
	free(name);
	free(here);
}

static bool
drop(const char *name, void *arg)
{
	(void)arg;
	ck_assert_int_eq(os_file_remove(dir, name), 0);
	return true;
}

static void
teardown(void)
{
	os_folder_list(dir, 99, drop, NULL);
	os_file_close(dir);
	system_remove_folder(base);
	free(base);
}

static int
make(const char *name, const char *text)
{
	int fd = os_file_open(dir, name, OS_NEW);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(os_file_write_at(fd, text, strlen(text), 0),
	    (int64_t)strlen(text));
	return fd;
}

static void
expect(int fd, const char *want)
{
	char text[64] = "";

	ck_assert_int_eq(os_file_read_at(fd, text, sizeof text - 1, 0),
	    (int64_t)strlen(want));
	ck_assert_str_eq(text, want);
}

static void
expect_named(const char *name, const char *want)
{
	int fd = os_file_open(dir, name, OS_READ | OS_NO_LINK);

	ck_assert_int_ge(fd, 0);
	expect(fd, want);
	os_file_close(fd);
}

/* --- what it is --- */

START_TEST(a_new_file_is_private)
{
	struct os_file f;
	int fd = make("a", "text");

	ck_assert_int_eq(os_file_look(fd, &f), 0);
	ck_assert_int_eq(f.kind, OS_REGULAR);
	ck_assert_int_eq(f.owner, OS_OWN);
	ck_assert(!f.open && !f.others_read && !f.others_write);
	ck_assert_int_eq((int)f.links, 1);
	ck_assert_int_eq((int)f.size, 4);
	ck_assert_int_lt(labs((long)(f.changed_s - (int64_t)time(NULL))), 60);
	os_file_close(fd);
}
END_TEST

START_TEST(a_new_folder_is_private)
{
	struct os_file f;

	ck_assert_int_eq(os_file_look(dir, &f), 0);
	ck_assert_int_eq(f.kind, OS_FOLDER);
	ck_assert_int_eq(f.owner, OS_OWN);
	ck_assert(!f.open && !f.others_write && !f.all_replace);
	ck_assert_int_eq(os_folder_make(base), -1);
	ck_assert_int_eq(errno, EEXIST);
}
END_TEST

START_TEST(an_appended_file_is_private)
{
	struct os_file f;
	int fd = os_file_open(dir, "log", OS_APPEND | OS_NO_LINK | OS_NO_WAIT);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(os_file_look(fd, &f), 0);
	ck_assert(!f.open);
	ck_assert_int_eq(os_file_hide(fd, false), 0);
	ck_assert_int_eq(os_file_look(fd, &f), 0);
	ck_assert(!f.open);
	os_file_close(fd);
}
END_TEST

/* By name it is the same file, and another one is not. */
START_TEST(identity)
{
	struct os_file a, b;
	int fd = make("a", "text"), other = make("b", "text");

	ck_assert_int_eq(os_file_look(fd, &a), 0);
	ck_assert_int_eq(os_file_look_at(dir, "a", false, &b), 0);
	ck_assert(os_file_same(&a, &b));
	ck_assert_int_eq(os_file_look_at(OS_HERE, path_of("a"), true, &b), 0);
	ck_assert(os_file_same(&a, &b));
	ck_assert_int_eq(os_file_look_at(dir, "b", false, &b), 0);
	ck_assert(a.id != b.id);
	ck_assert(a.device == b.device);
	ck_assert(!os_file_same(&a, &b));
	ck_assert_int_eq(os_file_look_at(dir, "none", false, &b), -1);
	ck_assert_int_eq(errno, ENOENT);
	os_file_close(fd);
	os_file_close(other);
}
END_TEST

START_TEST(removed_while_open)
{
	struct os_file f;
	int fd = make("a", "text");

	ck_assert_int_eq(os_file_remove(dir, "a"), 0);
	/* some file systems keep the name until the file is closed */
	if (os_file_look_at(dir, "a", false, &f) < 0) {
		ck_assert_int_eq(errno, ENOENT);
		ck_assert_int_eq(os_file_look(fd, &f), 0);
		ck_assert_int_eq((int)f.links, 0);
	}
	os_file_close(fd);
	ck_assert_int_eq(os_file_remove(dir, "a"), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(no_name)
{
	ck_assert_int_eq(os_file_open(dir, "none", OS_READ), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(os_file_open(OS_HERE, path_of("none"),
			     OS_WRITE | OS_NO_LINK),
	    -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(os_folder_open(path_of("none"), OS_NO_LINK), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_null(os_file_real(path_of("none")));
	ck_assert_int_eq(errno, ENOENT);
	os_file_close(make("a", ""));
	ck_assert_int_eq(os_file_open(dir, "a", OS_NEW), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(os_folder_open(path_of("a"), OS_NO_LINK), -1);
	ck_assert_int_eq(errno, ENOTDIR);
}
END_TEST

START_TEST(second_name)
{
	struct os_file f;
	int fd = make("a", "text");

	ck_assert(system_second_name(path_of("a"), path_of("b")));
	ck_assert_int_eq(os_file_look(fd, &f), 0);
	ck_assert_int_eq((int)f.links, 2);
	os_file_close(fd);
}
END_TEST

START_TEST(links)
{
	struct os_file f;

	os_file_close(make("a", "text"));
	if (!system_link("a", path_of("link")))
		return;
	ck_assert_int_eq(os_file_look_at(dir, "link", false, &f), 0);
	ck_assert_int_eq(f.kind, OS_LINK);
	ck_assert_int_eq(os_file_look_at(dir, "link", true, &f), 0);
	ck_assert_int_eq(f.kind, OS_REGULAR);
	ck_assert_int_eq(os_file_open(dir, "link", OS_READ | OS_NO_LINK), -1);
	ck_assert_int_eq(errno, ELOOP);
	expect_named("a", "text");
}
END_TEST

/* --- content --- */

START_TEST(content)
{
	char text[8] = "";
	int fd = make("a", "one\ntwo\r\n\x1a");

	expect(fd, "one\ntwo\r\n\x1a");
	ck_assert_int_eq(os_file_write_at(fd, "!", 1, 1), 1);
	ck_assert_int_eq(os_file_cut(fd, 3), 0);
	expect(fd, "o!e");
	ck_assert_int_eq(os_file_sync(fd), 0);
	ck_assert_int_eq(os_file_sync(dir), 0);
	ck_assert_int_eq(os_file_close(fd), 0);
	fd = os_file_open(OS_HERE, path_of("a"), OS_READ);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(os_file_read(fd, text, 2), 2);
	ck_assert_int_eq(os_file_read(fd, text + 2, 5), 1);
	ck_assert_int_eq(os_file_read(fd, text + 3, 4), 0);
	ck_assert_str_eq(text, "o!e");
	ck_assert_int_eq(os_file_write_at(fd, "x", 1, 0), -1);
	os_file_close(fd);
}
END_TEST

/* Two who append write behind one another. */
START_TEST(append)
{
	int a = os_file_open(OS_HERE, path_of("log"), OS_APPEND);
	int b = os_file_open(OS_HERE, path_of("log"), OS_APPEND);

	ck_assert_int_eq(os_file_write(a, "one\n", 4), 4);
	ck_assert_int_eq(os_file_write(b, "two\n", 4), 4);
	ck_assert_int_eq(os_file_write(a, "three\n", 6), 6);
	expect_named("log", "one\ntwo\nthree\n");
	ck_assert_int_eq(os_file_lock(a), 0);
	os_file_close(a);
	os_file_close(b);
}
END_TEST

/* --- names --- */

START_TEST(rename_over_a_file)
{
	int fd = make("new", "new");

	os_file_close(make("old", "old"));
	ck_assert_int_eq(os_file_rename(dir, "new", "old"), 0);
	expect_named("old", "new");
	ck_assert_int_eq(os_file_remove(dir, "new"), -1);
	/* the file that was moved is still open */
	ck_assert_int_eq(os_file_write_at(fd, "now", 3, 0), 3);
	expect_named("old", "now");
	ck_assert_int_eq(os_file_rename(dir, "none", "old"), -1);
	ck_assert_int_eq(errno, ENOENT);
	os_file_close(fd);
}
END_TEST

START_TEST(exchange)
{
	os_file_close(make("one", "1"));
	os_file_close(make("other", "2"));
	if (os_file_exchange(dir, "one", "other") == 0) {
		expect_named("one", "2");
		expect_named("other", "1");
	} else {
		expect_named("one", "1");
		expect_named("other", "2");
	}
	ck_assert_int_eq(os_file_exchange(dir, "one", "none"), -1);
}
END_TEST

/* Where the system cannot do that, all stays as it was until the other one has
 * closed the file. */
START_TEST(rename_over_an_open_file)
{
	int old = make("old", "old");

	os_file_close(make("new", "new"));
	if (os_file_rename(dir, "new", "old") == 0) {
		expect(old, "old");
	} else {
		ck_assert_int_eq(errno, EACCES);
		expect_named("old", "old");
		expect_named("new", "new");
	}
	os_file_close(old);
	os_file_rename(dir, "new", "old");
	expect_named("old", "new");
}
END_TEST

struct seen {
	unsigned n, sum;
};

static bool
see(const char *name, void *arg)
{
	struct seen *s = arg;

	s->n++;
	s->sum += (unsigned char)name[strlen(name) - 1];
	return true;
}

START_TEST(list)
{
	struct seen s = { 0, 0 };

	ck_assert_int_eq(os_folder_list(dir, 9, see, &s), 0);
	ck_assert_uint_eq(s.n, 0);
	os_file_close(make("a", ""));
	os_file_close(make("\xe2\x82\xac b", ""));
	ck_assert_int_eq(os_folder_list(dir, 9, see, &s), 0);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_uint_eq(s.sum, 'a' + 'b');
	ck_assert_int_eq(os_folder_list(dir, 1, see, &s), 0);
	ck_assert_uint_eq(s.n, 3);
	ck_assert_int_eq(os_folder_list(-1, 9, see, &s), -1);
}
END_TEST

START_TEST(long_path)
{
	char name[200], *path[4], *file, *real;
	struct os_file f;
	int i, fd;

	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	path[0] = xstrdup(base);
	for (i = 1; i < COUNT(path); i++) {
		path[i] = os_path_join(path[i - 1], name);
		ck_assert_int_eq(os_folder_make(path[i]), 0);
	}
	file = os_path_join(path[3], "file");
	fd = os_file_open(OS_HERE, file, OS_NEW);
	ck_assert_int_ge(fd, 0);
	os_file_close(fd);
	fd = os_folder_open(path[3], OS_NO_LINK);
	ck_assert_int_ge(fd, 0);
	/* wine does not know the name of an open folder that is so long */
	real = os_file_real(path[3]);
	if (real != NULL)
		ck_assert_int_eq(os_file_look_at(fd, "file", false, &f), 0);
	free(real);
	os_file_close(fd);
	ck_assert_int_eq(os_file_remove(OS_HERE, file), 0);
	free(file);
	while (i-- > 0) {
		if (i > 0)
			system_remove_folder(path[i]);
		free(path[i]);
	}
}
END_TEST

START_TEST(real_path)
{
	char *real, *again;

	os_file_close(make("a", ""));
	real = os_file_real(path_of("a"));
	ck_assert_ptr_nonnull(real);
	ck_assert(os_path_absolute(real));
	ck_assert_str_eq(os_path_name(real), "a");
	again = os_path_folder(real);
	ck_assert_str_eq(again, base);
	free(again);
	free(real);
}
END_TEST

/* --- locks --- */

START_TEST(lock)
{
	int a = make("a", "text"), b;

	b = os_file_open(dir, "a", OS_WRITE | OS_NO_LINK);
	ck_assert_int_ge(b, 0);
	ck_assert_int_eq(os_file_lock(a), 0);
	ck_assert_int_eq(os_file_lock(b), -1);
	ck_assert_int_eq(errno, EWOULDBLOCK);
	expect(b, "text"); /* readers are let in */
	ck_assert_int_eq(os_file_write_at(b, "next", 4, 0), 4);
	os_file_unlock(a);
	ck_assert_int_eq(os_file_lock(b), 0);
	ck_assert_int_eq(os_file_lock(a), -1);
	os_file_close(b);
	ck_assert_int_eq(os_file_lock(a), 0);
	os_file_close(a);
}
END_TEST

START_TEST(lock_of_a_folder)
{
	int a = os_folder_lock(dir), b = os_folder_open(base, OS_NO_LINK), c;

	ck_assert_int_ge(a, 0);
	ck_assert_int_eq(os_folder_lock(b), -1);
	ck_assert_int_eq(errno, EWOULDBLOCK);
	os_file_close(a);
	c = os_folder_lock(b);
	ck_assert_int_ge(c, 0);
	os_file_close(c);
	os_file_close(b);
}
END_TEST

/* --- rights --- */

START_TEST(may)
{
	os_file_close(make("a", ""));
	ck_assert(os_file_may(path_of("a"), OS_MAY_BE_THERE));
	ck_assert(os_file_may(path_of("a"), OS_MAY_READ));
	ck_assert(os_file_may(path_of("a"), OS_MAY_WRITE));
	ck_assert(os_file_may(base, OS_MAY_ADD));
	ck_assert(!os_file_may(path_of("none"), OS_MAY_BE_THERE));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert(!os_file_may(path_of("none"), OS_MAY_READ));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert(!os_file_on_read_only(base));
	ck_assert(os_file_allowed(1));
}
END_TEST

START_TEST(rights)
{
	struct os_file f;
	int fd = make("a", "");

	system_open(path_of("a"), false);
	ck_assert_int_eq(os_file_look(fd, &f), 0);
	ck_assert_int_eq(f.owner, OS_OWN);
	ck_assert(f.open && f.others_read && !f.others_write);
	system_open(path_of("a"), true);
	ck_assert_int_eq(os_file_look(fd, &f), 0);
	ck_assert(f.open && f.others_read && f.others_write);
	ck_assert_int_eq(os_file_hide(fd, false), 0);
	ck_assert_int_eq(os_file_look(fd, &f), 0);
	ck_assert(!f.open);
	os_file_close(fd);
}
END_TEST

START_TEST(rights_of_another_file)
{
	struct os_file f;
	int a = make("a", ""), b = make("b", "");

	system_open(path_of("a"), false);
	ck_assert_int_eq(os_file_like(b, path_of("a")), 0);
	ck_assert_int_eq(os_file_look(b, &f), 0);
	ck_assert(f.others_read && !f.others_write);
	ck_assert_int_eq(os_file_hide(a, false), 0);

	ck_assert_int_eq(os_file_like(b, path_of("a")), 0);
	ck_assert_int_eq(os_file_look(b, &f), 0);
	ck_assert(!f.open);
	ck_assert_int_eq(os_file_like(b, path_of("none")), -1);
	ck_assert_int_eq(errno, ENOENT);
	os_file_close(a);
	os_file_close(b);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("os/file");
	TCase *tc = tcase_create("file");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_new_file_is_private);
	tcase_add_test(tc, a_new_folder_is_private);
	tcase_add_test(tc, an_appended_file_is_private);
	tcase_add_test(tc, identity);
	tcase_add_test(tc, removed_while_open);
	tcase_add_test(tc, no_name);
	tcase_add_test(tc, second_name);
	tcase_add_test(tc, links);
	tcase_add_test(tc, content);
	tcase_add_test(tc, append);
	tcase_add_test(tc, rename_over_a_file);
	tcase_add_test(tc, exchange);
	tcase_add_test(tc, rename_over_an_open_file);
	tcase_add_test(tc, list);
	tcase_add_test(tc, long_path);
	tcase_add_test(tc, real_path);
	tcase_add_test(tc, lock);
	tcase_add_test(tc, lock_of_a_folder);
	tcase_add_test(tc, may);
	tcase_add_test(tc, rights);
	tcase_add_test(tc, rights_of_another_file);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
