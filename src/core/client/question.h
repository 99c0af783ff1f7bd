/*
 * Questions that a legacy server asks a modern client.
 */
#ifndef MCPSPLICE_CORE_CLIENT_QUESTION_H
#define MCPSPLICE_CORE_CLIENT_QUESTION_H

#include "core/client/state.h"

/* guessed: it came on no request's stream, r is only likely. */
void client_question(struct client *e, struct request *r, struct frame *f,
    bool guessed);
/* Takes a question that was guessed to be of r, and the client has not seen;
 * owned by the caller, NULL: none. */
struct frame *client_take_guessed(struct client *e, const struct request *r);
/* The request that a question on no request's stream is taken to be of: the
 * one that was sent last. NULL: none may be asked. */
struct request *client_likely_owner(const struct client *e);
/* The questions of r that are not answered. */
size_t client_count_questions(const struct client *e, const struct request *r);
/* The server takes its question back. */
void client_question_over(struct client *e, struct span id);
/* Nobody answers the questions of r: the server is told so. */
void client_refuse_questions(struct client *e, struct request *r);

/* May no further request be parked? */
bool client_park_is_full(const struct client *e);
/* The parked request that the client knows by this id, or NULL. */
struct request *client_parked(const struct client *e, struct span id);
/* Ends a parked request: its questions, and itself at the session. */
void client_abandon(struct client *e, struct request *r, const char *reason);

#endif
