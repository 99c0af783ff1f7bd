/*
 * Changes in a JSON object as splices: members are taken out or put in, all
 * other bytes stay as they were sent.
 */
#ifndef MCPSPLICE_CORE_WIRE_EDIT_H
#define MCPSPLICE_CORE_WIRE_EDIT_H

#include "base/frame.h"

/* One member: with a value (raw JSON) it is set, with p NULL it is taken
 * out. key needs no escape. */
struct edit {
	const char *key;
	struct span value;
};

/* Appends object (checked JSON; p NULL: an empty one) with these edits. A
 * member that is set keeps the place of the last one of its name, or comes
 * last; further ones of the same name go (JSON.parse would not see them
 * either). */
void edit_object(struct buf *out, struct span object, const struct edit *edits,
    size_t n);
/* A frame whose outermost object is edited like that (text between id, method
 * and the rest untouched), parsed; owned by the caller. Where nothing changes
 * it is f itself, with one more reference. */
struct frame *edit_frame(struct frame *f, const struct edit *edits, size_t n);
/* Is object no object, or has it no member at all? */
bool edit_is_empty(struct span object);

#endif
