/* A user with a browser: the URL, the browser, what comes back. */
#ifndef MCPSPLICE_LOGIN_REDIRECT_H
#define MCPSPLICE_LOGIN_REDIRECT_H

#include "login/state.h"

/* What comes to the redirect's port: listener_cb. */
bool login_callback(struct span so_far, struct buf *reply, void *arg);

/* Each does the action of its name, as core/login/login.h has it. */
login_performer login_do_authorize, login_do_open, login_do_open_for_other,
    login_do_close_browser, login_do_close_listener;

#endif
