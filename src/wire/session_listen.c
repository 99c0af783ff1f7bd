/*
 * The GET stream: opened once initialized was taken, opened again after a
 * drop, for ever; never again once the server says that it has none.
 */
#include "config.h"

#include "wire/session_state.h"

enum {
	HEALTHY_MS = 10 * 1000, /* a stream this old was no false start */
	JITTER_MS = 5 * 1000,
	RENEWALS_ASLEEP = 3
};

static void
listen_start(struct session *s)
{
	struct listen *n = &s->listen;
	struct leg *l = calls_leg(&s->calls, LEG_LISTEN, NULL, NULL,
	    s->generation);

	buf_addspan(&l->last_event_id, buf_span(&n->last_event_id));
	n->state = LISTEN_OPEN;
	n->ticket = l->ticket;
	n->event = false;
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
	struct leg *l = n->state == LISTEN_OPEN ?
	    calls_leg_find(&s->calls, n->ticket) :
	    NULL;

	if (n->state == LISTEN_REFUSED)
		return;
	n->state = LISTEN_OFF;
	if (l != NULL)
		session_abort(s, l);
}

void
session_listen_head(struct session *s, const struct facts *f)
{
	if (f->status >= 200 && f->status < 300 && f->media == MEDIA_SSE)
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
	session_note(s, LEVEL_DEBUG,
	    "the listen stream is opened again in %lld ms", (long long)wait);
	n->state = LISTEN_WAITING;
	n->at = s->now + wait;
	session_due(s, n->at);
}

/* The server has no such stream. 404 to the first GET of a session is a
 * missing route, not a missing session. */
static bool
is_refused(const struct session *s, const struct facts *f)
{
	switch (f->status) {
	case 400:
	case 405:
	case 406:
	case 501:
	case 204:
		return true;
	case 404:
		return !s->listen.worked;
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

/* 404 to a stream that used to work: the session is gone. Nobody waits for
 * it, so the renewal takes its time: a fleet is a herd. */
static void
listen_lost(struct session *s)
{
	struct listen *n = &s->listen;

	n->state = LISTEN_OFF;
	session_fail_accepted(s, true);
	if (n->asleep >= RENEWALS_ASLEEP) {
		session_note(s, LEVEL_INFO,
		    "the session is gone: it is renewed when the client "
		    "speaks");
		return;
	}
	n->asleep++;
	n->state = LISTEN_LOST;
	n->at = s->now + (int64_t)(s->random % JITTER_MS);
	session_due(s, n->at);
}

void
session_listen_done(struct session *s, const struct facts *f)
{
	struct listen *n = &s->listen;
	bool stream = f->status >= 200 && f->status < 300 &&
	    f->media == MEDIA_SSE;

	if (n->state != LISTEN_OPEN)
		return; /* closed by us */
	if (s->phase != PHASE_LIVE) {
		n->state = LISTEN_OFF;
		return;
	}
	if (f->status != 0 && !stream && is_refused(s, f)) {
		session_note(s, LEVEL_INFO, "%s offers no listen stream (%d)",
		    s->config.host, f->status);
		n->state = LISTEN_REFUSED;
		session_fail_accepted(s, false);
		return;
	}
	if (f->status == 401 || f->status == 403) {
		session_note(s, LEVEL_WARN, "%s refuses the listen stream (%d)",
		    s->config.host, f->status);
		n->state = LISTEN_OFF;
		session_fail_accepted(s, false);
		return;
	}
	if (f->status == 404) {
		listen_lost(s);
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
session_listen_tick(struct session *s)
{
	struct listen *n = &s->listen;
	enum listen_state was = n->state;

	if ((was != LISTEN_WAITING && was != LISTEN_LOST) || n->at > s->now)
		return;
	n->state = LISTEN_OFF;
	if (s->phase != PHASE_LIVE)
		return;
	if (was == LISTEN_WAITING) {
		listen_start(s);
	} else {
		session_renew_unasked(s, "404 to the listen stream");
	}
}
