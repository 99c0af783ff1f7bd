/*
 * Sends one request without credentials to the MCP server, as a proxy would
 * begin, to get the challenge of its refusal and the address it answers from.
 */
#include "config.h"

#include "app/account.h"

#include <stdlib.h>

enum { PROBE_IDLE_MS = 30 * 1000 };

struct probing {
	struct probe *probe;
	struct loop *loop;
	char *why;
};

static void
probe_head(struct transfer *x, int status, void *arg)
{
	struct probing *g = arg;
	struct probe *p = g->probe;
	const char *peer = http_peer(x);

	p->status = status;
	if (status == 401)
		http_headers_all(x, "WWW-Authenticate", &p->challenge);
	if (peer != NULL && p->peer == NULL)
		p->peer = xstrdup(peer);
	http_abort(x);
}

/* Ignores the body: only the head of an answer counts. */
static bool
probe_data(struct transfer *x, const char *data, size_t n, void *arg)
{
	(void)x;
	(void)data;
	(void)n;
	(void)arg;
	return true;
}

static void
probe_done(struct transfer *x, const struct http_answer *answer, void *arg)
{
	struct probing *g = arg;

	(void)x;
	if (g->probe->status == 0 && g->why == NULL)
		g->why = xasprintf("the server cannot be reached: %s",
		    answer->why);
	loop_stop(g->loop, 0);
}

int
account_probe(struct probe *p, struct loop *l, const struct options *o,
    const struct url *url, char **why)
{
	static const struct http_ops ops = { probe_head, probe_data,
		probe_done };
	static const char
	    body[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
	struct probing g = { .probe = p, .loop = l };
	struct network network = { 0 };
	struct http *h = network_server(&network, l, o, why);
	struct http_request r = { .method = "POST",
		.url = url->text,
		.body = { body, sizeof body - 1 },
		.idle_ms = PROBE_IDLE_MS };
	struct headers headers;

	if (h == NULL)
		return -1;
	headers_init(&headers);
	headers_add(&headers, span_of("Content-Type"),
	    span_of("application/json"), false);
	headers_add(&headers, span_of("Accept"),
	    span_of("application/json, text/event-stream"), false);
	r.headers = &headers;
	buf_init(&p->challenge, 0);
	http_send(h, &r, &ops, &g);
	loop_run(l);
	http_free(h);
	headers_free(&headers);
	network_free(&network);
	if (p->status != 0)
		return 0;
	*why = g.why;
	return -1;
}

void
probe_free(struct probe *p)
{
	free(p->peer);
	buf_free(&p->challenge);
}
