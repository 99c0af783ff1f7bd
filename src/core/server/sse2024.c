/*
 * HTTP+SSE of 2024-11-05 (protocol.md section 5), played as Streamable HTTP.
 * One GET stream brings everything: its first event names the endpoint for
 * POSTs, then answers go to the order whose request they answer, the rest to
 * the session's listen stream. The stream is the session: when it ends the
 * orders under way may have run, and later ones are refused as lost.
 */
#include "config.h"

#include "core/server/state.h"

#include <stdlib.h>

#include "core/wire/msg.h"

enum {
	KEPT = 64, /* messages that wait for the session's listen stream */
	KEPT_BYTES = 1 << 20
};

struct sse2024 {
	struct server_attempt *stream;
	int64_t heard_at; /* the latest message, or the latest POST taken */
	bool ready;       /* there is an endpoint */
	struct server_order *listen; /* the session's GET, NULL: none */
	struct frame *kept[KEPT];
	size_t n_kept, kept_bytes;
};

void
server_sse_open(struct server *e)
{
	struct sse2024 *s = xcalloc(1, sizeof *s);
	struct server_attempt *i;

	server_sse_close(e);
	e->sse = s;
	i = server_attempt(e, FOR_STREAM, e->detect.order, NULL);
	i->announces = i->listen = true;
	i->control = false;
	s->stream = i;
}

void
server_sse_close(struct server *e)
{
	struct sse2024 *s = e->sse;

	if (s == NULL)
		return;
	server_attempt_end(e, s->stream);
	while (s->n_kept > 0)
		frame_unref(s->kept[--s->n_kept]);
	free(s);
	e->sse = NULL;
}

bool
server_sse_ready(const struct server *e)
{
	return e->sse != NULL && e->sse->ready;
}

/* --- the way down --- */

static void
attach_listen(struct server *e, struct server_order *o)
{
	struct sse2024 *s = e->sse;
	size_t i;

	s->listen = o;
	server_tell_head(e, o, &server_facts_stream);
	for (i = 0; i < s->n_kept; i++) {
		server_tell_message(e, o, &server_facts_stream, s->kept[i]);
		frame_unref(s->kept[i]);
	}
	s->n_kept = s->kept_bytes = 0;
}

void
server_sse_send(struct server *e, struct server_order *o)
{
	struct server_attempt *i;

	if (e->sse == NULL) {
		server_tell_gone(e, o, false);
	} else if (o->verb == VERB_GET) {
		attach_listen(e, o);
	} else if (o->verb == VERB_DELETE) {
		server_tell_done(e, o, &server_facts_accepted);
	} else {
		i = server_attempt(e, FOR_POST, o, o->body);
		i->endpoint = true;
		if (o->version != NULL)
			i->version = xstrdup(o->version);
	}
}

void
server_sse_abort(struct server *e, struct server_order *o)
{
	if (e->sse != NULL && e->sse->listen == o)
		e->sse->listen = NULL;
}

/* --- the stream --- */

static void
keep(struct server *e, struct frame *m)
{
	struct sse2024 *s = e->sse;

	if (s->n_kept == KEPT || s->kept_bytes + m->text.n > KEPT_BYTES) {
		server_log(e, LEVEL_DEBUG,
		    "too much on the stream before the session listens: "
		    "dropped");
		return;
	}
	s->kept[s->n_kept++] = frame_ref(m);
	s->kept_bytes += m->text.n;
}

static void
take_answer(struct server *e, struct frame *m)
{
	struct server_order *o = server_order_asking(e, m->id, MODE_SSE);

	if (o == NULL) {
		server_log(e, LEVEL_DEBUG,
		    "an answer to no open request on the stream: dropped");
		return;
	}
	if (o == e->detect.order && m->kind == FRAME_RESULT)
		server_detect_answered(e);
	server_tell_message(e, o, &server_facts_stream, m);
	server_tell_done(e, o, &server_facts_stream);
}

static void
stream_message(struct server *e, struct frame *m)
{
	struct sse2024 *s = e->sse;

	s->heard_at = e->now;
	if (m->kind == FRAME_RESULT || m->kind == FRAME_ERROR)
		take_answer(e, m);
	else if (s->listen != NULL)
		server_tell_message(e, s->listen, &server_facts_stream, m);
	else
		keep(e, m);
}

