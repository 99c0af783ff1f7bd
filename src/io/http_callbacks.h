/* What libcurl reports of a running transfer. */
#ifndef MCPSPLICE_IO_HTTP_CALLBACKS_H
#define MCPSPLICE_IO_HTTP_CALLBACKS_H

#include "io/http_state.h"

/* Sets the callbacks of x->easy. */
void http_callbacks_set(struct transfer *x);
/* May the server have seen a part of the request? It has not if libcurl did not
 * begin to write it, if the connection took not one byte, because it was dead,
 * or if the server says in HTTP/2 that it did not process it. */
bool http_callbacks_sent(struct transfer *x);
/* Calls ops.head, once in the life of a request. Returns false if there is no
 * final answer yet, or if the transfer has to end. */
bool http_callbacks_give_head(struct transfer *x);

#endif
