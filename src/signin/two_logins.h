/*
 * Enterprise-managed authorization (SEP-990): a login at an MCP server whose
 * assertion an identity provider gives, and before it, only where that is
 * needed, the user's sign-in at the provider. That is a login of its own, with
 * a record and locks of its own, which all servers share. No lock of the MCP
 * server is held while a user signs in.
 */
#ifndef MCPSPLICE_SIGNIN_TWO_LOGINS_H
#define MCPSPLICE_SIGNIN_TWO_LOGINS_H

#include "signin/login.h"

/* Makes the name of the record of a sign-in at a provider, as store_name does;
 * no URL has it. */
void two_logins_name(char name[STORE_NAME_BYTES], const char *issuer,
    const char *client, const char *profile);

struct two_logins;

/* Makes it, as login_new does. provider is the configuration of the login at the
 * provider; NULL: there is none, and server is an ordinary login. Whether the
 * user may be asked, and is told by the desktop, is that of server. All is
 * borrowed. */
struct two_logins *two_logins_new(struct loop *l, struct fetcher *f,
    struct store *store, const struct login_config *server,
    const struct login_config *provider, login_where_cb *where, void *arg);
/* The same as those of a login. It never ends in LOGIN_IDENTITY. */
void two_logins_run(struct two_logins *m, struct login_done *d);
bool two_logins_paste(struct two_logins *m, const char *url);
bool two_logins_orphan(struct two_logins *m);
void two_logins_free(struct two_logins *m);

#endif
