/* A start without the server, from the startup cache. */
#ifndef MCPSPLICE_CORE_SESSION_CACHED_START_H
#define MCPSPLICE_CORE_SESSION_CACHED_START_H

#include "core/session/state.h"

/* Asks for the former start in the startup cache. */
void session_load_start(struct session *s);
/* Takes the answer to ACTION_LOAD_START. */
void session_cached_start(struct session *s, const struct event *in);
/* Puts the start, which was good, into the startup cache. */
void session_save_start(struct session *s);
/* Answers the client's initialize from the startup cache. f tells why there is
 * no server; NULL: the server is slow. Returns false if the cache has no start,
 * or the facts say that the server is not away. */
bool session_start_from_cache(struct session *s, const struct facts *f);
/* The answer to this request from the startup cache, or NULL. Owned by the
 * caller. */
struct frame *session_cached_answer(struct session *s, struct frame *request);

#endif
