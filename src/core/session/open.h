/* Opening a session: initialize, its answer, and its failure. */
#ifndef MCPSPLICE_CORE_SESSION_OPEN_H
#define MCPSPLICE_CORE_SESSION_OPEN_H

#include "core/session/state.h"

/* Opens a session with the client's initialize (a reference is taken), which
 * is the call c. */
void session_open(struct session *s, struct frame *initialize, struct call *c);
/* Opens one with an initialize of our own, for a client that sends none. */
void session_open_own(struct session *s);
/* initialize was answered, with a result or an error. */
void session_opened(struct session *s, struct attempt *l, const struct facts *f,
    struct frame *m);
/* No session could be opened: what waits for one gets an error. error is the
 * server's, or NULL. */
void session_open_failed(struct session *s, const struct facts *f,
    struct frame *error);
/* A server with room for one session may not have noticed that the old one
 * is gone: it is ended, and this initialize sent once more. Returns false
 * where that was done, or cannot help. */
bool session_make_room(struct session *s, struct attempt *l,
    const struct facts *f);

#endif
