/*
 * The core/server reducer: inputs are routed to the part that knows the
 * server's era, what they do becomes a queue of actions. Exchanges have two
 * ends: order, what the session ordered, and attempt, what goes to the server.
 * Both live in lists; what is over is freed at the end of a step, so that a
 * walk may end any of them.
 */
#include "config.h"

#include "core/server/state.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"

static const uint64_t OURS = (uint64_t)1 << 63;

struct server *
server_new(const struct server_config *config)
{
	struct server *e = xcalloc(1, sizeof *e);

	e->config = *config;
	e->deadline = e->detect.deadline = -1;
	if (config->remembered)
		e->last = config->was_modern ? MODE_MODERN :
		    config->was_sse          ? MODE_SSE :
					       MODE_LEGACY;
	e->modern_only = e->last == MODE_MODERN;
	buf_init(&e->meta, 0);
	buf_init(&e->level, 0);
	e->mirror = mirror_new();
	return e;
}

/* --- facts --- */

const struct facts server_facts_ok = {
	.verb = VERB_POST,
	.status = 200,
	.media = MEDIA_JSON,
	.ending = ENDING_COMPLETE,
	.sent = true,
	.retry_after_ms = -1,
	.retry_ms = -1,
};

const struct facts server_facts_accepted = {
	.verb = VERB_POST,
	.status = 202,
	.ending = ENDING_COMPLETE,
	.sent = true,
	.retry_after_ms = -1,
	.retry_ms = -1,
};

const struct facts server_facts_stream = {
	.verb = VERB_POST,
	.status = 200,
	.media = MEDIA_SSE,
	.ending = ENDING_COMPLETE,
	.sent = true,
	.retry_after_ms = -1,
	.retry_ms = -1,
};

struct facts
server_facts_gone(bool ran)
{
	struct facts f = server_facts_accepted;

	f.status = ran ? 0 : 404;
	f.ending = ran ? ENDING_CUT : ENDING_COMPLETE;
	f.session_ended = true;
	return f;
}

struct kept_facts *
server_facts_keep(const struct facts *f)
{
	struct kept_facts *k = xcalloc(1, sizeof *k);
	struct span *const spans[] = { &k->facts.session, &k->facts.body,
		&k->facts.last_event_id, &k->facts.location, &k->facts.why,
		&k->facts.challenge };
	size_t i, at = 0;

	k->facts = *f;
	buf_init(&k->bytes, 0);
	for (i = 0; i < sizeof spans / sizeof *spans; i++)
		buf_addspan(&k->bytes, *spans[i]);
	for (i = 0; i < sizeof spans / sizeof *spans; i++) {
		if (spans[i]->n > 0)
			spans[i]->p = k->bytes.p + at;
		at += spans[i]->n;
	}
	return k;
}

void
server_facts_free(struct kept_facts *k)
{
	if (k == NULL)
		return;
	buf_free(&k->bytes);
	free(k);
}

/* --- actions --- */

static void
action_clear(struct server_queued *a)
{
	server_facts_free(a->facts);
	frame_unref(a->frame);
	free(a->text);
	memset(a, 0, sizeof *a);
}

static struct server_queued *
action_add(struct server *e, enum server_action_kind kind, uint64_t ticket)
{
	struct server_queued *a;

	if (e->next_action == e->n_actions)
		e->next_action = e->n_actions = 0;
	if (e->n_actions == e->cap_actions) {
		e->cap_actions = e->cap_actions * 2 + 16;
		e->actions = xrealloc(e->actions,
		    e->cap_actions * sizeof *e->actions);
	}
	a = &e->actions[e->n_actions++];
	memset(a, 0, sizeof *a);
	a->kind = kind;
	a->ticket = ticket;
	return a;
}

void
server_log(struct server *e, enum log_level level, const char *fmt, ...)
{
	struct server_queued *a = action_add(e, SERVER_NOTE, 0);
	va_list ap;

	a->level = level;
	va_start(ap, fmt);
	a->text = xvasprintf(fmt, ap);
	va_end(ap);
}

