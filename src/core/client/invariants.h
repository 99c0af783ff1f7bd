/*
 * Asserts the invariants that state.h states.
 */
#ifndef MCPSPLICE_CORE_CLIENT_INVARIANTS_H
#define MCPSPLICE_CORE_CLIENT_INVARIANTS_H

#include "core/client/state.h"

#ifdef MCPSPLICE_SANE
/* Aborts unless each invariant of state.h holds. The time it takes grows with
 * the number of requests, questions, listens and resources. */
void client_sane(struct client *e);
#else
#define client_sane(e) ((void)(e))
#endif

#endif
