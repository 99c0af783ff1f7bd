/* Which proxy a transfer uses; http_takes_proxy of io/http.h is here, too. */
#ifndef MCPSPLICE_IO_HTTP_PROXY_H
#define MCPSPLICE_IO_HTTP_PROXY_H

#include "io/http_state.h"

/* Sets the options that are the same for each request. */
void http_proxy_set(struct transfer *x);
/* Sets those of a request to this URL, and x->asks. */
void http_proxy_choose(struct transfer *x, const char *url);

#endif
