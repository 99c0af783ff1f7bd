/*
 * Edits a JSON object by splices: members are removed or set, all other bytes
 * stay as they were sent.
 */
#ifndef MCPSPLICE_CORE_WIRE_EDIT_H
#define MCPSPLICE_CORE_WIRE_EDIT_H

#include "base/frame.h"

/* One member: with a value (raw JSON) it is set, with value.p NULL it is
 * removed. key contains no character that needs an escape. */
struct edit {
	const char *key;
	struct span value;
};

/* Appends object (checked JSON; p NULL: an empty one) with these edits. A
 * member that is set keeps the place of the last one of its name, or comes
 * last; others of the same name are removed (JSON.parse would ignore them
 * too). */
void edit_object(struct buf *out, struct span object, const struct edit *edits,
    size_t n);
/* Returns a frame in which the outermost object is edited in this way, with all
 * other text unchanged, parsed; the caller owns it. If nothing changes, it is f
 * with one more reference. */
struct frame *edit_frame(struct frame *f, const struct edit *edits, size_t n);
/* The same for a part of the frame: its member key, whose value is object
 * (f->params, f->result, f->error), is set to object with these edits. */
struct frame *edit_part(struct frame *f, const char *key, struct span object,
    const struct edit *edits, size_t n);
/* Takes a parsed frame of a client, and returns it. Hosts write
 * "arguments":null for a tool or a prompt without arguments, which servers on
 * the TypeScript SDK refuse: then it is a frame with {} there. */
struct frame *edit_arguments(struct frame *f);
/* Has object no member, or is it not an object at all? */
bool edit_is_empty(struct span object);

#endif
