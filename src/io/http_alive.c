/* What the kernel knows of a connection, and what follows. */
#include "config.h"

#include "io/http_alive.h"

#include <stddef.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "io/route.h"

enum {
	SPARE_MS = 1000, /* how late a timer or a server may be */
	/* A peer that answers keepalives was heard within this time. */
	HEARD_MS = HTTP_KEEPALIVE_IDLE_S * 1000 + SPARE_MS,
	HEARD_MOST_MS = HEARD_MS + 2 * SPARE_MS /* however long a round trip */
};

/* Some systems have the structure and do not fill it: then the peer seems to be
 * heard at this moment, which an idle one is not. */
void
http_alive_ask(int fd, struct alive_facts *f)
{
	f->told = false;
#if defined __linux__ && defined HAVE_STRUCT_TCP_INFO_TCPI_LAST_ACK_RECV
	struct tcp_info t;
	socklen_t n = sizeof t;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &n) != 0 ||
	    n < offsetof(struct tcp_info, tcpi_rtt) + sizeof t.tcpi_rtt)
		return;
	f->told = t.tcpi_last_ack_recv > 0;
	f->established = t.tcpi_state == TCP_ESTABLISHED;
	f->unacked = t.tcpi_unacked > 0 || t.tcpi_retransmits > 0;
	f->heard_ms = t.tcpi_last_ack_recv;
	f->rtt_ms = t.tcpi_rtt / 1000;
	f->same_way = route_is_same(fd);
#else
	(void)fd;
#endif
}

/* Is the server about to close the connection? After the time that was learned
 * it has not closed this one, so that time is another one now. */
static bool
closes_soon(const struct alive_facts *f)
{
	int64_t spare = SPARE_MS + f->rtt_ms;
	int64_t least = f->closes_ms / 2;

	if (f->closes_ms > 0 &&
	    f->idle_ms >=
		(f->closes_ms - spare > least ? f->closes_ms - spare : least))
		return true;
	return f->closed_ms > 0 && f->idle_ms >= f->closed_ms - spare &&
	    f->idle_ms <= f->closed_ms + spare;
}

static bool
proven(const struct alive_facts *f)
{
	int64_t most = HEARD_MS + 2 * f->rtt_ms;

	if (most > HEARD_MOST_MS)
		most = HEARD_MOST_MS;
	return f->established && !f->unacked && f->same_way &&
	    f->heard_ms <= most;
}

bool
http_alive(const struct alive_facts *f)
{
	if (closes_soon(f) || (f->told && !proven(f)))
		return false;
	return f->max_idle_ms == 0 || f->idle_ms < f->max_idle_ms ||
	    (f->proof && f->told);
}
