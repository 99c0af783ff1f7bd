/*
 * What an inputSchema asks to be mirrored by x-mcp-header: the check of all
 * its annotations, and where in the arguments the values are.
 */
#ifndef MCPSPLICE_CORE_ERA_MIRROR_SCHEMA_H
#define MCPSPLICE_CORE_ERA_MIRROR_SCHEMA_H

#include "base/mem.h"

/* A property with a longer name is not mirrored. */
#define MIRROR_KEY_BYTES 512

/* A property on the way to a value; the children of one are in a row, and
 * behind it. The first of all is the arguments object itself. */
struct mirror_node {
	struct buf key;      /* decoded; it may hold a NUL */
	char *header;        /* the whole name, or NULL: only on the way */
	size_t first, count; /* its children */
};

struct mirror_plan {
	size_t n;
	size_t size; /* in memory, about */
	struct mirror_node nodes[];
};

/* Reads a tool's inputSchema (raw JSON; p NULL: none). Returns NULL when the
 * tool is good, else why it is not. *plan is what to mirror, or NULL when
 * that is nothing, or too much to be learned. *budget is how many bytes may
 * be walked, and goes down. */
const char *mirror_schema_read(struct span schema, size_t *budget,
    struct mirror_plan **plan);
/* NULL is allowed. */
void mirror_plan_free(struct mirror_plan *plan);

/* Makes a raw key decoded, in out if it has an escape; false when it does not
 * fit there. */
bool mirror_key(struct span *key, struct buf *out);

#endif
