/* io/connections: which idle connections are used again. */
#include "config.h"

#include "io/http.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "io/connections.h"
#include "unit/io/http_play.h"

/* The decision */

static const struct alive_facts lives = { .idle_ms = 300000,
	.max_idle_ms = 15000,
	.proof = true,
	.told = true,
	.known = { .established = true, .heard_ms = 9000, .rtt_ms = 80 },
	.same_way = true };

START_TEST(proof_of_life)
{
	struct alive_facts f = lives;

	ck_assert(connection_lives(&f));
	/* The keepalive was sent, and the answer is on its way. */
	f.known.heard_ms = 10500;
	ck_assert(connection_lives(&f));
	f.known.heard_ms = 11161;
	ck_assert(!connection_lives(&f));
	f.known.rtt_ms = 5000;
	f.known.heard_ms = 13000;
	ck_assert(connection_lives(&f));
	f.known.heard_ms = 13001;
	ck_assert(!connection_lives(&f));
	f = lives;
	f.known.established = false;
	ck_assert(!connection_lives(&f));
	f = lives;
	f.known.unacked = true;
	ck_assert(!connection_lives(&f));
	f = lives;
	f.same_way = false;
	ck_assert(!connection_lives(&f));
	/* A young one has to live, too. */
	f.idle_ms = 2000;
	ck_assert(!connection_lives(&f));
	/* Some requests do not trust a proof. */
	f = lives;
	f.proof = false;
	ck_assert(!connection_lives(&f));
}
END_TEST

START_TEST(age_without_proof)
{
	struct alive_facts f = { .max_idle_ms = 15000, .proof = true };

	f.idle_ms = 14999;
	ck_assert(connection_lives(&f));
	f.idle_ms = 15000;
	ck_assert(!connection_lives(&f));
	f.max_idle_ms = 0;
	ck_assert(connection_lives(&f));
}
END_TEST

START_TEST(closing_time)
{
	struct alive_facts f = lives;

	f.closes_ms = 5000;
	f.idle_ms = 3919;
	ck_assert(connection_lives(&f));
	f.idle_ms = 3920;
	ck_assert(!connection_lives(&f));
	f.idle_ms = 300000;
	ck_assert(!connection_lives(&f));
	f.closes_ms = 1000;
	f.idle_ms = 499;
	ck_assert(connection_lives(&f));
	f.idle_ms = 500;
	ck_assert(!connection_lives(&f));
	f = lives;
	f.closed_ms = 60000;
	f.idle_ms = 58919;
	ck_assert(connection_lives(&f));
	f.idle_ms = 58920;
	ck_assert(!connection_lives(&f));
	f.idle_ms = 61080;
	ck_assert(!connection_lives(&f));
	/* It should have been closed by now. */
	f.idle_ms = 61081;
	ck_assert(connection_lives(&f));
}
END_TEST

/* Real connections */

/* A request that wants connections which were idle for less than 1 s, or ones
 * that live. */
static void
again(struct call *k, struct client *c, const char *url, bool proof)
{
	struct http_request r = { .method = "POST",
		.body = span_of("x"),
		.url = url,
		.max_idle_conn_ms = HTTP_ALIVE_SURE_MS,
		.proof = proof };

	call_request(k, c, &r);
	client_wait(c);
	is_ok(k, "x");
}

/* On loopback the age counts: there is no proof that a tunnel lives. */
START_TEST(idle_connection)
{
	struct server *s = server_new(script_echo);
	struct client *c = client_new();
	struct call k = { 0 };
	const char *url = url_on(s, "/");

	again(&k, c, url, _i == 1);
	client_nap(c, 1200);
	again(&k, c, url, _i == 1);
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	/* One that was used a moment ago is good enough. */
	again(&k, c, url, _i == 1);
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	ck_assert_int_eq(atomic_load(&s->requests), 3);
	/* And any is for a request without a limit. */
	client_nap(c, 1200);
	post(&k, c, url, "x");
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* A URL on an address of this machine that is not loopback; NULL: there is
 * none. */
static const char *
url_outside(const struct server *s)
{
	static char text[64];
	struct ifaddrs *list, *i;
	char address[INET_ADDRSTRLEN];

	text[0] = '\0';
	ck_assert_int_eq(getifaddrs(&list), 0);
	for (i = list; i != NULL; i = i->ifa_next) {
		if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET ||
		    !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
			continue;
		inet_ntop(AF_INET,
		    &((const struct sockaddr_in *)(const void *)i->ifa_addr)
			 ->sin_addr,
		    address, sizeof address);
		snprintf(text, sizeof text, "http://%s:%d", address, s->port);
	}
	freeifaddrs(list);
	return text[0] == '\0' ? NULL : text;
}

/* Does the system tell of its connections? An emulator of Linux may give the
 * first number only. */
static bool
system_tells(int fd)
{
#if defined __linux__ && defined HAVE_STRUCT_TCP_INFO_TCPI_LAST_ACK_RECV
	struct tcp_info t;
	socklen_t n = sizeof t;

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &n) == 0 &&
	    n > sizeof(int);
#else
	(void)fd;
	return false;
#endif
}

