/*
 * This file finds out which era and which transport the server speaks. It uses
 * an initialize of the session and as few round trips as it can
 * (doc/protocol.md 5.2 to 5.4). It asks a legacy client's server by that
 * initialize itself, a modern client's server by server/discover, and begins
 * with what a former start remembers.
 *
 * An initialize that is refused in words that name other legacy revisions is
 * sent again, once, with the one of these that suits the client best.
 *
 * An answer that is not about the protocol (no network, 401, 403, 407, 429,
 * 3xx, 5xx) decides nothing: the session is told of it, and tries again or
 * gives up.
 */
#include "config.h"

#include "core/server/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/wire/edit.h"

/* What the end of a step says about what the step tried. */
enum outcome {
	FOUND,   /* the server speaks it */
	OTHER,   /* the server does not: on to the next step */
	AGAIN,   /* the server may: the same step again */
	RELAYED, /* nothing: the session is told of it */
};

static void
step_clear(struct server *e)
{
	struct detect *d = &e->detect;

	facts_free(d->head);
	d->head = NULL;
	d->attempt = NULL;
	alarm_set(&e->alarms, ALARM_ENDPOINT, ALARM_NEVER);
}

void
server_detect_end(struct server *e)
{
	struct detect *d = &e->detect;

	server_attempt_end(e, d->attempt);
	if (d->step == TRY_STREAM && e->belief.mode != MODE_SSE)
		server_sse2024_close(e);
	step_clear(e);
	facts_free(d->facts);
	frame_unref(d->words);
	memset(d, 0, sizeof *d);
}

/* Lets the initialize ask for this revision. */
static void
ask_for(struct server_order *o, const char *version)
{
	struct frame *before = o->body;
	struct edit edit = { .key = "protocolVersion" };
	char raw[16];

	snprintf(raw, sizeof raw, "\"%s\"", version);
	edit.value = span_of(raw);
	o->body = edit_part(before, "params", before->params, &edit, 1);
	frame_unref(before);
}

/* --- which step is next --- */

static bool
allows(const struct server *e, enum detect_step step)
{
	const struct server_config *c = &e->config;

	if ((e->detect.tried & 1u << step) ||
	    (e->detect.announced && step != TRY_STREAM))
		return false;
	if (c->protocol == PROTOCOL_MODERN)
		return step == TRY_DISCOVER;
	if (c->transport == TRANSPORT_SSE)
		return step == TRY_STREAM;
	if (step == TRY_STREAM)
		return c->transport != TRANSPORT_HTTP;
	return step != TRY_DISCOVER || c->protocol != PROTOCOL_LEGACY;
}

static enum detect_step
first_of(const struct server *e, const enum detect_step *steps, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (allows(e, steps[i]))
			return steps[i];
	return TRY_NONE;
}

static enum detect_step
first_step(const struct server *e)
{
	static const enum detect_step stream[] = { TRY_STREAM, TRY_INITIALIZE,
		TRY_DISCOVER };
	static const enum detect_step modern[] = { TRY_DISCOVER, TRY_INITIALIZE,
		TRY_STREAM };
	static const enum detect_step legacy[] = { TRY_INITIALIZE, TRY_STREAM,
		TRY_DISCOVER };
	const enum detect_step *steps = legacy;

	if (e->config.transport == TRANSPORT_SSE_FIRST ||
	    e->belief.last == MODE_SSE)
		steps = stream;
	else if (e->client_discover != NULL || e->belief.modern_only)
		steps = modern;
	return first_of(e, steps, 3);
}

/* After an initialize that was refused by a JSON-RPC error a modern server is
 * likelier; after one that was refused by a bare 404 or 405, HTTP+SSE is. */
static enum detect_step
next_step(const struct server *e)
{
	static const enum detect_step spoken[] = { TRY_DISCOVER, TRY_STREAM };
	static const enum detect_step bare[] = { TRY_STREAM, TRY_DISCOVER };
	const struct detect *d = &e->detect;
	enum detect_step next;

	if (e->client_discover != NULL && allows(e, TRY_DISCOVER))
		return TRY_DISCOVER;
	if (allows(e, TRY_INITIALIZE))
		return TRY_INITIALIZE;
	next = d->words != NULL || !d->other_path ? first_of(e, spoken, 2) :
						    first_of(e, bare, 2);
	if (next == TRY_STREAM && !d->other_path &&
	    (d->tried & 1u << TRY_INITIALIZE))
		return TRY_NONE;
	return next;
}

