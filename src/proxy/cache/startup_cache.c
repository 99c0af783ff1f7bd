/*
 * For each profile there is a file for each kind of client, and one for the
 * era. The former has three lines: an object written by mcpsplice, the result
 * of initialize, and the result of tools/list or nothing. The first line is
 * never parsed: it has to be the same bytes that add_head would write for the
 * other two, with the number of the format, the hashes of profile, client and
 * user, and a SHA-256 over the client's and the other lines. So a file with any
 * changed byte is not used, nor one for another client, profile or user. One
 * file for all users of a profile: what one of them saw goes when the next one
 * is there.
 *
 * The file for the era is one line, which has to be one of the three lines that
 * compose_era can write. The age of the era is that of the file.
 *
 * Files are written without a sync, which would block the loop: a file that a
 * power cut has torn is not used.
 */
#include "config.h"

#include "proxy/cache/startup_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/log.h"
#include "core/wire/json.h"
#include "io/private_file.h"
#include "io/url.h"
#include "os/place.h"

#define STARTUP_CACHE_FOLDER ".cache/mcpsplice"
#define TITLE "{\"mcpsplice\":"

enum {
	PROFILE_HEX = 16, /* digits of a profile's hash in a file name */
	ENTRY_HEX = 12,   /* digits of the client's hash in a file name */
	DAY_S = 24 * 60 * 60,
	FRESH_S = DAY_S, /* a file as young as this is not written again */
	START_FORMAT = 3,
	START_OF_NOBODY = 2, /* the format without a user */
	ERA_FORMAT = 1,
	SUM_BYTES = PROFILE_HEX_BYTES + 1 /* the sum, and what ends the line */
};

struct startup_cache {
	char *home;
	struct profile profile;
	char *era; /* name of the file for the era */
};

/* The file for a kind of client. */
struct entry {
	const struct startup_cache *m;
	char client[PROFILE_HEX_BYTES];
	char whose[PROFILE_HEX_BYTES]; /* "": nobody's */
	char name[sizeof((struct profile *)0)->name + ENTRY_HEX + 1];
};

/* The second and third line, in the text of the file. */
struct lines {
	struct span initialize;
	struct span tools;
	bool of_another; /* the file is intact, and another user's */
};

struct startup_cache *
startup_cache_new(const char *home, const struct profile *profile)
{
	struct startup_cache *m;

	if (!os_path_absolute(home)) {
		log_debug("not using the startup cache: %s is not set",
		    os_place_variable(OS_PLACE_DATA));
		return NULL;
	}
	m = xcalloc(1, sizeof *m);
	m->home = xstrdup(home);
	m->profile = *profile;
	m->era = xasprintf("%s.era", profile->name);
	return m;
}

void
startup_cache_free(struct startup_cache *m)
{
	if (m == NULL)
		return;
	free(m->home);
	free(m->era);
	free(m);
}

static int
open_folder(const struct startup_cache *m, bool make)
{
	char *why;
	int dir = file_dir(m->home, STARTUP_CACHE_FOLDER, make, &why);

	if (dir < 0) {
		if (make || errno != ENOENT)
			log_debug("not using the startup cache: %s", why);
		free(why);
	}
	return dir;
}

/* Is there a file of this name that a newer mcpsplice wrote? It is left
 * alone. */
static bool
is_newer(int dir, const char *name, unsigned format)
{
	int fd = file_open(dir, name, false);
	bool newer = fd >= 0 && format_is_newer(fd, TITLE, format);

	file_close(fd);
	if (newer)
		log_debug(
		    "leaving the startup cache %s alone: a newer mcpsplice "
		    "wrote it",
		    name);
	return newer;
}

static bool
is_json(struct span s, char kind)
{
	return json_kind(s) == kind &&
	    json_check(s, BOUND_MAX_DEPTH, NULL, NULL, NULL) == JSON_OK;
}

static bool
is_tools(struct span s)
{
	return is_json(s, '{') && json_kind(json_get(s, "tools")) == '[';
}

/* Returns false if there is no SHA-256. */
static bool
find_entry(struct entry *e, const struct startup_cache *m,
    struct startup_client client)
{
	struct span parts[] = { client.version, span_of("\n"),
		client.capabilities };
	struct span whose[] = { span_of(m->profile.hash), client.whose };

