/*
 * Configuration files in the syntax of curl's -K, with sections that apply only
 * to the URLs that their pattern matches.
 */
#ifndef MCPSPLICE_OPTIONS_FILE_H
#define MCPSPLICE_OPTIONS_FILE_H

#include "io/url.h"
#include "options/set.h"

/* Reads a file into settings. A missing file is an error only if needed is set.
 * *exposed becomes true if the file contains a literal secret and others may
 * read it. A file that another user could have written is an error. *why has to
 * be NULL before. Returns 0, or -1 with *why. */
int option_file_read(struct option_settings *out, const char *path,
    enum option_weight weight, bool needed, bool *exposed, char **why);

/* Does the pattern of a section match this URL? "*" is any text, also across
 * slashes, but scheme, host with port and the rest are matched separately, so
 * that a pattern for a host does not match the path of another host. A pattern
 * without "://" starts with the host; one without a path matches all paths.
 * "%2e" is a dot, and "%2e%2e" thus the folder above, as WHATWG's URL standard
 * has it. url may be NULL: then only "*" matches. */
bool option_file_match(const char *pattern, const struct url *url);

#endif
