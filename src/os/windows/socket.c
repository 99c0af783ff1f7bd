#include "config.h"

#include "os/windows/wake.h"

#include <ws2tcpip.h>

#include "os/network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Not all headers have these. */
#ifndef TCP_MAXRT
#define TCP_MAXRT 5
#endif
#ifndef TCP_KEEPCNT
#define TCP_KEEPCNT 16
#endif

const bool os_reset_keeps_bytes = false;
const bool os_keeps_authorities = true;

/* --- addresses --- */

struct os_address
os_address_of(const struct sockaddr *sa)
{
	struct os_address a;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	memset(&a, 0, sizeof a);
	if (sa->sa_family == AF_INET) {
		memcpy(&v4, sa, sizeof v4);
		a.n = sizeof v4.sin_addr;
		memcpy(a.bytes, &v4.sin_addr, a.n);
		a.port = ntohs(v4.sin_port);
	} else if (sa->sa_family == AF_INET6) {
		memcpy(&v6, sa, sizeof v6);
		a.n = sizeof v6.sin6_addr;
		memcpy(a.bytes, &v6.sin6_addr, a.n);
		a.port = ntohs(v6.sin6_port);
	}
	return a;
}

bool
os_address_is_unix(const struct sockaddr *sa)
{
	return sa->sa_family == AF_UNIX;
}

struct os_address
os_address_read(const char *text)
{
	struct os_address a;

	os_wake_start();
	memset(&a, 0, sizeof a);
	if (inet_pton(AF_INET, text, a.bytes) == 1)
		a.n = sizeof(struct in_addr);
	else if (inet_pton(AF_INET6, text, a.bytes) == 1)
		a.n = sizeof(struct in6_addr);
	return a;
}

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

int
os_address_text(char *text, size_t size, const struct sockaddr *sa,
    unsigned sa_bytes)
{
	return getnameinfo(sa, (socklen_t)sa_bytes, text, (DWORD)size, NULL, 0,
		   NI_NUMERICHOST) == 0 ?
	    0 :
	    -1;
}

/* Returns the length of the socket address. */
static int
fill(struct sockaddr_storage *to, const struct os_address *a)
{
	struct sockaddr_in *v4 = (void *)to;
	struct sockaddr_in6 *v6 = (void *)to;

	memset(to, 0, sizeof *to);
	if (a->n == sizeof v4->sin_addr) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((u_short)a->port);
		memcpy(&v4->sin_addr, a->bytes, a->n);
		return sizeof *v4;
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((u_short)a->port);
	memcpy(&v6->sin6_addr, a->bytes, sizeof v6->sin6_addr);
	return sizeof *v6;
}

struct os_address
os_address_towards(const struct os_address *peer)
{
	struct os_address own;
	struct sockaddr_storage a;
	int n = fill(&a, peer), s;

	memset(&own, 0, sizeof own);
	s = peer->n == 0 ? -1 : os_socket_new(a.ss_family, SOCK_DGRAM, 0);
	if (s == -1)
		return own;
	if (connect((SOCKET)s, (const struct sockaddr *)&a, n) == 0)
		os_socket_own(s, &own);
	os_socket_close(s);
	return own;
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
os_socket_own(int s, struct os_address *out)
{
	struct sockaddr_storage a;
	int n = sizeof a;

	memset(&a, 0, sizeof a);
	if (getsockname((SOCKET)s, (struct sockaddr *)&a, &n) != 0)
		return false;
	*out = os_address_of((const struct sockaddr *)&a);
	return true;
}

bool
os_socket_peer(int s, struct os_address *out)
{
	struct sockaddr_storage a;
	int n = sizeof a;

	memset(&a, 0, sizeof a);
	if (getpeername((SOCKET)s, (struct sockaddr *)&a, &n) != 0)
		return false;
	*out = os_address_of((const struct sockaddr *)&a);
	return true;
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
os_listen(bool ipv6, bool everywhere, unsigned port, int backlog)
{
	struct os_address at = { .n = ipv6 ? 16 : 4, .port = port };
	struct sockaddr_storage a;
	int s = os_socket_new(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0), n;
	BOOL on = TRUE;

	if (s == -1)
		return -1;
	if (!everywhere && ipv6)
		at.bytes[15] = 1;
	else if (!everywhere)
		memcpy(at.bytes, (const unsigned char[]){ 127, 0, 0, 1 }, 4);
	n = fill(&a, &at);
	if (do_not_block(s) == 0 &&
	    setsockopt((SOCKET)s, SOL_SOCKET, SO_EXCLUSIVEADDRUSE,
		(const char *)&on, sizeof on) == 0 &&
	    (!ipv6 ||
		setsockopt((SOCKET)s, IPPROTO_IPV6, IPV6_V6ONLY,
		    (const char *)&on, sizeof on) == 0) &&
	    bind((SOCKET)s, (const struct sockaddr *)&a, n) == 0 &&
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
