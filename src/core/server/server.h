/*
 * A reducer between the session and transport. Whatever era and transport the
 * server speaks, the session sees a legacy Streamable HTTP server: the
 * session's orders go in, orders for transport come out, and what comes of
 * those goes back under the session's tickets. No descriptor, no clock.
 *
 *   unknown   until an initialize of the session finds out (doc/protocol.md 5)
 *   legacy    Streamable HTTP: passes through, under the same tickets
 *   SSE       HTTP+SSE of 2024-11-05: one stream for all answers
 *   modern    2026-07-28: translated (core/era/era)
 *
 * When the server turns out to be of another era, or an SSE stream ends, the
 * facts that the session is told have session_ended set: the session renews,
 * and its initialize finds out anew.
 */
#ifndef MCPSPLICE_CORE_SERVER_SERVER_H
#define MCPSPLICE_CORE_SERVER_SERVER_H

#include "core/events.h"

struct server;

enum era_protocol { PROTOCOL_AUTO, PROTOCOL_LEGACY, PROTOCOL_MODERN };
enum era_transport {
	TRANSPORT_AUTO,
	TRANSPORT_HTTP,
	TRANSPORT_SSE,
	TRANSPORT_SSE_FIRST
};

struct server_config {
	const char *host; /* how people know the server; borrowed */
	const char
	    *prefix; /* of new request ids: random, JSON-safe; borrowed */
	int64_t call_timeout_ms; /* of silence; 0: none */
	enum era_protocol protocol;
	enum era_transport transport;
	bool remembered;          /* a former start knew the server: */
	bool was_modern, was_sse; /* neither: legacy Streamable HTTP */
};

struct server *server_new(const struct server_config *config);
void server_free(struct server *s);

/* Tells whether this ticket is of an attempt of core/server. Else it is the
 * session's, and what comes of it passes. */
static inline bool
server_owns(uint64_t ticket)
{
	return ticket >> 63 != 0;
}
/* Takes an action of the session, an input for an attempt of core/server, the
 * end of stdin, or EVENT_PROBE. Returns false if the event does not concern
 * this reducer: it passes. */
bool server_step(struct server *s, const struct event *in);
/* Gives the next event: an input for the session, under the ticket of its
 * order, or an action. Returns false if there is none. What the event borrows
 * is valid until the next call. */
bool server_next(struct server *s, struct event *out);
/* Returns the kinds of events that may concern this reducer now (EVENT_BIT):
 * others need not be offered. Only a step changes them. */
uint64_t server_wants(const struct server *s);
/* Returns when INPUT_TICK is due, or ALARM_NEVER. */
int64_t server_deadline(const struct server *s);

/* Returns the server's answer to server/discover, a result frame, or NULL if
 * the server is no modern one. Borrowed. */
struct frame *server_discovered(const struct server *s);
/* Tells whether all messages of the server come on one stream (HTTP+SSE). */
bool server_shares_stream(const struct server *s);
/* Adds a line for people: what the server speaks. */
void server_describe(const struct server *s, struct buf *out);

#endif
