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
 *   LEGACY:   RFC 8414 at the root of the MCP server, or its fixed paths
 *
 * A place that is empty (4xx, 502) leads to the next; whatever else goes wrong
 * ends it, because what comes next would be a guess.
 */
#include "config.h"

#include "login/discovery.h"

#include <stdlib.h>

#include "base/log.h"

/* The challenge's URL, and those of metadata.h. */
enum { PLACES_MAX = 3 };
#define LEGACY_VERSION "2025-03-26"
#define HINT "; if you know where to sign in, name it with --issuer"

enum phase { PHASE_RESOURCE, PHASE_SERVER, PHASE_LEGACY };

/* What an answer means. */
enum found {
	FOUND_DOCUMENT,
	FOUND_NOTHING, /* the next place */
	FOUND_TROUBLE
};

struct discovery {
	struct fetcher *fetcher;
	struct discovery_config config;
	discovery_cb *cb;
	void *arg;

	struct fetch *fetch; /* under way */
	enum phase phase;
	char *places[PLACES_MAX];
	size_t n, at;
	bool from_challenge; /* the first place is the challenge's */
	bool shaky;          /* a place answered 502: empty, or broken */
	char *above; /* PHASE_RESOURCE: the reason to ask the one place of a
		      * resource above the server, for people; or NULL */

	struct resource_metadata resource;
	char *issuer; /* PHASE_SERVER: whose document it must be */
	struct discovered found;
};

static void on_answer(const struct fetch_answer *a, void *arg);

static void
forget_places(struct discovery *d)
{
	while (d->n > 0)
		free(d->places[--d->n]);
	d->at = 0;
}

static void
discovery_free(struct discovery *d)
{
	forget_places(d);
	metadata_resource_free(&d->resource);
	discovered_free(&d->found);
	free(d->issuer);
	free(d->above);
	free(d);
}

/* Tells it, with d gone before. why NULL: it is found. */
static void
finish(struct discovery *d, const char *why, bool transient)
{
	struct discovered found = d->found;
	discovery_cb *cb = d->cb;
	void *arg = d->arg;

	memset(&d->found, 0, sizeof d->found);
	discovery_free(d);
	cb(why == NULL ? &found : NULL, why, transient, arg);
	discovered_free(&found);
}

/* The same with a message that is ours to free. */
static void
fail(struct discovery *d, char *why, bool transient)
{
	finish(d, why, transient);
	free(why);
}

/* Asks at the place that is next. */
static void
ask(struct discovery *d)
{
	const struct fetch_request r = {
		.url = d->places[d->at],
		.version = d->phase == PHASE_LEGACY ? LEGACY_VERSION : NULL,
	};

	log_debug("fetching %.*s", (int)strcspn(r.url, "?"), r.url);
	d->fetch = fetch_start(d->fetcher, &r, on_answer, d);
}

/* On to the next place; false: there is none. The query of the MCP server's
 * URL belongs to its well-known place, but few servers know that: the same
 * place without it comes next. */
static bool
next_place(struct discovery *d)
{
	char *query = NULL;

	if (d->phase == PHASE_RESOURCE && !(d->from_challenge && d->at == 0))
		query = strchr(d->places[d->at], '?');
	if (query != NULL)
		*query = '\0';
	else if (++d->at == d->n)
		return false;
	ask(d);
	return true;
}

