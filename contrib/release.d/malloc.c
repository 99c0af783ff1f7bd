/*
 * The allocator of the static program: mimalloc for small blocks, because
 * musl's own makes a call a seventh more expensive, and a mapping of its own
 * for each large block. A large block grows without a copy, and its memory goes
 * back at once, as with glibc (give_memory_back in src/main.c). mimalloc keeps
 * memory apart for each size that a growing block had; from 256 KiB on is too
 * late, because messages then took twice what tests/e2e/test_bounds.py allows.
 */
#include "static.c" /* all of mimalloc, so that its fast ways are inlined */

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	LARGE = 64 * 1024,
	PAGE = 4096 /* the least that a system has */
};

struct block {
	char *p;
	size_t size;
};

/* There are few large blocks, so they are looked for one after the other. The
 * table has a mapping, too. */
static struct block *blocks;
static size_t blocks_n, blocks_room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *
map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Doubles the table if it is full. Returns 0, or -1. */
static int
blocks_grow(void)
{
	size_t room = blocks_room == 0 ? PAGE : 2 * blocks_room;
	void *p;

	if (blocks_n < blocks_room / sizeof *blocks)
		return 0;
	p = blocks == NULL ? map(room) :
			     mremap(blocks, blocks_room, room, MREMAP_MAYMOVE);
	if (p == NULL || p == MAP_FAILED)
		return -1;
	blocks = p;
	blocks_room = room;
	return 0;
}

static struct block *
look_up_and_lock(const void *p)
{
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = blocks_n; i-- > 0;)
		if (blocks[i].p == p)
			return &blocks[i];
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Returns the large block at p with the table locked, or NULL with the table
 * not locked. Few small blocks begin with a page. */
static inline struct block *
find_and_lock(const void *p)
{
	return (uintptr_t)p % PAGE != 0 || p == NULL ? NULL :
						       look_up_and_lock(p);
}

static void *
large_new(size_t size)
{
	void *p = NULL;

	if (size > PTRDIFF_MAX) {
		errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_lock(&lock);
	if (blocks_grow() == 0 && (p = map(size)) != NULL)
		blocks[blocks_n++] = (struct block){ p, size };
	pthread_mutex_unlock(&lock);
	return p;
}

/* Returns true if there was a large block at p, which is gone then. */
static inline bool
large_free(void *p)
{
	struct block *b = find_and_lock(p), gone;

	if (b == NULL)
		return false;
	gone = *b;
	*b = blocks[--blocks_n];
	pthread_mutex_unlock(&lock);
	munmap(gone.p, gone.size);
	return true;
}

/* Returns the size of the block at p, which is unlocked again. */
static size_t
large_unlock(struct block *b)
{
	size_t size = b->size;

	pthread_mutex_unlock(&lock);
	return size;
}

void *
malloc(size_t size)
{
	return size >= LARGE ? large_new(size) : mi_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return all >= LARGE ? large_new(all) : mi_zalloc(all);
}

void
free(void *p)
{
	if (!large_free(p))
		mi_free(p);
}

size_t
malloc_usable_size(void *p)
{
	struct block *b = find_and_lock(p);

	return b != NULL ? large_unlock(b) : mi_usable_size(p);
}

static void *
move(void *p, size_t from, size_t to)
{
	void *q = malloc(to);

	if (q == NULL)
		return NULL;
	memcpy(q, p, from < to ? from : to);
	free(p);
	return q;
}

void *
realloc(void *p, size_t size)
{
	struct block *b = find_and_lock(p);
	void *q;

	if (b == NULL && size < LARGE)
		return mi_realloc(p, size);
	if (b == NULL)
		return p == NULL ? large_new(size) :
				   move(p, mi_usable_size(p), size);
	if (size < LARGE)
		return move(p, large_unlock(b), size);
	q = mremap(b->p, b->size, size, MREMAP_MAYMOVE);
	if (q != MAP_FAILED)
		*b = (struct block){ q, size };
	pthread_mutex_unlock(&lock);
	return q == MAP_FAILED ? NULL : q;
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return mi_memalign(alignment, size);
}

void *
memalign(size_t alignment, size_t size)
{
	return mi_memalign(alignment, size);
}

int
posix_memalign(void **p, size_t alignment, size_t size)
{
	return mi_posix_memalign(p, alignment, size);
}
