/* The set of resources that the session wants to hear of. */
#ifndef MCPSPLICE_CORE_SERVER_URIS_H
#define MCPSPLICE_CORE_SERVER_URIS_H

#include "core/server/listen_state.h"

/* Where this resource (raw JSON string) is in the list, or the list's end. */
struct uri **server_uris_find(struct listens *l, struct span uri);
/* Adds one at this place, the list's end. The list owns it. */
struct uri *server_uris_add(struct listens *l, struct uri **at,
    struct span uri);
/* Takes out the one at this place, and who waits for it. */
void server_uris_forget(struct listens *l, struct uri **at);
/* This order waits for it; the order with this ticket does not any more. */
void server_uris_wait(struct uri *u, const struct server_order *o);
void server_uris_wait_no_more(struct uri *u, uint64_t ticket);
/* params.notifications for all of them. */
void server_uris_ask(const struct listens *l, struct buf *asked);
/* Did the subscription ask for exactly this one? */
bool server_uris_was_asked(const struct subscription *fd, struct span uri);
/* Marks those that this acknowledgement honours. More than we asked for is
 * not looked at. */
void server_uris_honoured(struct listens *l, const struct frame *honours);

#endif
