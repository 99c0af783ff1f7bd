/* Functions that the rooms of era share; see era.h. */
#ifndef MCPSPLICE_CORE_ERA_PARTS_H
#define MCPSPLICE_CORE_ERA_PARTS_H

#include "core/era/era.h"
#include "core/wire/edit.h"

#define ERA_EDITS(a) (sizeof(a) / sizeof *(a))

/* Is this method of a frame equal to name, when decoded? The method may be a
 * copy without the quotes around it that json_key_is needs. */
bool era_method_is(struct span method, const char *name);
/* Returns the legacy version to speak with a client that asks for this one
 * (raw): the same, if it is a known legacy version. */
struct span era_legacy_version(struct span wanted);
/* Appends a client's or a server's capabilities as the other era has them:
 * roots without listChanged, no tasks. If it is not an object, appends an empty
 * one. */
void era_capabilities(struct buf *out, struct span capabilities);
/* Appends the _meta of object with these edits to out, which has to be empty,
 * and returns the edit for _meta itself, which removes it if nothing is
 * left. */
struct edit era_edit_meta(struct buf *out, struct span object,
    const struct edit *edits, size_t n);
/* Returns the frame with its params edited (added if missing). Params by
 * position stay as they are, because no method of the protocol has them. */
struct frame *era_edit_params(struct frame *f, const struct edit *edits,
    size_t n);
/* Appends the array with each element as map appends it; the text between the
 * elements stays. */
void era_map(struct buf *out, struct span array,
    void (*map)(struct buf *, struct span));
/* Appends the schema in the form for a legacy client: that of an object with
 * the value as its member "result". Returns false if that would change the
 * meaning; out is then of no use. */
bool era_wrap_schema(struct buf *out, struct span schema);

#endif
