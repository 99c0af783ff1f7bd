/*
 * Addresses, sockets, and the route to the network. A socket is a stream: the
 * loop can watch it.
 */
#ifndef MCPSPLICE_OS_NETWORK_H
#define MCPSPLICE_OS_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr;

enum { OS_ADDRESS_TEXT = 46 }; /* bytes of an address in words, with its NUL */

/* An address of IPv4 or IPv6. */
struct os_address {
	unsigned char bytes[16];
	size_t n; /* of bytes: 4 or 16; 0: none, or one of another kind */
	unsigned port;
};

struct os_address os_address_of(const struct sockaddr *sa);
/* Is it one of this machine, of a unix socket? */
bool os_address_is_unix(const struct sockaddr *sa);
/* Reads "192.0.2.1" and "2001:db8::1". Returns one with n 0 for anything
 * else. */
struct os_address os_address_read(const char *text);
/* The same with the forms of IPv4 that resolvers take, such as 127.1, but
 * without IPv6. */
struct os_address os_address_read_loosely(const char *text);
/* Writes it in words. Returns 0, or -1. */
int os_address_text(char *text, size_t size, const struct sockaddr *sa,
    unsigned sa_bytes);
/* Returns the address that the system would give to our end of a connection to
 * this one now, without sending a packet; n 0: there is no route. */
struct os_address os_address_towards(const struct os_address *peer);

/* Makes a socket for libcurl, as its callback has it. Returns it, or -1. */
int os_socket_new(int family, int type, int protocol);
/* Does not let children have it, and limits how long it waits for a peer that is
 * silent: by the number of keepalives, and in ms for what was sent. */
void os_socket_tune(int s, int keepalives, int silent_ms);
/* Closes it. Returns 0, or -1. */
int os_socket_close(int s);
/* Our address, and that of the peer. Returns false if it has none. */
bool os_socket_own(int s, struct os_address *out);
bool os_socket_peer(int s, struct os_address *out);
/* Is there something to read, or an end? */
bool os_socket_is_ready(int s);
/* Has the peer closed it, whatever else there is to read? */
bool os_socket_is_closed(int s);
/* Would a read give bytes, or an end without an error? */
bool os_socket_has_end(int s);
/* Like os_input_read. */
int64_t os_socket_read(int s, void *p, size_t n);
/* Returns the number of bytes, or -1 with errno; EAGAIN: it takes none now. */
int64_t os_socket_write(int s, const void *p, size_t n);
/* Will a close reset the connection? */
void os_socket_reset(int s, bool at_close);
/* Does a reader of this machine still get what was sent before a reset? */
extern const bool os_reset_keeps_bytes;

struct os_socket_facts {
	bool established, unacked;
	int64_t heard_ms, rtt_ms;
};

/* What the system knows of a TCP connection. Returns false if it does not
 * tell. */
bool os_socket_facts(int s, struct os_socket_facts *f);

/* Listens at the loopback address, or everywhere; port 0: any. Returns a socket,
 * or -1 with errno. */
int os_listen(bool ipv6, bool everywhere, unsigned port, int backlog);
/* The same at an address of so many bytes. */
int os_listen_at(const struct sockaddr *a, unsigned bytes, int backlog);
/* Returns a connection, or -1 with errno; EAGAIN: there is none now. */
int os_accept(int s);

/* Does the system keep the authorities to trust in its own store, and not in
 * files? */
extern const bool os_keeps_authorities;

/* Has the system settings for proxies, besides the variables? */
extern const bool os_has_proxy_settings;
/* Returns the proxy that they name for a host, which the caller frees; NULL: none,
 * or the host bypasses it. NULL for host: what do they name for others? */
char *os_system_proxy(bool https, const char *host);

/* Returns a stream that is ready for reading after a change of links, addresses
 * or routes; -1: the system reports none. Close it by os_socket_close. */
int os_route_open(void);
/* Empties it. Was there a change, and not just a failed lookup? */
bool os_route_take(int s);

#endif
