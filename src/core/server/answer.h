/* What a modern server answers, and what that is to the session. */
#ifndef MCPSPLICE_CORE_SERVER_ANSWER_H
#define MCPSPLICE_CORE_SERVER_ANSWER_H

#include "core/server/state.h"

/* What comes of attempts FOR_CALL and FOR_TOOLS. */
void server_answer_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);

#endif
