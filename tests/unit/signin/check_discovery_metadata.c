/*
 * Metadata: which URLs are allowed, where documents are looked for, and what
 * of them is believed.
 */
#include "config.h"

#include "signin/browser.h"
#include "signin/discovery.h"

#include "unit/unit.h"

static const struct metadata_policy strict;
static const struct metadata_policy lax = { .allow_http = true,
	.cross_origin_prm = true,
	.assume_pkce = true };

static struct json_object *
document(const char *text)
{
	struct json_object *o;
	const char *why;

	o = document_parse(span_of(text), &why);
	ck_assert_msg(o != NULL, "%s: %s", text, why);
	return o;
}

/* The message is there, and has this in it. */
static void
says(char *why, const char *word)
{
	ck_assert_ptr_nonnull(why);
	ck_assert_msg(strstr(why, word) != NULL, "\"%s\" has no \"%s\"", why,
	    word);
	free(why);
}

/* word NULL: it is allowed. */
struct url_case {
	const char *url, *word;
	bool with_http; /* --allow-http mends it */
};

static const struct url_case url_cases[] = {
	{ .url = "https://as.example/token" },
	{ .url = "HTTPS://as.example:8443/a?b=c" },
	{ .url = "http://127.0.0.1:90/x" },
	{ .url = "http://[::1]/x" },
	{ .url = "http://localhost:3000" },
	{ "http://as.example/x", "--allow-http", true },
	{ "http://127.0.0.1.example/x", "--allow-http", true },
	{ "http://10.0.0.1/x", "--allow-http", true },
	{ .url = "ftp://as.example/x", .word = "only https" },
	{ .url = "javascript:alert(1)", .word = "not a URL" },
	{ .url = "file:///etc/passwd", .word = "only https" },
	{ .url = "https://u:p@as.example/", .word = "password" },
	{ .url = "https://u@as.example/", .word = "user name" },
	{ .url = "https://as.example/#x", .word = "fragment" },
	{ .url = "https://as.example/#", .word = "fragment" },
	{ .url = "/token", .word = "not a URL" },
	{ .url = "as.example/token", .word = "not a URL" },
	{ .url = "-x", .word = "not a URL" },
	{ .url = "", .word = "not a URL" },
	{ .url = "https://as.example/a b", .word = "not a URL" },
	{ .url = "https://as%e/x", .word = "not a URL" },
	{ .url = "https://as%2541/x", .word = "not a URL" },
	{ .url = "https://as.example/\x1b[31m", .word = "\\x1b[31m" },
};

START_TEST(allowed)
{
	const struct url_case *c = &url_cases[_i];
	char *why = NULL;
	bool ok;

	ok = metadata_url_ok(c->url, &strict, "the thing", &why);
	ck_assert_msg(ok == (c->word == NULL), "%s", c->url);
	if (ok) {
		ck_assert_ptr_null(why);
	} else {
		ck_assert_int_eq(strncmp(why, "the thing is ", 13), 0);
		says(why, c->word);
	}
	why = NULL;
	ok = metadata_url_ok(c->url, &lax, "it", &why);
	ck_assert_msg(ok == (c->word == NULL || c->with_http), "%s", c->url);
	free(why);
}
END_TEST

/* A refused URL is shown without its query, and not all of it. */
START_TEST(url_is_not_echoed)
{
	char url[2000], *why;

	memset(url, 'x', sizeof url);
	url[sizeof url - 1] = '\0';
	memcpy(url, "ftp://", 6);
	ck_assert(!metadata_url_ok(url, &strict, "it", &why));
	ck_assert_uint_lt(strlen(why), 300);
	free(why);
	ck_assert(!metadata_url_ok("ftp://h/x?key=CANARY", &strict, "it",
	    &why));
	ck_assert_ptr_null(strstr(why, "CANARY"));
	free(why);
}
END_TEST

#define R "/.well-known/oauth-protected-resource"
#define A "/.well-known/oauth-authorization-server"
#define O "/.well-known/openid-configuration"

struct places_case {
	const char *from, *url[3];
};