void
server_found(struct server *e)
{
	struct server_queued *a = action_add(e, SERVER_FOUND, 0);

	a->modern = e->modern_only;
	a->sse = e->mode == MODE_SSE;
	a->dual = e->mode == MODE_MODERN && !e->modern_only;
}

static void
fill_order(struct order *order, const struct server_attempt *i)
{
	order->ticket = i->ticket;
	order->verb = i->verb;
	order->body = i->body;
	order->version = span_of(i->version);
	order->mirrored = i->mirrored.n > 0 ? &i->mirrored : NULL;
	order->endpoint = i->endpoint;
	order->announces = i->announces;
	order->listen = i->listen;
	order->control = i->control;
	order->interactive = i->interactive;
}

static struct server_attempt *
attempt_find(const struct server *e, uint64_t ticket)
{
	struct server_attempt *i;

	for (i = e->attempts; i != NULL; i = i->next)
		if (i->ticket == ticket && !i->dropped)
			return i;
	return NULL;
}

bool
server_next(struct server *e, struct server_action *out)
{
	struct server_queued *a = &e->current;
	struct server_attempt *i;

	for (;;) {
		action_clear(a);
		if (e->next_action == e->n_actions)
			return false;
		*a = e->actions[e->next_action++];
		memset(out, 0, sizeof *out);
		out->kind = a->kind;
		out->ticket = a->ticket;
		out->facts = a->facts != NULL ? &a->facts->facts : NULL;
		out->frame = a->frame;
		out->text = span_of(a->text);
		out->note = a->text;
		out->level = a->level;
		out->modern = a->modern;
		out->sse = a->sse;
		out->dual = a->dual;
		if (a->kind != SERVER_ORDER)
			return true;
		/* Ended again within the same step: nothing to send. */
		i = attempt_find(e, a->ticket);
		if (i == NULL)
			continue;
		i->ordered = true;
		fill_order(&out->order, i);
		return true;
	}
}

void
server_due(struct server *e, int64_t at)
{
	if (at >= 0 && (e->deadline < 0 || at < e->deadline))
		e->deadline = at;
}

int64_t
server_deadline(const struct server *e)
{
	return e->deadline;
}

/* --- the server's end --- */

char *
server_own_id(struct server *e)
{
	return xasprintf("\"%s-s%llu\"", e->config.prefix,
	    (unsigned long long)++e->ids);
}

struct server_attempt *
server_attempt(struct server *e, enum purpose purpose, struct server_order *o,
    struct frame *body)
{
	struct server_attempt *i = xcalloc(1, sizeof *i);

	i->ticket = OURS | ++e->next_ticket;
	i->purpose = purpose;
	i->order = o;
	i->verb = body != NULL ? VERB_POST : VERB_GET;
	if (body != NULL)
		i->body = frame_ref(body);
	headers_init(&i->mirrored);
	if (o != NULL) {
		i->interactive = o->interactive;
		i->control = o->control;
	}
	i->next = e->attempts;
	e->attempts = i;
	action_add(e, SERVER_ORDER, i->ticket);
	return i;
}

struct server_attempt *
server_attempt_modern(struct server *e, enum purpose purpose,
    struct server_order *o, struct frame *body)
{
	struct server_attempt *i = server_attempt(e, purpose, o, body);

	i->version = xstrdup(REVISION_MODERN);
	mirror_headers(e->mirror, body, &i->mirrored);
	return i;
}

void
server_attempt_end(struct server *e, struct server_attempt *i)
{
	if (i == NULL || i->dropped)
		return;
	i->dropped = true;
	i->order = NULL;
	if (i->ordered)
		action_add(e, SERVER_DROP, i->ticket);
}

struct server_attempt *
server_attempt_of(const struct server *e, enum purpose purpose,
    const struct server_order *o)
{
	struct server_attempt *i;

	for (i = e->attempts; i != NULL; i = i->next)
		if (!i->dropped && i->purpose == purpose && i->order == o)
			return i;
	return NULL;
}

