/*
 * signin/client_messages: what is sent to an authorization server, byte for
 * byte, and what its answers do to the record, good ones and bad ones.
 */
#include "config.h"

#include "signin/client_messages.h"

#include <stdlib.h>

#include "auth/assertion.h"
#include "auth/pkce.h"
#include "base/bounds.h"
#include "base/codec.h"
#include "unit/unit.h"

#define NOW ((int64_t)1700000000)
#define S40 "0123456789012345678901234567890123456789"

static struct record rec;
static struct client_request req;
static struct server_metadata meta;
static char *why;

static void
setup(void)
{
	record_init(&rec);
	memset(&req, 0, sizeof req);
	memset(&meta, 0, sizeof meta);
	why = NULL;
	rec.resource = xstrdup("https://mcp.example/a b");
	rec.client.id = xstrdup("my id");
	rec.client.redirect_uri = xstrdup("http://127.0.0.1:7777/callback");
}

static void
teardown(void)
{
	client_request_free(&req);
	record_free(&rec);
	free(why);
}

static void
set(char **slot, const char *s)
{
	free(*slot);
	*slot = s == NULL ? NULL : xstrdup(s);
}

static struct json_object *
parse(const char *text)
{
	const char *wrong;
	struct json_object *o = document_parse(span_of(text), &wrong);

	ck_assert_msg(o != NULL, "%s: %s", text, wrong);
	return o;
}

/* Expects this body, and this Authorization header or none (NULL). */
static void
expect(const char *form, const char *authorization)
{
	const char *got = headers_get(&req.headers, "Authorization");

	ck_assert_str_eq(buf_str(&req.form), form);
	if (authorization == NULL) {
		ck_assert_uint_eq(req.headers.n, 0);
	} else {
		ck_assert_uint_eq(req.headers.n, 1);
		ck_assert_str_eq(got, authorization);
		ck_assert(req.headers.list[0].secret);
	}
	client_request_free(&req);
}

#define RESOURCE "resource=https%3A%2F%2Fmcp.example%2Fa%20b"
#define CALLBACK "http%3A%2F%2F127.0.0.1%3A7777%2Fcallback"

START_TEST(forms)
{
	client_code(&req, &rec, "c&d=+", "ver-._~");
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=authorization_code&code=c%26d%3D%2B"
	       "&redirect_uri=" CALLBACK "&code_verifier=ver-._~&" RESOURCE
	       "&client_id=my%20id",
	    NULL);
	set(&rec.token.refresh, "r/1");
	client_refresh(&req, &rec, false);
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=refresh_token&refresh_token=r%2F1&" RESOURCE
	       "&client_id=my%20id",
	    NULL);
	set(&rec.token.scope_requested, "a b");
	client_refresh(&req, &rec, true);
	client_finish(&req, &rec, NULL, false);
	expect(
	    "grant_type=refresh_token&refresh_token=r%2F1&scope=a%20b&" RESOURCE
	    "&client_id=my%20id",
	    NULL);
	client_credentials(&req, "a b");
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=client_credentials&scope=a%20b&" RESOURCE
	       "&client_id=my%20id",
	    NULL);
	client_jwt_bearer(&req, "a.b-_.c", "a b");
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3A"
	       "jwt-bearer&assertion=a.b-_.c&scope=a%20b&" RESOURCE
	       "&client_id=my%20id",
	    NULL);
	client_exchange(&req, "i.d.t", "https://as/", "https://mcp/", "a b");
	set(&rec.resource, NULL);
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3A"
	       "token-exchange&requested_token_type=urn%3Aietf%3Aparams%3A"
	       "oauth%3Atoken-type%3Aid-jag&subject_token=i.d.t"
	       "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type"
	       "%3Aid_token&audience=https%3A%2F%2Fas%2F"
	       "&resource=https%3A%2F%2Fmcp%2F&scope=a%20b&client_id=my%20id",
	    NULL);
	set(&rec.resource, "https://mcp.example/a b");
	client_device(&req, "a");
	client_finish(&req, &rec, NULL, false);
	expect("scope=a&" RESOURCE "&client_id=my%20id", NULL);
	client_device_poll(&req, "dc");
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3A"
	       "device_code&device_code=dc&" RESOURCE "&client_id=my%20id",
	    NULL);
	client_revoke(&req, &rec, "tok", false, NULL);
	expect("token=tok&token_type_hint=access_token&client_id=my%20id",
	    NULL);
	client_revoke(&req, &rec, "tok", true, NULL);
	expect("token=tok&token_type_hint=refresh_token&client_id=my%20id",
	    NULL);
}
END_TEST

/* Without a resource or a scope, the request has no such parameter. */
START_TEST(forms_without)
{
	set(&rec.resource, NULL);
	client_code(&req, &rec, "c", "v");
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=authorization_code&code=c&redirect_uri=" CALLBACK
	       "&code_verifier=v&client_id=my%20id",
	    NULL);
	client_credentials(&req, NULL);
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=client_credentials&client_id=my%20id", NULL);
	client_device(&req, NULL);
	client_finish(&req, &rec, NULL, false);
	expect("client_id=my%20id", NULL);
	set(&rec.client.id, NULL);
	client_device(&req, NULL);
	client_finish(&req, &rec, NULL, false);
	expect("", NULL);
}
END_TEST

