/*
 * A hash table of things that are found by a number or by the hash of a name.
 * The table owns none of the things: each contains an entry, and the owner of a
 * thing removes the entry before it frees the thing. The table grows and never
 * shrinks.
 */
#ifndef MCPSPLICE_BASE_IDTABLE_H
#define MCPSPLICE_BASE_IDTABLE_H

#include "base/mem.h"

struct idtable_entry {
	struct idtable_entry *next; /* in the same bucket */
	uint64_t key;
};

struct idtable {
	struct idtable_entry **buckets; /* NULL until the first entry is
					 * added */
	size_t n_buckets;               /* a power of two */
	size_t n;
};

/* The thing of this type whose member of this name is the entry. */
#define IDTABLE_THING(entry, type, member)                                     \
	((type *)(void *)((char *)(entry)-offsetof(type, member)))

/* Adds an entry. A table of zero bytes is empty. Several entries may have the
 * same key. */
void idtable_add(struct idtable *t, struct idtable_entry *e, uint64_t key);
/* Removes an entry, which has to be in the table. */
void idtable_remove(struct idtable *t, struct idtable_entry *e);
/* Walk the entries with one key, the latest first; NULL at the end. */
struct idtable_entry *idtable_first(const struct idtable *t, uint64_t key);
struct idtable_entry *idtable_next(const struct idtable_entry *e);
/* Frees the buckets. The table has to be empty, or must not be used again. */
void idtable_free(struct idtable *t);

#endif
