/*
 * proxy/credentials/command: helpers that are really run: what they are asked, what their
 * answers become, how often they are asked, and how they fail.
 */
#include "config.h"

#include "proxy/credentials/command.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/log.h"
#include "unit/home.h"
#include "unit/unit.h"

#define URL "https://mcp.example/a\"b"
#define NOW ((int64_t)1700000000)

static struct loop *loop;
static struct command_auth *command;
static bool leaked;     /* is a canary in any line of the log? */
static unsigned told;   /* callbacks so far */
static unsigned wants;  /* the loop stops after so many */
static uint64_t before; /* the version before a renewal */
static bool aws;
static bool asks_again; /* the callback asks, too */
static bool spared;     /* the log tells of a renewal that failed */
static struct buf got;  /* "Name: value;" of each header, or the reason */

static void
on_log(enum log_level level, const char *line, void *arg)
{
	(void)level;
	(void)arg;
	leaked = leaked || strstr(line, "CANARY") != NULL;
	spared = spared || strstr(line, "using the current key") != NULL;
}

/* Ends the loop when the run is over that nobody waits for. */
static void
on_look(void *arg)
{
	struct loop_timer **look = arg;

	if (command_version(command) != before || spared)
		loop_stop(loop, 0);
	else
		loop_timer_set(*look, 10);
}

/* A helper in the home: notes what it is asked, and does what is in "do". */
static void
setup(void)
{
	home_begin();
	home_puts("helper",
	    "cd \"${0%/*}\" || exit 99\n"
	    "cat >>asked\n"
	    ". ./do\n");
	loop = loop_new();
	ck_assert_ptr_nonnull(loop);
	command = NULL;
	leaked = false;
	told = 0;
	wants = 1;
	asks_again = aws = false;
	buf_init(&got, 0);
	log_sink(on_log, NULL);
}

static void
teardown(void)
{
	ck_assert(!leaked);
	log_sink(NULL, NULL);
	command_free(command);
	loop_free(loop);
	buf_free(&got);
	home_end();
}

static void
show(const struct headers *h)
{
	size_t i;

	buf_reset(&got);
	for (i = 0; i < h->n; i++) {
		ck_assert(h->list[i].secret);
		buf_addf(&got, "%s: %s;", h->list[i].name, h->list[i].value);
	}
	h = command_key(command);
	if (h->n > 0)
		buf_addf(&got, "%s=%s", h->list[0].name, h->list[0].value);
}

static void
on_headers(uint64_t ticket, const struct headers *h, const char *why, void *arg)
{
	(void)ticket;
	(void)arg;
	ck_assert((h == NULL) == (why != NULL));
	if (h != NULL) {
		show(h);
	} else {
		buf_reset(&got);
		buf_adds(&got, why);
	}
	if (asks_again)
		ck_assert_ptr_nonnull(command_headers(command, 2, NOW, false));
	if (++told == wants)
		loop_stop(loop, 0);
}

static void
make(const char *line, const char *const *unset)
{
	char *why = NULL;

	command = command_new(loop, line, URL, unset, aws, on_headers, NULL,
	    &why);
	ck_assert_msg(command != NULL, "%s", why);
}

/* The helper does this. */
static void
helper(const char *script)
{
	char *line = xasprintf("/bin/sh '%s'", home_path("helper"));

	home_puts("do", script);
	if (command == NULL)
		make(line, NULL);
	free(line);
}

/* The helper answers this. */
static void
answer(const char *json)
{
	home_puts("answer", json);
	helper("cat answer\n");
}

/* Asks, and waits if the helper runs. Returns whether it did. */
static bool
ask(int64_t now_s, bool refused)
{
	const struct headers *h;

	told = 0;
	h = command_headers(command, 1, now_s, refused);
	if (h != NULL) {
		show(h);
		return false;
	}
	loop_run(loop);
	ck_assert_uint_eq(told, 1);
	return true;
}

/* The same, when the helper runs and nobody waits: what is at hand is told at
 * once, and another question meanwhile runs nothing. */
