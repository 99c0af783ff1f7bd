/* What libcurl is told: what never changes, and one request with its method,
 * URL, body and headers. */
#include "config.h"

#include "io/http_state.h"

#include <stdlib.h>

#include "base/queue.h"
#include "io/url.h"
#include "os/file.h"

/* --- what never changes --- */

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
	/* a libcurl without these sockets does not know the option */
	if (c->unix_socket != NULL)
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
		.data = a->both.p, .len = a->both.n, .flags = CURL_BLOB_COPY
	};

	if (a->folder != NULL || a->file != NULL)
		set_authorities(x, CURLOPT_CAPATH, a->folder, CURLOPT_CAINFO,
		    a->file);
	if (both.len > 0)
		SET(x, CURLOPT_CAINFO_BLOB, &both);
	if (os_keeps_authorities && c->cacert == NULL && a->folder == NULL)
		SET(x, CURLOPT_SSL_OPTIONS, (long)CURLSSLOPT_NATIVE_CA);
	if (os_keeps_authorities && c->proxy_cacert == NULL)
		SET(x, CURLOPT_PROXY_SSL_OPTIONS, (long)CURLSSLOPT_NATIVE_CA);
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

/* Sets the certificates that are trusted, if a request to this URL needs any;
 * the first one looks for them. http_proxy_choose comes before. */
static void
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

/* libcurl has this since 7.87, and nothing to forget before. */
#if LIBCURL_VERSION_NUM < 0x075700
#define CURLOPT_CA_CACHE_TIMEOUT ((CURLoption)(CURLOPTTYPE_LONG + 321))
#endif

/* libcurl keeps what it parsed for a day, or for whole seconds, as here: what is
 * older than the change is parsed again. 0: nothing is kept. */
void
http_setup_forget_trust(struct transfer *x)
{
	const struct http *h = x->h;

	if (x->trusts && x->renewed_at != h->renewed_at)
		set_trust(x);
	x->renewed_at = h->renewed_at;
	if (h->renewed_at != 0)
		(void)curl_easy_setopt(x->easy, CURLOPT_CA_CACHE_TIMEOUT,
		    (long)((loop_now(h->l) - h->renewed_at) / 1000));
}

/* Makes a transfer for h with an easy handle that has all options but those of
 * a request. If libcurl has no memory, x->easy is NULL, and x->refused ends the
 * transfer. */
static struct transfer *
make(struct http *h)
{
	struct transfer *x;

	x = xcalloc(1, sizeof *x);
	x->h = h;
	x->easy = curl_easy_init();
	if (x->easy == NULL)
		x->refused = CURLE_FAILED_INIT;
	http_transfer_set(x);
	set_transport(x);
	http_proxy_set(x);
	http_two_set(x);
	http_negotiate_set(x);
	http_sign_set(x);
	set_tls(x);
	if (h->config.watched || h->config.only_looks)
		http_way_set(x);
	return x;
}

/* Takes a transfer from the pool, or makes one. */
static struct transfer *
take(struct http *h)
{
	struct transfer *x;

	x = h->spare;
	if (x == NULL) {
		x = make(h);
	} else {
		h->spare = x->next;
		h->nspare--;
	}
	QUEUE_ADD_FIRST(h, x);
	free(x->no_ticket);
	memset((char *)x + offsetof(struct transfer, stream), 0,
	    sizeof *x - offsetof(struct transfer, stream));
	return x;
}

/* --- one request --- */

/* libcurl parses CURLOPT_URL again for each request, which takes a tenth of the
 * time of a small call. A parsed URL is borrowed instead. Libraries before 8.12
 * keep the text of the URL before, and would send a second leg there. */
