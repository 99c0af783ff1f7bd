/* The limits of the cookie jar: libcurl keeps the cookies, and has no limit. */
#ifndef MCPSPLICE_IO_COOKIES_H
#define MCPSPLICE_IO_COOKIES_H

#include "io/http_state.h"

/* May the jar hold more cookies than it is allowed to? */
bool cookies_are_too_many(const struct http *h);
/* Counts the cookie of this line of a head, if there is one. libcurl has put it
 * into the jar already. */
void cookies_count(struct http *h, const char *line, size_t n);
/* Counts the cookies in the jar, and removes some if there are too many. */
void cookies_trim(struct http *h);

#endif
