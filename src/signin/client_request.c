/*
 * What this client sends to an authorization server: forms for its endpoints,
 * the registration, the URL for a browser. What the answers mean is in
 * client_answer.c.
 *
 * All that a form holds is percent-encoded, all that --authorize-param may
 * set is something that we do not set: nothing of a server's document can
 * become another parameter.
 */
#include "config.h"

#include "signin/client_messages.h"

#include <stdlib.h>
#include <strings.h>

#include "base/codec.h"
#include "io/url.h"

#define JWT_BEARER "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define JWT_GRANT "urn:ietf:params:oauth:grant-type:jwt-bearer"
#define EXCHANGE "urn:ietf:params:oauth:grant-type:token-exchange"
#define ID_TOKEN "urn:ietf:params:oauth:token-type:id_token"
#define DEVICE_CODE "urn:ietf:params:oauth:grant-type:device_code"

void
client_request_free(struct client_request *r)
{
	buf_wipe(&r->form);
	headers_free(&r->headers);
}

enum client_method
client_method(const struct server_metadata *m, bool has_secret, bool has_key)
{
	if (has_key && (!has_secret || !m->methods_told || m->method_jwt))
		return CLIENT_JWT;
	if (!has_secret)
		return CLIENT_NONE;
	return m->method_post || (m->method_none && !m->method_basic) ?
	    CLIENT_POST :
	    CLIENT_BASIC;
}

/* Appends name=value to a form or a query that begins at start; a value that
 * is NULL leaves it out. */
static void
field(struct buf *form, size_t start, const char *name, const char *value)
{
	if (value == NULL)
		return;
	if (form->n > start)
		buf_addc(form, '&');
	buf_adds(form, name);
	buf_addc(form, '=');
	url_escape(form, span_of(value));
}

/* RFC 6749 2.3.1: both parts are encoded as in a form, then it is Basic. */
static void
basic(struct headers *to, const char *id, const char *secret)
{
	struct buf pair, value;

	buf_init(&pair, 0);
	url_escape(&pair, span_of(id));
	buf_addc(&pair, ':');
	url_escape(&pair, span_of(secret));
	buf_init(&value, 0);
	buf_adds(&value, "Basic ");
	codec_base64(&value, buf_span(&pair));
	headers_set(to, span_of("Authorization"), buf_span(&value), true);
	buf_wipe(&pair);
	buf_wipe(&value);
}

/* Adds who is asking, and the proof. */
static void
prove(struct client_request *r, const struct record *rec, const char *assertion)
{
	const char *id = rec->client.id, *secret = rec->client.secret;

	switch (rec->client.method) {
	case CLIENT_BASIC:
		if (id == NULL || secret == NULL)
			break;
		basic(&r->headers, id, secret);
		return;
	case CLIENT_POST:
		field(&r->form, 0, "client_id", id);
		field(&r->form, 0, "client_secret", secret);
		return;
	case CLIENT_JWT:
		if (assertion == NULL)
			break;
		field(&r->form, 0, "client_assertion_type", JWT_BEARER);
		field(&r->form, 0, "client_assertion", assertion);
		return;
	case CLIENT_NONE:
		break;
	}
	field(&r->form, 0, "client_id", id);
}

static void
begin(struct client_request *r, const char *grant)
{
	buf_init(&r->form, 0);
	headers_init(&r->headers);
	field(&r->form, 0, "grant_type", grant);
}

void
client_finish(struct client_request *r, const struct record *rec,
    const char *assertion, bool named)
{
	field(&r->form, 0, "resource", rec->resource);
	if (named)
		field(&r->form, 0, "client_id", rec->client.id);
	prove(r, rec, assertion);
}

void
client_code(struct client_request *r, const struct record *rec,
    const char *code, const char *verifier)
{
	begin(r, "authorization_code");
	field(&r->form, 0, "code", code);
	field(&r->form, 0, "redirect_uri", rec->client.redirect_uri);
	field(&r->form, 0, "code_verifier", verifier);
}

void
client_refresh(struct client_request *r, const struct record *rec, bool scope)
{
	begin(r, "refresh_token");
	field(&r->form, 0, "refresh_token", rec->token.refresh);
	if (scope)
		field(&r->form, 0, "scope", rec->token.scope_requested);
}

void
client_credentials(struct client_request *r, const char *scope)
{
	begin(r, "client_credentials");
	field(&r->form, 0, "scope", scope);
}

void
client_jwt_bearer(struct client_request *r, const char *assertion,
    const char *scope)
{
	begin(r, JWT_GRANT);
	field(&r->form, 0, "assertion", assertion);
	field(&r->form, 0, "scope", scope);
}

void
client_exchange(struct client_request *r, const char *id_token,
    const char *audience, const char *resource, const char *scope)
{
	begin(r, EXCHANGE);
	field(&r->form, 0, "requested_token_type", CLIENT_ID_JAG);
	field(&r->form, 0, "subject_token", id_token);
	field(&r->form, 0, "subject_token_type", ID_TOKEN);
	field(&r->form, 0, "audience", audience);
	field(&r->form, 0, "resource", resource);
	field(&r->form, 0, "scope", scope);
}

void
client_device(struct client_request *r, const char *scope)
{
	begin(r, NULL);
	field(&r->form, 0, "scope", scope);
}

void
client_device_poll(struct client_request *r, const char *device_code)
{
	begin(r, DEVICE_CODE);
	field(&r->form, 0, "device_code", device_code);
}

