/* What is noted of the way to the server, for http_way of io/http.h. */
#ifndef MCPSPLICE_IO_HTTP_WAY_H
#define MCPSPLICE_IO_HTTP_WAY_H

#include "io/http_state.h"

struct sockaddr;

/* What libcurl tells only while a transfer runs. */
struct way_notes {
	char tls[16];     /* "TLSv1.3"; "": there was none */
	struct buf tried; /* addresses, ", " between them */
};

/* Sets the options of a transfer that is watched (config.watched), and makes
 * its notes. */
void http_way_set(struct transfer *x);
/* Notes that this address is tried. */
void http_way_tried(struct transfer *x, const struct sockaddr *sa,
    unsigned sa_bytes);
/* Notes whether this socket, which will be closed, was connected. */
void http_way_closed(struct http *h, int fd);
/* Frees the notes; NULL is allowed. */
void http_way_forget(struct way_notes *n);

#endif