static const struct places_case resource_cases[] = {
	{ "https://h/mcp", { "https://h" R "/mcp", "https://h" R } },
	{ "https://H:443/a/b/", { "https://h" R "/a/b/", "https://h" R } },
	{ "http://h:90/mcp?x=/y",
	    { "http://h:90" R "/mcp?x=/y", "http://h:90" R } },
	{ "https://h/?x", { "https://h" R "?x" } },
	{ "https://h/", { "https://h" R } },
	{ "https://h", { "https://h" R } },
	{ "https://[::1]:9/m",
	    { "https://[::1]:9" R "/m", "https://[::1]:9" R } },
};

START_TEST(resource_places)
{
	const struct places_case *c = &resource_cases[_i];
	char *urls[2] = { NULL, NULL };
	struct url server;
	size_t i, n;

	ck_assert_int_eq(url_parse(&server, c->from), URL_OK);
	n = metadata_resource_urls(&server, urls);
	for (i = 0; i < n; i++) {
		ck_assert_ptr_nonnull(c->url[i]);
		ck_assert_str_eq(urls[i], c->url[i]);
		free(urls[i]);
	}
	ck_assert_ptr_null(c->url[n]);
	url_free(&server);
}
END_TEST

static const struct places_case server_cases[] = {
	{ "https://as", { "https://as" A, "https://as" O } },
	{ "https://as/", { "https://as" A, "https://as" O } },
	{ "https://as/t",
	    { "https://as" A "/t", "https://as" O "/t", "https://as/t" O } },
	{ "https://as/t/",
	    { "https://as" A "/t", "https://as" O "/t", "https://as/t" O } },
	{ "https://AS:444/t/u",
	    { "https://as:444" A "/t/u", "https://as:444" O "/t/u",
		"https://as:444/t/u" O } },
	{ .from = "https://as/t?x" },
	{ .from = "https://as/t#x" },
	{ .from = "https://u@as/t" },
	{ .from = "ftp://as/t" },
	{ .from = "https://as%e" },
	{ .from = "https://as%2541/t" },
	{ .from = "as.example" },
	{ .from = "" },
};

START_TEST(server_places)
{
	const struct places_case *c = &server_cases[_i];
	char *urls[3];
	size_t i, n, want;

	for (want = 0; want < 3 && c->url[want] != NULL; want++)
		continue;
	n = metadata_server_urls(c->from, urls);
	ck_assert_uint_eq(n, want);
	for (i = 0; i < n; i++) {
		ck_assert_str_eq(urls[i], c->url[i]);
		free(urls[i]);
	}
}
END_TEST

struct resource_case {
	const char *server, *resource;
	bool ok;
};

static const struct resource_case covers_cases[] = {
	{ "https://h/mcp", "https://h/mcp", true },
	{ "https://h/mcp", "https://H:443/mcp", true },
	{ "https://h/mcp", "https://h/mcp/", true },
	{ "https://h/mcp/", "https://h/mcp", true },
	{ "https://h/mcp", "https://h", true },
	{ "https://h/mcp", "https://h/", true },
	{ "https://h/", "https://h", true },
	{ "https://h/a/b/c", "https://h/a/b", true },
	{ "https://h/a/b/c", "https://h/a/b/", true },
	{ "https://h/mcp?x=1", "https://h/mcp", true },
	{ "https://h/mcp?x=1", "https://h/mcp?x=1", true },
	{ "https://h/?x", "https://h", true },
	{ "https://h/mcp", "https://h/mcp2", false },
	{ "https://h/mcp2", "https://h/mcp", false },
	{ "https://h/a/bc", "https://h/a/b", false },
	{ "https://h/mcp", "https://h/mcp/x", false },
	{ "https://h/", "https://h/mcp", false },
	{ "https://h/mcp?/x", "https://h/mcp/x", false },
	{ "https://h/mcp?x=1", "https://h/mcp?x=2", false },
	{ "https://h/mcp", "https://h/mcp?x=1", false },
	{ "https://h/mcp?x=1", "https://h?x=1", false },
	{ "https://h/mcp", "https://h/x/../y", false },
	{ "https://h/mcp", "http://h/mcp", false },
	{ "https://h/mcp", "https://h:8443/mcp", false },
	{ "https://h/mcp", "https://evil.h/mcp", false },
	{ "https://h/mcp", "https://h.evil/mcp", false },
	{ "https://h/mcp", "https://u@h/mcp", false },
	{ "https://h/mcp", "https://h/mcp#x", false },
	{ "https://h/mcp", "https://h/mcp ", false },
	{ "https://h/mcp", "/mcp", false },
	{ "https://h/mcp", "h/mcp", false },
	{ "https://h/mcp", "urn:mcp", false },
	{ "https://h/mcp", "", false },
};

