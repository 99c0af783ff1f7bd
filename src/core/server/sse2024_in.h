/* What comes of the exchanges of HTTP+SSE. */
#ifndef MCPSPLICE_CORE_SERVER_SSE2024_IN_H
#define MCPSPLICE_CORE_SERVER_SSE2024_IN_H

#include "core/server/state.h"

/* The endpoint event of an attempt FOR_STREAM. */
void server_sse2024_in_endpoint(struct server *e, struct server_attempt *i,
    bool ok);
/* Of attempts FOR_STREAM and FOR_POST. Their heads say nothing. */
void server_sse2024_in_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);
void server_sse2024_in_done(struct server *e, struct server_attempt *i,
    const struct facts *f);

#endif
