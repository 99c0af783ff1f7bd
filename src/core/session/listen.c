/*
 * The GET stream: opened once initialized was taken, opened again after a
 * drop, for ever; never again once the server says that it has none.
 */
#include "config.h"

#include "core/session/state.h"

enum {
	HEALTHY_MS = 10 * 1000, /* a stream this old was no false start */
	WAKE_MS = 100
};

static void
listen_start(struct session *s)
{
	struct listen *n = &s->listen;
	struct attempt *l = calls_attempt(&s->calls, ATTEMPT_LISTEN, NULL, NULL,
	    s->generation);

	buf_addspan(&l->last_event_id, buf_span(&n->last_event_id));
	n->state = LISTEN_OPEN;
	n->ticket = l->ticket;
	n->event = n->denied = false;
	n->since = s->now;
	session_start(s, l);
}

void
session_listen_open(struct session *s)
{
	struct listen *n = &s->listen;

	if (n->state == LISTEN_REFUSED)
		return;
	session_listen_close(s);
	n->worked = false;
	n->tries = 0;
	n->retry_ms = -1;
	buf_reset(&n->last_event_id);
	listen_start(s);
}

void
session_listen_close(struct session *s)
{
	struct listen *n = &s->listen;
	struct attempt *l = n->state == LISTEN_OPEN ?
	    calls_attempt_find(&s->calls, n->ticket) :
	    NULL;

	if (n->state == LISTEN_REFUSED)
		return;
	n->state = LISTEN_OFF;
	n->denied = false;
	if (l != NULL)
		session_abort(s, l);
}

void
session_listen_head(struct session *s, const struct facts *f)
{
	if (verdict_2xx(f) && f->media == MEDIA_SSE)
		s->listen.worked = true;
}

void
session_listen_event(struct session *s)
{
	s->listen.event = true;
}

static void
listen_again(struct session *s, int64_t extra)
{
	struct listen *n = &s->listen;
	int64_t wait = backoff_stream(n->tries++, n->retry_ms) + extra;

	wait = backoff_rate(&n->rate, s->now, wait);
	session_log(s, LEVEL_DEBUG,
	    "the listen stream is opened again in %lld ms", (long long)wait);
	n->state = LISTEN_WAITING;
	n->at = s->now + wait;
	session_due(s, n->at);
}

/* The server has no such stream. */
static bool
is_refused(const struct facts *f)
{
	switch (f->status) {
	case 400:
	case 405:
	case 406:
	case 501:
	case 204:
		return true;
	case 401:
	case 403:
	case 408:
	case 409: /* an old stream still counts */
	case 429:
		return false;
	default:
		return f->status < 500;
	}
}

void
session_listen_done(struct session *s, const struct attempt *l,
    const struct facts *f)
{
	struct listen *n = &s->listen;
	bool stream = verdict_2xx(f) && f->media == MEDIA_SSE;
	struct ruling r;

	if (n->state != LISTEN_OPEN)
		return; /* closed by us */
	if (s->phase != PHASE_LIVE && s->phase != PHASE_RESTORING) {
		n->state = LISTEN_OFF;
		return;
	}
	/* 404 to the first one is a missing route, not a missing session. */
	r = session_ruling(s, l, f);
	if (n->worked && session_flaps(s) && n->tries < FLAPS &&
	    is_refusal(r)) {
		listen_again(s, 0);
		return;
	}
	if (n->worked && r.verdict == VERDICT_LOST) {
		n->state = LISTEN_OFF;
		session_renew_later(s, r.rule);
		return;
	}
	if (n->worked && r.verdict == VERDICT_SUSPECT) {
		n->state = LISTEN_SUSPECT;
		session_ping(s, "the listen stream was refused");
		return;
	}
	if (n->worked && f->status == 405) {
		/* Another server may have taken its place. */
		n->worked = false;
		n->state = LISTEN_SUSPECT;
		session_fail_accepted(s, false);
		session_ping(s, "the listen stream is not offered any more");
		return;
	}
	if (f->status == 400 && n->last_event_id.n > 0) {
		/* It may be the event id that it does not know. */
		buf_reset(&n->last_event_id);
		listen_again(s, 0);
		return;
	}
	if (f->status != 0 && !stream && is_refused(f)) {
		session_log(s, LEVEL_INFO, "%s offers no listen stream (%d)",
		    s->config.host, f->status);
		n->state = LISTEN_REFUSED;
		session_fail_accepted(s, false);
		return;
	}
	if (f->status == 401 || f->status == 403) {
		session_log(s, LEVEL_WARN, "%s refuses the listen stream (%d)",
		    s->config.host, f->status);
		n->state = LISTEN_OFF;
		n->denied = true;
		session_fail_accepted(s, false);
		return;
	}
	if (f->retry_ms >= 0)
		n->retry_ms = f->retry_ms;
	if (f->last_event_id.n > 0) {
		buf_reset(&n->last_event_id);
		buf_addspan(&n->last_event_id, f->last_event_id);
	}
	if (n->event || (stream && s->now - n->since > HEALTHY_MS))
		n->tries = 0;
	listen_again(s, 0);
}

void
session_listen_pinged(struct session *s, bool lost)
{
	struct listen *n = &s->listen;

	if (n->state != LISTEN_SUSPECT)
		return;
	n->state = LISTEN_OFF;
	if (lost)
		return;
	n->retry_ms = -1; /* the server's wish was for better times */
	listen_again(s, 0);
}

void
session_listen_wake(struct session *s)
{
	struct listen *n = &s->listen;
	struct attempt *l = calls_attempt_find(&s->calls, n->ticket);

	n->tries = 0;
	if (n->state == LISTEN_WAITING) {
		n->at = s->now + WAKE_MS;
		session_due(s, n->at);
	} else if (n->state == LISTEN_OPEN && l != NULL) {
		/* Its end tells the last event id, and opens the next. */
		session_abort(s, l);
	}
}

void
session_listen_signed_in(struct session *s)
{
	struct listen *n = &s->listen;

	if (n->state == LISTEN_OFF && n->denied &&
	    (s->phase == PHASE_LIVE || s->phase == PHASE_RESTORING))
		listen_start(s);
}

void
session_listen_tick(struct session *s)
{
	struct listen *n = &s->listen;

	if (n->state != LISTEN_WAITING || n->at > s->now)
		return;
	n->state = LISTEN_OFF;
	if (s->phase == PHASE_LIVE || s->phase == PHASE_RESTORING)
		listen_start(s);
}

enum session_listening
session_listening(const struct session *s)
{
	const struct listen *n = &s->listen;

	if (n->state == LISTEN_REFUSED || n->denied)
		return LISTENS_NOT;
	return n->state == LISTEN_OPEN && n->worked ? LISTENS : LISTENS_PERHAPS;
}
