/*
 * What libcurl says about one transfer, by its callbacks and its result, and
 * what that means. While libcurl is on the stack, the callbacks only take in
 * bytes and times.
 */
#include "config.h"

#include "io/http_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "io/ancestor_environment.h"
#include "io/url.h"
#include "os/error.h"
#include "os/process.h"

/* --- the callbacks --- */

enum {
	HTTP_KEEP_ALIVE_MOST_S = 24 * 3600 /* above it: for ever */
};

/* Judges the connection that libcurl has chosen, the first one or, where that
 * took nothing, another. */
static bool
takes_connection(struct transfer *x, const char *peer, int peer_port,
    int local_port)
{
	connection_give_back(x->connection);
	x->stale = !connections_take(x->h->connections, &x->connection, peer,
	    peer_port, local_port, x->wary, x->max_idle_ms,
	    x->proof && !x->proxied);
	return !x->stale;
}

/* May the server have seen a part of the request? It has not if libcurl did not
 * begin to write it, if the connection took not one byte, because it was dead,
 * or if the server says in HTTP/2 that it did not process it. */
static bool
was_sent(struct transfer *x)
{
	curl_off_t uploaded = 0;
	long written = 0;

	if (!x->began)
		return false;
	if (x->status != 0)
		return true;
	curl_easy_getinfo(x->easy, CURLINFO_REQUEST_SIZE, &written);
	curl_easy_getinfo(x->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
	return written != x->written_before || uploaded != x->uploaded_before;
}

/* The first call of a transfer comes right before the request is written. A
 * second call means that libcurl is about to write the request again on another
 * connection, while the server may have run the first one; unless the first
 * connection was dead and took not one byte. */
static int
http_on_prereq(void *arg, char *peer, char *local, int peer_port,
    int local_port)
{
	struct transfer *x = arg;

	(void)local;
	if (was_sent(x)) {
		if (!x->again)
			return CURL_PREREQFUNC_ABORT;
	} else {
		x->began = takes_connection(x, peer, peer_port, local_port);
		if (!x->began)
			return CURL_PREREQFUNC_ABORT;
	}
	x->stream = 0;
	x->again = false;
	curl_easy_getinfo(x->easy, CURLINFO_REQUEST_SIZE, &x->written_before);
	curl_easy_getinfo(x->easy, CURLINFO_SIZE_UPLOAD_T, &x->uploaded_before);
	x->written = loop_now(x->h->l);
	return CURL_PREREQFUNC_OK;
}

/* Notes when the last bytes of a large body went out. */
static int
http_on_progress(void *arg, curl_off_t dltotal, curl_off_t dlnow,
    curl_off_t ultotal, curl_off_t ulnow)
{
	struct transfer *x = arg;

	(void)dltotal;
	(void)dlnow;
	(void)ultotal;
	if (ulnow != x->out) {
		x->out = ulnow;
		x->written = loop_now(x->h->l);
	}
	return 0;
}

/* Calls ops.head, once in the life of a request. status 0: libcurl knows it.
 * Returns false if there is no
 * final answer yet, or if the transfer has to end. */
static bool
give_head(struct transfer *x, long status)
{
	if (x->status != 0)
		return true;
	if (status == 0)
		curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200)
		return false;
	x->status = (int)status;
	x->h->answered = true;
	http_two_heard(x);
	x->ops.head(x, x->status, x->arg);
	return !x->abort;
}

/* Takes "Keep-Alive: timeout=5, max=100". */
static void
take_keep_alive(struct transfer *x, const char *p, size_t n)
{
	static const char name[] = "keep-alive:", word[] = "timeout=";
	char line[80];
	const char *at;
	unsigned long s;

	if (n >= sizeof line || strncasecmp(p, name, sizeof name - 1) != 0)
		return;
	memcpy(line, p, n);
	line[n] = '\0';
	at = strcasestr(line, word);
	if (at == NULL)
		return;
	s = strtoul(at + sizeof word - 1, NULL, 10);
	if (s > 0 && s < HTTP_KEEP_ALIVE_MOST_S)
		connection_announced(x->connection, (int64_t)s * 1000);
}