START_TEST(proofs)
{
	set(&rec.resource, NULL);
	set(&rec.client.id, "my:id");
	set(&rec.client.secret, "s%c r\xC3\xA9");
	rec.client.method = CLIENT_BASIC;
	client_credentials(&req, NULL);
	client_finish(&req, &rec, NULL, false);
	/* my%3Aid:s%25c%20r%C3%A9 */
	expect("grant_type=client_credentials",
	    "Basic bXklM0FpZDpzJTI1YyUyMHIlQzMlQTk=");
	rec.client.method = CLIENT_POST;
	client_credentials(&req, NULL);
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=client_credentials&client_id=my%3Aid"
	       "&client_secret=s%25c%20r%C3%A9",
	    NULL);
	rec.client.method = CLIENT_NONE;
	client_credentials(&req, NULL);
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=client_credentials&client_id=my%3Aid", NULL);
	rec.client.method = CLIENT_JWT;
	client_credentials(&req, NULL);
	client_finish(&req, &rec, "a.b.c", false);
	expect("grant_type=client_credentials&client_assertion_type="
	       "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3A"
	       "jwt-bearer&client_assertion=a.b.c",
	    NULL);
	/* what cannot be proved is asked for without a proof */
	client_credentials(&req, NULL);
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=client_credentials&client_id=my%3Aid", NULL);
	rec.client.method = CLIENT_BASIC;
	set(&rec.client.secret, NULL);
	client_credentials(&req, NULL);
	client_finish(&req, &rec, NULL, false);
	expect("grant_type=client_credentials&client_id=my%3Aid", NULL);
}
END_TEST

static const struct {
	const char *told; /* letters of none, basic, post, jwt; NULL: not */
	bool secret, key;
	enum client_method want;
} methods[] = {
	{ NULL, false, false, CLIENT_NONE },
	{ NULL, true, false, CLIENT_BASIC },
	{ NULL, false, true, CLIENT_JWT },
	{ NULL, true, true, CLIENT_JWT },
	{ "b", false, false, CLIENT_NONE },
	{ "nbp", true, false, CLIENT_POST },
	{ "nb", true, false, CLIENT_BASIC },
	{ "np", true, false, CLIENT_POST },
	{ "n", true, false, CLIENT_POST },
	{ "", true, false, CLIENT_BASIC },
	{ "b", false, true, CLIENT_JWT },
	{ "pj", true, true, CLIENT_JWT },
	{ "p", true, true, CLIENT_POST },
};

static void
tell_methods(const char *told)
{
	meta.methods_told = told != NULL;
	if (told == NULL)
		return;
	meta.method_none = strchr(told, 'n') != NULL;
	meta.method_basic = strchr(told, 'b') != NULL;
	meta.method_post = strchr(told, 'p') != NULL;
	meta.method_jwt = strchr(told, 'j') != NULL;
}

START_TEST(method_choice)
{
	tell_methods(methods[_i].told);
	ck_assert_int_eq(client_method(&meta, methods[_i].secret,
			     methods[_i].key),
	    methods[_i].want);
}
END_TEST

static const struct {
	const char *told, *redirect, *scope, *want, *given, *name;
} registrations[] = {
	{ NULL, "http://127.0.0.1:1/callback", "a b",
	    ",\"token_endpoint_auth_method\":\"none\","
	    "\"redirect_uris\":[\"http://127.0.0.1:1/callback\"],"
	    "\"grant_types\":[\"authorization_code\",\"refresh_token\"],"
	    "\"response_types\":[\"code\"],\"scope\":\"a b\"}",
	    NULL, NULL },
	{ "bp", NULL, NULL,
	    ",\"token_endpoint_auth_method\":\"client_secret_post\","
	    "\"grant_types\":[\"urn:ietf:params:oauth:grant-type:"
	    "device_code\",\"refresh_token\"]}",
	    NULL, NULL },
	{ "b", NULL, NULL,
	    ",\"token_endpoint_auth_method\":\"client_secret_basic\","
	    "\"grant_types\":[\"urn:ietf:params:oauth:grant-type:"
	    "device_code\",\"refresh_token\"]}",
	    NULL, NULL },
	{ "p", NULL, NULL,
	    ",\"token_endpoint_auth_method\":\"client_secret_post\","
	    "\"grant_types\":[\"urn:ietf:params:oauth:grant-type:"
	    "device_code\",\"refresh_token\"]}",
	    NULL, NULL },
	{ "bpn", NULL, NULL,
	    ",\"token_endpoint_auth_method\":\"none\","
	    "\"grant_types\":[\"urn:ietf:params:oauth:grant-type:"
	    "device_code\",\"refresh_token\"]}",
	    NULL, NULL },
	/* what the user gives */
	{ NULL, "http://localhost:1/oauth/callback", "a",
	    ",\"token_endpoint_auth_method\":\"none\","
	    "\"redirect_uris\":[\"http://localhost:1/oauth/callback\"],"
	    "\"grant_types\":[\"authorization_code\"],"
	    "\"response_types\":[\"code\"],\"contacts\":[\"a@b.test\"],"
	    "\"scope\":\"a\"}",
	    "{\"client_name\":\"Design\",\"grant_types\":["
	    "\"authorization_code\"],\"redirect_uris\":[\"https://evil.test/\"],"
	    "\"contacts\":[\"a@b.test\"]}",
	    "Design" },
};

