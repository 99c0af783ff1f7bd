/* A user with a browser: the URL, and what comes back. */
#ifndef MCPSPLICE_LOGIN_REDIRECT_H
#define MCPSPLICE_LOGIN_REDIRECT_H

#include "login/state.h"

/* Sends the user to the page of the authorization server; dead is called when
 * that does not know the client of the code it gave. */
void login_authorize(struct login *g, login_dead_cb *dead);
/* What comes to the redirect's port: listener_cb. */
bool login_callback(struct span so_far, struct buf *reply, void *arg);
browser_cb login_on_browser; /* of g->browser */

#endif
