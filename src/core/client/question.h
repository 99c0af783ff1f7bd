/*
 * Questions that a legacy server asks a modern client.
 */
#ifndef MCPSPLICE_CORE_CLIENT_QUESTION_H
#define MCPSPLICE_CORE_CLIENT_QUESTION_H

#include "core/client/state.h"

/* Takes the question f of the server for r: it is asked later, or answered now
 * if the client must not be asked it. guessed: f came on no request's stream,
 * and r is only the likely owner. */
void client_question(struct client *e, struct request *r, struct frame *f,
    bool guessed);
/* Removes the first question that was guessed to be of r and that the client
 * has not seen. Returns its frame, owned by the caller; NULL: there is none. */
struct frame *client_take_guessed(struct client *e, const struct request *r);
/* Returns the request that a question on no request's stream most likely
 * belongs to; NULL: there is none. */
struct request *client_likely_owner(const struct client *e);
/* Returns how many questions of r are not answered. */
size_t client_count_questions(const struct client *e, const struct request *r);
/* The server cancelled its question with this id: drops it. */
void client_question_over(struct client *e, struct span id);
/* Drops the questions of r, and answers each of them to the server with a
 * refusal. */
void client_refuse_questions(struct client *e, struct request *r);

/* Are as many requests parked, or about to be, as there may be? */
bool client_park_is_full(const struct client *e);
/* Returns the parked request that the client sent with this id; NULL: there is
 * none. */
struct request *client_parked(const struct client *e, struct span id);
/* Drops r: refuses its questions and, if the session has r, cancels it there
 * for this reason. The client is told nothing. */
void client_abandon(struct client *e, struct request *r, const char *reason);

#endif
