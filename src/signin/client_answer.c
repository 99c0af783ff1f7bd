/*
 * What the answers of token and registration endpoints mean. Nothing of them
 * is believed before it is checked, and a record is changed as a whole or not
 * at all.
 *
 * Words of a server are shown as what they are, the server's; and never with
 * a secret in them, should it send one back to us.
 */
#include "config.h"

#include "base/bounds.h"
#include "signin/client_messages.h"

#include <stdlib.h>
#include <strings.h>

#include "auth/claims.h"
#include "auth/proof.h"
#include "base/codec.h"

#define SERVER "the server"

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

	return text.n > 0 && text.n <= BOUND_TOKEN_BYTES &&
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
	return c != '\0' &&
	    strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		   "0123456789-._~+/=%",
		c) != NULL;
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
	    strpbrk(name, "\"\\") != NULL || tells_secret(rec, name))
		return "an error without a proper name";
	return name;
}

/* The description as it may be shown: quotes do not end it, and a word that
 * is too long to be one is left out. Appends to out. */
static void
show_description(struct buf *out, const char *text)
{
	struct buf plain;
	size_t i = 0, n;

	buf_init(&plain, 0);
	while (text[i] != '\0') {
		for (n = 0; token_byte(text[i + n]); n++)
			continue;
		if (n >= WORD_MAX)
			buf_adds(&plain, "[...]");
		else if (n > 0)
			buf_add(&plain, text + i, n);
		else
			buf_addc(&plain, text[i] == '"' ? '\'' : text[i]);
		i += n > 0 ? n : 1;
	}
	codec_visible(out, buf_span(&plain), BOUND_DESCRIPTION_BYTES);
	buf_free(&plain);
}

/* "name: the server says "..."", owned by the caller. */
static char *
describe(const struct record *rec, struct json_object *doc, const char *name,
    const char *who)
{
	const char *text = text_of(doc, "error_description");
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, name);
	if (text != NULL && !tells_secret(rec, text)) {
		buf_addf(&b, ": %s says \"", who);
		show_description(&b, text);
		buf_addc(&b, '"');
	}
	return buf_take(&b);
}

/* How the registration says that we prove ourselves. */
static enum client_method
registered_method(struct json_object *doc, const struct server_metadata *m,
    bool has_secret)
{
	const char *method = text_of(doc, "token_endpoint_auth_method");

	if (!has_secret || (method != NULL && strcmp(method, "none") == 0) ||
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
		*why = describe(rec, doc, error, SERVER);
		return -1;
	}
	id = doc == NULL ? NULL : text_of(doc, "client_id");
	if (id == NULL || !printable(id, ' ')) {
		*why = xstrdup("the answer has no usable client_id");
		return -1;
	}
	secret = text_of(doc, "client_secret");
	if (secret != NULL && !printable(secret, ' ')) {
		*why = xstrdup("the answer has no usable client_secret");
		return -1;
	}
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
		return "the token is bound to a key (DPoP), and mcpsplice has "
		       "shown it none";
	if (type != NULL && !is_bound(doc) && strcasecmp(type, "Bearer") != 0)
		return "the token is neither a Bearer token nor bound to a key "
		       "(DPoP)";
	if (!printable(access, '!'))
		return "the access_token is too long, or has bytes that no "
		       "token may have";
	if (refresh != NULL && !printable(refresh, '!'))
		return "the refresh_token is too long, or has bytes that no "
		       "token may have";
	return NULL;
}

/* Gives a new sign-in a name. A token of mcp-remote has none until its first
 * renewal; one that an older mcpsplice began has none for good. */
static void
name_account(struct record *rec)
{
	char random[PROOF_BYTES];

	if (rec->token.account == NULL &&
	    (rec->token.access == NULL ||
		rec->client.source == CLIENT_IMPORTED) &&
	    proof_random(random) == 0)
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
	char ath[PROOF_BYTES];

	if (scope == NULL || !printable(scope, ' '))
		scope = requested;
	name_account(rec);
	rec->token.expires_at = expiry(doc, access, now);
	rec->token.obtained_at = now;
	string_set(&rec->token.access, access);
	string_set(&rec->token.dpop_ath,
	    is_bound(doc) && proof_challenge(ath, access) == 0 ? ath : NULL);
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
    const char *requested, int64_t now, char **why)
{
	const char *error = error_name(rec, doc), *fault;
	enum login_outcome verdict = CAME_REFUSED;

	/* some servers send errors with 200 */
	if (error != NULL)
		verdict = error_verdict(error);
	if (bad_moment(status, verdict))
		verdict = CAME_TRANSIENT;
	if (error != NULL) {
		*why = describe(rec, doc, error, SERVER);
		return verdict;
	}
	if (status < 200 || status > 299) {
		*why = status == 0 ? xstrdup("there was no answer") :
				     xasprintf("HTTP %d", status);
		return verdict;
	}
	fault = doc == NULL ? "the answer is no JSON object" :
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
	const char *code = document_text(doc, "user_code");
	struct span text = span_of(code);

	return text.n > 0 && text.n <= BOUND_DEVICE_CODE_BYTES &&
		span_is_printable(text, ' ') ?
	    code :
	    NULL;
}