static void
set_parsed_url(struct transfer *x)
{
	char *other = http_sign_url(x);

	curl_url_cleanup(x->parsed_url);
	x->parsed_url = curl_url();
	if (curl_url_set(x->parsed_url, CURLUPART_URL,
		other != NULL ? other : x->url,
		CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
		x->refused = CURLE_URL_MALFORMAT;
	free(other);
	SET(x, CURLOPT_URL, NULL);
	SET(x, CURLOPT_CURLU, x->parsed_url);
}

static void
set_url(struct transfer *x, const char *text)
{
	if (x->url != NULL && strcmp(x->url, text) == 0)
		return;
	string_set(&x->url, text);
	http_proxy_choose(x, text);
	set_parsed_url(x);
	http_setup_trust(x, text);
}

/* A new libcurl overlooks what is wrong in a file that is optional, and fails if
 * one that is required is missing, which is not an error here. */
static void
set_netrc(struct transfer *x)
{
	const char *file = x->h->config.netrc_file;

	if (file != NULL)
		SET(x, CURLOPT_NETRC,
		    (long)(os_file_may(file, OS_MAY_BE_THERE) ?
			    CURL_NETRC_REQUIRED :
			    CURL_NETRC_OPTIONAL));
}

static void
set_method(struct transfer *x, const char *method, struct span body)
{
	bool post = strcmp(method, "POST") == 0;
	bool is_other = !post && strcmp(method, "GET") != 0;
	bool is_large = body.n > HTTP_SMALL_BODY_BYTES;

	if (post) {
		SET(x, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
		SET(x, CURLOPT_POSTFIELDS, body.n > 0 ? body.p : "");
	} else {
		/* the signature would be that of the body before */
		SET(x, CURLOPT_POSTFIELDS, NULL);
		SET(x, CURLOPT_HTTPGET, 1L);
	}
	if (is_large != (x->body_bytes > HTTP_SMALL_BODY_BYTES)) {
		SET(x, CURLOPT_NOPROGRESS, is_large ? 0L : 1L);
		SET(x, CURLOPT_UPLOAD_BUFFERSIZE,
		    (long)(is_large ? HTTP_LARGE_BUFFER_BYTES :
				      HTTP_SMALL_BUFFER_BYTES));
	}
	x->body_bytes = body.n;
	if (is_other || x->is_other)
		SET(x, CURLOPT_CUSTOMREQUEST, is_other ? method : NULL);
	x->is_other = is_other;
}

/* Returns how many bytes the lines of these headers have, each with a NUL. */
static size_t
measure(const struct headers *h)
{
	size_t bytes = 0, i;

	for (i = 0; i < h->n; i++)
		bytes += strlen(h->list[i].name) + strlen(h->list[i].value) + 3;
	return bytes;
}

/* Writes the lines of these headers at text, and an entry for each from *line
 * on, which is moved past the last one. libcurl needs "Name;" for an empty
 * value. Returns the byte after the last line. */
static char *
put_lines(struct curl_slist **line, char *text, const struct headers *h)
{
	size_t i;

	for (i = 0; i < h->n; i++) {
		(*line)++->data = text;
		text = stpcpy(text, h->list[i].name);
		if (h->list[i].value[0] == '\0')
			text = stpcpy(text, ";") + 1;
		else
			text = stpcpy(stpcpy(text, ": "), h->list[i].value) + 1;
	}
	return text;
}

/* Makes the list that libcurl borrows for the transfer, in memory that stays
 * with x: the entries, and then their text. User-Agent and Accept-Encoding are
 * among them, because libcurl formats its own ones twice for each request. With
 * a large body some servers let libcurl wait a second for their 100; an empty
 * Expect avoids that. */
static void
set_headers(struct transfer *x, const struct headers *first,
    const struct headers *more)
{
	static char expect[] = "Expect:";
	size_t entries = first->n + more->n + 3;
	size_t bytes = entries * sizeof *x->lines + measure(first) +
	    measure(more);
	struct curl_slist *line, *at;
	char *text;

	if (bytes > x->lines_bytes) {
		x->lines = xrealloc(x->lines, bytes);
		x->lines_bytes = bytes;
	}
	line = x->lines;
	text = (char *)(x->lines + entries);
	if (x->h->agent != NULL && headers_get(first, "User-Agent") == NULL)
		line++->data = x->h->agent->data;
	if (x->h->codings != NULL &&
	    headers_get(first, "Accept-Encoding") == NULL)
		line++->data = x->h->codings;
	text = put_lines(&line, text, first);
	put_lines(&line, text, more);
	if (x->body_bytes > HTTP_SMALL_BODY_BYTES && x->h->config.sigv4 == NULL)
		line++->data = expect;
	for (at = x->lines; at < line; at++)
		at->next = at + 1 < line ? at + 1 : NULL;
	SET(x, CURLOPT_HTTPHEADER, line > x->lines ? x->lines : NULL);
}

struct transfer *
http_setup(struct http *h, const struct http_request *r)
{
	static const struct headers none;
	struct transfer *x = take(h);
	const struct headers *first = r->headers != NULL ? r->headers : &none;
	const struct headers *more = r->more_headers != NULL ? r->more_headers :
							       &none;
	struct headers joined = { 0 };
	uint64_t stamp = more->n == 0 && h->config.sigv4 == NULL &&
		r->body.n <= HTTP_SMALL_BODY_BYTES ?
	    r->stamp :
	    0;
	bool fresh;

	set_url(x, r->url);
	set_netrc(x);
	http_two_choose(x);
	set_method(x, r->method, r->body);
	if (h->config.sigv4 != NULL) {
		http_sign(x, r->key, first, more, &joined);
		first = &joined;
		more = &none;
	}
	if (stamp == 0 || stamp != x->stamp)
		set_headers(x, first, more);
	x->stamp = stamp;
	headers_free(&joined);
	if (h->raw)
		SET(x, CURLOPT_HTTP_CONTENT_DECODING, 0L);
	x->max_idle_ms = r->max_idle_conn_ms;
	x->proof = r->proof;
	x->wary = r->wary;
	x->opens = r->opens;
	x->cookies_set = h->cookies.set;
	if (r->fresh)
		h->doubted_at = loop_now(h->l);
	fresh = r->fresh && !http_two_shared(x);
	if (fresh != x->fresh)
		SET(x, CURLOPT_FRESH_CONNECT, (long)fresh);
	x->fresh = fresh;
	return x;
}
