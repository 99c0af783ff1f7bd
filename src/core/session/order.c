/* An attempt becomes the order of an exchange, with its verb, its headers and a
 * word for its purpose; session_next gives it to the caller. */
#include "config.h"

#include "core/session/parts.h"

#include "core/era/mirror.h"

/* Only a request of the client may open a browser; background work must
 * not. */
static bool
is_for_client(const struct session *s, const struct attempt *a)
{
	const struct call *c;

	if (a->kind != ATTEMPT_OPEN || a->call != NULL)
		return a->call != NULL;
	for (c = s->calls.first; c != NULL; c = c->next)
		if (c->state == CALL_HELD || c->state == CALL_REFUSED)
			return true;
	return false;
}

/* Says in a word what the attempt is for. */
static const char *
purpose(const struct session *s, const struct attempt *a)
{
	static const char *const names[] = {
		[ATTEMPT_CALL] = "call",
		[ATTEMPT_OPEN] = "open",
		[ATTEMPT_READY] = "initialized",
		[ATTEMPT_ONE_WAY] = "one-way",
		[ATTEMPT_LISTEN] = "listen",
		[ATTEMPT_PING] = "ping",
		[ATTEMPT_WITNESS] = "witness",
		[ATTEMPT_DOOR] = "witness",
		[ATTEMPT_STRANGER] = "witness",
		[ATTEMPT_MIRROR] = "headers",
		[ATTEMPT_LIST] = "list",
		[ATTEMPT_RESTORE] = "restore",
		[ATTEMPT_DELETE] = "delete",
	};
	const struct call *c = a->call;

	if (a->kind == ATTEMPT_OPEN &&
	    (a->unasked || s->phase == PHASE_RENEWING))
		return "renewal";
	if (a->kind != ATTEMPT_CALL)
		return names[a->kind];
	if (a->last_event_id.n > 0)
		return "resume";
	if (c != NULL && c->replayed == a->generation->number)
		return "replay";
	if (c != NULL && c->repeated)
		return "repeat";
	return a->tries > 0 || (c != NULL && c->flaps > 0) ? "again" : "call";
}

static void
fill_order(struct session *s, struct order *out, const struct attempt *a)
{
	struct mirrored *k = &s->mirrored;

	out->ticket = a->ticket;
	out->body = a->body;
	out->interactive = is_for_client(s, a);
	if (a->kind == ATTEMPT_DELETE)
		out->verb = VERB_DELETE;
	else if (a->kind == ATTEMPT_LISTEN || a->last_event_id.n > 0)
		out->verb = VERB_GET;
	else
		out->verb = VERB_POST;
	out->last_event_id = buf_span(&a->last_event_id);
	out->listen = a->kind == ATTEMPT_LISTEN;
	out->control = a->kind != ATTEMPT_CALL && a->kind != ATTEMPT_LISTEN;
	out->fresh = a->fresh;
	out->why = purpose(s, a);
	out->generation = a->generation->number;
	if (k->wanted && out->verb == VERB_POST &&
	    (a->kind == ATTEMPT_CALL || a->kind == ATTEMPT_MIRROR ||
		a->kind == ATTEMPT_LIST)) {
		headers_free(&k->headers);
		mirror_headers(k->mirror, a->body, false, &k->headers);
		out->mirrored = &k->headers;
	}
	if (a->kind == ATTEMPT_OPEN) {
		out->discovered = k->discovered;
		return;
	}
	out->wary = session_flaps(s);
	out->session = span_of(a->generation->session);
	out->version = span_of(a->generation->version);
}

bool
session_next(struct session *s, struct event *out)
{
	struct order *order = &s->events.order;
	struct attempt *a;

	while (events_next(&s->events, out)) {
		if (out->kind != ACTION_SEND)
			return true;
		/* The same step may have dropped this attempt again: then there
		 * is nothing to send. */
		a = calls_attempt_find(&s->calls, out->ticket);
		if (a == NULL)
			continue;
		*order = (struct order){ 0 };
		fill_order(s, order, a);
		out->order = order;
		out->related = a->call != NULL ? a->call->frame : NULL;
		return true;
	}
	return false;
}
