/*
 * HTTP on a curl multi handle, driven by its socket and timer callbacks. A
 * multi handle owns its connections: http_forget starts a new one, and the old
 * one is freed with its last transfer.
 *
 * Invariants:
 *  - no multi function and no pause is called while libcurl is on the stack:
 *    http_send, http_abort and http_pause only put the transfer on the to-do
 *    list, which loop_defer works through; done is called from there too, or
 *    from the loop's own callbacks;
 *  - each transfer in use is on the active list; "running" says that its easy
 *    handle is in the multi handle x->multi;
 *  - transfers start in the first of the multi handles only; each of the
 *    others runs a transfer, or is freed at the end of the turn;
 *  - an easy handle keeps its transfer for life, so that the constant options
 *    are set once; transfers are pooled, never reset.
 */
#include "config.h"

#include "io/http.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <curl/curl.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/url.h"

enum {
	HTTP_OLDEST_CURL = 0x075500, /* CURLOPT_PROTOCOLS_STR */
	HTTP_POOL_SPARE = 8,         /* spare transfers kept above
				      * max_inflight */
	HTTP_CACHE_SPARE = 16,       /* connections kept above max_inflight */
	HTTP_HEAD_MAX_BYTES = 64 * 1024,
	HTTP_CA_MAX_BYTES = 16 * 1024 * 1024,
	HTTP_COOKIES = 64, /* limits of the jar; libcurl itself has none */
	HTTP_COOKIE_BYTES = 32 * 1024,
	HTTP_SMALL_BODY_BYTES = 64 * 1024, /* such a body is sent at once */
	HTTP_LIFETIME_S = 3600,
	HTTP_MAXAGE_S = 118, /* libcurl's own default */
	HTTP_KEEPALIVE_IDLE_S = 30,
	HTTP_KEEPALIVE_INTERVAL_S = 10,
	HTTP_KEEPALIVE_COUNT = 3,
	HTTP_USER_TIMEOUT_MS = 20000
};

/* The loop's interest in one descriptor of libcurl. */
struct watch {
	struct watch *next, **prev;
	struct loop_fd *fd;
	int what;
};

/* A multi handle: transfers and the connections they share. */
struct multi {
	struct http *h;
	struct multi *next; /* the multi handle before this one */
	CURLM *curl;
	struct loop_timer *timer; /* the timer that libcurl asks for */
	long timer_ms;            /* what libcurl asked for last; -1: none */
	bool timer_changed;
	struct watch *watches;
	unsigned running; /* number of transfers */
	bool used;
};

struct http {
	struct loop *l;
	struct http_config config;
	struct multi *multis; /* new transfers start in the first one */
	CURLSH *share;
	struct loop_timer *idle; /* one timer for all transfers */
	int64_t idle_at;         /* when it fires; 0: it does not run */
	struct transfer *active;
	struct transfer *spare;
	unsigned nspare;
	struct transfer *todo, **todo_end;
	loop_cb *on_turn_end; /* works through the to-do list */
	bool deferred;        /* on_turn_end will be called */
	struct curl_slist *resolve;
	/* The most cookies that the jar can have: those of the last count, and
	 * each Set-Cookie since then. */
	size_t cookies, cookie_bytes;
	bool cookies_told;   /* the user was told that cookies were dropped */
	const char *ca_path; /* a hashed folder, or NULL */
	const char *ca_file;
	struct buf ca_blob; /* the system's bundle and the extra file */
};

struct transfer {
	struct http *h;
	struct multi *multi; /* while running */
	CURL *easy;
	CURLcode refused;              /* first error of curl_easy_setopt */
	struct transfer *next, **prev; /* active list; spare list by next */
	struct transfer *todo_next;
	struct http_ops ops;
	void *arg;
	char *url;
	struct curl_slist *lines; /* an array, linked, into text */
	size_t lines_cap;
	char *text;
	size_t text_cap;
	int64_t idle_ms;
	int64_t expires;     /* end of the transfer in any case; 0: none */
	int64_t heard;       /* when the last byte came */
	int64_t written;     /* when the last byte of the request went out */
	bool measures;       /* progress callbacks are on */
	curl_off_t out;      /* bytes of the body sent so far */
	curl_off_t uploaded; /* bytes sent at the last idle timer */
	size_t body_bytes;
	size_t head_bytes; /* includes 1xx and trailers */
	int status;
	bool running;
	bool todo;
	bool abort;
	bool paused;    /* the caller wants a pause */
	bool held;      /* the write callback paused the transfer */
	bool sent;      /* libcurl began to write the request */
	bool again;     /* after a proxy's 407 the request may be written once
			 * more */
	bool asks;      /* config.allow is asked: the URL is reached without a
			 * proxy */
	bool denied;    /* config.allow refused an address */
	bool let;       /* config.allow took an address */
	bool resending; /* libcurl tried to send the request twice and was
			 * stopped */
	bool head;      /* ops.head was called */
	bool too_large;
	char error[CURL_ERROR_SIZE];
};

/* Sets an option and remembers the first error; a transfer with an error ends
 * as HTTP_CONFIG. */
#define SET(x, option, value)                                                  \
	do {                                                                   \
		CURLcode set_rc;                                               \
		set_rc = curl_easy_setopt((x)->easy, option, value);           \
		if ((x)->refused == CURLE_OK)                                  \
			(x)->refused = set_rc;                                 \
	} while (0)