void
client_revoke(struct client_request *r, const struct record *rec,
    const char *token, bool refresh, const char *assertion)
{
	begin(r, NULL);
	field(&r->form, 0, "token", token);
	field(&r->form, 0, "token_type_hint",
	    refresh ? "refresh_token" : "access_token");
	prove(r, rec, assertion);
}

/* Sets a member to an array of one or two strings. */
static void
set_list(struct json_object *o, const char *name, const char *a, const char *b)
{
	struct json_object *list = document_new_list();

	document_append(list, a);
	if (b != NULL)
		document_append(list, b);
	document_put(o, name, list);
}

/* The way to prove itself that a new client asks for: without a secret, if
 * the server knows that, because one that any copy can have is none. The form
 * comes before the header: all that list both read it, and not all read the
 * header (mcp 1.23 and later). */
static const char *
wanted_method(const struct server_metadata *m)
{
	if (!m->methods_told || m->method_none)
		return "none";
	if (m->method_post)
		return "client_secret_post";
	return m->method_basic ? "client_secret_basic" : "none";
}

/* Sets all members of from, which may be NULL. */
static void
set_all(struct json_object *o, struct json_object *from)
{
	if (from == NULL)
		return;
	json_object_object_foreach(from, name, value)
	    document_put(o, name, json_object_get(value));
}

void
client_register(struct buf *body, const struct server_metadata *m,
    const char *redirect_uri, const char *scope, struct json_object *given)
{
	struct json_object *o = document_new();

	document_set(o, "client_name", "mcpsplice");
	document_set(o, "software_id", "mcpsplice");
	document_set(o, "software_version", PACKAGE_VERSION);
	document_set(o, "application_type", "native");
	document_set(o, "token_endpoint_auth_method", wanted_method(m));
	if (redirect_uri == NULL) {
		set_list(o, "grant_types", DEVICE_CODE, "refresh_token");
	} else {
		set_list(o, "redirect_uris", redirect_uri, NULL);
		set_list(o, "grant_types", "authorization_code",
		    "refresh_token");
		set_list(o, "response_types", "code", NULL);
	}
	set_all(o, given);
	/* The user has to come back to us. */
	if (redirect_uri != NULL)
		set_list(o, "redirect_uris", redirect_uri, NULL);
	if (scope != NULL)
		document_set(o, "scope", scope);
	document_print(o, body);
	json_object_put(o);
}

/* Appends "name=value" texts; without a value, nothing of that name is sent.
 * Returns whether prompt is one of them. */
static bool
add_params(struct buf *url, size_t start, const char *const *params)
{
	const char *equals;
	char *name;
	bool prompt = false;

	for (; params != NULL && *params != NULL; params++) {
		equals = strchr(*params, '=');
		if (equals == NULL)
			continue;
		name = xstrndup(*params, (size_t)(equals - *params));
		field(url, start, name, equals[1] == '\0' ? NULL : equals + 1);
		prompt = prompt || strcmp(name, "prompt") == 0;
		free(name);
	}
	return prompt;
}

char *
client_authorize_url(const struct server_metadata *m, const struct record *rec,
    const char *scope, const char *state, const char *challenge,
    const char *const *params)
{
	const char *endpoint = m->authorization_endpoint;
	struct url u;
	struct buf b;
	size_t start;
	bool query;

	if (endpoint == NULL || url_parse(&u, endpoint) != URL_OK)
		return NULL;
	query = strchr(u.text, '?') != NULL;
	buf_init(&b, 0);
	buf_adds(&b, u.text);
	url_free(&u);
	if (!query)
		buf_addc(&b, '?');
	/* "?" alone, or a query that ends in "&", needs no other */
	start = b.p[b.n - 1] == '?' || b.p[b.n - 1] == '&' ? b.n : 0;
	field(&b, start, "response_type", "code");
	field(&b, start, "client_id", rec->client.id);
	field(&b, start, "redirect_uri", rec->client.redirect_uri);
	field(&b, start, "scope", scope);
	field(&b, start, "state", state);
	field(&b, start, "code_challenge", challenge);
	field(&b, start, "code_challenge_method", "S256");
	field(&b, start, "resource", rec->resource);
	/* OpenID Connect Core 11: without it there is no offline access */
	if (!add_params(&b, start, params) &&
	    scope_listed(scope, "offline_access"))
		field(&b, start, "prompt", "consent");
	return buf_take(&b);
}

bool
client_param_ok(const char *param, char **why)
{
	static const char *const ours[] = { "response_type", "response_mode",
		"client_id", "client_secret", "client_assertion",
		"client_assertion_type", "redirect_uri", "scope", "state",
		"code_challenge", "code_challenge_method", "code", "iss",
		"resource", "request", "request_uri" };
	const char *equals = strchr(param, '=');
	size_t i, n;

	if (equals == NULL || equals == param) {
		*why = xstrdup("--authorize-param: write name=value");
		return false;
	}
	n = (size_t)(equals - param);
	if (strspn(param,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-._~") < n) {
		*why = xstrdup("--authorize-param: the name may have letters, "
			       "digits, and -._~ in it");
		return false;
	}
	for (i = 0; i < sizeof ours / sizeof ours[0]; i++) {
		if (!span_is_nocase((struct span){ param, n }, ours[i]))
			continue;
		*why = xasprintf("--authorize-param: %s is set by mcpsplice "
				 "itself; leave it out",
		    ours[i]);
		return false;
	}
	return true;
}
