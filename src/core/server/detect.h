/* Which era, which transport? */
#ifndef MCPSPLICE_CORE_SERVER_DETECT_H
#define MCPSPLICE_CORE_SERVER_DETECT_H

#include "core/server/state.h"

/* The session sends initialize. */
void server_detect_begin(struct server *e, struct server_order *o);
/* Nothing is found out any more. */
void server_detect_end(struct server *e);
/* What comes of attempts FOR_INITIALIZE and FOR_DISCOVER. */
void server_detect_head(struct server *e, struct server_attempt *i,
    const struct facts *f);
void server_detect_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);
void server_detect_done(struct server *e, struct server_attempt *i,
    const struct facts *f);
/* A POST that asks got the stream of HTTP+SSE: its endpoint event. */
void server_detect_endpoint(struct server *e, struct server_attempt *i,
    bool ok);
/* The stream of HTTP+SSE has its endpoint (f NULL), or will have none, as the
 * facts say. */
void server_detect_stream(struct server *e, const struct facts *f);
/* initialize was answered on that stream. */
void server_detect_answered(struct server *e);
/* Its exchange waits for a person to sign in, or does not any more. */
void server_detect_user(struct server *e, const struct server_attempt *i,
    bool waits);
/* Does what is due. */
void server_detect_tick(struct server *e);

#endif
