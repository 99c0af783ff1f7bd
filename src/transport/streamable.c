/*
 * Streamable HTTP: messages go out, frames and facts come in. A stream is the
 * exchange for one order, named by its ticket; it may take several HTTP
 * requests, for redirects on the same origin and for new credentials.
 *
 * Back-pressure: when stdout is full, all transfers pause. When partial
 * messages hold more than the cap, all pause except the one with the oldest
 * partial message, which may finish it. Control orders continue in both cases,
 * as long as their answers are small.
 */
#include "config.h"

#include "transport/streamable.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/log.h"
#include "core/wire/msg.h"
#include "core/wire/sse.h"
#include "io/url.h"

enum {
	MAX_REDIRECTS = 3,
	MAX_ERROR_BODY = 256 * 1024,
	MAX_EVENT_WORDS = 64 * 1024, /* kept of an event that is not a
				      * message */
	MAX_CHALLENGE = 16 * 1024,
	MAX_CONTROL = 256 *
	    1024, /* a control order's answer, while others pause */
	SLOTS = 64,
	DECIDED_MS = 2000, /* for the body of an answer that only its status
			    * decides */
	IDLE_S = 15,       /* a connection that was idle longer may be dead */
	RECEIPT_MS = 60 * 1000 /* for the 2xx to an answer of the client */
};

struct stream {
	struct streamable *u;
	struct stream *next, *prev;
	struct stream *chain;
	uint64_t ticket;
	enum verb verb;
	struct frame *body;
	char *session, *version, *last_event_id;
	bool silent_ok, control, person;
	bool aborted;       /* streamable_abort was called */
	uint64_t delivered; /* number of messages */
	bool decided;       /* the status decides; the body is only text */
	bool began;         /* an event came */
	bool ending;        /* done is about to be called: too late to abort */
	bool refused;       /* 401 or 403: ops.head is called at the end */
	bool waits;         /* for streamable_go or streamable_stand */
	unsigned refusals;
	struct transfer *x;
	char *url; /* NULL: the server's own URL */
	unsigned redirects;
	char *redirect; /* URL to go to when this answer is over */
	struct sse *sse;
	struct buf answer;
	size_t bytes;     /* all bytes of this answer so far */
	size_t held;      /* bytes of the partial message, as counted in u */
	uint64_t partial; /* number of the partial message in u->partials */
	uint64_t events;  /* number of events on this stream */
	uint64_t before;  /* number of events before the partial message */
	bool paused;
	struct headers mirrored; /* headers that mirror the body */
	bool endpoint, announces;
	struct facts facts;
	char *session_given, *location;
	struct buf challenge;
	struct headers credentials;
	uint64_t stamp;
};

struct streamable {
	struct http *http;
	struct streamable_config config;
	struct streamable_ops ops;
	void *arg;
	struct url base;
	char *url;
	bool announced; /* a stream other than HTTP+SSE had an endpoint event */
	char *endpoint; /* the latest endpoint of HTTP+SSE; NULL: none */
	char *peer;     /* the address that answered last, or NULL */
	struct stream *first, *last; /* in the order of their start */
	struct stream *by_ticket[SLOTS];
	/* The latest headers, and the values they were made from. */
	struct headers made, made_credentials;
	char *made_session, *made_version;
	bool made_is_post;
	bool stdout_full;
	bool held_full;
	size_t held;
	uint64_t partials; /* number of partial messages so far */
	uint64_t accepted; /* the latest stamp reported to ops.accepted */
};

struct streamable *
streamable_new(struct http *h, const struct streamable_config *config,
    const struct streamable_ops *ops, void *arg)
{
	struct streamable *u = xcalloc(1, sizeof *u);

	u->http = h;
	u->config = *config;
	u->ops = *ops;
	u->arg = arg;
	url_parse(&u->base, config->url);
	u->url = xstrdup(config->url);
	return u;
}

static struct stream *
stream_find(const struct streamable *u, uint64_t ticket)
{
	struct stream *t = u->by_ticket[ticket % SLOTS];

	while (t != NULL && t->ticket != ticket)
		t = t->chain;
	return t;
}

/* Forgets everything of one answer; a redirect starts another. */
static void
answer_clear(struct stream *t)
{
	t->u->held -= t->held;
	t->held = 0;
	sse_free(t->sse);
	t->sse = NULL;
	buf_free(&t->answer);
	buf_free(&t->challenge);
	free(t->session_given);
	free(t->location);
	t->session_given = t->location = NULL;
}

