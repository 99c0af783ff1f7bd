/*
 * An order: one exchange with the server that is to be made, as the wire
 * rooms ask for it and upstream performs it. It is named by its ticket; what
 * comes of it is told by facts (core/exchange/verdict).
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_ORDER_H
#define MCPSPLICE_CORE_EXCHANGE_ORDER_H

#include "base/headers.h"
#include "core/exchange/verdict.h"

struct order {
	uint64_t ticket;
	enum verb verb;
	struct frame *body;             /* POST */
	struct span session;            /* Mcp-Session-Id; n 0: none */
	struct span version;            /* MCP-Protocol-Version; n 0: none */
	struct span last_event_id;      /* GET; n 0: none */
	const struct headers *mirrored; /* of the body; NULL: none */
	bool endpoint;    /* POST to the URL that an endpoint event named */
	bool announces;   /* an endpoint event is told of: that of a GET names
			 * the endpoint, that of a POST only the transport */
	bool listen;      /* silence never ends it */
	bool control;     /* small, and the way on: never paused */
	bool interactive; /* a request of the client waits for it */
};

#endif
