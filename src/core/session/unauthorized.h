/* A 401 or 403: the session or the credentials? */
#ifndef MCPSPLICE_CORE_SESSION_UNAUTHORIZED_H
#define MCPSPLICE_CORE_SESSION_UNAUTHORIZED_H

#include "core/session/state.h"

/* A request was refused with 401 or 403, perhaps one that core/server sent:
 * decides whether that is the answer, or whether other credentials may help. */
void session_unauthorized(struct session *s, const struct event *in);
/* An answer to an ATTEMPT_DOOR came. */
void session_door_message(struct session *s, struct attempt *l);
/* The exchange of an ATTEMPT_DOOR is over. */
void session_door_done(struct session *s, struct attempt *l);

#endif
