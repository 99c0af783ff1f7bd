/*
 * store/store: what is kept is found again, by this process and by others, what
 * somebody else could have written is not used, a killed writer leaves a whole
 * record, a lock is one process's, and helpers of all kinds.
 */
#include "config.h"

#include "base/bounds.h"
#include "store/store.h"

#include <sys/stat.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/mount.h>

#include <sched.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "io/url.h"
#include "unit/home.h"
#include "unit/unit.h"

#define OWN STORE_BELOW
#define URL "https://a.example/mcp"
#define KILLS 200
#define MEASURE_EVERY 20
#define COPIES 8
#define ROUNDS 25

static struct loop *loop;
static struct store *store;
static char name[STORE_NAME_BYTES];

/* What the latest operation came to. */
static struct {
	unsigned calls;
	bool found;
	struct record record;
	char *why;
} got;

static const char *
path_of(const char *before, const char *behind)
{
	char file[256];

	snprintf(file, sizeof file, OWN "/%s%s%s", before, name, behind);
	return home_path(file);
}

static void
forget_got(void)
{
	record_free(&got.record);
	free(got.why);
	memset(&got, 0, sizeof got);
}

/* A child has its parent's, too, and must leave them alone. Kept where nobody
 * takes them for lost. */
void *parents_loop, *parents_store;

static void
open_store(const char *helper)
{
	static const char *const unset[] = { "CANARY_VARIABLE", NULL };
	struct store_config config = {
		.home = home, .helper = helper, .unset = unset
	};
	char *why = NULL;

	parents_loop = loop;
	parents_store = store;
	loop = loop_new();
	store = store_new(loop, &config, &why);
	ck_assert_msg(store != NULL, "%s", why);
}

static void
close_store(void)
{
	store_free(store);
	loop_free(loop);
	store = NULL;
}

/* The folder is there from a former start. */
static void
setup(void)
{
	static const char *const folders[] = { ".local", ".local/state",
		".local/state/mcpsplice", OWN };
	size_t i;

	home_begin();
	memset(&got, 0, sizeof got);
	store_name(name, URL, NULL);
	for (i = 0; i < COUNT(folders); i++)
		home_mkdir(folders[i], 0700);
	open_store(NULL);
}

static void
setup_nothing(void)
{
	home_begin();
	memset(&got, 0, sizeof got);
	store_name(name, URL, NULL);
	open_store(NULL);
}

static void
teardown(void)
{
	forget_got();
	close_store();
	home_end();
}

static void
on_get(const struct record *r, const char *why, void *arg)
{
	ck_assert_ptr_eq(arg, &got);
	ck_assert(r == NULL || why == NULL);
	got.calls++;
	got.found = r != NULL;
	if (r != NULL)
		record_copy(&got.record, r);
	got.why = why == NULL ? NULL : xstrdup(why);
	loop_stop(loop, 0);
}

static void
on_done(const char *why, void *arg)
{
	ck_assert_ptr_eq(arg, &got);
	got.calls++;
	got.why = why == NULL ? NULL : xstrdup(why);
	loop_stop(loop, 0);
}

/* Each returns whether it succeeded; got.why has the error. */
static bool
wait_for(struct store_op *op)
{
	ck_assert_ptr_nonnull(op);
	ck_assert_uint_eq(got.calls, 0);
	loop_run(loop);
	ck_assert_uint_eq(got.calls, 1);
	return got.why == NULL;
}

static bool
get(void)
{
	forget_got();
	return wait_for(store_get(store, name, on_get, &got));
}

static bool
put(struct record *r)
{
	forget_got();
	return wait_for(store_put(store, name, r, on_done, &got));
}

static bool
erase(void)
{
	forget_got();
	return wait_for(store_erase(store, name, on_done, &got));
}

static struct record
make_record(const char *token)
{
	struct record r;

	record_init(&r);
	r.url = xstrdup(URL);
	r.token.access = xstrdup(token);
	return r;
}

static bool
put_token(const char *token)
{
	struct record r = make_record(token);
	bool ok = put(&r);

	record_free(&r);
	return ok;
}

/* Is this the token, or NULL: is there no record? */
static bool
has_token(const char *token)
{
	if (!get())
		return false;
	if (token == NULL)
		return !got.found;
	return got.found && strcmp(got.record.token.access, token) == 0;
}

