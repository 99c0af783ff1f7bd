/*
 * Answers of the server: status and headers become facts, bodies and events
 * become frames.
 */
#include "config.h"

#include "proxy/transport/state.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/wire/edit.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"

enum ending
ending_of(enum http_end end)
{
	static const enum ending endings[] = { [HTTP_DONE] = ENDING_COMPLETE,
		[HTTP_CUT] = ENDING_CUT,
		[HTTP_IDLE] = ENDING_IDLE,
		[HTTP_ABORTED] = ENDING_ABORTED,
		[HTTP_RESOLVE] = ENDING_RESOLVE,
		[HTTP_CONNECT] = ENDING_CONNECT,
		[HTTP_TLS] = ENDING_TLS,
		[HTTP_PROXY] = ENDING_PROXY,
		[HTTP_CONFIG] = ENDING_CONFIG,
		[HTTP_REFUSED] = ENDING_CONFIG };

	return endings[end];
}

static bool
has_id(const struct frame *m)
{
	return m->id.n > 0 && json_kind(m->id) != 'n';
}

/* Is it an error on the stream of a POST that names no request? It may be about
 * something else than this one: some servers answer a notification so. */
static bool
is_stray(const struct exchange *t, const struct frame *m)
{
	return m->kind == FRAME_ERROR && !has_id(m) && t->sse != NULL &&
	    t->order.verb == VERB_POST && verdict_2xx(&t->facts) &&
	    m->text.n <= BOUND_PART_BYTES;
}

static void
tell_message(struct exchange *t, struct frame *m)
{
	exchange_tell(t, &(struct event){ .kind = INPUT_MESSAGE, .frame = m });
}

static void
deliver(struct frame *m, void *arg)
{
	struct exchange *t = arg;

	t->delivered++;
	if (is_stray(t, m)) {
		frame_unref(t->stray);
		t->stray = m;
		return;
	}
	tell_message(t, m);
	frame_unref(m);
}

/* Takes an array of messages, which 2025-03-26 allows and later revisions do
 * not. Returns false if no message in it was delivered. */
static bool
batch_in(struct exchange *t, struct span array)
{
	uint64_t before = t->delivered;
	size_t bad;

	if (t->version != NULL && strcmp(t->version, "2025-06-18") >= 0) {
		log_info(
		    "the server sent an array of messages, which version %s of "
		    "the protocol does not allow: refused",
		    t->version);
		return false;
	}
	bad = msg_batch(array, t->u->config.max_depth, deliver, t);
	if (bad == SIZE_MAX)
		log_info("the server sent an array of more than %d messages: "
			 "refused",
		    BOUND_MANY);
	else if (bad > 0)
		log_debug("%zu elements of an array from the server are not "
			  "messages: dropped",
		    bad);
	return t->delivered > before;
}

/* Takes one message, or an array of them. Returns false if b is neither; b then
 * keeps its content. If whole is not NULL, b is a whole body: a single message
 * is not delivered, but goes to whole. */
static bool
message_in(struct exchange *t, struct buf *b, struct frame **whole)
{
	unsigned depth = t->u->config.max_depth;
	bool scrubbed = false;
	struct frame *m;

	switch (msg_from_server(b, depth, &m, &scrubbed)) {
	case MSG_OK:
		if (scrubbed)
			log_debug("broken UTF-8 from the server was replaced "
				  "by U+FFFD");
		if (whole != NULL)
			*whole = m;
		else
			deliver(m, t);
		return true;
	case MSG_BATCH:
		return batch_in(t, buf_span(b));
	default:
		return false;
	}
}

/* Returns the URL for POSTs of HTTP+SSE. It must be on the server's own origin,
 * else the server could send the credentials elsewhere (doc/protocol.md 1.2);
 * NULL if it is not. */
static char *
endpoint_url(const struct exchange *t, struct buf *data)
{
	struct streamable *u = t->u;
	struct url base, target;
	char *url = NULL;

	if (url_parse(&base, t->url != NULL ? t->url : u->url) != URL_OK)
		return NULL;
	if (url_resolve(&target, &base, buf_str(data)) == URL_OK) {
		if (url_same_origin(&target, &u->base))
			url = xstrdup(target.text);
		url_free(&target);
	}
	url_free(&base);
	return url;
}

/* The endpoint event means that another server may answer now. The exchange
 * ends as if this server had no such stream, or took no POST. For a GET this is
 * done once only, because a server that has both transports at one URL sends
 * the event each time. */
static void
refuse_endpoint(struct exchange *t, bool ok)
{
	bool get = t->order.verb == VERB_GET;

	if (get ? t->u->announced : !ok)
		return;
	t->u->announced = t->u->announced || get;
	t->decided = true;
	t->facts.status = get ? 404 : 405;
	http_abort(t->x);
}

