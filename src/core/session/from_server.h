/* What the server says. */
#ifndef MCPSPLICE_CORE_SESSION_FROM_SERVER_H
#define MCPSPLICE_CORE_SESSION_FROM_SERVER_H

#include "core/session/state.h"

/* Status and headers came on this attempt. */
void session_head(struct session *s, struct attempt *l, const struct facts *f);
/* A message (borrowed) came on it. */
void session_message(struct session *s, struct attempt *l,
    const struct facts *f, struct frame *m);

#endif
