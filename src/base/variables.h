/* ${VAR} in a text of the user. */
#ifndef MCPSPLICE_BASE_VARIABLES_H
#define MCPSPLICE_BASE_VARIABLES_H

#include "base/mem.h"

/* Looks up a variable; get returns NULL for one that is not set. */
struct variables {
	const char *(*get)(const char *name, void *arg);
	void *arg;
};

/* Appends the text to out, with ${VAR} replaced by the variable's value, once, and
 * $$ by a dollar. A dollar before any other character stands for itself. Returns
 * 0, or -1 with *why, which the caller owns and which never contains a value. */
int variables_expand(struct span in, const struct variables *env,
    struct buf *out, char **why);

#endif
