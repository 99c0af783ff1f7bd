/*
 * The text of large messages.
 */
#include "pattern.h"

#include <string.h>

#define PATTERN_N 64
#define PATTERN_SIZE (1024 * 1024)

static const char letters[PATTERN_N +
    1] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+.";

size_t
pattern_at(size_t at, const char **p)
{
	static char all[PATTERN_SIZE];
	size_t i;

	if (all[0] == '\0')
		for (i = 0; i < sizeof all; i += PATTERN_N)
			memcpy(all + i, letters, PATTERN_N);
	*p = all + at % PATTERN_N;
	return sizeof all - at % PATTERN_N;
}

/* If the first 64 bytes are right, and each byte is the one 64 before it, all
 * are. */
bool
pattern_is(const char *p, size_t n)
{
	if (n <= PATTERN_N)
		return memcmp(p, letters, n) == 0;
	return memcmp(p, letters, PATTERN_N) == 0 &&
	    memcmp(p, p + PATTERN_N, n - PATTERN_N) == 0;
}
