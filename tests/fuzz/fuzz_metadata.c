/*
 * Metadata, whatever a server sends. The first byte chooses the rules, the
 * others are one document, read as a resource's and as an authorization
 * server's. Nothing is taken that the rules forbid; what is refused leaves
 * nothing behind but a message that is safe to show.
 */
#include "config.h"

#include "signin/discovery.h"

#include "fuzz/fuzz.h"

static void
safe(char *why)
{
	size_t i;

	FUZZ_CHECK(why != NULL && strlen(why) < 2000);
	for (i = 0; why[i] != '\0'; i++)
		FUZZ_CHECK((unsigned char)why[i] >= ' ' && why[i] != 0x7f);
	free(why);
}

static void
allowed(const char *url, const struct metadata_policy *policy)
{
	char *why = NULL;

	FUZZ_CHECK(url == NULL || metadata_url_ok(url, policy, "it", &why));
	FUZZ_CHECK(why == NULL);
}

/* The places of an issuer are on its own origin. */
static void
places(const char *issuer)
{
	struct url from, to;
	char *urls[3];
	size_t i, n;

	n = metadata_server_urls(issuer, urls);
	FUZZ_CHECK(n == 0 || n == 2 || n == 3);
	if (n == 0)
		return;
	FUZZ_CHECK(url_parse(&from, issuer) == URL_OK);
	for (i = 0; i < n; i++) {
		FUZZ_CHECK(url_parse(&to, urls[i]) == URL_OK);
		FUZZ_CHECK(url_same_origin(&from, &to));
		FUZZ_CHECK(strstr(to.text, "/.well-known/") != NULL);
		url_free(&to);
		free(urls[i]);
	}
	url_free(&from);
}

static void
as_resource(struct json_object *doc)
{
	struct resource_metadata m;
	struct url server, resource;
	char *why = NULL;
	size_t i;

	FUZZ_CHECK(url_parse(&server, "https://h.example/a/mcp?x") == URL_OK);
	if (metadata_resource(&m, doc, &server, &why) < 0) {
		FUZZ_CHECK(m.resource == NULL && m.servers == NULL);
		safe(why);
	} else {
		FUZZ_CHECK(url_parse(&resource, m.resource) == URL_OK);
		FUZZ_CHECK(url_same_origin(&server, &resource));
		FUZZ_CHECK(strlen(resource.text) <= strlen(server.text) + 1);
		FUZZ_CHECK(m.servers[m.n] == NULL);
		for (i = 0; i < m.n; i++)
			places(m.servers[i]);
		url_free(&resource);
		metadata_resource_free(&m);
	}
	url_free(&server);
}

static void
as_server(struct json_object *doc, const struct metadata_policy *policy,
    bool interactive)
{
	const char *issuer = document_text(doc, "issuer");
	struct server_metadata m;
	char *why = NULL;

	if (issuer == NULL)
		issuer = "https://h.example";
	if (metadata_server(&m, doc, issuer, policy, interactive, &why) < 0) {
		FUZZ_CHECK(m.issuer == NULL && m.token_endpoint == NULL);
		FUZZ_CHECK(m.authorization_endpoint == NULL);
		safe(why);
		return;
	}
	FUZZ_CHECK(strcmp(m.issuer, issuer) == 0);
	FUZZ_CHECK(m.token_endpoint != NULL);
	FUZZ_CHECK(!interactive || m.authorization_endpoint != NULL);
	FUZZ_CHECK(!interactive || policy->assume_pkce || m.pkce_untold ||
	    document_listed(document_list(doc,
				"code_challenge_methods_supported"),
		"S256"));
	allowed(m.authorization_endpoint, policy);
	allowed(m.token_endpoint, policy);
	allowed(m.registration_endpoint, policy);
	allowed(m.revocation_endpoint, policy);
	allowed(m.device_authorization_endpoint, policy);
	metadata_server_free(&m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct metadata_policy policy = { .allow_http = false };
	struct json_object *doc;
	const char *why;

	if (size < 1)
		return 0;
	policy.allow_http = data[0] & 1;
	policy.assume_pkce = data[0] & 2;
	doc = document_parse((struct span){ (const char *)data + 1, size - 1 },
	    &why);
	if (doc == NULL)
		return 0;
	as_resource(doc);
	as_server(doc, &policy, data[0] & 4);
	json_object_put(doc);
	return 0;
}