static void
ask_and_renew(int64_t now_s)
{
	struct loop_timer *look;
	const struct headers *h;

	look = loop_timer_new(loop, on_look, &look);
	before = command_version(command);
	spared = false;
	h = command_headers(command, 1, now_s, false);
	ck_assert_ptr_nonnull(h);
	show(h);
	ck_assert_ptr_nonnull(command_headers(command, 2, now_s, false));
	loop_timer_set(look, 0);
	loop_run(loop);
	loop_timer_free(look);
	ck_assert_uint_eq(told, 0);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(buf_str(&got), want);
}

#define ASKED(reason)                                                          \
	"{\"url\":\"https://mcp.example/a\\\"b\",\"resource\":"                \
	"\"https://mcp.example/a\\\"b\",\"reason\":\"" reason "\"}\n"

/* The headers are used until they expire; then the helper runs again. */
START_TEST(until_it_expires)
{
	answer("{\"version\":1,\"token\":\"one\",\"expires_at\":1700000100}");
	ck_assert(ask(NOW, false));
	expect("Authorization: Bearer one;");
	ck_assert(home_is("asked", ASKED("start")));
	ck_assert(!ask(NOW + 99, false));
	expect("Authorization: Bearer one;");
	answer("{\"version\":1,\"token\":\"two\"}");
	ck_assert(ask(NOW + 100, false));
	expect("Authorization: Bearer two;");
	ck_assert(home_is("asked", ASKED("start") ASKED("expired")));
	ck_assert(!ask(INT64_MAX, false));
	expect("Authorization: Bearer two;");
}
END_TEST

/* A refusal runs the helper again, but not twice within 5 s. */
START_TEST(until_it_is_refused)
{
	answer("{\"version\":1,\"token\":\"one\"}");
	ck_assert(ask(NOW, false));
	answer("{\"version\":1,\"token\":\"two\"}");
	ck_assert(ask(NOW, true));
	expect("Authorization: Bearer two;");
	answer("{\"version\":1,\"token\":\"three\"}");
	ck_assert(!ask(NOW + 4, true));
	expect("Authorization: Bearer two;");
	ck_assert(!ask(NOW + 5, false));
	ck_assert(ask(NOW + 5, true));
	expect("Authorization: Bearer three;");
	/* the clock was set back */
	ck_assert(ask(NOW - 1000, true));
	ck_assert(home_is("asked",
	    ASKED("start") ASKED("unauthorized") ASKED("unauthorized")
		ASKED("unauthorized")));
}
END_TEST

/* A failed run of the helper does not remove the headers at hand. */
START_TEST(a_failure_after_a_refusal)
{
	answer("{\"version\":1,\"token\":\"one\"}");
	ck_assert(ask(NOW, false));
	helper("exit 3\n");
	ck_assert(ask(NOW, true));
	expect("--auth-command: the program ended with status 3");
	ck_assert(!ask(NOW + 1, false));
	expect("Authorization: Bearer one;");
}
END_TEST

/* No headers yet: each question asks again. */
START_TEST(a_failure_at_first)
{
	helper("exit 3\n");
	ck_assert(ask(NOW, false));
	answer("{\"version\":1,\"token\":\"one\"}");
	ck_assert(ask(NOW, false));
	expect("Authorization: Bearer one;");
}
END_TEST

START_TEST(many_wait_for_one_run)
{
	unsigned i;

	answer("{\"version\":1,\"token\":\"one\"}");
	wants = 20;
	for (i = 0; i < wants; i++)
		ck_assert_ptr_null(command_headers(command, i + 1, NOW,
		    i % 2 == 1));
	ck_assert_uint_eq(told, 0);
	loop_run(loop);
	ck_assert_uint_eq(told, 20);
	expect("Authorization: Bearer one;");
	ck_assert(home_is("asked", ASKED("start")));
}
END_TEST

/* Headers that were refused are not given to others meanwhile. */
START_TEST(a_run_is_waited_for)
{
	answer("{\"version\":1,\"token\":\"one\"}");
	ck_assert(ask(NOW, false));
	answer("{\"version\":1,\"token\":\"two\"}");
	told = 0;
	wants = 2;
	ck_assert_ptr_null(command_headers(command, 1, NOW, true));
	ck_assert_ptr_null(command_headers(command, 2, NOW, false));
	loop_run(loop);
	expect("Authorization: Bearer two;");
	ck_assert(home_is("asked", ASKED("start") ASKED("unauthorized")));
}
END_TEST

