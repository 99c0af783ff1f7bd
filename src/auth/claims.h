/*
 * The claims of a token that is a JWT (RFC 7519). Its signature is not checked:
 * whom it is for, and whose it is, are hints of the one who sends it.
 */
#ifndef MCPSPLICE_AUTH_CLAIMS_H
#define MCPSPLICE_AUTH_CLAIMS_H

#include "store/document.h"

/* What a token that is a JWT says of itself, owned by the caller; NULL: it is
 * none. Its signature is not checked: a hint for people, no more. */
struct json_object *claims_of(const char *token);
/* Returns the JSON of the part of a JWT that begins here, up to its dot, owned by
 * the caller; NULL: it is none. */
struct json_object *claims_part(const char *part);
/* Is who the audience in these claims (aud), or in the list that it is? NULL is
 * for nobody, and nothing is for NULL. */
bool claims_are_for(struct json_object *claims, const char *who);
/* Appends what tells whose token this is: of a JWT what it says but for what is
 * new in each one, so that it stays when the token is renewed; else the token
 * itself. It may be a secret. */
void claims_whose(const char *token, struct buf *out);

#endif