static bool
refuses(const char *word)
{
	return !get() && !got.found && strstr(got.why, word) != NULL;
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

START_TEST(names)
{
	static const char *const urls[] = { "https://example.com/mcp",
		"https://example.com/mcp2", "https://example.com:8443/mcp",
		"http://[::1]:80/x", "no url at all/../..",
		"https://-a.example/", "" };
	char one[STORE_NAME_BYTES], other[STORE_NAME_BYTES];
	struct url parts;
	char url[300];
	int i;

	for (i = 0; i < COUNT(urls); i++) {
		store_name(one, urls[i], NULL);
		ck_assert_ptr_null(strpbrk(one, "/[]: "));
		ck_assert(one[0] != '.' && one[0] != '-');
		ck_assert_int_eq(one[strlen(one) - 17], '-');
		store_name(other, urls[i], NULL);
		ck_assert_str_eq(one, other);
		store_name(other, urls[i], "");
		ck_assert_str_ne(one, other);
		store_name(other, urls[i], "work");
		ck_assert_str_ne(one, other);
		store_name(other, urls[(i + 1) % COUNT(urls)], NULL);
		ck_assert_str_ne(one, other);
	}
	store_name(one, urls[0], NULL);
	ck_assert_int_eq(strncmp(one, "example.com-", 12), 0);
	/* as all releases name it, whatever libcurl does with an escape */
	ck_assert_int_eq(url_parse(&parts, "http://H/%c3%a9/%C3%A9"), URL_OK);
	store_name(one, parts.text, NULL);
	ck_assert_str_eq(one, "h-208f47454d5e74d3");
	url_free(&parts);
	snprintf(url, sizeof url, "https://%0200d.example/", 1);
	store_name(one, url, NULL);
	ck_assert_uint_eq(strlen(one), STORE_NAME_BYTES - 1);
}
END_TEST

START_TEST(kept_and_found)
{
	struct record r = make_record("t1");

	ck_assert(has_token(NULL));
	ck_assert(put(&r));
	ck_assert_int_eq(r.generation, 1);
	ck_assert(has_token("t1"));
	ck_assert_int_eq(got.record.generation, 1);
	ck_assert_str_eq(got.record.url, URL);
	ck_assert(put(&r));
	ck_assert(has_token("t1"));
	ck_assert_int_eq(got.record.generation, 2);
	record_free(&r);
	close_store();
	open_store(NULL);
	ck_assert(has_token("t1"));
	ck_assert(erase());
	ck_assert(has_token(NULL));
	ck_assert(erase());
}
END_TEST

START_TEST(not_from_inside)
{
	struct record r = make_record("t");
	struct store_op *op;

	op = store_put(store, name, &r, on_done, &got);
	ck_assert_uint_eq(got.calls, 0);
	ck_assert(wait_for(op));
	forget_got();
	op = store_get(store, name, on_get, &got);
	ck_assert_uint_eq(got.calls, 0);
	store_cancel(op);
	store_cancel(NULL);
	ck_assert(has_token("t"));
	/* left to store_free */
	forget_got();
	store_get(store, name, on_get, &got);
	store_erase(store, name, on_done, &got);
	close_store();
	ck_assert_uint_eq(got.calls, 0);
	open_store(NULL);
	record_free(&r);
}
END_TEST

START_TEST(private_whatever_the_umask)
{
	mode_t mask = umask(0);
	struct pending p = { 0 };
	int fd;

	home_end();
	home_begin();
	close_store();
	open_store(NULL);
	ck_assert(put_token("t"));
	ck_assert_int_eq(store_set_pending(store, name, &p), 0);
	fd = store_lock(store, STORE_TOKEN, name);
	umask(mask);
	ck_assert_int_ge(fd, 0);
	store_unlock(fd);
	ck_assert_int_eq(mode_of(home_path(OWN)), 0700);
	ck_assert_int_eq(mode_of(path_of("", ".json")), 0600);
	ck_assert_int_eq(mode_of(path_of("pending-", "")), 0600);
	ck_assert_int_eq(mode_of(path_of("lock-token-", "")), 0600);
}
END_TEST

START_TEST(not_ours_not_used)
{
	ck_assert(put_token("t"));
	ck_assert_int_eq(chmod(path_of("", ".json"), 0644), 0);
	ck_assert(refuses("chmod 600"));
	ck_assert_ptr_nonnull(strstr(got.why, path_of("", ".json")));
	ck_assert_int_eq(chmod(path_of("", ".json"), 0600), 0);
	ck_assert(has_token("t"));
	ck_assert_int_eq(link(path_of("", ".json"), home_path("hard")), 0);
	ck_assert(refuses("cannot be used"));
	ck_assert_int_eq(unlink(path_of("", ".json")), 0);
	ck_assert_int_eq(symlink(home_path("hard"), path_of("", ".json")), 0);
	ck_assert(refuses("is a link"));
	/* the link is replaced, what it points to is not touched */
	ck_assert(put_token("new"));
	ck_assert(has_token("new"));
	ck_assert_int_eq(unlink(path_of("", ".json")), 0);
	ck_assert_int_eq(link(home_path("hard"), path_of("", ".json")), 0);
	ck_assert_int_eq(unlink(home_path("hard")), 0);
	ck_assert(has_token("t"));
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(path_of("", ".json"), 12345, 0), 0);
	ck_assert(refuses("another user"));
}
END_TEST

START_TEST(no_pipes_no_folders)
{
	ck_assert_int_eq(mkfifo(path_of("", ".json"), 0600), 0);
	ck_assert(refuses("not a regular file"));
	ck_assert_int_eq(unlink(path_of("", ".json")), 0);
	ck_assert_int_eq(mkdir(path_of("", ".json"), 0700), 0);
	ck_assert(refuses("not a regular file"));
	ck_assert(!put_token("t"));
	ck_assert_ptr_nonnull(strstr(got.why, "cannot be written"));
	ck_assert(!erase());
	ck_assert_ptr_nonnull(strstr(got.why, "cannot be removed"));
	ck_assert_int_eq(rmdir(path_of("", ".json")), 0);
}
END_TEST

static void
put_text(const char *text)
{
	char file[256];

	snprintf(file, sizeof file, OWN "/%s.json", name);
	home_puts(file, text);
}