static void
attempt_free(struct server_attempt *i)
{
	frame_unref(i->body);
	free(i->version);
	headers_free(&i->mirrored);
	free(i);
}

/* --- the session's end --- */

struct server_order *
server_order_find(const struct server *e, uint64_t ticket)
{
	struct server_order *o;

	for (o = e->orders; o != NULL; o = o->next)
		if (o->ticket == ticket && !o->dropped)
			return o;
	return NULL;
}

struct server_order *
server_order_asking(const struct server *e, struct span id,
    enum server_mode mode)
{
	struct server_order *o, *alike = NULL;

	for (o = e->orders; o != NULL; o = o->next) {
		if (o->dropped || o->orphan || o->body == NULL ||
		    o->body->kind != FRAME_REQUEST ||
		    (o->mode != mode && o != e->detect.order))
			continue;
		if (span_eq(o->body->id, id))
			return o;
		if (alike == NULL && msg_id_same(o->body->id, id))
			alike = o;
	}
	return alike;
}

static struct server_order *
order_new(struct server *e, const struct order *order)
{
	struct server_order *o = xcalloc(1, sizeof *o);

	o->ticket = order->ticket;
	o->verb = order->verb;
	if (order->verb == VERB_POST)
		o->body = frame_ref(order->body);
	if (order->version.n > 0)
		o->version = xstrndup(order->version.p, order->version.n);
	o->listen = order->listen;
	o->control = order->control;
	o->interactive = order->interactive;
	o->mode = e->mode;
	o->next = e->orders;
	e->orders = o;
	return o;
}

static void
order_free(struct server_order *o)
{
	frame_unref(o->body);
	frame_unref(o->sent);
	free(o->version);
	free(o);
}

/* Nothing more goes to the session for it. */
static void
order_drop(struct server *e, struct server_order *o)
{
	struct server_attempt *i;

	o->dropped = true;
	if (e->detect.order == o)
		server_detect_end(e);
	if (o->mode == MODE_MODERN)
		server_inputs_end(e, o, false);
	for (i = e->attempts; i != NULL; i = i->next)
		if (i->order == o)
			server_attempt_end(e, i);
}

void
server_tell_head(struct server *e, struct server_order *o,
    const struct facts *f)
{
	action_add(e, SERVER_TELL_HEAD, o->ticket)
	    ->facts = server_facts_keep(f);
}

void
server_tell_message(struct server *e, struct server_order *o,
    const struct facts *f, struct frame *m)
{
	struct server_queued *a = action_add(e, SERVER_TELL_MESSAGE, o->ticket);

	a->facts = server_facts_keep(f);
	a->facts->facts.changed = o->changed;
	/* A modern server's refusals are no words about a session. */
	if (o->mode == MODE_MODERN && m->kind == FRAME_ERROR &&
	    (f->status == 400 || f->status == 404))
		a->facts->facts.status = 200;
	a->frame = frame_ref(m);
	if (m->kind == FRAME_RESULT || m->kind == FRAME_ERROR)
		o->answered = true;
}

void
server_tell_done(struct server *e, struct server_order *o,
    const struct facts *f)
{
	action_add(e, SERVER_TELL_DONE, o->ticket)
	    ->facts = server_facts_keep(f);
	order_drop(e, o);
}

void
server_tell_answer(struct server *e, struct server_order *o, struct frame *m)
{
	server_tell_head(e, o, &server_facts_ok);
	server_tell_message(e, o, &server_facts_ok, m);
	frame_unref(m);
	server_tell_done(e, o, &server_facts_ok);
}

void
server_tell_gone(struct server *e, struct server_order *o, bool ran)
{
	struct facts f = server_facts_gone(ran);

	f.verb = o->verb;
	server_tell_done(e, o, &f);
}

/* --- the way down --- */

static bool
is_initialize(const struct order *order)
{
	return order->body != NULL && order->body->kind == FRAME_REQUEST &&
	    json_key_is(order->body->method, "initialize");
}

