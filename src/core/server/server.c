/*
 * The server_era reducer: inputs are routed to the part that knows the
 * server's era, what they do becomes a queue of actions. Exchanges have two
 * ends: outer, what the session ordered, and inner, what goes to the server.
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

struct server_era *
server_era_new(const struct server_era_config *config)
{
	struct server_era *e = xcalloc(1, sizeof *e);

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
	f.gone = true;
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
action_clear(struct server_action *a)
{
	server_facts_free(a->facts);
	frame_unref(a->frame);
	free(a->text);
	memset(a, 0, sizeof *a);
}

static struct server_action *
action_add(struct server_era *e, enum server_era_action_kind kind,
    uint64_t ticket)
{
	struct server_action *a;

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
server_note(struct server_era *e, enum log_level level, const char *fmt, ...)
{
	struct server_action *a = action_add(e, SERVER_ERA_NOTE, 0);
	va_list ap;

	a->level = level;
	va_start(ap, fmt);
	a->text = xvasprintf(fmt, ap);
	va_end(ap);
}

void
server_found(struct server_era *e)
{
	struct server_action *a = action_add(e, SERVER_ERA_FOUND, 0);

	a->modern = e->modern_only;
	a->sse = e->mode == MODE_SSE;
	a->dual = e->mode == MODE_MODERN && !e->modern_only;
}

static void
fill_order(struct order *order, const struct inner *i)
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
	order->person = i->person;
}

static struct inner *
inner_find(const struct server_era *e, uint64_t ticket)
{
	struct inner *i;

	for (i = e->inners; i != NULL; i = i->next)
		if (i->ticket == ticket && !i->dropped)
			return i;
	return NULL;
}

bool
server_era_next(struct server_era *e, struct server_era_action *out)
{
	struct server_action *a = &e->current;
	struct inner *i;

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
		if (a->kind != SERVER_ERA_ORDER)
			return true;
		/* Ended again within the same step: nothing to send. */
		i = inner_find(e, a->ticket);
		if (i == NULL)
			continue;
		i->ordered = true;
		fill_order(&out->order, i);
		return true;
	}
}

void
server_due(struct server_era *e, int64_t at)
{
	if (at >= 0 && (e->deadline < 0 || at < e->deadline))
		e->deadline = at;
}

int64_t
server_era_deadline(const struct server_era *e)
{
	return e->deadline;
}

/* --- the server's end --- */

char *
server_own_id(struct server_era *e)
{
	return xasprintf("\"%s-s%llu\"", e->config.prefix,
	    (unsigned long long)++e->ids);
}

struct inner *
server_inner(struct server_era *e, enum purpose purpose, struct outer *o,
    struct frame *body)
{
	struct inner *i = xcalloc(1, sizeof *i);

	i->ticket = OURS | ++e->next_ticket;
	i->purpose = purpose;
	i->outer = o;
	i->verb = body != NULL ? VERB_POST : VERB_GET;
	if (body != NULL)
		i->body = frame_ref(body);
	headers_init(&i->mirrored);
	if (o != NULL) {
		i->person = o->person;
		i->control = o->control;
	}
	i->next = e->inners;
	e->inners = i;
	action_add(e, SERVER_ERA_ORDER, i->ticket);
	return i;
}

struct inner *
server_inner_modern(struct server_era *e, enum purpose purpose, struct outer *o,
    struct frame *body)
{
	struct inner *i = server_inner(e, purpose, o, body);

	i->version = xstrdup(REVISION_MODERN);
	mirror_headers(e->mirror, body, &i->mirrored);
	return i;
}

void
server_inner_end(struct server_era *e, struct inner *i)
{
	if (i == NULL || i->dropped)
		return;
	i->dropped = true;
	i->outer = NULL;
	if (i->ordered)
		action_add(e, SERVER_ERA_DROP, i->ticket);
}

struct inner *
server_inner_of(const struct server_era *e, enum purpose purpose,
    const struct outer *o)
{
	struct inner *i;

	for (i = e->inners; i != NULL; i = i->next)
		if (!i->dropped && i->purpose == purpose && i->outer == o)
			return i;
	return NULL;
}

