/*
 * Streamable HTTP: messages go out, frames and facts come in. An exchange is
 * what one order comes to. It may take several transfers of io/http, for
 * redirects on the same origin and for new credentials.
 */
#include "config.h"

#include "proxy/transport/streamable.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/queue.h"
#include "core/era/trace_context.h"
#include "core/wire/edit.h"
#include "core/wire/json.h"
#include "core/wire/msg.h"
#include "core/wire/sse.h"
#include "io/loop.h"
#include "io/url.h"

struct exchange {
	struct streamable *u;
	struct exchange *next, *prev;
	struct hash_entry by_ticket;
	struct order order; /* its frames and spans were those of the moment */
	struct frame *body;
	char *session, *version, *last_event_id;
	bool aborted;       /* streamable_abort was called */
	uint64_t delivered; /* number of messages */
	bool decided;       /* the status decides; the body is only text */
	bool known;         /* the body has told what it is */
	bool began;         /* an event came */
	bool ending;        /* done is about to be called: too late to abort */
	bool early;         /* sent with credentials that were early */
	bool refused;       /* other credentials may mend it: nothing is told
			     * before the end */
	bool head_due;      /* the next event tells the head, too */
	bool waits;         /* INPUT_REFUSED was told, and not answered yet */
	/* As in struct facts; and the stamp that was just refused, or 0. */
	unsigned refusals, again;
	uint64_t refused_at;
	struct transfer *x;
	char *url; /* NULL: the server's own URL */
	unsigned redirects;
	char *redirect; /* URL to go to when this answer is over */
	struct sse *sse;
	struct frame *stray; /* the latest error without an id; it counts if
			      * the stream ends without an answer */
	struct buf answer;
	size_t bytes;     /* all bytes of this answer so far */
	size_t held;      /* bytes of the partial message, as counted in u */
	uint64_t partial; /* number of the partial message in u->partials */
	uint64_t events;  /* number of events on this stream */
	uint64_t before;  /* number of events before the partial message */
	size_t tried;     /* bytes of events that were looked at before their
			   * ends came */
	bool paused;
	struct headers mirrored; /* headers that mirror the body */
	struct facts facts;
	char *session_given, *location, *secure, *why, *type, *coding;
	struct buf challenge;
	struct buf denial; /* what the challenge says, as JSON */
};

struct streamable {
	struct loop *loop;
	struct http *http;
	const struct http_ops *http_ops; /* what takes the answers */
	struct streamable_config config;
	struct streamable_ops ops;
	void *arg;
	struct url base;
	char *url;
	bool slash; /* url is what a temporary redirect led to, which only added
		     * or removed a slash */
	bool announced; /* a stream other than HTTP+SSE had an endpoint event */
	char *endpoint; /* the latest endpoint of HTTP+SSE; NULL: none */
	char *peer;     /* the address that answered last, or NULL */
	struct exchange *first, *last; /* in the order of their start */
	struct hash by_ticket;
	/* Tickets of the exchanges whose heads came in this turn of the
	 * loop. */
	uint64_t *heads;
	size_t n_heads, cap_heads;
	/* The latest headers, but for those that mirror a body or prove a
	 * token, and what they were made from. */
	struct headers made;
	uint64_t made_credentials; /* the version of these */
	char *made_session, *made_version;
	bool made_is_post;
	uint64_t made_stamp; /* how often they were made */
	bool stdout_full;
	bool held_full;
	size_t held;
	uint64_t partials; /* number of partial messages so far */
	uint64_t accepted; /* the latest stamp reported to ops.accepted */
};

/*
 * The life of an exchange, and back-pressure: when stdout is full, all
 * exchanges pause. When partial messages hold more than the cap, all pause
 * except the one with the oldest partial message, which may finish it. Control
 * orders continue in both cases, as long as their answers are small.
 */

/* Returns NULL if there is none with this ticket. */
static struct exchange *
exchange_find(const struct streamable *u, uint64_t ticket)
{
	struct hash_entry *e = hash_first(&u->by_ticket, ticket);

	return e == NULL ? NULL : HASH_THING(e, struct exchange, by_ticket);
}

/* Forgets all facts, as nothing has happened yet. */
static void
exchange_clear_facts(struct exchange *t)
{
	memset(&t->facts, 0, sizeof t->facts);
	t->facts.verb = t->order.verb;
	t->facts.retry_after_ms = t->facts.retry_ms = -1;
}