START_TEST(registration)
{
	const char *name = registrations[_i].name, *fault = NULL;
	struct json_object *given = NULL;
	struct buf b;
	char *want =
	    xasprintf("{\"client_name\":\"%s\",\"software_id\":\"mcpsplice\","
		      "\"software_version\":\"" PACKAGE_VERSION
		      "\",\"application_type\":\"native\"%s",
		name == NULL ? "mcpsplice" : name, registrations[_i].want);

	if (registrations[_i].given != NULL)
		given = document_parse(span_of(registrations[_i].given),
		    &fault);
	ck_assert_ptr_null(fault);

	tell_methods(registrations[_i].told);
	buf_init(&b, 0);
	client_register(&b, &meta, registrations[_i].redirect,
	    registrations[_i].scope, given);
	json_object_put(given);
	ck_assert_str_eq(buf_str(&b), want);
	buf_free(&b);
	free(want);
}
END_TEST

#define POST "\"token_endpoint_auth_method\":\"client_secret_post\""

static const struct {
	const char *doc, *id, *secret;
	enum client_method method;
	int64_t expires;
} answers[] = {
	{ "{\"client_id\":\"x y\"}", "x y", NULL, CLIENT_NONE, 0 },
	{ "{\"client_id\":\"x\",\"client_secret\":\"s\"}", "x", "s",
	    CLIENT_BASIC, 0 },
	{ "{\"client_id\":\"x\",\"client_secret\":\"s\",\"client_secret_"
	  "expires_at\":99," POST "}",
	    "x", "s", CLIENT_POST, 99 },
	{ "{\"client_id\":\"x\",\"client_secret\":\"s\",\"client_secret_"
	  "expires_at\":0,\"token_endpoint_auth_method\":\"none\"}",
	    "x", "s", CLIENT_NONE, 0 },
	/* nothing to prove itself with */
	{ "{\"client_id\":\"x\",\"client_secret\":\"\",\"client_secret_"
	  "expires_at\":99," POST "}",
	    "x", NULL, CLIENT_NONE, 0 },
	{ "{\"client_id\":\"x\",\"client_secret\":\"s\","
	  "\"token_endpoint_auth_method\":\"other\"}",
	    "x", "s", CLIENT_BASIC, 0 },
};

START_TEST(registered)
{
	struct json_object *o = parse(answers[_i].doc);

	set(&rec.client.secret, "old");
	rec.client.secret_expires_at = 7;
	rec.client_failures = 3;
	ck_assert_int_eq(client_registered(&rec, o, &meta, "http://r", &why),
	    0);
	json_object_put(o);
	ck_assert_int_eq(rec.client.source, CLIENT_REGISTERED);
	ck_assert_int_eq(rec.client.method, answers[_i].method);
	ck_assert_str_eq(rec.client.id, answers[_i].id);
	ck_assert_pstr_eq(rec.client.secret, answers[_i].secret);
	ck_assert_int_eq(rec.client.secret_expires_at, answers[_i].expires);
	ck_assert_str_eq(rec.client.redirect_uri, "http://r");
	ck_assert_int_eq(rec.client_failures, 0);
}
END_TEST

/* What the answer says of method and scope counts, else what the issuer
 * lists. */
static const struct {
	const char *told, *lists, *more;
	enum client_method method;
	const char *scope;
} silences[] = {
	{ NULL, NULL, "", CLIENT_BASIC, NULL },
	{ "bp", "a b", "", CLIENT_POST, "a b" },
	{ "n", NULL, "", CLIENT_NONE, NULL },
	{ "b", "a b", ",\"scope\":\"\"", CLIENT_BASIC, "a b" },
	{ "b", "a b", ",\"scope\":\"a\"," POST, CLIENT_POST, "a" },
	{ "p", NULL,
	    ",\"scope\":\"c\",\"token_endpoint_auth_method\":"
	    "\"client_secret_basic\"",
	    CLIENT_BASIC, "c" },
	{ "p", "a", ",\"scope\":\"c\\n\"", CLIENT_POST, "a" },
};

START_TEST(registered_in_part)
{
	char *text = xasprintf("{\"client_id\":\"x\",\"client_secret\":"
			       "\"s\"%s}",
	    silences[_i].more);
	struct json_object *o = parse(text);

	tell_methods(silences[_i].told);
	meta.scopes = string_copy(silences[_i].lists);
	ck_assert_int_eq(client_registered(&rec, o, &meta, "http://r", &why),
	    0);
	json_object_put(o);
	free(text);
	ck_assert_int_eq(rec.client.method, silences[_i].method);
	ck_assert_pstr_eq(rec.client.scope, silences[_i].scope);
	string_set(&meta.scopes, NULL);
}
END_TEST

