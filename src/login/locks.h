/* The locks of a login; store/store.h has what they are for. */
#ifndef MCPSPLICE_LOGIN_LOCKS_H
#define MCPSPLICE_LOGIN_LOCKS_H

#include "login/state.h"

/* Gives it back, if it is held: *fd is -1 then. */
void login_unlock(int *fd);

/* Each does the action of its name, as core/login/login.h has it. */
login_performer login_do_lock_token, login_do_lock_login, login_do_lock_tab,
    login_do_unlock_token, login_do_unlock_tab;

#endif