/* The to-do list */

static void
defer(struct http *h)
{
	if (h->deferred)
		return;
	h->deferred = true;
	loop_defer(h->l, h->on_turn_end, h);
}

static void
todo_add(struct transfer *x)
{
	struct http *h = x->h;

	if (x->todo)
		return;
	x->todo = true;
	x->todo_next = NULL;
	*h->todo_end = x;
	h->todo_end = &x->todo_next;
	defer(h);
}

static void
todo_remove(struct transfer *x)
{
	struct http *h = x->h;
	struct transfer **p;

	if (!x->todo)
		return;
	for (p = &h->todo; *p != x; p = &(*p)->todo_next)
		;
	*p = x->todo_next;
	if (h->todo_end == &x->todo_next)
		h->todo_end = p;
	x->todo = false;
}

/* Callbacks of libcurl: they only take in bytes. */

/* The first call of a transfer comes right before the request is written. A
 * second call means that libcurl is about to write the request again on another
 * connection, while the server may have run the first one. */
static int
http_on_prereq(void *arg, char *peer, char *local, int peer_port,
    int local_port)
{
	struct transfer *x = arg;

	(void)peer;
	(void)local;
	(void)peer_port;
	(void)local_port;
	if (x->sent && !x->again) {
		x->resending = true;
		return CURL_PREREQFUNC_ABORT;
	}
	x->sent = true;
	x->again = false;
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

/* Calls ops.head once. Returns false if there is no final answer yet, or the
 * transfer has to end. */
static bool
give_head(struct transfer *x)
{
	long status;

	if (x->head)
		return true;
	status = 0;
	curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200)
		return false;
	x->head = true;
	x->status = (int)status;
	x->ops.head(x, x->status, x->arg);
	return !x->abort;
}

static bool
has_too_many_cookies(const struct http *h)
{
	return h->cookies > HTTP_COOKIES || h->cookie_bytes > HTTP_COOKIE_BYTES;
}

/* libcurl has put the cookie of this line into the jar. Counting lines is
 * cheap; the jar itself is only counted when it may hold too many cookies. */
static void
count_cookie(struct http *h, const char *line, size_t n)
{
	static const char name[] = "Set-Cookie:";

	if (h->config.no_cookies || n < sizeof name ||
	    strncasecmp(line, name, sizeof name - 1) != 0)
		return;
	h->cookies++;
	h->cookie_bytes += n;
	if (has_too_many_cookies(h))
		defer(h);
}

/* Takes one line of the head. With Negotiate, a proxy's 407 may not be the last
 * answer: its head is given with its body, or at the end. */
static size_t
http_on_header(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *x = arg;
	long status;

	n *= size;
	x->heard = loop_now(x->h->l);
	x->head_bytes += n;
	if (x->head_bytes > HTTP_HEAD_MAX_BYTES) {
		x->too_large = true;
		return 0;
	}
	if ((*p | 0x20) == 's')
		count_cookie(x->h, p, n);
	if (x->abort)
		return 0;
	if (x->head || n > 2 || p[n - 1] != '\n' || (n == 2 && p[0] != '\r'))
		return n;
	status = 0;
	curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status == 407 && x->h->config.proxy_negotiate)
		x->again = true;
	if (status < 200 || x->again)
		return n;
	return give_head(x) ? n : 0;
}

static size_t
http_on_body(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *x = arg;

	n *= size;
	x->heard = loop_now(x->h->l);
	if (x->abort || !give_head(x))
		return 0;
	if (x->paused) {
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
	int n;

	(void)arg;
	(void)purpose;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
#ifdef TCP_KEEPCNT
	n = HTTP_KEEPALIVE_COUNT;
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &n, sizeof n);
#endif
#ifdef TCP_USER_TIMEOUT
	n = HTTP_USER_TIMEOUT_MS;
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &n, sizeof n);
#endif
	(void)n;
	return CURL_SOCKOPT_OK;
}

/* The address is checked in the form that is connected to, so it cannot change
 * in between. After a refusal libcurl tries the next address. */
static curl_socket_t
http_on_socket_wanted(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct transfer *x = arg;
	const struct http_config *c = &x->h->config;

	(void)purpose;
	if (x->asks && !c->allow(&a->addr, c->allow_arg)) {
		x->denied = true;
		return CURL_SOCKET_BAD;
	}
	x->let = true;
	return socket(a->family, a->socktype, a->protocol);
}

/* Only notes the time: libcurl changes it several times per request. */
static int
http_on_timer_wanted(CURLM *curl, long ms, void *arg)
{
	struct multi *m = arg;

	(void)curl;
	m->timer_ms = ms;
	m->timer_changed = true;
	return 0;
}

