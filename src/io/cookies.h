/* The limits of a cookie jar, and its end: libcurl keeps the cookies, and has no
 * limit. */
#ifndef MCPSPLICE_IO_COOKIES_H
#define MCPSPLICE_IO_COOKIES_H

#include <stdbool.h>
#include <stddef.h>

#include <curl/curl.h>

#include "base/bounds.h"

enum {
	COOKIES_KEPT = BOUND_COOKIES / 4, /* of the oldest, and the newest */
	COOKIES_NAME_BYTES = 64
};

/* The most that the jar can hold: the cookies of the last count, and each
 * Set-Cookie since then. Zeros are a new jar. */
struct cookies {
	size_t n, bytes;
	size_t set; /* how often a cookie was set */
	/* The names that came first. The jar does not tell: in that of a new
	 * libcurl, a cookie that is set again is the last one. Longer names are
	 * not noted. */
	char first[COOKIES_KEPT][COOKIES_NAME_BYTES];
	size_t n_first;
	bool told; /* the user was told that cookies were dropped */
};

/* Counts the cookie of this line of a head; libcurl has put it into the jar
 * already. Returns false if there is none. */
bool cookies_count(struct cookies *c, const char *line, size_t n);
/* Empties the jar, which easy uses. */
void cookies_drop(struct cookies *c, CURL *easy);
/* Counts the cookies in the jar of share, and removes some if there are too
 * many. */
void cookies_trim(struct cookies *c, CURLSH *share);

/* May there be too many? */
static inline bool
cookies_overflow(const struct cookies *c)
{
	return c->n > BOUND_COOKIES || c->bytes > BOUND_COOKIES_BYTES;
}

#endif