START_TEST(corrupt)
{
	char *long_text;

	put_text("");
	ck_assert(refuses(".json cannot be used"));
	put_text("{\"version\":1,\"url\":\"" URL "\"");
	ck_assert(refuses(".json cannot be used"));
	ck_assert(!store_found_newer(store));
	put_text("{\"version\":2,\"url\":\"" URL "\"}");
	ck_assert(refuses("was written by a newer mcpsplice"));
	ck_assert(store_found_newer(store));
	ck_assert_ptr_null(strstr(got.why, "removes it"));
	put_text("{\"version\":1,\"url\":\"" URL "\",\"token\":"
		 "{\"access_token\":\"CANARY CANARY\"}}");
	ck_assert(refuses("\"token\" is malformed"));
	ck_assert(!store_found_newer(store));
	ck_assert_ptr_null(strstr(got.why, "CANARY"));
	long_text = xcalloc(1, BOUND_PART_BYTES + 2);
	memset(long_text, ' ', BOUND_PART_BYTES + 1);
	put_text(long_text);
	free(long_text);
	ck_assert(refuses("too large"));
	ck_assert(put_token("t"));
	ck_assert(has_token("t"));
}
END_TEST

/* Such a record could be written but not read again, so it is refused. */
START_TEST(unfit_is_not_kept)
{
	struct record r = make_record("good");
	char *text = xcalloc(1, BOUND_PART_BYTES + 1);

	ck_assert(put(&r));
	memset(text, 'x', BOUND_PART_BYTES);
	r.token.refresh = text;
	ck_assert(!put(&r));
	ck_assert_ptr_nonnull(strstr(got.why, "cannot be kept"));
	strcpy(text, "ok");
	free(r.token.access);
	r.token.access = xstrdup("a\nb");
	ck_assert(!put(&r));
	ck_assert(has_token("good"));
	record_free(&r);
}
END_TEST

/* A secret of the user's can be in any charset. It is read anew from where it
 * is given; what else is kept must not be lost by it. */
START_TEST(bytes_that_are_not_utf8)
{
	struct record r = make_record("good");

	r.client.id = xstrdup("i");
	r.client.secret = xstrdup("caf\xE9");
	ck_assert(put(&r));
	ck_assert(has_token("good"));
	record_free(&r);
}
END_TEST

START_TEST(stamps)
{
	uint64_t one, two;

	ck_assert_uint_eq(store_stamp(store, name), 0);
	ck_assert(put_token("t"));
	one = store_stamp(store, name);
	ck_assert_uint_ne(one, 0);
	ck_assert_uint_eq(store_stamp(store, name), one);
	ck_assert(put_token("u"));
	two = store_stamp(store, name);
	ck_assert_uint_ne(two, one);
	ck_assert_uint_ne(two, 0);
	ck_assert(erase());
	ck_assert_uint_eq(store_stamp(store, name), 0);
}
END_TEST

/* The store's folder is removed while the store is in use. */
START_TEST(folder_removed)
{
	int fd;

	ck_assert(put_token("t"));
	ck_assert_int_eq(unlink(path_of("", ".json")), 0);
	ck_assert_int_eq(rmdir(home_path(OWN)), 0);
	ck_assert_uint_eq(store_stamp(store, name), 0);
	ck_assert(has_token(NULL));
	ck_assert(put_token("u"));
	ck_assert(has_token("u"));
	ck_assert(erase());
	ck_assert_int_eq(rmdir(home_path(OWN)), 0);
	fd = store_lock(store, STORE_LOGIN, name);
	ck_assert_int_ge(fd, 0);
	store_unlock(fd);
}
END_TEST

static char *
why_no_store(const char *at, const char *helper)
{
	struct store_config config = { .home = at, .helper = helper };
	char *why = NULL;

	ck_assert_ptr_null(store_new(loop, &config, &why));
	ck_assert_ptr_nonnull(why);
	return why;
}

static void
expect_no_store(const char *at, const char *helper, const char *word)
{
	char *why = why_no_store(at, helper);

	ck_assert_msg(strstr(why, word) != NULL, "%s", why);
	free(why);
}

START_TEST(no_home)
{
	expect_no_store(NULL, NULL, "HOME is not set");
	expect_no_store("", NULL, "HOME is not set");
	expect_no_store("relative", NULL, "HOME is not set");
	expect_no_store(home_path("none"), NULL, "set HOME");
	ck_assert(!home_exists("none"));
	expect_no_store(home, "", "--auth-store");
	expect_no_store(home, "a 'b", "--auth-store");
	ck_assert_int_eq(chmod(home_path(OWN), 0770), 0);
	expect_no_store(home, NULL, "others can write");
	ck_assert_int_eq(chmod(home_path(OWN), 0700), 0);
}
END_TEST

/* No folder or file is made until there is a record to keep. */
START_TEST(nothing_made_in_vain)
{
	struct pending p;

	ck_assert_uint_eq(store_stamp(store, name), 0);
	ck_assert(!has_token("t"));
	store_pending(store, name, &p);
	ck_assert_ptr_null(p.url);
	pending_free(&p);
	ck_assert(erase());
	ck_assert(!home_exists(".local"));
	ck_assert(put_token("t"));
	ck_assert(has_token("t"));
	ck_assert_uint_ne(store_stamp(store, name), 0);
}
END_TEST

