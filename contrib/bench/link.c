/*
 * A long line between two hosts on one machine: two network namespaces, near
 * (10.77.0.1) and far (10.77.0.2), and between them this relay, which holds
 * each packet for a time, or loses it without a word.
 *
 *   link [MILLISECONDS]      the delay of each way; a round trip has two
 *
 * The first line of its output names the two namespaces, near first, as files
 * for setns(2) or nsenter --net=FILE. Then it reads orders, a line each, and
 * answers "ok" or "what?":
 *
 *   delay MILLISECONDS       for packets that come from now on; one with a
 *                            shorter delay overtakes those before it
 *   loss PERCENT             lose so many of the packets that come from now on
 *   duplicate PERCENT        deliver so many of them twice
 *   reorder PERCENT          hold so many of them 10 ms longer, so that others
 *                            overtake them
 *   drop on|off [near|far]   lose all packets, or those on their way to that
 *                            side; also those that are on their way already
 *   forget                   as an address translator that lost its table: the
 *                            packets of each TCP connection so far are lost,
 *                            one that begins later gets through
 *
 * It ends with its input; the namespaces end with their last process. It
 * needs root, or unshare -r where /dev/net/tun is open to all; without, its
 * exit status is 77.
 */
#ifdef __linux__

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINK_NEAR "10.77.0.1"
#define LINK_FAR "10.77.0.2"
#define LINK_DEVICE "link0"
#define LINK_PACKET 2048 /* more than the MTU of a TUN device, 1500 */
#define LINK_SYN 0x02    /* flags of TCP */
#define LINK_ACK 0x10
#define LINK_LATE 0.01 /* seconds that a packet is held to be overtaken */
#define LINK_SKIP 77

struct packet {
	struct packet *next;
	double due;
	size_t n;
	char data[];
};

struct side {
	int space;            /* the namespace */
	int tun;              /* its end of the line */
	struct packet *first; /* those on their way to it, by their time */
	struct packet *last;
	bool drop;
};

struct link {
	struct side near;
	struct side far;
	double delay; /* seconds, one way */
	double loss;  /* percent, as the next two */
	double duplicate;
	double reorder;
	bool known[65536]; /* TCP connections, by their port at near */
};

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void
die(const char *what)
{
	if (errno == EPERM || errno == EACCES || errno == ENOENT ||
	    errno == ENODEV) {
		fprintf(stderr,
		    "link: this needs root (CAP_SYS_ADMIN, "
		    "CAP_NET_ADMIN) and /dev/net/tun.\n");
		exit(LINK_SKIP);
	}
	fprintf(stderr, "link: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
set_address(int fd, struct ifreq *r, unsigned short what, const char *address)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	inet_pton(AF_INET, address, &sin.sin_addr);
	memcpy(&r->ifr_addr, &sin, sizeof sin);
	if (ioctl(fd, what, r) != 0)
		die("address");
}

static void
set_up(int fd, struct ifreq *r)
{
	if (ioctl(fd, SIOCGIFFLAGS, r) != 0)
		die("flags of the device");
	r->ifr_flags |= IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, r) != 0)
		die("device up");
}

/* Enters a new namespace with a device of its own. */
static void
side_open(struct side *s, const char *own, const char *peer)
{
	struct ifreq r = { .ifr_name = LINK_DEVICE };
	struct ifreq lo = { .ifr_name = "lo" };
	int fd;

	if (unshare(CLONE_NEWNET) != 0)
		die("unshare");
	s->space = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (s->space < 0)
		die("/proc/thread-self/ns/net");
	s->tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (s->tun < 0)
		die("/dev/net/tun");
	r.ifr_flags = IFF_TUN | IFF_NO_PI;
	if (ioctl(s->tun, TUNSETIFF, &r) != 0)
		die("TUNSETIFF");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket");
	set_address(fd, &r, SIOCSIFADDR, own);
	set_address(fd, &r, SIOCSIFDSTADDR, peer);
	set_up(fd, &r);
	set_up(fd, &lo);
	close(fd);
}

static bool
chance(double percent)
{
	return percent > 0 && drand48() * 100 < percent;
}

/* Inserts a packet by its time, behind those that are due at the same time. */
static void
put(struct side *to, const char *data, size_t n, double due)
{
	struct packet *p = malloc(sizeof *p + n);
	struct packet **at = &to->first;

	if (p == NULL)
		die("malloc");
	p->due = due;
	p->n = n;
	memcpy(p->data, data, n);
	if (to->last != NULL && to->last->due <= due)
		at = &to->last->next;
	while (*at != NULL && (*at)->due <= due)
		at = &(*at)->next;
	p->next = *at;
	*at = p;
	if (p->next == NULL)
		to->last = p;
}

/* Reads the packets that one side sent, and queues them for the other. */
static void
take(const struct link *l, const struct side *from, struct side *to)
{
	char data[LINK_PACKET];
	double due;
	ssize_t n;

	while ((n = read(from->tun, data, sizeof data)) > 0) {
		if (chance(l->loss))
			continue;
		due = now() + l->delay;
		if (chance(l->reorder))
			due += LINK_LATE;
		put(to, data, (size_t)n, due);
		if (chance(l->duplicate))
			put(to, data, (size_t)n, due);
	}
}

