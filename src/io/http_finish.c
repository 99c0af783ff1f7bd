/* What the end of a transfer means, from libcurl's result and from what was
 * noted on the way. */
#include "config.h"

#include "io/http_finish.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "io/http_callbacks.h"
#include "io/http_negotiate.h"
#include "io/http_pool.h"
#include "io/http_todo.h"
#include "io/http_two.h"
#include "io/http_why.h"
#include "io/url.h"

/* Was the TLS handshake cut, rather than refused? */
static bool
is_cut_handshake(const char *why)
{
	return strstr(why, "SSL_ERROR_SYSCALL") != NULL ||
	    strstr(why, "onnection reset") != NULL ||
	    strstr(why, "unexpected eof") != NULL;
}

/* Judges a SOCKS proxy's answer: is the host the cause, or did the proxy
 * refuse? */
static enum http_end
judge_socks(struct transfer *x)
{
	long code;

	code = 0;
	curl_easy_getinfo(x->easy, CURLINFO_PROXY_ERROR, &code);
	switch (code) {
	case CURLPX_REPLY_CONNECTION_REFUSED:
	case CURLPX_REPLY_HOST_UNREACHABLE:
	case CURLPX_REPLY_NETWORK_UNREACHABLE:
	case CURLPX_REPLY_TTL_EXPIRED:
	case CURLPX_REPLY_GENERAL_SERVER_FAILURE:
		return HTTP_CONNECT;
	case CURLPX_RESOLVE_HOST:
		return HTTP_RESOLVE;
	default:
		return HTTP_PROXY;
	}
}

/* Judges a failure before anything was written. */
static enum http_end
judge_unsent(struct transfer *x, CURLcode rc, long proxy_status)
{
	if (x->denied && !x->let)
		return HTTP_REFUSED;
	if (proxy_status >= 300)
		return HTTP_PROXY;
	if (strncmp(x->error, "Unsupported proxy", 17) == 0)
		return HTTP_CONFIG;
	switch (rc) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return HTTP_RESOLVE;
	case CURLE_SSL_CONNECT_ERROR:
		return is_cut_handshake(x->error) ? HTTP_CONNECT : HTTP_TLS;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_CLIENTCERT:
	case CURLE_USE_SSL_FAILED:
		return HTTP_TLS;
	case CURLE_PROXY:
		return judge_socks(x);
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
	case CURLE_NOT_BUILT_IN:
	case CURLE_BAD_FUNCTION_ARGUMENT:
	case CURLE_UNKNOWN_OPTION:
	case CURLE_INTERFACE_FAILED:
	case CURLE_READ_ERROR: /* not a netrc file */
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_SSL_ENGINE_SETFAILED:
		return HTTP_CONFIG;
	default:
		return HTTP_CONNECT;
	}
}

/* libcurl has it since 8.6; the one that is loaded may be newer than the
 * headers. */
#if LIBCURL_VERSION_NUM < 0x080600
#define CURLE_TOO_LARGE ((CURLcode)100)
#endif

static enum http_end
judge(struct transfer *x, CURLcode rc, long proxy_status)
{
	if (x->abort)
		return HTTP_ABORTED;
	if (x->refused != CURLE_OK)
		return HTTP_CONFIG;
	/* libcurl takes a head that breaks off for an answer without a body. */
	if (rc == CURLE_OK)
		return x->status != 0 ? HTTP_DONE : HTTP_CUT;
	/* TLS 1.3 reports a missing client certificate only now. */
	if (x->began && x->status == 0 && strstr(x->error, " alert ") != NULL)
		return HTTP_TLS;
	if (!http_callbacks_sent(x))
		return judge_unsent(x, rc, proxy_status);
	/* A single line that is longer than libcurl can hold. */
	if ((rc == CURLE_OUT_OF_MEMORY || rc == CURLE_TOO_LARGE) &&
	    x->status == 0)
		x->too_large = true;
	return HTTP_CUT;
}

/* libcurl counts " after N ms" from its last try only, not from the first
 * one. */
