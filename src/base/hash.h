/*
 * A hash table of things that are found by a number or by the hash of a name.
 * The table owns none of the things: each contains an entry, and the owner of a
 * thing removes the entry before it frees the thing. The table grows and never
 * shrinks.
 */
#ifndef MCPSPLICE_BASE_HASH_H
#define MCPSPLICE_BASE_HASH_H

#include "base/mem.h"

struct hash_entry {
	struct hash_entry *next; /* in the same bucket */
	uint64_t key;
};

struct hash {
	struct hash_entry **buckets; /* NULL until the first entry is
					 * added */
	size_t n_buckets;            /* a power of two */
	size_t n;
};

/* The thing of this type whose member of this name is the entry. */
#define HASH_THING(entry, type, member)                                        \
	((type *)(void *)((char *)(entry)-offsetof(type, member)))

/* Adds an entry. A table of zero bytes is empty. Several entries may have the
 * same key. */
void hash_add(struct hash *t, struct hash_entry *e, uint64_t key);
/* Removes an entry, which has to be in the table. */
void hash_remove(struct hash *t, struct hash_entry *e);
/* Walk the entries with one key, the latest first; NULL at the end. */
struct hash_entry *hash_first(const struct hash *t, uint64_t key);
struct hash_entry *hash_next(const struct hash_entry *e);
/* Frees the buckets. The table has to be empty, or must not be used again. */
void hash_free(struct hash *t);

/* Returns the hash (FNV-1a) of what h is the hash of, with these bytes behind
 * it. HASH_START is that of nothing. Whoever chooses the bytes can choose their
 * hash, too. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t h, const void *p, size_t n);

#endif
