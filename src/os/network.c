/* What is the same for addresses on all systems. */
#include "config.h"

#ifdef _WIN32
#include "os/windows/wake.h"
#else
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* as Windows has them */
typedef int SOCKET;
#define os_wake_start() ((void)0)
#endif

#include "os/network.h"

#include <string.h>

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

int
os_address_text(char *text, size_t size, const struct sockaddr *sa,
    unsigned sa_bytes)
{
	return getnameinfo(sa, (socklen_t)sa_bytes, text, (unsigned)size, NULL,
		   0, NI_NUMERICHOST) == 0 ?
	    0 :
	    -1;
}

/* Returns the length of the socket address. */
static socklen_t
fill(struct sockaddr_storage *to, const struct os_address *a)
{
	struct sockaddr_in *v4 = (void *)to;
	struct sockaddr_in6 *v6 = (void *)to;

	memset(to, 0, sizeof *to);
	if (a->n == sizeof v4->sin_addr) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)a->port);
		memcpy(&v4->sin_addr, a->bytes, a->n);
		return sizeof *v4;
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)a->port);
	memcpy(&v6->sin6_addr, a->bytes, sizeof v6->sin6_addr);
	return sizeof *v6;
}

static bool
end_of(int s, bool peer, struct os_address *out)
{
	struct sockaddr_storage a = { 0 };
	struct sockaddr *to = (struct sockaddr *)&a;
	socklen_t n = sizeof a;

	if ((peer ? getpeername((SOCKET)s, to, &n) :
		    getsockname((SOCKET)s, to, &n)) != 0)
		return false;
	*out = os_address_of(to);
	return true;
}

bool
os_socket_own(int s, struct os_address *out)
{
	return end_of(s, false, out);
}

bool
os_socket_peer(int s, struct os_address *out)
{
	return end_of(s, true, out);
}

/* A UDP socket that is connected and never written to gives the address. */
struct os_address
os_address_towards(const struct os_address *peer)
{
	struct os_address own;
	struct sockaddr_storage a;
	socklen_t n = fill(&a, peer);
	int s;

	memset(&own, 0, sizeof own);
	s = peer->n == 0 ? -1 : os_socket_new(a.ss_family, SOCK_DGRAM, 0);
	if (s == -1)
		return own;
	if (connect((SOCKET)s, (const struct sockaddr *)&a, n) == 0)
		os_socket_own(s, &own);
	os_socket_close(s);
	return own;
}

int
os_listen(bool ipv6, bool everywhere, unsigned port, int backlog)
{
	struct os_address at = { .n = ipv6 ? 16 : 4, .port = port };
	struct sockaddr_storage a;
	socklen_t n;

	if (!everywhere && ipv6)
		at.bytes[15] = 1;
	else if (!everywhere)
		memcpy(at.bytes, (const unsigned char[]){ 127, 0, 0, 1 }, 4);
	n = fill(&a, &at);
	return os_listen_at((const struct sockaddr *)&a, (unsigned)n, backlog);
}
