/* What does not go together in the options, once all sources are in. */
#ifndef MCPSPLICE_APP_OPTION_CHECK_H
#define MCPSPLICE_APP_OPTION_CHECK_H

#include "app/options.h"
#include "io/url.h"

/* Returns what is wrong, for people, owned by the caller and with a hint; or
 * NULL. url is the server's, NULL where none is given. */
char *option_check(const struct options *o, const struct url *url);

#endif
