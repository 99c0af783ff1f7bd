/*
 * options/config_file: what is read of configuration files, whose files are refused,
 * and which URL a section is for.
 */
#include "config.h"

#include "options/set.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bounds.h"
#include "unit/options/options_play.h"

static const struct file_case file_cases[] = {
	{ "", "", NULL },
	{ "# all\n\n  # comment\r\n\t\n", "", NULL },
	{ "replay = never\n", "replay=0;", NULL },
	{ "replay=never", "replay=0;", NULL },
	{ "replay: never\n", "replay=0;", NULL },
	{ "replay never\r\n", "replay=0;", NULL },
	{ "--replay never\n", "replay=0;", NULL },
	{ "  --replay = never  # so\n", "replay=0;", NULL },
	{ "-A x\n-v\n", "agent=x;verbose=1;", NULL },
	{ "A x\n", NULL,
	    "1: unknown option \"A\"; \"mcpsplice help all\" "
	    "lists all options of mcpsplice " PACKAGE_VERSION },
	{ "user-agent = a b # c", "agent=a b;", NULL },
	{ "user-agent = a#b", "agent=a#b;", NULL },
	{ "user-agent = \"a # b\" # c", "agent=a # b;", NULL },
	{ "user-agent = \"a\\\"b\\\\c\\td\\q\"", "agent=a\"b\\c\tdq;", NULL },
	{ "user-agent = \"\"", "", NULL },
	{ "proxy = \"\"", "proxy=;", NULL },
	{ "header = X: y\nheader: \"Z: w\"\n", "header=X: y;header=Z: w;",
	    NULL },
	{ "header-file = /f\n", "header=@/f;", NULL },
	{ "fail\ncompressed = yes\nhttp2 = off\n", "compressed=1;fail=1;",
	    NULL },
	{ "no-cookies\ncookies\nno-cookies = on\n", "no_cookies=1;", NULL },
	{ "cookies = no\n", "no_cookies=1;", NULL },
	{ "no-fail = no\n", "fail=1;", NULL },
	{ "verbose = 2\n", "verbose=2;", NULL },
	{ "debug\n", "verbose=2;", NULL },
	{ "verbose\ndebug = no\n", "", NULL },
	{ "keep-alive\n", "ping=30000;", NULL },
	{ "keep-alive = yes\nping-interval = 5\n", "ping=5000;", NULL },
	{ "ping-interval = 5\nkeep-alive = off\n", "", NULL },
	{ "no-keep-alive = off\n", "ping=30000;", NULL },
	{ "keep-alive = 60\n", NULL, "1: keep-alive: \"60\" is not yes or no" },
	{ "fail\nping-interval = 0.5\n", NULL,
	    "2: ping-interval: 0.5 is out of range, 1 to 2000000, or 0 for "
	    "never" },
	{ "session-lost-pattern = tenant \\(x\\) left # so\n"
	  "session-lost-pattern: \"a \\\\. #\"\n",
	    "lost=tenant \\(x\\) left;lost=a \\. #;", NULL },
	{ "[http://localhost/*]\nsession-lost-pattern = a b\n"
	  "session-lost-in-results\nno-memory\n",
	    "lost=a b;in_results=1;no_memory=1;", NULL },
	{ "[http://other/*]\nsession-lost-pattern = (\nno-memory\n", "", NULL },
	{ "memory = no\nsession-lost-in-results = yes\n",
	    "in_results=1;no_memory=1;", NULL },
	{ "\nsession-lost-pattern = \"\"\n", NULL,
	    "2: session-lost-pattern: \"\" matches even blank text, so it would match every answer" },
	{ "session-lost-pattern = a|b*\n", NULL,
	    "1: session-lost-pattern: \"a|b*\" matches even blank text, so it would match every answer" },
	{ "verbose\nverbose\n", "verbose=2;", NULL },
	{ "[http://localhost/*]\nprofile = a\n[http://other/*]\n"
	  "profile = b\n",
	    "profile=a;", NULL },
	{ "agent\n", NULL,
	    "1: unknown option \"agent\"; \"mcpsplice help all\" lists "
	    "all options of mcpsplice " PACKAGE_VERSION },
	{ "ignore-tool = delete*, echo\n", NULL,
	    "1: ignore-tool \"delete*, echo\" contains a comma; give the option "
	    "once for each name, without quotes" },
	{ "only-tool = delete*|write*\n", NULL,
	    "1: only-tool \"delete*|write*\" contains a \"|\"; give the option "
	    "once for each name, without quotes" },
	{ "ignore-tool = \"delete*\"\n", "", NULL },
	{ "[*]\nfail\n", "fail=1;", NULL },
	{ "[http://localhost/*] # this\nfail\n", "fail=1;", NULL },
	{ "[http://other/*]\nfail\n[*]\nhttp2\n", "http2=1;", NULL },
	{ "[http://other/*]\nmax-depth = no number\n", "", NULL },
	{ "protocol = legacy\ntransport: sse-first\n",
	    "protocol=1;transport=3;", NULL },
	{ "transport = sse\ntransport = \"\"\n", "", NULL },
	{ "[http://localhost/*]\nprotocol = modern\n[http://other/*]\n"
	  "protocol = legacy\ntransport = sse\n",
	    "protocol=2;", NULL },
	{ "\ntransport = stdio\n", NULL,
	    "2: transport: \"stdio\" is not one of auto|http|sse; mcpsplice "
	    "itself is the stdio side" },
	{ "protocol = new\n", NULL,
	    "1: protocol: \"new\" is not one of auto|legacy|modern" },
	{ "replay = always\n", NULL,
	    "1: replay: \"always\" is not one of never|refused|safe" },
	{ "fail = maybe\n", NULL,
	    "1: fail: \"maybe\" is not yes, no or \"any\"" },
	{ "verbose = x\n", NULL,
	    "1: verbose: \"x\" is not a number from 0 to 9" },
	{ "\n\ncacrt = x\n", NULL,
	    "3: unknown option \"cacrt\" (did you mean cacert?)" },
	{ "[http://other/*]\ncacrt = x\n", NULL,
	    "2: unknown option \"cacrt\" (did you mean cacert?)" },
	{ "cacert\n", NULL,
	    "1: the value is missing; write \"\" for an empty value" },
	{ "cacert = # x\n", NULL,
	    "1: the value is missing; write \"\" for an empty value" },
	{ "user-agent = \"a\n", NULL, "1: unclosed quotes" },
	{ "user-agent = \"a\\\"\n", NULL, "1: unclosed quotes" },
	{ "user-agent = \"a\" b\n", NULL,
	    "1: text after the closing quote; write one value on each line" },
	{ "ignore-tool = \"a\" \"b\"\n", NULL,
	    "1: text after the closing quote; write one value on each line" },
	{ "\xef\xbb\xbf"
	  "fail\n",
	    "fail=1;", NULL },
	{ "\xef\xbb\xbf", "", NULL },
	{ "\xff\xfe"
	  "fail\n",
	    NULL, "1: the file is UTF-16; save it as UTF-8" },
	{ "= x\n", NULL, "1: the line names no option" },
	{ "--\n", NULL, "1: the line names no option" },
	{ "fail\nhelp\n", NULL, "2: \"help\" cannot be set in a file" },
	{ "version\n", NULL, "1: \"version\" cannot be set in a file" },
	{ "-h\n", NULL, "1: \"help\" cannot be set in a file" },
	{ "show-config\n", NULL, "1: \"show-config\" cannot be set in a file" },
	{ "config = x\n", NULL, "1: \"config\" cannot be set in a file" },
	{ "[http://x/*\n", NULL, "1: write a section as [https://HOST/*]" },
	{ "[]\n", NULL, "1: write a section as [https://HOST/*]" },
	{ "fail\n['http://localhost/*']\nread-only\n", NULL,
	    "2: a section has no quotes; remove them" },
	{ "[\"http://localhost/*\"]\n", NULL,
	    "1: a section has no quotes; remove them" },
	{ "[http://localhost/*, http://h]\n", NULL,
	    "1: write one pattern for each section" },
	{ "[localhost,h]\n", NULL, "1: write one pattern for each section" },
	{ "[localhost h]\n", NULL, "1: write a section as [https://HOST/*]" },
	{ "[ localhost ]\n", NULL, "1: write a section as [https://HOST/*]" },
	{ "[htp://localhost/*]\n", NULL,
	    "1: write a section as [https://HOST/*]" },
	{ "[ws*://localhost/*]\n", NULL,
	    "1: write a section as [https://HOST/*]" },
	{ "[HTTP*://localhost/*]\nfail\n[*://localhost]\nhttp2\n",
	    "http2=1;fail=1;", NULL },
	{ "[x] y\n", NULL, "1: write a section as [https://HOST/*]" },
	{ "[http://x/*]\nurl = http://y\n", NULL,
	    "2: a section cannot set the URL that selects it" },
	{ "[http://x/*]\nsse = http://y\n", NULL,
	    "2: a section cannot set the URL that selects it" },
	{ "[http://x/*]\nstreamableHttp = http://y\n", NULL,
	    "2: a section cannot set the URL that selects it" },
};

