/* What is different with HTTP/2: RFC 9113. */
#ifndef MCPSPLICE_IO_HTTP_TWO_H
#define MCPSPLICE_IO_HTTP_TWO_H

#include "io/http_state.h"

/* Sets the constant options of x. */
void http_two_set(struct transfer *x);
/* Sets the options of x that depend on its URL: https may get HTTP/2, http has
 * HTTP/1.1 and pays nothing. */
void http_two_choose(struct transfer *x);
/* Does the server speak HTTP/2 on the latest connection? All exchanges share
 * it then. */
bool http_two_shared(const struct transfer *x);
/* Notes the head or a piece of the body of x, of whatever version. */
void http_two_heard(struct transfer *x);
/* The connection of x may be dead: it is forgotten. */
void http_two_stale(struct transfer *x);
/* Notes that x is over. If it failed, the others on its connection look whether
 * that has ended. If it was given up while the server said nothing, the
 * connection may be dead without any sign, and is forgotten: in HTTP/1.1 it
 * would have been closed with x. After an answer that breaks the rules of HTTP/2
 * later requests get HTTP/1.1. Returns false if the handle of x must not be
 * used again. */
bool http_two_over(struct transfer *x, CURLcode rc, enum http_end end);

#endif
