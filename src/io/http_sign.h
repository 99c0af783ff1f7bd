/* The signature of requests for AWS: config.sigv4. */
#ifndef MCPSPLICE_IO_HTTP_SIGN_H
#define MCPSPLICE_IO_HTTP_SIGN_H

#include "io/http_state.h"

/* Sets the constant options of x, if requests are signed. */
void http_sign_set(struct transfer *x);
/* Returns the URL that this libcurl has to be given in place of x->url, so that
 * it signs rightly; x->url is sent all the same. The caller owns it. NULL: it
 * needs none. x->proxied is set before. */
char *http_sign_url(struct transfer *x);
/* Sets the key of a request, NULL for none, and adds its headers to to, in a
 * form that each libcurl signs rightly. */
void http_sign(struct transfer *x, const struct header *key,
    const struct headers *first, const struct headers *more,
    struct headers *to);

#endif
