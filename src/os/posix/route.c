/* The events of a routing socket. Their content is not used. */
#include "config.h"

#include "os/network.h"

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef HAVE_LINUX_RTNETLINK_H
#include <linux/rtnetlink.h>
#elif defined(HAVE_NET_ROUTE_H)
#include <net/if.h>
#include <net/route.h>
#endif

enum { ROUTE_READS = 1000 }; /* per call; the rest is read later */

/* Opens the socket that reports changes, or returns -1. */
static int
events_open(void)
{
#if defined(HAVE_LINUX_RTNETLINK_H)
	struct sockaddr_nl a;
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (fd == -1)
		return -1;
	memset(&a, 0, sizeof a);
	a.nl_family = AF_NETLINK;
	/* A link that goes down takes its routes along without a message of
	 * their own. A VPN may come as a rule. */
	a.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
	    RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_RULE |
	    1U << (RTNLGRP_IPV6_RULE - 1);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	close(fd);
	return -1;
#elif defined(RTM_MISS)
	return socket(PF_ROUTE, SOCK_RAW, AF_UNSPEC);
#else
	return -1;
#endif
}

int
os_route_open(void)
{
	int fd = events_open(), flags;

	if (fd == -1)
		return -1;
	flags = fcntl(fd, F_GETFL);
	if (flags != -1 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) != -1 &&
	    fcntl(fd, F_SETFD, FD_CLOEXEC) != -1)
		return fd;
	close(fd);
	return -1;
}

/* Does the message report a change, and not just a failed lookup of a route?
 * Our own lookup fails when there is no route, and must not cause the next
 * lookup. */
static bool
is_change(const unsigned char *message, size_t n)
{
#if defined(HAVE_LINUX_RTNETLINK_H) || !defined(RTM_MISS)
	(void)message;
	return n > 0;
#else
	struct rt_msghdr head;

	if (n < offsetof(struct rt_msghdr, rtm_type) + sizeof head.rtm_type)
		return false;
	memset(&head, 0, sizeof head);
	memcpy(&head, message, n < sizeof head ? n : sizeof head);
	return head.rtm_type != RTM_MISS && head.rtm_type != RTM_GET &&
	    head.rtm_type != RTM_LOSING;
#endif
}

/* Lost events (ENOBUFS) count as a change. */
bool
os_route_take(int s)
{
	unsigned char part[256];
	bool changed = false;
	ssize_t n;
	int i;

	for (i = 0; i < ROUTE_READS; i++) {
		n = recv(s, part, sizeof part, 0);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno != ENOBUFS)
			break;
		if (n == -1 || is_change(part, (size_t)n))
			changed = true;
	}
	return changed;
}
