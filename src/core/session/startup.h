/* A start without the server, from the startup cache. */
#ifndef MCPSPLICE_CORE_SESSION_STARTUP_H
#define MCPSPLICE_CORE_SESSION_STARTUP_H

#include "core/session/state.h"

/* Asks for what is cached of a former start. */
void session_load_start(struct session *s);
/* The answer to ACTION_LOAD_START. */
void session_cached_start(struct session *s, const struct session_input *in);
/* The start was good: it is cached. */
void session_save_start(struct session *s);
/* Answers the client from the cache where it can. f tells why there is no
 * server: NULL when it is slow. Returns false when it cannot, or should
 * not. */
bool session_start_from_cache(struct session *s, const struct facts *f);
/* The answer to this request from the cache; NULL: none. Owned by the
 * caller. */
struct frame *session_cached_answer(struct session *s, struct frame *request);

#endif
