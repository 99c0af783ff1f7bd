/* The record of a login: read, changed, written. */
#ifndef MCPSPLICE_LOGIN_RECORDS_H
#define MCPSPLICE_LOGIN_RECORDS_H

#include "login/state.h"

/* Each does the action of its name, as core/login/login.h has it. */
void login_do_load(struct login *g);
void login_do_adopt(struct login *g);
void login_do_forget(struct login *g);
void login_do_count_failure(struct login *g);
void login_do_save(struct login *g);

#endif
