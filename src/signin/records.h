/* The record of a login: read, changed, written. */
#ifndef MCPSPLICE_SIGNIN_RECORDS_H
#define MCPSPLICE_SIGNIN_RECORDS_H

#include "signin/state.h"

/* Each does what its name says, and reports what came of it. */
login_part login_load, login_count_failure;
/* The same; before it, what is no good any more is forgotten. */
void login_adopt(struct login *g, enum login_forget what);
void login_save(struct login *g, enum login_forget what);
void login_forget(struct login *g, enum login_forget what);

/* Is its token, as far as can be told without asking? That of an identity
 * provider is the ID token. */
bool login_is_usable(const struct login *g);
/* Has it the scopes that the challenge wants? */
bool login_has_scopes(const struct login *g);
/* Makes the proof of the token; false: there is none. */
bool login_prove_token(const struct login *g, char proof[PROOF_BYTES]);

#endif
