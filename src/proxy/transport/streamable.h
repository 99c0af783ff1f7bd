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
	bool gives;         /* io/http adds credentials of the user's */
	bool trace_headers; /* trace context of a message becomes headers */
};

/* In all of these ticket names the exchange; the caller chose it. */
struct streamable_ops {
	/* Asks for credentials, because those of the config are over. The
	 * caller answers with streamable_credentials_ready or
	 * streamable_refusal_final, now or later. last: the request is a
	 * DELETE, which is not worth new credentials. */
	void (*authorize)(uint64_t ticket, bool last, void *arg);
	/* Appends the proof that goes with this one request, if the credentials
	 * are bound to a key. */
	void (*prove)(const char *method, const char *url, struct headers *to,
	    void *arg);
	/* An answer came, if they are: the nonce for the next proof; NULL: it
	 * has none. */
	void (*heard)(const char *nonce, void *arg);
	/* The server accepted credentials with this stamp. Called once for each
	 * stamp. */
	void (*accepted)(uint64_t stamp, void *arg);
	/* What came of the exchange: INPUT_HEAD, INPUT_MESSAGE, INPUT_ENDPOINT
	 * (orders with endpoint set go there from now on, if ok) and at last
	 * INPUT_DONE. The caller answers INPUT_REFUSED, which comes before all
	 * others, now or later, with streamable_credentials_ready, which sends
	 * the request again, or with streamable_refusal_final. What the event
	 * points to is valid in the call. An answer that is read in one turn of
	 * the loop and whose body is one message is one event. */
	void (*event)(struct event *e, void *arg);
};

/* Makes the transport, which the caller owns. l and h are borrowed; config and
 * ops are copied, but not the strings in them. */
struct streamable *streamable_new(struct loop *l, struct http *h,
    const struct streamable_config *config, const struct streamable_ops *ops,
    void *arg);
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
