/* What an outcome means in the step that it is of. */
#ifndef MCPSPLICE_CORE_LOGIN_JUDGE_H
#define MCPSPLICE_CORE_LOGIN_JUDGE_H

#include "core/login/state.h"

/* The finding (enum login_finding), or the outcome itself where that says all.
 * What has to be known later is noted in f. */
int login_judge(struct login_flow *f, int came);
/* Is the client of the record one that was registered before, at this issuer,
 * and seems alive? */
bool login_client_lives(const struct login_flow *f);

#endif
