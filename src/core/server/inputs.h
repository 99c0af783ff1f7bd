/* What a modern server wants to know before it answers a call. */
#ifndef MCPSPLICE_CORE_SERVER_INPUTS_H
#define MCPSPLICE_CORE_SERVER_INPUTS_H

#include "core/server/state.h"

/* The call was answered by this input_required result: the client is asked,
 * then it goes out again by server_call_send. */
void server_inputs_ask(struct server *e, struct server_order *o,
    struct frame *result);
/* An answer of the client: true when it was to a question of ours. */
bool server_inputs_answer(struct server *e, struct frame *answer);
/* The call is over: open questions are cancelled at the client if tell. */
void server_inputs_end(struct server *e, struct server_order *o, bool tell);
/* The client will not answer any more. */
void server_inputs_eof(struct server *e, struct server_order *o);
/* Nobody answered for too long. */
void server_inputs_expire(struct server *e, struct server_order *o);

#endif