/* The end of a transfer */

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
judge_unsent(struct transfer *x, CURLcode rc, int proxy_status)
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
judge(struct transfer *x, CURLcode rc, int proxy_status)
{
	if (x->abort)
		return HTTP_ABORTED;
	if (x->refused != CURLE_OK)
		return HTTP_CONFIG;
	/* libcurl takes a head that breaks off for an answer without a body. */
	if (rc == CURLE_OK && !x->head && !x->again)
		return HTTP_CUT;
	if (rc == CURLE_OK)
		return give_head(x) ? HTTP_DONE : HTTP_CUT;
	if (!x->sent)
		return judge_unsent(x, rc, proxy_status);
	/* TLS 1.3 reports a missing client certificate only now. */
	if (!x->head && strstr(x->error, " alert ") != NULL)
		return HTTP_TLS;
	/* A single line that is longer than libcurl can hold. */
	if (rc == CURLE_OUT_OF_MEMORY && !x->head)
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
	if (x->resending)
		return "the connection was closed before an answer came";
	if (x->error[0] != '\0') {
		drop_duration(x->error);
		return x->error;
	}
	if (rc == CURLE_OK && !x->head)
		return "the connection was closed in the head of the answer";
	return rc == CURLE_OK ? "" : curl_easy_strerror(rc);
}

static void
transfer_free(struct transfer *x)
{
	curl_easy_cleanup(x->easy);
	free(x->url);
	free(x->lines);
	free(x->text);
	free(x);
}

/* Frees all transfers, without callbacks. */
static void
transfers_free(struct http *h)
{
	struct transfer *x;

	while ((x = h->active) != NULL) {
		h->active = x->next;
		if (x->running)
			curl_multi_remove_handle(x->multi->curl, x->easy);
		transfer_free(x);
	}
	while ((x = h->spare) != NULL) {
		h->spare = x->next;
		transfer_free(x);
	}
}

/* Puts the transfer into the pool, or frees it. */
static void
release(struct transfer *x)
{
	struct http *h = x->h;

	todo_remove(x);
	*x->prev = x->next;
	if (x->next != NULL)
		x->next->prev = x->prev;
	if (x->refused != CURLE_OK ||
	    h->nspare >= h->config.max_inflight + HTTP_POOL_SPARE) {
		transfer_free(x);
		return;
	}
	x->next = h->spare;
	h->spare = x;
	h->nspare++;
}

static void
leave(struct transfer *x)
{
	struct multi *m = x->multi;

	if (!x->running)
		return;
	curl_multi_remove_handle(m->curl, x->easy);
	x->running = false;
	m->running--;
	if (m->running == 0 && m != m->h->multis)
		defer(m->h);
}

/* Calls done and releases x. libcurl must not be on the stack. */
static void
finish(struct transfer *x, struct http_answer *a)
{
	leave(x);
	a->sent = x->sent;
	a->status = x->status;
	a->too_large_head = x->too_large;
	x->ops.done(x, a, x->arg);
	release(x);
}

/* Ends a transfer after libcurl has ended the transfer. */
static void
finish_transfer(struct transfer *x, CURLcode rc)
{
	struct http_answer a;
	long status;

	memset(&a, 0, sizeof a);
	status = 0;
	curl_easy_getinfo(x->easy, CURLINFO_HTTP_CONNECTCODE, &status);
	a.proxy_status = (int)status;
	a.end = judge(x, rc, a.proxy_status);
	/* judge may have given the head just now, and ops.head may have
	 * aborted. */
	if (x->abort)
		a.end = HTTP_ABORTED;
	a.why = a.end == HTTP_ABORTED ? "" : reason(x, rc);
	finish(x, &a);
}

/* Ends a transfer before libcurl has ended the transfer. */
static void
finish_early(struct transfer *x, enum http_end end)
{
	struct http_answer a;

	memset(&a, 0, sizeof a);
	a.end = end;
	a.why = "";
	finish(x, &a);
}

/* Driving libcurl */

/* Reports the transfers that ended and sets libcurl's timer. Called after each
 * call of libcurl that may have changed something. */
static void
settle(struct multi *m)
{
	struct transfer *x;
	CURLMsg *message;
	CURLcode rc;
	char *private;
	int left;

	while ((message = curl_multi_info_read(m->curl, &left)) != NULL) {
		if (message->msg != CURLMSG_DONE)
			continue;
		/* Removing the handle frees the message. */
		rc = message->data.result;
		private = NULL;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
		    &private);
		x = (struct transfer *)(void *)private;
		finish_transfer(x, rc);
	}
	if (m->timer_changed) {
		m->timer_changed = false;
		loop_timer_set(m->timer, m->timer_ms);
	}
}

static void
drive(struct multi *m, curl_socket_t fd, int what)
{
	int running;

	curl_multi_socket_action(m->curl, fd, what, &running);
	settle(m);
}

static void
http_on_timer(void *arg)
{
	drive(arg, CURL_SOCKET_TIMEOUT, 0);
}

static void
http_on_ready(int fd, int what, void *arg)
{
	int bits;

	bits = 0;
	if (what & LOOP_READ)
		bits |= CURL_CSELECT_IN;
	if (what & LOOP_WRITE)
		bits |= CURL_CSELECT_OUT;
	drive(arg, fd, bits);
}

static void
watch_free(struct watch *w)
{
	loop_fd_free(w->fd);
	*w->prev = w->next;
	if (w->next != NULL)
		w->next->prev = w->prev;
	free(w);
}

static struct watch *
watch_new(struct multi *m, int fd)
{
	struct watch *w;

	w = xcalloc(1, sizeof *w);
	w->next = m->watches;
	w->prev = &m->watches;
	if (w->next != NULL)
		w->next->prev = &w->next;
	m->watches = w;
	curl_multi_assign(m->curl, fd, w);
	return w;
}

