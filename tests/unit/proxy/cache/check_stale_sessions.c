/*
 * proxy/cache/stale_sessions: sessions of processes that are really killed, locks
 * that are really held, and files that are torn in every way.
 */
#include "config.h"

#include "proxy/cache/stale_sessions.h"

#include <sys/resource.h>
#include <sys/stat.h>
#ifdef HAVE_SYS_SYSCALL_H
#include <sys/syscall.h>
#endif

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/log.h"
#include "io/private_file.h"
#include "unit/home.h"
#include "unit/proxy/cache/profiles.h"
#include "unit/unit.h"

#define FOLDER ".local/state/mcpsplice/sessions"
#define SPOKEN "2025-06-18"
#define WEEK (7L * 24 * 3600)

static struct profile profile, other;
static struct stale_sessions *stale_sessions;
static bool loud;

/* What stale_sessions_take gave: "session version\n" each. */
static struct buf taken;
static unsigned given;

static void
on_log(enum log_level level, const char *line, void *arg)
{
	(void)line;
	(void)arg;
	loud = loud || level != LEVEL_DEBUG;
}

static void
setup(void)
{
	struct log_config config = { .level = LEVEL_DEBUG };

	home_begin();
	log_open(&config);
	log_sink(on_log, NULL);
	loud = false;
	profile = profile_of("https://a.example/mcp");
	other = profile_of("https://b.example/mcp");
	stale_sessions = stale_sessions_new(home, &profile);
	ck_assert_ptr_nonnull(stale_sessions);
	buf_init(&taken, 0);
	given = 0;
}

static void
teardown(void)
{
	stale_sessions_free(stale_sessions);
	buf_free(&taken);
	log_sink(NULL, NULL);
	log_close();
	ck_assert(!loud);
	home_end();
}

static void
keep(struct stale_sessions *o, const char *session)
{
	stale_sessions_save(o, span_of(session), span_of(SPOKEN));
}

static void
on_taken(struct span session, struct span version, void *arg)
{
	ck_assert_ptr_eq(arg, &given);
	buf_addspan(&taken, session);
	buf_addc(&taken, ' ');
	buf_addspan(&taken, version);
	buf_addc(&taken, '\n');
	given++;
}

static bool
take(size_t max, const char *expect)
{
	buf_reset(&taken);
	stale_sessions_take(stale_sessions, max, on_taken, &given);
	if (!span_is(buf_span(&taken), expect))
		fprintf(stderr, "taken: %s", buf_str(&taken));
	return span_is(buf_span(&taken), expect);
}

/* The path, in the home, of the one file there is. */
static const char *
only_file(void)
{
	static char path[512];
	struct dirent *e;
	DIR *d = opendir(home_path(FOLDER));

	ck_assert_ptr_nonnull(d);
	ck_assert_uint_eq(home_count(FOLDER), 1);
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			snprintf(path, sizeof path, FOLDER "/%s", e->d_name);
	closedir(d);
	return path;
}

/* A session of a process that was killed. */
static void
live(void *session)
{
	keep(stale_sessions_new(home, &profile), session);
}

static void
live_other(void *session)
{
	keep(stale_sessions_new(home, &other), session);
}

static void
leave(const char *session)
{
	struct stale_sessions *o = stale_sessions_new(home, &profile);

	keep(o, session);
	stale_sessions_free(o);
}

START_TEST(nothing_before_it_is_asked)
{
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	ck_assert(take(9, ""));
	keep(stale_sessions, "");
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	ck_assert_uint_eq(home_count("."), 0);
}
END_TEST

