/*
 * The GET stream. It opens when the server has taken initialized, and opens
 * again after each drop, until the server says that the session has no such
 * stream.
 */
#include "config.h"

#include "core/session/parts.h"

enum {
	WAKE_MS = 100,
	PAUSE_MS = 1000, /* while it gives way to another stream */
};

static void
listen_start(struct session *s)
{
	struct listen_stream *n = &s->listen;
	struct attempt *a = calls_attempt(&s->calls, ATTEMPT_LISTEN, NULL, NULL,
	    s->generation);

	buf_addspan(&a->last_event_id, buf_span(&n->last_event_id));
	a->fresh = n->fresh;
	n->fresh = false;
	n->state = LISTEN_OPEN;
	n->ticket = a->ticket;
	n->event = n->denied = n->behind = n->hurry = false;
	n->since = s->now;
	session_start(s, a);
}

void
session_listen_open(struct session *s)
{
	struct listen_stream *n = &s->listen;

	session_listen_close(s);
	n->worked = n->fresh = n->broke = false;
	n->back_from = 0;
	n->tries = 0;
	n->retry_ms = -1;
	buf_reset(&n->last_event_id);
	listen_start(s);
}

/* Does the server answer this request without a question to the client? */
static bool
is_quiet(const struct frame *f)
{
	return list_kind_of(f) != NULL ||
	    json_key_is(f->method, "logging/setLevel");
}

/* Has the client said that the server may ask it something? */
static bool
may_be_asked(const struct session *s)
{
	struct span caps = json_get(s->handshake.request->params,
	    "capabilities");

	return json_get(caps, "elicitation").n > 0 ||
	    json_get(caps, "sampling").n > 0 || json_get(caps, "roots").n > 0;
}

/* May the server ask the client something before it answers this request? */
static bool
may_ask(const struct session *s, const struct frame *f)
{
	return !is_quiet(f) && may_be_asked(s);
}

/* The listen stream and a resumed one would end each other again and again. */
static bool
gives_way(const struct session *s)
{
	return s->listen.pushed && calls_resumed_since(&s->calls, 0);
}

/* Must a stream that broke be tried before this request, which came or was
 * refused at this time? It is tried once. */
static bool
is_tried_before(const struct session *s, const struct frame *f, int64_t at)
{
	const struct listen_stream *n = &s->listen;

	return n->broke && n->state == LISTEN_WAITING && n->since < at &&
	    !gives_way(s) && phase_permits(s, PHASE_LISTENS) && may_ask(s, f);
}

void
session_listen_before(struct session *s, const struct held *h)
{
	if (s->listen.due &&
	    (h == NULL || h->call == NULL || may_ask(s, h->frame)))
		session_listen_open(s);
	if (h != NULL && h->call != NULL &&
	    is_tried_before(s, h->frame, h->call->waits_since)) {
		s->listen.hurry = true;
		session_listen_hurry(s);
	}
}

void
session_listen_behind(struct session *s)
{
	if (!s->listen.due)
		return;
	session_listen_open(s);
	s->listen.behind = true;
}

bool
session_awaits_stream(struct session *s, const struct frame *f, int64_t at)
{
	enum { STREAM_MS = 50 };
	const struct listen_stream *n = &s->listen;
	bool opens = n->state == LISTEN_OPEN &&
	    (n->broke || (n->behind && !n->worked));
	int64_t until;

	if (is_tried_before(s, f, at))
		return true;
	if ((!n->due && !opens) || !may_ask(s, f))
		return false;
	if (n->due)
		return true;
	/* A new connection takes as long as three round trips; some servers
	 * send no head before the first event. */
	until = n->since + 3 * s->quickest_ms + STREAM_MS;
	if (s->now >= until)
		return false;
	alarm_note(&s->alarms, until);
	return true;
}

/* A stream that stays open for long without a head works, too. */
static void
note_held(struct session *s, const struct attempt *a)
{
	enum { HELD_MS = 2000 };

	s->listen.held |= a->head_at == 0 && s->now - a->out_at >= HELD_MS;
}

