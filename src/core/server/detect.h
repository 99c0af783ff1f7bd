/* Detection: which era and which transport the server speaks. */
#ifndef MCPSPLICE_CORE_SERVER_DETECT_H
#define MCPSPLICE_CORE_SERVER_DETECT_H

#include "core/server/state.h"

/* Begins detection for an initialize of the session; discovered is as in struct
 * order. */
void server_detect_begin(struct server *e, struct server_order *o,
    struct frame *discovered);
/* Ends detection, if any is under way. */
void server_detect_end(struct server *e);
/* Take what comes of attempts FOR_INITIALIZE and FOR_DISCOVER. */
void server_detect_head(struct server *e, struct server_attempt *i,
    const struct facts *f);
void server_detect_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m);
void server_detect_done(struct server *e, struct server_attempt *i,
    const struct facts *f);
/* Takes the endpoint event that came as the answer to such a POST. */
void server_detect_endpoint(struct server *e, struct server_attempt *i,
    bool ok);
/* Tells detection that the stream of HTTP+SSE has its endpoint (f NULL), or
 * that it will have none, for the reason that the facts give. */
void server_detect_stream(struct server *e, const struct facts *f);
/* Takes a refusal of initialize (m NULL: one without a message). Returns
 * whether it names a revision to try instead: the order has the initialize for
 * that now, once, and the caller sends it. */
bool server_detect_offer(struct server *e, const struct facts *f,
    const struct frame *m);
/* Tells detection that initialize was answered on the stream. */
void server_detect_answered(struct server *e);
/* Tells detection that this attempt waits for the user to sign in, or does not
 * wait any more. */
void server_detect_user(struct server *e, const struct server_attempt *i,
    bool waits);
/* Gives up the wait for an endpoint if its time is over. */
void server_detect_tick(struct server *e);

#endif
