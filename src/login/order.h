/* The order of a login. */
#ifndef MCPSPLICE_LOGIN_ORDER_H
#define MCPSPLICE_LOGIN_ORDER_H

#include "login/state.h"

/* Does all of it; once. */
struct login_result login_order(struct login *g);

#endif
