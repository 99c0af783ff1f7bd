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
step_clear(struct server *s)
{
	struct detect *d = &s->detect;

	facts_free(d->head);
	d->head = NULL;
	d->attempt = NULL;
	alarm_set(&s->alarms, ALARM_ENDPOINT, ALARM_NEVER);
}

void
server_detect_end(struct server *s)
{
	struct detect *d = &s->detect;

	server_attempt_end(s, d->attempt);
	if (d->step == TRY_STREAM && s->belief.mode != MODE_SSE)
		server_sse2024_close(s);
	step_clear(s);
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
allows(const struct server *s, enum detect_step step)
{
	const struct server_config *c = &s->config;

	if ((s->detect.tried & 1u << step) ||
	    (s->detect.announced && step != TRY_STREAM))
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
first_of(const struct server *s, const enum detect_step *steps, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (allows(s, steps[i]))
			return steps[i];
	return TRY_NONE;
}

static enum detect_step
first_step(const struct server *s)
{
	static const enum detect_step stream[] = { TRY_STREAM, TRY_INITIALIZE,
		TRY_DISCOVER };
	static const enum detect_step modern[] = { TRY_DISCOVER, TRY_INITIALIZE,
		TRY_STREAM };
	static const enum detect_step legacy[] = { TRY_INITIALIZE, TRY_STREAM,
		TRY_DISCOVER };
	const enum detect_step *steps = legacy;

	if (s->config.transport == TRANSPORT_SSE_FIRST ||
	    s->belief.last == MODE_SSE)
		steps = stream;
	else if (s->client_discover != NULL || s->belief.modern_only)
		steps = modern;
	return first_of(s, steps, 3);
}

/* After an initialize that was refused by a JSON-RPC error a modern server is
 * likelier; after one that was refused by a bare 404 or 405, HTTP+SSE is. */
static enum detect_step
next_step(const struct server *s)
{
	static const enum detect_step spoken[] = { TRY_DISCOVER, TRY_STREAM };
	static const enum detect_step bare[] = { TRY_STREAM, TRY_DISCOVER };
	const struct detect *d = &s->detect;
	enum detect_step next;

	if (s->client_discover != NULL && allows(s, TRY_DISCOVER))
		return TRY_DISCOVER;
	if (allows(s, TRY_INITIALIZE))
		return TRY_INITIALIZE;
	next = d->words != NULL || !d->other_path ? first_of(s, spoken, 2) :
						    first_of(s, bare, 2);
	if (next == TRY_STREAM && !d->other_path &&
	    (d->tried & 1u << TRY_INITIALIZE))
		return TRY_NONE;
	return next;
}

/* --- steps --- */

/* The wait is shorter if there are other steps to try: where the server spoke
 * another protocol before, or HTTP+SSE is only remembered. */
static int64_t
endpoint_wait(const struct server *s)
{
	const struct detect *d = &s->detect;
	bool soon = s->belief.last == MODE_LEGACY ||
	    (s->belief.last == MODE_SSE && d->tried == 1u << TRY_STREAM);

	return soon && !d->announced && s->config.transport != TRANSPORT_SSE ?
	    BOUND_BRIEF_MS :
	    BOUND_STEP_MS;
}

static void
begin(struct server *s, enum detect_step step)
{
	struct detect *d = &s->detect;
	struct frame *discover;

	d->step = step;
	d->tried |= 1u << step;
	switch (step) {
	case TRY_INITIALIZE:
		d->attempt = server_attempt_new(s, FOR_INITIALIZE, d->order,
		    d->order->body);
		d->attempt->out.announces = true;
		break;
	case TRY_DISCOVER:
		discover = s->client_discover != NULL ?
		    frame_ref(s->client_discover) :
		    era_discover(span_of(own_id_new(&s->ids)),
			buf_span(&s->meta));
		d->attempt = server_attempt_new_modern(s, FOR_DISCOVER,
		    d->order, discover);
		d->attempt->out.announces = true;
		frame_unref(discover);
		break;
	default:
		d->wait_ms = endpoint_wait(s);
		alarm_set(&s->alarms, ALARM_ENDPOINT, s->now + d->wait_ms);
		d->attempt = server_sse2024_open(s);
		break;
	}
}

/* --- what was found --- */

static void
found(struct server *s, enum server_mode mode)
{
	struct server_order *o = s->detect.order;

	o->changed = server_belief_found(s, mode,
	    s->detect.tried & 1u << TRY_INITIALIZE);
	o->mode = mode == MODE_SSE ? MODE_SSE : MODE_UNKNOWN;
	s->detect.attempt = NULL; /* the exchange may go on */
	server_detect_end(s);
}

static void
found_modern(struct server *s, struct frame *m)
{
	struct server_order *o = s->detect.order;
	struct buf result;

	frame_unref(s->discovered);
	s->discovered = frame_ref(m);
	if (s->detect.attempt != NULL) /* it ends by itself */
		server_attempt_let_go(s, s->detect.attempt);
	found(s, MODE_MODERN);
	buf_reset(&s->level);
	buf_init(&result, 0);
	era_initialize_result(&result, m->result,
	    json_get(s->initialize->params, "protocolVersion"), s->config.host);
	server_order_tell_answer(s, o,
	    msg_result(o->body->id, buf_str(&result)));
	buf_free(&result);
}

static void
found_legacy(struct server *s, const struct facts *f, struct frame *m)
{
	struct server_order *o = s->detect.order;

	if (s->belief.named == NULL) {
		buf_reset(&s->taken);
		buf_addspan(&s->taken, json_get(m->result, "protocolVersion"));
	}
	server_order_tell_head(s, o, f);
	found(s, MODE_LEGACY);
	server_order_tell_message(s, o, f, m);
}

/* The client began again while a former initialize was under way. An exchange
 * that may still make a session at the server goes on: the session ends it. */
static void
leave_former(struct server *s)
{
	if (s->detect.order == NULL)
		return;
	if (s->detect.step == TRY_INITIALIZE) {
		s->detect.attempt = NULL;
		server_detect_end(s);
		return;
	}
	server_order_tell_done(s, s->detect.order, &server_facts_aborted);
	server_detect_end(s);
}

void
server_detect_begin(struct server *s, struct server_order *o,
    struct frame *discovered)
{
	const char *named = server_belief_named(s, o);

	leave_former(s);
	frame_unref(s->initialize);
	s->initialize = frame_ref(o->body);
	buf_reset(&s->meta);
	era_client_meta(&s->meta, o->body->params);
	server_belief_forget(s);
	server_sse2024_leave(s);
	server_modern_leave(s);
	s->detect.order = o;
	if (named != NULL)
		ask_for(o, named);
	if (discovered != NULL) {
		/* It refuses what comes in the session of an initialize. */
		s->detect.tried = 1u << TRY_INITIALIZE;
		found_modern(s, discovered);
	} else {
		begin(s, first_step(s));
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
relay(struct server *s, const struct facts *f, struct frame *m)
{
	struct server_order *o = s->detect.order;
	struct facts cut = *f;
	struct frame *own;
	char why[48];

	if (s->detect.away != 0 && is_away(f)) {
		snprintf(why, sizeof why, "%d to the GET of its event stream",
		    s->detect.away);
		cut.status = s->detect.away;
		cut.ending = ENDING_CUT;
		cut.why = span_of(why);
		f = &cut;
		m = NULL;
	}
	if (s->detect.head != NULL || m != NULL)
		server_order_tell_head(s, o, f);
	if (m != NULL) {
		own = msg_with_id(m, o->body->id);
		server_order_tell_message(s, o, f, own);
		frame_unref(own);
	}
	server_order_tell_done(s, o, f);
}

/* Nothing is left to try. The session is told the answer to initialize, because
 * the user understands that one best. */
static void
give_up(struct server *s, const struct facts *f, struct frame *m)
{
	struct detect *d = &s->detect;
	struct kept_facts *kept = d->facts;
	struct frame *words = d->words;
	struct server_order *o = d->order;
	struct facts both;

	if (kept == NULL) {
		relay(s, f, m);
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
		found_legacy(s, &both, words);
		server_order_tell_done(s, o, &both);
	} else {
		relay(s, &both, words);
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
go_on(struct server *s, const struct facts *f, struct frame *m)
{
	struct detect *d = &s->detect;
	enum detect_step next;

	keep_refusal(d, f, m);
	server_attempt_end(s, d->attempt);
	step_clear(s);
	next = next_step(s);
	if (next != TRY_NONE) {
		begin(s, next);
		return;
	}
	if (s->config.protocol == PROTOCOL_MODERN)
		server_log(s, LEVEL_WARN,
		    "%s does not seem to speak " REVISION_MODERN
		    ": remove --protocol modern",
		    s->config.host);
	give_up(s, f, m);
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
server_detect_offer(struct server *s, const struct facts *f,
    const struct frame *m)
{
	struct server_order *o = s->detect.order;
	const char *version;

	if (s->detect.offered || (m == NULL && says_nothing(f)))
		return false;
	version = era_named_version(m != NULL ? m->error : f->body,
	    json_get(o->body->params, "protocolVersion"));
	if (version == NULL)
		return false;
	server_log(s, LEVEL_INFO,
	    "%s refused initialize and named version %s: sending it again with "
	    "that version",
	    s->config.host, version);
	ask_for(o, version);
	s->detect.offered = true;
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
judge_initialize(struct server *s, const struct facts *f, const struct frame *m)
{
	/* A legacy client cannot take a version without initialize. */
	if (m != NULL && m->kind == FRAME_RESULT)
		return names_modern(json_get(m->result, "protocolVersion")) ?
		    OTHER :
		    FOUND;
	if (server_detect_offer(s, f, m))
		return AGAIN;
	if (says_nothing(f) || (m == NULL && f->status < 400))
		return RELAYED;
	/* A server that was legacy a moment ago has other reasons. */
	if (m != NULL && s->belief.last == MODE_LEGACY && !is_modern_error(m) &&
	    msg_error_code(m) != FAULT_METHOD &&
	    msg_error_code(m) != FAULT_PARAMS)
		return RELAYED;
	return OTHER;
}

static void
decide(struct server *s, const struct facts *f, struct frame *m)
{
	struct detect *d = &s->detect;
	enum outcome outcome = d->step == TRY_DISCOVER ?
	    judge_discover(f, m) :
	    judge_initialize(s, f, m);

	if (outcome == AGAIN && !(d->again & 1u << d->step)) {
		keep_refusal(d, f, m);
		server_attempt_end(s, d->attempt);
		step_clear(s);
		d->again |= 1u << d->step;
		begin(s, d->step);
	} else if (outcome == OTHER) {
		go_on(s, f, m);
	} else if (outcome != FOUND) {
		relay(s, f, m);
	} else if (d->step == TRY_DISCOVER) {
		found_modern(s, m);
	} else {
		found_legacy(s, f, m);
	}
}

/* --- what comes of a step --- */

void
server_detect_head(struct server *s, struct server_attempt *a,
    const struct facts *f)
{
	if (s->detect.attempt != a)
		return;
	facts_free(s->detect.head);
	s->detect.head = facts_keep(f);
}

void
server_detect_message(struct server *s, struct server_attempt *a,
    const struct facts *f, struct frame *m)
{
	bool answer = m->kind == FRAME_RESULT || m->kind == FRAME_ERROR;

	if (s->detect.attempt == a && answer)
		decide(s, f, m);
	else if (a->purpose == FOR_INITIALIZE && a->order != NULL)
		server_order_tell_message(s, a->order, f, m);
}

void
server_detect_done(struct server *s, struct server_attempt *a,
    const struct facts *f)
{
	if (s->detect.attempt == a)
		decide(s, f, NULL);
	else if (a->order != NULL)
		server_order_tell_done(s, a->order, f);
}

void
server_detect_stream(struct server *s, const struct facts *f)
{
	if (s->detect.order == NULL || s->detect.step != TRY_STREAM)
		return;
	if (f != NULL && s->belief.met && s->belief.last == MODE_SSE &&
	    f->status != 405 && is_away(f))
		s->detect.away = f->status;
	if (f == NULL) {
		alarm_set(&s->alarms, ALARM_ENDPOINT, ALARM_NEVER);
		server_sse2024_send(s, s->detect.order);
	} else if (says_nothing(f)) {
		relay(s, f, NULL);
	} else {
		server_sse2024_close(s);
		go_on(s, f, NULL);
	}
}

/* No step is left that fits the endpoint event. */
static void
fail_announced(struct server *s)
{
	const char *why = "but none for a GET: check the URL.";

	if (s->config.protocol == PROTOCOL_MODERN)
		why = "but --protocol allows none: leave that out.";
	else if (s->config.transport == TRANSPORT_HTTP)
		why = "but --transport allows none: leave that out.";
	server_order_fail(s, s->detect.order, FAULT_SSE2024_BY_POST,
	    &(struct fault_args){ .why = span_of(why) });
}

/* A server of HTTP+SSE may open its stream for a POST, too, if it looks only at
 * the path. The protocol does not say what comes on such a stream, so a GET is
 * sent to get the proper one. An endpoint on another origin decides nothing. */
void
server_detect_endpoint(struct server *s, struct server_attempt *a, bool ok)
{
	struct detect *d = &s->detect;

	if (d->attempt != a || !ok)
		return;
	server_attempt_end(s, a);
	step_clear(s);
	if (!allows(s, TRY_STREAM)) {
		fail_announced(s);
		return;
	}
	d->announced = true;
	begin(s, TRY_STREAM);
}

void
server_detect_answered(struct server *s)
{
	found(s, MODE_SSE);
}

void
server_detect_tick(struct server *s)
{
	struct facts silent = server_facts_accepted;
	struct detect *d = &s->detect;
	char why[64];

	if (!alarm_is_due(&s->alarms, ALARM_ENDPOINT, s->now))
		return;
	snprintf(why, sizeof why, "no endpoint event within %lld s",
	    (long long)d->wait_ms / 1000);
	silent.verb = VERB_GET;
	silent.why = span_of(why);
	/* The server may only be slow, so TRY_STREAM stays possible. */
	if (d->wait_ms < BOUND_STEP_MS && d->tried == 1u << TRY_STREAM)
		d->tried = 0;
	server_detect_stream(s, &silent);
}

/* The wait for the endpoint stands still while the user signs in. */
void
server_detect_user(struct server *s, const struct server_attempt *a, bool waits)
{
	struct detect *d = &s->detect;

	if (a->purpose != FOR_STREAM || a->order == NULL ||
	    a->order != d->order)
		return;
	alarm_set(&s->alarms, ALARM_ENDPOINT,
	    waits ? ALARM_NEVER : s->now + d->wait_ms);
}
