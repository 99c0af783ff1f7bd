/* The ID token of a sign-in at an identity provider. */
#include "config.h"

#include "signin/client_messages.h"

#include <stdlib.h>
#include <strings.h>

#include "auth/claims.h"
#include "base/bounds.h"

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
		why = "the identity provider's ID token is not a JWT";
	else if (iss == NULL || r->issuer == NULL ||
	    strcmp(iss, r->issuer) != 0)
		why = "the ID token is not from the identity provider that "
		      "was asked (iss)";
	else if (!claims_are_for(claims, r->client.id))
		why = "the ID token is for another client (aud)";
	json_object_put(claims);
	return why == NULL ? NULL : xstrdup(why);
}

#define ID_JAG_TYPE "oauth-id-jag+jwt"

static bool
is_typed(const char *jwt)
{
	struct json_object *header = claims_part(jwt);
	const char *typ = header == NULL ? NULL : document_text(header, "typ");
	bool ok;

	if (typ != NULL && strncasecmp(typ, "application/", 12) == 0)
		typ += 12;
	ok = typ != NULL && strcasecmp(typ, ID_JAG_TYPE) == 0;
	json_object_put(header);
	return ok;
}

/* Is the claim what was asked for: that text, or a list of nothing else? A
 * claim that is missing is not that, but may be allowed to be. */
static bool
is_claimed(struct json_object *claims, const char *name, const char *want,
    bool may_miss)
{
	struct json_object *list = document_list(claims, name);
	const char *text = document_text(claims, name);

	if (want == NULL || !document_has(claims, name))
		return want == NULL || may_miss;
	if (text != NULL)
		return strcmp(text, want) == 0;
	return list != NULL && json_object_array_length(list) == 1 &&
	    document_listed(list, want);
}

/* Has it the three parts of a signed JWT? */
static bool
is_signed(const char *token)
{
	const char *claims = strchr(token, '.');
	const char *proof = claims == NULL ? NULL : strchr(claims + 1, '.');

	return proof != NULL && strchr(proof + 1, '.') == NULL;
}

/* Why this ID-JAG is not sent; NULL: it is. One that is encrypted or opaque is
 * between the provider and the authorization server; but claims that we cannot
 * read, as with a name twice, another reader may take for anything. Static. */
static const char *
fault_of(const char *jag, const struct id_jag_for *to)
{
	struct json_object *claims = claims_of(jag);
	const char *fault = NULL;

	if (claims == NULL)
		return is_signed(jag) ? "its claims cannot be read, or "
					"contain a name twice" :
					NULL;
	if (!is_typed(jag))
		fault = "it is not an ID-JAG (typ)";
	else if (!is_claimed(claims, "aud", to->audience, false))
		fault = "it is for another authorization server (aud)";
	else if (!is_claimed(claims, "resource", to->resource, true))
		fault = "it is for another resource";
	else if (!is_claimed(claims, "client_id", to->client, true))
		fault = "it is for another client (client_id)";
	json_object_put(claims);
	return fault;
}

/* Takes the ID-JAG of a good answer. Returns NULL, or the fault, static. */
static const char *
take(struct json_object *doc, const struct id_jag_for *to, char **jag)
{
	const char *type = document_text(doc, "issued_token_type");
	const char *text = document_text(doc, "access_token"), *fault;
	struct span token = span_of(text);

	if (!string_eq(type, CLIENT_ID_JAG))
		return "it is not of the requested type (issued_token_type)";
	if (token.n == 0 || token.n > BOUND_TEXT_BYTES ||
	    !span_is_printable(token, '!'))
		return "it is missing, too long, or contains bytes not "
		       "allowed in a token";
	fault = fault_of(text, to);
	if (fault == NULL)
		*jag = xstrdup(text);
	return fault;
}

/* Does an error of this name mean that somebody decided so? */
static bool
is_policy(const char *name)
{
	static const char *const names[] = { "access_denied", "invalid_target",
		"unauthorized_client", "invalid_scope",
		"insufficient_user_authentication", "consent_required",
		"interaction_required" };
	const size_t n = sizeof names / sizeof names[0];

	return string_index(name, names, n) < n;
}

static enum login_outcome
error_outcome(const char *name, int status)
{
	if (status == 429 || status >= 500 ||
	    strcmp(name, "temporarily_unavailable") == 0 ||
	    strcmp(name, "server_error") == 0)
		return CAME_TRANSIENT;
	return strcmp(name, "invalid_grant") == 0 ? CAME_DEAD_GRANT :
						    CAME_REFUSED;
}

enum login_outcome
id_jag_answer(const struct record *provider, int status,
    struct json_object *doc, const struct id_jag_for *to, char **jag,
    char **why)
{
	char *words = NULL;
	const char *fault,
	    *error = doc == NULL ?
	    NULL :
	    client_error(provider, doc, CLIENT_PROVIDER, &words);
	enum login_outcome came = CAME_REFUSED;

	*jag = NULL;
	if (error != NULL) {
		came = error_outcome(error, status);
		*why = is_policy(error) ?
		    xasprintf("your company does not allow %s: %s", to->host,
			words) :
		    xasprintf("the identity provider issued no token for %s: "
			      "%s",
			to->host, words);
	} else if (status < 200 || status > 299 || doc == NULL) {
		*why = xasprintf("the identity provider issued no token for "
				 "%s (HTTP %d%s)",
		    to->host, status, doc == NULL ? ", not JSON" : "");
	} else if ((fault = take(doc, to, jag)) != NULL) {
		*why = xasprintf("rejecting what the identity provider "
				 "issued for %s: %s",
		    to->host, fault);
	} else {
		came = CAME_TOKEN;
	}
	free(words);
	return came;
}
