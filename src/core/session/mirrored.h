/* Calls that a server of a legacy session refuses with -32020, because it wants
 * the headers of 2026-07-28 all the same (seen in front of GitHub's server). */
#ifndef MCPSPLICE_CORE_SESSION_MIRRORED_H
#define MCPSPLICE_CORE_SESSION_MIRRORED_H

#include "core/session/state.h"

/* Takes the answer to a call. Returns false if that is not -32020 with 400, or
 * if there is nothing left to try. Otherwise the call is held back, and goes out
 * again with the headers: it was refused before it ran. The tools are listed
 * first if the call's is not known, and after a refusal of the headers the
 * modern protocol is tried, once. */
bool session_mirror(struct session *s, struct call *c, const struct facts *f,
    const struct frame *m);
/* The answer to an ATTEMPT_MIRROR came. */
void session_mirror_message(struct session *s, struct attempt *l,
    struct frame *m);
/* The exchange of an ATTEMPT_MIRROR is over. */
void session_mirror_done(struct session *s, struct attempt *l);

#endif
