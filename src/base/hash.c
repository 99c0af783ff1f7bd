/* A hash table with chains; the number of buckets is a power of two. See
 * hash.h. */
#include "config.h"

#include "base/hash.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 64 };

static struct hash_entry **
bucket_of(const struct hash *t, uint64_t key)
{
	return &t->buckets[key & (t->n_buckets - 1)];
}

static void
put(struct hash *t, struct hash_entry *e)
{
	struct hash_entry **at = bucket_of(t, e->key);

	e->next = *at;
	*at = e;
}

static void
grow(struct hash *t)
{
	size_t was = t->n_buckets, i;
	struct hash_entry **old = t->buckets, *chain, *e, *after;

	t->n_buckets = was == 0 ? FIRST_BUCKETS : was * 4;
	t->buckets = xcalloc(t->n_buckets, sizeof(struct hash_entry *));
	for (i = 0; i < was; i++) {
		/* put() adds in front. Reversing the chain first keeps its
		 * order. */
		for (chain = NULL, e = old[i]; e != NULL; e = after) {
			after = e->next;
			e->next = chain;
			chain = e;
		}
		for (e = chain; e != NULL; e = after) {
			after = e->next;
			put(t, e);
		}
	}
	free(old);
}

void
hash_add(struct hash *t, struct hash_entry *e, uint64_t key)
{
	if (t->n >= t->n_buckets * 2)
		grow(t);
	t->n++;
	e->key = key;
	put(t, e);
}

void
hash_remove(struct hash *t, struct hash_entry *e)
{
	struct hash_entry **at = bucket_of(t, e->key);

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	t->n--;
}

static struct hash_entry *
skip(struct hash_entry *e, uint64_t key)
{
	while (e != NULL && e->key != key)
		e = e->next;
	return e;
}

struct hash_entry *
hash_first(const struct hash *t, uint64_t key)
{
	return t->buckets == NULL ? NULL : skip(*bucket_of(t, key), key);
}

struct hash_entry *
hash_next(const struct hash_entry *e)
{
	return skip(e->next, e->key);
}

void
hash_free(struct hash *t)
{
	free(t->buckets);
	*t = (struct hash){ 0 };
}

uint64_t
hash_bytes(uint64_t h, const void *p, size_t n)
{
	const unsigned char *u = p;
	size_t i;

	for (i = 0; i < n; i++)
		h = (h ^ u[i]) * UINT64_C(0x100000001b3);
	return h;
}
