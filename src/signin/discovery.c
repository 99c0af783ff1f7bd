/*
 * Where to sign in, asked one place at a time, because a place that was asked
 * without need can be a trap, and is load for somebody.
 *
 *   (nothing but SERVER where there is no MCP server)
 *   RESOURCE: URL of the challenge > with the path (and query) > at the root
 *             > the place of a resource above the server, if that is another
 *             > SERVER with the issuer it names, or with --issuer
 *             > nowhere: LEGACY
 *   SERVER:   the two or three places of the issuer
 *             > with --issuer, if there is none, if it registers nobody, or if
 *             the one that is told is of its house: those of that one
 *   LEGACY:   RFC 8414 at the root of the MCP server, or its fixed paths
 *
 * A place that is empty (4xx, 502) leads to the next; whatever else goes wrong
 * ends it, because what comes next would be a guess.
 */
#include "config.h"

#include "signin/discovery.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/codec.h"
#include "base/log.h"
#include "signin/browser.h"

/*
 * What is believed of metadata. It comes from whoever answers at a URL that
 * somebody else named, so nothing in it is used before it was compared with
 * what was asked for: the resource with our server, the issuer with its own
 * name, each endpoint with the rules for URLs.
 *
 * Invariant: a function that fails leaves nothing behind; a message has the
 * text of a document only as codec_visible shows it.
 */

enum { SHOWN_BYTES = 200 };

#define PLACE_RESOURCE "/.well-known/oauth-protected-resource"
#define PLACE_SERVER "/.well-known/oauth-authorization-server"
#define PLACE_OPENID "/.well-known/openid-configuration"
#define PKCE "code_challenge_methods_supported"

/* Returns a remote URL, safe for people, without its query, which can have a
 * secret of the user's in it; owned by the caller. */
