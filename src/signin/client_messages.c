/*
 * What this client sends to an authorization server: forms for its endpoints,
 * the registration, the URL for a browser; and what the answers mean.
 *
 * All that a form holds is percent-encoded, all that --authorize-param may
 * set is something that we do not set: nothing of a server's document can
 * become another parameter.
 */
#include "config.h"

#include "signin/client_messages.h"

#include <stdlib.h>
#include <strings.h>

#include "auth/assertion.h"
#include "auth/claims.h"
#include "auth/pkce.h"
#include "base/bounds.h"
#include "base/codec.h"
#include "core/wire/redact.h"

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
	struct buf pair = { 0 }, value = { 0 };

	url_escape(&pair, span_of(id));
	buf_addc(&pair, ':');
	url_escape(&pair, span_of(secret));
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
	field(&r->form, 0, "grant_type", "authorization_code");
	field(&r->form, 0, "code", code);
	field(&r->form, 0, "redirect_uri", rec->client.redirect_uri);
	field(&r->form, 0, "code_verifier", verifier);
}

void
client_refresh(struct client_request *r, const struct record *rec, bool scope)
{
	field(&r->form, 0, "grant_type", "refresh_token");
	field(&r->form, 0, "refresh_token", rec->token.refresh);
	if (scope)
		field(&r->form, 0, "scope", rec->token.scope_requested);
}

void
client_credentials(struct client_request *r, const char *scope)
{
	field(&r->form, 0, "grant_type", "client_credentials");
	field(&r->form, 0, "scope", scope);
}

void
client_jwt_bearer(struct client_request *r, const char *assertion,
    const char *scope)
{
	field(&r->form, 0, "grant_type", JWT_GRANT);
	field(&r->form, 0, "assertion", assertion);
	field(&r->form, 0, "scope", scope);
}

void
client_exchange(struct client_request *r, const char *id_token,
    const char *audience, const char *resource, const char *scope)
{
	field(&r->form, 0, "grant_type", EXCHANGE);
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
	field(&r->form, 0, "scope", scope);
}

void
client_device_poll(struct client_request *r, const char *device_code)
{
	field(&r->form, 0, "grant_type", DEVICE_CODE);
	field(&r->form, 0, "device_code", device_code);
}

