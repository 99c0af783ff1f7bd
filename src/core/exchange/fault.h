/*
 * The errors that mcpsplice itself makes for the client. The message of each
 * names the host, says what happened and what to do next. data says the same
 * for programs: source, reason, whether the call may have run, the HTTP status,
 * the server's own error.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_FAULT_H
#define MCPSPLICE_CORE_EXCHANGE_FAULT_H

#include "core/exchange/verdict.h"

enum {
	FAULT_PARSE = -32700,
	FAULT_REQUEST = -32600,
	FAULT_METHOD = -32601,
	FAULT_PARAMS = -32602,
	FAULT_INTERNAL = -32603,
	FAULT_REJECTED = -1 /* by the user: MCP 2025-11-25 "Sampling" */
};

enum fault_id {
	FAULT_NONE, /* no row */
#define FAULT(id, code, reason, ran, text) id,
#include "core/exchange/fault_rows.h"
	FAULT_COUNT
};

/* May the call have run? */
enum fault_ran { RAN_NO, RAN_MAYBE, RAN_AS_GIVEN /* by who makes the error */ };

/* A hole of the text is {NAME}: see value() in fault.c for the names. Instead,
 * {NAME?YES|NO} becomes YES if the value is not empty, else NO; these are plain
 * text. */
struct fault_row {
	int code;           /* of JSON-RPC */
	const char *reason; /* one that doc/mcpsplice.1 lists, or NULL */
	enum fault_ran ran;
	const char *text;
};

extern const struct fault_row fault_rows[FAULT_COUNT];

/* What one error says. Only what the row needs is given; the rest is zero. */
struct fault_args {
	const struct frame *request; /* that the error answers */
	struct span id;              /* raw JSON; instead of request */
	const char *host;            /* the server's name for users */
	struct span why;             /* in words for users */
	struct span remedy;          /* a sentence without its full stop */
	struct span name; /* of the peer's choice; is made visible and short */
	uint64_t count, size, limit;
	bool sent;
	bool maybe;             /* the call may have run, if the row leaves it
				 * open */
	int status;             /* HTTP status; 0: none */
	int64_t retry_after_ms; /* -1 or 0: not given */
	int64_t waited_ms;      /* for the server, within --retry-window */
	struct span challenge;  /* JSON object; n 0: none */
	const struct frame *refusal; /* the server's own error response, or
				      * NULL; data has its error, up to 64
				      * KiB */
	enum fault_id reason_of;     /* the row whose reason the error has;
				  * FAULT_NONE: its own */
};

/* Makes the error response of the row id. If the request is a retry with the
 * user's input (2026-07-28 "Multi Round-Trip Requests"), it does not say that
 * nothing ran: the server began with the request before. The caller owns the
 * frame. */
struct frame *fault_make(enum fault_id id, const struct fault_args *args);
/* Did mcpsplice make this error response, and not the server? */
bool fault_is_ours(const struct frame *error);

/* Adds a hint to the message of an error of ours that is about the server.
 * Other frames stay as they are. The caller owns the frame that is returned. */
struct frame *fault_with_hint(struct frame *f, const char *hint);

/* Returns the answer to one request under the id of another one, which it
 * answers, too. An error of ours is changed if this request is such a retry. The
 * caller owns the frame. */
struct frame *fault_pass_on(struct frame *answer, const struct frame *request);

/* Makes the error for a request whose exchange ended without an answer, from
 * its facts. host is the server's name for users; refusal is the server's own
 * error response, or NULL. The caller owns the frame. */
struct frame *fault_from_facts(const struct frame *request,
    const struct facts *facts, const char *host, const struct frame *refusal);

/* Makes the error for a call during which the server asked the client a
 * question, if the client's answer could not be delivered. facts tell how the
 * exchange of that answer ended; NULL: the session in which the server asked is
 * gone. The caller owns the frame. */
struct frame *fault_undelivered(const struct frame *request,
    const struct facts *facts, const char *host);

/* Says in words for users why an exchange brought no complete answer: the
 * transport's reason, or ours if it gave none. Never empty. Borrows from
 * facts. */
struct span fault_why(const struct facts *facts);
/* Says what to do then: a sentence without its full stop, or nothing. Borrows
 * from facts. */
struct span fault_remedy(const struct facts *facts);

/* Appends a name of the request for users: "create_invoice" for a tools/call
 * (with quotes), else the method. */
void fault_label(const struct frame *request, struct buf *out);

#endif