static bool
in_read_only(void)
{
	bool ok;

	open_store(NULL);
	if (!put_token("t") || chmod(home_path(OWN), 0500) != 0)
		return false;
	ok = !put_token("u") && strstr(got.why, "denied") != NULL &&
	    has_token("t") && store_lock(store, STORE_TOKEN, name) == -1 &&
	    errno == EACCES && !erase() && has_token("t");
	chmod(home_path(OWN), 0700);
	return ok;
}

START_TEST(read_only_folder)
{
	home_end();
	home_begin();
	ck_assert(home_apart(in_read_only, true));
}
END_TEST

#ifdef __linux__
/* It takes a root who may mount: exit status 77 for others. */
static void
on_full_disk(void)
{
	static char zeros[200000];
	struct record r;

	if (unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, "") != 0 ||
	    mount("tmpfs", home, "tmpfs", 0, "size=64k,mode=700") != 0)
		_exit(77);
	open_store(NULL);
	r = make_record("t");
	if (!put(&r) || !has_token("t"))
		_exit(1);
	memset(zeros, 'x', sizeof zeros - 1);
	r.token.refresh = xstrdup(zeros);
	if (put(&r) || strstr(got.why, "No space") == NULL)
		_exit(2);
	if (!has_token("t") || got.record.token.refresh != NULL ||
	    home_count(OWN) != 1)
		_exit(3);
	_exit(0);
}

START_TEST(full_disk)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		on_full_disk();
	status = home_wait(pid);
	if (status == 77)
		fprintf(stderr, "no full disk can be had here\n");
	else
		ck_assert_int_eq(status, 0);
}
END_TEST
#endif

/* A writer, which makes so many writes if nobody kills it. A record shows when
 * it is not whole: its parts are of one letter. */
static void
write_on(unsigned writes)
{
	/* Static, so that valgrind finds them at _exit. */
	static struct record r;
	static char text[20001];
	char c = 'a';

	r = make_record("t");
	open_store(NULL);
	for (; writes > 0; writes--) {
		memset(text, c, 20000);
		text[20000] = '\0';
		free(r.token.access);
		r.token.access = xstrdup(text);
		r.client.source = CLIENT_GIVEN;
		free(r.client.id);
		r.client.id = xstrndup(&c, 1);
		if (!put(&r))
			_exit(1);
		c = c == 'z' ? 'a' : (char)(c + 1);
	}
	_exit(0);
}

static bool
is_whole(void)
{
	size_t i;

	if (!get() || !got.found || got.record.client.id == NULL)
		return false;
	for (i = 0; i < 20000; i++)
		if (got.record.token.access[i] != *got.record.client.id)
			return false;
	return got.record.token.access[i] == '\0';
}

/* The nanoseconds from the start of a writer to the end of its second write. */
static int64_t
time_two(void)
{
	struct timespec from, to;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &from);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		write_on(2);
	ck_assert_int_eq(home_wait(pid), 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from.tv_sec) * INT64_C(1000000000) + to.tv_nsec -
	    from.tv_nsec;
}

/* The longest that a writer may live, in nanoseconds: enough for some writes,
 * however slow the disk and the machine are just now. */
static int64_t
longest_life(void)
{
	int64_t t[3], low, high, median;
	int i;

	for (i = 0; i < 3; i++)
		t[i] = time_two();
	low = t[0] < t[1] ? t[0] : t[1];
	high = t[0] < t[1] ? t[1] : t[0];
	median = t[2] < low ? low : t[2] > high ? high : t[2];
	return median < 4000000 ? 6000000 : median / 2 * 3;
}

/* At any time, and after a writer was killed at any time. */
START_TEST(killed_writers)
{
	unsigned seed = 7;
	int64_t generation = 0, longest = 0, life;
	pid_t pid;
	int i;

	for (i = 0; i < KILLS; i++) {
		if (i % MEASURE_EVERY == 0) {
			longest = longest_life();
			ck_assert(erase());
		}
		pid = fork();
		if (pid == 0)
			write_on(UINT_MAX);
		while (!home_exists(path_of("", ".json") + strlen(home) + 1))
			nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		seed = seed * 1103515245 + 12345;
		life = (int64_t)(seed >> 8) * longest >> 24;
		nanosleep(&(struct timespec){ (time_t)(life / 1000000000),
			      (long)(life % 1000000000) },
		    NULL);
		ck_assert(is_whole());
		home_kill(pid);
		ck_assert(is_whole());
		generation += got.record.generation;
	}
	ck_assert_int_gt(generation, KILLS);
}
END_TEST

static void
take_lock(void *arg)
{
	enum store_lock *what = arg;

	open_store(NULL);
	if (store_lock(store, *what, name) < 0)
		_exit(1);
}

