/*
 * io/private_file: folders that are refused, links, limits, full disks, and real
 * processes that are killed while they write or hold a lock.
 */
#include "config.h"

#include "io/private_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/mount.h>

#include <sched.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "unit/home.h"
#include "unit/unit.h"

static int dir; /* home/own */

static void
setup(void)
{
	char *why;

	home_begin();
	dir = file_dir(home, "own", true, &why);
	ck_assert_int_ge(dir, 0);
}

static void
teardown(void)
{
	file_close(dir);
	home_end();
}

static bool
is_cloexec(int fd)
{
	return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(home_path(path), &st), 0);
	return st.st_mode & 07777;
}

static bool
refused(const char *base, const char *below, bool make, int error,
    const char *word)
{
	char *why = NULL;
	int fd = file_dir(base, below, make, &why);
	bool ok = fd == -1 && errno == error && why != NULL &&
	    strstr(why, word) != NULL;

	if (!ok)
		fprintf(stderr, "%s: %d, %d, %s\n", below, fd, errno,
		    why == NULL ? "-" : why);
	free(why);
	return ok;
}

START_TEST(dir_is_made)
{
	mode_t mask = umask(0);
	char *why;
	int fd;

	fd = file_dir(home, ".x/y/z", true, &why);
	umask(mask);
	ck_assert_int_ge(fd, 0);
	ck_assert(is_cloexec(fd));
	file_close(fd);
	ck_assert_int_eq(mode_of(".x"), 0700);
	ck_assert_int_eq(mode_of(".x/y"), 0700);
	ck_assert_int_eq(mode_of(".x/y/z"), 0700);
	home_puts(".x/y/z/f", "1");
	fd = file_dir(home, ".x/y/z", false, &why);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(os_file_remove(fd, "f"), 0);
	file_close(fd);
	ck_assert_uint_eq(home_count(".x/y/z"), 0);
}
END_TEST

START_TEST(dir_is_found_only)
{
	ck_assert(refused(home, "a/b", false, ENOENT, "No such"));
	ck_assert(!home_exists("a"));
	home_mkdir("a", 0755);
	ck_assert(refused(home, "a/b", false, ENOENT, "/a/b"));
	ck_assert_uint_eq(home_count("a"), 0);
}
END_TEST

/* Nobody else is to read the names in it. */
START_TEST(dir_is_closed_to_others)
{
	struct stat st;
	char *why = NULL;
	int fd;

	home_mkdir("a", 0755);
	fd = file_dir(home, "a", true, &why);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	file_close(fd);
}
END_TEST

START_TEST(dir_without_home)
{
	ck_assert(refused(NULL, "a", true, EINVAL, "HOME"));
	ck_assert(refused("", "a", true, EINVAL, "HOME"));
	ck_assert(refused("tmp", "a", true, EINVAL, "HOME"));
	ck_assert(refused(home_path("none"), "a/b", true, ENOENT, "No such"));
	ck_assert(!home_exists("none"));
	home_puts("file", "");
	ck_assert(refused(home_path("file"), "a/b", true, ENOTDIR, "Not a"));
}
END_TEST

START_TEST(dir_is_refused)
{
	home_mkdir("group", 0720);
	ck_assert(refused(home, "group", true, EPERM, "others can write"));
	home_mkdir("other", 0702);
	ck_assert(refused(home, "other", false, EPERM, "others can write"));
	home_puts("file", "x");
	ck_assert(refused(home, "file", true, ENOTDIR, "Not a"));
	ck_assert(refused(home, "file/b", true, ENOTDIR, "Not a"));
	ck_assert(home_is("file", "x"));
	home_mkdir("real", 0700);
	ck_assert_int_eq(symlink("real", home_path("link")), 0);
	ck_assert(refused(home, "link", true, ENOTDIR, ""));
	ck_assert_int_eq(symlink("none", home_path("loose")), 0);
	ck_assert(refused(home, "loose/b", true, EEXIST, ""));
	ck_assert(!home_exists("none"));
}
END_TEST

