/*
 * This file takes what comes on the exchanges of HTTP+SSE: the endpoint, the
 * messages and the end of the stream, and the ends of POSTs.
 */
#include "config.h"

#include "core/server/parts.h"

/* --- the stream --- */

/* If this refuses initialize and names another revision, it is sent again with
 * that. */
static bool
is_offered(struct server *e, struct server_order *o, const struct facts *f,
    const struct frame *m)
{
	if (o != e->detect.order || !server_detect_offer(e, f, m))
		return false;
	server_attempt_end(e, server_attempt_of(e, FOR_POST, o));
	o->post = POST_OPEN;
	server_sse2024_send(e, o);
	return true;
}

static void
take_answer(struct server *e, struct frame *m)
{
	struct server_order *o = server_order_asking(e, m->id, MODE_SSE);

	if (o == NULL) {
		server_log(e, LEVEL_DEBUG,
		    "an answer on the stream matches no open request: dropped");
		return;
	}
	if (m->kind == FRAME_ERROR && is_offered(e, o, &server_facts_stream, m))
		return;
	if (o == e->detect.order && m->kind == FRAME_RESULT)
		server_detect_answered(e);
	server_order_tell_message(e, o, &server_facts_stream, m);
	server_order_tell_done(e, o, &server_facts_stream);
}

static void
stream_message(struct server *e, struct frame *m)
{
	struct sse2024 *s = e->sse;

	server_sse2024_heard(e);
	if (m->kind == FRAME_RESULT || m->kind == FRAME_ERROR)
		take_answer(e, m);
	else if (s->listen != NULL)
		server_order_tell_message(e, s->listen, &server_facts_stream,
		    m);
	else if (!server_order_keep(&s->kept, m))
		server_log(e, LEVEL_DEBUG,
		    "too many messages came on the stream before the session "
		    "listens: one is dropped");
}

static void
stream_done(struct server *e, const struct facts *f)
{
	if (server_sse2024_ready(e)) {
		server_sse2024_leave(e);
		return;
	}
	server_sse2024_close(e);
	server_detect_stream(e, f);
}

/* The GET brought an event stream, but not one of HTTP+SSE. */
static void
no_stream(struct server *e, const char *why)
{
	struct facts f = server_facts_ok;

	f.verb = VERB_GET;
	f.why = span_of(why);
	stream_done(e, &f);
}

void
server_sse2024_in_endpoint(struct server *e, struct server_attempt *i, bool ok)
{
	struct sse2024 *s = e->sse;

	if (s == NULL || s->stream != i)
		return;
	if (!ok) {
		server_log(e, LEVEL_WARN,
		    "%s names an endpoint on another origin: it is not used",
		    e->config.host);
		e->detect.foreign = true;
		no_stream(e, "its endpoint is on another origin");
		return;
	}
	if (s->ready)
		return; /* a new endpoint: transport uses it from now on */
	s->ready = true;
	i->order = NULL; /* the stream outlives initialize */
	server_detect_stream(e, NULL);
}

/* --- a POST --- */

/* The POST of a request was taken. Its answer will come on the stream. */
static void
taken_request(struct server *e, struct server_order *o)
{
	o->post = POST_TAKEN;
	server_sse2024_heard(e);
	server_order_tell_head(e, o, &server_facts_stream);
}

/* Has the stream ended on which the answer would come? */
static bool
is_without_stream(const struct server *e, const struct server_order *o)
{
	return o->post == POST_STREAM_ENDED || e->sse == NULL;
}

/* A POST to a dead session gets 404 or 400, like a request with a session id. */
static void
note_session(const struct server *e, const struct server_order *o,
    struct facts *refused)
{
	refused->had_session = o != e->detect.order;
	refused->session_ended = refused->ending == ENDING_COMPLETE &&
	    is_without_stream(e, o);
}

/* The status of a POST says whether the server took the message. The answer
 * comes on the stream. */
static void
post_done(struct server *e, struct server_attempt *i, const struct facts *f)
{
	struct server_order *o = i->order;
	struct facts refused = *f;
	bool taken = verdict_2xx(f);

	if (o == NULL)
		return;
	if (is_without_stream(e, o) &&
	    (taken ||
		(f->ending == ENDING_COMPLETE &&
		    (f->status < 400 || f->status >= 500)))) {
		server_order_tell_gone(e, o, true);
		return;
	}
	if (taken) {
		if (o->body->kind == FRAME_REQUEST)
			taken_request(e, o);
		else
			server_order_tell_done(e, o, &server_facts_accepted);
		return;
	}
	if (is_offered(e, o, f, NULL))
		return;
	note_session(e, o, &refused);
	server_order_tell_head(e, o, &refused);
	server_order_tell_done(e, o, &refused);
}

/* --- what comes --- */

void
server_sse2024_in_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m)
{
	struct facts refused = *f;

	if (i->purpose == FOR_STREAM) {
		if (e->sse == NULL || e->sse->stream != i)
			return;
		if (e->sse->ready)
			stream_message(e, m);
		else if (f->status < 400)
			no_stream(e, "its first event names no endpoint");
		return;
	}
	/* Only the words of a refusal count: a body with 2xx is ignored. */
	if (i->order == NULL || f->status < 400 || m->kind != FRAME_ERROR ||
	    is_offered(e, i->order, f, m))
		return;
	note_session(e, i->order, &refused);
	server_order_tell_message(e, i->order, &refused, m);
}

void
server_sse2024_in_done(struct server *e, struct server_attempt *i,
    const struct facts *f)
{
	if (i->purpose == FOR_POST)
		post_done(e, i, f);
	else if (e->sse != NULL && e->sse->stream == i)
		stream_done(e, f);
}
