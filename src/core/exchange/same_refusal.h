/*
 * When two refusals are the same. A server's door refuses each request of a
 * session that it does not know in one way, whatever the request is; only what
 * it repeats of the request, and what is new each time, differ.
 */
#ifndef MCPSPLICE_CORE_EXCHANGE_SAME_REFUSAL_H
#define MCPSPLICE_CORE_EXCHANGE_SAME_REFUSAL_H

#include "base/frame.h"
#include "core/exchange/facts.h"

/* Returns a mark of the refusal of a request, which is the same for two
 * refusals that are the same: by status, kind of body, error code, whose id the
 * error has, and message. In the message the session id, the method, the tool
 * and the id of the request stand for each other, and so do numbers, times and
 * random words; the order of members, data and headers do not count. error is
 * the JSON-RPC error, or NULL: then the body counts. session may be NULL. Never
 * returns 0. */
uint64_t refusal_mark(const struct facts *f, const struct frame *error,
    const struct frame *request, const char *session);

/* Is the id of this error that of the request itself? Then the error was not
 * written by a door that reads nothing but headers. */
bool refusal_has_id(const struct frame *error, const struct frame *request);

#endif
