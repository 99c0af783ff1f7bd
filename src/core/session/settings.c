/*
 * The settings of the client. Subscriptions are a list in the client's order,
 * which is searched from the start because it is short. A request is kept as a
 * frame, not copied.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

static struct span
uri_of(const struct frame *request)
{
	return json_get(request->params, "uri");
}

/* Keeps the request. A level that is too large to keep leaves no level, because
 * the client does not want the one before any more. */
static bool
learn_level(struct settings *r, struct frame *request)
{
	struct frame *before = r->level;
	bool fits = request->text.n <= BOUND_TEXT_BYTES;

	r->level = fits ? frame_ref(request) : NULL;
	frame_unref(before); /* the request may be this very frame */
	return fits;
}

/* Returns the place in the list of the subscription to this URI, or the end of
 * the list. */
static struct subscribed **
find(struct settings *r, struct span uri)
{
	struct subscribed **at = &r->list;

	/* msg_id_same compares any two JSON strings. */
	while (*at != NULL && !msg_id_same(uri_of((*at)->request), uri))
		at = &(*at)->next;
	return at;
}

static bool
subscribe(struct settings *r, struct frame *request)
{
	struct span uri = uri_of(request);
	struct subscribed **at = find(r, uri);

	if (json_kind(uri) != '"' || *at != NULL)
		return true;
	if (r->n == BOUND_LISTED || request->text.n > BOUND_TEXT_BYTES)
		return false;
	*at = xcalloc(1, sizeof **at);
	(*at)->request = frame_ref(request);
	r->n++;
	return true;
}

/* Drops the subscription at this place of the list. */
static void
drop(struct settings *r, struct subscribed **at)
{
	struct subscribed *s = *at;

	*at = s->next;
	r->n--;
	frame_unref(s->request);
	free(s);
}

static void
unsubscribe(struct settings *r, const struct frame *request)
{
	struct subscribed **at = find(r, uri_of(request));

	if (*at != NULL)
		drop(r, at);
}

bool
settings_learn(struct settings *r, struct frame *request)
{
	/* json_key_is decodes: some clients write "\/" for a slash. */
	if (json_key_is(request->method, "logging/setLevel"))
		return learn_level(r, request);
	if (json_key_is(request->method, "resources/subscribe"))
		return subscribe(r, request);
	if (json_key_is(request->method, "resources/unsubscribe"))
		unsubscribe(r, request);
	return true;
}

void
settings_forget(struct settings *r, const struct frame *request)
{
	if (json_key_is(request->method, "resources/subscribe")) {
		unsubscribe(r, request);
		return;
	}
	frame_unref(r->level);
	r->level = NULL;
}

void
settings_clear(struct settings *r)
{
	while (r->list != NULL)
		drop(r, &r->list);
	frame_unref(r->level);
	r->level = NULL;
}
