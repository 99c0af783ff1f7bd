/*
 * Notices that the route to the server changed: another network, a VPN, a cable
 * pulled and put back. The system reports each change of addresses, links and
 * routes. A change matters if the system would now use another local address to
 * reach the server. While nothing is reported, this costs nothing.
 */
#ifndef MCPSPLICE_IO_NETWORK_CHANGE_H
#define MCPSPLICE_IO_NETWORK_CHANGE_H

#include "io/loop.h"

struct route;

/* Calls cb from a timer, a moment after a change: connections made before are
 * most likely dead, and new ones can be made. Returns NULL if the system does
 * not report changes, or a sandbox forbids listening for them. */
struct route *route_new(struct loop *l, loop_cb *cb, void *arg);
/* Sets the address of the server, or of its proxy, that was used last:
 * "192.0.2.1", "2001:db8::1". NULL, or text that is not an address: none.
 * Copied; setting the same address again costs nothing. r may be NULL. */
void route_peer(struct route *r, const char *ip_address);
/* Would a packet to the peer of this connected socket leave from the socket's
 * own address now? Sends nothing. */
bool route_is_same(int fd);
/* Stops watching and frees r, which may be NULL. */
void route_free(struct route *r);

#endif
