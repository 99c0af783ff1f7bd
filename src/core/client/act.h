/*
 * The queue of actions. client_send, client_write and client_probe take over
 * the reference to the frame.
 */
#ifndef MCPSPLICE_CORE_CLIENT_ACT_H
#define MCPSPLICE_CORE_CLIENT_ACT_H

#include "core/client/state.h"
#include "core/exchange/fault.h"

/* Sends a frame to the session, as if the client had sent it. */
void client_send(struct client *e, struct frame *f);
/* Writes a frame to the client. A result that is larger than max_result is
 * replaced by an error. */
void client_write(struct client *e, struct frame *f);
/* Returns the error id that mcpsplice makes for the request f, owned by the
 * caller. Of the values of its text there are the host, the method as {name},
 * and the bytes held back as {size}. */
struct frame *client_fault(const struct client *e, const struct frame *f,
    enum fault_id id);
/* Writes this error to the client. */
void client_fail(struct client *e, const struct frame *f, enum fault_id id);
/* Hands over the server/discover that detection asks the server first. NULL
 * says that the client is a legacy one. */
void client_probe(struct client *e, struct frame *f);
/* Logs a decision. The text is cut at 511 bytes. */
void client_log(struct client *e, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#endif