START_TEST(files_are_read)
{
	play_file(&file_cases[_i]);
}
END_TEST

START_TEST(a_note_names_its_line)
{
	struct world w;
	char *want;

	world_init(&w);
	world_file(w.extra, "body-timeout = 3\n", 0600);
	want = xasprintf("note=%s:1: body-timeout has no effect yet; ignored;",
	    w.extra);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), 0);
	world_expect(&w, "a note", want);
	free(want);
	world_free(&w);
}
END_TEST

START_TEST(a_large_file)
{
	struct world w;
	char *text = xasprintf("fail #%*s", BOUND_QUEUE_BYTES + _i - 6, "");

	world_init(&w);
	world_file(w.etc, text, 0600);
	ck_assert_int_eq(world_load(&w, URL), _i == 0 ? 0 : -1);
	if (_i == 0)
		world_expect(&w, "a large file", "fail=1;");
	else
		ck_assert_ptr_nonnull(strstr(w.why, "File too large"));
	world_free(&w);
	free(text);
}
END_TEST

START_TEST(a_nul_byte_in_a_file)
{
	static const char text[] = "fail\nuser-agent = a\0b\n";
	struct world w;
	FILE *f;

	world_init(&w);
	f = fopen(w.etc, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert(fwrite(text, 1, sizeof text - 1, f) == sizeof text - 1);
	ck_assert_int_eq(chmod(w.etc, 0600), 0);
	fclose(f);
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why,
	    "/etc:2: the line contains a NUL byte"));
	world_free(&w);
}
END_TEST

