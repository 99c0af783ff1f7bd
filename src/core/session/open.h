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
/* Takes up the spare session, if a renewal took it and it was answered
 * before. */
void session_open_spare(struct session *s);
/* No session could be opened: calls that wait for one get an error. error is
 * the server's, or NULL. */
void session_open_failed(struct session *s, const struct facts *f,
    struct frame *error);
/* The time of a renewal is over for the calls that began to wait first: they
 * get an error. The renewal goes on for calls that came later. */
void session_renew_late(struct session *s, const struct facts *f);
/* May initialize be sent again in wait ms? The last wait is made shorter, so
 * that the whole time is used. */
bool session_open_again(const struct session *s, const struct facts *f,
    int64_t *wait);
/* A server that allows one session may not know that the old one is gone:
 * deletes the old one and sends this initialize once more. Returns false if
 * that was done already or cannot help. */
bool session_make_room(struct session *s, struct attempt *l,
    const struct facts *f);

#endif
