/* Silent transfers: one on which the server is silent for too long is ended. */
#include "config.h"

#include "io/http_state.h"

void
http_idle_watch(struct http *h, int64_t at)
{
	if (h->idle_at != 0 && h->idle_at <= at)
		return;
	h->idle_at = at;
	loop_timer_set(h->idle, at - loop_now(h->l));
}

/* A transfer is not silent while a large body is going out, or while the
 * caller pauses it. */
static void
idle_excuse(struct transfer *x, int64_t now)
{
	curl_off_t uploaded;

	uploaded = 0;
	curl_easy_getinfo(x->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
	if (x->paused ||
	    (x->body_bytes > HTTP_SMALL_BODY_BYTES && uploaded != x->uploaded))
		x->heard = now;
	x->uploaded = uploaded;
}

/* Returns when the transfer has to end; INT64_MAX: never. */
static int64_t
ends_at(const struct transfer *x)
{
	int64_t at = x->idle_ms == 0 ? INT64_MAX : x->heard + x->idle_ms;

	return x->expires != 0 && x->expires < at ? x->expires : at;
}

void
http_idle_on_timer(void *arg)
{
	struct http *h = arg;
	struct transfer *x, *next;
	int64_t now, at;

	now = loop_now(h->l);
	h->idle_at = 0;
	for (x = h->first; x != NULL; x = next) {
		next = x->next;
		if (x->idle_ms != 0 && x->heard + x->idle_ms <= now)
			idle_excuse(x, now);
		at = ends_at(x);
		if (at <= now)
			http_finish_early(x,
			    x->abort ? HTTP_ABORTED : HTTP_IDLE);
		else if (at != INT64_MAX)
			http_idle_watch(h, at);
	}
	connections_settle(h->connections);
}
