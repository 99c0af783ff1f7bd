/* The identity: all options that select another server or another identity
 * there. */
#ifndef MCPSPLICE_OPTIONS_IDENTITY_H
#define MCPSPLICE_OPTIONS_IDENTITY_H

#include "options/options.h"

/* Appends the URL and these options to identity. Values count as they are
 * written in the options, together with the variables named there; the content
 * of a file does not, so that a renewed token finds the same profile. The
 * identity may contain secrets: wipe it (buf_wipe). *host is the host of the
 * URL, owned by the caller. Returns 0, or -1 and sets nothing if there is no
 * valid URL. */
int options_identity(const struct options *o, struct buf *identity,
    char **host);

#endif
