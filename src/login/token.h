/* Tokens without a user: refresh, client credentials. */
#ifndef MCPSPLICE_LOGIN_TOKEN_H
#define MCPSPLICE_LOGIN_TOKEN_H

#include "login/state.h"

void login_refresh(struct login *g);
void login_credentials(struct login *g);

#endif
