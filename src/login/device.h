/* A user with another machine: device code. */
#ifndef MCPSPLICE_LOGIN_DEVICE_H
#define MCPSPLICE_LOGIN_DEVICE_H

#include "login/state.h"

/* Each does what its name says, and reports what came of it. */
login_part login_device, login_poll;

#endif
