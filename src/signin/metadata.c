/*
 * What is believed of metadata. It comes from whoever answers at a URL that
 * somebody else named, so nothing in it is used before it was compared with
 * what was asked for: the resource with our server, the issuer with its own
 * name, each endpoint with the rules for URLs.
 *
 * Invariant: a function that fails leaves nothing behind; a message has the
 * text of a document only as codec_visible shows it.
 */
#include "config.h"

#include "signin/metadata.h"

#include <stdlib.h>
#include <strings.h>

#include "base/codec.h"

enum { SHOWN_BYTES = 200 };

#define PLACE_RESOURCE "/.well-known/oauth-protected-resource"
#define PLACE_SERVER "/.well-known/oauth-authorization-server"
#define PLACE_OPENID "/.well-known/openid-configuration"
#define PKCE "code_challenge_methods_supported"

void
metadata_show_url(struct buf *out, const char *url)
{
	codec_visible(out, (struct span){ url, strcspn(url, "?") },
	    SHOWN_BYTES);
}

const char *
metadata_word(const char *issuer)
{
	size_t n = issuer == NULL ? 0 :
				    strspn(issuer,
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"abcdefghijklmnopqrstuvwxyz"
					"0123456789-._~:/%@+,=[]");

	return n > 0 && n <= SHOWN_BYTES && issuer[n] == '\0' ? issuer : "URL";
}

/* The same as a string, owned by the caller. */
static char *
shown(const char *url)
{
	struct buf b;

	buf_init(&b, 0);
	metadata_show_url(&b, url);
	return buf_take(&b);
}

/* The path with the query, "/" at least. */
static const char *
path_of(const struct url *u)
{
	const char *host = strstr(u->text, "://") + 3;

	return host + strcspn(host, "/?");
}

/* Is it a URL as documents may have them? libcurl takes a stray "%" in a host
 * for itself and then writes it in more ways than one; no name has it. */
static enum url_status
parse(struct url *u, const char *text)
{
	enum url_status status = url_parse(u, text);

	if (status != URL_OK || strchr(u->host, '%') == NULL)
		return status;
	url_free(u);
	return URL_BAD;
}

/* Why the URL may not be used, or NULL when it may. */
static const char *
refusal(const char *text, const struct metadata_policy *policy)
{
	enum url_status status;
	const char *why;
	struct url u;

	status = parse(&u, text);
	if (status == URL_USERINFO)
		return "a user name or password in it is refused";
	if (status == URL_SCHEME)
		return "only https is allowed";
	if (status != URL_OK)
		return "that is no URL";
	why = NULL;
	if (strchr(text, '#') != NULL)
		why = "a fragment (#) in it is refused";
	else if (strcmp(u.scheme, "https") != 0 && !url_is_loopback(&u) &&
	    !policy->allow_http)
		why = "without https it could be read and changed on its way "
		      "(--allow-http allows it)";
	else if (policy->at != NULL && !metadata_is_at(text, policy->at) &&
	    !metadata_is_at(text, policy->or_at))
		why = "that is at the host of neither the issuer that you name "
		      "nor, if you give no secret, the one that is listed";
	url_free(&u);
	return why;
}

bool
metadata_url_ok(const char *url, const struct metadata_policy *policy,
    const char *what, char **why)
{
	const char *reason = refusal(url, policy);
	char *text;

	if (reason == NULL)
		return true;
	text = shown(url);
	*why = xasprintf("%s is \"%s\": %s", what, text, reason);
	free(text);
	return false;
}

size_t
metadata_resource_urls(const struct url *server, char *urls[2])
{
	const char *path = path_of(server);
	size_t n = 0;

	urls[1] = NULL;
	if (path[0] == '/' && (path[1] == '\0' || path[1] == '?'))
		path++;
	urls[n++] = xasprintf("%s" PLACE_RESOURCE "%s", server->origin, path);
	if (path[0] == '/')
		urls[n++] = xasprintf("%s" PLACE_RESOURCE, server->origin);
	return n;
}

size_t
metadata_server_urls(const char *issuer, char *urls[3])
{
	const char *path;
	struct url u;
	size_t n, len;

	memset(urls, 0, 3 * sizeof *urls);
	if (strpbrk(issuer, "?#") != NULL || parse(&u, issuer) != URL_OK)
		return 0;
	path = path_of(&u);
	len = strlen(path);
	while (len > 0 && path[len - 1] == '/')
		len--;
	n = 0;
	urls[n++] = xasprintf("%s" PLACE_SERVER "%.*s", u.origin, (int)len,
	    path);
	urls[n++] = xasprintf("%s" PLACE_OPENID "%.*s", u.origin, (int)len,
	    path);
	if (len > 0)
		urls[n++] = xasprintf("%s%.*s" PLACE_OPENID, u.origin, (int)len,
		    path);
	url_free(&u);
	return n;
}

enum relation { IS_FOREIGN, IS_ABOVE, IS_OURS };

/* Is the resource the server, or a place above it? With a query it is the
 * server or nothing. Whether a path ends in a slash does not matter: programs
 * that print URLs add one and drop one. */
