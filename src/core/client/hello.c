/*
 * Who the client is, and the opening for a modern one: it knows no initialize,
 * so one is made from its first request, and what it asks meanwhile is held
 * back. (protocol.md 2.3, 8.B)
 */
#include "config.h"

#include "core/client/state.h"

#include <stdlib.h>

#include "base/codec.h"
#include "core/client/act.h"
#include "core/client/table.h"
#include "core/exchange/fault.h"
#include "core/wire/edit.h"
#include "core/wire/msg.h"

enum { WORDS_MAX = 64 };

static const struct span no_span = { NULL, 0 };

/* --- what a modern request must say --- */

static struct frame *
unsupported(const struct frame *f, struct span version)
{
	struct buf message, data;
	struct frame *error;

	buf_init(&message, 0);
	buf_init(&data, 0);
	buf_adds(&message,
	    "mcpsplice speaks " REVISION_MODERN
	    " and, after \"initialize\", the versions before it, not ");
	codec_visible(&message, version, WORDS_MAX);
	buf_adds(&message, ". Not sent.");
	buf_adds(&data,
	    "{\"supported\":[\"" REVISION_MODERN "\"],\"requested\":");
	buf_addspan(&data, version);
	buf_addc(&data, '}');
	error = msg_error(f->id, ERROR_UNSUPPORTED_VERSION, buf_str(&message),
	    buf_span(&data));
	buf_free(&message);
	buf_free(&data);
	return error;
}

/* The error for a request without what each must have, or NULL. */
static struct frame *
check_meta(const struct frame *f, struct span version)
{
	struct fault fault = { .code = FAULT_PARAMS };

	if (json_kind(version) != '"')
		return fault_frame(f->id, &fault,
		    "params._meta[\"" META_PREFIX "protocolVersion\"] is no "
		    "string. Not sent.");
	if (!json_key_is((struct span){ version.p + 1, version.n - 2 },
		REVISION_MODERN))
		return unsupported(f, version);
	if (json_kind(era_meta(f, META_CAPABILITIES)) != '{')
		return fault_frame(f->id, &fault,
		    "params._meta[\"" META_PREFIX "clientCapabilities\"] is "
		    "missing, or no object. Not sent.");
	return NULL;
}

static bool
is_duplicate(const struct client *e, struct span id)
{
	const struct request *r = client_find(e, BY_ID, id);

	return r != NULL && msg_id_again(r->frame->id, id);
}

/* The modern era has no initialize. */
static struct frame *
no_initialize(const struct frame *f)
{
	struct fault fault = { .code = FAULT_METHOD };

	return fault_frame(f->id, &fault,
	    "\"initialize\" is not a method of " REVISION_MODERN
	    ". Not sent: leave _meta out to begin a session of an older "
	    "version.");
}

/* --- holding --- */

void
client_hold(struct client *e, struct frame *f)
{
	bool probe = client_is(f, "server/discover");

	if ((probe && e->probes.n >= MAX_PROBES) || client_is_full(e, f)) {
		client_busy(e, f);
		return;
	}
	if (probe)
		client_add(e, f, &e->probes)->at = e->now + PROBE_MS;
	else
		client_add(e, f, &e->held);
}

/* Each that waits gets this answer, under its own id. */
static void
answer_all(struct client *e, struct queue *q, struct frame *answer)
{
	while (q->first != NULL) {
		client_write(e, msg_with_id(answer, q->first->frame->id));
		client_drop(e, q->first);
	}
}

/* --- opening --- */

/* The members of _meta by which a request says who asks. */
static void
add_who(struct buf *out, const struct frame *f)
{
	static const char *const keys[] = { META_REVISION, META_CLIENT,
		META_CAPABILITIES };
	struct span value;
	size_t i;

	for (i = 0; i < sizeof keys / sizeof *keys; i++) {
		value = era_meta(f, keys[i]);
		if (value.p == NULL)
			continue;
		buf_addf(out, "%s\"%s\":", out->n > 0 ? "," : "", keys[i]);
		buf_addspan(out, value);
	}
}

static void
probe(struct client *e, struct frame *f)
{
	struct buf who;
	char *id;

	if (client_is(f, "server/discover")) {
		client_probe(e, frame_ref(f));
		return;
	}
	buf_init(&who, 0);
	add_who(&who, f);
	id = client_id(e);
	client_probe(e, era_discover(span_of(id), buf_span(&who)));
	free(id);
	buf_free(&who);
}

/* Which questions these capabilities allow, as bits. */
static unsigned
allowed(struct span capabilities)
{
	static const struct {
		const char *method, *params;
	} questions[] = { { "sampling/createMessage", "{}" },
		{ "elicitation/create", "{\"mode\":\"form\"}" },
		{ "elicitation/create", "{\"mode\":\"url\"}" },
		{ "roots/list", "{}" } };
	unsigned bits = 0;
	size_t i;

	for (i = 0; i < sizeof questions / sizeof *questions; i++)
		if (era_declares(capabilities, span_of(questions[i].method),
			span_of(questions[i].params)))
			bits |= 1u << i;
	return bits;
}

