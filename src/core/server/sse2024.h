/* HTTP+SSE of 2024-11-05: the stream, and the session's orders. */
#ifndef MCPSPLICE_CORE_SERVER_SSE2024_H
#define MCPSPLICE_CORE_SERVER_SSE2024_H

#include "core/server/state.h"

/* Orders the stream and returns its attempt. server_detect_stream() hears
 * whether it names an endpoint. */
struct server_attempt *server_sse2024_open(struct server *e);
void server_sse2024_close(struct server *e);
/* Closes the stream, and tells the orders under way on it. */
void server_sse2024_leave(struct server *e);
/* Tells whether the stream has named an endpoint. */
bool server_sse2024_ready(const struct server *e);
/* Takes an order of the session; an initialize only when there is an endpoint.
 */
void server_sse2024_send(struct server *e, struct server_order *o);
/* The session aborted the order. The caller ends it. */
void server_sse2024_abort(struct server *e, struct server_order *o);
/* The stream brought a message, or a POST was taken: the time of silence begins
 * anew. */
void server_sse2024_heard(struct server *e);
/* Ends the orders that wait for an answer if the stream was silent for too
 * long. */
void server_sse2024_tick(struct server *e);

#endif