START_TEST(locks)
{
	enum store_lock what = (enum store_lock)_i;
	char other[STORE_NAME_BYTES];
	pid_t pid = home_process(take_lock, &what);
	int fd, more;

	ck_assert_int_eq(store_lock(store, what, name), -1);
	ck_assert_int_eq(errno, EWOULDBLOCK);
	store_name(other, URL, "work");
	more = store_lock(store, what, other);
	if (what == STORE_TAB)
		ck_assert_int_eq(more, -1);
	else
		ck_assert_int_ge(more, 0);
	store_unlock(more);
	more = store_lock(store, what == STORE_TAB ? STORE_LOGIN : STORE_TAB,
	    name);
	ck_assert_int_ge(more, 0);
	home_kill(pid);
	fd = store_lock(store, what, name);
	ck_assert_int_ge(fd, 0);
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	store_unlock(fd);
	fd = store_lock(store, what, name);
	ck_assert_int_ge(fd, 0);
	store_unlock(fd);
	store_unlock(more);
	store_unlock(-1);
}
END_TEST

START_TEST(strange_locks)
{
	ck_assert_int_eq(mkfifo(path_of("lock-token-", ""), 0600), 0);
	ck_assert_int_eq(store_lock(store, STORE_TOKEN, name), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(unlink(path_of("lock-token-", "")), 0);
	home_puts("victim", "v");
	ck_assert_int_eq(symlink(home_path("victim"),
			     path_of("lock-token-", "")),
	    0);
	ck_assert_int_eq(store_lock(store, STORE_TOKEN, name), -1);
	ck_assert_int_eq(errno, ELOOP);
	ck_assert(home_is("victim", "v"));
}
END_TEST

/* Takes the lock that nobody has made yet, and is alone while it has it. */
static void
take_turn(int round)
{
	char profile[16];
	int fd, mine;

	open_store(NULL);
	snprintf(profile, sizeof profile, "%d", round);
	store_name(name, URL, profile);
	while (!home_exists("go"))
		;
	while ((fd = store_lock(store, STORE_TOKEN, name)) < 0)
		if (errno != EWOULDBLOCK)
			_exit(1);
	mine = open(home_path("turn"), O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (mine < 0)
		_exit(2);
	close(mine);
	nanosleep(&(struct timespec){ 0, 100000 }, NULL);
	if (unlink(home_path("turn")) != 0)
		_exit(3);
	store_unlock(fd);
	_exit(0);
}

START_TEST(cold_locks)
{
	pid_t pids[COPIES];
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < COPIES; i++) {
			pids[i] = fork();
			if (pids[i] == 0)
				take_turn(round);
		}
		home_puts("go", "");
		for (i = 0; i < COPIES; i++)
			ck_assert_int_eq(home_wait(pids[i]), 0);
		unlink(home_path("go"));
	}
}
END_TEST

START_TEST(pending)
{
	struct pending p = {
		.opened = { 300, 200, 100 }, .asked_at = 350, .failed_at = 400
	};
	struct pending q;

	store_pending(store, name, &q);
	ck_assert_ptr_null(q.url);
	ck_assert_int_eq(q.opened[0], 0);
	pending_free(&q);
	p.url = xstrdup("https://as.example/authorize?x=%20&y= z");
	p.user_code = xstrdup("ABCD-EFGH");
	ck_assert_int_eq(store_set_pending(store, name, &p), 0);
	store_pending(store, name, &q);
	ck_assert_str_eq(q.url, p.url);
	ck_assert_str_eq(q.user_code, "ABCD-EFGH");
	ck_assert_int_eq(q.opened[0], 300);
	ck_assert_int_eq(q.opened[1], 200);
	ck_assert_int_eq(q.opened[2], 100);
	ck_assert_int_eq(q.asked_at, 350);
	ck_assert_int_eq(q.failed_at, 400);
	pending_free(&q);
	free(p.user_code);
	p.user_code = xstrdup("A\nfailed 1");
	ck_assert_int_eq(store_set_pending(store, name, &p), -1);
	free(p.user_code);
	p.user_code = xcalloc(1, 70001);
	memset(p.user_code, 'x', 70000);
	ck_assert_int_eq(store_set_pending(store, name, &p), -1);
	store_pending(store, name, &q);
	ck_assert_str_eq(q.user_code, "ABCD-EFGH");
	pending_free(&q);
	pending_free(&p);
	ck_assert_int_eq(store_set_pending(store, name, &p), 0);
	store_pending(store, name, &q);
	ck_assert_ptr_null(q.url);
	pending_free(&q);
}
END_TEST

static const struct {
	const char *text;
	const char *url, *code;
	int64_t opened[3], failed;
} pendings[] = {
	{ "", NULL, NULL, { 0, 0, 0 }, 0 },
	{ "url", NULL, NULL, { 0, 0, 0 }, 0 },
	{ "url\nurl \nurla b\nurl x\nurl y\n", "x", NULL, { 0, 0, 0 }, 0 },
	{ "new 1\nopened 5\nfailed 7 8\n", NULL, NULL, { 5, 0, 0 }, 7 },
	{ "opened 5 -1 x\nfailed -3\n", NULL, NULL, { 5, 0, 0 }, 0 },
	{ "opened 1 2 3 4\n", NULL, NULL, { 1, 2, 3 }, 0 },
	{ "opened  1\n", NULL, NULL, { 0, 1, 0 }, 0 },
	{ "failed 99999999999999999999\ncode c", NULL, NULL, { 0, 0, 0 }, 0 },
};

