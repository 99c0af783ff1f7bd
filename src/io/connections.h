/*
 * The multi handles of an http object. A multi handle owns its connections, so
 * connections are forgotten by making a new multi handle: the old one is freed
 * with its last transfer.
 */
#ifndef MCPSPLICE_IO_CONNECTIONS_H
#define MCPSPLICE_IO_CONNECTIONS_H

#include "io/http_state.h"

/* Adds a multi handle as the first of h. Returns -1 if libcurl cannot make
 * one. */
int connections_add(struct http *h);
/* Frees a multi handle that has no transfer and is on no list. */
void connections_free(struct multi *m);
/* Frees the forgotten multi handles that have no transfer left. */
void connections_drop_ended(struct http *h);
/* Lets libcurl work on this descriptor, or on its timer. Calls of done may come
 * from here. */
void connections_drive(struct multi *m, curl_socket_t fd, int what);
/* Reports the transfers that ended and sets libcurl's timer. Called after each
 * call of libcurl that may have changed something. */
void connections_settle(struct multi *m);

#endif
