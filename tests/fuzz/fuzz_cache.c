/*
 * Files of the cache with any bytes: what is taken is what mcpsplice could have
 * written, and what a newer mcpsplice wrote is neither taken nor replaced. A
 * file that is damaged does no harm: a new one takes its place.
 *
 * The first byte of the input selects the file. Behind it is its content; the
 * kinds with a sum get the sum that belongs to the rest, because none would be
 * found by chance.
 */
#include "config.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

#include "base/bounds.h"
#include "core/wire/json.h"
#include "fuzz/fuzz.h"
#include "proxy/cache/stale_sessions.h"
#include "proxy/cache/startup_cache.h"

#define START "{\"mcpsplice\":"
#define NOTE "mcpsplice session "
#define NOTE_NAME "0123456789abcdef0123456789abcdef"

enum kind { START_RAW, START_SUMMED, ERA_RAW, NOTE_RAW, NOTE_SUMMED, KINDS };

static char home[] = "/tmp/mcpsplice-fuzz.XXXXXX";
static char *start_path, *era_path, *note_path;
static struct profile profile;
static struct startup_client client;
static char client_hash[PROFILE_HEX_BYTES];

static void
remove_home(void)
{
	static const char *const folders[] = { "/.cache/mcpsplice", "/.cache",
		"/.local/state/mcpsplice/sessions", "/.local/state/mcpsplice",
		"/.local/state", "/.local", "" };
	char *path;
	size_t i;

	unlink(start_path);
	unlink(era_path);
	unlink(note_path);
	for (i = 0; i < sizeof folders / sizeof *folders; i++) {
		path = xasprintf("%s%s", home, folders[i]);
		rmdir(path);
		free(path);
	}
	free(start_path);
	free(era_path);
	free(note_path);
}

/* Makes the folders, and the names of the files in them. */
static void
prepare(void)
{
	struct span parts[3];
	struct startup_cache *m;
	struct stale_sessions *o;

	if (start_path != NULL)
		return;
	FUZZ_CHECK(mkdtemp(home) != NULL);
	FUZZ_CHECK(profile_make(&profile, "host", span_of("identity")) == 0);
	client = (struct startup_client){ span_of("2025-11-25"), span_of("{}"),
		no_span };
	parts[0] = client.version;
	parts[1] = span_of("\n");
	parts[2] = client.capabilities;
	FUZZ_CHECK(profile_digest(client_hash, parts, 3) == 0);
	start_path = xasprintf("%s/.cache/mcpsplice/%s-%.12s", home,
	    profile.name, client_hash);
	era_path = xasprintf("%s/.cache/mcpsplice/%s.era", home, profile.name);
	note_path = xasprintf("%s/.local/state/mcpsplice/sessions/" NOTE_NAME,
	    home);
	atexit(remove_home);
	m = startup_cache_new(home, &profile);
	startup_cache_save(m, client, span_of("{}"), span_of(""));
	FUZZ_CHECK(access(start_path, F_OK) == 0);
	startup_cache_save_era(m, CACHED_MODERN);
	FUZZ_CHECK(access(era_path, F_OK) == 0);
	startup_cache_free(m);
	o = stale_sessions_new(home, &profile);
	stale_sessions_save(o, span_of("s"), span_of(""));
	stale_sessions_save(o, span_of(""), span_of(""));
	stale_sessions_free(o);
}

static void
write_file(const char *path, struct span text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, text.p, text.n) == (ssize_t)text.n);
	FUZZ_CHECK(close(fd) == 0);
}

static bool
is_file(const char *path, struct span text)
{
	struct buf b;
	char chunk[4096];
	ssize_t n;
	bool same;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	buf_init(&b, 0);
	while ((n = read(fd, chunk, sizeof chunk)) > 0)
		buf_add(&b, chunk, (size_t)n);
	close(fd);
	same = span_eq(buf_span(&b), text);
	buf_free(&b);
	return same;
}

/* Does text name a format over the one that is known? */
static bool
is_newer(struct span text, const char *title, unsigned long known)
{
	size_t n = strlen(title);
	char digits[32] = "";

	if (text.n < n || memcmp(text.p, title, n) != 0)
		return false;
	snprintf(digits, sizeof digits, "%.*s",
	    (int)(text.n - n < 20 ? text.n - n : 20), text.p + n);
	return digits[0] >= '0' && digits[0] <= '9' &&
	    strtoul(digits, NULL, 10) > known;
}

/* --- the startup cache --- */

static bool
load(const struct startup_cache *m, struct buf *initialize, struct buf *tools)
{
	buf_reset(initialize);
	buf_reset(tools);
	return startup_cache_load(m, client, initialize, tools);
}