START_TEST(files_that_are_not_there)
{
	struct world w;

	world_init(&w);
	ck_assert_int_eq(world_load(&w, URL), 0);
	options_free(&w.o);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why,
	    "cannot read the configuration file /tmp/check_options."));
	ck_assert_ptr_nonnull(strstr(w.why, "No such file"));
	/* one that is there and cannot be read is an error in any place */
	ck_assert_int_eq(mkdir(w.home, 0700), 0);
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why, "/home: "));
	/* but help is given even then */
	ck_assert_int_eq(world_load(&w, "--help"), 0);
	ck_assert_int_eq(rmdir(w.home), 0);
	/* the default file's folder is a file */
	world_file(w.extra, "", 0600);
	free(w.home);
	w.home = xasprintf("%s/config", w.extra);
	options_free(&w.o);
	ck_assert_msg(world_load(&w, URL) == 0, "%s", w.why);
	world_free(&w);
}
END_TEST

struct mode_case {
	const char *text;
	mode_t mode;
	bool warns;
};

static const struct mode_case mode_cases[] = {
	{ "header = X-Key: abc\n", 0644, true },
	{ "header = X-Key: abc\n", 0640, true },
	{ "header = X-Key: abc\n", 0604, true },
	{ "header = X-Key: abc\n", 0600, false },
	{ "header = X-Key: ${V}\n", 0644, false },
	{ "header = X-Tenant: abc\n", 0644, false },
	{ "header = @/f\n", 0644, false },
	{ "proxy-user = u:p\n", 0644, true },
	{ "proxy = http://u:p@h\n", 0644, true },
	{ "[http://other/*]\nproxy-user = u:p\n", 0644, true },
	{ "fail\n", 0644, false },
};

START_TEST(open_files_are_warned_about)
{
	const struct mode_case *c = &mode_cases[_i];
	struct world w;
	char *want;

	world_init(&w);
	world_file(w.etc, c->text, c->mode);
	ck_assert_int_eq(world_load(&w, URL), 0);
	ck_assert_uint_eq(w.o.warnings.n, c->warns);
	if (c->warns) {
		want = xasprintf(
		    "%s holds a secret and other users can read it; \"chmod 600\" it",
		    w.etc);
		ck_assert_str_eq(w.o.warnings.list[0], want);
		free(want);
	}
	world_free(&w);
}
END_TEST

struct trust_case {
	mode_t mode, folder;
	bool good;
};

static const struct trust_case trust_cases[] = {
	{ 0600, 0700, true },
	{ 0644, 0755, true },
	{ 0444, 0555, true },
	{ 0640, 0775, true },
	{ 0644, 01777, true },
	{ 0620, 0700, false },
	{ 0602, 0700, false },
	{ 0664, 0755, false },
	{ 0666, 0755, false },
	{ 0600, 0777, false },
	{ 0600, 0707, false },
	{ 0666, 0777, false },
};

