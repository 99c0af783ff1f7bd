/* Messages that are kept, in their order, until somebody may hear them. */
#ifndef MCPSPLICE_CORE_EXCHANGE_KEPT_H
#define MCPSPLICE_CORE_EXCHANGE_KEPT_H

#include "base/frame.h"

struct kept {
	struct frame **list;
	size_t n, bytes; /* bytes: of memory */
};

/* Keeps a reference to the message, unless more than max messages (0: any
 * number) or more than max_bytes would be kept: then returns false. */
bool kept_add(struct kept *k, struct frame *m, size_t max, size_t max_bytes);
/* Releases all messages. */
void kept_clear(struct kept *k);

#endif
