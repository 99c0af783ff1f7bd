/* The invariants of core/session, which the head of state.h lists. They are
 * checked at the end of each step in builds with MCPSPLICE_SANE. */
#ifndef MCPSPLICE_CORE_SESSION_INVARIANTS_H
#define MCPSPLICE_CORE_SESSION_INVARIANTS_H

#include "core/session/state.h"

#ifdef MCPSPLICE_SANE
/* Aborts the process if an invariant does not hold. ticked: the step was a
 * tick. */
void session_sane(const struct session *s, bool ticked);
#else
static inline void
session_sane(const struct session *s, bool ticked)
{
	(void)s;
	(void)ticked;
}
#endif

#endif
