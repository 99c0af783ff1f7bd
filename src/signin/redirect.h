/* A user with a browser: the URL, the browser, what comes back. */
#ifndef MCPSPLICE_SIGNIN_REDIRECT_H
#define MCPSPLICE_SIGNIN_REDIRECT_H

#include "signin/state.h"

/* What comes to the redirect's port: listener_cb. */
bool login_callback(struct span so_far, struct buf *reply, void *arg);

/* Each does what its name says, and reports what came of it. */
login_part login_authorize, login_open, login_open_for_other,
    login_close_browser, login_close_listener;

#endif
