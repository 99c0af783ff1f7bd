/* A notification on the user's desktop that a sign-in is wanted. */
#ifndef MCPSPLICE_SIGNIN_NOTIFICATION_H
#define MCPSPLICE_SIGNIN_NOTIFICATION_H

#include "io/child.h"

/* Shows it, if this system has a program for that. host is the name of the MCP
 * server. unset is as in child_config. Nothing is waited for, and a failure is
 * of no consequence: the URL is told in other ways, too. */
void notification_send(struct loop *l, const char *host,
    const char *const *unset);

#endif
