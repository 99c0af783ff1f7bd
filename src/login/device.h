/* A user with another machine: device code. */
#ifndef MCPSPLICE_LOGIN_DEVICE_H
#define MCPSPLICE_LOGIN_DEVICE_H

#include "login/state.h"

void login_device(struct login *g);

#endif
