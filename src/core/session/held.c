/*
 * Frames that are held back: requests and notifications of the client until the
 * gate is open, messages of the server until initialize is answered. When there
 * is too much of it stdin is not read.
 */
#include "config.h"

#include "core/session/parts.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "base/queue.h"
#include "core/wire/json.h"
struct held *
session_queue_add(struct held_queue *q, struct frame *f, size_t bytes)
{
	struct held *h = xcalloc(1, sizeof *h);

	h->frame = frame_ref(f);
	h->bytes = bytes;
	QUEUE_ADD(q, h);
	q->n++;
	q->bytes += bytes;
	return h;
}

struct frame *
session_queue_take(struct held_queue *q, struct held *h)
{
	struct frame *f = h->frame;

	QUEUE_REMOVE(q, h);
	q->n--;
	q->bytes -= h->bytes;
	free(h);
	return f;
}

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

size_t
session_held_bytes(const struct session *s)
{
	return s->held.bytes + s->notes.bytes;
}

bool
session_is_full(const struct session *s, const struct frame *f, bool is_call)
{
	return session_held_bytes(s) + held_size(f, is_call) >
	    s->config.max_held;
}

/* stdin is read while a question waits for the client's answer, however much is
 * held, because only that answer can free the calls. */
void
session_want_read(struct session *s)
{
	bool want = !has_eof(s) &&
	    (s->held.bytes + s->notes.bytes < s->config.max_held ||
		s->questions.n > 0 || !phase_permits(s, PHASE_SERVES));

	if (want == s->reading || has_eof(s))
		return;
	s->reading = want;
	events_add(&s->events,
	    &(struct event){ .kind = ACTION_READ, .ok = want });
}

void
session_hold(struct session *s, struct frame *f, struct call *c)
{
	struct held *h = session_queue_add(&s->held, f,
	    held_size(f, c != NULL));

	h->call = c;
	if (c != NULL) {
		c->held = h;
		session_call_waits(s, c);
	}
	session_want_read(s);
	/* The tick looks after a renewal that is silent, because a call waits
	 * now. */
	if (phase_permits(s, PHASE_AGAIN))
		alarm_note(&s->alarms, s->now);
}

struct frame *
session_take_held(struct session *s, struct held *h)
{
	if (h->call != NULL)
		h->call->held = NULL;
	return session_queue_take(&s->held, h);
}

void
session_unhold(struct session *s, struct call *c)
{
	if (c->held != NULL)
		frame_unref(session_take_held(s, c->held));
}

void
session_keep_ready(struct session *s)
{
	struct held *h;

	for (h = s->held.first; h != NULL; h = h->next)
		if (h->call == NULL &&
		    json_key_is(h->frame->method,
			"notifications/initialized")) {
			s->handshake.ready = session_take_held(s, h);
			return;
		}
}

void
session_hold_longer(struct session *s, struct held *h)
{
	size_t bytes = h->bytes;
	struct frame *f = session_take_held(s, h);

	session_queue_add(&s->notes, f, bytes);
	frame_unref(f);
}

void
session_drop_one_way(struct session *s)
{
	struct held *h, *next;

	while (s->notes.first != NULL)
		frame_unref(session_queue_take(&s->notes, s->notes.first));
	for (h = s->held.first; h != NULL; h = next) {
		next = h->next;
		if (h->call == NULL)
			frame_unref(session_take_held(s, h));
	}
}

void
session_keep_early(struct session *s, struct frame *m)
{
	if (!kept_add(&s->early, m, 0, BOUND_QUEUE_BYTES))
		session_log(s, LEVEL_DEBUG,
		    "too many messages came before the answer to initialize: "
		    "dropped one");
}
