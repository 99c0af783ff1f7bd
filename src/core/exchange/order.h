/*
 * An order: one exchange that a part of core asks for and transport makes. Its
 * ticket names it; the outcome comes back as facts (core/exchange/verdict).
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_ORDER_H
#define MCPSPLICE_CORE_EXCHANGE_ORDER_H

#include "base/headers.h"
#include "core/exchange/verdict.h"

/* The credentials of the exchanges with the server, as they are now. auth keeps
 * them up to date, and transport borrows them; they go to the server's own
 * origin only. */
struct credentials {
	struct headers headers;
	uint64_t version; /* changes with the headers */
	uint64_t stamp;   /* tells one token from the next; 0: there is none */
	int64_t until;    /* an exchange that begins before this time (monotonic
			   * ms) takes them; a later one has to ask */
	bool bound;       /* to a key: each request needs a proof of its own */
	bool early;       /* the token has expired, and no better one was asked
			   * for because the server's address is not known */
	struct headers key; /* each request is signed with this one, by its id
			     * and its secret; empty: it is not */
};

/* What an exchange asks of whoever keeps the credentials. */
struct credentials_ops {
	/* Asks for credentials, because those at hand are over. The answer may
	 * come from inside, or later. last: the request is a DELETE, which is
	 * not worth new ones: the answer is made of those at hand, and nothing is
	 * started for it. */
	void (*ask)(uint64_t ticket, bool last, void *arg);
	/* Appends the proof for one request, if they are bound to a key. */
	void (*prove)(const char *method, const char *url, struct headers *to,
	    void *arg);
	/* An answer of the server came, with this nonce for the next proof;
	 * NULL: with none. */
	void (*heard)(const char *nonce, void *arg);
	/* The server accepted a request with credentials of this stamp. Called
	 * once for each stamp. */
	void (*accepted)(uint64_t stamp, void *arg);
};

struct order {
	uint64_t ticket;
	enum verb verb;
	struct frame *body;             /* the message of a POST */
	struct span session;            /* Mcp-Session-Id; n 0: none */
	struct span version;            /* MCP-Protocol-Version; n 0: none */
	struct span last_event_id;      /* for a GET; n 0: none */
	const struct headers *mirrored; /* headers that mirror the body; NULL:
					 * none */
	struct frame *discovered; /* an initialize: the server is a modern one,
				   * and answered server/discover with this;
				   * NULL: not known */
	const char *why;     /* what it is for, in a word; static, or NULL */
	uint64_t generation; /* of the session; 0: of none */
	bool endpoint;       /* POST to the URL that an endpoint event named */
	bool announces;   /* INPUT_ENDPOINT reports an endpoint event: for a GET
			 * it names the endpoint, for a POST only the
			 * transport */
	bool listen;      /* silence never ends the exchange */
	bool control;     /* neither a call nor a listen stream; never paused
			   * while its answer is small */
	bool interactive; /* a request of the client waits for the exchange */
	bool fresh;       /* on a new connection, whatever is idle */
	bool wary;        /* on none whose last answer was an error: a load
			   * balancer may choose by connection */
};

#endif
