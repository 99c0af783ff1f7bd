/* One order of the session, from its begin to its end. */
#ifndef MCPSPLICE_CORE_SERVER_ORDER_H
#define MCPSPLICE_CORE_SERVER_ORDER_H

#include "core/exchange/fault.h"
#include "core/server/state.h"

/* Makes a server_order of the session's order and adds it to the list. */
struct server_order *server_order_new(struct server *e,
    const struct order *order);
/* Returns the order under way with this ticket, or NULL. */
struct server_order *server_order_find(const struct server *e, uint64_t ticket);
/* Returns the order whose request has this id, or NULL: one of this mode, or
 * the initialize under way. An id that is written the same wins over one that
 * only means the same. */
struct server_order *server_order_asking(const struct server *e, struct span id,
    enum server_mode mode);

/* Tells whether the order sends this method. */
bool server_order_is(const struct server_order *o, const char *method);

/* Tell the session what came of the order. server_order_tell_done(), _answer()
 * and _gone(), and server_order_fail(), drop the order, and its attempts are
 * ended. */
void server_order_tell_head(struct server *e, struct server_order *o,
    const struct facts *f);
void server_order_tell_message(struct server *e, struct server_order *o,
    const struct facts *f, struct frame *m);
void server_order_tell_done(struct server *e, struct server_order *o,
    const struct facts *f);
/* Tells a whole answer: head, message and done. Takes over the caller's
 * reference to m. */
void server_order_tell_answer(struct server *e, struct server_order *o,
    struct frame *m);
/* Answers with the error id that mcpsplice makes, for the order's request. more
 * has what the text says beside the request and the host; NULL: nothing. */
void server_order_fail(struct server *e, struct server_order *o,
    enum fault_id id, const struct fault_args *more);
/* Tells that the server speaks another protocol now, or that its stream is
 * gone, so that the session renews. ran: the request may have run. */
void server_order_tell_gone(struct server *e, struct server_order *o, bool ran);

/* Keeps a message (a reference is taken) until the session listens. Returns
 * false if there is no more room. */
bool server_order_keep(struct kept *kept, struct frame *m);
/* The order is the session's GET: tells it a head, and what was kept. */
void server_order_listen(struct server *e, struct server_order *o,
    struct kept *kept);

/* Drops the order: the session is told nothing more of it, and its attempts are
 * ended. The sweep at the end of the step releases what hangs on the order, and
 * frees it. */
void server_order_drop(struct server *e, struct server_order *o);
/* Frees the order, which must not be in the list any more. */
void server_order_free(struct server_order *o);

#endif
