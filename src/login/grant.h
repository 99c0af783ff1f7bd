/* A token without the user: by client credentials, or by an assertion (RFC 7523
 * section 2.1). */
#ifndef MCPSPLICE_LOGIN_GRANT_H
#define MCPSPLICE_LOGIN_GRANT_H

#include "login/state.h"

/* Does DO_CREDENTIALS. */
login_performer login_do_grant;

#endif