/* --- steps --- */

/* The wait is shorter if there are other steps to try: where the server spoke
 * another protocol before, or HTTP+SSE is only remembered. */
static int64_t
endpoint_wait(const struct server *e)
{
	const struct detect *d = &e->detect;
	bool soon = e->belief.last == MODE_LEGACY ||
	    (e->belief.last == MODE_SSE && d->tried == 1u << TRY_STREAM);

	return soon && !d->announced && e->config.transport != TRANSPORT_SSE ?
	    BOUND_ENDPOINT_SOON_MS :
	    BOUND_ENDPOINT_MS;
}

static void
begin(struct server *e, enum detect_step step)
{
	struct detect *d = &e->detect;
	struct frame *discover;

	d->step = step;
	d->tried |= 1u << step;
	switch (step) {
	case TRY_INITIALIZE:
		d->attempt = server_attempt_new(e, FOR_INITIALIZE, d->order,
		    d->order->body);
		d->attempt->out.announces = true;
		break;
	case TRY_DISCOVER:
		discover = e->client_discover != NULL ?
		    frame_ref(e->client_discover) :
		    era_discover(span_of(server_own_id(e)), buf_span(&e->meta));
		d->attempt = server_attempt_new_modern(e, FOR_DISCOVER,
		    d->order, discover);
		d->attempt->out.announces = true;
		frame_unref(discover);
		break;
	default:
		d->wait_ms = endpoint_wait(e);
		alarm_set(&e->alarms, ALARM_ENDPOINT, e->now + d->wait_ms);
		d->attempt = server_sse2024_open(e);
		break;
	}
}

/* --- what was found --- */

static void
found(struct server *e, enum server_mode mode)
{
	struct server_order *o = e->detect.order;

	o->changed = server_belief_found(e, mode,
	    e->detect.tried & 1u << TRY_INITIALIZE);
	o->mode = mode == MODE_SSE ? MODE_SSE : MODE_UNKNOWN;
	e->detect.attempt = NULL; /* the exchange may go on */
	server_detect_end(e);
}

static void
found_modern(struct server *e, struct frame *m)
{
	struct server_order *o = e->detect.order;
	struct buf result;

	frame_unref(e->discovered);
	e->discovered = frame_ref(m);
	if (e->detect.attempt != NULL) /* it ends by itself */
		server_attempt_let_go(e, e->detect.attempt);
	found(e, MODE_MODERN);
	buf_reset(&e->level);
	buf_init(&result, 0);
	era_initialize_result(&result, m->result,
	    json_get(e->initialize->params, "protocolVersion"), e->config.host);
	server_order_tell_answer(e, o,
	    msg_result(o->body->id, buf_str(&result)));
	buf_free(&result);
}

static void
found_legacy(struct server *e, const struct facts *f, struct frame *m)
{
	struct server_order *o = e->detect.order;

	if (e->belief.named == NULL) {
		buf_reset(&e->taken);
		buf_addspan(&e->taken, json_get(m->result, "protocolVersion"));
	}
	server_order_tell_head(e, o, f);
	found(e, MODE_LEGACY);
	server_order_tell_message(e, o, f, m);
}

/* The client began again while a former initialize was under way. An exchange
 * that may still make a session at the server goes on: the session ends it. */
static void
leave_former(struct server *e)
{
	if (e->detect.order == NULL)
		return;
	if (e->detect.step == TRY_INITIALIZE) {
		e->detect.attempt = NULL;
		server_detect_end(e);
		return;
	}
	server_order_tell_done(e, e->detect.order, &server_facts_aborted);
	server_detect_end(e);
}

void
server_detect_begin(struct server *e, struct server_order *o,
    struct frame *discovered)
{
	const char *named = server_belief_named(e, o);