/* The error names the chmod command that makes the file safe. */
START_TEST(files_that_others_can_write)
{
	const struct trust_case *c = &trust_cases[_i];
	struct world w;
	char *mend;

	world_init(&w);
	world_file(w.extra, "fail\n", c->mode);
	ck_assert_int_eq(chmod(w.dir, c->folder), 0);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), c->good ? 0 : -1);
	if (!c->good) {
		mend = xasprintf("\"chmod go-w%s%s%s%s\"",
		    (c->mode & 022) != 0 ? " " : "",
		    (c->mode & 022) != 0 ? w.extra : "",
		    (c->folder & 02) != 0 ? " " : "",
		    (c->folder & 02) != 0 ? w.dir : "");
		ck_assert_msg(strstr(w.why, mend) != NULL, "%s", w.why);
		free(mend);
	}
	ck_assert_int_eq(chmod(w.dir, 0700), 0);
	world_free(&w);
}
END_TEST

/* For a symbolic link, the file it points to and its folder must be safe. */
START_TEST(links_to_files)
{
	struct world w;
	char *dir, *real, *at;

	world_init(&w);
	dir = xasprintf("%s/dotfiles", w.dir);
	real = xasprintf("%s/real", dir);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	world_file(real, "fail\n", 0600);
	ck_assert_int_eq(symlink("dotfiles/real", w.extra), 0);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), 0);
	options_free(&w.o);
	ck_assert_int_eq(chmod(real, 0666), 0);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), -1);
	ck_assert_int_eq(chmod(real, 0600), 0);
	ck_assert_int_eq(chmod(dir, 0777), 0);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why, dir));
	ck_assert_int_eq(chmod(dir, 0700), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(lchown(w.extra, 12345, 0), 0);
		ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), -1);
	}
	ck_assert_int_eq(unlink(real), 0);
	ck_assert_int_eq(rmdir(dir), 0);
	/* a link to nothing may have led to a restriction */
	ck_assert_int_eq(symlink("dotfiles/real", w.home), 0);
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why, ": a link leads nowhere"));
	ck_assert_int_eq(unlink(w.home), 0);
	ck_assert_int_eq(symlink("dotfiles", w.home), 0);
	at = xasprintf("%s/config", w.home);
	free(w.etc);
	w.etc = at;
	ck_assert_int_eq(world_load(&w, URL), -1);
	ck_assert_ptr_nonnull(strstr(w.why, ": a link leads nowhere"));
	ck_assert_int_eq(unlink(w.home), 0);
	ck_assert_msg(world_load(&w, URL) == 0, "%s", w.why);
	free(dir);
	free(real);
	world_free(&w);
}
END_TEST

/* With a home of somebody else, as sudo can leave it, only root is to be seen
 * here: nobody else can make such files. */
START_TEST(files_of_another_user)
{
	static const char *const parts[] = { "", "/.config",
		"/.config/mcpsplice", "/.config/mcpsplice/config" };
	char *paths[COUNT(parts)], *home;
	struct world w;
	int i;

	if (geteuid() != 0)
		return;
	world_init(&w);
	for (i = 0; i < COUNT(parts); i++) {
		paths[i] = xasprintf("%s/me%s", w.dir, parts[i]);
		if (i < COUNT(parts) - 1)
			ck_assert_int_eq(mkdir(paths[i], 0755), 0);
	}
	home = w.home;
	w.home = paths[COUNT(parts) - 1];
	world_file(w.home, "fail\n", 0644);
	ck_assert_int_eq(world_load(&w, URL), 0);
	options_free(&w.o);
	for (i = 0; i < COUNT(parts); i++) {
		ck_assert_int_eq(chown(paths[i], 12345, 0), 0);
		ck_assert_int_eq(world_load(&w, URL), -1);
		ck_assert_msg(strstr(w.why, "another user") != NULL, "%s",
		    w.why);
		ck_assert_int_eq(chown(paths[i], 0, 0), 0);
	}
	/* the parents of the folder of a named file are not checked */
	w.home = home;
	ck_assert_int_eq(chown(paths[0], 12345, 0), 0);
	free(w.extra);
	w.extra = xstrdup(paths[COUNT(parts) - 1]);
	ck_assert_int_eq(world_load(&w, "-K|EXTRA|" URL), 0);
	unlink(paths[COUNT(parts) - 1]);
	for (i = COUNT(parts); i-- > 0; free(paths[i]))
		rmdir(paths[i]);
	world_free(&w);
}
END_TEST

