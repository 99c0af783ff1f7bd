/* Where to sign in. */
#ifndef MCPSPLICE_LOGIN_PLACE_H
#define MCPSPLICE_LOGIN_PLACE_H

#include "login/state.h"

/* Each does the action of its name, as core/login/login.h has it. */
void login_do_discover(struct login *g);

#endif
