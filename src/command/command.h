/*
 * The commands that use a server: "tools", "call" and "check". Each is an MCP
 * client of a proxy, so all that holds for a host holds for them. And "wrap",
 * which changes the configuration of hosts.
 */
#ifndef MCPSPLICE_COMMAND_COMMAND_H
#define MCPSPLICE_COMMAND_COMMAND_H

#include "options/options.h"

/* Each returns the exit status, and sets *why, a message for users that the
 * caller owns, if it failed. */

/* Lists the tools: readable on a terminal, else as one JSON object. */
int command_tools(const struct options *o, char **why);
/* Calls a tool: o->operands are its name and its arguments. Prints the result:
 * readable on a terminal, else as JSON. */
int command_call(const struct options *o, char **why);
/* Tries everything that a start needs, one step after the other, and prints a
 * line for each: readable, or with --json one object for all. Returns 1 if a
 * step failed. *why is set only if nothing could be printed. */
int command_check(const struct options *o, char **why);
/* Rewrites the entries of MCP hosts that use a URL, mcp-remote, supergateway or
 * mcp-proxy: o->operands are the files; none: those of all known hosts. */
int command_wrap(const struct options *o, char **why);

#endif