/* The callback may ask again, and gets the new headers at once. */
START_TEST(asked_from_inside)
{
	answer("{\"version\":1,\"token\":\"one\"}");
	asks_again = true;
	ck_assert_ptr_null(command_headers(command, 1, NOW, false));
	loop_run(loop);
	ck_assert_uint_eq(told, 1);
}
END_TEST

START_TEST(a_dropped_question_is_not_answered)
{
	answer("{\"version\":1,\"token\":\"one\"}");
	ck_assert_ptr_null(command_headers(command, 1, NOW, false));
	ck_assert_ptr_null(command_headers(command, 2, NOW, false));
	command_drop(command, 1);
	command_drop(command, 3);
	loop_run(loop);
	ck_assert_uint_eq(told, 1);
}
END_TEST

START_TEST(headers_last)
{
	answer("{\"version\":1,\"token\":\"one\",\"expires_at\":1700000010}");
	ck_assert(ask(NOW, false));
	ck_assert(command_lasts(command, NOW + 9));
	ck_assert(!command_lasts(command, NOW + 10));
	answer("{\"version\":1,\"token\":\"one\"}");
	ck_assert(ask(NOW + 10, false));
	ck_assert(command_lasts(command, INT64_MAX));
}
END_TEST

static const struct {
	const char *members, *want;
} good[] = {
	{ "\"token\":\" CANARY\\n\"", "Authorization: Bearer CANARY;" },
	{ "\"headers\":{\"X-Key\":\"a b\",\"authorization\":\"Basic c\"}",
	    "X-Key: a b;authorization: Basic c;" },
	{ "\"headers\":{\"A\":\"${HOME} $$ $\"}", "A: ${HOME} $$ $;" },
	{ "\"headers\":{\"A\":\"b:c\"}", "A: b:c;" },
	{ "\"headers\":{\"A\":\"\"},\"token\":null", "A: ;" },
	{ "\"other\":[{}],\"token\":\"t\",\"expires_at\":null",
	    "Authorization: Bearer t;" },
};

START_TEST(good_answers)
{
	char *text = xasprintf("{\"version\":1,%s}", good[_i].members);

	answer(text);
	ck_assert(ask(NOW, false));
	expect(good[_i].want);
	free(text);
}
END_TEST

/* Blanks count, too. */
START_TEST(a_large_answer)
{
	char *text = xasprintf("%-*s", BOUND_TEXT_BYTES + _i,
	    "{\"version\":1,\"token\":\"t\"}");

	answer(text);
	ck_assert(ask(NOW, false));
	expect(_i == 0 ? "Authorization: Bearer t;" :
			 "--auth-command: the program wrote more than 64 KiB");
	free(text);
}
END_TEST

#define ONE "it must have either \"token\" or \"headers\""
#define NO_VERSION "it has no \"version\": 1"
#define NO_HEADERS "\"headers\" is not an object of headers"
#define NO_TOKEN "it contains no token"
#define UNSENDABLE                                                             \
	"a header contains bytes that cannot be sent, or is one that "         \
	"mcpsplice sets itself"
#define NO_TIME                                                                \
	"\"expires_at\" is not a whole number of seconds since 1970 or a "     \
	"time such as 2026-01-31T12:00:00Z"

