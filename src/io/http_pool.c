/* Transfers are pooled: an easy handle is expensive to make. */
#include "config.h"

#include "io/http_pool.h"

#include <stdlib.h>

#include "io/http_setup.h"
#include "io/http_todo.h"
#include "io/http_way.h"

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
http_pool_free(struct http *h)
{
	struct transfer *x;

	while ((x = h->active) != NULL) {
		h->active = x->next;
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
http_pool_release(struct transfer *x, bool reusable)
{
	struct http *h = x->h;

	http_todo_remove(x);
	if (x->opened)
		connections_disown(h->connections, &x->reached);
	*x->prev = x->next;
	if (x->next != NULL)
		x->next->prev = x->prev;
	if (!reusable || x->refused != CURLE_OK ||
	    h->nspare >= h->config.max_inflight + HTTP_POOL_SPARE) {
		transfer_free(x);
		return;
	}
	x->next = h->spare;
	h->spare = x;
	h->nspare++;
}

struct transfer *
http_pool_take(struct http *h)
{
	struct transfer *x;

	x = h->spare;
	if (x == NULL) {
		x = http_setup(h);
	} else {
		h->spare = x->next;
		h->nspare--;
	}
	x->next = h->active;
	x->prev = &h->active;
	if (x->next != NULL)
		x->next->prev = &x->next;
	h->active = x;
	x->uploaded = x->out = 0;
	x->turn_at = 0;
	x->written = 0;
	x->head_bytes = 0;
	x->status = 0;
	x->abort = x->paused = x->held = x->looks = false;
	x->connection = NULL;
	x->began = x->again = x->stale = false;
	x->denied = x->let = false;
	x->opened = x->reached = false;
	x->too_large = false;
	free(x->no_ticket);
	x->no_ticket = NULL;
	x->error[0] = '\0';
	return x;
}