static void
take_endpoint(struct exchange *t, struct buf *data)
{
	struct event e = { .kind = INPUT_ENDPOINT };
	struct streamable *u = t->u;
	char *url = endpoint_url(t, data);
	bool ok = url != NULL;

	if (t->order.announces && t->order.verb == VERB_GET && ok) {
		free(u->endpoint);
		u->endpoint = url;
	} else {
		free(url);
	}
	e.ok = ok;
	if (t->order.announces)
		exchange_tell(t, &e);
	else
		refuse_endpoint(t, ok);
}

/* Does this answer come as an event of that type? Answers of the type message
 * are told apart by whoever gets them; with another type it is the answer to
 * this request only. For a stream of a GET the requests are not known here. */
static bool
is_answer(const struct exchange *t, const char *type, const struct frame *m)
{
	if (is_stray(t, m))
		return true;
	if ((m->kind != FRAME_RESULT && m->kind != FRAME_ERROR) || !has_id(m))
		return false;
	return strcmp(type, "message") == 0 || t->order.verb == VERB_GET ||
	    (t->body != NULL && msg_id_same(m->id, t->body->id));
}

/* Delivers an answer from an event that is dropped otherwise, because its type
 * is another or because its end did not come. If there is none, data stays. */
static void
take_answer(struct exchange *t, const char *type, struct buf *data)
{
	bool scrubbed;
	struct frame *m;

	if (msg_from_server(data, t->u->config.max_depth, &m, &scrubbed) !=
	    MSG_OK)
		return;
	if (is_answer(t, type, m)) {
		deliver(m, t);
		return;
	}
	buf_addspan(data, m->text);
	frame_unref(m);
}

/* Takes the answer from an event whose end did not come yet, and may never come.
 * It cannot be misread: behind the last brace of an object no more lines of data
 * can go on with it. A large event is not looked at again and again: the bytes
 * that are looked at grow with those that come. */
static void
take_early(struct exchange *t, bool last)
{
	enum { SMALL_BYTES = 64 * 1024 };
	const char *type;
	struct buf *data = sse_pending(t->sse, &type);
	struct span text = span_trim(buf_span(data), " \t\n");

	if (text.n == 0 || text.p[text.n - 1] != '}' ||
	    (t->tried > t->bytes + SMALL_BYTES && !last))
		return;
	t->tried += data->n;
	take_answer(t, type, data);
}

static void
on_event(const char *type, struct buf *data, void *arg)
{
	struct exchange *t = arg;
	bool first = !t->began;

	t->began = true;
	t->events++;
	/* On a POST's stream only the first event can be an endpoint; others of
	 * that name are skipped. */
	if (strcmp(type, "endpoint") == 0 && verdict_2xx(&t->facts) &&
	    (t->order.verb == VERB_GET || (first && !t->order.endpoint))) {
		take_endpoint(t, data);
		return;
	}
	if (data->n == 0)
		return;
	if (strcmp(type, "message") != 0) {
		take_answer(t, type, data);
		return;
	}
	if (message_in(t, data, NULL))
		return;
	log_info("an event from the server is not a JSON-RPC message: skipped");
	/* The verdict may need the text of the first one, if no message
	 * follows. */
	if (t->answer.n == 0)
		buf_add(&t->answer, data->p,
		    data->n > BOUND_TEXT_BYTES ? BOUND_TEXT_BYTES : data->n);
}

static void
remember_peer(struct streamable *u, const char *peer)
{
	if (peer == NULL || string_eq(u->peer, peer))
		return;
	string_set(&u->peer, peer);
}

/* Tells the heads that came in this turn, but for those that went with a
 * message or with the end. */
static void
tell_heads(void *arg)
{
	struct streamable *u = arg;
	struct event e = { .kind = INPUT_HEAD };
	struct exchange *t;
	size_t i;

	for (i = 0; i < u->n_heads; i++) {
		t = exchange_find(u, u->heads[i]);
		if (t != NULL && t->head_due)
			exchange_tell(t, &e);
	}
	u->n_heads = 0;
}

static void
head_is_due(struct exchange *t)
{
	struct streamable *u = t->u;

	t->head_due = true;
	if (u->n_heads == 0)
		loop_defer(u->loop, tell_heads, u);
	u->heads = xgrow(u->heads, u->n_heads, sizeof *u->heads);
	u->heads[u->n_heads++] = t->order.ticket;
}

void
answer_forget_heads(struct streamable *u)
{
	loop_undefer(u->loop, tell_heads, u);
	free(u->heads);
}