static void
check_json(struct span json)
{
	FUZZ_CHECK(json_check(json, BOUND_MAX_DEPTH, NULL, NULL, NULL) ==
	    JSON_OK);
	FUZZ_CHECK(json_kind(json) == '{');
	FUZZ_CHECK(memchr(json.p, '\n', json.n) == NULL);
}

static void
play_start(struct span text)
{
	struct startup_cache *m = startup_cache_new(home, &profile);
	bool newer = is_newer(text, START, 3), found;
	struct buf initialize, tools;

	buf_init(&initialize, 0);
	buf_init(&tools, 0);
	write_file(start_path, text);
	found = load(m, &initialize, &tools);
	FUZZ_CHECK(!found || !newer);
	if (found)
		check_json(buf_span(&initialize));
	else
		FUZZ_CHECK(initialize.n == 0 && tools.n == 0);
	if (tools.n > 0)
		check_json(buf_span(&tools));

	startup_cache_save(m, client, span_of("{\"a\":1}"),
	    span_of("{\"tools\":[]}"));
	FUZZ_CHECK(is_file(start_path, text) || !newer);
	if (!newer) {
		FUZZ_CHECK(load(m, &initialize, &tools));
		FUZZ_CHECK(span_is(buf_span(&initialize), "{\"a\":1}"));
		FUZZ_CHECK(span_is(buf_span(&tools), "{\"tools\":[]}"));
	}
	buf_free(&initialize);
	buf_free(&tools);
	startup_cache_free(m);
}

static void
play_era(struct span text)
{
	struct startup_cache *m = startup_cache_new(home, &profile);
	bool newer = is_newer(text, START, 1);
	enum cached_era era;

	write_file(era_path, text);
	era = startup_cache_load_era(m);
	if (era != CACHED_NO_ERA) {
		FUZZ_CHECK(!newer);
		startup_cache_save_era(m, era);
		FUZZ_CHECK(is_file(era_path, text));
	}
	startup_cache_save_era(m, CACHED_SSE);
	FUZZ_CHECK(is_file(era_path, text) || !newer);
	if (!newer)
		FUZZ_CHECK(startup_cache_load_era(m) == CACHED_SSE);
	startup_cache_free(m);
}

/* --- sessions --- */

static void
count(struct span session, struct span version, void *arg)
{
	FUZZ_CHECK(session.n > 0 && session.n <= BOUND_HEADER_BYTES);
	FUZZ_CHECK(span_is_printable(session, '!'));
	FUZZ_CHECK(span_is_printable(version, '!'));
	++*(unsigned *)arg;
}

static void
play_note(struct span text)
{
	struct stale_sessions *o = stale_sessions_new(home, &profile);
	unsigned n = 0;

	write_file(note_path, text);
	stale_sessions_take(o, 4, count, &n);
	FUZZ_CHECK(n <= 1);
	FUZZ_CHECK(n == 1 || is_file(note_path, text));
	FUZZ_CHECK(n == 0 || access(note_path, F_OK) != 0);
	FUZZ_CHECK(n == 0 || !is_newer(text, NOTE, 1));
	stale_sessions_take(o, 4, count, &n);
	FUZZ_CHECK(n <= 1);
	stale_sessions_free(o);
}

/* --- sums --- */

static void
add_start(struct buf *out, struct span rest)
{
	struct span parts[] = { span_of(client_hash), span_of("\n"), rest };
	char sum[PROFILE_HEX_BYTES];

	FUZZ_CHECK(profile_digest(sum, parts, 3) == 0);
	buf_addf(out,
	    START "2,\"key\":\"%s\",\"client\":\"%s\",\"sum\":\"%s\"}\n",
	    profile.hash, client_hash, sum);
	buf_addspan(out, rest);
}

static void
add_note(struct buf *out, struct span rest)
{
	char sum[PROFILE_HEX_BYTES];
	struct span all;

	buf_addf(out, NOTE "1\n%s\n", profile.hash);
	buf_addspan(out, rest);
	all = buf_span(out);
	FUZZ_CHECK(profile_digest(sum, &all, 1) == 0);
	buf_addf(out, "%s\n", sum);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span input = { (const char *)data, size };
	struct buf text;
	enum kind kind;

	prepare();
	if (size == 0)
		return 0;
	kind = (enum kind)(data[0] % KINDS);
	input.p++;
	input.n--;
	buf_init(&text, 0);
	if (kind == START_SUMMED)
		add_start(&text, input);
	else if (kind == NOTE_SUMMED)
		add_note(&text, input);
	else
		buf_addspan(&text, input);
	if (kind == START_RAW || kind == START_SUMMED)
		play_start(buf_span(&text));
	else if (kind == ERA_RAW)
		play_era(buf_span(&text));
	else
		play_note(buf_span(&text));
	buf_free(&text);
	return 0;
}
