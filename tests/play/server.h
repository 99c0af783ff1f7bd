/* What plays core/server, for the chain, which has one. */
#ifndef MCPSPLICE_TESTS_PLAY_SERVER_H
#define MCPSPLICE_TESTS_PLAY_SERVER_H

#include "core/server/server.h"

/* Takes one option of README into c; false: there is none of this name. */
bool server_option(struct server_config *c, const char *word);

#endif