static const struct {
	const char *json, *why; /* NULL: whatever store/document says */
} bad[] = {
	{ "", NULL },
	{ "CANARY\n", NULL },
	{ "[\"CANARY\"]", NULL },
	{ "{\"version\":1,\"token\":\"CANARY\"", NULL },
	{ "{\"version\":1,\"token\":\"CANARY\"} CANARY", NULL },
	{ "{\"token\":\"CANARY\"}", NO_VERSION },
	{ "{\"version\":2,\"token\":\"CANARY\"}", NO_VERSION },
	{ "{\"version\":1}", ONE },
	{ "{\"version\":1,\"headers\":{\"CANARY\":\"b\"},\"token\":\"c\"}",
	    ONE },
	{ "{\"version\":1,\"token\":\"\"}", NO_TOKEN },
	{ "{\"version\":1,\"token\":7}", NO_TOKEN },
	{ "{\"version\":1,\"token\":\"CANARY b\"}",
	    "it holds more than a token: quotes, ${...}, a space or a non-ASCII byte" },
	{ "{\"version\":1,\"headers\":{}}", NO_HEADERS },
	{ "{\"version\":1,\"headers\":[\"CANARY\"]}", NO_HEADERS },
	{ "{\"version\":1,\"headers\":\"CANARY\"}", NO_HEADERS },
	{ "{\"version\":1,\"headers\":{\"CANARY\":7}}",
	    "the value of a header is not a string" },
	{ "{\"version\":1,\"headers\":{\"CANARY:x\":\"b\"}}",
	    "a header's name contains a colon, or occurs twice" },
	{ "{\"version\":1,\"headers\":{\"Canary\":\"b\",\"CANARY\":\"c\"}}",
	    "a header's name contains a colon, or occurs twice" },
	{ "{\"version\":1,\"headers\":{\"A CANARY\":\"b\"}}", UNSENDABLE },
	{ "{\"version\":1,\"headers\":{\"A\":\"CANARY\\r\\nB: c\"}}",
	    UNSENDABLE },
	{ "{\"version\":1,\"headers\":{\"Mcp-CANARY\":\"x\"}}", UNSENDABLE },
	{ "{\"version\":1,\"headers\":{\"Host\":\"CANARY\"}}", UNSENDABLE },
	{ "{\"version\":1,\"token\":\"CANARY\",\"expires_at\":\"CANARY\"}",
	    NO_TIME },
	{ "{\"version\":1,\"token\":\"CANARY\",\"expires_at\":-1}", NO_TIME },
	{ "{\"version\":1,\"token\":\"CANARY\",\"expires_at\":1.5}", NO_TIME },
	{ "{\"version\":1,\"token\":\"CANARY\",\"expires_at\":[]}", NO_TIME },
};

START_TEST(bad_answers)
{
	char *want;

	answer(bad[_i].json);
	ck_assert(ask(NOW, false));
	ck_assert_ptr_null(strstr(buf_str(&got), "CANARY"));
	want = xasprintf("--auth-command: its answer cannot be used: %s",
	    bad[_i].why == NULL ? "" : bad[_i].why);
	if (bad[_i].why == NULL)
		ck_assert_int_eq(strncmp(buf_str(&got), want, strlen(want)), 0);
	else
		expect(want);
	/* there is nothing at hand after it */
	ck_assert(ask(NOW, false));
	free(want);
}
END_TEST

/* --- as a credential_process of the AWS tools --- */

#define AWS(more)                                                              \
	"{\"Version\":1,\"AccessKeyId\":\"AKID\",\"SecretAccessKey\":"         \
	"\"se/cr+et\"" more "}"
#define UNTIL_2000_S ",\"Expiration\":\"2023-11-14T22:46:40+00:00\""
#define UNTIL_100_S ",\"Expiration\":\"2023-11-14T22:15:00Z\""
#define NO_KEY "the access key (its id and its secret) is missing or malformed"
#define NO_AWS_VERSION                                                         \
	"it has no \"Version\": 1, or its \"Expiration\" is not a time such "  \
	"as 2026-01-31T12:00:00Z"

