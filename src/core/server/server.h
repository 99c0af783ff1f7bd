/*
 * Whatever era and transport the server speaks, the session sees a legacy
 * Streamable HTTP server. A reducer between the session and upstream: the
 * session's orders go in, orders to the server come out, and what comes of
 * those goes back under the session's tickets. No descriptor, no clock.
 *
 *   unknown   until an initialize of the session finds out (doc/protocol.md 5)
 *   legacy    Streamable HTTP: passes through, under the same tickets
 *   SSE       HTTP+SSE of 2024-11-05: one stream for all answers
 *   modern    2026-07-28: translated (core/era/era)
 *
 * A server that turns out to be of another era, and an SSE stream that ends,
 * are told as facts.session_ended: the session renews, and its initialize finds
 * out anew.
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
	const char *host;   /* how people know the server; borrowed */
	const char *prefix; /* of ids we make: random, JSON-safe; borrowed */
	int64_t call_timeout_ms; /* of silence; 0: none */
	enum era_protocol protocol;
	enum era_transport transport;
	bool remembered; /* by a former start: */
	bool was_modern, was_sse;
};

enum server_input_kind {
	SERVER_SEND,     /* the session's order */
	SERVER_ABORT,    /* the session's, of ticket */
	SERVER_HEAD,     /* of an order of ours, ticket: facts */
	SERVER_MESSAGE,  /* facts, frame (a reference is taken) */
	SERVER_ENDPOINT, /* of an order that announces: ok tells that it
			      * is on the same origin */
	SERVER_SIGN_IN,  /* text, as INPUT_SIGN_IN */
	SERVER_DONE,     /* facts */
	SERVER_EOF,      /* of stdin: nobody answers questions */
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
	/* To upstream. */
	SERVER_ORDER, /* order */
	SERVER_DROP,  /* end the exchange of ticket */
	/* To the session, under its ticket. */
	SERVER_TELL_HEAD,    /* facts */
	SERVER_TELL_MESSAGE, /* facts, frame */
	SERVER_TELL_SIGN_IN, /* text */
	SERVER_TELL_DONE,    /* facts */
	/* To whom it may concern. */
	SERVER_FOUND, /* the server's era: modern (and nothing else), sse,
			   * dual (or perhaps: nothing to remember) */
	SERVER_NOTE   /* level, text: a decision, for people */
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

/* The client is a modern one, and this is its server/discover, or one made
 * for it (a reference is taken): detection asks that first. NULL: a legacy
 * client. */
void server_client(struct server *e, struct frame *discover);

/* Does this order of the session go to upstream as it is, with no input here?
 * Always so with a legacy Streamable server, but for initialize, and for what
 * carries the id of a session there. */
bool server_passes(const struct server *e, const struct order *order);
/* Is this ticket one of ours (else it is the session's own, and what comes of
 * it goes straight there)? */
static inline bool
server_owns(uint64_t ticket)
{
	return ticket >> 63 != 0;
}
/* Is an order of the session with this ticket here (else its abort goes
 * straight to upstream)? */
bool server_has(const struct server *e, uint64_t ticket);

void server_step(struct server *e, const struct server_input *in);
/* The next action; what it borrows is valid until the next call of either. */
bool server_next(struct server *e, struct server_action *action);
/* When SERVER_TICK is due; -1: never. */
int64_t server_deadline(const struct server *e);

/* The server's answer to server/discover, a result frame, as long as it is a
 * modern one; else NULL. Borrowed. */
struct frame *server_discovered(const struct server *e);
/* Does everything of the server come on one stream (HTTP+SSE)? */
bool server_shares_stream(const struct server *e);
/* A line for people: what the server speaks. */
void server_describe(const struct server *e, struct buf *out);

#endif
