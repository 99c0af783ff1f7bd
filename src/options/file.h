/*
 * Configuration files in the syntax of curl's -K, with sections that count
 * only for the URLs that their pattern matches.
 */
#ifndef MCPSPLICE_OPTIONS_FILE_H
#define MCPSPLICE_OPTIONS_FILE_H

#include "io/url.h"
#include "options/set.h"

/* Reads a file into settings. A file that does not exist is an error only if
 * it is needed. *exposed becomes true when it holds a literal secret and
 * others may read it. One that another user could have written is an error.
 * *why is NULL before. Returns 0, or -1 with *why. */
int option_file_read(struct option_settings *out, const char *path,
    enum option_weight weight, bool needed, bool *exposed, char **why);

/* Does a section's pattern stand for this URL? "*" is any text, also across
 * slashes, but scheme, host with port and the rest are matched one by one, so
 * that no pattern for a host is met by a path of another. A pattern without
 * "://" is about the host, one without a path about all of them. url may be
 * NULL: then only "*" matches. */
bool option_file_match(const char *pattern, const struct url *url);

#endif