/* Elsewhere the proof counts, if the system gives one; but a proxy's own life
 * proves nothing. */
START_TEST(idle_connection_that_lives)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct http_config config = defaults;
	socklen_t n = sizeof any;
	const char *url;
	struct client *c;
	struct server *s;
	struct call k = { 0 };
	int fd, reused;

	fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&any, n), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&any, &n), 0);
	reused = _i == 0 && system_tells(fd);
	s = server_on(fd, script_echo);
	s->port = ntohs(any.sin_port);
	url = url_outside(s);
	if (url != NULL) {
		if (_i == 1) {
			config.proxy = url;
			url = "http://mcp.invalid/";
		}
		c = client_with(&config);
		again(&k, c, url, true);
		client_nap(c, 1200);
		again(&k, c, url, true);
		ck_assert_int_eq(atomic_load(&s->accepted), 2 - reused);
		client_nap(c, 1200);
		again(&k, c, url, false);
		ck_assert_int_eq(atomic_load(&s->accepted), 3 - reused);
		ck_assert_int_eq(atomic_load(&s->requests), 3);
		buf_free(&k.body);
		client_free(c);
	}
	server_free(s);
}
END_TEST

/* The body says when the connection is closed: after so many tenths of a second
 * without a request; the answer tells no time, or one in s. */
static void
script_closes(struct conn *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	char text[128];

	while (read_request(c)) {
		snprintf(text, sizeof text,
		    "HTTP/1.1 200 OK\r\nkeep-ALIVE: max=9, Timeout=%s\r\n"
		    "Content-Length: 1\r\n\r\nx",
		    c->body);
		if (c->body[0] == 's')
			say_ok(c, "x");
		else
			say(c, text);
		if (c->body[0] == 's' &&
		    poll(&p, 1, atoi(c->body + 1) * 100) == 0)
			return;
	}
}

static void
ask(struct call *k, struct client *c, struct server *s, const char *body)
{
	post(k, c, url_on(s, "/"), body);
	is_ok(k, "x");
}

static void
alive_becomes(struct server *s, struct client *c, int n)
{
	int64_t limit = now_ms() + GUARD_MS;

	while (atomic_load(&s->alive) != n && now_ms() < limit)
		client_nap(c, 5);
	ck_assert_int_eq(atomic_load(&s->alive), n);
}

/* Says a byte that nobody asked for, 50 ms after each answer. */
static void
script_babbles(struct conn *c)
{
	while (read_request(c) && say_ok(c, c->body)) {
		pause_ms(50);
		say(c, "x");
	}
}

/* The loop goes on watching an idle connection. What comes there, a byte or its
 * end, must neither keep it busy nor be taken for an answer. */