static bool
is_coding(struct span name)
{
	static const char *const known[] = { "identity", "gzip", "x-gzip",
		"deflate", "br", "zstd" };
	size_t i;

	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (span_is_nocase(name, known[i]))
			return true;
	return false;
}

/* Takes Content-Encoding. Some servers name a character set there, or something
 * else that is not a coding, and mean the body as it is; libcurl then fails. So
 * nothing that such a server sends is decoded any more: before libcurl 8.5 from
 * this answer on, later from the next one on. */
static void
take_coding(struct transfer *x, const char *p, size_t n)
{
	static const char line[] = "content-encoding:";
	const char *end = p + n;
	size_t len;

	if (n < sizeof line - 1 || (p[8] | 0x20) != 'e' ||
	    strncasecmp(p, line, sizeof line - 1) != 0)
		return;
	for (p += sizeof line - 1; p < end; p += len) {
		for (len = 0; p + len < end && !strchr(", \t\r\n", p[len]);)
			len++;
		if (len > 0 && !is_coding((struct span){ p, len })) {
			x->h->raw = true;
			SET(x, CURLOPT_HTTP_CONTENT_DECODING, 0L);
		}
		len += len == 0;
	}
}

/* Takes one line of the head. With Negotiate, a 401 or a proxy's 407 may not be
 * the last answer: its head is given with its body, or at the end. */
static size_t
http_on_header(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *x = arg;
	long status;

	n *= size;
	x->heard = loop_now(x->h->l);
	x->head_bytes += n;
	x->initials |= initial_of(*p);
	if (x->head_bytes > BOUND_TEXT_BYTES) {
		x->too_large = true;
		return 0;
	}
	if ((*p | 0x20) == 's' && !x->h->config.no_cookies) {
		x->cookies_set += cookies_count(&x->h->cookies, p, n);
		if (cookies_overflow(&x->h->cookies))
			http_todo_wake(x->h);
	}
	if ((*p | 0x20) == 'k')
		take_keep_alive(x, p, n);
	if ((*p | 0x20) == 'c')
		take_coding(x, p, n);
	if (x->abort)
		return 0;
	if (x->status != 0 || n > 2 || p[n - 1] != '\n' ||
	    (n == 2 && p[0] != '\r'))
		return n;
	status = 0;
	curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
	if (http_negotiate_goes_on(x, status))
		x->again = true;
	if (status < 200 || x->again)
		return n;
	return give_head(x, status) ? n : 0;
}

/* Has a transfer brought so much in this turn of the loop that everything else
 * has its turn first? libcurl reads on as long as it finds something to read,
 * and a server may send faster than its messages are worked on. */
static bool
is_turn_over(struct transfer *x, size_t n)
{
	if (x->turn_at != x->heard) {
		x->turn_at = x->heard;
		x->turn_bytes = 0;
	}
	if (x->turn_bytes + n > BOUND_PART_BYTES) {
		x->turn_at = 0;
		loop_timer_set(x->h->next_turn, 0);
		return true;
	}
	x->turn_bytes += n;
	return false;
}