static const struct {
	const char *json, *want; /* what is at hand, or what is wrong */
	bool good;
} aws_answers[] = {
	{ AWS(""), "AKID=se/cr+et", true },
	{ AWS(",\"SessionToken\":null,\"Expiration\":null"), "AKID=se/cr+et",
	    true },
	{ AWS(",\"SessionToken\":\"\",\"Other\":[1]"), "AKID=se/cr+et", true },
	{ AWS(",\"SessionToken\":\"a$b\"" UNTIL_2000_S),
	    "X-Amz-Security-Token: a$b;AKID=se/cr+et", true },
	{ AWS(",\"SessionToken\":\"CANARY\\r\\nA: b\""),
	    "the session token is malformed", false },
	{ AWS(",\"Expiration\":\"CANARY\""), NO_AWS_VERSION, false },
	{ "{\"version\":1,\"token\":\"CANARY\"}", NO_AWS_VERSION, false },
	{ "{\"Version\":1,\"AccessKeyId\":\"CANARY\"}", NO_KEY, false },
	{ "{\"Version\":1,\"SecretAccessKey\":\"CANARY\"}", NO_KEY, false },
	{ "{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"\"}",
	    NO_KEY, false },
	{ "{\"Version\":1,\"AccessKeyId\":\"A\\r\\nB: c\","
	  "\"SecretAccessKey\":\"CANARY\"}",
	    NO_KEY, false },
};

START_TEST(answers_of_a_credential_process)
{
	char *want = xasprintf("%s%s",
	    aws_answers[_i].good ? "" :
				   "--auth-command: its answer cannot be "
				   "used: ",
	    aws_answers[_i].want);

	aws = true;
	answer(aws_answers[_i].json);
	ck_assert(ask(NOW, false));
	expect(want);
	free(want);
}
END_TEST

/* Five minutes before the end, or when half of the time is over. Nobody waits
 * for that, and what fails then costs nothing until the end. */
START_TEST(a_key_is_renewed_early)
{
	aws = true;
	answer(AWS(UNTIL_2000_S));
	ck_assert(ask(NOW, false));
	ck_assert(!ask(NOW + 1699, false));
	told = 0;
	answer(AWS(UNTIL_100_S));
	ask_and_renew(NOW + 1700);
	/* that key has expired, and the next answer is empty */
	answer("");
	ck_assert(ask(NOW + 1701, false));
	ck_assert_ptr_nonnull(strstr(buf_str(&got), "cannot be used"));
	command_free(command);
	command = NULL;
	answer(AWS(UNTIL_100_S));
	ck_assert(ask(NOW, false));
	ck_assert(!ask(NOW + 49, false));
	helper("exit 3\n");
	ask_and_renew(NOW + 50);
	expect("AKID=se/cr+et");
	ck_assert(!ask(NOW + 74, false));
	ask_and_renew(NOW + 75);
	expect("AKID=se/cr+et");
	/* but not once it was refused, or has ended */
	ck_assert(ask(NOW + 76, true));
	expect("--auth-command: the program ended with status 3");
	ck_assert(ask(NOW + 100, false));
	expect("--auth-command: the program ended with status 3");
}
END_TEST

/* A renewal that hangs: the key is used until it ends, or is refused. Who asks
 * then waits, and never gets that key. */
START_TEST(a_renewal_that_hangs)
{
	aws = true;
	answer(AWS(UNTIL_100_S));
	ck_assert(ask(NOW, false));
	told = 0;
	helper("until test -e go; do sleep 0.02; done; cat answer\n");
	ck_assert_ptr_nonnull(command_headers(command, 1, NOW + 60, false));
	ck_assert_ptr_nonnull(command_headers(command, 2, NOW + 99, false));
	if (_i == 0)
		ck_assert_ptr_null(command_headers(command, 3, NOW + 100,
		    false));
	else
		ck_assert_ptr_null(command_headers(command, 3, NOW + 99, true));
	ck_assert_ptr_null(command_headers(command, 4, NOW + 99, false));
	home_puts("answer", _i == 0 ? AWS(UNTIL_2000_S) : "");
	home_puts("go", "");
	wants = 2;
	loop_run(loop);
	ck_assert_uint_eq(told, 2);
	if (_i == 0)
		expect("AKID=se/cr+et");
	else
		ck_assert_ptr_nonnull(strstr(buf_str(&got), "cannot be used"));
	ck_assert(home_is("asked", ASKED("start") ASKED("expired")));
}
END_TEST