/* The form has the client's id beside Basic for who looks for it there. */
static const struct {
	int status;
	const char *doc;
	bool missed;
} complaints[] = {
	{ 401,
	    "{\"error\":\"unauthorized_client\",\"error_description\":"
	    "\"Missing client_id\"}",
	    true },
	{ 400,
	    "{\"error\":\"invalid_request\",\"error_description\":"
	    "\"Client ID is required\"}",
	    true },
	{ 422,
	    "{\"detail\":[{\"type\":\"missing\",\"loc\":[\"body\","
	    "\"client_id\"]}]}",
	    true },
	{ 401,
	    "{\"error\":\"invalid_client\",\"error_description\":"
	    "\"Invalid client_id\"}",
	    false },
	{ 400,
	    "{\"error\":\"invalid_request\",\"error_description\":"
	    "\"Missing code\"}",
	    false },
	{ 200, "{\"client_id\":\"missing\"}", false },
	{ 401, NULL, false },
};

START_TEST(id_is_missed)
{
	struct json_object *o = complaints[_i].doc == NULL ?
	    NULL :
	    parse(complaints[_i].doc);

	ck_assert_int_eq(client_id_is_missed(complaints[_i].status, o),
	    complaints[_i].missed);
	json_object_put(o);
}
END_TEST

START_TEST(named_beside_basic)
{
	rec.client.method = CLIENT_BASIC;
	set(&rec.client.secret, "s");
	client_credentials(&req, NULL);
	client_finish(&req, &rec, NULL, true);
	expect("grant_type=client_credentials&" RESOURCE "&client_id=my%20id",
	    "Basic bXklMjBpZDpz");
}
END_TEST

static const struct {
	const char *doc, *why;
} no_clients[] = {
	{ "{}", "the answer has no usable client_id" },
	{ "{\"client_id\":\"\"}", "the answer has no usable client_id" },
	{ "{\"client_id\":7}", "the answer has no usable client_id" },
	{ "{\"client_id\":\"a\\nb\"}", "the answer has no usable client_id" },
	{ "{\"client_id\":\"\xC3\xA9\"}",
	    "the answer has no usable client_id" },
	{ "{\"client_id\":\"a\",\"client_secret\":\"b\\u0007\"}",
	    "the answer has no usable client_secret" },
	{ "{\"client_id\":\"a\",\"error\":\"invalid_redirect_uri\"}",
	    "invalid_redirect_uri" },
	{ "{\"error\":\"invalid_client_metadata\",\"error_description\":"
	  "\"no \\u001b[31m\"}",
	    "invalid_client_metadata: the server says \"no \\x1b[31m\"" },
};

START_TEST(not_registered)
{
	struct json_object *o = parse(no_clients[_i].doc);

	rec.client_failures = 3;
	ck_assert_int_eq(client_registered(&rec, o, &meta, NULL, &why), -1);
	json_object_put(o);
	ck_assert_str_eq(why, no_clients[_i].why);
	ck_assert_str_eq(rec.client.id, "my id");
	ck_assert_int_eq(rec.client_failures, 3);
	free(why);
	ck_assert_int_eq(client_registered(&rec, NULL, &meta, NULL, &why), -1);
	ck_assert_str_eq(why, "the answer has no usable client_id");
}
END_TEST

#define REST                                                                   \
	"response_type=code&client_id=my%20id&redirect_uri=" CALLBACK          \
	"&state=st&code_challenge=ch&code_challenge_method=S256&" RESOURCE

static const struct {
	const char *endpoint, *want;
} endpoints[] = {
	{ "https://as.example/authorize",
	    "https://as.example/authorize?" REST },
	{ "https://as.example/a?tenant=1",
	    "https://as.example/a?tenant=1&" REST },
	{ "https://as.example/a?", "https://as.example/a?" REST },
	{ "https://as.example/a?x=1&", "https://as.example/a?x=1&" REST },
	{ "https://as.example/a#f", "https://as.example/a?" REST },
	{ "javascript:alert(1)", NULL },
	{ "/authorize", NULL },
	{ "", NULL },
	{ NULL, NULL },
};

START_TEST(authorize_endpoints)
{
	char *url;

	set(&meta.authorization_endpoint, endpoints[_i].endpoint);
	url = client_authorize_url(&meta, &rec, NULL, "st", "ch", NULL);
	ck_assert_pstr_eq(url, endpoints[_i].want);
	free(url);
	free(meta.authorization_endpoint);
}
END_TEST

#define START                                                                  \
	"https://as.example/a?response_type=code&client_id=my%20id"            \
	"&redirect_uri=" CALLBACK
#define MIDDLE                                                                 \
	"&state=st&code_challenge=ch&code_challenge_method=S256&" RESOURCE

