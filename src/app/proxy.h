/*
 * The proxy: joins the blind neighbours below (stdio, session, upstream,
 * credentials) with callbacks, and owns the one timer of the reducer.
 */
#ifndef MCPSPLICE_APP_PROXY_H
#define MCPSPLICE_APP_PROXY_H

#include "options/options.h"

/* Serves until stdin ends or a signal comes. Returns the exit status. When
 * it cannot start it returns 1 (or 2 for a setting that cannot be used) with
 * *why a message for people, owned by the caller; nothing was read then. */
int proxy_run(const struct options *o, char **why);

#endif
