/*
 * A reducer between the session and upstream. Whatever era and transport the
 * server speaks, the session sees a legacy Streamable HTTP server: the
 * session's orders go in, orders for upstream come out, and what comes of those
 * goes back under the session's tickets. No descriptor, no clock.
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

#include "base/log.h"
#include "core/exchange/order.h"

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

enum server_input_kind {
	SERVER_SEND,     /* the session orders an exchange: order */
	SERVER_ABORT,    /* the session aborts its order ticket */
	SERVER_HEAD,     /* of the attempt ticket: facts */
	SERVER_MESSAGE,  /* facts, frame (a reference is taken) */
	SERVER_ENDPOINT, /* of an attempt that announces: ok tells that the
			  * endpoint is on the same origin */
	SERVER_SIGN_IN,  /* text, as INPUT_SIGN_IN */
	SERVER_DONE,     /* facts */
	SERVER_EOF,      /* stdin ended: nobody answers questions */
	SERVER_TICK      /* the deadline passed */
};

struct server_input {
	enum server_input_kind kind;
	int64_t now; /* monotonic ms */
	uint64_t random;
	uint64_t ticket;
	const struct order *order;
	const struct facts *facts;
	struct frame *frame;
	struct span text;
	bool ok;
};

enum server_action_kind {
	SERVER_NONE,
	/* For upstream. */
	SERVER_ORDER, /* make an exchange: order */
	SERVER_DROP,  /* end the exchange of ticket */
	/* For the session, under the ticket of its order. */
	SERVER_TELL_HEAD,    /* facts */
	SERVER_TELL_MESSAGE, /* facts, frame */
	SERVER_TELL_SIGN_IN, /* text */
	SERVER_TELL_DONE,    /* facts */
	/* For the app. */
	SERVER_FOUND, /* what to remember of the server: modern (and nothing
		       * else), sse, or neither; dual: to forget it */
	SERVER_NOTE   /* a line for people: level, note */
};

struct server_action {
	enum server_action_kind kind;
	uint64_t ticket;
	struct order order;        /* borrowed parts */
	const struct facts *facts; /* borrowed */
	struct frame *frame;       /* borrowed */
	struct span text;          /* SIGN_IN; borrowed */
	bool modern, sse, dual;
	enum log_level level;
	const char *note; /* borrowed */
};

struct server *server_new(const struct server_config *config);
void server_free(struct server *e);

/* The client is a modern one, and this is its server/discover, or one that was
 * made for it (a reference is taken): detection begins with it. NULL: a legacy
 * client. */
void server_client(struct server *e, struct frame *discover);

/* Tells whether this order of the session goes straight to upstream. With a
 * legacy Streamable server all do but an initialize; and any that carries the
 * id of a session does. */
bool server_passes(const struct server *e, const struct order *order);
/* Tells whether this ticket is of an attempt of core/server. Else it is the
 * session's, and what comes of it goes straight there. */
static inline bool
server_owns(uint64_t ticket)
{
	return ticket >> 63 != 0;
}
/* Tells whether an order of the session with this ticket is here. Else its
 * abort goes straight to upstream. */
bool server_has(const struct server *e, uint64_t ticket);

void server_step(struct server *e, const struct server_input *in);
/* Takes the next action; false: there is none. What the action borrows is valid
 * until the next call of server_step() or server_next(). */
bool server_next(struct server *e, struct server_action *action);
/* Returns when SERVER_TICK is due; -1: never. */
int64_t server_deadline(const struct server *e);

/* Returns the server's answer to server/discover, a result frame, or NULL if
 * the server is no modern one. Borrowed. */
struct frame *server_discovered(const struct server *e);
/* Tells whether all messages of the server come on one stream (HTTP+SSE). */
bool server_shares_stream(const struct server *e);
/* Adds a line for people: what the server speaks. */
void server_describe(const struct server *e, struct buf *out);

#endif