/* Keeps one interest per descriptor, which is deleted and added again on a
 * change. After CURL_POLL_REMOVE libcurl has forgotten w, and fd may be another
 * file. */
static int
http_on_interest(CURL *easy, curl_socket_t fd, int poll, void *arg,
    void *socketp)
{
	struct multi *m = arg;
	struct watch *w = socketp;
	int what;

	(void)easy;
	if (poll == CURL_POLL_REMOVE) {
		if (w != NULL)
			watch_free(w);
		return 0;
	}
	what = 0;
	if (poll & CURL_POLL_IN)
		what |= LOOP_READ;
	if (poll & CURL_POLL_OUT)
		what |= LOOP_WRITE;
	if (w == NULL)
		w = watch_new(m, fd);
	if (w->fd != NULL && w->what == what)
		return 0;
	loop_fd_free(w->fd);
	w->what = what;
	w->fd = loop_fd_new(m->h->l, fd, what, http_on_ready, m);
	if (w->fd == NULL)
		log_error("cannot wait for a connection (descriptor %d)", fd);
	return 0;
}

static void
multi_setup(struct multi *m)
{
	const struct http_config *c = &m->h->config;

	curl_multi_setopt(m->curl, CURLMOPT_SOCKETFUNCTION, http_on_interest);
	curl_multi_setopt(m->curl, CURLMOPT_SOCKETDATA, m);
	curl_multi_setopt(m->curl, CURLMOPT_TIMERFUNCTION,
	    http_on_timer_wanted);
	curl_multi_setopt(m->curl, CURLMOPT_TIMERDATA, m);
	/* A smaller cache would make each call open a new connection. */
	curl_multi_setopt(m->curl, CURLMOPT_MAXCONNECTS,
	    (long)c->max_inflight + HTTP_CACHE_SPARE);
	if (!c->http2)
		curl_multi_setopt(m->curl, CURLMOPT_PIPELINING,
		    (long)CURLPIPE_NOTHING);
}

/* Adds a multi handle as the first of h. Returns -1 if libcurl cannot make
 * one. */
static int
multi_add(struct http *h)
{
	struct multi *m;
	CURLM *curl;

	curl = curl_multi_init();
	if (curl == NULL)
		return -1;
	m = xcalloc(1, sizeof *m);
	m->h = h;
	m->curl = curl;
	m->timer = loop_timer_new(h->l, http_on_timer, m);
	multi_setup(m);
	m->next = h->multis;
	h->multis = m;
	return 0;
}

/* Frees a multi handle without transfers. The order matters: libcurl still
 * calls http_on_interest while it closes its connections. */
static void
multi_free(struct multi *m)
{
	curl_multi_cleanup(m->curl);
	while (m->watches != NULL)
		watch_free(m->watches);
	loop_timer_free(m->timer);
	free(m);
}

/* Frees the forgotten multi handles that have no transfer left. */
static void
drop_ended(struct http *h)
{
	struct multi **at = &h->multis->next, *m;

	while ((m = *at) != NULL) {
		if (m->running > 0) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		multi_free(m);
	}
}

/* Starts the transfer. config.resolve is set here, because the multi handle
 * keeps these names, but takes them from an easy handle only once. */
static void
start(struct transfer *x)
{
	struct multi *m = x->h->multis;

	if (x->h->resolve != NULL)
		SET(x, CURLOPT_RESOLVE, x->h->resolve);
	if (x->refused != CURLE_OK) {
		finish_transfer(x, x->refused);
		return;
	}
	if (curl_multi_add_handle(m->curl, x->easy) != CURLM_OK) {
		finish_transfer(x, CURLE_FAILED_INIT);
		return;
	}
	x->running = true;
	x->multi = m;
	m->running++;
	m->used = true;
}

/* Resumes a transfer. curl_easy_pause runs its callbacks, which may pause it
 * again. It fails for a transfer that is over; the message of that one is on
 * its way. */
static void
resume(struct transfer *x)
{
	CURLcode rc;

	x->held = false;
	rc = curl_easy_pause(x->easy, CURLPAUSE_CONT);
	if (rc != CURLE_OK && rc != CURLE_BAD_FUNCTION_ARGUMENT)
		finish_transfer(x, rc);
}

/* Returns how many of the n lines at line, going in the direction of step, fit
 * into a quarter of the jar. Adds their bytes to *bytes. */
static size_t
jar_fit(char *const *line, size_t n, int step, size_t *bytes)
{
	size_t i, size, room = HTTP_COOKIE_BYTES / 4;

	for (i = 0; i < n && i < HTTP_COOKIES / 4; i++, line += step) {
		size = strlen(*line);
		if (size > room)
			break;
		room -= size;
		*bytes += size;
	}
	return i;
}

/* Empties the jar except for its oldest and newest cookies. A load balancer
 * sets the cookie that finds its replica with the first answer, or with each
 * answer, or again as soon as it is missing. So the cookie is kept or comes
 * back. */
