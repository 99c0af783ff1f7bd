/* A session becomes live: initialized, the settings that are restored, and what
 * the client is told. */
#ifndef MCPSPLICE_CORE_SESSION_LIVE_H
#define MCPSPLICE_CORE_SESSION_LIVE_H

#include "core/session/state.h"

/* Notes which list_changed the server's answer to initialize declares. */
void session_learn_families(struct session *s, const struct frame *m);
/* Sends notifications/initialized. */
void session_begin_ready(struct session *s);
/* The server took initialized, or the wait for that is over. */
void session_readied(struct session *s);
/* The session was renewed for a client that has not said initialized. */
void session_reopened(struct session *s);

/* --- what a new session is told again --- */

/* Begins to restore the settings in a new session. Returns false if there are
 * none. */
bool session_restore(struct session *s);
/* A server that takes any session id, an unknown one too, may have begun anew
 * in this generation: sends the settings again, and tells the client that lists
 * and resources may have changed. */
void session_restore_again(struct session *s, const struct generation *g);
/* The result of an ATTEMPT_RESTORE came. */
void session_restore_message(struct session *s, struct attempt *l);
/* The exchange of an ATTEMPT_RESTORE is over. */
void session_restore_done(struct session *s, struct attempt *l,
    const struct facts *f);
/* The restoring takes too long: goes on without the rest. */
void session_restore_timeout(struct session *s);

/* Tells the client that lists and resources may have changed, if that is due;
 * sets ALARM_TELL otherwise. */
void session_tell_changes(struct session *s);

#endif
