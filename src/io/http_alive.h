/*
 * May a request ride a connection that was idle? Its age says little: a server
 * closes after a time of its own, and a connection dies in silence at any time
 * (NAT, another network). The kernel knows more: it asks an idle peer every
 * HTTP_KEEPALIVE_IDLE_S whether it is there (TCP keepalive, RFC 9293 3.8.4),
 * and tells when the peer was last heard.
 */
#ifndef MCPSPLICE_IO_HTTP_ALIVE_H
#define MCPSPLICE_IO_HTTP_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HTTP_KEEPALIVE_IDLE_S = 10,
	HTTP_KEEPALIVE_INTERVAL_S = 5,
	HTTP_KEEPALIVE_COUNT = 3,
	/* Below this the end of the last answer is proof enough. */
	HTTP_ALIVE_SURE_MS = 1000
};

/* What is known of an idle connection; times are in ms. */
struct alive_facts {
	int64_t idle_ms;     /* since the end of the last answer */
	int64_t max_idle_ms; /* without proof of life; 0: no limit */
	int64_t closes_ms;   /* idle time after which the server said that it
			      * closes; 0: it said nothing */
	int64_t closed_ms;   /* idle time after which it did close another
			      * connection; 0: not known */
	bool proof;          /* proof of life overrides max_idle_ms; not where
			      * the peer only passes on, as a proxy does */
	/* What http_alive_ask finds out. */
	bool told; /* the system tells what follows */
	bool established;
	bool unacked;     /* something that was sent is not acknowledged */
	bool same_way;    /* packets to the peer still leave from here */
	int64_t heard_ms; /* since the peer was last heard */
	int64_t rtt_ms;   /* a round trip */
};

/* Asks the system about a connected TCP socket. */
void http_alive_ask(int fd, struct alive_facts *f);
/* May a request be written to the connection? */
bool http_alive(const struct alive_facts *f);

#endif