/* A folder that was moved elsewhere and linked is the user's right. */
START_TEST(dir_behind_a_link)
{
	char *why;
	int fd;

	home_mkdir("disk", 0755);
	ck_assert_int_eq(symlink("disk", home_path(".cache")), 0);
	fd = file_dir(home, ".cache/own", true, &why);
	ck_assert_int_ge(fd, 0);
	file_close(fd);
	ck_assert(home_exists("disk/own"));
}
END_TEST

START_TEST(dir_of_another)
{
	if (geteuid() != 0)
		return;
	home_mkdir("theirs", 0700);
	ck_assert_int_eq(chown(home_path("theirs"), 12345, 12345), 0);
	ck_assert(refused(home, "theirs", true, EPERM, "another user"));
	/* as sudo has it */
	ck_assert(refused(home_path("theirs"), "x/y", true, EPERM, "another"));
	ck_assert_uint_eq(home_count("theirs"), 0);
}
END_TEST

/* Whoever owns a folder above, or can write to it, can put another one there. */
START_TEST(dir_below_others)
{
	char *why;
	int fd;

	home_mkdir("open", 0755);
	ck_assert_int_eq(chmod(home_path("open"), 0777), 0);
	ck_assert(refused(home, "open/a/b", true, EPERM, "/open cannot"));
	ck_assert_uint_eq(home_count("open"), 0);
	ck_assert_int_eq(chmod(home_path("open"), 01777), 0);
	fd = file_dir(home, "open/a/b", true, &why);
	ck_assert_int_ge(fd, 0);
	file_close(fd);
	ck_assert_int_eq(chmod(home_path("open"), 0777), 0);
	ck_assert(refused(home, "open/a/b", false, EPERM, "/open cannot"));
	/* through a link, too */
	ck_assert_int_eq(symlink("open", home_path("link")), 0);
	ck_assert(refused(home, "link/a/b", false, EPERM, "/link cannot"));
	/* HOME itself is as the user has it, and a group may be the user's */
	ck_assert_int_eq(chmod(home_path("open"), 0775), 0);
	ck_assert_int_eq(chmod(home, 0777), 0);
	fd = file_dir(home, "link/a/b", false, &why);
	ck_assert_int_ge(fd, 0);
	file_close(fd);
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(lchown(home_path("link"), 12345, 12345), 0);
	ck_assert(refused(home, "link/a/b", false, EPERM, "/link cannot"));
	ck_assert_int_eq(chown(home_path("open/a"), 12345, 12345), 0);
	ck_assert(refused(home, "open/a/b", false, EPERM, "/open/a cannot"));
	ck_assert(refused(home, "open/a/c", true, EPERM, "another user"));
	ck_assert_uint_eq(home_count("open/a"), 1);
}
END_TEST

static bool
make_in_read_only(void)
{
	return chmod(home, 0500) == 0 &&
	    refused(home, "a/b", true, EACCES, "denied");
}

START_TEST(dir_in_read_only)
{
	ck_assert(home_apart(make_in_read_only, true));
	chmod(home, 0700);
}
END_TEST

static int
read_error(const char *name)
{
	struct buf b;
	int error;

	buf_init(&b, 0);
	buf_adds(&b, "before");
	errno = 0;
	error = file_read(dir, name, 10, &b) == 0 ? 0 : errno;
	ck_assert_int_eq(error == 0, errno == 0);
	if (error != 0)
		ck_assert(span_is(buf_span(&b), "before"));
	buf_free(&b);
	return error;
}

START_TEST(read_bounds)
{
	struct buf b;

	buf_init(&b, 0);
	home_puts("own/f", "0123456789");
	ck_assert_int_eq(file_read(dir, "f", 10, &b), 0);
	ck_assert_int_eq(file_read(dir, "f", 10, &b), 0);
	ck_assert(span_is(buf_span(&b), "01234567890123456789"));
	home_puts("own/f", "0123456789a");
	ck_assert_int_eq(file_read(dir, "f", 10, &b), -1);
	ck_assert_int_eq(errno, EFBIG);
	ck_assert_uint_eq(b.n, 20);
	home_puts("own/f", "");
	ck_assert_int_eq(file_read(dir, "f", 0, &b), 0);
	ck_assert_uint_eq(b.n, 20);
	buf_free(&b);
}
END_TEST

