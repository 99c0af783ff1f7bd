/*
 * From a 401 to the authorization server: exactly these places are asked, in
 * this order, and this comes of it. The network is a table of pages; what is
 * not in it is a 404.
 */
#include "config.h"

#include "signin/discovery.h"

#include "unit/unit.h"

#define R "/.well-known/oauth-protected-resource"
#define A "/.well-known/oauth-authorization-server"
#define O "/.well-known/openid-configuration"

#define PAGES 4
#define ASKED 8

struct page {
	const char *url;
	int status;
	const char *json; /* NULL: the body is none */
	const char *why;
	bool transient, refused, nobody;
	int64_t again_ms; /* Retry-After; 0: none */
};

static struct {
	const struct page *pages;
	char *urls[ASKED + 1];
	size_t n, until; /* given up at question until; 0: never */
} net;

static struct {
	bool good, transient;
	struct discovered found;
	char *why;
} got;

static const struct page *
page_at(const char *url)
{
	static const struct page missing = { .status = 404 };
	size_t i;

	if (strncmp(url, "old ", 4) == 0)
		url += 4;
	for (i = 0; i < PAGES && net.pages[i].url != NULL; i++)
		if (strcmp(net.pages[i].url, url) == 0)
			return &net.pages[i];
	return &missing;
}

/* The other side of signin/fetch.h. */
bool
fetch_wait(struct fetcher *f, const struct fetch_request *r, const bool *over,
    struct fetch_answer *a)
{
	const struct page *page;
	const char *why;

	ck_assert_ptr_null(f);
	ck_assert_ptr_eq(over, &got.good);
	ck_assert_ptr_null(r->body.p);
	ck_assert_ptr_null(r->headers);
	ck_assert_uint_lt(net.n, ASKED);
	ck_assert_ptr_null(strchr(r->url, '#'));
	if (r->version == NULL) {
		net.urls[net.n++] = xstrdup(r->url);
	} else {
		ck_assert_str_eq(r->version, "2025-03-26");
		net.urls[net.n++] = xasprintf("old %s", r->url);
	}
	if (net.n == net.until)
		return false;
	page = page_at(net.urls[net.n - 1]);
	*a = (struct fetch_answer){ .status = page->status,
		.why = string_copy(page->why),
		.refused = page->refused,
		.transient = page->transient,
		.nobody = page->nobody,
		.retry_after_ms = page->again_ms > 0 ? page->again_ms : -1 };
	if (page->json != NULL) {
		a->json = document_parse(span_of(page->json), &why);
		ck_assert_msg(a->json != NULL, "%s", page->json);
	}
	return true;
}

void
fetch_answer_free(struct fetch_answer *a)
{
	json_object_put(a->json);
	free(a->why);
	memset(a, 0, sizeof *a);
}

static void
clear(void)
{
	while (net.n > 0)
		free(net.urls[--net.n]);
	memset(&net, 0, sizeof net);
	discovered_free(&got.found);
	free(got.why);
	memset(&got, 0, sizeof got);
}

struct discovery_case {
	const char *name;
	/* NULL: https://h/mcp */
	const char *server;
	struct discovery_config config; /* without the server */
	struct page pages[PAGES];
	const char *asked[ASKED + 1];
	/* either what is found; token NULL: TOKEN */
	bool legacy;
	const char *resource, *scopes, *issuer, *token;
	bool no_device; /* the device endpoint is not used */
	/* or what is in the message: up to two words */
	const char *says[2];
	bool transient;
};

#define TOKEN "https://as/token"
#define RESOURCE "{\"resource\":\"https://h/mcp\","
#define SERVERS(list) "\"authorization_servers\":[" list "]"
#define PRM(issuer) RESOURCE SERVERS("\"" issuer "\"") "}"
#define TWO "\"https://as\",\"https://b\""
#define SCOPES(list) "\"scopes_supported\":[" list "]"
#define AS(issuer)                                                             \
	"{\"issuer\":\"" issuer "\",\"token_endpoint\":\"" TOKEN "\","         \
	"\"authorization_endpoint\":\"https://as/authorize\","                 \
	"\"code_challenge_methods_supported\":[\"S256\"]}"

#define PAGE(where, text)                                                      \
	{                                                                      \
		.url = where, .status = 200, .json = text                      \
	}
#define STATUS(where, number)                                                  \
	{                                                                      \
		.url = where, .status = number                                 \
	}
#define DOWN(where, number)                                                    \
	{                                                                      \
		.url = where, .status = number, .why = "h is down",            \
		.transient = true, .again_ms = 7000                            \
	}
#define HTML(where)                                                            \
	{                                                                      \
		.url = where, .status = 200, .why = "a web page"               \
	}