/* Forgets everything of one answer; a redirect starts another. */
static void
exchange_clear_answer(struct exchange *t)
{
	t->u->held -= t->held;
	t->held = 0;
	sse_free(t->sse);
	t->sse = NULL;
	frame_unref(t->stray);
	t->stray = NULL;
	buf_free(&t->answer);
	buf_free(&t->challenge);
	buf_free(&t->denial);
	free(t->session_given);
	free(t->location);
	free(t->secure);
	free(t->why);
	free(t->type);
	free(t->coding);
	t->session_given = t->location = t->secure = NULL;
	t->why = t->type = t->coding = NULL;
}

static void
exchange_free(struct exchange *t)
{
	struct streamable *u = t->u;

	hash_remove(&u->by_ticket, &t->by_ticket);
	QUEUE_REMOVE(u, t);
	exchange_clear_answer(t);
	frame_unref(t->body);
	headers_free(&t->mirrored);
	free(t->session);
	free(t->version);
	free(t->last_event_id);
	free(t->url);
	free(t->redirect);
	free(t);
}

/* Reports an event of this exchange, and the head with it if that is due. Sets
 * the ticket and the facts of e. */
static void
exchange_tell(struct exchange *t, struct event *e)
{
	e->ticket = t->order.ticket;
	e->facts = &t->facts;
	e->head = t->head_due;
	t->head_due = false;
	t->u->ops.event(e, t->u->arg);
}

/* --- back-pressure --- */

static bool
is_small_control(const struct exchange *t)
{
	return t->order.control && t->bytes <= BOUND_PART_BYTES;
}

/* Leaves a control order with a small answer alone. */
static void
exchange_pause(struct exchange *t, bool paused)
{
	if (t->x == NULL || t->paused == paused ||
	    (paused && is_small_control(t)))
		return;
	t->paused = paused;
	http_pause(t->x, paused);
}

/* Returns the stream that may continue in order to finish its message, or NULL.
 * Calls come before listen streams, which may keep half a message for ever. */
static struct exchange *
oldest_partial(const struct streamable *u)
{
	struct exchange *t, *oldest = NULL;

	for (t = u->first; t != NULL; t = t->next) {
		if (t->held == 0 || t->x == NULL)
			continue;
		if (oldest == NULL ||
		    (t->order.listen == oldest->order.listen ?
			    t->partial < oldest->partial :
			    oldest->order.listen))
			oldest = t;
	}
	return oldest;
}

/* Do exchanges that start now have to pause? */
static bool
exchange_is_full(const struct streamable *u)
{
	return u->stdout_full || u->held_full;
}

/* Pauses the streams that have to pause. When stdout is full, all do: one more
 * message would only wait there. */
static void
apply_pause(struct streamable *u)
{
	struct exchange *t, *goes_on = NULL;

	if (u->held_full && !u->stdout_full)
		goes_on = oldest_partial(u);
	for (t = u->first; t != NULL; t = t->next)
		exchange_pause(t, exchange_is_full(u) && t != goes_on);
}

/* Notes that the stream now holds this many bytes of a partial message. One
 * read may bring the end of a message and the beginning of the next. */
static void
exchange_count_held(struct exchange *t, size_t held)
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
exchange_count_bytes(struct exchange *t, size_t n)
{
	bool was_small = is_small_control(t);

	t->bytes += n;
	if (was_small && !is_small_control(t) && exchange_is_full(t->u))
		apply_pause(t->u);
}

/* Reports t->facts as its end, with the message that was its body, or NULL, and
 * frees the exchange. */
static void
exchange_end(struct exchange *t, struct frame *body)
{
	struct event e = { .kind = INPUT_DONE, .frame = body };

	t->ending = true;
	if (t->held > 0)
		exchange_count_held(t, 0);
	exchange_tell(t, &e);
	exchange_free(t);
}

/* Requests to the server: their headers, their start, redirects. */

enum {
	/* A connection that was idle longer may be dead: proof is wanted. */
	IDLE_MS = 15 * 1000
};

static void
add(struct headers *h, const char *name, const char *value)
{
	if (value != NULL)
		headers_add(h, span_of(name), span_of(value), false);
}

/* The one place where headers are put together, but for those that mirror the
 * body or prove a token (doc/protocol.md 1.1, 1.3, 3.1, 3.2, 4.3, 4.4, 6.2).
 * There is no Origin, because mcpsplice is not a browser. */
