/* A 401 or 403: the session or the credentials? */
#ifndef MCPSPLICE_CORE_SESSION_UNAUTHORIZED_H
#define MCPSPLICE_CORE_SESSION_UNAUTHORIZED_H

#include "core/session/state.h"

/* A request was refused with 401 or 403, perhaps one that core/server sent:
 * decides whether that is the answer, or whether other credentials may help. */
void session_unauthorized(struct session *s, const struct event *in);

#endif
