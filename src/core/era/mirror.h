/*
 * The headers that mirror a modern request's body: Mcp-Method, Mcp-Name, and
 * Mcp-Param-* of a tool's arguments as its inputSchema asks for by x-mcp-header
 * (doc/protocol.md 6.2, 6.3). Bounded: what is too much is not learned, and
 * then not mirrored.
 */
#ifndef MCPSPLICE_CORE_ERA_MIRROR_H
#define MCPSPLICE_CORE_ERA_MIRROR_H

#include "base/frame.h"
#include "base/headers.h"

struct mirror;

/* A tool that is not passed on: its name as safe text, and why. */
typedef void mirror_dropped_cb(const char *name, const char *why, void *arg);

struct mirror *mirror_new(void);
void mirror_free(struct mirror *m);
/* Forgets all tools. */
void mirror_clear(struct mirror *m);

/* Learns a page of tools/list (a result frame; a tool of the same name
 * replaces the one before). Returns it without the tools whose annotation is
 * not valid, each told to dropped, byte for byte otherwise: the same frame
 * with one more reference where all are good. */
struct frame *mirror_learn(struct mirror *m, struct frame *result,
    mirror_dropped_cb *dropped, void *arg);
/* Does the tool of this tools/call have an outputSchema that is no object's
 * (see era_wraps)? Also learned by mirror_learn. */
bool mirror_wraps(const struct mirror *m, const struct frame *call);

/* Adds the headers for a modern request or notification to out:
 * Mcp-Method always, Mcp-Name and Mcp-Param-* where there is a value. */
void mirror_headers(const struct mirror *m, const struct frame *message,
    struct headers *out);
/* Appends the name of the first of them that is left out, as its value is
 * over 8 KiB. Returns false when none is. */
bool mirror_left_out(const struct mirror *m, const struct frame *message,
    struct buf *name);

#endif
