/*
 * io/network_change on a network of its own: a namespace with nothing but loopback,
 * whose addresses and routes are changed as a laptop's are. Without the right
 * to make one only what needs none is tested. Each case waits a second or two,
 * for that is how long a change takes to settle.
 */
#include "config.h"

#include "io/network_change.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_LINUX_RTNETLINK_H
#include <linux/rtnetlink.h>
#endif

#include "unit/unit.h"

static struct loop *l;
static struct loop_timer *nap;
static struct route *r;
static int told;
static int64_t told_at;

static void
on_nap(void *arg)
{
	(void)arg;
	loop_stop(l, 0);
}

static void
on_told(void *arg)
{
	ck_assert_ptr_eq(arg, &told);
	told++;
	told_at = loop_now(l);
}

static void
setup(void)
{
	l = loop_new();
	ck_assert_ptr_nonnull(l);
	nap = loop_timer_new(l, on_nap, NULL);
	told = 0;
	r = NULL;
}

static void
teardown(void)
{
	route_free(r);
	loop_timer_free(nap);
	loop_free(l);
}

START_TEST(nothing)
{
	route_free(NULL);
	route_peer(NULL, "192.0.2.1");
}
END_TEST

/* A sandbox in which no socket can be had: no watch, and nothing left. */
START_TEST(forbidden)
{
	struct rlimit limit, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	r = route_new(l, on_told, &told);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_ptr_null(r);
}
END_TEST

#ifdef HAVE_LINUX_RTNETLINK_H

/* The network, by the kernel's own protocol */

struct change {
	struct nlmsghdr head;
	char rest[512];
};

static int kernel = -1;

static void
run_for(int ms)
{
	loop_timer_set(nap, ms);
	loop_run(l);
}

static void
put(struct change *c, const void *p, size_t n)
{
	size_t at = NLMSG_ALIGN(c->head.nlmsg_len);

	ck_assert_uint_le(at + n, sizeof *c);
	memcpy((char *)c + at, p, n);
	c->head.nlmsg_len = (unsigned)(at + n);
}

static void
put_attribute(struct change *c, unsigned short type, const void *p, size_t n)
{
	struct rtattr a;

	a.rta_type = type;
	a.rta_len = (unsigned short)RTA_LENGTH(n);
	put(c, &a, sizeof a);
	put(c, p, n);
}

/* Returns 0, or the error number that the kernel answers. */
static int
ask(struct change *c)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[1024];
	} answer;

	c->head.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	ck_assert_int_gt(send(kernel, c, c->head.nlmsg_len, 0), 0);
	ck_assert_int_gt(recv(kernel, &answer, sizeof answer, 0), 0);
	ck_assert_int_eq(answer.head.nlmsg_type, NLMSG_ERROR);
	return -answer.error.error;
}

static size_t
parse(const char *text, unsigned char *family, unsigned char bytes[16])
{
	*family = strchr(text, ':') == NULL ? AF_INET : AF_INET6;
	ck_assert_int_eq(inet_pton(*family, text, bytes), 1);
	return *family == AF_INET ? 4 : 16;
}

/* Loopback gets or loses an address with the network around it. */
static int
address(bool there, const char *text, unsigned char prefix)
{
	struct change c = { 0 };
	struct ifaddrmsg m = { 0 };
	unsigned char bytes[16];
	size_t n;

	n = parse(text, &m.ifa_family, bytes);
	m.ifa_prefixlen = prefix;
	m.ifa_index = if_nametoindex("lo");
	c.head.nlmsg_len = NLMSG_HDRLEN;
	c.head.nlmsg_type = there ? RTM_NEWADDR : RTM_DELADDR;
	c.head.nlmsg_flags = there ? NLM_F_CREATE | NLM_F_EXCL : 0;
	put(&c, &m, sizeof m);
	put_attribute(&c, IFA_LOCAL, bytes, n);
	put_attribute(&c, IFA_ADDRESS, bytes, n);
	return ask(&c);
}

static void
add(const char *text)
{
	ck_assert_int_eq(address(true, text, 24), 0);
}

static void
take(const char *text)
{
	ck_assert_int_eq(address(false, text, 24), 0);
}

/* A route to a network of 2^(32 - prefix) addresses, with its own source. */
static void
route(const char *to, unsigned char prefix, const char *source)
{
	struct change c = { 0 };
	struct rtmsg m = { 0 };
	unsigned char bytes[16];
	unsigned index = if_nametoindex("lo");
	size_t n;

	n = parse(to, &m.rtm_family, bytes);
	m.rtm_dst_len = prefix;
	m.rtm_table = RT_TABLE_MAIN;
	m.rtm_protocol = RTPROT_STATIC;
	m.rtm_scope = RT_SCOPE_LINK;
	m.rtm_type = RTN_UNICAST;
	c.head.nlmsg_len = NLMSG_HDRLEN;
	c.head.nlmsg_type = RTM_NEWROUTE;
	c.head.nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
	put(&c, &m, sizeof m);
	put_attribute(&c, RTA_DST, bytes, n);
	put_attribute(&c, RTA_OIF, &index, sizeof index);
	parse(source, &m.rtm_family, bytes);
	put_attribute(&c, RTA_PREFSRC, bytes, n);
	ck_assert_int_eq(ask(&c), 0);
}

