/*
 * The event stream of WHATWG HTML section 9.2, parsed as the bytes come, in
 * linear time, holding no more than the event it is in.
 */
#ifndef MCPSPLICE_CORE_WIRE_SSE_H
#define MCPSPLICE_CORE_WIRE_SSE_H

#include "base/mem.h"

struct sse;

/* One dispatched event. type is "message" unless the stream said otherwise.
 * data is the joined data lines, without the last LF; the callee may take its
 * content (frame_take). Events whose data is empty are told too: their id has
 * been recorded. */
typedef void sse_cb(const char *type, struct buf *data, void *arg);

/* max_event: bytes of data one event may hold. */
struct sse *sse_new(size_t max_event, sse_cb *cb, void *arg);
/* Returns 0, or -1 when an event, or another line, passed its cap: the
 * stream is then unusable. */
int sse_feed(struct sse *s, const char *p, size_t n);
/* The id to resume after; n is 0 when there is none. Valid until fed again. */
struct span sse_last_id(const struct sse *s);
/* Did any event carry an id yet? */
bool sse_has_id(const struct sse *s);
/* The server's last retry in ms, -1 when it gave none. Clamped to 1 h. */
int64_t sse_retry_ms(const struct sse *s);
/* Bytes of the event that is not dispatched yet. */
size_t sse_held(const struct sse *s);
void sse_free(struct sse *s);

#endif
