/*
 * A small Streamable HTTP MCP server for measurements, on loopback, over
 * http or (with a certificate and a key) over https.
 *
 * It must never be what is measured, so it answers each request with one
 * read and one write and keeps no state: initialize gets a session id,
 * other requests a short result (as JSON, or with -s as one SSE event),
 * notifications 202, GET 405, DELETE 200. A POST without a session id after
 * initialize gets 400, so that a candidate which loses it is found out. It
 * speaks 2026-07-28, too, with who says that in MCP-Protocol-Version.
 *
 * An answer is far smaller than an empty socket buffer: a write that does
 * not take it whole means a peer that does not read, and ends it.
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

#define SERVER_SESSION "5f0c3bd2-bench"

struct server {
	struct event_base *base;
	SSL_CTX *tls; /* NULL for http */
	bool sse;
};

struct conn {
	struct server *server;
	struct event *event;
	SSL *tls;
	evutil_socket_t fd;
	size_t n;
	char in[65536];
};

struct request {
	const char *head; /* NUL-terminated in the place of its last LF */
	const char *body;
	size_t body_len;
	bool session, modern;
};

/* One value of the message's top level, as text; empty when not there. */
struct field {
	const char *p;
	size_t n;
};

static void
die(const char *what)
{
	fprintf(stderr, "server: %s: %s\n", what, strerror(errno));
	ERR_print_errors_fp(stderr);
	exit(1);
}

static const char *
skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : end;
}

/* Skips a value: up to the comma or bracket that ends it on this level. */
static const char *
skip_value(const char *p, const char *end)
{
	int depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		if (depth == 0 && (*p == ',' || *p == '}' || *p == ']'))
			break;
		if (*p == '{' || *p == '[')
			depth++;
		if (*p == '}' || *p == ']')
			depth--;
		p++;
	}
	return p;
}

static struct field
find(const char *p, const char *end, const char *key)
{
	struct field f = { "", 0 };
	size_t n = strlen(key);
	const char *name, *value;

	for (p++; p < end; p++) {
		if (*p != '"')
			continue;
		name = p;
		p = skip_string(p, end);
		while (p < end && (*p == ':' || *p == ' '))
			p++;
		value = p;
		p = skip_value(p, end);
		if ((size_t)(value - name) > n && memcmp(name, key, n) == 0) {
			f.p = value;
			f.n = (size_t)(p - value);
			break;
		}
	}
	return f;
}

static void
conn_free(struct conn *c)
{
	event_free(c->event);
	if (c->tls != NULL)
		SSL_free(c->tls);
	close(c->fd);
	free(c);
}

static int
conn_write(struct conn *c, const char *p, int n)
{
	ssize_t r;

	if (c->tls != NULL)
		r = SSL_write(c->tls, p, n);
	else
		r = send(c->fd, p, (size_t)n, MSG_NOSIGNAL);
	return r == n ? 0 : -1;
}

static int
answer_status(struct conn *c, const char *status)
{
	char out[256];
	int n;

	n = snprintf(out, sizeof out,
	    "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status);
	return conn_write(c, out, n);
}

static int
answer_result(struct conn *c, struct field id, const char *result, bool session)
{
	const char *type = "application/json", *before = "", *after = "";
	char body[1024], out[2048];
	int n;

	if (c->server->sse) {
		type = "text/event-stream";
		before = "event: message\ndata: ";
		after = "\n\n";
	}
	n = snprintf(body, sizeof body,
	    "%s{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}%s", before,
	    (int)id.n, id.p, result, after);
	if (n < 0 || (size_t)n >= sizeof body)
		return -1;
	n = snprintf(out, sizeof out,
	    "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n"
	    "%sContent-Length: %d\r\n\r\n%s",
	    type, session ? "Mcp-Session-Id: " SERVER_SESSION "\r\n" : "", n,
	    body);
	return conn_write(c, out, n);
}

static int
answer_post(struct conn *c, const struct request *r)
{
	const char *end = r->body + r->body_len;
	struct field id = find(r->body, end, "\"id\"");
	struct field method = find(r->body, end, "\"method\"");

	if (method.n == 12 && memcmp(method.p, "\"initialize\"", 12) == 0)
		return answer_result(c, id,
		    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
		    "{\"tools\":{}},\"serverInfo\":{\"name\":\"bench\","
		    "\"version\":\"1\"}}",
		    true);
	if (r->modern && method.n == 17 &&
	    memcmp(method.p, "\"server/discover\"", 17) == 0)
		return answer_result(c, id,
		    "{\"resultType\":\"complete\",\"supportedVersions\":["
		    "\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}",
		    false);
	if (!r->session && !r->modern)
		return answer_status(c, "400 Bad Request");
	if (id.n == 0 || method.n == 0)
		return answer_status(c, "202 Accepted");
	return answer_result(c, id,
	    "{\"content\":[{\"type\":\"text\",\"text\":"
	    "\"the quick brown fox jumps over the lazy dog\"}]}",
	    false);
}

static int
answer(struct conn *c, const struct request *r)
{
	if (strncmp(strchr(r->head, ' '), " /mcp ", 6) != 0)
		return answer_status(c, "404 Not Found");
	if (strncmp(r->head, "POST ", 5) == 0)
		return answer_post(c, r);
	if (strncmp(r->head, "DELETE ", 7) == 0)
		return answer_status(c, "200 OK");
	return answer_status(c, "405 Method Not Allowed");
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
		if (strncasecmp(line, "Mcp-Session-Id: " SERVER_SESSION,
			16 + strlen(SERVER_SESSION)) == 0)
			r->session = true;
		if (strncasecmp(line, "MCP-Protocol-Version: 2026-07-28", 32) ==
		    0)
			r->modern = true;
	}
}

/* Answers every whole request that is there; -1 ends the connection. */
static int
conn_requests(struct conn *c)
{
	struct request r;
	size_t done = 0;
	char *end;

	while (done < c->n) {
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
		if (strchr(r.head, ' ') == NULL || answer(c, &r) != 0)
			return -1;
		done = (size_t)(r.body - c->in) + r.body_len;
	}
	c->n -= done;
	if (done > 0 && c->n > 0)
		memmove(c->in, c->in + done, c->n);
	return c->n < sizeof c->in ? 0 : -1;
}

/* Reads what there is: >0 bytes, 0 for not now, -1 for the end. */
static int
conn_read(struct conn *c)
{
	size_t room = sizeof c->in - c->n;
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
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa,
    int len, void *arg)
{
	struct server *s = arg;
	struct conn *c = malloc(sizeof *c);
	int one = 1;

	(void)l;
	(void)sa;
	(void)len;
	if (c == NULL)
		die("malloc");
	c->server = s;
	c->fd = fd;
	c->n = 0;
	c->tls = NULL;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (s->tls != NULL) {
		c->tls = SSL_new(s->tls);
		if (c->tls == NULL || SSL_set_fd(c->tls, fd) != 1)
			die("SSL_new");
		SSL_set_accept_state(c->tls);
	}
	c->event = event_new(s->base, fd, EV_READ | EV_PERSIST, on_readable, c);
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

	if (argc > 1 && strcmp(argv[1], "-s") == 0) {
		s.sse = true;
		argc--;
		argv++;
	}
	if (argc != 1 && argc != 3) {
		fprintf(stderr, "usage: server [-s] [CERT KEY]\n");
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
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, -1,
	    (struct sockaddr *)&sin, sizeof sin);
	if (l == NULL)
		die("listen");
	print_url(l, s.tls != NULL);
	event_base_dispatch(s.base);
	return 0;
}
