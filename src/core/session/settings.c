/*
 * The settings of the client; see settings.h. Subscriptions are a list in the
 * client's order, which is searched from the start because it is short. A
 * request is kept as a frame, not copied.
 */
#include "config.h"

#include "core/session/settings.h"

#include <stdlib.h>

#include "core/wire/json.h"
#include "core/wire/msg.h"

enum { REQUEST_BYTES = 64 * 1024 }; /* a larger request is not kept */

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
	bool fits = request->text.n <= REQUEST_BYTES;

	r->level = fits ? frame_ref(request) : NULL;
	frame_unref(before); /* the request may be this very frame */
	return fits;
}

/* Finds the subscription to this URI, and the one before it (NULL for the
 * first). Returns NULL if there is no such subscription; *before is the last
 * one then. */
static struct subscription *
find(const struct settings *r, struct span uri, struct subscription **before)
{
	struct subscription *s;

	*before = NULL;
	for (s = r->list; s != NULL; s = s->next) {
		/* msg_id_same compares any two JSON strings. */
		if (msg_id_same(uri_of(s->request), uri))
			return s;
		*before = s;
	}
	return NULL;
}

static bool
subscribe(struct settings *r, struct frame *request)
{
	struct span uri = uri_of(request);
	struct subscription *s, *before;

	if (json_kind(uri) != '"' || find(r, uri, &before) != NULL)
		return true;
	if (r->n == SETTINGS_SUBSCRIPTIONS || request->text.n > REQUEST_BYTES)
		return false;
	s = xcalloc(1, sizeof *s);
	s->request = frame_ref(request);
	if (before != NULL)
		before->next = s;
	else
		r->list = s;
	r->last = s;
	r->n++;
	return true;
}

static void
drop(struct settings *r, struct subscription *s, struct subscription *before)
{
	if (before != NULL)
		before->next = s->next;
	else
		r->list = s->next;
	if (r->last == s)
		r->last = before;
	r->n--;
	frame_unref(s->request);
	free(s);
}

static void
unsubscribe(struct settings *r, const struct frame *request)
{
	struct subscription *s, *before;

	s = find(r, uri_of(request), &before);
	if (s != NULL)
		drop(r, s, before);
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
		drop(r, r->list, NULL);
	frame_unref(r->level);
	r->level = NULL;
}
