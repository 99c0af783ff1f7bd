/* The end of a session at the server, and the end of the program. */
#ifndef MCPSPLICE_CORE_SESSION_END_H
#define MCPSPLICE_CORE_SESSION_END_H

#include "core/session/state.h"

/* Closes the session: sends a DELETE if the server has a session, and aborts
 * all other exchanges. */
void session_close(struct session *s);
/* Enters PHASE_ENDED unless a DELETE is still under way, or an initialize,
 * whose session would be left behind. */
void session_closed(struct session *s);

/* stdin has reached its end: answers the open questions for the client, and
 * begins the drain. */
void session_eof(struct session *s);
/* Called at the end of each step after EOF: closes the session when the client
 * waits for nothing, and the server is owed nothing. */
void session_drain(struct session *s);
/* Ends the wait for notifications and answers when ALARM_LAST is due. */
void session_last_tick(struct session *s);
/* A signal came or the parent process is gone: gives each call an error and
 * closes the session. */
void session_stop(struct session *s);
/* Nobody reads stdout: drops all calls and closes the session. */
void session_broken(struct session *s);
/* Deletes a session that an earlier process left behind. */
void session_end_stale(struct session *s, const struct event *in);

#endif
