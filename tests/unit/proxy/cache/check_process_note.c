/* proxy/cache/process_note: files of processes that live, end and are killed. */
#include "config.h"

#include "proxy/cache/process_note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "core/wire/json.h"
#include "unit/home.h"
#include "unit/unit.h"

#define FOLDER ".local/state/mcpsplice/processes"

/* The latest note that was read, and how many there were. */
static struct buf note;
static bool note_lives;
static unsigned notes;

static void
on_note(struct span text, bool lives, void *arg)
{
	(void)arg;
	buf_reset(&note);
	buf_addspan(&note, text);
	note_lives = lives;
	notes++;
}

static unsigned
look(void)
{
	notes = 0;
	process_notes_each(home, on_note, NULL);
	return notes;
}

static void
setup(void)
{
	home_begin();
	buf_init(&note, 0);
}

static void
teardown(void)
{
	buf_free(&note);
	home_end();
}

static struct process_note *
begin(void)
{
	return process_note_new(home, "https://a.example/mcp", "host \"1\"",
	    77);
}

static struct span
member(const char *name)
{
	return json_get(buf_span(&note), name);
}

static struct process_note *
write_twice(void)
{
	struct process_note *n = begin();

	process_note_write(n, span_of("{\"name\":\"a\",\"version\":\"2\"}"), 1);
	process_note_write(n,
	    span_of("{\"name\":\"b\\u009b\\u202e\",\"version\":\"3\"}"), 4);
	return n;
}

static void
live(void *arg)
{
	(void)arg;
	(void)write_twice();
}

/* A process that had trouble. */
static void
end_in_trouble(void)
{
	struct process_note *n = write_twice();

	process_note_trouble(n, "x");
	process_note_free(n);
}

START_TEST(a_process_that_lives)
{
	pid_t pid = home_process(live, NULL);

	ck_assert_uint_eq(look(), 1);
	ck_assert(note_lives);
	ck_assert(json_string_is(member("server"), "https://a.example/mcp"));
	ck_assert(json_string_is(member("parent"), "host \"1\""));
	ck_assert(span_is(member("parent_pid"), "77"));
	ck_assert(json_string_is(member("client"),
	    "b\\xc2\\x9b\\xe2\\x80\\xae 3"));
	ck_assert(span_is(member("session"), "4"));
	ck_assert(span_is(member("trouble"), "[]"));
	ck_assert_int_eq(strtol(member("pid").p, NULL, 10), pid);
	home_kill(pid);
	ck_assert_uint_eq(look(), 1);
	ck_assert(!note_lives);
}
END_TEST

START_TEST(a_process_that_ends)
{
	struct process_note *n = begin();

	process_note_free(n);
	ck_assert(!home_exists(".local"));
	n = begin();
	process_note_write(n, no_span, 0);
	ck_assert_uint_eq(home_count(FOLDER), 1);
	process_note_free(n);
	ck_assert_uint_eq(home_count(FOLDER), 0);
	n = begin();
	process_note_trouble(n, "it \"failed\"");
	process_note_trouble(n, "it \"failed\"");
	process_note_free(n);
	ck_assert_uint_eq(look(), 1);
	ck_assert(!note_lives);
	ck_assert(memmem(note.p, note.n, "\"text\":\"it \\\"failed\\\"\"}]",
		      24) != NULL);
	ck_assert(memmem(note.p, note.n, "},{", 3) == NULL);
}
END_TEST

START_TEST(the_oldest_trouble_goes)
{
	struct process_note *n = begin();
	struct span list, key, one, last = no_span;
	char text[4000];
	size_t i, at = 0, count = 0;

	memset(text, '"', sizeof text);
	for (i = 0; i < BOUND_IN_A_ROW; i++)
		process_note_trouble(n, "old");
	for (i = 0; i < BOUND_IN_A_ROW; i++) {
		snprintf(text + sizeof text - 8, 8, "%zu", i);
		process_note_trouble(n, text);
	}
	process_note_trouble(n, "the last one");
	process_note_free(n);
	ck_assert_uint_eq(look(), 1);
	list = member("trouble");
	while (json_next(list, &at, &key, &one)) {
		ck_assert(!json_string_is(json_get(one, "text"), "old"));
		last = one;
		count++;
	}
	ck_assert_uint_eq(count, BOUND_IN_A_ROW);
	ck_assert(json_string_is(json_get(last, "text"), "the last one"));
}
END_TEST

START_TEST(many_files)
{
	char path[100];
	size_t i;

	home_mkdir(".local", 0700);
	home_mkdir(".local/state", 0700);
	home_mkdir(".local/state/mcpsplice", 0700);
	home_mkdir(FOLDER, 0700);
	for (i = 0; i < BOUND_LISTED + 10; i++) {
		snprintf(path, sizeof path, FOLDER "/%032zx", i);
		home_puts(path, "{\"pid\":1}\n");
	}
	home_age(path, BOUND_WEEK_MS / 1000 + 10);
	end_in_trouble();
	ck_assert_uint_eq(home_count(FOLDER), BOUND_LISTED);
	ck_assert(!home_exists(path));
}
END_TEST

START_TEST(what_is_no_note)
{
	end_in_trouble();
	ck_assert_uint_eq(look(), 1);
	home_puts(FOLDER "/0123456789abcdef0123456789abcdef", "{\"pid\":1");
	home_puts(FOLDER "/0123456789abcdef0123456789abcde0", "{\"pid\":}\n");
	home_puts(FOLDER "/0123456789abcdef0123456789abcde1", "");
	home_puts(FOLDER "/other", "{\"pid\":1}\n");
	ck_assert_uint_eq(look(), 1);
}
END_TEST

START_TEST(nothing_is_kept)
{
	struct process_note *n = process_note_new(NULL, "https://a.example/",
	    NULL, 0);

	ck_assert_ptr_null(n);
	process_note_trouble(n, "x");
	process_note_write(n, no_span, 1);
	process_note_free(n);
	home_puts(".local", "a file");
	end_in_trouble();
	ck_assert_uint_eq(look(), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("process_note");
	TCase *t = tcase_create("files");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_process_that_lives);
	tcase_add_test(t, a_process_that_ends);
	tcase_add_test(t, the_oldest_trouble_goes);
	tcase_add_test(t, many_files);
	tcase_add_test(t, what_is_no_note);
	tcase_add_test(t, nothing_is_kept);
	suite_add_tcase(s, t);
	return unit_run(s);
}
