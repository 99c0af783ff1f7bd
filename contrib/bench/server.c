/*
 * A small Streamable HTTP MCP server for measurements, on loopback, over
 * http or (with a certificate and a key) over https. tools.c says what it
 * answers.
 *
 * It must never be what is measured, so it answers each small request with one
 * read and one write. Over https an answer has to fit into one write.
 */
#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/listener.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "tools.h"

#define SERVER_BACKLOG 4096 /* a thousand may come at once */
#define SERVER_IN 65536
#define SERVER_IN_MAX (256 * 1024 * 1024)

struct server {
	struct event_base *base;
	SSL_CTX *tls; /* NULL for http */
};

struct conn {
	struct server *server;
	struct event *event;
	struct event *again; /* the socket takes more, or the delay is over */
	SSL *tls;
	evutil_socket_t fd;
	char *in;
	size_t n;
	size_t size;
	struct reply reply;
	bool busy;         /* with the reply; the next request waits */
	const char *piece; /* what of the reply is written now */
	size_t piece_n;
};

static void
die(const char *what)
{
	fprintf(stderr, "server: %s: %s\n", what, strerror(errno));
	ERR_print_errors_fp(stderr);
	exit(1);
}

static void
conn_free(struct conn *c)
{
	event_free(c->event);
	event_free(c->again);
	if (c->tls != NULL)
		SSL_free(c->tls);
	close(c->fd);
	free(c->in);
	free(c);
}

static void on_again(evutil_socket_t fd, short what, void *arg);

static ssize_t
conn_write(struct conn *c, const char *p, size_t n)
{
	if (c->tls == NULL)
		return send(c->fd, p, n, MSG_NOSIGNAL);
	return SSL_write(c->tls, p, (int)n) == (int)n ? (ssize_t)n : -1;
}

/* Writes what the socket takes of the reply; -1 ends the connection. */
static int
conn_reply(struct conn *c)
{
	ssize_t n;

	for (;;) {
		if (c->piece_n == 0)
			c->piece_n = reply_next(&c->reply, &c->piece);
		if (c->piece_n == 0)
			break;
		n = conn_write(c, c->piece, c->piece_n);
		if (n < 0 && errno == EAGAIN && c->tls == NULL)
			return event_add(c->again, NULL);
		if (n < 0)
			return -1;
		c->piece += n;
		c->piece_n -= (size_t)n;
	}
	c->busy = false;
	return 0;
}

static int
conn_answer(struct conn *c, const struct request *r)
{
	struct timeval tv;

	if (tools_reply(&c->reply, r) != 0)
		return -1;
	c->busy = true;
	if (c->reply.delay == 0)
		return conn_reply(c);
	tv.tv_sec = c->reply.delay / 1000;
	tv.tv_usec = c->reply.delay % 1000 * 1000;
	event_assign(c->again, c->server->base, -1, 0, on_again, c);
	return event_add(c->again, &tv);
}

static void
request_head(struct request *r)
{
	const char *line = r->head;

	r->session = r->modern = false;
	r->body_len = 0;
	while ((line = strchr(line, '\n')) != NULL) {
		line++;
		if (strncasecmp(line, "Content-Length:", 15) == 0)
			r->body_len = strtoul(line + 15, NULL, 10);
		if (strncasecmp(line, "Mcp-Session-Id: " TOOLS_SESSION,
			16 + strlen(TOOLS_SESSION)) == 0)
			r->session = true;
		if (strncasecmp(line, "MCP-Protocol-Version: 2026-07-28", 32) ==
		    0)
			r->modern = true;
	}
}

/* Room for the rest of a large request. */
static int
conn_room(struct conn *c)
{
	char *in;

	if (c->n < c->size)
		return 0;
	if (c->size >= SERVER_IN_MAX)
		return -1;
	in = realloc(c->in, c->size * 4);
	if (in == NULL)
		return -1;
	c->in = in;
	c->size *= 4;
	return 0;
}

