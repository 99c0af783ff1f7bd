/*
 * The proxy: connects the rooms below (stdio, session, transport, credentials),
 * which do not know each other, by callbacks, and owns the one timer of the
 * reducer.
 */
#ifndef MCPSPLICE_APP_PROXY_H
#define MCPSPLICE_APP_PROXY_H

#include "options/options.h"

/* Serves until stdin ends or a signal arrives. Returns the exit status. If it
 * cannot start, it returns 1 (or 2 for a setting that cannot be used) with
 * *why, a message for users that the caller owns, and has read nothing from
 * stdin. */
int proxy_run(const struct options *o, char **why);

#endif