static void
jar_thin(struct http *h, CURL *jar, char *const *lines, size_t n)
{
	size_t i, oldest, newest;

	h->cookie_bytes = 0;
	oldest = jar_fit(lines, n, 1, &h->cookie_bytes);
	newest = jar_fit(lines + n - 1, n - oldest, -1, &h->cookie_bytes);
	h->cookies = oldest + newest;
	curl_easy_setopt(jar, CURLOPT_COOKIELIST, "ALL");
	for (i = 0; i < n; i++)
		if (i < oldest || i >= n - newest)
			curl_easy_setopt(jar, CURLOPT_COOKIELIST, lines[i]);
	if (!h->cookies_told)
		log_warn("the server sets more cookies than the %d, or the %d "
			 "KiB, that are kept: only the oldest and the newest "
			 "of them go back to it",
		    HTTP_COOKIES, HTTP_COOKIE_BYTES / 1024);
	h->cookies_told = true;
}

/* Counts the cookies in the jar, and removes some if there are too many. */
static void
jar_look(struct http *h)
{
	CURL *jar = curl_easy_init();
	struct curl_slist *all = NULL, *at;
	char **lines;
	size_t n;

	if (jar == NULL)
		return;
	curl_easy_setopt(jar, CURLOPT_SHARE, h->share);
	curl_easy_getinfo(jar, CURLINFO_COOKIELIST, &all);
	n = h->cookie_bytes = 0;
	for (at = all; at != NULL; at = at->next, n++)
		h->cookie_bytes += strlen(at->data);
	h->cookies = n;
	if (has_too_many_cookies(h)) {
		lines = xcalloc(n, sizeof *lines);
		for (n = 0, at = all; at != NULL; at = at->next, n++)
			lines[n] = at->data;
		jar_thin(h, jar, lines, n);
		free(lines);
	}
	curl_slist_free_all(all);
	curl_easy_cleanup(jar);
}

static void
http_on_deferred(void *arg)
{
	struct http *h = arg;
	struct transfer *x;
	struct multi *m;

	h->deferred = false;
	if (has_too_many_cookies(h))
		jar_look(h);
	while ((x = h->todo) != NULL) {
		todo_remove(x);
		if (x->abort)
			finish_early(x, HTTP_ABORTED);
		else if (!x->running)
			start(x);
		else if (x->held && !x->paused)
			resume(x);
	}
	/* New requests are written in this turn, not in the next. */
	for (m = h->multis; m != NULL; m = m->next)
		drive(m, CURL_SOCKET_TIMEOUT, 0);
	drop_ended(h);
}

/* The idle limit: one timer for all transfers, set again only after it
 * fired. */

static void
idle_watch(struct http *h, int64_t at)
{
	if (h->idle_at != 0 && h->idle_at <= at)
		return;
	h->idle_at = at;
	loop_timer_set(h->idle, at - loop_now(h->l));
}

/* A transfer is not silent while a large body is going out, or while the
 * caller pauses it. */
