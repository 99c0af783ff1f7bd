/*
 * Sends one request without credentials to the MCP server, as a proxy would
 * begin, to get the challenge of its refusal and the address it answers from;
 * and looks at a certificate that was refused.
 */
#include "config.h"

#include "tools/command.h"

#include <stdlib.h>

#include "core/exchange/fault.h"
#include "core/wire/msg.h"
#include "options/from_options.h"
#include "proxy/transport/streamable.h"

enum { PROBE_IDLE_MS = 30 * 1000, BODY_MS = 5000, BODY_BYTES = 16 * 1024 };

static void
probe_head(struct transfer *x, int status, void *arg)
{
	struct probe *p = arg;
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
	struct probe *p = arg;

	(void)x;
	return buf_add(&p->body, data, n) == 0;
}

/* Returns what a client would be told whose initialize ended so. */
static char *
explain(const struct probe *p, struct transfer *x,
    const struct http_answer *answer)
{
	struct frame *request = msg_call(span_of("1"), "initialize", no_span);
	struct facts facts = { .ending = ending_of(answer->end),
		.status = p->status,
		.media = verdict_media(http_header(x, "Content-Type", 0)),
		.body = buf_span(&p->body),
		.sent = answer->sent,
		.why = span_of(answer->why),
		.remedy = span_of(answer->remedy) };
	struct frame *error = fault_from_facts(request, &facts,
	    url_authority(&p->url), NULL);
	struct buf text = { 0 };

	msg_error_text(error, &text);
	frame_unref(error);
	frame_unref(request);
	return buf_take(&text);
}

static void
probe_done(struct transfer *x, const struct http_answer *answer, void *arg)
{
	struct probe *p = arg;

	if (p->watched)
		http_way(x, &p->way);
	if (p->status == 0) {
		p->end = answer->end;
		p->why = explain(p, x, answer);
	} else if (answer->end == HTTP_DONE) {
		p->refusal = explain(p, x, answer);
	}
	p->speaks = strstr(buf_str(&p->body), "\"jsonrpc\"") != NULL ||
	    strcasestr(buf_str(&p->body), "session") != NULL;
	loop_stop(p->loop, 0);
}

/* Sends the request with a client, which ends with it. h NULL: there is none. */
static void
run(struct probe *p, struct http *h, const struct options *o,
    struct http_request *r)
{
	static const struct http_ops ops = { probe_head, probe_data,
		probe_done };
	struct transfer *x;

	if (h == NULL)
		return;
	url_parse(&p->url, o->url);
	buf_init(&p->body, BODY_BYTES);
	r->url = p->url.text;
	x = http_send(h, r, &ops, p);
	if (p->limit_ms > 0)
		http_expire(x, p->limit_ms);
	loop_run(p->loop);
	http_free(h);
	buf_free(&p->body);
	url_free(&p->url);
}

int
probe_send(struct probe *p, struct loop *l, const struct options *o, char **why)
{
	static const char
	    body[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
	struct network network = { 0 };
	struct headers headers = { 0 };
	struct http_request r = { .method = "POST",
		.headers = &headers,
		.body = { body, sizeof body - 1 },
		.idle_ms = PROBE_IDLE_MS };

	headers_add(&headers, span_of("Content-Type"),
	    span_of("application/json"), false);
	headers_add(&headers, span_of("Accept"),
	    span_of("application/json, text/event-stream"), false);
	if (p->with != NULL)
		headers_append(&headers, p->with);
	p->loop = l;
	p->end = HTTP_CONFIG;
	run(p, network_server(&network, l, o, p->watched, why), o, &r);
	headers_free(&headers);
	network_free(&network);
	if (p->why != NULL)
		*why = p->why;
	return p->status != 0 ? 0 : -1;
}

void
probe_look(struct http_way *w, struct loop *l, const struct options *o,
    int64_t limit_ms)
{
	struct probe p = { .watched = true, .limit_ms = limit_ms, .loop = l };
	struct headers none = { 0 };
	struct http_request r = { .method = "GET", .headers = &none };
	char *why = NULL;

	run(&p, network_look(l, o, &why), o, &r);
	free(why);
	free(p.why);
	*w = p.way;
	p.way = (struct http_way){ 0 };
	probe_free(&p);
}

void
probe_free(struct probe *p)
{
	free(p->peer);
	free(p->refusal);
	buf_free(&p->challenge);
	http_way_free(&p->way);
}
