/*
 * Requests of the server that wait for the client's answer. In the first
 * generation their ids pass untouched. From the second generation on the client
 * sees ids that mcpsplice made, because a new session counts from the start
 * again.
 */
#ifndef MCPSPLICE_CORE_SESSION_QUESTIONS_H
#define MCPSPLICE_CORE_SESSION_QUESTIONS_H

#include "base/frame.h"

struct question {
	struct question *next;
	char *server_id; /* raw JSON, as the server wrote it */
	char *client_id; /* raw JSON, as the client knows it */
	uint64_t generation;
	uint64_t ticket; /* the origin of the attempt that asks; 0: a ping */
	bool roots;      /* a roots/list, which a server may ask for itself */
};

struct questions {
	struct question *list;
	size_t n;
	uint64_t made; /* how many ids were made */
};

void questions_free(struct questions *t);
/* Notes a request of the server. Returns the frame for the client, with the id
 * that the client sees; owned by the caller. */
struct frame *questions_ask(struct questions *t, struct frame *request,
    uint64_t generation, uint64_t ticket, const char *prefix);
/* Removes the question that this answer of the client is for. Returns the frame
 * for the server (owned by the caller) with the generation and the ticket of
 * the question, or NULL if there is no such question. */
struct frame *questions_answer(struct questions *t, struct frame *answer,
    uint64_t *generation, uint64_t *ticket);
/* The server takes a question back. Returns the cancel for the client, owned by
 * the caller. */
struct frame *questions_cancel(struct questions *t, struct frame *cancelled,
    uint64_t generation);
/* Removes one question of the call that ran on the attempt of this origin, and
 * is over. Returns the cancel for the client, owned by the caller, or NULL if
 * there is no such question. */
struct frame *questions_withdraw(struct questions *t, uint64_t origin);
/* Removes one question of an earlier generation than this. Sets *cancel to the
 * cancel for the client (owned by the caller) and *ticket to the question's.
 * Returns false if there is no such question. */
bool questions_expire(struct questions *t, uint64_t generation,
    struct frame **cancel, uint64_t *ticket);

#endif
