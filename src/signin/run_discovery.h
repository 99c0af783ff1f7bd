/* Where to sign in. */
#ifndef MCPSPLICE_SIGNIN_RUN_DISCOVERY_H
#define MCPSPLICE_SIGNIN_RUN_DISCOVERY_H

#include "signin/state.h"

/* Does what its name says, in ms at most, and reports what came of it. */
void login_discover(struct login *g, int64_t ms, bool interactive);

#endif