/* Answers every whole request that is there; -1 ends the connection. */
static int
conn_requests(struct conn *c)
{
	struct request r;
	size_t done = 0;
	char *end;

	while (done < c->n && !c->busy) {
		end = memmem(c->in + done, c->n - done, "\r\n\r\n", 4);
		if (end == NULL)
			break;
		end[3] = '\0';
		r.head = c->in + done;
		r.body = end + 4;
		request_head(&r);
		if ((size_t)(c->in + c->n - r.body) < r.body_len) {
			end[3] = '\n';
			break;
		}
		if (conn_answer(c, &r) != 0)
			return -1;
		done = (size_t)(r.body - c->in) + r.body_len;
	}
	c->n -= done;
	if (done > 0 && c->n > 0)
		memmove(c->in, c->in + done, c->n);
	return conn_room(c);
}

/* Reads what there is: >0 bytes, 0 for not now, -1 for the end. */
static int
conn_read(struct conn *c)
{
	size_t room = c->size - c->n;
	ssize_t n;

	if (c->tls == NULL) {
		n = recv(c->fd, c->in + c->n, room, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
	} else {
		ERR_clear_error();
		n = SSL_read(c->tls, c->in + c->n, (int)room);
		if (n <= 0 &&
		    SSL_get_error(c->tls, (int)n) == SSL_ERROR_WANT_READ)
			return 0;
	}
	if (n <= 0)
		return -1;
	c->n += (size_t)n;
	return 1;
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	int r;

	(void)fd;
	(void)what;
	do {
		r = conn_read(c);
		if (r < 0 || (r > 0 && conn_requests(c) != 0)) {
			conn_free(c);
			return;
		}
	} while (c->tls != NULL && SSL_pending(c->tls) > 0);
}

static void
on_again(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	if (what & EV_TIMEOUT)
		event_assign(c->again, c->server->base, c->fd, EV_WRITE,
		    on_again, c);
	if (conn_reply(c) != 0 || conn_requests(c) != 0)
		conn_free(c);
}

static void
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa,
    int len, void *arg)
{
	struct server *s = arg;
	struct conn *c = calloc(1, sizeof *c);
	int one = 1;

	(void)l;
	(void)sa;
	(void)len;
	if (c == NULL || (c->in = malloc(SERVER_IN)) == NULL)
		die("malloc");
	c->server = s;
	c->fd = fd;
	c->size = SERVER_IN;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (s->tls != NULL) {
		c->tls = SSL_new(s->tls);
		if (c->tls == NULL || SSL_set_fd(c->tls, fd) != 1)
			die("SSL_new");
		SSL_set_accept_state(c->tls);
	}
	c->event = event_new(s->base, fd, EV_READ | EV_PERSIST, on_readable, c);
	c->again = event_new(s->base, fd, EV_WRITE, on_again, c);
	event_add(c->event, NULL);
}

static SSL_CTX *
tls_new(const char *cert, const char *key)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());

	if (tls == NULL || SSL_CTX_use_certificate_chain_file(tls, cert) != 1 ||
	    SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1)
		die("certificate");
	return tls;
}

static void
print_url(struct evconnlistener *l, bool tls)
{
	struct sockaddr_in sin;
	socklen_t len = sizeof sin;

	if (getsockname(evconnlistener_get_fd(l), (struct sockaddr *)&sin,
		&len) != 0)
		die("getsockname");
	printf("%s://127.0.0.1:%d/mcp\n", tls ? "https" : "http",
	    ntohs(sin.sin_port));
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct server s = { .tls = NULL };
	struct evconnlistener *l;

	if (argc != 1 && argc != 3) {
		fprintf(stderr, "usage: server [CERT KEY]\n");
		return 2;
	}
	if (argc == 3)
		s.tls = tls_new(argv[1], argv[2]);
	signal(SIGPIPE, SIG_IGN);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s.base = event_base_new();
	if (s.base == NULL)
		die("event_base_new");
	l = evconnlistener_new_bind(s.base, on_accept, &s,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, SERVER_BACKLOG,
	    (struct sockaddr *)&sin, sizeof sin);
	if (l == NULL)
		die("listen");
	print_url(l, s.tls != NULL);
	event_base_dispatch(s.base);
	return 0;
}
