/*
 * The callbacks of one transfer. libcurl is on the stack: they only take in
 * bytes and times.
 */
#include "config.h"

#include "io/http_callbacks.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/bounds.h"
#include "io/http_negotiate.h"
#include "io/http_todo.h"
#include "io/http_two.h"
#include "io/http_way.h"

enum {
	HTTP_KEEP_ALIVE_MOST_S = 24 * 3600 /* above it: for ever */
};

/* Judges the connection that libcurl has chosen, the first one or, where that
 * took nothing, another. */
static bool
takes_connection(struct transfer *x, const char *peer, int peer_port,
    int local_port)
{
	struct connection *c;

	connection_give_back(x->connection);
	x->connection = NULL;
	c = connections_find(x->h->connections, peer, peer_port, local_port);
	x->stale = c != NULL &&
	    ((x->wary && connection_gave_error(c)) ||
		!connection_usable(c, x->max_idle_ms, x->proof && !x->proxied));
	if (x->stale)
		return false;
	connection_take(c);
	x->connection = c;
	return true;
}

bool
http_callbacks_sent(struct transfer *x)
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
	if (http_callbacks_sent(x)) {
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

bool
http_callbacks_give_head(struct transfer *x)
{
	long status;

	if (x->status != 0)
		return true;
	status = 0;
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
 * else that is no coding, and mean the body as it is; libcurl then fails. So
 * nothing that such a server sends is decoded any more: before libcurl 8.5 from
 * this answer on, else from the next one on. */
static void
take_coding(struct transfer *x, const char *p, size_t n)
{
	static const char line[] = "content-encoding:";
	const char *end = p + n;
	size_t len;

	if (n < sizeof line - 1 || strncasecmp(p, line, sizeof line - 1) != 0)
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
	if (x->head_bytes > BOUND_HEAD_BYTES) {
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
	return http_callbacks_give_head(x) ? n : 0;
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
	if (x->turn_bytes + n > BOUND_TURN_BYTES) {
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
	if (x->abort || !http_callbacks_give_head(x))
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
	int n;

	(void)arg;
	(void)purpose;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
#ifdef TCP_KEEPCNT
	n = HTTP_KEEPALIVE_COUNT;
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &n, sizeof n);
#endif
#ifdef TCP_USER_TIMEOUT
	n = BOUND_UNACKED_MS;
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
	bool is_tcp = a->family == AF_INET || a->family == AF_INET6;
	curl_socket_t fd;

	(void)purpose;
	if (x->asks && !c->allow(&a->addr, c->allow_arg)) {
		x->denied = true;
		return CURL_SOCKET_BAD;
	}
	x->let = true;
	http_way_tried(x, &a->addr, a->addrlen);
	fd = socket(a->family, a->socktype, a->protocol);
	if (fd != -1) {
		connections_opened(x->h->connections, fd,
		    is_tcp ? &x->reached : NULL);
		x->opened = x->opened || is_tcp;
	}
	return fd;
}

static int
http_on_socket_over(void *arg, curl_socket_t fd)
{
	struct http *h = arg;

	http_way_closed(h, fd);
	connections_closed(h->connections, fd);
	return close(fd);
}

void
http_callbacks_set(struct transfer *x)
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