START_TEST(covers)
{
	const struct resource_case *c = &covers_cases[_i];
	struct json_object *doc = json_object_new_object();
	struct resource_metadata m;
	struct url server;
	char *why = NULL;
	int rc;

	document_set(doc, "resource", c->resource);
	ck_assert_int_eq(url_parse(&server, c->server), URL_OK);
	rc = metadata_resource(&m, doc, &server, &why);
	ck_assert_msg((rc == 0) == c->ok, "%s %s", c->server, c->resource);
	if (c->ok) {
		ck_assert_str_eq(m.resource, c->resource);
		ck_assert_ptr_null(why);
	} else {
		ck_assert_ptr_null(m.resource);
		says(why, "https://h");
	}
	metadata_resource_free(&m);
	url_free(&server);
	json_object_put(doc);
}
END_TEST

/* Reads a resource's document for https://h/mcp?key=CANARY. */
static int
resource(struct resource_metadata *m, const char *text, char **why)
{
	struct json_object *doc = document(text);
	struct url server;
	int rc;

	ck_assert_int_eq(url_parse(&server, "https://h/mcp?key=CANARY"),
	    URL_OK);
	rc = metadata_resource(m, doc, &server, why);
	url_free(&server);
	json_object_put(doc);
	return rc;
}

START_TEST(resource_members)
{
	struct resource_metadata m;
	char *why;

	ck_assert_int_eq(resource(&m,
			     "{\"resource\":\"https://h/mcp\","
			     "\"authorization_servers\":[\"https://a/\",1,"
			     "\"https://b/t\",null],"
			     "\"scopes_supported\":[\"x\",\"y:z\"],"
			     "\"more\":{}}",
			     &why),
	    0);
	ck_assert_uint_eq(m.n, 2);
	ck_assert_str_eq(m.servers[0], "https://a/");
	ck_assert_str_eq(m.servers[1], "https://b/t");
	ck_assert_ptr_null(m.servers[2]);
	ck_assert_str_eq(m.scopes, "x y:z");
	metadata_resource_free(&m);
	ck_assert_int_eq(resource(&m,
			     "{\"resource\":\"https://h\","
			     "\"authorization_servers\":\"https://a\","
			     "\"scopes_supported\":[]}",
			     &why),
	    0);
	ck_assert_uint_eq(m.n, 0);
	ck_assert_ptr_null(m.servers[0]);
	ck_assert_ptr_null(m.scopes);
	metadata_resource_free(&m);
}
END_TEST

START_TEST(resource_missing)
{
	static const char *const texts[] = { "{}", "{\"resource\":null}",
		"{\"resource\":7}", "{\"resource\":[\"https://h/mcp\"]}",
		"{\"resource\":\"https://h/mcp\\u0000x\"}" };
	struct resource_metadata m;
	char *why;
	int i;

	for (i = 0; i < COUNT(texts); i++) {
		ck_assert_int_eq(resource(&m, texts[i], &why), -1);
		says(why, "names no resource");
		ck_assert_uint_eq(m.n, 0);
	}
	/* What is shown of both has no query and nothing that acts. */
	ck_assert_int_eq(resource(&m,
			     "{\"resource\":\"https://e/\\u001b?k=CANARY\"}",
			     &why),
	    -1);
	ck_assert_ptr_null(strstr(why, "CANARY"));
	ck_assert_ptr_null(strchr(why, 27));
	says(why, "https://e/\\x1b");
}
END_TEST

#define ISSUER "\"issuer\":\"https://as/t\""
#define TOKEN "\"token_endpoint\":\"https://as/token\""
#define AUTHORIZE "\"authorization_endpoint\":\"https://as/authorize\""
#define S256 "\"code_challenge_methods_supported\":[\"plain\",\"S256\"]"
#define WHOLE ISSUER "," TOKEN "," AUTHORIZE "," S256

static int
server(struct server_metadata *m, const char *text,
    const struct metadata_policy *policy, bool interactive, char **why)
{
	struct json_object *doc = document(text);
	int rc;

	rc = metadata_server(m, doc, "https://as/t", policy, interactive, why);
	json_object_put(doc);
	return rc;
}

