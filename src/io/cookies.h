/* The limits of a cookie jar: libcurl keeps the cookies, and has no limit. */
#ifndef MCPSPLICE_IO_COOKIES_H
#define MCPSPLICE_IO_COOKIES_H

#include <stdbool.h>
#include <stddef.h>

#include <curl/curl.h>

/* The most that the jar can hold: the cookies of the last count, and each
 * Set-Cookie since then. Zeros are a new jar. */
struct cookies {
	size_t n, bytes;
	bool told; /* the user was told that cookies were dropped */
};

/* Counts the cookie of this line of a head, if there is one; libcurl has put it
 * into the jar already. Returns whether cookies_trim may have to remove some. */
bool cookies_count(struct cookies *c, const char *line, size_t n);
/* Removes cookies if there are too many in the jar, which is that of share. */
void cookies_trim(struct cookies *c, CURLSH *share);

#endif