void
session_listen_close(struct session *s)
{
	struct listen_stream *n = &s->listen;
	struct attempt *a = n->state == LISTEN_OPEN ?
	    calls_attempt_find(&s->calls, n->ticket) :
	    NULL;

	n->due = false;
	if (a != NULL)
		note_held(s, a);
	alarm_set(&s->alarms, ALARM_LISTEN, ALARM_NEVER);
	n->state = LISTEN_OFF;
	n->denied = false;
	if (a != NULL)
		session_abort(s, a);
}

bool
session_listen_head(struct session *s, const struct facts *f)
{
	struct listen_stream *n = &s->listen;
	bool back = n->broke;

	if (!verdict_2xx(f) || f->media != MEDIA_SSE)
		return false;
	n->worked = n->held = true;
	n->broke = false;
	return back;
}

void
session_listen_broke(struct session *s, const struct attempt *a,
    const struct facts *f)
{
	if (f->ending == ENDING_CUT && f->sent)
		note_held(s, a);
	s->listen.broke |= f->ending == ENDING_CUT ||
	    (s->listen.held &&
		(f->ending == ENDING_CONNECT || verdict_is_gateway(f->status)));
}

void
session_listen_hurry(struct session *s)
{
	struct listen_stream *n = &s->listen;

	if (n->hurry && n->state == LISTEN_WAITING && !gives_way(s) &&
	    phase_permits(s, PHASE_LISTENS)) {
		alarm_set(&s->alarms, ALARM_LISTEN, ALARM_NEVER);
		listen_start(s);
	}
	n->hurry = false;
}

void
session_listen_event(struct session *s)
{
	s->listen.event = true;
}

void
session_listen_again(struct session *s)
{
	struct listen_stream *n = &s->listen;
	int64_t wait = backoff_stream(n->tries++, n->retry_ms);

	wait = backoff_rate(&n->rate, s->now, wait);
	session_log(s, LEVEL_DEBUG, "reopening the listen stream in %lld ms",
	    (long long)wait);
	n->state = LISTEN_WAITING;
	alarm_set(&s->alarms, ALARM_LISTEN, s->now + wait);
}

bool
session_listen_pinged(struct session *s, uint64_t ticket, bool lost)
{
	struct listen_stream *n = &s->listen;
	bool back = n->back_from != 0 && n->back_from <= ticket;

	if (back)
		n->back_from = 0;
	if (n->state != LISTEN_SUSPECT || n->ping_from > ticket)
		return back && !lost;
	n->state = LISTEN_OFF;
	if (lost)
		return false;
	n->retry_ms = -1; /* the server's "retry" came before the refusal */
	session_listen_again(s);
	return back;
}

void
session_listen_wake(struct session *s)
{
	struct listen_stream *n = &s->listen;
	struct attempt *a = calls_attempt_find(&s->calls, n->ticket);

	n->tries = 0;
	if (n->state == LISTEN_WAITING) {
		alarm_set(&s->alarms, ALARM_LISTEN, s->now + WAKE_MS);
	} else if (n->state == LISTEN_OPEN && a != NULL) {
		/* The end of the stream tells the last event id and opens the
		 * next one. */
		session_abort(s, a);
	}
}

void
session_listen_signed_in(struct session *s)
{
	struct listen_stream *n = &s->listen;

	if (n->state == LISTEN_OFF && n->denied &&
	    phase_permits(s, PHASE_LISTENS))
		listen_start(s);
}

void
session_listen_tick(struct session *s)
{
	struct listen_stream *n = &s->listen;

	if (!alarm_is_due(&s->alarms, ALARM_LISTEN, s->now))
		return;
	if (gives_way(s)) {
		alarm_set(&s->alarms, ALARM_LISTEN, s->now + PAUSE_MS);
		return;
	}
	alarm_set(&s->alarms, ALARM_LISTEN, ALARM_NEVER);
	n->state = LISTEN_OFF;
	if (phase_permits(s, PHASE_LISTENS))
		listen_start(s);
}

enum session_listening
session_listening(const struct session *s)
{
	const struct listen_stream *n = &s->listen;

	if (is_early(s))
		return LISTENS; /* for what is told when the server has come */
	if (n->state == LISTEN_REFUSED || n->denied)
		return LISTENS_NOT;
	return n->state == LISTEN_OPEN && n->worked ? LISTENS : LISTENS_PERHAPS;
}
