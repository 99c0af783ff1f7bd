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

#include "proxy/cache/profile.h"

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

/* The server's era: modern, or legacy, and then with HTTP+SSE or without. A
 * server that became modern may still answer legacy requests, so the change
 * would not be noticed: legacy is believed for a day only. A wrong "modern"
 * shows itself at once. */

/* Returns false, and sets nothing, if no era is stored or it is too old. */
bool startup_cache_load_era(const struct startup_cache *m, bool *modern,
    bool *sse);
/* Writes the era if it differs from the stored one, or that one is too old.
 * Storing the same era again does not make it younger. */
void startup_cache_save_era(const struct startup_cache *m, bool modern,
    bool sse);
/* Removes the file of the era. */
void startup_cache_forget_era(const struct startup_cache *m);

#endif
