/*
 * The ID token of a sign-in at an identity provider: what is believed of it
 * (OpenID Connect Core 1.0 section 3.1.3.7). It came from the provider's token
 * endpoint by TLS, so its signature is not checked.
 */
#ifndef MCPSPLICE_SIGNIN_ID_TOKEN_H
#define MCPSPLICE_SIGNIN_ID_TOKEN_H

#include "signin/client_messages.h"
#include "store/record.h"

/* When the ID token of the record ends, s since 1970; 0: there is none, or it
 * does not say. */
int64_t id_token_end(const struct record *r);
/* Is there one, and is it good for the time of an exchange? now is s since 1970. */
bool id_token_usable(const struct record *r, int64_t now);
/* Why the ID token that doc, the answer of the token endpoint, brought into the
 * record is not used: it is missing, of another issuer or for another client.
 * Owned by the caller; NULL: it is used. */
char *id_token_fault(const struct record *r, struct json_object *doc);

/* Whom the ID-JAG is for. Strings are borrowed; NULL where it is not asked. */
struct id_jag_for {
	const char *host;     /* the MCP server, for people */
	const char *audience; /* the issuer of its authorization server */
	const char *resource; /* the MCP server's */
	const char *client;   /* its client at that authorization server */
};

/* What the provider's answer means: CAME_TOKEN with *jag, owned by the caller;
 * CAME_DEAD_GRANT: the ID token does not do any more; CAME_TRANSIENT;
 * CAME_REFUSED, also where the provider's policy refuses, or where the ID-JAG
 * is for somebody else. *why is for people then, owned by the caller. provider
 * has the secrets that were sent, which no message may show. */
enum login_outcome id_jag_answer(const struct record *provider, int status,
    struct json_object *doc, const struct id_jag_for *to, char **jag,
    char **why);

#endif
