/* The record of a login: read, changed, written. */
#ifndef MCPSPLICE_LOGIN_RECORDS_H
#define MCPSPLICE_LOGIN_RECORDS_H

#include "login/state.h"

/* Each does the action of its name, as core/login/login.h has it. */
login_performer login_do_load, login_do_adopt, login_do_forget,
    login_do_count_failure, login_do_save;

#endif
