/* What the server says. */
#ifndef MCPSPLICE_CORE_SESSION_FROM_SERVER_H
#define MCPSPLICE_CORE_SESSION_FROM_SERVER_H

#include "core/session/state.h"

/* Handles the status and headers of this attempt's answer. */
void session_head(struct session *s, struct attempt *l, const struct facts *f);
/* Handles a message (borrowed) that came on this attempt. */
void session_message(struct session *s, struct attempt *l,
    const struct facts *f, struct frame *m);

#endif
