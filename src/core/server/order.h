/* The life of one order of the session. */
#ifndef MCPSPLICE_CORE_SERVER_ORDER_H
#define MCPSPLICE_CORE_SERVER_ORDER_H

#include "core/server/state.h"

/* Puts the session's order into the list of those under way. */
struct server_order *server_order_new(struct server *e,
    const struct order *order);
/* The one under way with this ticket, or NULL. */
struct server_order *server_order_find(const struct server *e, uint64_t ticket);
/* Whose request, in this mode or an initialize under way, has this id? As it
 * is written goes before what only means the same. NULL: nobody's. */
struct server_order *server_order_asking(const struct server *e, struct span id,
    enum server_mode mode);

/* Tells the session. After done, answer or gone the order is no more, and its
 * attempts are ended. */
void server_order_tell_head(struct server *e, struct server_order *o,
    const struct facts *f);
void server_order_tell_message(struct server *e, struct server_order *o,
    const struct facts *f, struct frame *m);
void server_order_tell_done(struct server *e, struct server_order *o,
    const struct facts *f);
/* A whole answer: head, message and done; m is taken. */
void server_order_tell_answer(struct server *e, struct server_order *o,
    struct frame *m);
/* The server does not speak what we thought any more, or its stream is gone:
 * the session is to renew. */
void server_order_tell_gone(struct server *e, struct server_order *o, bool ran);

/* Nothing more goes to the session for it, and its attempts are ended. What
 * else hangs on it, and the order itself, is released at the end of the step.
 */
void server_order_drop(struct server *e, struct server_order *o);
/* Frees it; it is in no list any more. */
void server_order_free(struct server_order *o);

#endif
