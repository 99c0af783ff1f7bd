/*
 * The resources that listens watch at a legacy server.
 */
#ifndef MCPSPLICE_CORE_CLIENT_URI_H
#define MCPSPLICE_CORE_CLIENT_URI_H

#include "core/client/state.h"

/* The one with this text, raw; NULL when they are too many, or too long. */
struct uri *client_uri_get(struct client *e, struct span raw);
/* Sends a resources/subscribe (on) or unsubscribe. */
void client_uri_send(struct client *e, struct uri *u, bool on);
/* One listen less wants it. */
void client_uri_release(struct client *e, struct uri *u);
/* Frees it; no listen wants it and nothing is under way for it. */
void client_uri_forget(struct client *e, struct uri *u);

#endif
