/* The order of a login. */
#ifndef MCPSPLICE_SIGNIN_ORDER_H
#define MCPSPLICE_SIGNIN_ORDER_H

#include "signin/state.h"

/* Does all of it; once. */
struct login_result login_order(struct login *g);

#endif
