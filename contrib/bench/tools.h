/*
 * What the server of the measurements says: one request in, one reply out,
 * which is made piece by piece, so that a large one takes no memory.
 */
#ifndef BENCH_TOOLS_H
#define BENCH_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

#define TOOLS_SESSION "5f0c3bd2-bench"
#define TOOLS_TEXT 65536

/* A request whose head and body are there as a whole. */
struct request {
	const char *head; /* NUL-terminated in the place of its last LF */
	const char *body;
	size_t body_len;
	bool session; /* it names the session */
	bool modern;  /* it says that it is one of 2026-07-28 */
};

struct reply {
	char text[TOOLS_TEXT]; /* the head and what follows, or notifications */
	size_t n;              /* bytes of it */
	int delay;             /* ms to wait before anything is written */
	size_t fill;           /* bytes of the pattern that follow the text */
	size_t filled;         /* of them, those that reply_next gave out */
	int notes;             /* notifications that follow the head */
	int noted;
	char last[1024]; /* what follows them all */
	size_t last_n;
};

/* Makes the reply to a request. 0, or -1 if the request is nonsense. */
int tools_reply(struct reply *r, const struct request *q);

/* Gives out the bytes to be written next; they are good until the next call.
 * Their number, or 0 when there are no more. */
size_t reply_next(struct reply *r, const char **p);

#endif