	leave_former(e);
	frame_unref(e->initialize);
	e->initialize = frame_ref(o->body);
	buf_reset(&e->meta);
	era_client_meta(&e->meta, o->body->params);
	server_belief_forget(e);
	server_sse2024_leave(e);
	server_modern_leave(e);
	e->detect.order = o;
	if (named != NULL)
		ask_for(o, named);
	if (discovered != NULL) {
		/* It refuses what comes in the session of an initialize. */
		e->detect.tried = 1u << TRY_INITIALIZE;
		found_modern(e, discovered);
	} else {
		begin(e, first_step(e));
	}
}

/* Does a gateway whose server is away answer like this? One that serves files
 * has 405 for POSTs. */
static bool
is_away(const struct facts *f)
{
	return f->ending == ENDING_COMPLETE &&
	    (f->status == 404 || f->status == 405 || f->status >= 500);
}

/* Tells the session how the step ended. That a server of HTTP+SSE is only away
 * is told as a cut, so that the session tries again. */
static void
relay(struct server *e, const struct facts *f, struct frame *m)
{
	struct server_order *o = e->detect.order;
	struct facts cut = *f;
	struct frame *own;
	char why[48];

	if (e->detect.away != 0 && is_away(f)) {
		snprintf(why, sizeof why, "%d to the GET of its event stream",
		    e->detect.away);
		cut.status = e->detect.away;
		cut.ending = ENDING_CUT;
		cut.why = span_of(why);
		f = &cut;
		m = NULL;
	}
	if (e->detect.head != NULL || m != NULL)
		server_order_tell_head(e, o, f);
	if (m != NULL) {
		own = msg_with_id(m, o->body->id);
		server_order_tell_message(e, o, f, own);
		frame_unref(own);
	}
	server_order_tell_done(e, o, f);
}

/* Nothing is left to try. The session is told the answer to initialize, because
 * the user understands that one best. */
static void
give_up(struct server *e, const struct facts *f, struct frame *m)
{
	struct detect *d = &e->detect;
	struct kept_facts *kept = d->facts;
	struct frame *words = d->words;
	struct server_order *o = d->order;
	struct facts both;

	if (kept == NULL) {
		relay(e, f, m);
		return;
	}
	d->facts = NULL;
	d->words = NULL;
	both = kept->facts;
	if (d->foreign) {
		/* This is the server's transport, and what is wrong with it. */
		frame_unref(words);
		words = NULL;
		both.why = span_of("its stream of HTTP+SSE names an endpoint "
				   "on another origin (http for https?)");
	}
	if (words == NULL && both.why.n == 0 && (d->tried & 1u << TRY_STREAM) &&
	    (d->tried & 1u << TRY_DISCOVER))
		both.why = span_of("no event stream of HTTP+SSE there either, "
				   "and server/discover is not known");
	else if (words == NULL && both.why.n == 0 &&
	    (d->tried & 1u << TRY_STREAM))
		both.why = span_of("no event stream of HTTP+SSE there either");
	if (words != NULL && words->kind == FRAME_RESULT) {
		found_legacy(e, &both, words);
		server_order_tell_done(e, o, &both);
	} else {
		relay(e, &both, words);
	}
	facts_free(kept);
	frame_unref(words);
}

/* Only a modern server uses these codes. */
static bool
is_modern_error(const struct frame *m)
{
	long code = m == NULL ? 0 : msg_error_code(m);

	return code <= ERROR_HEADER_MISMATCH &&
	    code >= ERROR_UNSUPPORTED_VERSION;
}

/* Keeps the first refusal of initialize. */
static void
keep_refusal(struct detect *d, const struct facts *f, struct frame *m)
{
	if (d->step != TRY_INITIALIZE || d->facts != NULL)
		return;
	d->other_path = (f->status == 400 || f->status == 404 ||
			    f->status == 405) &&
	    !is_modern_error(m);
	d->facts = facts_keep(f);
	if (m != NULL)
		d->words = frame_ref(m);
}

static void
go_on(struct server *e, const struct facts *f, struct frame *m)
{
	struct detect *d = &e->detect;
	enum detect_step next;

	keep_refusal(d, f, m);
	server_attempt_end(e, d->attempt);
	step_clear(e);
	next = next_step(e);
	if (next == TRY_NONE)
		give_up(e, f, m);
	else
		begin(e, next);
}

/* --- what a step's end means --- */

/* Answers about credentials, overload and redirects, and those of gateways, are
 * not about the protocol. */
