/* Requests to the server: their headers, their start, redirects. */
#include "config.h"

#include "proxy/transport/state.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "core/wire/json.h"

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

void
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
	u->made_session = string_copy(t->session);
	u->made_version = string_copy(t->version);
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
		u->config.keeper->prove(r->method, r->url, &proven,
		    u->config.keeper_arg);
		r->headers = &proven;
		r->stamp = 0;
	}
	t->x = http_send(u->http, r, u->http_ops, t);
	r->headers = r->more_headers = NULL;
	headers_free(&proven);
}

const char *
request_url(const struct exchange *t)
{
	const struct streamable *u = t->u;

	return t->url != NULL                        ? t->url :
	    t->order.endpoint && u->endpoint != NULL ? u->endpoint :
						       u->url;
}

void
request_start(struct exchange *t)
{
	static const char *const methods[] = { "POST", "GET", "DELETE" };
	struct streamable *u = t->u;
	struct http_request r = { 0 };

	r.method = methods[t->order.verb];
	r.url = request_url(t);
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
