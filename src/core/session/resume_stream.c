/*
 * Streams that are resumed by GET with Last-Event-ID, because they ended before
 * their answer.
 */
#include "config.h"

#include "core/session/parts.h"

/* Did this stream bring its call forward? A stream that lasted for LASTED_MS
 * counts too. The next GET then starts without a back-off. */
static bool
brought_something(const struct session *s, const struct attempt *l,
    const struct facts *f)
{
	enum { LASTED_MS = 10 * 1000 };

	if (l->head_at == 0)
		return false;
	return l->event_at >= l->head_at || s->now - l->head_at >= LASTED_MS ||
	    (f->last_event_id.n > 0 &&
		!span_eq(f->last_event_id, buf_span(&l->last_event_id)));
}

void
session_note_ids(struct session *s, const struct attempt *l,
    const struct facts *f)
{
	struct event_ids *e = &s->event_ids;
	const char *session = l->generation->session;

	e->trusted |= f->primed;
	if ((session != NULL && span_is(f->last_event_id, session)) ||
	    (e->origin != l->origin &&
		span_eq(f->last_event_id, buf_span(&e->last))))
		e->none = true;
	e->origin = l->origin;
	buf_reset(&e->last);
	buf_addspan(&e->last, f->last_event_id);
}

/* Did a resumption bring no event, because the server has nothing of this stream
 * any more? A stream that was silent for long may belong to a long call, and a
 * server that is away or busy may know the stream later. */
static bool
is_in_vain(const struct session *s, const struct attempt *l,
    const struct facts *f)
{
	if (l->last_event_id.n == 0 || f->ending != ENDING_COMPLETE ||
	    f->status == 429 || verdict_is_gateway(f->status))
		return false;
	return !verdict_2xx(f) ||
	    (f->last_event_id.n == 0 && !brought_something(s, l, f));
}

/* A resumption that was in vain is tried once more, unless its session is gone,
 * or other credentials are wanted. */
static bool
once_more(const struct session *s, struct attempt *l, const struct facts *f)
{
	return l->in_vain++ == 0 && l->generation == s->generation &&
	    !l->generation->lost && f->status != 401 && f->status != 403;
}

bool
session_resume(struct session *s, struct attempt *l, const struct facts *f,
    struct ruling r)
{
	enum { RESUME_MS = 1000 };
	int64_t wait;
	bool was_get = l->last_event_id.n > 0, flaps;
	/* A GET is refused with the words that refuse a POST. */
	bool refused = was_get && f->ending == ENDING_COMPLETE &&
	    (r.verdict == VERDICT_LOST_MAYBE || is_refusal(r));
	bool in_vain = is_in_vain(s, l, f);

	if (brought_something(s, l, f))
		l->tries = 0;
	if (f->last_event_id.n > 0) {
		if (!span_eq(f->last_event_id, buf_span(&l->last_event_id)))
			l->event_at = s->now;
		buf_reset(&l->last_event_id);
		buf_addspan(&l->last_event_id, f->last_event_id);
	}
	if (l->last_event_id.n == 0 || s->event_ids.none ||
	    f->ending == ENDING_ABORTED || f->too_large)
		return false;
	flaps = session_flaps(s) && refused && l->tries < BOUND_FLAPS;
	if (!flaps && (refused || (in_vain && !once_more(s, l, f))))
		return false;
	if (f->retry_ms >= 0)
		l->retry_ms = f->retry_ms;
	wait = flaps ? session_flap_wait(l->tries + 1) :
		       backoff_stream(l->tries, l->retry_ms);
	if (++l->resumes > BOUND_QUICK_RESUMES && wait < RESUME_MS)
		wait = RESUME_MS;
	if (s->config.call_timeout_ms > 0 &&
	    s->now + wait > l->event_at + s->config.call_timeout_ms)
		return false;
	session_log(s, LEVEL_INFO,
	    "a stream ended before the answer came: it is resumed in %lld ms",
	    (long long)wait);
	session_again(s, l, wait)->fresh = flaps;
	return true;
}