static void
assemble(const struct exchange *t, struct headers *h)
{
	headers_init(h);
	if (t->order.verb == VERB_POST) {
		add(h, "Accept", "application/json, text/event-stream");
		add(h, "Content-Type", "application/json");
	} else if (t->order.verb == VERB_GET) {
		add(h, "Accept", "text/event-stream");
		add(h, "Last-Event-ID", t->last_event_id);
	}
	add(h, "MCP-Protocol-Version", t->version);
	add(h, "Mcp-Session-Id", t->session);
	headers_append(h, &t->u->config.credentials->headers);
}

/* Frees the headers that are kept from one request to the next. */
static void
request_forget_headers(struct streamable *u)
{
	headers_free(&u->made);
	free(u->made_session);
	free(u->made_version);
	u->made_session = u->made_version = NULL;
}

/* Consecutive calls have the same headers, but for those that mirror the body:
 * they are made again only if a value in them changed. */
static const struct headers *
headers_for(const struct exchange *t)
{
	struct streamable *u = t->u;

	if (t->order.verb == VERB_POST && u->made_is_post &&
	    string_eq(u->made_session, t->session) &&
	    string_eq(u->made_version, t->version) &&
	    u->made_credentials == u->config.credentials->version)
		return &u->made;
	request_forget_headers(u);
	assemble(t, &u->made);
	u->made_stamp++;
	u->made_is_post = t->order.verb == VERB_POST;
	if (t->session != NULL)
		u->made_session = xstrdup(t->session);
	if (t->version != NULL)
		u->made_version = xstrdup(t->version);
	u->made_credentials = u->config.credentials->version;
	return &u->made;
}

/* Returns how long the exchange may be silent once its body is out, in ms; 0:
 * for ever. An answer of the client only waits for its receipt. */
static int64_t
idle_limit(const struct exchange *t)
{
	int64_t limit = t->u->config.call_timeout_ms;

	if (t->order.listen)
		return 0;
	if (t->body != NULL &&
	    (t->body->kind == FRAME_RESULT || t->body->kind == FRAME_ERROR) &&
	    (limit == 0 || limit > BOUND_MINUTE_MS))
		return BOUND_MINUTE_MS;
	return limit;
}

/* Does the exchange begin a session: by initialize, or by the stream of
 * HTTP+SSE? */
static bool
is_opening(const struct exchange *t)
{
	return t->body == NULL ? t->order.announces :
				 json_key_is(t->body->method, "initialize");
}

/* Counts what was refused before the request is sent again. */
static void
count_refusal(struct exchange *t, uint64_t stamp)
{
	if (t->refused_at == 0)
		return;
	t->again = t->refused_at == stamp ? t->again + 1 : 0;
	t->refusals += t->refused_at != stamp;
	t->refused_at = 0;
}

/* Hands the request to io/http. A proof is made for this one transfer: it is
 * never among the headers that are kept (RFC 9449 4.2, 11.1). */
static void
send_request(struct exchange *t, struct http_request *r)
{
	struct streamable *u = t->u;
	struct headers proven = { 0 };

	r->key = u->config.credentials->key.list;
	r->headers = headers_for(t);
	r->stamp = u->made_stamp;
	r->more_headers = &t->mirrored;
	if (u->config.credentials->bound) {
		headers_append(&proven, r->headers);
		u->ops.prove(r->method, r->url, &proven, u->arg);
		r->headers = &proven;
		r->stamp = 0;
	}
	t->x = http_send(u->http, r, u->http_ops, t);
	r->headers = r->more_headers = NULL;
	headers_free(&proven);
}

static const char *
url_of(const struct exchange *t)
{
	const struct streamable *u = t->u;

	return t->url != NULL                        ? t->url :
	    t->order.endpoint && u->endpoint != NULL ? u->endpoint :
						       u->url;
}

