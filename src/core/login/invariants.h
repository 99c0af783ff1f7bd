/* The invariants of core/login/state.h, checked in debug builds: configure
 * --enable-debug. */
#ifndef MCPSPLICE_CORE_LOGIN_INVARIANTS_H
#define MCPSPLICE_CORE_LOGIN_INVARIANTS_H

#include "core/login/state.h"

#ifdef MCPSPLICE_SANE
/* Ends the process where f breaks an invariant. Call it at the end of a step,
 * before its actions are taken. */
void login_sane(const struct login_flow *f);
#else
#define login_sane(f) ((void)(f))
#endif

#endif
