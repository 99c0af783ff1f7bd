/* Files in a format that is not rewritten: what to change in them, and where.
 * Pure. */
#ifndef MCPSPLICE_COMMAND_WRAP_BY_HAND_H
#define MCPSPLICE_COMMAND_WRAP_BY_HAND_H

#include "base/mem.h"

/* Appends, for each place of text that speaks of a server with a URL, its line
 * and an entry for mcpsplice in the form of this host. windows: it runs there.
 */
void wrap_by_hand(struct buf *out, const char *path, struct span text,
    const char *self, bool windows);

#endif
