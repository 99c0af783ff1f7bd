/*
 * The core/client reducer: schedules of inputs and what must come of
 * them, in tests/play/schedules/client_*.txt, each a test with a name.
 * client_play.h tells the language; "& NAME" stands for the lines of
 * @NAME. CK_RUN_CASE=NAME plays one of them.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "play/client_play.h"
#include "unit/unit.h"

struct schedule {
	char *name; /* fragments begin with @ */
	size_t held;
	struct buf lines;
};

static struct schedule *schedules;
static size_t n_schedules;

/* --- reading --- */

static void
add_schedule(const char *head)
{
	size_t name = strcspn(head, " \n");
	const char *held = strstr(head, "held=");
	struct schedule *s;

	schedules = xrealloc(schedules, (n_schedules + 1) * sizeof *schedules);
	s = &schedules[n_schedules++];
	s->name = xstrndup(head, name);
	s->held = held == NULL ? 0 : strtoul(held + 5, NULL, 10);
	buf_init(&s->lines, 0);
}

static void
add_fragment(struct buf *lines, const char *name)
{
	size_t i, n = strcspn(name, "\n");

	for (i = 0; i < n_schedules; i++)
		if (schedules[i].name[0] == '@' &&
		    strncmp(schedules[i].name + 1, name, n) == 0 &&
		    schedules[i].name[n + 1] == '\0') {
			buf_addspan(lines, buf_span(&schedules[i].lines));
			return;
		}
	fprintf(stderr, "there is no fragment %s", name);
	exit(1);
}

static void
read_schedules(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[4096];
	struct buf *lines;

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof line, file) != NULL) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (strncmp(line, "== ", 3) == 0) {
			add_schedule(line + 3);
			continue;
		}
		lines = &schedules[n_schedules - 1].lines;
		if (line[0] == '&')
			add_fragment(lines, line + 2);
		else
			buf_adds(lines, line);
	}
	fclose(file);
}

static void
read_all(void)
{
	static const char *const files[] = { "open", "bridged", "parked",
		"listen" };
	const char *srcdir = getenv("abs_srcdir");
	char *path;
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++) {
		path = xasprintf("%s/play/schedules/client_%s.txt",
		    srcdir == NULL ? "." : srcdir, files[i]);
		read_schedules(path);
		free(path);
	}
}

static void
forget_all(void)
{
	while (n_schedules > 0) {
		free(schedules[--n_schedules].name);
		buf_free(&schedules[n_schedules].lines);
	}
	free(schedules);
}

/* --- playing --- */

START_TEST(test_schedule)
{
	struct schedule *s = &schedules[_i];
	char *wrong = client_play(buf_str(&s->lines), s->held);

	ck_assert_msg(wrong == NULL, "%s", wrong);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("client");
	TCase *tc;
	int failed;
	size_t i;

	read_all();
	for (i = 0; i < n_schedules; i++) {
		if (schedules[i].name[0] == '@')
			continue;
		tc = tcase_create(schedules[i].name);
		tcase_add_loop_test(tc, test_schedule, (int)i, (int)i + 1);
		suite_add_tcase(s, tc);
	}
	failed = unit_run(s);
	forget_all();
	return failed;
}