static void
stream_free(struct stream *t)
{
	struct streamable *u = t->u;
	struct stream **at = &u->by_ticket[t->ticket % SLOTS];

	while (*at != t)
		at = &(*at)->chain;
	*at = t->chain;
	if (t->prev != NULL)
		t->prev->next = t->next;
	else
		u->first = t->next;
	if (t->next != NULL)
		t->next->prev = t->prev;
	else
		u->last = t->prev;
	answer_clear(t);
	frame_unref(t->body);
	headers_free(&t->credentials);
	headers_free(&t->mirrored);
	free(t->session);
	free(t->version);
	free(t->last_event_id);
	free(t->url);
	free(t->redirect);
	free(t);
}

/* --- back-pressure --- */

static bool
is_small_control(const struct stream *t)
{
	return t->control && t->bytes <= MAX_CONTROL;
}

static void
stream_pause(struct stream *t, bool paused)
{
	if (t->x == NULL || t->paused == paused ||
	    (paused && is_small_control(t)))
		return;
	t->paused = paused;
	http_pause(t->x, paused);
}

/* Returns the stream that may continue in order to finish its message, or NULL.
 * Calls come before listen streams, which may keep half a message for ever. */
static struct stream *
oldest_partial(const struct streamable *u)
{
	struct stream *t, *oldest = NULL;

	for (t = u->first; t != NULL; t = t->next) {
		if (t->held == 0 || t->x == NULL)
			continue;
		if (oldest == NULL ||
		    (t->silent_ok == oldest->silent_ok ?
			    t->partial < oldest->partial :
			    oldest->silent_ok))
			oldest = t;
	}
	return oldest;
}

static bool
is_full(const struct streamable *u)
{
	return u->stdout_full || u->held_full;
}

/* Pauses the streams that have to pause. When stdout is full, all do: one more
 * message would only wait there. */
static void
apply_pause(struct streamable *u)
{
	struct stream *t, *goes_on = NULL;

	if (u->held_full && !u->stdout_full)
		goes_on = oldest_partial(u);
	for (t = u->first; t != NULL; t = t->next)
		stream_pause(t, is_full(u) && t != goes_on);
}

void
streamable_pause(struct streamable *u, bool paused)
{
	if (u->stdout_full == paused)
		return;
	u->stdout_full = paused;
	apply_pause(u);
}

size_t
streamable_held(const struct streamable *u)
{
	return u->held;
}

/* Notes that the stream now holds this many bytes of a partial message. One
 * read may bring the end of a message and the beginning of the next. */
static void
count_held(struct stream *t, size_t held)
{
	struct streamable *u = t->u;
	bool finished = t->held > 0 && (held == 0 || t->events != t->before);
	bool full;

	if (held > 0 && (t->held == 0 || finished)) {
		t->partial = ++u->partials;
		t->before = t->events;
	}
	u->held = u->held - t->held + held;
	t->held = held;
	full = u->config.max_held > 0 && u->held > u->config.max_held;
	if (full != u->held_full || (full && finished)) {
		u->held_full = full;
		apply_pause(u); /* the next oldest may continue */
	}
}

/* Notes that the answer grew by n bytes. */
static void
count_bytes(struct stream *t, size_t n)
{
	bool was_small = is_small_control(t);

	t->bytes += n;
	if (was_small && !is_small_control(t) && is_full(t->u))
		apply_pause(t->u);
}

/* --- requests to the server --- */

static void
add(struct headers *h, const char *name, const char *value)
{
	if (value != NULL)
		headers_add(h, span_of(name), span_of(value), false);
}

/* The one place where headers are put together (doc/protocol.md 1.1, 1.3, 3.1,
 * 3.2, 4.3, 4.4, 6.2). There is no Origin, because mcpsplice is not a
 * browser. */
static void
assemble(const struct stream *t, struct headers *h)
{
	headers_init(h);
	if (t->verb == VERB_POST) {
		add(h, "Accept", "application/json, text/event-stream");
		add(h, "Content-Type", "application/json");
	} else if (t->verb == VERB_GET) {
		add(h, "Accept", "text/event-stream");
		add(h, "Last-Event-ID", t->last_event_id);
	}
	add(h, "MCP-Protocol-Version", t->version);
	add(h, "Mcp-Session-Id", t->session);
	headers_append(h, &t->mirrored);
	headers_append(h, &t->credentials);
}

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void
made_clear(struct streamable *u)
{
	headers_free(&u->made);
	headers_free(&u->made_credentials);
	free(u->made_session);
	free(u->made_version);
	u->made_session = u->made_version = NULL;
}

