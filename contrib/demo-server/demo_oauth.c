/*
 * The demo server as its own authorization server: metadata (RFC 9728, RFC
 * 8414), registration (RFC 7591), consent, which every user gives at once,
 * tokens (PKCE with S256, refresh with rotation), revocation (RFC 7009).
 *
 * A grant is what one consent gave: a code, then an access token and a refresh
 * token, of which the latest pair counts. An old code or refresh token that
 * comes again ends its grant. Tokens are valid for a number of requests, not
 * for a time, so that each demo is the same.
 */
#include "config.h"

#include "demo_oauth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <json-c/json.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "demo_http.h"

#define SCOPE "tools"
#define RESOURCE_PAGE "/.well-known/oauth-protected-resource" DEMO_PATH
#define ISSUER_PAGE "/.well-known/oauth-authorization-server"
#define SECRET_BYTES 44 /* 32 bytes as base64url, and a NUL */
#define URI_BYTES 128

struct client {
	struct client *next;
	char id[SECRET_BYTES];
	char *redirect_uri;
};

struct grant {
	struct grant *next;
	struct client *client;
	char challenge[SECRET_BYTES];
	bool exchanged; /* the code was */
	unsigned long uses;
	char code[SECRET_BYTES], access[SECRET_BYTES];
	char refresh[SECRET_BYTES], old_refresh[SECRET_BYTES];
};

static struct {
	struct client *clients;
	struct grant *grants;
	unsigned long uses;
	char issuer[URI_BYTES / 2];
	char resource[URI_BYTES];
} oauth;

/* --- strings --- */

static void
base64url(char out[SECRET_BYTES], const unsigned char bytes[32])
{
	char text[SECRET_BYTES + 1], *p;

	EVP_EncodeBlock((unsigned char *)text, bytes, 32);
	text[SECRET_BYTES - 1] = '\0'; /* the padding */
	for (p = text; *p != '\0'; p++)
		*p = (char)(*p == '+' ? '-' : *p == '/' ? '_' : *p);
	memcpy(out, text, SECRET_BYTES);
}

static void
make_secret(char out[SECRET_BYTES])
{
	unsigned char bytes[32];

	if (RAND_bytes(bytes, sizeof bytes) != 1)
		abort();
	base64url(out, bytes);
}

/* Is challenge the S256 of verifier? */
static bool
proves(const char *verifier, const char *challenge)
{
	unsigned char digest[32];
	char text[SECRET_BYTES];

	if (EVP_Digest(verifier, strlen(verifier), digest, NULL, EVP_sha256(),
		NULL) != 1)
		return false;
	base64url(text, digest);
	return strcmp(text, challenge) == 0;
}

static bool
is(const char *value, const char *wanted)
{
	return value != NULL && strcmp(value, wanted) == 0;
}

/* A secret that is not set matches nothing. */
static bool
is_secret(const char *value, const char *secret)
{
	return *secret != '\0' && is(value, secret);
}

/* --- documents --- */

static struct json_object *
text(const char *value)
{
	return json_object_new_string(value);
}

static struct json_object *
list(const char *a, const char *b)
{
	struct json_object *o = json_object_new_array();

	json_object_array_add(o, text(a));
	if (b != NULL)
		json_object_array_add(o, text(b));
	return o;
}

static void
set(struct json_object *o, const char *name, struct json_object *value)
{
	json_object_object_add(o, name, value);
}

static void
set_endpoint(struct json_object *o, const char *name, const char *path)
{
	char uri[URI_BYTES];

	snprintf(uri, sizeof uri, "%s%s", oauth.issuer, path);
	set(o, name, text(uri));
}

static void
describe_resource(struct evhttp_request *req)
{
	struct json_object *o = json_object_new_object();

	set(o, "resource", text(oauth.resource));
	set(o, "authorization_servers", list(oauth.issuer, NULL));
	set(o, "scopes_supported", list(SCOPE, NULL));
	demo_reply_json(req, HTTP_OK, "OK", o);
}

