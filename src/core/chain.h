/*
 * core/modern_client, core/session and core/server in a row, as one reducer
 * with the session's inputs and actions: frames of the client on one side,
 * exchanges with the server on the other, whatever era each of them speaks. A
 * legacy client and a legacy server talk to the session directly.
 */
#ifndef MCPSPLICE_CORE_CHAIN_H
#define MCPSPLICE_CORE_CHAIN_H

#include "core/server/server.h"
#include "core/session/session.h"

struct chain;

struct chain_config {
	struct session_config session;
	/* host, prefix and call_timeout_ms are taken from session */
	struct server_config server;
	const char *hint; /* the administrator's, for our errors about the
			   * server; borrowed; NULL: none */
};

/* Makes a chain, which the caller owns. */
struct chain *chain_new(const struct chain_config *config);
/* Frees c and its three reducers; NULL is allowed. */
void chain_free(struct chain *c);
/* Like session_step, session_next, session_deadline and session_describe. */
void chain_step(struct chain *c, const struct event *in);
bool chain_next(struct chain *c, struct event *action);
int64_t chain_deadline(const struct chain *c);
void chain_describe(const struct chain *c, struct buf *out);
/* Like session_brief, with modern and sse. */
struct session_brief chain_brief(const struct chain *c);
/* Do the inputs need a secret? They do if the client is a modern one. */
bool chain_wants_secret(const struct chain *c);

#endif
