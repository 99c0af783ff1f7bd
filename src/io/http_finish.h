/* The end of a transfer: what it means, and the call of done. */
#ifndef MCPSPLICE_IO_HTTP_FINISH_H
#define MCPSPLICE_IO_HTTP_FINISH_H

#include "io/http_state.h"

/* Both call done and release x. libcurl must not be on the stack. */

/* Ends a transfer that libcurl has ended, with this result. */
void http_finish(struct transfer *x, CURLcode rc);
/* Ends a transfer that libcurl has not ended. */
void http_finish_early(struct transfer *x, enum http_end end);

#endif