static enum relation
relation(const struct url *resource, const struct url *server)
{
	const char *above = path_of(resource), *path = path_of(server);
	size_t n = strlen(above), len = strcspn(path, "?");

	if (!url_same_origin(resource, server))
		return IS_FOREIGN;
	if (strchr(above, '?') != NULL)
		return strcmp(above, path) == 0 ? IS_OURS : IS_FOREIGN;
	while (n > 0 && above[n - 1] == '/')
		n--;
	while (len > 0 && path[len - 1] == '/')
		len--;
	if (n > len || memcmp(above, path, n) != 0)
		return IS_FOREIGN;
	if (n == len)
		return IS_OURS;
	return path[n] == '/' ? IS_ABOVE : IS_FOREIGN;
}

/* Returns NULL when this resource is ours, else the reason. *place becomes the
 * place of its own document if it is above the server. */
static char *
foreign(const char *resource, const struct url *server, char **place)
{
	enum relation is = IS_FOREIGN;
	char *text, *ours, *why, *urls[2];
	struct url u;

	if (strchr(resource, '#') == NULL && parse(&u, resource) == URL_OK) {
		is = relation(&u, server);
		if (is == IS_ABOVE) {
			metadata_resource_urls(&u, urls);
			*place = urls[0];
			free(urls[1]);
		}
		url_free(&u);
	}
	if (is != IS_FOREIGN)
		return NULL;
	text = shown(resource);
	ours = shown(server->text);
	why = xasprintf("the server's resource metadata is for \"%s\", not for "
			"\"%s\": a token for it could be used elsewhere, so "
			"nothing is asked for; check the URL",
	    text, ours);
	free(text);
	free(ours);
	return why;
}

/* The strings of a list, NULL-ended. */
static char **
strings(struct json_object *list, size_t *n)
{
	char **all;
	size_t i;

	*n = list == NULL ? 0 : json_object_array_length(list);
	all = xcalloc(*n + 1, sizeof *all);
	for (i = 0; i < *n; i++)
		all[i] = xstrdup(
		    json_object_get_string(json_object_array_get_idx(list, i)));
	return all;
}

/* Resource and issuer list by the same name which proofs of DPoP they take
 * (RFC 9728 2, RFC 9449 5.1). */
static bool
lists_dpop(struct json_object *doc)
{
	return document_listed(document_list(doc,
				   "dpop_signing_alg_values_supported"),
	    "ES256");
}

int
metadata_resource(struct resource_metadata *out, struct json_object *doc,
    const struct url *server, char **why)
{
	const char *resource = document_text(doc, "resource");

	memset(out, 0, sizeof *out);
	if (resource == NULL) {
		*why = xasprintf("the resource metadata of %s names no "
				 "resource; its operator must mend that",
		    server->host);
		return -1;
	}
	*why = foreign(resource, server, &out->place);
	if (*why != NULL)
		return -1;
	out->resource = xstrdup(resource);
	out->servers = strings(document_list(doc, "authorization_servers"),
	    &out->n);
	out->scopes = document_joined(document_list(doc, "scopes_supported"));
	out->dpop = lists_dpop(doc);
	out->bound = document_true(doc, "dpop_bound_access_tokens_required");
	return 0;
}

/* One endpoint; an empty one is none. */
static int
take_endpoint(char **to, struct json_object *doc, const char *name,
    const struct metadata_policy *policy, char **why)
{
	const char *url = document_text(doc, name);
	char *what;
	bool ok;

	if (url == NULL || *url == '\0')
		return 0;
	what = xasprintf("the sign-in server's %s", name);
	ok = metadata_url_ok(url, policy, what, why);
	free(what);
	if (!ok)
		return -1;
	*to = xstrdup(url);
	return 0;
}

static int
take_endpoints(struct server_metadata *out, struct json_object *doc,
    const struct metadata_policy *policy, char **why)
{
	const struct {
		const char *name;
		char **to;
	} endpoints[] = {
		{ "authorization_endpoint", &out->authorization_endpoint },
		{ "token_endpoint", &out->token_endpoint },
		{ "registration_endpoint", &out->registration_endpoint },
		{ "revocation_endpoint", &out->revocation_endpoint },
		{ "device_authorization_endpoint",
		    &out->device_authorization_endpoint },
	};
	size_t i;

	for (i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++)
		if (take_endpoint(endpoints[i].to, doc, endpoints[i].name,
			policy, why) < 0)
			return -1;
	return 0;
}