START_TEST(pending_strange)
{
	char file[256];
	struct pending p;

	snprintf(file, sizeof file, OWN "/pending-%s", name);
	home_puts(file, pendings[_i].text);
	store_pending(store, name, &p);
	ck_assert_pstr_eq(p.url, pendings[_i].url);
	ck_assert_pstr_eq(p.user_code, pendings[_i].code);
	ck_assert_int_eq(p.opened[0], pendings[_i].opened[0]);
	ck_assert_int_eq(p.opened[1], pendings[_i].opened[1]);
	ck_assert_int_eq(p.opened[2], pendings[_i].opened[2]);
	ck_assert_int_eq(p.failed_at, pendings[_i].failed);
	pending_free(&p);
}
END_TEST

/* The bound on a pending- file counts all its lines. */
START_TEST(pending_large)
{
	struct pending p = { .failed_at = 400 }, q;
	struct buf b;
	char file[256];
	size_t n;

	snprintf(file, sizeof file, OWN "/pending-%s", name);
	p.url = xstrdup("");
	ck_assert_int_eq(store_set_pending(store, name, &p), 0);
	b = home_get(file);
	n = BOUND_TEXT_BYTES - b.n + (size_t)_i;
	free(p.url);
	p.url = xmalloc(n + 1);
	memset(p.url, 'x', n);
	p.url[n] = '\0';
	ck_assert_int_eq(store_set_pending(store, name, &p), _i == 0 ? 0 : -1);
	/* Whoever wrote it. */
	buf_reset(&b);
	buf_addf(&b, "failed 400\nurl %s\nopened 0 0 0\nasked 0\n", p.url);
	ck_assert_uint_eq(b.n, BOUND_TEXT_BYTES + (size_t)_i);
	home_put(file, b.p, b.n, 0600);
	store_pending(store, name, &q);
	ck_assert_pstr_eq(q.url, _i == 0 ? p.url : NULL);
	ck_assert_int_eq(q.failed_at, _i == 0 ? 400 : 0);
	pending_free(&q);
	pending_free(&p);
	buf_free(&b);
}
END_TEST

struct listed {
	unsigned n, stop_at;
	bool ours;
};

static bool
on_name(const char *found, void *arg)
{
	struct listed *l = arg;

	l->ours = l->ours || strcmp(found, name) == 0;
	ck_assert_ptr_null(strchr(found, '/'));
	return ++l->n != l->stop_at;
}

START_TEST(lists)
{
	struct listed l = { 0 };

	store_list(store, on_name, &l);
	ck_assert_uint_eq(l.n, 0);
	ck_assert(put_token("t"));
	store_unlock(store_lock(store, STORE_TOKEN, name));
	store_unlock(store_lock(store, STORE_LOGIN, name));
	home_puts(OWN "/x.json", "");
	home_puts(OWN "/.json", "");
	home_puts(OWN "/a-0123456789abcdeX.json", "");
	home_puts(OWN "/A-0123456789abcdef.json", "");
	home_puts(OWN "/-0123456789abcdef.json", "");
	home_puts(OWN "/.new-0123456789abcdef", "");
	store_list(store, on_name, &l);
	ck_assert_uint_eq(l.n, 1);
	ck_assert(l.ours);
	home_puts(OWN "/a-0123456789abcdef.json", "");
	l = (struct listed){ 0 };
	store_list(store, on_name, &l);
	ck_assert_uint_eq(l.n, 2);
	l = (struct listed){ .stop_at = 1 };
	store_list(store, on_name, &l);
	ck_assert_uint_eq(l.n, 1);
}
END_TEST

START_TEST(lists_of_many)
{
	struct listed l = { 0 };
	char path[256];
	int i;

	for (i = 0; i < BOUND_FILES; i++) {
		snprintf(path, sizeof path, OWN "/a-%016x.json", (unsigned)i);
		home_puts(path, "");
	}
	store_list(store, on_name, &l);
	ck_assert_uint_eq(l.n, BOUND_FILES);
	home_puts(OWN "/b-0123456789abcdef.json", "");
	l.n = 0;
	store_list(store, on_name, &l);
	ck_assert_uint_eq(l.n, BOUND_FILES);
}
END_TEST

static void
take_lock_of(void *arg)
{
	if (store_lock(store, STORE_LOGIN, arg) < 0)
		_exit(1);
}

/* Files of profiles without a record, and without a sign-in under way. */
START_TEST(old_sign_ins_go)
{
	static const char *const kinds[] = { "lock-token-", "lock-login-",
		"pending-" };
	static char busy[] = "busy-0123456789abcdef";
	const int week = 7 * 24 * 60 * 60;
	char path[256];
	pid_t pid;
	int i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof path, OWN "/%sold-0123456789abcdef",
		    kinds[i]);
		home_puts(path, "");
		home_age(path, week + 60);
		snprintf(path, sizeof path, OWN "/%snew-0123456789abcdef",
		    kinds[i]);
		home_puts(path, "");
		home_age(path, week - 60);
		snprintf(path, sizeof path, OWN "/%sin-0123456789abcdef",
		    kinds[i]);
		home_puts(path, "");
		home_age(path, week + 60);
	}
	home_puts(OWN "/in-0123456789abcdef.json", "");
	home_puts(OWN "/lock-tab", "");
	home_age(OWN "/lock-tab", week + 60);
	pid = home_process(take_lock_of, busy);
	home_age(OWN "/lock-login-busy-0123456789abcdef", week + 60);
	close_store();
	open_store("helper:true");
	ck_assert_uint_eq(home_count(OWN), 12);
	close_store();
	open_store(NULL);
	ck_assert_uint_eq(home_count(OWN), 9);
	ck_assert(!home_exists(OWN "/pending-old-0123456789abcdef"));
	ck_assert(home_exists(OWN "/pending-in-0123456789abcdef"));
	ck_assert(home_exists(OWN "/lock-login-busy-0123456789abcdef"));
	home_kill(pid);
}
END_TEST

