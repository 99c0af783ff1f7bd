/* The session becomes live: initialized, what a new session is told again, and
 * what the client is told then. */
#ifndef MCPSPLICE_CORE_SESSION_LIVE_H
#define MCPSPLICE_CORE_SESSION_LIVE_H

#include "core/session/state.h"

/* Which list_changed the server says it sends, in its answer to initialize. */
void session_learn_families(struct session *s, const struct frame *m);
/* Sends notifications/initialized. */
void session_begin_ready(struct session *s);
/* initialized was taken, or will not be. */
void session_readied(struct session *s);
/* Renewed for a client that has not said initialized. */
void session_reopened(struct session *s);

/* --- what a new session is told again --- */

/* Begins to tell the new session what the one before was told; false when
 * there is nothing. */
bool session_restore(struct session *s);
/* The result of one of these requests came. */
void session_restore_message(struct session *s, struct attempt *l);
/* The exchange of one is over. */
void session_restore_done(struct session *s, struct attempt *l,
    const struct facts *f);
/* All of it takes too long: goes on without. */
void session_restore_timeout(struct session *s);

/* Tells the client that lists and resources may have changed, if that is
 * due. */
void session_tell_changes(struct session *s);

#endif
