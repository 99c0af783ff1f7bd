/*
 * io/http: what is sent and what is read, over connections that are kept, to
 * servers that behave badly on purpose. Each trap of libcurl that was measured
 * has a test here or in the files beside it.
 */
#include "config.h"

#include "io/http.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bounds.h"
#include "unit/io/http_play.h"

/* Plain requests */

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

/* A fresh request leaves the idle connection alone; the next one, which is on
 * the same handle, does not. */
START_TEST(a_new_connection)
{
	struct server *s = server_new(script_method);
	struct client *c = client_new();
	struct call k = { 0 };
	struct http_request r = { .method = "POST",
		.body = span_of("x"),
		.url = url_on(s, "/"),
		.fresh = true };

	post(&k, c, r.url, "x");
	is_ok(&k, "POST 1 new");
	call_request(&k, c, &r);
	client_wait(c);
	is_ok(&k, "POST 1 new");
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	post(&k, c, r.url, "x");
	is_ok(&k, "POST 1 new");
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
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
	/* The next request succeeds. */
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

/* Answers once, then resets the connection. */
static void
script_resets(struct conn *c)
{
	static const struct linger now = { .l_onoff = 1 };

	if (c->serial == 1 && read_request(c)) {
		say_ok(c, "one");
		pause_ms(50); /* the answer is read */
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
		return;
	}
	script_echo(c);
}

/* libcurl finds a connection that was reset less than a second after its last
 * use only when it writes, and then takes another one. */
START_TEST(reset_connection_took_nothing)
{
	static const size_t sizes[] = { 2, 60 * 1024, 300 * 1024 };
	struct server *s = server_new(script_resets);
	struct client *c = client_new();
	struct call k = { 0 };
	char *body;

	post(&k, c, url_on(s, "/"), "{}");
	is_ok(&k, "one");
	client_nap(c, 150);
	body = xcalloc(1, sizes[_i] + 1);
	memset(body, 'x', sizes[_i]);
	post(&k, c, url_on(s, "/"), body);
	ended(&k, HTTP_DONE, true);
	ck_assert_int_eq(k.status, 200);
	ck_assert_int_eq(atomic_load(&s->requests), 2);
	free(body);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* The same, but the server does not listen any more. */
START_TEST(reset_connection_and_no_other)
{
	struct server *s = server_new(script_resets);
	struct client *c = client_new();
	struct call k = { 0 };

	post(&k, c, url_on(s, "/"), "{}");
	is_ok(&k, "one");
	shutdown(s->fd, SHUT_RDWR);
	client_nap(c, 150);
	post(&k, c, url_on(s, "/"), "{}");
	ended(&k, HTTP_CONNECT, false);
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
static const char
    unknown_host[] = "http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid/";

START_TEST(unknown_host_is_not_sent)
{
	struct client *c = client_new();
	struct call k = { 0 };

	post(&k, c, unknown_host, "{}");
	ended(&k, HTTP_RESOLVE, false);
	client_free(c);
}
END_TEST

/* The lowest number that no file has. */
static int
free_descriptor(void)
{
	int fd = dup(0);

	ck_assert_int_ne(fd, -1);
	close(fd);
	return fd;
}

/* Listens on an address, never accepts, and fills the queue of connections. */
static int
full_at(uint32_t address, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0), i;

	a.sin_addr.s_addr = htonl(address);
	a.sin_port = htons((uint16_t)port);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(fd, 0), 0);
	for (i = 0; i < 4; i++)
		connect(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
		    (struct sockaddr *)&a, sizeof a);
	return fd;
}

static void
set_flag(int fd, int what, void *arg)
{
	(void)fd;
	(void)what;
	*(int *)arg = 1;
}

/* Some libraries close the socket of a connection attempt without a word. Its
 * number is soon that of the resolver's pipe, which has no more to say when that
 * is closed, and then that of a file of ours. */
START_TEST(descriptor_of_an_attempt)
{
	struct http_config config = defaults;
	struct call k = { 0 };
	struct loop_fd *watch;
	struct client *c;
	int port, full, pair[2], fd, flag = 0;
	char url[64];

	close(bound_socket(&port));
	full = full_at(INADDR_LOOPBACK, port);
	config.connect_timeout_ms = 200;
	c = client_with(&config);
	fd = free_descriptor();
	snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
	get(&k, c, url);
	ended(&k, HTTP_CONNECT, false);
	get(&k, c, unknown_host);
	ended(&k, HTTP_RESOLVE, false);
	ck_assert_int_eq(pipe(pair), 0);
	ck_assert_int_eq(dup2(pair[0], fd), fd);
	watch = loop_fd_new(c->l, fd, LOOP_READ, set_flag, &flag);
	ck_assert_int_eq(write(pair[1], "x", 1), 1);
	client_until(c, &flag);
	loop_fd_free(watch);
	close(full);
	client_free(c);
}
END_TEST

/* Of two addresses the first one is silent: each has half of the time. */
START_TEST(next_address)
{
	struct http_config config = defaults;
	struct server *s = server_new(script_echo);
	const char *resolve[2] = { NULL };
	struct client *c;
	struct call k = { 0 };
	int full = full_at(INADDR_LOOPBACK + 1, s->port);
	char entry[64], url[64];

	snprintf(entry, sizeof entry, "two.test:%d:127.0.0.2,127.0.0.1",
	    s->port);
	resolve[0] = entry;
	config.resolve = resolve;
	config.connect_timeout_ms = 2000;
	c = client_with(&config);
	snprintf(url, sizeof url, "http://two.test:%d/", s->port);
	post(&k, c, url, "x");
	is_ok(&k, "x");
	buf_free(&k.body);
	close(full);
	client_free(c);
	server_free(s);
}
END_TEST

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

/* libcurl would wait a second for the 100 of a server that sends none, each
 * time; a busy machine needs so long now and then. */
START_TEST(no_expect_delay)
{
	struct server *s = server_new(script_echo);
	struct client *c = client_new();
	size_t n = 2 * 1024 * 1024;
	char *body = xcalloc(1, n + 1);
	int64_t start, took;
	int tries = 5;

	memset(body, 'x', n);
	do {
		struct call k = { 0 };

		start = now_ms();
		post(&k, c, url_on(s, "/"), body);
		took = now_ms() - start;
		is_ok(&k, "large");
		ck_assert_ptr_null(strstr(s->seen, "Expect"));
		buf_free(&k.body);
	} while (took >= 900 && --tries > 0);
	ck_assert_int_lt(took, 900);
	free(body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Connections */

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

/* So many connections are kept when all calls are over. */
START_TEST(spare_connections)
{
	enum { KEPT = 1 + BOUND_CONNECTIONS };
	struct http_config config = defaults;
	struct server *s = server_new(script_slow_echo);
	static struct call k[KEPT + 1];
	int64_t limit = now_ms() + GUARD_MS;
	struct client *c;
	int i;

	config.max_inflight = 1;
	c = client_with(&config);
	for (i = 0; i < KEPT + _i; i++)
		call_post(&k[i], c, url_on(s, "/"), "x");
	client_wait(c);
	for (i = 0; i < KEPT + _i; i++) {
		is_ok(&k[i], "x");
		buf_free(&k[i].body);
	}
	ck_assert_int_eq(atomic_load(&s->accepted), KEPT + _i);
	while (atomic_load(&s->alive) > KEPT && now_ms() < limit)
		client_nap(c, 5);
	client_nap(c, 50);
	ck_assert_int_eq(atomic_load(&s->alive), KEPT);
	client_free(c);
	server_free(s);
}
END_TEST

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
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 10);
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), 5);
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

	/* The second request uses the connection of the first. */
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

