/*
 * Stale sessions: sessions that a killed process left behind on the server.
 * Each process notes its session in a file of its own in
 * HOME/.local/state/mcpsplice/sessions and locks the file for as long as it
 * lives; the system drops the lock in any case when the process ends. If the
 * lock of a file can be had, its session is stale, and the next start with the
 * same profile ends that session. A failure is one debug line and has no other
 * effect.
 */
#ifndef MCPSPLICE_PROXY_CACHE_STALE_SESSIONS_H
#define MCPSPLICE_PROXY_CACHE_STALE_SESSIONS_H

#include "proxy/cache/profile.h"

struct stale_sessions;

/* Makes the object, which the caller owns, without touching the disk. home may
 * be NULL, as HOME may: then nothing is kept and NULL is returned, which all
 * functions below take. */
struct stale_sessions *stale_sessions_new(const char *home,
    const struct profile *profile);
/* Removes our file if no session is noted; else the next start finds it. */
void stale_sessions_free(struct stale_sessions *o);

/* Notes the session of this process in place of the one before. An empty
 * session means that there is none (it was deleted, or is lost); so does an id
 * of more than 1024 bytes or with bytes other than 0x21 to 0x7e. version: the
 * value of its header. */
void stale_sessions_save(struct stale_sessions *o, struct span session,
    struct span version);

/* Calls each for at most max sessions of this profile that have no process any
 * more, and forgets them; only one process gets each session. The spans are
 * valid in the call. Files of other profiles, and those of a newer mcpsplice,
 * are removed after 7 days, torn ones after a minute. */
typedef void stale_session_cb(struct span session, struct span version,
    void *arg);
void stale_sessions_take(struct stale_sessions *o, size_t max,
    stale_session_cb *each, void *arg);

/* Has another living process of this profile a session that began after our
 * latest one? Of two processes, exactly one is the later. false if we never had
 * a session. */
bool stale_sessions_newer_peer(const struct stale_sessions *o);

#endif