static void
drop_duration(char *why)
{
	char *from = strstr(why, " after "), *to;

	if (from == NULL)
		return;
	to = from + strlen(" after ");
	to += strspn(to, "0123456789");
	if (strncmp(to, " ms", 3) == 0)
		memmove(from, to + 3, strlen(to + 3) + 1);
}

/* Is the proxy of the transfer, if it has one, a SOCKS proxy? */
static bool
is_socks(const struct transfer *x)
{
	const struct http_proxy_setting *s;

	s = &x->h->config.proxies[strncmp(x->url, "https:", 6) == 0];
	return s->url != NULL && strncmp(s->url, "socks", 5) == 0;
}

/* Did the proxy fail, or the way to it, rather than the server? */
static bool
is_of_proxy(struct transfer *x, CURLcode rc, long proxy_status)
{
	if (rc == CURLE_COULDNT_RESOLVE_PROXY || rc == CURLE_PROXY ||
	    proxy_status >= 300 ||
	    strncmp(x->error, "Unsupported proxy", 17) == 0)
		return true;
	if (!x->proxied || rc == CURLE_COULDNT_RESOLVE_HOST ||
	    proxy_status >= 200 || http_callbacks_sent(x))
		return false;
	return rc == CURLE_COULDNT_CONNECT || !is_socks(x);
}

/* Was there a connection to the server? A newer libcurl does not say whether
 * the connection took too long, or the TLS handshake. It is not known of a
 * server behind a SOCKS proxy. */
static bool
is_server_reached(const struct transfer *x, long proxy_status)
{
	return x->reached && (!x->proxied || proxy_status / 100 == 2);
}

/* Appends the reason in words for users, and what to do. */
static void
explain(struct transfer *x, CURLcode rc, enum http_end end, long proxy_status,
    struct buf *why, struct buf *remedy)
{
	struct http_failure f = { .end = end,
		.result = x->refused != CURLE_OK ? x->refused : rc,
		.text = x->error[0] != '\0' ? x->error : curl_easy_strerror(rc),
		.proxy_status = (int)proxy_status,
		.of_proxy = is_of_proxy(x, rc, proxy_status),
		.reached = is_server_reached(x, proxy_status),
		.answered = x->h->answered,
		.host = "the host",
		.now = (int64_t)time(NULL),
		.config = &x->h->config,
		.no_ticket = x->no_ticket };
	struct curl_certinfo *chain = NULL;
	long number = 0, made = 0;
	struct url u;

	curl_easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &number);
	curl_easy_getinfo(x->easy, CURLINFO_NUM_CONNECTS, &made);
	f.fresh = made > 0;
	curl_easy_getinfo(x->easy, CURLINFO_CERTINFO, &chain);
	f.os_error = (int)number;
	if (url_parse(&u, x->url) == URL_OK) {
		f.https = strcmp(u.scheme, "https") == 0;
		f.loopback = url_is_loopback(&u);
		f.host = u.host;
	}
	if (chain != NULL && chain->num_of_certs > 0)
		f.certificate = chain->certinfo[0];
	http_why(&f, why, remedy);
	url_free(&u);
}

/* Appends what the end says in words for users: nothing if all went well. */
static void
say(struct transfer *x, CURLcode rc, enum http_end end, long proxy_status,
    struct buf *why, struct buf *remedy)
{
	drop_duration(x->error);
	if (end == HTTP_DONE && http_negotiate_refused(x))
		http_negotiate_say(x, why);
	/* a proxy that forwards has answered the request itself */
	if (end == HTTP_DONE && x->status == 407 && x->proxied)
		explain(x, rc, end, 407, why, remedy);
	if (end == HTTP_ABORTED || end == HTTP_IDLE || end == HTTP_DONE)
		return;
	if (x->denied && !x->let)
		buf_adds(why, "the address of the host is not allowed");
	else if (x->too_large)
		buf_adds(why, "the headers of the answer are too large");
	else if (x->refused != CURLE_OK)
		buf_adds(why, curl_easy_strerror(x->refused));
	else if (rc == CURLE_OK && x->status == 0)
		buf_adds(why,
		    "the connection was closed within the headers of the "
		    "answer");
	else
		explain(x, rc, end, proxy_status, why, remedy);
}