static size_t
http_on_body(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *x = arg;

	n *= size;
	x->heard = loop_now(x->h->l);
	if (x->abort || !give_head(x, 0))
		return 0;
	http_two_heard(x);
	if (x->paused || is_turn_over(x, n)) {
		x->held = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	if (!x->ops.data(x, p, n, x->arg))
		x->abort = true;
	return x->abort ? 0 : n;
}

/* Sets socket options that libcurl has no option for. An error, as from a unix
 * socket, does not matter. */
static int
http_on_socket_made(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	(void)arg;
	(void)purpose;
	os_socket_tune((int)fd, HTTP_KEEPALIVE_COUNT, BOUND_RETRY_MS);
	return CURL_SOCKOPT_OK;
}

/* The address is checked in the form that is connected to, so it cannot change
 * in between. After a refusal libcurl tries the next address. */
static curl_socket_t
http_on_socket_wanted(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct transfer *x = arg;
	const struct http_config *c = &x->h->config;
	bool is_tcp = os_address_of(&a->addr).n > 0;
	int fd;

	(void)purpose;
	if (x->asks && !c->allow(&a->addr, c->allow_arg)) {
		x->denied = true;
		return CURL_SOCKET_BAD;
	}
	x->let = true;
	http_way_tried(x, &a->addr, a->addrlen);
	fd = os_socket_new(a->family, a->socktype, a->protocol);
	if (fd != -1) {
		connections_opened(x->h->connections, fd,
		    is_tcp ? &x->reached : NULL);
		x->opened = x->opened || is_tcp;
	}
	return (curl_socket_t)fd;
}

static int
http_on_socket_over(void *arg, curl_socket_t fd)
{
	struct http *h = arg;

	http_way_closed(h, (int)fd);
	connections_closed(h->connections, (int)fd);
	return os_socket_close((int)fd);
}

void
http_transfer_set(struct transfer *x)
{
	SET(x, CURLOPT_PRIVATE, x);
	SET(x, CURLOPT_ERRORBUFFER, x->error);
	SET(x, CURLOPT_WRITEFUNCTION, http_on_body);
	SET(x, CURLOPT_WRITEDATA, x);
	SET(x, CURLOPT_HEADERFUNCTION, http_on_header);
	SET(x, CURLOPT_HEADERDATA, x);
	SET(x, CURLOPT_PREREQFUNCTION, http_on_prereq);
	SET(x, CURLOPT_PREREQDATA, x);
	SET(x, CURLOPT_SOCKOPTFUNCTION, http_on_socket_made);
	SET(x, CURLOPT_OPENSOCKETFUNCTION, http_on_socket_wanted);
	SET(x, CURLOPT_OPENSOCKETDATA, x);
	SET(x, CURLOPT_CLOSESOCKETFUNCTION, http_on_socket_over);
	SET(x, CURLOPT_CLOSESOCKETDATA, x->h);
	SET(x, CURLOPT_NOSIGNAL, 1L);
	SET(x, CURLOPT_XFERINFOFUNCTION, http_on_progress);
	SET(x, CURLOPT_XFERINFODATA, x);
#if LIBCURL_VERSION_NUM >= 0x075700
	/* Do not wait for a name that is still being resolved. An older library
	 * may refuse the option. */
	(void)curl_easy_setopt(x->easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}

/* --- the end --- */

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
	if (!was_sent(x))
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
	    proxy_status >= 200 || was_sent(x))
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

/* libcurl keeps the first text of a failure, and the alert by which it refuses a
 * certificate may meet a closed connection: then that was its text. The result
 * is a number of OpenSSL's (X509_V_ERR_*). */
static void
name_certificate(struct transfer *x, CURLcode rc)
{
	long result = 0;

	if (rc != CURLE_PEER_FAILED_VERIFICATION ||
	    strstr(x->error, "Send failure") == NULL)
		return;
	curl_easy_getinfo(x->easy, CURLINFO_SSL_VERIFYRESULT, &result);
	snprintf(x->error, sizeof x->error, "certificate %s",
	    result == 9      ? "is not yet valid" :
		result == 10 ? "has expired" :
		result == 18 ? "is a self-signed certificate" :
			       "verification failed");
}

const char *const http_proxy_variables[2][5] = {
	/* no HTTP_PROXY: CGI sets it from a header of a request */
	{ "http_proxy", "all_proxy", "ALL_PROXY" },
	{ "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY" }
};

/* Returns what may be missing and what the host has: the way to a proxy, the way
 * past it, or an authority to trust. Options have precedence over variables, but
 * for the last one of the authorities. */
static char **
missing_variables(const struct http_failure *f)
{
	static const char *const no_proxy[] = { "no_proxy", "NO_PROXY", NULL };
	static const char *const authorities[] = { "CURL_CA_BUNDLE",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", NULL };
	const struct http_config *c = f->config;
	const char *const *names = NULL;

	if (f->of_proxy)
		names = c->noproxy == NULL ? no_proxy : NULL;
	else if (f->end == HTTP_TLS)
		names = authorities +
		    (c->cacert != NULL || c->ca_folder != NULL ? 3 : 0);
	else if ((f->end == HTTP_RESOLVE || f->end == HTTP_CONNECT) &&
	    c->proxy == NULL && c->proxies[f->https].url == NULL &&
	    c->unix_socket == NULL && !f->loopback)
		names = http_proxy_variables[f->https];
	return names == NULL ?
	    NULL :
	    ancestors_variables("/proc", os_parent_id(), names);
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
		.no_ticket = http_negotiate_lacks(x) };
	struct curl_certinfo *chain = NULL;
	long number = 0, made = 0;
	struct url u;

	curl_easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &number);
	curl_easy_getinfo(x->easy, CURLINFO_NUM_CONNECTS, &made);
	f.fresh = made > 0;
	curl_easy_getinfo(x->easy, CURLINFO_CERTINFO, &chain);
	f.os_error = os_error_of_socket(number);
	if (url_parse(&u, x->url) == URL_OK) {
		f.https = strcmp(u.scheme, "https") == 0;
		f.loopback = url_is_loopback(&u);
		f.host = u.host;
	}
	if (chain != NULL && chain->num_of_certs > 0)
		f.certificate = chain->certinfo[0];
	f.missing = missing_variables(&f);
	http_why(&f, why, remedy);
	string_list_free(f.missing);
	url_free(&u);
}

