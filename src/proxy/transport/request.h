/* Requests to the server: their headers, their start, redirects. */
#ifndef MCPSPLICE_PROXY_TRANSPORT_REQUEST_H
#define MCPSPLICE_PROXY_TRANSPORT_REQUEST_H

#include "proxy/transport/state.h"

/* Sends the request of t, with the latest credentials, as a new transfer. */
void request_start(struct exchange *t);
/* Frees the headers that are kept from one request to the next. */
void request_forget_headers(struct streamable *u);
/* Notes in t->redirect where this answer, of 300 or more, leads: 307 and 308 on
 * the same origin are followed (doc/protocol.md 1.4). */
void request_check_redirect(struct exchange *t);
/* Sends the request again, to t->redirect. */
void request_follow(struct exchange *t);

#endif
