/*
 * Sessions that a killed process left behind on the server. Each process
 * notes its session in a file of its own in
 * HOME/.local/state/mcpsplice/sessions and holds a lock on it for as long as
 * it lives; the system drops the lock, however the process ends. A file whose
 * lock can be had is a stale session's: the next start with the same profile
 * ends that session. What goes wrong is one line of debug, never more.
 */
#ifndef MCPSPLICE_CACHE_STALE_SESSIONS_H
#define MCPSPLICE_CACHE_STALE_SESSIONS_H

#include "cache/profile.h"

struct stale_sessions;

/* Touches no disk before one of the calls below. home may be NULL, as HOME
 * may: then it is off, and NULL, which all below take. */
struct stale_sessions *stale_sessions_new(const char *home,
    const struct profile *profile);
/* Removes our file if no session is noted; else the next start finds it. */
void stale_sessions_free(struct stale_sessions *o);

/* Notes the session of this process, in place of the one before. An empty
 * one: there is none (it was deleted, or is lost); so is an id of over 1024
 * bytes or of others than 0x21 to 0x7e. version: what the header said. */
void stale_sessions_save(struct stale_sessions *o, struct span session,
    struct span version);

/* Calls each for at most max sessions of this profile whose processes are
 * gone, each for one process only, and forgets them. The spans last as long
 * as the call. Files of other profiles go after 7 days, torn ones after a
 * minute. */
typedef void stale_session_cb(struct span session, struct span version,
    void *arg);
void stale_sessions_take(struct stale_sessions *o, size_t max,
    stale_session_cb *each, void *arg);

/* Has another process of this profile, which is alive, a session that began
 * after our latest one did? Of two, exactly one is the later. false when we
 * never had one. */
bool stale_sessions_newer_peer(const struct stale_sessions *o);

#endif
