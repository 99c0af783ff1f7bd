/*
 * io/user_file: links, modes, backups, and what another program
 * does to the file meanwhile.
 */
#include "config.h"

#include "io/user_file.h"

#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit/home.h"
#include "unit/unit.h"

#define MAX 1000
#define NOBODY 54321 /* of home_apart */

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

/* Takes any text that begins like the two of these tests. */
static int
is_text(const char *path, struct span text, struct span now, void *arg,
    char **reason)
{
	(void)path;
	(void)arg;
	if (now.p != NULL && text.n <= now.n &&
	    (text.n == 0 || memcmp(now.p, text.p, text.n) == 0)) {
		*reason = xstrdup("it is unfinished");
		return 1;
	}
	if (text.n > 0 && text.p[0] != '!')
		return 0;
	*reason = xstrdup("it is broken");
	return -1;
}

static int
restore(const char *name)
{
	return user_file_restore(home_path(name), MAX, is_text, NULL, &why);
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

/* Replaces the file when somebody opens it. */
static void
replace_when_read(int ready)
{
	char event[4096];
	int fd = inotify_init();

	if (inotify_add_watch(fd, home_path("a.json"), IN_OPEN) < 0 ||
	    write(ready, "", 1) != 1 || read(fd, event, sizeof event) <= 0 ||
	    rename(home_path("other"), home_path("a.json")) < 0)
		_exit(1);
	_exit(0);
}

/* The file is so long that the other program is done before it is read, or, if
 * the machine is busy, at any moment later. */
START_TEST(changed_after_the_last_look)
{
	static char text[8 << 20];
	int ready[2];
	char byte;
	pid_t pid;

	memset(text, 'x', sizeof text);
	home_put("a.json", text, sizeof text, 0600);
	home_puts("other", "precious");
	if (os_file_exchange(OS_HERE, home_path("other"), home_path("other")) <
	    0)
		return; /* not on this file system */
	ck_assert_int_eq(user_file_read(&f, home_path("a.json"), sizeof text,
			     &why),
	    0);
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0)
		replace_when_read(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	if (user_file_write(&f, span_of("new"), &why) < 0)
		refused(-1, "changed it");
	ck_assert_int_eq(home_wait(pid), 0);
	ck_assert(home_is("a.json", "precious"));
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
	ck_assert_int_eq(restore("l2"), 0);
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
	refused(restore("a.json"), "no backup");
	keep("a.json.mcpsplice-backup");
	keep("a.json.mcpsplice-backup");
	home_puts("a.json", "second");
	keep("a.json.mcpsplice-backup.2");
	home_puts("a.json", "old");
	keep("a.json.mcpsplice-backup.3");
	ck_assert(home_is("a.json.mcpsplice-backup", "old"));
	ck_assert(home_is("a.json.mcpsplice-backup.2", "second"));
	home_puts("a.json", "now");
	ck_assert_int_eq(restore("a.json"), 0);
	ck_assert(home_is("a.json", "old"));
	ck_assert(home_is("a.json.mcpsplice-backup.3", "now"));
}
END_TEST

/* Entries with a backup's name that are no backups. None is written through. */
#define BACKUP "a.json.mcpsplice-backup"

static const struct {
	const char *kind, *why;
} no_backups[] = {
	{ "link", "symbolic link" },
	{ "link to the file", "symbolic link" },
	{ "link to nothing", "symbolic link" },
	{ "second name", "hard link" },
	{ "other user", "another user" },
	{ "pipe", "not a regular file" },
	{ "folder", "not a regular file" },
	{ "broken", "it is broken" },
};

static bool
put_backup(const char *kind)
{
	const char *name = home_path(BACKUP);

	home_puts("victim", "safe");
	if (strcmp(kind, "link") == 0)
		return symlink("victim", name) == 0;
	if (strcmp(kind, "link to the file") == 0)
		return symlink("a.json", name) == 0;
	if (strcmp(kind, "link to nothing") == 0)
		return symlink("none", name) == 0;
	if (strcmp(kind, "pipe") == 0)
		return mkfifo(name, 0600) == 0;
	if (strcmp(kind, "folder") == 0)
		return mkdir(name, 0700) == 0;
	if (strcmp(kind, "second name") == 0)
		return link(home_path("victim"), name) == 0;
	home_puts(BACKUP, strcmp(kind, "broken") == 0 ? "!" : "safe");
	return strcmp(kind, "broken") == 0 ||
	    (geteuid() == 0 && chown(name, 1, 1) == 0);
}

START_TEST(no_backup)
{
	struct stat before, after;

	if (!put_backup(no_backups[_i].kind))
		return; /* only root can give a file away */
	ck_assert_int_eq(lstat(home_path(BACKUP), &before), 0);
	refused(restore("a.json"), no_backups[_i].why);
	refused(restore("a.json"), home_path(BACKUP));
	ck_assert_uint_eq(home_count("."), 3);
	keep(BACKUP ".2");
	ck_assert(home_is("a.json", "old"));
	ck_assert(home_is(BACKUP ".2", "old"));
	ck_assert(home_is("victim", "safe"));
	ck_assert_int_eq(lstat(home_path(BACKUP), &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert_uint_eq(before.st_mode, after.st_mode);
}
END_TEST

START_TEST(backup_of_any_mode)
{
	home_puts(BACKUP, "before");
	ck_assert_int_eq(chmod(home_path(BACKUP), 0400), 0);
	ck_assert_int_eq(restore("a.json"), 0);
	ck_assert(home_is("a.json", "before"));
	ck_assert(home_is(BACKUP, "old"));
	ck_assert_uint_eq(home_count("."), 2);
}
END_TEST

/* What a run that was killed left of the present content does not count, and it
 * is no content that could be lost. A number may be free. */
START_TEST(unfinished)
{
	static const char *const left[] = { "old", "ol", "" };

	home_puts(BACKUP, "before");
	home_puts(BACKUP ".3", left[_i]);
	ck_assert_msg(restore("a.json") == 0, "%s", why);
	ck_assert(home_is("a.json", "before"));
	ck_assert(home_is(BACKUP, "before"));
	ck_assert(home_is(BACKUP ".3", left[_i]));
	ck_assert(home_is(BACKUP ".4", "old"));
	ck_assert_uint_eq(home_count("."), 4);
	keep(BACKUP ".5");
}
END_TEST

/* A link that somebody made leads to a file that is no configuration. */
START_TEST(link_to_another_file)
{
	home_puts("victim", "!secret");
	ck_assert_int_eq(symlink("victim", home_path("b.json")), 0);
	home_puts("b.json.mcpsplice-backup", "planted");
	refused(restore("b.json"), "it is broken");
	ck_assert(home_is("victim", "!secret"));
	ck_assert(home_is("b.json.mcpsplice-backup", "planted"));
}
END_TEST

static bool
stays(void)
{
	char *reason = NULL;
	bool is = user_file_restore(home_path("a.json"), MAX, is_text, NULL,
		      &reason) < 0 &&
	    strstr(reason, "another user") == NULL;

	free(reason);
	return is;
}

/* Neither content is lost where nothing can be written. */
START_TEST(folder_is_read_only)
{
	home_puts(BACKUP, "before");
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(home_path("a.json"), NOBODY, (gid_t)-1),
		    0);
		ck_assert_int_eq(chown(home_path(BACKUP), NOBODY, (gid_t)-1),
		    0);
	}
	ck_assert_int_eq(chmod(home_path("."), 0555), 0);
	ck_assert(home_apart(stays, true));
	ck_assert_int_eq(chmod(home_path("."), 0700), 0);
	ck_assert(home_is("a.json", "old"));
	ck_assert(home_is(BACKUP, "before"));
	ck_assert_uint_eq(home_count("."), 2);
}
END_TEST

static bool
stays_on_a_full_disk(void)
{
	struct rlimit bytes = { 4, 4 };

	signal(SIGXFSZ, SIG_IGN);
	return setrlimit(RLIMIT_FSIZE, &bytes) == 0 && stays();
}

/* The first of the two files can be written, the second cannot; or none. */
START_TEST(disk_is_full)
{
	static const char *const texts[] = { "now", "now it is long" };

	home_puts("a.json", texts[_i]);
	home_puts(BACKUP, "before");
	ck_assert(home_apart(stays_on_a_full_disk, false));
	ck_assert(home_is("a.json", texts[_i]));
	ck_assert(home_is(BACKUP, "before"));
	ck_assert_uint_eq(home_count("."), 2);
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
	tcase_add_loop_test(t, changed_after_the_last_look, 0, 5);
	tcase_add_test(t, removed_meanwhile);
	tcase_add_test(t, behind_links);
	tcase_add_test(t, what_is_not_read);
	tcase_add_test(t, read_only);
	tcase_add_test(t, second_name);
	tcase_add_test(t, backups);
	tcase_add_loop_test(t, no_backup, 0,
	    sizeof no_backups / sizeof no_backups[0]);
	tcase_add_test(t, backup_of_any_mode);
	tcase_add_loop_test(t, unfinished, 0, 3);
	tcase_add_test(t, link_to_another_file);
	tcase_add_test(t, folder_is_read_only);
	tcase_add_loop_test(t, disk_is_full, 0, 2);
	tcase_add_test(t, many_backups);
	suite_add_tcase(s, t);
	return unit_run(s);
}
