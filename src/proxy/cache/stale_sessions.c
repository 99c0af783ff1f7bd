/*
 * A file is a record of lines: a title, the profile's hash, the time at which
 * the session began (wall clock, ms), its id, the version, and a SHA-256 over
 * all of that. It is written in place, because a new file moved over it would
 * not be the locked one. So a reader may see a half-written file, for example
 * after its process was killed: its sum is wrong. After the sum the end of a
 * longer, older record may remain.
 */
#include "config.h"

#include "proxy/cache/stale_sessions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/log.h"
#include "io/loop.h"
#include "io/private_file.h"
#include "os/clock.h"
#include "os/place.h"
#include "proxy/cache/own_file.h"

#define STALE_SESSIONS_FOLDER ".local/state/mcpsplice/sessions"
#define STALE_SESSIONS_TITLE "mcpsplice session "
#define STALE_SESSIONS_FORMAT 1
#define VERSION_MAX 64

struct stale_sessions {
	char *home;
	struct own_file file;
	struct profile profile;
	int64_t began_ms;  /* start of our latest session; 0: none */
	struct buf record; /* content of our file; empty: no session */
};

struct record {
	struct span hash;
	int64_t began_ms;
	struct span session;
	struct span version;
};

struct stale_sessions *
stale_sessions_new(const char *home, const struct profile *profile)
{
	struct stale_sessions *o;

	if (!os_path_absolute(home)) {
		log_debug(
		    "not recording sessions for the next start: %s is not set",
		    os_place_variable(OS_PLACE_DATA));
		return NULL;
	}
	o = xcalloc(1, sizeof *o);
	o->home = xstrdup(home);
	o->file = (struct own_file){ .home = o->home,
		.folder = STALE_SESSIONS_FOLDER,
		.lack = "not recording the session for the next start",
		.max_bytes = BOUND_NOTE_BYTES,
		.old_s = INT64_MAX,
		.fd = -1 };
	o->profile = *profile;
	return o;
}

/* Records */

static bool
is_valid(struct span session, struct span version)
{
	return session.n > 0 && session.n <= BOUND_HEADER_BYTES &&
	    span_is_printable(session, '!') && version.n <= VERSION_MAX &&
	    span_is_printable(version, '!');
}

static int
add_record(struct buf *out, const struct record *r)
{
	char sum[PROFILE_HEX_BYTES];
	struct span all;

	buf_addf(out, STALE_SESSIONS_TITLE "%d\n%.*s\n%" PRId64 "\n",
	    STALE_SESSIONS_FORMAT, (int)r->hash.n, r->hash.p, r->began_ms);
	buf_addspan(out, r->session);
	buf_addc(out, '\n');
	buf_addspan(out, r->version);
	buf_addc(out, '\n');
	all = buf_span(out);
	if (profile_digest(sum, &all, 1) < 0)
		return -1;
	return buf_addf(out, "%s\n", sum);
}

/* Reads a record. It is valid if add_record would write exactly the same
 * bytes. */
static bool
parse_record(struct span text, struct record *r)
{
	struct span from = text, title, began;
	struct buf b = { 0 };
	bool same;

	if (!file_line(&text, &title) || !file_line(&text, &r->hash) ||
	    !file_line(&text, &began) || !file_line(&text, &r->session) ||
	    !file_line(&text, &r->version) || !is_valid(r->session, r->version))
		return false;
	r->began_ms = span_number(began);
	same = add_record(&b, r) == 0 && from.n >= b.n &&
	    memcmp(from.p, b.p, b.n) == 0;
	buf_free(&b);
	return same;
}

static bool
read_record(int fd, struct buf *text, struct record *r)
{
	return file_get(fd, BOUND_NOTE_BYTES, text) == 0 &&
	    parse_record(buf_span(text), r);
}

static bool
is_ours(const struct stale_sessions *o, const struct record *r)
{
	return span_is(r->hash, o->profile.hash);
}

/* Our own file */

/* Writes the record. If that fails the file is removed, because an old record
 * would be wrong now. */