static const struct {
	const char *scope, *params[3], *want;
} asked[] = {
	{ "a b", { NULL }, START "&scope=a%20b" MIDDLE },
	{ "a offline_access", { NULL },
	    START "&scope=a%20offline_access" MIDDLE "&prompt=consent" },
	{ "offline_accessory  xoffline_access", { NULL },
	    START "&scope=offline_accessory%20%20xoffline_access" MIDDLE },
	{ "offline_access", { "audience=x&y=z", "prompt=login", NULL },
	    START "&scope=offline_access" MIDDLE
		  "&audience=x%26y%3Dz&prompt=login" },
	{ NULL, { "empty=", NULL }, START MIDDLE },
	{ "offline_access", { "prompt=", NULL },
	    START "&scope=offline_access" MIDDLE },
};

START_TEST(authorize_parameters)
{
	char *url;

	meta.authorization_endpoint = xstrdup("https://as.example/a");
	url = client_authorize_url(&meta, &rec, asked[_i].scope, "st", "ch",
	    asked[_i].params);
	ck_assert_str_eq(url, asked[_i].want);
	free(url);
	free(meta.authorization_endpoint);
}
END_TEST

/* {"exp":1700000500} and {"exp":1600000000} and {"exp":"x"} */
#define JWT(body) "e30." body ".c2ln"
#define LATER "eyJleHAiOjE3MDAwMDA1MDB9"
#define EARLIER "eyJleHAiOjE2MDAwMDAwMDB9"

static const struct {
	const char *more; /* members behind access_token */
	const char *access, *refresh, *id_token, *granted;
	int64_t expires;
} tokens[] = {
	{ "", "acc", "old", NULL, "asked", 0 },
	{ ",\"token_type\":\"bEARER\",\"expires_in\":60", "acc", "old", NULL,
	    "asked", NOW + 60 },
	{ ",\"token_type\":null,\"expires_in\":\"3600\"", "acc", "old", NULL,
	    "asked", NOW + 3600 },
	{ ",\"expires_in\":0", "acc", "old", NULL, "asked", 0 },
	{ ",\"expires_in\":-5", "acc", "old", NULL, "asked", 0 },
	{ ",\"expires_in\":\"soon\"", "acc", "old", NULL, "asked", 0 },
	{ ",\"expires_in\":9007199254740992", "acc", "old", NULL, "asked",
	    NOW + 9007199254740992 },
	{ ",\"refresh_token\":\"new\",\"id_token\":\"i.d.t\","
	  "\"scope\":\"a b\"",
	    "acc", "new", "i.d.t", "a b", 0 },
	{ ",\"refresh_token\":\"\",\"id_token\":\"\",\"scope\":\"\"", "acc",
	    "old", NULL, "asked", 0 },
	{ ",\"refresh_token\":null,\"id_token\":\"a b\",\"scope\":\"a\\nb\"",
	    "acc", "old", NULL, "asked", 0 },
	/* without expires_in, the JWT's exp says when the token expires */
	{ ",\"access_token\":\"" JWT(LATER) "\"", JWT(LATER), "old", NULL,
	    "asked", 1700000500 },
	{ ",\"expires_in\":60,\"access_token\":\"" JWT(LATER) "\"", JWT(LATER),
	    "old", NULL, "asked", NOW + 60 },
	{ ",\"access_token\":\"" JWT(EARLIER) "\"", JWT(EARLIER), "old", NULL,
	    "asked", 0 },
	{ ",\"access_token\":\"" JWT("eyJleHAiOiJ4In0") "\"",
	    JWT("eyJleHAiOiJ4In0"), "old", NULL, "asked", 0 },
	{ ",\"access_token\":\"" JWT("!!!") "\"", JWT("!!!"), "old", NULL,
	    "asked", 0 },
	{ ",\"access_token\":\"..\"", "..", "old", NULL, "asked", 0 },
	{ ",\"access_token\":\".\"", ".", "old", NULL, "asked", 0 },
};

/* access_token is "acc" unless more says another one. */
static struct json_object *
token_doc(const char *more)
{
	char *text = strstr(more, "\"access_token\"") != NULL ?
	    xasprintf("{%s}", more + 1) :
	    xasprintf("{\"access_token\":\"acc\"%s}", more);
	struct json_object *o = parse(text);

	free(text);
	return o;
}

START_TEST(good_tokens)
{
	struct json_object *o = token_doc(tokens[_i].more);

	set(&rec.token.access, "before");
	set(&rec.token.refresh, "old");
	rec.token.expires_at = 5;
	ck_assert_int_eq(client_token(&rec, 200 + _i % 2, o, "asked", NOW,
			     CLIENT_SERVER, &why),
	    CAME_TOKEN);
	json_object_put(o);
	ck_assert_ptr_null(why);
	ck_assert_str_eq(rec.token.access, tokens[_i].access);
	ck_assert_str_eq(rec.token.refresh, tokens[_i].refresh);
	ck_assert_pstr_eq(rec.token.id_token, tokens[_i].id_token);
	ck_assert_str_eq(rec.token.scope_requested, "asked");
	ck_assert_str_eq(rec.token.scope_granted, tokens[_i].granted);
	ck_assert_int_eq(rec.token.obtained_at, NOW);
	ck_assert_int_eq(rec.token.expires_at, tokens[_i].expires);
}
END_TEST