	e->m = m;
	e->whose[0] = '\0';
	if (profile_digest(e->client, parts, 3) != 0 ||
	    (client.whose.n > 0 && profile_digest(e->whose, whose, 2) != 0))
		return false;
	snprintf(e->name, sizeof e->name, "%s-%.*s", m->profile.name, ENTRY_HEX,
	    e->client);
	return true;
}

/* Adds the first line for rest, with its line end. Returns 0, or -1. */
static int
add_head(const struct entry *e, struct span rest, struct buf *out)
{
	struct span parts[] = { span_of(e->client), span_of("\n"), rest };
	char sum[PROFILE_HEX_BYTES];

	if (profile_digest(sum, parts, 3) < 0)
		return -1;
	buf_addf(out, TITLE "%d,\"key\":\"%s\",\"client\":\"%s\",",
	    e->whose[0] == '\0' ? START_OF_NOBODY : START_FORMAT,
	    e->m->profile.hash, e->client);
	if (e->whose[0] != '\0')
		buf_addf(out, "\"whose\":\"%s\",", e->whose);
	return buf_addf(out, "\"sum\":\"%s\"}\n", sum);
}

/* Is head the first line for rest? *of_another: it is not, but it ends with the
 * right sum. */
static bool
is_head(const struct entry *e, struct span head, struct span rest,
    bool *of_another)
{
	struct buf b = { 0 };
	bool same, made;

	made = add_head(e, rest, &b) == 0 && b.n > SUM_BYTES &&
	    head.n > SUM_BYTES;
	same = made && b.n == head.n + 1 && memcmp(b.p, head.p, head.n) == 0;
	*of_another = made && !same &&
	    memcmp(b.p + b.n - 1 - SUM_BYTES, head.p + head.n - SUM_BYTES,
		SUM_BYTES) == 0;
	buf_free(&b);
	return same;
}

/* Finds the lines in the text of a file. Returns false if they are not
 * valid. */
static bool
find_lines(const struct entry *e, struct span text, struct lines *l)
{
	struct span head, rest;

	l->of_another = false;
	if (!file_line(&text, &head))
		return false;
	rest = text;
	return is_head(e, head, rest, &l->of_another) &&
	    file_line(&text, &l->initialize) && file_line(&text, &l->tools) &&
	    text.n == 0 && is_json(l->initialize, '{') &&
	    (l->tools.n == 0 || is_tools(l->tools));
}

/* Reads the file, and its age in seconds. Returns false if there is none, or if
 * it is damaged. */
static bool
read_lines(const struct entry *e, int dir, struct buf *text, struct lines *l,
    int64_t *age)
{
	int fd = file_open(dir, e->name, false);
	int rc = fd < 0 ? -1 : file_get(fd, BOUND_INPUTS_BYTES, text);

	*age = rc < 0 ? 0 : file_age(fd);
	if (rc < 0 && errno != ENOENT)
		log_debug("cannot read the startup cache %s: %s", e->name,
		    strerror(errno));
	file_close(fd);
	if (rc < 0 || find_lines(e, buf_span(text), l))
		return rc == 0;
	log_debug("not using the startup cache %s: it is %s", e->name,
	    l->of_another ? "another user's" : "damaged");
	return false;
}

bool
startup_cache_load(const struct startup_cache *m, struct startup_client client,
    struct buf *initialize, struct buf *tools)
{
	struct entry e;
	struct lines l;
	struct buf text = { 0 };
	int64_t age;
	bool found;
	int dir;

	if (m == NULL || !find_entry(&e, m, client))
		return false;
	dir = open_folder(m, false);
	if (dir < 0)
		return false;
	found = !is_newer(dir, e.name, START_FORMAT) &&
	    read_lines(&e, dir, &text, &l, &age);
	file_close(dir);
	if (found) {
		buf_addspan(initialize, l.initialize);
		buf_addspan(tools, l.tools);
	}
	buf_free(&text);
	return found;
}

/* Adds JSON as one line: a line break can only stand between tokens, so it
 * becomes a blank. */
