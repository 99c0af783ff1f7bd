/*
 * The multi handles of libcurl, driven by the loop. A multi handle owns its
 * connections, so connections are forgotten by making a new multi handle: the
 * old one is freed with its last transfer.
 *
 * Unless said otherwise, none of these functions may be called while libcurl is
 * on the stack. Those that return true want connections_work to be called at the
 * end of the turn.
 */
#ifndef MCPSPLICE_IO_CONNECTIONS_H
#define MCPSPLICE_IO_CONNECTIONS_H

#include <stdbool.h>

#include <curl/curl.h>

#include "io/loop.h"

struct connections;
struct multi;
struct transfer;

/* Tells that libcurl has ended this transfer, with this result. The callee
 * calls connections_remove. x is the CURLINFO_PRIVATE of the easy handle. */
typedef void connections_ended(struct transfer *x, CURLcode rc);

/* Tells that something came on a socket that no transfer uses, be it its
 * end. */
typedef void connections_spoke(int fd, void *arg);

/* Makes an object that the caller owns. max: how many connections are kept.
 * arg is for spoke. Returns NULL if libcurl cannot make a multi handle. */
struct connections *connections_new(struct loop *l, long max, bool http2,
    connections_ended *ended, connections_spoke *spoke, void *arg);
/* Starts a transfer. Returns its multi handle, for connections_remove, or NULL
 * if libcurl refuses. */
struct multi *connections_add(struct connections *c, CURL *easy);
/* Tell that the socket of a connection was made, and that it is about to be
 * closed. These may be called while libcurl is on the stack. */
void connections_opened(struct connections *c, int fd);
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
