/* HTTP+SSE of 2024-11-05: its stream, and the session's orders. */
#ifndef MCPSPLICE_CORE_SERVER_SSE2024_H
#define MCPSPLICE_CORE_SERVER_SSE2024_H

#include "core/server/state.h"

/* Orders the stream and returns its attempt; server_detect_stream tells how it
 * went. */
struct server_attempt *server_sse2024_open(struct server *e);
void server_sse2024_close(struct server *e);
/* The same, and what was under way on it learns that. */
void server_sse2024_leave(struct server *e);
/* Is there an endpoint? */
bool server_sse2024_ready(const struct server *e);
/* initialize too, once there is an endpoint. */
void server_sse2024_send(struct server *e, struct server_order *o);
/* The session gave it up; the order itself is the caller's to end. */
void server_sse2024_abort(struct server *e, struct server_order *o);
/* A message that is to wait for the session's listen stream. */
void server_sse2024_keep(struct server *e, struct frame *m);
/* The stream has just brought a message, or a POST was taken: the time of its
 * silence begins anew. */
void server_sse2024_heard(struct server *e);
/* Does what is due. */
void server_sse2024_tick(struct server *e);

#endif
