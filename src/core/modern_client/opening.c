/*
 * Opens the session for a modern client, which does not send initialize:
 * client_open makes one from the first request of the client, and client_hold
 * keeps what the client asks until the session has opened. (doc/protocol.md
 * 5.3, 7.3)
 */
#include "config.h"

#include "core/modern_client/parts.h"

#include <stdlib.h>

#include "core/wire/edit.h"

void
client_hold(struct client *c, struct frame *f)
{
	bool probe = client_is_discover(f);

	if ((probe && c->probes.n >= BOUND_FEW) || client_is_full(c, f)) {
		client_fail(c, f, FAULT_HELD_FULL);
		return;
	}
	if (probe)
		client_add(c, f, &c->probes)->at = c->now + BOUND_DISCOVER_MS;
	else
		client_add(c, f, &c->held);
}

/* Appends the members of _meta that say who sends the request f. */
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
probe(struct client *c, struct frame *f)
{
	struct buf who;

	if (client_is_discover(f)) {
		client_probe(c, frame_ref(f));
		return;
	}
	buf_init(&who, 0);
	add_who(&who, f);
	client_probe(c,
	    era_discover(span_of(own_id_new(&c->ids)), buf_span(&who)));
	buf_free(&who);
}

/* Returns the kinds of questions that these capabilities allow, as bits. */
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
client_open(struct client *c, struct frame *f)
{
	struct span capabilities = era_meta(f, META_CAPABILITIES);
	struct request *r;

	probe(c, f);
	c->opening = OPENING_RUNS;
	c->declared = allowed(capabilities);
	c->level = -1; /* of the session before, if any */
	r = client_add(c, NULL, &c->running);
	r->kind = REQUEST_OPEN;
	client_send_as(c, r,
	    era_initialize(span_of(own_id_new(&c->ids)),
		era_meta(f, META_CLIENT), capabilities, c->config.version));
}

/* The new bits must include the old ones. Otherwise two kinds of requests could
 * replace the session in turn for ever. */
bool
client_outgrown(const struct client *c, const struct frame *f)
{
	unsigned bits = allowed(era_meta(f, META_CAPABILITIES));

	return c->discovered == NULL && (bits | c->declared) == bits &&
	    bits != c->declared &&
	    c->waiting.n + c->asking.n + c->collecting.n + c->parked.n +
		c->running.n ==
	    c->n_listens;
}

void
client_learn(struct client *c, struct frame *answer)
{
	struct span capabilities = json_get(answer->result, "capabilities");

	frame_unref(c->initialized);
	c->initialized = frame_ref(answer);
	buf_reset(&c->server_info);
	era_server_info(&c->server_info, answer->result);
	if (c->server_info.n > BOUND_NOTE_BYTES)
		buf_reset(&c->server_info); /* it goes into each result */
	c->logs = json_kind(json_get(capabilities, "logging")) == '{';
}

/* --- server/discover --- */

/* Returns the list of those of the versions that mcpsplice speaks too; NULL: it
 * speaks all of them. */
static const char *
reduce(struct span versions)
{
	struct span key, v;
	bool ours = false, others = false;
	size_t at = 0;

	if (json_kind(versions) != '[')
		return NULL;
	while (json_next(versions, &at, &key, &v))
		if (client_is_string(v, REVISION_MODERN))
			ours = true;
		else
			others = true;
	return !others ? NULL : ours ? "[\"" REVISION_MODERN "\"]" : "[]";
}

struct frame *
client_discover_answer(struct frame *discovered, struct span id)
{
	struct frame *named = msg_with_id(discovered, id), *made;
	struct edit edit = { "supportedVersions", no_span };

	edit.value = span_of(reduce(json_get(named->result, edit.key)));
	if (edit.value.p == NULL)
		return named;
	made = edit_part(named, "result", named->result, &edit, 1);
	frame_unref(named);
	return made;
}
