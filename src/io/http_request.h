/* The options of one request. */
#ifndef MCPSPLICE_IO_HTTP_REQUEST_H
#define MCPSPLICE_IO_HTTP_REQUEST_H

#include "io/http_state.h"

/* Sets the options of x->easy for r, and what they need to be set again only
 * when they change. The body stays the caller's; all else is copied. */
void http_request_set(struct transfer *x, const struct http_request *r);

#endif