START_TEST(kept_in_one_file)
{
	struct stat st;
	struct buf b;
	char *start;

	keep(stale_sessions, "one");
	ck_assert_int_eq(stat(home_path(only_file()), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(stat(home_path(FOLDER), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	start = xasprintf("mcpsplice session 1\n%s\n", profile.hash);
	b = home_get(only_file());
	ck_assert_int_eq(strncmp(buf_str(&b), start, strlen(start)), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\none\n" SPOKEN "\n"));
	buf_free(&b);
	free(start);
	keep(stale_sessions, "a-second-one");
	b = home_get(only_file());
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\na-second-one\n"));
	ck_assert_ptr_null(strstr(buf_str(&b), "\none\n"));
	buf_free(&b);
	keep(stale_sessions, "");
	ck_assert(home_is(only_file(), ""));
}
END_TEST

START_TEST(same_is_not_written)
{
	struct stat before, after;

	keep(stale_sessions, "one");
	home_age(only_file(), 100);
	ck_assert_int_eq(stat(home_path(only_file()), &before), 0);
	keep(stale_sessions, "one");
	ck_assert_int_eq(stat(home_path(only_file()), &after), 0);
	ck_assert_int_eq(before.st_mtime, after.st_mtime);
	stale_sessions_save(stale_sessions, span_of("one"),
	    span_of("2025-11-25"));
	ck_assert_int_eq(stat(home_path(only_file()), &after), 0);
	ck_assert_int_ne(before.st_mtime, after.st_mtime);
}
END_TEST

START_TEST(end_with_and_without)
{
	struct stale_sessions *o = stale_sessions_new(home, &profile);

	keep(o, "one");
	keep(o, "");
	stale_sessions_free(o);
	ck_assert_uint_eq(home_count(FOLDER), 0);
	leave("two");
	ck_assert_uint_eq(home_count(FOLDER), 1);
	ck_assert(take(9, "two " SPOKEN "\n"));
	ck_assert_uint_eq(home_count(FOLDER), 0);
	ck_assert(take(9, ""));
}
END_TEST

START_TEST(killed)
{
	static char session[] = "s-1";
	pid_t pid = home_process(live, session);

	ck_assert(take(9, ""));
	ck_assert_uint_eq(home_count(FOLDER), 1);
	home_kill(pid);
	ck_assert(take(9, "s-1 " SPOKEN "\n"));
	ck_assert(take(9, ""));
	ck_assert_uint_eq(home_count(FOLDER), 0);
}
END_TEST

/* A process never takes its own session, even if its file is old. */
START_TEST(ours_is_not_taken)
{
	keep(stale_sessions, "mine");
	leave("left");
	ck_assert(take(9, "left " SPOKEN "\n"));
	ck_assert_uint_eq(home_count(FOLDER), 1);
	keep(stale_sessions, "");
	home_age(only_file(), WEEK + 100);
	ck_assert(take(9, ""));
	ck_assert_uint_eq(home_count(FOLDER), 1);
}
END_TEST

START_TEST(not_more_than_max)
{
	int i;
	char *s;

	for (i = 0; i < 5; i++) {
		s = xasprintf("s%d", i);
		leave(s);
		free(s);
	}
	stale_sessions_take(stale_sessions, 0, on_taken, &given);
	ck_assert_uint_eq(given, 0);
	stale_sessions_take(stale_sessions, 2, on_taken, &given);
	ck_assert_uint_eq(given, 2);
	ck_assert_uint_eq(home_count(FOLDER), 3);
	stale_sessions_take(stale_sessions, 9, on_taken, &given);
	ck_assert_uint_eq(given, 5);
	ck_assert_uint_eq(home_count(FOLDER), 0);
}
END_TEST

START_TEST(other_profiles)
{
	static char session[] = "again";
	struct stale_sessions *o = stale_sessions_new(home, &other);
	pid_t pid;

	keep(o, "theirs");
	stale_sessions_free(o);
	ck_assert(take(9, ""));
	home_age(only_file(), WEEK - 100);
	ck_assert(take(9, ""));
	o = stale_sessions_new(home, &other);
	stale_sessions_take(o, 9, on_taken, &given);
	ck_assert_uint_eq(given, 1);
	ck_assert(span_is(buf_span(&taken), "theirs " SPOKEN "\n"));
	stale_sessions_free(o);
	pid = home_process(live_other, session);
	home_age(only_file(), WEEK + 100);
	ck_assert(take(9, ""));
	ck_assert_uint_eq(home_count(FOLDER), 1);
	home_kill(pid);
	ck_assert(take(9, ""));
	ck_assert_uint_eq(home_count(FOLDER), 0);
}
END_TEST

/* Of another format: whether it is torn cannot be known. */
START_TEST(newer_note)
{
	static const char *const notes[] = { "mcpsplice session 2\nx\n",
		"mcpsplice session 10", "mcpsplice session 99999999999999\n" };
	size_t i;

	for (i = 0; i < sizeof notes / sizeof *notes; i++) {
		leave("session");
		home_puts(only_file(), notes[i]);
		home_age(only_file(), WEEK - 100);
		ck_assert(take(9, ""));
		ck_assert(home_is(only_file(), notes[i]));
		home_age(only_file(), WEEK + 100);
		ck_assert(take(9, ""));
		ck_assert_uint_eq(home_count(FOLDER), 0);
	}
	leave("session");
	home_puts(only_file(), "mcpsplice session 0\nx\n");
	home_age(only_file(), 100);
	ck_assert(take(9, ""));
	ck_assert_uint_eq(home_count(FOLDER), 0);
}
END_TEST

static struct span
of_length(char *to, size_t n)
{
	memset(to, '~', n);
	return (struct span){ to, n };
}

START_TEST(ids)
{
	static const char *const bad[] = { "a b", "a\n", "\x7f", "\x80", "a\tb",
		"" };
	struct span version = span_of(SPOKEN);
	enum { LONGEST = BOUND_HEADER_BYTES };
	char text[LONGEST + 1], expect[LONGEST + 100];
	struct buf b;
	int i;

	for (i = 0; i < (int)(sizeof bad / sizeof *bad); i++) {
		keep(stale_sessions, "good");
		keep(stale_sessions, bad[i]);
		ck_assert(home_is(only_file(), ""));
	}
	stale_sessions_save(stale_sessions, of_length(text, LONGEST + 1),
	    version);
	ck_assert(home_is(only_file(), ""));
	stale_sessions_save(stale_sessions, (struct span){ "a\0b", 3 },
	    version);
	ck_assert(home_is(only_file(), ""));
	stale_sessions_save(stale_sessions, span_of("a"), of_length(text, 65));
	ck_assert(home_is(only_file(), ""));
	stale_sessions_save(stale_sessions, span_of("a"), span_of("1 2"));
	ck_assert(home_is(only_file(), ""));
	stale_sessions_save(stale_sessions, of_length(text, LONGEST),
	    of_length(text, 64));
	b = home_get(only_file());
	ck_assert_uint_gt(b.n, LONGEST);
	buf_free(&b);
	stale_sessions_free(stale_sessions);
	stale_sessions = stale_sessions_new(home, &profile);
	memset(expect, '~', sizeof expect);
	expect[LONGEST] = ' ';
	strcpy(expect + LONGEST + 65, "\n");
	ck_assert(take(9, expect));
	leave("!~");
	ck_assert(take(9, "!~ " SPOKEN "\n"));
	stale_sessions_save(stale_sessions, span_of("no-version"),
	    (struct span){ NULL, 0 });
	stale_sessions_free(stale_sessions);
	stale_sessions = stale_sessions_new(home, &profile);
	ck_assert(take(9, "no-version \n"));
}
END_TEST

/* Every byte in turn, every length: nothing is given that was not written;
 * young files stay, for a minute. */
START_TEST(torn)
{
	struct buf b;
	char *path;
	size_t i;

	leave("session");
	path = xstrdup(only_file());
	b = home_get(path);
	for (i = 0; i < b.n; i++) {
		home_put(path, b.p, b.n, 0600);
		ck_assert(take(9, "session " SPOKEN "\n"));
		home_put(path, b.p, i, 0600);
		ck_assert_msg(take(9, ""), "cut at %zu", i);
		b.p[i] ^= 1;
		home_put(path, b.p, b.n, 0600);
		ck_assert_msg(take(9, ""), "byte %zu", i);
		b.p[i] ^= 1;
	}
	ck_assert(home_exists(path));
	home_age(path, 50);
	ck_assert(take(9, ""));
	ck_assert(home_exists(path));
	home_age(path, 70);
	ck_assert(take(9, ""));
	ck_assert(!home_exists(path));
	/* a process that was killed before it cut the end of the old record */
	buf_adds(&b, "the end of a longer one\n");
	home_put(path, b.p, b.n, 0600);
	ck_assert(take(9, "session " SPOKEN "\n"));
	/* far too long */
	buf_reserve(&b, BOUND_NOTE_BYTES);
	memset(b.p + b.n, '\n', BOUND_NOTE_BYTES);
	b.n += BOUND_NOTE_BYTES;
	home_put(path, b.p, b.n, 0600);
	ck_assert(take(9, ""));
	buf_free(&b);
	free(path);
}
END_TEST

/* What stands behind the record counts. */
START_TEST(a_large_note)
{
	struct buf b;
	char *path;

	leave("session");
	path = xstrdup(only_file());
	b = home_get(path);
	while (b.n < (size_t)BOUND_NOTE_BYTES + (size_t)_i)
		buf_addc(&b, '\n');
	home_put(path, b.p, b.n, 0600);
	ck_assert(take(9, _i == 0 ? "session " SPOKEN "\n" : ""));
	buf_free(&b);
	free(path);
}
END_TEST

/* A new note takes the place of the oldest. */
START_TEST(very_many)
{
	struct buf b;
	char path[512];
	int i, n = BOUND_LISTED + 2;

	leave("session");
	b = home_get(only_file());
	for (i = 1; i < n; i++) {
		snprintf(path, sizeof path, FOLDER "/%032x", i);
		home_put(path, b.p, b.n, 0600);
		home_age(path, i);
	}
	buf_free(&b);
	leave("session");
	ck_assert_uint_eq(home_count(FOLDER), BOUND_LISTED);
	ck_assert(!home_exists(path));
	stale_sessions_take(stale_sessions, (size_t)n, on_taken, &given);
	ck_assert_uint_eq(given, BOUND_LISTED);
}
END_TEST

START_TEST(strangers_are_left_alone)
{
	static const char *const names[] = { FOLDER "/notes",
		FOLDER "/0123456789abcdef0123456789abcde",
		FOLDER "/0123456789abcdef0123456789abcdef0",
		FOLDER "/0123456789abcdef0123456789abcdef.old",
		FOLDER "/0123456789ABCDEF0123456789ABCDEF" };
	const char *hex = FOLDER "/0123456789abcdef0123456789abcdef";
	const char *hex2 = FOLDER "/00000000000000000000000000000000";
	const char *hex3 = FOLDER "/11111111111111111111111111111111";
	struct buf b;
	size_t i;

	leave("s");
	b = home_get(only_file());
	ck_assert(take(9, "s " SPOKEN "\n"));
	for (i = 0; i < sizeof names / sizeof *names; i++) {
		home_put(names[i], b.p, b.n, 0600);
		home_age(names[i], WEEK + 100);
	}
	home_put("record", b.p, b.n, 0600);
	ck_assert_int_eq(symlink("../../../../record", home_path(hex)), 0);
	home_mkdir(hex2, 0700);
	ck_assert_int_eq(mkfifo(home_path(hex3), 0600), 0);
	ck_assert(take(9, ""));
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	ck_assert_uint_eq(home_count(FOLDER), 8);
	ck_assert(home_exists("record"));
	buf_free(&b);
}
END_TEST

static void
pause_ms(long ms)
{
	struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

START_TEST(rivals)
{
	static char session[] = "theirs";
	pid_t earlier, later;

	earlier = home_process(live, session);
	pause_ms(3);
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	keep(stale_sessions, "mine");
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	pause_ms(3);
	later = home_process(live_other, session);
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	home_kill(later);
	later = home_process(live, session);
	ck_assert(stale_sessions_newer_peer(stale_sessions));
	/* also while this process has no session */
	keep(stale_sessions, "");
	ck_assert(stale_sessions_newer_peer(stale_sessions));
	pause_ms(3);
	/* a new one is later */
	keep(stale_sessions, "mine-again");
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	home_kill(later);
	pause_ms(3);
	later = home_process(live, session);
	ck_assert(stale_sessions_newer_peer(stale_sessions));
	/* the dead are no rivals, and stay stale sessions */
	home_kill(later);
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	home_kill(earlier);
	stale_sessions_take(stale_sessions, 9, on_taken, &given);
	ck_assert_uint_eq(given, 3);
}
END_TEST

static void
live_and_drop(void *session)
{
	struct stale_sessions *o = stale_sessions_new(home, &profile);

	keep(o, session);
	keep(o, "");
}

START_TEST(no_session_no_rival)
{
	static char session[] = "theirs";
	pid_t pid;

	keep(stale_sessions, "mine");
	pause_ms(3);
	pid = home_process(live_and_drop, session);
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	home_kill(pid);
}
END_TEST

static void
hold_name(void *path)
{
	char *why;
	int dir = file_dir(home, FOLDER, false, &why);
	int fd = file_open(dir, path, true);

	if (os_file_lock(fd) != 0)
		_exit(1);
}

/* Of two files from the same millisecond, the greater name is later. */
START_TEST(rival_of_the_same_moment)
{
	static char least[] = "00000000000000000000000000000000";
	static char most[] = "ffffffffffffffffffffffffffffffff";
	struct buf b;
	pid_t pid;

	keep(stale_sessions, "mine");
	b = home_get(only_file());
	home_put(FOLDER "/00000000000000000000000000000000", b.p, b.n, 0600);
	home_put(FOLDER "/ffffffffffffffffffffffffffffffff", b.p, b.n, 0600);
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	pid = home_process(hold_name, least);
	ck_assert(!stale_sessions_newer_peer(stale_sessions));
	home_kill(pid);
	pid = home_process(hold_name, most);
	ck_assert(stale_sessions_newer_peer(stale_sessions));
	home_kill(pid);
	buf_free(&b);
}
END_TEST

START_TEST(folder_is_cleared)
{
	char *command = xasprintf("rm -rf %s", home_path(".local"));

	keep(stale_sessions, "one");
	ck_assert_int_eq(system(command), 0);
	keep(stale_sessions, "");
	ck_assert_uint_eq(home_count("."), 0);
	keep(stale_sessions, "two");
	ck_assert_uint_eq(home_count(FOLDER), 1);
	ck_assert_int_eq(system(command), 0);
	/* nothing new, and yet it has to be there */
	keep(stale_sessions, "two");
	ck_assert_uint_eq(home_count(FOLDER), 1);
	stale_sessions_free(stale_sessions);
	stale_sessions = stale_sessions_new(home, &profile);
	ck_assert(take(9, "two " SPOKEN "\n"));
	free(command);
}
END_TEST

START_TEST(off)
{
	static const char *const homes[] = { NULL, "", "tmp" };
	int i;

	for (i = 0; i < 3; i++)
		ck_assert_ptr_null(stale_sessions_new(homes[i], &profile));
	keep(NULL, "one");
	stale_sessions_take(NULL, 9, on_taken, &given);
	ck_assert(!stale_sessions_newer_peer(NULL));
	stale_sessions_free(NULL);
	ck_assert_uint_eq(given, 0);
}
END_TEST

static bool
keep_in_read_only(void)
{
	struct stale_sessions *o = stale_sessions_new(home, &profile);

	if (chmod(home, 0500) != 0)
		return false;
	keep(o, "one");
	keep(o, "two");
	keep(o, "");
	stale_sessions_take(o, 9, on_taken, &given);
	stale_sessions_newer_peer(o);
	stale_sessions_free(o);
	return home_count(".") == 0;
}

START_TEST(read_only_home)
{
	ck_assert(home_apart(keep_in_read_only, true));
	ck_assert_int_eq(chmod(home, 0700), 0);
}
END_TEST

/* What cannot be written leaves nothing behind, not the old session either;
 * later it works again. */
static bool
keep_limited(void)
{
	struct rlimit limit = { 100, RLIM_INFINITY };
	struct stale_sessions *o = stale_sessions_new(home, &profile);

	keep(o, "one");
	if (home_count(FOLDER) != 1 || setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return false;
	keep(o, "two");
	if (home_count(FOLDER) != 0)
		return false;
	limit.rlim_cur = RLIM_INFINITY;
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return false;
	keep(o, "two");
	if (home_count(FOLDER) != 1)
		return false;
	stale_sessions_free(o);
	return true;
}

START_TEST(cannot_write)
{
	ck_assert(home_apart(keep_limited, false));
	ck_assert(take(9, "two " SPOKEN "\n"));
}
END_TEST

/* A program that was started from a killed one does not keep it alive. */
static void
live_and_start(void *session)
{
	live(session);
	if (fork() == 0) {
		execlp("sleep", "sleep", "1", (char *)NULL);
		_exit(1);
	}
}

START_TEST(children_hold_nothing)
{
	static char session[] = "s";
	pid_t pid = home_process(live_and_start, session);

	pause_ms(200);
	home_kill(pid);
	ck_assert(take(9, "s " SPOKEN "\n"));
}
END_TEST

#if defined(HAVE_FLOCK) && defined(SYS_flock)
/* Replaces the C library's flock, so that a test can act before a lock. */
static void (*before_lock)(void);
int flock(int fd, int operation);

int
flock(int fd, int operation)
{
	void (*first)(void) = before_lock;

	before_lock = NULL;
	if (first != NULL)
		first();
	return (int)syscall(SYS_flock, fd, operation);
}

static unsigned met; /* how often before_lock was called */

static void
see_no_name(void)
{
	DIR *d = opendir(home_path(FOLDER));
	struct dirent *e;

	met++;
	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL)
		ck_assert_int_eq(e->d_name[0], '.');
	closedir(d);
}

/* The file is locked before it has a name that others can see. */
START_TEST(locked_before_it_is_seen)
{
	met = 0;
	before_lock = see_no_name;
	keep(stale_sessions, "one");
	ck_assert_uint_eq(met, 1);
	ck_assert_uint_eq(home_count(FOLDER), 1);
}
END_TEST

static void
take_first(void)
{
	struct stale_sessions *o = stale_sessions_new(home, &profile);

	stale_sessions_take(o, 9, on_taken, &given);
	stale_sessions_free(o);
	met++;
}

/* Another process takes it between our look and our lock. */
START_TEST(taken_a_moment_ago)
{
	met = 0;
	leave("one");
	before_lock = take_first;
	ck_assert(take(9, "one " SPOKEN "\n"));
	ck_assert_uint_eq(met, 1);
	ck_assert_uint_eq(given, 1);
}
END_TEST
#endif

static int results; /* a pipe's end to write to */

static void
report(struct span session, struct span version, void *arg)
{
	char text[4];

	(void)version;
	(void)arg;
	memcpy(text, session.p, 3);
	text[3] = '\n';
	if (session.n != 3 || write(results, text, 4) != 4)
		_exit(1);
}

static void
take_all(void)
{
	struct stale_sessions *o = stale_sessions_new(home, &profile);
	int i;

	for (i = 0; i < 20; i++)
		stale_sessions_take(o, 3, report, NULL);
	stale_sessions_free(o);
	_exit(0);
}

#define MANY 8
#define LEFT 200

/* Eight are killed, and many more were; eight start at once: each session is
 * ended by one of them. */
START_TEST(eight_at_once)
{
	static char sessions[LEFT][16];
	static bool seen[LEFT];
	pid_t pids[MANY];
	char text[5] = "";
	int ends[2], i, n;

	memset(seen, 0, sizeof seen);
	ck_assert_int_eq(pipe(ends), 0);
	results = ends[1];
	for (i = 0; i < LEFT; i++) {
		snprintf(sessions[i], sizeof sessions[i], "%03d", i);
		if (i < MANY)
			pids[i] = home_process(live, sessions[i]);
		else
			leave(sessions[i]);
	}
	for (i = 0; i < MANY; i++)
		home_kill(pids[i]);
	for (i = 0; i < MANY; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			take_all();
	}
	for (i = 0; i < MANY; i++)
		ck_assert_int_eq(home_wait(pids[i]), 0);
	close(ends[1]);
	for (n = 0; read(ends[0], text, 4) == 4; n++) {
		i = (int)strtol(text, NULL, 10);
		ck_assert_msg(i >= 0 && i < LEFT && !seen[i], "%d again", i);
		seen[i] = true;
	}
	close(ends[0]);
	ck_assert_int_eq(n, LEFT);
	ck_assert_uint_eq(home_count(FOLDER), 0);
}
END_TEST

/* Begins and ends sessions, and looks whether somebody took a live one. */
static void
live_and_let_live(void)
{
	struct stale_sessions *o;
	int i;

	for (i = 0; i < 300; i++) {
		o = stale_sessions_new(home, &profile);
		keep(o, "123");
		if (home_count(FOLDER) == 0)
			_exit(1);
		stale_sessions_take(o, 9, report, NULL);
		stale_sessions_newer_peer(o);
		keep(o, "456");
		stale_sessions_take(o, 9, report, NULL);
		keep(o, "");
		stale_sessions_free(o);
	}
	_exit(0);
}

START_TEST(the_living_are_left_alone)
{
	pid_t pids[MANY];
	int ends[2], i;
	char c;

	ck_assert_int_eq(pipe(ends), 0);
	results = ends[1];
	for (i = 0; i < MANY; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			live_and_let_live();
	}
	for (i = 0; i < MANY; i++)
		ck_assert_int_eq(home_wait(pids[i]), 0);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &c, 1), 0);
	close(ends[0]);
	ck_assert_uint_eq(home_count(FOLDER), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("stale_sessions");
	TCase *tc = tcase_create("orphans");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, nothing_before_it_is_asked);
	tcase_add_test(tc, kept_in_one_file);
	tcase_add_test(tc, same_is_not_written);
	tcase_add_test(tc, end_with_and_without);
	tcase_add_test(tc, killed);
	tcase_add_test(tc, ours_is_not_taken);
	tcase_add_test(tc, not_more_than_max);
	tcase_add_test(tc, other_profiles);
	tcase_add_test(tc, newer_note);
	tcase_add_test(tc, ids);
	tcase_add_test(tc, torn);
	tcase_add_loop_test(tc, a_large_note, 0, 2);
	tcase_add_test(tc, very_many);
	tcase_add_test(tc, strangers_are_left_alone);
	tcase_add_test(tc, rivals);
	tcase_add_test(tc, no_session_no_rival);
	tcase_add_test(tc, rival_of_the_same_moment);
	tcase_add_test(tc, folder_is_cleared);
	tcase_add_test(tc, off);
	tcase_add_test(tc, read_only_home);
	tcase_add_test(tc, cannot_write);
	tcase_add_test(tc, children_hold_nothing);
#if defined(HAVE_FLOCK) && defined(SYS_flock)
	tcase_add_test(tc, locked_before_it_is_seen);
	tcase_add_test(tc, taken_a_moment_ago);
#endif
	tcase_add_test(tc, eight_at_once);
	tcase_add_test(tc, the_living_are_left_alone);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
