/* A user with another machine: device code. */
#ifndef MCPSPLICE_LOGIN_DEVICE_H
#define MCPSPLICE_LOGIN_DEVICE_H

#include "login/state.h"

/* Each does the action of its name, as core/login/login.h has it. */
login_performer login_do_device, login_do_poll;

#endif
