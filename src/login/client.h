/* Who we are at the authorization server. */
#ifndef MCPSPLICE_LOGIN_CLIENT_H
#define MCPSPLICE_LOGIN_CLIENT_H

#include "login/state.h"

/* Each does the action of its name, as core/login/login.h has it. */
void login_do_listen(struct login *g, const struct login_action *a);
void login_do_take_given(struct login *g, const struct login_action *a);
void login_do_take_document(struct login *g, const struct login_action *a);
void login_do_register(struct login *g, const struct login_action *a);
void login_do_register_by_name(struct login *g, const struct login_action *a);

#endif
