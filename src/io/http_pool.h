/* The transfers of an http object: those in use, and those to use again. */
#ifndef MCPSPLICE_IO_HTTP_POOL_H
#define MCPSPLICE_IO_HTTP_POOL_H

#include "io/http_state.h"

/* Takes a transfer from the pool, or makes one, and resets its fields. It is in
 * use until http_pool_release. */
struct transfer *http_pool_take(struct http *h);
/* Puts the transfer into the pool if it may be used again, or frees it. */
void http_pool_release(struct transfer *x, bool reusable);
/* Frees all transfers, without callbacks. */
void http_pool_free(struct http *h);

#endif
