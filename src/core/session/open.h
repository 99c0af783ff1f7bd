/* Opening a session: initialize, its answer, and its failure. */
#ifndef MCPSPLICE_CORE_SESSION_OPEN_H
#define MCPSPLICE_CORE_SESSION_OPEN_H

#include "core/session/state.h"

/* Opens a session with the client's initialize (a reference is taken), whose
 * call is c. */
void session_open(struct session *s, struct frame *initialize, struct call *c);
/* Opens a session with an initialize that mcpsplice makes, for a client that
 * sends none. */
void session_open_own(struct session *s);
/* initialize was answered by m, a result or an error. */
void session_opened(struct session *s, struct attempt *l, const struct facts *f,
    struct frame *m);
/* No session could be opened: calls that wait for one get an error. error is
 * the server's, or NULL. */
void session_open_failed(struct session *s, const struct facts *f,
    struct frame *error);
/* A server that allows one session may not know that the old one is gone:
 * deletes the old one and sends this initialize once more. Returns false if
 * that was done already or cannot help. */
bool session_make_room(struct session *s, struct attempt *l,
    const struct facts *f);

#endif