/* What was left by a writer that was killed holds a token. */
START_TEST(leftovers_go)
{
	home_puts(OWN "/.new-0123456789abcdef", "secret");
	home_age(OWN "/.new-0123456789abcdef", 3700);
	close_store();
	open_store(NULL);
	ck_assert(!home_exists(OWN "/.new-0123456789abcdef"));
}
END_TEST

/* A store with a helper, a script; $DIR in it is the home. */
static void
with_helper(const char *script)
{
	char *text = xasprintf("#!/bin/sh\nDIR=%s\n%s", home, script);
	char *command = xasprintf("sh '%s' \"a b\"", home_path("helper"));

	home_puts("helper", text);
	close_store();
	open_store(command);
	free(text);
	free(command);
}

static const char keeper[] = "echo \"$# $*\" >>$DIR/argv\n"
			     "tr '\\0' '\\n' </proc/$$/environ >>$DIR/environ\n"
			     "cat >$DIR/in\n"
			     "case $2 in\n"
			     "get) cat $DIR/kept 2>/dev/null; exit 0 ;;\n"
			     "store) sed '1,/^$/d' <$DIR/in >$DIR/kept ;;\n"
			     "erase) rm -f $DIR/kept ;;\n"
			     "*) exit 9 ;;\n"
			     "esac\n";

static bool
input_is(const char *format)
{
	char *text = xasprintf("name=%s\n%s", name, format);
	bool is = home_is("in", text);

	free(text);
	return is;
}

START_TEST(helper_keeps)
{
	struct record r = make_record("CANARY-ACCESS");
	struct listed l = { 0 };
	struct buf b;

	setenv("CANARY_VARIABLE", "CANARY", 1);
	with_helper(keeper);
	ck_assert(has_token(NULL));
	ck_assert(input_is("\n"));
	r.token.refresh = xstrdup("CANARY-REFRESH");
	ck_assert(put(&r));
	record_free(&r);
	b = home_get("in");
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\nurl=" URL "\n\n{"));
	ck_assert_ptr_nonnull(strstr(b.p, "CANARY-REFRESH"));
	buf_free(&b);
	ck_assert(has_token("CANARY-ACCESS"));
	ck_assert_int_eq(got.record.generation, 1);
	ck_assert_uint_eq(store_stamp(store, name), 0);
	ck_assert(!home_exists(path_of("", ".json") + strlen(home) + 1));
	ck_assert(erase());
	ck_assert(input_is("\n"));
	ck_assert(has_token(NULL));
	ck_assert(home_is("argv",
	    "2 a b get\n2 a b store\n2 a b get\n2 a b erase\n2 a b get\n"));
	b = home_get("environ");
	ck_assert_ptr_null(strstr(buf_str(&b), "CANARY"));
	ck_assert_ptr_nonnull(strstr(b.p, "PATH="));
	buf_free(&b);
	store_list(store, on_name, &l);
	ck_assert_uint_eq(l.n, 0);
	store_unlock(store_lock(store, STORE_TOKEN, name));
	store_unlock(store_lock(store, STORE_LOGIN, name));
	store_list(store, on_name, &l);
	ck_assert_uint_eq(l.n, 1);
	ck_assert(l.ours);
}
END_TEST

static const struct {
	const char *script;
	const char *word; /* NULL: there is no record, and that is no error */
} helpers[] = {
	{ "exit 3", "status 3" },
	{ "echo '{}'; exit 1", "status 1" },
	{ "kill -9 $$", "signal 9" },
	{ "echo CANARY", "cannot be used" },
	{ "echo '{\"version\":1}'", "cannot be used" },
	{ "printf '\\0'", "cannot be used" },
	{ "echo '{\"version\":1,\"url\":\"https://other.example/mcp\"}'",
	    "another server" },
	{ "echo '{\"version\":1,\"url\":\"" URL "\",\"profile\":\"p\"}'",
	    "another server" },
	{ "head -c 300000 /dev/zero", "too much" },
	{ "echo CANARY >&2; exit 4", "status 4" },
	{ "head -c 3000000 /dev/zero >&2", NULL },
	{ "exit 0", NULL },
	{ "echo; echo ' '", NULL },
	{ "exec <&-; exit 0", NULL },
};

START_TEST(helper_fails)
{
	with_helper(helpers[_i].script);
	if (helpers[_i].word == NULL) {
		ck_assert(has_token(NULL));
		return;
	}
	ck_assert(refuses(helpers[_i].word));
	ck_assert_ptr_nonnull(strstr(got.why, "--auth-store"));
	ck_assert_ptr_null(strstr(got.why, "CANARY"));
}
END_TEST

START_TEST(helper_fails_to_store)
{
	with_helper("exit 5");
	ck_assert(!put_token("t"));
	ck_assert_ptr_nonnull(strstr(got.why, "status 5"));
	ck_assert(!erase());
	ck_assert_ptr_nonnull(strstr(got.why, "status 5"));
	close_store();
	open_store("/none/such get");
	ck_assert(!put_token("t"));
	ck_assert_ptr_nonnull(strstr(got.why, "cannot be started"));
	ck_assert(!get());
}
END_TEST

/* The largest record there can be goes both ways. */
START_TEST(helper_large)
{
	struct record r = make_record("t");
	struct buf b;
	size_t n;

	with_helper("case $2 in get) cat $DIR/kept; echo ;;\n"
		    "store) sed '1,/^$/d' >$DIR/kept ;; esac");
	r.token.refresh = xstrdup("");
	r.generation = 1;
	buf_init(&b, 0);
	record_print(&r, &b);
	n = BOUND_PART_BYTES - b.n;
	buf_free(&b);
	free(r.token.refresh);
	r.token.refresh = xcalloc(1, n + 1);
	memset(r.token.refresh, 'x', n);
	r.generation = 0;
	ck_assert(put(&r));
	ck_assert(has_token("t"));
	ck_assert_str_eq(got.record.token.refresh, r.token.refresh);
	record_free(&r);
}
END_TEST

/* A cancelled helper is killed, and no callback comes. */
START_TEST(helper_cancelled)
{
	struct store_op *op;
	struct timespec ms = { 0, 1000000 };
	struct buf b;
	pid_t pid;
	int i;

	with_helper("echo $$ >$DIR/pid.new; mv $DIR/pid.new $DIR/pid\n"
		    "sleep 20; echo done >$DIR/done");
	op = store_get(store, name, on_get, &got);
	while (!home_exists("pid"))
		nanosleep(&ms, NULL);
	b = home_get("pid");
	pid = (pid_t)strtol(buf_str(&b), NULL, 10);
	buf_free(&b);
	ck_assert_int_gt(pid, 1);
	store_cancel(op);
	for (i = 0; i < 2000 && home_exists("done") == false; i++) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			break;
		nanosleep(&ms, NULL);
	}
	ck_assert_int_lt(i, 2000);
	ck_assert_uint_eq(got.calls, 0);
	/* left to store_free */
	store_get(store, name, on_get, &got);
}
END_TEST

