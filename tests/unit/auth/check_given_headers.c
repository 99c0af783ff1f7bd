/*
 * auth/given_headers: headers from lines, files and variables, what is refused,
 * and files that change under a running proxy.
 */
#include "config.h"

#include "auth/given_headers.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/log.h"
#include "unit/unit.h"

#define LIST_MAX 8

static char dir[64];
static char *path;      /* of the file a test writes */
static unsigned warned; /* log_warn lines so far */
static char last[512];  /* the latest of them */
static bool leaked;     /* did any line of the log hold a canary? */

static void
on_log(enum log_level level, const char *line, void *arg)
{
	(void)arg;
	leaked = leaked || strstr(line, "CANARY") != NULL;
	if (level != LEVEL_WARN)
		return;
	warned++;
	snprintf(last, sizeof last, "%s", line);
}

static void
setup(void)
{
	strcpy(dir, "/tmp/check_given_headers.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/file", dir);
	warned = 0;
	last[0] = '\0';
	leaked = false;
	log_sink(on_log, NULL);
}

static void
teardown(void)
{
	ck_assert(!leaked);
	log_sink(NULL, NULL);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
	free(path);
}

static void
write_bytes(const char *file, const char *p, size_t n, mode_t mode)
{
	FILE *f = fopen(file, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(p, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(chmod(file, mode), 0);
}

static void
write_file(const char *text)
{
	write_bytes(path, text, strlen(text), 0600);
}

static const char *
look_up(const char *name, void *arg)
{
	ck_assert_str_eq(arg, "arg");
	if (strcmp(name, "TOKEN") == 0)
		return "CANARY";
	if (strcmp(name, "NESTED") == 0)
		return "${TOKEN}$$";
	if (strcmp(name, "EMPTY") == 0)
		return "";
	if (strcmp(name, "LINES") == 0)
		return "a\r\nX-Evil: b";
	if (strcmp(name, "PADDED") == 0)
		return " CANARY\n";
	return NULL;
}

/* Headers joined by '|'; FILE stands for the file's path. */
static struct given *
make(const char *headers, const char *bearer_file, const char *bearer_env,
    char **why)
{
	char *copy = xstrdup(headers), *at, *item[LIST_MAX] = { NULL };
	struct given_config config = { .env = look_up,
		.bearer_env = bearer_env };
	struct given *a;
	static char arg[] = "arg";
	size_t n = 0;

	for (at = strtok(copy, "|"); at != NULL; at = strtok(NULL, "|"))
		item[n++] = strcmp(at, "@FILE") == 0 ? xasprintf("@%s", path) :
						       xstrdup(at);
	config.headers = (const char *const *)item;
	config.env_arg = arg;
	if (bearer_file != NULL)
		config.bearer_file = path;
	*why = NULL;
	a = given_new(&config, why);
	if (a != NULL)
		given_headers(a, 0);
	while (n > 0)
		free(item[--n]);
	free(copy);
	return a;
}

/* "Name: value;" of each; all of them have to be marked secret. */
static void
expect(struct given *a, int64_t now_ms, const char *want)
{
	const struct headers *h = given_headers(a, now_ms);
	struct buf got;
	size_t i;

	buf_init(&got, 0);
	for (i = 0; i < h->n; i++) {
		ck_assert(h->list[i].secret);
		buf_addf(&got, "%s: %s;", h->list[i].name, h->list[i].value);
	}
	ck_assert_str_eq(buf_str(&got), want);
	buf_free(&got);
}

struct good_case {
	const char *headers, *file, *want;
	bool authorization;
};

static const struct good_case good_cases[] = {
	{ "", "", "", false },
	{ "A: b", "", "A: b;", false },
	{ "A:b|a: c", "", "A: b;a: c;", false },
	{ "A:", "", "A: ;", false },
	{ "A:  b\tc ", "", "A: b\tc;", false },
	{ "A: b: c", "", "A: b: c;", false },
	{ "authorization: Basic x", "", "authorization: Basic x;", true },
	{ "Authorization: Bearer ${TOKEN}", "", "Authorization: Bearer CANARY;",
	    true },
	{ "Authorization:${TOKEN}${TOKEN}", "", "Authorization: CANARYCANARY;",
	    true },
	{ "A: $${TOKEN} $$ $x $", "", "A: ${TOKEN} $ $x $;", false },
	{ "A: ${NESTED}", "", "A: ${TOKEN}$$;", false },
	{ "A: [${EMPTY}]", "", "A: [];", false },
	{ "Accept-Language: de|Hosts: x|Mcp: x|Cookie: y", "",
	    "Accept-Language: de;Hosts: x;Mcp: x;Cookie: y;", false },
	{ "@FILE", "", "", false },
	{ "@FILE", "A: b", "A: b;", false },
	{ "@FILE", "A: b\r\n\r\n  # x: y\n \nC:d\r\n", "A: b;C: d;", false },
	{ "@FILE", "A: b # c\n", "A: b # c;", false },
	{ "@FILE", "Authorization: Bearer ${TOKEN}\n",
	    "Authorization: Bearer CANARY;", true },
	/* the order of the command line */
	{ "A: 1|@FILE|B: 3", "C: 2\n", "A: 1;C: 2;B: 3;", false },
	/* no file in a file */
	{ "@FILE", "X: @/etc/passwd", "X: @/etc/passwd;", false },
};

START_TEST(headers_are_made)
{
	const struct good_case *c = &good_cases[_i];
	struct given *a;
	char *why;

	write_file(c->file);
	a = make(c->headers, NULL, NULL, &why);
	ck_assert_msg(a != NULL, "%s: %s", c->headers, why);
	expect(a, 0, c->want);
	ck_assert(given_has_authorization(a) == c->authorization);
	ck_assert_uint_eq(warned, 0);
	given_free(a);
}
END_TEST

struct bad_case {
	const char *headers, *file;
	const char *why; /* "FILE" stands for the file's path */
};

#define OURS(name)                                                             \
	"--header: mcpsplice sets the header " name " itself; remove it"
#define QUOTED "--header: the header has quotes around it; remove them"
#define IN_FILE(what) "the header file \"FILE\": " what

static const struct bad_case bad_cases[] = {
	{ "CANARY", "", "--header: no colon; write \"Name: value\"" },
	{ "'X-Key: CANARY'", "", QUOTED },
	{ "\"X-Key: CANARY\"", "", QUOTED },
	{ "`X-Tenant: CANARY`", "", QUOTED },
	{ "\xe2\x80\x9cX-Tenant: CANARY\xe2\x80\x9d", "", QUOTED },
	{ ": CANARY", "",
	    "--header: the header \"\" contains bytes that cannot be sent" },
	{ "A B: CANARY", "",
	    "--header: the header \"A B\" contains bytes that cannot be sent" },
	{ "A: CANARY\nB: c", "",
	    "--header: the header \"A\" contains bytes that cannot be sent" },
	{ "A: ${LINES}", "",
	    "--header: the header \"A\" contains bytes that cannot be sent" },
	{ "A: ${MISSING}", "",
	    "--header: the variable MISSING is not set; "
	    "set it, or write $$ for a dollar sign" },
	{ "A: ${env:TOKEN}", "",
	    "--header: \"${...}\" contains more than a variable's name; write "
	    "${NAME}" },
	{ "A: ${TOKEN:-x}", "",
	    "--header: \"${...}\" contains more than a variable's name; write "
	    "${NAME}" },
	{ "A: ${}", "",
	    "--header: ${ without NAME}; write $$ for a dollar sign" },
	{ "A: ${TOKEN", "",
	    "--header: ${ without NAME}; write $$ for a dollar sign" },
	{ "Accept: x", "", OURS("Accept") },
	{ "content-type:x", "", OURS("content-type") },
	{ "Content-Length: 1", "", OURS("Content-Length") },
	{ "HOST: x", "", OURS("HOST") },
	{ "Host : x", "", OURS("Host") },
	{ "Connection: x", "", OURS("Connection") },
	{ "Transfer-Encoding: x", "", OURS("Transfer-Encoding") },
	{ "Last-Event-ID: x", "", OURS("Last-Event-ID") },
	{ "Mcp-Session-Id: x", "", OURS("Mcp-Session-Id") },
	{ "mCP-anything: x", "", OURS("mCP-anything") },
	{ "Authorization: a|authorization: b", "",
	    "more than one credential; give only one of --bearer-file, --bearer-env and an Authorization header" },
	{ "Authorization: a|@FILE", "Authorization: b",
	    "more than one credential; give only one of --bearer-file, --bearer-env and an Authorization header" },
	{ "@FILE", "A: b\n\nCANARY\n",
	    IN_FILE("line 3: no colon; write \"Name: value\"") },
	{ "@FILE", "A: b\n'X-Key: CANARY'\n",
	    IN_FILE("line 2: the header has quotes around it; remove them") },
	{ "@FILE", "# x\nHost: b\n",
	    IN_FILE(
		"line 2: mcpsplice sets the header Host itself; remove it") },
	{ "@FILE", "A: ${MISSING}",
	    IN_FILE("line 1: the variable MISSING is "
		    "not set; set it, or write $$ "
		    "for a dollar sign") },
	{ "@/nonexistent/f", "",
	    "the header file \"/nonexistent/f\": cannot "
	    "read it: No such file or directory" },
	{ "@/", "", "the header file \"/\": cannot read it: Is a directory" },
};

START_TEST(headers_are_refused)
{
	const struct bad_case *c = &bad_cases[_i];
	char *why, *want;
	const char *at = strstr(c->why, "FILE\"");

	write_file(c->file);
	ck_assert_ptr_null(make(c->headers, NULL, NULL, &why));
	want = at == NULL ?
	    xstrdup(c->why) :
	    xasprintf("%.*s%s%s", (int)(at - c->why), c->why, path, at + 4);
	ck_assert_str_eq(why, want);
	free(want);
	free(why);
}
END_TEST

struct bearer_case {
	const char *text;
	size_t n; /* 0: strlen */
	const char *token, *why;
};

#define MORE                                                                   \
	"it holds more than a token: quotes, ${...}, a space or a "            \
	"non-ASCII byte"

#define UTF16 "it is UTF-16; save it as UTF-8"
#define JSON "it holds JSON, not just a token"
#define ASSIGNMENT "it holds NAME=VALUE, not just a token"

static const struct bearer_case bearer_cases[] = {
	{ "abc", 0, "abc", NULL },
	{ "abc\n", 0, "abc", NULL },
	{ " \r\n\tabc=\r\n\n", 0, "abc=", NULL },
	{ "", 0, NULL, "it contains no token" },
	{ " \n", 0, NULL, "it contains no token" },
	{ "CANARY d", 0, NULL, MORE },
	{ "CANARY\nX: y", 0, NULL, MORE },
	{ "CANARY\rd", 0, NULL, MORE },
	{ "CANARY\0d", 8, NULL, MORE },
	{ "CANARY\x7f", 0, NULL, MORE },
	{ "CANARY\xc3\xa4", 0, NULL, MORE },
	{ "\xef\xbb\xbf"
	  "abc",
	    0, "abc", NULL },
	{ "\xff\xfe"
	  "C\0A\0",
	    6, NULL, UTF16 },
	{ "C\0A\0", 4, NULL, UTF16 },
	{ "{\"access_token\": \"CANARY\"}", 0, NULL, JSON },
	{ "[\"CANARY\"]", 0, NULL, JSON },
	{ "TOKEN=CANARY\n", 0, NULL, ASSIGNMENT },
	{ "access_token=CANARY==", 0, NULL, ASSIGNMENT },
	{ "a/b=c", 0, "a/b=c", NULL },
	{ "abc==", 0, "abc==", NULL },
};

START_TEST(bearer_files)
{
	const struct bearer_case *c = &bearer_cases[_i];
	struct given *a;
	char *why, *want;

	write_bytes(path, c->text, c->n != 0 ? c->n : strlen(c->text), 0600);
	a = make("A: b", "FILE", NULL, &why);
	if (c->token != NULL) {
		ck_assert_ptr_nonnull(a);
		want = xasprintf("A: b;Authorization: Bearer %s;", c->token);
		expect(a, 0, want);
		ck_assert(given_has_authorization(a));
	} else {
		ck_assert_ptr_null(a);
		want = xasprintf("--bearer-file \"%s\": %s", path, c->why);
		ck_assert_str_eq(why, want);
	}
	free(want);
	free(why);
	given_free(a);
}
END_TEST

START_TEST(bearer_from_the_environment)
{
	struct given *a;
	char *why;

	a = make("", NULL, "PADDED", &why);
	ck_assert_ptr_nonnull(a);
	expect(a, 0, "Authorization: Bearer CANARY;");
	given_free(a);
	ck_assert_ptr_null(make("", NULL, "MISSING", &why));
	ck_assert_str_eq(why, "--bearer-env: the variable MISSING is not set");
	free(why);
	ck_assert_ptr_null(make("", NULL, "EMPTY", &why));
	ck_assert_str_eq(why, "--bearer-env EMPTY: it contains no token");
	free(why);
	ck_assert_ptr_null(make("", NULL, "LINES", &why));
	ck_assert_str_eq(why, "--bearer-env LINES: " MORE);
	free(why);
}
END_TEST

/* Any two of the three ways to give an Authorization. */
START_TEST(two_credentials)
{
	char *why;

	write_file("token");
	ck_assert_ptr_null(make("Authorization: x", "FILE", NULL, &why));
	ck_assert_ptr_nonnull(strstr(why, "more than one credential"));
	free(why);
	ck_assert_ptr_null(make("authorization: x", NULL, "TOKEN", &why));
	ck_assert_ptr_nonnull(strstr(why, "more than one credential"));
	free(why);
	ck_assert_ptr_null(make("", "FILE", "TOKEN", &why));
	ck_assert_ptr_nonnull(strstr(why, "more than one credential"));
	free(why);
}
END_TEST

START_TEST(a_file_that_is_too_large)
{
	char *text = xmalloc(BOUND_TEXT_BYTES + 1), *why;
	struct given *a;

	memset(text, 'x', BOUND_TEXT_BYTES + 1);
	write_bytes(path, text, BOUND_TEXT_BYTES, 0600);
	a = make("", "FILE", NULL, &why);
	ck_assert_msg(a != NULL, "%s", why);
	given_free(a);
	write_bytes(path, text, BOUND_TEXT_BYTES + 1, 0600);
	free(text);
	ck_assert_ptr_null(make("", "FILE", NULL, &why));
	ck_assert_ptr_nonnull(strstr(why, "File too large"));
	free(why);
}
END_TEST

/* Another file under the same name: a new inode. */
static void
replace_file(const char *text)
{
	char *other = xasprintf("%s/other", dir);

	write_bytes(other, text, strlen(text), 0600);
	ck_assert_int_eq(rename(other, path), 0);
	free(other);
}

START_TEST(a_bearer_file_changes)
{
	struct given *a;
	char *why;

	write_file("one\n");
	a = make("", "FILE", NULL, &why);
	ck_assert_ptr_nonnull(a);
	expect(a, 0, "Authorization: Bearer one;");
	replace_file("two\n");
	/* looked at once a second only */
	expect(a, 1, "Authorization: Bearer one;");
	expect(a, 999, "Authorization: Bearer one;");
	expect(a, 1000, "Authorization: Bearer two;");
	/* the same inode, another size */
	write_file("three\n");
	expect(a, 1999, "Authorization: Bearer two;");
	expect(a, 2000, "Authorization: Bearer three;");
	ck_assert_uint_eq(warned, 0);
	given_free(a);
}
END_TEST

static void
set_time(time_t seconds)
{
	struct timespec times[2] = { { .tv_sec = seconds },
		{ .tv_sec = seconds } };

	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Each of time, size and inode tells by itself. */
START_TEST(a_file_changes_in_one_thing_only)
{
	struct given *a;
	char *why;

	write_file("one\n");
	set_time(1000000000);
	a = make("", "FILE", NULL, &why);
	ck_assert_ptr_nonnull(a);
	write_file("two\n");
	set_time(1000000000);
	expect(a, 1000, "Authorization: Bearer one;");
	set_time(1000000001);
	expect(a, 2000, "Authorization: Bearer two;");
	write_file("three\n");
	set_time(1000000001);
	expect(a, 3000, "Authorization: Bearer three;");
	replace_file("seven\n");
	set_time(1000000001);
	expect(a, 4000, "Authorization: Bearer seven;");
	given_free(a);
}
END_TEST

/* A file that may not be opened is tried again and complained about once. */
START_TEST(a_file_that_is_locked_away)
{
	struct given *a;
	char *why;

	if (geteuid() == 0)
		return; /* root may read all */
	write_file("one\n");
	a = make("", "FILE", NULL, &why);
	ck_assert_ptr_nonnull(a);
	replace_file("two\n");
	ck_assert_int_eq(chmod(path, 0), 0);
	expect(a, 1000, "Authorization: Bearer one;");
	expect(a, 2000, "Authorization: Bearer one;");
	ck_assert_uint_eq(warned, 1);
	ck_assert_int_eq(chmod(path, 0600), 0);
	expect(a, 3000, "Authorization: Bearer two;");
	ck_assert_uint_eq(warned, 1);
	given_free(a);
}
END_TEST

/* What is wrong with a file later is one warning, and the old content stays. */
START_TEST(a_file_goes_bad)
{
	struct given *a;
	char *why;

	write_file("one\n");
	a = make("", "FILE", NULL, &why);
	ck_assert_ptr_nonnull(a);
	replace_file("CANARY CANARY\n");
	expect(a, 1000, "Authorization: Bearer one;");
	expect(a, 2000, "Authorization: Bearer one;");
	ck_assert_uint_eq(warned, 1);
	ck_assert_ptr_nonnull(strstr(last, "it holds more than a token"));
	ck_assert_ptr_nonnull(strstr(last, "keeping the previous content"));
	/* another fault is another warning */
	replace_file("");
	expect(a, 3000, "Authorization: Bearer one;");
	expect(a, 4000, "Authorization: Bearer one;");
	ck_assert_uint_eq(warned, 2);
	ck_assert_int_eq(unlink(path), 0);
	expect(a, 5000, "Authorization: Bearer one;");
	write_file("five");
	expect(a, 6000, "Authorization: Bearer five;");
	ck_assert_int_eq(unlink(path), 0);
	expect(a, 7000, "Authorization: Bearer five;");
	expect(a, 8000, "Authorization: Bearer five;");
	ck_assert_uint_eq(warned, 3);
	ck_assert_ptr_nonnull(strstr(last, "No such file"));
	/* a pipe there must not stop the loop */
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect(a, 9000, "Authorization: Bearer five;");
	given_free(a);
}
END_TEST

START_TEST(a_header_file_changes)
{
	struct given *a;
	char *why;

	write_file("A: 1\nB: 2\n");
	a = make("Authorization: x|@FILE|Z: 9", NULL, NULL, &why);
	ck_assert_ptr_nonnull(a);
	expect(a, 0, "Authorization: x;A: 1;B: 2;Z: 9;");
	replace_file("C: ${TOKEN}\n");
	expect(a, 1000, "Authorization: x;C: CANARY;Z: 9;");
	/* each of these would be refused at the start, too */
	replace_file("Authorization: y\n");
	expect(a, 2000, "Authorization: x;C: CANARY;Z: 9;");
	ck_assert_uint_eq(warned, 1);
	replace_file("D: 1\nC: ${MISSING}\n");
	expect(a, 3000, "Authorization: x;C: CANARY;Z: 9;");
	ck_assert_uint_eq(warned, 2);
	replace_file("D: 1\nMcp-Session-Id: y\n");
	expect(a, 4000, "Authorization: x;C: CANARY;Z: 9;");
	ck_assert_uint_eq(warned, 3);
	replace_file("D: 1\n");
	expect(a, 5000, "Authorization: x;D: 1;Z: 9;");
	ck_assert_uint_eq(warned, 3);
	given_free(a);
}
END_TEST

/* A name that leads elsewhere, as projected tokens are swapped. */
START_TEST(a_symbolic_link_is_swapped)
{
	char *one = xasprintf("%s/one", dir), *two = xasprintf("%s/two", dir);
	struct given *a;
	char *why;

	write_bytes(one, "one", 3, 0600);
	write_bytes(two, "two", 3, 0600);
	ck_assert_int_eq(symlink(one, path), 0);
	a = make("", "FILE", NULL, &why);
	ck_assert_ptr_nonnull(a);
	expect(a, 0, "Authorization: Bearer one;");
	unlink(path);
	ck_assert_int_eq(symlink(two, path), 0);
	expect(a, 1000, "Authorization: Bearer two;");
	given_free(a);
	unlink(one);
	unlink(two);
	free(one);
	free(two);
}
END_TEST

static const struct {
	mode_t mode;
	unsigned warnings;
} modes[] = { { 0600, 0 }, { 0400, 0 }, { 0700, 0 }, { 0640, 1 }, { 0604, 1 },
	{ 0620, 1 } };

/* Said once, not at each reading. */
START_TEST(open_files_are_warned_about)
{
	struct given *a;
	char *why;

	write_bytes(path, "one", 3, modes[_i].mode);
	a = make("", "FILE", NULL, &why);
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(warned, modes[_i].warnings);
	if (warned > 0)
		ck_assert_ptr_nonnull(strstr(last, "other users can read it"));
	replace_file("two");
	ck_assert_int_eq(chmod(path, modes[_i].mode), 0);
	expect(a, 1000, "Authorization: Bearer two;");
	ck_assert_uint_eq(warned, modes[_i].warnings);
	given_free(a);
}
END_TEST

START_TEST(another_users_file)
{
	struct given *a;
	char *why;

	write_file("one");
	if (chown(path, 12345, (gid_t)-1) < 0)
		return; /* only root can give files away */
	a = make("", "FILE", NULL, &why);
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(warned, 1);
	ck_assert_ptr_nonnull(strstr(last, "belongs to another user"));
	given_free(a);
}
END_TEST

/* After a 401 the files are read at once, and even if nothing about them but
 * their content tells of a change. */
START_TEST(a_refusal_reads_again)
{
	struct given *a;
	char *why;

	write_file("one\n");
	set_time(1000000000);
	a = make("A: b", "FILE", NULL, &why);
	ck_assert_ptr_nonnull(a);
	ck_assert(!given_reread(a));
	expect(a, 1, "A: b;Authorization: Bearer one;");
	write_file("two\n");
	set_time(1000000000);
	expect(a, 1000, "A: b;Authorization: Bearer one;");
	ck_assert(given_reread(a));
	expect(a, 1001, "A: b;Authorization: Bearer two;");
	ck_assert(!given_reread(a));
	/* another file with the same token is no change */
	replace_file("two");
	ck_assert(!given_reread(a));
	replace_file("ten\n");
	ck_assert(given_reread(a));
	expect(a, 1002, "A: b;Authorization: Bearer ten;");
	ck_assert_uint_eq(warned, 0);
	given_free(a);
}
END_TEST

/* What is wrong with a file then is said once, however many are refused. */
START_TEST(a_refusal_reads_a_bad_file)
{
	struct given *a;
	char *why;

	write_file("one\n");
	a = make("", "FILE", NULL, &why);
	ck_assert_ptr_nonnull(a);
	replace_file("CANARY CANARY\n");
	ck_assert(!given_reread(a));
	ck_assert(!given_reread(a));
	expect(a, 1000, "Authorization: Bearer one;");
	ck_assert_uint_eq(warned, 1);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(!given_reread(a));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert(!given_reread(a));
	ck_assert_int_eq(unlink(path), 0);
	write_file("two\n");
	ck_assert(given_reread(a));
	expect(a, 1001, "Authorization: Bearer two;");
	given_free(a);
}
END_TEST

/* A header's value, its name and their number each are a change. */
START_TEST(a_refusal_reads_headers)
{
	static const char *const texts[] = { "A: 2\n", "B: 2\n", "B: 2\nC: 3\n",
		"" };
	struct given *a;
	char *why;
	size_t i;

	write_file("A: 1\n");
	a = make("X: ${TOKEN}|@FILE", NULL, NULL, &why);
	ck_assert_ptr_nonnull(a);
	ck_assert(!given_reread(a));
	for (i = 0; i < COUNT(texts); i++) {
		replace_file(texts[i]);
		ck_assert_msg(given_reread(a), "%s", texts[i]);
		ck_assert(!given_reread(a));
	}
	expect(a, 0, "X: CANARY;");
	/* it would be a second one: refused as a whole */
	replace_file("Authorization: a\nAuthorization: b\n");
	ck_assert(!given_reread(a));
	expect(a, 0, "X: CANARY;");
	given_free(a);
}
END_TEST

/* A configuration without a list of headers, and freeing nothing. */
START_TEST(nothing_at_all)
{
	struct given_config config = { .env = look_up };
	char *why = NULL;
	struct given *a = given_new(&config, &why);

	ck_assert_ptr_nonnull(a);
	expect(a, INT64_MAX, "");
	ck_assert(!given_has_authorization(a));
	ck_assert(!given_reread(a));
	given_free(a);
	given_free(NULL);
}
END_TEST

/* They last until the next look, and their version changes with them. */
START_TEST(credentials_of_files)
{
	struct credentials c = { .version = 0 };
	struct given *a;
	char *why;

	write_file("one\n");
	a = make("A: b", "FILE", NULL, &why);
	ck_assert_ptr_nonnull(a);
	given_fill(a, &c, 100, NULL, 0, INT64_MAX);
	ck_assert_uint_eq(c.headers.n, 2);
	ck_assert_uint_eq(c.version, 1);
	ck_assert_uint_eq(c.stamp, given_version(a));
	ck_assert_int_eq(c.until, 1000); /* make has looked at 0 */
	given_fill(a, &c, 1000, NULL, 0, INT64_MAX);
	ck_assert_uint_eq(c.version, 1);
	ck_assert_int_eq(c.until, 2000);
	replace_file("two\n");
	given_fill(a, &c, 2000, NULL, 0, 2999);
	ck_assert_uint_eq(c.version, 2);
	ck_assert_uint_eq(c.stamp, given_version(a));
	ck_assert_str_eq(headers_get(&c.headers, "Authorization"),
	    "Bearer two");
	ck_assert_int_eq(c.until, 2999);
	headers_free(&c.headers);
	given_free(a);
}
END_TEST

/* Without a file nothing changes by itself. */
START_TEST(credentials_of_a_token)
{
	struct credentials c = { .version = 0 };
	struct headers token;
	struct given *a;
	char *why;

	headers_init(&token);
	a = make("A: b", NULL, NULL, &why);
	ck_assert_ptr_nonnull(a);
	given_fill(a, &c, 0, NULL, 0, INT64_MAX);
	ck_assert_int_eq(c.until, INT64_MAX);
	ck_assert_uint_eq(c.stamp, given_version(a));
	given_fill(a, &c, 0, &token, 0, 500);
	ck_assert_uint_eq(c.version, 1); /* there is no token */
	ck_assert_uint_eq(c.stamp, 0);
	ck_assert_int_eq(c.until, 500);
	headers_add(&token, span_of("B"), span_of("c"), true);
	given_fill(a, &c, 0, &token, 7, 0);
	ck_assert_uint_eq(c.version, 2);
	ck_assert_uint_eq(c.stamp, 7);
	ck_assert_str_eq(headers_get(&c.headers, "A"), "b");
	ck_assert_str_eq(headers_get(&c.headers, "B"), "c");
	ck_assert_int_eq(c.until, 0);
	headers_free(&c.headers);
	headers_free(&token);
	given_free(a);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("given");
	TCase *t = tcase_create("static");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, headers_are_made, 0, COUNT(good_cases));
	tcase_add_loop_test(t, headers_are_refused, 0, COUNT(bad_cases));
	tcase_add_loop_test(t, bearer_files, 0, COUNT(bearer_cases));
	tcase_add_test(t, bearer_from_the_environment);
	tcase_add_test(t, two_credentials);
	tcase_add_test(t, a_file_that_is_too_large);
	tcase_add_test(t, a_bearer_file_changes);
	tcase_add_test(t, a_file_changes_in_one_thing_only);
	tcase_add_test(t, a_file_that_is_locked_away);
	tcase_add_test(t, a_file_goes_bad);
	tcase_add_test(t, a_header_file_changes);
	tcase_add_test(t, a_symbolic_link_is_swapped);
	tcase_add_loop_test(t, open_files_are_warned_about, 0, COUNT(modes));
	tcase_add_test(t, another_users_file);
	tcase_add_test(t, a_refusal_reads_again);
	tcase_add_test(t, a_refusal_reads_a_bad_file);
	tcase_add_test(t, a_refusal_reads_headers);
	tcase_add_test(t, nothing_at_all);
	tcase_add_test(t, credentials_of_files);
	tcase_add_test(t, credentials_of_a_token);
	suite_add_tcase(s, t);
	return unit_run(s);
}
