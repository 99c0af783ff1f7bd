/*
 * The exchange of an ID token for an ID-JAG, the assertion that an identity
 * provider gives for another authorization server (RFC 8693;
 * draft-ietf-oauth-identity-assertion-authz-grant sections 3 and 4). Pure:
 * bytes in, bytes out.
 */
#ifndef MCPSPLICE_SIGNIN_ID_JAG_H
#define MCPSPLICE_SIGNIN_ID_JAG_H

#include "signin/client_messages.h"

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
