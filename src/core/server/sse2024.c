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
server_sse2024_open(struct server *s)
{
	struct sse2024 *sse = xcalloc(1, sizeof *sse);
	struct server_attempt *a;

	server_sse2024_close(s);
	s->sse = sse;
	a = server_attempt_new(s, FOR_STREAM, s->detect.order, NULL);
	a->out.announces = a->out.listen = true;
	a->out.control = false;
	sse->stream = a;
	return a;
}

void
server_sse2024_close(struct server *s)
{
	struct sse2024 *sse = s->sse;

	if (sse == NULL)
		return;
	server_attempt_end(s, sse->stream);
	alarm_set(&s->alarms, ALARM_SILENCE, ALARM_NEVER);
	kept_clear(&sse->kept);
	free(sse);
	s->sse = NULL;
}

bool
server_sse2024_ready(const struct server *s)
{
	return s->sse != NULL && s->sse->ready;
}

/* --- the way down --- */

void
server_sse2024_send(struct server *s, struct server_order *o)
{
	struct server_attempt *a;

	if (s->sse == NULL) {
		server_order_tell_gone(s, o, false);
	} else if (o->verb == VERB_GET) {
		s->sse->listen = o;
		server_order_listen(s, o, &s->sse->kept);
	} else if (o->verb == VERB_DELETE) {
		server_order_tell_done(s, o, &server_facts_accepted);
	} else {
		a = server_attempt_new(s, FOR_POST, o, o->body);
		a->out.endpoint = true;
		if (o->version != NULL)
			a->version = xstrdup(o->version);
	}
}

void
server_sse2024_abort(struct server *s, struct server_order *o)
{
	if (s->sse != NULL && s->sse->listen == o)
		s->sse->listen = NULL;
}

/* --- the stream --- */

void
server_sse2024_leave(struct server *s)
{
	struct facts cut = server_facts_gone(true);
	struct server_order *o;

	server_sse2024_close(s);
	cut.session_ended = false;
	for (o = s->orders; o != NULL; o = o->next) {
		if (o->dropped)
			continue;
		if (o == s->detect.order) /* the session tries again */
			server_order_tell_done(s, o, &cut);
		else if (o->mode == MODE_SSE &&
		    server_attempt_of(s, FOR_POST, o) != NULL)
			o->post = POST_STREAM_ENDED;
		else if (o->mode == MODE_SSE)
			server_order_tell_gone(s, o, o->verb == VERB_POST);
	}
}

/* --- time --- */

/* The stream of a slow server lives on. So the time that an order waits for its
 * answer is bounded by the silence of the stream. */
void
server_sse2024_heard(struct server *s)
{
	if (s->config.call_timeout_ms > 0)
		alarm_set(&s->alarms, ALARM_SILENCE,
		    s->now + s->config.call_timeout_ms);
}

void
server_sse2024_tick(struct server *s)
{
	struct facts silent = server_facts_stream;
	struct server_order *o;

	if (!alarm_is_due(&s->alarms, ALARM_SILENCE, s->now))
		return;
	alarm_set(&s->alarms, ALARM_SILENCE, ALARM_NEVER);
	silent.ending = ENDING_IDLE;
	for (o = s->orders; o != NULL; o = o->next)
		if (!o->dropped && o->post == POST_TAKEN)
			server_order_tell_done(s, o, &silent);
}