/* The rest: what the server can do. */
static void
take_abilities(struct server_metadata *out, struct json_object *doc)
{
	struct json_object *list;

	list = document_list(doc, "scopes_supported");
	out->offline_access = document_listed(list, "offline_access");
	if (out->offline_access)
		out->scopes = document_joined(list);
	out->iss = document_true(doc,
	    "authorization_response_iss_parameter_supported");
	out->client_document = document_true(doc,
	    "client_id_metadata_document_supported");
	list = document_list(doc, "token_endpoint_auth_methods_supported");
	out->methods_told = list != NULL;
	out->method_none = document_listed(list, "none");
	out->method_basic = document_listed(list, "client_secret_basic");
	out->method_post = document_listed(list, "client_secret_post");
	out->method_jwt = document_listed(list, "private_key_jwt");
	out->dpop = lists_dpop(doc);
	out->jwt_algs = document_joined(document_list(doc,
	    "token_endpoint_auth_signing_alg_values_supported"));
}

static bool
is_below(const struct url *u, const struct url *v)
{
	size_t n = strlen(u->host), len = strlen(v->host);

	return n >= len && strcasecmp(u->host + n - len, v->host) == 0 &&
	    (n == len || u->host[n - len - 1] == '.');
}

static bool
compare(const char *url, const char *other,
    bool (*as)(const struct url *, const struct url *))
{
	struct url u, v;
	bool same = false;

	if (parse(&u, url) != URL_OK)
		return false;
	if (parse(&v, other) == URL_OK) {
		same = as(&u, &v);
		url_free(&v);
	}
	url_free(&u);
	return same;
}

bool
metadata_is_at(const char *url, const char *other)
{
	return compare(url, other, url_same_origin);
}

bool
metadata_is_below(const char *url, const char *other)
{
	return compare(url, other, is_below);
}

/* The path of a URL, as it is written, and all behind it; "/" for an empty
 * one. */
static const char *
written_path(const char *url)
{
	const char *host = strstr(url, "://") + 3;
	const char *path = host + strcspn(host, "/?#");

	return *path == '\0' ? "/" : path;
}

bool
metadata_same_issuer(const char *a, const char *b)
{
	return strcmp(a, b) == 0 ||
	    (metadata_is_at(a, b) &&
		strcmp(written_path(a), written_path(b)) == 0);
}

/* Is the document about this issuer? */
static int
check_issuer(const char *told, const char *issuer, char **why)
{
	char *asked, *other;

	if (told != NULL && metadata_same_issuer(told, issuer))
		return 0;
	asked = shown(issuer);
	if (told == NULL) {
		*why = xasprintf("the metadata of \"%s\" names no issuer, so "
				 "it is not used; its operator must mend that",
		    asked);
	} else {
		other = shown(told);
		*why = xasprintf("the metadata of \"%s\" says that its issuer "
				 "is \"%s\", so it is not used; if one "
				 "operator runs both, name it with --issuer %s",
		    asked, other, metadata_word(told));
		free(other);
	}
	free(asked);
	return -1;
}

/* Is there all that a sign-in needs? */
static int
check_needs(const struct server_metadata *m, struct json_object *doc,
    bool interactive, char **why)
{
	char *issuer = shown(m->issuer);

	*why = NULL;
	if (m->token_endpoint == NULL)
		*why = xasprintf("\"%s\" has no token endpoint", issuer);
	else if (interactive && m->authorization_endpoint == NULL)
		*why = xasprintf("\"%s\" has no authorization endpoint, so "
				 "nobody can sign in by a browser there",
		    issuer);
	else if (interactive && document_has(doc, PKCE) &&
	    !document_listed(document_list(doc, PKCE), "S256"))
		*why = xasprintf("\"%s\" does not support PKCE with S256; "
				 "without it the sign-in could be stolen",
		    issuer);
	free(issuer);
	return *why == NULL ? 0 : -1;
}

int
metadata_server(struct server_metadata *out, struct json_object *doc,
    const char *issuer, const struct metadata_policy *policy, bool interactive,
    char **why)
{
	memset(out, 0, sizeof *out);
	if (check_issuer(document_text(doc, "issuer"), issuer, why) < 0)
		return -1;
	out->issuer = xstrdup(document_text(doc, "issuer"));
	if (take_endpoints(out, doc, policy, why) < 0 ||
	    check_needs(out, doc, interactive, why) < 0) {
		metadata_server_free(out);
		return -1;
	}
	take_abilities(out, doc);
	out->pkce_untold = !policy->assume_pkce && !document_has(doc, PKCE);
	return 0;
}

void
metadata_legacy(struct server_metadata *out, const struct url *server)
{
	memset(out, 0, sizeof *out);
	out->authorization_endpoint = xasprintf("%s/authorize", server->origin);
	out->token_endpoint = xasprintf("%s/token", server->origin);
	out->registration_endpoint = xasprintf("%s/register", server->origin);
}

void
metadata_resource_free(struct resource_metadata *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->servers[i]);
	free(m->servers);
	free(m->resource);
	free(m->place);
	free(m->scopes);
	memset(m, 0, sizeof *m);
}

void
metadata_server_free(struct server_metadata *m)
{
	free(m->issuer);
	free(m->authorization_endpoint);
	free(m->token_endpoint);
	free(m->registration_endpoint);
	free(m->revocation_endpoint);
	free(m->device_authorization_endpoint);
	free(m->scopes);
	free(m->jwt_algs);
	memset(m, 0, sizeof *m);
}
