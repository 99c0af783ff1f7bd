/*
 * This file plays HTTP+SSE of 2024-11-05 (doc/protocol.md 1.2) as Streamable
 * HTTP. One GET stream brings everything. Its first event names the endpoint
 * for POSTs; after that come the answers, each for the order whose request it
 * answers, and other messages, for the session's listen stream.
 *
 * The stream is the session: when it ends, the orders under way may have run,
 * and later ones are refused as lost.
 */
#include "config.h"

#include "core/server/parts.h"

#include <stdlib.h>

struct server_attempt *
server_sse2024_open(struct server *e)
{
	struct sse2024 *s = xcalloc(1, sizeof *s);
	struct server_attempt *i;

	server_sse2024_close(e);
	e->sse = s;
	i = server_attempt_new(e, FOR_STREAM, e->detect.order, NULL);
	i->out.announces = i->out.listen = true;
	i->out.control = false;
	s->stream = i;
	return i;
}

void
server_sse2024_close(struct server *e)
{
	struct sse2024 *s = e->sse;

	if (s == NULL)
		return;
	server_attempt_end(e, s->stream);
	alarm_set(&e->alarms, ALARM_SILENCE, ALARM_NEVER);
	kept_clear(&s->kept);
	free(s);
	e->sse = NULL;
}

bool
server_sse2024_ready(const struct server *e)
{
	return e->sse != NULL && e->sse->ready;
}

/* --- the way down --- */

void
server_sse2024_send(struct server *e, struct server_order *o)
{
	struct server_attempt *i;

	if (e->sse == NULL) {
		server_order_tell_gone(e, o, false);
	} else if (o->verb == VERB_GET) {
		e->sse->listen = o;
		server_order_listen(e, o, &e->sse->kept);
	} else if (o->verb == VERB_DELETE) {
		server_order_tell_done(e, o, &server_facts_accepted);
	} else {
		i = server_attempt_new(e, FOR_POST, o, o->body);
		i->out.endpoint = true;
		if (o->version != NULL)
			i->version = xstrdup(o->version);
	}
}

void
server_sse2024_abort(struct server *e, struct server_order *o)
{
	if (e->sse != NULL && e->sse->listen == o)
		e->sse->listen = NULL;
}

/* --- the stream --- */

void
server_sse2024_leave(struct server *e)
{
	struct facts cut = server_facts_gone(true);
	struct server_order *o;

	server_sse2024_close(e);
	cut.session_ended = false;
	for (o = e->orders; o != NULL; o = o->next) {
		if (o->dropped)
			continue;
		if (o == e->detect.order) /* the session tries again */
			server_order_tell_done(e, o, &cut);
		else if (o->mode == MODE_SSE &&
		    server_attempt_of(e, FOR_POST, o) != NULL)
			o->post = POST_STREAM_ENDED;
		else if (o->mode == MODE_SSE)
			server_order_tell_gone(e, o, o->verb == VERB_POST);
	}
}

/* --- time --- */

/* The stream of a slow server lives on. So the time that an order waits for its
 * answer is bounded by the silence of the stream. */
void
server_sse2024_heard(struct server *e)
{
	if (e->config.call_timeout_ms > 0)
		alarm_set(&e->alarms, ALARM_SILENCE,
		    e->now + e->config.call_timeout_ms);
}

void
server_sse2024_tick(struct server *e)
{
	struct facts silent = server_facts_stream;
	struct server_order *o;

	if (!alarm_is_due(&e->alarms, ALARM_SILENCE, e->now))
		return;
	alarm_set(&e->alarms, ALARM_SILENCE, ALARM_NEVER);
	silent.ending = ENDING_IDLE;
	for (o = e->orders; o != NULL; o = o->next)
		if (!o->dropped && o->post == POST_TAKEN)
			server_order_tell_done(e, o, &silent);
}
