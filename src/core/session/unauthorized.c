/*
 * A 401 or 403 is judged: is it about the session or about the credentials?
 */
#include "config.h"

#include "core/session/unauthorized.h"

#include "base/bounds.h"
#include "core/session/call.h"
#include "core/session/witness.h"

/* A witness that is refused as its call was has done its work. One that is
 * refused for its credentials alone tells nothing until it has others, and its
 * time includes theirs. */
static bool
has_testified(const struct session *s, struct attempt *l, int status)
{
	if (l == NULL || l->kind != ATTEMPT_WITNESS)
		return false;
	l->denied = true;
	return session_witness_tells(s, status);
}

/* Words of a lost session are not about credentials, a DELETE is not worth new
 * ones, and after a signal nothing is. If the server may be refusing the
 * session, a renewal is tried before the user is asked: the action names the
 * session. */
void
session_unauthorized(struct session *s, const struct event *in)
{
	struct event a = { .kind = ACTION_TAKE_REFUSAL, .ticket = in->ticket };
	struct attempt *l = calls_attempt_find(&s->calls, in->ticket);
	struct facts f = *in->facts;
	struct ruling r;

	if (l != NULL && l->kind == ATTEMPT_CALL && l->call != NULL &&
	    l->last_event_id.n == 0)
		session_add_history(s, l->call, l->generation, &f);
	r = verdict_bare(&f, &s->config.rules);
	if (!s->ending.stopped && f.verb != VERB_DELETE && !is_refusal(r) &&
	    r.verdict != VERDICT_LOST_MAYBE && !has_testified(s, l, f.status)) {
		a.kind = ACTION_AUTHORIZE;
		f.credentials_known_good = true;
		r = verdict_bare(&f, &s->config.rules);
		if (session_is_lost(r) && l != NULL)
			a.session = span_of(l->generation->session);
		a.facts = in->facts;
	}
	/* The server is not silent: other credentials may take a while. */
	if (l != NULL && l->kind == ATTEMPT_OPEN)
		l->silent_at = s->now + BOUND_SILENT_MS;
	events_add(&s->events, &a);
}
