/*
 * A frame is the bytes of one JSON-RPC message, immutable and refcounted. It
 * moves from the line framer, the SSE parser or a JSON body into a call, to
 * libcurl (borrowed) and to the stdout queue without being copied.
 * core/wire/msg fills in the spans of its parts; the spans never outlive the
 * frame.
 *
 * Invariant: text.p[text.n] is an LF that is not part of the message, so that
 * one write sends the message and its line end.
 */
#ifndef MCPSPLICE_BASE_FRAME_H
#define MCPSPLICE_BASE_FRAME_H

#include "base/mem.h"

enum frame_kind {
	FRAME_RAW, /* parts not located yet, or not a JSON-RPC message */
	FRAME_REQUEST,
	FRAME_NOTIFICATION,
	FRAME_RESULT,
	FRAME_ERROR
};

struct frame {
	unsigned refs;
	enum frame_kind kind;
	struct span text;
	/* All are raw JSON text; p is NULL for an absent one. method is the
	 * text between the quotes if it contains no escape, else it is still
	 * escaped (no method of the protocol needs an escape). meta is the
	 * _meta of params, and token its progressToken: a request is asked for
	 * them often. */
	struct span id, method, params, meta, token, result, error;
	bool ambiguous; /* another parser may read another message in it */
	bool has_null;  /* a member of params is null */
	char *bytes;    /* owned; NULL if the bytes follow the struct */
};

/* Makes a frame with a copy of the bytes. The caller owns the reference. */
struct frame *frame_copy(struct span text);
/* Makes a frame of the content of b; b is empty and usable after. The caller
 * owns the reference. */
struct frame *frame_take(struct buf *b);
/* Takes another reference and returns f. */
struct frame *frame_ref(struct frame *f);
/* Returns about how many bytes of memory the frame takes, with the overhead of
 * the allocator: a small frame takes several times the size of its text. */
size_t frame_size(const struct frame *f);
/* Gives up one reference; the last one frees the frame. f may be NULL. */
void frame_unref(struct frame *f);

#endif
