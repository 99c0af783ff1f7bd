/*
 * Takes the frames of the client: tells a modern client from a legacy one, and
 * checks that a modern request says what it has to.
 */
#include "config.h"

#include "core/modern_client/parts.h"

#include "base/codec.h"

/* --- what a modern request has to say --- */

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
	codec_visible(&message, version, MAX_WORDS);
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

static bool
is_duplicate(const struct client *c, struct span id)
{
	const struct request *r = client_find(c, id);

	return r != NULL && msg_id_again(r->frame->id, id);
}

/* Returns the error for a modern request that cannot be sent; NULL: it can. The
 * modern era has no initialize. */
static struct frame *
check(const struct client *c, const struct frame *f, struct span version)
{
	if (is_duplicate(c, f->id))
		return client_fault(c, f, FAULT_DUPLICATE);
	if (json_kind(version) != '"')
		return client_fault(c, f, FAULT_BAD_META_VERSION);
	if (!client_is_string(version, REVISION_MODERN))
		return unsupported(f, version);
	if (json_kind(era_meta(f, META_CAPABILITIES)) != '{')
		return client_fault(c, f, FAULT_BAD_META_CAPABILITIES);
	return client_is(f, "initialize") ?
	    client_fault(c, f, FAULT_INITIALIZE_IS_OLD) :
	    NULL;
}

/* --- which era the client speaks --- */

/* A legacy client sends a modern request after its initialize. The client
 * remains a legacy one. */
static void
legacy_asks(struct client *c, struct frame *f)
{
	if (c->discovered == NULL)
		client_fail(c, f, FAULT_INITIALIZED_OLD);
	else if (client_is_discover(f))
		client_write(c, client_discover_answer(c->discovered, f->id));
	else
		client_fail(c, f, FAULT_INITIALIZED_LISTENS);
}

/* A request of a modern client lacks the protocol version. */
static void
without_revision(struct client *c, const struct frame *f)
{
	if (client_is(f, "ping"))
		client_write(c, msg_result(f->id, "{}"));
	else
		client_fail(c, f, FAULT_NO_META_VERSION);
}

static void
modern_asks(struct client *c, struct frame *f, struct span version)
{
	struct frame *error = check(c, f, version);

	if (error != NULL) {
		client_write(c, error);
		return;
	}
	c->modern = true;
	if (c->opening == OPENING_SHUT)
		client_open(c, f);
	if (c->opening == OPENING_RUNS)
		client_hold(c, f);
	else
		client_request(c, f);
}

static bool
is_modern_only(const struct frame *f)
{
	return f->kind == FRAME_REQUEST &&
	    (client_is_discover(f) || client_is_listen(f)) &&
	    era_request_version(f).p != NULL;
}

bool
client_passes(const struct client *c, const struct frame *f)
{
	return c->legacy && !is_modern_only(f);
}

static void
client_asks(struct client *c, struct frame *f)
{
	struct span version = era_request_version(f);

	if (version.p != NULL)
		modern_asks(c, f, version);
	else if (client_is(f, "initialize"))
		client_become_legacy(c, f);
	else if (c->modern)
		without_revision(c, f);
	else
		client_send(c, frame_ref(f));
}

void
client_from_client(struct client *c, struct frame *f)
{
	if (c->legacy && is_modern_only(f))
		legacy_asks(c, f);
	else if (!c->legacy && f->kind == FRAME_REQUEST)
		client_asks(c, f);
	else if (!c->modern)
		client_send(c, frame_ref(f));
	else if (f->kind == FRAME_NOTIFICATION)
		client_notification(c, f);
	else
		client_log(c, LEVEL_WARN,
		    "a client of " REVISION_MODERN
		    " sent an answer that belongs in its next request: dropped");
}
