/* The server's lists, all pages of them. */
#ifndef MCPSPLICE_TOOLS_LIST_H
#define MCPSPLICE_TOOLS_LIST_H

#include "tools/peer.h"

/* Appends what the answers to this method have in their member, as a JSON
 * array. Returns 0, or -1 with *why (NULL before) for users, owned by the
 * caller; what came before the failure is in the array then. */
int list_all(struct peer *p, const char *method, const char *member,
    struct buf *out, char **why);
/* The same for the tools. */
int list_tools(struct peer *p, struct buf *out, char **why);
/* Returns the tool of that name in such an array; p NULL: there is none. */
struct span list_find(struct span tools, const char *name);

#endif