#define REFUSED(where)                                                         \
	{                                                                      \
		.url = where, .why = "give --allow-private-auth",              \
		.refused = true                                                \
	}

/* A host where nothing listens. */
#define NOBODY(where)                                                          \
	{                                                                      \
		.url = where, .why = "h is nobody", .transient = true,         \
		.nobody = true                                                 \
	}
/* The document of the issuer that the server lists, which calls itself so. */
#define LISTED(issuer) PAGE("https://as" A, AS(issuer))
/* The same with one endpoint of another host. */
#define LISTED_WITH(issuer, member)                                            \
	PAGE("https://as" A,                                                   \
	    "{\"issuer\":\"" issuer "\",\"token_endpoint\":\"" TOKEN "\","     \
	    "\"authorization_endpoint\":\"https://as/authorize\"," member      \
	    ",\"code_challenge_methods_supported\":[\"S256\"]}")
/* The own document of an issuer, which registers nobody. */
#define OWN_AT(place, issuer)                                                  \
	PAGE(issuer place,                                                     \
	    "{\"issuer\":\"" issuer "\",\"token_endpoint\":\"https://i/t\","   \
	    "\"authorization_endpoint\":\"https://i/a\"}")
#define OWN(issuer) OWN_AT(A, issuer)
#define OPENID(issuer) OWN_AT(O, issuer)
/* That of the listed one, which registers. */
#define REGISTERS(at, issuer)                                                  \
	PAGE("https://as" A,                                                   \
	    "{\"issuer\":\"" issuer "\",\"token_endpoint\":\"" TOKEN "\","     \
	    "\"authorization_endpoint\":\"https://i/a\","                      \
	    "\"registration_endpoint\":\"" at "/r\"}")
/* The same for another purpose. */
#define HOUSE(where, issuer, at)                                               \
	PAGE(where,                                                            \
	    "{\"issuer\":\"" issuer "\",\"token_endpoint\":\"" at              \
	    "/other\",\"authorization_endpoint\":\"" issuer "/a\"}")
#define HOUSE_ASKED(listed)                                                    \
	{                                                                      \
		"https://h" R "/mcp", "https://i" A, "https://i" O, listed A   \
	}
/* What is asked if that of https://i is good, and the next one may be better. */
#define NEXT                                                                   \
	{                                                                      \
		"https://h" R "/mcp", "https://i" A, "https://as" A            \
	}
/* What is asked for an issuer https://i with no document of its own. */
#define BOTH                                                                   \
	{                                                                      \
		"https://h" R "/mcp", "https://i" A, "https://i" O,            \
		    "https://as" A                                             \
	}

