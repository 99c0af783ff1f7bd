/* Messages in few words. */
#ifndef MCPSPLICE_TESTS_PLAY_MESSAGE_H
#define MCPSPLICE_TESTS_PLAY_MESSAGE_H

#include "base/mem.h"

/* Adds a message of the client: METHOD [ID] [PARAMS], answer ID [RESULT], or
 * refuse ID CODE TEXT. */
void message_of_client(struct buf *b, const char *text);
/* Adds a message of the server, MESSAGE of README, with "$" and what has no id
 * of its own for this id; no id: null. Returns false if it is none. */
bool message_of_server(struct buf *b, struct span id, const char *text);

#endif
