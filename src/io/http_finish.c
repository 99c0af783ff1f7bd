/* What the end of a transfer means, from libcurl's result and from what was
 * noted on the way. */
#include "config.h"

#include "io/http_finish.h"

#include <string.h>

#include "io/http_callbacks.h"
#include "io/http_pool.h"
#include "io/http_todo.h"
#include "io/http_two.h"

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
	if (rc == CURLE_OUT_OF_MEMORY && x->status == 0)
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

/* Returns the reason in words for users: libcurl's own words if they fit. */
static const char *
reason(struct transfer *x, CURLcode rc)
{
	if (x->denied && !x->let)
		return "the address of the host is not allowed";
	if (x->refused != CURLE_OK)
		return curl_easy_strerror(x->refused);
	if (x->too_large)
		return "the head of the answer is too large";
	if (rc == CURLE_ABORTED_BY_CALLBACK)
		return "the connection was closed before an answer came";
	if (x->error[0] != '\0') {
		drop_duration(x->error);
		return x->error;
	}
	if (rc == CURLE_OK && x->status == 0)
		return "the connection was closed in the head of the answer";
	return rc == CURLE_OK ? "" : curl_easy_strerror(rc);
}

/* Calls done and releases x. */
static void
finish(struct transfer *x, enum http_end end, int proxy_status, const char *why)
{
	bool reusable = http_two_over(x, end);
	struct http_answer a;

	if (x->multi != NULL && connections_remove(x->multi, x->easy))
		http_todo_wake(x->h);
	x->multi = NULL;
	if (x->status >= 400)
		reuse_note_error(x->connection);
	reuse_give_back(x->connection);
	x->connection = NULL;
	a.end = end;
	a.sent = http_callbacks_sent(x);
	a.status = x->status;
	a.proxy_status = proxy_status;
	a.why = why;
	a.too_large_head = x->too_large;
	x->ops.done(x, &a, x->arg);
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
	proxy_status = 0;
	curl_easy_getinfo(x->easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
	end = judge(x, rc, proxy_status);
	finish(x, end, (int)proxy_status,
	    end == HTTP_ABORTED ? "" : reason(x, rc));
}

void
http_finish_early(struct transfer *x, enum http_end end)
{
	finish(x, end, 0, "");
}
