/* The proxy comes from the option, from environment variables (HTTPS_PROXY and
 * the like), which libcurl reads itself, or from the system's settings. NO_PROXY
 * is read by options/environment.c and comes as an option. */
#include "config.h"

#include "io/http_state.h"

#include <stdlib.h>

#include "io/url.h"

/* CURLINFO_USED_PROXY, which the headers may be too old to have. */
#define HTTP_USED_PROXY ((CURLINFO)(CURLINFO_LONG + 66))

static int
http_on_probe_lookup(void *resolver, void *reserved, void *arg)
{
	(void)resolver;
	(void)reserved;
	(void)arg;
	return 1;
}

static curl_socket_t
http_on_probe_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	(void)arg;
	(void)purpose;
	(void)a;
	return CURL_SOCKET_BAD;
}

/* Returns the proxy of the system's settings for this URL, which the caller frees;
 * NULL: there is none, or they do not count. */
static char *
system_proxy(const struct http_config *c, const struct url *u)
{
	bool https = u->scheme != NULL && strcmp(u->scheme, "https") == 0;

	return c->system_proxy[https] ? os_system_proxy(https, u->host) : NULL;
}

/* libcurl does not tell whether it would use a proxy, but a transfer that may
 * neither look up a name nor open a socket fails at once. It fails in different
 * ways with and without one, or says which it was (from libcurl 8.7 on). The
 * answer is true only if it is certain. */
bool
http_takes_proxy(const struct http_config *c, const char *url)
{
	CURL *probe = curl_easy_init();
	char *system;
	struct url u;
	CURLcode rc;
	long used = 0;

	if (probe == NULL)
		return false;
	url_parse(&u, url);
	system = system_proxy(c, &u);
	url_free(&u);
	curl_easy_setopt(probe, CURLOPT_RESOLVER_START_FUNCTION,
	    http_on_probe_lookup);
	curl_easy_setopt(probe, CURLOPT_OPENSOCKETFUNCTION,
	    http_on_probe_socket);
	curl_easy_setopt(probe, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(probe, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(probe, CURLOPT_PROXY,
	    c->proxy != NULL ? c->proxy : system);
	free(system);
	curl_easy_setopt(probe, CURLOPT_NOPROXY, c->noproxy);
	curl_easy_setopt(probe, CURLOPT_URL, url);
	rc = curl_easy_perform(probe);
	/* an older library refuses to tell, and leaves it 0 */
	(void)curl_easy_getinfo(probe, HTTP_USED_PROXY, &used);
	curl_easy_cleanup(probe);
	return rc == CURLE_COULDNT_RESOLVE_PROXY || used != 0;
}

static bool
takes_proxy(struct http *h, const char *url)
{
	if (h->asked_url == NULL || strcmp(h->asked_url, url) != 0) {
		string_set(&h->asked_url, url);
		h->takes_proxy = http_takes_proxy(&h->config, url);
	}
	return h->takes_proxy;
}

void
http_proxy_set(struct transfer *x)
{
	const struct http_config *c = &x->h->config;

	SET(x, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	SET(x, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	if (c->proxy != NULL)
		SET(x, CURLOPT_PROXY, c->proxy);
	if (c->proxy_user != NULL)
		SET(x, CURLOPT_PROXYUSERPWD, c->proxy_user);
}

void
http_proxy_choose(struct transfer *x, const char *url)
{
	const struct http_config *c = &x->h->config;
	const char *noproxy = c->noproxy;
	char *system;
	struct url u;
	bool direct, tunnel;

	direct = c->unix_socket != NULL;
	if (url_parse(&u, url) == URL_OK)
		direct = direct || url_is_loopback(&u);
	/* The CONNECT has the User-Agent and no other header. With a plain http
	 * URL the proxy gets the list of the request, where it is, too. */
	tunnel = u.scheme != NULL && strcmp(u.scheme, "https") == 0;
	SET(x, CURLOPT_PROXYHEADER, tunnel ? x->h->agent : NULL);
	if (c->system_proxy[tunnel]) {
		system = system_proxy(c, &u);
		SET(x, CURLOPT_PROXY, system);
		free(system);
	}
	url_free(&u);
	x->proxied = !direct && takes_proxy(x->h, url);
	if (c->allow != NULL) {
		x->asks = direct = !x->proxied;
		noproxy = "";
	}
	SET(x, CURLOPT_NOPROXY, direct ? "*" : noproxy);
}