/* A refresh asks for what the record says: its own string. */
START_TEST(a_refreshed_token)
{
	struct json_object *o = token_doc("");

	set(&rec.token.scope_requested, "mine");
	set(&rec.token.id_token, "kept");
	ck_assert_int_eq(client_token(&rec, 200, o, rec.token.scope_requested,
			     NOW, CLIENT_SERVER, &why),
	    CAME_TOKEN);
	ck_assert_str_eq(rec.token.scope_requested, "mine");
	ck_assert_str_eq(rec.token.scope_granted, "mine");
	ck_assert_str_eq(rec.token.id_token, "kept");
	ck_assert_ptr_null(rec.token.refresh);
	ck_assert_int_eq(client_token(&rec, 200, o, NULL, NOW, CLIENT_SERVER,
			     &why),
	    CAME_TOKEN);
	ck_assert_ptr_null(rec.token.scope_requested);
	ck_assert_ptr_null(rec.token.scope_granted);
	json_object_put(o);
}
END_TEST

/* A renewal keeps the name of the sign-in, a new one gets its own. One that an
 * older mcpsplice began gets none, and one of mcp-remote gets it at its first
 * renewal. */
START_TEST(accounts)
{
	struct json_object *o = token_doc("");
	char *first;

	client_token(&rec, 200, o, NULL, NOW, CLIENT_SERVER, &why);
	ck_assert_ptr_nonnull(rec.token.account);
	first = xstrdup(rec.token.account);
	client_token(&rec, 200, o, NULL, NOW, CLIENT_SERVER, &why);
	ck_assert_str_eq(rec.token.account, first);
	record_drop_token(&rec);
	client_token(&rec, 200, o, NULL, NOW, CLIENT_SERVER, &why);
	ck_assert_str_ne(rec.token.account, first);
	set(&rec.token.account, NULL);
	client_token(&rec, 200, o, NULL, NOW, CLIENT_SERVER, &why);
	ck_assert_ptr_null(rec.token.account);
	rec.client.source = CLIENT_IMPORTED;
	client_token(&rec, 200, o, NULL, NOW, CLIENT_SERVER, &why);
	ck_assert_ptr_nonnull(rec.token.account);
	free(first);
	json_object_put(o);
}
END_TEST

#define BAD(which)                                                             \
	"the " which " is too long, or contains bytes not allowed in a token"

#define ANSWERED(status)                                                       \
	"the authorization server answered " status " without giving a reason"

#define RESOURCE_ADVICE                                                        \
	"; --resource names another resource, and --no-resource none"

