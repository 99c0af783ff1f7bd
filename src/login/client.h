/* Who we are at the authorization server. */
#ifndef MCPSPLICE_LOGIN_CLIENT_H
#define MCPSPLICE_LOGIN_CLIENT_H

#include "login/state.h"

/* Each does the action of its name, as core/login/login.h has it. */
void login_do_listen(struct login *g);
void login_do_take_given(struct login *g);
void login_do_take_document(struct login *g);
void login_do_register(struct login *g);
void login_do_register_by_name(struct login *g);

#endif
