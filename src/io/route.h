/*
 * Notices that the way to the server has changed: another network, a VPN, a
 * cable pulled and put back. The system tells of each change of addresses,
 * links and routes; whether one concerns us is seen by the local address that
 * it would use towards the server now. Costs nothing until it tells.
 */
#ifndef MCPSPLICE_IO_ROUTE_H
#define MCPSPLICE_IO_ROUTE_H

#include "io/loop.h"

struct route;

/* cb is called a moment after the change, from a timer, when connections made
 * before are most likely dead and new ones can be made. NULL where the system
 * does not tell, or a sandbox forbids to listen. */
struct route *route_new(struct loop *l, loop_cb *cb, void *arg);
/* The address of the server, or of the proxy before it, that was used last:
 * "192.0.2.1", "2001:db8::1". NULL, or what is no address: none. Copied; the
 * same one again costs nothing. r may be NULL. */
void route_peer(struct route *r, const char *ip_address);
void route_free(struct route *r);

#endif
