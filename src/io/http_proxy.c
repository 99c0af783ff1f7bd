/* libcurl chooses the proxy; here it is told how, and asked what it would
 * do. */
#include "config.h"

#include "io/http_proxy.h"

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

/* libcurl does not tell whether it would use a proxy, but a transfer that may
 * neither look up a name nor open a socket fails in different ways with and
 * without one, at once. The answer is true only if it is certain. */
bool
http_takes_proxy(const struct http_config *c, const char *url)
{
	CURL *probe = curl_easy_init();
	CURLcode rc;

	if (probe == NULL)
		return false;
	curl_easy_setopt(probe, CURLOPT_RESOLVER_START_FUNCTION,
	    http_on_probe_lookup);
	curl_easy_setopt(probe, CURLOPT_OPENSOCKETFUNCTION,
	    http_on_probe_socket);
	curl_easy_setopt(probe, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(probe, CURLOPT_PROTOCOLS_STR, "http,https");
	if (c->proxy != NULL)
		curl_easy_setopt(probe, CURLOPT_PROXY, c->proxy);
	curl_easy_setopt(probe, CURLOPT_NOPROXY, c->noproxy);
	curl_easy_setopt(probe, CURLOPT_URL, url);
	rc = curl_easy_perform(probe);
	curl_easy_cleanup(probe);
	return rc == CURLE_COULDNT_RESOLVE_PROXY;
}

void
http_proxy_set(struct transfer *x)
{
	const struct http_config *c = &x->h->config;

	SET(x, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	SET(x, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	if (c->proxy != NULL)
		SET(x, CURLOPT_PROXY, c->proxy);
	if (c->proxy_negotiate)
		SET(x, CURLOPT_PROXYAUTH, CURLAUTH_NEGOTIATE);
	if (c->proxy_user != NULL)
		SET(x, CURLOPT_PROXYUSERPWD, c->proxy_user);
	else if (c->proxy_negotiate)
		SET(x, CURLOPT_PROXYUSERPWD, ":");
}