START_TEST(idle_connection_that_speaks)
{
	struct server *s = server_new(_i == 0 ? script_babbles : script_closes);
	struct client *c = client_new();
	const char *body = _i == 0 ? "x" : "s1";
	struct call k = { 0 };
	clock_t used;

	ask(&k, c, s, body);
	used = clock();
	client_nap(c, 600);
	used = clock() - used;
	ck_assert_int_lt(used, CLOCKS_PER_SEC / 4);
	ask(&k, c, s, body);
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	ck_assert_int_eq(atomic_load(&s->requests), 2);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* The client's end of its one connection to the server. */
static int
connection_to(struct server *s)
{
	struct sockaddr_in peer;
	socklen_t n;
	int fd;

	for (fd = 0; fd < 1024; fd++) {
		n = sizeof peer;
		if (getpeername(fd, (struct sockaddr *)&peer, &n) == 0 &&
		    ntohs(peer.sin_port) == s->port)
			return fd;
	}
	ck_abort_msg("no connection");
}

static int ready[2], taken_from;
static atomic_bool may_speak;

/* Says a byte that nobody asked for, when it may. */
static void
script_speaks(struct conn *c)
{
	bool said = false;

	while (read_request(c) && say_ok(c, c->body)) {
		while (!said && !atomic_load(&may_speak))
			pause_ms(1);
		if (!said)
			say(c, "x");
		said = true;
	}
}

static void
take_all(int fd, int what, void *arg)
{
	char bytes[64];

	(void)what;
	(void)arg;
	ck_assert_int_eq(read(fd, bytes, 1), 1);
	ck_assert_int_gt(recv(taken_from, bytes, sizeof bytes, 0), 0);
}

/* Two descriptors are ready, and the callback of the first one takes what came
 * on the connection; then it is told of the second one. This is how libcurl
 * reads an answer early. It does not end the connection. */
START_TEST(idle_connection_that_was_ready)
{
	struct server *s = server_new(script_speaks);
	struct client *c = client_new();
	struct call k = { 0 };
	struct loop_fd *first;
	struct pollfd p;

	ck_assert_int_eq(pipe(ready), 0);
	ask(&k, c, s, "x");
	taken_from = connection_to(s);
	first = loop_fd_new(c->l, ready[0], LOOP_READ, take_all, NULL);
	ck_assert_ptr_nonnull(first);
	/* The loop looks once when nothing is ready, else the order is that of
	 * the answer. */
	client_nap(c, 1);
	ck_assert_int_eq(write(ready[1], "x", 1), 1);
	atomic_store(&may_speak, true);
	p = (struct pollfd){ .fd = taken_from, .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, GUARD_MS), 1);
	client_nap(c, 1);
	ask(&k, c, s, "x");
	ck_assert_int_eq(atomic_load(&s->accepted), 1);
	loop_fd_free(first);
	close(ready[0]);
	close(ready[1]);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* The server will close at 2 s, so nothing is sent from 1 s on; what is idle is
 * replaced, each by one. */
START_TEST(announced_time)
{
	enum { CALLS = 5 };
	struct server *s = server_new(script_closes);
	struct client *c = client_new();
	static struct call k[CALLS];
	int i, round;

	for (round = 1; round <= 2; round++) {
		for (i = 0; i < CALLS; i++)
			call_post(&k[i], c, url_on(s, "/"), "2");
		client_wait(c);
		ck_assert_int_eq(atomic_load(&s->accepted), CALLS * round);
		client_nap(c, 1200);
	}
	for (i = 0; i < CALLS; i++) {
		is_ok(&k[i], "x");
		buf_free(&k[i].body);
	}
	ck_assert_int_eq(atomic_load(&s->requests), 2 * CALLS);
	/* The others were closed when they were refused. */
	alive_becomes(s, c, CALLS);
	client_free(c);
	server_free(s);
}
END_TEST

/* A transfer that was aborted in the turn in which it starts again. */
static void
script_errors(struct conn *c)
{
	while (read_request(c))
		if (c->body[0] == 'e')
			say(c,
			    "HTTP/1.1 404 Not Found\r\n"
			    "Content-Length: 0\r\n\r\n");
		else
			say_ok(c, "x");
}

static void
wary(struct call *k, struct client *c, struct server *s)
{
	struct http_request r = { .method = "POST", .wary = true };

	r.url = url_on(s, "/");
	r.body = span_of("x");
	call_request(k, c, &r);
	client_wait(c);
	is_ok(k, "x");
}

/* A wary request closes what gave an error, and takes what did not. */
START_TEST(gave_an_error)
{
	struct server *s = server_new(script_errors);
	struct client *c = client_new();
	static struct call k, other;

	call_post(&other, c, url_on(s, "/"), "x");
	post(&k, c, url_on(s, "/"), "e");
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	wary(&k, c, s);
	wary(&k, c, s);
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	post(&k, c, url_on(s, "/"), "e");
	ask(&k, c, s, "x");
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	post(&k, c, url_on(s, "/"), "e");
	wary(&k, c, s);
	wary(&k, c, s);
	alive_becomes(s, c, 1);
	buf_free(&k.body);
	buf_free(&other.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* Answers "x"; "s" late, "c" by a cut, and "h" never. */
static void
script_dies(struct conn *c)
{
	while (read_request(c) && c->body[0] != 'c') {
		if (c->body[0] == 'h')
			script_silent(c);
		if (c->body[0] == 's')
			pause_ms(HTTP_SILENT_MS + 200);
		say_ok(c, "x");
	}
}

/* A request that is not answered speaks against the connections that were idle
 * then: if it is cut, or if it waits for long, whether it still does or not. */
START_TEST(as_old_as_a_dead_one)
{
	/* After a cut libcurl closes one of the two itself. */
	static const struct {
		const char *body;
		int ms;       /* until it is given up; -1: it is not */
		int replaced; /* connections */
	} cases[] = { { "c", -1, 1 }, { "h", HTTP_SILENT_MS + 100, 2 },
		{ "h", HTTP_SILENT_MS / 4, 0 }, { "s", -1, 0 },
		{ "h", -1, 2 } };
	struct server *s = server_new(script_dies);
	struct client *c = client_new();
	struct call k = { 0 }, other = { 0 }, third = { 0 };
	int i;

	call_post(&other, c, url_on(s, "/"), "x");
	call_post(&third, c, url_on(s, "/"), "x");
	ask(&k, c, s, "x");
	ck_assert_int_eq(atomic_load(&s->accepted), 3);
	client_nap(c, 50);
	call_post(&other, c, url_on(s, "/"), cases[_i].body);
	client_nap(c, cases[_i].ms < 0 ? HTTP_SILENT_MS + 100 : cases[_i].ms);
	if (cases[_i].ms >= 0)
		http_abort(other.x);
	if (_i != (int)COUNT(cases) - 1)
		client_wait(c);
	for (i = 0; i < 4; i++) {
		c->waiting -= other.dones == 0;
		ask(&k, c, s, "x");
		c->waiting += other.dones == 0;
	}
	ck_assert_int_eq(atomic_load(&s->accepted), 3 + cases[_i].replaced);
	buf_free(&k.body);
	buf_free(&third.body);
	buf_free(&other.body);
	client_free(c);
	server_free(s);
}
END_TEST

START_TEST(aborted_on_the_way)
{
	struct server *s = server_new(script_closes);
	struct client *c = client_new();
	struct call k = { 0 };

	ask(&k, c, s, "2");
	client_nap(c, 1200);
	call_post(&k, c, url_on(s, "/"), "2");
	client_nap(c, _i);
	if (k.dones == 0) {
		http_abort(k.x);
		client_wait(c);
		ck_assert_int_eq(k.answer.end, HTTP_ABORTED);
	}
	ask(&k, c, s, "2");
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

/* The server closes at 1.5 s and says nothing; later it does not. */
START_TEST(learned_time)
{
	struct server *s = server_new(script_closes);
	struct client *c = client_new();
	struct call k = { 0 };
	int64_t start;
	int ms;

	ask(&k, c, s, "s15");
	start = now_ms();
	alive_becomes(s, c, 0);
	client_nap(c, 5);
	ms = (int)(now_ms() - start);
	ask(&k, c, s, "s900");
	ck_assert_int_eq(atomic_load(&s->accepted), 2);
	client_nap(c, ms - 300);
	ask(&k, c, s, "s900");
	ck_assert_int_eq(atomic_load(&s->accepted), 3);
	client_nap(c, ms + 1500);
	ask(&k, c, s, "s900");
	ck_assert_int_eq(atomic_load(&s->accepted), 3);
	client_nap(c, ms - 300);
	ask(&k, c, s, "s900");
	ck_assert_int_eq(atomic_load(&s->accepted), 3);
	ck_assert_int_eq(atomic_load(&s->requests), 5);
	buf_free(&k.body);
	client_free(c);
	server_free(s);
}
END_TEST

static void
add_decision(TCase *t)
{
	tcase_add_test(t, proof_of_life);
	tcase_add_test(t, age_without_proof);
	tcase_add_test(t, closing_time);
}

static void
add_connections(TCase *t)
{
	tcase_add_loop_test(t, idle_connection, 0, 2);
	tcase_add_loop_test(t, idle_connection_that_lives, 0, 2);
	tcase_add_loop_test(t, idle_connection_that_speaks, 0, 2);
	tcase_add_test(t, idle_connection_that_was_ready);
	tcase_add_test(t, announced_time);
	tcase_add_test(t, gave_an_error);
	tcase_add_loop_test(t, as_old_as_a_dead_one, 0, 5);
	tcase_add_loop_test(t, aborted_on_the_way, 0, 3);
	tcase_add_test(t, learned_time);
}

int
main(void)
{
	static const struct play_group groups[] = {
		{ "decision", add_decision }, { "connections", add_connections }
	};

	return play_main("connections", groups, COUNT(groups));
}
