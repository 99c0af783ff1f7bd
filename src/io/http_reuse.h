/*
 * The connections of libcurl, as far as their use by further requests needs it:
 * which one a request is about to be written to, how long it was idle, and when
 * its server closes idle connections.
 *
 * libcurl chooses a connection; right before it writes the request, the choice
 * is judged here.
 */
#ifndef MCPSPLICE_IO_HTTP_REUSE_H
#define MCPSPLICE_IO_HTTP_REUSE_H

#include "io/http_alive.h"
#include "io/loop.h"

struct reuse;
struct connection;

enum {
	HTTP_SILENT_MS = 2000 /* a connection that is in use and says nothing
			       * for so long may be dead */
};

/* Makes an object that the caller owns. */
struct reuse *reuse_new(struct loop *l);
/* Notes a TCP socket that libcurl has opened, or is about to close. A socket
 * that is not known is ignored. *reached becomes true if the socket is connected
 * when it is closed. */
void reuse_opened(struct reuse *u, int fd, bool *reached);
void reuse_closed(struct reuse *u, int fd);
/* The server said something on this socket while libcurl did not want to know:
 * unless that is HTTP/2, no request is written to it any more. */
void reuse_spoke(struct reuse *u, int fd);
/* From now on *reached stays as it is. */
void reuse_disown(struct reuse *u, const bool *reached);
/* Returns the connection with these ends, as libcurl tells them, or NULL if it
 * is not known, such as a unix socket. */
struct connection *reuse_find(struct reuse *u, const char *peer, int peer_port,
    int local_port);
/* May a request be written to it now? max_idle_ms and proof are as in struct
 * alive_facts. On loopback there is no proof: what listens there may be the end
 * of a tunnel, and a new connection costs no time. */
bool reuse_may(struct connection *c, int64_t max_idle_ms, bool proof);
/* Something came on it while it was in use, which may be for ever if two: it is
 * one in HTTP/2. c may be NULL. */
void reuse_heard(struct connection *c, bool two);
/* Returns how many ms nothing came on it, and nothing was written to it; 0 for
 * NULL. */
int64_t reuse_silence(const struct connection *c);
/* The transfer that uses it is over. If nothing came since its request was
 * written, connections that were idle at that time, or when it became
 * HTTP_SILENT_MS old, are not used any more. c may be NULL. */
void reuse_unanswered(struct connection *c);
/* A transfer begins to use it, and ends; it stays valid in between. Both take
 * NULL. */
void reuse_take(struct connection *c);
void reuse_give_back(struct connection *c);
/* The last answer on it was an error, until it is taken again. c may be
 * NULL. */
void reuse_note_error(struct connection *c);
bool reuse_gave_error(const struct connection *c);
/* The server says that it closes the connection after so long without a
 * request. c may be NULL. */
void reuse_announced(struct connection *c, int64_t ms);
/* Frees it, when libcurl has no connection any more. u may be NULL. */
void reuse_free(struct reuse *u);

#endif
