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

/* --- mirror_schema.c: an inputSchema is read for x-mcp-header --- */

/* A property on the way to a value. The children of a node are in a row behind
 * it. The first node is the arguments object itself. */
struct mirror_node {
	struct buf key;      /* decoded; it may contain a NUL */
	char *header;        /* full name; NULL: the node only leads to
			      * others */
	size_t first, count; /* index and number of its children */
};

struct mirror_plan {
	size_t n;
	size_t size; /* memory in bytes, about */
	struct mirror_node nodes[];
};

/* Reads a tool's inputSchema (raw JSON; p NULL: none). Returns NULL if the tool
 * is valid, else why it is not, a static text. *plan, owned by the caller, says
 * what to mirror; NULL if that is nothing, or too much. *budget is how many
 * bytes may be read, and is reduced. */
const char *mirror_schema_read(struct span schema, size_t *budget,
    struct mirror_plan **plan);
/* Frees a plan, which may be NULL. */
void mirror_plan_free(struct mirror_plan *plan);

/* Decodes a raw key, into out if it has an escape. Returns false if it does not
 * fit into out. */
bool mirror_key(struct span *key, struct buf *out);

#endif