START_TEST(server_members)
{
	struct server_metadata m;
	char *why;

	ck_assert_int_eq(
	    server(&m,
		"{" WHOLE ",\"registration_endpoint\":\"https://as/r\""
		",\"revocation_endpoint\":\"https://as/v\""
		",\"device_authorization_endpoint\":\"http://127.0.0.1/d\""
		",\"scopes_supported\":[\"a\",\"offline_access\"]"
		",\"authorization_response_iss_parameter_supported\":true"
		",\"client_id_metadata_document_supported\":true"
		",\"token_endpoint_auth_methods_supported\":[\"none\","
		"\"client_secret_basic\",\"client_secret_post\","
		"\"private_key_jwt\"]"
		",\"token_endpoint_auth_signing_alg_values_supported\":"
		"[\"ES256\",\"RS256\"]}",
		&strict, true, &why),
	    0);
	ck_assert_str_eq(m.issuer, "https://as/t");
	ck_assert_str_eq(m.authorization_endpoint, "https://as/authorize");
	ck_assert_str_eq(m.token_endpoint, "https://as/token");
	ck_assert_str_eq(m.registration_endpoint, "https://as/r");
	ck_assert_str_eq(m.revocation_endpoint, "https://as/v");
	ck_assert_str_eq(m.device_authorization_endpoint, "http://127.0.0.1/d");
	ck_assert_str_eq(m.scopes, "a offline_access");
	ck_assert(m.offline_access && m.iss && m.client_document);
	ck_assert(m.methods_told && m.method_none && m.method_basic);
	ck_assert(m.method_post && m.method_jwt);
	ck_assert_str_eq(m.jwt_algs, "ES256 RS256");
	metadata_server_free(&m);
	ck_assert_ptr_null(m.issuer);
}
END_TEST

START_TEST(server_defaults)
{
	struct server_metadata m;
	char *why;

	ck_assert_int_eq(
	    server(&m,
		"{" WHOLE
		",\"registration_endpoint\":\"\",\"revocation_endpoint\":null"
		",\"device_authorization_endpoint\":7"
		",\"scopes_supported\":[\"offline_access_not\"]"
		",\"authorization_response_iss_parameter_supported\":\"true\""
		",\"client_id_metadata_document_supported\":1}",
		&strict, true, &why),
	    0);
	ck_assert_ptr_null(m.registration_endpoint);
	ck_assert_ptr_null(m.revocation_endpoint);
	ck_assert_ptr_null(m.device_authorization_endpoint);
	ck_assert(!m.offline_access && !m.iss && !m.client_document);
	ck_assert(!m.methods_told && !m.method_none && !m.method_basic);
	ck_assert(!m.method_post && !m.method_jwt);
	ck_assert_ptr_null(m.jwt_algs);
	metadata_server_free(&m);
	ck_assert_int_eq(server(&m,
			     "{" WHOLE
			     ",\"token_endpoint_auth_methods_supported\":[]}",
			     &strict, true, &why),
	    0);
	ck_assert(m.methods_told && !m.method_none && !m.method_basic);
	metadata_server_free(&m);
}
END_TEST

/* word NULL: it is good. For a user, for a machine, with --assume-pkce. */
struct server_case {
	const char *text, *user, *machine, *assumed;
};

