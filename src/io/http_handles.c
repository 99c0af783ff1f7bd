/*
 * The transfers of an http object: those that wait for the end of the turn (a
 * queue linked through the transfers), those in use, and those to be reused,
 * because an easy handle is expensive to make.
 */
#include "config.h"

#include "io/http_state.h"

#include <stdlib.h>

#include "base/queue.h"

/* --- the to-do list --- */

void
http_todo_wake(struct http *h)
{
	if (h->deferred)
		return;
	h->deferred = true;
	loop_defer(h->l, h->on_turn_end, h);
}

void
http_todo_add(struct transfer *x)
{
	struct http *h = x->h;

	if (x->todo_prev != NULL)
		return;
	x->todo_next = NULL;
	x->todo_prev = h->todo_end;
	*h->todo_end = x;
	h->todo_end = &x->todo_next;
	http_todo_wake(h);
}

void
http_todo_remove(struct transfer *x)
{
	if (x->todo_prev == NULL)
		return;
	*x->todo_prev = x->todo_next;
	if (x->todo_next != NULL)
		x->todo_next->todo_prev = x->todo_prev;
	else
		x->h->todo_end = x->todo_prev;
	x->todo_prev = NULL;
}

/* --- the pool --- */

enum { HTTP_POOL_SPARE = 8 }; /* spare transfers kept above max_inflight */

static void
transfer_free(struct transfer *x)
{
	curl_easy_cleanup(x->easy);
	http_way_forget(x->notes);
	curl_url_cleanup(x->parsed_url);
	free(x->url);
	free(x->lines);
	free(x->no_ticket);
	free(x);
}

void
http_handles_free(struct http *h)
{
	struct transfer *x;

	while ((x = h->first) != NULL) {
		h->first = x->next;
		if (x->multi != NULL)
			connections_remove(x->multi, x->easy);
		if (x->opened)
			connections_disown(h->connections, &x->reached);
		connection_give_back(x->connection);
		transfer_free(x);
	}
	while ((x = h->spare) != NULL) {
		h->spare = x->next;
		transfer_free(x);
	}
}

void
http_handle_release(struct transfer *x, bool reusable)
{
	struct http *h = x->h;

	http_todo_remove(x);
	if (x->opened)
		connections_disown(h->connections, &x->reached);
	QUEUE_REMOVE(h, x);
	if (!reusable || x->refused != CURLE_OK ||
	    h->nspare >= h->config.max_inflight + HTTP_POOL_SPARE) {
		transfer_free(x);
		return;
	}
	x->next = h->spare;
	h->spare = x;
	h->nspare++;
}
