/*
 * Hostile URLs: what is refused, and what a real program gets to see of the
 * rest.
 */
#include "config.h"

#include "signin/browser.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "unit/home.h"
#include "unit/unit.h"

static struct loop *loop;
static struct child *browser;
static int told; /* 0: not yet */

static void
setup(void)
{
	home_begin();
	loop = loop_new();
	ck_assert_ptr_nonnull(loop);
	browser = NULL;
	told = 0;
}

static void
teardown(void)
{
	child_free(browser, false);
	loop_free(loop);
	home_end();
}

struct url_case {
	const char *url;
	const char *want; /* NULL: it stays as it is */
};

static const struct url_case good[] = {
	{ "https://as.test/authorize?a=b%20c&d=e+f#g",
	    "https://as.test/authorize?a=b%20c&d=e+f" },
	{ "https://as.test/-._~:/?&=%25[]@+", NULL },
	{ "https://as.test:8443/a?b", NULL },
	{ "https://[2001:db8::1]:8443/a", NULL },
	{ "http://127.0.0.1:1/a", NULL },
	{ "http://localhost/a", NULL },
	{ "http://[::1]/a", NULL },
	{ "https://as.test", "https://as.test/" },
	{ "HTTPS://AS.TEST/A", "https://as.test/A" },
	/* payloads */
	{ "https://as.test/?`touch${IFS}x`",
	    "https://as.test/?%60touch%24%7BIFS%7Dx%60" },
	{ "https://as.test/$(id)", "https://as.test/%24%28id%29" },
	{ "https://as.test/?a=$(id>x)", "https://as.test/?a=%24%28id%3Ex%29" },
	{ "https://as.test/;id;", "https://as.test/%3Bid%3B" },
	{ "https://as.test/?a=b&calc", NULL },
	{ "https://as.test/?a=b&calc.exe&", NULL },
	{ "https://as.test/\"&calc&\"", "https://as.test/%22&calc&%22" },
	{ "https://as.test/'a'\"b\"", "https://as.test/%27a%27%22b%22" },
	{ "https://as.test/a|b||c", "https://as.test/a%7Cb%7C%7Cc" },
	{ "https://as.test/a\\b\\", "https://as.test/a%5Cb%5C" },
	{ "https://as.test/<a>^!*,{}",
	    "https://as.test/%3Ca%3E%5E%21%2A%2C"
	    "%7B%7D" },
	{ "https://as.test/%PATH%/%0a%00", NULL },
	{ "https://as.test/-x", NULL },
	{ "https://as.test/?url=javascript:alert(1)",
	    "https://as.test/?url=javascript:alert%281%29" },
	{ "https://as.test/?\xc3\xa4\xe2\x80\xae",
	    "https://as.test/?%C3%A4%E2%80%AE" },
	{ "https://as.test/\xff", "https://as.test/%FF" },
};

/* Made again of what we make, it is the same. Versions of libcurl differ in
 * the case of escapes. */
START_TEST(urls_are_encoded)
{
	const struct url_case *c = &good[_i];
	const char *want = c->want != NULL ? c->want : c->url;
	char *url, *again, *why;

	url = browser_url(c->url, false, &why);
	ck_assert_msg(url != NULL, "%s: %s", c->url, why);
	ck_assert_ptr_null(why);
	ck_assert_msg(strcasecmp(url, want) == 0, "%s is not %s", url, want);
	again = browser_url(url, false, &why);
	ck_assert_str_eq(again, url);
	free(url);
	free(again);
}
END_TEST

struct bad_case {
	const char *url;
	bool allow_http;
	const char *why;
};

#define NO_URL "it is not a URL"
#define SCHEME "it does not begin with https:// or http://"
#define NAME "it contains a user name"
#define PLAIN "it is not encrypted; --allow-http would allow it"