static const struct server_case needs_cases[] = {
	{ .text = "{" WHOLE "}" },
	{ "{" TOKEN "," AUTHORIZE "," S256 "}", "names no issuer",
	    "names no issuer", "names no issuer" },
	{ "{\"issuer\":\"https://as/t/\"," TOKEN "," AUTHORIZE "," S256 "}",
	    "\"https://as/t/\"", "--issuer", "--issuer" },
	{ "{\"issuer\":\"HTTPS://AS:443/t\"," TOKEN "," AUTHORIZE "," S256 "}",
	    NULL, NULL, NULL },
	{ "{\"issuer\":\"https://AS/T\"," TOKEN "," AUTHORIZE "," S256 "}",
	    "--issuer", "--issuer", "\"https://as/t\"" },
	{ "{\"issuer\":\"https://as\"," TOKEN "," AUTHORIZE "," S256 "}",
	    "--issuer", "--issuer", "--issuer" },
	{ "{\"issuer\":\"https://e/\\u001b\\u202e\"}", "https://e/\\x1b\\xe2",
	    "--issuer", "--issuer" },
	{ "{" ISSUER "," AUTHORIZE "," S256 "}", "no token endpoint",
	    "no token endpoint", "no token endpoint" },
	{ "{" ISSUER "," TOKEN "," S256 "}", "no authorization endpoint", NULL,
	    "no authorization endpoint" },
	{ .text = "{" ISSUER "," TOKEN "," AUTHORIZE "}" },
	{ "{" ISSUER "," TOKEN "," AUTHORIZE
	  ",\"code_challenge_methods_supported\":[\"plain\"]}",
	    "does not support PKCE with S256", NULL,
	    "does not support PKCE with S256" },
	{ "{" ISSUER "," TOKEN "," AUTHORIZE
	  ",\"code_challenge_methods_supported\":[]}",
	    "does not support", NULL, "does not support" },
	{ "{" ISSUER "," TOKEN "," AUTHORIZE
	  ",\"code_challenge_methods_supported\":\"S256\"}",
	    "does not support", NULL, "does not support" },
	{ "{" ISSUER ",\"token_endpoint\":\"ftp://as/x\"," AUTHORIZE "," S256
	  "}",
	    "token_endpoint", "only https", "only https" },
	{ "{" ISSUER "," TOKEN
	  ",\"authorization_endpoint\":\"javascript:alert(1)\"," S256 "}",
	    "authorization_endpoint", "not a URL", "not a URL" },
	{ "{" WHOLE ",\"registration_endpoint\":\"http://as/r\"}",
	    "--allow-http", "registration_endpoint", NULL },
	{ "{" WHOLE ",\"revocation_endpoint\":\"https://u:p@as/r\"}",
	    "password", "revocation_endpoint", "password" },
	{ "{" WHOLE ",\"device_authorization_endpoint\":\"https://as/#d\"}",
	    "fragment", "fragment", "device_authorization_endpoint" },
};

static void
needs(const char *text, const struct metadata_policy *policy, bool interactive,
    const char *word)
{
	static const struct server_metadata empty;
	struct server_metadata m;
	char *why = NULL;
	int rc;

	rc = server(&m, text, policy, interactive, &why);
	ck_assert_msg((rc == 0) == (word == NULL), "%s: %s", text,
	    why == NULL ? "good" : why);
	if (word == NULL) {
		ck_assert_ptr_null(why);
		ck_assert_ptr_nonnull(m.token_endpoint);
		metadata_server_free(&m);
	} else {
		ck_assert_int_eq(memcmp(&m, &empty, sizeof m), 0);
		says(why, word);
	}
}

START_TEST(server_needs)
{
	const struct server_case *c = &needs_cases[_i];

	needs(c->text, &strict, true, c->user);
	needs(c->text, &strict, false, c->machine);
	needs(c->text, &lax, true, c->assumed);
}
END_TEST

static const struct {
	const char *member;
	bool untold;
} pkce_cases[] = {
	{ "", true },
	{ ",\"code_challenge_methods_supported\":null", true },
	{ "," S256, false },
};

START_TEST(pkce_is_told)
{
	struct server_metadata m;
	char *text, *why;

	text = xasprintf("{" ISSUER "," TOKEN "," AUTHORIZE "%s}",
	    pkce_cases[_i].member);
	ck_assert_int_eq(server(&m, text, &strict, true, &why), 0);
	ck_assert(m.pkce_untold == pkce_cases[_i].untold);
	metadata_server_free(&m);
	ck_assert_int_eq(server(&m, text, &lax, true, &why), 0);
	ck_assert(!m.pkce_untold);
	metadata_server_free(&m);
	free(text);
}
END_TEST