static void
describe_issuer(struct evhttp_request *req)
{
	struct json_object *o = json_object_new_object();

	set(o, "issuer", text(oauth.issuer));
	set_endpoint(o, "authorization_endpoint", "/authorize");
	set_endpoint(o, "token_endpoint", "/token");
	set_endpoint(o, "registration_endpoint", "/register");
	set_endpoint(o, "revocation_endpoint", "/revoke");
	set(o, "response_types_supported", list("code", NULL));
	set(o, "grant_types_supported",
	    list("authorization_code", "refresh_token"));
	set(o, "code_challenge_methods_supported", list("S256", NULL));
	set(o, "token_endpoint_auth_methods_supported", list("none", NULL));
	set(o, "authorization_response_iss_parameter_supported",
	    json_object_new_boolean(true));
	set(o, "scopes_supported", list(SCOPE, NULL));
	demo_reply_json(req, HTTP_OK, "OK", o);
}

static void
reply_error(struct evhttp_request *req, const char *error, const char *why)
{
	struct json_object *o = json_object_new_object();

	demo_say("refused: %s, %s", error, why);
	set(o, "error", text(error));
	set(o, "error_description", text(why));
	demo_reply_json(req, HTTP_BADREQUEST, "Bad Request", o);
}

/* --- clients --- */

static void
register_client(struct evhttp_request *req)
{
	struct json_object *o = demo_body(req), *uris = NULL, *name = NULL;
	struct client *c;
	const char *uri = NULL;

	json_object_object_get_ex(o, "redirect_uris", &uris);
	json_object_object_get_ex(o, "client_name", &name);
	if (json_object_is_type(uris, json_type_array) &&
	    json_object_array_length(uris) == 1)
		uri = json_object_get_string(json_object_array_get_idx(uris,
		    0));
	if (uri == NULL || strncmp(uri, "http://127.0.0.1:", 17) != 0) {
		reply_error(req, "invalid_redirect_uri", "not on 127.0.0.1");
		json_object_put(o);
		return;
	}
	c = calloc(1, sizeof *c);
	if (c == NULL || (c->redirect_uri = strdup(uri)) == NULL)
		abort();
	make_secret(c->id);
	c->next = oauth.clients;
	oauth.clients = c;
	demo_say("registered the client %s",
	    name == NULL ? "?" : json_object_get_string(name));
	set(o, "client_id", text(c->id));
	demo_reply_json(req, 201, "Created", o);
}

static struct client *
client_find(const char *id)
{
	struct client *c = oauth.clients;

	while (c != NULL && !is(id, c->id))
		c = c->next;
	return c;
}

/* --- consent --- */

/* What is wrong with the request, or NULL. */
static const char *
consent_fault(struct evkeyvalq *q)
{
	const char *challenge = evhttp_find_header(q, "code_challenge");

	if (!is(evhttp_find_header(q, "response_type"), "code"))
		return "unsupported_response_type";
	if (!is(evhttp_find_header(q, "resource"), oauth.resource))
		return "invalid_target";
	if (!is(evhttp_find_header(q, "scope"), SCOPE))
		return "invalid_scope";
	if (!is(evhttp_find_header(q, "code_challenge_method"), "S256") ||
	    challenge == NULL || strlen(challenge) != SECRET_BYTES - 1)
		return "invalid_request";
	return NULL;
}

static const char *
new_code(struct client *c, const char *challenge)
{
	struct grant *g = calloc(1, sizeof *g);

	if (g == NULL)
		abort();
	g->client = c;
	memcpy(g->challenge, challenge, SECRET_BYTES);
	make_secret(g->code);
	g->next = oauth.grants;
	oauth.grants = g;
	return g->code;
}

static void
add_parameter(struct evbuffer *b, const char *name, const char *value)
{
	char *encoded = evhttp_encode_uri(value);

	evbuffer_add_printf(b, "%s=%s", name, encoded);
	free(encoded);
}

