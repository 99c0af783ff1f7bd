/*
 * Bytes that came in, and the lines in them. A line may be large: the room
 * grows, and no byte is looked at twice in search of its end.
 */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <stddef.h>

/* All zero is an empty one. */
struct lines {
	char *p;
	size_t start;  /* of the line that comes next */
	size_t looked; /* up to here there is no LF */
	size_t end;
	size_t size;
};

/* Makes room for more bytes at its end and returns the place; the caller adds
 * what it wrote there to end. Lines given out before are no longer good. The
 * process ends if there is no memory. */
char *lines_room(struct lines *l, size_t more);

/* Adds bytes. */
void lines_add(struct lines *l, const char *p, size_t n);

/* The next whole line without its LF, and its length unless n is NULL; NULL if
 * there is none yet. It is good until more is added. */
char *lines_next(struct lines *l, size_t *n);

/* Frees the room and empties it. */
void lines_free(struct lines *l);

#endif