/* A file that claims a terabyte is read up to the bound only. */
START_TEST(read_head)
{
	char head[4] = { '.', '.', '.', '.' };
	int fd;

	home_put("own/f", "abcdef", 6, 0600);
	fd = file_open(dir, "f", false);
	ck_assert_uint_eq(file_head(fd, head, 3), 3);
	ck_assert_int_eq(memcmp(head, "abc.", 4), 0);
	file_close(fd);
	home_put("own/f", "x", 1, 0600);
	fd = file_open(dir, "f", false);
	ck_assert_uint_eq(file_head(fd, head, sizeof head), 1);
	ck_assert_int_eq(memcmp(head, "xbc.", 4), 0);
	file_close(fd);
	ck_assert_uint_eq(file_head(dir, head, sizeof head), 0);
}
END_TEST

START_TEST(read_sparse)
{
	home_puts("own/f", "x");
	if (truncate(home_path("own/f"), (off_t)1 << 40) != 0)
		return;
	ck_assert_int_eq(read_error("f"), EFBIG);
}
END_TEST

START_TEST(read_long)
{
	size_t i, n = 300001;
	char *text = xmalloc(n);
	struct buf b;

	for (i = 0; i < n; i++)
		text[i] = (char)(i * 7 % 251);
	home_put("own/f", text, n, 0600);
	buf_init(&b, 0);
	ck_assert_int_eq(file_read(dir, "f", n, &b), 0);
	ck_assert(span_eq(buf_span(&b), (struct span){ text, n }));
	buf_free(&b);
	free(text);
}
END_TEST

START_TEST(read_refuses)
{
	home_puts("secret", "s");
	home_put("own/good", "g", 1, 0600);
	home_put("own/plain", "p", 1, 0400);
	home_put("own/group", "g", 1, 0640);
	home_put("own/others", "o", 1, 0602);
	home_mkdir("own/folder", 0700);
	ck_assert_int_eq(symlink("../secret", home_path("own/link")), 0);
	ck_assert_int_eq(symlink("good", home_path("own/near")), 0);
	ck_assert_int_eq(link(home_path("secret"), home_path("own/hard")), 0);
	ck_assert_int_eq(mkfifo(home_path("own/pipe"), 0600), 0);
	ck_assert_int_eq(read_error("good"), 0);
	ck_assert_int_eq(read_error("plain"), 0);
	ck_assert_int_eq(read_error("none"), ENOENT);
	ck_assert_int_eq(read_error("group"), EPERM);
	ck_assert_int_eq(read_error("others"), EPERM);
	ck_assert_int_eq(read_error("hard"), EPERM);
	ck_assert_int_eq(read_error("folder"), EINVAL);
	ck_assert_int_eq(read_error("link"), ELOOP);
	ck_assert_int_eq(read_error("near"), ELOOP);
	ck_assert_int_eq(read_error("pipe"), EINVAL);
	ck_assert_int_eq(file_open(dir, "pipe", true), -1);
	ck_assert_int_eq(errno, EINVAL);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(home_path("own/good"), 12345, 0), 0);
		ck_assert_int_eq(read_error("good"), EPERM);
	}
}
END_TEST

START_TEST(write_new_and_again)
{
	mode_t mask = umask(0777);
	struct buf b;
	int fd;

	ck_assert_int_eq(file_write(dir, "f", span_of("one"), false), 0);
	umask(0);
	ck_assert_int_eq(file_write(dir, "g", span_of(""), true), 0);
	umask(mask);
	ck_assert_int_eq(mode_of("own/f"), 0600);
	ck_assert_int_eq(mode_of("own/g"), 0600);
	ck_assert(home_is("own/f", "one"));
	ck_assert(home_is("own/g", ""));
	fd = file_open(dir, "f", false);
	ck_assert_int_ge(fd, 0);
	ck_assert(is_cloexec(fd));
	ck_assert(file_linked(fd));
	ck_assert_int_eq(file_write(dir, "f", span_of("2"), true), 0);
	ck_assert(!file_linked(fd));
	buf_init(&b, 0);
	ck_assert_int_eq(file_get(fd, 10, &b), 0);
	ck_assert(span_is(buf_span(&b), "one"));
	buf_free(&b);
	file_close(fd);
	ck_assert(home_is("own/f", "2"));
	ck_assert_uint_eq(home_count("own"), 2);
}
END_TEST

