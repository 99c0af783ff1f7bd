/* The listen stream: the GET stream of the session. */
#ifndef MCPSPLICE_CORE_SESSION_LISTEN_H
#define MCPSPLICE_CORE_SESSION_LISTEN_H

#include "core/session/state.h"

/* Opens the stream of a new session, unless the server has none. */
void session_listen_open(struct session *s);
/* Closes the stream until session_listen_open. */
void session_listen_close(struct session *s);
/* The head of the answer to the GET came. */
void session_listen_head(struct session *s, const struct facts *f);
/* The stream delivered something. */
void session_listen_event(struct session *s);
/* Opens the stream again after the back-off. */
void session_listen_again(struct session *s);
/* Opens the stream if ALARM_LISTEN is due. */
void session_listen_tick(struct session *s);
/* A ping found out whether the session is lost: settles a refused stream that
 * a ping of this ticket decides about. */
void session_listen_pinged(struct session *s, uint64_t ticket, bool lost);
/* The machine slept or its network changed: opens the stream again, because its
 * connection may be dead. */
void session_listen_wake(struct session *s);
/* There are new credentials: opens a stream that was denied. */
void session_listen_signed_in(struct session *s);

#endif
