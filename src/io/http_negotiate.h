/* What is different with Negotiate (RFC 4559), for the server or a proxy: the
 * user is known by a Kerberos ticket, which libcurl gets from GSS-API. */
#ifndef MCPSPLICE_IO_HTTP_NEGOTIATE_H
#define MCPSPLICE_IO_HTTP_NEGOTIATE_H

#include "io/http_state.h"

/* Sets the constant options of x. */
void http_negotiate_set(struct transfer *x);
/* Takes one line of libcurl's words about x. */
void http_negotiate_heard(struct transfer *x, struct span words);
/* May libcurl write the request once more after an answer with this status? The
 * server did not process it then. */
bool http_negotiate_goes_on(const struct transfer *x, long status);
/* Did x end with the server's refusal of the ticket, or of a request without
 * one? */
bool http_negotiate_refused(const struct transfer *x);
/* Appends the reason for users, with what to do. */
void http_negotiate_say(const struct transfer *x, struct buf *why);

#endif
