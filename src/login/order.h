/* The order of a login. */
#ifndef MCPSPLICE_LOGIN_ORDER_H
#define MCPSPLICE_LOGIN_ORDER_H

#include "login/state.h"

/* Does all of it; once. */
struct login_result login_order(struct login *g);
/* Nobody waits for this login any more. Is something begun that other copies
 * would miss? */
bool login_order_orphan(struct login *g);

#endif