static const struct {
	int status;
	const char *doc; /* NULL: there is none */
	enum login_outcome want;
	const char *why;
} refusals[] = {
	{ 200, NULL, CAME_REFUSED, "the answer is not a JSON object" },
	{ 200, "{}", CAME_REFUSED, "the answer has no access_token" },
	{ 200, "{\"access_token\":\"\"}", CAME_REFUSED,
	    "the answer has no access_token" },
	{ 200, "{\"access_token\":[\"a\"]}", CAME_REFUSED,
	    "the answer has no access_token" },
	{ 200, "{\"access_token\":\"a b\"}", CAME_REFUSED,
	    BAD("access_token") },
	{ 200, "{\"access_token\":\"a\\r\\nX: y\"}", CAME_REFUSED,
	    BAD("access_token") },
	{ 200, "{\"access_token\":\"a\\u007f\"}", CAME_REFUSED,
	    BAD("access_token") },
	{ 200, "{\"access_token\":\"\xC3\xA9\"}", CAME_REFUSED,
	    BAD("access_token") },
	{ 200, "{\"access_token\":\"a\",\"refresh_token\":\"b c\"}",
	    CAME_REFUSED, BAD("refresh_token") },
	{ 200, "{\"access_token\":\"a\",\"token_type\":\"mac\"}", CAME_REFUSED,
	    "the token is not a Bearer token and not bound to a key (DPoP)" },
	{ 200, "{\"access_token\":\"a\",\"token_type\":\"dpop\"}", CAME_REFUSED,
	    "the token is bound to a key (DPoP), but mcpsplice did not present one" },
	/* errors that come with a success */
	{ 200, "{\"error\":\"invalid_grant\"}", CAME_DEAD_GRANT,
	    "invalid_grant" },
	{ 200, "{\"access_token\":\"a\",\"error\":\"x\"}", CAME_REFUSED, "x" },
	{ 400, "{\"error\":\"invalid_grant\",\"error_description\":\"gone\"}",
	    CAME_DEAD_GRANT, "invalid_grant: the server says \"gone\"" },
	{ 400, "{\"error\":\"INVALID_GRANT\"}", CAME_REFUSED, "INVALID_GRANT" },
	{ 401, "{\"error\":\"invalid_client\"}", CAME_DEAD_CLIENT,
	    "invalid_client; check --client-id and its secret "
	    "(--client-secret-file or --client-secret-env)" },
	{ 400, "{\"error\":\"invalid_scope\"}", CAME_REFUSED,
	    "invalid_scope; --scope chooses other scopes" },
	{ 400, "{\"error\":\"invalid_target\"}", CAME_REFUSED,
	    "invalid_target" RESOURCE_ADVICE },
	{ 400,
	    "{\"error\":\"invalid_request\",\"error_description\":"
	    "\"AADSTS9010010: The resource parameter\"}",
	    CAME_REFUSED,
	    "invalid_request: the server says \"AADSTS9010010: The resource "
	    "parameter\"" RESOURCE_ADVICE },
	{ 400, "{\"error\":\"invalid_request\"}", CAME_REFUSED,
	    "invalid_request" },
	{ 400, "{\"error\":\"unauthorized_client\"}", CAME_DEAD_CLIENT,
	    "unauthorized_client" },
	{ 400, "{\"error\":\"authorization_pending\"}", CAME_PENDING,
	    "authorization_pending" },
	{ 429, "{\"error\":\"authorization_pending\"}", CAME_PENDING,
	    "authorization_pending" },
	{ 400, "{\"error\":\"slow_down\"}", CAME_SLOW_DOWN, "slow_down" },
	{ 429, "{\"error\":\"slow_down\"}", CAME_SLOW_DOWN, "slow_down" },
	{ 400, "{\"error\":\"access_denied\"}", CAME_REFUSED, "access_denied" },
	{ 400, "{\"error\":\"expired_token\"}", CAME_REFUSED, "expired_token" },
	{ 400, "{\"error\":\"temporarily_unavailable\"}", CAME_TRANSIENT,
	    "temporarily_unavailable" },
	/* some statuses are transient, whatever the body says */
	{ 500, "{\"error\":\"invalid_grant\"}", CAME_TRANSIENT,
	    "invalid_grant" },
	{ 503, "{\"error\":\"temporarily_unavailable\"}", CAME_TRANSIENT,
	    "temporarily_unavailable" },
	{ 429, "{\"error\":\"invalid_grant\"}", CAME_TRANSIENT,
	    "invalid_grant" },
	{ 503, "{\"access_token\":\"a\"}", CAME_TRANSIENT, ANSWERED("503") },
	{ 429, NULL, CAME_TRANSIENT, ANSWERED("429") },
	{ 408, NULL, CAME_TRANSIENT, ANSWERED("408") },
	{ 0, NULL, CAME_TRANSIENT, "no answer" },
	{ 302, NULL, CAME_REFUSED, ANSWERED("302") },
	{ 400, NULL, CAME_REFUSED, ANSWERED("400") },
	{ 400, "{\"access_token\":\"a\"}", CAME_REFUSED, ANSWERED("400") },
	{ 400, "{\"error\":{\"message\":\"x\"}}", CAME_REFUSED,
	    ANSWERED("400") },
	/* what is shown of a server's error code */
	{ 400, "{\"error\":\"call 555 now\"}", CAME_REFUSED,
	    "an unnamed error" },
	{ 400, "{\"error\":\"is_CANARY2\"}", CAME_REFUSED, "an unnamed error" },
	{ 400, "{\"error\":\"" S40 "\"}", CAME_REFUSED, "an unnamed error" },
	{ 400, "{\"error\":\"\\u001b[2J\"}", CAME_REFUSED, "an unnamed error" },
	{ 400,
	    "{\"error\":\"e\",\"error_description\":\"a \\\"b\\\"\\n"
	    "\\u202ec\"}",
	    CAME_REFUSED, "e: the server says \"a 'b' \\xe2\\x80\\xaec\"" },
	{ 400, "{\"error\":\"e\",\"error_description\":\"\"}", CAME_REFUSED,
	    "e" },
	{ 400, "{\"error\":\"e\",\"error_description\":\"bad CANARY1\"}",
	    CAME_REFUSED, "e" },
	{ 400, "{\"error\":\"e\",\"error_description\":\"bad CANARY2\"}",
	    CAME_REFUSED, "e" },
	{ 400, "{\"error\":\"e\",\"error_description\":\"code " S40 "!\"}",
	    CAME_REFUSED, "e: the server says \"code [...]!\"" },
	{ 400, "{\"error\":\"p%2Fa\"}", CAME_REFUSED, "an unnamed error" },
	/* as a form and a header have it */
	{ 400,
	    "{\"error\":\"e\",\"error_description\":\"bad client_secret="
	    "p%2Fa%2bb&c with Basic eDpwJTJGYSUyQmJi\"}",
	    CAME_REFUSED,
	    "e: the server says \"bad [...]&c with Basic (redacted)\"" },
	{ 400,
	    "{\"error\":\"e\",\"error_description\":\"trace 8a3c5b2e-0000-"
	    "4000-8000-123456789abc\"}",
	    CAME_REFUSED,
	    "e: the server says \"trace "
	    "8a3c5b2e-0000-4000-8000-123456789abc\"" },
};

