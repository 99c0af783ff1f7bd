/*
 * The memory of the start: what the server answered to initialize and to
 * tools/list the last time, for when it is down, and which era it was of. Two
 * files for each profile in HOME/.cache/mcpsplice. It is a convenience: what
 * goes wrong is one line of debug, never more, and a file that is not exactly
 * what was written is no memory.
 */
#ifndef MCPSPLICE_CACHE_STARTUP_CACHE_H
#define MCPSPLICE_CACHE_STARTUP_CACHE_H

#include "cache/profile.h"

struct startup_cache;

/* Touches no disk yet. home may be NULL, as HOME may: then it is off, and
 * NULL, which all below take. The profile is copied. */
struct startup_cache *startup_cache_new(const char *home,
    const struct profile *profile);
void startup_cache_free(struct startup_cache *m);

/* All spans are raw JSON: the client's protocolVersion (a string), the result
 * of initialize (an object) and that of tools/list (an object with an array
 * "tools"), or empty. Line breaks between tokens come back as blanks. */

/* Appends what is remembered for a client that asks for this version; nothing
 * to tools when only initialize is known. false, and nothing appended, when
 * there is no such memory. */
bool startup_cache_load(const struct startup_cache *m, struct span requested,
    struct buf *initialize, struct buf *tools);
/* Writes when it differs from what is there. Without tools those of the file
 * are kept while initialize is the same. What is no such JSON, or over 8 MiB,
 * is not written; tools that are too big are left out. */
void startup_cache_save(const struct startup_cache *m, struct span requested,
    struct span initialize, struct span tools);

/* The server's era: modern, or legacy, and then with HTTP+SSE or without. A
 * server that became modern may answer legacy requests all the same, so that
 * nobody would notice: legacy is believed for a day only. A wrong modern
 * comes out by itself. */
#define STARTUP_CACHE_LEGACY_S (24 * 60 * 60)

/* false, and nothing set, when none is remembered or it is too old. */
bool startup_cache_load_era(const struct startup_cache *m, bool *modern,
    bool *sse);
/* Writes when it differs from what is there, or that is too old: what is
 * found again every hour ages all the same. */
void startup_cache_save_era(const struct startup_cache *m, bool modern,
    bool sse);
void startup_cache_forget_era(const struct startup_cache *m);

#endif
