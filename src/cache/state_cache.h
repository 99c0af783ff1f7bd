/*
 * What is kept on disk for the next start: the memory of the start and of the
 * server's era, and the session, to be ended if this process cannot. Written a
 * moment later, off the way of the messages.
 */
#ifndef MCPSPLICE_CACHE_STATE_CACHE_H
#define MCPSPLICE_CACHE_STATE_CACHE_H

#include "cache/stale_sessions.h"
#include "io/loop.h"

struct keepsakes;

/* All functions below take NULL for a cache that is off. orphan is called for sessions that others left behind, once there is
 * one of our own. */
struct keepsakes *keepsakes_new(struct loop *l, const char *home,
    const struct profile *profile, orphans_cb *orphan, void *arg);
/* Writes what waits to be written. */
void keepsakes_free(struct keepsakes *k);

/* What is remembered of a start whose client asked for this version (raw
 * JSON): appends raw JSON; tools may stay empty. Returns false when there is
 * nothing. */
bool keepsakes_recall(struct keepsakes *k, struct span version,
    struct buf *result, struct buf *tools);
void keepsakes_remember(struct keepsakes *k, struct span version,
    struct span result, struct span tools);
/* The server's era, see memory.h. false, and nothing set, when none is known
 * that can be believed still. */
bool keepsakes_recall_era(struct keepsakes *k, bool *modern, bool *sse);
void keepsakes_note_era(struct keepsakes *k, bool modern, bool sse);
/* What was remembered of it is wrong, and nothing better is known. */
void keepsakes_forget_era(struct keepsakes *k);
/* The session of now; an empty one: there is none. */
void keepsakes_keep(struct keepsakes *k, struct span session,
    struct span version);
/* Has another living process of this profile a newer session? */
bool keepsakes_rival(struct keepsakes *k);

#endif
