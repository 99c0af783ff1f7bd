/* Writes a value of a message as the value of a header (doc/protocol.md
 * 6.2). */
#ifndef MCPSPLICE_CORE_ERA_MIRROR_VALUE_H
#define MCPSPLICE_CORE_ERA_MIRROR_VALUE_H

#include "base/mem.h"

/* A longer value is left out. Most servers refuse a request with 8 or 16 KiB of
 * headers as a whole; without the header they can say that it is missing. */

/* Can the text stand in a header unchanged, and arrive unchanged? */
bool mirror_is_plain(struct span s);
/* Appends the value of a header for this JSON value. Returns 0, or -1 and
 * leaves out as it was if there is none: for null, absent values, objects,
 * arrays, fractions, integers beyond 2^53 - 1 and values that are too long. */
int mirror_value(struct buf *out, struct span raw);

#endif
