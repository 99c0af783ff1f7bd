/*
 * Frames: a small frame is a single allocation, a large one takes over the
 * buffer in which it was collected. In both cases an LF follows the text.
 */
#include "config.h"

#include "base/frame.h"

#include <stdlib.h>

/* Up to this size copying is cheaper than a second allocation. */
#define INLINE_BYTES 4096

struct frame *
frame_copy(struct span text)
{
	struct frame *f;
	char *bytes;

	if (text.n > SIZE_MAX / 4)
		out_of_memory();
	f = xmalloc(sizeof *f + text.n + 1);
	memset(f, 0, sizeof *f);
	bytes = (char *)(f + 1);
	if (text.n != 0)
		memcpy(bytes, text.p, text.n);
	bytes[text.n] = '\n';
	f->refs = 1;
	f->text = (struct span){ bytes, text.n };
	return f;
}

struct frame *
frame_take(struct buf *b)
{
	struct frame *f;

	if (b->n <= INLINE_BYTES) {
		f = frame_copy(buf_span(b));
		buf_reset(b);
		return f;
	}
	f = xcalloc(1, sizeof *f);
	f->refs = 1;
	if (b->cap == b->n || b->cap - b->n > b->n / 4)
		b->p = xrealloc(b->p, b->n + 1);
	b->p[b->n] = '\n';
	f->bytes = b->p;
	f->text = buf_span(b);
	buf_init(b, b->max);
	return f;
}

struct frame *
frame_ref(struct frame *f)
{
	f->refs++;
	return f;
}

size_t
frame_size(const struct frame *f)
{
	return sizeof *f + f->text.n + MEM_OVERHEAD;
}

void
frame_unref(struct frame *f)
{
	if (f == NULL || --f->refs != 0)
		return;
	free(f->bytes);
	free(f);
}