bool
server_passes(const struct server *e, const struct order *order)
{
	return order->session.n > 0 ||
	    (e->mode == MODE_LEGACY && !is_initialize(order));
}

bool
server_has(const struct server *e, uint64_t ticket)
{
	return server_order_find(e, ticket) != NULL;
}

void
server_client(struct server *e, struct frame *discover)
{
	frame_unref(e->client_discover);
	e->client_discover = discover == NULL ? NULL : frame_ref(discover);
}

/* Without a server that is known: only where an initialize failed and the
 * session tidies up, or a client of no session speaks. */
static void
send_unknown(struct server *e, struct server_order *o)
{
	server_tell_gone(e, o, false);
}

static void
send(struct server *e, const struct order *order)
{
	struct server_order *o = order_new(e, order);

	if (is_initialize(order)) {
		o->mode = MODE_UNKNOWN;
		server_detect(e, o);
		return;
	}
	switch (e->mode) {
	case MODE_SSE:
		server_sse_send(e, o);
		break;
	case MODE_MODERN:
		server_modern_send(e, o);
		break;
	default:
		send_unknown(e, o);
		break;
	}
}

static void
abort_order(struct server *e, uint64_t ticket)
{
	struct server_order *o = server_order_find(e, ticket);
	struct facts f = server_facts_accepted;

	if (o == NULL)
		return;
	f.status = 0;
	f.ending = ENDING_ABORTED;
	f.verb = o->verb;
	if (o->mode == MODE_SSE)
		server_sse_abort(e, o);
	else if (o->mode == MODE_MODERN)
		server_modern_abort(e, o);
	server_tell_done(e, o, &f);
}

/* --- the way up --- */

static void
take_head(struct server *e, struct server_attempt *i, const struct facts *f)
{
	switch (i->purpose) {
	case FOR_INITIALIZE:
	case FOR_DISCOVER:
		server_detect_head(e, i, f);
		break;
	case FOR_STREAM:
	case FOR_POST:
		break; /* they say nothing */
	case FOR_CALL:
	case FOR_TOOLS:
		server_modern_head(e, i, f);
		break;
	case FOR_LISTEN:
		server_listen_head(e, i, f);
		break;
	}
}

static void
take_message(struct server *e, struct server_attempt *i, const struct facts *f,
    struct frame *m)
{
	switch (i->purpose) {
	case FOR_INITIALIZE:
	case FOR_DISCOVER:
		server_detect_message(e, i, f, m);
		break;
	case FOR_STREAM:
	case FOR_POST:
		server_sse_message(e, i, f, m);
		break;
	case FOR_CALL:
	case FOR_TOOLS:
		server_modern_message(e, i, f, m);
		break;
	case FOR_LISTEN:
		server_listen_message(e, i, f, m);
		break;
	}
}

static void
take_done(struct server *e, struct server_attempt *i, const struct facts *f)
{
	i->dropped = true;
	switch (i->purpose) {
	case FOR_INITIALIZE:
	case FOR_DISCOVER:
		server_detect_done(e, i, f);
		break;
	case FOR_STREAM:
	case FOR_POST:
		server_sse_done(e, i, f);
		break;
	case FOR_CALL:
	case FOR_TOOLS:
		server_modern_done(e, i, f);
		break;
	case FOR_LISTEN:
		server_listen_done(e, i, f);
		break;
	}
}

/* A person is asked to sign in before this exchange goes on. */
static void
take_sign_in(struct server *e, struct server_attempt *i, struct span text)
{
	struct server_queued *a;

	if (i->order == NULL)
		return;
	server_detect_user(e, i, text.n > 0);
	a = action_add(e, SERVER_TELL_SIGN_IN, i->order->ticket);
	if (text.n > 0)
		a->text = xstrndup(text.p, text.n);
}