START_TEST(write_over_a_link)
{
	home_puts("target", "t");
	ck_assert_int_eq(symlink("../target", home_path("own/f")), 0);
	ck_assert_int_eq(file_write(dir, "f", span_of("new"), false), 0);
	ck_assert(home_is("target", "t"));
	ck_assert(home_is("own/f", "new"));
	ck_assert_int_eq(read_error("f"), 0);
}
END_TEST

START_TEST(write_over_a_folder)
{
	home_mkdir("own/f", 0700);
	home_puts("own/f/x", "x");
	ck_assert_int_eq(file_write(dir, "f", span_of("new"), false), -1);
	ck_assert_int_ne(errno, 0);
	ck_assert_uint_eq(home_count("own"), 1);
	ck_assert(home_is("own/f/x", "x"));
	ck_assert_int_eq(file_new_locked(dir, "f"), -1);
	ck_assert_uint_eq(home_count("own"), 1);
}
END_TEST

/* The folder is gone while we have it open. */
START_TEST(write_into_nothing)
{
	ck_assert_int_eq(rmdir(home_path("own")), 0);
	ck_assert_int_eq(file_write(dir, "f", span_of("new"), false), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(file_new_locked(dir, "f"), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

static bool
write_beyond_limit(void)
{
	struct rlimit limit = { 100, 100 };
	char text[101];
	struct span s = { text, 101 };

	memset(text, 'x', sizeof text);
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return false;
	if (file_write(dir, "f", s, false) != -1 || errno != EFBIG)
		return false;
	s.n = 100;
	return file_write(dir, "g", s, false) == 0;
}

START_TEST(write_limited)
{
	home_puts("own/f", "old");
	ck_assert(home_apart(write_beyond_limit, false));
	ck_assert(home_is("own/f", "old"));
	ck_assert_uint_eq(home_count("own"), 2);
}
END_TEST

#ifdef __linux__
#define FULL_BYTES ((size_t)256 * 1024)

/* On a file system of our own that is as good as full. It takes a root who
 * may mount: exit status 77 for others. */
static void
write_full(void)
{
	static const char zeros[FULL_BYTES];
	struct span s = { zeros, FULL_BYTES };
	char *why;
	int fd;

	if (unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, "") != 0 ||
	    mount("tmpfs", home, "tmpfs", 0, "size=64k,mode=700") != 0)
		_exit(77);
	fd = file_dir(home, "own", true, &why);
	if (fd < 0 || file_write(fd, "f", span_of("old"), false) != 0 ||
	    file_write(fd, "f", s, false) != -1 || errno != ENOSPC)
		_exit(1);
	if (!home_is("own/f", "old") || home_count("own") != 1)
		_exit(2);
	if (mount("none", home, "none", MS_REMOUNT | MS_RDONLY, "") == 0 &&
	    (file_write(fd, "f", span_of("new"), false) != -1 ||
		errno != EROFS || !refused(home, "x/y", true, EROFS, "Read-")))
		_exit(3);
	_exit(0);
}

START_TEST(write_to_full_disk)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		write_full();
	status = home_wait(pid);
	if (status == 77)
		fprintf(stderr, "no full disk can be had here\n");
	else
		ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(put_to_full_device)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	ck_assert_int_eq(file_put(fd, span_of("x")), -1);
	ck_assert_int_eq(errno, ENOSPC);
	file_close(fd);
}
END_TEST
#endif

START_TEST(put_in_place)
{
	int fd;

	home_puts("own/f", "a long content");
	fd = file_open(dir, "f", true);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_put(fd, span_of("short")), 0);
	ck_assert(home_is("own/f", "short"));
	ck_assert_int_eq(file_put(fd, span_of("and longer again")), 0);
	ck_assert(home_is("own/f", "and longer again"));
	ck_assert_int_eq(file_put(fd, (struct span){ NULL, 0 }), 0);
	ck_assert(home_is("own/f", ""));
	file_close(fd);
	fd = file_open(dir, "f", false);
	ck_assert_int_eq(file_put(fd, span_of("x")), -1);
	file_close(fd);
	ck_assert(home_is("own/f", ""));
}
END_TEST

