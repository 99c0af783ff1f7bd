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
is_offered(struct server *s, struct server_order *o, const struct facts *f,
    const struct frame *m)
{
	if (o != s->detect.order || !server_detect_offer(s, f, m))
		return false;
	server_attempt_end(s, server_attempt_of(s, FOR_POST, o));
	o->post = POST_OPEN;
	server_sse2024_send(s, o);
	return true;
}

static void
take_answer(struct server *s, struct frame *m)
{
	struct server_order *o = server_order_asking(s, m->id, MODE_SSE);

	if (o == NULL) {
		server_log(s, LEVEL_DEBUG,
		    "an answer on the stream matches no open request: dropped");
		return;
	}
	if (m->kind == FRAME_ERROR && is_offered(s, o, &server_facts_stream, m))
		return;
	if (o == s->detect.order && m->kind == FRAME_RESULT)
		server_detect_answered(s);
	server_order_tell_message(s, o, &server_facts_stream, m);
	server_order_tell_done(s, o, &server_facts_stream);
}

static void
stream_message(struct server *s, struct frame *m)
{
	struct sse2024 *sse = s->sse;

	server_sse2024_heard(s);
	if (m->kind == FRAME_RESULT || m->kind == FRAME_ERROR)
		take_answer(s, m);
	else if (sse->listen != NULL)
		server_order_tell_message(s, sse->listen, &server_facts_stream,
		    m);
	else if (!server_order_keep(&sse->kept, m))
		server_log(s, LEVEL_DEBUG,
		    "too many messages came on the stream before the session "
		    "was ready: dropped one");
}

static void
stream_done(struct server *s, const struct facts *f)
{
	if (server_sse2024_ready(s)) {
		server_sse2024_leave(s);
		return;
	}
	server_sse2024_close(s);
	server_detect_stream(s, f);
}

/* The GET brought an event stream, but not one of HTTP+SSE. */
static void
no_stream(struct server *s, const char *why)
{
	struct facts f = server_facts_ok;

	f.verb = VERB_GET;
	f.why = span_of(why);
	stream_done(s, &f);
}

void
server_sse2024_in_endpoint(struct server *s, struct server_attempt *a, bool ok)
{
	struct sse2024 *sse = s->sse;

	if (sse == NULL || sse->stream != a)
		return;
	if (!ok) {
		server_log(s, LEVEL_WARN,
		    "%s named an endpoint on another origin: ignored",
		    s->config.host);
		s->detect.foreign = true;
		no_stream(s, "its endpoint is on another origin");
		return;
	}
	if (sse->ready)
		return; /* a new endpoint: transport uses it from now on */
	sse->ready = true;
	a->order = NULL; /* the stream outlives initialize */
	server_detect_stream(s, NULL);
}

/* --- a POST --- */

/* The POST of a request was taken. Its answer will come on the stream. */
static void
taken_request(struct server *s, struct server_order *o)
{
	o->post = POST_TAKEN;
	server_sse2024_heard(s);
	server_order_tell_head(s, o, &server_facts_stream);
}

/* Has the stream ended on which the answer would come? */
static bool
is_without_stream(const struct server *s, const struct server_order *o)
{
	return o->post == POST_STREAM_ENDED || s->sse == NULL;
}

/* A POST to a dead session gets 404 or 400, like a request with a session id. */
static void
note_session(const struct server *s, const struct server_order *o,
    struct facts *refused)
{
	refused->had_session = o != s->detect.order;
	refused->session_ended = refused->ending == ENDING_COMPLETE &&
	    is_without_stream(s, o);
}

/* The status of a POST says whether the server took the message. The answer
 * comes on the stream. */
static void
post_done(struct server *s, struct server_attempt *a, const struct facts *f)
{
	struct server_order *o = a->order;
	struct facts refused = *f;
	bool taken = verdict_2xx(f);

	if (o == NULL)
		return;
	if (is_without_stream(s, o) &&
	    (taken ||
		(f->ending == ENDING_COMPLETE &&
		    (f->status < 400 || f->status >= 500)))) {
		server_order_tell_gone(s, o, true);
		return;
	}
	if (taken) {
		if (o->body->kind == FRAME_REQUEST)
			taken_request(s, o);
		else
			server_order_tell_done(s, o, &server_facts_accepted);
		return;
	}
	if (is_offered(s, o, f, NULL))
		return;
	note_session(s, o, &refused);
	server_order_tell_head(s, o, &refused);
	server_order_tell_done(s, o, &refused);
}

/* --- what comes --- */

void
server_sse2024_in_message(struct server *s, struct server_attempt *a,
    const struct facts *f, struct frame *m)
{
	struct facts refused = *f;

	if (a->purpose == FOR_STREAM) {
		if (s->sse == NULL || s->sse->stream != a)
			return;
		if (s->sse->ready)
			stream_message(s, m);
		else if (f->status < 400)
			no_stream(s, "its first event names no endpoint");
		return;
	}
	/* Only the words of a refusal count: a body with 2xx is ignored. */
	if (a->order == NULL || f->status < 400 || m->kind != FRAME_ERROR ||
	    is_offered(s, a->order, f, m))
		return;
	note_session(s, a->order, &refused);
	server_order_tell_message(s, a->order, &refused, m);
}

void
server_sse2024_in_done(struct server *s, struct server_attempt *a,
    const struct facts *f)
{
	if (a->purpose == FOR_POST)
		post_done(s, a, f);
	else if (s->sse != NULL && s->sse->stream == a)
		stream_done(s, f);
}
