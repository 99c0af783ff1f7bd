/* A user with another machine: device code. */
#ifndef MCPSPLICE_SIGNIN_DEVICE_H
#define MCPSPLICE_SIGNIN_DEVICE_H

#include "signin/state.h"

/* Each does what its name says, and reports what came of it. */
login_part login_device, login_poll;

#endif
