/* A session that is opened in doubt. */
#ifndef MCPSPLICE_CORE_SESSION_SPARE_H
#define MCPSPLICE_CORE_SESSION_SPARE_H

#include "core/session/state.h"

/* Opens a session beside the one that is in doubt, unless one was opened in
 * vain a moment ago. */
void session_spare_open(struct session *s);
/* Keeps the answer to the initialize of the spare session. Returns false if
 * this attempt is another initialize. */
bool session_spare_opened(struct session *s, const struct attempt *l,
    const struct facts *f, struct frame *m);
/* Makes the spare session the current generation, if there is one: its
 * initialize is under way, or was answered, which the end of the step takes
 * up. Returns false if there is none. */
bool session_spare_take(struct session *s);
/* Has the spare session the id of the current one? Then it began anew, and what
 * is answered in it says nothing about the session that was in doubt. */
bool session_spare_is_current(const struct session *s);
/* The session that was in doubt lives: ends the spare one. */
void session_spare_end(struct session *s);
/* Forgets the spare session. */
void session_spare_free(struct session *s);

#endif
