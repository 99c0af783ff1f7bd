/* Requests for a token. */
#ifndef MCPSPLICE_LOGIN_TOKEN_H
#define MCPSPLICE_LOGIN_TOKEN_H

#include "login/state.h"

/* The scopes that are asked for, owned by the caller; NULL: none. */
char *login_wanted_scope(const struct login *g);
/* The signed proof of this client, or NULL where it has none; owned by the
 * caller. false: it cannot be made, which is reported. */
bool login_prove(struct login *g, char **assertion);
/* One POST of a form, then cb. r is freed. */
void login_post(struct login *g, const char *url, struct client_request *r,
    fetch_cb *cb);
/* Was there no answer, or one that is only of the moment? That is reported
 * then. */
bool login_is_unready(struct login *g, const struct fetch_answer *a);
/* fetch_cb of a request for another token than that of the record. */
void login_on_token(const struct fetch_answer *a, void *arg);

/* Each does the action of its name, as core/login/login.h has it. */
void login_do_refresh(struct login *g, const struct login_action *a);
void login_do_credentials(struct login *g, const struct login_action *a);
void login_do_exchange(struct login *g, const struct login_action *a);

#endif
