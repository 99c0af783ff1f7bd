/*
 * The pipe between a proxy and its login process: what goes through it as it
 * is, what is mended on the way, and what is said of a login process that gives
 * no answer.
 */
#include "config.h"

#include "auth/login_process.h"
#include "base/bounds.h"

#include <stdlib.h>
#include <string.h>

#include "unit/home.h"
#include "unit/unit.h"

/* It keeps its task in a file. */
#define KEEP "cat > \"$0\""

static struct loop *l;
static struct login_process_task task;
static enum login_end end;
static char *said;

static void
setup(void)
{
	home_begin();
	l = loop_new();
	ck_assert_ptr_nonnull(l);
	said = NULL;
}

static void
teardown(void)
{
	free(said);
	loop_free(l);
	home_end();
}

static void
on_where(const char *url, const char *code, void *arg)
{
	(void)url;
	(void)code;
	(void)arg;
	ck_abort_msg("nobody is asked");
}

static void
on_done(enum login_end how, const char *why, int64_t again_ms,
    const struct record *record, void *arg)
{
	(void)arg;
	ck_assert_int_eq(again_ms, -1);
	ck_assert_ptr_null(record);
	end = how;
	said = why == NULL ? NULL : xstrdup(why);
	loop_stop(l, 0);
}

static void
run(const char *script, const struct login_process_request *request)
{
	static const struct login_process_ops ops = { on_where, on_done };
	const char *const program[] = { "/bin/sh", "-c", script,
		home_path("task"), NULL };

	free(said);
	login_process_start(l, NULL, program, request, &ops, NULL);
	loop_run(l);
}

/* Passes the request on, as the login process reads it. */
static void
pass(const struct login_process_request *request)
{
	struct buf text;
	const char *why;

	run(KEEP, request);
	text = home_get("task");
	ck_assert_int_eq(login_process_task_read(&task, buf_span(&text), &why),
	    0);
	buf_free(&text);
}

START_TEST(command_line_as_it_is)
{
	char all[256];
	const char *argv[] = { "mcpsplice", "", "-H", "X-Name: caf\xE9",
		"/tmp/\xC3\xA9\xFF\n\"\\", all, NULL };
	const struct login_process_request request = { .argv = argv };
	size_t i;

	for (i = 0; i < sizeof all - 1; i++)
		all[i] = (char)(i + 1);
	all[i] = '\0';
	pass(&request);
	ck_assert_uint_eq(task.argc, COUNT(argv) - 1);
	for (i = 0; i < task.argc; i++)
		ck_assert_str_eq(task.argv[i], argv[i]);
	ck_assert_ptr_null(task.argv[i]);
	login_process_task_free(&task);
}
END_TEST

START_TEST(challenge_in_another_charset)
{
	const char *const argv[] = { "mcpsplice", NULL };
	char large[BOUND_HEADER_BYTES + 2];
	struct login_process_request request = { .argv = argv };

	request.challenge = "Bearer realm=\"caf\xE9\", scope=\"a\"";
	pass(&request);
	ck_assert_str_eq(task.request.challenge,
	    "Bearer realm=\"caf\xEF\xBF\xBD\", scope=\"a\"");
	login_process_task_free(&task);
	memset(large, 1, sizeof large);
	large[BOUND_HEADER_BYTES] = '\0';
	request.challenge = large;
	pass(&request);
	ck_assert_str_eq(task.request.challenge, large);
	login_process_task_free(&task);
	large[BOUND_HEADER_BYTES] = 1;
	large[BOUND_HEADER_BYTES + 1] = '\0';
	pass(&request);
	ck_assert_ptr_null(task.request.challenge);
	login_process_task_free(&task);
}
END_TEST

START_TEST(record_in_another_charset)
{
	const char *const argv[] = { "mcpsplice", NULL };
	struct record r;
	const struct login_process_request request = { .argv = argv,
		.record = &r };

	record_init(&r);
	r.url = xstrdup("https://a.example/mcp");
	r.profile = xstrdup("caf\xE9");
	r.token.access = xstrdup("at");
	pass(&request);
	ck_assert_ptr_nonnull(task.request.record);
	ck_assert_str_eq(task.request.record->profile, "caf\xEF\xBF\xBD");
	ck_assert_str_eq(task.request.record->token.access, "at");
	login_process_task_free(&task);
	record_free(&r);
}
END_TEST

static const struct {
	const char *text, *word;
} none[] = {
	{ "", "empty" },
	{ "{\"argv\":[\"\xE9\"]}", "UTF-8" },
	{ "{\"argv\":[\"?\"]}", "command line" },
	{ "{}", "command line" },
};

START_TEST(no_task)
{
	const char *why = NULL;

	ck_assert_int_eq(login_process_task_read(&task, span_of(none[_i].text),
			     &why),
	    -1);
	ck_assert_ptr_nonnull(strstr(why, none[_i].word));
}
END_TEST

static const struct {
	const char *script, *word, *other;
} silent[] = {
	{ "cat > /dev/null", "ended with status 0", "" },
	{ "echo no such library >&2; exit 3", "with status 3: no such library",
	    "" },
	{ "printf 'a\\nb\\033\\351' >&2; exit 1", "a b\\x1b\\xe9", "" },
	{ "echo first >&2; head -c 9999 /dev/zero >&2; exit 1", "first",
	    "status 1" },
	{ "kill -9 $$", "ended by signal 9", "" },
	{ "head -c 2000000 /dev/zero", "wrote too much", "" },
};

START_TEST(no_answer)
{
	const char *const argv[] = { "mcpsplice", NULL };
	const struct login_process_request request = { .argv = argv };

	run(silent[_i].script, &request);
	ck_assert_int_eq((int)end, LOGIN_LATER);
	ck_assert_msg(strstr(said, silent[_i].word) != NULL, "%s", said);
	ck_assert_msg(strstr(said, silent[_i].other) != NULL, "%s", said);
	ck_assert_uint_lt(strlen(said), 4096);
}
END_TEST

/* The bytes of its output, and those of stderr that are shown. */
START_TEST(much_output)
{
	const char *const argv[] = { "mcpsplice", NULL };
	const struct login_process_request request = { .argv = argv };
	char *script = xasprintf("head -c %d /dev/zero",
	    BOUND_QUEUE_BYTES + _i);

	run(script, &request);
	ck_assert_int_eq((int)end, LOGIN_LATER);
	ck_assert_str_eq(said,
	    _i == 0 ? "the login process ended with status 0" :
		      "the login process wrote too much");
	free(script);
}
END_TEST

START_TEST(many_errors)
{
	const char *const argv[] = { "mcpsplice", NULL };
	const struct login_process_request request = { .argv = argv };
	char *script = xasprintf("printf '%%%ds' bc >&2", BOUND_NAME_BYTES + 1);

	run(script, &request);
	ck_assert_ptr_nonnull(strstr(said, "status 0:  "));
	ck_assert_ptr_nonnull(strstr(said, " b"));
	ck_assert_ptr_null(strstr(said, " bc"));
	free(script);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("login_process");
	TCase *tc = tcase_create("agent");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, command_line_as_it_is);
	tcase_add_test(tc, challenge_in_another_charset);
	tcase_add_test(tc, record_in_another_charset);
	tcase_add_loop_test(tc, no_task, 0, COUNT(none));
	tcase_add_loop_test(tc, no_answer, 0, COUNT(silent));
	tcase_add_loop_test(tc, much_output, 0, 2);
	tcase_add_test(tc, many_errors);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
