/* The file that lines are appended to: its rotation, links, owners, modes. */
#include "config.h"

#include "base/append.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/unit.h"

static char dir[64];
static char *path, *old_path;
static struct append file;

static void
setup(void)
{
	snprintf(dir, sizeof dir, "/tmp/check_append.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/file", dir);
	old_path = xasprintf("%s/file.1", dir);
}

static void
teardown(void)
{
	append_close(&file);
	unlink(path);
	unlink(old_path);
	rmdir(dir);
	free(path);
	free(old_path);
}

static int
put(const char *text)
{
	struct buf line;
	int rc;

	buf_init(&line, 0);
	buf_adds(&line, text);
	rc = append_line(&file, &line);
	ck_assert_str_eq(buf_str(&line), text);
	buf_free(&line);
	return rc;
}

static void
expect(const char *name, const char *want)
{
	char text[256] = "";
	FILE *f = fopen(name, "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fread(text, 1, sizeof text - 1, f), strlen(want));
	fclose(f);
	ck_assert_str_eq(text, want);
}

static mode_t
mode_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(stat(name, &st), 0);
	return st.st_mode & 0777;
}

START_TEST(rotates)
{
	ck_assert_int_eq(append_open(&file, path, 6, true), 0);
	ck_assert_int_eq(put("one"), 0);
	ck_assert_int_eq(put("two"), 0);
	ck_assert_int_eq(put("three"), 0);
	expect(old_path, "one\ntwo\n");
	expect(path, "three\n");
	ck_assert_int_eq(put("four"), 0);
	expect(old_path, "three\n");
	expect(path, "four\n");
	ck_assert_int_eq(mode_of(path), 0600);
	/* another process has renamed it */
	ck_assert_int_eq(rename(path, old_path), 0);
	ck_assert_int_eq(put("five"), 0);
	expect(path, "five\n");
}
END_TEST

/* What others could read or could have put there. */
START_TEST(own)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(append_open(&file, path, 100, true), 0);
	ck_assert_int_eq(mode_of(path), 0600);
	append_close(&file);

	ck_assert_int_eq(link(path, old_path), 0);
	ck_assert_int_eq(append_open(&file, path, 100, true), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(put("x"), -1);
	append_close(&file);
	ck_assert_int_eq(unlink(path), 0);

	ck_assert_int_eq(symlink(old_path, path), 0);
	ck_assert_int_eq(append_open(&file, path, 100, true), -1);
	ck_assert_int_eq(errno, ELOOP);
	append_close(&file);
	ck_assert_int_eq(append_open(&file, path, 100, false), 0);
	append_close(&file);
	expect(old_path, "");

	ck_assert_int_eq(append_open(&file, dir, 100, true), -1);
	append_close(&file);
	ck_assert_int_eq(append_open(&file, "/dev/null", 100, true), -1);
	ck_assert_int_eq(errno, EINVAL);
	append_close(&file);
	ck_assert_int_eq(append_open(&file, "/dev/null", 100, false), 0);
	ck_assert_int_eq(put("x"), 0);
}
END_TEST

START_TEST(full_disk)
{
	if (access("/dev/full", W_OK) != 0)
		return;
	ck_assert_int_eq(append_open(&file, "/dev/full", 100, false), 0);
	ck_assert_int_eq(put("x"), -1);
	ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("append");
	TCase *tc = tcase_create("append");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rotates);
	tcase_add_test(tc, own);
	tcase_add_test(tc, full_disk);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
