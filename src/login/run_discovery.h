/* Where to sign in. */
#ifndef MCPSPLICE_LOGIN_RUN_DISCOVERY_H
#define MCPSPLICE_LOGIN_RUN_DISCOVERY_H

#include "login/state.h"

/* Does the action of its name, as core/login/login.h has it. */
login_performer login_do_discover;

#endif
