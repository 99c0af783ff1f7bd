/*
 * Reads an inputSchema for x-mcp-header: checks all annotations, and finds
 * where the values are in the arguments.
 */
#ifndef MCPSPLICE_CORE_ERA_MIRROR_SCHEMA_H
#define MCPSPLICE_CORE_ERA_MIRROR_SCHEMA_H

#include "base/mem.h"

/* A property with a longer name is not mirrored. */

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
