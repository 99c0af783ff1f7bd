/* A hash table with chains; the number of buckets is a power of two. See
 * idtable.h. */
#include "config.h"

#include "base/idtable.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 64 };

static struct idtable_entry **
bucket_of(const struct idtable *t, uint64_t key)
{
	return &t->buckets[key & (t->n_buckets - 1)];
}

static void
put(struct idtable *t, struct idtable_entry *e)
{
	struct idtable_entry **at = bucket_of(t, e->key);

	e->next = *at;
	*at = e;
}

static void
grow(struct idtable *t)
{
	size_t was = t->n_buckets, i;
	struct idtable_entry **old = t->buckets, *chain, *e, *after;

	t->n_buckets = was == 0 ? FIRST_BUCKETS : was * 4;
	t->buckets = xcalloc(t->n_buckets, sizeof(struct idtable_entry *));
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
idtable_add(struct idtable *t, struct idtable_entry *e, uint64_t key)
{
	if (t->n >= t->n_buckets * 2)
		grow(t);
	t->n++;
	e->key = key;
	put(t, e);
}

void
idtable_remove(struct idtable *t, struct idtable_entry *e)
{
	struct idtable_entry **at = bucket_of(t, e->key);

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	t->n--;
}

static struct idtable_entry *
skip(struct idtable_entry *e, uint64_t key)
{
	while (e != NULL && e->key != key)
		e = e->next;
	return e;
}

struct idtable_entry *
idtable_first(const struct idtable *t, uint64_t key)
{
	return t->buckets == NULL ? NULL : skip(*bucket_of(t, key), key);
}

struct idtable_entry *
idtable_next(const struct idtable_entry *e)
{
	return skip(e->next, e->key);
}

void
idtable_free(struct idtable *t)
{
	free(t->buckets);
	*t = (struct idtable){ 0 };
}
