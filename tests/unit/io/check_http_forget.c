/* io/http: connections that are forgotten, and who answered. */
#include "config.h"

#include "io/http.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>

#include "unit/io/http_play.h"

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

/* A name that was given by hand stays known, also when the network failed. */
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
	post(&k, c, "http://127.0.0.1:1/", "x");
	ended(&k, HTTP_CONNECT, false);
	post(&k, c, url, "x");
	is_ok(&k, "2");
	post(&k, c, url, "x");
	is_ok(&k, "2");
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Names */

typedef int asker(const char *name, const char *service,
    const struct addrinfo *hints, struct addrinfo **list);

static atomic_int asked;
static _Atomic(const char *) moved_to;

/* What libcurl asks for the address of a name: here, as long as moves.test has
 * one. */
int
getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
    struct addrinfo **list)
{
	void *next = dlsym(RTLD_NEXT, "getaddrinfo");
	asker *ask;

	memcpy(&ask, &next, sizeof ask);
	if (name != NULL && strcmp(name, "moves.test") == 0) {
		atomic_fetch_add(&asked, 1);
		name = atomic_load(&moved_to);
	}
	return ask(name, service, hints, list);
}

/* One request on each connection. */
static void
script_once(struct conn *c)
{
	if (read_request(c))
		say(c,
		    "HTTP/1.1 200 OK\r\nConnection: close\r\n"
		    "Content-Length: 1\r\n\r\nx");
}

/* A name is looked up again as soon as its address fails or is in doubt, and
 * only then. */
START_TEST(name_that_moves)
{
	struct server *s = server_new(script_once);
	struct client *c = client_new();
	struct call k = { 0 };
	char url[64];
	struct http_request fresh = { .method = "POST",
		.url = url,
		.body = span_of("x"),
		.fresh = true };
	int before, i;

	snprintf(url, sizeof url, "http://moves.test:%d/", s->port);
	atomic_store(&moved_to, "255.255.255.255");
	post(&k, c, url, "x");
	if (atomic_load(&asked) > 0) { /* this libcurl asks us */
		ended(&k, HTTP_CONNECT, false);
		atomic_store(&moved_to, "127.0.0.1");
		post(&k, c, url, "x");
		is_ok(&k, "x");
		/* Ages are told in whole seconds, so one may seem to be too
		 * old. */
		client_nap(c, 2100);
		before = atomic_load(&asked);
		for (i = 0; i < 4; i++) {
			post(&k, c, url, "x");
			is_ok(&k, "x");
		}
		ck_assert_int_le(atomic_load(&asked), before + 1);
		before = atomic_load(&asked);
		call_request(&k, c, &fresh);
		client_wait(c);
		is_ok(&k, "x");
		ck_assert_int_eq(atomic_load(&asked), before + 1);
	}
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

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
	tcase_add_test(t, name_that_moves);
}

int
main(void)
{
	static const struct play_group groups[] = { { "forget", add_forget } };

	return play_main("http_forget", groups, COUNT(groups));
}
