/* The network options in the form that io/http wants. */
#include "config.h"

#include "app/network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/secret.h"

static void
fill(struct http_config *c, const struct options *o)
{
	c->proxy = o->proxy;
	c->noproxy = o->noproxy;
	c->proxy_user = o->proxy_user;
	c->proxy_negotiate = o->proxy_negotiate;
	c->proxy_cacert = o->proxy_cacert;
	c->cacert = o->cacert;
	c->cacert_extra = o->cacert_extra;
	c->ipv4_only = o->ipv4_only;
	c->ipv6_only = o->ipv6_only;
	c->resolve = (const char *const *)o->resolve.list;
	c->connect_timeout_ms = o->connect_timeout_ms;
	c->max_inflight = o->max_inflight;
	c->user_agent = o->user_agent != NULL ? o->user_agent :
						PACKAGE_NAME
	    "/" PACKAGE_VERSION;
}

static int
fill_cert(struct http_config *c, struct network *n, const struct options *o,
    char **why)
{
	c->cert = o->cert;
	c->key = o->key;
	if (o->key_password_file != NULL && n->key_password == NULL &&
	    (n->key_password = secret_file("--key-password-file",
		 o->key_password_file, why)) == NULL)
		return -1;
	c->key_password = n->key_password;
	return 0;
}

void
network_free(struct network *n)
{
	secret_free(n->key_password);
	n->key_password = NULL;
}

static struct http *
make(struct loop *l, const struct http_config *c, char **why)
{
	const char *fault = NULL;
	struct http *h = http_new(l, c, &fault);

	if (h == NULL)
		*why = xasprintf("libcurl cannot be used: %s", fault);
	return h;
}

struct http *
network_server(struct network *n, struct loop *l, const struct options *o,
    char **why)
{
	struct http_config c = { 0 };

	fill(&c, o);
	c.unix_socket = o->unix_socket;
	c.no_cookies = o->no_cookies;
	c.compressed = o->compressed;
	c.http2 = o->http2;
	c.netrc_file = o->netrc_file;
	/* libcurl would ignore a missing file. */
	secret_check(o->key);
	secret_check(o->netrc_file);
	if (o->netrc_file != NULL && access(o->netrc_file, R_OK) != 0) {
		*why = xasprintf("--netrc-file %s cannot be read: %s",
		    o->netrc_file, strerror(errno));
		return NULL;
	}
	return fill_cert(&c, n, o, why) == 0 ? make(l, &c, why) : NULL;
}

struct http *
network_auth(struct network *n, struct loop *l, const struct options *o,
    bool (*allow)(const struct sockaddr *sa, void *arg), void *arg, char **why)
{
	struct http_config c = { 0 };

	fill(&c, o);
	c.no_cookies = true;
	c.allow = allow;
	c.allow_arg = arg;
	if (o->cert_auth && fill_cert(&c, n, o, why) != 0)
		return NULL;
	return make(l, &c, why);
}

bool
network_has_proxy(const struct options *o, const char *url)
{
	struct http_config c = { 0 };

	fill(&c, o);
	return http_takes_proxy(&c, url);
}
