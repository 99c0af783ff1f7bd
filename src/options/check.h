/* What does not go together in the options, once all sources are in. */
#ifndef MCPSPLICE_OPTIONS_CHECK_H
#define MCPSPLICE_OPTIONS_CHECK_H

#include "io/url.h"
#include "options/options.h"

/* Returns what is wrong, for people, owned by the caller and with a hint; or
 * NULL. url is the server's, NULL where none is given. */
char *option_check(const struct options *o, const struct url *url);

#endif