#define STRIPE ((size_t)200 * 1000)

static void
write_stripes(void)
{
	char *text = xmalloc(STRIPE);
	char c;

	for (c = 'a';; c = c == 'z' ? 'a' : (char)(c + 1)) {
		memset(text, c, STRIPE);
		if (file_write(dir, "f", (struct span){ text, STRIPE },
			false) != 0)
			_exit(1);
	}
}

static void
check_stripe(void)
{
	struct buf b;

	buf_init(&b, 0);
	ck_assert_int_eq(file_read(dir, "f", STRIPE, &b), 0);
	ck_assert_uint_eq(b.n, STRIPE);
	ck_assert_int_eq(memcmp(b.p, b.p + 1, b.n - 1), 0);
	buf_free(&b);
}

/* Whoever reads meanwhile, and whoever comes after the writer was killed,
 * finds one whole content. */
START_TEST(write_is_atomic)
{
	struct timespec ms = { 0, 1000000 };
	int round, i;
	pid_t pid;

	for (round = 0; round < 10; round++) {
		pid = fork();
		if (pid == 0)
			write_stripes();
		while (!home_exists("own/f"))
			nanosleep(&ms, NULL);
		for (i = 0; i < 20 + round; i++)
			check_stripe();
		home_kill(pid);
		check_stripe();
	}
	ck_assert_uint_le(home_count("own"), 11);
	file_sweep(dir);
	check_stripe();
}
END_TEST

START_TEST(sweep_removes_old_only)
{
	home_puts("own/.new-0123456789abcdef", "");
	home_puts("own/.new-fedcba9876543210", "");
	home_puts("own/new-0123456789abcdef", "");
	home_puts("own/f", "");
	home_age("own/.new-0123456789abcdef", 3700);
	home_age("own/.new-fedcba9876543210", 3500);
	home_age("own/new-0123456789abcdef", 9999);
	home_age("own/f", 9999);
	file_sweep(dir);
	ck_assert(!home_exists("own/.new-0123456789abcdef"));
	ck_assert_uint_eq(home_count("own"), 3);
}
END_TEST

/* The youngest files stay; folders do not count. */
START_TEST(trim_keeps_the_youngest)
{
	static const char *const names[] = { "own/a", "own/b", "own/c",
		"own/d" };
	int i;

	home_mkdir("own/folder", 0700);
	for (i = 0; i < 4; i++) {
		home_puts(names[i], "1234");
		home_age(names[i], 10 * i + 10);
	}
	file_trim(dir, 4, 16, 50);
	ck_assert_uint_eq(home_count("own"), 5);
	home_age("own/d", -40);
	file_trim(dir, 4, 15, 50);
	ck_assert(home_exists("own/c") && !home_exists("own/d"));
	file_trim(dir, 2, 100, 50);
	ck_assert(home_exists("own/b") && !home_exists("own/c"));
	file_trim(dir, 2, 100, 15);
	ck_assert(home_exists("own/a") && !home_exists("own/b"));
	file_trim(dir, 0, 100, 50);
	ck_assert(!home_exists("own/a") && home_exists("own/folder"));
}
END_TEST

static void
take_lock(void *arg)
{
	int fd = file_open(dir, arg, true);

	if (fd < 0 || os_file_lock(fd) != 0)
		_exit(1);
}

START_TEST(lock_is_exclusive)
{
	static char name[] = "f";
	pid_t pid;
	int fd;

	home_puts("own/f", "x");
	pid = home_process(take_lock, name);
	fd = file_open(dir, "f", true);
	ck_assert_int_eq(os_file_lock(fd), -1);
	ck_assert_int_eq(errno, EWOULDBLOCK);
	home_kill(pid);
	ck_assert_int_eq(os_file_lock(fd), 0);
	ck_assert(home_is("own/f", "x"));
	file_close(fd);
	home_kill(home_process(take_lock, name));
}
END_TEST