static bool
says_nothing(const struct facts *f)
{
	return f->ending != ENDING_COMPLETE || f->too_large || f->status == 0 ||
	    f->status == 401 || f->status == 403 || f->status == 407 ||
	    f->status == 408 || f->status == 429 || f->status >= 500 ||
	    (f->status >= 300 && f->status < 400);
}

/* A web page with 2xx is the sign-in page of a network. With 404 it may be the
 * page of a framework, which does count. */
static bool
is_page(const struct facts *f)
{
	return f->media == MEDIA_HTML && f->status < 300;
}

bool
server_detect_offer(struct server *e, const struct facts *f,
    const struct frame *m)
{
	struct server_order *o = e->detect.order;
	const char *version;

	if (e->detect.offered || (m == NULL && says_nothing(f)))
		return false;
	version = era_named_version(m != NULL ? m->error : f->body,
	    json_get(o->body->params, "protocolVersion"));
	if (version == NULL)
		return false;
	server_log(e, LEVEL_INFO,
	    "%s refuses initialize and names the revision %s: it is sent again "
	    "with that one",
	    e->config.host, version);
	ask_for(o, version);
	e->detect.offered = true;
	return true;
}

static bool
names_modern(struct span version)
{
	struct buf text;
	bool modern;

	buf_init(&text, 0);
	modern = json_string(version, &text) == 0 &&
	    text.n == strlen(REVISION_MODERN) && text.p[4] == '-' &&
	    strcmp(buf_str(&text), REVISION_MODERN) >= 0;
	buf_free(&text);
	return modern;
}

/* Judges the list of versions that comes with -32022. If it names
 * REVISION_MODERN, the refusal was a slip. If it names only other modern
 * versions, mcpsplice cannot speak to the server. If it names legacy versions
 * or none, the server is a legacy one. */
static enum outcome
judge_versions(const struct frame *m)
{
	struct span list = json_get(json_get(m->error, "data"), "supported");
	struct span key, value;
	enum outcome outcome = OTHER;
	size_t at = 0;

	while (json_next(list, &at, &key, &value)) {
		if (span_is(value, "\"" REVISION_MODERN "\""))
			return AGAIN;
		if (names_modern(value))
			outcome = RELAYED;
	}
	return outcome;
}

static enum outcome
judge_discover(const struct facts *f, const struct frame *m)
{
	bool modern = false;

	if (m == NULL)
		return says_nothing(f) || is_page(f) ? RELAYED : OTHER;
	if (m->kind == FRAME_RESULT)
		return era_discovered(m->result, &modern) && modern ? FOUND :
								      OTHER;
	switch (msg_error_code(m)) {
	case ERROR_HEADER_MISMATCH:
	case ERROR_MISSING_CAPABILITY:
		return RELAYED;
	case ERROR_UNSUPPORTED_VERSION:
		return judge_versions(m);
	default:
		return says_nothing(f) ? RELAYED : OTHER;
	}
}

static enum outcome
judge_initialize(struct server *e, const struct facts *f, const struct frame *m)
{
	/* A legacy client cannot take a version without initialize. */
	if (m != NULL && m->kind == FRAME_RESULT)
		return names_modern(json_get(m->result, "protocolVersion")) ?
		    OTHER :
		    FOUND;
	if (server_detect_offer(e, f, m))
		return AGAIN;
	if (says_nothing(f) || (m == NULL && f->status < 400))
		return RELAYED;
	/* A server that was legacy a moment ago has other reasons. */
	if (m != NULL && e->belief.last == MODE_LEGACY && !is_modern_error(m) &&
	    msg_error_code(m) != FAULT_METHOD &&
	    msg_error_code(m) != FAULT_PARAMS)
		return RELAYED;
	return OTHER;
}

static void
decide(struct server *e, const struct facts *f, struct frame *m)
{
	struct detect *d = &e->detect;
	enum outcome outcome = d->step == TRY_DISCOVER ?
	    judge_discover(f, m) :
	    judge_initialize(e, f, m);

	if (outcome == AGAIN && !(d->again & 1u << d->step)) {
		keep_refusal(d, f, m);
		server_attempt_end(e, d->attempt);
		step_clear(e);
		d->again |= 1u << d->step;
		begin(e, d->step);
	} else if (outcome == OTHER) {
		go_on(e, f, m);
	} else if (outcome != FOUND) {
		relay(e, f, m);
	} else if (d->step == TRY_DISCOVER) {
		found_modern(e, m);
	} else {
		found_legacy(e, f, m);
	}
}