/* May other credentials mend this status? A Bearer challenge can say so with
 * any 4xx (RFC 6750 3.1). To a token that has expired some servers answer 400,
 * 404 or 500, without a word about it. */
static bool
may_be_mended(const struct exchange *t, struct transfer *x, int status)
{
	if (status == 401 || status == 403)
		return true;
	if (t->facts.stamp == 0 || status < 400)
		return false;
	if (t->early && (status == 400 || status == 404 || status == 500))
		return true;
	return status < 500 && http_header(x, "WWW-Authenticate", 0) != NULL;
}

/* If the status decides, the body must not take for ever. Only a stream of
 * events goes on. */
static void
decide(struct exchange *t, struct transfer *x)
{
	if (t->facts.status < 300 || t->facts.media == MEDIA_SSE || t->decided)
		return;
	t->decided = true;
	http_expire(x, BOUND_BRIEF_MS);
}

static void
on_head(struct transfer *x, int status, void *arg)
{
	struct exchange *t = arg;
	struct facts *f = &t->facts;

	f->status = status;
	f->sent = true;
	f->out_at = http_written_at(x);
	remember_peer(t->u, http_peer(x));
	t->session_given = string_copy(http_header(x, "Mcp-Session-Id", 0));
	t->type = string_copy(http_header(x, "Content-Type", 0));
	f->type = span_of(t->type);
	f->media = verdict_media(t->type);
	f->session = span_of(t->session_given);
	if (status >= 400)
		f->retry_after_ms = http_retry_after(x, BOUND_DAY_MS);
	if (status >= 300 && status < 400) {
		t->location = string_copy(http_header(x, "Location", 0));
		f->location = span_of(t->location);
	}
	if (status >= 300)
		redirect_check(t);
	t->refused = may_be_mended(t, x, status);
	if (t->u->config.credentials->bound)
		t->u->config.keeper->heard(http_header(x, "DPoP-Nonce", 0),
		    t->u->config.keeper_arg);
	if (t->refused) {
		f->clock_ahead_s = http_clock_ahead(x);
		buf_init(&t->challenge, BOUND_NOTE_BYTES);
		http_headers_all(x, "WWW-Authenticate", &t->challenge);
		f->challenge = buf_span(&t->challenge);
	}
	decide(t, x);
	if (t->redirect != NULL)
		return;
	if (status < 400 && f->stamp != t->u->accepted) {
		t->u->accepted = f->stamp;
		t->u->config.keeper->accepted(f->stamp,
		    t->u->config.keeper_arg);
	}
	if (!t->refused)
		head_is_due(t);
}

static bool
too_large(struct exchange *t)
{
	t->facts.too_large = true;
	t->facts.size = t->u->config.max_message;
	return false;
}

/* Takes the first bytes of the body until they tell what it is (doc/protocol.md
 * 2.7). Blanks in front tell nothing: some servers send them for minutes to keep
 * the connection alive. Returns how many of p were taken. */
static size_t
begin_body(struct exchange *t, struct transfer *x, const char *p, size_t n)
{
	size_t used = 0;
	char c;

	while (used < n && !t->known) {
		c = p[used++];
		if ((t->answer.n == 0 || t->answer.p[0] == '\xEF') &&
		    c != '\0' && strchr(" \t\r\n", c) != NULL)
			continue; /* also behind a BOM */
		buf_addc(&t->answer, c);
		t->known = verdict_body(buf_span(&t->answer), &t->facts.media);
	}
	decide(t, x);
	if (t->known && t->facts.media == MEDIA_SSE) {
		t->sse = sse_new(t->u->config.max_message, on_event, t);
		sse_feed(t->sse, t->answer.p, t->answer.n);
		buf_reset(&t->answer);
	}
	return used;
}

static bool
on_data(struct transfer *x, const char *p, size_t n, void *arg)
{
	struct exchange *t = arg;
	size_t max = t->u->config.max_message, used;

	exchange_count_bytes(t, n);
	if (t->redirect != NULL)
		return true; /* on_head limits its time */
	if (!t->known) {
		used = begin_body(t, x, p, n);
		p += used;
		n -= used;
		if (!t->known)
			return t->bytes <= max || too_large(t);
	}
	if (t->sse != NULL) {
		if (sse_feed(t->sse, p, n) < 0)
			return too_large(t);
		take_early(t, false);
		exchange_count_held(t, sse_held(t->sse));
		return true;
	}
	if (t->facts.media != MEDIA_JSON) {
		/* Kept only for the verdict and for the text of an error. */
		if (n > BOUND_PART_BYTES - t->answer.n)
			n = BOUND_PART_BYTES - t->answer.n;
		buf_add(&t->answer, p, n);
		exchange_count_held(t, t->answer.n);
		return t->answer.n < BOUND_PART_BYTES;
	}
	if (n > max - t->answer.n)
		return too_large(t);
	buf_add(&t->answer, p, n);
	exchange_count_held(t, t->answer.n);
	return true;
}

