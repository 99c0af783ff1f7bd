/* The ID token of a sign-in at an identity provider. */
#include "config.h"

#include "signin/id_token.h"

#include <string.h>

#include "auth/claims.h"
#include "signin/client_messages.h"

enum { MARGIN_S = 30 };

int64_t
id_token_end(const struct record *r)
{
	struct json_object *claims = r->token.id_token == NULL ?
	    NULL :
	    claims_of(r->token.id_token);
	int64_t end = claims == NULL ? 0 : document_number(claims, "exp");

	json_object_put(claims);
	return end < 0 ? 0 : end;
}

bool
id_token_usable(const struct record *r, int64_t now)
{
	return r->token.id_token != NULL && id_token_end(r) > now + MARGIN_S;
}

char *
id_token_fault(const struct record *r, struct json_object *doc)
{
	struct json_object *claims;
	const char *iss, *why = NULL;

	if (document_text(doc, "id_token") == NULL || r->token.id_token == NULL)
		return xstrdup("the identity provider gave no ID token");
	claims = claims_of(r->token.id_token);
	iss = claims == NULL ? NULL : document_text(claims, "iss");
	if (claims == NULL)
		why = "the identity provider's ID token is no JWT";
	else if (iss == NULL || r->issuer == NULL ||
	    strcmp(iss, r->issuer) != 0)
		why = "the ID token is not from the identity provider that was "
		      "asked (iss), so it is not used";
	else if (!claims_are_for(claims, r->client.id))
		why = "the ID token is for another client (aud), so it is not "
		      "used";
	json_object_put(claims);
	return why == NULL ? NULL : xstrdup(why);
}