static enum found
judge(struct discovery *d, const struct fetch_answer *a)
{
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

/* Ends it with what went wrong at this place. */
static void
fail_here(struct discovery *d, const struct fetch_answer *a)
{
	const char *url = d->places[d->at < d->n ? d->at : d->n - 1];
	bool transient = a->transient || d->shaky;
	struct buf b;

	buf_init(&b, 0);
	buf_adds(&b, "cannot find out where to sign in: ");
	if (a->why != NULL)
		buf_adds(&b, a->why);
	else
		buf_addf(&b, "there is no metadata (status %d)", a->status);
	buf_adds(&b, ", at ");
	metadata_show_url(&b, url);
	if (!a->refused && !transient && d->config.issuer == NULL)
		buf_adds(&b, HINT);
	fail(d, buf_take(&b), transient);
}

/* The resource parameter where no document names it: the URL without its
 * query, and without the slash that stands for an empty path. */
static char *
own_name(const struct url *server)
{
	const char *host = strstr(server->text, "://") + 3;
	const char *path = host + strcspn(host, "/?");
	size_t n = strcspn(path, "?");

	if (n == 1)
		n = 0;
	return xstrndup(server->text, (size_t)(path - server->text) + n);
}

static void
begin_legacy(struct discovery *d)
{
	char *urls[3];
	size_t i, n;

	forget_places(d);
	d->phase = PHASE_LEGACY;
	d->found.legacy = true;
	/* Only the first: what came later is not of 2025-03-26. */
	n = metadata_server_urls(d->config.server->origin, urls);
	d->places[d->n++] = urls[0];
	for (i = 1; i < n; i++)
		free(urls[i]);
	ask(d);
}

/* Whom the resource trusts: the one our credential is from, if it is still
 * named, else the first. */
static const char *
choose(const struct discovery *d)
{
	size_t i;

	if (d->config.issuer != NULL)
		return d->config.issuer;
	for (i = 0; i < d->resource.n && d->config.bound != NULL; i++)
		if (metadata_same_issuer(d->resource.servers[i],
			d->config.bound))
			return d->config.bound;
	return d->resource.n == 0 ? NULL : d->resource.servers[0];
}

/* Returns false if that failed, with d gone. */
static bool
begin_server(struct discovery *d)
{
	const char *issuer = choose(d);
	char *why;

	if (issuer == NULL) {
		fail(d,
		    xasprintf("the resource metadata of %s names no sign-in "
			      "server" HINT,
			d->config.server->host),
		    false);
		return false;
	}
	if (!metadata_url_ok(issuer, &d->config.policy, "the sign-in server",
		&why)) {
		fail(d, why, false);
		return false;
	}
	forget_places(d);
	d->phase = PHASE_SERVER;
	d->shaky = false;
	d->issuer = xstrdup(issuer);
	d->n = metadata_server_urls(issuer, d->places);
	if (d->n == 0) {
		fail(d,
		    xstrdup("the sign-in server's URL has a query (?), which "
			    "none may have"),
		    false);
		return false;
	}
	ask(d);
	return true;
}

/* Ends it because of a resource above the server. */
static void
fail_above(struct discovery *d)
{
	char *why = d->above;

	d->above = NULL;
	fail(d, why, false);
}

/* The document says that tokens are for more than the server: for all of the
 * origin, or all of a folder in it. On a shared origin a tenant could so get
 * tokens that open the others. Only the document at the place of that resource
 * may say so. */
static void
ask_above(struct discovery *d)
{
	struct resource_metadata *m = &d->resource;
	char *place = m->place;
	struct buf b;

	if (d->above != NULL) {
		fail_above(d);
		return;
	}
	buf_init(&b, 0);
	buf_adds(&b, "the server's resource metadata is for ");
	metadata_show_url(&b, m->resource);
	buf_adds(&b,
	    ", and not for the server alone, but there is no such document "
	    "at ");
	metadata_show_url(&b, place);
	buf_adds(&b,
	    ": a token for it could be used elsewhere, so nothing is asked "
	    "for");
	if (d->config.issuer == NULL)
		buf_adds(&b, HINT);
	d->above = buf_take(&b);
	m->place = NULL;
	metadata_resource_free(m);
	forget_places(d);
	d->from_challenge = false;
	d->places[d->n++] = place;
	ask(d);
}

static void
take_resource(struct discovery *d, struct json_object *doc)
{
	struct resource_metadata *m = &d->resource;
	char *why;

	if (metadata_resource(m, doc, d->config.server, &why) < 0) {
		fail(d, why, false);
		return;
	}
	if (m->place != NULL && strcmp(m->place, d->places[d->at]) != 0) {
		ask_above(d);
		return;
	}
	d->found.resource = xstrdup(m->resource);
	d->found.scopes = string_copy(m->scopes);
	d->found.dpop = m->dpop;
	d->found.bound = m->bound;
	begin_server(d);
}

static void
on_resource(struct discovery *d, const struct fetch_answer *a)
{
	enum found what = judge(d, a);

	/* A web page for every path is no document either, where --issuer
	 * says all that it could. */
	if (what == FOUND_TROUBLE && d->config.issuer != NULL &&
	    a->status >= 200 && a->status <= 399)
		what = FOUND_NOTHING;
	if (what == FOUND_TROUBLE) {
		fail_here(d, a);
	} else if (what == FOUND_DOCUMENT) {
		take_resource(d, a->json);
	} else if (!next_place(d)) {
		if (d->config.issuer == NULL) {
			if (d->above == NULL)
				begin_legacy(d);
			else if (d->shaky)
				fail_here(d, a);
			else
				fail_above(d);
			return;
		}
		d->found.resource = own_name(d->config.server);
		begin_server(d);
	}
}

/* The document of the authorization server that was asked for. */
static void
take_server(struct discovery *d, struct json_object *doc, const char *issuer)
{
	char *why;

	if (metadata_server(&d->found.server, doc, issuer, &d->config.policy,
		d->config.interactive, &why) < 0)
		fail(d, why, false);
	else
		finish(d, NULL, false);
}

static void
on_server(struct discovery *d, const struct fetch_answer *a)
{
	enum found what = judge(d, a);

	if (what == FOUND_DOCUMENT)
		take_server(d, a->json, d->issuer);
	else if (what == FOUND_TROUBLE || !next_place(d))
		fail_here(d, a);
}

/* Its issuer is the origin. */
static void
on_legacy(struct discovery *d, const struct fetch_answer *a)
{
	enum found what = judge(d, a);

	if (what == FOUND_DOCUMENT) {
		take_server(d, a->json, d->config.server->origin);
	} else if (what == FOUND_NOTHING && !d->shaky) {
		metadata_legacy(&d->found.server, d->config.server);
		finish(d, NULL, false);
	} else {
		fail_here(d, a);
	}
}

static void
on_answer(const struct fetch_answer *a, void *arg)
{
	static void (*const takers[])(struct discovery *,
	    const struct fetch_answer *) = { [PHASE_RESOURCE] = on_resource,
		[PHASE_SERVER] = on_server,
		[PHASE_LEGACY] = on_legacy };
	struct discovery *d = arg;

	d->fetch = NULL;
	takers[d->phase](d, a);
}

/* May the challenge send us there? *why is for people, when not. */
static bool
may_be_asked(struct discovery *d, const struct url *u, const char *text,
    char **why)
{
	struct buf b;

	if (!metadata_url_ok(text, &d->config.policy,
		"the place of the resource metadata", why))
		return false;
	if (d->config.policy.cross_origin_prm ||
	    url_same_origin(u, d->config.server))
		return true;
	buf_init(&b, 0);
	buf_adds(&b,
	    "the server says that its resource metadata is on "
	    "another origin, at ");
	metadata_show_url(&b, text);
	buf_adds(&b, "; if you trust that, give --allow-cross-origin-prm");
	*why = buf_take(&b);
	return false;
}

/* The challenge's URL is the first place; text that is no URL is as good as
 * absent. Returns 0, or -1 with *why when we refuse to go there. */
static int
add_challenge(struct discovery *d, char **why)
{
	const char *text = d->config.resource_metadata;
	enum url_status status;
	struct url u;

	if (text == NULL)
		return 0;
	status = url_parse(&u, text);
	if (status == URL_BAD || status == URL_NO_SCHEME) {
		log_info(
		    "resource_metadata in WWW-Authenticate is not a URL, so "
		    "it is ignored");
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

	n = metadata_resource_urls(d->config.server, urls);
	for (i = 0; i < n; i++)
		if (d->from_challenge && strcmp(urls[i], d->places[0]) == 0)
			free(urls[i]);
		else
			d->places[d->n++] = urls[i];
}

struct discovery *
discovery_start(struct fetcher *f, const struct discovery_config *config,
    discovery_cb *cb, void *arg)
{
	struct discovery *d = xcalloc(1, sizeof *d);
	char *why;

	d->fetcher = f;
	d->config = *config;
	d->cb = cb;
	d->arg = arg;
	if (config->direct)
		return begin_server(d) ? d : NULL;
	if (add_challenge(d, &why) < 0) {
		fail(d, why, false);
		return NULL;
	}
	add_known(d);
	ask(d);
	return d;
}

void
discovery_cancel(struct discovery *d)
{
	if (d == NULL)
		return;
	fetch_cancel(d->fetch);
	discovery_free(d);
}

void
discovered_free(struct discovered *d)
{
	free(d->resource);
	free(d->scopes);
	metadata_server_free(&d->server);
	memset(d, 0, sizeof *d);
}
