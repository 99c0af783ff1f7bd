/*
 * proxy/cache/startup_cache and proxy/cache/profile: what is remembered, for
 * whom and for how long, and every way in which the files can be wrong.
 */
#include "config.h"

#include "proxy/cache/startup_cache.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/log.h"
#include "unit/home.h"
#include "unit/proxy/cache/profiles.h"
#include "unit/unit.h"

#define FOLDER ".cache/mcpsplice"
#define BIG ((size_t)BOUND_INPUTS_BYTES)

static const char *const version = "\"2025-06-18\"";
static const char *const first = "{\"protocolVersion\":\"2025-06-18\",\"a\":1}";
static const char *const tools = "{\"tools\":[{\"name\":\"t\"}],\"x\":null}";

static struct startup_cache *startup_cache;
static struct profile profile;
static char hash[PROFILE_HEX_BYTES]; /* of the client "version" */
static char file[256];               /* relative to the home */
static char era_file[256];
static unsigned lines; /* of the log */
static char last_line[512];
static bool loud; /* was one of them more than debug? */

static void
on_log(enum log_level level, const char *line, void *arg)
{
	(void)arg;
	snprintf(last_line, sizeof last_line, "%s", line);
	loud = loud || level != LEVEL_DEBUG;
	lines++;
}

/* A client that has only a version. */
static struct startup_client
client_of(const char *v)
{
	return (struct startup_client){ span_of(v), no_span, no_span };
}

static void
client_hash(const char *client, char hex[PROFILE_HEX_BYTES])
{
	struct span parts[] = { span_of(client), span_of("\n") };

	ck_assert_int_eq(profile_digest(hex, parts, 2), 0);
}

static void
setup(void)
{
	struct log_config config = { .level = LEVEL_DEBUG };

	home_begin();
	log_open(&config);
	log_sink(on_log, NULL);
	lines = 0;
	loud = false;
	profile = profile_of("https://mcp.example.com/mcp?key=CANARY");
	client_hash(version, hash);
	snprintf(file, sizeof file, FOLDER "/%s-%.12s", profile.name, hash);
	snprintf(era_file, sizeof era_file, FOLDER "/%s.era", profile.name);
	startup_cache = startup_cache_new(home, &profile);
	ck_assert_ptr_nonnull(startup_cache);
}

static void
teardown(void)
{
	startup_cache_free(startup_cache);
	log_sink(NULL, NULL);
	log_close();
	ck_assert(!loud);
	home_end();
}

static void
save(const char *v, const char *i, const char *t)
{
	startup_cache_save(startup_cache, client_of(v), span_of(i), span_of(t));
}

/* Does the cache hold these answers? i NULL: does it hold none? */
static bool
remembers(const char *v, const char *i, const char *t)
{
	struct buf a, b;
	bool found, ok;

	buf_init(&a, 0);
	buf_init(&b, 0);
	buf_addc(&a, '<');
	buf_addc(&b, '<');
	found = startup_cache_load(startup_cache, client_of(v), &a, &b);
	ok = found == (i != NULL) && a.p[0] == '<' && b.p[0] == '<';
	ok = ok && strcmp(buf_str(&a) + 1, i == NULL ? "" : i) == 0 &&
	    strcmp(buf_str(&b) + 1, i == NULL ? "" : t) == 0;
	buf_free(&a);
	buf_free(&b);
	return ok;
}

