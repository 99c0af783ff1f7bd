/* Reads the number of a format from the beginning of a file. */
#include "config.h"

#include "cache/format.h"

#include "io/file.h"

#define HEAD_BYTES 64

/* Does text begin with title and a number over known? */
static bool
is_over(struct span text, const char *title, unsigned known)
{
	size_t n = strlen(title);
	unsigned number = 0;

	if (text.n < n || memcmp(text.p, title, n) != 0)
		return false;
	for (; n < text.n && text.p[n] >= '0' && text.p[n] <= '9' &&
	     number <= known;
	     n++)
		number = number * 10 + (unsigned)(text.p[n] - '0');
	return number > known;
}

bool
format_is_newer(int fd, const char *title, unsigned known)
{
	char head[HEAD_BYTES];
	size_t n = file_head(fd, head, sizeof head);

	return is_over((struct span){ head, n }, title, known);
}