void
server_sse_leave(struct server *e)
{
	struct facts cut = server_facts_gone(true);
	struct server_order *o;

	server_sse_close(e);
	cut.session_ended = false;
	for (o = e->orders; o != NULL; o = o->next) {
		if (o->dropped)
			continue;
		if (o == e->detect.order)
			server_tell_done(e, o, &cut); /* begins again */
		else if (o->mode == MODE_SSE &&
		    server_attempt_of(e, FOR_POST, o) != NULL)
			o->orphan = true;
		else if (o->mode == MODE_SSE)
			server_tell_gone(e, o, o->verb == VERB_POST);
	}
}

static void
stream_done(struct server *e, const struct facts *f)
{
	if (server_sse_ready(e)) {
		server_sse_leave(e);
		return;
	}
	server_sse_close(e);
	server_detect_stream(e, f);
}

/* It is an event stream, but not one of this transport. */
static void
no_stream(struct server *e, const char *why)
{
	struct facts f = server_facts_ok;

	f.verb = VERB_GET;
	f.why = span_of(why);
	stream_done(e, &f);
}

void
server_sse_endpoint(struct server *e, struct server_attempt *i, bool ok)
{
	struct sse2024 *s = e->sse;

	if (i->purpose != FOR_STREAM) {
		server_detect_endpoint(e, i, ok);
		return;
	}
	if (s == NULL || s->stream != i)
		return;
	if (!ok) {
		server_log(e, LEVEL_WARN,
		    "%s names an endpoint on another origin: not used",
		    e->config.host);
		no_stream(e, "its endpoint is on another origin");
		return;
	}
	if (s->ready)
		return; /* another one: upstream uses it from now on */
	s->ready = true;
	i->order = NULL; /* it outlives initialize */
	server_detect_stream(e, NULL);
}

/* --- a POST --- */

/* Its answer is due on the stream. */
static void
taken_request(struct server *e, struct server_order *o)
{
	o->taken = true;
	e->sse->heard_at = e->now;
	server_due(e, server_sse_due(e));
	server_tell_head(e, o, &server_facts_stream);
}

/* Its status says whether it was taken; its answer comes on the stream. */
static void
post_done(struct server *e, struct server_attempt *i, const struct facts *f)
{
	struct server_order *o = i->order;
	struct facts refused = *f;
	bool taken = verdict_2xx(f);

	if (o == NULL)
		return;
	if ((o->orphan || e->sse == NULL) &&
	    (taken || f->ending == ENDING_COMPLETE)) {
		server_tell_gone(e, o, f->status < 400 || f->status >= 500);
		return;
	}
	if (taken) {
		if (o->body->kind == FRAME_REQUEST)
			taken_request(e, o);
		else
			server_tell_done(e, o, &server_facts_accepted);
		return;
	}
	/* A POST to a dead session gets 404 or 400: as with an id. */
	refused.had_session = o != e->detect.order;
	server_tell_head(e, o, &refused);
	server_tell_done(e, o, &refused);
}

/* --- what comes --- */

void
server_sse_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m)
{
	struct facts refused = *f;

	if (i->purpose == FOR_STREAM) {
		if (e->sse == NULL || e->sse->stream != i)
			return;
		if (e->sse->ready)
			stream_message(e, m);
		else
			no_stream(e, "its first event names no endpoint");
		return;
	}
	/* The words of a refusal; what a body says of success is ignored. */
	if (i->order == NULL || i->order->orphan || f->status < 400 ||
	    m->kind != FRAME_ERROR)
		return;
	refused.had_session = i->order != e->detect.order;
	server_tell_message(e, i->order, &refused, m);
}

void
server_sse_done(struct server *e, struct server_attempt *i,
    const struct facts *f)
{
	if (i->purpose == FOR_POST)
		post_done(e, i, f);
	else if (e->sse != NULL && e->sse->stream == i)
		stream_done(e, f);
}

/* --- time --- */

/* The stream of a server that is only slow lives on: what was taken and has
 * no answer is bounded by the silence of the stream. */
int64_t
server_sse_due(const struct server *e)
{
	const struct server_order *o;

	if (!server_sse_ready(e) || e->config.call_timeout_ms <= 0)
		return -1;
	for (o = e->orders; o != NULL; o = o->next)
		if (!o->dropped && o->taken)
			return e->sse->heard_at + e->config.call_timeout_ms;
	return -1;
}

void
server_sse_tick(struct server *e)
{
	struct facts silent = server_facts_stream;
	int64_t due = server_sse_due(e);
	struct server_order *o;

	if (due < 0 || due > e->now)
		return;
	silent.ending = ENDING_IDLE;
	for (o = e->orders; o != NULL; o = o->next)
		if (!o->dropped && o->taken)
			server_tell_done(e, o, &silent);
}
