/*
 * One exchange of the session with the core/server reducer, by hand: to look
 * at each fact that the session is told, where the lines of a schedule tell a
 * few.
 */
#ifndef MCPSPLICE_TESTS_PLAY_SERVER_HAND_H
#define MCPSPLICE_TESTS_PLAY_SERVER_HAND_H

#include "core/server/server.h"

/* What was told of one kind, the latest; its spans as strings. */
struct seen {
	struct facts facts;
	char why[96], session[16];
	unsigned told; /* so many, since the input before */
};

struct hand {
	struct server *era;
	int64_t now;
	uint64_t order; /* ticket of the latest order to upstream */
	enum verb verb; /* its */
	struct seen head, message, done;
	uint64_t done_of; /* ticket of the session's */
	struct buf text;  /* of message */
};

#define PLAIN                                                                  \
	.ending = ENDING_COMPLETE, .sent = true, .retry_after_ms = -1,         \
	.retry_ms = -1

/* Begins: the session sends initialize 1 under ticket 7. */
void hand_open(struct hand *h, const struct server_config *config);
void hand_free(struct hand *h);
void hand_step(struct hand *h, struct event *in);
/* The session POSTs this. */
void hand_post(struct hand *h, uint64_t ticket, const char *message);
/* A message for the exchange of this ticket of ours; NULL: its end. */
void hand_answer(struct hand *h, uint64_t ticket, const struct facts *f,
    const char *message);

#endif
