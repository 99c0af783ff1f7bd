/*
 * The questions of a modern server that have to be answered before the server
 * answers a call.
 */
#ifndef MCPSPLICE_CORE_SERVER_INPUT_REQUIRED_H
#define MCPSPLICE_CORE_SERVER_INPUT_REQUIRED_H

#include "core/server/state.h"

/* Asks the client what this input_required result wants to know. When all is
 * answered, server_call_send() sends the next round. */
void server_inputs_ask(struct server *e, struct server_order *o,
    struct frame *result);
/* Takes an answer of the client. Returns false if it answers no open question.
 */
bool server_inputs_answer(struct server *e, struct frame *answer);
/* Releases the questions of a call. tell: open ones are cancelled at the
 * client. */
void server_inputs_end(struct server *e, struct server_order *o, bool tell);
/* Fails the call because stdin has ended and the client can answer no more. */
void server_inputs_eof(struct server *e, struct server_order *o);
/* Fails the call because the time for the answers is over. */
void server_inputs_expire(struct server *e, struct server_order *o);
#ifdef MCPSPLICE_SANE
/* See invariants.h. */
void server_inputs_sane(const struct server *e);
#endif

#endif
