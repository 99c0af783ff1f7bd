/* The servers and clients that the tests of io/http play with. */
#include "config.h"

#include "unit/io/http_play.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* The server */

void
pause_ms(int ms)
{
	struct timespec ts;

	ts.tv_sec = ms / 1000;
	ts.tv_nsec = (long)(ms % 1000) * 1000000;
	nanosleep(&ts, NULL);
}

int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

bool
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

bool
say(struct conn *c, const char *text)
{
	return push(c, text, strlen(text));
}

bool
say_ok(struct conn *c, const char *body)
{
	char text[512];

	snprintf(text, sizeof text,
	    "HTTP/1.1 200 OK\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(body), body);
	return say(c, text);
}

bool
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

size_t
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

bool
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

bool
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

bool
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

struct server *
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

int
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

struct server *
server_new(void (*script)(struct conn *c))
{
	struct server *s;
	int fd, port;

	fd = bound_socket(&port);
	s = server_on(fd, script);
	s->port = port;
	return s;
}

void
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

const struct http_config defaults = { .user_agent = "mcpsplice/test",
	.connect_timeout_ms = 10000,
	.max_inflight = 64 };

struct client *
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

struct client *
client_new(void)
{
	return client_with(&defaults);
}

void
client_free(struct client *c)
{
	http_free(c->h);
	loop_timer_free(c->guard);
	loop_timer_free(c->nap);
	loop_free(c->l);
	free(c);
}

void
client_wait(struct client *c)
{
	if (c->waiting == 0)
		return;
	loop_timer_set(c->guard, GUARD_MS);
	loop_run(c->l);
	loop_timer_set(c->guard, -1);
	ck_assert_int_eq(c->waiting, 0);
}

void
client_nap(struct client *c, int ms)
{
	int waiting = c->waiting;

	c->waiting = 1000;
	loop_timer_set(c->nap, ms);
	loop_run(c->l);
	c->waiting -= 1000 - waiting;
}

void
client_until(struct client *c, const int *flag)
{
	int64_t limit = now_ms() + GUARD_MS;

	while (*flag == 0 && now_ms() < limit)
		client_nap(c, 5);
	ck_assert_int_ne(*flag, 0);
}

static void
call_on_head(struct transfer *x, int status, void *arg)
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
call_on_data(struct transfer *x, const char *p, size_t n, void *arg)
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
call_on_done(struct transfer *x, const struct http_answer *a, void *arg)
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

void
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

const char *
url_on(const struct server *s, const char *path)
{
	static char text[4][256];
	static unsigned i;

	i = (i + 1) % 4;
	snprintf(text[i], sizeof text[i], "http://127.0.0.1:%d%s", s->port,
	    path);
	return text[i];
}

void
call_post(struct call *k, struct client *c, const char *url, const char *body)
{
	struct http_request r = { .method = "POST", .url = url };

	r.body = span_of(body);
	call_request(k, c, &r);
}

void
call_get(struct call *k, struct client *c, const char *url)
{
	struct http_request r = { .method = "GET", .url = url };

	call_request(k, c, &r);
}

void
post(struct call *k, struct client *c, const char *url, const char *body)
{
	call_post(k, c, url, body);
	client_wait(c);
}

void
get(struct call *k, struct client *c, const char *url)
{
	call_get(k, c, url);
	client_wait(c);
}

void
ended(const struct call *k, enum http_end end, bool sent)
{
	ck_assert_int_eq(k->dones, 1);
	ck_assert_msg(k->answer.end == end && k->answer.sent == sent,
	    "end %d, sent %d: %s", k->answer.end, k->answer.sent, k->why);
}

void
is_ok(struct call *k, const char *body)
{
	ended(k, HTTP_DONE, true);
	ck_assert_int_eq(k->status, 200);
	ck_assert_str_eq(buf_str(&k->body), body);
}

void
script_echo(struct conn *c)
{
	while (read_request(c))
		if (!say_ok(c, c->body_n < 256 ? c->body : "large"))
			return;
}

void
script_silent(struct conn *c)
{
	while (pull(c))
		;
}

void
script_slow_echo(struct conn *c)
{
	while (read_request(c)) {
		pause_ms(30);
		say_ok(c, c->body);
	}
}

void
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

void
check_peer(struct call *k)
{
	ck_assert_str_eq(http_peer(k->x), "127.0.0.1");
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
play_main(const char *suite, const struct play_group *groups, int n)
{
	Suite *s = suite_create(suite);
	TCase *t;
	int i;

	clear_environment();
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < n; i++) {
		t = tcase_create(groups[i].name);
		tcase_set_timeout(t, 60);
		groups[i].add(t);
		suite_add_tcase(s, t);
	}
	return unit_run(s);
}
