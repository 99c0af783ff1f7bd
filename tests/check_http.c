/*
 * io/http against servers that behave badly on purpose. Each server is a
 * thread that accepts on loopback, with one thread per connection that runs a
 * script; TLS is "openssl s_server". Each trap of libcurl that was measured
 * has a test here.
 */
#include "config.h"

#include "io/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <check.h>

#include "base/mem.h"

enum {
	GUARD_MS = 20000, /* a test that waits longer hangs */
	HEAD_MAX = 256 * 1024,
	BIG = 20 * 1024 * 1024
};

/* The server */

struct server;

struct conn {
	struct server *s;
	int fd;
	int serial; /* from 1, in the order of accept */
	char *in;   /* what was read and not consumed */
	size_t n;
	char *head; /* of the request, ends with an empty line */
	char *body;
	size_t body_n;
	size_t reads; /* read calls that the last request took */
};

struct server {
	int fd;
	int port;
	pthread_t thread;
	void (*script)(struct conn *c);
	atomic_int accepted, requests, alive;
	atomic_long pushed; /* bytes of the large answer */
	int variant;
	char seen[HEAD_MAX]; /* head of the first request */
};

static void
pause_ms(int ms)
{
	struct timespec ts;

	ts.tv_sec = ms / 1000;
	ts.tv_nsec = (long)(ms % 1000) * 1000000;
	nanosleep(&ts, NULL);
}

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Returns false when the peer is gone. */
static bool
push(struct conn *c, const void *p, size_t n)
{
	const char *at = p;
	ssize_t r;

	while (n > 0) {
		r = send(c->fd, at, n, MSG_NOSIGNAL);
		if (r <= 0)
			return false;
		at += r;
		n -= (size_t)r;
	}
	return true;
}

static bool
say(struct conn *c, const char *text)
{
	return push(c, text, strlen(text));
}

