/* What ancestors have in their environment: in a folder that plays /proc. */
#include "config.h"

#include "io/ancestor_environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "unit/home.h"
#include "unit/unit.h"

static const char *const names[] = { "CHECK_A", "CHECK_B", NULL };

/* A process with this environment, of n bytes; NULL: it cannot be read. */
static void
process(int pid, int parent, long user, const char *environment, size_t n)
{
	char *path = xasprintf("%d", pid), *text;

	home_mkdir(path, 0700);
	free(path);
	path = xasprintf("%d/status", pid);
	text = xasprintf("Name:\tx\nUmask:\t0022\nPid:\t%d\nPPid:\t%d\n"
			 "TracerPid:\t0\nUid:\t%ld\t%ld\t%ld\t%ld\n"
			 "Gid:\t0\t0\t0\t0\n",
	    pid, parent, user, user, user, user);
	home_puts(path, text);
	free(path);
	free(text);
	path = xasprintf("%d/environ", pid);
	if (environment != NULL)
		home_put(path, environment, n, 0600);
	free(path);
}

#define PROCESS(pid, parent, user, text)                                       \
	process(pid, parent, user, text, sizeof(text) - 1)

static void
finds(pid_t parent, const char *want)
{
	char **found = ancestors_variables(home_path(""), parent, names), **v;
	struct buf all;

	buf_init(&all, 0);
	for (v = found; v != NULL && *v != NULL; v++)
		buf_addf(&all, "[%s]", *v);
	ck_assert_str_eq(buf_str(&all), want);
	buf_free(&all);
	string_list_free(found);
}

START_TEST(the_nearest_one_counts)
{
	long us = (long)getuid();

	PROCESS(30, 20, us, "HOME=/h\0CHECK_A=near\0CHECK_AB=no\0CHECK_\0");
	PROCESS(20, 10, us, "CHECK_A=far\0CHECK_B=far=er\0");
	PROCESS(10, 1, us, "CHECK_B=farthest");
	finds(30, "[CHECK_A=near][CHECK_B=far=er]");
	finds(20, "[CHECK_A=far][CHECK_B=far=er]");
	finds(10, "[CHECK_B=farthest]");
	finds(1, "");
	finds(0, "");
}
END_TEST

START_TEST(what_we_have_is_not_looked_for)
{
	long us = (long)getuid();

	PROCESS(30, 20, us, "CHECK_A=\0");
	PROCESS(20, 0, us, "CHECK_A=far\0CHECK_B=far\0");
	finds(30, "[CHECK_A=][CHECK_B=far]");
	setenv("CHECK_B", "", 1);
	finds(30, "[CHECK_A=]");
	unsetenv("CHECK_B");
}
END_TEST

/* Another user's process, and one that cannot be read, do not end it. */
START_TEST(others_are_passed_over)
{
	long us = (long)getuid();

	process(40, 30, us, NULL, 0);
	PROCESS(30, 20, us + 1, "CHECK_A=other\0");
	PROCESS(20, 10, us, "CHECK_B=ours\0");
	finds(40, "[CHECK_B=ours]");
}
END_TEST

START_TEST(a_set_user_is_another)
{
	char *text;

	PROCESS(30, 0, (long)getuid(), "CHECK_A=x\0");
	text = xasprintf("Name:\tx\nPPid:\t0\nUid:\t%ld\t%ld\t%ld\t%ld\n",
	    (long)getuid(), (long)getuid() + 1, (long)getuid(), (long)getuid());
	home_puts("30/status", text);
	free(text);
	finds(30, "");
}
END_TEST

START_TEST(a_circle_ends)
{
	long us = (long)getuid();

	PROCESS(30, 20, us, "CHECK_A=a\0");
	PROCESS(20, 30, us, "CHECK_B=b\0");
	finds(30, "[CHECK_A=a][CHECK_B=b]");
}
END_TEST

START_TEST(odd_bytes)
{
	long us = (long)getuid();

	PROCESS(30, 20, us, "");
	PROCESS(20, 10, us, "\0\0\0=\0CHECK_A\0=CHECK_A=x\0CHECK_B=\xff\n");
	home_mkdir("10", 0700);
	home_puts("10/status", "PPid:");
	finds(30, "[CHECK_B=\xff\n]");
}
END_TEST

START_TEST(the_name_of_a_program)
{
	char *name;

	home_mkdir("30", 0700);
	home_puts("30/comm", "a b(c)\n");
	name = ancestors_program(home_path(""), 30);
	ck_assert_str_eq(name, "a b(c)");
	free(name);
	home_puts("30/comm", "");
	ck_assert_ptr_null(ancestors_program(home_path(""), 30));
	ck_assert_ptr_null(ancestors_program(home_path(""), 20));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("ancestors");
	TCase *t = tcase_create("proc");

	tcase_add_checked_fixture(t, home_begin, home_end);
	tcase_add_test(t, the_nearest_one_counts);
	tcase_add_test(t, what_we_have_is_not_looked_for);
	tcase_add_test(t, others_are_passed_over);
	tcase_add_test(t, a_set_user_is_another);
	tcase_add_test(t, a_circle_ends);
	tcase_add_test(t, odd_bytes);
	tcase_add_test(t, the_name_of_a_program);
	suite_add_tcase(s, t);
	return unit_run(s);
}
