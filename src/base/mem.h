/*
 * Memory: allocation that never returns NULL, borrowed spans, owned buffers. If
 * memory runs out, the process ends with one line on stderr. The rooms above
 * set the caps that bound what a peer can make the process hold.
 */
#ifndef MCPSPLICE_BASE_MEM_H
#define MCPSPLICE_BASE_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "os/text.h"

/* A borrowed view of bytes; it never outlives the bytes. If n is 0, p may be
 * NULL: the value is absent. */
struct span {
	const char *p;
	size_t n;
};

static const struct span no_span = { NULL, 0 };

/* Bytes that the buffer owns and that can grow. max is the cap in bytes; 0:
 * none. */
struct buf {
	char *p;
	size_t n;
	size_t cap;
	size_t max;
};

/* Bytes that the allocator uses for itself with each allocation. */
#define MEM_OVERHEAD 16

/* Ends the process with exit status 1 and one line on stderr. Nothing is half
 * written then: stdout gets whole lines, and files replace others when they are
 * complete. */
_Noreturn void out_of_memory(void);

/* Like the functions of the C library without the x, but they end the process
 * instead of returning NULL. The caller owns the memory. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
/* Makes room for one more behind n things of so many bytes, in a list that has
 * grown by this function only. The room doubles, so that a long list is linear
 * with every allocator. */
void *xgrow(void *list, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
/* Prints into a new string, which the caller owns. */
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));
/* Prints into *why, which the caller's caller owns, and returns -1. */
int fail_why(char **why, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

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

/* Of ASCII; base64 counts on their order. */
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define ALNUM LETTERS "0123456789"

/* Is it white space of JSON? */
static inline bool
is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Is it this text in ASCII, whatever the case of its letters? */
bool span_is_nocase(struct span a, const char *s);
/* Are all of its bytes ASCII, from this one on (' ' or '!') up to '~'? */
bool span_is_printable(struct span s, char from);
enum { GLOB_NOCASE = 1, GLOB_ONE = 2 };
/* Matches a pattern with all of text: "*" is any text; with GLOB_ONE, "?" is
 * any byte; with GLOB_NOCASE, ASCII letters match in either case. Linear in
 * practice, because only the latest "*" is tried again. */
bool span_glob(struct span pattern, struct span text, unsigned flags);
/* Returns where text begins in s for the first time, or NULL. */
const char *span_find(struct span s, const char *text);
/* Takes the part before the first byte end off rest, or all of it, and returns
 * it; that byte goes, too. */
struct span span_take(struct span *rest, char end);
/* Returns s without the bytes of blanks, which are white space, at both ends. */
struct span span_trim(struct span s, const char *blanks);
/* Returns the number that s is, in decimal digits and nothing else; -1: it is
 * none, or is too large. */
int64_t span_number(struct span s);
/* Returns a file's text without the byte order mark that some editors write. */
struct span span_unmarked(struct span s);
/* Is it UTF-16, as PowerShell writes it: with a mark, or a NUL in each character?
 */
bool span_is_utf16(struct span s);

/* Makes b an empty buffer without memory. max: its cap in bytes; 0: none, and
 * then zeros are the same. */
void buf_init(struct buf *b, size_t max);
/* Append to b. Each returns 0, or -1 and leaves b as it was if the content
 * would grow over the cap. */
int buf_add(struct buf *b, const void *p, size_t n);
int buf_addc(struct buf *b, char c);
int buf_adds(struct buf *b, const char *s);
int buf_addspan(struct buf *b, struct span s);
int buf_addf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds two blanks or more, up to this column of the line that begins at the
 * offset line. */
void buf_pad(struct buf *b, size_t line, size_t column);
/* Appends the value of the hole of this name. Returns false if there is none. */
typedef bool buf_hole_cb(struct buf *out, struct span name, const void *arg);
/* Appends a text with its holes filled. {NAME} becomes the value, and stays if
 * there is no such hole; {NAME?YES|NO} becomes YES if the value is not empty. */
void buf_fill(struct buf *b, const char *text, buf_hole_cb *value,
    const void *arg);
/* Makes room for n more bytes, when the size is known in advance. Returns like
 * buf_add. */
int buf_reserve(struct buf *b, size_t n);
/* Empties the buffer and keeps its memory. */
void buf_reset(struct buf *b);
/* Frees the memory; b can be used again with the same cap. */
void buf_free(struct buf *b);
/* Like buf_free, but overwrites the bytes first; for secrets. */
void buf_wipe(struct buf *b);
/* Returns the content as a string, which the caller owns; b is empty after. */
char *buf_take(struct buf *b);

/* Overwrites bytes in a way that no compiler removes; for secrets. p may be
 * NULL if n is 0. */
void mem_wipe(void *p, size_t n);
/* Returns a word of a user for an error, or "(redacted)" if it may be a secret: it
 * is shown if it begins as a path does, or has letters and dashes, or is a name in
 * capitals with an underscore in it. */
const char *string_shown(const char *word);
/* Returns a copy, which the caller owns; NULL for NULL. */
char *string_copy(const char *s);
/* Are both the same text, or both NULL? */
bool string_eq(const char *a, const char *b);
/* Returns the index of text, which may be NULL, in a list of n; n: it is not
 * there. */
size_t string_index(const char *text, const char *const *list, size_t n);
/* Overwrites and frees the string *secret, and sets it to NULL. *secret may be
 * NULL already. */
void string_wipe(char **secret);
/* Sets *to to a copy of value, which may be NULL or *to; what was there is
 * overwritten and freed. */
void string_set(char **to, const char *value);

/* Overwrites and frees the strings of a NULL-ended list, and the list. NULL is
 * allowed. */
void string_list_free(char **list);

/* A list of strings, NULL-ended as soon as something was added. */
struct strings {
	char **list;
	size_t n;
};

/* Appends s, which the list takes over; NULL only ends the list. */
void strings_add(struct strings *list, char *s);
/* Overwrites and frees the strings, and empties the list. */
void strings_free(struct strings *list);

static inline struct span
buf_span(const struct buf *b)
{
	return (struct span){ b->p, b->n };
}

/* Returns the content as a C string: a NUL, which is not counted, follows it. b
 * owns the string, until b changes. */
const char *buf_str(struct buf *b);

#endif
