/*
 * The headers that mirror a modern request's body: Mcp-Method, Mcp-Name, and
 * Mcp-Param-* for those arguments of a tool that its inputSchema marks with
 * x-mcp-header (doc/protocol.md 6.2, 6.3). All is bounded: a tool beyond the
 * bounds is not learned, and its arguments are not mirrored.
 */
#ifndef MCPSPLICE_CORE_ERA_MIRROR_H
#define MCPSPLICE_CORE_ERA_MIRROR_H

#include "base/frame.h"
#include "base/headers.h"
#include "base/mem.h"

struct mirror;

/* Tells of a tool that is not passed on: its name as safe text, and why. */
typedef void mirror_dropped_cb(const char *name, const char *why, void *arg);

/* Makes a mirror that knows no tool; the caller owns it. */
struct mirror *mirror_new(void);
void mirror_free(struct mirror *m);
/* Forgets all tools. */
void mirror_clear(struct mirror *m);

/* Learns a page of tools/list (a result frame; a tool of the same name replaces
 * the earlier one). Returns the page without the tools that have an invalid
 * annotation, each reported to dropped (NULL: to nobody), and otherwise byte for byte: the same
 * frame with one more reference if all are valid. The caller owns the frame. */
struct frame *mirror_learn(struct mirror *m, struct frame *result,
    mirror_dropped_cb *dropped, void *arg);
/* Does the tool of this tools/call have a value to mirror? */
bool mirror_knows(const struct mirror *m, const struct frame *call);
/* Does the tool of this tools/call have an outputSchema that is shown wrapped
 * (see era_wraps)? mirror_learn learns that too. */
bool mirror_wraps(const struct mirror *m, const struct frame *call);

/* Adds the headers for a modern request or notification to out: Mcp-Method
 * always, Mcp-Name and Mcp-Param-* if there is a value. Some servers do not
 * unwrap Mcp-Name: with raw_name it is UTF-8 if it can be. Returns whether the
 * two forms differ. */
bool mirror_headers(const struct mirror *m, const struct frame *message,
    bool raw_name, struct headers *out);
/* Appends the name of the first argument that its header cannot carry: an array,
 * an object, a fraction, or an integer that a double cannot hold exactly. The
 * names of objects stand before it, each with a dot. Returns false if there is
 * none. */
bool mirror_unfit(const struct mirror *m, const struct frame *call,
    struct buf *name);
/* Appends the name of the first header that is left out because its value is
 * over 8 KiB. Returns false if there is none. */
bool mirror_left_out(const struct mirror *m, const struct frame *message,
    struct buf *name);

/* A longer value is left out. Most servers refuse a request with 8 or 16 KiB of
 * headers as a whole; without the header they can say that it is missing. */

/* Can the text stand in a header unchanged, and arrive unchanged? */
bool mirror_is_plain(struct span s);
/* Appends the value of a header for this JSON value. Returns 0, or -1 and
 * leaves out as it was if there is none: for null, absent values, objects,
 * arrays, fractions, integers beyond 2^53 - 1 and values that are too long. */
int mirror_value(struct buf *out, struct span raw);

#endif
