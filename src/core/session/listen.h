/* The listen stream: the GET stream of the session. */
#ifndef MCPSPLICE_CORE_SESSION_LISTEN_H
#define MCPSPLICE_CORE_SESSION_LISTEN_H

#include "core/session/state.h"

/* Opens the stream of a new session. */
void session_listen_open(struct session *s);
/* Opens it at the end of this step: by the first of the next two functions, or
 * by the second. There is one idle connection, and what comes second opens
 * another, which costs two round trips more. A user waits for the lists, for
 * the stream only if the server may ask something during a call. */
void session_listen_soon(struct session *s);
/* Opens a stream that is due, if it goes out before this frame, the first that
 * is held. NULL: nothing is. */
void session_listen_before(struct session *s, const struct held *h);
/* Opens a stream that is due, behind what was sent in this step. */
void session_listen_behind(struct session *s);
/* Must this request wait for the stream? During a call the server may ask the
 * client something on the stream, and a stream that comes after the call would
 * miss it. */
bool session_awaits_stream(struct session *s, const struct frame *f);
/* Closes the stream until session_listen_open. */
void session_listen_close(struct session *s);
/* The head of the answer to the GET came. Returns true if the stream is back
 * after a break: the session may be gone, although the server holds a stream
 * open for it. */
bool session_listen_head(struct session *s, const struct facts *f);
/* The exchange of the GET is over: notes whether the stream broke without an
 * end, be it one that had not worked yet, or the server was away. */
void session_listen_broke(struct session *s, const struct attempt *l,
    const struct facts *f);
/* Opens a stream that broke beside the call that goes out in this step: the
 * server may ask something on it before it answers the call. */
void session_listen_hurry(struct session *s);
/* The stream delivered something. */
void session_listen_event(struct session *s);
/* Opens the stream again after the back-off. */
void session_listen_again(struct session *s);
/* Opens the stream if ALARM_LISTEN is due. */
void session_listen_tick(struct session *s);
/* A ping found out whether the session is lost: settles a refused stream that
 * a ping of this ticket decides about. Returns true if the session lives after
 * a break of the stream. */
bool session_listen_pinged(struct session *s, uint64_t ticket, bool lost);
/* The machine slept or its network changed: opens the stream again, because its
 * connection may be dead. */
void session_listen_wake(struct session *s);
/* There are new credentials: opens a stream that was denied. */
void session_listen_signed_in(struct session *s);

#endif
