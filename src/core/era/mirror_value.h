/* A value of a message as the value of a header (doc/protocol.md 6.2). */
#ifndef MCPSPLICE_CORE_ERA_MIRROR_VALUE_H
#define MCPSPLICE_CORE_ERA_MIRROR_VALUE_H

#include "base/mem.h"

/* A longer value is left out: most servers refuse the whole request for its
 * header lines at 8 or 16 KiB, where without it they may say what is
 * missing. */
#define MIRROR_VALUE_BYTES (8 * 1024)

/* May it stand in a header as it is, and arrive as it is? */
bool mirror_is_plain(struct span s);
/* Appends the value of a header for this JSON value. Returns -1, and leaves
 * out as it was, when there is none: for null, what is absent, objects,
 * arrays, integers beyond 2^53 - 1 and what is too long. */
int mirror_value(struct buf *out, struct span raw);

#endif
