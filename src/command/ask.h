/* A question of a server (elicitation/create), asked at the terminal. */
#ifndef MCPSPLICE_COMMAND_ASK_H
#define MCPSPLICE_COMMAND_ASK_H

#include "base/mem.h"

/* Asks the user for each field of the requested schema, and appends the result
 * for the server, JSON. An empty line declines. Returns 0, or -1 if this kind
 * of question cannot be asked. */
int ask_user(struct span params, struct buf *result);

#endif