static void
add_line(struct buf *out, struct span json)
{
	size_t i, from = out->n;

	buf_addspan(out, json);
	for (i = from; i < out->n; i++)
		if (out->p[i] == '\n' || out->p[i] == '\r')
			out->p[i] = ' ';
	buf_addc(out, '\n');
}

/* Makes the text of the whole file. Returns 0, or -1. */
static int
compose(const struct entry *e, struct lines l, struct buf *out)
{
	struct buf rest = { 0 };
	int rc;

	add_line(&rest, l.initialize);
	add_line(&rest, l.tools);
	rc = add_head(e, buf_span(&rest), out);
	buf_addspan(out, buf_span(&rest));
	buf_free(&rest);
	return rc;
}

/* Is json, made into one line, the same as line? */
static bool
same_line(struct span json, struct span line)
{
	struct buf b = { 0 };
	bool same;

	add_line(&b, json);
	b.n--;
	same = span_eq(buf_span(&b), line);
	buf_free(&b);
	return same;
}

static void
trim(int dir)
{
	file_sweep(dir);
	file_trim(dir, BOUND_SOME, BOUND_ALL_BYTES,
	    (int64_t)BOUND_CACHE_OLD_DAYS * DAY_S);
}

/* --- saving --- */

/* If the result of initialize alone is too large, the old file is removed,
 * because it is not the latest any more. */
static int
replace(const struct entry *e, int dir, struct span fresh)
{
	if (fresh.n > BOUND_INPUTS_BYTES) {
		os_file_remove(dir, e->name);
		errno = EFBIG;
		return -1;
	}
	return file_write(dir, e->name, fresh, false);
}

static void
save_in(const struct entry *e, int dir, struct lines l)
{
	struct buf old = { 0 }, fresh = { 0 };
	struct lines was;
	int64_t age;
	bool known;
	int rc;

	known = read_lines(e, dir, &old, &was, &age);
	if (l.tools.n == 0 && known && same_line(l.initialize, was.initialize))
		l.tools = was.tools;
	rc = compose(e, l, &fresh);
	if (rc == 0 && fresh.n > BOUND_INPUTS_BYTES && l.tools.n > 0) {
		l.tools.n = 0;
		buf_reset(&fresh);
		rc = compose(e, l, &fresh);
	}
	if (rc == 0 &&
	    (age > FRESH_S || !span_eq(buf_span(&old), buf_span(&fresh))) &&
	    replace(e, dir, buf_span(&fresh)) < 0)
		log_debug("cannot write the startup cache %s: %s", e->name,
		    strerror(errno));
	buf_free(&old);
	buf_free(&fresh);
}

void
startup_cache_save(const struct startup_cache *m, struct startup_client client,
    struct span initialize, struct span tools)
{
	struct lines l = { initialize, tools, false };
	struct entry e;
	int dir;

	if (m == NULL || !is_json(initialize, '{') ||
	    !find_entry(&e, m, client))
		return;
	if (tools.n > 0 && !is_tools(tools))
		l.tools.n = 0;
	dir = open_folder(m, true);
	if (dir < 0)
		return;
	if (!is_newer(dir, e.name, START_FORMAT))
		save_in(&e, dir, l);
	trim(dir);
	file_close(dir);
}

/* --- what is forgotten --- */

struct forgetting {
	int dir;
	char host[PROFILE_HOST_BYTES];
};

static bool
forget_one(const char *name, void *arg)
{
	const struct forgetting *f = arg;
	size_t n = strlen(f->host);

	if (strncmp(name, f->host, n) == 0 && name[n] == '-' &&
	    strspn(name + n + 1, "0123456789abcdef") == PROFILE_HEX &&
	    name[n + 1 + PROFILE_HEX] == '-' &&
	    !is_newer(f->dir, name, START_FORMAT))
		os_file_remove(f->dir, name);
	return true;
}

void
startup_cache_forget(const char *home, const char *host)
{
	struct forgetting f;
	char *why = NULL;

	url_host_name(f.host, sizeof f.host, host);
	f.dir = file_dir(home, STARTUP_CACHE_FOLDER, false, &why);
	free(why);
	if (f.dir < 0)
		return;
	os_folder_list(f.dir, SIZE_MAX, forget_one, &f);
	file_close(f.dir);
}

