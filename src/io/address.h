/*
 * What kind of place an address is: for the rule that a server on the
 * internet cannot send us to the machines behind our door.
 */
#ifndef MCPSPLICE_IO_ADDRESS_H
#define MCPSPLICE_IO_ADDRESS_H

struct sockaddr;

enum address_class {
	ADDRESS_PUBLIC,
	ADDRESS_PRIVATE,  /* RFC 1918, 4193, 6598, and what is like it */
	ADDRESS_LOOPBACK, /* and unix sockets */
	/* Never of use for us: link-local, where clouds keep their metadata;
	 * the unspecified address, multicast, broadcast, reserved. */
	ADDRESS_FORBIDDEN
};

/* IPv6 forms that carry an IPv4 address (mapped, compatible, NAT64, 6to4)
 * count as what they carry. */
enum address_class address_class(const struct sockaddr *sa);
/* The same of a literal, "10.0.0.1" or "fe80::1" with or without brackets.
 * Returns -1 when it is none. */
int address_literal(const char *text, enum address_class *out);

#endif
