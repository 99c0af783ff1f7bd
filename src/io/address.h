/*
 * The class of an address: a server on the internet must not be able to make
 * mcpsplice connect to machines in the user's own network.
 */
#ifndef MCPSPLICE_IO_ADDRESS_H
#define MCPSPLICE_IO_ADDRESS_H

struct sockaddr;

enum address_class {
	ADDRESS_PUBLIC,
	ADDRESS_PRIVATE,  /* RFC 1918, 4193, 6598, and similar */
	ADDRESS_LOOPBACK, /* and unix sockets */
	/* Never connected to: link-local, where clouds keep their metadata; the
	 * unspecified address, multicast, broadcast, reserved. */
	ADDRESS_FORBIDDEN
};

/* Returns the class of an address. An IPv6 address that carries an IPv4 address
 * (mapped, compatible, NAT64, 6to4) has the class of that one. */
enum address_class address_class(const struct sockaddr *sa);
/* Finds the class of a literal such as "10.0.0.1" or "fe80::1", with or without
 * brackets. Returns 0, or -1 if text is not a literal. */
int address_literal(const char *text, enum address_class *out);

#endif
