/*
 * Sends one request without credentials to the MCP server, as a proxy would
 * begin, to get the challenge of its refusal and the address it answers from;
 * and looks at a certificate that was refused.
 */
#include "config.h"

#include "tools/probe.h"

#include <stdlib.h>
#include <string.h>

#include "core/exchange/fault.h"
#include "core/wire/msg.h"
#include "options/from_options.h"
#include "proxy/transport/streamable.h"

enum { PROBE_IDLE_MS = 30 * 1000, BODY_MS = 5000, BODY_BYTES = 16 * 1024 };

struct probing {
	struct probe *probe;
	struct loop *loop;
	const struct url *url;
	struct http_way *way; /* NULL: it is not wanted */
	struct buf body;      /* of an error */
	char *why;
};

static void
probe_head(struct transfer *x, int status, void *arg)
{
	struct probing *g = arg;
	struct probe *p = g->probe;
	const char *peer = http_peer(x);

	p->status = status;
	if (status == 401 || status == 403)
		http_headers_all(x, "WWW-Authenticate", &p->challenge);
	if (peer != NULL && p->peer == NULL)
		p->peer = xstrdup(peer);
	if (status < 400 || status == 401)
		http_abort(x);
	else
		http_expire(x, BODY_MS);
}

/* Only the body of an error counts. */
static bool
probe_data(struct transfer *x, const char *data, size_t n, void *arg)
{
	struct probing *g = arg;

	(void)x;
	return buf_add(&g->body, data, n) == 0;
}

/* Does an MCP server say this, in JSON-RPC or in words about sessions? */
static bool
speaks(const char *body)
{
	return strstr(body, "\"jsonrpc\"") != NULL ||
	    strcasestr(body, "session") != NULL;
}

/* Returns what a client would be told whose initialize ended so. */
static char *
explain(const struct probing *g, struct transfer *x,
    const struct http_answer *answer)
{
	struct frame *request = msg_call(span_of("1"), "initialize", no_span);
	struct facts facts = { .ending = ending_of(answer->end),
		.status = g->probe->status,
		.media = verdict_media(http_header(x, "Content-Type", 0)),
		.body = buf_span(&g->body),
		.sent = answer->sent,
		.why = span_of(answer->why),
		.remedy = span_of(answer->remedy) };
	struct frame *error = fault_from_facts(request, &facts,
	    url_authority(g->url), NULL);
	struct buf text = { 0 };

	msg_error_text(error, &text);
	frame_unref(error);
	frame_unref(request);
	return buf_take(&text);
}

static void
probe_done(struct transfer *x, const struct http_answer *answer, void *arg)
{
	struct probing *g = arg;

	if (g->way != NULL)
		http_way(x, g->way);
	if (g->probe != NULL && g->probe->status == 0) {
		g->probe->end = answer->end;
		g->why = explain(g, x, answer);
	} else if (g->probe != NULL && answer->end == HTTP_DONE) {
		g->probe->refusal = explain(g, x, answer);
	}
	if (g->probe != NULL)
		g->probe->speaks = speaks(buf_str(&g->body));
	loop_stop(g->loop, 0);
}

static const struct http_ops probe_ops = { probe_head, probe_data, probe_done };

int
probe_send(struct probe *p, struct loop *l, const struct options *o,
    const struct url *url, char **why)
{
	static const char
	    body[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
	struct probing g = { .probe = p,
		.loop = l,
		.url = url,
		.way = p->watched ? &p->way : NULL };
	struct network network = { 0 };
	struct http *h = p->watched ? network_watched(&network, l, o, why) :
				      network_server(&network, l, o, why);
	struct http_request r = { .method = "POST",
		.url = url->text,
		.body = { body, sizeof body - 1 },
		.idle_ms = PROBE_IDLE_MS };
	struct headers headers = { 0 };
	struct transfer *x;

	p->end = HTTP_CONFIG;
	if (h == NULL) {
		network_free(&network);
		return -1;
	}
	headers_add(&headers, span_of("Content-Type"),
	    span_of("application/json"), false);
	headers_add(&headers, span_of("Accept"),
	    span_of("application/json, text/event-stream"), false);
	if (p->with != NULL)
		headers_append(&headers, p->with);
	r.headers = &headers;
	buf_init(&g.body, BODY_BYTES);
	x = http_send(h, &r, &probe_ops, &g);
	if (p->limit_ms > 0)
		http_expire(x, p->limit_ms);
	loop_run(l);
	http_free(h);
	buf_free(&g.body);
	headers_free(&headers);
	network_free(&network);
	if (p->status != 0)
		return 0;
	*why = g.why;
	return -1;
}

void
probe_look(struct http_way *w, struct loop *l, const struct options *o,
    const struct url *url, int64_t limit_ms)
{
	struct probing g = { .loop = l, .url = url, .way = w };
	struct http_request r = { .method = "GET", .url = url->text };
	struct headers none = { 0 };
	char *why = NULL;
	struct http *h = network_look(l, o, &why);

	memset(w, 0, sizeof *w);
	free(why);
	if (h == NULL)
		return;
	r.headers = &none;
	http_expire(http_send(h, &r, &probe_ops, &g), limit_ms);
	loop_run(l);
	http_free(h);
}

void
probe_free(struct probe *p)
{
	free(p->peer);
	free(p->refusal);
	buf_free(&p->challenge);
	http_way_free(&p->way);
}