static const struct {
	const char *a, *b;
	bool same;
} issuers[] = {
	{ "https://h", "https://h", true },
	{ "https://h", "https://h/", true },
	{ "https://h", "HTTPS://H", true },
	{ "https://h/", "https://H:443", true },
	{ "http://127.0.0.1:80/t", "http://127.0.0.1/t", true },
	{ "https://h/t", "https://H:443/t", true },
	{ "https://h/t", "https://h/t/", false },
	{ "https://h/t", "https://h/T", false },
	{ "https://h/t", "https://h", false },
	{ "https://h/a/../t", "https://h/t", false },
	{ "https://h/%74", "https://h/t", false },
	{ "https://h", "https://h//", false },
	{ "https://h", "https://h?", false },
	{ "https://h", "https://h/#", false },
	{ "https://h", "http://h", false },
	{ "https://h", "https://h:8443", false },
	{ "https://h", "https://h.", false },
	{ "https://h", "https://u@h", false },
	{ "https://h", "h", false },
	{ "h", "https://h", false },
};

/* What is the issuer then is what the document says. */
START_TEST(issuer_is_same)
{
	ck_assert_int_eq(metadata_same_issuer(issuers[_i].a, issuers[_i].b),
	    issuers[_i].same);
	ck_assert_int_eq(metadata_same_issuer(issuers[_i].b, issuers[_i].a),
	    issuers[_i].same);
}
END_TEST

/* What is shown behind --issuer is one word for every shell. */
START_TEST(issuer_to_copy)
{
	static const char *const words[] = { "https://as",
		"https://as:1/t-~2=/", "http://[::1]:80" };
	static const char *const others[] = { NULL, "", "https://as/a b",
		"https://as/$(x)", "https://as/`x`", "https://as/'",
		"https://as/\"", "https://as/;x", "https://as/&",
		"https://as/|", "https://as/\\", "https://as/*",
		"https://as/?x", "https://as/#", "https://as/\n",
		"https://as/\xc3\xa9", "https://as/!x", "https://as/{a}",
		/* two words in PowerShell; a variable in cmd */
		"https://as/,--auth-command=x", "https://as/%PATH%" };
	char *text = xasprintf("https://as/%0300d", 7);
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		ck_assert_ptr_eq(browser_word(words[i]), words[i]);
	for (i = 0; i < COUNT(others); i++)
		ck_assert_str_eq(browser_word(others[i]), "URL");
	ck_assert_str_eq(browser_word(text), "URL");
	free(text);
}
END_TEST

START_TEST(issuer_of_the_document)
{
	struct server_metadata m;
	char *why = NULL;

	ck_assert_int_eq(server(&m,
			     "{\"issuer\":\"https://AS:443/t\"," TOKEN
			     "," AUTHORIZE "," S256 "}",
			     &strict, true, &why),
	    0);
	ck_assert_str_eq(m.issuer, "https://AS:443/t");
	metadata_server_free(&m);
}
END_TEST

START_TEST(legacy)
{
	struct server_metadata m;
	struct url u;

	ck_assert_int_eq(url_parse(&u, "https://h:8443/a/mcp?x"), URL_OK);
	metadata_legacy(&m, &u);
	ck_assert_ptr_null(m.issuer);
	ck_assert_str_eq(m.authorization_endpoint, "https://h:8443/authorize");
	ck_assert_str_eq(m.token_endpoint, "https://h:8443/token");
	ck_assert_str_eq(m.registration_endpoint, "https://h:8443/register");
	ck_assert_ptr_null(m.revocation_endpoint);
	ck_assert(!m.methods_told && !m.iss && !m.client_document);
	metadata_server_free(&m);
	url_free(&u);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("metadata");
	TCase *t = tcase_create("metadata");

	tcase_add_loop_test(t, allowed, 0, COUNT(url_cases));
	tcase_add_test(t, url_is_not_echoed);
	tcase_add_loop_test(t, resource_places, 0, COUNT(resource_cases));
	tcase_add_loop_test(t, server_places, 0, COUNT(server_cases));
	tcase_add_loop_test(t, covers, 0, COUNT(covers_cases));
	tcase_add_test(t, resource_members);
	tcase_add_test(t, resource_missing);
	tcase_add_test(t, server_members);
	tcase_add_test(t, server_defaults);
	tcase_add_loop_test(t, server_needs, 0, COUNT(needs_cases));
	tcase_add_loop_test(t, pkce_is_told, 0, COUNT(pkce_cases));
	tcase_add_loop_test(t, issuer_is_same, 0,
	    sizeof issuers / sizeof *issuers);
	tcase_add_test(t, issuer_to_copy);
	tcase_add_test(t, issuer_of_the_document);
	tcase_add_test(t, legacy);
	suite_add_tcase(s, t);
	return unit_run(s);
}
