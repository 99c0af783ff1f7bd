/* The locks of a login; store/store.h has what they are for. */
#ifndef MCPSPLICE_SIGNIN_LOCKS_H
#define MCPSPLICE_SIGNIN_LOCKS_H

#include "signin/state.h"

/* Gives it back, if it is held: *fd is -1 then. */
void login_unlock(int *fd);

/* Each does what its name says, and reports what came of it. */
login_part login_lock_token, login_lock_login, login_lock_tab,
    login_unlock_token, login_unlock_tab;

#endif
