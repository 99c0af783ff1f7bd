/*
 * Exchanges with one MCP server over HTTP: a POST for each message, GET for
 * streams and for resumption, DELETE at the end, in all revisions of the
 * protocol. Turns orders into requests, and answers into frames and facts.
 * Decides nothing about sessions and eras. Headers are put together here only.
 */
#ifndef MCPSPLICE_PROXY_TRANSPORT_STREAMABLE_H
#define MCPSPLICE_PROXY_TRANSPORT_STREAMABLE_H

#include "core/events.h"
#include "io/http.h"

/* Returns how an exchange ended whose transfer ended so. */
enum ending ending_of(enum http_end end);

struct streamable;

struct streamable_config {
	const char *url;    /* normalised */
	size_t max_message; /* bytes */
	size_t max_held;    /* for all partial messages; 0: no limit */
	unsigned max_depth;
	int64_t call_timeout_ms;
	const struct credentials *credentials; /* of all exchanges; borrowed */
	/* Who keeps them. Asked for new ones, the caller answers with
	 * streamable_credentials_ready or streamable_refusal_final. */
	const struct credentials_ops *keeper;
	void *keeper_arg;
	bool gives;         /* io/http adds credentials of the user's */
	bool trace_headers; /* trace context of a message becomes headers */
};

/* What came of an exchange: INPUT_HEAD, INPUT_MESSAGE, INPUT_ENDPOINT (orders with
 * endpoint set go there from now on, if ok) and at last INPUT_DONE. The caller
 * answers INPUT_REFUSED, which comes before all others, now or later, with
 * streamable_credentials_ready, which sends the request again, or with
 * streamable_refusal_final. What the event points to is valid in the call. An
 * answer that is read in one turn of the loop and whose body is one message is
 * one event. A ticket names the exchange; the caller chose it. */
typedef void streamable_cb(struct event *e, void *arg);

/* Makes the transport, which the caller owns. l and h are borrowed; config is
 * copied, but not the strings in it. */
struct streamable *streamable_new(struct loop *l, struct http *h,
    const struct streamable_config *config, streamable_cb *event, void *arg);
/* Begins the exchange, at once if the credentials are good. Takes a reference
 * to the body and copies the rest. */
void streamable_send(struct streamable *u, const struct order *order);
/* Sends the request with the credentials of the config, whatever their time. */
void streamable_credentials_ready(struct streamable *u, uint64_t ticket);
/* What the challenge of a refusal says, as a JSON object (n 0: nothing): it goes
 * to the client with the error, if the refusal turns out to be the answer. Only
 * between INPUT_REFUSED and its answer. */
void streamable_denied(struct streamable *u, uint64_t ticket,
    struct span denial);
/* There are no other credentials: the refusal is the answer, or the request is
 * not sent at all (ENDING_DENIED). why replaces what is known about it, unless
 * it is NULL; credentials_known_good: the credentials were accepted before, in
 * this session. */
void streamable_refusal_final(struct streamable *u, uint64_t ticket,
    const char *why, bool credentials_known_good);
/* Ends the exchange: done comes later with ENDING_ABORTED. An unknown ticket is
 * ignored. */
void streamable_abort(struct streamable *u, uint64_t ticket);
/* Pauses all transfers, or lets them continue. Control orders with a small
 * answer are never paused. */
void streamable_pause(struct streamable *u, bool paused);
/* Returns the address that answered last: the server's, or its proxy's; NULL if
 * none is known. Valid until the next answer. */
const char *streamable_peer(const struct streamable *u);
/* Later requests get new connections; the current ones continue. */
void streamable_forget(struct streamable *u);
/* Returns the bytes of all partial messages. */
size_t streamable_held(const struct streamable *u);
/* Frees u and its exchanges without a callback. http_free has to be called
 * first. */
void streamable_free(struct streamable *u);

#endif
