/*
 * A session that is opened in doubt: beside the witness that tells whether the
 * old one is gone, so that nobody waits for one after the other. If the old one
 * lives, the spare one is deleted, and for a while the witness goes first.
 */
#include "config.h"

#include "core/session/parts.h"

void
session_spare_open(struct session *s)
{
	struct spare *p = &s->spare;
	struct attempt *l;

	/* Where sessions have no ids, a second one may end the first. */
	if (p->generation != NULL || s->now < p->not_before ||
	    s->generation->session == NULL || !phase_permits(s, PHASE_WORKS) ||
	    s->now < s->renewal.pace)
		return;
	(void)backoff_pace(&s->renewal.pace, s->now);
	p->generation = generation_new(s->generation->number + 1);
	l = session_own_attempt(s, ATTEMPT_OPEN, "initialize",
	    s->handshake.request->params, p->generation);
	l->unasked = true;
	p->ticket = l->ticket;
	session_start(s, l);
}

bool
session_spare_opened(struct session *s, const struct attempt *l,
    const struct facts *f, struct frame *m)
{
	struct spare *p = &s->spare;

	if (p->generation == NULL || l->generation != p->generation)
		return false;
	if (m->kind == FRAME_RESULT && p->answer == NULL) {
		p->answer = frame_ref(m);
		p->facts = facts_keep(f);
		if (f->session.n > 0)
			p->generation->session = xstrndup(f->session.p,
			    f->session.n);
	}
	return true;
}

bool
session_spare_take(struct session *s)
{
	struct spare *p = &s->spare;
	struct generation *g = p->generation;

	if (g == NULL)
		return false;
	p->generation = NULL;
	if (p->answer == NULL &&
	    calls_attempt_find(&s->calls, p->ticket) == NULL) {
		generation_unref(g); /* it failed */
		return false;
	}
	generation_unref(s->generation);
	s->generation = g;
	p->taken = p->answer != NULL;
	return true;
}

bool
session_spare_is_current(const struct session *s)
{
	return s->spare.generation != NULL &&
	    session_same_id(s->spare.generation, s->generation);
}

void
session_spare_free(struct session *s)
{
	struct spare *p = &s->spare;

	frame_unref(p->answer);
	facts_free(p->facts);
	generation_unref(p->generation);
	p->answer = NULL;
	p->facts = NULL;
	p->generation = NULL;
	p->taken = false;
}

void
session_spare_end(struct session *s)
{
	enum { VAIN_MS = 10 * 60 * 1000 };
	struct spare *p = &s->spare;
	struct attempt *l;

	if (p->generation == NULL)
		return;
	p->not_before = s->now + VAIN_MS;
	/* The next session gets the number that this one had. */
	p->generation->number = s->generation->number;
	l = calls_attempt_find(&s->calls, p->ticket);
	if (p->generation->session != NULL) {
		session_delete(s, p->generation);
	} else if (l != NULL) {
		/* If it is answered soon, its session is deleted. */
		if (l->live)
			session_abort_in(s, l, BOUND_LINGER_MS);
		else
			session_abort(s, l);
	}
	session_spare_free(s);
}
