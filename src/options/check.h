/* Checks for options that contradict each other, when all sources have been
 * read. */
#ifndef MCPSPLICE_OPTIONS_CHECK_H
#define MCPSPLICE_OPTIONS_CHECK_H

#include "io/url.h"
#include "options/options.h"

/* Returns an error with a hint, for users, owned by the caller; or NULL. url is
 * the server's, or NULL if none is given. */
char *option_check(const struct options *o, const struct url *url);

#endif