/* Sends the browser back with a code or an error. */
static void
send_back(struct evhttp_request *req, struct client *c, struct evkeyvalq *q)
{
	const char *fault = consent_fault(q);
	const char *state = evhttp_find_header(q, "state");
	struct evbuffer *to = evbuffer_new();

	evbuffer_add_printf(to, "%s?", c->redirect_uri);
	if (fault != NULL)
		add_parameter(to, "error", fault);
	else
		add_parameter(to, "code",
		    new_code(c, evhttp_find_header(q, "code_challenge")));
	add_parameter(to, "&iss", oauth.issuer);
	if (state != NULL)
		add_parameter(to, "&state", state);
	evbuffer_add(to, "", 1);
	demo_say("a user %s",
	    fault == NULL ? "signs in and consents" : "cannot sign in");
	demo_set_header(req, "Location", (const char *)evbuffer_pullup(to, -1));
	demo_reply(req, 302, "Found", NULL);
	evbuffer_free(to);
}

static void
authorize(struct evhttp_request *req)
{
	const char
	    *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(req));
	struct evkeyvalq q = { 0 };
	struct client *c = NULL;

	if (query != NULL && evhttp_parse_query_str(query, &q) == 0)
		c = client_find(evhttp_find_header(&q, "client_id"));
	if (c == NULL ||
	    !is(evhttp_find_header(&q, "redirect_uri"), c->redirect_uri))
		demo_reply(req, HTTP_BADREQUEST, "Bad Request",
		    "Unknown client, or unknown redirect address.");
	else
		send_back(req, c, &q);
	evhttp_clear_headers(&q);
}

/* --- tokens --- */

static void
grant_drop(struct grant *gone)
{
	struct grant **at = &oauth.grants;

	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	free(gone);
}

static void
reply_token(struct evhttp_request *req, struct grant *g, const char *what)
{
	struct json_object *o = json_object_new_object();

	memcpy(g->old_refresh, g->refresh, sizeof g->refresh);
	make_secret(g->access);
	make_secret(g->refresh);
	g->uses = 0;
	demo_say("issues a token for a %s", what);
	set(o, "access_token", text(g->access));
	set(o, "token_type", text("Bearer"));
	set(o, "expires_in", json_object_new_int(3600));
	set(o, "refresh_token", text(g->refresh));
	set(o, "scope", text(SCOPE));
	demo_set_header(req, "Cache-Control", "no-store");
	demo_reply_json(req, HTTP_OK, "OK", o);
}

static void
token_for_code(struct evhttp_request *req, struct evkeyvalq *form)
{
	const char *code = evhttp_find_header(form, "code");
	const char *verifier = evhttp_find_header(form, "code_verifier");
	const char *client = evhttp_find_header(form, "client_id");
	struct grant *g = oauth.grants;

	while (g != NULL && !is_secret(code, g->code))
		g = g->next;
	if (g == NULL || !is(client, g->client->id)) {
		reply_error(req, "invalid_grant", "not this client's code");
	} else if (g->exchanged) {
		reply_error(req, "invalid_grant", "the code was already used");
		grant_drop(g);
	} else if (verifier == NULL || !proves(verifier, g->challenge) ||
	    !is(evhttp_find_header(form, "redirect_uri"),
		g->client->redirect_uri)) {
		reply_error(req, "invalid_grant", "wrong verifier or redirect");
		grant_drop(g);
	} else {
		g->exchanged = true;
		reply_token(req, g, "code");
	}
}

static void
token_for_refresh(struct evhttp_request *req, struct evkeyvalq *form)
{
	const char *token = evhttp_find_header(form, "refresh_token");
	const char *client = evhttp_find_header(form, "client_id");
	struct grant *g = oauth.grants;

	while (g != NULL && !is_secret(token, g->refresh) &&
	    !is_secret(token, g->old_refresh))
		g = g->next;
	if (g == NULL || !is(client, g->client->id)) {
		reply_error(req, "invalid_grant", "not this client's token");
	} else if (!is_secret(token, g->refresh)) {
		reply_error(req, "invalid_grant", "the token was already used");
		grant_drop(g);
	} else {
		reply_token(req, g, "refresh token");
	}
}

