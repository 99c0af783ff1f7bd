/*
 * Allocation that ends the process instead of failing, and growing buffers.
 *
 * A buffer that has memory always has room for one byte more than its content:
 * buf_str() puts a NUL there, and frame_take() an LF. A buffer grows by
 * doubling through realloc(), which can move pages instead of bytes, so that a
 * large message is in memory only once.
 */
#include "config.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "os/memory.h"

#define FIRST_BYTES 256

bool
span_is_nocase(struct span a, const char *s)
{
	return a.n == strlen(s) && strncasecmp(a.p, s, a.n) == 0;
}

bool
span_is_printable(struct span s, char from)
{
	for (; s.n > 0; s.p++, s.n--)
		if (*s.p < from || *s.p > '~')
			return false;
	return true;
}

static bool
glob_char(char p, char t, unsigned flags)
{
	return p == t || (p == '?' && (flags & GLOB_ONE) != 0) ||
	    ((flags & GLOB_NOCASE) != 0 &&
		tolower((unsigned char)p) == tolower((unsigned char)t));
}

bool
span_glob(struct span pattern, struct span text, unsigned flags)
{
	size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;

	while (t < text.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			resume = t;
		} else if (p < pattern.n &&
		    glob_char(pattern.p[p], text.p[t], flags)) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++resume;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

const char *
span_find(struct span s, const char *text)
{
	return s.n == 0 ? NULL : memmem(s.p, s.n, text, strlen(text));
}

struct span
span_take(struct span *rest, char end)
{
	const char *at = rest->n == 0 ? NULL : memchr(rest->p, end, rest->n);
	struct span part = *rest;

	if (at == NULL) {
		*rest = no_span;
		return part;
	}
	part.n = (size_t)(at - part.p);
	rest->p += part.n + 1;
	rest->n -= part.n + 1;
	return part;
}

struct span
span_trim(struct span s, const char *blanks)
{
	size_t n = strlen(blanks);

	for (; s.n > 0 && *s.p <= ' ' && memchr(blanks, *s.p, n); s.n--)
		s.p++;
	while (s.n > 0 && s.p[s.n - 1] <= ' ' &&
	    memchr(blanks, s.p[s.n - 1], n))
		s.n--;
	return s;
}

int64_t
span_number(struct span s)
{
	int64_t n = s.n == 0 ? -1 : 0;
	size_t i;

	for (i = 0; i < s.n && n >= 0; i++)
		n = is_digit(s.p[i]) && n < INT64_MAX / 10 - 1 ?
		    n * 10 + (s.p[i] - '0') :
		    -1;
	return n;
}

struct span
span_unmarked(struct span s)
{
	if (s.n < 3 || memcmp(s.p, "\xef\xbb\xbf", 3) != 0)
		return s;
	return (struct span){ s.p + 3, s.n - 3 };
}

bool
span_is_utf16(struct span s)
{
	return s.n >= 2 &&
	    (memcmp(s.p, "\xff\xfe", 2) == 0 ||
		memcmp(s.p, "\xfe\xff", 2) == 0 || s.p[0] == '\0' ||
		s.p[1] == '\0');
}

_Noreturn void
out_of_memory(void)
{
	os_out_of_memory();
}

static void *
checked(void *p)
{
	if (p == NULL)
		out_of_memory();
	return p;
}

void *
xmalloc(size_t size)
{
	return checked(malloc(size == 0 ? 1 : size));
}

/* Not by calloc(): that of glibc 2.36 takes no chunk from the cache of the
 * thread, and so costs twice as much. */
void *
xcalloc(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		out_of_memory();
	return memset(xmalloc(bytes), 0, bytes);
}

void *
xrealloc(void *p, size_t size)
{
	return checked(realloc(p, size == 0 ? 1 : size));
}

void *
xgrow(void *list, size_t n, size_t size)
{
	if ((n & (n - 1)) != 0) /* no power of two */
		return list;
	return xrealloc(list, (n == 0 ? 1 : 2 * n) * size);
}

char *
xstrdup(const char *s)
{
	size_t size = strlen(s) + 1;

	return memcpy(xmalloc(size), s, size);
}

char *
xstrndup(const char *s, size_t n)
{
	char *copy;
	size_t len;

	len = strnlen(s, n);
	copy = xmalloc(len + 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

/* Appends with printf; the buffer grows once if the first try did not fit. */
static int __attribute__((format(printf, 2, 0)))
add_format(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	size_t room, n;
	int len;

	va_copy(again, ap);
	room = b->cap - b->n;
	len = vsnprintf(room == 0 ? NULL : b->p + b->n, room, fmt, ap);
	if (len < 0) {
		va_end(again);
		return -1;
	}
	n = (size_t)len;
	if (n >= room) {
		if (buf_reserve(b, n) != 0) {
			va_end(again);
			return -1;
		}
		vsnprintf(b->p + b->n, n + 1, fmt, again);
	}
	va_end(again);
	if (b->max != 0 && n > b->max - b->n)
		return -1;
	b->n += n;
	return 0;
}

char *
xvasprintf(const char *fmt, va_list ap)
{
	struct buf b;

	buf_init(&b, 0);
	if (add_format(&b, fmt, ap) != 0)
		out_of_memory();
	return buf_take(&b);
}

char *
xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

int
fail_why(char **why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*why = xvasprintf(fmt, ap);
	va_end(ap);
	return -1;
}

void
buf_init(struct buf *b, size_t max)
{
	memset(b, 0, sizeof *b);
	b->max = max;
}

/* Fills the hole whose text between the braces is given. */
static void
fill(struct buf *b, struct span hole, buf_hole_cb *value, const void *arg)
{
	const char *yes = memchr(hole.p, '?', hole.n);
	const char *no = memchr(hole.p, '|', hole.n), *end = hole.p + hole.n;
	struct buf text;

	buf_init(&text, 0);
	if (yes != NULL)
		hole.n = (size_t)(yes++ - hole.p);
	if (!value(&text, hole, arg))
		buf_addf(b, "{%.*s}", (int)hole.n, hole.p);
	else if (yes == NULL)
		buf_addspan(b, buf_span(&text));
	else if (text.n > 0)
		buf_add(b, yes, (size_t)(no - yes));
	else
		buf_add(b, no + 1, (size_t)(end - no - 1));
	buf_free(&text);
}

void
buf_fill(struct buf *b, const char *text, buf_hole_cb *value, const void *arg)
{
	const char *hole, *end;

	while ((hole = strchr(text, '{')) != NULL) {
		buf_add(b, text, (size_t)(hole++ - text));
		end = strchr(hole, '}');
		fill(b, (struct span){ hole, (size_t)(end - hole) }, value,
		    arg);
		text = end + 1;
	}
	buf_adds(b, text);
}

int
buf_reserve(struct buf *b, size_t n)
{
	size_t cap, need;

	if (b->max != 0 && n > b->max - b->n)
		return -1;
	if (n > SIZE_MAX / 4 - b->n)
		out_of_memory();
	need = b->n + n + 1;
	if (need <= b->cap)
		return 0;
	cap = b->cap == 0 ? FIRST_BYTES : b->cap * 2;
	if (b->max != 0 && cap > b->max + 1)
		cap = b->max + 1;
	if (cap < need)
		cap = need;
	b->p = xrealloc(b->p, cap);
	b->cap = cap;
	return 0;
}

int
buf_add(struct buf *b, const void *p, size_t n)
{
	if (buf_reserve(b, n) != 0)
		return -1;
	if (n != 0)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	return 0;
}

int
buf_addc(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

void
buf_pad(struct buf *b, size_t line, size_t column)
{
	buf_addc(b, ' ');
	do
		buf_addc(b, ' ');
	while (b->n - line < column);
}

int
buf_adds(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int
buf_addspan(struct buf *b, struct span s)
{
	return buf_add(b, s.p, s.n);
}

int
buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = add_format(b, fmt, ap);
	va_end(ap);
	return ret;
}

void
buf_reset(struct buf *b)
{
	b->n = 0;
}

void
buf_free(struct buf *b)
{
	free(b->p);
	buf_init(b, b->max);
}

void
mem_wipe(void *p, size_t n)
{
	/* what the compiler cannot know it cannot drop before free() either */
	static void *(*const volatile set)(void *, int, size_t) = memset;

	if (n > 0)
		set(p, 0, n);
}

void
buf_wipe(struct buf *b)
{
	mem_wipe(b->p, b->cap);
	buf_free(b);
}

void
string_wipe(char **secret)
{
	if (*secret != NULL)
		mem_wipe(*secret, strlen(*secret));
	free(*secret);
	*secret = NULL;
}

void
string_list_free(char **list)
{
	size_t i;

	for (i = 0; list != NULL && list[i] != NULL; i++)
		string_wipe(&list[i]);
	free(list);
}

void
strings_add(struct strings *list, char *s)
{
	list->list = xgrow(list->list, list->n + 1, sizeof *list->list);
	if (s != NULL)
		list->list[list->n++] = s;
	list->list[list->n] = NULL;
}

void
strings_free(struct strings *list)
{
	string_list_free(list->list);
	*list = (struct strings){ 0 };
}

bool
string_eq(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

size_t
string_index(const char *text, const char *const *list, size_t n)
{
	size_t i = 0;

	while (i < n && (text == NULL || strcmp(text, list[i]) != 0))
		i++;
	return i;
}

const char *
string_shown(const char *word)
{
	bool name = strchr(word, '_') != NULL;
	size_t n = strspn(word,
	    name ? "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_" :
		   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");

	return strchr("/.~", *word) != NULL ||
		(word[n] == '\0' && (name || n <= 24)) ?
	    word :
	    "(redacted)";
}

char *
string_copy(const char *s)
{
	return s == NULL ? NULL : xstrdup(s);
}

void
string_set(char **to, const char *value)
{
	char *copy = string_copy(value);

	string_wipe(to);
	*to = copy;
}

/* Puts a NUL behind the content. */
static void
terminate(struct buf *b)
{
	if (b->cap == b->n) {
		b->cap = b->n + 1;
		b->p = xrealloc(b->p, b->cap);
	}
	b->p[b->n] = '\0';
}

const char *
buf_str(struct buf *b)
{
	if (b->p == NULL)
		return "";
	terminate(b);
	return b->p;
}

char *
buf_take(struct buf *b)
{
	char *text;

	terminate(b);
	text = b->p;
	buf_init(b, b->max);
	return text;
}
