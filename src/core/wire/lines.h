/*
 * Cuts a byte stream into lines. LF ends a line, a CR before it is dropped,
 * blank lines and a BOM on the first line are skipped. Time is linear in the
 * length of a line. A line over the cap is skipped in flat memory while its
 * top-level "id" is still searched for, so that its sender gets an answer.
 */
#ifndef MCPSPLICE_CORE_WIRE_LINES_H
#define MCPSPLICE_CORE_WIRE_LINES_H

#include "base/frame.h"
#include "base/mem.h"

/* Drops a BOM at the very start of a stream, which may come in pieces. *bom is 0
 * at first: it counts the bytes of it that came, up to BOM_BYTES when the check
 * is over. Returns how many bytes of p were used. text becomes the beginning of a
 * BOM that turned out to be none, and is text; n 0: nothing. */
enum { BOM_BYTES = 3 };
size_t lines_pass_bom(size_t *bom, const char *p, size_t n, struct span *text);

struct lines;

struct lines_ops {
	/* One line, not parsed yet; the callee owns it. */
	void (*line)(struct frame *f, void *arg);
	/* A line of size bytes was dropped. id is the raw JSON of its top-level
	 * id (p NULL if none was found; valid in the call); request tells
	 * whether a top-level "method" was found too. NULL: it is not
	 * told. */
	void (*too_long)(uint64_t size, struct span id, bool request,
	    void *arg);
};

/* Makes a framer, which the caller owns. max: bytes of one line, without its
 * end. */
struct lines *lines_new(size_t max, const struct lines_ops *ops, void *arg);
/* Calls ops.line or ops.too_long for each complete line in p. The callbacks
 * must not feed. */
void lines_feed(struct lines *l, const char *p, size_t n);
/* Ends the input: a last line without LF counts. */
void lines_end(struct lines *l);
/* Returns the bytes held for an incomplete line. */
size_t lines_held(const struct lines *l);
/* Frees l and the bytes it holds, without a callback. */
void lines_free(struct lines *l);

#endif