/* A shell's <(...), and /dev/null for no file at all. */
START_TEST(files_that_are_none)
{
	static const char text[] = "fail\n";
	struct world w;
	char *args;
	int ends[2];

	world_init(&w);
	ck_assert_int_eq(world_load(&w, "-K|/dev/null|" URL), 0);
	options_free(&w.o);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], text, sizeof text - 1),
	    sizeof text - 1);
	ck_assert_int_eq(close(ends[1]), 0);
	args = xasprintf("-K|/dev/fd/%d|" URL, ends[0]);
	ck_assert_int_eq(world_load(&w, args), 0);
	world_expect(&w, "a pipe", "fail=1;");
	ck_assert_int_eq(close(ends[0]), 0);
	free(args);
	world_free(&w);
}
END_TEST

struct match_case {
	const char *pattern, *url;
	bool match;
};

static const struct match_case match_cases[] = {
	{ "*", "https://h/x", true },
	{ "https://h/*", "https://h/x", true },
	{ "https://h/*", "https://h/", true },
	{ "https://h/*", "https://h", true },
	{ "https://h/*", "http://h/x", false },
	{ "https://h/*", "https://h:8/x", false },
	{ "https://h:443/*", "https://h/x", true },
	{ "https://h/*", "https://h:443/x", true },
	{ "https://h", "https://h/any/path?q", true },
	{ "https://h", "https://hh/", false },
	{ "https://h/", "https://h/x", false },
	{ "https://h/a*c", "https://h/a/b/c", true },
	{ "https://h/a*c", "https://h/a/b/C", false },
	{ "https://h/a*c", "https://h/a/b/cd", false },
	{ "https://h/*?x=1", "https://h/a?x=1", true },
	{ "HTTPS://H.Example/*", "https://h.example/x", true },
	{ "https://*.example.com/*", "https://a.b.example.com/x", true },
	{ "https://*.example.com/*", "https://example.com/x", false },
	/* a path of another host never meets a host's pattern */
	{ "https://*.example.com/*", "https://evil.net/x.example.com/", false },
	{ "*example.com/*", "https://evil.net/?example.com/", false },
	{ "https://*.example.com/*", "https://evil.net?.example.com/", false },
	{ "example.com/*", "http://example.com/x", true },
	{ "*://h/*", "http://h/x", true },
	{ "http*://h/*", "https://h/x", true },
	{ "http://localhost:*", "http://localhost:8080/mcp", true },
	{ "https://[::1]:8/*", "https://[::1]:8/x", true },
	{ "https://h/*a*a*a*b", "https://h/aaaaaaaaaaaaaaaaaaaaaaaaaa", false },
	{ "**", "https://h/", true },
	/* dots that are written as escapes */
	{ "https://h/a/*", "https://h/a/../b/x", false },
	{ "https://h/a/*", "https://h/a/%2e%2e/b/x", false },
	{ "https://h/a/*", "https://h/a/.%2E/b/x", false },
	{ "https://h/a/*", "https://h/a/%2e./b", false },
	{ "https://h/a/*", "https://h/a/b/%2e%2e/%2E%2e", false },
	{ "https://h/b/*", "https://h/a/%2e%2e/b/x", true },
	{ "https://h/a/*", "https://h/a/%2e/b", true },
	{ "https://h/a/*", "https://h/%2e%2e/a/b", true },
	{ "https://h/v1.2/*", "https://h/v1%2e2/x", true },
	{ "https://h/v1%2E2/*", "https://h/v1%2e2/x", true },
	{ "https://h/a/*", "https://h/a/%252e%252e/b", true },
	{ "https://h/a/*", "https://h/a/..%2e/b", true },
};

START_TEST(sections_match)
{
	const struct match_case *c = &match_cases[_i];
	struct url u;

	ck_assert_int_eq(url_parse(&u, c->url), URL_OK);
	ck_assert_msg(option_file_match(c->pattern, &u) == c->match, "%s %s",
	    c->pattern, c->url);
	ck_assert(option_file_match(c->pattern, NULL) ==
	    (strcmp(c->pattern, "*") == 0));
	url_free(&u);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("file");
	TCase *t = tcase_create("file");

	tcase_add_loop_test(t, files_are_read, 0, COUNT(file_cases));
	tcase_add_test(t, a_note_names_its_line);
	tcase_add_test(t, a_nul_byte_in_a_file);
	tcase_add_loop_test(t, a_large_file, 0, 2);
	tcase_add_test(t, files_that_are_not_there);
	tcase_add_loop_test(t, open_files_are_warned_about, 0,
	    COUNT(mode_cases));
	tcase_add_loop_test(t, files_that_others_can_write, 0,
	    COUNT(trust_cases));
	tcase_add_test(t, links_to_files);
	tcase_add_test(t, files_of_another_user);
	tcase_add_test(t, files_that_are_none);
	tcase_add_loop_test(t, sections_match, 0, COUNT(match_cases));
	suite_add_tcase(s, t);
	return unit_run(s);
}
