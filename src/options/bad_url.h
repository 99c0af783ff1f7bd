/* What to tell a user whose URL cannot be used. */
#ifndef MCPSPLICE_OPTIONS_BAD_URL_H
#define MCPSPLICE_OPTIONS_BAD_URL_H

#include "io/url.h"
#include "options/options.h"

/* Returns what is wrong with text, which url_parse refused with this status,
 * and the URL that may have been meant. It never quotes a password. The caller
 * owns it. */
char *option_bad_url(enum url_status status, const char *text,
    enum command command);

#endif
