/* What the session is told of the answers of a modern server. */
#ifndef MCPSPLICE_CORE_SERVER_ANSWER_H
#define MCPSPLICE_CORE_SERVER_ANSWER_H

#include "core/server/state.h"

/* Takes a message of an attempt FOR_CALL or FOR_TOOLS. */
void server_answer_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);

#endif
