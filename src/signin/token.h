/* Requests for a token. */
#ifndef MCPSPLICE_SIGNIN_TOKEN_H
#define MCPSPLICE_SIGNIN_TOKEN_H

#include "signin/state.h"

/* The scopes that somebody names: the user, the challenge, the resource; owned by
 * the caller; NULL: none. */
char *login_named_scope(const struct login *g);
/* The scopes that are asked for: where nobody names any, and a user signs in,
 * those of the registration, else those that the issuer lists. The same. */
char *login_wanted_scope(const struct login *g);
/* Ends the request r with the proof of this client, POSTs it, and waits for the
 * answer, which is to be freed. To the token endpoint goes also a proof of our
 * key, where tokens are to be bound to one (auth/dpop.h). false: what came
 * instead is reported, as that the proof of the client cannot be made. Takes over
 * r. */
bool login_post(struct login *g, const char *url, struct client_request *r,
    struct fetch_answer *a);
/* Was there no answer, or one that is only of the moment? That is reported
 * then. */
bool login_is_unready(struct login *g, const struct fetch_answer *a);
/* Sends the request r for another token than that of the record, and reports
 * what came of it. Takes over r. */
void login_ask_anew(struct login *g, struct client_request *r);

/* Makes the client of the options that of the record, and decides which scopes
 * are asked for, for a token without the user. */
void login_take_client(struct login *g);
/* Sends the request r for it, and reports what came of it. Takes over r. */
void login_ask_credentials(struct login *g, struct client_request *r);

/* Each does what its name says, and reports what came of it. */
login_part login_refresh, login_credentials, login_exchange;

#endif