void
client_open(struct client *e, struct frame *f)
{
	struct span capabilities = era_meta(f, META_CAPABILITIES);
	struct request *r;
	char *id;

	probe(e, f);
	e->opening = OPENING_RUNS;
	e->declared = allowed(capabilities);
	e->level = -1; /* of the session before, if any */
	id = client_id(e);
	r = client_add(e, NULL, &e->running);
	r->kind = REQUEST_OPEN;
	client_go(e, r,
	    era_initialize(span_of(id), era_meta(f, META_CLIENT), capabilities,
		e->config.version));
	free(id);
}

/* Only ever more, so that two kinds of requests do not take turns. */
bool
client_outgrown(const struct client *e, const struct frame *f)
{
	unsigned bits = allowed(era_meta(f, META_CAPABILITIES));

	return e->discovered == NULL && (bits | e->declared) == bits &&
	    bits != e->declared &&
	    e->waiting.n + e->asking.n + e->collecting.n + e->parked.n +
		e->running.n ==
	    e->n_listens;
}

static void
flush(struct client *e)
{
	while (e->probes.first != NULL)
		client_dispatch(e, e->probes.first);
	while (e->opening == OPENING_DONE && e->held.first != NULL)
		client_dispatch(e, e->held.first);
}

void
client_learn(struct client *e, struct frame *answer)
{
	struct span capabilities = json_get(answer->result, "capabilities");

	frame_unref(e->initialized);
	e->initialized = frame_ref(answer);
	buf_reset(&e->server_info);
	era_server_info(&e->server_info, answer->result);
	if (e->server_info.n > MAX_SERVER_INFO)
		buf_reset(&e->server_info); /* it goes into each result */
	e->logs = json_kind(json_get(capabilities, "logging")) == '{';
}

void
client_opened(struct client *e, struct request *r, struct frame *answer)
{
	client_drop(e, r);
	if (answer->kind != FRAME_RESULT) {
		e->opening = OPENING_SHUT;
		answer_all(e, &e->probes, answer);
		answer_all(e, &e->held, answer);
		return;
	}
	e->opening = OPENING_DONE;
	client_learn(e, answer);
	client_log(e, LEVEL_INFO,
	    e->discovered != NULL ?
		"%s speaks " REVISION_MODERN " like its client" :
		"%s speaks an older protocol than its client: translated",
	    e->config.host);
	client_send(e, msg_call(no_span, "notifications/initialized", no_span));
	flush(e);
}

/* --- server/discover --- */

/* Appends the versions that we speak, too. Returns whether that is less. */
static bool
reduce(struct buf *out, struct span versions)
{
	struct span key, v;
	bool ours = false, others = false;
	size_t at = 0;

	if (json_kind(versions) != '[')
		return false;
	while (json_next(versions, &at, &key, &v))
		if (json_kind(v) == '"' &&
		    json_key_is((struct span){ v.p + 1, v.n - 2 },
			REVISION_MODERN))
			ours = true;
		else
			others = true;
	buf_adds(out, ours ? "[\"" REVISION_MODERN "\"]" : "[]");
	return others;
}

struct frame *
client_reduced(struct frame *discovered, struct span id)
{
	struct frame *named = msg_with_id(discovered, id), *made;
	struct buf versions, result;
	struct edit edit = { "supportedVersions", no_span };

	buf_init(&versions, 0);
	if (!reduce(&versions, json_get(named->result, edit.key))) {
		buf_free(&versions);
		return named;
	}
	buf_init(&result, 0);
	edit.value = buf_span(&versions);
	edit_object(&result, named->result, &edit, 1);
	edit = (struct edit){ "result", buf_span(&result) };
	made = edit_frame(named, &edit, 1);
	buf_free(&versions);
	buf_free(&result);
	frame_unref(named);
	return made;
}

static struct frame *
too_slow(const struct client *e, const struct frame *f)
{
	struct fault fault = { .reason = "upstream_timeout" };

	return fault_frame(f->id, &fault,
	    "%s did not answer within 4 s, so it is not known yet what it "
	    "speaks. mcpsplice goes on trying: ask again, or send "
	    "\"initialize\".",
	    e->config.host);
}

/* Clients give up on a probe after 5 s. */
void
client_probes_tick(struct client *e)
{
	struct request *r;

	while ((r = e->probes.first) != NULL && r->at <= e->now) {
		if (r->sent != NULL)
			client_cancel(e, r, "too late");
		client_write(e,
		    e->discovered != NULL ?
			client_reduced(e->discovered, r->frame->id) :
			too_slow(e, r->frame));
		client_drop(e, r);
	}
}

/* --- who it is --- */