static void
idle_excuse(struct transfer *x, int64_t now)
{
	curl_off_t uploaded;

	uploaded = 0;
	curl_easy_getinfo(x->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
	if (x->paused ||
	    (x->body_bytes > HTTP_SMALL_BODY_BYTES && uploaded != x->uploaded))
		x->heard = now;
	x->uploaded = uploaded;
}

/* Returns when the transfer has to end; INT64_MAX: never. */
static int64_t
ends_at(const struct transfer *x)
{
	int64_t at = x->idle_ms == 0 ? INT64_MAX : x->heard + x->idle_ms;

	return x->expires != 0 && x->expires < at ? x->expires : at;
}

static void
http_on_idle(void *arg)
{
	struct http *h = arg;
	struct transfer *x, *next;
	struct multi *m;
	int64_t now, at;

	now = loop_now(h->l);
	h->idle_at = 0;
	for (x = h->active; x != NULL; x = next) {
		next = x->next;
		if (x->idle_ms != 0 && x->heard + x->idle_ms <= now)
			idle_excuse(x, now);
		at = ends_at(x);
		if (at <= now)
			finish_early(x, x->abort ? HTTP_ABORTED : HTTP_IDLE);
		else if (at != INT64_MAX)
			idle_watch(h, at);
	}
	for (m = h->multis; m != NULL; m = m->next)
		settle(m);
}

/* Options of an easy handle that never change */

static void
set_callbacks(struct transfer *x)
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
	if (x->h->config.allow != NULL) {
		SET(x, CURLOPT_OPENSOCKETFUNCTION, http_on_socket_wanted);
		SET(x, CURLOPT_OPENSOCKETDATA, x);
	}
	SET(x, CURLOPT_NOSIGNAL, 1L);
	SET(x, CURLOPT_XFERINFOFUNCTION, http_on_progress);
	SET(x, CURLOPT_XFERINFODATA, x);
	SET(x, CURLOPT_NOPROGRESS, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
	/* Do not wait for a name that is still being resolved. An older library
	 * may refuse the option. */
	(void)curl_easy_setopt(x->easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}

static void
set_transport(struct transfer *x)
{
	const struct http_config *c = &x->h->config;

	SET(x, CURLOPT_PROTOCOLS_STR, "http,https");
	SET(x, CURLOPT_FOLLOWLOCATION, 0L);
	SET(x, CURLOPT_HTTP_VERSION,
	    (long)(c->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
	SET(x, CURLOPT_PIPEWAIT, c->http2 ? 1L : 0L);
	SET(x, CURLOPT_TIMEOUT_MS, 0L);
	SET(x, CURLOPT_CONNECTTIMEOUT_MS, (long)c->connect_timeout_ms);
	SET(x, CURLOPT_TCP_NODELAY, 1L);
	SET(x, CURLOPT_TCP_KEEPALIVE, 1L);
	SET(x, CURLOPT_TCP_KEEPIDLE, (long)HTTP_KEEPALIVE_IDLE_S);
	SET(x, CURLOPT_TCP_KEEPINTVL, (long)HTTP_KEEPALIVE_INTERVAL_S);
	SET(x, CURLOPT_MAXLIFETIME_CONN, (long)HTTP_LIFETIME_S);
	SET(x, CURLOPT_UNIX_SOCKET_PATH, c->unix_socket);
	if (c->ipv4_only)
		SET(x, CURLOPT_IPRESOLVE, (long)CURL_IPRESOLVE_V4);
	if (c->ipv6_only)
		SET(x, CURLOPT_IPRESOLVE, (long)CURL_IPRESOLVE_V6);
	SET(x, CURLOPT_USERAGENT, c->user_agent);
	if (c->compressed)
		SET(x, CURLOPT_ACCEPT_ENCODING, "gzip");
	SET(x, CURLOPT_SHARE, x->h->share);
	if (!c->no_cookies)
		SET(x, CURLOPT_COOKIEFILE, "");
	if (c->netrc_file != NULL) {
		SET(x, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
		SET(x, CURLOPT_NETRC_FILE, c->netrc_file);
	}
}

static void
set_proxy(struct transfer *x)
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

/* Unsets the CA folder. The option fails with a TLS library that has no CA
 * folders, which does not matter. */
static void
no_folder(struct transfer *x, CURLoption option)
{
	(void)curl_easy_setopt(x->easy, option, NULL);
}

/* Sets either a file or a hashed folder if possible: with both, each handshake
 * reads the whole bundle (17 ms). */
static void
set_tls(struct transfer *x)
{
	const struct http *h = x->h;
	const struct http_config *c = &h->config;
	struct curl_blob blob;

	SET(x, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(x, CURLOPT_SSLCERT, c->cert);
	SET(x, CURLOPT_SSLKEY, c->key);
	/* Without a password OpenSSL would ask on the terminal, and wait
	 * there. */
	SET(x, CURLOPT_KEYPASSWD,
	    c->key_password == NULL ? "" : c->key_password);
	if (h->ca_path != NULL)
		SET(x, CURLOPT_CAPATH, h->ca_path);
	else if (h->ca_file != NULL)
		no_folder(x, CURLOPT_CAPATH);
	if (h->ca_path != NULL || h->ca_file != NULL)
		SET(x, CURLOPT_CAINFO, h->ca_file);
	if (h->ca_blob.n > 0) {
		blob.data = h->ca_blob.p;
		blob.len = h->ca_blob.n;
		blob.flags = CURL_BLOB_NOCOPY;
		SET(x, CURLOPT_CAINFO_BLOB, &blob);
	}
	if (c->proxy_cacert != NULL) {
		no_folder(x, CURLOPT_PROXY_CAPATH);
		SET(x, CURLOPT_PROXY_CAINFO, c->proxy_cacert);
	} else if (h->ca_path != NULL) {
		SET(x, CURLOPT_PROXY_CAPATH, h->ca_path);
		SET(x, CURLOPT_PROXY_CAINFO, h->ca_file);
	}
}

static struct transfer *
transfer_new(struct http *h)
{
	struct transfer *x;

	x = xcalloc(1, sizeof *x);
	x->h = h;
	x->easy = curl_easy_init();
	if (x->easy == NULL) {
		x->refused = CURLE_FAILED_INIT;
		return x;
	}
	set_callbacks(x);
	set_transport(x);
	set_proxy(x);
	set_tls(x);
	return x;
}

/* Options of one request */

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

/* libcurl reads the proxies of the environment itself; loopback never uses
 * them. NULL lets it read NO_PROXY. When addresses have to be checked, libcurl
 * must do what http_takes_proxy found: "*" means no proxy, "" means always the
 * proxy. */
static void
set_url(struct transfer *x, const char *text)
{
	const struct http_config *c = &x->h->config;
	const char *noproxy = c->noproxy;
	struct url u;
	bool direct;

	if (x->url != NULL && strcmp(x->url, text) == 0)
		return;
	free(x->url);
	x->url = xstrdup(text);
	SET(x, CURLOPT_URL, text);
	direct = c->unix_socket != NULL;
	if (url_parse(&u, text) == URL_OK)
		direct = direct || url_is_loopback(&u);
	url_free(&u);
	if (c->allow != NULL) {
		direct = direct || !http_takes_proxy(c, text);
		x->asks = direct;
		noproxy = "";
	}
	SET(x, CURLOPT_NOPROXY, direct ? "*" : noproxy);
}

static void
set_method(struct transfer *x, const char *method, struct span body)
{
	bool post = strcmp(method, "POST") == 0;

	if (post) {
		SET(x, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
		SET(x, CURLOPT_POSTFIELDS, body.n > 0 ? body.p : "");
	} else {
		SET(x, CURLOPT_HTTPGET, 1L);
	}
	if (x->measures != (body.n > HTTP_SMALL_BODY_BYTES)) {
		x->measures = !x->measures;
		SET(x, CURLOPT_NOPROGRESS, x->measures ? 0L : 1L);
	}
	if (post || strcmp(method, "GET") == 0)
		SET(x, CURLOPT_CUSTOMREQUEST, NULL);
	else
		SET(x, CURLOPT_CUSTOMREQUEST, method);
}

/* Writes "Name: value" at p; libcurl wants "Name;" for an empty value. Returns
 * the byte after its NUL. */
static char *
put_line(char *p, const struct header *header)
{
	p = stpcpy(p, header->name);
	if (header->value[0] == '\0')
		return stpcpy(p, ";") + 1;
	return stpcpy(stpcpy(p, ": "), header->value) + 1;
}

/* Makes the list that libcurl borrows for the transfer, in memory that stays
 * with x. With a large body some servers let libcurl wait a second for their
 * 100; an empty Expect avoids that. */
static void
set_headers(struct transfer *x, const struct headers *headers)
{
	static const char expect[] = "Expect:";
	size_t bytes, i, n;
	char *p;

	n = headers == NULL ? 0 : headers->n;
	bytes = sizeof expect;
	for (i = 0; i < n; i++)
		bytes += strlen(headers->list[i].name) +
		    strlen(headers->list[i].value) + 3;
	if (bytes > x->text_cap) {
		x->text = xrealloc(x->text, bytes);
		x->text_cap = bytes;
	}
	if (n + 1 > x->lines_cap) {
		x->lines = xrealloc(x->lines, (n + 1) * sizeof *x->lines);
		x->lines_cap = n + 1;
	}
	p = x->text;
	for (i = 0; i < n; i++) {
		x->lines[i].data = p;
		x->lines[i].next = &x->lines[i + 1];
		p = put_line(p, &headers->list[i]);
	}
	memcpy(p, expect, sizeof expect);
	x->lines[n].data = p;
	x->lines[n].next = NULL;
	SET(x, CURLOPT_HTTPHEADER, x->lines);
}

/* Sets the options of one request. */
static void
set_request(struct transfer *x, const struct http_request *r)
{
	long max_idle_s;

	max_idle_s = HTTP_MAXAGE_S;
	/* libcurl rounds the age of a connection down. */
	if (r->max_idle_conn_s > 0)
		max_idle_s = r->max_idle_conn_s - 1;
	set_url(x, r->url);
	set_method(x, r->method, r->body);
	set_headers(x, r->headers);
	SET(x, CURLOPT_MAXAGE_CONN, max_idle_s);
}

/* Takes a transfer from the pool, or makes one, and resets its fields. */
static struct transfer *
transfer_take(struct http *h)
{
	struct transfer *x;

	x = h->spare;
	if (x == NULL) {
		x = transfer_new(h);
	} else {
		h->spare = x->next;
		h->nspare--;
	}
	x->next = h->active;
	x->prev = &h->active;
	if (x->next != NULL)
		x->next->prev = &x->next;
	h->active = x;
	x->uploaded = x->out = 0;
	x->written = 0;
	x->head_bytes = 0;
	x->status = 0;
	x->abort = x->paused = x->held = false;
	x->sent = x->again = x->resending = false;
	x->denied = x->let = false;
	x->head = x->too_large = false;
	x->error[0] = '\0';
	return x;
}

struct transfer *
http_send(struct http *h, const struct http_request *r,
    const struct http_ops *ops, void *arg)
{
	struct transfer *x;

	x = transfer_take(h);
	x->ops = *ops;
	x->arg = arg;
	if (x->easy != NULL)
		set_request(x, r);
	x->heard = loop_now(h->l);
	x->body_bytes = r->body.n;
	x->idle_ms = r->idle_ms;
	x->expires = 0;
	if (x->idle_ms > 0)
		idle_watch(h, x->heard + x->idle_ms);
	todo_add(x);
	return x;
}

/* Before the head, a used easy handle still has the headers of its last
 * answer. */
const char *
http_header(struct transfer *x, const char *name, size_t index)
{
	struct curl_header *header;

	if (!x->head ||
	    curl_easy_header(x->easy, name, index, CURLH_HEADER, -1, &header) !=
		CURLHE_OK)
		return NULL;
	return header->value;
}

int64_t
http_written_at(const struct transfer *x)
{
	return x->written;
}

/* libcurl leaves the CR in an empty value. */
int
http_headers_all(struct transfer *x, const char *name, struct buf *out)
{
	size_t before = out->n, i;
	const char *value;

	for (i = 0; (value = http_header(x, name, i)) != NULL; i++) {
		if ((i > 0 && buf_adds(out, ", ") != 0) ||
		    buf_add(out, value, strcspn(value, "\r")) != 0) {
			out->n = before;
			return -1;
		}
	}
	return i == 0 ? -1 : 0;
}

const char *
http_peer(struct transfer *x)
{
	char *address = NULL;

	if (!x->head || x->h->config.unix_socket != NULL)
		return NULL;
	curl_easy_getinfo(x->easy, CURLINFO_PRIMARY_IP, &address);
	return address == NULL || *address == '\0' ? NULL : address;
}

void
http_abort(struct transfer *x)
{
	x->abort = true;
	todo_add(x);
}

void
http_expire(struct transfer *x, int64_t ms)
{
	x->expires = loop_now(x->h->l) + ms;
	idle_watch(x->h, x->expires);
}

void
http_pause(struct transfer *x, bool paused)
{
	if (x->paused == paused)
		return;
	x->paused = paused;
	/* The time of the pause does not count as silence. */
	x->heard = loop_now(x->h->l);
	if (!paused && x->held)
		todo_add(x);
}

/* Certificate authorities */

/* Does the folder hold links named by hash ("4042bcee.0")? */
static bool
is_hashed(const char *path)
{
	struct dirent *e;
	bool found;
	DIR *d;

	d = opendir(path);
	if (d == NULL)
		return false;
	found = false;
	while (!found && (e = readdir(d)) != NULL)
		found = strspn(e->d_name, "0123456789abcdef") == 8 &&
		    strcmp(e->d_name + 8, ".0") == 0;
	closedir(d);
	return found;
}

/* Returns a folder that makes a handshake cheap, or NULL: only the OpenSSL
 * family reads just the files it needs. */
static const char *
hashed_folder(const curl_version_info_data *v)
{
	static const char usual[] = "/etc/ssl/certs";

	if (strncmp(v->ssl_version, "OpenSSL/", 8) != 0 &&
	    strncmp(v->ssl_version, "LibreSSL/", 9) != 0)
		return NULL;
	if (v->capath != NULL && is_hashed(v->capath))
		return v->capath;
	return is_hashed(usual) ? usual : NULL;
}

/* Returns 0, or -1 if the file cannot be read or is absurdly large. */
static int
read_file(struct buf *b, const char *path)
{
	char part[4096];
	size_t n;
	FILE *f;
	int r;

	f = fopen(path, "r");
	if (f == NULL)
		return -1;
	r = 0;
	while (r == 0 && (n = fread(part, 1, sizeof part, f)) > 0)
		r = buf_add(b, part, n);
	if (ferror(f))
		r = -1;
	fclose(f);
	return r == 0 ? buf_addc(b, '\n') : -1;
}

/* Chooses the values for set_tls; without any, libcurl's defaults stay. A file
 * that cannot be read is left to libcurl, which reports it for each
 * transfer. */
static void
choose_ca(struct http *h, const curl_version_info_data *v)
{
	const struct http_config *c = &h->config;

	buf_init(&h->ca_blob, HTTP_CA_MAX_BYTES);
	h->ca_file = c->cacert != NULL ? c->cacert : v->cainfo;
	if (c->cacert == NULL)
		h->ca_path = hashed_folder(v);
	if (h->ca_path != NULL) {
		h->ca_file = c->cacert_extra;
		return;
	}
	if (c->cacert_extra == NULL)
		return;
	if ((h->ca_file != NULL && read_file(&h->ca_blob, h->ca_file) != 0) ||
	    read_file(&h->ca_blob, c->cacert_extra) != 0)
		buf_free(&h->ca_blob);
}

/* Life */

/* Returns why this libcurl cannot be used, or NULL if it can. */
static const char *
unfit(const curl_version_info_data *v)
{
	if (v->version_num < HTTP_OLDEST_CURL)
		return "libcurl is older than 7.85";
	if (!(v->features & CURL_VERSION_SSL) || v->ssl_version == NULL)
		return "libcurl has no TLS";
	return NULL;
}

static void
share_new(struct http *h)
{
	h->share = curl_share_init();
	if (h->share == NULL)
		return;
	curl_share_setopt(h->share, CURLSHOPT_SHARE,
	    CURL_LOCK_DATA_SSL_SESSION);
	if (!h->config.no_cookies)
		curl_share_setopt(h->share, CURLSHOPT_SHARE,
		    CURL_LOCK_DATA_COOKIE);
}

struct http *
http_new(struct loop *l, const struct http_config *config, const char **why)
{
	const curl_version_info_data *v;
	const char *const *entry;
	struct http *h;

	*why = "libcurl does not start";
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return NULL;
	v = curl_version_info(CURLVERSION_NOW);
	h = xcalloc(1, sizeof *h);
	h->l = l;
	h->config = *config;
	h->todo_end = &h->todo;
	h->on_turn_end = http_on_deferred;
	h->idle = loop_timer_new(l, http_on_idle, h);
	share_new(h);
	if (unfit(v) != NULL || h->share == NULL || multi_add(h) == -1) {
		if (unfit(v) != NULL)
			*why = unfit(v);
		http_free(h);
		return NULL;
	}
	choose_ca(h, v);
	for (entry = config->resolve; entry != NULL && *entry != NULL; entry++)
		h->resolve = curl_slist_append(h->resolve, *entry);
	*why = NULL;
	return h;
}

/* The old connections stay with the transfers that use them. */
void
http_forget(struct http *h)
{
	if (!h->multis->used)
		return;
	if (multi_add(h) == -1)
		log_warn("cannot make new connections: libcurl has no memory");
	else
		defer(h);
}

void
http_free(struct http *h)
{
	struct multi *m;

	if (h == NULL)
		return;
	loop_undefer(h->l, h->on_turn_end, h);
	transfers_free(h);
	while ((m = h->multis) != NULL) {
		h->multis = m->next;
		multi_free(m);
	}
	loop_timer_free(h->idle);
	curl_share_cleanup(h->share);
	curl_slist_free_all(h->resolve);
	buf_free(&h->ca_blob);
	curl_global_cleanup();
	free(h);
}

const char *
http_version(void)
{
	return curl_version();
}
