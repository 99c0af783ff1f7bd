/*
 * A hash table of things that are found by a number or by the hash of a name.
 * The table owns none of them: each has an entry inside, and whoever owns the
 * thing takes it out before freeing it. The table grows and never shrinks.
 */
#ifndef MCPSPLICE_BASE_IDTABLE_H
#define MCPSPLICE_BASE_IDTABLE_H

#include "base/mem.h"

struct idtable_entry {
	struct idtable_entry *next; /* in the same bucket */
	uint64_t key;
};

struct idtable {
	struct idtable_entry **buckets; /* NULL: nothing was added yet */
	size_t n_buckets;               /* a power of two */
	size_t n;
};

/* The thing of this type that has the entry as this member. */
#define IDTABLE_THING(entry, type, member)                                     \
	((type *)(void *)((char *)(entry)-offsetof(type, member)))

/* A table of zero bytes is an empty one. Several entries may have one key. */
void idtable_add(struct idtable *t, struct idtable_entry *e, uint64_t key);
/* e has to be in the table. */
void idtable_remove(struct idtable *t, struct idtable_entry *e);
/* The entries with this key, the latest first; NULL: none, or no more. */
struct idtable_entry *idtable_first(const struct idtable *t, uint64_t key);
struct idtable_entry *idtable_next(const struct idtable_entry *e);
/* Frees the table, which has to be empty or never looked at again. */
void idtable_free(struct idtable *t);

#endif
