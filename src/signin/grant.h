/* A token without the user: by client credentials, or by an assertion (RFC 7523
 * section 2.1). */
#ifndef MCPSPLICE_SIGNIN_GRANT_H
#define MCPSPLICE_SIGNIN_GRANT_H

#include "signin/state.h"

/* Gets it in ms at most, and reports what came of it. */
void login_grant(struct login *g, int64_t ms);

#endif
