/*
 * The session reducer: schedules of inputs and the actions that must come of
 * them, in tests/schedules, each a test with a name. session_play.h tells the
 * language. CK_RUN_CASE=NAME plays one of them.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "session_play.h"

#include "unit.h"

struct schedule {
	char *name; /* fragments begin with @ */
	char *options;
	char *lines;
};

static struct schedule *schedules;
static size_t n_schedules;

/* --- reading --- */

static void
add_schedule(const char *head, size_t n)
{
	size_t name = strcspn(head, " \n");
	struct schedule *s;

	schedules = xrealloc(schedules, (n_schedules + 1) * sizeof *schedules);
	s = &schedules[n_schedules++];
	s->name = xstrndup(head, name);
	s->options = xstrndup(head + name, n - name);
	s->lines = xstrdup("");
}

static void
add_line(const char *line, size_t n)
{
	struct schedule *s = &schedules[n_schedules - 1];
	char *more = xasprintf("%s%.*s\n", s->lines, (int)n, line);

	free(s->lines);
	s->lines = more;
}

static void
read_schedules(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[4096];
	size_t n;

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof line, file) != NULL) {
		n = strcspn(line, "\n");
		if (strncmp(line, "== ", 3) == 0)
			add_schedule(line + 3, n - 3);
		else if (n > 0 && line[0] != '#' && n_schedules > 0)
			add_line(line, n);
	}
	fclose(file);
}

static void
read_all(void)
{
	static const char *const files[] = { "opening", "loss", "calls",
		"listen", "ends", "recover", "signin" };
	const char *srcdir = getenv("abs_srcdir");
	char *path;
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++) {
		path = xasprintf("%s/schedules/%s.txt",
		    srcdir == NULL ? "." : srcdir, files[i]);
		read_schedules(path);
		free(path);
	}
}

static struct schedule *
find_schedule(const char *name)
{
	size_t i;

	for (i = 0; i < n_schedules; i++)
		if (strcmp(schedules[i].name, name) == 0)
			return &schedules[i];
	ck_abort_msg("there is no fragment %s", name);
	return NULL;
}

/* --- playing --- */

/* An expected line that ends with "..." is the beginning of one. */
static bool
is_same(const char *want, const char *seen)
{
	size_t n = strlen(want);

	if (n > 3 && strcmp(want + n - 3, "...") == 0)
		return strncmp(want, seen, n - 3) == 0;
	return strcmp(want, seen) == 0;
}

static void
expect(struct play *p, const char *want)
{
	struct buf seen;
	bool some;

	buf_init(&seen, 0);
	some = play_take(p, &seen);
	if (want == NULL ? some : !some || !is_same(want, buf_str(&seen)))
		ck_abort_msg("wanted: %s\nseen:   %s\nin:\n%s",
		    want == NULL ? "nothing more" : want,
		    some ? buf_str(&seen) : "nothing", buf_str(&p->trace));
	buf_free(&seen);
}

static void
play_lines(struct play *p, const char *lines)
{
	const char *at = lines, *end;
	char *line;

	for (; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		line = xstrndup(at, (size_t)(end - at));
		if (strchr("><!", line[0]) != NULL) {
			expect(p, NULL);
			ck_assert_msg(play_input(p, line), "not understood: %s",
			    line);
		} else {
			expect(p, line);
		}
		free(line);
	}
	expect(p, NULL);
}

/* The lines of a schedule, "& NAME" replaced by the fragment @NAME. */
static char *
expand(const struct schedule *s)
{
	const char *at = s->lines, *end;
	struct buf b;
	char *name, *lines;

	buf_init(&b, 0);
	for (; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		if (*at != '&') {
			buf_add(&b, at, (size_t)(end + 1 - at));
			continue;
		}
		name = xasprintf("@%.*s", (int)(end - at - 2), at + 2);
		buf_adds(&b, find_schedule(name)->lines);
		free(name);
	}
	lines = xstrdup(buf_str(&b));
	buf_free(&b);
	return lines;
}

START_TEST(test_schedule)
{
	struct play *p = play_new(schedules[_i].options);
	char *lines = expand(&schedules[_i]);

	ck_assert_msg(strchr(lines, '>') != NULL || strchr(lines, '!') != NULL,
	    "an empty schedule");
	play_lines(p, lines);
	free(lines);
	play_free(p);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("session");
	TCase *tc;
	size_t i;
	int status;

	read_all();
	for (i = 0; i < n_schedules; i++) {
		if (schedules[i].name[0] == '@')
			continue;
		tc = tcase_create(schedules[i].name);
		tcase_add_loop_test(tc, test_schedule, (int)i, (int)i + 1);
		suite_add_tcase(suite, tc);
	}
	status = unit_run(suite);
	for (i = 0; i < n_schedules; i++) {
		free(schedules[i].name);
		free(schedules[i].options);
		free(schedules[i].lines);
	}
	free(schedules);
	return status;
}
