/*
 * Streamable HTTP (2025-03-26 to 2025-11-25): one POST for each message, GET
 * for the listen stream and for resumption, DELETE at the end. Turns answers
 * into frames and facts. Decides nothing about sessions; header assembly has
 * its one place here.
 */
#ifndef MCPSPLICE_UPSTREAM_STREAMABLE_H
#define MCPSPLICE_UPSTREAM_STREAMABLE_H

#include "base/headers.h"
#include "io/http.h"
#include "wire/verdict.h"

struct streamable;

struct streamable_config {
	const char *url;    /* normalised */
	size_t max_message; /* bytes */
	size_t max_held;    /* of all partial messages; 0: none */
	unsigned max_depth;
	int64_t call_timeout_ms;
};

/* ticket names the exchange; it is the caller's. */
struct streamable_ops {
	/* Asks for credentials: answer with streamable_go or _deny, now or
	 * later. */
	void (*authorize)(uint64_t ticket, void *arg);
	/* Status and headers are here. Facts are valid in the call. */
	void (*head)(uint64_t ticket, const struct facts *f, void *arg);
	/* One JSON-RPC message, located; the callee owns it. */
	void (*message)(uint64_t ticket, const struct facts *f, struct frame *m,
	    void *arg);
	/* The last call for this ticket. */
	void (*done)(uint64_t ticket, const struct facts *f, void *arg);
};

struct upstream_request {
	uint64_t ticket;
	enum verb verb;
	struct frame *body;        /* POST; a reference is taken */
	struct span session;       /* n 0: none */
	struct span version;       /* MCP-Protocol-Version; n 0: none */
	struct span last_event_id; /* GET; n 0: none */
	bool control;              /* never paused */
	bool silent_ok;            /* a listen stream: silence never ends it */
};

struct streamable *streamable_new(struct http *h,
    const struct streamable_config *config, const struct streamable_ops *ops,
    void *arg);
void streamable_send(struct streamable *u, const struct upstream_request *r);
void streamable_go(struct streamable *u, uint64_t ticket,
    const struct headers *credentials);
void streamable_deny(struct streamable *u, uint64_t ticket, const char *why);
/* done comes later with ENDING_ABORTED. An unknown ticket is ignored. */
void streamable_abort(struct streamable *u, uint64_t ticket);
/* Pauses all transfers but the one that holds the oldest partial message
 * now: that one ends its message first. */
void streamable_pause(struct streamable *u, bool paused);
/* The address that answered last: the server's, or its proxy's; NULL: none
 * is known. Valid until the next answer. */
const char *streamable_peer(const struct streamable *u);
/* Later requests get new connections; the ones under way go on. */
void streamable_forget(struct streamable *u);
/* Bytes of messages that are not complete yet. */
size_t streamable_held(const struct streamable *u);
void streamable_free(struct streamable *u);

#endif
