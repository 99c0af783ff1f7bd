/*
 * Reads the answers on an HTTP/1.1 connection: from the bytes, as they come, to
 * the lines that an MCP host would read. It knows what the server of the
 * measurements and a reverse proxy send: a Content-Length or chunks, JSON in
 * one line or events whose data is one line.
 */
#ifndef BENCH_ANSWER_H
#define BENCH_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "lines.h"

enum answer_part {
	ANSWER_HEAD,
	ANSWER_BODY, /* or a chunk of it */
	ANSWER_CHUNK_END,
	ANSWER_CHUNK_SIZE,
	ANSWER_TRAILER,
};

/* All zero is ready for the first answer. */
struct answer {
	enum answer_part part;
	char text[4096]; /* a line of the head or of the chunks */
	size_t text_n;
	int status;
	bool chunked;
	bool events;
	bool some;      /* of the body has come */
	size_t left;    /* of the body or the chunk */
	size_t matched; /* of "data: " in this line; more: another line */
	bool done;      /* the answer is complete; the next may follow */
	char session[128];
};

/* Takes bytes, up to the end of an answer, and adds its lines to out. How many
 * it took, or -1 if they are no answer. */
long answer_feed(struct answer *a, const char *p, size_t n, struct lines *out);

/* Writes the head of a POST of n bytes: to this path, with the session if it is
 * not empty. Its length. */
int answer_post(char *out, size_t size, const char *path, const char *session,
    size_t n);

/* A connection to http://127.0.0.1:PORT/...; -1 with errno. */
int answer_connect(const char *url);

#endif
