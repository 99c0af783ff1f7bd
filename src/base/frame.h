/*
 * A frame is the bytes of one JSON-RPC message, immutable and refcounted. It
 * moves from the line framer, the SSE parser or a JSON body into a call, to
 * libcurl (borrowed) and to the stdout queue without being copied.
 * core/wire/msg fills in where its parts are; the spans never outlive the
 * frame.
 *
 * Invariant: text.p[text.n] is an LF that is not part of the message, so one
 * write puts message and line end on the wire.
 */
#ifndef MCPSPLICE_BASE_FRAME_H
#define MCPSPLICE_BASE_FRAME_H

#include "base/mem.h"

enum frame_kind {
	FRAME_RAW, /* not located yet, or not a JSON-RPC message */
	FRAME_REQUEST,
	FRAME_NOTIFICATION,
	FRAME_RESULT,
	FRAME_ERROR
};

struct frame {
	unsigned refs;
	enum frame_kind kind;
	struct span text;
	/* All as raw JSON text, absent ones with p == NULL. method is the
	 * text between the quotes when it has no escape in it, else still
	 * escaped (no method of the protocol needs one). */
	struct span id, method, params, result, error;
	char *bytes; /* owned; NULL when the bytes follow the struct */
};

/* A frame with a copy of the bytes. */
struct frame *frame_copy(struct span text);
/* A frame that takes the content of b, which is empty (but usable) after. */
struct frame *frame_take(struct buf *b);
struct frame *frame_ref(struct frame *f);
/* About the bytes of memory that it takes, with those of the allocator: a
 * small frame takes several times its text. */
size_t frame_size(const struct frame *f);
/* NULL is allowed. */
void frame_unref(struct frame *f);

#endif
