/*
 * What the proxy, the sign-in and the tools make of the options before they
 * begin: the loop, the log, the token store, what children must not see.
 */
#ifndef MCPSPLICE_OPTIONS_SETUP_H
#define MCPSPLICE_OPTIONS_SETUP_H

#include "auth/given.h"
#include "base/log.h"
#include "io/url.h"
#include "options/options.h"
#include "store/import.h"
#include "store/store.h"

/* Makes a loop, which the caller owns, or returns NULL with *why for users. */
struct loop *setup_loop(char **why);
/* Starts the log for a command. usual is the level if the options name none;
 * the log file is left to the proxy. */
void setup_log(const struct options *o, enum log_level usual);
/* Logs the warnings about the options. */
void setup_warn(const struct options *o);
/* Returns the value of an environment variable; NULL: it is not set. */
const char *setup_variable(const char *name, void *arg);
/* Returns what the options give instead of a sign-in. It borrows from o. */
struct given_config setup_given(const struct options *o);
/* Returns a path that starts this program again, in its current version; the
 * caller owns it. */
char *setup_program(const struct options *o);
/* Returns the names of variables to hide from child programs, because they hold
 * secrets of the user. NULL-ended; free it with string_list_free. */
char **setup_unset(const struct options *o);
/* Opens the store of this user, which the caller owns, or returns NULL with
 * *why for users. make is as in store_config. */
struct store *setup_store(struct loop *l, const struct options *o,
    const char *const *unset, bool make, char **why);
/* Is the address of the MCP server needed to tell what class of network it is
 * in, and so which authorization servers may be asked? It is if its URL has a
 * host name. Behind a proxy the address is never known, so the answer is no. */
bool setup_needs_peer(const struct options *o, const struct url *url);
/* Fills in where the tokens of mcp-remote would be; the caller owns *folder. */
void setup_import(struct import_config *c, const struct options *o,
    const struct url *url, char **folder);

#endif