static char *
shown(const char *url)
{
	struct buf b = { 0 };

	codec_visible(&b, (struct span){ url, strcspn(url, "?") }, SHOWN_BYTES);
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
		return "a user name or password is not allowed in it";
	if (status == URL_SCHEME)
		return "only https is allowed";
	if (status != URL_OK)
		return "that is not a URL";
	why = NULL;
	if (strchr(text, '#') != NULL)
		why = "a fragment (#) is not allowed in it";
	else if (strcmp(u.scheme, "https") != 0 && !url_is_loopback(&u) &&
	    !policy->allow_http)
		why = "without https, others could read and change what is "
		      "sent (--allow-http allows it)";
	else if (policy->at != NULL && !metadata_is_at(text, policy->at) &&
	    !metadata_is_at(text, policy->or_at))
		why = "its host is not that of the issuer that you name, "
		      "nor, if you give no secret, that of the listed one";
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
	why = xasprintf("the server's resource metadata is for \"%s\", not "
			"for \"%s\": a token for it could be used elsewhere, "
			"so none is requested; check the URL",
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
	if (resource == NULL)
		return fail_why(why,
		    "the resource metadata of %s names no resource; its "
		    "operator has to fix that",
		    server->host);
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

/* Is the host of the URL that of the other, or a name below it? */
static bool
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
check_issuer(const char *told, const char *issuer,
    const struct metadata_policy *policy, char **why)
{
	char *asked, *other;

	if (told != NULL && metadata_same_issuer(told, issuer))
		return 0;
	asked = shown(issuer);
	if (told == NULL) {
		*why = xasprintf("the metadata of \"%s\" names no issuer; "
				 "its operator has to fix that",
		    asked);
	} else {
		other = shown(told);
		*why = xasprintf("the metadata of \"%s\" says that its issuer "
				 "is \"%s\", so it is not used; if one "
				 "operator runs both, name it with %s %s",
		    asked, other, policy->is_provider ? "--idp" : "--issuer",
		    browser_word(told));
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
				 "it offers no sign-in in a browser",
		    issuer);
	else if (interactive && document_has(doc, PKCE) &&
	    !document_listed(document_list(doc, PKCE), "S256"))
		*why = xasprintf("\"%s\" does not support PKCE with S256; "
				 "without it, the sign-in could be stolen",
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
	if (check_issuer(document_text(doc, "issuer"), issuer, policy, why) < 0)
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
	string_list_free(m->servers);
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

/* The challenge's URL, and those of metadata_resource_urls. */
enum { PLACES_MAX = 3 };
#define LEGACY_VERSION "2025-03-26"
#define HINT "; if you know where to sign in, name it with --issuer"

/* What an answer means. */
enum found {
	FOUND_DOCUMENT,
	FOUND_NOTHING, /* the next place */
	FOUND_TROUBLE,
	FOUND_NEVER /* it was given up */
};

struct discovery {
	struct fetcher *fetcher;
	const struct discovery_config *config;
	const bool *over;

	char *places[PLACES_MAX];
	size_t n, at;
	bool from_challenge; /* the first place is the challenge's */
	bool shaky;          /* a place answered 502: empty, or broken */
	char *above; /* the reason to ask the one place of a resource above the
		      * server, for people; or NULL */

	struct fetch_answer answer; /* of the last place */
	struct resource_metadata resource;
	struct discovered *found;
	char *why;
	bool transient, soon;
	int64_t again_ms;
};

static void
forget_places(struct discovery *d)
{
	while (d->n > 0)
		free(d->places[--d->n]);
	d->at = 0;
}

/* Ends it with a message that it takes over. Returns false. */
static bool
fail(struct discovery *d, char *why, bool transient)
{
	d->why = why;
	d->transient = transient;
	return false;
}

static enum found
judge(struct discovery *d)
{
	const struct fetch_answer *a = &d->answer;

	if (a->status >= 200 && a->status <= 299 && a->json != NULL)
		return FOUND_DOCUMENT;
	if (a->status == 502) {
		d->shaky = true;
		return FOUND_NOTHING;
	}
	if (a->status >= 400 && a->status <= 499 && !a->transient)
		return FOUND_NOTHING;
	return FOUND_TROUBLE;
}

/* Asks at the place that is next. */
static enum found
ask(struct discovery *d, const char *version)
{
	const struct fetch_request r = {
		.url = d->places[d->at],
		.version = version,
	};

	log_debug("fetching %.*s", (int)strcspn(r.url, "?"), r.url);
	fetch_answer_free(&d->answer);
	return fetch_wait(d->fetcher, &r, d->over, &d->answer) ? judge(d) :
								 FOUND_NEVER;
}

/* On to the next place; false: there is none. The query of the MCP server's
 * URL belongs to its well-known place, but few servers know that: the same
 * place without it comes next. */
static bool
next_place(struct discovery *d)
{
	char *query = NULL;

	if (!(d->from_challenge && d->at == 0))
		query = strchr(d->places[d->at], '?');
	if (query != NULL)
		*query = '\0';
	else
		d->at++;
	return d->at < d->n;
}

/* Ends it with what went wrong at this place. */
static bool
fail_here(struct discovery *d)
{
	const struct fetch_answer *a = &d->answer;
	const char *url = d->places[d->at < d->n ? d->at : d->n - 1];
	bool transient = a->transient || d->shaky;
	bool hint = !a->refused && !transient && d->config->issuer == NULL;
	char none[64], *at = shown(url), *why;

	snprintf(none, sizeof none, "no metadata (status %d)", a->status);
	why = xasprintf("cannot find out where to sign in: %s, at %s%s",
	    a->why != NULL ? a->why : none, at, hint ? HINT : "");
	free(at);
	d->soon = a->soon || d->shaky;
	d->again_ms = a->retry_after_ms;
	return fail(d, why, transient);
}

/* The resource parameter where no document names it: the URL without its
 * query, and without the slash that stands for an empty path. */
static char *
own_name(const struct url *server)
{
	const char *path = path_of(server);
	size_t n = strcspn(path, "?");

	if (n == 1)
		n = 0;
	return xstrndup(server->text, (size_t)(path - server->text) + n);
}

/* The document of the authorization server that was asked for. */
static bool
take_server(struct discovery *d, const char *issuer)
{
	struct server_metadata *m = &d->found->server;
	char *why;

	if (metadata_server(m, d->answer.json, issuer, &d->config->policy,
		d->config->interactive, &why) < 0)
		return fail(d, why, false);
	m->openid = d->at > 0; /* metadata_server_urls */
	string_set(&d->found->place, d->places[d->at]);
	return true;
}

/* Only the first place of an issuer, which is the origin: what came later is not
 * of 2025-03-26. */
static bool
find_legacy(struct discovery *d)
{
	char *urls[3], *why;
	size_t i, n;

	forget_places(d);
	d->found->legacy = true;
	n = metadata_server_urls(d->config->server->origin, urls);
	d->places[d->n++] = urls[0];
	for (i = 1; i < n; i++)
		free(urls[i]);
	switch (ask(d, LEGACY_VERSION)) {
	case FOUND_DOCUMENT:
		return take_server(d, d->config->server->origin);
	case FOUND_NEVER:
		return false;
	case FOUND_NOTHING:
		if (!d->shaky) {
			metadata_legacy(&d->found->server, d->config->server);
			return metadata_url_ok(d->found->server.token_endpoint,
				   &d->config->policy, "the token endpoint",
				   &why) ||
			    fail(d, why, false);
		}
		/* FALLTHROUGH */
	default:
		return fail_here(d);
	}
}

/* Whom the resource trusts: the one our credential is from, if it is still
 * named, else the first. */
static const char *
choose(const struct discovery *d)
{
	const struct discovery_config *c = d->config;
	size_t i;

	if (c->issuer != NULL)
		return c->issuer;
	for (i = 0; i < d->resource.n && c->bound != NULL; i++)
		if (metadata_same_issuer(d->resource.servers[i], c->bound))
			return c->bound;
	return d->resource.n == 0 ? NULL : d->resource.servers[0];
}

/* Asks for the document of an issuer, at one place after the other. */
static enum found
ask_places(struct discovery *d, const char *issuer)
{
	enum found what = FOUND_NOTHING;

	forget_places(d);
	d->shaky = false;
	d->n = metadata_server_urls(issuer, d->places);
	for (; d->at < d->n && what == FOUND_NOTHING; d->at++)
		what = ask(d, NULL);
	if (d->at > 0 && what != FOUND_NOTHING)
		d->at--;
	return what;
}

/* Is the issuer of --issuer a name at an address that we do not ask? Others may
 * see a document there. A number, or localhost, is nobody's name. */
static bool
is_hidden(const struct discovery *d)
{
	enum address_class class;
	struct url u;
	bool hidden;

	if (!d->answer.refused || parse(&u, d->config->issuer) != URL_OK)
		return false;
	hidden = address_literal(u.host, &class) != 0 && !url_is_loopback(&u);
	url_free(&u);
	return hidden;
}

/* Is it sure that the issuer of --issuer publishes nothing about itself? One that
 * only cannot be asked now, or not by us, is not replaced. */
static bool
lacks_document(const struct discovery *d, enum found what)
{
	const struct fetch_answer *a = &d->answer;
	const char *told = document_text(a->json, "issuer");

	if (what != FOUND_DOCUMENT)
		return a->nobody ||
		    (!a->transient && !d->shaky && !is_hidden(d));
	return told == NULL || !metadata_same_issuer(told, d->config->issuer);
}

/* Has a client without an id no way to get one by this document? */
static bool
registers_nobody(const struct discovery *d, const struct server_metadata *m)
{
	return d->config->registers && m->registration_endpoint == NULL &&
	    !(d->config->document && m->client_document);
}

/* May the document of the listed issuer be used, which names that one? For a
 * user whose redirect has to come from that of --issuer, of which no credential
 * is given up for it. */
static bool
may_name_itself(const struct discovery *d, const char *listed, const char *told)
{
	const struct discovery_config *c = d->config;

	return metadata_same_issuer(told, listed) && !c->given &&
	    (c->bound == NULL ? c->interactive :
				!metadata_same_issuer(c->bound, c->issuer));
}

/* Takes the document of the listed issuer, if it may stand for that of the
 * issuer of --issuer. d->why NULL: that one is good. */
static bool
take_listed(struct discovery *d, const char *listed, bool loose, bool house)
{
	const struct discovery_config *c = d->config;
	const char *told = document_text(d->answer.json, "issuer");
	struct metadata_policy policy = c->policy;
	struct server_metadata m;
	bool names = told != NULL && metadata_same_issuer(told, c->issuer);
	char *why;

	if (told == NULL || d->answer.status != 200 ||
	    (names ? !loose && !house :
		     !loose || !may_name_itself(d, listed, told)))
		return false;
	if (names) {
		policy.at = c->issuer;
		policy.or_at = loose && !c->given ? listed : c->issuer;
	}
	if (metadata_server(&m, d->answer.json, told, &policy, c->interactive,
		&why) != 0) {
		string_set(&d->why, d->why == NULL ? NULL : why);
		free(why);
		d->transient = false;
		return false;
	}
	if (d->why == NULL && !house && registers_nobody(d, &m)) {
		metadata_server_free(&m);
		return false;
	}
	/* A device code brings no redirect that could be compared. */
	string_set(&m.device_authorization_endpoint, NULL);
	m.openid = d->at > 0;
	metadata_server_free(&d->found->server);
	d->found->server = m;
	d->found->listed = true;
	string_set(&d->found->place, d->places[d->at]);
	string_set(&d->why, NULL);
	return true;
}

/* With --issuer: good is whether its own document was taken, else d->why says
 * why not, and lacks whether there is none. The document of the issuer that the
 * server lists may be about it. It is asked where the own one is none, or
 * registers nobody; and, as the one of OpenID Connect may be for another
 * purpose, if the listed one is of the issuer's house. If it names the issuer,
 * nothing of it leads to a third host (doc/security.md "The issuer that you
 * name"). */
static bool
find_listed(struct discovery *d, bool good, bool lacks)
{
	const struct discovery_config *c = d->config;
	const char *listed = d->resource.n > 0 ? d->resource.servers[0] :
						 c->server->origin;
	bool house = d->at > 0 && metadata_is_below(listed, c->issuer);
	bool loose = lacks || (good && registers_nobody(d, &d->found->server));
	enum found what = FOUND_NOTHING;
	char *why = NULL;

	if (!(loose || house) || metadata_same_issuer(listed, c->issuer))
		return good;
	if (metadata_url_ok(listed, &c->policy, "", &why))
		what = ask_places(d, listed);
	string_set(&why, NULL);
	if (what == FOUND_NEVER) {
		string_set(&d->why, NULL);
		return false;
	}
	/* The credential may be from the endpoints that this one names. */
	if (good && c->bound != NULL && !d->answer.nobody &&
	    (d->answer.transient || d->shaky))
		return fail_here(d);
	/* No tenant of its origin has the first two places. */
	return (what == FOUND_DOCUMENT &&
		   take_listed(d, listed, loose, house && d->at < 2)) ||
	    good;
}

static bool
find_server(struct discovery *d)
{
	const char *issuer = choose(d);
	enum found what;
	bool good;
	char *why;

	if (issuer == NULL)
		return fail(d,
		    xasprintf("the resource metadata of %s names no sign-in "
			      "server" HINT,
			d->config->server->host),
		    false);
	if (!metadata_url_ok(issuer, &d->config->policy, "the sign-in server",
		&why))
		return fail(d, why, false);
	what = ask_places(d, issuer);
	if (d->n == 0)
		return fail(d,
		    xstrdup("the sign-in server's URL has a query (?), which "
			    "is not allowed"),
		    false);
	if (what == FOUND_NEVER)
		return false;
	good = what == FOUND_DOCUMENT ? take_server(d, issuer) : fail_here(d);
	return d->config->issuer == NULL || d->config->direct ?
	    good :
	    find_listed(d, good, !good && lacks_document(d, what));
}

/* Ends it because of a resource above the server. */
static bool
fail_above(struct discovery *d)
{
	char *why = d->above;

	d->above = NULL;
	return fail(d, why, false);
}

/* The document says that tokens are for more than the server: for all of the
 * origin, or all of a folder in it. On a shared origin a tenant could so get
 * tokens that open the others. Only the document at the place of that resource
 * may say so, which is asked next. */
static bool
look_above(struct discovery *d)
{
	struct resource_metadata *m = &d->resource;
	char *place = m->place, *above, *at;

	if (d->above != NULL)
		return fail_above(d);
	above = shown(m->resource);
	at = shown(place);
	d->above = xasprintf("the server's resource metadata is for %s, not "
			     "for the server alone, but there is no such "
			     "document at %s: a token for it could be used "
			     "elsewhere, so none is requested%s",
	    above, at, d->config->issuer == NULL ? HINT : "");
	free(above);
	free(at);
	m->place = NULL;
	metadata_resource_free(m);
	forget_places(d);
	d->from_challenge = false;
	d->places[d->n++] = place;
	return true;
}

/* There is no document of the resource. */
static bool
find_without(struct discovery *d)
{
	if (d->config->issuer != NULL) {
		d->found->resource = own_name(d->config->server);
		return find_server(d);
	}
	if (d->above == NULL)
		return find_legacy(d);
	return d->shaky ? fail_here(d) : fail_above(d);
}

static bool
find_as_told(struct discovery *d)
{
	const struct resource_metadata *m = &d->resource;
	struct discovered *found = d->found;

	found->resource = xstrdup(m->resource);
	found->scopes = string_copy(m->scopes);
	found->dpop = m->dpop;
	found->bound = m->bound;
	return find_server(d);
}

/* A web page for every path is no document either, where --issuer says all that
 * it could. */
static enum found
ask_resource(struct discovery *d)
{
	enum found what = ask(d, NULL);
	int status = d->answer.status;

	return what == FOUND_TROUBLE && d->config->issuer != NULL &&
		status >= 200 && status <= 399 ?
	    FOUND_NOTHING :
	    what;
}

static bool
find_resource(struct discovery *d)
{
	struct resource_metadata *m = &d->resource;
	char *why;

	for (;;) {
		switch (ask_resource(d)) {
		case FOUND_NEVER:
			return false;
		case FOUND_TROUBLE:
			return fail_here(d);
		case FOUND_NOTHING:
			if (!next_place(d))
				return find_without(d);
			break;
		case FOUND_DOCUMENT:
			if (metadata_resource(m, d->answer.json,
				d->config->server, &why) < 0)
				return fail(d, why, false);
			if (m->place == NULL ||
			    strcmp(m->place, d->places[d->at]) == 0)
				return find_as_told(d);
			if (!look_above(d))
				return false;
		}
	}
}

/* May the challenge send us there? *why is for people, when not. */
static bool
may_be_asked(struct discovery *d, const struct url *u, const char *text,
    char **why)
{
	char *at;

	if (!metadata_url_ok(text, &d->config->policy,
		"the place of the resource metadata", why))
		return false;
	if (d->config->policy.cross_origin_prm ||
	    url_same_origin(u, d->config->server))
		return true;
	at = shown(text);
	*why = xasprintf("the server says that its resource metadata is on "
			 "another origin, at %s; if you trust that, give "
			 "--allow-cross-origin-prm",
	    at);
	free(at);
	return false;
}

/* The challenge's URL is the first place; text that is no URL is as good as
 * absent. Returns 0, or -1 with *why when we refuse to go there. */
static int
add_challenge(struct discovery *d, char **why)
{
	const char *text = d->config->resource_metadata;
	enum url_status status;
	struct url u;

	if (text == NULL)
		return 0;
	status = url_parse(&u, text);
	if (status == URL_BAD || status == URL_NO_SCHEME) {
		log_info("ignoring resource_metadata in WWW-Authenticate: not a "
			 "URL");
		return 0;
	}
	if (may_be_asked(d, &u, text, why)) {
		d->places[d->n++] = xstrdup(u.text);
		d->from_challenge = true;
	}
	url_free(&u);
	return d->from_challenge ? 0 : -1;
}

/* Then where it is by rule, if that is another place. */
static void
add_known(struct discovery *d)
{
	char *urls[2];
	size_t i, n;

	n = metadata_resource_urls(d->config->server, urls);
	for (i = 0; i < n; i++)
		if (d->from_challenge && strcmp(urls[i], d->places[0]) == 0)
			free(urls[i]);
		else
			d->places[d->n++] = urls[i];
}

bool
discovery_run(struct fetcher *f, const struct discovery_config *config,
    const bool *over, struct discovered *found, char **why, bool *transient)
{
	struct discovery d = { .fetcher = f,
		.config = config,
		.over = over,
		.found = found,
		.again_ms = -1 };
	bool good;

	memset(found, 0, sizeof *found);
	if (config->direct) {
		good = find_server(&d);
	} else if (add_challenge(&d, &d.why) < 0) {
		good = false;
	} else {
		add_known(&d);
		good = find_resource(&d);
	}
	if (!good)
		discovered_free(found);
	found->soon = d.soon;
	found->again_ms = d.again_ms;
	forget_places(&d);
	fetch_answer_free(&d.answer);
	metadata_resource_free(&d.resource);
	free(d.above);
	*why = d.why;
	*transient = d.transient;
	return good;
}

void
discovered_free(struct discovered *d)
{
	free(d->place);
	free(d->resource);
	free(d->scopes);
	metadata_server_free(&d->server);
	memset(d, 0, sizeof *d);
}
