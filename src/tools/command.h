/*
 * The commands that a person types. "tools", "call" and "check" are MCP clients
 * of a proxy, so all that holds for a host holds for them; "wrap" changes the
 * configuration of hosts; "login", "logout" and "status" are about tokens, and
 * "status" and "report" about what runs.
 */
#ifndef MCPSPLICE_TOOLS_COMMAND_H
#define MCPSPLICE_TOOLS_COMMAND_H

#include "base/mem.h"
#include "options/options.h"
#include "store/store.h"

/* The program's folder, below OS_PLACE_DATA. */
#define OWN_FOLDER ".local/state/mcpsplice"

/* Each returns the exit status, and sets *why, a message for users that the
 * caller owns, if it failed. */

/* Lists the tools, or shows the one that o->operands name: readable on a
 * terminal, else as one JSON object. */
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
/* Signs in, by a browser or as the options say. */
int command_login(const struct options *o, char **why);
/* Revokes the tokens of a server, and forgets them. */
int command_logout(const struct options *o, char **why);
/* Lists the tokens that there are, of one server or of all, and the processes
 * that run. */
int command_status(const struct options *o, char **why);
/* Writes a file for a bug report. */
int command_report(const struct options *o, char **why);

/* Appends how long the token is good, as "good until DATE, can be renewed". */
void command_token_text(struct buf *out, const struct record *r);
/* Appends the user whom the token names; nothing if it names none. */
void command_user_text(struct buf *out, const struct record *r);

/* --- status.c: records of the store, with the loop run until it has answered --- */

/* What the store answered. */
struct stored {
	struct loop *loop;
	bool answered, there;
	struct record record;
	char *why; /* for users; NULL: nothing went wrong */
};

/* Reads a record into a, to be freed with stored_free. If something else stops
 * the loop, there was no answer in time. */
void stored_read(struct stored *a, struct loop *l, struct store *s,
    const char *name);
void stored_free(struct stored *a);
/* The store's callback when something was written; arg is a struct stored. */
void stored_done(const char *why, void *arg);

/* Finds the name of the server's record in the store. */
void stored_name(const struct options *o, char name[STORE_NAME_BYTES]);
/* Sets name to that of the record of an identity provider at this URL, if no MCP
 * server has a record under name: "status" shows it under that. Runs the loop.
 * Returns whether there is one. */
bool stored_find_provider(struct loop *loop, struct store *store,
    const char *url, const char *profile, char name[STORE_NAME_BYTES]);

/* --- the arguments of a call --- */

/* Appends the JSON object that the words stand for: key=value is a string, or
 * what the schema wants (a number, true or false) if the value is one;
 * key:=json is any JSON; a single "-" is a whole object, which text is; a single
 * object is itself, and another single word the value of a tool's only argument.
 * schema may be absent. Returns 0, or -1 with *why, a message for users that the
 * caller owns. */
int arguments_read(char *const *words, size_t n, struct span text,
    struct span schema, struct buf *out, char **why);
/* Checks required members, their types, enums, and unknown names; no more.
 * Returns 0, or -1 with *why as above. */
int arguments_check(struct span arguments, struct span schema, char **why);

#endif