/* --- what comes of a step --- */

void
server_detect_head(struct server *e, struct server_attempt *i,
    const struct facts *f)
{
	if (e->detect.attempt != i)
		return;
	facts_free(e->detect.head);
	e->detect.head = facts_keep(f);
}

void
server_detect_message(struct server *e, struct server_attempt *i,
    const struct facts *f, struct frame *m)
{
	bool answer = m->kind == FRAME_RESULT || m->kind == FRAME_ERROR;

	if (e->detect.attempt == i && answer)
		decide(e, f, m);
	else if (i->purpose == FOR_INITIALIZE && i->order != NULL)
		server_order_tell_message(e, i->order, f, m);
}

void
server_detect_done(struct server *e, struct server_attempt *i,
    const struct facts *f)
{
	if (e->detect.attempt == i)
		decide(e, f, NULL);
	else if (i->order != NULL)
		server_order_tell_done(e, i->order, f);
}

void
server_detect_stream(struct server *e, const struct facts *f)
{
	if (e->detect.order == NULL || e->detect.step != TRY_STREAM)
		return;
	if (f != NULL && e->belief.met && e->belief.last == MODE_SSE &&
	    f->status != 405 && is_away(f))
		e->detect.away = f->status;
	if (f == NULL) {
		alarm_set(&e->alarms, ALARM_ENDPOINT, ALARM_NEVER);
		server_sse2024_send(e, e->detect.order);
	} else if (says_nothing(f)) {
		relay(e, f, NULL);
	} else {
		server_sse2024_close(e);
		go_on(e, f, NULL);
	}
}

/* No step is left that fits the endpoint event. */
static void
fail_announced(struct server *e)
{
	const char *why = "but none for a GET: check the URL.";

	if (e->config.protocol == PROTOCOL_MODERN)
		why = "but --protocol allows none: leave that out.";
	else if (e->config.transport == TRANSPORT_HTTP)
		why = "but --transport allows none: leave that out.";
	server_order_fail(e, e->detect.order, FAULT_SSE2024_BY_POST,
	    &(struct fault_args){ .why = span_of(why) });
}

/* A server of HTTP+SSE may open its stream for a POST, too, if it looks only at
 * the path. The protocol does not say what comes on such a stream, so a GET is
 * sent to get the proper one. An endpoint on another origin decides nothing. */
void
server_detect_endpoint(struct server *e, struct server_attempt *i, bool ok)
{
	struct detect *d = &e->detect;

	if (d->attempt != i || !ok)
		return;
	server_attempt_end(e, i);
	step_clear(e);
	if (!allows(e, TRY_STREAM)) {
		fail_announced(e);
		return;
	}
	d->announced = true;
	begin(e, TRY_STREAM);
}

void
server_detect_answered(struct server *e)
{
	found(e, MODE_SSE);
}

void
server_detect_tick(struct server *e)
{
	struct facts silent = server_facts_accepted;
	struct detect *d = &e->detect;
	char why[64];

	if (!alarm_is_due(&e->alarms, ALARM_ENDPOINT, e->now))
		return;
	snprintf(why, sizeof why, "no endpoint event within %lld s",
	    (long long)d->wait_ms / 1000);
	silent.verb = VERB_GET;
	silent.why = span_of(why);
	/* The server may only be slow, so TRY_STREAM stays possible. */
	if (d->wait_ms < BOUND_ENDPOINT_MS && d->tried == 1u << TRY_STREAM)
		d->tried = 0;
	server_detect_stream(e, &silent);
}

/* The wait for the endpoint stands still while the user signs in. */
void
server_detect_user(struct server *e, const struct server_attempt *i, bool waits)
{
	struct detect *d = &e->detect;

	if (i->purpose != FOR_STREAM || i->order == NULL ||
	    i->order != d->order)
		return;
	alarm_set(&e->alarms, ALARM_ENDPOINT,
	    waits ? ALARM_NEVER : e->now + d->wait_ms);
}