static int
link_up(const char *name, bool up)
{
	struct ifreq q;
	int fd, rc;

	memset(&q, 0, sizeof q);
	snprintf(q.ifr_name, sizeof q.ifr_name, "%s", name);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_ne(fd, -1);
	rc = ioctl(fd, SIOCGIFFLAGS, &q);
	q.ifr_flags = (short)(up ? q.ifr_flags | IFF_UP :
				   q.ifr_flags & ~IFF_UP);
	if (rc == 0)
		rc = ioctl(fd, SIOCSIFFLAGS, &q);
	close(fd);
	return rc;
}

/* NULL, or why there is no network to play with. */
static const char *
network_refused(void)
{
	if (unshare(CLONE_NEWNET) == -1 &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNET) == -1)
		return strerror(errno);
	return NULL;
}

static void
network_setup(void)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK };

	ck_assert_ptr_null(network_refused());
	if (kernel != -1)
		close(kernel);
	kernel = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	ck_assert_int_ne(kernel, -1);
	ck_assert_int_eq(connect(kernel, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(link_up("lo", true), 0);
	setup();
	r = route_new(l, on_told, &told);
	ck_assert_ptr_nonnull(r);
	run_for(20);
}

static int64_t
now(void)
{
	return loop_now(l);
}

/* Another network: told once, when it has settled. */
START_TEST(address_changes)
{
	int64_t start;

	add("192.0.2.1");
	route_peer(r, "192.0.2.9");
	run_for(1200);
	ck_assert_int_eq(told, 0);
	take("192.0.2.1");
	add("192.0.2.2");
	start = now();
	run_for(2300);
	ck_assert_int_eq(told, 1);
	ck_assert_int_ge(told_at - start, 990);
	ck_assert_int_le(told_at - start, 1800);
	/* This address is in use now, and the watch goes on. */
	take("192.0.2.2");
	add("192.0.2.3");
	run_for(1200);
	ck_assert_int_eq(told, 2);
}
END_TEST

START_TEST(address_changes_ipv6)
{
	ck_assert_int_eq(address(true, "2001:db8::1", 64), 0);
	route_peer(r, "2001:db8::99");
	ck_assert_int_eq(address(false, "2001:db8::1", 64), 0);
	ck_assert_int_eq(address(true, "2001:db8::2", 64), 0);
	run_for(1200);
	ck_assert_int_eq(told, 1);
}
END_TEST

/* A VPN: no address goes away, but another way is the better one. */
START_TEST(route_changes)
{
	add("192.0.2.1");
	add("203.0.113.1");
	route("198.51.100.0", 24, "192.0.2.1");
	route_peer(r, "198.51.100.9");
	route("198.51.100.0", 28, "203.0.113.1");
	run_for(1200);
	ck_assert_int_eq(told, 1);
}
END_TEST

/* No network is no news, the first one after it is: with the same address
 * too. */
START_TEST(network_returns)
{
	add("192.0.2.1");
	route("198.51.100.0", 24, "192.0.2.1");
	route_peer(r, _i == 0 ? "192.0.2.9" : "198.51.100.9");
	run_for(1200);
	if (_i == 0)
		take("192.0.2.1");
	else
		ck_assert_int_eq(link_up("lo", false), 0);
	run_for(1200);
	ck_assert_int_eq(told, 0);
	if (_i == 0)
		add("192.0.2.1");
	else
		ck_assert_int_eq(link_up("lo", true), 0);
	/* The kernel does not bring that one back. */
	if (_i == 1)
		route("198.51.100.0", 24, "192.0.2.1");
	run_for(1200);
	ck_assert_int_eq(told, 1);
}
END_TEST

/* There was none when the server was asked for. */
START_TEST(network_comes)
{
	route_peer(r, "192.0.2.9");
	add("192.0.2.1");
	run_for(1200);
	ck_assert_int_eq(told, 1);
}
END_TEST

/* It goes and comes back before anybody looked. */
START_TEST(short_gap)
{
	add("192.0.2.1");
	route_peer(r, "192.0.2.9");
	run_for(1200);
	take("192.0.2.1");
	run_for(300);
	add("192.0.2.1");
	run_for(1200);
	ck_assert_int_eq(told, 0);
}
END_TEST

static long
wakeups(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nvcsw;
}

static void
add_other(int i)
{
	char text[32];

	snprintf(text, sizeof text, "10.%d.%d.1", i / 200, i % 200);
	add(text);
}

/* Not by us: it would count as waking up. */
static void
add_others_from_child(int n)
{
	struct timespec ts = { 0, 2000000 };
	int i;

	if (fork() != 0)
		return;
	for (i = 0; i < n; i++) {
		add_other(i);
		nanosleep(&ts, NULL);
	}
	_exit(0);
}

/* What containers do to their host: it is not about us, and it must not keep
 * us busy. Without it there is nothing to do at all. */
START_TEST(others_are_no_concern)
{
	long before;

	add("192.0.2.1");
	route_peer(r, "192.0.2.9");
	run_for(1200);
	before = wakeups();
	run_for(500);
	ck_assert_int_le(wakeups() - before, 2);
	before = wakeups();
	add_others_from_child(600);
	run_for(2500);
	ck_assert_int_le(wakeups() - before, 15);
	ck_assert_int_eq(told, 0);
	take("192.0.2.1");
	add("192.0.2.2");
	run_for(2300);
	ck_assert_int_eq(told, 1);
}
END_TEST

/* More than the socket holds: the rest is lost, not what it means. */
START_TEST(events_are_lost)
{
	int i;

	add("192.0.2.1");
	route_peer(r, "192.0.2.9");
	for (i = 0; i < 2000; i++)
		add_other(i);
	take("192.0.2.1");
	add("192.0.2.2");
	run_for(1200);
	ck_assert_int_eq(told, 1);
	/* The same while the socket is not read. */
	take("192.0.2.2");
	add("192.0.2.3");
	run_for(100);
	for (i = 2000; i < 4000; i++)
		add_other(i);
	run_for(1200);
	ck_assert_int_eq(told, 2);
	take("192.0.2.3");
	add("192.0.2.4");
	run_for(1200);
	ck_assert_int_eq(told, 3);
}
END_TEST

/* No peer at all, and texts that are not addresses. */
START_TEST(no_peer)
{
	static const char *const peers[] = { NULL, "", "/run/server.sock",
		"192.0.2.999", "server.example", "fe80::1%lo" };
	size_t i;

	route_peer(r, "192.0.2.9");
	for (i = 0; i < sizeof peers / sizeof *peers; i++)
		route_peer(r, peers[(i + (size_t)_i) % 6]);
	add("192.0.2.1");
	run_for(1200);
	ck_assert_int_eq(told, 0);
}
END_TEST

/* Two servers in turn: that the way to the first has changed is not
 * forgotten when the second is named first. The way to the second is as it
 * was then. */
START_TEST(peer_changes)
{
	add("192.0.2.1");
	add("203.0.113.1");
	route_peer(r, "192.0.2.9");
	route_peer(r, "203.0.113.9");
	route_peer(r, "192.0.2.9");
	run_for(1200);
	ck_assert_int_eq(told, 0);
	take("192.0.2.1");
	add("192.0.2.2");
	route_peer(r, "203.0.113.9");
	run_for(1200);
	ck_assert_int_eq(told, 1);
	take("192.0.2.2");
	run_for(1200);
	ck_assert_int_eq(told, 1);
}
END_TEST

static void
on_told_free(void *arg)
{
	on_told(arg);
	route_free(r);
	r = NULL;
}

START_TEST(freed)
{
	route_free(r);
	r = route_new(l, on_told_free, &told);
	add("192.0.2.1");
	route_peer(r, "192.0.2.9");
	take("192.0.2.1");
	add("192.0.2.2");
	if (_i == 1) {
		/* While it settles. */
		run_for(200);
		route_free(r);
		r = NULL;
	}
	run_for(1200);
	ck_assert_int_eq(told, 1 - _i);
	ck_assert_ptr_null(r);
}
END_TEST

static void
add_network(Suite *s)
{
	TCase *t;

	t = tcase_create("network");
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, network_setup, teardown);
	tcase_add_test(t, address_changes);
	tcase_add_test(t, address_changes_ipv6);
	tcase_add_test(t, route_changes);
	tcase_add_loop_test(t, network_returns, 0, 2);
	tcase_add_test(t, network_comes);
	tcase_add_test(t, short_gap);
	tcase_add_test(t, others_are_no_concern);
	tcase_add_test(t, events_are_lost);
	tcase_add_loop_test(t, no_peer, 0, 2);
	tcase_add_test(t, peer_changes);
	tcase_add_loop_test(t, freed, 0, 2);
	suite_add_tcase(s, t);
}

/* Asked in a child: the answer is a namespace that one cannot leave. */
static bool
have_network(void)
{
	const char *why;
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		why = network_refused();
		if (why != NULL)
			fprintf(stderr,
			    "no network namespace (%s): changes of the "
			    "network are not tested\n",
			    why);
		_exit(why == NULL ? 0 : 1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

#else

static void
add_network(Suite *s)
{
	(void)s;
}

static bool
have_network(void)
{
	fprintf(stderr, "no Linux: changes of the network are not tested\n");
	return false;
}

#endif

int
main(void)
{
	Suite *s = suite_create("route");
	TCase *t = tcase_create("always");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nothing);
	tcase_add_test(t, forbidden);
	suite_add_tcase(s, t);
	if (have_network())
		add_network(s);
	return unit_run(s);
}
