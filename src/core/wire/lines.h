/*
 * Cuts a byte stream into lines (LF ends one, a CR before it is dropped,
 * blank lines and a BOM on the first one are skipped). Linear in the line's
 * length; a line over the cap is passed over in flat memory while its
 * top-level "id" is still looked for, so that its sender gets an answer.
 */
#ifndef MCPSPLICE_CORE_WIRE_LINES_H
#define MCPSPLICE_CORE_WIRE_LINES_H

#include "base/frame.h"

struct lines;

struct lines_ops {
	/* One line, owned by the callee, not parsed yet. */
	void (*line)(struct frame *f, void *arg);
	/* A line of size bytes was dropped. id is the raw JSON of its
	 * top-level id if one was seen (p NULL if not; valid in the call);
	 * request tells whether a top-level "method" was seen too. */
	void (*too_long)(uint64_t size, struct span id, bool request,
	    void *arg);
};

/* max: bytes of one line, without its end. */
struct lines *lines_new(size_t max, const struct lines_ops *ops, void *arg);
/* Calls back for each complete line in p. The callbacks must not feed. */
void lines_feed(struct lines *l, const char *p, size_t n);
/* End of input: a last line without LF counts. */
void lines_end(struct lines *l);
/* Bytes held for a line that is not complete yet. */
size_t lines_held(const struct lines *l);
void lines_free(struct lines *l);

#endif