START_TEST(refused_tokens)
{
	struct json_object *o = NULL;

	if (refusals[_i].doc != NULL)
		o = parse(refusals[_i].doc);
	set(&rec.token.access, "before");
	set(&rec.token.refresh, "CANARY1");
	set(&rec.client.secret, "CANARY2");
	rec.token.expires_at = 5;
	rec.token.obtained_at = 4;
	ck_assert_int_eq(client_token(&rec, refusals[_i].status, o, "asked",
			     NOW, CLIENT_SERVER, &why),
	    refusals[_i].want);
	json_object_put(o);
	ck_assert_str_eq(why, refusals[_i].why);
	ck_assert_str_eq(rec.token.access, "before");
	ck_assert_str_eq(rec.token.refresh, "CANARY1");
	ck_assert_ptr_null(rec.token.scope_requested);
	ck_assert_int_eq(rec.token.expires_at, 5);
	ck_assert_int_eq(rec.token.obtained_at, 4);
}
END_TEST

/* n times 'x' as access_token. */
static enum login_outcome
token_of(size_t n)
{
	char *x = xmalloc(n + 1), *text;
	struct json_object *o;
	enum login_outcome v;

	memset(x, 'x', n);
	x[n] = '\0';
	text = xasprintf("{\"access_token\":\"%s\"}", x);
	o = parse(text);
	v = client_token(&rec, 200, o, NULL, NOW, CLIENT_SERVER, &why);
	json_object_put(o);
	free(text);
	free(x);
	return v;
}

/* The type of the answer decides, for the token that is in it alone. */
static const struct {
	const char *type;
	bool bound;
} types[] = { { "DPoP", true }, { "dpop", true }, { "Bearer", false } };

START_TEST(bound_tokens)
{
	char ath[PKCE_BYTES];
	struct json_object *o;
	char *text;

	ck_assert_int_eq(pkce_challenge(ath, "bound"), 0);
	string_set(&rec.dpop_key, "k");
	string_set(&rec.token.dpop_ath, "of another token");
	text = xasprintf("{\"access_token\":\"bound\",\"token_type\":\"%s\"}",
	    types[_i].type);
	o = parse(text);
	ck_assert_int_eq(client_token(&rec, 200, o, NULL, NOW, CLIENT_SERVER,
			     &why),
	    CAME_TOKEN);
	ck_assert_pstr_eq(rec.token.dpop_ath, types[_i].bound ? ath : NULL);
	json_object_put(o);
	free(text);
}
END_TEST

START_TEST(long_tokens)
{
	ck_assert_int_eq(token_of(64 * 1024), CAME_TOKEN);
	ck_assert_uint_eq(strlen(rec.token.access), 64 * 1024);
	ck_assert_int_eq(token_of(64 * 1024 + 1), CAME_REFUSED);
	ck_assert_str_eq(why, BAD("access_token"));
}
END_TEST

/* The value is taken, one more is not. */
START_TEST(user_codes)
{
	char code[BOUND_WORDS_BYTES + 2], *text;
	struct json_object *o;

	memset(code, 'x', sizeof code);
	code[BOUND_WORDS_BYTES + _i] = '\0';
	text = xasprintf("{\"user_code\":\"%s\"}", code);
	o = parse(text);
	ck_assert_pstr_eq(client_user_code(o), _i == 0 ? code : NULL);
	json_object_put(o);
	free(text);
}
END_TEST

START_TEST(long_descriptions)
{
	char words[301], *text, *want;
	struct json_object *o;
	size_t i;

	for (i = 0; i < 300; i++)
		words[i] = i % 10 == 9 ? ' ' : 'x';
	words[300] = '\0';
	text = xasprintf("{\"error\":\"e\",\"error_description\":\"%s\"}",
	    words);
	want = xasprintf("e: the server says \"%.200s...\"", words);
	o = parse(text);
	ck_assert_int_eq(client_token(&rec, 400, o, NULL, NOW, CLIENT_SERVER,
			     &why),
	    CAME_REFUSED);
	ck_assert_str_eq(why, want);
	json_object_put(o);
	free(text);
	free(want);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("client_messages");
	TCase *t = tcase_create("client");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, forms);
	tcase_add_test(t, forms_without);
	tcase_add_test(t, proofs);
	tcase_add_loop_test(t, method_choice, 0, COUNT(methods));
	tcase_add_loop_test(t, registration, 0, COUNT(registrations));
	tcase_add_loop_test(t, registered, 0, COUNT(answers));
	tcase_add_loop_test(t, registered_in_part, 0, COUNT(silences));
	tcase_add_loop_test(t, id_is_missed, 0, COUNT(complaints));
	tcase_add_test(t, named_beside_basic);
	tcase_add_loop_test(t, not_registered, 0, COUNT(no_clients));
	tcase_add_loop_test(t, authorize_endpoints, 0, COUNT(endpoints));
	tcase_add_loop_test(t, authorize_parameters, 0, COUNT(asked));
	tcase_add_loop_test(t, good_tokens, 0, COUNT(tokens));
	tcase_add_test(t, a_refreshed_token);
	tcase_add_test(t, accounts);
	tcase_add_loop_test(t, refused_tokens, 0, COUNT(refusals));
	tcase_add_loop_test(t, bound_tokens, 0, COUNT(types));
	tcase_add_test(t, long_tokens);
	tcase_add_loop_test(t, user_codes, 0, 2);
	tcase_add_test(t, long_descriptions);
	suite_add_tcase(s, t);
	return unit_run(s);
}
