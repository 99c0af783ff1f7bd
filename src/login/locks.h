/* The locks of a login; store/store.h has what they are for. */
#ifndef MCPSPLICE_LOGIN_LOCKS_H
#define MCPSPLICE_LOGIN_LOCKS_H

#include "login/state.h"

/* Gives it back, if it is held: *fd is -1 then. */
void login_unlock(int *fd);

/* Each does the action of its name, as core/login/login.h has it. */
void login_do_lock_token(struct login *g);
void login_do_lock_login(struct login *g);
void login_do_lock_tab(struct login *g);
void login_do_unlock_token(struct login *g);
void login_do_unlock_tab(struct login *g);

#endif
