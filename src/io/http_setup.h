/* The options of an easy handle that never change. */
#ifndef MCPSPLICE_IO_HTTP_SETUP_H
#define MCPSPLICE_IO_HTTP_SETUP_H

#include "io/http_state.h"

/* Makes a transfer for h with an easy handle that has all options but those of
 * a request. The caller owns the transfer. If libcurl has no memory, x->easy is
 * NULL, and x->refused ends the transfer. */
struct transfer *http_setup(struct http *h);
/* Sets the certificates that are trusted, if a request to this URL needs any;
 * the first one looks for them. http_proxy_choose comes before. */
void http_setup_trust(struct transfer *x, const char *url);

#endif