/* Appends what the end says in words for users: nothing if all went well. */
static void
say(struct transfer *x, CURLcode rc, enum http_end end, long proxy_status,
    struct buf *why, struct buf *remedy)
{
	drop_duration(x->error);
	name_certificate(x, rc);
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
		    "the connection was closed in the middle of the answer's "
		    "headers");
	else
		explain(x, rc, end, proxy_status, why, remedy);
}

/* A unix socket that does not exist counts, too. */
static bool
is_conn_refused(struct transfer *x)
{
	long code = 0;

	curl_easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &code);
	code = os_error_of_socket(code);
	return code == ECONNREFUSED || code == ENOENT;
}

/* Notes what this end says about the network: the name may have another
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
	struct buf why = { 0 }, remedy = { 0 };
	struct http_answer a;

	say(x, rc, end, proxy_status, &why, &remedy);
	a.end = end;
	a.sent = was_sent(x);
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
	http_handle_release(x, reusable);
}

/* The connection that libcurl chose is closed by now, or others share it, or it
 * was not trusted; and nothing was written. */
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

/* Was the server's certificate refused, or no file to check it by, and was the
 * file changed since it was read? Then the transfer starts again. */
static bool
is_trust_renewed(struct transfer *x, CURLcode rc)
{
	struct http *h = x->h;

	if ((rc != CURLE_PEER_FAILED_VERIFICATION &&
		rc != CURLE_SSL_CACERT_BADFILE) ||
	    was_sent(x))
		return false;
	if (authorities_renewed(&h->authorities))
		h->renewed_at = loop_now(h->l);
	return x->renewed_at != h->renewed_at;
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

	if (!x->abort && (x->stale || is_trust_renewed(x, rc))) {
		start_again(x);
		return;
	}
	if (rc == CURLE_OK && x->again && !x->abort)
		give_head(x, 0);
	if (rc == CURLE_COULDNT_RESOLVE_HOST && is_name_of_proxy(x))
		rc = CURLE_COULDNT_RESOLVE_PROXY;
	proxy_status = 0;
	if (x->proxied)
		curl_easy_getinfo(x->easy, CURLINFO_HTTP_CONNECTCODE,
		    &proxy_status);
	end = judge(x, rc, proxy_status);
	finish(x, rc, end, (int)proxy_status);
}

void
http_finish_early(struct transfer *x, enum http_end end)
{
	finish(x, CURLE_OK, end, 0);
}
