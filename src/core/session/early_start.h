/* A start without the server: from the startup cache, or with the stand-in. */
#ifndef MCPSPLICE_CORE_SESSION_EARLY_START_H
#define MCPSPLICE_CORE_SESSION_EARLY_START_H

#include "core/session/state.h"

/* The client sent initialize: asks for the former start in the startup
 * cache. */
void session_begin_start(struct session *s);
/* Takes the answer to ACTION_LOAD_START. */
void session_cached_start(struct session *s, const struct event *in);
/* Puts the start, which was good, into the startup cache. */
void session_save_start(struct session *s);
/* Sets the alarm for a start without the server. */
void session_mind_start(struct session *s);
/* Returns the time at which an initialize fails that the server never got,
 * because of these facts; ALARM_NEVER: not because of them. */
int64_t session_start_fails_at(const struct session *s, const struct facts *f);
/* Does the client's initialize wait, has the startup cache an answer to it, and
 * is there nobody who could give another? */
bool session_start_is_hopeless(const struct session *s, const struct facts *f);
/* Answers the client's initialize without the server, if that is possible. f
 * tells why there is no server; NULL: the alarm is due. Returns false if there
 * is nothing to answer with, or the facts say that the server is not away. */
bool session_start_early(struct session *s, const struct facts *f);
/* If the time has come: the same, or the lists that waited for the server after
 * a start without it. */
void session_start_tick(struct session *s);

#endif
