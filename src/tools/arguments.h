/* The arguments of a tool: from words of a command line, and checked against
 * the tool's input schema. */
#ifndef MCPSPLICE_TOOLS_ARGUMENTS_H
#define MCPSPLICE_TOOLS_ARGUMENTS_H

#include "base/mem.h"

/* Appends the JSON object that the words stand for: key=value is a string, or
 * what the schema wants (a number, true or false) if the value is one;
 * key:=json is any JSON; a single "-" is a whole object, which text is. schema
 * may be absent. Returns 0, or -1 with *why, a message for users that the
 * caller owns. */
int arguments_read(char *const *words, size_t n, struct span text,
    struct span schema, struct buf *out, char **why);
/* Checks required members, their types, enums, and unknown names; no more.
 * Returns 0, or -1 with *why as above. */
int arguments_check(struct span arguments, struct span schema, char **why);

#endif
