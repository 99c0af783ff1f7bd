/* Checks for options that contradict each other, when all sources have been
 * read. */
#ifndef MCPSPLICE_OPTIONS_CHECK_H
#define MCPSPLICE_OPTIONS_CHECK_H

#include "io/url.h"
#include "options/options.h"

/* Returns an error with a hint, for users, owned by the caller; or NULL. url is
 * the server's, or NULL if none is given. */
char *option_check(const struct options *o, const struct url *url);

/* Returns what is wrong with text, which url_parse refused with this status,
 * and the URL that may have been meant. It never quotes a password. The caller
 * owns it. */
char *option_bad_url(enum url_status status, const char *text,
    enum command command);

#endif
