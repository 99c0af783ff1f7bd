/* Options of an easy handle that do not change once they are set. */
#include "config.h"

#include "io/http_setup.h"

#include <string.h>

#include "io/http_callbacks.h"
#include "io/http_negotiate.h"
#include "io/http_proxy.h"
#include "io/http_two.h"
#include "io/http_way.h"

enum {
	HTTP_LIFETIME_S = 3600,
	/* However alive: those that a burst of calls left behind go. */
	HTTP_IDLE_S = 600
};

static void
set_transport(struct transfer *x)
{
	const struct http_config *c = &x->h->config;

	SET(x, CURLOPT_PROTOCOLS_STR, "http,https");
	SET(x, CURLOPT_FOLLOWLOCATION, 0L);
	SET(x, CURLOPT_CONNECTTIMEOUT_MS, (long)c->connect_timeout_ms);
	SET(x, CURLOPT_TCP_NODELAY, 1L);
	SET(x, CURLOPT_TCP_KEEPALIVE, 1L);
	SET(x, CURLOPT_TCP_KEEPIDLE, (long)HTTP_KEEPALIVE_IDLE_S);
	SET(x, CURLOPT_TCP_KEEPINTVL, (long)HTTP_KEEPALIVE_INTERVAL_S);
	SET(x, CURLOPT_MAXAGE_CONN, (long)HTTP_IDLE_S);
	SET(x, CURLOPT_MAXLIFETIME_CONN, (long)HTTP_LIFETIME_S);
	SET(x, CURLOPT_UNIX_SOCKET_PATH, c->unix_socket);
	if (c->ipv4_only)
		SET(x, CURLOPT_IPRESOLVE, (long)CURL_IPRESOLVE_V4);
	if (c->ipv6_only)
		SET(x, CURLOPT_IPRESOLVE, (long)CURL_IPRESOLVE_V6);
	SET(x, CURLOPT_ACCEPT_ENCODING, c->codings);
	SET(x, CURLOPT_SHARE, x->h->share);
	if (!c->no_cookies)
		SET(x, CURLOPT_COOKIEFILE, "");
	SET(x, CURLOPT_NETRC_FILE, c->netrc_file);
	SET(x, CURLOPT_UPLOAD_BUFFERSIZE, (long)HTTP_SMALL_BUFFER_BYTES);
}

/* Sets a folder and a file, which may be NULL. Unsetting the folder fails with
 * a TLS library that has no such folders, which does not matter. */
static void
set_authorities(struct transfer *x, CURLoption folder_option,
    const char *folder, CURLoption file_option, const char *file)
{
	(void)curl_easy_setopt(x->easy, folder_option, folder);
	SET(x, file_option, file);
}

static void
set_tls(struct transfer *x)
{
	const struct http_config *c = &x->h->config;

	SET(x, CURLOPT_CERTINFO, 1L);
	SET(x, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(x, CURLOPT_SSLCERT, c->cert);
	SET(x, CURLOPT_SSLKEY, c->key);
	/* Without a password OpenSSL would ask on the terminal, and wait
	 * there. */
	SET(x, CURLOPT_KEYPASSWD,
	    c->key_password == NULL ? "" : c->key_password);
}

/* Either a file or a hashed folder is set if possible: with both, each
 * handshake reads the whole bundle (17 ms). */
static void
set_trust(struct transfer *x)
{
	const struct http_config *c = &x->h->config;
	const struct authorities *a = &x->h->authorities;
	struct curl_blob both = {
		.data = a->both.p, .len = a->both.n, .flags = CURL_BLOB_NOCOPY
	};

	if (a->folder != NULL || a->file != NULL)
		set_authorities(x, CURLOPT_CAPATH, a->folder, CURLOPT_CAINFO,
		    a->file);
	if (both.len > 0)
		SET(x, CURLOPT_CAINFO_BLOB, &both);
	if (c->proxy_cacert != NULL)
		set_authorities(x, CURLOPT_PROXY_CAPATH, NULL,
		    CURLOPT_PROXY_CAINFO, c->proxy_cacert);
	else if (a->proxy_folder != NULL || a->proxy_file != NULL)
		set_authorities(x, CURLOPT_PROXY_CAPATH, a->proxy_folder,
		    CURLOPT_PROXY_CAINFO, a->proxy_file);
}

/* Plain http needs no certificates, unless a proxy may be reached by https. */
static bool
needs_trust(const struct transfer *x, const char *url)
{
	const struct http_config *c = &x->h->config;

	return strncmp(url, "https:", 6) == 0 || x->proxied ||
	    c->proxy != NULL || c->proxies[0].url != NULL;
}

void
http_setup_trust(struct transfer *x, const char *url)
{
	struct http *h = x->h;

	if (x->trusts || !needs_trust(x, url))
		return;
	if (!h->authorities_chosen) {
		authorities_choose(&h->authorities, h->config.cacert,
		    h->config.ca_folder, h->config.cacert_extra);
		h->authorities_chosen = true;
	}
	set_trust(x);
	x->trusts = true;
}

struct transfer *
http_setup(struct http *h)
{
	struct transfer *x;

	x = xcalloc(1, sizeof *x);
	x->h = h;
	x->easy = curl_easy_init();
	if (x->easy == NULL)
		x->refused = CURLE_FAILED_INIT;
	http_callbacks_set(x);
	set_transport(x);
	http_proxy_set(x);
	http_two_set(x);
	http_negotiate_set(x);
	set_tls(x);
	if (h->config.watched || h->config.only_looks)
		http_way_set(x);
	return x;
}
