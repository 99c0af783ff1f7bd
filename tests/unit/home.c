/*
 * A home folder for a test. All through plain system calls, so that nothing
 * here shares a mistake with what is tested.
 */
#include "config.h"

#include "unit/home.h"

#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <check.h>

#define NOBODY 54321

char home[64];

void
home_begin(void)
{
	strcpy(home, "/tmp/check_home.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(home));
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* A program that a test has ended may still write its last file there. */
void
home_end(void)
{
	int tries = 100;

	while (nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0 &&
	    tries-- > 0)
		nanosleep(&(struct timespec){ 0, 20 * 1000 * 1000 }, NULL);
	ck_assert_int_ne(access(home, F_OK), 0);
}

const char *
home_path(const char *path)
{
	static char paths[4][256];
	static unsigned turn;
	char *to = paths[turn++ % 4];

	snprintf(to, sizeof paths[0], "%s/%s", home, path);
	return to;
}

void
home_mkdir(const char *path, mode_t mode)
{
	ck_assert_int_eq(mkdir(home_path(path), 0700), 0);
	ck_assert_int_eq(chmod(home_path(path), mode), 0);
}

void
home_put(const char *path, const void *p, size_t n, mode_t mode)
{
	int fd = open(home_path(path), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, p, n), (ssize_t)n);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

void
home_puts(const char *path, const char *text)
{
	home_put(path, text, strlen(text), 0600);
}

struct buf
home_get(const char *path)
{
	struct buf b;
	ssize_t n;
	int fd = open(home_path(path), O_RDONLY);

	ck_assert_int_ge(fd, 0);
	buf_init(&b, 0);
	do {
		buf_reserve(&b, 65536);
		n = read(fd, b.p + b.n, 65536);
		ck_assert_int_ge(n, 0);
		b.n += (size_t)n;
	} while (n > 0);
	close(fd);
	return b;
}

bool
home_is(const char *path, const char *text)
{
	struct buf b = home_get(path);
	bool is = span_is(buf_span(&b), text);

	buf_free(&b);
	return is;
}

bool
home_exists(const char *path)
{
	struct stat st;

	return lstat(home_path(path), &st) == 0;
}

size_t
home_count(const char *path)
{
	DIR *d = opendir(home_path(path));
	size_t n = 0;

	if (d == NULL)
		return 0;
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n - 2;
}

void
home_age(const char *path, long seconds)
{
	struct timeval times[2] = { { 0 } };

	/* By time(), as the program looks: the finer clock may be ahead. */
	times[0].tv_sec = time(NULL) - seconds;
	times[1] = times[0];
	ck_assert_int_eq(utimes(home_path(path), times), 0);
}

int
home_wait(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

bool
home_apart(bool (*what)(void), bool as_user)
{
	pid_t pid;

	if (as_user && geteuid() == 0)
		ck_assert_int_eq(chown(home, NOBODY, NOBODY), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (as_user && geteuid() == 0 &&
		    (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
			_exit(2);
		_exit(what() ? 0 : 1);
	}
	return home_wait(pid) == 0;
}

pid_t
home_process(void (*what)(void *arg), void *arg)
{
	int ready[2];
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(ready[0]);
		what(arg);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

void
home_kill(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(home_wait(pid), 128 + SIGKILL);
}
