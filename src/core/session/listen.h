/* The GET stream of the session. */
#ifndef MCPSPLICE_CORE_SESSION_LISTEN_H
#define MCPSPLICE_CORE_SESSION_LISTEN_H

#include "core/session/state.h"

/* Opens it for a session that is new, unless the server has none. */
void session_listen_open(struct session *s);
/* Closes it, until session_listen_open. */
void session_listen_close(struct session *s);
/* The head of its answer came. */
void session_listen_head(struct session *s, const struct facts *f);
/* It delivered something. */
void session_listen_event(struct session *s);
/* Opens it again after the back-off. */
void session_listen_again(struct session *s);
/* Opens it if that is due. */
void session_listen_tick(struct session *s);
/* What the ping found out for a stream that was refused. */
void session_listen_pinged(struct session *s, bool lost);
/* The connection may be dead without knowing it: opened again. */
void session_listen_wake(struct session *s);
/* There are new credentials. */
void session_listen_signed_in(struct session *s);

#endif
