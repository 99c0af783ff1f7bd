/*
 * The resources that listens watch at a legacy server.
 */
#ifndef MCPSPLICE_CORE_CLIENT_URI_H
#define MCPSPLICE_CORE_CLIENT_URI_H

#include "core/client/state.h"

/* Returns the resource with this URI, a JSON string; makes it if there is none.
 * NULL: there are too many, or their URIs are too long. */
struct uri *client_uri_get(struct client *e, struct span raw);
/* Sends resources/subscribe (on) or resources/unsubscribe for u. */
void client_uri_send(struct client *e, struct uri *u, bool on);
/* One listen no longer wants u. If it was the last one, u is unsubscribed, or
 * freed if it was never subscribed. */
void client_uri_release(struct client *e, struct uri *u);
/* Frees u. No listen may want it, and no request for it may be under way. */
void client_uri_forget(struct client *e, struct uri *u);

#endif
