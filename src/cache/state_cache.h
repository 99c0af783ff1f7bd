/*
 * What is kept on disk for the next start: the memory of the start and of the
 * server's era, and the session, to be ended if this process cannot. Written a
 * moment later, off the way of the messages.
 */
#ifndef MCPSPLICE_CACHE_STATE_CACHE_H
#define MCPSPLICE_CACHE_STATE_CACHE_H

#include "cache/stale_sessions.h"
#include "io/loop.h"

struct state_cache;

/* All functions below take NULL for a cache that is off. stale session is
 * called for sessions that others left behind, once there is one of our own. */
struct state_cache *state_cache_new(struct loop *l, const char *home,
    const struct profile *profile, stale_session_cb *stale_session, void *arg);
/* Writes what waits to be written. */
void state_cache_free(struct state_cache *k);

/* What is remembered of a start whose client asked for this version (raw
 * JSON): appends raw JSON; tools may stay empty. Returns false when there is
 * nothing. */
bool state_cache_load_start(struct state_cache *k, struct span version,
    struct buf *result, struct buf *tools);
void state_cache_save_start(struct state_cache *k, struct span version,
    struct span result, struct span tools);
/* The server's era, see startup_cache.h. false, and nothing set, when none is
 * known that can be believed still. */
bool state_cache_load_era(struct state_cache *k, bool *modern, bool *sse);
void state_cache_save_era(struct state_cache *k, bool modern, bool sse);
/* What was remembered of it is wrong, and nothing better is known. */
void state_cache_forget_era(struct state_cache *k);
/* The session of now; an empty one: there is none. */
void state_cache_save_session(struct state_cache *k, struct span session,
    struct span version);
/* Has another living process of this profile a newer session? */
bool state_cache_newer_peer(struct state_cache *k);

#endif