/* Consecutive calls have the same headers: these are made again only if a value
 * in them changed. */
static const struct headers *
headers_for(const struct stream *t)
{
	struct streamable *u = t->u;

	if (t->verb == VERB_POST && u->made_is_post && t->mirrored.n == 0 &&
	    same_text(u->made_session, t->session) &&
	    same_text(u->made_version, t->version) &&
	    headers_same(&u->made_credentials, &t->credentials))
		return &u->made;
	made_clear(u);
	assemble(t, &u->made);
	u->made_is_post = t->verb == VERB_POST && t->mirrored.n == 0;
	if (t->session != NULL)
		u->made_session = xstrdup(t->session);
	if (t->version != NULL)
		u->made_version = xstrdup(t->version);
	headers_append(&u->made_credentials, &t->credentials);
	return &u->made;
}

static void on_head(struct transfer *, int, void *);
static bool on_data(struct transfer *, const char *, size_t, void *);
static void on_done(struct transfer *, const struct http_answer *, void *);

/* Returns how long the exchange may be silent once its body is out, in ms; 0:
 * for ever. An answer of the client only waits for its receipt. */
static int64_t
idle_limit(const struct stream *t)
{
	int64_t limit = t->u->config.call_timeout_ms;

	if (t->silent_ok)
		return 0;
	if (t->body != NULL &&
	    (t->body->kind == FRAME_RESULT || t->body->kind == FRAME_ERROR) &&
	    (limit == 0 || limit > RECEIPT_MS))
		return RECEIPT_MS;
	return limit;
}

static void
stream_start(struct stream *t)
{
	static const struct http_ops ops = { on_head, on_data, on_done };
	static const char *const methods[] = { "POST", "GET", "DELETE" };
	struct streamable *u = t->u;
	struct http_request r = { 0 };

	r.method = methods[t->verb];
	r.url = t->url != NULL                 ? t->url :
	    t->endpoint && u->endpoint != NULL ? u->endpoint :
						 u->url;
	if (t->body != NULL)
		r.body = t->body->text;
	r.headers = headers_for(t);
	r.idle_ms = idle_limit(t);
	r.max_idle_conn_s = IDLE_S;
	memset(&t->facts, 0, sizeof t->facts);
	t->facts.verb = t->verb;
	t->facts.had_session = t->session != NULL;
	t->facts.retry_after_ms = t->facts.retry_ms = -1;
	buf_init(&t->answer, 0);
	t->bytes = 0;
	t->paused = t->refused = t->decided = t->began = false;
	t->x = http_send(u->http, &r, &ops, t);
	if (is_full(u))
		stream_pause(t, true);
}

static char *
dup_span(struct span s)
{
	return s.n == 0 ? NULL : xstrndup(s.p, s.n);
}

void
streamable_send(struct streamable *u, const struct order *order)
{
	struct stream *t = xcalloc(1, sizeof *t), **slot;

	t->u = u;
	t->ticket = order->ticket;
	t->verb = order->verb;
	t->body = order->verb == VERB_POST ? frame_ref(order->body) : NULL;
	t->session = dup_span(order->session);
	t->version = dup_span(order->version);
	t->last_event_id = dup_span(order->last_event_id);
	t->silent_ok = order->listen;
	t->control = order->control;
	t->person = order->interactive;
	t->endpoint = order->endpoint;
	t->announces = order->announces;
	headers_init(&t->mirrored);
	if (order->mirrored != NULL)
		headers_append(&t->mirrored, order->mirrored);
	headers_init(&t->credentials);
	slot = &u->by_ticket[t->ticket % SLOTS];
	t->chain = *slot;
	*slot = t;
	t->prev = u->last;
	if (u->last != NULL)
		u->last->next = t;
	else
		u->first = t;
	u->last = t;
	u->ops.authorize(t->ticket, t->verb == VERB_DELETE, u->arg);
}

void
streamable_go(struct streamable *u, uint64_t ticket,
    const struct headers *credentials, uint64_t stamp)
{
	struct stream *t = stream_find(u, ticket);

	if (t == NULL || t->x != NULL || t->ending)
		return;
	t->waits = false;
	answer_clear(t);
	headers_free(&t->credentials);
	headers_append(&t->credentials, credentials);
	t->stamp = stamp;
	stream_start(t);
}

