/*
 * The server for browsers: who can reach it, its bounds of number, size and
 * time, and how it ends. Clients are plain sockets beside the loop.
 * CK_FORK=no runs all in one process.
 */
#include "config.h"

#include "io/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "unit/unit.h"

#define MAX_REQUEST 100
#define CONN_MS 1500
#define PATIENCE_MS 20000
/* More than a socket sends that nobody reads from, of which systems take 4
 * MiB at most, and what the small buffer of our client has room for. */
#define LONG_REPLY ((size_t)12 * 1024 * 1024)
#define SMALL_BUFFER (256 * 1024)
#define ATTEMPTS 20

enum then { NOTHING, FREE_IN_CALLBACK, LINGER_IN_CALLBACK };

static struct loop *l;
static struct loop_timer *turn;
static struct listener *server;
static struct listener_config config;
static int calls, fds_before;
static int ports;        /* descriptors of the server: two with IPv6 */
static size_t most;      /* the longest request seen */
static enum then then;   /* when a request is whole */
static size_t reply_len; /* 0: "reply" */
static bool no_reply;

static int
count_fds(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

static void
on_turn(void *arg)
{
	(void)arg;
	loop_stop(l, 0);
}

/* Lets the loop run for so long. */
static void
spin(int ms)
{
	loop_timer_set(turn, ms);
	loop_run(l);
}

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A request is whole with a full stop at its end. */
static bool
on_request(struct span so_far, struct buf *reply, void *arg)
{
	ck_assert_ptr_eq(arg, &calls);
	calls++;
	if (so_far.n > most)
		most = so_far.n;
	if (so_far.p[so_far.n - 1] != '.')
		return false;
	if (reply_len > 0) {
		buf_reserve(reply, reply_len);
		memset(reply->p, 'r', reply_len);
		reply->n = reply_len;
	} else if (!no_reply) {
		buf_adds(reply, "reply");
	}
	if (then != NOTHING) {
		listener_free(server, then == LINGER_IN_CALLBACK);
		server = NULL;
		loop_stop(l, 0);
	}
	return true;
}

static void
open_server(void)
{
	server = listener_new(l, &config, on_request, &calls);
	ck_assert_ptr_nonnull(server);
}

static void
setup(void)
{
	fds_before = count_fds();
	l = loop_new();
	ck_assert_ptr_nonnull(l);
	turn = loop_timer_new(l, on_turn, NULL);
	config = (struct listener_config){
		.max_conns = 2, .max_request = MAX_REQUEST, .conn_ms = CONN_MS
	};
	calls = 0;
	most = reply_len = 0;
	then = NOTHING;
	no_reply = false;
	ports = count_fds();
	open_server();
	ports = count_fds() - ports;
}

/* Every test closes its own descriptors: what is left is the server's. */
static void
teardown(void)
{
	listener_free(server, false);
	loop_timer_free(turn);
	loop_free(l);
	ck_assert_int_eq(count_fds(), fds_before);
}

/* Returns a descriptor, or -1 with errno. */
static int
dial(const char *address, unsigned port)
{
	struct sockaddr_in a;
	int fd = socket(AF_INET, SOCK_STREAM, 0), error, size = SMALL_BUFFER;

	ck_assert_int_ne(fd, -1);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
	memset(&a, 0, sizeof a);
	a.sin_family = AF_INET;
	a.sin_port = htons((uint16_t)port);
	ck_assert_int_eq(inet_pton(AF_INET, address, &a.sin_addr), 1);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int
client(void)
{
	int fd = dial("127.0.0.1", listener_port(server));

	ck_assert_int_ne(fd, -1);
	return fd;
}

static void
say(int fd, const char *text)
{
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL),
	    (ssize_t)strlen(text));
}

/* Lets the loop run until the server has been asked so often. */
static void
await_calls(int n)
{
	int64_t end = now_ms() + PATIENCE_MS;

	while (calls < n && now_ms() < end)
		spin(1);
	ck_assert_int_eq(calls, n);
}