static void
inner_free(struct inner *i)
{
	frame_unref(i->body);
	free(i->version);
	headers_free(&i->mirrored);
	free(i);
}

/* --- the session's end --- */

struct outer *
server_outer_find(const struct server_era *e, uint64_t ticket)
{
	struct outer *o;

	for (o = e->outers; o != NULL; o = o->next)
		if (o->ticket == ticket && !o->dropped)
			return o;
	return NULL;
}

struct outer *
server_outer_asking(const struct server_era *e, struct span id,
    enum server_mode mode)
{
	struct outer *o, *alike = NULL;

	for (o = e->outers; o != NULL; o = o->next) {
		if (o->dropped || o->orphan || o->body == NULL ||
		    o->body->kind != FRAME_REQUEST ||
		    (o->mode != mode && o != e->detect.outer))
			continue;
		if (span_eq(o->body->id, id))
			return o;
		if (alike == NULL && msg_id_same(o->body->id, id))
			alike = o;
	}
	return alike;
}

static struct outer *
outer_new(struct server_era *e, const struct order *order)
{
	struct outer *o = xcalloc(1, sizeof *o);

	o->ticket = order->ticket;
	o->verb = order->verb;
	if (order->verb == VERB_POST)
		o->body = frame_ref(order->body);
	if (order->version.n > 0)
		o->version = xstrndup(order->version.p, order->version.n);
	o->listen = order->listen;
	o->control = order->control;
	o->person = order->person;
	o->mode = e->mode;
	o->next = e->outers;
	e->outers = o;
	return o;
}

static void
outer_free(struct outer *o)
{
	frame_unref(o->body);
	frame_unref(o->sent);
	free(o->version);
	free(o);
}

/* Nothing more goes to the session for it. */
static void
outer_drop(struct server_era *e, struct outer *o)
{
	struct inner *i;

	o->dropped = true;
	if (e->detect.outer == o)
		server_detect_end(e);
	if (o->mode == MODE_MODERN)
		server_inputs_end(e, o, false);
	for (i = e->inners; i != NULL; i = i->next)
		if (i->outer == o)
			server_inner_end(e, i);
}

void
server_tell_head(struct server_era *e, struct outer *o, const struct facts *f)
{
	action_add(e, SERVER_ERA_TELL_HEAD, o->ticket)
	    ->facts = server_facts_keep(f);
}

