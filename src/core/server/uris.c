/*
 * This file keeps the set of resources that the session wants to hear of, and
 * the orders that wait for each. It is a list, searched by hash: the set is
 * small.
 */
#include "config.h"

#include "core/server/uris.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

struct uri **
server_uris_find(struct listens *l, struct span uri)
{
	uint64_t hash = msg_id_hash(uri);
	struct uri **at;

	for (at = &l->uris; *at != NULL; at = &(*at)->next)
		/* msg_id_same() compares any two JSON strings. */
		if ((*at)->hash == hash &&
		    msg_id_same(span_of((*at)->text), uri))
			break;
	return at;
}

struct uri *
server_uris_add(struct listens *l, struct uri **at, struct span uri)
{
	struct uri *u = xcalloc(1, sizeof *u);

	u->text = xstrndup(uri.p, uri.n);
	u->hash = msg_id_hash(uri);
	*at = u;
	l->n_uris++;
	l->uri_bytes += uri.n;
	return u;
}

void
server_uris_forget(struct listens *l, struct uri **at)
{
	struct uri *u = *at;
	struct waiter *w;

	*at = u->next;
	l->n_uris--;
	l->uri_bytes -= strlen(u->text);
	while ((w = u->waiters) != NULL) {
		u->waiters = w->next;
		free(w);
	}
	free(u->text);
	free(u);
}

void
server_uris_wait(struct uri *u, const struct server_order *o)
{
	struct waiter *w = xcalloc(1, sizeof *w);

	w->ticket = o->ticket;
	w->next = u->waiters;
	u->waiters = w;
}

void
server_uris_ask(const struct listens *l, struct buf *asked)
{
	const struct uri *u;

	buf_reset(asked);
	buf_adds(asked, "{\"resourceSubscriptions\":[");
	for (u = l->uris; u != NULL; u = u->next) {
		buf_adds(asked, u->text);
		if (u->next != NULL)
			buf_addc(asked, ',');
	}
	buf_adds(asked, "]}");
}

void
server_uris_honoured(struct listens *l, const struct frame *honours)
{
	struct span all = json_get(honours->params, "notifications");
	struct span list = json_get(all, "resourceSubscriptions"), key, value;
	struct uri *u;
	size_t at = 0, n = 0;

	for (u = l->uris; u != NULL; u = u->next)
		u->honoured = false;
	if (json_kind(list) != '[')
		return;
	while (n++ < BOUND_SUBSCRIBED && json_next(list, &at, &key, &value)) {
		if (json_kind(value) != '"')
			continue;
		u = *server_uris_find(l, value);
		if (u != NULL)
			u->honoured = true;
	}
}

bool
server_uris_was_asked(const struct subscription *fd, struct span uri)
{
	struct span list = json_get(buf_span(&fd->asked),
	    "resourceSubscriptions");
	struct span key, value;
	size_t at = 0;

	while (json_next(list, &at, &key, &value))
		if (msg_id_same(value, uri))
			return true;
	return false;
}

void
server_uris_wait_no_more(struct uri *u, uint64_t ticket)
{
	struct waiter **at = &u->waiters, *w;

	while ((w = *at) != NULL) {
		if (w->ticket != ticket) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		free(w);
	}
}