/* A unix socket that does not exist counts, too. */
static bool
is_conn_refused(struct transfer *x)
{
	long code = 0;

	curl_easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &code);
	return code == ECONNREFUSED || code == ENOENT;
}

/* Notes what this end tells of the network: the name may stand for another
 * address by now, and connections that are as old may be dead. */
static void
note_failure(struct transfer *x, enum http_end end)
{
	if (end == HTTP_DONE)
		return;
	if (end == HTTP_CUT ||
	    connection_silence(x->connection) >= HTTP_SILENT_MS)
		connection_unanswered(x->connection);
	else if (x->began)
		return;
	x->h->doubted_at = loop_now(x->h->l);
}

/* Calls done and releases x. */
static void
finish(struct transfer *x, CURLcode rc, enum http_end end, int proxy_status)
{
	bool reusable = http_two_over(x, rc, end);
	struct buf why, remedy;
	struct http_answer a;

	buf_init(&why, 0);
	buf_init(&remedy, 0);
	say(x, rc, end, proxy_status, &why, &remedy);
	a.end = end;
	a.sent = http_callbacks_sent(x);
	a.status = x->status;
	a.proxy_status = proxy_status;
	a.why = buf_str(&why);
	a.remedy = buf_str(&remedy);
	a.too_large_head = x->too_large;
	a.conn_refused = end == HTTP_CONNECT && is_conn_refused(x);
	a.undecoded = rc == CURLE_BAD_CONTENT_ENCODING ||
	    (x->h->raw && end == HTTP_DONE);
	if (x->multi != NULL && connections_remove(x->multi, x->easy))
		http_todo_wake(x->h);
	x->multi = NULL;
	note_failure(x, end);
	if (x->opens && x->cookies_set == x->h->cookies.set &&
	    (x->status == 404 || x->status == 410 || x->status >= 500))
		cookies_drop(&x->h->cookies, x->easy);
	if (x->status >= 400)
		connection_note_error(x->connection);
	connection_give_back(x->connection);
	x->connection = NULL;
	x->ops.done(x, &a, x->arg);
	buf_free(&why);
	buf_free(&remedy);
	http_pool_release(x, reusable);
}

/* The connection that libcurl chose is closed by now, or others share it, and
 * nothing was written. */
static void
start_again(struct transfer *x)
{
	http_two_stale(x);
	if (connections_remove(x->multi, x->easy))
		http_todo_wake(x->h);
	x->multi = NULL;
	x->stale = false;
	x->error[0] = '\0';
	x->fresh = !x->wary && !http_two_shared(x);
	SET(x, CURLOPT_FRESH_CONNECT, (long)x->fresh);
	http_todo_add(x);
}

/* Is the name that was not found that of the proxy? It has a result of its own,
 * but not with each libcurl. An HTTP proxy looks up the host itself. */
static bool
is_name_of_proxy(const struct transfer *x)
{
	return strstr(x->error, "resolve proxy") != NULL ||
	    (x->proxied && !is_socks(x));
}

/* The head of a 407 that turns out to be the last answer is given here. */
void
http_finish(struct transfer *x, CURLcode rc)
{
	enum http_end end;
	long proxy_status;

	if (x->stale && !x->abort) {
		start_again(x);
		return;
	}
	if (rc == CURLE_OK && x->again && !x->abort)
		http_callbacks_give_head(x);
	if (rc == CURLE_COULDNT_RESOLVE_HOST && is_name_of_proxy(x))
		rc = CURLE_COULDNT_RESOLVE_PROXY;
	proxy_status = 0;
	curl_easy_getinfo(x->easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
	end = judge(x, rc, proxy_status);
	finish(x, rc, end, (int)proxy_status);
}

void
http_finish_early(struct transfer *x, enum http_end end)
{
	finish(x, CURLE_OK, end, 0);
}
