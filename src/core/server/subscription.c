/*
 * Feeds: one subscription at the server, through all the streams it takes. A
 * stream that ends is replaced, under a new id and after a while; one that
 * never works is tried seldom.
 */
#include "config.h"

#include "core/server/listen_state.h"

#include <stdlib.h>

#include "core/exchange/backoff.h"
#include "core/exchange/fault.h"
#include "core/wire/msg.h"

enum {
	BRIEF_MS = 30 * 1000, /* a stream this old was no false start */
	SELDOM_MS = 5 * 60 * 1000
};

struct feed *
server_feed_new(struct outer *o)
{
	struct feed *fd = xcalloc(1, sizeof *fd);

	fd->outer = o;
	buf_init(&fd->asked, 0);
	return fd;
}

void
server_feed_end(struct server_era *e, struct feed *fd)
{
	server_inner_end(e, fd->inner);
	fd->inner = NULL;
	fd->gap |= fd->acknowledged;
	fd->acknowledged = false;
	fd->again_at = 0;
}

void
server_feed_free(struct server_era *e, struct feed *fd)
{
	if (fd == NULL)
		return;
	server_feed_end(e, fd);
	buf_free(&fd->asked);
	frame_unref(fd->honours);
	free(fd->id);
	free(fd);
}

void
server_feed_open(struct server_era *e, struct feed *fd, struct frame *request)
{
	fd->since = e->now;
	fd->again_at = 0;
	fd->inner = server_inner_modern(e, FOR_LISTEN, fd->outer, request);
	fd->inner->listen = true;
}

void
server_feed_ask(struct server_era *e, struct feed *fd)
{
	struct frame *request;

	free(fd->id);
	fd->id = server_own_id(e);
	request = era_listen(span_of(fd->id), buf_span(&e->meta),
	    buf_span(&fd->asked));
	server_feed_open(e, fd, request);
	frame_unref(request);
}

void
server_feed_lost(struct server_era *e, struct feed *fd, const struct facts *f)
{
	bool brief = e->now - fd->since < BRIEF_MS;
	int64_t wait;

	fd->failures = brief && !fd->acknowledged ? fd->failures + 1 : 0;
	if (!brief)
		fd->tries = 0;
	server_feed_end(e, fd);
	wait = fd->failures >= LISTEN_FAILURES ?
	    SELDOM_MS :
	    backoff_stream(fd->tries++, -1);
	if (f != NULL && f->retry_after_ms > wait)
		wait = f->retry_after_ms < SELDOM_MS ? f->retry_after_ms :
						       SELDOM_MS;
	server_note(e, LEVEL_DEBUG,
	    "the subscription stream is opened again in %lld ms",
	    (long long)wait);
	fd->again_at = e->now + wait;
	server_due(e, fd->again_at);
}

bool
server_feed_acknowledged(struct server_era *e, struct feed *fd, struct frame *m)
{
	if (fd->acknowledged) {
		server_note(e, LEVEL_DEBUG,
		    "a subscription is acknowledged twice: dropped");
		return false;
	}
	fd->acknowledged = true;
	e->listens->contradicted = e->listen_doubted = false;
	frame_unref(fd->honours);
	fd->honours = frame_ref(m);
	return true;
}

bool
server_feed_take_gap(struct feed *fd)
{
	bool gap = fd->gap;

	fd->gap = false;
	return gap;
}

bool
server_feed_is_passing(const struct facts *f, const struct frame *error)
{
	return f->status == 401 || f->status == 403 || f->status == 408 ||
	    f->status == 429 || f->status >= 500 ||
	    msg_error_code(error) == FAULT_INTERNAL;
}

bool
server_feed_is_due(const struct server_era *e, const struct feed *fd)
{
	return fd != NULL && fd->again_at != 0 && fd->again_at <= e->now;
}