static const struct bad_case bad[] = {
	{ "", true, NO_URL },
	{ "-x", true, NULL },
	{ "--version", true, NULL },
	{ "-x://as.test/", true, NULL },
	{ "/etc/passwd", true, NULL },
	{ "//as.test/", true, NULL },
	{ "as.test/a", true, SCHEME },
	{ "javascript:alert(1)", true, NULL },
	{ "JavaScript://as.test/%0aalert(1)", true, SCHEME },
	{ "file:///etc/passwd", true, NULL },
	{ "file://as.test/etc/passwd", true, NULL },
	{ "ftp://as.test/", true, SCHEME },
	{ "data:text/html,x", true, NULL },
	{ "smb://as.test/x", true, SCHEME },
	{ "ms-settings://x", true, SCHEME },
	{ "vscode://as.test/", true, SCHEME },
	{ "https:as.test", true, NO_URL },
	{ "https:///as.test", true, NO_URL },
	{ "https://", true, NO_URL },
	{ "https://u@as.test/", true, NAME },
	{ "https://u:p@as.test/", true, NAME },
	{ "https://as.test@evil.test/", true, NAME },
	{ "https://as.test/a b", true, NO_URL },
	{ "https://as.test/\n-x", true, NO_URL },
	{ "https://as.test/\r", true, NO_URL },
	{ "https://as.test/\t", true, NO_URL },
	{ "https://as.test/\x1b[0m", true, NO_URL },
	{ "https://as.test/\x7f", true, NO_URL },
	{ " https://as.test/", true, NO_URL },
	{ "\nhttps://as.test/", true, NO_URL },
	{ "https://`id`/", true, NO_URL },
	{ "https://$(id)/", true, NO_URL },
	{ "https://a;b/", true, NO_URL },
	{ "https://a'b/", true, NO_URL },
	{ "https://a\\b/", true, NO_URL },
	{ "https://as.test:1;id/", true, NO_URL },
	{ "https://as.test:99999/", true, NO_URL },
	{ "https://as.test:-1/", true, NO_URL },
	{ "http://as.test/", false, PLAIN },
	{ "http://192.168.1.1/", false, PLAIN },
	{ "http://127.0.0.1.evil.test/", false, PLAIN },
	{ "http://localhost.evil.test/", false, PLAIN },
};

START_TEST(urls_are_refused)
{
	const struct bad_case *c = &bad[_i];
	char *why, *want;

	ck_assert_msg(browser_url(c->url, c->allow_http, &why) == NULL, "%s",
	    c->url);
	ck_assert_ptr_nonnull(why);
	if (c->why != NULL) {
		want = xasprintf("not opening the sign-in page: %s", c->why);
		ck_assert_str_eq(why, want);
		free(want);
	}
	free(why);
}
END_TEST

START_TEST(plain_http_can_be_allowed)
{
	char *why, *url;

	url = browser_url("http://as.test/a", true, &why);
	ck_assert_str_eq(url, "http://as.test/a");
	free(url);
}
END_TEST

static char *
long_url(size_t n)
{
	char *url = xmalloc(n + 1);

	memset(url, '`', n);
	memcpy(url, "https://as.test/", 16);
	url[n] = '\0';
	return url;
}

/* All of it, three times as long, or none of it. */
START_TEST(a_very_long_url)
{
	char *url, *safe, *why;

	url = long_url(30000);
	safe = browser_url(url, false, &why);
	ck_assert_ptr_nonnull(safe);
	ck_assert_uint_eq(strlen(safe), 16 + 3 * (30000 - 16));
	ck_assert_uint_eq(strspn(safe + 16, "%60"), strlen(safe + 16));
	free(url);
	free(safe);
	url = long_url(100000);
	ck_assert_ptr_null(browser_url(url, false, &why));
	free(url);
	free(why);
}
END_TEST

static void
expect_words(char **words, const char *want)
{
	struct buf b;
	size_t i;

	ck_assert_ptr_nonnull(words);
	buf_init(&b, 0);
	for (i = 0; words[i] != NULL; i++)
		buf_addf(&b, "[%s]", words[i]);
	ck_assert_str_eq(buf_str(&b), want);
	buf_free(&b);
	string_list_free(words);
}

START_TEST(commands)
{
	char *why;

	expect_words(browser_command("a  -b 'c d' ;e $(f)", true, &why),
	    "[a][-b][c d][;e][$(f)]");
#ifdef __APPLE__
	expect_words(browser_command(NULL, true, &why), "[/usr/bin/open]");
#else
	expect_words(browser_command(NULL, true, &why), "[xdg-open]");
#endif
	ck_assert_ptr_null(browser_command("a 'b", true, &why));
	ck_assert_ptr_nonnull(why);
	ck_assert_int_eq(strncmp(why, "--browser or $BROWSER: ", 23), 0);
	free(why);
	ck_assert_ptr_null(browser_command(" ", true, &why));
	ck_assert_ptr_nonnull(why);
	free(why);
}
END_TEST

START_TEST(no_display)
{
	char *why;

	ck_assert_ptr_null(browser_command(NULL, false, &why));
	ck_assert_ptr_null(why);
	ck_assert_ptr_null(browser_command("a", false, &why));
	ck_assert_ptr_null(why);
}
END_TEST

static void
on_done(enum child_end end, int value, void *arg)
{
	ck_assert_ptr_eq(arg, &told);
	ck_assert_int_eq(told, 0);
	told = browser_opened(end, value) ? 1 : -1;
	browser = NULL;
	loop_stop(loop, 0);
}

static void
on_time(void *arg)
{
	(void)arg;
	loop_stop(loop, 1);
}

