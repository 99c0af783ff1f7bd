/* What comes of the exchanges of HTTP+SSE: attempts FOR_STREAM and FOR_POST. */
#ifndef MCPSPLICE_CORE_SERVER_SSE2024_IN_H
#define MCPSPLICE_CORE_SERVER_SSE2024_IN_H

#include "core/server/state.h"

/* Takes the endpoint event of an attempt FOR_STREAM. ok: it is on the same
 * origin. */
void server_sse2024_in_endpoint(struct server *e, struct server_attempt *i,
    bool ok);
/* Take the messages and the end of an attempt. Its head says nothing. */
void server_sse2024_in_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);
void server_sse2024_in_done(struct server *e, struct server_attempt *i,
    const struct facts *f);

#endif
