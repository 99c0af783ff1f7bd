/* The life of one call at a modern server. */
#ifndef MCPSPLICE_CORE_SERVER_CALL_H
#define MCPSPLICE_CORE_SERVER_CALL_H

#include "core/server/state.h"

/* Sends the order's request (o->sent, a round of it or the first). */
void server_call_send(struct server *e, struct server_order *o);
/* The same under a new id. */
void server_call_again(struct server *e, struct server_order *o);
/* The exchange has said to its order what it had to say: it ends by itself, or
 * is ended soon. */
void server_call_let_go(struct server *e, struct server_attempt *i);

/* Do the facts say that the request did not reach the server? */
bool server_call_is_unsent(const struct facts *f);
/* Does the server name a time to ask again that is worth a wait? */
bool server_call_is_refused_for_now(const struct facts *f);
/* A later round that did not reach the server, or was refused for now, goes
 * out again by us: to the session the call runs. False: it does not. */
bool server_call_retry(struct server *e, struct server_order *o,
    const struct facts *f);

/* The session is to find out anew what the server speaks. ran: the call may
 * have run, in part. */
void server_call_renew(struct server *e, struct server_order *o,
    struct server_attempt *i, const struct facts *f, bool ran);

#endif