static const struct discovery_case cases[] = {
	/* where the resource's document is */
	{ .name = "the challenge's place, and no other",
	    .config = { .resource_metadata = "https://h/x/meta?y" },
	    .pages = { PAGE("https://h/x/meta?y",
			   RESOURCE SERVERS("\"https://as\"") "," SCOPES(
			       "\"a\",\"b\"") "}"),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h/x/meta?y", "https://as" A },
	    .resource = "https://h/mcp",
	    .scopes = "a b",
	    .issuer = "https://as" },
	{ .name = "the path's place",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "the root's place",
	    .pages = { PAGE("https://h" R,
			   "{\"resource\":\"https://h\"," SERVERS(
			       "\"https://as\"") "}"),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://h" R, "https://as" A },
	    .resource = "https://h",
	    .issuer = "https://as" },
	{ .name = "a tenant claims the origin, whose own document is another",
	    .server = "https://h/a/mcp",
	    .config = { .resource_metadata = "https://h/a/meta" },
	    .pages = { PAGE("https://h/a/meta",
			   "{\"resource\":\"https://h\"," SERVERS(
			       "\"https://b\"") "}"),
		PAGE("https://h" R,
		    "{\"resource\":\"https://h\"," SERVERS(
			"\"https://as\"") "}"),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h/a/meta", "https://h" R, "https://as" A },
	    .resource = "https://h",
	    .issuer = "https://as" },
	{ .name = "a tenant claims the origin, which has no document",
	    .server = "https://h/a/mcp",
	    .config = { .resource_metadata = "https://h/a/meta" },
	    .pages = { PAGE("https://h/a/meta",
		"{\"resource\":\"https://h/\"," SERVERS("\"https://as\"") "}") },
	    .asked = { "https://h/a/meta", "https://h" R },
	    .says = { "for https://h/, not", "at https://h" R ":" } },
	{ .name = "so it does in the place of its path",
	    .server = "https://h/a/mcp",
	    .pages = { PAGE("https://h" R "/a/mcp",
			   "{\"resource\":\"https://h\"," SERVERS(
			       "\"https://as\"") "}"),
		DOWN("https://h" R, 502) },
	    .asked = { "https://h" R "/a/mcp", "https://h" R },
	    .says = { "h is down", "https://h" R },
	    .transient = true },
	{ .name = "it claims a folder, whose document claims the origin",
	    .server = "https://h/a/b/mcp",
	    .config = { .resource_metadata = "https://h/a/b/meta",
		.issuer = "https://as" },
	    .pages = { PAGE("https://h/a/b/meta",
			   "{\"resource\":\"https://h/a\"," SERVERS(
			       "\"https://as\"") "}"),
		PAGE("https://h" R "/a",
		    "{\"resource\":\"https://h\"," SERVERS(
			"\"https://as\"") "}") },
	    .asked = { "https://h/a/b/meta", "https://h" R "/a" },
	    .says = { "for https://h/a, not", "at https://h" R "/a:" } },
	{ .name = "a tenant claims the origin, but we know the issuer",
	    .server = "https://h/a/mcp",
	    .config = { .resource_metadata = "https://h/a/meta",
		.issuer = "https://as" },
	    .pages = { PAGE("https://h/a/meta",
			   "{\"resource\":\"https://h\"," SERVERS(
			       "\"https://b\"") "}"),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h/a/meta", "https://h" R, "https://as" A },
	    .resource = "https://h/a/mcp",
	    .issuer = "https://as" },
	{ .name = "a slash at the end is no place of its own",
	    .server = "https://h/mcp/",
	    .pages = { PAGE("https://h" R "/mcp/", PRM("https://as")),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h" R "/mcp/", "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "the challenge's place is empty",
	    .config = { .resource_metadata = "https://h/meta?x" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h/meta?x", "https://h" R "/mcp",
		"https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "no place is asked twice",
	    .config = { .resource_metadata = "https://H:443" R "/mcp" },
	    .pages = { PAGE("https://h" R, PRM("https://as")),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://h" R, "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "any 4xx and 502 lead on",
	    .config = { .resource_metadata = "https://h/meta" },
	    .pages = { STATUS("https://h/meta", 401),
		DOWN("https://h" R "/mcp", 502),
		PAGE("https://h" R, PRM("https://as")),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h/meta", "https://h" R "/mcp", "https://h" R,
		"https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "a query is kept, then left out, then the root",
	    .server = "https://h/mcp?k=v",
	    .pages = { PAGE("https://h" R, PRM("https://as")),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h" R "/mcp?k=v", "https://h" R "/mcp",
		"https://h" R, "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "a query without a path",
	    .server = "https://h/?k=v",
	    .pages = { PAGE("https://h" R,
			   "{\"resource\":\"https://h\"," SERVERS(
			       "\"https://as\"") "}"),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h" R "?k=v", "https://h" R, "https://as" A },
	    .resource = "https://h",
	    .issuer = "https://as" },
	{ .name = "what is no URL is no place",
	    .config = { .resource_metadata = "/meta" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "another origin is refused",
	    .config = { .resource_metadata = "https://as/meta?k=v" },
	    .says = { "https://as/meta;", "--allow-cross-origin-prm" } },
	{ .name = "another port is another origin",
	    .config = { .resource_metadata = "https://h:444" R },
	    .says = { "https://h:444", "--allow-cross-origin-prm" } },
	{ .name = "another origin is allowed",
	    .config = { .resource_metadata = "https://as/meta",
		.policy = { .cross_origin_prm = true } },
	    .pages = { PAGE("https://as/meta", PRM("https://as")),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://as/meta", "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "another origin is allowed, but not without TLS",
	    .config = { .resource_metadata = "http://as/meta",
		.policy = { .cross_origin_prm = true } },
	    .says = { "http://as/meta", "--allow-http" } },
	{ .name = "another scheme is refused",
	    .config = { .resource_metadata = "file:///etc/passwd",
		.policy = { .cross_origin_prm = true } },
	    .says = { "file:", "only https" } },
	{ .name = "user info is refused",
	    .config = { .resource_metadata = "https://u@h/meta" },
	    .says = { "user name" } },
	/* trouble with it */
	{ .name = "503 ends it",
	    .pages = { DOWN("https://h" R "/mcp", 503) },
	    .asked = { "https://h" R "/mcp" },
	    .says = { "h is down", "https://h" R "/mcp" },
	    .transient = true },
	{ .name = "429 ends it",
	    .pages = { DOWN("https://h" R "/mcp", 429) },
	    .asked = { "https://h" R "/mcp" },
	    .says = { "h is down" },
	    .transient = true },
	{ .name = "no answer ends it",
	    .config = { .issuer = "https://as" },
	    .pages = { DOWN("https://h" R "/mcp", 0) },
	    .asked = { "https://h" R "/mcp" },
	    .says = { "h is down" },
	    .transient = true },
	{ .name = "a web page ends it",
	    .server = "https://h/mcp?key=CANARY",
	    .pages = { HTML("https://h" R "/mcp?key=CANARY") },
	    .asked = { "https://h" R "/mcp?key=CANARY" },
	    .says = { "a web page, at https://h" R "/mcp;", "--issuer" } },
	{ .name = "a redirect ends it",
	    .pages = { STATUS("https://h" R "/mcp", 302) },
	    .asked = { "https://h" R "/mcp" },
	    .says = { "status 302", "--issuer" } },
	{ .name = "an address that is refused ends it",
	    .pages = { REFUSED("https://h" R "/mcp") },
	    .asked = { "https://h" R "/mcp" },
	    .says = { "--allow-private-auth" } },
	{ .name = "another resource ends it",
	    .config = { .issuer = "https://as" },
	    .pages = { PAGE("https://h" R "/mcp",
		"{\"resource\":\"https://evil/mcp\"," SERVERS(
		    "\"https://as\"") "}") },
	    .asked = { "https://h" R "/mcp" },
	    .says = { "https://evil/mcp", "https://h/mcp" } },
	{ .name = "no authorization server",
	    .pages = { PAGE("https://h" R "/mcp", RESOURCE SERVERS("") "}") },
	    .asked = { "https://h" R "/mcp" },
	    .says = { "no sign-in server", "--issuer" } },
	/* which issuer */
	{ .name = "the first",
	    .pages = { PAGE("https://h" R "/mcp", RESOURCE SERVERS(TWO) "}"),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "the one that is bound",
	    .config = { .bound = "https://b" },
	    .pages = { PAGE("https://h" R "/mcp", RESOURCE SERVERS(TWO) "}"),
		PAGE("https://b" A, AS("https://b")) },
	    .asked = { "https://h" R "/mcp", "https://b" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://b" },
	{ .name = "the one that is bound, written in another way",
	    .config = { .bound = "https://B:443/" },
	    .pages = { PAGE("https://h" R "/mcp", RESOURCE SERVERS(TWO) "}"),
		PAGE("https://b" A, AS("https://B:443/")) },
	    .asked = { "https://h" R "/mcp", "https://b" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://B:443/" },
	{ .name = "the bound one is gone",
	    .config = { .bound = "https://b/x" },
	    .pages = { PAGE("https://h" R "/mcp", RESOURCE SERVERS(TWO) "}"),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "--issuer wins",
	    .config = { .issuer = "https://c/", .bound = "https://b" },
	    .pages = { PAGE("https://h" R "/mcp",
			   RESOURCE SERVERS(TWO) "," SCOPES("\"a\"") "}"),
		PAGE("https://c" A, AS("https://c/")) },
	    .asked = { "https://h" R "/mcp", "https://c" A },
	    .resource = "https://h/mcp",
	    .scopes = "a",
	    .issuer = "https://c/" },
	{ .name = "--issuer without a resource document",
	    .server = "https://h/mcp?k=v",
	    .config = { .issuer = "https://c" },
	    .pages = { PAGE("https://c" A, AS("https://c")) },
	    .asked = { "https://h" R "/mcp?k=v", "https://h" R "/mcp",
		"https://h" R, "https://c" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://c" },
	{ .name = "--issuer and web pages",
	    .server = "https://h/",
	    .config = { .issuer = "https://c",
		.resource_metadata = "https://h/meta" },
	    .pages = { HTML("https://h/meta"), STATUS("https://h" R, 302),
		PAGE("https://c" A, AS("https://c")) },
	    .asked = { "https://h/meta", "https://h" R, "https://c" A },
	    .resource = "https://h",
	    .issuer = "https://c" },
	{ .name = "--issuer with an empty list",
	    .config = { .issuer = "https://c" },
	    .pages = { PAGE("https://h" R "/mcp", RESOURCE SERVERS("") "}"),
		PAGE("https://c" A, AS("https://c")) },
	    .asked = { "https://h" R "/mcp", "https://c" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://c" },
	{ .name = "an issuer without TLS",
	    .pages = { PAGE("https://h" R "/mcp", PRM("http://as")) },
	    .asked = { "https://h" R "/mcp" },
	    .says = { "\"http://as\"", "--allow-http" } },
	{ .name = "an issuer that is no URL",
	    .pages = { PAGE("https://h" R "/mcp", PRM("as")) },
	    .asked = { "https://h" R "/mcp" },
	    .says = { "\"as\"", "not a URL" } },
	{ .name = "an issuer with a query",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as?x")) },
	    .asked = { "https://h" R "/mcp" },
	    .says = { "query" } },
	/* the issuer's document */
	{ .name = "an issuer with a path, in the third place",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as/t")),
		STATUS("https://as" A "/t", 400),
		PAGE("https://as/t" O, AS("https://as/t")),
		PAGE("https://as" A, AS("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://as" A "/t",
		"https://as" O "/t", "https://as/t" O },
	    .resource = "https://h/mcp",
	    .issuer = "https://as/t" },
	{ .name = "an issuer without a path, in the second place",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as/")),
		DOWN("https://as" A, 502),
		PAGE("https://as" O, AS("https://as/")) },
	    .asked = { "https://h" R "/mcp", "https://as" A, "https://as" O },
	    .resource = "https://h/mcp",
	    .issuer = "https://as/" },
	{ .name = "nowhere",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://as" A, "https://as" O },
	    .says = { "status 404", "https://as" O "; " } },
	{ .name = "nowhere, but one is down",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		DOWN("https://as" A, 502) },
	    .asked = { "https://h" R "/mcp", "https://as" A, "https://as" O },
	    .says = { "https://as" O },
	    .transient = true },
	{ .name = "nowhere, and a place of the resource is down",
	    .pages = { DOWN("https://h" R "/mcp", 502),
		PAGE("https://h" R, PRM("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://h" R, "https://as" A,
		"https://as" O },
	    .says = { "status 404", "--issuer" } },
	{ .name = "500 ends it there too",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		DOWN("https://as" A, 500) },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .says = { "h is down", "https://as" A },
	    .transient = true },
	{ .name = "a web page ends it there too",
	    .config = { .issuer = "https://as" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		HTML("https://as" A) },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .says = { "a web page", "https://as" A } },
	{ .name = "an address that is refused there",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		REFUSED("https://as" A) },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .says = { "--allow-private-auth" } },
	{ .name = "another issuer ends it, the next place is not asked",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		PAGE("https://as" A, AS("https://as/x")),
		PAGE("https://as" O, AS("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .says = { "\"https://as\"", "\"https://as/x\"" } },
	/* --issuer, for one that publishes nothing itself */
	{ .name = "the listed one's document is about it",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED("https://i/") },
	    .asked = BOTH,
	    .resource = "https://h/mcp",
	    .issuer = "https://i/" },
	{ .name = "host name not found, or it has a web page for all",
	    .config = { .issuer = "https://i", .bound = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		NOBODY("https://i" A), LISTED("https://i") },
	    .asked = { "https://h" R "/mcp", "https://i" A, "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://i" },
	{ .name = "its document is about another one",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		PAGE("https://i" A, AS("https://x")), LISTED("https://i") },
	    .asked = { "https://h" R "/mcp", "https://i" A, "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://i" },
	{ .name = "nothing is listed: the server itself is",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" A,
		"{\"issuer\":\"https://i\",\"token_endpoint\":"
		"\"https://h/t\"}") },
	    .asked = { "https://h" R "/mcp", "https://h" R, "https://i" A,
		"https://i" O, "https://h" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://h/t" },
	{ .name = "an endpoint of a third host",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED_WITH("https://i",
		    "\"revocation_endpoint\":\"https://as:444/r\"") },
	    .asked = BOTH,
	    .says = { "revocation_endpoint", "its host is not" } },
	{ .name = "an endpoint of its own",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED_WITH("https://i",
		    "\"revocation_endpoint\":\"https://i/r\"") },
	    .asked = BOTH,
	    .resource = "https://h/mcp",
	    .issuer = "https://i" },
	{ .name = "no endpoint but its own gets what is given",
	    .config = { .issuer = "https://i", .given = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED("https://i") },
	    .asked = BOTH,
	    .says = { "authorization_endpoint", "no secret" } },
	{ .name = "an issuer that is only down is not replaced",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		DOWN("https://i" A, 503), LISTED("https://i") },
	    .asked = { "https://h" R "/mcp", "https://i" A },
	    .says = { "h is down", "https://i" A },
	    .transient = true },
	{ .name = "nor one whose gateway is",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		DOWN("https://i" A, 502), LISTED("https://i") },
	    .asked = { "https://h" R "/mcp", "https://i" A, "https://i" O },
	    .says = { "https://i" O },
	    .transient = true },
	{ .name = "nor one at an address that is refused",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		REFUSED("https://i" A), LISTED("https://i") },
	    .asked = { "https://h" R "/mcp", "https://i" A },
	    .says = { "--allow-private-auth" } },
	{ .name = "nor one whose own document does not do",
	    .config = { .issuer = "https://i", .interactive = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		PAGE("https://i" A, "{\"issuer\":\"https://i\"}"),
		LISTED("https://i") },
	    .asked = { "https://h" R "/mcp", "https://i" A },
	    .says = { "token endpoint" } },
	{ .name = "a number that is refused is nobody's name",
	    .config = { .issuer = "https://10.0.0.1" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		REFUSED("https://10.0.0.1" A), LISTED("https://10.0.0.1") },
	    .asked = { "https://h" R "/mcp", "https://10.0.0.1" A,
		"https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://10.0.0.1" },
	{ .name = "the listed one's document is about a third",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED("https://i/x") },
	    .asked = BOTH,
	    .says = { "status 404", "https://i" O } },
	{ .name = "the listed one's document is about that, for a redirect",
	    .config = { .issuer = "https://i", .interactive = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED_WITH("https://as",
		    "\"device_authorization_endpoint\":"
		    "\"https://as/d\"") },
	    .asked = BOTH,
	    .resource = "https://h/mcp",
	    .issuer = "https://as",
	    .no_device = true },
	{ .name = "and to renew what came of it",
	    .config = { .issuer = "https://i", .bound = "https://as" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED("https://as") },
	    .asked = BOTH,
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "and to replace what came of a third",
	    .config = { .issuer = "https://i", .bound = "https://old" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED("https://as") },
	    .asked = BOTH,
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "not without a redirect",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED("https://as") },
	    .asked = BOTH,
	    .says = { "status 404", "https://i" O } },
	{ .name = "not in place of a credential of the other",
	    .config = { .issuer = "https://i",
		.bound = "https://i",
		.interactive = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED("https://as") },
	    .asked = BOTH,
	    .says = { "status 404", "https://i" O } },
	{ .name = "not for a secret",
	    .config = { .issuer = "https://i",
		.given = true,
		.interactive = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED("https://as") },
	    .asked = BOTH,
	    .says = { "status 404", "https://i" O } },
	{ .name = "its own endpoints may be anywhere, as without --issuer",
	    .config = { .issuer = "https://i", .interactive = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		LISTED_WITH("https://as",
		    "\"revocation_endpoint\":\"https://third/r\"") },
	    .asked = BOTH,
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	/* the own document is good, and registers nobody */
	{ .name = "the listed one's registers: it is about that",
	    .config = { .issuer = "https://i",
		.interactive = true,
		.registers = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		OWN("https://i"), REGISTERS("https://as", "https://as") },
	    .asked = NEXT,
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	{ .name = "the listed one's registers, and is about it",
	    .config = { .issuer = "https://i",
		.bound = "https://i",
		.registers = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		OWN("https://i"), REGISTERS("https://as", "https://i/") },
	    .asked = NEXT,
	    .resource = "https://h/mcp",
	    .issuer = "https://i/" },
	{ .name = "not in place of a credential of the own one",
	    .config = { .issuer = "https://i",
		.bound = "https://i",
		.interactive = true,
		.registers = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		OWN("https://i"), REGISTERS("https://as", "https://as") },
	    .asked = NEXT,
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/t" },
	{ .name = "not with an endpoint of a third host",
	    .config = { .issuer = "https://i", .registers = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		OWN("https://i"), REGISTERS("https://third", "https://i") },
	    .asked = NEXT,
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/t" },
	{ .name = "no better than the own one",
	    .config = { .issuer = "https://i", .registers = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		OWN("https://i"), LISTED("https://i") },
	    .asked = NEXT,
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/t" },
	{ .name = "a document is a client there",
	    .config = { .issuer = "https://i",
		.registers = true,
		.document = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		PAGE("https://i" A,
		    "{\"issuer\":\"https://i\",\"token_endpoint\":\"https://"
		    "i/t\",\"client_id_metadata_document_supported\":true}"),
		REGISTERS("https://as", "https://i") },
	    .asked = { "https://h" R "/mcp", "https://i" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/t" },
	{ .name = "one that is down is waited for if it may be the one",
	    .config = { .issuer = "https://i",
		.bound = "https://i",
		.registers = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		OWN("https://i"), DOWN("https://as" A, 503) },
	    .asked = NEXT,
	    .says = { "h is down", "https://as" },
	    .transient = true },
	{ .name = "nobody at the listed one",
	    .config = { .issuer = "https://i",
		.bound = "https://i",
		.registers = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		OWN("https://i"), NOBODY("https://as" A) },
	    .asked = NEXT,
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/t" },
	/* the own document is of OpenID, and the listed one of its house */
	{ .name = "a name below it: all is at the issuer",
	    .config = { .issuer = "https://i", .given = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://mcp.I")),
		OPENID("https://i"),
		HOUSE("https://mcp.i" A, "https://i", "https://i") },
	    .asked = HOUSE_ASKED("https://mcp.i"),
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/other" },
	{ .name = "another port, and the own one does not do",
	    .config = { .issuer = "https://i", .interactive = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://i:444")),
		PAGE("https://i" O, "{\"issuer\":\"https://i\"}"),
		HOUSE("https://i:444" A, "https://i", "https://i") },
	    .asked = HOUSE_ASKED("https://i:444"),
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/other" },
	{ .name = "one of it is at the listed one",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://mcp.i")),
		OPENID("https://i"),
		HOUSE("https://mcp.i" A, "https://i", "https://mcp.i") },
	    .asked = HOUSE_ASKED("https://mcp.i"),
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/t" },
	{ .name = "it is about the listed one",
	    .config = { .issuer = "https://i", .interactive = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://mcp.i")),
		OPENID("https://i"),
		HOUSE("https://mcp.i" A, "https://mcp.i", "https://i") },
	    .asked = HOUSE_ASKED("https://mcp.i"),
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/t" },
	{ .name = "a tenant of the issuer's origin is not of its house",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://i/x")),
		OPENID("https://i"),
		HOUSE("https://i/x" O, "https://i", "https://i") },
	    .asked = { "https://h" R "/mcp", "https://i" A, "https://i" O,
		"https://i" A "/x", "https://i" O "/x", "https://i/x" O },
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/t" },
	{ .name = "nor is one whose name only ends so",
	    .config = { .issuer = "https://a.i" },
	    .pages = { PAGE("https://h" R "/mcp",
			   RESOURCE SERVERS("\"https://ba.i\"") "}"),
		OPENID("https://a.i"),
		HOUSE("https://ba.i" A, "https://a.i", "https://a.i") },
	    .asked = { "https://h" R "/mcp", "https://a.i" A, "https://a.i" O },
	    .resource = "https://h/mcp",
	    .issuer = "https://a.i",
	    .token = "https://i/t" },
	{ .name = "nor is one above it",
	    .config = { .issuer = "https://a.i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://i")),
		OPENID("https://a.i"),
		HOUSE("https://i" A, "https://a.i", "https://a.i") },
	    .asked = { "https://h" R "/mcp", "https://a.i" A, "https://a.i" O },
	    .resource = "https://h/mcp",
	    .issuer = "https://a.i",
	    .token = "https://i/t" },
	{ .name = "its own document of OAuth is the one",
	    .config = { .issuer = "https://i" },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://mcp.i")),
		OWN("https://i"),
		HOUSE("https://mcp.i" A, "https://i", "https://i") },
	    .asked = { "https://h" R "/mcp", "https://i" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://i",
	    .token = "https://i/t" },
	{ .name = "an identity provider has no other place",
	    .config = { .issuer = "https://i", .direct = true },
	    .pages = { PAGE("https://h" A, AS("https://i")) },
	    .asked = { "https://i" A, "https://i" O },
	    .says = { "status 404", "https://i" O } },
	{ .name = "the issuer is as the document writes it",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as/")),
		PAGE("https://as" A, AS("https://AS")) },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://AS" },
	{ .name = "no PKCE",
	    .config = { .interactive = true },
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		PAGE("https://as" A,
		    "{\"issuer\":\"https://as\",\"token_endpoint\":\"" TOKEN
		    "\",\"authorization_endpoint\":\"https://as/a\","
		    "\"code_challenge_methods_supported\":[]}") },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .says = { "does not support PKCE" } },
	{ .name = "no PKCE, and no person",
	    .pages = { PAGE("https://h" R "/mcp", PRM("https://as")),
		PAGE("https://as" A,
		    "{\"issuer\":\"https://as\",\"token_endpoint\":\"" TOKEN
		    "\"}") },
	    .asked = { "https://h" R "/mcp", "https://as" A },
	    .resource = "https://h/mcp",
	    .issuer = "https://as" },
	/* 2025-03-26 */
	{ .name = "no resource document",
	    .server = "https://h:90/a/mcp",
	    .config = { .interactive = true },
	    .pages = { PAGE("https://h:90" A, AS("https://h:90")) },
	    .asked = { "https://h:90" R "/a/mcp", "https://h:90" R,
		"old https://h:90" A },
	    .legacy = true,
	    .issuer = "https://h:90" },
	/* with --unix-socket, the host of the URL need not exist */
	{ .name = "no document at all, and no https",
	    .server = "http://h/mcp",
	    .asked = { "http://h" R "/mcp", "http://h" R, "old http://h" A },
	    .says = { "\"http://h/token\"", "without https" } },
	{ .name = "its issuer has a slash",
	    .pages = { PAGE("https://h" A, AS("https://h/")) },
	    .asked = { "https://h" R "/mcp", "https://h" R, "old https://h" A },
	    .legacy = true,
	    .issuer = "https://h/" },
	{ .name = "its issuer is another",
	    .pages = { PAGE("https://h" A, AS("https://as")) },
	    .asked = { "https://h" R "/mcp", "https://h" R, "old https://h" A },
	    .says = { "\"https://as\"", "--issuer" } },
	{ .name = "its issuer has two slashes",
	    .pages = { PAGE("https://h" A, AS("https://h//")) },
	    .asked = { "https://h" R "/mcp", "https://h" R, "old https://h" A },
	    .says = { "\"https://h//\"", "--issuer" } },
	{ .name = "no document at all",
	    .server = "https://h/",
	    .config = { .interactive = true },
	    .asked = { "https://h" R, "old https://h" A },
	    .legacy = true,
	    .token = "https://h/token" },
	{ .name = "no document, but one place is down",
	    .pages = { DOWN("https://h" R "/mcp", 502) },
	    .asked = { "https://h" R "/mcp", "https://h" R, "old https://h" A },
	    .says = { "https://h" A },
	    .transient = true },
	{ .name = "the root is down",
	    .pages = { DOWN("https://h" A, 502) },
	    .asked = { "https://h" R "/mcp", "https://h" R, "old https://h" A },
	    .says = { "h is down" },
	    .transient = true },
	{ .name = "the root has a web page",
	    .pages = { HTML("https://h" A) },
	    .asked = { "https://h" R "/mcp", "https://h" R, "old https://h" A },
	    .says = { "a web page", "--issuer" } },
};

static void
is_text(const char *where, const char *seen, const char *want)
{
	ck_assert_msg((seen == NULL) == (want == NULL) &&
		(seen == NULL || strcmp(seen, want) == 0),
	    "%s: %s instead of %s", where, seen == NULL ? "NULL" : seen,
	    want == NULL ? "NULL" : want);
}

static void
run(const struct discovery_case *c)
{
	struct discovery_config config = c->config;
	struct url server;

	ck_assert_int_eq(url_parse(&server,
			     c->server == NULL ? "https://h/mcp" : c->server),
	    URL_OK);
	config.server = &server;
	net.pages = c->pages;
	got.good = discovery_run(NULL, &config, &got.good, &got.found, &got.why,
	    &got.transient);
	url_free(&server);
}

static void
is_found(const struct discovery_case *c)
{
	const struct server_metadata *m = &got.found.server;

	ck_assert_msg(got.good, "%s: %s", c->name, got.why);
	ck_assert_msg(got.found.legacy == c->legacy, "%s", c->name);
	ck_assert_msg(m->openid ==
		(got.found.place != NULL && strstr(got.found.place, O) != NULL),
	    "%s", c->name);
	is_text(c->name, got.found.resource, c->resource);
	is_text(c->name, got.found.scopes, c->scopes);
	is_text(c->name, m->issuer, c->issuer);
	if (c->no_device)
		ck_assert_ptr_null(m->device_authorization_endpoint);
	is_text(c->name, m->token_endpoint,
	    c->token == NULL ? TOKEN : c->token);
}

static void
is_message(const struct discovery_case *c)
{
	size_t i;

	ck_assert_msg(!got.good, "%s", c->name);
	for (i = 0; i < 2 && c->says[i] != NULL; i++)
		ck_assert_msg(strstr(got.why, c->says[i]) != NULL,
		    "%s: \"%s\" has no \"%s\"", c->name, got.why, c->says[i]);
	ck_assert_ptr_null(strstr(got.why, "CANARY"));
	ck_assert_msg(got.transient == c->transient, "%s", c->name);
	ck_assert_msg(strstr(got.why, "h is down") == NULL ||
		got.found.again_ms == 7000,
	    "%s", c->name);
	/* no advice that was followed already, or helps nobody */
	if (c->config.issuer != NULL || c->transient)
		ck_assert_ptr_null(strstr(got.why, "--issuer"));
}

START_TEST(table)
{
	const struct discovery_case *c = &cases[_i];
	size_t i;

	run(c);
	for (i = 0; i < net.n || c->asked[i] != NULL; i++)
		is_text(c->name, i < net.n ? net.urls[i] : NULL, c->asked[i]);
	ck_assert(got.good == (got.why == NULL));
	if (c->says[0] == NULL)
		is_found(c);
	else
		is_message(c);
	clear();
}
END_TEST

/* Cancelled at each request in turn: no callback comes, and no memory leaks. */
START_TEST(given_up)
{
	const struct discovery_case *c = &cases[_i];
	size_t at;

	for (at = 1; c->asked[at - 1] != NULL; at++) {
		net.until = at;
		run(c);
		ck_assert_uint_eq(net.n, at);
		ck_assert(!got.good);
		ck_assert_ptr_null(got.why);
		ck_assert_ptr_null(got.found.resource);
		clear();
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("discovery");
	TCase *t = tcase_create("discovery");

	tcase_add_loop_test(t, table, 0, COUNT(cases));
	tcase_add_loop_test(t, given_up, 0, COUNT(cases));
	suite_add_tcase(s, t);
	return unit_run(s);
}
