/*
 * Exchanges with one MCP server over HTTP: a POST for each message, GET for
 * streams and for resumption, DELETE at the end; in all revisions of the
 * protocol. Turns orders into requests, answers into frames and facts.
 * Decides nothing about sessions and eras; header assembly has its one place
 * here.
 */
#ifndef MCPSPLICE_TRANSPORT_STREAMABLE_H
#define MCPSPLICE_TRANSPORT_STREAMABLE_H

#include "base/headers.h"
#include "core/exchange/order.h"
#include "io/http.h"

struct streamable;

struct streamable_config {
	const char *url;    /* normalised */
	size_t max_message; /* bytes */
	size_t max_held;    /* of all partial messages; 0: none */
	unsigned max_depth;
	int64_t call_timeout_ms;
};

/* A request that was refused for its credentials, or so it seems. */
struct refusal {
	const struct facts *facts;
	bool person;         /* of the request */
	struct span session; /* of the request; n 0: none */
	uint64_t stamp;      /* of the credentials */
	unsigned tries;      /* how often this request was refused before */
};

/* ticket names the exchange; it is the caller's. */
struct streamable_ops {
	/* Asks for credentials: answer with streamable_go or _deny, now or
	 * later. last: a DELETE, which is not worth new ones. */
	void (*authorize)(uint64_t ticket, bool last, void *arg);
	/* 401 or 403, complete, with its text in the facts, and nobody else
	 * has heard of it. stamp is that of its credentials. Returns true when
	 * others may do: answer with streamable_go, which sends the request
	 * again, or with _stand, now or later. */
	bool (*refused)(uint64_t ticket, const struct refusal *r, void *arg);
	/* Credentials with this stamp were taken; told once for each. */
	void (*accepted)(uint64_t stamp, void *arg);
	/* Status and headers are here. Facts are valid in the call. */
	void (*head)(uint64_t ticket, const struct facts *f, void *arg);
	/* One JSON-RPC message, located; the callee owns it. */
	void (*message)(uint64_t ticket, const struct facts *f, struct frame *m,
	    void *arg);
	/* An endpoint event on a stream that announces; ok: it is on the
	 * server's origin, and orders for the endpoint go there from now on. */
	void (*endpoint)(uint64_t ticket, bool ok, void *arg);
	/* The last call for this ticket. */
	void (*done)(uint64_t ticket, const struct facts *f, void *arg);
};

struct streamable *streamable_new(struct http *h,
    const struct streamable_config *config, const struct streamable_ops *ops,
    void *arg);
/* Begins the exchange; a reference to the body is taken. */
void streamable_send(struct streamable *u, const struct order *order);
/* stamp tells one credential from the next; see refused. */
void streamable_go(struct streamable *u, uint64_t ticket,
    const struct headers *credentials, uint64_t stamp);
/* Ends it as not sent. */
void streamable_deny(struct streamable *u, uint64_t ticket, const char *why);
/* The refusal is told as it came. why, if not NULL, says more than its own
 * words; trusted: the credentials were taken before, in this session. */
void streamable_stand(struct streamable *u, uint64_t ticket, const char *why,
    bool credentials_known_good);
/* done comes later with ENDING_ABORTED. An unknown ticket is ignored. */
void streamable_abort(struct streamable *u, uint64_t ticket);
/* Pauses all transfers, or lets them go on. Control orders with a small answer
 * are never paused. */
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