static bool
say_ok(struct conn *c, const char *body)
{
	char text[512];

	snprintf(text, sizeof text,
	    "HTTP/1.1 200 OK\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(body), body);
	return say(c, text);
}

/* One more read into c->in; false at the end. */
static bool
pull(struct conn *c)
{
	char part[65536];
	ssize_t r;

	r = recv(c->fd, part, sizeof part, 0);
	if (r <= 0)
		return false;
	c->reads++;
	c->in = xrealloc(c->in, c->n + (size_t)r + 1);
	memcpy(c->in + c->n, part, (size_t)r);
	c->n += (size_t)r;
	c->in[c->n] = '\0';
	return true;
}

static size_t
content_length(const char *head)
{
	const char *p;

	for (p = head; (p = strchr(p, '\n')) != NULL;) {
		p++;
		if (strncasecmp(p, "Content-Length:", 15) == 0)
			return (size_t)strtoul(p + 15, NULL, 10);
	}
	return 0;
}

/* Reads the head of a request; false when there is no more. */
static bool
read_head(struct conn *c)
{
	char *end;
	size_t n;

	c->reads = 0;
	while (c->in == NULL || (end = strstr(c->in, "\r\n\r\n")) == NULL)
		if (!pull(c))
			return false;
	n = (size_t)(end - c->in) + 4;
	free(c->head);
	c->head = xstrndup(c->in, n);
	memmove(c->in, c->in + n, c->n - n + 1);
	c->n -= n;
	return true;
}

static bool
read_request(struct conn *c)
{
	if (!read_head(c))
		return false;
	c->body_n = content_length(c->head);
	while (c->n < c->body_n)
		if (!pull(c))
			return false;
	free(c->body);
	c->body = xstrndup(c->in, c->body_n);
	memmove(c->in, c->in + c->body_n, c->n - c->body_n + 1);
	c->n -= c->body_n;
	if (atomic_fetch_add(&c->s->requests, 1) == 0)
		snprintf(c->s->seen, sizeof c->s->seen, "%s", c->head);
	return true;
}

static bool
wants(const struct conn *c, const char *path)
{
	const char *p = strchr(c->head, ' ');

	return strncmp(p + 1, path, strlen(path)) == 0;
}

static void *
conn_run(void *arg)
{
	struct conn *c = arg;
	struct server *s = c->s;

	s->script(c);
	close(c->fd);
	free(c->in);
	free(c->head);
	free(c->body);
	free(c);
	atomic_fetch_sub(&s->alive, 1);
	return NULL;
}

static void *
server_run(void *arg)
{
	struct server *s = arg;
	struct conn *c;
	pthread_t t;
	int fd, one;

	while ((fd = accept(s->fd, NULL, NULL)) != -1) {
		one = 1;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		c = xcalloc(1, sizeof *c);
		c->s = s;
		c->fd = fd;
		c->serial = atomic_fetch_add(&s->accepted, 1) + 1;
		atomic_fetch_add(&s->alive, 1);
		ck_assert_int_eq(pthread_create(&t, NULL, conn_run, c), 0);
		pthread_detach(t);
	}
	return NULL;
}

static struct server *
server_on(int fd, void (*script)(struct conn *c))
{
	struct server *s;

	s = xcalloc(1, sizeof *s);
	s->fd = fd;
	s->script = script;
	ck_assert_int_eq(listen(fd, 128), 0);
	ck_assert_int_eq(pthread_create(&s->thread, NULL, server_run, s), 0);
	return s;
}

static int
bound_socket(int *port)
{
	struct sockaddr_in a;
	socklen_t n;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_ne(fd, -1);
	memset(&a, 0, sizeof a);
	a.sin_family = AF_INET;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	n = sizeof a;
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, n), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

static struct server *
server_new(void (*script)(struct conn *c))
{
	struct server *s;
	int fd, port;

	fd = bound_socket(&port);
	s = server_on(fd, script);
	s->port = port;
	return s;
}

/* The clients are gone by now, so each script comes to its end. */
static void
server_free(struct server *s)
{
	int64_t limit = now_ms() + GUARD_MS;

	shutdown(s->fd, SHUT_RDWR);
	close(s->fd);
	pthread_join(s->thread, NULL);
	while (atomic_load(&s->alive) > 0 && now_ms() < limit)
		pause_ms(1);
	ck_assert_int_eq(atomic_load(&s->alive), 0);
	free(s);
}

/* The client */

struct client {
	struct loop *l;
	struct http *h;
	struct loop_timer *guard, *nap;
	int waiting; /* calls without done */
};

struct call {
	struct client *c;
	struct exchange *x;
	int heads, dones;
	int status; /* as head said it */
	struct http_answer answer;
	char why[512];
	struct buf body;
	bool discard; /* count the body, do not keep it */
	size_t bytes;
	uint32_t sum;
	/* What a test wants to happen there. */
	void (*on_head)(struct call *);
	bool (*on_data)(struct call *);
	void (*on_done)(struct call *);
	struct call *other;
	int round;
};

static void
on_guard(void *arg)
{
	(void)arg;
	ck_abort_msg("nothing happens any more");
}

static void
on_nap(void *arg)
{
	loop_stop(arg, 0);
}

static const struct http_config defaults = { .user_agent = "mcpsplice/test",
	.connect_timeout_ms = 10000,
	.max_inflight = 64 };

static struct client *
client_with(const struct http_config *config)
{
	struct client *c;
	const char *why;

	c = xcalloc(1, sizeof *c);
	c->l = loop_new();
	ck_assert_ptr_nonnull(c->l);
	c->h = http_new(c->l, config, &why);
	ck_assert_ptr_nonnull(c->h);
	ck_assert_ptr_null(why);
	c->guard = loop_timer_new(c->l, on_guard, NULL);
	c->nap = loop_timer_new(c->l, on_nap, c->l);
	return c;
}

static struct client *
client_new(void)
{
	return client_with(&defaults);
}

static void
client_free(struct client *c)
{
	http_free(c->h);
	loop_timer_free(c->guard);
	loop_timer_free(c->nap);
	loop_free(c->l);
	free(c);
}

/* Runs until no call is open. */
static void
client_wait(struct client *c)
{
	if (c->waiting == 0)
		return;
	loop_timer_set(c->guard, GUARD_MS);
	loop_run(c->l);
	loop_timer_set(c->guard, -1);
	ck_assert_int_eq(c->waiting, 0);
}

/* Runs for so long. */
static void
client_nap(struct client *c, int ms)
{
	int waiting = c->waiting;

	c->waiting = 1000;
	loop_timer_set(c->nap, ms);
	loop_run(c->l);
	c->waiting -= 1000 - waiting;
}

/* Runs until *flag is not 0. */
static void
client_until(struct client *c, const int *flag)
{
	int64_t limit = now_ms() + GUARD_MS;

	while (*flag == 0 && now_ms() < limit)
		client_nap(c, 5);
	ck_assert_int_ne(*flag, 0);
}

static void
call_on_head(struct exchange *x, int status, void *arg)
{
	struct call *k = arg;

	ck_assert_ptr_eq(x, k->x);
	ck_assert_int_eq(k->dones, 0);
	ck_assert_uint_eq(k->bytes, 0);
	k->heads++;
	k->status = status;
	if (k->on_head != NULL)
		k->on_head(k);
}

static bool
call_on_data(struct exchange *x, const char *p, size_t n, void *arg)
{
	struct call *k = arg;
	size_t i;

	ck_assert_ptr_eq(x, k->x);
	ck_assert_int_eq(k->heads, 1);
	ck_assert_int_eq(k->dones, 0);
	ck_assert_uint_gt(n, 0);
	k->bytes += n;
	for (i = 0; i < n; i++)
		k->sum = k->sum * 31 + (unsigned char)p[i];
	if (!k->discard)
		buf_add(&k->body, p, n);
	return k->on_data == NULL || k->on_data(k);
}

static void
call_on_done(struct exchange *x, const struct http_answer *a, void *arg)
{
	struct call *k = arg;

	ck_assert_ptr_eq(x, k->x);
	k->dones++;
	ck_assert_int_eq(k->dones, 1);
	ck_assert_int_le(k->heads, 1);
	ck_assert_int_eq(a->status, k->heads == 1 ? k->status : 0);
	if (a->end == HTTP_DONE)
		ck_assert_int_eq(k->heads, 1);
	k->answer = *a;
	ck_assert_ptr_nonnull(a->why);
	snprintf(k->why, sizeof k->why, "%s", a->why);
	if (k->on_done != NULL)
		k->on_done(k);
	if (--k->c->waiting == 0)
		loop_stop(k->c->l, 0);
}

static const struct http_ops ops = { call_on_head, call_on_data, call_on_done };

static void
call_request(struct call *k, struct client *c, const struct http_request *r)
{
	k->c = c;
	buf_free(&k->body);
	k->heads = k->dones = k->status = 0;
	k->bytes = 0;
	k->sum = 0;
	c->waiting++;
	k->x = http_send(c->h, r, &ops, k);
	ck_assert_int_eq(k->heads + k->dones, 0);
}

/* A URL of the server; good until the fourth next call. */
static const char *
url_on(const struct server *s, const char *path)
{
	static char text[4][256];
	static unsigned i;

	i = (i + 1) % 4;
	snprintf(text[i], sizeof text[i], "http://127.0.0.1:%d%s", s->port,
	    path);
	return text[i];
}

static void
call_post(struct call *k, struct client *c, const char *url, const char *body)
{
	struct http_request r = { .method = "POST", .url = url };

	r.body = span_of(body);
	call_request(k, c, &r);
}

static void
call_get(struct call *k, struct client *c, const char *url)
{
	struct http_request r = { .method = "GET", .url = url };

	call_request(k, c, &r);
}

/* One request from start to end. */
static void
post(struct call *k, struct client *c, const char *url, const char *body)
{
	call_post(k, c, url, body);
	client_wait(c);
}

static void
get(struct call *k, struct client *c, const char *url)
{
	call_get(k, c, url);
	client_wait(c);
}

static void
ended(const struct call *k, enum http_end end, bool sent)
{
	ck_assert_int_eq(k->dones, 1);
	ck_assert_msg(k->answer.end == end && k->answer.sent == sent,
	    "end %d, sent %d: %s", k->answer.end, k->answer.sent, k->why);
}

static void
is_ok(struct call *k, const char *body)
{
	ended(k, HTTP_DONE, true);
	ck_assert_int_eq(k->status, 200);
	ck_assert_str_eq(buf_str(&k->body), body);
}

/* Plain requests */

static void
script_echo(struct conn *c)
{
	while (read_request(c))
		if (!say_ok(c, c->body_n < 256 ? c->body : "large"))
			return;
}

static void
script_headers(struct conn *c)
{
	while (read_request(c)) {
		if (c->reads != 1)
			say_ok(c, "more than one write");
		say(c,
		    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
		    "Mcp-Session-Id: abc \r\nX-Twice: one\r\nx-twice: two\r\n"
		    "Content-Length: 2\r\n\r\nok");
	}
}

static void
check_headers(struct call *k)
{
	ck_assert_str_eq(http_header(k->x, "content-type", 0), "text/plain");
	ck_assert_str_eq(http_header(k->x, "MCP-SESSION-ID", 0), "abc");
	ck_assert_str_eq(http_header(k->x, "X-Twice", 0), "one");
	ck_assert_str_eq(http_header(k->x, "X-Twice", 1), "two");
	ck_assert_ptr_null(http_header(k->x, "X-Twice", 2));
	ck_assert_ptr_null(http_header(k->x, "X-None", 0));
}

static bool
check_headers_in_data(struct call *k)
{
	check_headers(k);
	return true;
}

/* A small call is one write, with the headers that we gave and no others that
 * matter; the answer's headers can be read in each callback. */
START_TEST(small_post)
{
	struct server *s = server_new(script_headers);
	struct client *c = client_new();
	struct headers h;
	struct http_request r = { .method = "POST", .body = span_of("{}") };
	struct call k = { .on_head = check_headers,
		.on_data = check_headers_in_data,
		.on_done = check_headers };

	headers_init(&h);
	headers_add(&h, span_of("Content-Type"), span_of("application/json"),
	    false);
	headers_add(&h, span_of("Accept"), span_of("text/event-stream"), false);
	headers_add(&h, span_of("X-Empty"), span_of(""), false);
	r.url = url_on(s, "/mcp?a=b");
	r.headers = &h;
	call_request(&k, c, &r);
	headers_free(&h);
	client_wait(c);
	is_ok(&k, "ok");

	ck_assert_ptr_eq(strstr(s->seen, "POST /mcp?a=b HTTP/1.1\r\n"),
	    s->seen);
	ck_assert_ptr_nonnull(strstr(s->seen, "\r\nContent-Length: 2\r\n"));
	ck_assert_ptr_nonnull(strstr(s->seen,
	    "\r\nContent-Type: application/json\r\n"));
	ck_assert_ptr_nonnull(strstr(s->seen,
	    "\r\nAccept: text/event-stream\r\n"));
	ck_assert_ptr_nonnull(strstr(s->seen, "\r\nX-Empty:\r\n"));
	ck_assert_ptr_nonnull(strstr(s->seen,
	    "\r\nUser-Agent: mcpsplice/test\r\n"));
	ck_assert_ptr_null(strstr(s->seen, "Expect"));
	ck_assert_ptr_null(strstr(s->seen, "Encoding"));
	ck_assert_ptr_null(strstr(s->seen, "urlencoded"));
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
script_method(struct conn *c)
{
	char text[64];

	while (read_request(c)) {
		snprintf(text, sizeof text, "%.*s %zu %s",
		    (int)strcspn(c->head, " "), c->head, c->body_n,
		    strstr(c->head, "X-Old:") == NULL ? "new" : "old");
		say_ok(c, text);
	}
}

/* A pooled handle keeps nothing of the request before. */
START_TEST(methods_in_turn)
{
	struct server *s = server_new(script_method);
	struct client *c = client_new();
	struct headers h;
	struct http_request r = { .method = "POST", .body = span_of("abc") };
	struct call k = { 0 };

	headers_init(&h);
	headers_add(&h, span_of("X-Old"), span_of("1"), false);
	r.url = url_on(s, "/");
	r.headers = &h;
	call_request(&k, c, &r);
	client_wait(c);
	is_ok(&k, "POST 3 old");
	headers_free(&h);
	get(&k, c, r.url);
	is_ok(&k, "GET 0 new");
	r = (struct http_request){ .method = "DELETE", .url = r.url };
	call_request(&k, c, &r);
	client_wait(c);
	is_ok(&k, "DELETE 0 new");
	post(&k, c, r.url, "");
	is_ok(&k, "POST 0 new");
	post(&k, c, r.url, "abcde");
	is_ok(&k, "POST 5 new");
	get(&k, c, r.url);
	is_ok(&k, "GET 0 new");
	ck_assert_int_eq(atomic_load(&s->accepted), 1);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
script_status(struct conn *c)
{
	static const char *const answers[] = {
		"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		("HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "0\r\nX-Trailer: x\r\n\r\n"),
		"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
	};

	while (read_request(c))
		say(c, answers[c->s->variant]);
}

START_TEST(empty_answers)
{
	static const int status[] = { 202, 204, 200, 202, 404 };
	struct server *s = server_new(script_status);
	struct client *c = client_new();
	struct call k = { 0 };

	s->variant = _i;
	post(&k, c, url_on(s, "/"), "{}");
	ended(&k, HTTP_DONE, true);
	ck_assert_int_eq(k.heads, 1);
	ck_assert_int_eq(k.status, status[_i]);
	ck_assert_uint_eq(k.bytes, 0);
	client_free(c);
	server_free(s);
}
END_TEST

static void
script_interim(struct conn *c)
{
	while (read_request(c)) {
		say(c,
		    "HTTP/1.1 100 Continue\r\n\r\n"
		    "HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n");
		pause_ms(20);
		say_ok(c, "final");
	}
}

static void
check_no_hint(struct call *k)
{
	ck_assert_ptr_null(http_header(k->x, "X-Hint", 0));
}

START_TEST(interim_answers_give_no_head)
{
	struct server *s = server_new(script_interim);
	struct client *c = client_new();
	struct call k = { .on_head = check_no_hint };

	post(&k, c, url_on(s, "/"), "{}");
	is_ok(&k, "final");
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
script_redirect(struct conn *c)
{
	while (read_request(c))
		say(c,
		    "HTTP/1.1 307 Temporary Redirect\r\nLocation: /next\r\n"
		    "Content-Length: 0\r\n\r\n");
}

START_TEST(redirects_are_not_followed)
{
	struct server *s = server_new(script_redirect);
	struct client *c = client_new();
	struct call k = { 0 };

	post(&k, c, url_on(s, "/"), "{}");
	ended(&k, HTTP_DONE, true);
	ck_assert_int_eq(k.status, 307);
	ck_assert_int_eq(atomic_load(&s->requests), 1);
	client_free(c);
	server_free(s);
}
END_TEST

/* Sent once */

/* The first answer is good, the second request is read and dropped. */
static void
script_dies_on_second(struct conn *c)
{
	if (c->serial == 1) {
		read_request(c);
		say_ok(c, "first");
		read_request(c);
		return;
	}
	script_echo(c);
}

/* libcurl would send it again on a new connection and report success. */
START_TEST(no_hidden_replay)
{
	static const size_t sizes[] = { 2, 60 * 1024, 300 * 1024 };
	struct server *s = server_new(script_dies_on_second);
	struct client *c = client_new();
	struct call k = { 0 };
	char *body;

	post(&k, c, url_on(s, "/"), "{}");
	is_ok(&k, "first");
	body = xcalloc(1, sizes[_i] + 1);
	memset(body, 'x', sizes[_i]);
	post(&k, c, url_on(s, "/"), body);
	ended(&k, HTTP_CUT, true);
	ck_assert_int_eq(k.heads, 0);
	ck_assert_str_ne(k.why, "");
	ck_assert_int_eq(atomic_load(&s->requests), 2);
	/* And the next one is not harmed. */
	post(&k, c, url_on(s, "/"), "next");
	is_ok(&k, "next");
	ck_assert_int_eq(atomic_load(&s->requests), 3);
	free(body);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
script_one_each(struct conn *c)
{
	if (read_request(c))
		say_ok(c, "one");
}

START_TEST(stale_connection_reconnects)
{
	struct server *s = server_new(script_one_each);
	struct client *c = client_new();
	struct call k = { 0 };

	post(&k, c, url_on(s, "/"), "1");
	is_ok(&k, "one");
	client_nap(c, 100);
	post(&k, c, url_on(s, "/"), "2");
	is_ok(&k, "one");
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	ck_assert_int_eq(atomic_load(&s->requests), 2);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(refused_is_not_sent)
{
	struct client *c = client_new();
	struct call k = { 0 };
	char url[64];
	int fd, port;

	fd = bound_socket(&port);
	snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
	post(&k, c, url, "{}");
	ended(&k, HTTP_CONNECT, false);
	ck_assert_int_eq(k.heads, 0);
	ck_assert_str_ne(k.why, "");
	close(fd);
	client_free(c);
}
END_TEST

/* The longest label is 63 bytes: no name server is asked. */
START_TEST(unknown_host_is_not_sent)
{
	struct client *c = client_new();
	struct call k = { 0 };

	post(&k, c,
	    "http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid/",
	    "{}");
	ended(&k, HTTP_RESOLVE, false);
	client_free(c);
}
END_TEST

static void
script_silent(struct conn *c)
{
	while (pull(c))
		;
}

/* The handshake belongs to the connect timeout. */
START_TEST(connect_timeout)
{
	struct http_config config = defaults;
	struct server *s = server_new(script_silent);
	struct client *c;
	struct call k = { 0 };
	int64_t start = now_ms();
	char url[64];

	config.connect_timeout_ms = 200;
	c = client_with(&config);
	snprintf(url, sizeof url, "https://127.0.0.1:%d/", s->port);
	post(&k, c, url, "{}");
	ended(&k, HTTP_CONNECT, false);
	ck_assert_int_ge(now_ms() - start, 190);
	ck_assert_int_lt(now_ms() - start, 15000);
	client_free(c);
	server_free(s);
}
END_TEST

/* libcurl would wait a second for the 100 of a server that sends none. */
START_TEST(no_expect_delay)
{
	struct server *s = server_new(script_echo);
	struct client *c = client_new();
	struct call k = { 0 };
	size_t n = 2 * 1024 * 1024;
	char *body = xcalloc(1, n + 1);
	int64_t start;

	memset(body, 'x', n);
	start = now_ms();
	post(&k, c, url_on(s, "/"), body);
	is_ok(&k, "large");
	ck_assert_int_lt(now_ms() - start, 900);
	ck_assert_ptr_null(strstr(s->seen, "Expect"));
	free(body);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Connections */

static void
script_slow_echo(struct conn *c)
{
	while (read_request(c)) {
		pause_ms(30);
		say_ok(c, c->body);
	}
}

/* With a cache smaller than the calls in flight each round would open new
 * connections. */
START_TEST(in_flight_reuse_connections)
{
	struct server *s = server_new(script_slow_echo);
	struct client *c = client_new();
	static struct call k[64];
	int i, round;

	for (round = 0; round < 4; round++) {
		for (i = 0; i < 64; i++)
			call_post(&k[i], c, url_on(s, "/"), "x");
		client_wait(c);
		for (i = 0; i < 64; i++)
			is_ok(&k[i], "x");
		ck_assert_int_eq(atomic_load(&s->accepted), 64);
	}
	for (i = 0; i < 64; i++)
		buf_free(&k[i].body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
script_stream(struct conn *c)
{
	while (read_request(c)) {
		if (!wants(c, "/stream")) {
			say_ok(c, c->body);
			continue;
		}
		say(c,
		    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		    "\r\n");
		/* Held open until the client goes. */
		pull(c);
		return;
	}
}

/* The head of a stream comes before its first byte; with a limit of
 * connections per host each POST would queue behind it for ever. */
START_TEST(stream_does_not_block_posts)
{
	struct server *s = server_new(script_stream);
	struct client *c = client_new();
	struct call stream = { 0 }, k = { 0 };
	int i;

	call_get(&stream, c, url_on(s, "/stream"));
	client_until(c, &stream.heads);
	c->waiting--;
	for (i = 0; i < 20; i++) {
		post(&k, c, url_on(s, "/"), "x");
		is_ok(&k, "x");
	}
	c->waiting++;
	ck_assert_int_eq(stream.dones, 0);
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	http_abort(stream.x);
	client_wait(c);
	ended(&stream, HTTP_ABORTED, true);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(fresh_connection_when_idle_too_long)
{
	struct server *s = server_new(script_echo);
	struct client *c = client_new();
	struct http_request r = {
		.method = "POST", .body = span_of("x"), .max_idle_conn_s = 1
	};
	struct call k = { 0 };

	r.url = url_on(s, "/");
	post(&k, c, r.url, "x");
	client_nap(c, 1100);
	/* Good enough for a call that does not ask for a fresh one. */
	post(&k, c, r.url, "x");
	ck_assert_int_eq(atomic_load(&s->accepted), 1);
	client_nap(c, 1100);
	call_request(&k, c, &r);
	client_wait(c);
	is_ok(&k, "x");
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	client_nap(c, 500);
	/* One that was used a moment ago is fresh. */
	call_request(&k, c, &r);
	client_wait(c);
	is_ok(&k, "x");
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* The descriptor of our connection to that port, or -1. */
static int
find_connection(int port)
{
	struct sockaddr_in a;
	socklen_t n;
	int fd;

	for (fd = 0; fd < 256; fd++) {
		n = sizeof a;
		memset(&a, 0, sizeof a);
		if (getpeername(fd, (struct sockaddr *)&a, &n) == 0 &&
		    a.sin_family == AF_INET && ntohs(a.sin_port) == port)
			return fd;
	}
	return -1;
}

static int
option_of(int fd, int level, int name)
{
	socklen_t n;
	int value;

	value = -1;
	n = sizeof value;
	ck_assert_int_eq(getsockopt(fd, level, name, &value, &n), 0);
	return value;
}

START_TEST(socket_options)
{
	struct server *s = server_new(script_echo);
	struct client *c = client_new();
	struct call k = { 0 };
	int fd;

	post(&k, c, url_on(s, "/"), "x");
	is_ok(&k, "x");
	fd = find_connection(s->port);
	ck_assert_int_ne(fd, -1);
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	ck_assert_int_ne(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
	ck_assert_int_ne(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 0);
#ifdef TCP_KEEPIDLE
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 30);
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), 10);
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_KEEPCNT), 3);
#endif
#ifdef TCP_USER_TIMEOUT
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 20000);
#endif
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
check_no_peer(struct call *k)
{
	ck_assert_ptr_null(http_peer(k->x));
}

START_TEST(unix_socket)
{
	char dir[] = "/tmp/check_http.XXXXXX";
	struct http_config config = defaults;
	struct sockaddr_un a;
	struct server *s;
	struct client *c;
	struct call k = { .on_head = check_no_peer };
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	memset(&a, 0, sizeof a);
	a.sun_family = AF_UNIX;
	snprintf(a.sun_path, sizeof a.sun_path, "%s/s", dir);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	s = server_on(fd, script_echo);
	config.unix_socket = a.sun_path;
	/* A proxy is not asked for the way there. */
	config.proxy = "http://127.0.0.1:1";
	c = client_with(&config);
	post(&k, c, "http://server.example/mcp", "x");
	is_ok(&k, "x");
	ck_assert_ptr_nonnull(strstr(s->seen, "Host: server.example\r\n"));
	unlink(a.sun_path);
	rmdir(dir);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(resolve_option)
{
	struct server *s = server_new(script_echo);
	struct http_config config = defaults;
	const char *list[] = { NULL, NULL };
	char entry[64], url[64];
	struct client *c;
	struct call k = { 0 };

	snprintf(entry, sizeof entry, "mcp.example:%d:127.0.0.1", s->port);
	snprintf(url, sizeof url, "http://mcp.example:%d/", s->port);
	list[0] = entry;
	config.resolve = list;
	c = client_with(&config);
	post(&k, c, url, "x");
	is_ok(&k, "x");
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Connections that are forgotten */

/* Answers with the number of the connection; "/slow" after 400 ms, and
 * "/stream" with a byte each 5 ms. */
static void
script_serial(struct conn *c)
{
	char text[16];

	snprintf(text, sizeof text, "%d", c->serial);
	while (read_request(c)) {
		if (wants(c, "/slow"))
			pause_ms(400);
		if (!wants(c, "/stream")) {
			say_ok(c, text);
			continue;
		}
		say(c,
		    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		    "\r\n");
		while (say(c, text))
			pause_ms(5);
		return;
	}
}

static long
number(struct call *k)
{
	return strtol(buf_str(&k->body), NULL, 10);
}

static bool
comes_true(const atomic_int *value, int wanted)
{
	int64_t limit = now_ms() + GUARD_MS;

	while (atomic_load(value) != wanted && now_ms() < limit)
		pause_ms(1);
	return atomic_load(value) == wanted;
}

static int
open_files(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

/* Never the old connection, at once the new one again, and the old one is
 * closed. */
START_TEST(forget_idle_connections)
{
	struct server *s = server_new(script_serial);
	struct client *c = client_new();
	struct call k = { 0 };
	char text[16];
	int files = open_files(), i, again;

	for (i = 1; i <= 50; i++) {
		snprintf(text, sizeof text, "%d", i);
		for (again = 0; again < 3; again++) {
			post(&k, c, url_on(s, "/"), "x");
			is_ok(&k, text);
		}
		http_forget(c->h);
		/* There is nothing to forget then. */
		http_forget(c->h);
		client_nap(c, 1);
		ck_assert(comes_true(&s->alive, 0));
	}
	ck_assert_int_eq(atomic_load(&s->accepted), 50);
	/* Nothing is left behind of them. */
	ck_assert_int_le(open_files(), files + 4);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* The one that is busy at that time ends its answer and is not used again,
 * although it became idle later; nor are those that run in parallel. */
START_TEST(forget_busy_connections)
{
	enum { CALLS = 8 };
	struct server *s = server_new(script_serial);
	struct client *c = client_new();
	static struct call old[CALLS], new[CALLS];
	int i, round;

	for (i = 0; i < CALLS; i++)
		call_post(&old[i], c, url_on(s, "/slow"), "x");
	/* All of them at once: before the first one is answered. */
	for (i = 0; i < 10 && atomic_load(&s->accepted) < CALLS; i++)
		client_nap(c, 30);
	ck_assert_int_eq(atomic_load(&s->accepted), CALLS);
	http_forget(c->h);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < CALLS; i++)
			call_post(&new[i], c, url_on(s, "/slow"), "x");
		client_wait(c);
		for (i = 0; i < CALLS; i++) {
			ended(&new[i], HTTP_DONE, true);
			ck_assert_int_gt(number(&new[i]), CALLS);
			ended(&old[i], HTTP_DONE, true);
			ck_assert_int_le(number(&old[i]), CALLS);
		}
	}
	ck_assert_int_eq(atomic_load(&s->accepted), 2 * CALLS);
	ck_assert(comes_true(&s->alive, CALLS));
	for (i = 0; i < CALLS; i++) {
		buf_free(&old[i].body);
		buf_free(&new[i].body);
	}
	client_free(c);
	server_free(s);
}
END_TEST

/* A stream from before is read, paused, resumed and ended as ever: by us, by
 * its silence, or with everything. */
START_TEST(forget_leaves_streams)
{
	struct server *s = server_new(script_serial);
	struct client *c = client_new();
	struct http_request r = { .method = "GET" };
	struct call stream = { .discard = true }, k = { 0 };
	size_t bytes;
	int i;

	r.url = url_on(s, "/stream");
	r.idle_ms = 500;
	call_request(&stream, c, &r);
	client_until(c, &stream.heads);
	for (i = 0; i < 3; i++) {
		http_forget(c->h);
		c->waiting--;
		post(&k, c, url_on(s, "/"), "x");
		c->waiting++;
		ck_assert_int_eq(number(&k), i + 2);
	}
	bytes = stream.bytes;
	client_nap(c, 50);
	ck_assert_uint_gt(stream.bytes, bytes);
	http_pause(stream.x, true);
	client_nap(c, 50);
	bytes = stream.bytes;
	client_nap(c, 50);
	ck_assert_uint_eq(stream.bytes, bytes);
	http_pause(stream.x, false);
	client_nap(c, 50);
	ck_assert_uint_gt(stream.bytes, bytes);
	ck_assert_int_eq(stream.dones, 0);
	/* The stream's and the latest. */
	ck_assert(comes_true(&s->alive, 2));
	if (_i == 0) {
		http_abort(stream.x);
		client_wait(c);
		ended(&stream, HTTP_ABORTED, true);
		client_nap(c, 1);
		ck_assert(comes_true(&s->alive, 1));
	} else if (_i == 1) {
		http_expire(stream.x, 20);
		client_wait(c);
		ended(&stream, HTTP_IDLE, true);
		client_nap(c, 1);
		ck_assert(comes_true(&s->alive, 1));
	}
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
hold(struct call *k)
{
	http_pause(k->x, true);
}

/* The last of a forgotten connection: held back by us, or slow. It is told,
 * and the connection is closed, without anything else going on. */
START_TEST(forget_and_end)
{
	struct server *s = server_new(script_serial);
	struct client *c = client_new();
	struct call k = { .on_head = _i == 0 ? hold : NULL };
	int64_t start = now_ms();

	call_post(&k, c, url_on(s, _i == 0 ? "/" : "/slow"), "x");
	client_nap(c, 50);
	ck_assert_int_eq(k.dones, 0);
	http_forget(c->h);
	if (_i == 0) {
		client_nap(c, 300);
		ck_assert_int_eq(k.dones, 0);
		http_pause(k.x, false);
	}
	client_wait(c);
	is_ok(&k, "1");
	/* Not by a timer of libcurl's that was left. */
	ck_assert_int_lt(now_ms() - start, 5000);
	client_nap(c, 1);
	ck_assert(comes_true(&s->alive, 0));
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
forget_now(struct call *k)
{
	http_forget(k->c->h);
}

static bool
forget_in_data(struct call *k)
{
	http_forget(k->c->h);
	return true;
}

/* libcurl is on the stack there. What was sent in the same turn begins
 * later, so it gets a new connection too. */
START_TEST(forget_in_callbacks)
{
	struct server *s = server_new(script_serial);
	struct client *c = client_new();
	struct call k = { 0 }, other = { 0 };

	post(&other, c, url_on(s, "/"), "x");
	is_ok(&other, "1");
	k.on_head = _i == 0 ? forget_now : NULL;
	k.on_data = _i == 1 ? forget_in_data : NULL;
	k.on_done = _i == 2 ? forget_now : NULL;
	post(&k, c, url_on(s, "/"), "x");
	is_ok(&k, "1");
	post(&other, c, url_on(s, "/"), "x");
	is_ok(&other, "2");
	call_post(&other, c, url_on(s, "/"), "x");
	http_forget(c->h);
	client_wait(c);
	is_ok(&other, "3");
	buf_free(&k.body);
	buf_free(&other.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* The first answer, and then nothing on that connection any more: as if the
 * network had changed. */
static void
script_first_goes_silent(struct conn *c)
{
	if (c->serial > 1) {
		script_serial(c);
		return;
	}
	read_request(c);
	say_ok(c, "1");
	while (pull(c))
		;
}

START_TEST(forget_a_dead_connection)
{
	struct server *s = server_new(script_first_goes_silent);
	struct client *c = client_new();
	struct http_request r = {
		.method = "POST", .body = span_of("x"), .idle_ms = 300
	};
	struct call k = { 0 }, hangs = { 0 };

	r.url = url_on(s, "/");
	post(&k, c, r.url, "x");
	is_ok(&k, "1");
	if (_i == 0) {
		/* What would happen. */
		call_request(&k, c, &r);
		client_wait(c);
		ended(&k, HTTP_IDLE, true);
	} else {
		call_request(&hangs, c, &r);
		client_nap(c, 50);
		http_forget(c->h);
		call_request(&k, c, &r);
		client_wait(c);
		is_ok(&k, "2");
		ended(&hangs, HTTP_IDLE, true);
	}
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* A name that was given by hand stays known. */
START_TEST(forget_keeps_given_names)
{
	struct server *s = server_new(script_serial);
	struct http_config config = defaults;
	const char *list[] = { NULL, NULL };
	char entry[64], url[64];
	struct client *c;
	struct call k = { 0 };

	snprintf(entry, sizeof entry, "mcp.invalid:%d:127.0.0.1", s->port);
	snprintf(url, sizeof url, "http://mcp.invalid:%d/", s->port);
	list[0] = entry;
	config.resolve = list;
	c = client_with(&config);
	post(&k, c, url, "x");
	is_ok(&k, "1");
	http_forget(c->h);
	post(&k, c, url, "x");
	is_ok(&k, "2");
	post(&k, c, url, "x");
	is_ok(&k, "2");
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
check_peer(struct call *k)
{
	ck_assert_str_eq(http_peer(k->x), "127.0.0.1");
}

static bool
check_peer_in_data(struct call *k)
{
	check_peer(k);
	return true;
}

START_TEST(peer_of_an_answer)
{
	struct server *s = server_new(script_echo);
	struct client *c = client_new();
	struct call k = { .on_head = check_peer,
		.on_data = check_peer_in_data,
		.on_done = check_peer };
	int i;

	/* The second is on a connection that was there. */
	for (i = 0; i < 2; i++) {
		call_post(&k, c, url_on(s, "/"), "x");
		ck_assert_ptr_null(http_peer(k.x));
		client_wait(c);
		is_ok(&k, "x");
	}
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Broken answers */

struct broken {
	const char *text;
	int heads;
	size_t bytes;
};

/* Each is followed by the end of the connection. */
static const struct broken brokens[] = {
	{ "", 0, 0 },
	{ "HTTP/1.1 200 OK\r\nContent-Le", 0, 0 },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", 0, 0 },
	{ "HTTP/1.1 200 OK\r\n", 0, 0 },
	{ "HTTP/1.1 100 Continue\r\n\r\n", 0, 0 },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", 1, 3 },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", 1, 0 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", 1,
	    2 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	  "2\r\nab\r\n",
	    1, 2 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 1, 0 },
	{ "SSH-2.0-OpenSSH_9.2\r\n", 0, 0 },
	{ "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nabc", 0, 0 },
};

static void
script_broken(struct conn *c)
{
	if (read_request(c))
		say(c, brokens[c->s->variant].text);
}

START_TEST(broken_answers_are_cut)
{
	struct server *s = server_new(script_broken);
	struct client *c = client_new();
	struct call k = { 0 };

	s->variant = _i;
	post(&k, c, url_on(s, "/"), "{}");
	ended(&k, HTTP_CUT, true);
	ck_assert_int_eq(k.heads, brokens[_i].heads);
	ck_assert_uint_eq(k.bytes, brokens[_i].bytes);
	ck_assert(!k.answer.too_large_head);
	ck_assert_str_ne(k.why, "");
	ck_assert_int_eq(atomic_load(&s->requests), 1);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Many lines, one endless line, a flood of interim answers, a trailer. */
static void
script_large_head(struct conn *c)
{
	static char line[1024];
	int i;

	memset(line, 'x', sizeof line - 1);
	memcpy(line, "X-A: ", 5);
	read_request(c);
	if (c->s->variant == 3)
		say(c,
		    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		    "1\r\na\r\n0\r\n");
	else if (c->s->variant != 2)
		say(c, "HTTP/1.1 200 OK\r\n");
	for (i = 0; i < 4096; i++) {
		if (c->s->variant == 2)
			say(c, "HTTP/1.1 102 Processing\r\n");
		if (!say(c, line))
			return;
		if (c->s->variant != 1)
			say(c, "\r\n");
		if (c->s->variant == 2)
			say(c, "\r\n");
	}
}

START_TEST(large_head_is_cut)
{
	struct server *s = server_new(script_large_head);
	struct client *c = client_new();
	struct call k = { 0 };

	s->variant = _i;
	post(&k, c, url_on(s, "/"), "{}");
	ended(&k, HTTP_CUT, true);
	ck_assert(k.answer.too_large_head);
	ck_assert_int_eq(k.heads, _i == 3 ? 1 : 0);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* A head just below the cap passes. */
static void
script_tall_head(struct conn *c)
{
	static char line[1000];
	int i;

	memset(line, 'x', sizeof line - 1);
	memcpy(line, "X-A: ", 5);
	while (read_request(c)) {
		say(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n");
		for (i = 0; i < 64; i++) {
			say(c, line);
			say(c, "\r\n");
		}
		say(c, "\r\nok");
	}
}

START_TEST(tall_head_passes)
{
	struct server *s = server_new(script_tall_head);
	struct client *c = client_new();
	struct call k = { 0 };
	int i;

	for (i = 0; i < 3; i++) {
		post(&k, c, url_on(s, "/"), "{}");
		is_ok(&k, "ok");
	}
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Pause */

static void
fill_pattern(char *p, size_t n, size_t at)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (char)(((at + i) * 2654435761u) >> 13);
}

static uint32_t
pattern_sum(size_t total)
{
	uint32_t sum;
	size_t i;

	sum = 0;
	for (i = 0; i < total; i++)
		sum = sum * 31 + (unsigned char)((i * 2654435761u) >> 13);
	return sum;
}

static void
script_big(struct conn *c)
{
	char part[16384];
	size_t at;
	int n;

	n = 64 * 1024;
	setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof n);
	while (read_request(c)) {
		snprintf(part, sizeof part,
		    "HTTP/1.1 200 OK\r\n"
		    "Content-Length: %d\r\n\r\n",
		    BIG);
		say(c, part);
		for (at = 0; at < BIG; at += sizeof part) {
			fill_pattern(part, sizeof part, at);
			if (!push(c, part, sizeof part))
				return;
			atomic_fetch_add(&c->s->pushed, (long)sizeof part);
		}
	}
}

/* Resident bytes of this process, or 0 where that cannot be asked. */
static long
resident(void)
{
	long total, pages;
	FILE *f;
	int n;

	f = fopen("/proc/self/statm", "r");
	if (f == NULL)
		return 0;
	n = fscanf(f, "%ld %ld", &total, &pages);
	fclose(f);
	return n == 2 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

static bool
pause_now(struct call *k)
{
	if (k->round++ == 0)
		http_pause(k->x, true);
	return true;
}

static void
pause_in_head(struct call *k)
{
	http_pause(k->x, true);
}

/* Paused in data, before the answer, or in head: the server is kept waiting,
 * we hold nothing, and later each byte arrives once. */
START_TEST(pause_is_flat_and_loses_nothing)
{
	struct server *s = server_new(script_big);
	struct client *c = client_new();
	struct call k = { .discard = true };
	size_t bytes;
	long before;

	if (_i == 0)
		k.on_data = pause_now;
	if (_i == 2)
		k.on_head = pause_in_head;
	call_get(&k, c, url_on(s, "/"));
	if (_i == 1)
		http_pause(k.x, true);
	client_until(c, &k.heads);
	client_nap(c, 100);
	bytes = k.bytes;
	before = resident();
	client_nap(c, 200);
	ck_assert_uint_eq(k.bytes, bytes);
	ck_assert_uint_le(k.bytes, _i == 0 ? 65536 : 0);
	ck_assert_int_eq(k.heads, 1);
	ck_assert_int_lt(atomic_load(&s->pushed), BIG * 3 / 4);
	ck_assert_int_lt(resident() - before, 1024 * 1024);
	http_pause(k.x, false);
	client_wait(c);
	ended(&k, HTTP_DONE, true);
	ck_assert_uint_eq(k.bytes, BIG);
	ck_assert_uint_eq(k.sum, pattern_sum(BIG));
	client_free(c);
	server_free(s);
}
END_TEST

static void
on_resume(void *arg)
{
	struct call *k = arg;

	http_pause(k->x, false);
}

/* Pauses at each piece; resuming gives the next one, which pauses again while
 * libcurl is still inside curl_easy_pause. */
static bool
pause_each(struct call *k)
{
	http_pause(k->x, true);
	loop_defer(k->c->l, on_resume, k);
	return true;
}

static bool
pause_and_go_on(struct call *k)
{
	http_pause(k->x, true);
	http_pause(k->x, false);
	return true;
}

START_TEST(pause_at_each_piece)
{
	struct server *s = server_new(script_big);
	struct client *c = client_new();
	struct call k = { .discard = true,
		.on_data = _i == 0 ? pause_each : pause_and_go_on };

	get(&k, c, url_on(s, "/"));
	ended(&k, HTTP_DONE, true);
	ck_assert_uint_eq(k.bytes, BIG);
	ck_assert_uint_eq(k.sum, pattern_sum(BIG));
	client_free(c);
	server_free(s);
}
END_TEST

/* Other calls go on while one is paused; an abort ends a paused one. */
START_TEST(abort_while_paused)
{
	struct server *s = server_new(script_big);
	struct server *s2 = server_new(script_echo);
	struct client *c = client_new();
	struct call k = { .discard = true, .on_data = pause_now }, k2 = { 0 };

	call_get(&k, c, url_on(s, "/"));
	client_until(c, &k.round);
	c->waiting--;
	post(&k2, c, url_on(s2, "/"), "x");
	is_ok(&k2, "x");
	c->waiting++;
	http_abort(k.x);
	http_pause(k.x, false);
	client_wait(c);
	ended(&k, HTTP_ABORTED, true);
	buf_free(&k2.body);
	client_free(c);
	server_free(s);
	server_free(s2);
}
END_TEST

/* Abort */

static bool
abort_in_data(struct call *k)
{
	ck_assert_int_eq(k->round++, 0);
	http_abort(k->x);
	return true;
}

static bool
refuse_data(struct call *k)
{
	ck_assert_int_eq(k->round++, 0);
	return false;
}

static void
abort_in_head(struct call *k)
{
	http_abort(k->x);
	http_abort(k->x);
}

START_TEST(abort_in_callbacks)
{
	struct server *s = server_new(script_big);
	struct client *c = client_new();
	struct call k = { .discard = true };

	if (_i == 0)
		k.on_data = abort_in_data;
	else if (_i == 1)
		k.on_data = refuse_data;
	else
		k.on_head = abort_in_head;
	get(&k, c, url_on(s, "/"));
	ended(&k, HTTP_ABORTED, true);
	ck_assert_int_eq(k.heads, 1);
	if (_i == 2)
		ck_assert_uint_eq(k.bytes, 0);
	client_free(c);
	server_free(s);
}
END_TEST

static void
on_abort(void *arg)
{
	struct call *k = arg;

	http_abort(k->x);
	ck_assert_int_eq(k->dones, 0);
}

START_TEST(abort_from_a_timer)
{
	struct server *s = server_new(script_silent);
	struct client *c = client_new();
	struct call k = { 0 };
	struct loop_timer *t = loop_timer_new(c->l, on_abort, &k);

	call_post(&k, c, url_on(s, "/"), "{}");
	loop_timer_set(t, 50);
	client_wait(c);
	ended(&k, HTTP_ABORTED, true);
	ck_assert_int_eq(k.heads, 0);
	loop_timer_free(t);
	client_free(c);
	server_free(s);
}
END_TEST

static void
check_no_headers(struct call *k)
{
	ck_assert_ptr_null(http_header(k->x, "Content-Type", 0));
}

/* Nothing is sent, and the pooled handle shows nothing of its last answer. */
START_TEST(abort_before_start)
{
	struct server *s = server_new(script_echo);
	struct client *c = client_new();
	struct call k = { 0 };

	post(&k, c, url_on(s, "/"), "x");
	k.on_done = check_no_headers;
	call_post(&k, c, url_on(s, "/"), "y");
	http_abort(k.x);
	client_wait(c);
	ended(&k, HTTP_ABORTED, false);
	client_nap(c, 50);
	ck_assert_int_eq(atomic_load(&s->requests), 1);
	client_free(c);
	server_free(s);
}
END_TEST

static void
abort_other(struct call *k)
{
	if (k->other->dones == 0)
		http_abort(k->other->x);
}

/* Two answers that are read in one turn: the first done aborts the other,
 * whose end libcurl has already noted, perhaps. */
START_TEST(abort_another_in_done)
{
	struct server *s = server_new(script_slow_echo);
	struct client *c = client_new();
	struct call a = { .on_done = abort_other };
	struct call b = { .on_done = abort_other };
	int i, aborted;

	a.other = &b;
	b.other = &a;
	aborted = 0;
	for (i = 0; i < 20; i++) {
		call_post(&a, c, url_on(s, "/"), "a");
		call_post(&b, c, url_on(s, "/"), "b");
		client_wait(c);
		aborted += a.answer.end == HTTP_ABORTED;
		aborted += b.answer.end == HTTP_ABORTED;
	}
	ck_assert_int_eq(aborted, 20);
	buf_free(&a.body);
	buf_free(&b.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Sending inside of callbacks */

static struct server *chain_server;

static void
send_next(struct call *k)
{
	if (k->other != NULL && k->other->c == NULL)
		call_post(k->other, k->c, url_on(chain_server, "/"), "next");
}

static bool
send_next_in_data(struct call *k)
{
	send_next(k);
	return true;
}

START_TEST(send_in_callbacks)
{
	struct client *c = client_new();
	struct call next[3] = { { 0 } }, k = { .on_head = send_next };
	int i;

	/* From head, data and done, in that order along the chain. */
	chain_server = server_new(script_echo);
	k.other = &next[0];
	next[0].on_data = send_next_in_data;
	next[0].other = &next[1];
	next[1].on_done = send_next;
	next[1].other = &next[2];
	post(&k, c, url_on(chain_server, "/"), "first");
	is_ok(&k, "first");
	for (i = 0; i < 3; i++) {
		is_ok(&next[i], "next");
		buf_free(&next[i].body);
	}
	buf_free(&k.body);
	client_free(c);
	server_free(chain_server);
}
END_TEST

/* Silence */

static void
get_idle(struct call *k, struct client *c, const char *url, int64_t ms)
{
	struct http_request r = { .method = "GET", .url = url, .idle_ms = ms };

	call_request(k, c, &r);
}

START_TEST(idle_ends_a_silent_call)
{
	struct server *s = server_new(_i == 0 ? script_silent : script_stream);
	struct client *c = client_new();
	struct call k = { 0 };
	int64_t start = now_ms();

	get_idle(&k, c, url_on(s, "/stream"), 400);
	client_wait(c);
	ended(&k, HTTP_IDLE, true);
	ck_assert_int_eq(k.heads, _i);
	ck_assert_int_ge(now_ms() - start, 400);
	ck_assert_int_lt(now_ms() - start, 790);
	client_free(c);
	server_free(s);
}
END_TEST

static void
others_are_open(struct call *k)
{
	for (k = k->other; k != NULL; k = k->other)
		ck_assert_int_eq(k->dones, 0);
}

static void
last_is_open(struct call *k)
{
	others_are_open(k);
	http_abort(k->other->x);
}

/* Limits at once: the shortest one started later, another is none. */
START_TEST(idle_limits_are_kept_apart)
{
	struct server *s = server_new(script_silent);
	struct client *c = client_new();
	struct call never = { 0 };
	struct call slow = { .other = &never, .on_done = last_is_open };
	struct call fast = { .other = &slow, .on_done = others_are_open };
	int64_t start = now_ms();

	get_idle(&slow, c, url_on(s, "/"), 800);
	get_idle(&never, c, url_on(s, "/"), 0);
	client_nap(c, 20);
	get_idle(&fast, c, url_on(s, "/"), 100);
	client_until(c, &fast.dones);
	ck_assert_int_lt(now_ms() - start, 700);
	client_wait(c);
	ended(&fast, HTTP_IDLE, true);
	ended(&slow, HTTP_IDLE, true);
	ended(&never, HTTP_ABORTED, true);
	client_free(c);
	server_free(s);
}
END_TEST

static void
script_drip(struct conn *c)
{
	int i;

	while (read_request(c)) {
		say(c, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n");
		for (i = 0; i < 8; i++) {
			pause_ms(100);
			say(c, "x");
		}
	}
}

START_TEST(bytes_reset_idle)
{
	struct server *s = server_new(script_drip);
	struct client *c = client_new();
	struct call k = { 0 };

	get_idle(&k, c, url_on(s, "/"), 500);
	client_wait(c);
	is_ok(&k, "xxxxxxxx");
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(a_pause_is_not_idle)
{
	struct server *s = server_new(script_big);
	struct client *c = client_new();
	struct call k = { .discard = true, .on_data = pause_now };

	get_idle(&k, c, url_on(s, "/"), 500);
	client_nap(c, 1300);
	ck_assert_int_eq(k.dones, 0);
	http_pause(k.x, false);
	client_wait(c);
	ended(&k, HTTP_DONE, true);
	ck_assert_uint_eq(k.bytes, BIG);
	client_free(c);
	server_free(s);
}
END_TEST

/* The time of a pause does not count afterwards either. */
START_TEST(idle_starts_anew_after_a_pause)
{
	struct server *s = server_new(script_stream);
	struct client *c = client_new();
	struct call k = { .on_head = pause_in_head };
	int64_t resumed;

	get_idle(&k, c, url_on(s, "/stream"), 500);
	client_until(c, &k.heads);
	client_nap(c, 350);
	ck_assert_int_eq(k.dones, 0);
	resumed = now_ms();
	http_pause(k.x, false);
	client_wait(c);
	ended(&k, HTTP_IDLE, true);
	ck_assert_int_ge(now_ms() - resumed, 490);
	client_free(c);
	server_free(s);
}
END_TEST

/* Reads the body slowly. */
static void
script_slow_reader(struct conn *c)
{
	char part[65536];
	size_t left;
	ssize_t r;

	read_head(c);
	left = content_length(c->head) - c->n;
	while (left > 0) {
		pause_ms(10);
		r = recv(c->fd, part, sizeof part, 0);
		if (r <= 0)
			return;
		left -= (size_t)r;
	}
	say_ok(c, "read");
}

START_TEST(an_upload_is_not_idle)
{
	struct server *s;
	struct client *c = client_new();
	struct http_request r = { .method = "POST", .idle_ms = 1500 };
	struct call k = { 0 };
	char *body = xcalloc(1, BIG);
	int fd, n, port;
	int64_t start = now_ms();

	/* A small window, so that the sender sees the reader's speed. */
	fd = bound_socket(&port);
	n = 64 * 1024;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &n, sizeof n);
	s = server_on(fd, script_slow_reader);
	s->port = port;
	r.url = url_on(s, "/");
	r.body = (struct span){ body, BIG };
	call_request(&k, c, &r);
	client_wait(c);
	is_ok(&k, "read");
	ck_assert_int_gt(now_ms() - start, 2500);
	free(body);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Cookies and coding */

static void
script_cookie(struct conn *c)
{
	while (read_request(c)) {
		if (strstr(c->head, "Cookie: lb=node7") != NULL)
			say_ok(c, "kept");
		else
			say(c,
			    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n"
			    "Set-Cookie: lb=node7; Path=/; HttpOnly\r\n"
			    "\r\nnew");
	}
}

/* Two calls at once use two handles: the second one of the next round may
 * only know the cookie by sharing. */
START_TEST(cookies)
{
	struct server *s = server_new(script_cookie);
	struct http_config config = defaults;
	struct client *c;
	struct call a = { 0 }, b = { 0 };

	config.no_cookies = _i == 1;
	c = client_with(&config);
	post(&a, c, url_on(s, "/"), "{}");
	is_ok(&a, "new");
	call_post(&a, c, url_on(s, "/"), "{}");
	call_post(&b, c, url_on(s, "/"), "{}");
	client_wait(c);
	is_ok(&a, _i == 1 ? "new" : "kept");
	is_ok(&b, _i == 1 ? "new" : "kept");
	buf_free(&a.body);
	buf_free(&b.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
script_gzip(struct conn *c)
{
	static const unsigned char packed[] = { /* "hello" */
		0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9,
		0xc9, 7, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0
	};
	char text[128];

	while (read_request(c)) {
		if (strstr(c->head, "\r\nAccept-Encoding: gzip\r\n") == NULL) {
			say_ok(c, "plain");
			continue;
		}
		snprintf(text, sizeof text,
		    "HTTP/1.1 200 OK\r\n"
		    "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
		    sizeof packed);
		say(c, text);
		push(c, packed, sizeof packed);
	}
}

START_TEST(gzip_only_when_asked_for)
{
	struct server *s = server_new(script_gzip);
	struct http_config config = defaults;
	struct client *c;
	struct call k = { 0 };

	config.compressed = _i == 1;
	c = client_with(&config);
	post(&k, c, url_on(s, "/"), "{}");
	is_ok(&k, _i == 1 ? "hello" : "plain");
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Proxies */

static void
script_proxy(struct conn *c)
{
	static const char *const refusals[] = {
		"407 Proxy Authentication Required", "403 Forbidden",
		"503 Service Unavailable"
	};
	char text[256];

	while (read_request(c)) {
		if (c->s->variant == 3)
			return;
		if (c->s->variant == 4) {
			say_ok(c, "by proxy");
			continue;
		}
		snprintf(text, sizeof text,
		    "HTTP/1.1 %s\r\n"
		    "Proxy-Authenticate: Negotiate\r\nContent-Length: 0\r\n"
		    "\r\n",
		    refusals[c->s->variant]);
		say(c, text);
	}
}

static struct client *
client_behind(const struct server *s)
{
	static char url[64];
	struct http_config config = defaults;

	snprintf(url, sizeof url, "http://127.0.0.1:%d", s->port);
	config.proxy = url;
	config.proxy_user = "me:secret";
	config.noproxy = "direct.test";
	return client_with(&config);
}

/* What the proxy says to CONNECT is its refusal, not an answer, and it sees
 * none of our headers. */
START_TEST(connect_refused_by_proxy)
{
	static const int status[] = { 407, 403, 503 };
	struct server *s = server_new(script_proxy);
	struct client *c = client_behind(s);
	struct http_request r = { .method = "POST",
		.body = span_of("{}"),
		.url = "https://nothing.test/" };
	struct headers h;
	struct call k = { 0 };

	s->variant = _i;
	headers_init(&h);
	headers_add(&h, span_of("Authorization"), span_of("Bearer x"), true);
	r.headers = &h;
	call_request(&k, c, &r);
	client_wait(c);
	ended(&k, HTTP_PROXY, false);
	ck_assert_int_eq(k.answer.proxy_status, status[_i]);
	ck_assert_int_eq(k.heads, 0);
	ck_assert_ptr_eq(strstr(s->seen, "CONNECT nothing.test:443 "), s->seen);
	ck_assert_ptr_nonnull(strstr(s->seen,
	    "Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"));
	ck_assert_ptr_null(strstr(s->seen, "Bearer"));
	/* A later failure is not taken for the proxy's. */
	r.url = "http://127.0.0.1:1/";
	call_request(&k, c, &r);
	client_wait(c);
	ended(&k, HTTP_CONNECT, false);
	ck_assert_int_eq(k.answer.proxy_status, 0);
	headers_free(&h);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(proxy_hangs_up)
{
	struct server *s = server_new(script_proxy);
	struct client *c = client_behind(s);
	struct call k = { 0 };

	s->variant = 3;
	post(&k, c, "https://nothing.test/", "{}");
	ended(&k, HTTP_CONNECT, false);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(plain_http_by_proxy)
{
	struct server *s = server_new(script_proxy);
	struct client *c = client_behind(s);
	struct call k = { .on_head = check_peer };

	post(&k, c, "http://nothing.test/", "{}");
	ended(&k, HTTP_DONE, true);
	ck_assert_int_eq(k.status, 407);
	ck_assert_int_eq(k.answer.proxy_status, 0);
	s->variant = 4;
	post(&k, c, "http://nothing.test/", "{}");
	is_ok(&k, "by proxy");
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Without credentials to give, libcurl either gives up at the 407 or asks
 * again; the request is counted once by a proxy that forwards, and head comes
 * once in any case. */
START_TEST(negotiate_gives_one_head)
{
	struct server *s = server_new(script_proxy);
	struct http_config config = defaults;
	struct client *c;
	struct call k = { 0 };
	char url[64];

	snprintf(url, sizeof url, "http://127.0.0.1:%d", s->port);
	config.proxy = url;
	config.proxy_negotiate = true;
	c = client_with(&config);
	post(&k, c, "http://nothing.test/", "{}");
	ck_assert_int_le(k.heads, 1);
	if (k.answer.end == HTTP_DONE)
		ck_assert_int_eq(k.status, 407);
	client_free(c);
	server_free(s);
}
END_TEST

/* By option and by the environment: loopback goes direct, others do not. */
START_TEST(loopback_is_exempt_from_proxies)
{
	struct server *proxy = server_new(script_proxy);
	struct server *s = server_new(script_echo);
	struct client *c;
	struct call k = { 0 };
	char url[64];

	proxy->variant = 4;
	snprintf(url, sizeof url, "http://127.0.0.1:%d", proxy->port);
	if (_i == 0) {
		c = client_behind(proxy);
	} else {
		setenv("http_proxy", url, 1);
		unsetenv("no_proxy");
		setenv("NO_PROXY", "direct.test", 1);
		c = client_new();
	}
	post(&k, c, url_on(s, "/"), "x");
	is_ok(&k, "x");
	snprintf(url, sizeof url, "http://localhost:%d/", s->port);
	post(&k, c, url, "x");
	is_ok(&k, "x");
	snprintf(url, sizeof url, "http://a.localhost:%d/", s->port);
	post(&k, c, url, "x");
	is_ok(&k, "x");
	ck_assert_int_eq(atomic_load(&proxy->requests), 0);
	post(&k, c, "http://nothing.test/", "x");
	is_ok(&k, "by proxy");
	ck_assert_int_eq(atomic_load(&proxy->requests), 1);
	/* And back again, with the same handle. */
	post(&k, c, url_on(s, "/"), "x");
	is_ok(&k, "x");
	ck_assert_int_eq(atomic_load(&proxy->requests), 1);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
	server_free(proxy);
	unsetenv("http_proxy");
	unsetenv("NO_PROXY");
}
END_TEST

/* Options that cannot be used */

START_TEST(unusable_options)
{
	static const char *const urls[] = { "ftp://127.0.0.1/",
		"http://127.0.0.1:99999/", "http://example.com/",
		"https://127.0.0.1:%d/" };
	struct server *s = server_new(script_echo);
	struct http_config config = defaults;
	struct client *c;
	struct call k = { 0 };
	char url[64];

	if (_i == 2)
		config.proxy = "foo://127.0.0.1:1";
	if (_i == 3)
		config.cacert = "/nonexistent/ca.pem";
	c = client_with(&config);
	if (_i == 3)
		snprintf(url, sizeof url, "https://127.0.0.1:%d/", s->port);
	else
		snprintf(url, sizeof url, "%s", urls[_i]);
	post(&k, c, url, "{}");
	ended(&k, HTTP_CONFIG, false);
	ck_assert_str_ne(k.why, "");
	client_free(c);
	server_free(s);
}
END_TEST

/* The end of it all */

static void
not_called_head(struct exchange *x, int status, void *arg)
{
	(void)x;
	(void)arg;
	ck_abort_msg("head %d after http_free", status);
}

static bool
not_called_data(struct exchange *x, const char *p, size_t n, void *arg)
{
	(void)x;
	(void)p;
	(void)n;
	(void)arg;
	ck_abort_msg("data after http_free");
	return false;
}

static void
not_called_done(struct exchange *x, const struct http_answer *a, void *arg)
{
	(void)x;
	(void)a;
	(void)arg;
	ck_abort_msg("done after http_free");
}

/* Calls that run, are paused, ended or not yet begun: none is told. */
START_TEST(free_with_calls_open)
{
	static const struct http_ops silent = { not_called_head,
		not_called_data, not_called_done };
	struct server *s = server_new(script_silent);
	struct server *big = server_new(script_big);
	struct client *c = client_new();
	struct http_request r = {
		.method = "POST", .body = span_of("x"), .idle_ms = 20
	};
	struct call k = { .discard = true, .on_data = pause_now };
	struct exchange *x;

	call_get(&k, c, url_on(big, "/"));
	r.url = url_on(s, "/");
	client_until(c, &k.round);
	http_pause(k.x, false);
	x = http_send(c->h, &r, &silent, NULL);
	http_send(c->h, &r, &silent, NULL);
	http_abort(x);
	http_free(c->h);
	c->h = NULL;
	client_nap(c, 50);
	ck_assert_int_eq(k.dones, 0);
	client_free(c);
	server_free(s);
	server_free(big);
}
END_TEST

START_TEST(free_nothing)
{
	http_free(NULL);
	client_free(client_new());
	ck_assert_ptr_eq(strstr(http_version(), "libcurl/"), http_version());
}
END_TEST

/* TLS */

struct tls {
	char dir[32];
	pid_t pid;
	int hold; /* the server ends when this is closed */
	int port;
};

static const char make_certificates[] =
    "cd \"$1\" && exec >log 2>&1 && umask 077 || exit 1\n"
    "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem"
    " -days 2 -subj '/CN=Corp Root CA' || exit 1\n"
    "openssl req -newkey rsa:2048 -nodes -keyout key.pem -out req.pem"
    " -subj /CN=localhost || exit 1\n"
    "printf 'subjectAltName=IP:127.0.0.1\\n' >ext\n"
    "openssl x509 -req -in req.pem -CA ca.pem -CAkey ca.key"
    " -CAcreateserial -days 2 -extfile ext -out cert.pem || exit 1\n";

/* Answers each GET with a page about the connection, then closes. */
static const char run_server[] =
    "cd \"$1\" || exit 1\n"
    "openssl s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem"
    " -CAfile ca.pem -www $2 >out 2>err </dev/null &\n"
    "cat >/dev/null\n"
    "kill $!\n"
    "wait\n";

static pid_t
shell(const char *script, const char *dir, const char *arg, int in)
{
	pid_t pid;

	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		if (in != -1)
			dup2(in, 0);
		execl("/bin/sh", "sh", "-c", script, "sh", dir, arg,
		    (char *)NULL);
		_exit(127);
	}
	return pid;
}

static int
status_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* The port out of "ACCEPT 127.0.0.1:41234". */
static int
read_port(const char *dir)
{
	char path[64], line[128];
	int port;
	FILE *f;

	port = 0;
	snprintf(path, sizeof path, "%s/out", dir);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "ACCEPT", 6) == 0 &&
		    strchr(line, '\n') != NULL)
			port = (int)strtol(strrchr(line, ':') + 1, NULL, 10);
	fclose(f);
	return port;
}

static void
tls_start(struct tls *t, const char *option)
{
	int64_t limit = now_ms() + GUARD_MS;
	int p[2];

	snprintf(t->dir, sizeof t->dir, "/tmp/check_http.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(t->dir));
	ck_assert_int_eq(status_of(shell(make_certificates, t->dir, "", -1)),
	    0);
	ck_assert_int_eq(pipe(p), 0);
	fcntl(p[1], F_SETFD, FD_CLOEXEC);
	t->pid = shell(run_server, t->dir, option, p[0]);
	close(p[0]);
	t->hold = p[1];
	while ((t->port = read_port(t->dir)) == 0 && now_ms() < limit)
		pause_ms(5);
	ck_assert_int_ne(t->port, 0);
}

static void
tls_stop(struct tls *t)
{
	close(t->hold);
	status_of(t->pid);
	ck_assert_int_eq(status_of(shell("rm -r \"$1\"", t->dir, "", -1)), 0);
}

static void
tls_get(struct tls *t, const struct http_config *config, struct call *k,
    int times)
{
	struct client *c = client_with(config);
	char url[64];

	snprintf(url, sizeof url, "https://127.0.0.1:%d/", t->port);
	while (times-- > 0)
		get(k, c, url);
	client_free(c);
}

/* The words are libcurl's, and nothing was sent. */
START_TEST(tls_unknown_ca)
{
	struct tls t;
	struct call k = { 0 };

	tls_start(&t, "");
	tls_get(&t, &defaults, &k, 1);
	ended(&k, HTTP_TLS, false);
	ck_assert_ptr_nonnull(strstr(k.why, "certificate"));
	tls_stop(&t);
}
END_TEST

/* The CA as the only one and as an additional one. Later connections take up
 * the first one's session, on the same easy handle and on another. */
START_TEST(tls_known_ca_and_resumption)
{
	struct http_config config = defaults;
	struct server *s = server_new(script_silent);
	struct client *c;
	struct tls t;
	struct call k = { 0 }, busy = { 0 };
	char ca[64], url[64];

	tls_start(&t, "");
	snprintf(ca, sizeof ca, "%s/ca.pem", t.dir);
	snprintf(url, sizeof url, "https://127.0.0.1:%d/", t.port);
	if (_i == 0)
		config.cacert = ca;
	else
		config.cacert_extra = ca;
	c = client_with(&config);
	get(&k, c, url);
	ended(&k, HTTP_DONE, true);
	ck_assert_ptr_nonnull(strstr(buf_str(&k.body), "New, TLSv1."));
	get(&k, c, url);
	ended(&k, HTTP_DONE, true);
	ck_assert_ptr_nonnull(strstr(buf_str(&k.body), "Reused, TLSv1."));
	/* With the pooled handle in use, a new one has to know it too. */
	call_get(&busy, c, url_on(s, "/"));
	c->waiting--;
	get(&k, c, url);
	c->waiting++;
	ended(&k, HTTP_DONE, true);
	ck_assert_ptr_nonnull(strstr(buf_str(&k.body), "Reused, TLSv1."));
	ck_assert_int_eq(busy.dones, 0);
	/* Forgotten connections had sessions too. */
	http_forget(c->h);
	c->waiting--;
	get(&k, c, url);
	c->waiting++;
	ended(&k, HTTP_DONE, true);
	ck_assert_ptr_nonnull(strstr(buf_str(&k.body), "Reused, TLSv1."));
	buf_free(&k.body);
	client_free(c);
	server_free(s);
	tls_stop(&t);
}
END_TEST

/* CPU of a few first handshakes, in us. */
static long
handshake_cost(struct tls *t, const char *cacert)
{
	struct http_config config = defaults;
	struct rusage before, after;
	struct call k = { 0 };
	int i;

	config.cacert = cacert;
	tls_get(t, &config, &k, 1);
	getrusage(RUSAGE_SELF, &before);
	for (i = 0; i < 5; i++)
		tls_get(t, &config, &k, 1);
	getrusage(RUSAGE_SELF, &after);
	ended(&k, HTTP_TLS, false);
	return (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000 +
	    (after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
	    (after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1000000 +
	    (after.ru_stime.tv_usec - before.ru_stime.tv_usec);
}

/* Where the system has a hashed folder, its bundle (140 certificates) is not
 * read for each handshake. */
START_TEST(tls_does_not_read_the_bundle)
{
	static const char bundle[] = "/etc/ssl/certs/ca-certificates.crt";
	struct stat st;
	struct tls t;

	if (stat(bundle, &st) != 0 || st.st_size < 150 * 1024 ||
	    system("ls /etc/ssl/certs/*.0 >/dev/null 2>&1") != 0)
		return;
	tls_start(&t, "");
	ck_assert_int_lt(handshake_cost(&t, NULL) * 2,
	    handshake_cost(&t, bundle));
	tls_stop(&t);
}
END_TEST

START_TEST(tls_wrong_name)
{
	struct http_config config = defaults;
	const char *list[] = { NULL, NULL };
	struct client *c;
	struct tls t;
	struct call k = { 0 };
	char ca[64], entry[64], url[64];

	tls_start(&t, "");
	snprintf(ca, sizeof ca, "%s/ca.pem", t.dir);
	snprintf(entry, sizeof entry, "mcp.example:%d:127.0.0.1", t.port);
	snprintf(url, sizeof url, "https://mcp.example:%d/", t.port);
	list[0] = entry;
	config.cacert = ca;
	config.resolve = list;
	c = client_with(&config);
	get(&k, c, url);
	ended(&k, HTTP_TLS, false);
	ck_assert_ptr_nonnull(strstr(k.why, "mcp.example"));
	client_free(c);
	tls_stop(&t);
}
END_TEST

/* A server that wants a certificate: refused without, served with one. */
START_TEST(tls_client_certificate)
{
	struct http_config config = defaults;
	struct tls t;
	struct call k = { 0 };
	char ca[64], cert[64], key[64];

	tls_start(&t,
	    _i == 0 ? "-Verify 1 -verify_return_error" :
		      "-Verify 1 -verify_return_error -tls1_2");
	snprintf(ca, sizeof ca, "%s/ca.pem", t.dir);
	snprintf(cert, sizeof cert, "%s/cert.pem", t.dir);
	snprintf(key, sizeof key, "%s/key.pem", t.dir);
	config.cacert = ca;
	tls_get(&t, &config, &k, 1);
	/* TLS 1.3 tells it only after the request is on its way. */
	ended(&k, HTTP_TLS, _i == 0);
	config.cert = cert;
	config.key = key;
	tls_get(&t, &config, &k, 1);
	ended(&k, HTTP_DONE, true);
	config.key = "/nonexistent/key.pem";
	tls_get(&t, &config, &k, 1);
	ended(&k, HTTP_CONFIG, false);
	buf_free(&k.body);
	tls_stop(&t);
}
END_TEST

static const char lax[] = "openssl_conf = init\n[init]\nssl_conf = ssl\n[ssl]\n"
			  "system_default = lax\n[lax]\nMinProtocol = TLSv1\n"
			  "CipherString = ALL:@SECLEVEL=0\n";

/* TLS 1.1 is too old, even for a system that is lax. (Without a process for
 * each test, OpenSSL does not read this configuration any more.) */
START_TEST(tls_too_old)
{
	struct http_config config = defaults;
	struct tls t;
	struct call k = { 0 };
	char ca[64], path[64];
	FILE *f;

	tls_start(&t, "-tls1_1 -cipher ALL:@SECLEVEL=0");
	snprintf(ca, sizeof ca, "%s/ca.pem", t.dir);
	snprintf(path, sizeof path, "%s/lax.cnf", t.dir);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(lax, f);
	fclose(f);
	setenv("OPENSSL_CONF", path, 1);
	config.cacert = ca;
	tls_get(&t, &config, &k, 1);
	ended(&k, HTTP_TLS, false);
	unsetenv("OPENSSL_CONF");
	tls_stop(&t);
}
END_TEST

static void
script_hang_up(struct conn *c)
{
	pull(c);
}

static void
script_no_tls(struct conn *c)
{
	pull(c);
	say(c, "HTTP/1.1 400 Bad Request\r\n\r\n");
}

/* A server that is just starting or ending is no certificate problem; one
 * that speaks no TLS is. */
START_TEST(tls_broken_handshake)
{
	struct server *s = server_new(_i == 0 ? script_hang_up : script_no_tls);
	struct client *c = client_new();
	struct call k = { 0 };
	char url[64];

	snprintf(url, sizeof url, "https://127.0.0.1:%d/", s->port);
	post(&k, c, url, "{}");
	ended(&k, _i == 0 ? HTTP_CONNECT : HTTP_TLS, false);
	ck_assert_str_ne(k.why, "");
	client_free(c);
	server_free(s);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static void
add_plain(TCase *t)
{
	tcase_add_test(t, small_post);
	tcase_add_test(t, methods_in_turn);
	tcase_add_loop_test(t, empty_answers, 0, 5);
	tcase_add_test(t, interim_answers_give_no_head);
	tcase_add_test(t, redirects_are_not_followed);
	tcase_add_loop_test(t, no_hidden_replay, 0, 3);
	tcase_add_test(t, stale_connection_reconnects);
	tcase_add_test(t, refused_is_not_sent);
	tcase_add_test(t, unknown_host_is_not_sent);
	tcase_add_test(t, connect_timeout);
	tcase_add_test(t, no_expect_delay);
	tcase_add_test(t, in_flight_reuse_connections);
	tcase_add_test(t, stream_does_not_block_posts);
	tcase_add_test(t, fresh_connection_when_idle_too_long);
	tcase_add_test(t, socket_options);
	tcase_add_test(t, unix_socket);
	tcase_add_test(t, resolve_option);
	tcase_add_loop_test(t, broken_answers_are_cut, 0, COUNT(brokens));
	tcase_add_loop_test(t, large_head_is_cut, 0, 4);
	tcase_add_test(t, tall_head_passes);
	tcase_add_loop_test(t, cookies, 0, 2);
	tcase_add_loop_test(t, gzip_only_when_asked_for, 0, 2);
	tcase_add_loop_test(t, unusable_options, 0, 4);
}

static void
add_forget(TCase *t)
{
	tcase_add_test(t, forget_idle_connections);
	tcase_add_test(t, forget_busy_connections);
	tcase_add_loop_test(t, forget_leaves_streams, 0, 3);
	tcase_add_loop_test(t, forget_and_end, 0, 2);
	tcase_add_loop_test(t, forget_in_callbacks, 0, 3);
	tcase_add_loop_test(t, forget_a_dead_connection, 0, 2);
	tcase_add_test(t, forget_keeps_given_names);
	tcase_add_test(t, peer_of_an_answer);
}

static void
add_control(TCase *t)
{
	tcase_add_loop_test(t, pause_is_flat_and_loses_nothing, 0, 3);
	tcase_add_loop_test(t, pause_at_each_piece, 0, 2);
	tcase_add_test(t, abort_while_paused);
	tcase_add_loop_test(t, abort_in_callbacks, 0, 3);
	tcase_add_test(t, abort_from_a_timer);
	tcase_add_test(t, abort_before_start);
	tcase_add_test(t, abort_another_in_done);
	tcase_add_test(t, send_in_callbacks);
	tcase_add_loop_test(t, idle_ends_a_silent_call, 0, 2);
	tcase_add_test(t, idle_limits_are_kept_apart);
	tcase_add_test(t, bytes_reset_idle);
	tcase_add_test(t, a_pause_is_not_idle);
	tcase_add_test(t, idle_starts_anew_after_a_pause);
	tcase_add_test(t, an_upload_is_not_idle);
	tcase_add_test(t, free_with_calls_open);
	tcase_add_test(t, free_nothing);
}

static void
add_proxy(TCase *t)
{
	tcase_add_loop_test(t, connect_refused_by_proxy, 0, 3);
	tcase_add_test(t, proxy_hangs_up);
	tcase_add_test(t, plain_http_by_proxy);
	tcase_add_test(t, negotiate_gives_one_head);
	tcase_add_loop_test(t, loopback_is_exempt_from_proxies, 0, 2);
}

static void
add_tls(TCase *t)
{
	tcase_add_loop_test(t, tls_broken_handshake, 0, 2);
	if (system("openssl version >/dev/null 2>&1") != 0) {
		fprintf(stderr, "no openssl command: TLS is not tested\n");
		return;
	}
	tcase_add_test(t, tls_unknown_ca);
	tcase_add_loop_test(t, tls_known_ca_and_resumption, 0, 2);
	tcase_add_test(t, tls_does_not_read_the_bundle);
	tcase_add_test(t, tls_wrong_name);
	tcase_add_loop_test(t, tls_client_certificate, 0, 2);
	tcase_add_test(t, tls_too_old);
}

/* The tests are about what they set, not about the machine's proxy. */
static void
clear_environment(void)
{
	static const char *const names[] = { "http_proxy", "https_proxy",
		"HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy",
		"NO_PROXY" };
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}

int
main(void)
{
	static const struct {
		const char *name;
		void (*add)(TCase *t);
	} groups[] = { { "plain", add_plain }, { "forget", add_forget },
		{ "control", add_control }, { "proxy", add_proxy },
		{ "tls", add_tls } };
	Suite *s = suite_create("http");
	SRunner *r;
	TCase *t;
	size_t i;
	int failed;

	clear_environment();
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < sizeof groups / sizeof *groups; i++) {
		t = tcase_create(groups[i].name);
		tcase_set_timeout(t, 60);
		groups[i].add(t);
		suite_add_tcase(s, t);
	}
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
