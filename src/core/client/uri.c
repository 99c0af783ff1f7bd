/*
 * Watches resources at a legacy server: each has one subscription for as long
 * as a listen wants it. At most one of subscribe and unsubscribe is under way
 * for a resource, as two may arrive in either order.
 */
#include "config.h"

#include "core/client/uri.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/client/table.h"
#include "core/wire/msg.h"

void
client_uri_forget(struct client *e, struct uri *u)
{
	struct uri **at = &e->uris;

	while (*at != u)
		at = &(*at)->next;
	*at = u->next;
	e->n_uris--;
	e->uri_bytes -= strlen(u->raw);
	buf_free(&u->text);
	free(u->raw);
	free(u);
}

void
client_uri_send(struct client *e, struct uri *u, bool on)
{
	char *params = xasprintf("{\"uri\":%s}", u->raw);

	client_send_own(e, on ? REQUEST_SUBSCRIBE : REQUEST_UNSUBSCRIBE,
	    on ? "resources/subscribe" : "resources/unsubscribe",
	    span_of(params))
	    ->uri = u;
	u->state = on ? URI_SUBSCRIBING : URI_UNSUBSCRIBING;
	free(params);
}

void
client_uri_release(struct client *e, struct uri *u)
{
	if (--u->refs > 0)
		return;
	if (u->state == URI_NEW)
		client_uri_forget(e, u);
	else if (u->state == URI_ON && !e->ended)
		client_uri_send(e, u, false);
}

/* The one with this text, raw; NULL when they are too many, or too long. */
struct uri *
client_uri_get(struct client *e, struct span raw)
{
	uint64_t hash = msg_id_hash(raw);
	struct uri *u;

	for (u = e->uris; u != NULL; u = u->next)
		/* msg_id_same compares any two JSON strings. */
		if (u->hash == hash && msg_id_same(span_of(u->raw), raw))
			return u;
	if (e->n_uris >= BOUND_WATCHED ||
	    raw.n > BOUND_WATCHED_BYTES - e->uri_bytes)
		return NULL;
	u = xcalloc(1, sizeof *u);
	buf_init(&u->text, 0);
	json_string(raw, &u->text);
	u->raw = xstrndup(raw.p, raw.n);
	u->hash = hash;
	u->next = e->uris;
	e->uris = u;
	e->n_uris++;
	e->uri_bytes += raw.n;
	return u;
}
