/*
 * Memory: allocation that never returns NULL, borrowed spans, owned buffers.
 * Running out of memory ends the process with one line on stderr; what a peer
 * can make us hold is bounded by the caps above this room.
 */
#ifndef MCPSPLICE_BASE_MEM_H
#define MCPSPLICE_BASE_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A borrowed view of bytes; never outlives what it points into. p may be NULL
 * when n is 0: an absent value. */
struct span {
	const char *p;
	size_t n;
};

/* Owned, growing bytes. max is the cap in bytes, 0 means none. */
struct buf {
	char *p;
	size_t n;
	size_t cap;
	size_t max;
};

/* What the allocator takes for itself, beside the bytes of an allocation. */
#define MEM_OVERHEAD 16

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
/* printf into a fresh string owned by the caller. */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));

static inline struct span
span_of(const char *s)
{
	return (struct span){ s, s == NULL ? 0 : strlen(s) };
}

static inline bool
span_eq(struct span a, struct span b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool
span_is(struct span a, const char *s)
{
	return span_eq(a, span_of(s));
}

void buf_init(struct buf *b, size_t max);
/* Each returns 0, or -1 and leaves b as it was when the cap would be passed. */
int buf_add(struct buf *b, const void *p, size_t n);
int buf_addc(struct buf *b, char c);
int buf_adds(struct buf *b, const char *s);
int buf_addspan(struct buf *b, struct span s);
int buf_addf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Makes room for n more bytes (a hint when the size is known). */
int buf_reserve(struct buf *b, size_t n);
/* Drops the first n bytes. */
void buf_drain(struct buf *b, size_t n);
/* Forgets the content, keeps the memory. */
void buf_reset(struct buf *b);
/* Frees the memory; b can be used again with the same cap. */
void buf_free(struct buf *b);
/* The same for a secret: its bytes are overwritten first. */
void buf_wipe(struct buf *b);
/* Overwrites and frees the string *secret, and sets it to NULL; it may be NULL
 * already. */
void string_wipe(char **secret);

static inline struct span
buf_span(const struct buf *b)
{
	return (struct span){ b->p, b->n };
}

/* The content as a C string (a NUL is put behind it, not counted). */
const char *buf_str(struct buf *b);

#endif