static void
make_locked(void *arg)
{
	if (file_new_locked(dir, arg) < 0)
		_exit(1);
}

/* Its program goes on without us. */
static void
make_locked_and_start(void *arg)
{
	make_locked(arg);
	if (fork() == 0) {
		execlp("sleep", "sleep", "1", (char *)NULL);
		_exit(1);
	}
}

START_TEST(new_is_locked)
{
	static char name[] = "n";
	mode_t mask;
	pid_t pid;
	int fd;

	pid = home_process(make_locked, name);
	ck_assert_uint_eq(home_count("own"), 1);
	fd = file_open(dir, "n", true);
	ck_assert_int_eq(os_file_lock(fd), -1);
	home_kill(pid);
	ck_assert_int_eq(os_file_lock(fd), 0);
	file_close(fd);
	mask = umask(0);
	fd = file_new_locked(dir, "n");
	umask(mask);
	ck_assert_int_ge(fd, 0);
	ck_assert(is_cloexec(fd));
	ck_assert(file_linked(fd));
	ck_assert_int_eq(mode_of("own/n"), 0600);
	ck_assert_int_eq(file_put(fd, span_of("x")), 0);
	ck_assert(home_is("own/n", "x"));
	ck_assert_int_eq(os_file_remove(dir, "n"), 0);
	ck_assert(!file_linked(fd));
	file_close(fd);
}
END_TEST

START_TEST(lock_is_not_inherited)
{
	static char name[] = "n";
	struct timespec ms = { 0, 200 * 1000000 };
	pid_t pid = home_process(make_locked_and_start, name);
	int fd;

	nanosleep(&ms, NULL);
	home_kill(pid);
	fd = file_open(dir, "n", true);
	ck_assert_int_eq(os_file_lock(fd), 0);
	file_close(fd);
}
END_TEST

struct seen {
	size_t n, stop_at;
	unsigned names; /* bits: a, b, c */
};

static bool
see(const char *name, void *arg)
{
	struct seen *seen = arg;

	ck_assert_uint_eq(strlen(name), 1);
	ck_assert_int_ge(name[0], 'a');
	seen->names |= 1U << (name[0] - 'a');
	return ++seen->n != seen->stop_at;
}

START_TEST(list_all)
{
	struct seen seen = { 0, 0, 0 };

	ck_assert_int_eq(os_folder_list(dir, 9, see, &seen), 0);
	ck_assert_uint_eq(seen.n, 0);
	home_puts("own/a", "");
	home_puts("own/c", "");
	home_mkdir("own/b", 0700);
	ck_assert_int_eq(os_folder_list(dir, 9, see, &seen), 0);
	ck_assert_uint_eq(seen.n, 3);
	ck_assert_uint_eq(seen.names, 7);
	ck_assert_int_eq(os_folder_list(dir, 2, see, &seen), 0);
	ck_assert_uint_eq(seen.n, 5);
	seen = (struct seen){ 0, 1, 0 };
	ck_assert_int_eq(os_folder_list(dir, 9, see, &seen), 0);
	ck_assert_uint_eq(seen.n, 1);
	/* the folder can be listed again: its own offset is not used */
	seen = (struct seen){ 0, 0, 0 };
	ck_assert_int_eq(os_folder_list(dir, 9, see, &seen), 0);
	ck_assert_uint_eq(seen.names, 7);
	ck_assert_int_eq(os_folder_list(-1, 9, see, &seen), -1);
}
END_TEST

START_TEST(ages)
{
	int fd;

	home_puts("own/f", "");
	fd = file_open(dir, "f", false);
	ck_assert_int_le(file_age(fd), 2);
	home_age("own/f", 1000);
	ck_assert_int_ge(file_age(fd), 999);
	ck_assert_int_le(file_age(fd), 1010);
	home_age("own/f", -1000);
	ck_assert_int_lt(file_age(fd), -900);
	file_close(fd);
}
END_TEST

