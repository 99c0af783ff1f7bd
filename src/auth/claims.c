/* What a token says of itself. */
#include "config.h"

#include "auth/claims.h"

#include <strings.h>

#include "base/codec.h"

/* Is it three parts of base64url with dots between (RFC 7515 7.1)? */
static bool
is_compact(const char *token)
{
	size_t parts = 1;

	for (;; parts++, token++) {
		token += strspn(token, ALNUM "-_");
		if (*token != '.')
			return *token == '\0' && parts == 3;
	}
}

/* Could a reader that ignores case (Go, also of U+017F) take a name for that of
 * a claim with a meaning, which it is not? */
static bool
has_odd_names(struct json_object *claims)
{
	static const char *const meant[] = { "aud", "client_id", "exp", "iss",
		"resource", "sub" };
	bool odd = false;
	size_t i;

	json_object_object_foreach(claims, name, value)
	{
		(void)value;
		odd = odd || strstr(name, "\xC5\xBF") != NULL;
		for (i = 0; i < sizeof meant / sizeof *meant; i++)
			odd = odd ||
			    (strcasecmp(name, meant[i]) == 0 &&
				strcmp(name, meant[i]) != 0);
	}
	return odd;
}

struct json_object *
claims_part(const char *part)
{
	struct json_object *json = NULL;
	struct buf text = { 0 };
	const char *ignored;

	if (codec_base64url_read(&text,
		(struct span){ part, strcspn(part, ".") }) == 0)
		json = document_parse(buf_span(&text), &ignored);
	buf_free(&text);
	return json;
}

struct json_object *
claims_of(const char *token)
{
	struct json_object *claims;

	if (!is_compact(token))
		return NULL;
	claims = claims_part(strchr(token, '.') + 1);
	if (claims != NULL && has_odd_names(claims)) {
		json_object_put(claims);
		claims = NULL;
	}
	return claims;
}

bool
claims_are_for(struct json_object *claims, const char *who)
{
	const char *aud = document_text(claims, "aud");

	if (who == NULL || aud != NULL)
		return who != NULL && strcmp(aud, who) == 0;
	return document_listed(document_list(claims, "aud"), who);
}

void
claims_whose(const char *token, struct buf *out)
{
	static const char *const passing[] = { "exp", "iat", "nbf", "jti",
		"auth_time", "nonce", "at_hash", "c_hash", "s_hash", "aio",
		"uti", "rh" };
	struct json_object *claims = claims_of(token), *pod;
	size_t i;

	if (claims == NULL || document_text(claims, "sub") == NULL) {
		buf_adds(out, token);
	} else {
		buf_add(out, token, strcspn(token, "."));
		for (i = 0; i < sizeof passing / sizeof *passing; i++)
			json_object_object_del(claims, passing[i]);
		if (json_object_object_get_ex(claims, "kubernetes.io", &pod) &&
		    json_object_is_type(pod, json_type_object))
			json_object_object_del(pod, "warnafter");
		buf_adds(out, json_object_to_json_string(claims));
	}
	json_object_put(claims);
}
