/*
 * The proxy: connects the rooms below (stdio, session, transport, credentials),
 * which do not know each other, by callbacks, and owns the one timer of the
 * reducer.
 */
#ifndef MCPSPLICE_PROXY_PROXY_H
#define MCPSPLICE_PROXY_PROXY_H

#include "options/options.h"

/* Serves until stdin ends or a signal arrives. Returns the exit status. If it
 * cannot start, it returns 1 (or 2 for a setting that cannot be used) with
 * *why, a message for users that the caller owns, and has read nothing from
 * stdin. Calls watch, unless that is NULL, after each input, with the state of
 * the session. now is borrowed. What watch returns is written to stdout; NULL:
 * nothing. */
typedef struct frame *proxy_watch_cb(const struct session_brief *now,
    void *arg);
int proxy_run(const struct options *o, proxy_watch_cb *watch, void *arg,
    char **why);
/* Could it start, as far as that depends on the options? Connects to nobody and
 * runs nothing. Returns 0, or the exit status of a start with *why. */
int proxy_check(const struct options *o, char **why);
/* Writes why to stderr (refuse.c). Hosts hide stderr, so if stdin is not a
 * terminal, one request that arrives within 2 s is also answered with why on
 * stdout. */
void proxy_refuse(const char *why);

#endif
