/* The end: of a session at the server, and of all. */
#ifndef MCPSPLICE_CORE_SESSION_END_H
#define MCPSPLICE_CORE_SESSION_END_H

#include "core/session/state.h"

/* Ends a session at the server; takes a second at most. */
void session_delete(struct session *s, struct generation *g);
/* Ends the session: DELETE where there is one, no other traffic. */
void session_close(struct session *s);
/* Ends the closing when no DELETE is under way any more, nor an initialize
 * whose session would be left behind. */
void session_closed(struct session *s);

/* stdin is at its end: what is open at the client is answered for it. */
void session_eof(struct session *s);
/* After EOF, at the end of a step: closes the session once nothing is awaited
 * or owed any more. */
void session_drain(struct session *s);
/* Notices that notifications and answers have had their time. */
void session_last_tick(struct session *s);
/* A signal, or the parent is gone: each call gets an error, then the end. */
void session_stop(struct session *s);
/* Nobody reads stdout: drops everything. */
void session_broken(struct session *s);
/* Ends a session that a process before us left behind. */
void session_end_stale(struct session *s, const struct session_input *in);

#endif
