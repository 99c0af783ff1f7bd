/*
 * Requests of the server that wait for the client's answer. In the first
 * generation their ids pass untouched; from the second on they are mapped to
 * ids of ours, because a new session counts from the start again.
 */
#ifndef MCPSPLICE_CORE_SESSION_QUESTIONS_H
#define MCPSPLICE_CORE_SESSION_QUESTIONS_H

#include "base/frame.h"

struct question {
	struct question *next;
	char *server_id; /* raw JSON, as the server wrote it */
	char *client_id; /* raw JSON, as the client knows it */
	uint64_t generation;
	uint64_t ticket; /* of the attempt that it came on; 0: a ping */
};

struct questions {
	struct question *list;
	size_t n;
	uint64_t made; /* ids made so far */
};

void questions_free(struct questions *t);
/* Notes a request of the server; returns the frame for the client (the same
 * or one with a mapped id), owned by the caller. */
struct frame *questions_ask(struct questions *t, struct frame *request,
    uint64_t generation, uint64_t ticket, const char *prefix);
/* Takes the question this answer of the client is for. Returns NULL when
 * there is none, else the frame for the server (owned), and the generation
 * and the ticket of the question. */
struct frame *questions_answer(struct questions *t, struct frame *answer,
    uint64_t *generation, uint64_t *ticket);
/* The server takes a question back: the frame for the client, owned. */
struct frame *questions_cancel(struct questions *t, struct frame *cancelled,
    uint64_t generation);
/* Takes any question of a generation before this one: writes a cancel for
 * the client to *cancel (owned) and the ticket of the stream it came on.
 * Returns false when there is none. */
bool questions_expire(struct questions *t, uint64_t generation,
    struct frame **cancel, uint64_t *ticket);

#endif
