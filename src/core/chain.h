/*
 * core/client, session and core/server in a row, as one reducer with the
 * session's inputs and actions: frames of the client on one side, exchanges
 * with the server on the other, whatever either speaks. Two legacy ends talk
 * to the session directly.
 */
#ifndef MCPSPLICE_CORE_CHAIN_H
#define MCPSPLICE_CORE_CHAIN_H

#include "core/server/server.h"
#include "core/session/session.h"

struct chain;

struct chain_config {
	struct session_config session;
	/* host, prefix and call_timeout_ms are the session's */
	struct server_config server;
};

struct chain *chain_new(const struct chain_config *config);
void chain_free(struct chain *c);
/* As session_step, session_next, session_deadline and session_describe. */
void chain_step(struct chain *c, const struct session_input *in);
bool chain_next(struct chain *c, struct session_action *action);
int64_t chain_deadline(const struct chain *c);
void chain_describe(const struct chain *c, struct buf *out);
/* Are the inputs to have a secret? Where there is a modern client. */
bool chain_wants_secret(const struct chain *c);

#endif
