/* Requests for a token. */
#ifndef MCPSPLICE_LOGIN_TOKEN_H
#define MCPSPLICE_LOGIN_TOKEN_H

#include "login/state.h"

/* The scopes that somebody names: the user, the challenge, the resource; owned by
 * the caller; NULL: none. */
char *login_named_scope(const struct login *g);
/* The scopes that are asked for: where nobody names any, and a user signs in,
 * those of the registration, else those that the issuer lists. The same. */
char *login_wanted_scope(const struct login *g);
/* Ends the request r with the proof of this client, and POSTs it; then cb. To
 * the token endpoint goes also a proof of our key, where tokens are to be bound
 * to one (login/dpop.h). A proof of the client that cannot be made is reported
 * instead. Takes over r. */
void login_post(struct login *g, const char *url, struct client_request *r,
    fetch_cb *cb);
/* Was there no answer, or one that is only of the moment? That is reported
 * then. */
bool login_is_unready(struct login *g, const struct fetch_answer *a);
/* fetch_cb of a request for another token than that of the record. */
void login_on_token(const struct fetch_answer *a, void *arg);

/* Makes the client of the options that of the record, and decides which scopes
 * are asked for, for a token without the user. */
void login_take_client(struct login *g);
/* fetch_cb of the request for it. */
void login_on_credentials(const struct fetch_answer *a, void *arg);

/* Each does the action of its name, as core/login/login.h has it. */
login_performer login_do_refresh, login_do_credentials, login_do_exchange;

#endif