/* Runs until the browser is told of; whether it was within ms. */
static bool
run(int64_t ms)
{
	struct loop_timer *t = loop_timer_new(loop, on_time, NULL);
	int status;

	loop_timer_set(t, ms);
	status = loop_run(loop);
	loop_timer_free(t);
	return status == 0;
}

/* A script that writes what it was given, and one variable. */
static char **
stub(const char *after)
{
	char *text, *line, *why, **words;

	text = xasprintf(
	    "#!/bin/sh\n"
	    "{ printf '[%%s]\\n' \"$#\" \"$@\" \"${CANARY-none}\" \"$DISPLAY\"\n"
	    "cat; } >%s/part 2>&1\n"
	    "mv %s/part %s/argv\n"
	    "%s\n",
	    home, home, home, after);
	home_put("stub", text, strlen(text), 0700);
	line = xasprintf("%s/stub -x 'two words' ''", home);
	words = browser_command(line, true, &why);
	ck_assert_ptr_nonnull(words);
	free(text);
	free(line);
	return words;
}

static void
open_with(char **words, const char *url)
{
	static const char *const unset[] = { "CANARY", NULL };
	static const char *const set[] = { "DISPLAY=:77", NULL };
	static const struct desktop desktop = { unset, set };
	static const struct child_ops ops = { .done = on_done };

	unsetenv("DISPLAY");
	setenv("CANARY", "secret", 1);
	browser = browser_open(loop, words, url, &desktop, &ops, &told);
	ck_assert_ptr_nonnull(browser);
	ck_assert_int_eq(told, 0);
	string_list_free(words);
}

/* The argument that a real program receives is the URL, byte for byte, and
 * nothing was run on the way. */
START_TEST(a_program_gets_one_argument)
{
	char *url, *why, *want;

	url = browser_url(good[_i].url, false, &why);
	ck_assert_ptr_nonnull(url);
	open_with(stub("exit 0"), url);
	ck_assert(run(20000));
	ck_assert_int_eq(told, 1);
	want = xasprintf("[4]\n[-x]\n[two words]\n[]\n[%s]\n[none]\n[:77]\n",
	    url);
	ck_assert(home_is("argv", want));
	ck_assert_uint_eq(home_count(""), 2);
	free(want);
	free(url);
}
END_TEST

START_TEST(a_long_argument)
{
	char *url = long_url(30000), *why, *safe, *want;

	safe = browser_url(url, false, &why);
	open_with(stub("exit 0"), safe);
	ck_assert(run(20000));
	ck_assert_int_eq(told, 1);
	want = xasprintf("[4]\n[-x]\n[two words]\n[]\n[%s]\n[none]\n[:77]\n",
	    safe);
	ck_assert(home_is("argv", want));
	free(want);
	free(safe);
	free(url);
}
END_TEST

static const char *const failures[] = { "exit 1", "kill -9 $$" };

START_TEST(a_browser_fails)
{
	open_with(stub(failures[_i]), "https://as.test/");
	ck_assert(run(20000));
	ck_assert_int_eq(told, -1);
	ck_assert(home_exists("argv"));
}
END_TEST

START_TEST(there_is_no_browser)
{
	char *why, **words;

	words = browser_command("/nonexistent/browser -x", true, &why);
	open_with(words, "https://as.test/");
	ck_assert(run(20000));
	ck_assert_int_eq(told, -1);
}
END_TEST

/* One that stays is not told of, and outlives us. */
START_TEST(a_browser_stays)
{
	int i;

	open_with(stub("sleep 1; : >\"${0%/*}/late\""), "https://as.test/");
	for (i = 0; i < 100 && !home_exists("argv"); i++)
		run(100);
	ck_assert(home_exists("argv"));
	ck_assert_int_eq(told, 0);
	child_free(browser, false);
	browser = NULL;
	for (i = 0; i < 100 && !home_exists("late"); i++)
		run(100);
	ck_assert(home_exists("late"));
	ck_assert_int_eq(told, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("browser");
	TCase *t = tcase_create("browser");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, urls_are_encoded, 0, COUNT(good));
	tcase_add_loop_test(t, urls_are_refused, 0, COUNT(bad));
	tcase_add_test(t, plain_http_can_be_allowed);
	tcase_add_test(t, a_very_long_url);
	tcase_add_test(t, commands);
	tcase_add_test(t, no_display);
	tcase_add_loop_test(t, a_program_gets_one_argument, 0, COUNT(good));
	tcase_add_test(t, a_long_argument);
	tcase_add_loop_test(t, a_browser_fails, 0, COUNT(failures));
	tcase_add_test(t, there_is_no_browser);
	tcase_add_test(t, a_browser_stays);
	suite_add_tcase(s, t);
	return unit_run(s);
}
