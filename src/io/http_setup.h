/* The options of an easy handle. */
#ifndef MCPSPLICE_IO_HTTP_SETUP_H
#define MCPSPLICE_IO_HTTP_SETUP_H

#include "io/http_state.h"

/* Makes a transfer for h with an easy handle that has all options but those of
 * a request. The caller owns the transfer. If libcurl has no memory, x->easy is
 * NULL, and x->refused ends the transfer. */
struct transfer *http_setup(struct http *h);
/* Sets the options of x->easy for r, and what they need to be set again only
 * when they change. The body stays the caller's; all else is copied. */
void http_setup_request(struct transfer *x, const struct http_request *r);

#endif