/* --- the era --- */

/* Makes the text of the file for an era. */
static void
compose_era(const struct startup_cache *m, enum cached_era era, struct buf *out)
{
	static const char *const words[] = { [CACHED_LEGACY] = "legacy",
		[CACHED_SSE] = "sse",
		[CACHED_MODERN] = "modern" };

	buf_reset(out);
	buf_addf(out, TITLE "%d,\"key\":\"%s\",\"era\":\"%s\"}\n", ERA_FORMAT,
	    m->profile.hash, words[era]);
}

/* Finds the era in the text of a file; CACHED_NO_ERA: it is not valid. */
static enum cached_era
find_era(const struct startup_cache *m, struct span text)
{
	enum cached_era era = CACHED_MODERN;
	struct buf b = { 0 };

	for (; era > CACHED_NO_ERA; era--) {
		compose_era(m, era, &b);
		if (span_eq(buf_span(&b), text))
			break;
	}
	buf_free(&b);
	return era;
}

/* A file from the future, as after a clock was set back, is not fresh: it would
 * stay fresh for too long. A second is allowed, because time() may lag a little
 * behind the clock that stamps the files. */
static bool
is_fresh(enum cached_era era, int64_t age)
{
	return era == CACHED_MODERN || (age >= -1 && age < BOUND_DAY_MS / 1000);
}

/* Reads the era; CACHED_NO_ERA if there is none, or if it is too old. */
static enum cached_era
read_era(const struct startup_cache *m, int dir)
{
	enum cached_era era = CACHED_NO_ERA;
	struct buf text = { 0 };
	int fd = file_open(dir, m->era, false);

	if (fd >= 0 && file_get(fd, BOUND_HEADER_NAME_BYTES, &text) == 0) {
		era = find_era(m, buf_span(&text));
		if (era == CACHED_NO_ERA)
			log_debug("not using the server's version from %s: it "
				  "is damaged",
			    m->era);
		else if (!is_fresh(era, file_age(fd)))
			era = CACHED_NO_ERA;
	} else if (errno != ENOENT) {
		log_debug("cannot read the server's version from %s: %s",
		    m->era, strerror(errno));
	}
	file_close(fd);
	buf_free(&text);
	return era;
}

enum cached_era
startup_cache_load_era(const struct startup_cache *m)
{
	enum cached_era era = CACHED_NO_ERA;
	int dir = m == NULL ? -1 : open_folder(m, false);

	if (dir < 0)
		return era;
	if (!is_newer(dir, m->era, ERA_FORMAT))
		era = read_era(m, dir);
	file_close(dir);
	return era;
}

static void
write_era(const struct startup_cache *m, int dir, enum cached_era era)
{
	struct buf b = { 0 };

	compose_era(m, era, &b);
	if (file_write(dir, m->era, buf_span(&b), false) < 0)
		log_debug("cannot write the server's version to %s: %s", m->era,
		    strerror(errno));
	buf_free(&b);
	trim(dir);
}

void
startup_cache_save_era(const struct startup_cache *m, enum cached_era era)
{
	int dir = m == NULL ? -1 : open_folder(m, era != CACHED_NO_ERA);

	if (dir < 0)
		return;
	if (!is_newer(dir, m->era, ERA_FORMAT)) {
		if (era == CACHED_NO_ERA)
			os_file_remove(dir, m->era);
		else if (read_era(m, dir) != era)
			write_era(m, dir, era);
	}
	file_close(dir);
}

/* --- the state cache: collects changes --- */

enum { CACHED_START_MS = 100, STALE_SESSIONS_AT_ONCE = 8 };

struct state_cache {
	struct startup_cache *startup_cache;
	struct stale_sessions *stale_sessions;
	struct loop_timer *keep_timer, *cache_timer;
	stale_session_cb *stale_session;
	start_valid_cb *start_valid;
	void *arg;
	/* changes that are not written yet */
	bool has_session, has_start, has_era;
	enum cached_era era;
	struct buf session, session_version;
	struct buf version, capabilities, whose, result, tools;
	bool looked; /* stale sessions were looked for, which is done once */
};

