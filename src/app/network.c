/* The network options in the form that io/http wants. */
#include "config.h"

#include "app/network.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/secret.h"
#include "base/bounds.h"
#include "base/log.h"

/* libcurl reads such a file whole, and again for later connections. From a FIFO
 * or a terminal it would wait for bytes. Returns what is wrong with the file,
 * owned by the caller, or NULL; what cannot be looked at is left to libcurl,
 * which reports it for each transfer. */
static char *
unfit(const char *name, const char *path)
{
	struct stat st;

	if (path == NULL || stat(path, &st) != 0)
		return NULL;
	if (!S_ISREG(st.st_mode))
		return xasprintf("%s: %s is not a regular file", name, path);
	if (st.st_size > BOUND_LIBRARY_FILE_BYTES)
		return xasprintf("%s: %s is larger than %zu bytes", name, path,
		    (size_t)BOUND_LIBRARY_FILE_BYTES);
	return NULL;
}

/* The certificate and its key are used for the MCP server, or with
 * --cert-auth. Returns 0, or -1 with *why. */
static int
check_files(const struct options *o, bool server, char **why)
{
	const struct {
		const char *name, *path;
		bool used;
	} files[] = {
		{ "--cacert (or SSL_CERT_FILE)", o->cacert, true },
		{ "--proxy-cacert", o->proxy_cacert, true },
		{ "--cert", o->cert, server || o->cert_auth },
		{ "--key", o->key, server || o->cert_auth },
		{ "--netrc-file", o->netrc_file, server },
	};
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++)
		if (files[i].used &&
		    (*why = unfit(files[i].name, files[i].path)) != NULL)
			return -1;
	return 0;
}

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

/* The user chose NODE_EXTRA_CA_CERTS for other programs: it does not stop this
 * one. */
static struct http *
make(struct loop *l, struct http_config *c, char **why)
{
	const char *fault = NULL;
	char *extra = unfit("NODE_EXTRA_CA_CERTS", c->cacert_extra);
	struct http *h;

	if (extra != NULL) {
		log_warn("%s: it is not used", extra);
		c->cacert_extra = NULL;
	}
	free(extra);
	h = http_new(l, c, &fault);
	if (h == NULL)
		*why = xasprintf("libcurl cannot be used: %s", fault);
	return h;
}

struct http *
network_server(struct network *n, struct loop *l, const struct options *o,
    char **why)
{
	struct http_config c = { 0 };

	if (check_files(o, true, why) != 0)
		return NULL;
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

	if (check_files(o, false, why) != 0)
		return NULL;
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
