/*
 * Streamable HTTP: messages go out, frames and facts come in. These are the
 * orders of the caller; exchange, request and answer carry them out.
 */
#include "config.h"

#include "proxy/transport/streamable.h"

#include <stdlib.h>

#include "base/queue.h"
#include "core/era/trace_context.h"
#include "proxy/transport/state.h"

struct streamable *
streamable_new(struct loop *l, struct http *h,
    const struct streamable_config *config, streamable_cb *event, void *arg)
{
	struct streamable *u = xcalloc(1, sizeof *u);

	u->loop = l;
	u->http = h;
	u->http_ops = &answer_ops;
	u->config = *config;
	u->event = event;
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
		u->config.keeper->ask(t->order.ticket,
		    t->order.verb == VERB_DELETE, u->config.keeper_arg);
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
	exchange_apply_pause(u);
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
