/*
 * The state cache: what is kept on disk for the next start. That is the startup
 * cache, the server's era, and the session, which the next start ends if this
 * process cannot. Changes are written a moment later, so that they do not delay
 * messages.
 */
#ifndef MCPSPLICE_PROXY_CACHE_STATE_CACHE_H
#define MCPSPLICE_PROXY_CACHE_STATE_CACHE_H

#include "io/loop.h"
#include "proxy/cache/stale_sessions.h"
#include "proxy/cache/startup_cache.h"

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
/* Gets the server's era, see startup_cache.h. Returns false, and sets nothing,
 * if none is known or it is too old. */
bool state_cache_load_era(struct state_cache *k, bool *modern, bool *sse);
/* Stores the era, a moment later. */
void state_cache_save_era(struct state_cache *k, bool modern, bool sse);
/* Forgets the era, which proved wrong, when no better one is known. */
void state_cache_forget_era(struct state_cache *k);
/* Notes the current session; empty: there is none. */
void state_cache_save_session(struct state_cache *k, struct span session,
    struct span version);
/* Has another living process of this profile a newer session? */
bool state_cache_newer_peer(struct state_cache *k);

#endif