/* A pipe has no length, and its end comes when nobody writes any more. */
START_TEST(read_a_pipe)
{
	struct buf b;
	int fds[2], i;

	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(pipe(fds), 0);
		ck_assert_int_eq(write(fds[1], "12345", 5), 5);
		close(fds[1]);
		buf_init(&b, i == 0 ? 5 : 4);
		ck_assert_int_eq(file_get_all(fds[0], &b), i == 0 ? 0 : -1);
		if (i == 0)
			ck_assert(span_is(buf_span(&b), "12345"));
		else
			ck_assert_int_eq(errno, EFBIG);
		buf_free(&b);
		close(fds[0]);
	}
	ck_assert_int_eq(file_get_all(-1, &b), -1);
	ck_assert_int_eq(errno, EBADF);
}
END_TEST

START_TEST(lines)
{
	struct span text = span_of("a\n\nrest"), line;

	ck_assert(file_line(&text, &line));
	ck_assert(span_is(line, "a"));
	ck_assert(file_line(&text, &line));
	ck_assert(span_is(line, ""));
	ck_assert(!file_line(&text, &line));
	ck_assert(span_is(text, "rest"));
	text = span_of("x\n");
	ck_assert(file_line(&text, &line));
	ck_assert(!file_line(&text, &line));
	text = (struct span){ NULL, 0 };
	ck_assert(!file_line(&text, &line));
}
END_TEST

START_TEST(nothing_stays_open)
{
	int before = dup(dir), i, fd;

	close(before);
	for (i = 0; i < 3; i++) {
		file_write(dir, "f", span_of("x"), true);
		read_error("f");
		read_error("none");
		os_folder_list(dir, 9, see, &(struct seen){ 0, 1, 0 });
		file_sweep(dir);
		refused(home_path("none"), "x", true, ENOENT, "");
	}
	fd = dup(dir);
	ck_assert_int_eq(fd, before);
	close(fd);
}
END_TEST

static TCase *
folders(void)
{
	TCase *tc = tcase_create("folders");

	tcase_add_checked_fixture(tc, home_begin, home_end);
	tcase_add_test(tc, dir_is_made);
	tcase_add_test(tc, dir_is_found_only);
	tcase_add_test(tc, dir_is_closed_to_others);
	tcase_add_test(tc, dir_without_home);
	tcase_add_test(tc, dir_is_refused);
	tcase_add_test(tc, dir_behind_a_link);
	tcase_add_test(tc, dir_of_another);
	tcase_add_test(tc, dir_below_others);
	tcase_add_test(tc, dir_in_read_only);
	return tc;
}

static TCase *
files(void)
{
	TCase *tc = tcase_create("files");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, read_bounds);
	tcase_add_test(tc, read_head);
	tcase_add_test(tc, read_sparse);
	tcase_add_test(tc, read_long);
	tcase_add_test(tc, read_refuses);
	tcase_add_test(tc, write_new_and_again);
	tcase_add_test(tc, write_over_a_link);
	tcase_add_test(tc, write_over_a_folder);
	tcase_add_test(tc, write_into_nothing);
	tcase_add_test(tc, write_limited);
#ifdef __linux__
	tcase_add_test(tc, write_to_full_disk);
	tcase_add_test(tc, put_to_full_device);
#endif
	tcase_add_test(tc, put_in_place);
	tcase_add_test(tc, write_is_atomic);
	tcase_add_test(tc, sweep_removes_old_only);
	tcase_add_test(tc, trim_keeps_the_youngest);
	tcase_add_test(tc, lock_is_exclusive);
	tcase_add_test(tc, new_is_locked);
	tcase_add_test(tc, lock_is_not_inherited);
	tcase_add_test(tc, list_all);
	tcase_add_test(tc, ages);
	tcase_add_test(tc, read_a_pipe);
	tcase_add_test(tc, lines);
	tcase_add_test(tc, nothing_stays_open);
	return tc;
}

int
main(void)
{
	Suite *s = suite_create("file");

	suite_add_tcase(s, folders());
	suite_add_tcase(s, files());
	return unit_run(s);
}
