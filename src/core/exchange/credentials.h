/*
 * The credentials of the exchanges with the server, as they are now. auth keeps
 * them up to date, and transport borrows them; they go to the server's own
 * origin only.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_CREDENTIALS_H
#define MCPSPLICE_CORE_EXCHANGE_CREDENTIALS_H

#include "base/headers.h"

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

#endif
