/*
 * Each file of the cache begins with a title and the number of its format. A
 * file with a higher number than ours is one of a newer mcpsplice that shares
 * this HOME: it is neither used nor replaced nor removed for its content.
 */
#ifndef MCPSPLICE_CACHE_FORMAT_H
#define MCPSPLICE_CACHE_FORMAT_H

#include <stdbool.h>

/* Does the open file begin with title and a number over known? */
bool format_is_newer(int fd, const char *title, unsigned known);

#endif