static void
revoke(struct evhttp_request *req, struct evkeyvalq *form)
{
	const char *token = evhttp_find_header(form, "token");
	struct grant *g = oauth.grants;

	while (g != NULL && !is_secret(token, g->refresh) &&
	    !is_secret(token, g->access))
		g = g->next;
	if (g != NULL &&
	    is(evhttp_find_header(form, "client_id"), g->client->id)) {
		demo_say("revokes the token");
		grant_drop(g);
	}
	demo_reply(req, HTTP_OK, "OK", NULL);
}

/* A POST with a form. */
static void
serve_form(struct evhttp_request *req, const char *path)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(req);
	struct evkeyvalq form = { 0 };
	const char *grant;

	evbuffer_add(in, "", 1);
	evhttp_parse_query_str((const char *)evbuffer_pullup(in, -1), &form);
	grant = evhttp_find_header(&form, "grant_type");
	if (strcmp(path, "/revoke") == 0)
		revoke(req, &form);
	else if (!is(evhttp_find_header(&form, "resource"), oauth.resource))
		reply_error(req, "invalid_target", "not for this server");
	else if (is(grant, "authorization_code"))
		token_for_code(req, &form);
	else if (is(grant, "refresh_token"))
		token_for_refresh(req, &form);
	else
		reply_error(req, "unsupported_grant_type", "unknown grant");
	evhttp_clear_headers(&form);
}

/* --- from outside --- */

bool
demo_oauth_serve(struct evhttp_request *req, const char *path)
{
	bool post = evhttp_request_get_command(req) == EVHTTP_REQ_POST;

	if (!post && strcmp(path, RESOURCE_PAGE) == 0)
		describe_resource(req);
	else if (!post && strcmp(path, ISSUER_PAGE) == 0)
		describe_issuer(req);
	else if (!post && strcmp(path, "/authorize") == 0)
		authorize(req);
	else if (post && strcmp(path, "/register") == 0)
		register_client(req);
	else if (post &&
	    (strcmp(path, "/token") == 0 || strcmp(path, "/revoke") == 0))
		serve_form(req, path);
	else
		return false;
	return true;
}

/* The token of the request has expired, or there is none. */
static void
refuse(struct evhttp_request *req, bool had_one)
{
	char challenge[4 * URI_BYTES];

	snprintf(challenge, sizeof challenge,
	    "Bearer %sresource_metadata=\"%s" RESOURCE_PAGE "\", scope=\"" SCOPE
	    "\"",
	    had_one ? "error=\"invalid_token\", " : "", oauth.issuer);
	demo_say("refused: 401, %s",
	    had_one ? "this token has expired" : "no token");
	demo_set_header(req, "WWW-Authenticate", challenge);
	demo_reply(req, 401, "Unauthorized", "Sign in first.");
}

bool
demo_oauth_allows(struct evhttp_request *req)
{
	const char *value = demo_header(req, "Authorization");
	struct grant *g = oauth.grants;

	if (value == NULL || strncasecmp(value, "Bearer ", 7) != 0) {
		refuse(req, false);
		return false;
	}
	while (g != NULL && !is_secret(value + 7, g->access))
		g = g->next;
	if (g == NULL || (oauth.uses != 0 && g->uses >= oauth.uses)) {
		refuse(req, true);
		return false;
	}
	g->uses++;
	return true;
}

void
demo_oauth_init(int port, unsigned long uses)
{
	oauth.uses = uses;
	snprintf(oauth.issuer, sizeof oauth.issuer, "http://127.0.0.1:%d",
	    port);
	snprintf(oauth.resource, sizeof oauth.resource, "%s" DEMO_PATH,
	    oauth.issuer);
}

void
demo_oauth_free(void)
{
	struct client *c;

	while (oauth.grants != NULL)
		grant_drop(oauth.grants);
	while ((c = oauth.clients) != NULL) {
		oauth.clients = c->next;
		free(c->redirect_uri);
		free(c);
	}
}