static void
stream_end(struct stream *t)
{
	struct streamable *u = t->u;

	t->ending = true;
	if (t->held > 0)
		count_held(t, 0);
	u->ops.done(t->ticket, &t->facts, u->arg);
	stream_free(t);
}

void
streamable_deny(struct streamable *u, uint64_t ticket, const char *why)
{
	struct stream *t = stream_find(u, ticket);

	if (t == NULL || t->x != NULL || t->ending)
		return;
	memset(&t->facts, 0, sizeof t->facts);
	t->facts.verb = t->verb;
	t->facts.ending = ENDING_DENIED;
	t->facts.retry_after_ms = t->facts.retry_ms = -1;
	t->facts.why = span_of(why);
	stream_end(t);
}

void
streamable_abort(struct streamable *u, uint64_t ticket)
{
	struct stream *t = stream_find(u, ticket);

	if (t == NULL || t->ending)
		return;
	t->aborted = true;
	if (t->x != NULL) {
		http_abort(t->x);
		return;
	}
	memset(&t->facts, 0, sizeof t->facts);
	t->facts.verb = t->verb;
	t->facts.ending = ENDING_ABORTED;
	t->facts.retry_after_ms = t->facts.retry_ms = -1;
	stream_end(t);
}

/* --- answers of the server --- */

static void
deliver(struct frame *m, void *arg)
{
	struct stream *t = arg;

	t->delivered++;
	t->u->ops.message(t->ticket, &t->facts, m, t->u->arg);
}

/* Takes an array of messages, which 2025-03-26 allows and later revisions do
 * not. Returns false if no message in it was delivered. */
static bool
batch_in(struct stream *t, struct span array)
{
	uint64_t before = t->delivered;
	size_t bad;

	if (t->version != NULL && strcmp(t->version, "2025-06-18") >= 0) {
		log_info("the server sent an array of messages, which its "
			 "version %s does not have: refused",
		    t->version);
		return false;
	}
	bad = msg_batch(array, t->u->config.max_depth, deliver, t);
	if (bad == SIZE_MAX)
		log_info("the server sent an array of more than %d messages: "
			 "refused",
		    MSG_BATCH_MAX);
	else if (bad > 0)
		log_debug("%zu elements of an array from the server are no "
			  "messages: dropped",
		    bad);
	return t->delivered > before;
}

/* Takes one message, or an array of them. Returns false if b is neither; b then
 * keeps its content. */
