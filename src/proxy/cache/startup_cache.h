/*
 * The startup cache: the server's latest answers to initialize and tools/list,
 * for a start when the server is down, and the server's era. For each profile
 * there are a file for the era and one for each kind of client, in
 * HOME/.cache/mcpsplice. The cache is only a convenience: a failure is one
 * debug line and has no other effect, and a file that is not exactly as
 * mcpsplice wrote it is not used.
 */
#ifndef MCPSPLICE_PROXY_CACHE_STARTUP_CACHE_H
#define MCPSPLICE_PROXY_CACHE_STARTUP_CACHE_H

#include "io/loop.h"
#include "proxy/cache/stale_sessions.h"

struct startup_cache;

/* Makes the object, which the caller owns, without touching the disk. home may
 * be NULL, as HOME may: then nothing is cached and NULL is returned, which all
 * functions below take. The profile is copied. */
struct startup_cache *startup_cache_new(const char *home,
    const struct profile *profile);
/* Frees m; the files stay. */
void startup_cache_free(struct startup_cache *m);

/* All spans are raw JSON: the result of initialize (an object) and that of
 * tools/list (an object with an array "tools"), or empty. Line breaks between
 * tokens come back as blanks. */

/* A kind of client: what the server's answers depend on. */
struct startup_client {
	struct span version, capabilities;
	struct span whose; /* tells the user whom the server knows; n 0: nobody.
			    * Only its hash is kept. */
};

/* Appends the cached results for such a client; tools stays as it is if only
 * initialize is known. Returns false, and appends nothing, if there is no such
 * entry, or if it is of another user. */
bool startup_cache_load(const struct startup_cache *m,
    struct startup_client client, struct buf *initialize, struct buf *tools);
/* Writes the file if it differs, or was not written for a day. If tools is
 * empty, those of the file are kept as long as the result of initialize is the
 * same. Text that is not such JSON, or over BOUND_INPUTS_BYTES, is not written;
 * tools that are too large are left out. Then the oldest files of the folder are
 * removed, until it is within its bounds; so does startup_cache_save_era. */
void startup_cache_save(const struct startup_cache *m,
    struct startup_client client, struct span initialize, struct span tools);

/* Removes the answers of all servers with this host, for all clients. */
void startup_cache_forget(const char *home, const char *host);

/* The server's era. A server that became modern may still answer legacy
 * requests, so the change would not be noticed: legacy is believed for a day
 * only. A wrong "modern" shows itself at once. */
enum cached_era {
	CACHED_NO_ERA, /* none is known, or it is too old */
	CACHED_LEGACY,
	CACHED_SSE, /* legacy, with HTTP+SSE */
	CACHED_MODERN
};

enum cached_era startup_cache_load_era(const struct startup_cache *m);
/* Writes the era if it differs from the stored one, or that one is too old.
 * Storing the same era again does not make it younger. With CACHED_NO_ERA the
 * file is removed. */
void startup_cache_save_era(const struct startup_cache *m, enum cached_era era);

/*
 * The state cache: what is kept on disk for the next start. That is the startup
 * cache, the server's era, and the session, which the next start ends if this
 * process cannot. Changes are written a moment later, so that they do not delay
 * messages.
 */
struct state_cache;

/* Is a start of this user still to be written? The user may have signed out
 * since it was stored. */
typedef bool start_valid_cb(struct span whose, void *arg);

/* Makes the cache, which the caller owns. All functions below take NULL for a
 * cache that is off. stale_session is called for sessions that other processes
 * left behind, once this process has a session. */
struct state_cache *state_cache_new(struct loop *l, const char *home,
    const struct profile *profile, stale_session_cb *stale_session,
    start_valid_cb *start_valid, void *arg);
/* Writes the changes that are not written yet, and frees the cache. */
void state_cache_free(struct state_cache *k);

/* Appends the cached start of such a client (see startup_cache.h) as raw JSON;
 * tools may stay empty. Returns false if there is none. */
bool state_cache_load_start(struct state_cache *k, struct startup_client client,
    struct buf *result, struct buf *tools);
/* Stores such a start, a moment later. */
void state_cache_save_start(struct state_cache *k, struct startup_client client,
    struct span result, struct span tools);
enum cached_era state_cache_load_era(struct state_cache *k);
/* Stores the era, a moment later; CACHED_NO_ERA: the one that was known proved
 * wrong. */
void state_cache_save_era(struct state_cache *k, enum cached_era era);
/* Notes the current session; empty: there is none. */
void state_cache_save_session(struct state_cache *k, struct span session,
    struct span version);
/* Has another living process of this profile a newer session? */
bool state_cache_newer_peer(struct state_cache *k);

#endif