START_TEST(round_trip)
{
	struct stat st;

	ck_assert(remembers(version, NULL, NULL));
	ck_assert_uint_eq(home_count("."), 0);
	save(version, first, tools);
	ck_assert(remembers(version, first, tools));
	ck_assert_uint_eq(lines, 0);
	ck_assert_int_eq(stat(home_path(file), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(stat(home_path(FOLDER), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	ck_assert_uint_eq(home_count(FOLDER), 1);
	ck_assert(remembers(version, first, tools));
}
END_TEST

START_TEST(three_lines)
{
	struct buf b;
	char *head;

	save(version, first, tools);
	head = xasprintf("{\"mcpsplice\":2,\"key\":\"%s\",\"client\":\"%s\","
			 "\"sum\":\"",
	    profile.hash, hash);
	b = home_get(file);
	ck_assert_int_eq(strncmp(buf_str(&b), head, strlen(head)), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\"}\n{\"protocolVersion\""));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "}\n{\"tools\":["));
	ck_assert_ptr_null(strstr(buf_str(&b), "CANARY"));
	ck_assert_int_eq(b.p[b.n - 1], '\n');
	buf_free(&b);
	free(head);
}
END_TEST

/* What comes back can stand in a line of stdout. */
START_TEST(breaks_become_blanks)
{
	save(version, "{\n\"a\":\r\n\"x\\n\"}", "{\"tools\":\n[]}");
	ck_assert(remembers(version, "{ \"a\":  \"x\\n\"}", "{\"tools\": []}"));
	/* and is known for the same, so that the tools are kept */
	save(version, "{\n\"a\":\r\n\"x\\n\"}", "");
	ck_assert(remembers(version, "{ \"a\":  \"x\\n\"}", "{\"tools\": []}"));
}
END_TEST

START_TEST(tools_are_kept_or_dropped)
{
	save(version, first, "");
	ck_assert(remembers(version, first, ""));
	save(version, first, tools);
	save(version, first, "");
	ck_assert(remembers(version, first, tools));
	save(version, first, "{\"tools\":[]}");
	ck_assert(remembers(version, first, "{\"tools\":[]}"));
	save(version, "{\"a\":2}", "");
	ck_assert(remembers(version, "{\"a\":2}", ""));
	save(version, "{\"a\":2}", tools);
	save("\"2024-11-05\"", "{\"a\":2}", "");
	ck_assert(remembers("\"2024-11-05\"", "{\"a\":2}", ""));
	ck_assert(remembers(version, "{\"a\":2}", tools));
}
END_TEST

START_TEST(same_is_not_written)
{
	struct stat before, after;

	save(version, first, tools);
	home_age(file, 100);
	ck_assert_int_eq(stat(home_path(file), &before), 0);
	save(version, first, tools);
	save(version, first, "");
	ck_assert_int_eq(stat(home_path(file), &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert_int_eq(before.st_mtime, after.st_mtime);
	save(version, first, "{\"tools\":[1]}");
	ck_assert_int_eq(stat(home_path(file), &after), 0);
	ck_assert_int_ne(before.st_mtime, after.st_mtime);
}
END_TEST

/* Each kind of client has a file of its own. */
START_TEST(other_client)
{
	struct buf b;

	buf_init(&b, 0);
	save(version, first, tools);
	ck_assert(remembers("\"2025-03-26\"", NULL, NULL));
	ck_assert(!startup_cache_load(startup_cache,
	    (struct startup_client){ span_of(version), span_of("{}"), no_span },
	    &b, &b));
	ck_assert(remembers("", NULL, NULL));
	save("\"2025-03-26\"", "{\"b\":2}", "");
	ck_assert(remembers("\"2025-03-26\"", "{\"b\":2}", ""));
	ck_assert(remembers(version, first, tools));
	ck_assert_uint_eq(home_count(FOLDER), 2);
}
END_TEST

static struct startup_client
client_whose(const char *whose)
{
	return (struct startup_client){ span_of(version), no_span,
		span_of(whose) };
}

static bool
remembers_for(const char *whose, const char *i)
{
	struct buf a, b;
	bool found;

	buf_init(&a, 0);
	buf_init(&b, 0);
	found = startup_cache_load(startup_cache, client_whose(whose), &a, &b);
	ck_assert(found ? span_is(buf_span(&a), i) : a.n + b.n == 0);
	buf_free(&a);
	buf_free(&b);
	return found;
}

/* What one user saw is not for another, nor kept when that one is there. */
START_TEST(other_user)
{
	struct buf b;

	startup_cache_save(startup_cache, client_whose("ann-CANARY"),
	    span_of(first), span_of(tools));
	ck_assert(remembers_for("ann-CANARY", first));
	ck_assert(!remembers_for("bob", first));
	ck_assert_ptr_nonnull(strstr(last_line, "it is another user's"));
	ck_assert(!remembers_for("", first));
	ck_assert_ptr_nonnull(strstr(last_line, "it is another user's"));
	b = home_get(file);
	ck_assert_ptr_null(strstr(buf_str(&b), "CANARY"));
	buf_free(&b);
	/* not even the tools, where the rest is the same */
	startup_cache_save(startup_cache, client_whose("bob"), span_of(first),
	    no_span);
	ck_assert(remembers_for("bob", first));
	ck_assert(!remembers_for("ann-CANARY", first));
	b = home_get(file);
	ck_assert_ptr_null(strstr(buf_str(&b), "tools"));
	buf_free(&b);
	save(version, first, tools);
	ck_assert(!remembers_for("bob", first));
	ck_assert(remembers(version, first, tools));
	ck_assert_uint_eq(home_count(FOLDER), 1);
}
END_TEST

/* Forgets the answers of one host, for all its paths and clients. */
START_TEST(forgotten)
{
	static const char *const others[] = { "https://mcp.example.com/other",
		"https://mcp.example.com.evil.example/", "https://a-b.example/",
		"https://a.example/" };
	struct startup_cache *m;
	struct profile other;
	int i;

	save(version, first, tools);
	save("other", first, tools);
	startup_cache_save_era(startup_cache, CACHED_MODERN);
	for (i = 0; i < COUNT(others); i++) {
		other = profile_of(others[i]);
		m = startup_cache_new(home, &other);
		startup_cache_save(m, client_of(version), span_of(first),
		    no_span);
		startup_cache_free(m);
	}
	ck_assert_uint_eq(home_count(FOLDER), 7);
	startup_cache_forget(home, "mcp.example.com");
	ck_assert_uint_eq(home_count(FOLDER), 4);
	ck_assert(home_exists(era_file));
	ck_assert(remembers(version, NULL, NULL));
	startup_cache_forget(home, "a");
	ck_assert_uint_eq(home_count(FOLDER), 4);
	startup_cache_forget(NULL, "a");
}
END_TEST

static char *
big_json(const char *name, size_t n)
{
	char *s = xmalloc(n + 1);
	size_t head = (size_t)snprintf(s, n, "{\"%s\":[\"", name);

	memset(s + head, 'x', n - head);
	strcpy(s + n - 3, "\"]}");
	return s;
}

static const char *const newer_heads[] = { "{\"mcpsplice\":4,\"key\":1}\n",
	"{\"mcpsplice\":20", "{\"mcpsplice\":99999999999999999999}" };

/* It is neither used nor replaced nor removed, however long it is. */
START_TEST(newer_file)
{
	const char *head = newer_heads[_i];
	char *large = xcalloc(1, BOUND_INPUTS_BYTES + 100);
	char *start = big_json("a", BOUND_INPUTS_BYTES + 1);

	save(version, first, tools);
	home_puts(file, head);
	lines = 0;
	ck_assert(remembers(version, NULL, NULL));
	ck_assert_uint_eq(lines, 1);
	ck_assert_ptr_nonnull(strstr(last_line, "a newer mcpsplice wrote it"));
	save(version, first, tools);
	save(version, start, "");
	ck_assert(home_is(file, head));
	memset(large, ' ', BOUND_INPUTS_BYTES + 99);
	memcpy(large, head, strlen(head));
	home_puts(file, large);
	save(version, first, tools);
	ck_assert(home_is(file, large));
	/* for others it is as good as any */
	save("other", first, "");
	ck_assert(remembers("other", first, ""));
	ck_assert(home_is(file, large));
	free(start);
	free(large);
}
END_TEST

static const char *const not_newer[] = { "{\"mcpsplice\":2}\n",
	"{\"mcpsplice\":1,", "{\"mcpsplice\":3,",
	"{\"mcpsplice\":", "{\"mcpsplice\":\"4\"}", " {\"mcpsplice\":4}",
	"{\"mcpsplice\"", "" };

START_TEST(not_a_newer_file)
{
	save(version, first, tools);
	home_puts(file, not_newer[_i]);
	ck_assert(remembers(version, NULL, NULL));
	ck_assert_ptr_nonnull(strstr(last_line, "damaged"));
	save(version, first, tools);
	ck_assert(remembers(version, first, tools));
}
END_TEST

/* Files of any server that nobody used for long; and those of another version
 * of mcpsplice, which named them otherwise. */
START_TEST(old_files)
{
	const int days = BOUND_CACHE_OLD_DAYS, day = 24 * 60 * 60;

	save("other", first, ""); /* makes the folder */
	home_puts(FOLDER "/host-0123456789abcdef", "x");
	home_age(FOLDER "/host-0123456789abcdef", days * day + 60);
	home_puts(FOLDER "/host-0123456789abcdee", "x");
	home_age(FOLDER "/host-0123456789abcdee", days * day - 60);
	save(version, first, tools);
	ck_assert_uint_eq(home_count(FOLDER), 3);
	ck_assert(home_is(FOLDER "/host-0123456789abcdee", "x"));
}
END_TEST

/* Makes n files of so many bytes, each a second older than the one before. */
static void
make_files(int n, size_t bytes)
{
	char *name;
	int i;

	for (i = 0; i < n; i++) {
		name = xasprintf(FOLDER "/host-%d", i);
		home_puts(name, "");
		ck_assert_int_eq(truncate(home_path(name), (off_t)bytes), 0);
		home_age(name, i + 1);
		free(name);
	}
}

static bool
has_file(int i)
{
	char *name = xasprintf(FOLDER "/host-%d", i);
	bool has = home_exists(name);

	free(name);
	return has;
}

/* One start is enough, however many there are; a file that is from the future
 * is no younger than what was just saved. */
START_TEST(very_many_files)
{
	save("other", first, "");
	make_files(5000, 1);
	home_age(FOLDER "/host-4999", -50000);
	save(version, first, tools);
	ck_assert_uint_eq(home_count(FOLDER), BOUND_SOME);
	ck_assert(remembers(version, first, tools));
	ck_assert(remembers("other", first, ""));
	ck_assert(has_file(BOUND_SOME - 3));
	ck_assert(!has_file(BOUND_SOME - 2));
	ck_assert(!has_file(4999));
	/* those of a start that changes nothing, too, and those of eras */
	make_files(300, 1);
	save(version, first, tools);
	ck_assert_uint_eq(home_count(FOLDER), BOUND_SOME);
	startup_cache_save_era(startup_cache, CACHED_MODERN);
	ck_assert_uint_eq(home_count(FOLDER), BOUND_SOME);
	ck_assert(home_exists(era_file));
}
END_TEST

/* The file that was just saved counts, and stays. */
START_TEST(very_many_bytes)
{
	const size_t part = (size_t)BOUND_ALL_BYTES / 8;

	save("other", first, "");
	make_files(12, part);
	save(version, first, tools);
	ck_assert(remembers(version, first, tools));
	ck_assert(has_file(6));
	ck_assert(!has_file(7));
	ck_assert(!has_file(11));
}
END_TEST

/* A file that is used stays young, but it is not written at each start. */
START_TEST(used_files_stay_young)
{
	struct stat st;
	const int day = 24 * 60 * 60;

	save(version, first, tools);
	home_age(file, day - 60);
	save(version, first, "");
	ck_assert_int_eq(stat(home_path(file), &st), 0);
	ck_assert_int_lt(st.st_mtime, time(NULL) - day + 100);
	home_age(file, day + 60);
	save(version, first, "");
	ck_assert_int_eq(stat(home_path(file), &st), 0);
	ck_assert_int_gt(st.st_mtime, time(NULL) - 100);
	ck_assert(remembers(version, first, tools));
}
END_TEST

static const char *const unusable[][3] = {
	{ "\"1\"", "[1]", "" },
	{ "\"1\"", "{\"a\":1", "" },
	{ "\"1\"", "{\"a\":1}x", "" },
	{ "\"1\"", "{\"a\":\"\xff\"}", "" },
	{ "\"1\"", "", "" },
};

START_TEST(unusable_is_not_saved)
{
	save(unusable[_i][0], unusable[_i][1], unusable[_i][2]);
	ck_assert_uint_eq(home_count(FOLDER), 0);
}
END_TEST

static const char *const no_tools[] = { "[]", "{}", "{\"tools\":{}}",
	"{\"tools\":[]", "null", "{\"tools\":[\"\xc0\"]}", "x" };

START_TEST(no_tools_are_left_out)
{
	save(version, "{\"a\":1}", no_tools[_i]);
	ck_assert(remembers(version, "{\"a\":1}", ""));
}
END_TEST

/* Every byte of the file in turn, in two ways. */
START_TEST(corrupt)
{
	static const int flips[] = { 0x01, 0x20, 0x80 };
	struct buf b;
	size_t i;

	save(version, first, tools);
	b = home_get(file);
	for (i = 0; i < b.n; i++) {
		b.p[i] = (char)(b.p[i] ^ flips[_i]);
		home_put(file, b.p, b.n, 0600);
		ck_assert_msg(remembers(version, NULL, NULL), "byte %zu", i);
		b.p[i] = (char)(b.p[i] ^ flips[_i]);
	}
	home_put(file, b.p, b.n, 0600);
	ck_assert(remembers(version, first, tools));
	buf_free(&b);
}
END_TEST

/* A file of another client is not ours, whatever its name. */
START_TEST(file_of_another_client)
{
	char hex[PROFILE_HEX_BYTES], *theirs;

	client_hash("other", hex);
	theirs = xasprintf(FOLDER "/%s-%.12s", profile.name, hex);
	save("other", first, tools);
	ck_assert_int_eq(rename(home_path(theirs), home_path(file)), 0);
	ck_assert(remembers(version, NULL, NULL));
	free(theirs);
}
END_TEST

START_TEST(truncated)
{
	struct buf b;
	size_t n;

	save(version, first, tools);
	b = home_get(file);
	for (n = 0; n < b.n; n++) {
		home_put(file, b.p, n, 0600);
		ck_assert_msg(remembers(version, NULL, NULL), "cut at %zu", n);
	}
	buf_addc(&b, '\n');
	home_put(file, b.p, b.n, 0600);
	ck_assert(remembers(version, NULL, NULL));
	/* and is mended */
	save(version, first, "");
	ck_assert(remembers(version, first, ""));
	buf_free(&b);
}
END_TEST

/* A file with a right sum over wrong lines. */
static void
forge(const char *rest)
{
	struct span parts[] = { span_of(hash), span_of("\n"), span_of(rest) };
	char sum[PROFILE_HEX_BYTES];
	char *text;

	ck_assert_int_eq(profile_digest(sum, parts, 3), 0);
	text = xasprintf("{\"mcpsplice\":2,\"key\":\"%s\",\"client\":\"%s\","
			 "\"sum\":\"%s\"}\n%s",
	    profile.hash, hash, sum, rest);
	home_puts(file, text);
	free(text);
}

static const char *const forged[] = { "", "\n", "\n\n", "{}\n", "{}\n\n\n",
	"{}\n{}\n", "{}\n{\"tools\":[]}", "{}\n{\"tools\":[]}\nx",
	"{}\n{\"tools\":[]}\n\n", "{}\n{\"tools\":[}\n", "{\n\n", "[]\n\n",
	"{}x\n\n", "{\"a\":\"\xff\"}\n\n", "{}\n \n" };

START_TEST(forged_lines)
{
	save(version, first, tools);
	forge("{\"b\":2}\n{\"tools\":[]}\n");
	ck_assert(remembers(version, "{\"b\":2}", "{\"tools\":[]}"));
	forge(forged[_i]);
	ck_assert_msg(remembers(version, NULL, NULL), "%s", forged[_i]);
}
END_TEST

/* The file of another profile under our name. */
START_TEST(foreign)
{
	struct profile other = profile_of("https://mcp.example.com/other");
	struct startup_cache *m = startup_cache_new(home, &other);
	char *theirs = xasprintf(FOLDER "/%s-%.12s", other.name, hash);

	startup_cache_save(m, client_of(version), span_of(first),
	    span_of(tools));
	ck_assert(remembers(version, NULL, NULL));
	ck_assert_int_eq(rename(home_path(theirs), home_path(file)), 0);
	lines = 0;
	ck_assert(remembers(version, NULL, NULL));
	ck_assert_uint_eq(lines, 1);
	save(version, first, "");
	ck_assert(remembers(version, first, ""));
	startup_cache_free(m);
	free(theirs);
}
END_TEST

START_TEST(too_big)
{
	char *big = big_json("tools", BIG);
	char *fits = big_json("tools", BIG - 1000);

	save(version, first, fits);
	ck_assert(remembers(version, first, fits));
	save(version, first, big);
	ck_assert(remembers(version, first, ""));
	save(version, big, tools);
	ck_assert(remembers(version, NULL, NULL));
	ck_assert_uint_eq(home_count(FOLDER), 0);
	save(version, first, "");
	home_put(file, big, BIG, 0600);
	ck_assert(remembers(version, NULL, NULL));
	free(big);
	free(fits);
}
END_TEST

/* The bound holds for the whole file, when written and when read. */
START_TEST(too_big_by_one)
{
	struct buf b;
	char *large;
	size_t around;

	save(version, first, tools);
	b = home_get(file);
	around = b.n - strlen(tools);
	buf_free(&b);
	large = big_json("tools", BIG - around + (size_t)_i);
	save(version, first, large);
	ck_assert(remembers(version, first, _i == 0 ? large : ""));
	free(large);
	around -= strlen(first);
	large = big_json("a", BIG - around + (size_t)_i);
	save(version, large, "");
	ck_assert(remembers(version, _i == 0 ? large : NULL, ""));
	save(version, first, "");
	buf_init(&b, 0);
	buf_adds(&b, large);
	buf_adds(&b, "\n\n");
	forge(buf_str(&b));
	ck_assert(remembers(version, _i == 0 ? large : NULL, ""));
	buf_free(&b);
	free(large);
}
END_TEST

/* Depth of what is remembered. */
START_TEST(too_deep_by_one)
{
	struct buf b;
	int i, n = BOUND_MAX_DEPTH - 1 + _i;

	buf_init(&b, 0);
	buf_adds(&b, "{\"a\":");
	for (i = 0; i < n; i++)
		buf_addc(&b, '[');
	for (i = 0; i < n; i++)
		buf_addc(&b, ']');
	buf_addc(&b, '}');
	save(version, buf_str(&b), "");
	ck_assert(remembers(version, _i == 0 ? buf_str(&b) : NULL, ""));
	save(version, first, "");
	buf_adds(&b, "\n\n");
	forge(buf_str(&b));
	b.n -= 2;
	ck_assert(remembers(version, _i == 0 ? buf_str(&b) : NULL, ""));
	buf_free(&b);
}
END_TEST

START_TEST(links_and_modes)
{
	save(version, first, tools);
	ck_assert_int_eq(chmod(home_path(file), 0644), 0);
	ck_assert(remembers(version, NULL, NULL));
	save(version, first, tools);
	ck_assert(remembers(version, first, tools));
	ck_assert_int_eq(rename(home_path(file), home_path("elsewhere")), 0);
	ck_assert_int_eq(symlink("../../elsewhere", home_path(file)), 0);
	ck_assert(remembers(version, NULL, NULL));
	save(version, "{\"new\":1}", "");
	ck_assert(remembers(version, "{\"new\":1}", ""));
	ck_assert(!home_is("elsewhere", "{\"new\":1}"));
	ck_assert_int_eq(chmod(home_path(FOLDER), 0770), 0);
	ck_assert(remembers(version, NULL, NULL));
	save(version, first, tools);
	ck_assert_int_eq(chmod(home_path(FOLDER), 0700), 0);
	ck_assert(remembers(version, "{\"new\":1}", ""));
}
END_TEST

START_TEST(off)
{
	static const char *const homes[] = { NULL, "", "tmp" };
	struct buf b;
	int i;

	buf_init(&b, 0);
	for (i = 0; i < COUNT(homes); i++)
		ck_assert_ptr_null(startup_cache_new(homes[i], &profile));
	ck_assert(!startup_cache_load(NULL, client_of(version), &b, &b));
	startup_cache_save(NULL, client_of(version), span_of(first),
	    span_of(""));
	startup_cache_free(NULL);
	ck_assert_uint_eq(b.n, 0);
	ck_assert_uint_eq(home_count("."), 0);
}
END_TEST

static bool
save_in_read_only(void)
{
	if (chmod(home, 0500) != 0)
		return false;
	lines = 0;
	save(version, first, tools);
	return lines == 1 && remembers(version, NULL, NULL);
}

static bool
save_limited(void)
{
	struct rlimit limit = { 64, 64 };

	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return false;
	lines = 0;
	save(version, "{\"new\":1}", "");
	return lines == 1;
}

START_TEST(cannot_write)
{
	save(version, first, tools);
	ck_assert(home_apart(save_limited, false));
	ck_assert(remembers(version, first, tools));
	ck_assert_uint_eq(home_count(FOLDER), 1);
}
END_TEST

START_TEST(read_only_home)
{
	ck_assert(home_apart(save_in_read_only, true));
	ck_assert_int_eq(chmod(home, 0700), 0);
}
END_TEST

/* Saves results that belong together, of a length of its own. */
static void
save_many(int number)
{
	char *i, *t;
	int round;

	for (round = 0; round < 60; round++) {
		i = xasprintf("{\"n\":%d,\"pad\":\"%*s\"}", number,
		    number * 1000 + 1, "");
		t = xasprintf("{\"tools\":[%d]}", number);
		save(version, i, t);
		free(i);
		free(t);
	}
	_exit(0);
}

static void
load_pair(void)
{
	struct buf i, t;
	char *expect;
	int number;

	buf_init(&i, 0);
	buf_init(&t, 0);
	if (startup_cache_load(startup_cache, client_of(version), &i, &t)) {
		ck_assert_int_eq(sscanf(buf_str(&i), "{\"n\":%d", &number), 1);
		ck_assert_uint_eq(i.n,
		    strlen("{\"n\":0,\"pad\":\"\"}") + (size_t)number * 1000 +
			1);
		expect = xasprintf("{\"tools\":[%d]}", number);
		ck_assert_str_eq(buf_str(&t), expect);
		free(expect);
	}
	buf_free(&i);
	buf_free(&t);
}

START_TEST(eight_at_once)
{
	pid_t pids[8];
	int i;

	for (i = 0; i < 8; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			save_many(i);
	}
	for (i = 0; i < 200; i++)
		load_pair();
	for (i = 0; i < 8; i++)
		ck_assert_int_eq(home_wait(pids[i]), 0);
	load_pair();
	ck_assert(!remembers(version, NULL, NULL));
	ck_assert_uint_eq(home_count(FOLDER), 1);
}
END_TEST

static const char *const era_words[] = { [CACHED_LEGACY] = "legacy",
	[CACHED_SSE] = "sse",
	[CACHED_MODERN] = "modern" };

/* The era as a word; NULL: none is remembered. */
static const char *
era(void)
{
	return era_words[startup_cache_load_era(startup_cache)];
}

static void
save_era(const char *word)
{
	enum cached_era e = CACHED_LEGACY;

	while (strcmp(era_words[e], word) != 0)
		e++;
	startup_cache_save_era(startup_cache, e);
}

static char *
era_text(const char *word)
{
	return xasprintf("{\"mcpsplice\":1,\"key\":\"%s\",\"era\":\"%s\"}\n",
	    profile.hash, word);
}

static const char *const eras[] = { "legacy", "sse", "modern" };

START_TEST(an_era)
{
	struct stat st;
	char *text = era_text(eras[_i]);

	ck_assert_pstr_eq(era(), NULL);
	ck_assert_uint_eq(home_count("."), 0);
	save_era(eras[_i]);
	ck_assert_pstr_eq(era(), eras[_i]);
	ck_assert(home_is(era_file, text));
	ck_assert_int_eq(stat(home_path(era_file), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_uint_eq(home_count(FOLDER), 1);
	ck_assert_uint_eq(lines, 0);
	/* the server changes */
	save_era(eras[(_i + 1) % 3]);
	ck_assert_pstr_eq(era(), eras[(_i + 1) % 3]);
	ck_assert_uint_eq(home_count(FOLDER), 1);
	free(text);
}
END_TEST

/* The era and the startup answers do not overwrite each other. */
START_TEST(an_era_and_a_start)
{
	save(version, first, tools);
	ck_assert_pstr_eq(era(), NULL);
	save_era("sse");
	ck_assert_pstr_eq(era(), "sse");
	ck_assert(remembers(version, first, tools));
	save(version, "{}", "");
	ck_assert_pstr_eq(era(), "sse");
	startup_cache_save_era(startup_cache, CACHED_NO_ERA);
	ck_assert_pstr_eq(era(), NULL);
	startup_cache_save_era(startup_cache, CACHED_NO_ERA);
	ck_assert(remembers(version, "{}", ""));
	ck_assert_uint_eq(home_count(FOLDER), 1);
}
END_TEST

struct age_case {
	const char *word;
	long age;
	bool fresh;
};

static const struct age_case ages[] = {
	{ "legacy", 60, true },
	{ "legacy", 24 * 3600 - 60, true },
	{ "legacy", 24 * 3600, false },
	{ "legacy", 400L * 24 * 3600, false },
	{ "legacy", -1, true },
	{ "legacy", -60, false },
	{ "sse", 24 * 3600 - 60, true },
	{ "sse", 24 * 3600, false },
	{ "sse", -60, false },
	{ "modern", 24 * 3600, true },
	{ "modern", 400L * 24 * 3600, true },
	{ "modern", -60, true },
};

START_TEST(an_era_ages)
{
	const struct age_case *c = &ages[_i];
	struct stat before, after;

	save_era(c->word);
	home_age(era_file, c->age);
	ck_assert_int_eq(stat(home_path(era_file), &before), 0);
	ck_assert_pstr_eq(era(), c->fresh ? c->word : NULL);
	/* what is found again is written only where it was too old */
	save_era(c->word);
	ck_assert_int_eq(stat(home_path(era_file), &after), 0);
	ck_assert_int_eq(before.st_mtime == after.st_mtime, c->fresh);
	ck_assert_int_eq(before.st_ino == after.st_ino, c->fresh);
	ck_assert_pstr_eq(era(), c->word);
	ck_assert_uint_eq(lines, 0);
}
END_TEST

/* Every byte of the file in turn, every length, and more than all. */
START_TEST(a_corrupt_era)
{
	struct buf b;
	size_t i;
	int bit;

	save_era(eras[_i]);
	b = home_get(era_file);
	for (i = 0; i < b.n; i++) {
		for (bit = 1; bit <= 0x80; bit <<= 1) {
			b.p[i] = (char)(b.p[i] ^ bit);
			home_put(era_file, b.p, b.n, 0600);
			ck_assert_msg(era() == NULL, "byte %zu", i);
			b.p[i] = (char)(b.p[i] ^ bit);
		}
		home_put(era_file, b.p, i, 0600);
		ck_assert_msg(era() == NULL, "cut at %zu", i);
	}
	buf_addc(&b, '\n');
	home_put(era_file, b.p, b.n, 0600);
	lines = 0;
	ck_assert_pstr_eq(era(), NULL);
	ck_assert_uint_eq(lines, 1);
	save_era(eras[_i]);
	ck_assert_pstr_eq(era(), eras[_i]);
	buf_free(&b);
}
END_TEST

START_TEST(a_newer_era)
{
	static const char text[] = "{\"mcpsplice\":2,\"era\":\"modern\"}\n";

	save_era("legacy");
	home_puts(era_file, text);
	lines = 0;
	ck_assert_pstr_eq(era(), NULL);
	ck_assert_uint_eq(lines, 1);
	save_era("sse");
	startup_cache_save_era(startup_cache, CACHED_NO_ERA);
	ck_assert_pstr_eq(era(), NULL);
	ck_assert(home_is(era_file, text));
}
END_TEST

START_TEST(a_foreign_era)
{
	struct profile other = profile_of("https://mcp.example.com/other");
	struct startup_cache *m = startup_cache_new(home, &other);
	char *theirs = xasprintf(FOLDER "/%s.era", other.name);
	struct buf big;

	startup_cache_save_era(m, CACHED_MODERN);
	ck_assert_pstr_eq(era(), NULL);
	ck_assert_int_eq(rename(home_path(theirs), home_path(era_file)), 0);
	ck_assert_pstr_eq(era(), NULL);
	home_puts(era_file, "{\"mcpsplice\":1,\"era\":\"modern\"}\n");
	ck_assert_pstr_eq(era(), NULL);
	/* not read to its end */
	buf_init(&big, 0);
	while (big.n < 100000)
		buf_adds(&big, "modern ");
	home_put(era_file, big.p, big.n, 0600);
	ck_assert_pstr_eq(era(), NULL);
	save_era("legacy");
	ck_assert_pstr_eq(era(), "legacy");
	buf_free(&big);
	startup_cache_free(m);
	free(theirs);
}
END_TEST

/* A file of this size is read, and found to be damaged. */
START_TEST(a_large_era)
{
	char *text = xasprintf("%*s", BOUND_HEADER_NAME_BYTES + _i, "");

	save_era("legacy");
	home_puts(era_file, text);
	ck_assert_pstr_eq(era(), NULL);
	ck_assert_ptr_nonnull(strstr(last_line,
	    _i == 0 ? "damaged" : "cannot read"));
	free(text);
}
END_TEST

START_TEST(an_era_that_others_can_write)
{
	save_era("modern");
	ck_assert_int_eq(chmod(home_path(era_file), 0644), 0);
	ck_assert_pstr_eq(era(), NULL);
	save_era("modern");
	ck_assert_pstr_eq(era(), "modern");
	ck_assert_int_eq(rename(home_path(era_file), home_path("elsewhere")),
	    0);
	ck_assert_int_eq(symlink("../../elsewhere", home_path(era_file)), 0);
	ck_assert_pstr_eq(era(), NULL);
	save_era("legacy");
	ck_assert_pstr_eq(era(), "legacy");
	ck_assert_int_eq(chmod(home_path(FOLDER), 0770), 0);
	ck_assert_pstr_eq(era(), NULL);
	save_era("sse");
	ck_assert_int_eq(chmod(home_path(FOLDER), 0700), 0);
	ck_assert_pstr_eq(era(), "legacy");
	/* something in the way that no file can replace */
	ck_assert_int_eq(unlink(home_path(era_file)), 0);
	home_mkdir(era_file, 0700);
	lines = 0;
	save_era("sse");
	ck_assert_uint_eq(lines, 2);
	ck_assert_pstr_eq(era(), NULL);
}
END_TEST

START_TEST(no_memory_of_an_era)
{
	ck_assert_int_eq(startup_cache_load_era(NULL), CACHED_NO_ERA);
	startup_cache_save_era(NULL, CACHED_MODERN);
	ck_assert_int_eq(state_cache_load_era(NULL), CACHED_NO_ERA);
	state_cache_save_era(NULL, CACHED_MODERN);
	startup_cache_save_era(NULL, CACHED_NO_ERA);
	state_cache_save_era(NULL, CACHED_NO_ERA);
	/* there is no folder */
	startup_cache_save_era(startup_cache, CACHED_NO_ERA);
	ck_assert_uint_eq(home_count("."), 0);
}
END_TEST

static struct loop *loop;

static void
on_stop(void *arg)
{
	(void)arg;
	loop_stop(loop, 0);
}

static const char *
recalled(struct state_cache *k)
{
	return era_words[state_cache_load_era(k)];
}

static bool valid;

static bool
is_valid(struct span whose, void *arg)
{
	(void)arg;
	ck_assert(span_is(whose, "me"));
	return valid;
}

/* Nothing is written of a user who has signed out meanwhile. */
START_TEST(a_user_signs_out)
{
	char url[] = "https://mcp.example.com/mcp";
	struct options o = { .url = url };
	struct startup_client client = { span_of("\"1\""), span_of("{}"),
		span_of("me") };
	struct profile p;
	struct state_cache *k;
	struct buf result;

	loop = loop_new();
	buf_init(&result, 0);
	ck_assert_int_eq(make_profile(&p, &o), 0);
	for (valid = false;; valid = true) {
		k = state_cache_new(loop, home, &p, NULL, is_valid, NULL);
		state_cache_save_start(k, client, span_of("{}"), no_span);
		state_cache_free(k);
		k = state_cache_new(loop, home, &p, NULL, is_valid, NULL);
		ck_assert_int_eq(state_cache_load_start(k, client, &result,
				     &result),
		    valid);
		state_cache_free(k);
		if (valid)
			break;
	}
	buf_free(&result);
	loop_free(loop);
}
END_TEST

/* An era is written later, but can be read at once. */
START_TEST(an_era_is_kept)
{
	char url[] = "https://mcp.example.com/mcp?key=CANARY";
	struct options o = { .url = url };
	struct profile p;
	struct state_cache *k;
	struct loop_timer *t;

	loop = loop_new();
	ck_assert_int_eq(make_profile(&p, &o), 0);
	k = state_cache_new(loop, home, &p, NULL, NULL, NULL);
	t = loop_timer_new(loop, on_stop, NULL);
	ck_assert_pstr_eq(recalled(k), NULL);
	state_cache_save_era(k, CACHED_SSE);
	state_cache_save_era(k, CACHED_MODERN);
	ck_assert_pstr_eq(recalled(k), "modern");
	ck_assert_pstr_eq(era(), NULL);
	loop_timer_set(t, 300);
	loop_run(loop);
	ck_assert_pstr_eq(era(), "modern");
	ck_assert_pstr_eq(recalled(k), "modern");
	ck_assert_uint_eq(home_count(FOLDER), 1);
	/* once only */
	save_era("sse");
	ck_assert_pstr_eq(recalled(k), "sse");
	loop_timer_set(t, 300);
	loop_run(loop);
	ck_assert_pstr_eq(era(), "sse");
	/* forgotten, too */
	state_cache_save_era(k, CACHED_MODERN);
	state_cache_save_era(k, CACHED_NO_ERA);
	ck_assert_pstr_eq(recalled(k), NULL);
	ck_assert_pstr_eq(era(), "sse");
	loop_timer_set(t, 300);
	loop_run(loop);
	ck_assert_pstr_eq(era(), NULL);
	save_era("sse");
	ck_assert_pstr_eq(recalled(k), "sse");
	/* freeing it saves at once; the latest era counts */
	state_cache_save_era(k, CACHED_NO_ERA);
	state_cache_save_era(k, CACHED_LEGACY);
	ck_assert_pstr_eq(era(), "sse");
	state_cache_free(k);
	ck_assert_pstr_eq(era(), "legacy");
	loop_timer_free(t);
	loop_free(loop);
}
END_TEST

START_TEST(digest)
{
	struct span parts[] = { span_of("a"), { NULL, 0 }, span_of("bc") };
	char hex[PROFILE_HEX_BYTES];

	ck_assert_int_eq(profile_digest(hex, parts, 3), 0);
	ck_assert_str_eq(hex,
	    "ba7816bf8f01cfea414140de5dae2223"
	    "b00361a396177a9cb410ff61f20015ad");
	ck_assert_int_eq(profile_digest(hex, NULL, 0), 0);
	ck_assert_str_eq(hex,
	    "e3b0c44298fc1c149afbf4c8996fb924"
	    "27ae41e4649b934ca495991b7852b855");
}
END_TEST

/* Options that choose another server or identity, each different from all of
 * the others. */
struct choice {
	const char *url;
	const char *headers[3];
	const char *bearer_file, *bearer_env, *cert, *unix_socket;
	const char *resolve[3];
	const char *other; /* no part of the profile */
};

static const struct choice choices[] = {
	{ .url = "https://a.example/x" },
	{ .url = "https://a.example/y" },
	{ .url = "https://a.example/X" },
	{ .url = "http://a.example/x" },
	{ .url = "https://a.example:444/x" },
	{ .url = "https://a.example/x?q=1" },
	{ .url = "https://b.example/x" },
	{ .url = "https://a.example/x", .headers = { "" } },
	{ .url = "https://a.example/x", .headers = { "", "" } },
	{ .url = "https://a.example/x", .headers = { "A: b" } },
	{ .url = "https://a.example/x", .headers = { "A: c" } },
	{ .url = "https://a.example/x", .headers = { "A: b", "C: d" } },
	{ .url = "https://a.example/x", .headers = { "C: d", "A: b" } },
	{ .url = "https://a.example/x", .headers = { "A: bC: d" } },
	{ .url = "https://a.example/x", .headers = { "A: b,4:C: d" } },
	{ .url = "https://a.example/x", .headers = { "A: b,4:C: d," } },
	{ .url = "https://a.example/x", .headers = { "@file" } },
	{ .url = "https://a.example/x", .headers = { "A: ${B}" } },
	{ .url = "https://a.example/x", .bearer_file = "" },
	{ .url = "https://a.example/x", .bearer_file = "v" },
	{ .url = "https://a.example/x", .bearer_env = "v" },
	{ .url = "https://a.example/x", .cert = "v" },
	{ .url = "https://a.example/x", .unix_socket = "v" },
	{ .url = "https://a.example/x", .resolve = { "v" } },
	{ .url = "https://a.example/x", .headers = { "v" } },
	{ .url = "https://a.example/x", .resolve = { "v", "w" } },
	{ .url = "https://a.example/x", .bearer_file = "-", .bearer_env = "v" },
	{ .url = "https://a.example/x", .bearer_file = "v", .bearer_env = "-" },
	{ .url = "https://a.example/x",
	    .headers = { "a" },
	    .bearer_file = "b",
	    .bearer_env = "c",
	    .cert = "d",
	    .unix_socket = "e" },
	{ .url = "https://a.example/x",
	    .bearer_file = "a",
	    .bearer_env = "b",
	    .cert = "c",
	    .unix_socket = "d",
	    .resolve = { "e" } },
};

static const struct choice alike[] = {
	{ .url = "HTTPS://A.example:443/x" },
	{ .url = "https://a.example/x#part" },
	{ .url = "https://a.example/x", .other = "v" },
};

/* options has no const in it; nothing writes. */
static void
fill(struct strings *s, const char *const *list)
{
	for (s->n = 0; list[s->n] != NULL; s->n++)
		;
	s->list = xcalloc(s->n + 1, sizeof *s->list);
	for (s->n = 0; list[s->n] != NULL; s->n++)
		s->list[s->n] = xstrdup(list[s->n]);
}

static void
empty(struct strings *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->list[i]);
	free(s->list);
}

static char *
copy(const char *s)
{
	return s == NULL ? NULL : xstrdup(s);
}

static struct profile
chosen(const struct choice *c)
{
	struct options o = { .url = copy(c->url),
		.bearer_file = copy(c->bearer_file),
		.bearer_env = copy(c->bearer_env),
		.cert = copy(c->cert),
		.unix_socket = copy(c->unix_socket),
		.proxy_user = copy(c->other),
		.user_agent = copy(c->other),
		.log_file = copy(c->other),
		.verbose = c->other != NULL };
	struct profile p;

	fill(&o.headers, c->headers);
	fill(&o.resolve, c->resolve);
	ck_assert_int_eq(make_profile(&p, &o), 0);
	empty(&o.headers);
	empty(&o.resolve);
	free(o.url);
	free(o.bearer_file);
	free(o.bearer_env);
	free(o.cert);
	free(o.unix_socket);
	free(o.proxy_user);
	free(o.user_agent);
	free(o.log_file);
	return p;
}

/* Another token in the same variable is somebody else. */
START_TEST(variables_differ)
{
	static const struct choice by[] = {
		{ .url = "https://a.example/x", .bearer_env = "MCPS_T" },
		{ .url = "https://a.example/x", .headers = { "A: ${MCPS_T}" } },
		{ .url = "https://a.example/x",
		    .headers = { "A: x", "B: ${OTHER}-${MCPS_T}" } },
	};
	struct profile one, two, again, none;

	ck_assert_int_eq(setenv("MCPS_T", "one", 1), 0);
	one = chosen(&by[_i]);
	ck_assert_int_eq(setenv("MCPS_T", "two", 1), 0);
	two = chosen(&by[_i]);
	ck_assert_int_eq(setenv("MCPS_T", "one", 1), 0);
	again = chosen(&by[_i]);
	ck_assert_int_eq(unsetenv("MCPS_T"), 0);
	none = chosen(&by[_i]);
	ck_assert_str_ne(one.hash, two.hash);
	ck_assert_str_eq(one.hash, again.hash);
	ck_assert_str_ne(one.hash, none.hash);
}
END_TEST

START_TEST(profiles_differ)
{
	struct profile all[COUNT(choices)], again;
	int i, j;

	for (i = 0; i < COUNT(choices); i++) {
		all[i] = chosen(&choices[i]);
		again = chosen(&choices[i]);
		ck_assert_str_eq(all[i].hash, again.hash);
		ck_assert_uint_eq(strlen(all[i].hash), 64);
		for (j = 0; j < i; j++) {
			ck_assert_msg(strcmp(all[i].hash, all[j].hash) != 0,
			    "%d is %d", i, j);
			ck_assert_str_ne(all[i].name, all[j].name);
		}
	}
	for (i = 0; i < COUNT(alike); i++) {
		again = chosen(&alike[i]);
		ck_assert_str_eq(again.hash, all[0].hash);
		ck_assert_str_eq(again.name, all[0].name);
	}
}
END_TEST

static const char *const names[][2] = {
	{ "https://mcp.example.com/a", "mcp.example.com-" },
	{ "https://MCP-2.Example.com/a", "mcp-2.example.com-" },
	{ "http://[::1]:8080/", "___1_-" },
	{ "http://a_b.example/", "a_b.example-" },
	{ "http://a~b.example/", "a_b.example-" },
	{ "http://-a.example/", "_a.example-" },
	{ "http://.a.example/", "_a.example-" },
	{ "http://123456789.123456789.123456789.123456789.123456789."
	  "123456789.123456789.example/",
	    "123456789.123456789.123456789.123456789.123456789."
	    "123456789.123-" },
};

START_TEST(profile_names)
{
	struct profile p = profile_of(names[_i][0]);
	size_t n = strlen(names[_i][1]);

	ck_assert_msg(strncmp(p.name, names[_i][1], n) == 0, "%s", p.name);
	ck_assert_uint_eq(strlen(p.name), n + 16);
	ck_assert_int_eq(strncmp(p.name + n, p.hash, 16), 0);
}
END_TEST

START_TEST(no_profile)
{
	char bad[] = "no url";
	struct options o = { .url = NULL };
	struct profile p;

	ck_assert_int_eq(make_profile(&p, &o), -1);
	o.url = bad;
	ck_assert_int_eq(make_profile(&p, &o), -1);
}
END_TEST

static TCase *
remembering(void)
{
	TCase *tc = tcase_create("memory");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, round_trip);
	tcase_add_test(tc, three_lines);
	tcase_add_test(tc, breaks_become_blanks);
	tcase_add_test(tc, tools_are_kept_or_dropped);
	tcase_add_test(tc, same_is_not_written);
	tcase_add_test(tc, other_client);
	tcase_add_test(tc, other_user);
	tcase_add_test(tc, forgotten);
	tcase_add_loop_test(tc, newer_file, 0, COUNT(newer_heads));
	tcase_add_loop_test(tc, not_a_newer_file, 0, COUNT(not_newer));
	tcase_add_test(tc, old_files);
	tcase_add_test(tc, very_many_files);
	tcase_add_test(tc, very_many_bytes);
	tcase_add_test(tc, used_files_stay_young);
	tcase_add_loop_test(tc, unusable_is_not_saved, 0, COUNT(unusable));
	tcase_add_loop_test(tc, no_tools_are_left_out, 0, COUNT(no_tools));
	tcase_add_loop_test(tc, corrupt, 0, 3);
	tcase_add_test(tc, file_of_another_client);
	tcase_add_test(tc, truncated);
	tcase_add_loop_test(tc, forged_lines, 0, COUNT(forged));
	tcase_add_test(tc, foreign);
	tcase_add_test(tc, too_big);
	tcase_add_loop_test(tc, too_big_by_one, 0, 2);
	tcase_add_loop_test(tc, too_deep_by_one, 0, 2);
	tcase_add_test(tc, links_and_modes);
	tcase_add_test(tc, off);
	tcase_add_test(tc, cannot_write);
	tcase_add_test(tc, read_only_home);
	tcase_add_test(tc, eight_at_once);
	return tc;
}

static TCase *
remembering_eras(void)
{
	TCase *tc = tcase_create("era");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, an_era, 0, COUNT(eras));
	tcase_add_test(tc, an_era_and_a_start);
	tcase_add_loop_test(tc, an_era_ages, 0, COUNT(ages));
	tcase_add_loop_test(tc, a_corrupt_era, 0, COUNT(eras));
	tcase_add_test(tc, a_newer_era);
	tcase_add_test(tc, a_foreign_era);
	tcase_add_loop_test(tc, a_large_era, 0, 2);
	tcase_add_test(tc, an_era_that_others_can_write);
	tcase_add_test(tc, no_memory_of_an_era);
	tcase_add_test(tc, an_era_is_kept);
	tcase_add_test(tc, a_user_signs_out);
	return tc;
}

static TCase *
profiles(void)
{
	TCase *tc = tcase_create("profile");

	tcase_add_test(tc, digest);
	tcase_add_test(tc, profiles_differ);
	tcase_add_loop_test(tc, variables_differ, 0, 3);
	tcase_add_loop_test(tc, profile_names, 0, COUNT(names));
	tcase_add_test(tc, no_profile);
	return tc;
}

int
main(void)
{
	Suite *s = suite_create("startup_cache");

	suite_add_tcase(s, remembering());
	suite_add_tcase(s, remembering_eras());
	suite_add_tcase(s, profiles());
	return unit_run(s);
}