/* Reads: bytes, the end (0), an error (-1), or nothing so far (-2). */
static ssize_t
hear(int fd, char *p, size_t n)
{
	int64_t end = now_ms() + PATIENCE_MS;
	ssize_t got;

	do {
		got = recv(fd, p, n, MSG_DONTWAIT);
		if (got != -1 || errno != EAGAIN)
			return got;
		spin(5);
	} while (now_ms() < end);
	return -2;
}

static void
expect_reply(int fd)
{
	char text[16] = "";

	ck_assert_int_eq(hear(fd, text, sizeof text), 5);
	ck_assert_str_eq(text, "reply");
}

static void
expect_reset(int fd)
{
	char c;

	ck_assert_int_eq(hear(fd, &c, 1), -1);
	ck_assert_int_eq(errno, ECONNRESET);
	close(fd);
}

static void
expect_end(int fd)
{
	char c;

	ck_assert_int_eq(hear(fd, &c, 1), 0);
	close(fd);
}

static void
expect_silence(int fd)
{
	char c;

	spin(50);
	ck_assert_int_eq(recv(fd, &c, 1, MSG_DONTWAIT), -1);
	ck_assert_int_eq(errno, EAGAIN);
}

START_TEST(only_this_machine)
{
	unsigned port = listener_port(server);
	int fd = client();

	close(fd);
	ck_assert_int_eq(dial("127.0.0.2", port), -1);
	spin(20);
	ck_assert_int_eq(calls, 0);
}
END_TEST

/* No other socket gets the port, with any option. */
START_TEST(the_port_is_ours)
{
	struct listener_config second = config;
	struct sockaddr_in a;
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	second.port = listener_port(server);
	ck_assert_ptr_null(listener_new(l, &second, on_request, NULL));
	ck_assert_int_eq(errno, EADDRINUSE);
	memset(&a, 0, sizeof a);
	a.sin_family = AF_INET;
	a.sin_port = htons((uint16_t)second.port);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
#ifdef SO_REUSEPORT
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
#endif
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), -1);
	close(fd);
}
END_TEST

static struct sockaddr_in6
ipv6_address(unsigned port)
{
	struct sockaddr_in6 a;

	memset(&a, 0, sizeof a);
	a.sin6_family = AF_INET6;
	a.sin6_port = htons((uint16_t)port);
	a.sin6_addr = in6addr_loopback;
	return a;
}

/* Is the port free at 127.0.0.1, which other programs use, too? */
static bool
is_free(unsigned port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool is = bind(fd, (struct sockaddr *)&a, sizeof a) == 0;

	close(fd);
	return is;
}

/* Another program at [::1]. Returns its descriptor and its port, which is free at
 * 127.0.0.1; -1: this system has no IPv6. */
static int
another(unsigned *port)
{
	struct sockaddr_in6 a;
	socklen_t n = sizeof a;
	int fd;

	for (;;) {
		a = ipv6_address(0);
		fd = socket(AF_INET6, SOCK_STREAM, 0);
		if (fd == -1 || bind(fd, (struct sockaddr *)&a, n) == -1 ||
		    listen(fd, 1) == -1) {
			close(fd);
			return -1;
		}
		ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &n), 0);
		*port = ntohs(a.sin6_port);
		if (is_free(*port))
			return fd;
		close(fd);
	}
}

