/*
 * The connections of libcurl: its multi handles, driven by the loop, and which
 * connection a request may be written to.
 *
 * A multi handle owns its connections, so connections are forgotten by making a
 * new multi handle: the old one is freed with its last transfer.
 *
 * libcurl chooses a connection; right before it writes the request, the choice
 * is judged here: by how long the connection was idle, and when its server
 * closes idle connections. Its age says little: each server closes after its
 * own time, and a connection can die silently at any time (NAT, another
 * network). The kernel knows more: it asks an idle peer every
 * HTTP_KEEPALIVE_IDLE_S whether it is alive (TCP keepalive, RFC 9293 3.8.4),
 * and says when the peer was last heard.
 */
#ifndef MCPSPLICE_IO_CONNECTIONS_H
#define MCPSPLICE_IO_CONNECTIONS_H

#include <curl/curl.h>

#include "io/loop.h"
#include "os/network.h"

struct connections;
struct connection;
struct multi;
struct transfer;

/* --- may a request be written to a connection that was idle? --- */

enum {
	HTTP_KEEPALIVE_IDLE_S = 10,
	HTTP_KEEPALIVE_INTERVAL_S = 5,
	HTTP_KEEPALIVE_COUNT = 3,
	/* Below this the end of the last answer is proof enough. */
	HTTP_ALIVE_SURE_MS = 1000,
	/* A connection that is in use and says nothing for so long may be
	 * dead. */
	HTTP_SILENT_MS = 2000
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
	bool told;           /* the system reports what follows */
	struct os_socket_facts known; /* as: something that was sent is not
				       * acknowledged; ms since the peer was
				       * last heard, and of a round trip */
	bool same_way; /* packets to the peer still leave from here */
};

/* May a request be written to the connection? */
bool connection_lives(const struct alive_facts *f);

/* --- one record for each TCP socket --- */

/* From now on *reached stays as it is. */
void connections_disown(struct connections *c, const bool *reached);
/* Returns in *c the connection with these ends, as libcurl tells them, which a
 * transfer begins to use; it stays valid until connection_give_back. *c is NULL
 * if it is not known, such as a unix socket. Returns false, with *c NULL, if no
 * request may be written to it now; wary: nor if its last answer was an error.
 * max_idle_ms and proof are as in struct alive_facts. On loopback there is no
 * proof: what listens there may be the end of a tunnel, and a new connection
 * costs no time. */
bool connections_take(struct connections *all, struct connection **c,
    const char *peer, int peer_port, int local_port, bool wary,
    int64_t max_idle_ms, bool proof);
/* The transfer that uses it ends. c may be NULL. */
void connection_give_back(struct connection *c);
/* Something came on it while it was in use, which may be for ever if two: it is
 * one in HTTP/2. c may be NULL. */
void connection_heard(struct connection *c, bool two);
/* Returns how many ms nothing came on it, and nothing was written to it; 0 for
 * NULL. */
int64_t connection_silence(const struct connection *c);
/* The transfer that uses it is over. If nothing came since its request was
 * written, connections that were idle at that time, or when it became
 * HTTP_SILENT_MS old, are not used any more. c may be NULL. */
void connection_unanswered(struct connection *c);
/* The last answer on it was an error, until it is taken again. c may be
 * NULL. */
void connection_note_error(struct connection *c);
/* The server says that it closes the connection after so long without a
 * request. c may be NULL. */
void connection_announced(struct connection *c, int64_t ms);

/* --- the multi handles --- */

/* Unless said otherwise, none of these functions may be called while libcurl is
 * on the stack. Those that return true want connections_work to be called at the
 * end of the turn. */

/* Tells that libcurl has ended this transfer, with this result. The callee
 * calls connections_remove. x is the CURLINFO_PRIVATE of the easy handle. */
typedef void connections_ended(struct transfer *x, CURLcode rc);

/* Makes an object that the caller owns. max: how many connections are kept.
 * Returns NULL if libcurl cannot make a multi handle. */
struct connections *connections_new(struct loop *l, long max, bool http2,
    connections_ended *ended);
/* Starts a transfer. Returns its multi handle, for connections_remove, or NULL
 * if libcurl refuses. */
struct multi *connections_add(struct connections *c, CURL *easy);
/* Tell that the socket of a connection was made, and that it is about to be
 * closed. These may be called while libcurl is on the stack. reached is NULL for
 * what is not TCP; else *reached becomes true if the socket is connected when it
 * is closed. */
void connections_opened(struct connections *c, int fd, bool *reached);
void connections_closed(struct connections *c, int fd);
/* Do transfers that start now share their connections with those of m? m may
 * be NULL: no. */
bool connections_is_latest(const struct multi *m);
/* Takes a transfer out of its multi handle, whether it has ended or not. */
bool connections_remove(struct multi *m, CURL *easy);
/* Lets libcurl do what it can do now, and frees the multi handles that are
 * forgotten and have no transfer left. */
void connections_work(struct connections *c);
/* Reports the transfers that ended, and sets libcurl's timer. To be called
 * after connections_remove, if connections_work is not. */
void connections_settle(struct connections *c);
/* Lets transfers that start from now on have new connections. */
bool connections_forget(struct connections *c);
/* Frees all, when each transfer was removed. c may be NULL. */
void connections_free(struct connections *c);

#endif