/* Two operations at once; the second one ends first. */
START_TEST(helper_twice)
{
	with_helper("case $2 in get) sleep 0.3 ;; esac");
	store_get(store, name, on_get, &got);
	store_erase(store, name, on_done, &got);
	loop_run(loop);
	ck_assert_uint_eq(got.calls, 1);
	loop_run(loop);
	ck_assert_uint_eq(got.calls, 2);
}
END_TEST

static TCase *
files(void)
{
	TCase *tc = tcase_create("files");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, names);
	tcase_add_test(tc, kept_and_found);
	tcase_add_test(tc, not_from_inside);
	tcase_add_test(tc, private_whatever_the_umask);
	tcase_add_test(tc, not_ours_not_used);
	tcase_add_test(tc, no_pipes_no_folders);
	tcase_add_test(tc, corrupt);
	tcase_add_test(tc, unfit_is_not_kept);
	tcase_add_test(tc, bytes_that_are_not_utf8);
	tcase_add_test(tc, stamps);
	tcase_add_test(tc, folder_removed);
	tcase_add_test(tc, no_home);
	tcase_add_test(tc, read_only_folder);
#ifdef __linux__
	tcase_add_test(tc, full_disk);
#endif
	tcase_add_test(tc, leftovers_go);
	tcase_add_test(tc, old_sign_ins_go);
	tcase_add_test(tc, lists);
	tcase_add_test(tc, lists_of_many);
	return tc;
}

/* How long these tests take depends on the disk. */
static TCase *
killed(void)
{
	TCase *tc = tcase_create("killed");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, killed_writers);
	return tc;
}

static TCase *
nothing(void)
{
	TCase *tc = tcase_create("nothing");

	tcase_add_checked_fixture(tc, setup_nothing, teardown);
	tcase_add_test(tc, nothing_made_in_vain);
	return tc;
}

static TCase *
shared(void)
{
	TCase *tc = tcase_create("shared");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, locks, 0, 3);
	tcase_add_test(tc, strange_locks);
	tcase_add_test(tc, cold_locks);
	tcase_add_test(tc, pending);
	tcase_add_loop_test(tc, pending_large, 0, 2);
	tcase_add_loop_test(tc, pending_strange, 0, COUNT(pendings));
	return tc;
}

static TCase *
with_helpers(void)
{
	TCase *tc = tcase_create("helpers");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, helper_keeps);
	tcase_add_loop_test(tc, helper_fails, 0, COUNT(helpers));
	tcase_add_test(tc, helper_fails_to_store);
	tcase_add_test(tc, helper_large);
	tcase_add_test(tc, helper_cancelled);
	tcase_add_test(tc, helper_twice);
	return tc;
}

int
main(void)
{
	Suite *s = suite_create("store");

	suite_add_tcase(s, files());
	suite_add_tcase(s, killed());
	suite_add_tcase(s, nothing());
	suite_add_tcase(s, shared());
	suite_add_tcase(s, with_helpers());
	return unit_run(s);
}