/* A browser may take "localhost" for either address. */
START_TEST(both_addresses)
{
	struct sockaddr_in6 a = ipv6_address(listener_port(server));
	unsigned port;
	int fd = another(&port), one;

	if (fd == -1)
		return;
	close(fd);
	ck_assert(listener_is_named(server));
	one = client();
	fd = socket(AF_INET6, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
	say(fd, "a.");
	expect_reply(fd);
	say(one, "b.");
	expect_reply(one);
	close(fd);
	close(one);
	spin(20);
}
END_TEST

/* A program with our port at [::1] would get requests for "localhost". */
START_TEST(another_at_ipv6)
{
	struct listener *other;
	unsigned port;
	int fd = another(&port);

	if (fd == -1)
		return;
	config.port = port;
	other = listener_new(l, &config, on_request, &calls);
	ck_assert_ptr_nonnull(other);
	ck_assert_uint_eq(listener_port(other), port);
	ck_assert(!listener_is_named(other));
	listener_free(other, false);
	config.named = true;
	ck_assert_ptr_null(listener_new(l, &config, on_request, &calls));
	ck_assert_int_eq(errno, EADDRINUSE);
	close(fd);
	other = listener_new(l, &config, on_request, &calls);
	ck_assert_ptr_nonnull(other);
	ck_assert(listener_is_named(other));
	listener_free(other, false);
}
END_TEST

START_TEST(ports_that_are_none)
{
	struct listener_config other = config;

	other.port = 65536;
	ck_assert_ptr_null(listener_new(l, &other, on_request, NULL));
	ck_assert_int_eq(errno, EINVAL);
	other.port = 65536 + listener_port(server);
	ck_assert_ptr_null(listener_new(l, &other, on_request, NULL));
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* The port we ask for is the one we get, at once after the last user of it,
 * however his connections ended. */
START_TEST(the_same_port_again)
{
	int fd[3];

	config.port = listener_port(server);
	fd[0] = client();
	fd[1] = client();
	say(fd[0], "a.");
	say(fd[1], "b");
	expect_reply(fd[0]);
	close(fd[0]);
	expect_reset(fd[1]); /* after its time */
	fd[2] = client();
	say(fd[2], "c");
	spin(20);
	listener_free(server, false);
	expect_reset(fd[2]);
	open_server();
	ck_assert_uint_eq(listener_port(server), config.port);
	fd[0] = client();
	say(fd[0], "d.");
	expect_reply(fd[0]);
	close(fd[0]);
	spin(20);
}
END_TEST

/* The callback sees the request grow piece by piece, until the reply. */
START_TEST(a_request_in_pieces)
{
	int fd = client();

	spin(20);
	ck_assert_int_eq(calls, 0);
	say(fd, "ab");
	await_calls(1);
	say(fd, "cd");
	await_calls(2);
	ck_assert_uint_eq(most, 4);
	expect_silence(fd);
	say(fd, ".");
	expect_reply(fd);
	ck_assert_int_eq(calls, 3);
	ck_assert_uint_eq(most, 5);
	say(fd, "more.");
	expect_silence(fd);
	ck_assert_int_eq(calls, 3);
	close(fd);
	spin(20);
}
END_TEST

/* A client that waits for the end of the connection gets it. */
START_TEST(a_client_that_does_not_close)
{
	int64_t start = now_ms();
	int fd = client();

	say(fd, "a.");
	expect_reply(fd);
	expect_end(fd);
	ck_assert_int_ge(now_ms() - start, 1000);
}
END_TEST

/* Such a client does not get more time than any other. */
START_TEST(a_late_client_that_does_not_close)
{
	int fd = client();
	char c;

	spin(CONN_MS - 800);
	say(fd, "a.");
	expect_reply(fd);
	spin(900);
	ck_assert_int_eq(recv(fd, &c, 1, MSG_DONTWAIT), 0);
	close(fd);
}
END_TEST

/* A client that closes its half of the connection first. */
START_TEST(a_half_closed_client)
{
	int fd = client();

	say(fd, "a.");
	shutdown(fd, SHUT_WR);
	expect_reply(fd);
	expect_end(fd);
	fd = client();
	say(fd, "a");
	shutdown(fd, SHUT_WR);
	expect_reset(fd);
}
END_TEST

START_TEST(an_empty_reply)
{
	int fd = client();

	no_reply = true;
	say(fd, "a.");
	expect_reset(fd);
	ck_assert_int_eq(calls, 1);
}
END_TEST

/* The longest request that is allowed, and one byte more. */
START_TEST(a_long_request)
{
	char text[MAX_REQUEST + 2];
	int fd = client();

	memset(text, 'x', sizeof text);
	text[MAX_REQUEST - 1] = '.';
	text[MAX_REQUEST] = '\0';
	say(fd, text);
	expect_reply(fd);
	ck_assert_uint_eq(most, MAX_REQUEST);
	close(fd);

	fd = client();
	text[MAX_REQUEST - 1] = 'x';
	text[MAX_REQUEST] = '.';
	text[MAX_REQUEST + 1] = '\0';
	calls = 0;
	say(fd, text);
	expect_reset(fd);
	ck_assert_int_eq(calls, 0);

	fd = client();
	text[MAX_REQUEST] = '\0';
	say(fd, text);
	await_calls(1);
	say(fd, ".");
	expect_reset(fd);
	ck_assert_int_eq(calls, 1);
}
END_TEST

/* A client that sends a byte now and then does not get more time. */
START_TEST(a_slow_request)
{
	int64_t start = now_ms();
	int fd = client();
	char c;

	while (recv(fd, &c, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN) {
		ck_assert_int_lt(now_ms() - start, PATIENCE_MS);
		send(fd, "x", 1, MSG_NOSIGNAL);
		spin(50);
	}
	close(fd);
	ck_assert_int_ge(now_ms() - start, CONN_MS);
	ck_assert_int_ge(calls, 1);
}
END_TEST

/* The third waits until one of two is done, and is not lost. */
START_TEST(more_than_there_is_room_for)
{
	int a = client(), b = client(), c = client();

	/* the oldest of the silent ones makes room */
	spin(20);
	expect_reset(a);
	ck_assert_int_eq(calls, 0);
	say(c, "c.");
	expect_reply(c);
	close(c);
	say(b, "b.");
	expect_reply(b);
	close(b);
}
END_TEST

/* Without a descriptor to take it by it waits, and nothing spins. */
START_TEST(no_descriptor_is_left)
{
	struct rlimit old, none;
	clock_t cpu;
	int fd;

	/* which takes the connection and then drops it */
	if (getenv("UNDER_VALGRIND") != NULL)
		return;
	fd = client();
	say(fd, "a.");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = (rlim_t)fd;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	cpu = clock();
	spin(400);
	cpu = clock() - cpu;
	setrlimit(RLIMIT_NOFILE, &old);
	ck_assert_int_eq(calls, 0);
	ck_assert_int_lt(cpu, CLOCKS_PER_SEC / 10);
	expect_reply(fd);
	close(fd);
	spin(20);
}
END_TEST

/* A reply that no socket holds at once. Returns how much of it came. */
static size_t
hear_all(int fd)
{
	static char part[1024 * 1024];
	size_t sum = 0;
	ssize_t n;

	while (sum < LONG_REPLY && (n = hear(fd, part, sizeof part)) > 0) {
		sum += (size_t)n;
		spin(0);
	}
	return sum;
}

/* A server with time, and a client that it writes to: more than fits. */
static int
begin_long_reply(void)
{
	int fd;

	config.conn_ms = 60000;
	listener_free(server, false);
	open_server();
	reply_len = LONG_REPLY;
	calls = 0;
	fd = client();
	say(fd, "a.");
	while (calls == 0)
		spin(0);
	return fd;
}

START_TEST(a_long_reply)
{
	int fd = begin_long_reply();

	ck_assert_uint_eq(hear_all(fd), LONG_REPLY);
	close(fd);
	spin(20);
}
END_TEST

/* A short one is on its way before the loop runs again. */
START_TEST(freed_with_a_reply)
{
	unsigned port = listener_port(server);
	int fd = client(), other = client();
	char text[16];

	then = LINGER_IN_CALLBACK;
	spin(20);
	say(fd, "a.");
	while (server != NULL)
		spin(0);
	ck_assert_int_eq(dial("127.0.0.1", port), -1);
	ck_assert_int_eq(recv(fd, text, sizeof text, MSG_DONTWAIT), 5);
	expect_reset(other);
	close(fd);
	spin(20);
	ck_assert_int_eq(calls, 1);
	config.port = port;
	open_server();
}
END_TEST

START_TEST(freed_without_a_reply)
{
	int fd = client(), other = client();

	then = FREE_IN_CALLBACK;
	spin(20);
	say(fd, "a.");
	expect_reset(fd);
	expect_reset(other);
	ck_assert_ptr_null(server);
	ck_assert_int_eq(calls, 1);
}
END_TEST

/* Freed before a connection was accepted; and a NULL listener. */
START_TEST(freed_at_once)
{
	int fd = client();

	listener_free(server, true);
	expect_reset(fd);
	open_server();
	listener_free(server, true);
	server = NULL;
	listener_free(NULL, true);
}
END_TEST

/* The rest of a long reply comes after the end, if it is taken in time: on a
 * busy machine it may take us some attempts. */
START_TEST(freed_while_it_writes)
{
	size_t got = 0;
	int fd, i;

	for (i = 0; i < ATTEMPTS && got != LONG_REPLY; i++) {
		fd = begin_long_reply();
		listener_free(server, true);
		server = NULL;
		got = hear_all(fd);
		close(fd);
		spin(20);
	}
	ck_assert_uint_eq(got, LONG_REPLY);
}
END_TEST

/* Freed while it writes, or in the callback. */
START_TEST(freed_while_nobody_reads)
{
	int fds = count_fds() - ports, fd;

	if (_i == 1)
		then = LINGER_IN_CALLBACK;
	fd = begin_long_reply();
	if (_i == 0)
		listener_free(server, true);
	server = NULL;
	/* the port is closed, and two ends are open */
	ck_assert_int_eq(count_fds(), fds + 2);
	spin(500);
	ck_assert_int_eq(count_fds(), fds + 2);
	spin(1000);
	ck_assert_int_eq(count_fds(), fds + 1);
	ck_assert_uint_lt(hear_all(fd), LONG_REPLY);
	close(fd);
}
END_TEST

START_TEST(dropped_while_it_writes)
{
	int fds = count_fds() - ports, fd = begin_long_reply();

	listener_free(server, false);
	server = NULL;
	ck_assert_int_eq(count_fds(), fds + 1);
	ck_assert_uint_lt(hear_all(fd), LONG_REPLY);
	close(fd);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("listener");
	TCase *t = tcase_create("listener");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, only_this_machine);
	tcase_add_test(t, the_port_is_ours);
	tcase_add_test(t, both_addresses);
	tcase_add_test(t, another_at_ipv6);
	tcase_add_test(t, ports_that_are_none);
	tcase_add_test(t, the_same_port_again);
	tcase_add_test(t, a_request_in_pieces);
	tcase_add_test(t, a_client_that_does_not_close);
	tcase_add_test(t, a_late_client_that_does_not_close);
	tcase_add_test(t, a_half_closed_client);
	tcase_add_test(t, an_empty_reply);
	tcase_add_test(t, a_long_request);
	tcase_add_test(t, a_slow_request);
	tcase_add_test(t, more_than_there_is_room_for);
	tcase_add_test(t, no_descriptor_is_left);
	tcase_add_test(t, a_long_reply);
	tcase_add_test(t, freed_with_a_reply);
	tcase_add_test(t, freed_without_a_reply);
	tcase_add_test(t, freed_at_once);
	tcase_add_test(t, freed_while_it_writes);
	tcase_add_loop_test(t, freed_while_nobody_reads, 0, 2);
	tcase_add_test(t, dropped_while_it_writes);
	suite_add_tcase(s, t);
	return unit_run(s);
}