/* Coding */

static void
script_gzip(struct conn *c)
{
	static const unsigned char packed[] = { /* "hello" */
		0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9,
		0xc9, 7, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0
	};
	char text[128];

	while (read_request(c)) {
		snprintf(text, sizeof text,
		    "HTTP/1.1 200 OK\r\n"
		    "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
		    sizeof packed);
		say(c, text);
		push(c, packed, sizeof packed);
	}
}

/* Whatever is asked for; but where nothing is asked for, nothing is decoded. */
START_TEST(gzip)
{
	static const char *const codings[] = { NULL, "identity", "" };
	struct server *s = server_new(script_gzip);
	struct http_config config = defaults;
	struct client *c;
	struct call k = { 0 };

	config.codings = codings[_i];
	c = client_with(&config);
	post(&k, c, url_on(s, "/"), "{}");
	if (_i == 0) {
		ended(&k, HTTP_DONE, true);
		ck_assert_uint_eq((unsigned char)k.body.p[0], 0x1f);
	} else {
		is_ok(&k, "hello");
	}
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Only one Accept-Encoding goes out, and a header of the request goes first. */
START_TEST(asked_coding)
{
	static const char *const sent[] = { "\r\nAccept-Encoding: identity\r\n",
		"\r\nAccept-Encoding: br\r\n" };
	struct server *s = server_new(script_echo);
	struct http_config config = defaults;
	struct http_request r = { .method = "POST", .body = span_of("{}") };
	struct client *c;
	struct headers h;
	struct call k = { 0 };
	char *line;

	config.codings = "identity";
	c = client_with(&config);
	headers_init(&h);
	if (_i == 1)
		headers_add(&h, span_of("Accept-Encoding"), span_of("br"),
		    false);
	r.url = url_on(s, "/");
	r.headers = &h;
	call_request(&k, c, &r);
	headers_free(&h);
	client_wait(c);
	line = strstr(s->seen, "\r\nAccept-Encoding:");
	ck_assert_ptr_nonnull(line);
	ck_assert_ptr_eq(strstr(s->seen, sent[_i]), line);
	ck_assert_ptr_null(strstr(line + 1, "\r\nAccept-Encoding:"));
	buf_free(&k.body);
	client_free(c);
	server_free(s);
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
	tcase_add_loop_test(t, reset_connection_took_nothing, 0, 3);
	tcase_add_test(t, reset_connection_and_no_other);
	tcase_add_test(t, refused_is_not_sent);
	tcase_add_test(t, unknown_host_is_not_sent);
	tcase_add_test(t, descriptor_of_an_attempt);
	tcase_add_test(t, next_address);
	tcase_add_test(t, connect_timeout);
	tcase_add_test(t, no_expect_delay);
	tcase_add_test(t, a_new_connection);
	tcase_add_test(t, in_flight_reuse_connections);
	tcase_add_loop_test(t, spare_connections, 0, 2);
	tcase_add_test(t, stream_does_not_block_posts);
	tcase_add_test(t, socket_options);
	tcase_add_test(t, unix_socket);
	tcase_add_test(t, resolve_option);
	tcase_add_test(t, peer_of_an_answer);
	tcase_add_loop_test(t, broken_answers_are_cut, 0, COUNT(brokens));
	tcase_add_loop_test(t, large_head_is_cut, 0, 4);
	tcase_add_test(t, tall_head_passes);
	tcase_add_loop_test(t, gzip, 0, 3);
	tcase_add_loop_test(t, asked_coding, 0, 2);
	tcase_add_loop_test(t, unusable_options, 0, 4);
}

int
main(void)
{
	static const struct play_group groups[] = { { "plain", add_plain } };

	return play_main("http", groups, COUNT(groups));
}