static struct span
words_of(const struct exchange *t)
{
	struct span words = buf_span(&t->answer);

	if (words.n > BOUND_PART_BYTES)
		words.n = BOUND_PART_BYTES;
	return words;
}

/* Takes a complete body: an array of messages, text for the verdict, or one
 * message, which is returned and owned by the caller. */
static struct frame *
take_body(struct exchange *t)
{
	struct frame *whole = NULL;
	struct facts *f = &t->facts;

	if (f->media == MEDIA_JSON && t->answer.n > 0) {
		if (message_in(t, &t->answer, &whole))
			buf_reset(&t->answer);
		else if (verdict_media(t->type) == MEDIA_HTML)
			f->media = MEDIA_HTML; /* a page after all */
	}
	f->body = words_of(t);
	return whole;
}

/* Other credentials may help. Returns true if the exchange waits for what the
 * caller says, or is over by now. */
static bool
ask_again(struct exchange *t)
{
	struct event e = { .kind = INPUT_REFUSED };
	struct facts *f = &t->facts;

	if (!t->refused || f->ending != ENDING_COMPLETE || t->delivered > 0)
		return false;
	f->body = words_of(t);
	/* the exchange may wait for long */
	free(t->why);
	t->why = f->why.n == 0 ? NULL : xstrndup(f->why.p, f->why.n);
	f->why = span_of(t->why);
	f->remedy = span_of(NULL);
	t->refused_at = f->stamp;
	t->waits = true;
	exchange_tell(t, &e);
	return true;
}

/* Puts the challenge into the server's own error, whose client sees no headers.
 * What the server has there stays. */
static void
add_denial(const struct exchange *t, struct frame **body)
{
	struct edit edit = { .key = "challenge" };
	struct span data = json_get((*body)->error, "data");
	struct frame *edited;
	struct buf b = { 0 };

	if ((*body)->kind != FRAME_ERROR || (data.n > 0 && data.p[0] != '{') ||
	    json_get(data, edit.key).n > 0)
		return;
	edit.value = buf_span(&t->denial);
	edit_object(&b, data, &edit, 1);
	edit = (struct edit){ .key = "data", .value = buf_span(&b) };
	edited = edit_part(*body, "error", (*body)->error, &edit, 1);
	buf_free(&b);
	frame_unref(*body);
	*body = edited;
}

/* Takes what counts only now that nothing more will come. */
static void
end_stream(struct exchange *t)
{
	take_early(t, true);
	if (t->stray != NULL)
		tell_message(t, t->stray);
}

void
answer_conclude(struct exchange *t)
{
	struct frame *body = NULL;

	t->ending = true;
	t->head_due = t->head_due || t->refused;
	if (t->sse != NULL && !t->aborted)
		end_stream(t);
	else if (t->sse == NULL && t->facts.ending == ENDING_COMPLETE)
		body = take_body(t);
	if (body != NULL && t->denial.n > 0)
		add_denial(t, &body);
	exchange_end(t, body);
	frame_unref(body);
}

static void
on_done(struct transfer *x, const struct http_answer *a, void *arg)
{
	struct exchange *t = arg;
	struct facts *f = &t->facts;
	enum http_end end = a->end;

	t->x = NULL;
	if (t->decided && !t->aborted)
		end = HTTP_DONE;
	if (t->redirect != NULL && end == HTTP_DONE) {
		redirect_follow(t);
		return;
	}
	f->ending = ending_of(end);
	f->sent = a->sent;
	f->conn_refused = a->conn_refused;
	f->why = span_of(a->why);
	f->remedy = span_of(t->secure != NULL ? t->secure : a->remedy);
	if (a->undecoded)
		t->coding = string_copy(http_header(x, "Content-Encoding", 0));
	f->coding = span_of(t->coding);
	if (f->status == 0)
		f->status = a->status;
	f->silent = f->status == 200 && t->bytes == 0;
	if (t->sse != NULL) {
		f->last_event_id = sse_last_id(t->sse);
		f->primed = sse_is_primed(t->sse);
		f->retry_ms = sse_retry_ms(t->sse);
		f->body = buf_span(&t->answer);
	}
	if (ask_again(t))
		return;
	answer_conclude(t);
}

const struct http_ops answer_ops = { on_head, on_data, on_done };