static void
take(struct server *e, const struct server_input *in)
{
	struct server_attempt *i = attempt_find(e, in->ticket);

	if (i == NULL)
		return; /* stale: it was given up */
	if (in->kind == SERVER_HEAD)
		take_head(e, i, in->facts);
	else if (in->kind == SERVER_MESSAGE)
		take_message(e, i, in->facts, in->frame);
	else if (in->kind == SERVER_ENDPOINT)
		server_sse_endpoint(e, i, in->ok);
	else if (in->kind == SERVER_SIGN_IN)
		take_sign_in(e, i, in->text);
	else
		take_done(e, i, in->facts);
}

/* --- steps --- */

static void
tick(struct server *e)
{
	server_detect_tick(e);
	server_sse_tick(e);
	server_modern_tick(e);
	server_listen_tick(e);
	e->deadline = -1;
	server_due(e, server_detect_due(e));
	server_due(e, server_sse_due(e));
	server_due(e, server_modern_due(e));
	server_due(e, server_listen_due(e));
}

static void
end_of_client(struct server *e)
{
	struct server_order *o;

	e->ended = true;
	for (o = e->orders; o != NULL; o = o->next)
		if (!o->dropped && o->inputs != NULL)
			server_inputs_eof(e, o);
}

static void
reap(struct server *e)
{
	struct server_order **o = &e->orders, *old_order;
	struct server_attempt **i = &e->attempts, *old_attempt;

	while ((old_attempt = *i) != NULL) {
		if (!old_attempt->dropped) {
			i = &old_attempt->next;
			continue;
		}
		*i = old_attempt->next;
		attempt_free(old_attempt);
	}
	while ((old_order = *o) != NULL) {
		if (!old_order->dropped) {
			o = &old_order->next;
			continue;
		}
		*o = old_order->next;
		order_free(old_order);
	}
}

void
server_step(struct server *e, const struct server_input *in)
{
	e->now = in->now;
	e->random = in->random;
	switch (in->kind) {
	case SERVER_SEND:
		send(e, in->order);
		break;
	case SERVER_ABORT:
		abort_order(e, in->ticket);
		break;
	case SERVER_EOF:
		end_of_client(e);
		break;
	case SERVER_TICK:
		tick(e);
		break;
	default:
		take(e, in);
		break;
	}
	reap(e);
}

/* --- looking in, and the end --- */

struct frame *
server_discovered(const struct server *e)
{
	return e->mode == MODE_MODERN ? e->discovered : NULL;
}

bool
server_shares_stream(const struct server *e)
{
	return e->mode == MODE_SSE;
}

void
server_describe(const struct server *e, struct buf *out)
{
	static const char *const modes[] = { "not known yet",
		"legacy, Streamable HTTP", "legacy, HTTP+SSE (2024-11-05)",
		"modern (" REVISION_MODERN ")" };
	const struct server_order *o;
	const struct server_attempt *i;
	size_t orders = 0, attempts = 0;

	for (o = e->orders; o != NULL; o = o->next)
		orders++;
	for (i = e->attempts; i != NULL; i = i->next)
		attempts++;
	buf_addf(out, "server: %s", modes[e->mode]);
	if (orders > 0)
		buf_addf(out, "; %zu exchanges translated, as %zu", orders,
		    attempts);
	buf_addc(out, '\n');
}

void
server_free(struct server *e)
{
	struct server_order *o;
	struct server_attempt *i;

	if (e == NULL)
		return;
	server_detect_end(e);
	server_sse_close(e);
	server_modern_leave(e);
	for (o = e->orders; o != NULL; o = o->next)
		if (!o->dropped)
			order_drop(e, o);
	for (i = e->attempts; i != NULL; i = i->next)
		i->dropped = true;
	reap(e);
	action_clear(&e->current);
	while (e->next_action < e->n_actions)
		action_clear(&e->actions[e->next_action++]);
	free(e->actions);
	frame_unref(e->client_discover);
	frame_unref(e->initialize);
	frame_unref(e->discovered);
	buf_free(&e->meta);
	buf_free(&e->level);
	mirror_free(e->mirror);
	free(e);
}
