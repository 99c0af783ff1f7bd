/* One call at a modern server, from its first request to its last. */
#ifndef MCPSPLICE_CORE_SERVER_CALL_H
#define MCPSPLICE_CORE_SERVER_CALL_H

#include "core/server/state.h"

/* Sends o->sent, the request of the first round or of a later one. */
void server_call_send(struct server *e, struct server_order *o);
/* Sends the same request under a new id. */
void server_call_again(struct server *e, struct server_order *o);
/* Takes the attempt off its order, which needs no more of it. The attempt ends
 * by itself, or is ended 5 s later. */
void server_call_let_go(struct server *e, struct server_attempt *i);

/* Tells whether the facts say that the request did not reach the server. */
bool server_call_is_unsent(const struct facts *f);
/* Tells whether the server refused the request for now and named a time to wait
 * that is short enough. */
bool server_call_is_refused_for_now(const struct facts *f);
/* Sends a later round again if it did not reach the server or was refused for
 * now: the session cannot, because the call has begun. Returns false if it is
 * not sent again. */
bool server_call_retry(struct server *e, struct server_order *o,
    const struct facts *f);

/* Makes the session renew, to find out anew what the server speaks.
 * unless_changed: a tool may have given this answer, so the call ran unless
 * another protocol is found. */
void server_call_renew(struct server *e, struct server_order *o,
    struct server_attempt *i, const struct facts *f, bool unless_changed);

#endif
