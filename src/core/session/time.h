/* What is due. */
#ifndef MCPSPLICE_CORE_SESSION_TIME_H
#define MCPSPLICE_CORE_SESSION_TIME_H

#include "core/session/state.h"

/* Does what is due by now, and finds out what is due next. */
void session_tick(struct session *s);

#endif