void
server_tell_message(struct server_era *e, struct outer *o,
    const struct facts *f, struct frame *m)
{
	struct server_action *a = action_add(e, SERVER_ERA_TELL_MESSAGE,
	    o->ticket);

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
server_tell_done(struct server_era *e, struct outer *o, const struct facts *f)
{
	action_add(e, SERVER_ERA_TELL_DONE, o->ticket)
	    ->facts = server_facts_keep(f);
	outer_drop(e, o);
}

void
server_tell_answer(struct server_era *e, struct outer *o, struct frame *m)
{
	server_tell_head(e, o, &server_facts_ok);
	server_tell_message(e, o, &server_facts_ok, m);
	frame_unref(m);
	server_tell_done(e, o, &server_facts_ok);
}

void
server_tell_gone(struct server_era *e, struct outer *o, bool ran)
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
server_era_passes(const struct server_era *e, const struct order *order)
{
	return order->session.n > 0 ||
	    (e->mode == MODE_LEGACY && !is_initialize(order));
}

bool
server_era_has(const struct server_era *e, uint64_t ticket)
{
	return server_outer_find(e, ticket) != NULL;
}

void
server_era_client(struct server_era *e, struct frame *discover)
{
	frame_unref(e->client_discover);
	e->client_discover = discover == NULL ? NULL : frame_ref(discover);
}

/* Without a server that is known: only where an initialize failed and the
 * session tidies up, or a client of no session speaks. */
static void
send_unknown(struct server_era *e, struct outer *o)
{
	server_tell_gone(e, o, false);
}

static void
send(struct server_era *e, const struct order *order)
{
	struct outer *o = outer_new(e, order);

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
abort_outer(struct server_era *e, uint64_t ticket)
{
	struct outer *o = server_outer_find(e, ticket);
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
take_head(struct server_era *e, struct inner *i, const struct facts *f)
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
take_message(struct server_era *e, struct inner *i, const struct facts *f,
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
take_done(struct server_era *e, struct inner *i, const struct facts *f)
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
take_sign_in(struct server_era *e, struct inner *i, struct span text)
{
	struct server_action *a;

	if (i->outer == NULL)
		return;
	server_detect_person(e, i, text.n > 0);
	a = action_add(e, SERVER_ERA_TELL_SIGN_IN, i->outer->ticket);
	if (text.n > 0)
		a->text = xstrndup(text.p, text.n);
}

static void
take(struct server_era *e, const struct server_era_input *in)
{
	struct inner *i = inner_find(e, in->ticket);

	if (i == NULL)
		return; /* stale: it was given up */
	if (in->kind == SERVER_ERA_HEAD)
		take_head(e, i, in->facts);
	else if (in->kind == SERVER_ERA_MESSAGE)
		take_message(e, i, in->facts, in->frame);
	else if (in->kind == SERVER_ERA_ENDPOINT)
		server_sse_endpoint(e, i, in->ok);
	else if (in->kind == SERVER_ERA_SIGN_IN)
		take_sign_in(e, i, in->text);
	else
		take_done(e, i, in->facts);
}

/* --- steps --- */

static void
tick(struct server_era *e)
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
end_of_client(struct server_era *e)
{
	struct outer *o;

	e->ended = true;
	for (o = e->outers; o != NULL; o = o->next)
		if (!o->dropped && o->inputs != NULL)
			server_inputs_eof(e, o);
}

static void
bury(struct server_era *e)
{
	struct outer **o = &e->outers, *old_outer;
	struct inner **i = &e->inners, *old_inner;

	while ((old_inner = *i) != NULL) {
		if (!old_inner->dropped) {
			i = &old_inner->next;
			continue;
		}
		*i = old_inner->next;
		inner_free(old_inner);
	}
	while ((old_outer = *o) != NULL) {
		if (!old_outer->dropped) {
			o = &old_outer->next;
			continue;
		}
		*o = old_outer->next;
		outer_free(old_outer);
	}
}

void
server_era_step(struct server_era *e, const struct server_era_input *in)
{
	e->now = in->now;
	e->random = in->random;
	switch (in->kind) {
	case SERVER_ERA_SEND:
		send(e, in->order);
		break;
	case SERVER_ERA_ABORT:
		abort_outer(e, in->ticket);
		break;
	case SERVER_ERA_EOF:
		end_of_client(e);
		break;
	case SERVER_ERA_TICK:
		tick(e);
		break;
	default:
		take(e, in);
		break;
	}
	bury(e);
}

/* --- looking in, and the end --- */

struct frame *
server_era_discovered(const struct server_era *e)
{
	return e->mode == MODE_MODERN ? e->discovered : NULL;
}

bool
server_era_shares_stream(const struct server_era *e)
{
	return e->mode == MODE_SSE;
}

void
server_era_describe(const struct server_era *e, struct buf *out)
{
	static const char *const modes[] = { "not known yet",
		"legacy, Streamable HTTP", "legacy, HTTP+SSE (2024-11-05)",
		"modern (" REVISION_MODERN ")" };
	const struct outer *o;
	const struct inner *i;
	size_t outers = 0, inners = 0;

	for (o = e->outers; o != NULL; o = o->next)
		outers++;
	for (i = e->inners; i != NULL; i = i->next)
		inners++;
	buf_addf(out, "server: %s", modes[e->mode]);
	if (outers > 0)
		buf_addf(out, "; %zu exchanges translated, as %zu", outers,
		    inners);
	buf_addc(out, '\n');
}

void
server_era_free(struct server_era *e)
{
	struct outer *o;
	struct inner *i;

	if (e == NULL)
		return;
	server_detect_end(e);
	server_sse_close(e);
	server_modern_leave(e);
	for (o = e->outers; o != NULL; o = o->next)
		if (!o->dropped)
			outer_drop(e, o);
	for (i = e->inners; i != NULL; i = i->next)
		i->dropped = true;
	bury(e);
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