/* Does the line know its connection? It learns one by its SYN. */
static bool
is_known(struct link *l, const struct packet *p, const struct side *to)
{
	const unsigned char *b = (const unsigned char *)p->data;
	size_t head, port;

	if (p->n < 20 || b[0] >> 4 != 4 || b[9] != IPPROTO_TCP)
		return true;
	head = (b[0] & 15u) * 4u;
	if (p->n < head + 20)
		return false;
	b += head;
	port = to == &l->far ? 0 : 2;
	port = (size_t)b[port] << 8 | b[port + 1];
	if ((b[13] & (LINK_SYN | LINK_ACK)) == LINK_SYN)
		l->known[port] = true;
	return l->known[port];
}

/* A packet that the device does not take is lost, as on any line. */
static void
deliver(struct link *l, struct side *to)
{
	struct packet *p;
	ssize_t n;

	while ((p = to->first) != NULL && p->due <= now()) {
		to->first = p->next;
		if (p->next == NULL)
			to->last = NULL;
		if (!to->drop && is_known(l, p, to)) {
			n = write(to->tun, p->data, p->n);
			(void)n;
		}
		free(p);
	}
}

/* An order with a number. */
static bool
obey_number(struct link *l, const char *order)
{
	char what[10];
	double number;

	if (sscanf(order, "%9s %lf", what, &number) != 2 || number < 0)
		return false;
	if (strcmp(what, "delay") == 0)
		l->delay = number / 1e3;
	else if (strcmp(what, "loss") == 0)
		l->loss = number;
	else if (strcmp(what, "duplicate") == 0)
		l->duplicate = number;
	else if (strcmp(what, "reorder") == 0)
		l->reorder = number;
	else
		return false;
	return true;
}

static bool
obey(struct link *l, const char *order)
{
	char state[4] = "", side[5] = "";
	bool drop;

	if (strcmp(order, "forget") == 0) {
		memset(l->known, 0, sizeof l->known);
		return true;
	}
	if (obey_number(l, order))
		return true;
	if (sscanf(order, "drop %3s %4s", state, side) < 1)
		return false;
	drop = strcmp(state, "on") == 0;
	if (!drop && strcmp(state, "off") != 0)
		return false;
	if (side[0] == '\0')
		l->near.drop = l->far.drop = drop;
	else if (strcmp(side, "near") == 0)
		l->near.drop = drop;
	else if (strcmp(side, "far") == 0)
		l->far.drop = drop;
	else
		return false;
	return true;
}

/* Reads orders; false at the end of the input. */
static bool
orders(struct link *l)
{
	static char in[256];
	static size_t have;
	ssize_t n = read(STDIN_FILENO, in + have, sizeof in - 1 - have);
	char *eol;

	if (n <= 0)
		return n < 0 && errno == EINTR;
	have += (size_t)n;
	in[have] = '\0';
	while ((eol = strchr(in, '\n')) != NULL) {
		*eol++ = '\0';
		puts(obey(l, in) ? "ok" : "what?");
		have -= (size_t)(eol - in);
		memmove(in, eol, have + 1);
	}
	fflush(stdout);
	return have < sizeof in - 1;
}

static void
until(struct timespec *ts, const struct side *s)
{
	double left;

	if (s->first == NULL)
		return;
	left = s->first->due - now();
	if (left < 0)
		left = 0;
	if (left < (double)ts->tv_sec + (double)ts->tv_nsec / 1e9) {
		ts->tv_sec = (time_t)left;
		ts->tv_nsec = (long)((left - (double)ts->tv_sec) * 1e9);
	}
}

static void
relay(struct link *l)
{
	struct pollfd fds[3] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = l->near.tun, .events = POLLIN },
		{ .fd = l->far.tun, .events = POLLIN },
	};
	struct timespec ts;

	for (;;) {
		ts = (struct timespec){ 3600, 0 };
		until(&ts, &l->near);
		until(&ts, &l->far);
		ppoll(fds, 3, &ts, NULL);
		take(l, &l->near, &l->far);
		take(l, &l->far, &l->near);
		deliver(l, &l->near);
		deliver(l, &l->far);
		/* last: what was sent and due before an order is not under
		 * it */
		if (fds[0].revents != 0 && !orders(l))
			return;
	}
}

int
main(int argc, char **argv)
{
	static struct link l;

	if (argc > 2) {
		fprintf(stderr, "usage: link [MILLISECONDS]\n");
		return 2;
	}
	l.delay = argc == 2 ? strtod(argv[1], NULL) / 1e3 : 0;
	signal(SIGPIPE, SIG_IGN);
	side_open(&l.near, LINK_NEAR, LINK_FAR);
	side_open(&l.far, LINK_FAR, LINK_NEAR);
	/* The relay must deliver each packet on time, so it gets priority. */
	setpriority(PRIO_PROCESS, 0, -20);
	printf("/proc/%ld/fd/%d /proc/%ld/fd/%d\n", (long)getpid(),
	    l.near.space, (long)getpid(), l.far.space);
	fflush(stdout);
	relay(&l);
	return 0;
}

#else /* only Linux has network namespaces */

#include <stdio.h>

int
main(void)
{
	fprintf(stderr, "link: this needs Linux.\n");
	return 77;
}

#endif
