/*
 * Parses the event stream of WHATWG HTML section 9.2 as its bytes arrive, in
 * linear time. It holds only the event being read.
 */
#ifndef MCPSPLICE_CORE_WIRE_SSE_H
#define MCPSPLICE_CORE_WIRE_SSE_H

#include "base/mem.h"

struct sse;

/* Gets one dispatched event. type is "message" unless the stream said
 * otherwise. data is the joined data lines without the last LF; the callee may
 * take its content (frame_take). Events with empty data are reported too,
 * because their id has been recorded. */
typedef void sse_cb(const char *type, struct buf *data, void *arg);

/* Makes a parser, which the caller owns. max_event: cap of the data of one
 * event, in bytes. */
struct sse *sse_new(size_t max_event, sse_cb *cb, void *arg);
/* Returns 0, or -1 if an event, or another line, passed its cap: the stream
 * cannot be used after that. */
int sse_feed(struct sse *s, const char *p, size_t n);
/* Returns the id to resume after; n is 0 if there is none. Valid until the next
 * feed. */
struct span sse_last_id(const struct sse *s);
/* Was there an id before the first event with data? Then the stream was made to
 * be resumed (2025-11-25, basic/transports, streamable HTTP). */
bool sse_is_primed(const struct sse *s);
/* Returns the server's last retry in ms, at most 1 h, or -1 if it gave none. */
int64_t sse_retry_ms(const struct sse *s);
/* Returns the bytes of the event that is not dispatched yet. */
size_t sse_held(const struct sse *s);
/* Returns the data of that event as far as it came, and sets *type to its type.
 * The caller may take its content; the rest of the event is then reported as one
 * of its own. */
struct buf *sse_pending(struct sse *s, const char **type);
/* Frees s and the event it holds, without a callback; NULL is allowed. */
void sse_free(struct sse *s);

#endif
