/*
 * What the C library lacks on Windows.
 */
#include "config.h"

#include "os/text.h"

#include <strings.h>

void *
memmem(const void *in, size_t size, const void *what, size_t n)
{
	const char *p = in, *last = p + size - n;

	if (n == 0)
		return (void *)(size_t)in;
	if (size < n)
		return NULL;
	for (; (p = memchr(p, *(const char *)what, (size_t)(last - p) + 1)) !=
	     NULL;
	     p++) {
		if (memcmp(p, what, n) == 0)
			return (void *)(size_t)p;
		if (p == last)
			break;
	}
	return NULL;
}

char *
strcasestr(const char *in, const char *what)
{
	size_t n = strlen(what);

	for (; strncasecmp(in, what, n) != 0; in++)
		if (*in == '\0')
			return NULL;
	return (char *)(size_t)in;
}

char *
stpcpy(char *restrict to, const char *restrict from)
{
	size_t n = strlen(from);

	return (char *)memcpy(to, from, n + 1) + n;
}
