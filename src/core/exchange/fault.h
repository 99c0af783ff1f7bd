/*
 * Our own errors towards the client. Each names the host, says what happened
 * and what to do next; data tells machines the same: source, reason, whether
 * the call may have run, the HTTP status, the server's own error.
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
	int code;               /* 0 means FAULT_INTERNAL */
	const char *reason;     /* a token of doc/design.md, or NULL */
	bool maybe;             /* it may have run */
	int status;             /* HTTP status, 0: none */
	int64_t retry_after_ms; /* -1 or 0: not given */
	struct span server;     /* the server's own error as raw JSON, if
				 * any; left out over 64 KiB */
};

/* The error response with this raw JSON id (p NULL: none); the message is
 * printf'ed. The caller owns the frame. */
struct frame *fault_frame(struct span id, const struct fault *fault,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The error for a request whose exchange ended as the facts say, without an
 * answer. host is how people know the server; refusal is the server's own
 * error response, or NULL. */
struct frame *fault_from_facts(const struct frame *request,
    const struct facts *facts, const char *host, const struct frame *refusal);

/* The error for a request that asked the client something: the answer is not
 * delivered. facts tell what became of the answer's exchange; NULL: the
 * session in which it was asked is gone. */
struct frame *fault_undelivered(const struct frame *request,
    const struct facts *facts, const char *host);

/* The error for a request whose id is that of one in flight. */
struct frame *fault_duplicate(struct span id);

/* "create_invoice" for a tools/call (with quotes), else the method. */
void fault_label(const struct frame *request, struct buf *out);

#endif