static bool
message_in(struct stream *t, struct buf *b)
{
	unsigned depth = t->u->config.max_depth;
	bool scrubbed = false;
	struct frame *m;

	switch (msg_from_server(b, depth, &m, &scrubbed)) {
	case MSG_OK:
		if (scrubbed)
			log_debug("broken UTF-8 from the server became "
				  "U+FFFD");
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
endpoint_url(const struct stream *t, struct buf *data)
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
refuse_endpoint(struct stream *t, bool ok)
{
	bool get = t->verb == VERB_GET;

	if (get ? t->u->announced : !ok)
		return;
	t->u->announced = t->u->announced || get;
	t->decided = true;
	t->facts.status = get ? 404 : 405;
	http_abort(t->x);
}

static void
take_endpoint(struct stream *t, struct buf *data)
{
	struct streamable *u = t->u;
	char *url = endpoint_url(t, data);
	bool ok = url != NULL;

	if (t->announces && t->verb == VERB_GET && ok) {
		free(u->endpoint);
		u->endpoint = url;
	} else {
		free(url);
	}
	if (t->announces)
		u->ops.endpoint(t->ticket, ok, u->arg);
	else
		refuse_endpoint(t, ok);
}

static void
on_event(const char *type, struct buf *data, void *arg)
{
	struct stream *t = arg;
	bool first = !t->began;

	t->began = true;
	t->events++;
	/* On a POST's stream only the first event can be an endpoint; others of
	 * that name are skipped. */
	if (strcmp(type, "endpoint") == 0 && verdict_2xx(&t->facts) &&
	    (t->verb == VERB_GET || (first && !t->endpoint))) {
		take_endpoint(t, data);
		return;
	}
	if (data->n == 0 || strcmp(type, "message") != 0)
		return;
	if (message_in(t, data))
		return;
	log_info("an event of the server is no JSON-RPC message: skipped");
	/* The verdict may need the text of the first one, if no message
	 * follows. */
	if (t->answer.n == 0)
		buf_add(&t->answer, data->p,
		    data->n > MAX_EVENT_WORDS ? MAX_EVENT_WORDS : data->n);
}

/* Reads Retry-After in seconds and returns ms, or -1. An HTTP date is ignored:
 * the back-offs are seconds, for which a date parser is not worth it. */
static int64_t
retry_after(const char *value)
{
	char *end;
	long s;

	if (value == NULL || *value < '0' || *value > '9')
		return -1;
	s = strtol(value, &end, 10);
	if (*end != '\0' || s < 0 || s > 86400)
		return -1;
	return (int64_t)s * 1000;
}

static char *
dup_header(struct transfer *x, const char *name)
{
	const char *value = http_header(x, name, 0);

	return value == NULL ? NULL : xstrdup(value);
}

/* Follows 307 and 308 on the same origin (doc/protocol.md 1.4). */
static void
check_redirect(struct stream *t)
{
	struct url target;

	if ((t->facts.status != 307 && t->facts.status != 308) ||
	    t->location == NULL || t->redirects >= MAX_REDIRECTS)
		return;
	if (url_resolve(&target, &t->u->base, t->location) != URL_OK)
		return;
	if (url_same_origin(&target, &t->u->base))
		t->redirect = xstrdup(target.text);
	url_free(&target);
}

static void
remember_peer(struct streamable *u, const char *peer)
{
	if (peer == NULL || same_text(u->peer, peer))
		return;
	free(u->peer);
	u->peer = xstrdup(peer);
}

const char *
streamable_peer(const struct streamable *u)
{
	return u->peer;
}

void
streamable_forget(struct streamable *u)
{
	http_forget(u->http);
}

static void
on_head(struct transfer *x, int status, void *arg)
{
	struct stream *t = arg;
	struct facts *f = &t->facts;

	f->status = status;
	f->sent = true;
	f->out_at = http_written_at(x);
	remember_peer(t->u, http_peer(x));
	/* Only an answer to initialize may give a session id (doc/protocol.md
	 * 3.1). */
	if (t->session == NULL)
		t->session_given = dup_header(x, "Mcp-Session-Id");
	f->media = verdict_media(http_header(x, "Content-Type", 0));
	f->session = span_of(t->session_given);
	if (status >= 400)
		f->retry_after_ms = retry_after(http_header(x, "Retry-After",
		    0));
	if (status >= 300 && status < 400) {
		t->location = dup_header(x, "Location");
		f->location = span_of(t->location);
		check_redirect(t);
	}
	t->refused = status == 401 || status == 403;
	if (t->refused) {
		buf_init(&t->challenge, MAX_CHALLENGE);
		http_headers_all(x, "WWW-Authenticate", &t->challenge);
		f->challenge = buf_span(&t->challenge);
	}
	/* The status decides, so the body must not take for ever. */
	if (status >= 300 && f->media != MEDIA_SSE) {
		t->decided = true;
		http_expire(x, DECIDED_MS);
	}
	if (t->redirect != NULL)
		return;
	if (f->media == MEDIA_SSE)
		t->sse = sse_new(t->u->config.max_message, on_event, t);
	if (status < 400 && t->stamp != t->u->accepted) {
		t->u->accepted = t->stamp;
		t->u->ops.accepted(t->stamp, t->u->arg);
	}
	if (!t->refused)
		t->u->ops.head(t->ticket, f, t->u->arg);
}

static bool
too_large(struct stream *t)
{
	t->facts.too_large = true;
	t->facts.size = t->u->config.max_message;
	return false;
}

static bool
on_data(struct transfer *x, const char *p, size_t n, void *arg)
{
	struct stream *t = arg;
	size_t max = t->u->config.max_message;

	(void)x;
	count_bytes(t, n);
	if (t->redirect != NULL)
		return true; /* on_head limits its time */
	if (t->sse != NULL) {
		if (sse_feed(t->sse, p, n) < 0)
			return too_large(t);
		count_held(t, sse_held(t->sse));
		return true;
	}
	if (t->facts.media != MEDIA_JSON) {
		/* Kept only for the verdict and for the text of an error. */
		if (n > MAX_ERROR_BODY - t->answer.n)
			n = MAX_ERROR_BODY - t->answer.n;
		buf_add(&t->answer, p, n);
		count_held(t, t->answer.n);
		return t->answer.n < MAX_ERROR_BODY;
	}
	if (n > max - t->answer.n)
		return too_large(t);
	buf_add(&t->answer, p, n);
	count_held(t, t->answer.n);
	return true;
}

static enum ending
ending_of(enum http_end end)
{
	switch (end) {
	case HTTP_DONE:
		return ENDING_COMPLETE;
	case HTTP_CUT:
		return ENDING_CUT;
	case HTTP_IDLE:
		return ENDING_IDLE;
	case HTTP_ABORTED:
		return ENDING_ABORTED;
	case HTTP_RESOLVE:
		return ENDING_RESOLVE;
	case HTTP_CONNECT:
		return ENDING_CONNECT;
	case HTTP_TLS:
		return ENDING_TLS;
	case HTTP_PROXY:
		return ENDING_PROXY;
	case HTTP_CONFIG:
	case HTTP_REFUSED:
		break;
	}
	return ENDING_CONFIG;
}

static void
follow(struct stream *t)
{
	char **moved = t->endpoint ? &t->u->endpoint : &t->u->url;

	if (t->facts.status == 308) {
		/* A permanent redirect: later requests go there at once. */
		free(*moved);
		*moved = xstrdup(t->redirect);
	}
	free(t->url);
	t->url = t->redirect;
	t->redirect = NULL;
	t->redirects++;
	answer_clear(t);
	stream_start(t);
}

static struct span
words_of(const struct stream *t)
{
	struct span words = buf_span(&t->answer);

	if (words.n > MAX_ERROR_BODY)
		words.n = MAX_ERROR_BODY;
	return words;
}

/* Takes a complete body: a message, an array of messages, or text for the
 * verdict. */
static void
take_body(struct stream *t)
{
	struct facts *f = &t->facts;
	bool json = f->media == MEDIA_JSON ||
	    (f->status >= 400 && t->answer.n > 0 && t->answer.p[0] == '{');

	if (json && t->answer.n > 0 && message_in(t, &t->answer)) {
		buf_reset(&t->answer);
		f->body = buf_span(&t->answer);
		return;
	}
	f->body = words_of(t);
}

/* Other credentials may help against a 401 or 403, so ops.refused is asked
 * first. Returns true if the stream now waits for them. */
static bool
ask_again(struct stream *t)
{
	struct facts *f = &t->facts;
	struct refusal r = { f, t->person, span_of(t->session), t->stamp,
		t->refusals };

	if (!t->refused || f->ending != ENDING_COMPLETE || t->delivered > 0)
		return false;
	f->body = words_of(t);
	t->refusals++;
	t->waits = true; /* set first: ops.refused may call streamable_go */
	if (t->u->ops.refused(t->ticket, &r, t->u->arg))
		return true;
	t->waits = false;
	return false;
}

/* Reports the end of the exchange. */
static void
conclude(struct stream *t)
{
	t->ending = true;
	if (t->refused)
		t->u->ops.head(t->ticket, &t->facts, t->u->arg);
	if (t->sse == NULL && t->facts.ending == ENDING_COMPLETE)
		take_body(t);
	stream_end(t);
}

void
streamable_stand(struct streamable *u, uint64_t ticket, const char *why,
    bool credentials_known_good)
{
	struct stream *t = stream_find(u, ticket);

	if (t == NULL || !t->waits)
		return;
	t->waits = false;
	t->facts.credentials_known_good = credentials_known_good;
	t->facts.why = span_of(why);
	conclude(t);
}

static void
on_done(struct transfer *x, const struct http_answer *a, void *arg)
{
	struct stream *t = arg;
	struct facts *f = &t->facts;
	enum http_end end = a->end;

	(void)x;
	t->x = NULL;
	if (t->decided && !t->aborted)
		end = HTTP_DONE;
	if (t->redirect != NULL && end == HTTP_DONE) {
		follow(t);
		return;
	}
	f->ending = ending_of(end);
	f->sent = a->sent;
	f->why = span_of(a->why);
	if (f->status == 0)
		f->status = a->status;
	if (t->sse != NULL) {
		f->last_event_id = sse_last_id(t->sse);
		f->retry_ms = sse_retry_ms(t->sse);
		f->body = buf_span(&t->answer);
	}
	if (ask_again(t))
		return;
	conclude(t);
}

void
streamable_free(struct streamable *u)
{
	if (u == NULL)
		return;
	while (u->first != NULL)
		stream_free(u->first);
	made_clear(u);
	url_free(&u->base);
	free(u->url);
	free(u->endpoint);
	free(u->peer);
	free(u);
}