/* Each with the second that it names, by date(1). */
static const struct {
	const char *text;
	int64_t at; /* 0: it is none */
} times[] = {
	{ "1970-01-01T00:00:01Z", 1 },
	{ "2023-11-14T22:13:20Z", 1700000000 },
	{ "2023-11-14t22:13:20z", 1700000000 },
	{ "2023-11-14T22:13:20.999Z", 1700000000 },
	{ "2023-11-15T00:13:20+02:00", 1700000000 },
	{ "2023-11-14T16:43:20-05:30", 1700000000 },
	{ "2023-11-14T22:13:20-00:00", 1700000000 },
	{ "2000-02-29T00:00:00Z", 951782400 },
	{ "2000-03-01T00:00:00Z", 951868800 },
	{ "2024-02-29T23:59:59Z", 1709251199 },
	{ "2024-12-31T23:59:59Z", 1735689599 },
	{ "2025-01-01T00:00:00Z", 1735689600 },
	{ "2016-12-31T23:59:60Z", 1483228800 },
	{ "2100-03-01T00:00:00Z", 4107542400 },
	{ "9999-12-31T23:59:59Z", 253402300799 },
	{ "2023-02-29T00:00:00Z", 0 },
	{ "2100-02-29T00:00:00Z", 0 },
	{ "2023-04-31T00:00:00Z", 0 },
	{ "2023-00-01T00:00:00Z", 0 },
	{ "2023-13-01T00:00:00Z", 0 },
	{ "2023-01-00T00:00:00Z", 0 },
	{ "2023-01-32T00:00:00Z", 0 },
	{ "1969-12-31T23:59:59Z", 0 },
	{ "1970-01-01T00:00:00+01:00", 0 },
	{ "2023-01-01T24:00:00Z", 0 },
	{ "2023-01-01T00:60:00Z", 0 },
	{ "2023-01-01T00:00:61Z", 0 },
	{ "2023-01-01T00:00:00", 0 },
	{ "2023-01-01T00:00:00.Z", 0 },
	{ "2023-01-01T00:00:00+0100", 0 },
	{ "2023-01-01T00:00:00+24:00", 0 },
	{ "2023-01-01T00:00:00Zx", 0 },
	{ "2023-01-01 00:00:00Z", 0 },
	{ "2023-1-01T00:00:00Z", 0 },
	{ "+023-01-01T00:00:00Z", 0 },
	{ "2023-01-01T00:00Z", 0 },
	{ "2023-01-01", 0 },
	{ "", 0 },
};

START_TEST(expiry_times)
{
	char *text =
	    xasprintf("{\"version\":1,\"token\":\"t\",\"expires_at\":\"%s\"}",
		times[_i].text);

	answer(text);
	free(text);
	ck_assert(ask(0, false));
	if (times[_i].at == 0) {
		expect("--auth-command: its answer cannot be used: " NO_TIME);
		return;
	}
	expect("Authorization: Bearer t;");
	ck_assert(!ask(times[_i].at - 1, false));
	ck_assert(ask(times[_i].at, false));
}
END_TEST

static const struct {
	const char *script, *why;
} ends[] = {
	{ "echo CANARY; echo CANARY >&2; exit 7\n",
	    "--auth-command: the program ended with status 7" },
	{ "kill -9 $$\n", "--auth-command: the program was ended by signal 9" },
	{ "while :; do echo CANARYCANARYCANARYCANARY; done\n",
	    "--auth-command: the program wrote more than 64 KiB" },
};

START_TEST(helpers_that_fail)
{
	helper(ends[_i].script);
	ck_assert(ask(NOW, false));
	expect(ends[_i].why);
}
END_TEST

START_TEST(helpers_that_are_not_there)
{
	make("/nonexistent/helper CANARY", NULL);
	ck_assert(ask(NOW, false));
	expect("--auth-command: the program cannot be started: No such file "
	       "or directory");
}
END_TEST

/* Helpers that do not read their stdin. */
START_TEST(helpers_that_do_not_read)
{
	char *line = xasprintf("/bin/cat '%s'", home_path("answer"));

	home_puts("answer", "{\"version\":1,\"token\":\"one\"}");
	make(line, NULL);
	free(line);
	ck_assert(ask(NOW, false));
	expect("Authorization: Bearer one;");
}
END_TEST

