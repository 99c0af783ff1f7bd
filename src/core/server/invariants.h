/*
 * The invariants of core/server, which the head of state.h lists. They are
 * checked at the end of each step in builds with MCPSPLICE_SANE.
 */
#ifndef MCPSPLICE_CORE_SERVER_INVARIANTS_H
#define MCPSPLICE_CORE_SERVER_INVARIANTS_H

#include "core/server/state.h"

#ifdef MCPSPLICE_SANE
/* Aborts the process if an invariant does not hold. */
void server_sane(const struct server *e);
#else
#define server_sane(e) ((void)(e))
#endif

#endif