static void
write_cache(struct state_cache *k)
{
	if (k->has_start && k->start_valid(buf_span(&k->whose), k->arg))
		startup_cache_save(k->startup_cache,
		    (struct startup_client){ buf_span(&k->version),
			buf_span(&k->capabilities), buf_span(&k->whose) },
		    buf_span(&k->result), buf_span(&k->tools));
	if (k->has_era)
		startup_cache_save_era(k->startup_cache, k->era);
	k->has_start = k->has_era = false;
}

static void
on_cache(void *arg)
{
	write_cache(arg);
}

static void
on_keep(void *arg)
{
	struct state_cache *k = arg;

	k->has_session = false;
	stale_sessions_save(k->stale_sessions, buf_span(&k->session),
	    buf_span(&k->session_version));
	if (k->session.n == 0 || k->looked)
		return;
	k->looked = true;
	stale_sessions_take(k->stale_sessions, STALE_SESSIONS_AT_ONCE,
	    k->stale_session, k->arg);
}

struct state_cache *
state_cache_new(struct loop *l, const char *home, const struct profile *profile,
    stale_session_cb *stale_session, start_valid_cb *start_valid, void *arg)
{
	struct state_cache *k = xcalloc(1, sizeof *k);

	k->startup_cache = startup_cache_new(home, profile);
	k->stale_sessions = stale_sessions_new(home, profile);
	k->keep_timer = loop_timer_new(l, on_keep, k);
	k->cache_timer = loop_timer_new(l, on_cache, k);
	k->stale_session = stale_session;
	k->start_valid = start_valid;
	k->arg = arg;
	return k;
}

void
state_cache_free(struct state_cache *k)
{
	if (k == NULL)
		return;
	write_cache(k);
	/* A session that ended must not be found by the next start. */
	if (k->has_session && k->looked)
		stale_sessions_save(k->stale_sessions, buf_span(&k->session),
		    buf_span(&k->session_version));
	startup_cache_free(k->startup_cache);
	stale_sessions_free(k->stale_sessions);
	loop_timer_free(k->keep_timer);
	loop_timer_free(k->cache_timer);
	buf_free(&k->session);
	buf_free(&k->session_version);
	buf_free(&k->version);
	buf_free(&k->capabilities);
	buf_wipe(&k->whose);
	buf_free(&k->result);
	buf_free(&k->tools);
	free(k);
}

bool
state_cache_load_start(struct state_cache *k, struct startup_client client,
    struct buf *result, struct buf *tools)
{
	return k != NULL &&
	    startup_cache_load(k->startup_cache, client, result, tools);
}

static void
put(struct buf *b, struct span text)
{
	buf_reset(b);
	buf_addspan(b, text);
}

void
state_cache_save_start(struct state_cache *k, struct startup_client client,
    struct span result, struct span tools)
{
	if (k == NULL)
		return;
	put(&k->version, client.version);
	put(&k->capabilities, client.capabilities);
	buf_wipe(&k->whose);
	put(&k->whose, client.whose);
	put(&k->result, result);
	put(&k->tools, tools);
	k->has_start = true;
	loop_timer_set(k->cache_timer, CACHED_START_MS);
}

enum cached_era
state_cache_load_era(struct state_cache *k)
{
	if (k == NULL)
		return CACHED_NO_ERA;
	return k->has_era ? k->era : startup_cache_load_era(k->startup_cache);
}

void
state_cache_save_era(struct state_cache *k, enum cached_era era)
{
	if (k == NULL)
		return;
	k->era = era;
	k->has_era = true;
	loop_timer_set(k->cache_timer, CACHED_START_MS);
}

void
state_cache_save_session(struct state_cache *k, struct span session,
    struct span version)
{
	if (k == NULL)
		return;
	put(&k->session, session);
	put(&k->session_version, version);
	k->has_session = true;
	/* Written in the next turn, when the answer to the client is already on
	 * its way. */
	loop_timer_set(k->keep_timer, 0);
}

bool
state_cache_newer_peer(struct state_cache *k)
{
	return k != NULL && stale_sessions_newer_peer(k->stale_sessions);
}