/* Sends the request of t, with the latest credentials, as a new transfer. */
static void
request_start(struct exchange *t)
{
	static const char *const methods[] = { "POST", "GET", "DELETE" };
	struct streamable *u = t->u;
	struct http_request r = { 0 };

	r.method = methods[t->order.verb];
	r.url = url_of(t);
	if (t->body != NULL)
		r.body = t->body->text;
	r.idle_ms = idle_limit(t);
	r.max_idle_conn_ms = IDLE_MS;
	r.proof = true;
	r.fresh = t->order.fresh;
	r.wary = t->order.wary;
	r.opens = is_opening(t);
	exchange_clear_facts(t);
	t->facts.had_session = t->session != NULL;
	t->facts.stamp = u->config.credentials->stamp;
	t->facts.credentials = u->config.gives ||
	    u->config.credentials->headers.n > 0;
	count_refusal(t, t->facts.stamp);
	t->facts.refusals = t->refusals;
	t->facts.again = t->again;
	t->early = u->config.credentials->early;
	t->facts.interactive = t->order.interactive;
	buf_init(&t->answer, 0);
	t->bytes = t->tried = 0;
	t->paused = t->refused = t->decided = t->known = t->began =
	    t->head_due = false;
	send_request(t, &r);
	if (exchange_is_full(u))
		exchange_pause(t, true);
}

/* --- redirects --- */

/* Do these URLs differ only by a slash at the end of the path? */
static bool
is_slash_apart(const char *a, const char *b)
{
	const char *longer = strlen(a) > strlen(b) ? a : b;
	const char *other = longer == a ? b : a;
	size_t n = strcspn(other, "?");

	return strncmp(longer, other, n) == 0 && longer[n] == '/' &&
	    strcmp(longer + n + 1, other + n) == 0;
}

/* A temporary redirect that is remembered may have lost its sense: the next
 * request finds out. */
static void
forget_slash(struct streamable *u)
{
	if (!u->slash)
		return;
	u->slash = false;
	free(u->url);
	u->url = xstrdup(u->config.url);
}

/* A server behind a gateway that ends TLS redirects to itself by http. Where only
 * a slash is other, https is what it means; else the user is told. */
static void
secure_redirect(struct exchange *t, const struct url *target, bool may)
{
	const struct url *base = &t->u->base;
	const char *path = target->text + strcspn(target->text, "/") + 2;
	char *url;

	if (strcmp(base->scheme, "https") != 0 ||
	    strcmp(target->scheme, "http") != 0 ||
	    strcmp(base->host, target->host) != 0)
		return;
	path += strcspn(path, "/?");
	url = xasprintf("%s%s", base->origin, path);
	if (may && is_slash_apart(url_of(t), url)) {
		t->redirect = url;
		return;
	}
	t->secure = xasprintf("That leaves https, which it may not know of: if "
			      "the path is right, use %s%.*s",
	    base->origin, (int)strcspn(path, "?"), path);
	free(url);
}

/* Notes in t->redirect where this answer, of 300 or more, leads: 307 and 308 on
 * the same origin are followed (doc/protocol.md 1.4). An empty
 * reference is the URL of the request, which has just been redirected. */
static void
request_check_redirect(struct exchange *t)
{
	bool may = t->facts.status == 307 || t->facts.status == 308;
	struct url target;

	if (t->order.verb == VERB_POST &&
	    (t->facts.status == 404 || t->facts.status == 405))
		forget_slash(t->u);
	if (t->location == NULL || t->location[0] == '\0' ||
	    t->redirects >= BOUND_TRIES)
		return;
	if (url_resolve(&target, &t->u->base, t->location) != URL_OK)
		return;
	if (!url_same_origin(&target, &t->u->base))
		secure_redirect(t, &target, may);
	else if (may)
		t->redirect = xstrdup(target.text);
	url_free(&target);
}

/* Sends the request again, to t->redirect. */
static void
request_follow(struct exchange *t)
{
	char **moved = t->order.endpoint ? &t->u->endpoint : &t->u->url;
	bool slash = t->order.verb == VERB_POST && t->url == NULL &&
	    is_slash_apart(url_of(t), t->redirect);

	/* A permanent redirect: later requests go there at once. So do they
	 * after one that many frameworks make for each request. */
	if (t->facts.status == 308 || slash) {
		t->u->slash |= slash && !t->order.endpoint &&
		    t->facts.status == 307;
		free(*moved);
		*moved = xstrdup(t->redirect);
	}
	free(t->url);
	t->url = t->redirect;
	t->redirect = NULL;
	t->redirects++;
	exchange_clear_answer(t);
	request_start(t);
}

/*
 * Answers of the server: status and headers become facts, bodies and events
 * become frames.
 */

enum ending
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

enum { DAY_MS = 24 * 3600 * 1000 };

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
	free(u->peer);
	u->peer = xstrdup(peer);
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
	if (u->n_heads == u->cap_heads) {
		u->cap_heads = u->cap_heads * 2 + 8;
		u->heads = xrealloc(u->heads, u->cap_heads * sizeof *u->heads);
	}
	u->heads[u->n_heads++] = t->order.ticket;
}

