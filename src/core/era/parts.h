/* What the rooms of era share; see era.h. */
#ifndef MCPSPLICE_CORE_ERA_PARTS_H
#define MCPSPLICE_CORE_ERA_PARTS_H

#include "core/era/era.h"
#include "core/wire/edit.h"

#define ERA_EDITS(a) (sizeof(a) / sizeof *(a))

/* Is this method, as a frame has it, that one, decoded? It may be a copy,
 * without the quotes around it that json_key_is needs. */
bool era_method_is(struct span method, const char *name);
/* The legacy version to speak with who asks for this one, raw: the same, if
 * it is a legacy one that we know. */
struct span era_legacy_version(struct span wanted);
/* Appends a client's or a server's capabilities as the other era has them:
 * roots without listChanged, no tasks. No object: an empty one. */
void era_capabilities(struct buf *out, struct span capabilities);
/* Appends the _meta of object with these edits to out, which is empty before,
 * and returns what to do with _meta itself: it goes when nothing is left. */
struct edit era_edit_meta(struct buf *out, struct span object,
    const struct edit *edits, size_t n);
/* The frame with its params edited (added when missing). Params by position
 * stay as they are: no method of the protocol has such. */
struct frame *era_edit_params(struct frame *f, const struct edit *edits,
    size_t n);
/* The frame with one member of its outermost object replaced. */
struct frame *era_put(struct frame *f, const char *key,
    const struct buf *value);
/* Appends the array with each element as map appends it; what is between
 * them stays. */
void era_map(struct buf *out, struct span array,
    void (*map)(struct buf *, struct span));
/* Appends the schema as a legacy client can have it: an object's, with the
 * value as its member "result". Returns false when that would not mean the
 * same; what is in out is of no use then. */
bool era_wrap_schema(struct buf *out, struct span schema);

#endif
