/* Sockets of Winsock, and what the system knows of a connection. */
#include "config.h"

#include "os/windows/wake.h"

#include "os/network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Some headers lack these. */
#ifndef TCP_MAXRT
#define TCP_MAXRT 5
#endif
#ifndef TCP_KEEPCNT
#define TCP_KEEPCNT 16
#endif

const bool os_reset_keeps_bytes = false;
const bool os_keeps_authorities = true;

/* Takes one number of "0x7f.1", as C writes it. */
static bool
take_number(const char **at, unsigned long *value)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*value = strtoul(*at, &end, 0);
	*at = end;
	return errno == 0;
}

/* Up to four numbers; the last one fills the bytes that are left. */
struct os_address
os_address_read_loosely(const char *text)
{
	struct os_address a;
	unsigned long part = 0;
	unsigned i, shift;

	memset(&a, 0, sizeof a);
	for (i = 0; i < 4; i++) {
		if (!take_number(&text, &part))
			return a;
		if (*text != '.')
			break;
		if (i == 3 || part > 255)
			return a;
		a.bytes[i] = (unsigned char)part;
		text++;
	}
	shift = 8 * (4 - i);
	if (*text != '\0' || (shift < 32 && part >> shift != 0))
		return a;
	for (; i < 4; i++)
		a.bytes[i] = (unsigned char)(part >> (8 * (3 - i)) & 255);
	a.n = 4;
	return a;
}

/* --- sockets --- */

static int
failed(void)
{
	return os_set_errno((DWORD)WSAGetLastError());
}

int
os_socket_new(int family, int type, int protocol)
{
	SOCKET s;

	os_wake_start();
	s = WSASocketW(family, type, protocol, NULL, 0,
	    WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
	return s == INVALID_SOCKET ? failed() : (int)s;
}

/* TCP_MAXRT is in seconds. */
void
os_socket_tune(int s, int keepalives, int silent_ms)
{
	DWORD count = (DWORD)keepalives, silent_s = (DWORD)silent_ms / 1000;

	setsockopt((SOCKET)s, IPPROTO_TCP, TCP_KEEPCNT, (const char *)&count,
	    sizeof count);
	setsockopt((SOCKET)s, IPPROTO_TCP, TCP_MAXRT, (const char *)&silent_s,
	    sizeof silent_s);
}

int
os_socket_close(int s)
{
	return closesocket((SOCKET)s) == 0 ? 0 : failed();
}

bool
os_socket_is_ready(int s)
{
	WSAPOLLFD p = { (SOCKET)s, POLLRDNORM, 0 };

	return WSAPoll(&p, 1, 0) > 0;
}

/* Of libcurl's sockets none blocks. */
bool
os_socket_is_closed(int s)
{
	WSAPOLLFD p = { (SOCKET)s, POLLRDNORM, 0 };
	char byte;
	int n;

	if (WSAPoll(&p, 1, 0) <= 0)
		return false;
	if ((p.revents & (POLLHUP | POLLERR)) != 0)
		return true;
	n = recv((SOCKET)s, &byte, 1, MSG_PEEK);
	return n == 0 || (n < 0 && WSAGetLastError() != WSAEWOULDBLOCK);
}

bool
os_socket_has_end(int s)
{
	char byte;

	return recv((SOCKET)s, &byte, 1, MSG_PEEK) >= 0;
}

static int
at_once(size_t n)
{
	return n > INT_MAX ? INT_MAX : (int)n;
}

int64_t
os_socket_read(int s, void *p, size_t n)
{
	int got = recv((SOCKET)s, p, at_once(n), 0);

	return got < 0 ? failed() : got;
}

int64_t
os_socket_write(int s, const void *p, size_t n)
{
	int done = send((SOCKET)s, p, at_once(n), 0);

	return done < 0 ? failed() : done;
}

void
os_socket_reset(int s, bool at_close)
{
	struct linger reset = { .l_onoff = at_close, .l_linger = 0 };

	setsockopt((SOCKET)s, SOL_SOCKET, SO_LINGER, (const char *)&reset,
	    sizeof reset);
}

/* The system does not tell when a peer was heard last. */
bool
os_socket_facts(int s, struct os_socket_facts *f)
{
	(void)s;
	(void)f;
	return false;
}

/* --- listening --- */

static int
close_failed(int s)
{
	failed();
	closesocket((SOCKET)s);
	return -1;
}

static int
do_not_block(int s)
{
	u_long on = 1;

	return ioctlsocket((SOCKET)s, (long)FIONBIO, &on);
}

/* Without the option another program could take the same port. */
int
os_listen_at(const struct sockaddr *a, unsigned bytes, int backlog)
{
	bool ipv6 = a->sa_family == AF_INET6;
	int s = os_socket_new(a->sa_family, SOCK_STREAM, 0);
	BOOL on = TRUE;

	if (s == -1)
		return -1;
	if (do_not_block(s) == 0 &&
	    setsockopt((SOCKET)s, SOL_SOCKET, SO_EXCLUSIVEADDRUSE,
		(const char *)&on, sizeof on) == 0 &&
	    (!ipv6 ||
		setsockopt((SOCKET)s, IPPROTO_IPV6, IPV6_V6ONLY,
		    (const char *)&on, sizeof on) == 0) &&
	    bind((SOCKET)s, a, (int)bytes) == 0 &&
	    listen((SOCKET)s, backlog) == 0)
		return s;
	return close_failed(s);
}

int
os_accept(int s)
{
	SOCKET got = accept((SOCKET)s, NULL, NULL);

	if (got == INVALID_SOCKET) {
		failed();
		if (errno == ECONNRESET || errno == ECONNABORTED)
			errno = EAGAIN;
		return -1;
	}
	SetHandleInformation((HANDLE)got, HANDLE_FLAG_INHERIT, 0);
	return do_not_block((int)got) == 0 ? (int)got : close_failed((int)got);
}
