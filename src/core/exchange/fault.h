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
	FAULT_INTERNAL = -32603
};

struct fault {
	int code;               /* JSON-RPC error code; 0 means
				 * FAULT_INTERNAL */
	const char *reason;     /* a reason of the table in doc/design.md, or
				 * NULL */
	bool maybe;             /* the call may have run */
	int status;             /* HTTP status; 0: none */
	int64_t retry_after_ms; /* -1 or 0: not given */
	struct span server;     /* the server's own error as raw JSON, if any;
				 * left out over 64 KiB */
};

/* Makes the error response with this raw JSON id (p NULL: none); the message is
 * formatted as by printf. The caller owns the frame. */
struct frame *fault_frame(struct span id, const struct fault *fault,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

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

/* Makes the error for a request that has the id of a call in flight. The caller
 * owns the frame. */
struct frame *fault_duplicate(struct span id);

/* Appends a name of the request for users: "create_invoice" for a tools/call
 * (with quotes), else the method. */
void fault_label(const struct frame *request, struct buf *out);

#endif