START_TEST(no_command_line)
{
	static const char *const lines[] = { "", " ", "'a" };
	char *why;

	ck_assert_ptr_null(command_new(loop, lines[_i], URL, NULL, false,
	    on_headers, NULL, &why));
	ck_assert_int_eq(strncmp(why, "--auth-command: ", 16), 0);
	free(why);
}
END_TEST

START_TEST(variables_are_kept_back)
{
	static const char *const unset[] = { "COMMAND_SECRET", NULL };
	char *line = xasprintf("/bin/sh '%s'", home_path("helper"));

	ck_assert_int_eq(setenv("COMMAND_SECRET", "CANARY", 1), 0);
	make(line, unset);
	free(line);
	helper("echo '{\"version\":1,\"token\":\"'x$COMMAND_SECRET'\"}'\n");
	ck_assert(ask(NOW, false));
	expect("Authorization: Bearer x;");
	unsetenv("COMMAND_SECRET");
}
END_TEST

/* Freed while the helper runs: it is killed, and no callback comes. */
static void
on_time(void *arg)
{
	(void)arg;
	loop_stop(loop, 0);
}

START_TEST(freed_while_it_runs)
{
	struct loop_timer *timer = loop_timer_new(loop, on_time, NULL);

	helper("echo x >started; sleep 1; echo x >finished\n");
	ck_assert_ptr_null(command_headers(command, 1, NOW, false));
	while (!home_exists("started")) {
		loop_timer_set(timer, 10);
		loop_run(loop);
	}
	command_free(command);
	command = NULL;
	loop_timer_set(timer, 1300);
	loop_run(loop);
	ck_assert_uint_eq(told, 0);
	ck_assert(!home_exists("finished"));
	loop_timer_free(timer);
	command_free(NULL);
}
END_TEST

/* The stderr of a helper is not logged: it may contain a secret. */
static unsigned lines;

static void
on_line(enum log_level level, const char *line, void *arg)
{
	(void)level;
	(void)arg;
	if (strstr(line, "one") != NULL)
		lines++;
}

START_TEST(what_it_says)
{
	struct log_config config = { .level = LEVEL_DEBUG };

	ck_assert_int_eq(log_open(&config), 0);
	log_sink(on_line, NULL);
	home_puts("answer", "{\"version\":1,\"token\":\"one\"}");
	helper("printf 'one\\ntwo\\n' >&2; cat answer\n");
	ck_assert(ask(NOW, false));
	expect("Authorization: Bearer one;");
	ck_assert_uint_eq(lines, 0);
	log_close();
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("command");
	TCase *t = tcase_create("command");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, until_it_expires);
	tcase_add_test(t, until_it_is_refused);
	tcase_add_test(t, a_failure_after_a_refusal);
	tcase_add_test(t, a_failure_at_first);
	tcase_add_test(t, many_wait_for_one_run);
	tcase_add_test(t, a_run_is_waited_for);
	tcase_add_test(t, asked_from_inside);
	tcase_add_test(t, a_dropped_question_is_not_answered);
	tcase_add_test(t, headers_last);
	tcase_add_loop_test(t, good_answers, 0, COUNT(good));
	tcase_add_loop_test(t, a_large_answer, 0, 2);
	tcase_add_loop_test(t, bad_answers, 0, COUNT(bad));
	tcase_add_loop_test(t, answers_of_a_credential_process, 0,
	    COUNT(aws_answers));
	tcase_add_test(t, a_key_is_renewed_early);
	tcase_add_loop_test(t, a_renewal_that_hangs, 0, 2);
	tcase_add_loop_test(t, expiry_times, 0, COUNT(times));
	tcase_add_loop_test(t, helpers_that_fail, 0, COUNT(ends));
	tcase_add_test(t, helpers_that_are_not_there);
	tcase_add_test(t, helpers_that_do_not_read);
	tcase_add_loop_test(t, no_command_line, 0, 3);
	tcase_add_test(t, variables_are_kept_back);
	tcase_add_test(t, freed_while_it_runs);
	tcase_add_test(t, what_it_says);
	suite_add_tcase(s, t);
	return unit_run(s);
}
