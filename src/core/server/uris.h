/* The set of resources that the session wants to hear of. */
#ifndef MCPSPLICE_CORE_SERVER_URIS_H
#define MCPSPLICE_CORE_SERVER_URIS_H

#include "core/server/listen_state.h"

/* Returns the place of this resource (raw JSON string) in the list, or the end
 * of the list. */
struct uri **server_uris_find(struct listens *l, struct span uri);
/* Adds a resource at this place, which is the end of the list. The list owns
 * it. */
struct uri *server_uris_add(struct listens *l, struct uri **at,
    struct span uri);
/* Takes the resource at this place out of the list and frees it, with the list
 * of orders that wait for it. */
void server_uris_forget(struct listens *l, struct uri **at);
/* Notes that this order waits for the resource, or that the order with this
 * ticket does not wait any more. */
void server_uris_wait(struct uri *u, const struct server_order *o);
void server_uris_wait_no_more(struct uri *u, uint64_t ticket);
/* Writes params.notifications that ask for all resources of the set. */
void server_uris_ask(const struct listens *l, struct buf *asked);
/* Tells whether the subscription asked for exactly this URI. */
bool server_uris_was_asked(const struct subscription *fd, struct span uri);
/* Marks the resources that this acknowledgement honours. Reads no more URIs
 * than one subscription may have. */
void server_uris_honoured(struct listens *l, const struct frame *honours);

#endif
