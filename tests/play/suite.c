/* Schedules as tests; see suite.h. */
#include "config.h"

#include "play/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "play/schedule.h"
#include "unit/unit.h"

static struct schedules schedules;

static void
must_be_right(char *wrong)
{
	char text[4000];

	if (wrong == NULL)
		return;
	snprintf(text, sizeof text, "%s", wrong);
	free(wrong);
	ck_abort_msg("%s", text);
}

START_TEST(test_schedule)
{
	must_be_right(schedule_play(&schedules.list[_i]));
}
END_TEST

void
suite_add_schedules(Suite *suite, const char *name)
{
	const char *srcdir = getenv("abs_srcdir");
	char *path = xasprintf("%s/play/schedules/%s.txt",
	    srcdir == NULL ? "." : srcdir, name);
	size_t i = schedules.n;
	char *wrong = schedules_read(&schedules, path);
	TCase *tc;

	free(path);
	if (wrong != NULL) {
		fprintf(stderr, "%s\n", wrong);
		exit(EXIT_FAILURE);
	}
	for (; i < schedules.n; i++) {
		if (schedules.list[i].name[0] == '@')
			continue;
		tc = tcase_create(schedules.list[i].name);
		tcase_add_loop_test(tc, test_schedule, (int)i, (int)i + 1);
		suite_add_tcase(suite, tc);
	}
}

const char *
suite_fragment(const char *name)
{
	const struct schedule *s = schedules_find(&schedules, name);

	ck_assert_msg(s != NULL, "there is no fragment %s", name);
	return s->lines.p;
}

int
suite_run(Suite *suite)
{
	int status = unit_run(suite);

	schedules_free(&schedules);
	return status;
}

/* --- by hand --- */

void
play_check_lines(struct play *p, const char *lines)
{
	must_be_right(play_lines(p, lines));
}

void
play_check(const struct reducer *reducer, const char *options,
    const char *schedule)
{
	struct play *p = play_new(reducer, options);

	play_check_lines(p, schedule);
	play_free(p);
}

/* Without its LF, if it has one. */
static char *__attribute__((format(printf, 1, 0)))
one_line(const char *fmt, va_list ap)
{
	char *line = xvasprintf(fmt, ap);

	line[strcspn(line, "\n")] = '\0';
	return line;
}

void
play_feed(struct play *p, const char *fmt, ...)
{
	va_list ap;
	char *line;

	va_start(ap, fmt);
	line = one_line(fmt, ap);
	va_end(ap);
	ck_assert_msg(play_input(p, line), "not understood: %.800s", line);
	free(line);
}

void
play_must(struct play *p, const char *fmt, ...)
{
	va_list ap;
	char *line;

	va_start(ap, fmt);
	line = one_line(fmt, ap);
	va_end(ap);
	must_be_right(play_line(p, line));
	free(line);
}

void
play_must_rest(struct play *p)
{
	must_be_right(play_rest(p));
}

unsigned
play_count(struct play *p, const char *beginning)
{
	struct buf line;
	unsigned n = 0;

	buf_init(&line, 0);
	while (play_take(p, &line))
		n += strncmp(buf_str(&line), beginning, strlen(beginning)) == 0;
	buf_free(&line);
	return n;
}

unsigned
play_seen(struct play *p, const char *text)
{
	const char *at = buf_str(&p->out);
	unsigned n = 0;

	for (; (at = strstr(at, text)) != NULL; at++)
		n++;
	return n;
}