/* Frees what tells the heads at the end of the turn. */
static void
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
		f->retry_after_ms = http_retry_after(x, DAY_MS);
	if (status >= 300 && status < 400) {
		t->location = string_copy(http_header(x, "Location", 0));
		f->location = span_of(t->location);
	}
	if (status >= 300)
		request_check_redirect(t);
	t->refused = may_be_mended(t, x, status);
	if (t->u->config.credentials->bound)
		t->u->ops.heard(http_header(x, "DPoP-Nonce", 0), t->u->arg);
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
		t->u->ops.accepted(f->stamp, t->u->arg);
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

/* Reports the end of the exchange. */
static void
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
		request_follow(t);
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

/* What io/http calls with an answer; its argument is the exchange. */
static const struct http_ops answer_ops = { on_head, on_data, on_done };

struct streamable *
streamable_new(struct loop *l, struct http *h,
    const struct streamable_config *config, const struct streamable_ops *ops,
    void *arg)
{
	struct streamable *u = xcalloc(1, sizeof *u);

	u->loop = l;
	u->http = h;
	u->http_ops = &answer_ops;
	u->config = *config;
	u->ops = *ops;
	u->arg = arg;
	url_parse(&u->base, config->url);
	u->url = xstrdup(config->url);
	return u;
}

static char *
dup_span(struct span s)
{
	return s.n == 0 ? NULL : xstrndup(s.p, s.n);
}

void
streamable_send(struct streamable *u, const struct order *order)
{
	struct exchange *t = xcalloc(1, sizeof *t);

	t->u = u;
	t->order = *order;
	t->body = order->verb == VERB_POST ? frame_ref(order->body) : NULL;
	t->session = dup_span(order->session);
	t->version = dup_span(order->version);
	t->last_event_id = dup_span(order->last_event_id);
	if (order->mirrored != NULL)
		headers_append(&t->mirrored, order->mirrored);
	if (u->config.trace_headers && t->body != NULL)
		trace_context_headers(t->body, &t->mirrored);
	hash_add(&u->by_ticket, &t->by_ticket, t->order.ticket);
	QUEUE_ADD(u, t);
	if (loop_now(u->loop) < u->config.credentials->until)
		request_start(t);
	else
		u->ops.authorize(t->order.ticket, t->order.verb == VERB_DELETE,
		    u->arg);
}

void
streamable_credentials_ready(struct streamable *u, uint64_t ticket)
{
	struct exchange *t = exchange_find(u, ticket);

	if (t == NULL || t->x != NULL || t->ending)
		return;
	t->waits = false;
	exchange_clear_answer(t);
	request_start(t);
}

void
streamable_refusal_final(struct streamable *u, uint64_t ticket, const char *why,
    bool credentials_known_good)
{
	struct exchange *t = exchange_find(u, ticket);

	if (t == NULL || t->x != NULL || t->ending)
		return;
	if (!t->waits) {
		exchange_clear_facts(t);
		t->facts.ending = ENDING_DENIED;
		t->facts.why = span_of(why);
		exchange_end(t, NULL);
		return;
	}
	t->waits = false;
	t->facts.credentials_known_good = credentials_known_good;
	if (why != NULL)
		t->facts.why = span_of(why);
	answer_conclude(t);
}

void
streamable_denied(struct streamable *u, uint64_t ticket, struct span denial)
{
	struct exchange *t = exchange_find(u, ticket);

	if (t == NULL || !t->waits)
		return;
	buf_reset(&t->denial);
	buf_addspan(&t->denial, denial);
	t->facts.denial = buf_span(&t->denial);
}

void
streamable_abort(struct streamable *u, uint64_t ticket)
{
	struct exchange *t = exchange_find(u, ticket);

	if (t == NULL || t->ending)
		return;
	t->aborted = true;
	if (t->x != NULL) {
		http_abort(t->x);
		return;
	}
	exchange_clear_facts(t);
	t->facts.ending = ENDING_ABORTED;
	exchange_end(t, NULL);
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

void
streamable_free(struct streamable *u)
{
	if (u == NULL)
		return;
	while (u->first != NULL)
		exchange_free(u->first);
	answer_forget_heads(u);
	hash_free(&u->by_ticket);
	request_forget_headers(u);
	url_free(&u->base);
	free(u->url);
	free(u->endpoint);
	free(u->peer);
	free(u);
}
