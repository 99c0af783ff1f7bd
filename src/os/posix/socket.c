/* Sockets, and what the system knows of a connection. */
#include "config.h"

#include "os/network.h"

#include <sys/types.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* the loop ignores SIGPIPE */
#endif

#ifdef __linux__
const bool os_reset_keeps_bytes = true;
#else
const bool os_reset_keeps_bytes = false;
#endif

const bool os_keeps_authorities = false;
const bool os_has_proxy_settings = false;

char *
os_system_proxy(bool https, const char *host)
{
	(void)https;
	(void)host;
	return NULL;
}

struct os_address
os_address_read_loosely(const char *text)
{
	struct os_address a;
	struct in_addr v4;

	memset(&a, 0, sizeof a);
	if (inet_aton(text, &v4) == 0)
		return a;
	a.n = sizeof v4;
	memcpy(a.bytes, &v4, a.n);
	return a;
}

/* --- sockets --- */

int
os_socket_new(int family, int type, int protocol)
{
	return socket(family, type, protocol);
}

void
os_socket_tune(int s, int keepalives, int silent_ms)
{
	fcntl(s, F_SETFD, FD_CLOEXEC);
#ifdef TCP_KEEPCNT
	setsockopt(s, IPPROTO_TCP, TCP_KEEPCNT, &keepalives, sizeof keepalives);
#endif
#ifdef TCP_USER_TIMEOUT
	setsockopt(s, IPPROTO_TCP, TCP_USER_TIMEOUT, &silent_ms,
	    sizeof silent_ms);
#endif
	(void)keepalives;
	(void)silent_ms;
}

int
os_socket_close(int s)
{
	return close(s);
}

bool
os_socket_is_ready(int s)
{
	struct pollfd p = { .fd = s, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* TLS says goodbye in bytes before the end, so it is not enough to look for the
 * end behind them. */
bool
os_socket_is_closed(int s)
{
#ifdef POLLRDHUP
	struct pollfd p = { .fd = s, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0;
#else
	char byte;
	ssize_t n = recv(s, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return n == 0 ||
	    (n == -1 && errno != EAGAIN && errno != EWOULDBLOCK &&
		errno != EINTR);
#endif
}

bool
os_socket_has_end(int s)
{
	char byte;

	return recv(s, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

static int64_t
result(ssize_t n)
{
	if (n == -1 && (errno == EINTR || errno == EWOULDBLOCK))
		errno = EAGAIN;
	return n;
}

int64_t
os_socket_read(int s, void *p, size_t n)
{
	return result(recv(s, p, n, 0));
}

int64_t
os_socket_write(int s, const void *p, size_t n)
{
	ssize_t done;

	do
		done = send(s, p, n, MSG_NOSIGNAL);
	while (done == -1 && errno == EINTR);
	return result(done);
}

void
os_socket_reset(int s, bool at_close)
{
	struct linger reset = { .l_onoff = at_close, .l_linger = 0 };

	setsockopt(s, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

/* Some systems have the structure and do not fill it: then the peer seems to be
 * heard at this moment, which an idle one is not. */
bool
os_socket_facts(int s, struct os_socket_facts *f)
{
#if defined __linux__ && defined HAVE_STRUCT_TCP_INFO_TCPI_LAST_ACK_RECV
	struct tcp_info t;
	socklen_t n = sizeof t;

	if (getsockopt(s, IPPROTO_TCP, TCP_INFO, &t, &n) != 0 ||
	    n < offsetof(struct tcp_info, tcpi_rtt) + sizeof t.tcpi_rtt)
		return false;
	f->established = t.tcpi_state == TCP_ESTABLISHED;
	f->unacked = t.tcpi_unacked > 0 || t.tcpi_retransmits > 0;
	f->heard_ms = t.tcpi_last_ack_recv;
	f->rtt_ms = t.tcpi_rtt / 1000;
	return true;
#else
	(void)s;
	(void)f;
	return false;
#endif
}

/* --- listening --- */

/* Makes fd non-blocking and close-on-exec. Returns 0, or -1. */
static int
set_flags(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1)
		return -1;
	return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int
close_failed(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
	return -1;
}

int
os_listen_at(const struct sockaddr *a, unsigned bytes, int backlog)
{
	bool ipv6 = a->sa_family == AF_INET6;
	int fd = socket(a->sa_family, SOCK_STREAM, 0), on = 1;

	if (fd == -1)
		return -1;
	if (set_flags(fd) == 0 &&
	    (!ipv6 ||
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) ==
		    0) &&
	    bind(fd, a, bytes) == 0 && listen(fd, backlog) == 0)
		return fd;
	return close_failed(fd);
}

int
os_accept(int s)
{
	int fd;

#ifdef HAVE_ACCEPT4
	fd = accept4(s, NULL, NULL, SOCK_CLOEXEC);
#else
	fd = accept(s, NULL, NULL);
#endif
	if (fd == -1 &&
	    (errno == EINTR || errno == EWOULDBLOCK || errno == ECONNABORTED))
		errno = EAGAIN;
	if (fd == -1 || set_flags(fd) == 0)
		return fd;
	close_failed(fd);
	errno = EAGAIN;
	return -1;
}
