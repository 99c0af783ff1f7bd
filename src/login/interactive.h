/* Who asks the user. */
#ifndef MCPSPLICE_LOGIN_INTERACTIVE_H
#define MCPSPLICE_LOGIN_INTERACTIVE_H

#include "login/state.h"

/* Asks the user to sign in, or watches the copy that does. */
void login_person(struct login *g);

#endif