static void
begun_again(struct client *e, struct queue *q)
{
	struct fault fault = { .reason = "session_lost" };

	while (q->first != NULL) {
		if (q->first->sent == NULL)
			client_write(e,
			    fault_frame(q->first->frame->id, &fault,
				"The client began a new session before %s "
				"answered. The call did not run.",
				e->config.host));
		client_drop(e, q->first);
	}
}

/* What the session has of these it ends itself at the initialize to come:
 * what is native under the client's ids, what is of our making through us. */
static void
leave_to_session(struct client *e, struct queue *q)
{
	struct request *r, *next;

	for (r = q->first; r != NULL; r = next) {
		next = r->next;
		client_set_level(e, r, -1);
		if (!r->known[BY_WIRE] ||
		    (r->sent == r->frame && q != &e->parked)) {
			client_drop(e, r);
			continue;
		}
		client_turn(e, r,
		    r->frame != NULL && q != &e->parked ? REQUEST_BRIDGED :
							  REQUEST_STRAY);
		if (q != &e->running)
			client_move(e, r, &e->running);
	}
}

static void
end_modern(struct client *e)
{
	begun_again(e, &e->probes);
	begun_again(e, &e->held);
	begun_again(e, &e->waiting);
	client_listens_lost(e);
	client_listen_free(e);
	leave_to_session(e, &e->running);
	leave_to_session(e, &e->asking);
	leave_to_session(e, &e->collecting);
	leave_to_session(e, &e->parked);
	e->setting = NULL;
	e->level_at = -1;
	e->opening = OPENING_SHUT;
	client_log(e, LEVEL_INFO, "the client falls back to \"initialize\"");
}

static void
become_legacy(struct client *e, struct frame *f)
{
	if (e->modern)
		end_modern(e);
	e->modern = false;
	e->legacy = true;
	client_probe(e, NULL);
	client_send(e, frame_ref(f));
}

/* It initialized, and probes again: that changes nothing for it. */
static void
legacy_asks(struct client *e, struct frame *f)
{
	struct fault fault = { .code = FAULT_METHOD };

	if (e->discovered == NULL)
		client_write(e,
		    fault_frame(f->id, &fault,
			"This client initialized, and %s speaks no "
			"" REVISION_MODERN ". Not sent: go on in the "
			"session.",
			e->config.host));
	else if (client_is(f, "server/discover"))
		client_write(e, client_reduced(e->discovered, f->id));
	else
		client_write(e,
		    fault_frame(f->id, &fault,
			"This client initialized: it listens in its session. "
			"Not sent."));
}

/* Of a modern client, but it does not say so. */
static void
without_key(struct client *e, const struct frame *f)
{
	struct fault fault = { .code = FAULT_PARAMS };

	if (client_is(f, "ping"))
		client_write(e, msg_result(f->id, "{}"));
	else
		client_write(e,
		    fault_frame(f->id, &fault,
			"params._meta[\"" META_PREFIX "protocolVersion\"] is "
			"missing, and there was no \"initialize\". Not "
			"sent."));
}

static void
modern_asks(struct client *e, struct frame *f, struct span version)
{
	struct frame *error;

	if (is_duplicate(e, f->id))
		error = fault_duplicate(f->id);
	else
		error = check_meta(f, version);
	if (error == NULL && client_is(f, "initialize"))
		error = no_initialize(f);
	if (error != NULL) {
		client_write(e, error);
		return;
	}
	e->modern = true;
	if (e->opening == OPENING_SHUT)
		client_open(e, f);
	if (e->opening == OPENING_RUNS)
		client_hold(e, f);
	else
		client_request(e, f);
}

static bool
is_modern_only(const struct frame *f)
{
	return f->kind == FRAME_REQUEST &&
	    (client_is(f, "server/discover") ||
		client_is(f, "subscriptions/listen")) &&
	    era_request_version(f).p != NULL;
}

bool
client_passes(const struct client *e, const struct frame *f)
{
	return e->legacy && !is_modern_only(f);
}

static void
client_asks(struct client *e, struct frame *f)
{
	struct span version = era_request_version(f);

	if (version.p != NULL)
		modern_asks(e, f, version);
	else if (client_is(f, "initialize"))
		become_legacy(e, f);
	else if (e->modern)
		without_key(e, f);
	else
		client_send(e, frame_ref(f));
}

void
client_client(struct client *e, struct frame *f)
{
	if (e->legacy && is_modern_only(f))
		legacy_asks(e, f);
	else if (!e->legacy && f->kind == FRAME_REQUEST)
		client_asks(e, f);
	else if (!e->modern)
		client_send(e, frame_ref(f));
	else if (f->kind == FRAME_NOTIFICATION)
		client_notification(e, f);
	else
		client_log(e, LEVEL_WARN,
		    "an answer of a client that speaks " REVISION_MODERN
		    ": there it answers in its next request; dropped");
}