static void
write_record(struct stale_sessions *o)
{
	if (o->file.fd < 0 || file_put(o->file.fd, buf_span(&o->record)) == 0)
		return;
	log_debug("%s: %s", o->file.lack, strerror(errno));
	own_file_end(&o->file, true);
}

/* Does our file name this session already? */
static bool
is_kept(const struct stale_sessions *o, struct span session,
    struct span version)
{
	struct record was;

	return o->file.fd >= 0 && file_linked(o->file.fd) &&
	    parse_record(buf_span(&o->record), &was) &&
	    span_eq(was.session, session) && span_eq(was.version, version);
}

void
stale_sessions_save(struct stale_sessions *o, struct span session,
    struct span version)
{
	struct record r = { .session = session, .version = version };

	if (o == NULL || is_kept(o, session, version))
		return;
	buf_reset(&o->record);
	if (is_valid(session, version)) {
		o->began_ms = r.began_ms = os_clock_us(OS_CLOCK_WALL) / 1000;
		r.hash = span_of(o->profile.hash);
		if (add_record(&o->record, &r) < 0)
			buf_reset(&o->record);
		else if (own_file_hold(&o->file) < 0)
			return;
	}
	write_record(o);
}

void
stale_sessions_free(struct stale_sessions *o)
{
	if (o == NULL)
		return;
	own_file_end(&o->file, o->record.n == 0);
	buf_free(&o->record);
	free(o->home);
	free(o);
}

/* The files of others */

struct taking {
	const struct stale_sessions *o;
	size_t left;
	stale_session_cb *each;
	void *arg;
};

/* Handles a file without a process. Another process may have seen the file too,
 * but only one of them succeeds in removing it. */
static void
judge(struct taking *t, int dir, const char *name, int fd)
{
	int64_t age = file_age(fd), most = BOUND_WEEK_MS / 1000;
	struct buf text = { 0 };
	bool ours = false;
	struct record r;

	/* whose session a newer mcpsplice has there cannot be known */
	if (!format_is_newer(fd, STALE_SESSIONS_TITLE, STALE_SESSIONS_FORMAT)) {
		if (read_record(fd, &text, &r))
			ours = is_ours(t->o, &r);
		else
			most = BOUND_MINUTE_MS / 1000;
	}
	if ((ours || age > most) && os_file_remove(dir, name) == 0 && ours) {
		t->left--;
		t->each(r.session, r.version, t->arg);
	}
	buf_free(&text);
}

static bool
take_one(int dir, const char *name, int fd, void *arg)
{
	struct taking *t = arg;

	if (os_file_lock(fd) == 0)
		judge(t, dir, name, fd);
	return t->left > 0;
}

void
stale_sessions_take(struct stale_sessions *o, size_t max,
    stale_session_cb *each, void *arg)
{
	struct taking t = { o, max, each, arg };

	if (o != NULL && max > 0)
		own_files_each(&o->file, take_one, &t);
}

struct looking {
	const struct stale_sessions *o;
	bool found;
};

/* Is the session of r later than ours? With the same millisecond the name
 * decides. */
static bool
is_later(const struct stale_sessions *o, const struct record *r,
    const char *name)
{
	return r->began_ms > o->began_ms ||
	    (r->began_ms == o->began_ms && strcmp(name, o->file.name) > 0);
}

/* Takes the lock only of a file that names a later session, because holding the
 * lock blocks a process that wants to take the file. */
static bool
look_at_one(int dir, const char *name, int fd, void *arg)
{
	struct looking *look = arg;
	struct buf text = { 0 };
	struct record r;

	(void)dir;
	look->found = read_record(fd, &text, &r) && is_ours(look->o, &r) &&
	    is_later(look->o, &r, name) && os_file_lock(fd) < 0 &&
	    errno == EWOULDBLOCK;
	buf_free(&text);
	return !look->found;
}

bool
stale_sessions_newer_peer(const struct stale_sessions *o)
{
	struct looking look = { .o = o };

	if (o != NULL && o->began_ms > 0)
		own_files_each(&o->file, look_at_one, &look);
	return look.found;
}
