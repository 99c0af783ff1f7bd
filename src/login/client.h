/* Who we are at the authorization server. */
#ifndef MCPSPLICE_LOGIN_CLIENT_H
#define MCPSPLICE_LOGIN_CLIENT_H

#include "login/state.h"

/* Finds or makes the client, then asks the person. */
void login_find_client(struct login *g);

#endif
