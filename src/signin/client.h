/* Who we are at the authorization server. */
#ifndef MCPSPLICE_SIGNIN_CLIENT_H
#define MCPSPLICE_SIGNIN_CLIENT_H

#include "signin/state.h"

/* Opens the port of the redirect, 0: any free one, with the limits that a
 * browser meets. host: 127.0.0.1, localhost (nobody else may have the port at
 * [::1]), or 0.0.0.0 for all addresses. Returns NULL with errno. */
struct listener *login_open_port(struct loop *l, unsigned port,
    const char *host, listener_cb *cb, void *arg);

/* Each does what its name says, and reports what came of it. */
login_part login_take_given, login_take_document, login_register,
    login_register_by_name;

/* The same. again: at the port of the last time. */
void login_listen(struct login *g, bool again);

#endif
