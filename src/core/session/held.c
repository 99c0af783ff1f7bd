/*
 * Frames that are held back: requests and notifications of the client until the
 * gate is open, messages of the server until initialize is answered.
 */
#include "config.h"

#include "core/session/held.h"

#include <stdlib.h>

#include "core/session/act.h"
#include "core/wire/json.h"

/* The bytes of memory that a frame takes while it is held back. */
static size_t
bare_size(const struct frame *f)
{
	return frame_size(f) + sizeof(struct held) + MEM_OVERHEAD;
}

/* The same with the call, if the frame has one. */
static size_t
held_size(const struct frame *f, bool is_call)
{
	size_t size = bare_size(f);

	return is_call ? size + sizeof(struct call) + MEM_OVERHEAD : size;
}

bool
session_is_full(const struct session *s, const struct frame *f, bool is_call)
{
	return s->held.bytes + held_size(f, is_call) > s->config.max_held;
}

void
session_hold(struct session *s, struct frame *f, struct call *c)
{
	struct held *h = xcalloc(1, sizeof *h);

	h->frame = frame_ref(f);
	h->call = c;
	if (s->held.last != NULL)
		s->held.last->next = h;
	else
		s->held.first = h;
	s->held.last = h;
	s->held.bytes += held_size(f, c != NULL);
	session_want_read(s);
}

void
session_release(struct session *s, struct held *prev)
{
	struct held *h = prev == NULL ? s->held.first : prev->next;

	if (prev == NULL)
		s->held.first = h->next;
	else
		prev->next = h->next;
	if (s->held.last == h)
		s->held.last = prev;
	s->held.bytes -= held_size(h->frame, h->call != NULL);
	frame_unref(h->frame);
	free(h);
}

void
session_unhold(struct session *s, struct call *c)
{
	struct held *h, *prev = NULL;

	if (c->state != CALL_HELD)
		return;
	for (h = s->held.first; h != NULL; prev = h, h = h->next)
		if (h->call == c) {
			session_release(s, prev);
			return;
		}
}

void
session_keep_ready(struct session *s)
{
	struct held *h, *prev = NULL;

	for (h = s->held.first; h != NULL; prev = h, h = h->next)
		if (h->call == NULL &&
		    json_key_is(h->frame->method,
			"notifications/initialized")) {
			s->handshake.ready = frame_ref(h->frame);
			session_release(s, prev);
			return;
		}
}

void
session_drop_one_way(struct session *s)
{
	struct held *h, *prev = NULL, *next;

	for (h = s->held.first; h != NULL; h = next) {
		next = h->next;
		if (h->call == NULL)
			session_release(s, prev);
		else
			prev = h;
	}
}

void
session_keep_early(struct session *s, struct frame *m)
{
	struct held *h;

	if (s->early.bytes + bare_size(m) > MAX_EARLY) {
		session_log(s, LEVEL_DEBUG,
		    "too much before the answer to initialize: dropped");
		return;
	}
	h = xcalloc(1, sizeof *h);
	h->frame = frame_ref(m);
	if (s->early.first == NULL)
		s->early.first = h;
	else
		s->early.last->next = h;
	s->early.last = h;
	s->early.bytes += bare_size(m);
}

struct frame *
session_take_early(struct session *s)
{
	struct held *h = s->early.first;
	struct frame *f;

	if (h == NULL)
		return NULL;
	f = h->frame;
	s->early.first = h->next;
	s->early.bytes -= bare_size(f);
	free(h);
	return f;
}

void
session_drop_early(struct session *s)
{
	struct frame *f;

	while ((f = session_take_early(s)) != NULL)
		frame_unref(f);
}