void
client_revoke(struct client_request *r, const struct record *rec,
    const char *token, bool refresh, const char *assertion)
{
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
	struct buf b = { 0 };
	size_t start;
	bool query;

	if (endpoint == NULL || url_parse(&u, endpoint) != URL_OK)
		return NULL;
	query = strchr(u.text, '?') != NULL;
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

enum {
	/* a word as long as this is rather a secret than a word; our verifiers
	 * and states have 43 characters, a UUID has 36 */
	WORD_MAX = 40
};

/* Nothing but printable ASCII from the given byte up, not too much of it, and
 * not nothing. */
static bool
printable(const char *s, char from)
{
	struct span text = span_of(s);

	return text.n > 0 && text.n <= BOUND_TEXT_BYTES &&
	    span_is_printable(text, from);
}

/* A member that is text and not empty, as some servers send "" for none. */
static const char *
text_of(struct json_object *doc, const char *name)
{
	const char *s = document_text(doc, name);

	return s == NULL || *s == '\0' ? NULL : s;
}

static bool
token_byte(char c)
{
	return c != '\0' && strchr(ALNUM "-._~+/=%", c) != NULL;
}

/* Is any secret of the record in this text? */
static bool
tells_secret(const struct record *rec, const char *text)
{
	const char *const secrets[] = { rec->client.secret, rec->token.access,
		rec->token.refresh, rec->token.id_token };
	size_t i;

	for (i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
		if (secrets[i] != NULL && *secrets[i] != '\0' &&
		    strstr(text, secrets[i]) != NULL)
			return true;
	return false;
}

/* The error's name, if it can be one of OAuth's; NULL: there is none. */
static const char *
error_name(const struct record *rec, struct json_object *doc)
{
	const char *name = doc == NULL ? NULL : text_of(doc, "error");

	if (name == NULL)
		return NULL;
	if (strlen(name) >= WORD_MAX || !printable(name, '!') ||
	    strpbrk(name, "\"\\%") != NULL || tells_secret(rec, name))
		return "an unnamed error";
	return name;
}

/* The description as it may be shown: quotes do not end it. A word that is too
 * long to be one is left out, and one as in a form or behind "Basic", in which a
 * secret looks like another text. Appends to out. */
static void
show_description(struct buf *out, const char *text)
{
	struct buf plain = { 0 }, safe = { 0 };
	size_t i = 0, n;

	while (text[i] != '\0') {
		for (n = 0; token_byte(text[i + n]); n++)
			continue;
		if (n >= WORD_MAX || memchr(text + i, '%', n) != NULL)
			buf_adds(&plain, "[...]");
		else if (n > 0)
			buf_add(&plain, text + i, n);
		else
			buf_addc(&plain, text[i] == '"' ? '\'' : text[i]);
		i += n > 0 ? n : 1;
	}
	redact_words(&safe, buf_span(&plain), BOUND_WORDS_BYTES);
	codec_visible(out, buf_span(&safe), BOUND_WORDS_BYTES);
	buf_free(&plain);
	buf_free(&safe);
}

const char *
client_advice(const char *error, const char *text, const char *given)
{
	if (given != NULL && strcmp(error, "invalid_client") == 0)
		return given;
	if (strcmp(error, "invalid_scope") == 0)
		return "; --scope chooses other scopes";
	if (strcmp(error, "invalid_target") == 0 ||
	    (strcmp(error, "invalid_request") == 0 && text != NULL &&
		strcasestr(text, "resource") != NULL))
		return "; --resource names another resource, and --no-resource "
		       "none";
	return "";
}

/* "name: the server says "..."; advice", owned by the caller. */
static char *
describe(const struct record *rec, struct json_object *doc, const char *name,
    const char *who)
{
	const char *text = text_of(doc, "error_description");
	const char *given = strcmp(who, CLIENT_PROVIDER) == 0 ?
	    "; check --idp-client-id and its secret (--idp-client-secret-file "
	    "or --idp-key)" :
	    "; check --client-id and its secret (--client-secret-file or "
	    "--client-secret-env)";
	struct buf b = { 0 };

	buf_adds(&b, name);
	if (text != NULL && !tells_secret(rec, text)) {
		buf_addf(&b, ": %s says \"", who);
		show_description(&b, text);
		buf_addc(&b, '"');
	}
	buf_adds(&b,
	    client_advice(name, text,
		rec->client.source == CLIENT_GIVEN ? given : NULL));
	return buf_take(&b);
}

/* How the registration says that we prove ourselves. */
static enum client_method
registered_method(struct json_object *doc, const struct server_metadata *m,
    bool has_secret)
{
	const char *method = text_of(doc, "token_endpoint_auth_method");

	if (!has_secret || string_eq(method, "none") ||
	    (method == NULL && m->method_none && !m->method_basic &&
		!m->method_post))
		return CLIENT_NONE;
	if (method == NULL)
		return client_method(m, true, false);
	return strcmp(method, "client_secret_post") == 0 ? CLIENT_POST :
							   CLIENT_BASIC;
}

int
client_registered(struct record *rec, struct json_object *doc,
    const struct server_metadata *m, const char *redirect_uri, char **why)
{
	const char *id, *secret, *scope, *error = error_name(rec, doc);
	int64_t expires;

	if (error != NULL) {
		*why = describe(rec, doc, error, CLIENT_SERVER);
		return -1;
	}
	id = doc == NULL ? NULL : text_of(doc, "client_id");
	if (id == NULL || !printable(id, ' '))
		return fail_why(why, "the answer has no usable client_id");
	secret = text_of(doc, "client_secret");
	if (secret != NULL && !printable(secret, ' '))
		return fail_why(why, "the answer has no usable client_secret");
	expires = document_number(doc, "client_secret_expires_at");
	rec->client.source = CLIENT_REGISTERED;
	rec->client.method = registered_method(doc, m, secret != NULL);
	rec->client.secret_expires_at = secret != NULL && expires > 0 ?
	    expires :
	    0;
	string_set(&rec->client.id, id);
	string_set(&rec->client.secret, secret);
	string_set(&rec->client.redirect_uri, redirect_uri);
	scope = text_of(doc, "scope");
	string_set(&rec->client.scope,
	    scope != NULL && printable(scope, ' ') ? scope : m->scopes);
	rec->client_failures = 0;
	return 0;
}

bool
client_id_is_missed(int status, struct json_object *doc)
{
	const char *text;

	if (status < 400 || doc == NULL)
		return false;
	text = json_object_to_json_string(doc);
	return (strcasestr(text, "client_id") != NULL ||
		   strcasestr(text, "client id") != NULL) &&
	    (strcasestr(text, "missing") != NULL ||
		strcasestr(text, "required") != NULL);
}

/* When a token that is a JWT says that it ends; it is a hint. 0: it is none,
 * it does not say, or that time is over by our clock, so that one of the two
 * is wrong. */
static int64_t
jwt_expiry(const char *token, int64_t now)
{
	struct json_object *claims = claims_of(token);
	int64_t exp;

	if (claims == NULL)
		return 0;
	exp = document_number(claims, "exp");
	json_object_put(claims);
	return exp > now ? exp : 0;
}

/* When the token ends, s since 1970; 0: unknown. "expires_in": 0 is what some
 * servers send for a token that does not end; to believe them would be to
 * refresh before each request. */
static int64_t
expiry(struct json_object *doc, const char *token, int64_t now)
{
	int64_t in = document_number(doc, "expires_in");

	if (in < 0)
		return jwt_expiry(token, now);
	return in == 0 ? 0 : now + in;
}

static bool
is_bound(struct json_object *doc)
{
	const char *type = text_of(doc, "token_type");

	return type != NULL && strcasecmp(type, "DPoP") == 0;
}

/* Why this answer has no token that we can use; NULL: it has one. Static. */
static const char *
token_fault(const struct record *rec, struct json_object *doc)
{
	const char *type = text_of(doc, "token_type");
	const char *access = text_of(doc, "access_token");
	const char *refresh = text_of(doc, "refresh_token");

	if (access == NULL)
		return "the answer has no access_token";
	if (is_bound(doc) && rec->dpop_key == NULL)
		return "the token is bound to a key (DPoP), but mcpsplice "
		       "did not present one";
	if (type != NULL && !is_bound(doc) && strcasecmp(type, "Bearer") != 0)
		return "the token is not a Bearer token and not bound to a "
		       "key (DPoP)";
	if (!printable(access, '!'))
		return "the access_token is too long, or contains bytes not "
		       "allowed in a token";
	if (refresh != NULL && !printable(refresh, '!'))
		return "the refresh_token is too long, or contains bytes not "
		       "allowed in a token";
	return NULL;
}

/* Gives a new sign-in a name. A token of mcp-remote has none until its first
 * renewal; one that an older mcpsplice began has none for good. */
static void
name_account(struct record *rec)
{
	char random[PKCE_BYTES];

	if (rec->token.account == NULL &&
	    (rec->token.access == NULL ||
		rec->client.source == CLIENT_IMPORTED) &&
	    pkce_random(random) == 0)
		string_set(&rec->token.account, random);
}

/* Puts the token of a good answer into the record. requested may be
 * rec->token.scope_requested. */
static void
take_token(struct record *rec, struct json_object *doc, const char *requested,
    int64_t now)
{
	const char *access = text_of(doc, "access_token");
	const char *refresh = text_of(doc, "refresh_token");
	const char *id_token = text_of(doc, "id_token");
	const char *scope = text_of(doc, "scope");
	char ath[PKCE_BYTES];

	if (scope == NULL || !printable(scope, ' '))
		scope = requested;
	name_account(rec);
	rec->token.expires_at = expiry(doc, access, now);
	rec->token.obtained_at = now;
	string_set(&rec->token.access, access);
	string_set(&rec->token.dpop_ath,
	    is_bound(doc) && pkce_challenge(ath, access) == 0 ? ath : NULL);
	if (refresh != NULL)
		string_set(&rec->token.refresh, refresh);
	if (id_token != NULL && printable(id_token, '!'))
		string_set(&rec->token.id_token, id_token);
	string_set(&rec->token.scope_granted, scope);
	string_set(&rec->token.scope_requested, requested);
}

/* What an error means by its name (RFC 6749 5.2, RFC 8628 3.5). */
static enum login_outcome
error_verdict(const char *name)
{
	static const struct {
		const char *name;
		enum login_outcome verdict;
	} table[] = {
		{ "invalid_grant", CAME_DEAD_GRANT },
		{ "invalid_client", CAME_DEAD_CLIENT },
		{ "unauthorized_client", CAME_DEAD_CLIENT },
		{ "authorization_pending", CAME_PENDING },
		{ "slow_down", CAME_SLOW_DOWN },
		{ "temporarily_unavailable", CAME_TRANSIENT },
		{ "server_error", CAME_TRANSIENT },
	};
	size_t i;

	for (i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(name, table[i].name) == 0)
			return table[i].verdict;
	return CAME_REFUSED;
}

/* Is it nothing but a bad moment, whatever the body says? A body of a 429 may
 * tell a device to slow down. */
static bool
bad_moment(int status, enum login_outcome named)
{
	if (status == 429)
		return named != CAME_SLOW_DOWN && named != CAME_PENDING;
	return status == 0 || status == 408 || status >= 500;
}

enum login_outcome
client_token(struct record *rec, int status, struct json_object *doc,
    const char *requested, int64_t now, const char *who, char **why)
{
	const char *error = error_name(rec, doc), *fault;
	enum login_outcome verdict = CAME_REFUSED;

	/* some servers send errors with 200 */
	if (error != NULL)
		verdict = error_verdict(error);
	if (bad_moment(status, verdict))
		verdict = CAME_TRANSIENT;
	if (error != NULL) {
		*why = describe(rec, doc, error, who);
		return verdict;
	}
	if (status < 200 || status > 299) {
		*why = status == 0 ?
		    xstrdup("no answer") :
		    xasprintf("the authorization server answered %d without "
			      "giving a reason",
			status);
		return verdict;
	}
	fault = doc == NULL ? "the answer is not a JSON object" :
			      token_fault(rec, doc);
	if (fault != NULL) {
		*why = xstrdup(fault);
		return CAME_REFUSED;
	}
	take_token(rec, doc, requested, now);
	return CAME_TOKEN;
}

const char *
client_error(const struct record *rec, struct json_object *doc, const char *who,
    char **why)
{
	const char *name = error_name(rec, doc);

	if (name != NULL)
		*why = describe(rec, doc, name, who);
	return name;
}

const char *
client_user_code(struct json_object *doc)
{
	const char *code = text_of(doc, "user_code");

	return code != NULL && printable(code, ' ') &&
		strlen(code) <= BOUND_WORDS_BYTES ?
	    code :
	    NULL;
}
